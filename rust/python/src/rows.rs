//! Resident rows as a Python class.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use memstore_kernel::rows as kernel;
use memstore_kernel::scan::{self, Filter, Question};
use memstore_kernel::top_k::Hit;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

use crate::arrays::{self, check_lengths, value_error};
use crate::dot;

/// Ids and cosines, best first.
type Nearest<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f32>>);

/// Resident vectors, found by id and grouped by partition.
///
/// The lock is only ever taken with the GIL released, and whoever holds it never asks for the GIL,
/// so the two cannot wait for each other.
#[pyclass(frozen, module = "memstore._kernel")]
pub(crate) struct Rows {
    dimension: usize,
    rows: RwLock<kernel::Rows>,
}

#[pymethods]
impl Rows {
    #[new]
    fn new(dimension: i64) -> PyResult<Self> {
        let dimension = usize::try_from(dimension)
            .ok()
            .filter(|dimension| (1..=kernel::MOST_DIMENSIONS).contains(dimension))
            .ok_or_else(|| {
                let most = kernel::MOST_DIMENSIONS;
                value_error(format!("dimension must be 1 to {most}, got {dimension}"))
            })?;
        Ok(Self {
            dimension,
            rows: RwLock::new(kernel::Rows::new(dimension)),
        })
    }

    /// Components a vector has.
    #[getter]
    fn dimension(&self) -> usize {
        self.dimension
    }

    /// Bytes held in memory.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        py.detach(|| self.read().nbytes())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.read().len())
    }

    /// Add or replace rows.
    fn put(
        &self,
        ids: &Bound<'_, PyAny>,
        partitions: &Bound<'_, PyAny>,
        vectors: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = ids.py();
        let (ids, partitions) = placed(ids, partitions)?;
        let vectors = arrays::matrix_of("vectors", vectors, self.dimension)?;
        check_lengths(("ids", ids.len()), ("vectors", vectors.rows))?;
        py.detach(|| self.write().put(&ids, &partitions, &vectors.values))
            .map_err(refusal)
    }

    /// Add or replace rows from database BLOBs.
    fn put_blobs(
        &self,
        ids: &Bound<'_, PyAny>,
        partitions: &Bound<'_, PyAny>,
        blobs: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = ids.py();
        let blobs = arrays::blobs(blobs)?;
        let (ids, partitions) = placed(ids, partitions)?;
        check_lengths(("ids", ids.len()), ("blobs", blobs.len()))?;
        py.detach(|| self.write().put_blobs(&ids, &partitions, &blobs))
            .map_err(refusal)
    }

    /// Move rows to other partitions.
    fn assign(&self, ids: &Bound<'_, PyAny>, partitions: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = ids.py();
        let (ids, partitions) = placed(ids, partitions)?;
        Ok(py.detach(|| self.write().assign(&ids, &partitions)))
    }

    /// Remove rows.
    fn drop(&self, ids: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = ids.py();
        let ids = arrays::ids("ids", ids)?;
        Ok(py.detach(|| self.write().drop_ids(&ids)))
    }

    /// Remove every row.
    fn clear(&self, py: Python<'_>) {
        py.detach(|| self.write().clear());
    }

    /// The nearest rows to each query.
    #[pyo3(signature = (queries, limit, *, partitions = None, only = None, excluding = None))]
    fn scan<'py>(
        &self,
        queries: &Bound<'py, PyAny>,
        limit: i64,
        partitions: Option<&Bound<'py, PyAny>>,
        only: Option<&Bound<'py, PyAny>>,
        excluding: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Nearest<'py>>> {
        let py = queries.py();
        let matrix = arrays::matrix_of("queries", queries, self.dimension)?;
        let limit = arrays::limit(limit)?;
        let partitions = partitions
            .map(|ids| arrays::ids("partitions", ids))
            .transpose()?;
        let only = only.map(|ids| arrays::ids("only", ids)).transpose()?;
        let excluding = excluding
            .map(|ids| arrays::ids("excluding", ids))
            .transpose()?;
        let filter = match (&only, &excluding) {
            (None, None) => Filter::All,
            (Some(ids), None) => Filter::Only(ids),
            (None, Some(ids)) => Filter::Excluding(ids),
            (Some(_), Some(_)) => {
                return Err(value_error("give only or excluding, not both".to_owned()));
            }
        };
        arrays::check_rows_finite("queries", &matrix)?;
        let queries = &matrix.values;
        let partitions = partitions.as_deref();
        let question = Question {
            queries,
            limit,
            partitions,
            filter,
        };
        let found = py.detach(|| scan::scan(&self.read(), &question, dot()));
        Ok(found.into_iter().map(|hits| nearest(py, &hits)).collect())
    }

    /// The cosine of one query with each id.
    fn similarity<'py>(
        &self,
        query: &Bound<'py, PyAny>,
        ids: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let py = query.py();
        let query = arrays::vector_of("query", query, self.dimension)?;
        let ids = arrays::ids("ids", ids)?;
        let cosines = py.detach(|| self.read().similarity(&query, &ids, dot()));
        Ok(cosines.into_pyarray(py))
    }
}

impl Rows {
    // A writer checks its whole batch before it changes anything, and what follows has no reason to
    // panic; so a lock that is poisoned all the same still guards rows that can be searched.
    fn read(&self) -> RwLockReadGuard<'_, kernel::Rows> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, kernel::Rows> {
        self.rows.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refusal(refused: kernel::Refused) -> PyErr {
    match refused {
        kernel::Refused::Memory { .. } => PyMemoryError::new_err(refused.to_string()),
        _ => value_error(refused.to_string()),
    }
}

fn placed(ids: &Bound<'_, PyAny>, partitions: &Bound<'_, PyAny>) -> PyResult<(Vec<i64>, Vec<i64>)> {
    let ids = arrays::ids("ids", ids)?;
    let partitions = arrays::ids("partitions", partitions)?;
    check_lengths(("ids", ids.len()), ("partitions", partitions.len()))?;
    Ok((ids, partitions))
}

fn nearest<'py>(py: Python<'py>, hits: &[Hit]) -> Nearest<'py> {
    let ids: Vec<i64> = hits.iter().map(|hit| hit.id).collect();
    let cosines: Vec<f32> = hits.iter().map(|hit| hit.cosine).collect();
    (ids.into_pyarray(py), cosines.into_pyarray(py))
}
