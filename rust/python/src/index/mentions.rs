//! The mentions of a graph, as Python functions and a class.

use memstore_kernel::index::mentions as kernel;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::ids::{Ids, row_id};
use crate::arrays::{no_memory, value_error};

/// The block of the names from a place on.
#[pyfunction]
pub(crate) fn pack<'py>(
    py: Python<'py>,
    first: u32,
    mentions: Vec<(i64, i64)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mentions: Vec<(u32, u32)> = mentions
        .into_iter()
        .map(|(name, fact)| Ok((row_id("mentions", name)?, row_id("mentions", fact)?)))
        .collect::<PyResult<_>>()?;
    let block = py
        .detach(|| kernel::pack(first, &mentions))
        .map_err(|_| value_error("mentions are not in order".to_owned()))?;
    Ok(PyBytes::new(py, &block))
}

/// The same block without the mentions by a fact.
#[pyfunction]
pub(crate) fn without<'py>(
    py: Python<'py>,
    block: PyBackedBytes,
    fact_id: i64,
) -> PyResult<Bound<'py, PyBytes>> {
    let fact = row_id("fact_id", fact_id)?;
    let kept = py
        .detach(|| kernel::without(&block, fact))
        .map_err(refusal)?;
    Ok(PyBytes::new(py, &kept))
}

/// How many of certain facts mention each name, and each entity.
#[pyclass(frozen, module = "memstore._kernel.mentions")]
pub(crate) struct MentionCounts(kernel::Counts);

#[pymethods]
impl MentionCounts {
    #[new]
    #[pyo3(signature = (blocks, among, merged = vec![]), text_signature = "(blocks, among, merged=())")]
    fn new(
        py: Python<'_>,
        blocks: Vec<(u32, PyBackedBytes)>,
        among: &Bound<'_, Ids>,
        merged: Vec<(u32, u32)>,
    ) -> PyResult<Self> {
        let among = &among.get().0;
        py.detach(|| {
            let blocks: Vec<(u32, &[u8])> = blocks
                .iter()
                .map(|(first, block)| (*first, &**block))
                .collect();
            kernel::Counts::new(&blocks, among, &merged)
        })
        .map(Self)
        .map_err(refusal)
    }

    #[getter]
    fn names(&self) -> PyResult<Ids> {
        self.0.names().map(Ids).map_err(no_memory("names"))
    }

    fn mentions(&self, names: Vec<u32>) -> Vec<u32> {
        names
            .into_iter()
            .map(|name| self.0.mentions(name))
            .collect()
    }

    fn facts(&self, entities: Vec<u32>) -> Vec<u32> {
        entities.into_iter().map(|one| self.0.facts(one)).collect()
    }

    fn most(&self, limit: usize) -> Vec<(u32, u32)> {
        self.0.most(limit)
    }

    fn __len__(&self) -> usize {
        self.0.entities()
    }
}

fn refusal(error: kernel::Refused) -> PyErr {
    match error {
        kernel::Refused::Damaged => PyValueError::new_err("a block of mentions is damaged"),
        kernel::Refused::NoMemory(error) => no_memory("mentions")(error),
    }
}
