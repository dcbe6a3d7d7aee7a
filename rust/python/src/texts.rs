//! The data of rows for the second stage of a search, as a Python class.

use std::path::PathBuf;

use memstore_kernel::texts::{self as kernel, Candidate, KIND, Row, VERSION};
use memstore_kernel::words::Phrase;
#[cfg(feature = "model")]
use memstore_kernel::{
    codec::{self, check_finite},
    codes::{Lanes, Question},
    model::DIMENSION,
};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
#[cfg(feature = "model")]
use pyo3::types::PyBytes;

use crate::arrays::{self, value_error};
#[cfg(feature = "model")]
use crate::codes::Codes;
use crate::derived::{Origin, refusal, tag};
use crate::ids::{Ids, row_ids};
use crate::shared::Shared;
use crate::words::Words;

/// A word of a query, and its spellings.
type GivenTerm = (String, Vec<Phrase>);

/// Whether it is enough, named, dated, identified, weight, coverage, and how many words are rare.
type Bearing = (bool, bool, bool, bool, f64, f64, usize);

type Text = Option<PyBackedStr>;

/// Id, text, speaker, thread, place in it, valid at, created at, confirmed at and what it ages as.
type GivenRow = (
    i64,
    PyBackedStr,
    Text,
    Text,
    Option<i64>,
    Text,
    Text,
    Text,
    Text,
);

/// Id, score, decay, word score, vector score, and the nine parts.
type Parts = (f64, f64, f64, f64, f64, f64, f64, f64, f64);
type Ranked = (u32, f64, f64, f64, f64, Parts);

/// The data of each row for the second stage.
#[pyclass(frozen, module = "memstore._kernel")]
pub(crate) struct Texts {
    texts: Shared<kernel::Texts>,
    origin: Origin,
}

#[pymethods]
impl Texts {
    #[new]
    fn new() -> Self {
        Self {
            texts: Shared::new(kernel::Texts::default()),
            origin: Origin::default(),
        }
    }

