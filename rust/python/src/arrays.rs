//! Arguments from numpy, checked and copied.
//!
//! Because of the copy, the GIL can be released: no other thread can write to it.

use std::collections::TryReserveError;

use memstore_kernel::vectors::codec::check_finite;
use numpy::{Element, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray};
use numpy::{PyUntypedArrayMethods, dtype};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PySequence;

/// Vectors of one dimension, one after the other.
pub(crate) struct Matrix {
    pub values: Vec<f32>,
    pub rows: usize,
    pub dimension: usize,
}

/// A `float32[d]` of finite numbers.
pub(crate) fn vector(name: &str, argument: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    let vector = floats(name, argument)?;
    check_finite(&vector).map_err(|found| value_error(format!("{name} holds {found}")))?;
    Ok(vector)
}

/// A `float32[d]` of any numbers.
pub(crate) fn floats(name: &str, argument: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    let (values, _) = copied(name, argument, 1, "float32")?;
    Ok(values)
}

/// A `float32[n, d]` of any numbers.
pub(crate) fn matrix(name: &str, argument: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    let (values, shape) = copied(name, argument, 2, "float32")?;
    Ok(Matrix {
        values,
        rows: shape[0],
        dimension: shape[1],
    })
}

/// Refuse vectors that hold NaN or an infinity, naming the first.
pub(crate) fn check_rows_finite(name: &str, matrix: &Matrix) -> PyResult<()> {
    check_vectors_finite(name, &matrix.values, matrix.dimension)
}

/// The BLOBs of a sequence, whose reported length may be wrong.
pub(crate) fn blobs(argument: &Bound<'_, PyAny>) -> PyResult<Vec<PyBackedBytes>> {
    let mut found = Vec::new();
    for blob in argument.cast::<PySequence>()?.try_iter()? {
        found.try_reserve(1).map_err(no_memory("blobs"))?;
        found.push(blob?.extract()?);
    }
    Ok(found)
}

/// Reserve memory; if there is not enough, that is an error and does not abort the process.
pub(crate) fn room<T>(length: usize) -> PyResult<Vec<T>> {
    let mut values = Vec::new();
    values
        .try_reserve_exact(length)
        .map_err(|_| PyMemoryError::new_err(format!("not enough memory for {length} values")))?;
    Ok(values)
}

/// The `MemoryError` that names an argument or a structure.
pub(crate) fn no_memory(name: &'static str) -> impl Fn(TryReserveError) -> PyErr {
    move |error| PyMemoryError::new_err(format!("{name}: {error}"))
}

/// The numbers of any C-contiguous buffer of float32, whatever its shape.
pub(crate) fn buffer(name: &str, argument: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    let buffer = PyBuffer::<f32>::get(argument).map_err(|error| {
        PyTypeError::new_err(format!("{name} must be a buffer of float32: {error}"))
    })?;
    if !buffer.is_c_contiguous() {
        return Err(value_error(format!("{name} must be C-contiguous")));
    }
    let mut values = room(buffer.item_count())?;
    values.resize(buffer.item_count(), 0.0);
    buffer.copy_to_slice(argument.py(), &mut values)?;
    Ok(values)
}

/// Vectors of finite numbers, one after the other, from a buffer.
pub(crate) fn vectors(
    name: &str,
    argument: &Bound<'_, PyAny>,
    dimension: usize,
) -> PyResult<Vec<f32>> {
    let values = buffer(name, argument)?;
    if !values.len().is_multiple_of(dimension) {
        let length = values.len();
        return Err(value_error(format!(
            "{name} holds {length} numbers, expected vectors of dimension {dimension}"
        )));
    }
    check_vectors_finite(name, &values, dimension)?;
    Ok(values)
}

/// Refuse vectors that hold NaN or an infinity, naming the first.
pub(crate) fn check_vectors_finite(name: &str, values: &[f32], dimension: usize) -> PyResult<()> {
    for (row, vector) in values.chunks(dimension.max(1)).enumerate() {
        check_finite(vector)
            .map_err(|found| value_error(format!("{name} row {row} holds {found}")))?;
    }
    Ok(())
}

/// Refuse arguments that should be of one length and are not.
pub(crate) fn check_lengths(first: (&str, usize), second: (&str, usize)) -> PyResult<()> {
    if first.1 == second.1 {
        return Ok(());
    }
    let ((a, a_length), (b, b_length)) = (first, second);
    Err(value_error(format!(
        "{a} and {b} must have the same length, got {a_length} and {b_length}"
    )))
}

/// A limit as the kernel takes it.
pub(crate) fn limit(limit: i64) -> PyResult<usize> {
    usize::try_from(limit)
        .map_err(|_| value_error(format!("limit must not be negative, got {limit}")))
}

pub(crate) fn value_error(message: String) -> PyErr {
    PyValueError::new_err(message)
}

/// The numbers of an array with their shape. An array of another kind is refused with a remedy,
/// because a silent conversion would hide a wrong dtype and cost a copy each time.
fn copied<T: Element + Copy>(
    name: &str,
    argument: &Bound<'_, PyAny>,
    dimensions: usize,
    wanted: &str,
) -> PyResult<(Vec<T>, Vec<usize>)> {
    let way_out = format!("pass np.ascontiguousarray({name}, dtype=np.{wanted})");
    let Ok(array) = argument.cast::<PyUntypedArray>() else {
        let found = argument.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "{name} must be a numpy array of {wanted}, got {found}: {way_out}"
        )));
    };
    if !array.dtype().is_equiv_to(&dtype::<T>(argument.py())) {
        let found = array.dtype();
        return Err(PyTypeError::new_err(format!(
            "{name} must be an array of {wanted}, got {found}: {way_out}"
        )));
    }
    if array.ndim() != dimensions {
        let found = array.ndim();
        return Err(value_error(format!(
            "{name} must have {dimensions} dimension(s), got {found}"
        )));
    }
    let aligned: bool = array.getattr("flags")?.getattr("aligned")?.extract()?;
    if !array.is_c_contiguous() || !aligned {
        return Err(value_error(format!(
            "{name} must be C-contiguous and aligned: {way_out}"
        )));
    }
    let array = array.cast::<PyArrayDyn<T>>()?.try_readonly()?;
    let slice = array.as_slice()?;
    let mut values = room(slice.len())?;
    values.extend_from_slice(slice);
    Ok((values, array.shape().to_vec()))
}
