//! Texts of JSON objects, as the database has them.

use memstore_kernel::json::{push_number, push_text};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple};

use crate::arrays::value_error;

/// A dictionary without nesting as JSON; `None` if it is another object, or has other values.
#[pyfunction]
pub(crate) fn flat(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let Ok(members) = value.cast_exact::<PyDict>() else {
        return Ok(None);
    };
    let mut text = String::with_capacity(64);
    text.push('{');
    for (key, value) in members {
        let Ok(key) = key.cast_exact::<PyString>() else {
            return Ok(None);
        };
        if text.len() > 1 {
            text.push_str(", ");
        }
        let Ok(key) = key.to_str() else {
            return Ok(None); // a lone surrogate
        };
        push_text(&mut text, key);
        text.push_str(": ");
        if let Ok(value) = value.cast_exact::<PyString>() {
            let Ok(value) = value.to_str() else {
                return Ok(None);
            };
            push_text(&mut text, value);
        } else if value.is_none() {
            text.push_str("null");
        } else if let Ok(value) = value.cast_exact::<PyBool>() {
            text.push_str(if value.is_true() { "true" } else { "false" });
        } else if value.is_exact_instance_of::<PyInt>()
            && let Ok(number) = value.extract()
        {
            push_number(&mut text, number);
        } else if let Ok(number) = value.cast_exact::<PyFloat>()
            && number.value().is_finite()
        {
            text.push_str(number.repr()?.to_str()?);
        } else {
            return Ok(None);
        }
    }
    text.push('}');
    Ok(Some(text))
}

/// Which values of a row are members of an object, and how.
#[pyclass(frozen, module = "memstore._kernel.json")]
pub(crate) struct Members(Vec<Member>);

struct Member {
    place: usize,
    key: String,
    left_out: Vec<LeftOut>,
    is_json: bool,
}

enum LeftOut {
    Text(String),
    Number(i64),
}

impl LeftOut {
    fn is(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(match self {
            Self::Text(text) => match value.cast::<PyString>() {
                Ok(value) => value.to_str()? == text,
                Err(_) => false,
            },
            Self::Number(number) => value
                .cast_exact::<PyInt>()
                .is_ok_and(|value| value.extract().is_ok_and(|value: i64| value == *number)),
        })
    }
}

#[pymethods]
impl Members {
    #[new]
    #[pyo3(signature = (members, *, json))]
    fn new(
        members: Vec<(usize, String, Vec<Bound<'_, PyAny>>)>,
        json: Vec<usize>,
    ) -> PyResult<Self> {
        let members = members.into_iter().map(|(place, key, left_out)| {
            let mut text = String::new();
            push_text(&mut text, &key);
            text.push_str(": ");
            let left_out = left_out
                .into_iter()
                .map(|value| match value.cast::<PyString>() {
                    Ok(value) => Ok(LeftOut::Text(value.to_str()?.to_owned())),
                    Err(_) => Ok(LeftOut::Number(value.extract()?)),
                });
            Ok(Member {
                place,
                key: text,
                left_out: left_out.collect::<PyResult<_>>()?,
                is_json: json.contains(&place),
            })
        });
        members.collect::<PyResult<_>>().map(Self)
    }

    fn text(&self, row: &Bound<'_, PyTuple>) -> PyResult<String> {
        let mut text = String::with_capacity(256);
        text.push('{');
        for member in &self.0 {
            let value = row.get_borrowed_item(member.place)?;
            if value.is_none() || is_left_out(&member.left_out, &value)? {
                continue;
            }
            if text.len() > 1 {
                text.push_str(", ");
            }
            text.push_str(&member.key);
            if let Ok(value) = value.cast::<PyString>() {
                if member.is_json {
                    text.push_str(value.to_str()?);
                } else {
                    push_text(&mut text, value.to_str()?);
                }
            } else if let Ok(value) = value.cast_exact::<PyBool>() {
                text.push_str(if value.is_true() { "true" } else { "false" });
            } else if let Ok(value) = value.cast::<PyInt>() {
                push_number(&mut text, value.extract()?);
            } else {
                return Err(value_error(
                    "a member is a text, a whole number or a truth".to_owned(),
                ));
            }
        }
        text.push('}');
        Ok(text)
    }
}

fn is_left_out(left_out: &[LeftOut], value: &Bound<'_, PyAny>) -> PyResult<bool> {
    for one in left_out {
        if one.is(value)? {
            return Ok(true);
        }
    }
    Ok(false)
}
