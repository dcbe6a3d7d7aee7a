//! File locks that belong to this copy of SQLite instead of the whole process.
//!
//! SQLite locks its files with POSIX advisory locks. Those belong to a process: when *anything* in
//! the process closes *any* descriptor of the file (another copy of SQLite, `open(path).read()`, a
//! checksum), the kernel drops every lock the process holds on it. A second copy of SQLite also
//! cannot see the locks of the first, assumes that it is the last user of the file, and deletes the
//! write-ahead log with acknowledged writes in it.
//!
//! Open file description locks (Linux 3.15, macOS) conflict with POSIX locks in the same way, and
//! belong to one open file description. SQLite's unix VFS asks for its locks through a table of
//! system calls that can be replaced (`xSetSystemCall`); [`system_calls`] returns replacements for
//! three of them:
//!
//! - `fcntl` takes every lock on a private open file description, one per inode. SQLite relies on
//!   locks belonging to the process (it takes one through the descriptor of one connection and
//!   drops it through another's), so a description per connection would not work.
//! - `close` keeps a descriptor open while other code in the process has the file open, because
//!   closing it would drop *that code's* POSIX locks.
//! - `open` reuses such a descriptor, so that opening and closing does not exhaust descriptors.
//!
//! After a fork the child forgets the private descriptions, so that the locks end with the parent.
//!
//! If the kernel or the file system has no such locks, the calls behave like the originals;
//! [`Locked::by_process`] counts those files, so that a caller can warn.

#[cfg(unix)]
mod calls;
#[cfg(unix)]
mod descriptor;
mod identity;
#[cfg(unix)]
mod table;

use std::ffi::CStr;

pub use identity::{Fate, OpenFiles, Part, created};

/// How many files are locked, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locked {
    /// Files whose locks are on a private open file description.
    pub by_description: usize,
    /// Files whose locks belong to the process, because the kernel offers nothing better.
    pub by_process: usize,
    /// Descriptors that are kept open because of other code's locks.
    pub kept_descriptors: usize,
}

/// The addresses of the replacements with SQLite's names for the calls; empty on Windows, where
/// locks belong to a handle anyway.
///
/// The first call registers fork handlers.
#[must_use]
pub fn system_calls() -> Vec<(&'static str, usize)> {
    #[cfg(unix)]
    return calls::addresses();
    #[cfg(not(unix))]
    return Vec::new();
}

/// Count the files that are locked through the replacements.
#[must_use]
pub fn locked() -> Locked {
    #[cfg(unix)]
    return table::locked();
    #[cfg(not(unix))]
    return Locked::default();
}

/// Whether a lock on a file that is held by description would be seen by others: on some network
/// file systems locks succeed without effect. `None` if that cannot be found out.
#[must_use]
pub fn is_locked(path: &CStr) -> Option<bool> {
    #[cfg(unix)]
    return table::is_locked(path);
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// For files that are not locked yet, behave as if the kernel only had locks of the whole process.
/// For tests of the fallback.
pub fn pretend_unsupported(pretend: bool) {
    #[cfg(unix)]
    table::PRETEND_UNSUPPORTED.store(pretend, std::sync::atomic::Ordering::Relaxed);
    #[cfg(not(unix))]
    let _ = pretend;
}
