//! File locks for the SQLite of the Python driver, and the identity of its files.

use std::ffi::CString;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use memstore_locks::{Fate, Part};
use pyo3::prelude::*;

/// The addresses of the replacements for system calls, with SQLite's names for them.
#[pyfunction]
pub fn lock_system_calls() -> Vec<(&'static str, usize)> {
    memstore_locks::system_calls()
}

/// How many files are locked by open file descriptions, how many by the process, and how many
/// descriptors are kept open because of other code's locks.
#[pyfunction]
pub fn locks_held() -> (usize, usize, usize) {
    let locked = memstore_locks::locked();
    (
        locked.by_description,
        locked.by_process,
        locked.kept_descriptors,
    )
}

/// Whether others would see a lock that is held by description on a file; `None` if unknown.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn lock_is_seen(path: PathBuf) -> Option<bool> {
    let name = CString::new(path.into_os_string().into_encoded_bytes()).ok()?;
    memstore_locks::is_locked(&name)
}

/// When the file at a path was created, in nanoseconds since 1970; `None` if that is not known.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn file_created(path: PathBuf) -> Option<u128> {
    let since = memstore_locks::created(&path)?
        .duration_since(UNIX_EPOCH)
        .ok()?;
    Some(since.as_nanos())
}

/// Behave as if the kernel had no open file description locks; for tests.
#[pyfunction]
pub fn pretend_process_locks(pretend: bool) {
    memstore_locks::pretend_unsupported(pretend);
}

/// Detects whether the files of an open database were removed or replaced.
#[pyclass(frozen, module = "memstore._kernel.locks")]
pub struct OpenFiles(memstore_locks::OpenFiles);

#[pymethods]
impl OpenFiles {
    #[new]
    #[allow(clippy::needless_pass_by_value)]
    fn new(path: PathBuf) -> Self {
        Self(memstore_locks::OpenFiles::new(&path))
    }

    /// Record the present files as the ones that were opened.
    fn remember(&self) {
        self.0.remember();
    }

    /// The files that are no longer the remembered ones: `(part, fate)`.
    fn changed(&self) -> Vec<(&'static str, &'static str)> {
        let change = |(part, fate)| (name(part), word(fate));
        self.0.changed().into_iter().map(change).collect()
    }
}

fn name(part: Part) -> &'static str {
    match part {
        Part::File => "file",
        Part::Log => "log",
        Part::Index => "index",
    }
}

fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Removed => "removed",
        Fate::Replaced => "replaced",
    }
}
