//! How similar rows are to a query, by the pieces of both.
//!
//! The cosine of two pieces is computed once for all rows.

use super::{Held, Query, pieces};
use crate::dot::SIXTEEN;
#[cfg(feature = "model")]
use crate::{
    dot::Dot,
    model::{DIMENSION, StaticModel},
};

const UNKNOWN: u16 = u16::MAX;

/// The pieces that occur in some rows, numbered from 0.
struct Occurring {
    /// By piece; [`UNKNOWN`] if it does not occur.
    numbers: Vec<u16>,
    pieces: Vec<u16>,
}

impl Occurring {
    fn new<'a>(rows: impl Iterator<Item = Held<'a>>) -> Self {
        let mut numbers = vec![UNKNOWN; pieces::count()];
        let mut occurring = Vec::new();
        for row in rows {
            for piece in row.pieces() {
                let number = &mut numbers[usize::from(*piece)];
                if *number == UNKNOWN {
                    *number = occurring.len() as u16;
                    occurring.push(*piece);
                }
            }
        }
        // Many vectors are read at once: to fetch them takes longer than to multiply.
        pieces::fetch(&occurring);
        Self {
            numbers,
            pieces: occurring,
        }
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
        let asked = pieces::Asked::new(&query.pieces, &query.shares);
        let count = occurring.pieces.len();
        let mut cosines = Vec::with_capacity(count * asked.groups());
        let compare = |piece: &u16| asked.compare(*piece, &mut cosines);
        let products = occurring.pieces.iter().map(compare).collect();
        Self {
            occurring,
            groups: asked.groups(),
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

/// The products of a query's vector with those of the pieces of some rows.
#[cfg(feature = "model")]
pub(super) struct Products {
    occurring: Occurring,
    /// By the pieces' numbers.
    products: Vec<f32>,
}

#[cfg(feature = "model")]
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
