//! How relevant rows are to a query, by tokens alone.

use std::collections::TryReserveError;

use super::FEW_ROWS;
use crate::index::features::{Features, Similarities};

/// How relevant rows are to a query: late interaction times the cosine, both by the built-in
/// model, 0 to 1; `None` for a row that does not exist. `telling` is the query without stop words.
///
/// Without the model, the weighted share of the query's words that the row has.
///
/// # Errors
/// There is no memory.
pub fn relevances(
    features: &Features,
    query: &str,
    telling: &str,
    ids: &[u32],
) -> Result<Vec<Option<f64>>, TryReserveError> {
    let query = features.query_among(query, features.len().max(FEW_ROWS))?;
    let query = query.telling(telling)?;
    let rows = ids.iter().filter_map(|id| features.get(*id));
    let similar = Similarities::new(&query, rows);
    let mut best = Vec::new();
    let mut relevance = |id: &u32| {
        let stored = features.get(*id)?;
        best.clear();
        similar.best(&stored, &mut best);
        let terms = query.mean(&best).max(0.0);
        if cfg!(not(feature = "model")) {
            return Some(terms);
        }
        Some(terms * f64::from(similar.cosine(&stored)).max(0.0))
    };
    Ok(ids.iter().map(&mut relevance).collect())
}
