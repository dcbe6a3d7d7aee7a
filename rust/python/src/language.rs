//! Words of languages, and the dates in a query.

use memstore_kernel::language::segments::{self as cut, Classes};
use memstore_kernel::language::{self, Question};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::arrays::value_error;

/// The years, months and days that a query names.
#[pyfunction]
pub(crate) fn named_dates(py: Python<'_>, query: PyBackedStr) -> (Vec<u16>, Vec<u16>, Vec<u16>) {
    let date = py.detach(|| Question::read(&query).date);
    let wide = |numbers: Vec<u8>| numbers.into_iter().map(u16::from).collect();
    (date.years, wide(date.months), wide(date.days))
}

/// The stop words of a language.
#[pyfunction]
pub(crate) fn stop_words(code: &str) -> PyResult<Vec<&'static str>> {
    let words = language::stop_words(code).ok_or_else(|| unknown(code))?;
    Ok(words.collect())
}

/// The names of the months in a language.
#[pyfunction]
pub(crate) fn months(code: &str) -> PyResult<Vec<&'static str>> {
    let names = language::months(code).ok_or_else(|| unknown(code))?;
    Ok(names.collect())
}

/// The words of a language that make a time in a question a condition, by what they say.
#[pyfunction]
pub(crate) fn conditions(code: &str) -> PyResult<Vec<(&'static str, Vec<&'static str>)>> {
    let kinds = language::conditions(code).ok_or_else(|| unknown(code))?;
    Ok(kinds.collect())
}

/// The characters of a text, each once.
#[pyfunction]
pub(crate) fn characters(py: Python<'_>, text: PyBackedStr) -> String {
    py.detach(|| cut::characters(&text))
}

/// The words of scripts without spaces, cut into characters.
#[pyfunction]
pub(crate) fn segments(
    py: Python<'_>,
    text: PyBackedStr,
    written: Option<PyBackedStr>,
    between: PyBackedStr,
    marks: PyBackedStr,
    unspaced: PyBackedStr,
) -> String {
    py.detach(|| {
        let classes = Classes::new(&between, &marks, &unspaced);
        cut::segments(&text, written.as_deref(), &classes)
    })
}

fn unknown(code: &str) -> PyErr {
    value_error(format!("there are no words of the language '{code}'"))
}
