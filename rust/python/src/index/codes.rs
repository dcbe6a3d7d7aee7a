//! Quantised vectors as a Python class.

use std::path::PathBuf;

use memstore_kernel::index::codes::{self as kernel, Lanes, Scan};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

use super::ids::{Sets, row_ids};
use crate::arrays::{self, check_lengths, value_error};
use crate::derived::{self, Origin};
use crate::shared::Shared;

/// Quantised vectors, searched exactly.
#[pyclass(frozen, module = "memstore._kernel.codes")]
pub(crate) struct Codes {
    pub(crate) dimension: usize,
    origin: Origin,
    pub(crate) codes: Shared<kernel::Codes>,
}

#[pymethods]
impl Codes {
    #[new]
    fn new(dimension: i64) -> PyResult<Self> {
        let dimension = usize::try_from(dimension)
            .ok()
            .filter(|dimension| (1..=kernel::MAX_DIMENSION).contains(dimension))
            .ok_or_else(|| {
                let most = kernel::MAX_DIMENSION;
                value_error(format!("dimension must be 1 to {most}, got {dimension}"))
            })?;
        Ok(Self::of(kernel::Codes::new(dimension), Origin::default()))
    }

    /// Map a file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, database: &[u8], generation: u64) -> PyResult<Self> {
        let tag = derived::tag(kernel::KIND, kernel::VERSION, database, generation)?;
        let (codes, file) = py
            .detach(|| kernel::Codes::open(&path, &tag))
            .map_err(derived::refusal)?;
        Ok(Self::of(codes, Origin::new(file)))
    }

    /// Write all rows to a file.
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        database: &[u8],
        generation: u64,
        position: u64,
    ) -> PyResult<()> {
        let tag = derived::tag(kernel::KIND, kernel::VERSION, database, generation)?;
        py.detach(|| self.codes.read().save(&path, &tag, position))?;
        Ok(())
    }

    /// Components a vector has.
    #[getter]
    fn dimension(&self) -> usize {
        self.dimension
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
        py.detach(|| self.codes.read().nbytes())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.codes.read().len())
    }

    /// Add or replace rows.
    fn put(
        &self,
        ids: &Bound<'_, PyAny>,
        owners: &Bound<'_, PyAny>,
        blobs: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = ids.py();
        let (ids, owners) = (row_ids("ids", ids)?, row_ids("owners", owners)?);
        let blobs = arrays::blobs(blobs)?;
        check_lengths(("ids", ids.len()), ("owners", owners.len()))?;
        check_lengths(("ids", ids.len()), ("blobs", blobs.len()))?;
        py.detach(|| {
            let batch = kernel::Batch::new(self.dimension, &ids, &owners, &blobs)?;
            self.codes.write().put(&batch)
        })
        .map_err(refusal)
    }

    /// Remove rows.
    fn drop(&self, ids: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = ids.py();
        let ids = row_ids("ids", ids)?;
        Ok(py.detach(|| self.codes.write().drop_ids(&ids)))
    }

    /// The rows that can be among the nearest to each query.
    #[pyo3(signature = (queries, limit, visible = None))]
    fn scan(
        &self,
        queries: &Bound<'_, PyAny>,
        limit: i64,
        visible: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Vec<u32>>> {
        let py = queries.py();
        let queries = arrays::vectors("queries", queries, self.dimension)?;
        let sets = Sets::of(visible, queries.len() / self.dimension)?;
        let (limit, lanes) = (arrays::limit(limit)?, Lanes::best());
        Ok(sets.with(|visible| {
            let scan = Scan {
                queries: &queries,
                limit,
                visible,
            };
            py.detach(|| kernel::scan(&self.codes.read(), &scan, &lanes))
        }))
    }
}

impl Codes {
    fn of(codes: kernel::Codes, origin: Origin) -> Self {
        Self {
            dimension: codes.dimension(),
            origin,
            codes: Shared::new(codes),
        }
    }
}

pub(crate) fn refusal(refused: kernel::Refused) -> PyErr {
    match refused {
        kernel::Refused::Memory => PyMemoryError::new_err(refused.to_string()),
        _ => value_error(refused.to_string()),
    }
}
