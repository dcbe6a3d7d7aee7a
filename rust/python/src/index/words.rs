//! The inverted index as a Python class.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memstore_kernel::index::words as kernel;
use memstore_kernel::index::words::{KIND, Phrase, Texts, VERSION};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyString};

use super::ids::{Ids, row_ids};
use crate::arrays::{check_lengths, limit, no_memory, value_error};
use crate::derived::{Origin, refusal, tag};
use crate::shared::Shared;

/// An inverted index, ranked as FTS5 ranks.
///
/// A writer holds `changing` from beginning to end. So a merge, which takes seconds while others
/// read, is still valid when it is applied.
#[pyclass(frozen, module = "memstore._kernel.words")]
pub(crate) struct Words {
    pub(crate) words: Shared<kernel::Words>,
    changing: Mutex<()>,
    origin: Origin,
}

#[pymethods]
impl Words {
    #[new]
    fn new() -> Self {
        Self::of(kernel::Words::default(), Origin::default())
    }

    /// Map a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, database: &[u8]) -> PyResult<Self> {
        let tag = tag(KIND, VERSION, database, 0)?;
        let (words, file) = py
            .detach(|| kernel::Words::open(&path, &tag))
            .map_err(refusal)?;
        Ok(Self::of(words, Origin::new(file)))
    }

    /// Write all rows to a file.
    fn save(&self, py: Python<'_>, path: PathBuf, database: &[u8], position: u64) -> PyResult<()> {
        let tag = tag(KIND, VERSION, database, 0)?;
        Ok(py.detach(|| self.words.read().save(&path, &tag, position))?)
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
        py.detach(|| self.words.read().nbytes())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.words.read().len())
    }

    /// Add or replace rows.
    fn put(&self, ids: &Bound<'_, PyAny>, texts: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = ids.py();
        let ids = row_ids("ids", ids)?;
        let texts = tokens(texts)?;
        check_lengths(("ids", ids.len()), ("texts", texts.len()))?;
        py.detach(|| {
            let _turn = self.turn();
            self.words.write().put(&ids, &texts)?;
            self.merge();
            Ok(())
        })
        .map_err(refused)
    }

    /// Remove rows.
    fn drop(&self, ids: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = ids.py();
        let ids = row_ids("ids", ids)?;
        py.detach(|| {
            let _turn = self.turn();
            self.words.write().drop_ids(&ids)
        })
        .map_err(refused)
    }

    /// The best rows.
    #[pyo3(signature = (phrases, limit, visible = None, *, until = None))]
    fn search(
        &self,
        py: Python<'_>,
        phrases: Vec<Phrase>,
        limit: i64,
        visible: Option<&Bound<'_, Ids>>,
        until: Option<u32>,
    ) -> PyResult<Vec<(u32, f64)>> {
        let limit = self::limit(limit)?;
        let visible = visible.map(|ids| &ids.get().0);
        let found = py.detach(|| self.words.read().search(&phrases, limit, visible, until));
        Ok(found.into_iter().map(|row| (row.id, row.score)).collect())
    }

    /// The best rows with their BM25.
    #[pyo3(signature = (phrases, limit, visible = None, *, until = None))]
    fn bm25<'py>(
        &self,
        py: Python<'py>,
        phrases: Vec<Phrase>,
        limit: i64,
        visible: Option<&Bound<'_, Ids>>,
        until: Option<u32>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let rows = PyDict::new(py);
        for (id, score) in self.search(py, phrases, limit, visible, until)? {
            rows.set_item(id, -score)?;
        }
        Ok(rows)
    }

    /// The contribution of each phrase to each row's score.
    #[pyo3(signature = (phrases, ids, *, until = None))]
    fn parts(
        &self,
        py: Python<'_>,
        phrases: Vec<Phrase>,
        ids: &Bound<'_, PyAny>,
        until: Option<u32>,
    ) -> PyResult<Vec<Vec<f64>>> {
        let ids = row_ids("ids", ids)?;
        let parts = py.detach(|| self.words.read().parts(&phrases, &ids, until));
        Ok((0..ids.len()).map(|row| parts.of(row).to_vec()).collect())
    }

    /// Some rows with the terms that a misspelt word may stand for.
    #[pyo3(signature = (word, most, *, terms, letters, rows, visible = None, until = None))]
    #[expect(clippy::too_many_arguments, reason = "most are keywords")]
    fn similar_rows(
        &self,
        py: Python<'_>,
        word: &str,
        most: usize,
        terms: usize,
        letters: usize,
        rows: usize,
        visible: Option<&Bound<'_, Ids>>,
        until: Option<u32>,
    ) -> Vec<u32> {
        let visible = visible.map(|ids| &ids.get().0);
        let wanted = kernel::SimilarTo {
            word,
            most,
            terms,
            letters,
        };
        py.detach(|| {
            let words = self.words.read();
            words.rows_of_similar(&wanted, rows, visible, until)
        })
    }

    /// The terms that a misspelt word may stand for, with their edits.
    #[pyo3(signature = (word, most, limit))]
    fn similar(
        &self,
        py: Python<'_>,
        word: &str,
        most: usize,
        limit: usize,
    ) -> Vec<(String, usize)> {
        let found = py.detach(|| self.words.read().similar(word, most, limit));
        found.into_iter().map(|one| (one.term, one.edits)).collect()
    }

    /// How many rows have each phrase.
    #[pyo3(signature = (phrases, *, until = None))]
    fn frequencies(&self, py: Python<'_>, phrases: Vec<Phrase>, until: Option<u32>) -> Vec<u64> {
        py.detach(|| self.words.read().frequencies(&phrases, until))
    }
}

impl Words {
    fn of(words: kernel::Words, origin: Origin) -> Self {
        Self {
            words: Shared::new(words),
            changing: Mutex::new(()),
            origin,
        }
    }

    /// Merge if there are many segments. If there is no memory for that, the rows stay where they
    /// are and are found there, and the next `put` tries again.
    fn merge(&self) {
        while let Ok(Some(step)) = { self.words.read().step() } {
            self.words.write().take(step);
        }
    }

    // The kernel checks a batch before it changes anything, and nothing after that should panic; so
    // even a poisoned lock guards rows that can be searched.
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The edits between a word and each of others.
#[pyfunction]
pub(crate) fn edits(
    py: Python<'_>,
    word: &str,
    others: Vec<PyBackedStr>,
    most: usize,
) -> Vec<usize> {
    py.detach(|| kernel::edits(word, &others, most))
}

/// The words of texts that are near a word.
#[pyfunction]
pub(crate) fn near_words(
    py: Python<'_>,
    word: &str,
    texts: Vec<PyBackedStr>,
    most: usize,
) -> Vec<(String, usize)> {
    py.detach(|| kernel::near_words(word, &texts, most))
        .into_iter()
        .map(|(word, edits)| (word.to_owned(), edits))
        .collect()
}

fn refused(refused: kernel::Refused) -> PyErr {
    match refused {
        kernel::Refused::Memory => PyMemoryError::new_err(refused.to_string()),
        _ => value_error(refused.to_string()),
    }
}

/// The tokens of each text, copied.
fn tokens(texts: &Bound<'_, PyAny>) -> PyResult<Texts> {
    let mut found = Texts::new();
    for text in texts.try_iter()? {
        for token in text?.try_iter()? {
            found
                .push(token?.cast::<PyString>()?.to_str()?)
                .map_err(no_memory("texts"))?;
        }
        found.end_row().map_err(no_memory("texts"))?;
    }
    Ok(found)
}
