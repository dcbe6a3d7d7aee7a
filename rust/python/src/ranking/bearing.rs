//! Whether rows are about a query.

use memstore_kernel::index::words::Phrase;
use memstore_kernel::ranking::bearing::{self as kernel, ExactQuery, Term};
use memstore_kernel::ranking::relevance;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::arrays::{check_lengths, no_memory};
use crate::index::features::Features;
use crate::index::ids::row_ids;
use crate::index::words::Words;
use crate::ranking::GivenCalendar;

/// A word of a query, and its spellings.
type GivenTerm = (String, Vec<Phrase>);

/// What a row has of a query.
#[pyclass(frozen, get_all, module = "memstore._kernel.ranking")]
pub(crate) struct Bearing {
    is_enough: bool,
    named: bool,
    dated: bool,
    identified: bool,
    weight: f64,
    coverage: f64,
    rare: usize,
}

impl From<kernel::Bearing> for Bearing {
    fn from(one: kernel::Bearing) -> Self {
        Self {
            is_enough: one.is_enough(),
            named: one.named,
            dated: one.dated,
            identified: one.identified,
            weight: one.weight,
            coverage: one.coverage,
            rare: one.rare,
        }
    }
}

/// What rows have of a query's names, identifiers and words.
#[pyfunction]
#[pyo3(signature = (features, words, query, terms, identifiers, ids, *, until = None, calendar = (vec![], vec![], false)))]
#[expect(clippy::too_many_arguments, reason = "two are keywords")]
pub(crate) fn bearings(
    py: Python<'_>,
    features: &Bound<'_, Features>,
    words: &Bound<'_, Words>,
    query: PyBackedStr,
    terms: Vec<GivenTerm>,
    identifiers: Vec<Phrase>,
    ids: &Bound<'_, PyAny>,
    until: Option<u32>,
    calendar: GivenCalendar,
) -> PyResult<Vec<Option<Bearing>>> {
    let ids = row_ids("ids", ids)?;
    let terms = given(terms);
    let calendar = super::calendar(calendar);
    let (features, words) = (&features.get().features, &words.get().words);
    let found = py.detach(|| {
        let query = ExactQuery {
            text: &query,
            terms: &terms,
            identifiers: &identifiers,
        };
        kernel::bearings(
            &features.read(),
            &words.read(),
            &query,
            &ids,
            until,
            &calendar,
        )
    });
    let found = found.map_err(no_memory("features"))?;
    Ok(found
        .into_iter()
        .map(|one| one.map(Bearing::from))
        .collect())
}

fn given(terms: Vec<GivenTerm>) -> Vec<Term> {
    let term = |(text, spellings)| Term { text, spellings };
    terms.into_iter().map(term).collect()
}

/// How relevant rows are to a query, by its words and by meaning.
#[pyfunction]
#[pyo3(signature = (
    features, words, query, terms, identifiers, telling, ids, known, *, until = None,
    calendar = (vec![], vec![], false)
))]
#[expect(clippy::too_many_arguments, reason = "two are keywords")]
pub(crate) fn relevances_of_hits(
    py: Python<'_>,
    features: &Bound<'_, Features>,
    words: &Bound<'_, Words>,
    query: PyBackedStr,
    terms: Vec<GivenTerm>,
    identifiers: Vec<Phrase>,
    telling: PyBackedStr,
    ids: &Bound<'_, PyAny>,
    known: Vec<Option<f64>>,
    until: Option<u32>,
    calendar: GivenCalendar,
) -> PyResult<Vec<Option<f64>>> {
    let ids = row_ids("ids", ids)?;
    check_lengths(("ids", ids.len()), ("known", known.len()))?;
    let terms = given(terms);
    let calendar = super::calendar(calendar);
    let (features, words) = (&features.get().features, &words.get().words);
    let query = ExactQuery {
        text: &query,
        terms: &terms,
        identifiers: &identifiers,
    };
    py.detach(|| {
        let (features, words) = (features.read(), words.read());
        relevance::relevances_of_hits(
            &features, &words, &query, &telling, &ids, &known, until, &calendar,
        )
    })
    .map_err(no_memory("features"))
}

/// How relevant rows are to a query.
#[pyfunction]
pub(crate) fn relevances(
    py: Python<'_>,
    features: &Bound<'_, Features>,
    query: PyBackedStr,
    telling: PyBackedStr,
    ids: &Bound<'_, PyAny>,
) -> PyResult<Vec<Option<f64>>> {
    let ids = row_ids("ids", ids)?;
    let features = &features.get().features;
    py.detach(|| relevance::relevances(&features.read(), &query, &telling, &ids))
        .map_err(no_memory("features"))
}

/// Whether each text has a name that a prompt has, wherever in its sentences.
#[pyfunction]
pub(crate) fn named(
    py: Python<'_>,
    prompt: PyBackedStr,
    asks: bool,
    texts: Vec<PyBackedStr>,
) -> PyResult<Vec<bool>> {
    py.detach(|| kernel::named(&prompt, asks, &texts))
        .map_err(no_memory("texts"))
}