    /// Map a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, database: &[u8]) -> PyResult<Self> {
        let tag = tag(KIND, VERSION, database, 0)?;
        let (texts, file) = py
            .detach(|| kernel::Texts::open(&path, &tag))
            .map_err(refusal)?;
        Ok(Self {
            texts: Shared::new(texts),
            origin: Origin::new(file),
        })
    }

    /// Write all rows to a file.
    fn save(&self, py: Python<'_>, path: PathBuf, database: &[u8], position: u64) -> PyResult<()> {
        let tag = tag(KIND, VERSION, database, 0)?;
        Ok(py.detach(|| self.texts.read().save(&path, &tag, position))?)
    }

    /// The position that the opened file was saved with.
    #[getter]
    fn position(&self) -> u64 {
        self.origin.position()
    }

    /// Whether the mapped file is what was written; `compare` reads all of it.
    #[pyo3(signature = (*, compare = false))]
    fn is_intact(&self, py: Python<'_>, compare: bool) -> bool {
        self.origin.is_intact(py, compare)
    }

    /// Bytes in this process's own memory.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        py.detach(|| self.texts.read().nbytes())
    }

    /// The mean number of words.
    #[getter]
    fn mean_words(&self, py: Python<'_>) -> f64 {
        py.detach(|| self.texts.read().mean_words())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.texts.read().len())
    }

    /// Add or replace rows.
    fn put(&self, py: Python<'_>, rows: Vec<GivenRow>) -> PyResult<()> {
        let ids = ids(rows.iter().map(|row| row.0))?;
        py.detach(|| {
            let entries = rows.iter().map(|row| kernel::read(&given(row)));
            let entries = entries.collect::<Result<Vec<_>, _>>()?;
            let mut texts = self.texts.write();
            let mut pairs = ids.into_iter().zip(&entries);
            pairs.try_for_each(|(id, entry)| texts.put(id, entry))
        })
        .map_err(no_memory)
    }

    /// Remove rows.
    fn drop(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<usize> {
        let ids = row_ids("ids", ids)?;
        py.detach(|| {
            let mut texts = self.texts.write();
            let mut ids = ids.iter();
            ids.try_fold(0, |sum, id| Ok(sum + usize::from(texts.remove(*id)?)))
        })
        .map_err(no_memory)
    }

    /// The inverse document frequency of each piece of a text.
    fn idf(&self, py: Python<'_>, text: PyBackedStr) -> PyResult<Vec<(u16, f64)>> {
        py.detach(|| {
            let texts = self.texts.read();
            Ok(texts.query(&text)?.weights())
        })
        .map_err(no_memory)
    }

    /// A query's vector.
    #[cfg(feature = "model")]
    fn vector<'py>(&self, py: Python<'py>, query: PyBackedStr) -> PyResult<Bound<'py, PyBytes>> {
        let vector = py
            .detach(|| self.texts.read().query(&query))
            .map_err(no_memory)?
            .vector;
        PyBytes::new_with(py, size_of_val(&vector), |bytes| {
            codec::encode_into(&vector, bytes);
            Ok(())
        })
    }

    /// The cosines of rows with a vector of the built-in model.
    #[cfg(feature = "model")]
    fn cosines(
        &self,
        py: Python<'_>,
        vector: &Bound<'_, PyAny>,
        ids: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Option<f32>>> {
        let ids = row_ids("ids", ids)?;
        let vector = arrays::buffer("vector", vector)?;
        let unit = <[f32; DIMENSION]>::try_from(&vector[..]).map_err(|_| {
            value_error(format!(
                "vector has {} numbers, expected {DIMENSION}",
                vector.len()
            ))
        })?;
        check_finite(&unit).map_err(|found| value_error(format!("vector holds {found}")))?;
        Ok(py.detach(|| self.texts.read().cosines(&unit, &ids)))
    }

    /// The rows nearest to each query.
    #[cfg(feature = "model")]
    #[pyo3(signature = (codes, queries, limit, visible = None))]
    fn nearest(
        &self,
        py: Python<'_>,
        codes: &Bound<'_, Codes>,
        queries: &Bound<'_, PyAny>,
        limit: i64,
        visible: Option<&Bound<'_, Ids>>,
    ) -> PyResult<Vec<Vec<(u32, f32)>>> {
        let codes = codes.get();
        if codes.dimension != DIMENSION {
            return Err(value_error(format!(
                "codes hold vectors of {} numbers, expected {DIMENSION}",
                codes.dimension
            )));
        }
        let queries = arrays::vectors("queries", queries, DIMENSION)?;
        let question = Question {
            queries: &queries,
            limit: arrays::limit(limit)?,
            visible: visible.map(|ids| &ids.get().0),
        };
        let lanes = Lanes::best();
        Ok(py.detach(|| {
            let (texts, codes) = (self.texts.read(), codes.codes.read());
            texts.nearest(&codes, &question, &lanes)
        }))
    }

    /// How relevant rows are to a query.
    fn relevances(
        &self,
        py: Python<'_>,
        query: PyBackedStr,
        telling: PyBackedStr,
        ids: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Option<f64>>> {
        let ids = row_ids("ids", ids)?;
        py.detach(|| self.texts.read().relevances(&query, &telling, &ids))
            .map_err(no_memory)
    }

    /// What rows have of a query's names, identifiers and words.
    fn bearings(
        &self,
        py: Python<'_>,
        words: &Bound<'_, Words>,
        query: PyBackedStr,
        terms: Vec<GivenTerm>,
        identifiers: Vec<Phrase>,
        ids: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Option<Bearing>>> {
        let ids = row_ids("ids", ids)?;
        let terms = terms.into_iter();
        let terms: Vec<_> = terms
            .map(|(text, spellings)| kernel::Term { text, spellings })
            .collect();
        let words = &words.get().words;
        let found = py.detach(|| {
            let asked = kernel::Exactly {
                query: &query,
                terms: &terms,
                identifiers: &identifiers,
            };
            self.texts.read().bearings(&words.read(), &asked, &ids)
        });
        let found = found.map_err(no_memory)?;
        Ok(found.into_iter().map(|one| one.map(weighed)).collect())
    }

    /// Whether each text has a name that a prompt has, wherever in its sentences.
    #[staticmethod]
    fn named(
        py: Python<'_>,
        prompt: PyBackedStr,
        asks: bool,
        texts: Vec<PyBackedStr>,
    ) -> PyResult<Vec<bool>> {
        py.detach(|| kernel::named(&prompt, asks, &texts))
            .map_err(no_memory)
    }

    /// The neighbours of these rows in their threads.
    #[pyo3(signature = (ids, reach, visible = None))]
    fn neighbours(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        reach: usize,
        visible: Option<&Bound<'_, Ids>>,
    ) -> PyResult<Vec<u32>> {
        let ids = row_ids("ids", ids)?;
        let visible = visible.map(|ids| &ids.get().0);
        Ok(py.detach(|| self.texts.read().neighbours(&ids, reach, visible)))
    }

    /// Candidates ranked by how well they answer a query.
    #[pyo3(signature = (
        words, phrases, query, telling, candidates, *, limit, visible = None, half_lives = vec![], now = None,
        compares = false
    ))]
    #[expect(clippy::too_many_arguments, reason = "all but the first are keywords")]
    fn rank(
        &self,
        py: Python<'_>,
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
    ) -> PyResult<Vec<Ranked>> {
        let limit = arrays::limit(limit)?;
        let ids = ids(candidates.iter().map(|one| one.0))?;
        check(&candidates, &half_lives)?;
        let lives: Vec<_> = half_lives
            .iter()
            .map(|(name, life)| (kernel::hash(name), *life))
            .collect();
        let candidates: Vec<_> = ids
            .into_iter()
            .zip(candidates)
            .map(|(id, (_, cosine))| Candidate { id, cosine })
            .collect();
        let visible = visible.map(|ids| &ids.get().0);
        let words = &words.get().words;
        let ranked = py
            .detach(|| {
                let asked = kernel::Asked {
                    limit,
                    query: &query,
                    phrases: &phrases,
                    telling: &telling,
                    visible,
                    lives: &lives,
                    now: now.as_deref().and_then(kernel::micros).unwrap_or(0),
                    compares,
                };
                self.texts.read().rank(&words.read(), &asked, &candidates)
            })
            .map_err(no_memory)?;
        Ok(ranked.into_iter().map(told).collect())
    }
}

