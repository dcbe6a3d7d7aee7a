//! File locks that belong to this copy of SQLite, and not to the whole process.
//!
//! SQLite locks its files with POSIX advisory locks. Those belong to a process: when *anything* in
//! the process closes *any* descriptor of the file (another copy of SQLite, `open(path).read()`, a
//! checksum), the kernel drops every lock the process holds on it. A second copy of SQLite also
//! cannot see the locks of the first, takes itself for the last user of the file, and deletes the
//! write-ahead log with what was acknowledged in it.
//!
//! Open file description locks (Linux 3.15, macOS) conflict with POSIX locks in the same way, and
//! belong to one open file description. SQLite's unix VFS asks for its locks through a table of
//! system calls that can be replaced (`xSetSystemCall`); [`system_calls`] returns stand-ins for
//! three of them:
//!
//! - `fcntl` takes every lock on a private open file description, one per inode. SQLite counts on
//!   locks being those of the process (it takes one through the descriptor of one connection and
//!   drops it through another's), so a description per connection would not do.
//! - `close` keeps a descriptor open while somebody else in the process has the file open: closing
//!   it would drop *their* POSIX locks.
//! - `open` uses such a descriptor again, so that opening and closing does not use them all up.
//!
//! After a fork the child forgets the private descriptions, so that the locks end with the parent.
//!
//! Where the kernel or the file system has no such locks, the calls behave as the originals do;
//! [`Held::by_process`] counts those files, so that a caller can warn.

#[cfg(unix)]
mod calls;
#[cfg(unix)]
mod descriptor;
mod identity;
#[cfg(unix)]
mod table;

pub use identity::{Fate, OpenFiles, Part};

/// How many files are locked, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Files whose locks are on a private open file description.
    pub by_description: usize,
    /// Files for which the kernel offered nothing better than locks of the whole process.
    pub by_process: usize,
    /// Descriptors that are kept open for the sake of somebody else's locks.
    pub kept_descriptors: usize,
}

/// The addresses of the stand-ins by SQLite's names for the calls; empty on Windows, where locks
/// belong to a handle anyway.
///
/// The first call registers what has to happen at a fork.
#[must_use]
pub fn system_calls() -> Vec<(&'static str, usize)> {
    #[cfg(unix)]
    return calls::addresses();
    #[cfg(not(unix))]
    return Vec::new();
}

/// Count the files that are locked through the stand-ins.
#[must_use]
pub fn held() -> Held {
    #[cfg(unix)]
    return table::held();
    #[cfg(not(unix))]
    return Held::default();
}

/// Behave, for files that are not locked yet, as where the kernel offers nothing better than locks
/// of the whole process. For tests of the fallback.
pub fn pretend_unsupported(pretend: bool) {
    #[cfg(unix)]
    table::PRETEND_UNSUPPORTED.store(pretend, std::sync::atomic::Ordering::Relaxed);
    #[cfg(not(unix))]
    let _ = pretend;
}
