//! How similar rows are to a query, by the pieces of both.
//!
//! The cosine of two pieces is computed once for all rows. It comes from an exact product of
//! integers, so it is the same on every instruction set.

use super::{Held, Query};
use crate::dot::{Dot, SIXTEEN, Sixteen};
use crate::model::{DIMENSION, StaticModel};

const UNKNOWN: u16 = u16::MAX;

/// The pieces that occur in some rows, numbered from 0.
struct Occurring {
    /// By piece; [`UNKNOWN`] if it does not occur.
    numbers: Vec<u16>,
    pieces: Vec<u16>,
}

impl Occurring {
    fn new<'a>(rows: impl Iterator<Item = Held<'a>>) -> Self {
        let mut numbers = vec![UNKNOWN; StaticModel::embedded().pieces()];
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
        // Many rows of the table are read at once: to fetch them takes longer than to multiply.
        StaticModel::embedded().fetch(&pieces);
        Self { numbers, pieces }
    }

    fn number(&self, piece: u16) -> usize {
        usize::from(self.numbers[usize::from(piece)])
    }

    /// The cosine of a row's vector with one of length one, whose products with the pieces are
    /// given by their numbers.
    fn cosine(&self, row: &Held<'_>, products: &[f32]) -> f32 {
        let pieces = row.pieces().iter();
        let sum: f32 = pieces.map(|piece| products[self.number(*piece)]).sum();
        if row.record.norm > 0.0 {
            (sum / row.record.norm).clamp(-1.0, 1.0)
        } else {
            0.0
        }
    }
}

/// The cosines of all pieces of some rows with the pieces of a query.
pub(super) struct Similarities {
    occurring: Occurring,
    /// Of the query's pieces, in groups of sixteen.
    groups: usize,
    /// By the number of a row's piece, then by the group of the query's pieces.
    cosines: Vec<[f32; SIXTEEN]>,
    /// The product of each row's piece with the query's vector, by its number.
    products: Vec<f32>,
}

impl Similarities {
    pub fn new<'a>(query: &Query, rows: impl Iterator<Item = Held<'a>>) -> Self {
        let occurring = Occurring::new(rows);
        let dot = Dot::best();
        let of_query = query.pieces.chunks(SIXTEEN);
        let groups: Vec<_> = of_query
            .zip(query.shares.chunks(SIXTEEN))
            .map(|(pieces, shares)| Group::new(&dot, pieces, shares))
            .collect();
        let count = occurring.pieces.len();
        let mut cosines = Vec::with_capacity(count * groups.len());
        let mut products = Vec::with_capacity(count);
        for piece in &occurring.pieces {
            let scale = scale(&dot, *piece);
            let mut product = 0.0;
            for group in &groups {
                let (of_group, share) = group.cosines(&dot, *piece, scale);
                cosines.push(of_group);
                product += share;
            }
            products.push((product * f64::from(StaticModel::embedded().scale(*piece))) as f32);
        }
        Self {
            occurring,
            groups: groups.len(),
            cosines,
            products,
        }
    }

    /// The cosine of a row's vector with the query's.
    pub fn cosine(&self, row: &Held<'_>) -> f32 {
        self.occurring.cosine(row, &self.products)
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
                let number = self.occurring.number(*piece);
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
    /// How often each is in the query's vector.
    shares: [f64; SIXTEEN],
}

impl Group {
    fn new(dot: &Dot, pieces: &[u16], of_query: &[f64]) -> Self {
        let model = StaticModel::embedded();
        let vectors: Vec<&[i8]> = pieces
            .iter()
            .map(|piece| &model.bytes(*piece)[..])
            .collect();
        let mut scales = [0.0; SIXTEEN];
        for (place, piece) in scales.iter_mut().zip(pieces) {
            *place = scale(dot, *piece);
        }
        let mut shares = [0.0; SIXTEEN];
        shares[..of_query.len()].copy_from_slice(of_query);
        Self {
            vectors: Sixteen::new(&vectors, DIMENSION),
            scales,
            shares,
        }
    }

    /// The cosines with a piece, and the product of its bytes with this part of the query's vector;
    /// `scale` scales it to length one.
    fn cosines(&self, dot: &Dot, piece: u16, scale: f64) -> ([f32; SIXTEEN], f64) {
        let products = dot.bytes(&self.vectors, StaticModel::embedded().bytes(piece));
        let products = products.map(f64::from);
        let cosine = |at: usize| (products[at] * (self.scales[at] * scale)) as f32;
        let share = products.iter().zip(&self.shares).map(|(x, y)| x * y).sum();
        (std::array::from_fn(cosine), share)
    }
}

/// What scales a piece's vector to length one.
fn scale(dot: &Dot, piece: u16) -> f64 {
    let square = dot.square(StaticModel::embedded().bytes(piece));
    f64::from(square).sqrt().recip()
}

/// The products of a query's vector with those of the pieces of some rows.
pub(super) struct Products {
    occurring: Occurring,
    /// By the pieces' numbers.
    products: Vec<f32>,
}

impl Products {
    pub fn new<'a>(query: &[f32; DIMENSION], rows: impl Iterator<Item = Held<'a>>) -> Self {
        let (occurring, dot) = (Occurring::new(rows), Dot::best());
        let product = |piece: &u16| dot.whole(query, &StaticModel::embedded().vector(*piece));
        let products = occurring.pieces.iter().map(product).collect();
        Self {
            occurring,
            products,
        }
    }

    /// The cosine of a row's vector with the query's.
    pub fn cosine(&self, row: &Held<'_>) -> f32 {
        self.occurring.cosine(row, &self.products)
    }
}
