//! The built-in model as a Python class.

use std::collections::TryReserveError;

use memstore_kernel::model::{self as kernel, DIMENSION};
use memstore_kernel::vectors::codec::{self, COMPONENT_BYTES};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PySequence, PyString};

/// The model that comes with the package.
#[pyclass(frozen, module = "memstore._kernel.model")]
pub(crate) struct BuiltInModel {
    model: &'static kernel::BuiltInModel,
}

#[pymethods]
impl BuiltInModel {
    #[new]
    fn new() -> Self {
        Self {
            model: kernel::BuiltInModel::embedded(),
        }
    }

    /// Components of a vector.
    #[getter]
    fn dimension(&self) -> usize {
        DIMENSION
    }

    /// The size of the vocabulary.
    #[getter]
    fn token_count(&self) -> usize {
        self.model.token_count()
    }

    /// Vectors as one array.
    fn embed<'py>(&self, texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (vectors, rows) = self.vectors(texts)?;
        vectors.into_pyarray(texts.py()).reshape([rows, DIMENSION])
    }

    /// Vectors as BLOBs.
    fn embed_bytes<'py>(&self, texts: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let (vectors, _) = self.vectors(texts)?;
        let blob = |vector: &[f32]| {
            PyBytes::new_with(texts.py(), DIMENSION * COMPONENT_BYTES, |bytes| {
                codec::encode_into(vector, bytes);
                Ok(())
            })
        };
        vectors.chunks_exact(DIMENSION).map(blob).collect()
    }

    /// Ids as uint16.
    fn token_ids<'py>(&self, texts: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let py = texts.py();
        let texts = strings(texts)?;
        let all = py
            .detach(|| self.model.token_ids(&borrowed(&texts)))
            .map_err(no_memory)?;
        let bytes = |ids: Vec<u16>| {
            PyBytes::new_with(py, ids.len() * 2, |bytes| {
                let (pairs, _) = bytes.as_chunks_mut();
                pairs
                    .iter_mut()
                    .zip(ids)
                    .for_each(|(pair, id)| *pair = id.to_le_bytes());
                Ok(())
            })
        };
        all.into_iter().map(bytes).collect()
    }
}

impl BuiltInModel {
    /// One vector after the other, and how many.
    fn vectors(&self, texts: &Bound<'_, PyAny>) -> PyResult<(Vec<f32>, usize)> {
        let py = texts.py();
        let texts = strings(texts)?;
        let vectors = py
            .detach(|| self.model.embed(&borrowed(&texts)))
            .map_err(no_memory)?;
        Ok((vectors, texts.len()))
    }
}

/// The strings of a sequence; they are read in place.
fn strings(argument: &Bound<'_, PyAny>) -> PyResult<Vec<PyBackedStr>> {
    if argument.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "texts must be a sequence of str, got one str: pass [text]",
        ));
    }
    argument
        .cast::<PySequence>()?
        .try_iter()?
        .map(|text| text?.extract())
        .collect()
}

fn borrowed(texts: &[PyBackedStr]) -> Vec<&str> {
    texts.iter().map(|text| &**text).collect()
}

fn no_memory(error: TryReserveError) -> PyErr {
    PyMemoryError::new_err(format!("not enough memory to embed these texts: {error}"))
}
