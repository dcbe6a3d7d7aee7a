//! Shared by the classes that are saved in derived files.

use std::sync::Arc;

use memstore_kernel::index::mapped::{Mapped, Refused, Tag};
use pyo3::prelude::*;

use crate::arrays::value_error;

/// What a file of this kind was derived from: the identity of the database, and the generation of
/// the vectors or 0.
pub(crate) fn tag(kind: [u8; 8], version: u64, database: &[u8], generation: u64) -> PyResult<Tag> {
    let database = database.try_into().map_err(|_| {
        let length = database.len();
        value_error(format!("database must be 16 bytes, got {length}"))
    })?;
    Ok(Tag {
        kind,
        version,
        database,
        generation,
    })
}

/// `OSError` if the file cannot be read, `ValueError` if it is damaged or has another tag.
pub(crate) fn refusal(refused: Refused) -> PyErr {
    match refused {
        Refused::Unreadable(error) => error.into(),
        refused => value_error(refused.to_string()),
    }
}

/// The file that a structure was opened from, if there is one.
#[derive(Default)]
pub(crate) struct Origin(Option<Arc<Mapped>>);

impl Origin {
    pub(crate) fn new(file: Arc<Mapped>) -> Self {
        Self(Some(file))
    }

    /// The position that it was saved with.
    pub(crate) fn position(&self) -> u64 {
        self.0.as_ref().map_or(0, |file| file.position())
    }

    pub(crate) fn is_intact(&self, py: Python<'_>, compare: bool) -> bool {
        self.0.as_ref().is_none_or(|file| {
            if compare {
                py.detach(|| file.is_whole())
            } else {
                file.is_intact()
            }
        })
    }
}
