//! The best few rows by score.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A row and its score.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    /// The row's id.
    pub id: u32,
    /// Its BM25; more is better.
    pub score: f64,
}

impl Ord for Scored {
    /// Better sorts lower: the higher score first, then the larger id. So the heap's top is the
    /// worst row kept, and sorting puts the best first.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(other.id.cmp(&self.id))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Scored {}

/// Keeps the `limit` best rows, offered in any order.
#[derive(Debug)]
pub(crate) struct Best {
    limit: usize,
    kept: BinaryHeap<Scored>,
}

impl Best {
    /// Empty. The memory grows with the rows kept, not with the limit.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: BinaryHeap::new(),
        }
    }

    /// Whether a row of this score, or of less and a smaller id, could still be kept.
    pub fn admits(&self, row: Scored) -> bool {
        self.kept.len() < self.limit || self.kept.peek().is_some_and(|worst| row < *worst)
    }

    /// A score below this has no chance.
    pub fn floor(&self) -> f64 {
        match self.kept.peek() {
            Some(worst) if self.kept.len() == self.limit => worst.score,
            _ => 0.0,
        }
    }

    /// Consider a row.
    pub fn offer(&mut self, row: Scored) {
        if self.kept.len() < self.limit {
            self.kept.push(row);
        } else if let Some(mut worst) = self.kept.peek_mut()
            && row < *worst
        {
            *worst = row;
        }
    }

    /// The rows kept, best first.
    pub fn into_best_first(self) -> Vec<Scored> {
        self.kept.into_sorted_vec()
    }
}
