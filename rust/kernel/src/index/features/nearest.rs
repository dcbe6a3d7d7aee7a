//! The rows nearest to a query by the built-in model.

use super::Features;
use crate::index::codes::{self, Codes, Lanes, Scan};
use crate::model::DIMENSION;

impl Features {
    /// For each query the rows with the largest positive cosines, best first, ties by id.
    ///
    /// # Panics
    /// If the codes are of vectors of another dimension, or the queries not a whole number of them.
    #[must_use]
    pub fn nearest(&self, codes: &Codes, scan: &Scan<'_>, lanes: &Lanes) -> Vec<Vec<(u32, f32)>> {
        let (queries, _) = scan.queries.as_chunks::<DIMENSION>();
        let found = codes::scan(codes, scan, lanes);
        queries
            .iter()
            .zip(found)
            .map(|(query, ids)| self.best(query, &ids, scan.limit))
            .collect()
    }

    fn best(&self, query: &[f32; DIMENSION], ids: &[u32], limit: usize) -> Vec<(u32, f32)> {
        let cosines = ids.iter().zip(self.cosines(query, ids));
        let mut near: Vec<_> = cosines
            .filter_map(|(id, cosine)| Some((*id, cosine.filter(|cosine| *cosine > 0.0)?)))
            .collect();
        near.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        near.truncate(limit);
        near
    }
}
