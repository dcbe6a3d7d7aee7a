//! The hash chain of the journal, over rows as the database has them.

use memstore_kernel::chain::{self, HASH_BYTES, Hash, SALT_BYTES, Salt, TEXTS, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString, PyTuple};

use crate::arrays::value_error;

/// New lines with their salts and their hashes, each over the one before it.
#[pyfunction]
pub(crate) fn linked<'py>(
    py: Python<'py>,
    previous: &[u8],
    lines: Vec<Bound<'py, PyTuple>>,
    salts: &[u8],
) -> PyResult<Vec<Bound<'py, PyTuple>>> {
    let mut previous = hash("previous", previous)?;
    if salts.len() != lines.len() * SALT_BYTES {
        return Err(value_error(format!(
            "{} lines have {} bytes of salts",
            lines.len(),
            salts.len()
        )));
    }
    let salted = lines.iter().zip(salts.chunks_exact(SALT_BYTES));
    salted
        .map(|(line, salt)| {
            let columns = line.len().saturating_sub(TEXTS);
            let mut items: Vec<_> = line.iter().collect();
            // A line without texts has no salt: its hash would not cover it.
            items.push(if items[columns..].iter().all(|text| text.is_none()) {
                py.None().into_bound(py)
            } else {
                PyBytes::new(py, salt).into_any()
            });
            let row = PyTuple::new(py, &items)?;
            let line = Line::of(&row, row.len())?;
            previous = line.link(&previous, &line.commitments(None)?)?;
            items.push(PyBytes::new(py, &previous).into_any());
            PyTuple::new(py, items)
        })
        .collect()
}

/// The places of the lines whose stored hash is not the one that follows from the line and the
/// stored hash before it.
#[pyfunction]
pub(crate) fn breaks(previous: &[u8], lines: Vec<Bound<'_, PyTuple>>) -> PyResult<Vec<usize>> {
    let mut previous = hash("previous", previous)?;
    let mut found = Vec::new();
    for (place, row) in lines.iter().enumerate() {
        let end = row.len().saturating_sub(2);
        let line = Line::of(row, end)?;
        let kept = row.get_borrowed_item(end)?;
        let stored = row.get_borrowed_item(end + 1)?;
        let expected = match kept.cast::<PyBytes>() {
            Ok(kept) => line.commitments(Some(kept.as_bytes())),
            Err(_) if kept.is_none() => line.commitments(None),
            Err(_) => Err(value_error("commitments are no bytes".to_owned())),
        }
        .and_then(|commitments| line.link(&previous, &commitments));
        let stored = stored.cast::<PyBytes>().ok();
        let stored = stored.as_ref().map(|bytes| bytes.as_bytes());
        if !matches!((&expected, stored), (Ok(expected), Some(stored)) if expected == stored) {
            found.push(place);
        }
        // A break is reported once: the lines after it are compared with what is stored.
        if let Some(Ok(stored)) = stored.map(|stored| hash("hash", stored)) {
            previous = stored;
        }
    }
    Ok(found)
}

/// The salts and the commitments of a line after some of its texts are erased.
#[pyfunction]
pub(crate) fn seal<'py>(
    py: Python<'py>,
    line: &Bound<'py, PyTuple>,
    erased: Option<&[u8]>,
    erasing: [bool; TEXTS],
) -> PyResult<(Option<Bound<'py, PyBytes>>, Bound<'py, PyBytes>)> {
    let line = Line::of(line, TEXTS + 1)?;
    let committed = line.commitments(erased)?;
    let mut salts = [0; TEXTS * SALT_BYTES];
    let mut kept = [0; TEXTS * HASH_BYTES];
    let mut is_left = false;
    for text in 0..TEXTS {
        if line.is_erased(text, erased) || (erasing[text] && line.text(text)?.is_some()) {
            let commitment = committed[text].unwrap_or_default();
            kept[text * HASH_BYTES..][..HASH_BYTES].copy_from_slice(&commitment);
        } else if line.text(text)?.is_some() {
            salts[text * SALT_BYTES..][..SALT_BYTES].copy_from_slice(&line.salt(text)?);
            is_left = true;
        }
    }
    let salts = is_left.then(|| PyBytes::new(py, &salts));
    Ok((salts, PyBytes::new(py, &kept)))
}

/// A row: columns, the texts that may be erased, and the salt.
struct Line<'a, 'py> {
    row: &'a Bound<'py, PyTuple>,
    columns: usize,
}

