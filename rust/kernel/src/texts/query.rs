//! A query as the built-in model's pieces, weighted by inverse document frequency.

use std::collections::TryReserveError;

use super::Texts;
use super::similar::Products;
use crate::model::{DIMENSION, StaticModel};
use crate::unit::write_unit;

/// The weight of stop words' pieces relative to others.
const OTHERS: f64 = 0.1;

/// A query's pieces, and its vector.
pub struct Query {
    /// Distinct.
    pub(super) pieces: Vec<u16>,
    /// The weight of each.
    pub(super) weights: Vec<f64>,
    /// The weighted mean of its pieces' vectors, scaled to length one.
    pub vector: [f32; DIMENSION],
}

impl Query {
    /// Its distinct pieces, with their weights.
    #[must_use]
    pub fn weights(&self) -> Vec<(u16, f64)> {
        let pieces = self.pieces.iter().copied();
        pieces.zip(self.weights.iter().copied()).collect()
    }

    /// Reduce the weight of the pieces that are in none of these words.
    pub(super) fn telling(mut self, words: &str) -> Result<Self, TryReserveError> {
        let telling = StaticModel::embedded().token_ids(&[words])?.swap_remove(0);
        for (piece, weight) in self.pieces.iter().zip(&mut self.weights) {
            if !telling.contains(piece) {
                *weight *= OTHERS;
            }
        }
        Ok(self)
    }
}

impl Texts {
    /// Read a query.
    ///
    /// # Errors
    /// There is no memory.
    pub fn query(&self, text: &str) -> Result<Query, TryReserveError> {
        self.query_among(text, self.len())
    }

    /// The same, with the weights for this number of rows.
    pub(super) fn query_among(&self, text: &str, rows: usize) -> Result<Query, TryReserveError> {
        let model = StaticModel::embedded();
        let mut all = model.token_ids(&[text])?.swap_remove(0);
        all.sort_unstable();
        let mut pieces = all.clone();
        pieces.dedup();
        let weights: Vec<f64> = pieces
            .iter()
            .map(|piece| self.idf_among(*piece, rows))
            .collect();
        let is_weighed = weights.iter().any(|weight| *weight > 0.0);
        let mut sum = [0.0; DIMENSION];
        for piece in &all {
            let weight = if is_weighed {
                self.idf_among(*piece, rows)
            } else {
                1.0
            };
            model.add(*piece, weight as f32, &mut sum);
        }
        let mut vector = [0.0; DIMENSION];
        write_unit(&sum, &mut vector);
        Ok(Query {
            pieces,
            weights,
            vector,
        })
    }

    /// The cosines of the rows' vectors by the built-in model with a given one; `None` for a row
    /// that does not exist.
    #[must_use]
    pub fn cosines(&self, vector: &[f32; DIMENSION], ids: &[u32]) -> Vec<Option<f32>> {
        let mut products = Products::new(vector);
        let cosine = |id: &u32| Some(products.cosine(&self.held(*id)?));
        ids.iter().map(cosine).collect()
    }
}
