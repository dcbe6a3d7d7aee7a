//! The best few of many, in a heap of bounded size.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A row and its cosine with the query.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    /// The row's id.
    pub id: i64,
    /// Its similarity, in -1..=1.
    pub cosine: f32,
}

impl Ord for Hit {
    /// Better is less: higher cosine first, then the smaller id. So the heap's top is the worst
    /// one kept, and sorting puts the best in front.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .cosine
            .total_cmp(&self.cosine)
            .then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Hit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Hit {}

/// Keeps the `limit` best hits of positive similarity.
///
/// The order is total, so what is kept does not depend on the order in which hits are offered:
/// several threads may each keep their own and be merged.
#[derive(Debug)]
pub struct TopK {
    limit: usize,
    kept: BinaryHeap<Hit>,
}

impl TopK {
    /// Nothing kept yet. The memory grows with what is kept, not with the limit.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: BinaryHeap::new(),
        }
    }

    /// Consider one hit.
    #[inline]
    pub fn offer(&mut self, hit: Hit) {
        if hit.cosine <= 0.0 {
            return;
        }
        if self.kept.len() < self.limit {
            self.kept.push(hit);
        } else if let Some(mut worst) = self.kept.peek_mut()
            && hit < *worst
        {
            *worst = hit;
        }
    }

    /// A cosine below this has no chance; one equal to it may still win by its id.
    #[inline]
    pub fn floor(&self) -> f32 {
        match self.kept.peek() {
            Some(worst) if self.kept.len() == self.limit => worst.cosine,
            _ => 0.0,
        }
    }

    /// Take over what another one kept.
    pub fn merge(&mut self, other: Self) {
        other.kept.into_iter().for_each(|hit| self.offer(hit));
    }

    /// What was kept, best first.
    pub fn into_best_first(self) -> Vec<Hit> {
        self.kept.into_sorted_vec()
    }
}
