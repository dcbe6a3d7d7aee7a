//! The contextual ranking.

use std::collections::HashMap;

use memstore_kernel::index::features::{hash, micros};
use memstore_kernel::index::words::Phrase;
use memstore_kernel::ranking::contextual::{self as kernel, Age, Candidate, Request};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::arrays::{self, no_memory, value_error};
use crate::index::features::Features;
use crate::index::ids::{Ids, row_id};
use crate::index::words::Words;
use crate::ranking::{GivenCalendar, GivenCondition};

/// The parts whose sum is the score, in the order of `ScoreParts`; the last one is the freshness.
type Parts = (f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64);

/// A row, its score, its BM25 divided by the largest, its cosine, its freshness, its parts, and how
/// relevant it is.
type Ranked = (u32, f64, f64, f64, f64, Parts, Option<f64>);

/// The best row of the one whom a query names, and the better one of others.
type Elsewhere = (u32, u32, f64);

/// Candidates ranked by how well they answer a query, and whether the answer is about others.
#[pyfunction]
#[pyo3(signature = (
    features, words, phrases, query, telling, candidates, *, limit, visible = None, half_lives = vec![],
    now = None, compares = false, joins = false, until = None, ages = vec![],
    calendar = (vec![], vec![], false), condition = None
))]
#[expect(clippy::too_many_arguments, reason = "many are keywords")]
pub(crate) fn contextual(
    py: Python<'_>,
    features: &Bound<'_, Features>,
    words: &Bound<'_, Words>,
    phrases: Vec<Phrase>,
    query: PyBackedStr,
    telling: PyBackedStr,
    candidates: Vec<(i64, Option<f32>)>,
    limit: i64,
    visible: Option<&Bound<'_, Ids>>,
    half_lives: Vec<(PyBackedStr, f64)>,
    now: Option<PyBackedStr>,
    compares: bool,
    joins: bool,
    until: Option<u32>,
    ages: Vec<Aged>,
    calendar: GivenCalendar,
    condition: Option<GivenCondition>,
) -> PyResult<(Vec<Ranked>, Option<Elsewhere>)> {
    let limit = arrays::limit(limit)?;
    let candidates = candidates.into_iter().map(candidate);
    let candidates = candidates.collect::<PyResult<Vec<_>>>()?;
    let lives = half_lives.iter().map(half_life);
    let lives = lives.collect::<PyResult<Vec<_>>>()?;
    let ages = ages.iter().map(age).collect::<PyResult<HashMap<_, _>>>()?;
    let calendar = super::calendar(calendar);
    let condition = condition.map(super::condition).transpose()?;
    let visible = visible.map(|ids| &ids.get().0);
    let (features, words) = (&features.get().features, &words.get().words);
    let order = py
        .detach(|| {
            let request = Request {
                limit,
                query: &query,
                phrases: &phrases,
                telling: &telling,
                visible,
                lives: &lives,
                now: now.as_deref().and_then(micros).unwrap_or(0),
                compares,
                joins,
                until,
                ages: &ages,
                calendar: &calendar,
                condition: condition.as_ref(),
            };
            kernel::rank(&features.read(), &words.read(), &request, &candidates)
        })
        .map_err(no_memory("features"))?;
    let elsewhere = order.elsewhere;
    Ok((
        order.rows.into_iter().map(row).collect(),
        elsewhere.map(|one| (one.named, one.other, one.difference)),
    ))
}

fn candidate((id, cosine): (i64, Option<f32>)) -> PyResult<Candidate> {
    let id = row_id("rows", id)?;
    match cosine {
        Some(cosine) if !cosine.is_finite() => Err(value_error(format!(
            "candidates hold the cosine {cosine}: it must be finite"
        ))),
        _ => Ok(Candidate { id, cosine }),
    }
}

fn half_life((name, life): &(PyBackedStr, f64)) -> PyResult<(u32, f64)> {
    if life.is_nan() || *life <= 0.0 {
        return Err(value_error(format!(
            "half_lives hold {life}: each must be above 0"
        )));
    }
    Ok((hash(name), *life))
}

/// A row, when it was known and said, and the kind that it ages as.
type Aged = (i64, PyBackedStr, PyBackedStr, Option<PyBackedStr>);

fn age((id, known, said, ages_as): &Aged) -> PyResult<(u32, Age)> {
    let time = |at: &str| micros(at).ok_or_else(|| value_error(format!("ages hold no time: {at}")));
    let age = Age {
        known: time(known)?,
        said: time(said)?,
        ages_as: ages_as.as_deref().map_or(0, hash),
    };
    Ok((row_id("rows", *id)?, age))
}

fn row(one: kernel::Ranked) -> Ranked {
    let parts = one.parts;
    let parts = (
        parts.words,
        parts.meaning,
        parts.terms,
        parts.thread,
        parts.session,
        parts.subject,
        parts.date,
        parts.kind,
        0.0, // what it loses by its project is not known here
        parts.age,
        one.decay,
    );
    (
        one.id,
        one.score,
        one.word,
        one.vector,
        one.decay,
        parts,
        one.relevance,
    )
}
