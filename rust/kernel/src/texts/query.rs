//! A query as pieces, weighted by inverse document frequency.

use std::collections::TryReserveError;

#[cfg(feature = "model")]
use super::{Held, similar::Products};
use super::{Texts, pieces};
#[cfg(feature = "model")]
use crate::model::DIMENSION;

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
    #[cfg(feature = "model")]
    pub vector: [f32; DIMENSION],
}

/// A piece in the mean of a query's.
pub(super) struct Weighed {
    #[cfg(feature = "model")]
    pub piece: u16,
    /// How often it occurs.
    pub times: usize,
    pub weight: f64,
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
        let telling = pieces::of(words)?;
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
        let mut all = pieces::of(text)?;
        all.sort_unstable();
        let mut pieces = all.clone();
        pieces.dedup();
        let weights: Vec<f64> = pieces
            .iter()
            .map(|piece| self.idf_among(*piece, rows))
            .collect();
        let is_weighed = weights.iter().any(|weight| *weight > 0.0);
        let weighed = |(equal, weight): (&[u16], &f64)| Weighed {
            #[cfg(feature = "model")]
            piece: equal[0],
            times: equal.len(),
            weight: if is_weighed { *weight } else { 1.0 },
        };
        let each: Vec<Weighed> = all.chunk_by(u16::eq).zip(&weights).map(weighed).collect();
        let mean = pieces::mean(&each);
        Ok(Query {
            pieces,
            weights,
            shares: mean.shares,
            #[cfg(feature = "model")]
            vector: mean.vector,
        })
    }

    /// The cosines of the rows' vectors by the built-in model with a given one; `None` for a row
    /// that does not exist.
    #[cfg(feature = "model")]
    #[must_use]
    pub fn cosines(&self, vector: &[f32; DIMENSION], ids: &[u32]) -> Vec<Option<f32>> {
        let rows: Vec<Option<Held<'_>>> = ids.iter().map(|id| self.held(*id)).collect();
        let products = Products::new(vector, rows.iter().flatten().copied());
        let cosine = |row: &Option<Held<'_>>| Some(products.cosine(row.as_ref()?));
        rows.iter().map(cosine).collect()
    }
}
