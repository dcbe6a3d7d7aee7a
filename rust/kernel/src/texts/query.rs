//! A query as the embedded model sees it, its pieces weighed by how telling they are.

use std::collections::TryReserveError;

use super::Texts;
use super::similar::Similarities;
use crate::model::{DIMENSION, StaticModel};
use crate::unit::write_unit;

/// How much pieces of stop words count beside others.
const OTHERS: f64 = 0.1;

/// A query's pieces, and its vector.
pub struct Query {
    /// Each once.
    pub(super) pieces: Vec<u16>,
    /// How much each counts.
    pub(super) weights: Vec<f64>,
    /// The mean of its pieces' vectors, weighed, at length one.
    pub vector: [f32; DIMENSION],
}

impl Query {
    /// Its pieces, each once, and how telling each is.
    #[must_use]
    pub fn weights(&self) -> Vec<(u16, f64)> {
        let pieces = self.pieces.iter().copied();
        pieces.zip(self.weights.iter().copied()).collect()
    }

    /// Let the pieces that are in none of these words count for little.
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

    /// The same, as if there were so many rows.
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

    /// The cosines of the rows' vectors, by the embedded model, with one; `None` for what is not
    /// here.
    #[must_use]
    pub fn cosines(&self, vector: &[f32; DIMENSION], ids: &[u32]) -> Vec<Option<f32>> {
        let mut similar = Similarities::new(&[], vector);
        let cosine = |id: &u32| Some(similar.cosine(&self.held(*id)?));
        ids.iter().map(cosine).collect()
    }
}