impl<'a, 'py> Line<'a, 'py> {
    fn of(row: &'a Bound<'py, PyTuple>, length: usize) -> PyResult<Self> {
        let columns = length.checked_sub(TEXTS + 1).ok_or_else(|| {
            value_error(format!(
                "a line has {TEXTS} texts and a salt, not {length} values"
            ))
        })?;
        Ok(Self { row, columns })
    }

    fn link(&self, previous: &Hash, commitments: &[Option<Hash>; TEXTS]) -> PyResult<Hash> {
        let items: Vec<_> = (0..self.columns)
            .map(|column| self.row.get_borrowed_item(column))
            .collect::<PyResult<_>>()?;
        let values: Vec<_> = items
            .iter()
            .map(|item| value(item))
            .collect::<PyResult<_>>()?;
        Ok(chain::link(previous, values, commitments))
    }

    /// The commitments to the texts: those of erased ones are kept.
    fn commitments(&self, kept: Option<&[u8]>) -> PyResult<[Option<Hash>; TEXTS]> {
        let mut commitments = [None; TEXTS];
        for (text, commitment) in commitments.iter_mut().enumerate() {
            let item = self.row.get_borrowed_item(self.columns + text)?;
            *commitment = match (kept_of(kept, text)?, optional::<PyString>(&item)?) {
                (None, None) => None,
                (None, Some(text_)) => Some(chain::commitment(&self.salt(text)?, text_.to_str()?)),
                (Some(kept), None) => Some(kept),
                (Some(_), Some(_)) => {
                    return Err(value_error("an erased text is there".to_owned()));
                }
            };
        }
        Ok(commitments)
    }

    fn text(&self, text: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let item = self.row.get_item(self.columns + text)?;
        Ok((!item.is_none()).then_some(item))
    }

    fn is_erased(&self, text: usize, kept: Option<&[u8]>) -> bool {
        matches!(kept_of(kept, text), Ok(Some(_)))
    }

    /// The salt of one text: made from the line's, or one of those left after an erasure.
    fn salt(&self, text: usize) -> PyResult<Salt> {
        let item = self.row.get_borrowed_item(self.columns + TEXTS)?;
        let salt = item
            .cast::<PyBytes>()
            .map_err(|_| value_error("a text has no salt".to_owned()))?;
        let salt = salt.as_bytes();
        if let Ok(line) = Salt::try_from(salt) {
            return Ok(chain::text_salt(&line, text));
        }
        salt.chunks_exact(SALT_BYTES)
            .nth(text)
            .filter(|_| salt.len() == TEXTS * SALT_BYTES)
            .and_then(|chunk| Salt::try_from(chunk).ok())
            .ok_or_else(|| value_error(format!("a salt has {} bytes", salt.len())))
    }
}

/// The commitment to an erased text; `None` if it is not erased.
fn kept_of(kept: Option<&[u8]>, text: usize) -> PyResult<Option<Hash>> {
    let Some(kept) = kept else { return Ok(None) };
    if kept.len() != TEXTS * HASH_BYTES {
        return Err(value_error(format!(
            "commitments have {} bytes",
            kept.len()
        )));
    }
    let one = hash("commitment", &kept[text * HASH_BYTES..][..HASH_BYTES])?;
    Ok((one != [0; HASH_BYTES]).then_some(one))
}

fn value<'a>(item: &'a Bound<'_, PyAny>) -> PyResult<Value<'a>> {
    if item.is_none() {
        Ok(Value::Null)
    } else if let Ok(text) = item.cast::<PyString>() {
        Ok(Value::Text(text.to_str()?))
    } else if let Ok(number) = item.cast::<PyInt>() {
        Ok(Value::Int(number.extract()?))
    } else if let Ok(bytes) = item.cast::<PyBytes>() {
        Ok(Value::Bytes(bytes.as_bytes()))
    } else {
        let kind = item.get_type().name()?;
        Err(PyTypeError::new_err(format!("a column cannot be a {kind}")))
    }
}

fn optional<'a, 'py, T>(item: &'a Bound<'py, PyAny>) -> PyResult<Option<&'a Bound<'py, T>>>
where
    T: pyo3::PyTypeCheck,
{
    if item.is_none() {
        return Ok(None);
    }
    let cast = item.cast::<T>().map(Some);
    cast.map_err(|_| value_error("a text of the journal is no text".to_owned()))
}

fn hash(name: &str, bytes: &[u8]) -> PyResult<Hash> {
    let wrong = || {
        value_error(format!(
            "{name} has {} bytes, not {HASH_BYTES}",
            bytes.len()
        ))
    };
    Hash::try_from(bytes).map_err(|_| wrong())
}
