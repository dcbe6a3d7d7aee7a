//! A query as tokens, weighted by inverse document frequency.

use std::collections::TryReserveError;

use super::Features;
#[cfg(feature = "model")]
use super::{Stored, similar::Products};
#[cfg(feature = "model")]
use crate::model::DIMENSION;
use crate::model::{Weighed, tokens};

/// The weight of stop words' tokens relative to others.
const OTHERS: f64 = 0.1;

/// A query's tokens, and its vector.
pub struct Query {
    /// Distinct.
    pub(super) tokens: Vec<u16>,
    /// The weight of each.
    pub(super) weights: Vec<f64>,
    /// What each one's bytes are multiplied by in the vector.
    pub(super) shares: Vec<f64>,
    /// The weighted mean of its tokens' vectors, scaled to length one.
    #[cfg(feature = "model")]
    pub vector: [f32; DIMENSION],
}

impl Query {
    /// Its distinct tokens, with their weights.
    #[must_use]
    pub fn weights(&self) -> Vec<(u16, f64)> {
        let tokens = self.tokens.iter().copied();
        tokens.zip(self.weights.iter().copied()).collect()
    }

    /// The mean of a value of each token, by their weights; 0 if all weights are 0.
    pub(crate) fn mean<T: Copy + Into<f64>>(&self, values: &[T]) -> f64 {
        let all: f64 = self.weights.iter().sum();
        let each = self.weights.iter().zip(values);
        let sum: f64 = each.map(|(weight, value)| weight * (*value).into()).sum();
        if all > 0.0 { sum / all } else { 0.0 }
    }

    /// Reduce the weight of the tokens that are in none of these words.
    pub(crate) fn telling(mut self, words: &str) -> Result<Self, TryReserveError> {
        let telling = tokens::of(words)?;
        for (token, weight) in self.tokens.iter().zip(&mut self.weights) {
            if !telling.contains(token) {
                *weight *= OTHERS;
            }
        }
        Ok(self)
    }
}

impl Features {
    /// Read a query.
    ///
    /// # Errors
    /// There is no memory.
    pub fn query(&self, text: &str) -> Result<Query, TryReserveError> {
        self.query_among(text, self.len())
    }

    /// The same, with the weights for this number of rows.
    pub(crate) fn query_among(&self, text: &str, rows: usize) -> Result<Query, TryReserveError> {
        let mut all = tokens::of(text)?;
        all.sort_unstable();
        let mut tokens = all.clone();
        tokens.dedup();
        let weights: Vec<f64> = tokens
            .iter()
            .map(|token| self.idf_among(*token, rows))
            .collect();
        let is_weighed = weights.iter().any(|weight| *weight > 0.0);
        let weighed = |(equal, weight): (&[u16], &f64)| Weighed {
            token: equal[0],
            times: equal.len(),
            weight: if is_weighed { *weight } else { 1.0 },
        };
        let each: Vec<Weighed> = all.chunk_by(u16::eq).zip(&weights).map(weighed).collect();
        let mean = tokens::mean(&each);
        Ok(Query {
            tokens,
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
        let rows: Vec<Option<Stored<'_>>> = ids.iter().map(|id| self.get(*id)).collect();
        let products = Products::new(vector, rows.iter().flatten().copied());
        let cosine = |row: &Option<Stored<'_>>| Some(products.cosine(row.as_ref()?));
        rows.iter().map(cosine).collect()
    }
}
