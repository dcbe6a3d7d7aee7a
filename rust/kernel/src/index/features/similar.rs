//! How similar rows are to a query, by the tokens of both.
//!
//! The cosine of two tokens is computed once for all rows.

use super::{Query, Stored};
#[cfg(feature = "model")]
use crate::model::DIMENSION;
use crate::model::tokens;
#[cfg(feature = "model")]
use crate::vectors::dot::Dot;
use crate::vectors::dot::SIXTEEN;

const UNKNOWN: u16 = u16::MAX;

/// The tokens that occur in some rows, numbered from 0.
struct Occurring {
    /// By token; [`UNKNOWN`] if it does not occur.
    numbers: Vec<u16>,
    tokens: Vec<u16>,
}

impl Occurring {
    fn new<'a>(rows: impl Iterator<Item = Stored<'a>>) -> Self {
        let mut numbers = vec![UNKNOWN; tokens::count()];
        let mut occurring = Vec::new();
        for row in rows {
            for token in row.tokens() {
                let number = &mut numbers[usize::from(*token)];
                if *number == UNKNOWN {
                    *number = occurring.len() as u16;
                    occurring.push(*token);
                }
            }
        }
        // Many vectors are read at once: to fetch them takes longer than to multiply.
        tokens::fetch(&occurring);
        Self {
            numbers,
            tokens: occurring,
        }
    }

    fn number(&self, token: u16) -> usize {
        usize::from(self.numbers[usize::from(token)])
    }

    /// The cosine of a row's vector with one of length one, whose products with the tokens are
    /// given by their numbers.
    fn cosine(&self, row: &Stored<'_>, products: &[f32]) -> f32 {
        let tokens = row.tokens().iter();
        let sum: f32 = tokens.map(|token| products[self.number(*token)]).sum();
        if row.record.norm > 0.0 {
            (sum / row.record.norm).clamp(-1.0, 1.0)
        } else {
            0.0
        }
    }
}

/// The cosines of all tokens of some rows with the tokens of a query.
pub(crate) struct Similarities {
    occurring: Occurring,
    /// Of the query's tokens, in groups of sixteen.
    groups: usize,
    /// By the number of a row's token, then by the group of the query's tokens.
    cosines: Vec<[f32; SIXTEEN]>,
    /// The product of each row's token with the query's vector, by its number.
    products: Vec<f32>,
}

impl Similarities {
    pub fn new<'a>(query: &Query, rows: impl Iterator<Item = Stored<'a>>) -> Self {
        let occurring = Occurring::new(rows);
        let of_query = tokens::QueryTokens::new(&query.tokens, &query.shares);
        let count = occurring.tokens.len();
        let mut cosines = Vec::with_capacity(count * of_query.groups());
        let compare = |token: &u16| of_query.compare(*token, &mut cosines);
        let products = occurring.tokens.iter().map(compare).collect();
        Self {
            occurring,
            groups: of_query.groups(),
            cosines,
            products,
        }
    }

    /// The cosine of a row's vector with the query's.
    pub fn cosine(&self, row: &Stored<'_>) -> f32 {
        self.occurring.cosine(row, &self.products)
    }

    /// The values of a row in [`Similarities::best`]; those beyond the query's tokens are 0 or -1.
    pub fn width(&self) -> usize {
        self.groups * SIXTEEN
    }

    /// For each of the query's tokens, append the best cosine with one of the row's; 0 if it has
    /// none.
    pub fn best(&self, row: &Stored<'_>, best: &mut Vec<f32>) {
        let least = if row.tokens().is_empty() { 0.0 } else { -1.0 };
        for group in 0..self.groups {
            let mut most = [least; SIXTEEN];
            for token in row.tokens() {
                let number = self.occurring.number(*token);
                let cosines = &self.cosines[number * self.groups + group];
                for (most, cosine) in most.iter_mut().zip(cosines) {
                    *most = if *cosine > *most { *cosine } else { *most };
                }
            }
            best.extend(most);
        }
    }
}

/// The products of a query's vector with those of the tokens of some rows.
#[cfg(feature = "model")]
pub(super) struct Products {
    occurring: Occurring,
    /// By the tokens' numbers.
    products: Vec<f32>,
}

#[cfg(feature = "model")]
impl Products {
    pub fn new<'a>(query: &[f32; DIMENSION], rows: impl Iterator<Item = Stored<'a>>) -> Self {
        let (occurring, dot) = (Occurring::new(rows), Dot::best());
        let product = |token: &u16| tokens::product(&dot, query, *token);
        let products = occurring.tokens.iter().map(product).collect();
        Self {
            occurring,
            products,
        }
    }

    /// The cosine of a row's vector with the query's.
    pub fn cosine(&self, row: &Stored<'_>) -> f32 {
        self.occurring.cosine(row, &self.products)
    }
}
