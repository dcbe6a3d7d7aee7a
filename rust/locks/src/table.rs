//! Maps SQLite's descriptors to files, and files to the descriptions that hold their locks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use libc::c_int;

use crate::Locked;
use crate::descriptor::{self, Inode};

pub static PRETEND_UNSUPPORTED: AtomicBool = AtomicBool::new(false);

static TABLE: Mutex<Table> = Mutex::new(Table {
    locking: BTreeMap::new(),
    holders: BTreeMap::new(),
    kept: Vec::new(),
});

/// The files that are locked through this crate.
pub struct Table {
    /// SQLite's descriptors that have taken a lock, each with its file.
    locking: BTreeMap<RawFd, Inode>,
    holders: BTreeMap<Inode, Holder>,
    /// Descriptors that SQLite has closed but that stay open, because other code in the process has
    /// the file open and may hold POSIX locks on it.
    kept: Vec<(Inode, OwnedFd)>,
}

/// The locks of one file.
struct Holder {
    /// The private description that holds them; `None` if they are POSIX locks of SQLite's
    /// descriptors.
    description: Option<OwnedFd>,
    /// How many of SQLite's descriptors have taken locks on the file.
    descriptors: usize,
}

/// Lock the table. Nothing here panics while it is locked.
pub fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn locked() -> Locked {
    let table = table();
    let by_description = table
        .holders
        .values()
        .filter(|h| h.description.is_some())
        .count();
    Locked {
        by_description,
        by_process: table.holders.len() - by_description,
        kept_descriptors: table.kept.len(),
    }
}

/// Whether anybody has a lock on the file at a path; `None` if that cannot be asked.
pub fn is_locked(path: &CStr) -> Option<bool> {
    // One that was kept, or each question would leave one more behind.
    let kept = Inode::at(path).and_then(|inode| table().reuse(inode, libc::O_RDONLY));
    let fd = kept.or_else(|| descriptor::open(path, libc::O_RDONLY | libc::O_NONBLOCK))?;
    let inode = Inode::of(fd.as_raw_fd())?;
    let found = descriptor::is_locked(&fd);
    // Not merely closed: that would drop the locks of other code in this process.
    table().close(inode, fd);
    found
}

impl Table {
    /// The descriptor to lock instead of SQLite's; `None` for SQLite's own.
    pub fn lock_target(&mut self, fd: RawFd) -> Option<RawFd> {
        let inode = match self.locking.get(&fd) {
            Some(inode) => *inode,
            None => self.join(fd)?,
        };
        let holder = self.holders.get(&inode)?;
        holder.description.as_ref().map(AsRawFd::as_raw_fd)
    }

    fn join(&mut self, fd: RawFd) -> Option<Inode> {
        let inode = Inode::of(fd)?;
        if !self.holders.contains_key(&inode) {
            let description = self.description(fd, inode);
            self.holders.insert(
                inode,
                Holder {
                    description,
                    descriptors: 0,
                },
            );
        }
        self.holders.get_mut(&inode)?.descriptors += 1;
        self.locking.insert(fd, inode);
        Some(inode)
    }

    /// A description to hold the locks of a file; `None` if they must belong to the process.
    fn description(&mut self, fd: RawFd, inode: Inode) -> Option<OwnedFd> {
        if PRETEND_UNSUPPORTED.load(Ordering::Relaxed) {
            return None;
        }
        // Reuse one that was kept, or each opening and closing would leave one more behind.
        self.reuse(inode, libc::O_RDWR)
            .or_else(|| descriptor::opened_again(fd, inode))
            .filter(descriptor::has_description_locks)
    }

    /// Take over a descriptor that SQLite closes, and close those that no other code's locks need.
    pub fn close(&mut self, inode: Inode, fd: OwnedFd) {
        self.leave(fd.as_raw_fd());
        self.kept.push((inode, fd));
        let ours: Vec<RawFd> = self
            .locking
            .keys()
            .copied()
            .chain(
                self.holders
                    .values()
                    .filter_map(|h| h.description.as_ref())
                    .map(AsRawFd::as_raw_fd),
            )
            .chain(self.kept.iter().map(|(_, fd)| fd.as_raw_fd()))
            .collect();
        let others: Option<Vec<Inode>> = descriptor::open_now().map(|all| {
            all.into_iter()
                .filter(|fd| !ours.contains(fd))
                .filter_map(Inode::of)
                .collect()
        });
        let holders = &self.holders;
        self.kept.retain(|(inode, _)| {
            let by_process = holders
                .get(inode)
                .is_some_and(|holder| holder.description.is_none());
            // If the locks belong to the process, keeping descriptors open would not help.
            !by_process && others.as_ref().is_none_or(|others| others.contains(inode))
        });
    }

    fn leave(&mut self, fd: RawFd) {
        let Some(inode) = self.locking.remove(&fd) else {
            return;
        };
        let Some(holder) = self.holders.get_mut(&inode) else {
            return;
        };
        holder.descriptors -= 1;
        if holder.descriptors > 0 {
            return;
        }
        if let Some(Holder {
            description: Some(own),
            ..
        }) = self.holders.remove(&inode)
        {
            descriptor::unlock(&own);
            self.kept.push((inode, own));
        }
    }

    /// A descriptor of the file that was kept open, with the same access mode.
    pub fn reuse(&mut self, inode: Inode, access: c_int) -> Option<OwnedFd> {
        let at = self
            .kept
            .iter()
            .position(|(of, fd)| *of == inode && descriptor::access_mode(fd) == Some(access))?;
        Some(self.kept.swap_remove(at).1)
    }

    /// Whether SQLite has the file open and has taken locks on it.
    pub fn is_locked(&self, inode: Inode) -> bool {
        self.holders.contains_key(&inode)
    }

    pub fn keeps_any(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Forget everything, in a forked child, because the parent has the locks.
    fn forget(&mut self) {
        self.holders.clear();
        self.locking.clear();
        self.kept.clear();
    }
}

thread_local! {
    /// The table while this thread forks: locked, so that no other thread leaves it half changed
    /// for the child, where that thread does not exist.
    static FORKING: RefCell<Option<MutexGuard<'static, Table>>> = const { RefCell::new(None) };
}

/// Make sure that the table is consistent in a forked child. Can be called more than once.
pub fn watch_forks() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, Ordering::AcqRel) {
        // SAFETY: the three functions live as long as the program, and are called by the thread
        // that forks, before the fork and after it on both sides.
        unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_child)) };
    }
}

extern "C" fn before_fork() {
    let _ = FORKING.try_with(|forking| forking.replace(Some(table())));
}

extern "C" fn after_fork() {
    let _ = FORKING.try_with(|forking| forking.replace(None));
}

extern "C" fn in_child() {
    if let Ok(Some(mut table)) = FORKING.try_with(|forking| forking.replace(None)) {
        table.forget();
    }
}

/// Own a descriptor that SQLite gives up.
///
/// # Safety
///
/// The descriptor is open, and whoever passes it uses it no more.
pub unsafe fn given_up(fd: RawFd) -> OwnedFd {
    // SAFETY: as the caller says.
    unsafe { OwnedFd::from_raw_fd(fd) }
}
