//! File locks for the SQLite that Python brings along.

use pyo3::prelude::*;

/// The addresses of the stand-ins for system calls, by SQLite's names for them.
#[pyfunction]
pub fn lock_system_calls() -> Vec<(&'static str, usize)> {
    memstore_locks::system_calls()
}

/// How many files are locked by open file descriptions, how many by the process, and how many
/// descriptors are kept open for the sake of others.
#[pyfunction]
pub fn locks_held() -> (usize, usize, usize) {
    let held = memstore_locks::held();
    (held.by_description, held.by_process, held.kept_descriptors)
}

/// Behave as where the kernel has no locks of open file descriptions; for tests.
#[pyfunction]
pub fn pretend_process_locks(pretend: bool) {
    memstore_locks::pretend_unsupported(pretend);
}
