//! Descriptors, and the files behind them.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use libc::c_int;

#[cfg(target_os = "linux")]
use libc::{F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW};

// In the SDK's fcntl.h; the libc crate does not name them for Apple's systems.
#[cfg(target_vendor = "apple")]
mod apple {
    pub const F_OFD_SETLK: libc::c_int = 90;
    pub const F_OFD_SETLKW: libc::c_int = 91;
    pub const F_OFD_GETLK: libc::c_int = 92;
}
#[cfg(target_vendor = "apple")]
use apple::{F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW};

/// A file, whatever its name: device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    pub fn new(device: u64, number: u64) -> Self {
        Self { device, number }
    }

    /// The regular file behind a descriptor; `None` for anything else.
    pub fn of(fd: RawFd) -> Option<Self> {
        let mut found = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: fstat writes a whole `stat` to the pointer, or fails; any `fd` may be passed.
        regular(unsafe { libc::fstat(fd, found.as_mut_ptr()) }, &found)
    }

    /// The regular file a path names; `None` for anything else, a symbolic link included.
    pub fn at(path: &CStr) -> Option<Self> {
        let mut found = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: `path` ends in NUL; lstat writes a whole `stat` to the pointer, or fails.
        regular(
            unsafe { libc::lstat(path.as_ptr(), found.as_mut_ptr()) },
            &found,
        )
    }
}

// The fields are narrower on some systems.
#[allow(clippy::unnecessary_cast)]
fn regular(code: c_int, found: &MaybeUninit<libc::stat>) -> Option<Inode> {
    if code != 0 {
        return None;
    }
    // SAFETY: the call that was to fill it succeeded.
    let found = unsafe { found.assume_init_ref() };
    (found.st_mode & libc::S_IFMT == libc::S_IFREG).then_some(Inode {
        device: found.st_dev as u64,
        number: found.st_ino as u64,
    })
}

/// The open file description variant of a locking command; `None` for other commands.
pub fn by_description(command: c_int) -> Option<c_int> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    match command {
        libc::F_SETLK => Some(F_OFD_SETLK),
        libc::F_SETLKW => Some(F_OFD_SETLKW),
        libc::F_GETLK => Some(F_OFD_GETLK),
        _ => None,
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    {
        let _ = command;
        None
    }
}

/// Whether open file description locks work on this file, found out by a harmless query.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub fn has_description_locks(fd: &OwnedFd) -> bool {
    let mut question = whole_file(libc::F_RDLCK);
    // SAFETY: the command reads and writes the one `flock` it is given; the descriptor is open.
    unsafe { libc::fcntl(fd.as_raw_fd(), F_OFD_GETLK, &raw mut question) == 0 }
}

/// Whether somebody else than this description has a lock on a file; `None` if that cannot be asked.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub fn is_locked(fd: &OwnedFd) -> Option<bool> {
    let mut question = whole_file(libc::F_WRLCK);
    // SAFETY: the command reads and writes the one `flock` it is given; the descriptor is open.
    let answer = unsafe { libc::fcntl(fd.as_raw_fd(), F_OFD_GETLK, &raw mut question) };
    #[allow(clippy::unnecessary_cast)] // its type differs between systems
    let kind = question.l_type as c_int;
    (answer == 0).then_some(kind != libc::F_UNLCK as c_int)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub fn is_locked(_: &OwnedFd) -> Option<bool> {
    None
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub fn has_description_locks(_: &OwnedFd) -> bool {
    false
}

/// Drop every lock of this open file description.
pub fn unlock(fd: &OwnedFd) {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        let mut all = whole_file(libc::F_UNLCK);
        // SAFETY: the command reads the one `flock` it is given; the descriptor is open.
        unsafe { libc::fcntl(fd.as_raw_fd(), F_OFD_SETLK, &raw mut all) };
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    let _ = fd;
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[allow(clippy::unnecessary_cast)]
fn whole_file(kind: impl TryInto<libc::c_short>) -> libc::flock {
    // SAFETY: `flock` is a plain C struct of integers, for which all zeros is a value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind.try_into().unwrap_or_default();
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock
}

/// Open the file behind a descriptor again, as a separate description.
///
/// If that is impossible (no `/proc`, dropped privileges) the description is shared with the
/// descriptor: its locks then still do not belong to the process.
pub fn opened_again(fd: RawFd, inode: Inode) -> Option<OwnedFd> {
    path_of(fd)
        .and_then(|path| open(&path, libc::O_RDWR).or_else(|| open(&path, libc::O_RDONLY)))
        .filter(|own| Inode::of(own.as_raw_fd()) == Some(inode))
        .or_else(|| duplicate(fd))
}

/// Open an existing file as a description of its own.
pub fn open(path: &CStr, access: c_int) -> Option<OwnedFd> {
    // SAFETY: `path` ends in NUL, and no mode is needed where nothing is created.
    owned(unsafe { libc::open(path.as_ptr(), access | libc::O_CLOEXEC) })
}

fn duplicate(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: duplicating changes nothing but the table of descriptors; any `fd` may be passed.
    owned(unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) })
}

fn owned(fd: c_int) -> Option<OwnedFd> {
    // SAFETY: the call that returned it opened it for us, and nothing else uses it.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A path that leads to the file behind a descriptor.
#[cfg(not(target_vendor = "apple"))]
fn path_of(fd: RawFd) -> Option<std::ffi::CString> {
    std::ffi::CString::new(format!("/proc/self/fd/{fd}")).ok()
}

/// A path that leads to the file behind a descriptor; opening `/dev/fd/N` only duplicates here.
#[cfg(target_vendor = "apple")]
fn path_of(fd: RawFd) -> Option<std::ffi::CString> {
    let mut path = [0u8; libc::PATH_MAX as usize];
    // SAFETY: F_GETPATH writes at most PATH_MAX bytes, the NUL included.
    if unsafe { libc::fcntl(fd, libc::F_GETPATH, path.as_mut_ptr()) } != 0 {
        return None;
    }
    CStr::from_bytes_until_nul(&path).ok().map(CStr::to_owned)
}

/// The access mode a descriptor was opened with.
pub fn access_mode(fd: &OwnedFd) -> Option<c_int> {
    // SAFETY: the command only reads, and the descriptor is open.
    let flags = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) };
    (flags >= 0).then_some(flags & libc::O_ACCMODE)
}

/// The open descriptors of this process; `None` if that cannot be determined.
pub fn open_now() -> Option<Vec<RawFd>> {
    let names = std::fs::read_dir("/dev/fd").ok()?;
    Some(
        names
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect(),
    )
}
