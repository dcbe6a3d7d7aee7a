//! Vectors to BLOBs and back, and their cosines.

use std::sync::OnceLock;

use memstore_kernel::index::codes;
use memstore_kernel::vectors::codec::{self, COMPONENT_BYTES};
use memstore_kernel::vectors::dot::Dot;
use memstore_kernel::vectors::packed;
use memstore_kernel::vectors::unit;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::arrays::{self, value_error};
use crate::index::codes::refusal;

/// One vector as a BLOB.
#[pyfunction]
pub(crate) fn encode<'py>(vector: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    blob(vector.py(), &arrays::vector("vector", vector)?)
}

/// Each row of a matrix as a BLOB.
#[pyfunction]
pub(crate) fn encode_many<'py>(matrix: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let py = matrix.py();
    let matrix = arrays::matrix("matrix", matrix)?;
    py.detach(|| arrays::check_rows_finite("matrix", &matrix))?;
    let vector = |row: usize| &matrix.values[row * matrix.dimension..][..matrix.dimension];
    (0..matrix.rows).map(|row| blob(py, vector(row))).collect()
}

/// A BLOB as a vector.
#[pyfunction]
pub(crate) fn decode(blob: PyBackedBytes, py: Python<'_>) -> PyResult<Bound<'_, PyArray1<f32>>> {
    if !blob.len().is_multiple_of(COMPONENT_BYTES) {
        let bytes = blob.len();
        return Err(value_error(format!(
            "blob has {bytes} bytes, not a multiple of {COMPONENT_BYTES}: \
             it is not a float32 vector"
        )));
    }
    let mut values = arrays::room(blob.len() / COMPONENT_BYTES)?;
    values.extend(codec::components(&blob));
    Ok(values.into_pyarray(py))
}

/// BLOBs of one dimension as a matrix.
#[pyfunction]
pub(crate) fn decode_many<'py>(
    blobs: &Bound<'py, PyAny>,
    dimension: i64,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let py = blobs.py();
    let blobs = arrays::blobs(blobs)?;
    let (dimension, expected) = usize::try_from(dimension)
        .ok()
        .and_then(|n| Some((n, n.checked_mul(COMPONENT_BYTES)?)))
        .ok_or_else(|| value_error(format!("dimension {dimension} is negative or too large")))?;
    if let Some(at) = blobs.iter().position(|blob| blob.len() != expected) {
        let bytes = blobs[at].len();
        return Err(value_error(format!(
            "blob {at} has {bytes} bytes, expected {expected}"
        )));
    }
    let mut values = arrays::room(blobs.len().saturating_mul(dimension))?;
    py.detach(|| {
        blobs
            .iter()
            .for_each(|blob| values.extend(codec::components(blob)));
    });
    values.into_pyarray(py).reshape([blobs.len(), dimension])
}

/// A BLOB in fewer bytes, or as it is.
#[pyfunction]
pub(crate) fn pack<'py>(blob: Bound<'py, PyBytes>) -> Bound<'py, PyBytes> {
    match packed::pack(blob.as_bytes()) {
        Some(packed) => PyBytes::new(blob.py(), &packed),
        None => blob,
    }
}

/// The BLOB that was packed, or as it is.
#[pyfunction]
pub(crate) fn unpack<'py>(blob: Bound<'py, PyBytes>) -> Bound<'py, PyBytes> {
    match packed::unpack(blob.as_bytes()) {
        Some(whole) => PyBytes::new(blob.py(), &whole),
        None => blob,
    }
}

/// The cosine of two vectors.
#[pyfunction]
pub(crate) fn cosine(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<f64> {
    Ok(unit::cosine(
        &arrays::vector("a", a)?,
        &arrays::vector("b", b)?,
    ))
}

/// The cosine of a query with each vector.
#[pyfunction]
pub(crate) fn cosines(query: &Bound<'_, PyAny>, blobs: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    let py = query.py();
    let query = arrays::buffer("query", query)?;
    arrays::check_vectors_finite("query", &query, query.len())?;
    let blobs = arrays::blobs(blobs)?;
    py.detach(|| codes::cosines(&query, &blobs, best()))
        .map_err(refusal)
}

/// The cosine of a query with each vector as it is stored.
#[pyfunction]
pub(crate) fn cosines_of_stored(
    query: &Bound<'_, PyAny>,
    blobs: &Bound<'_, PyAny>,
) -> PyResult<Vec<Option<f32>>> {
    let py = query.py();
    let query = arrays::buffer("query", query)?;
    arrays::check_vectors_finite("query", &query, query.len())?;
    let blobs = arrays::blobs(blobs)?;
    Ok(py.detach(|| codes::cosines_of_stored(&query, &blobs, best())))
}

/// The name of the instruction set that scans use on this machine.
#[pyfunction]
pub(crate) fn instruction_set() -> &'static str {
    best().name()
}

/// The fastest instruction set of this CPU, detected once.
fn best() -> &'static Dot {
    static BEST: OnceLock<Dot> = OnceLock::new();
    BEST.get_or_init(Dot::best)
}

/// The bytes are written directly into the Python object.
fn blob<'py>(py: Python<'py>, vector: &[f32]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, vector.len() * COMPONENT_BYTES, |bytes| {
        codec::encode_into(vector, bytes);
        Ok(())
    })
}
