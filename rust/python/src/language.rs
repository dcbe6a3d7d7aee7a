//! The dates in a query, for Python.

use memstore_kernel::language::Question;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

/// The years, months and days that a query names.
#[pyfunction]
pub(crate) fn named_dates(py: Python<'_>, query: PyBackedStr) -> (Vec<u16>, Vec<u16>, Vec<u16>) {
    let date = py.detach(|| Question::read(&query).date);
    let wide = |numbers: Vec<u8>| numbers.into_iter().map(u16::from).collect();
    (date.years, wide(date.months), wide(date.days))
}
