//! The features of rows as a Python class.

use std::path::PathBuf;

use memstore_kernel::index::features::{self as kernel, KIND, Row, VERSION};
#[cfg(feature = "model")]
use memstore_kernel::{
    index::codes::{Lanes, Scan},
    model::DIMENSION,
    vectors::codec::{self, check_finite},
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
#[cfg(feature = "model")]
use pyo3::types::PyBytes;

#[cfg(feature = "model")]
use super::codes::Codes;
#[cfg(feature = "model")]
use super::ids::Sets;
use super::ids::{Ids, row_id, row_ids};
use crate::arrays::no_memory;
#[cfg(feature = "model")]
use crate::arrays::{self, value_error};
use crate::derived::{Origin, refusal, tag};
use crate::shared::Shared;

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

/// The features of each row that the contextual ranking compares with a query.
#[pyclass(frozen, module = "memstore._kernel.features")]
pub(crate) struct Features {
    pub(crate) features: Shared<kernel::Features>,
    origin: Origin,
}

#[pymethods]
impl Features {
    #[new]
    fn new() -> Self {
        Self {
            features: Shared::new(kernel::Features::default()),
            origin: Origin::default(),
        }
    }

    /// Map a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, database: &[u8]) -> PyResult<Self> {
        let tag = tag(KIND, VERSION, database, 0)?;
        let (features, file) = py
            .detach(|| kernel::Features::open(&path, &tag))
            .map_err(refusal)?;
        Ok(Self {
            features: Shared::new(features),
            origin: Origin::new(file),
        })
    }

    /// Write all rows to a file.
    fn save(&self, py: Python<'_>, path: PathBuf, database: &[u8], position: u64) -> PyResult<()> {
        let tag = tag(KIND, VERSION, database, 0)?;
        Ok(py.detach(|| self.features.read().save(&path, &tag, position))?)
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
        py.detach(|| self.features.read().nbytes())
    }

    /// The mean number of words.
    #[getter]
    fn mean_words(&self, py: Python<'_>) -> f64 {
        py.detach(|| self.features.read().mean_words())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.features.read().len())
    }

    /// Add or replace rows.
    fn put(&self, py: Python<'_>, rows: Vec<GivenRow>) -> PyResult<()> {
        let ids = rows.iter().map(|row| row_id("rows", row.0));
        let ids = ids.collect::<PyResult<Vec<_>>>()?;
        py.detach(|| {
            let entries = rows.iter().map(|row| kernel::read(&given(row)));
            let entries = entries.collect::<Result<Vec<_>, _>>()?;
            let mut features = self.features.write();
            let mut pairs = ids.into_iter().zip(&entries);
            pairs.try_for_each(|(id, entry)| features.put(id, entry))
        })
        .map_err(no_memory("features"))
    }

    /// Remove rows.
    fn drop(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<usize> {
        let ids = row_ids("ids", ids)?;
        py.detach(|| {
            let mut features = self.features.write();
            let mut ids = ids.iter();
            ids.try_fold(0, |sum, id| Ok(sum + usize::from(features.remove(*id)?)))
        })
        .map_err(no_memory("features"))
    }

    /// The inverse document frequency of each token of a text.
    fn idf(&self, py: Python<'_>, text: PyBackedStr) -> PyResult<Vec<(u16, f64)>> {
        py.detach(|| {
            let features = self.features.read();
            Ok(features.query(&text)?.weights())
        })
        .map_err(no_memory("features"))
    }

    /// A query's vector.
    #[cfg(feature = "model")]
    fn vector<'py>(&self, py: Python<'py>, query: PyBackedStr) -> PyResult<Bound<'py, PyBytes>> {
        let vector = py
            .detach(|| self.features.read().query(&query))
            .map_err(no_memory("features"))?
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
        Ok(py.detach(|| self.features.read().cosines(&unit, &ids)))
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
        visible: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Vec<(u32, f32)>>> {
        let codes = codes.get();
        if codes.dimension != DIMENSION {
            return Err(value_error(format!(
                "codes hold vectors of {} numbers, expected {DIMENSION}",
                codes.dimension
            )));
        }
        let queries = arrays::vectors("queries", queries, DIMENSION)?;
        let sets = Sets::of(visible, queries.len() / DIMENSION)?;
        let (limit, lanes) = (arrays::limit(limit)?, Lanes::best());
        Ok(sets.with(|visible| {
            let scan = Scan {
                queries: &queries,
                limit,
                visible,
            };
            py.detach(|| {
                let (features, codes) = (self.features.read(), codes.codes.read());
                features.nearest(&codes, &scan, &lanes)
            })
        }))
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
        Ok(py.detach(|| self.features.read().neighbours(&ids, reach, visible)))
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