fn given(row: &GivenRow) -> Row<'_> {
    let (_, text, speaker, thread, seq, valid, created, confirmed, ages_as) = row;
    Row {
        text,
        speaker: speaker.as_deref(),
        thread: thread.as_deref(),
        seq: seq.unwrap_or(0),
        valid: valid.as_deref(),
        created: created.as_deref(),
        confirmed: confirmed.as_deref(),
        ages_as: ages_as.as_deref(),
    }
}

fn weighed(one: kernel::Bearing) -> Bearing {
    let enough = one.is_enough();
    (
        enough,
        one.named,
        one.dated,
        one.identified,
        one.weight,
        one.coverage,
        one.rare,
    )
}

fn told(one: kernel::Ranked) -> Ranked {
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
        parts.age,
    );
    let (word, vector) = (one.word, one.vector);
    (one.id, one.score, one.decay, word, vector, parts)
}

fn ids(ids: impl Iterator<Item = i64>) -> PyResult<Vec<u32>> {
    let checked = |id: i64| {
        u32::try_from(id)
            .map_err(|_| value_error(format!("rows hold the id {id}: a row id is 0 to 2**32 - 1")))
    };
    ids.map(checked).collect()
}

fn check(candidates: &[(i64, Option<f32>)], half_lives: &[(PyBackedStr, f64)]) -> PyResult<()> {
    let mut cosines = candidates.iter().filter_map(|one| one.1);
    if let Some(cosine) = cosines.find(|cosine| !cosine.is_finite()) {
        return Err(value_error(format!(
            "candidates hold the cosine {cosine}: it must be finite"
        )));
    }
    let mut lives = half_lives.iter().map(|life| life.1);
    match lives.find(|life| life.is_nan() || *life <= 0.0) {
        Some(life) => Err(value_error(format!(
            "half_lives hold {life}: each must be above 0"
        ))),
        None => Ok(()),
    }
}

fn no_memory(error: std::collections::TryReserveError) -> PyErr {
    PyMemoryError::new_err(format!("texts: {error}"))
}
