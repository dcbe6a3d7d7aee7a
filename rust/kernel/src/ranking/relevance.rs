//! How relevant rows are to a query: by tokens alone, or by its words first.

use std::collections::TryReserveError;

use super::FEW_ROWS;
use super::bearing::{Bearing, ExactQuery, bearings};
use crate::index::features::{Features, Similarities};
use crate::index::words::Words;
use crate::language::Calendar;

/// How relevant rows are to a query, 0 to 1: 1 for a row that has every word of it or bears on it
/// by some of them, and for the others as [`relevances`] tells; `None` for a row that does not exist.
/// `known` is what that would tell of each row, where it is known.
///
/// # Errors
/// There is no memory.
///
/// # Panics
/// If there is not one of `known` for each row.
#[expect(clippy::too_many_arguments, reason = "all of them are asked")]
pub fn relevances_of_hits(
    features: &Features,
    words: &Words,
    query: &ExactQuery<'_>,
    telling: &str,
    ids: &[u32],
    known: &[Option<f64>],
    until: Option<u32>,
    calendar: &Calendar,
) -> Result<Vec<Option<f64>>, TryReserveError> {
    assert_eq!(ids.len(), known.len(), "one relevance or none for each row");
    let is_whole = |bearing: &Bearing| {
        let has_all = bearing.words == query.terms.len() && !query.terms.is_empty();
        has_all || bearing.is_enough()
    };
    let bearings = bearings(features, words, query, ids, until, calendar)?;
    let mut found: Vec<Option<f64>> = bearings
        .iter()
        .zip(known)
        .map(|(one, known)| match one {
            Some(bearing) if is_whole(bearing) => Some(1.0),
            Some(_) => *known,
            None => None,
        })
        .collect();
    let unknown: Vec<usize> = (0..ids.len())
        .filter(|at| found[*at].is_none() && bearings[*at].is_some())
        .collect();
    if !unknown.is_empty() {
        let others: Vec<u32> = unknown.iter().map(|at| ids[*at]).collect();
        let others = relevances(features, query.text, telling, &others)?;
        for (at, relevance) in unknown.into_iter().zip(others) {
            found[at] = relevance;
        }
    }
    Ok(found)
}

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
        Some(of(query.mean(&best), similar.cosine(&stored)))
    };
    Ok(ids.iter().map(&mut relevance).collect())
}

/// How relevant a row is, by its late interaction and its cosine.
pub(super) fn of(terms: f64, cosine: f32) -> f64 {
    let terms = terms.max(0.0);
    if cfg!(not(feature = "model")) {
        return terms;
    }
    terms * f64::from(cosine).max(0.0)
}
