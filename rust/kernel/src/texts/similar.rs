//! How similar rows are to a query, by the pieces of both.
//!
//! The cosine of two pieces is computed once for all rows. It comes from an exact product of
//! integers, so it is the same on every instruction set.

use super::Held;
use crate::dot::{Dot, SIXTEEN, Sixteen};
use crate::model::{DIMENSION, StaticModel};

const UNKNOWN: u16 = u16::MAX;

/// The cosines of all pieces of some rows with the pieces of a query.
pub(super) struct Similarities {
    /// The number of each piece that occurs, by piece.
    numbers: Vec<u16>,
    /// Of the query's pieces, in groups of sixteen.
    groups: usize,
    /// By the number of a row's piece, then by the group of the query's pieces.
    cosines: Vec<[f32; SIXTEEN]>,
}

impl Similarities {
    pub fn new<'a>(query: &[u16], rows: impl Iterator<Item = Held<'a>>) -> Self {
        let model = StaticModel::embedded();
        let mut numbers = vec![UNKNOWN; model.pieces()];
        let mut pieces = Vec::new();
        for row in rows {
            for piece in row.pieces() {
                let number = &mut numbers[usize::from(*piece)];
                if *number == UNKNOWN {
                    *number = pieces.len() as u16;
                    pieces.push(*piece);
                }
            }
        }
        let dot = Dot::best();
        let groups = query.chunks(SIXTEEN).map(|pieces| Group::new(&dot, pieces));
        let groups: Vec<_> = groups.collect();
        let mut cosines = Vec::with_capacity(pieces.len() * groups.len());
        // Many rows of the table are read at once: to fetch them takes longer than to multiply.
        let scales: Vec<f64> = pieces.iter().map(|piece| scale(&dot, *piece)).collect();
        for (piece, scale) in pieces.iter().zip(scales) {
            let one = groups
                .iter()
                .map(|group| group.cosines(&dot, *piece, scale));
            cosines.extend(one);
        }
        Self {
            numbers,
            groups: groups.len(),
            cosines,
        }
    }

    /// The values of a row in [`Similarities::best`]; those beyond the query's pieces are 0 or -1.
    pub fn width(&self) -> usize {
        self.groups * SIXTEEN
    }

    /// For each of the query's pieces, append the best cosine with one of the row's; 0 if it has
    /// none.
    pub fn best(&self, row: &Held<'_>, best: &mut Vec<f32>) {
        let least = if row.pieces().is_empty() { 0.0 } else { -1.0 };
        for group in 0..self.groups {
            let mut most = [least; SIXTEEN];
            for piece in row.pieces() {
                let number = usize::from(self.numbers[usize::from(*piece)]);
                let cosines = &self.cosines[number * self.groups + group];
                for (most, cosine) in most.iter_mut().zip(cosines) {
                    *most = if *cosine > *most { *cosine } else { *most };
                }
            }
            best.extend(most);
        }
    }
}

/// Sixteen pieces of a query.
struct Group {
    vectors: Sixteen,
    /// What scales each to length one.
    scales: [f64; SIXTEEN],
}

impl Group {
    fn new(dot: &Dot, pieces: &[u16]) -> Self {
        let model = StaticModel::embedded();
        let vectors: Vec<&[i8]> = pieces
            .iter()
            .map(|piece| &model.bytes(*piece)[..])
            .collect();
        let mut scales = [0.0; SIXTEEN];
        for (place, piece) in scales.iter_mut().zip(pieces) {
            *place = scale(dot, *piece);
        }
        Self {
            vectors: Sixteen::new(&vectors, DIMENSION),
            scales,
        }
    }

    /// The cosines with a piece; `scale` scales it to length one.
    fn cosines(&self, dot: &Dot, piece: u16, scale: f64) -> [f32; SIXTEEN] {
        let products = dot.bytes(&self.vectors, StaticModel::embedded().bytes(piece));
        std::array::from_fn(|at| (f64::from(products[at]) * (self.scales[at] * scale)) as f32)
    }
}

/// What scales a piece's vector to length one.
fn scale(dot: &Dot, piece: u16) -> f64 {
    let square = dot.square(StaticModel::embedded().bytes(piece));
    f64::from(square).sqrt().recip()
}

/// The products of a query's vector with those of pieces; each is computed once, when it first
/// occurs.
pub(super) struct Products<'a> {
    dot: Dot,
    query: &'a [f32; DIMENSION],
    /// By piece; NaN if it has not occurred.
    products: Vec<f32>,
}

impl<'a> Products<'a> {
    pub fn new(query: &'a [f32; DIMENSION]) -> Self {
        Self {
            dot: Dot::best(),
            query,
            products: vec![f32::NAN; StaticModel::embedded().pieces()],
        }
    }

    fn of(&mut self, piece: u16) -> f32 {
        let product = &mut self.products[usize::from(piece)];
        if product.is_nan() {
            let vector = StaticModel::embedded().vector(piece);
            *product = self.dot.whole(self.query, &vector);
        }
        *product
    }

    /// The cosine of a row's vector with the query's.
    pub fn cosine(&mut self, row: &Held<'_>) -> f32 {
        let sum: f32 = row.pieces().iter().map(|piece| self.of(*piece)).sum();
        if row.record.norm > 0.0 {
            (sum / row.record.norm).clamp(-1.0, 1.0)
        } else {
            0.0
        }
    }
}
