//! Whether the files of a database are still the ones that were opened.
//!
//! A file that was replaced or removed continues to exist for those who have it open: SQLite keeps
//! writing to it, and acknowledged writes are lost when the last descriptor is closed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The files of one database in WAL mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The database itself.
    File,
    /// The write-ahead log.
    Log,
    /// The index of the log, which all processes share.
    Index,
}

/// Why a file is no longer the one that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing has its name.
    Removed,
    /// Another file has its name.
    Replaced,
}

/// What tells a file from every other, whatever its name; moving it keeps all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    /// A removed file's number is given to another one, created later.
    created: Option<SystemTime>,
}

/// When the file at a path was created; `None` if none is there, or the system does not say.
#[must_use]
pub fn created(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.created().ok()
}

/// The files of an open database, with their identities.
#[derive(Debug)]
pub struct OpenFiles {
    parts: [(Part, PathBuf); 3],
    known: Mutex<[Option<Identity>; 3]>,
}

impl OpenFiles {
    /// The files of the database at `path`, not remembered yet.
    ///
    /// The log and its index are beside the target of a symbolic link.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let with_suffix = |suffix| {
            let mut name: OsString = real.clone().into_os_string();
            name.push(suffix);
            PathBuf::from(name)
        };
        Self {
            parts: [
                (Part::File, path.to_owned()),
                (Part::Log, with_suffix("-wal")),
                (Part::Index, with_suffix("-shm")),
            ],
            known: Mutex::default(),
        }
    }

    /// Record the present files as the ones that were opened.
    pub fn remember(&self) {
        let now = [0, 1, 2].map(|part| identity(&self.parts[part].1).ok().flatten());
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// The files that are no longer the remembered ones, and why.
    ///
    /// The index must be one that `SQLite` holds locks on, whatever was remembered: all connections
    /// of a process share the index that the first of them opened. After both were removed, a new
    /// connection would use the old index with a new log, and its locks would exclude nobody.
    ///
    /// A file that cannot be checked (no permission for its folder any more) counts as unchanged.
    #[must_use]
    pub fn changed(&self) -> Vec<(Part, Fate)> {
        let known = *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.parts
            .iter()
            .zip(known)
            .filter_map(|((part, path), known)| {
                let fate = match part {
                    Part::Index => fate(path, is_locked),
                    Part::File | Part::Log => known.and_then(|k| fate(path, |now| now == k)),
                };
                Some((*part, fate?))
            })
            .collect()
    }
}

fn fate(path: &Path, is_same: impl FnOnce(Identity) -> bool) -> Option<Fate> {
    match identity(path) {
        Ok(None) => Some(Fate::Removed),
        Ok(Some(now)) if !is_same(now) => Some(Fate::Replaced),
        Ok(Some(_)) | Err(_) => None,
    }
}

#[cfg(unix)]
fn is_locked(file: Identity) -> bool {
    let inode = crate::descriptor::Inode::new(file.device, file.inode);
    crate::table::table().is_locked(inode)
}

/// Without file identities nothing can be checked.
#[cfg(not(unix))]
fn is_locked(_: Identity) -> bool {
    true
}

/// The file a path leads to; `None` where there is none.
#[cfg(unix)]
fn identity(path: &Path) -> std::io::Result<Option<Identity>> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    use std::os::unix::fs::MetadataExt;

    match std::fs::metadata(path) {
        Ok(found) => Ok(Some(Identity {
            device: found.dev(),
            inode: found.ino(),
            created: found.created().ok(),
        })),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Windows neither removes nor renames a file that is open.
#[cfg(not(unix))]
fn identity(_: &Path) -> std::io::Result<Option<Identity>> {
    Err(std::io::ErrorKind::Unsupported.into())
}
