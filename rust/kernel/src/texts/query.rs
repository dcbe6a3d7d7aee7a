//! A query as the built-in model's pieces, weighted by inverse document frequency.

use std::collections::TryReserveError;

use super::similar::Products;
use super::{Held, Texts};
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
    /// What each one's bytes are multiplied by in the vector.
    pub(super) shares: Vec<f64>,
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
        let mut shares = Vec::with_capacity(pieces.len());
        for (equal, weight) in all.chunk_by(u16::eq).zip(&weights) {
            let weight = if is_weighed { *weight } else { 1.0 };
            for piece in equal {
                model.add(*piece, weight as f32, &mut sum);
            }
            shares.push(equal.len() as f64 * weight * f64::from(model.scale(equal[0])));
        }
        let mut vector = [0.0; DIMENSION];
        let length = write_unit(&sum, &mut vector);
        let scale = if length > 0.0 { length.recip() } else { 0.0 };
        shares.iter_mut().for_each(|share| *share *= scale);
        Ok(Query {
            pieces,
            weights,
            shares,
            vector,
        })
    }

    /// The cosines of the rows' vectors by the built-in model with a given one; `None` for a row
    /// that does not exist.
    #[must_use]
    pub fn cosines(&self, vector: &[f32; DIMENSION], ids: &[u32]) -> Vec<Option<f32>> {
        let rows: Vec<Option<Held<'_>>> = ids.iter().map(|id| self.held(*id)).collect();
        let products = Products::new(vector, rows.iter().flatten().copied());
        let cosine = |row: &Option<Held<'_>>| Some(products.cosine(row.as_ref()?));
        rows.iter().map(cosine).collect()
    }
}
