//! Whether the files of a database are still the ones that were opened.
//!
//! A file that was replaced or removed lives on for those who have it open: SQLite goes on writing
//! into it, and what it acknowledges is gone with the last descriptor.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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

/// What became of a file that is no longer the one that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing has its name.
    Removed,
    /// Another file has its name.
    Replaced,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

/// The files of an open database, and which they were.
#[derive(Debug)]
pub struct OpenFiles {
    parts: [(Part, PathBuf); 3],
    known: Mutex<[Option<Identity>; 3]>,
}

impl OpenFiles {
    /// The files of the database at `path`; none is known yet.
    ///
    /// The log and its index lie beside the file that a symbolic link leads to.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let beside = |suffix| {
            let mut name: OsString = real.clone().into_os_string();
            name.push(suffix);
            PathBuf::from(name)
        };
        Self {
            parts: [
                (Part::File, path.to_owned()),
                (Part::Log, beside("-wal")),
                (Part::Index, beside("-shm")),
            ],
            known: Mutex::default(),
        }
    }

    /// Take the files that are there now for those that were opened.
    pub fn remember(&self) {
        let now = [0, 1, 2].map(|part| identity(&self.parts[part].1).ok().flatten());
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// What became of those that are no longer the ones remembered.
    ///
    /// The index has to be one that `SQLite` holds locks of, whatever was remembered: all
    /// connections of a process share the index that the first of them opened. A new one would use
    /// it with a new log after both were removed, and lock nobody else out.
    ///
    /// A file that cannot be asked for (no rights to its folder any more) counts as unchanged.
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

/// There is no file to ask for.
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
