//! The replaced calls. Each makes the same system call as the C library's function.

use std::ffi::CStr;

use libc::{c_char, c_int, c_long, c_uint, c_void, off64_t, size_t, ssize_t};

use crate::{Kind, Locks, state};

/// The path behind a descriptor.
fn path_of(fd: c_int) -> Vec<u8> {
    let link = format!("/proc/self/fd/{fd}\0");
    let mut path = vec![0u8; 4096];
    // SAFETY: the link ends in NUL, and the buffer has the length that is given.
    let length = unsafe {
        libc::syscall(
            libc::SYS_readlinkat,
            libc::AT_FDCWD,
            link.as_ptr(),
            path.as_mut_ptr(),
            path.len(),
        )
    };
    path.truncate(usize::try_from(length).unwrap_or(0));
    path
}

fn absolute(path: &CStr) -> Vec<u8> {
    path.to_bytes().to_vec() // tests use absolute paths only
}

/// Make a call on a descriptor unless it has to fail, then record it.
fn on_descriptor(
    kind: Kind,
    fd: c_int,
    call: impl FnOnce() -> c_long,
    written: impl FnOnce(c_long) -> (u64, Vec<u8>),
) -> c_long {
    let path = path_of(fd);
    let mut state = state();
    if !state.watches(&path) {
        drop(state);
        return call();
    }
    if state.fails(kind) {
        return -1;
    }
    let done = call();
    if done >= 0 {
        let (offset, data) = written(done);
        state.tell(kind, &path, offset, &data);
    }
    done
}

/// # Safety
///
/// As for `pwrite(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite64(
    fd: c_int,
    buffer: *const c_void,
    count: size_t,
    offset: off64_t,
) -> ssize_t {
    // SAFETY: as the caller says; what was written is readable.
    unsafe {
        on_descriptor(
            Kind::Write,
            fd,
            || libc::syscall(libc::SYS_pwrite64, fd, buffer, count, offset),
            |done| (offset.cast_unsigned(), bytes(buffer, done)),
        ) as ssize_t
    }
}

/// # Safety
///
/// As for `pwrite(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite(
    fd: c_int,
    buffer: *const c_void,
    count: size_t,
    offset: off64_t,
) -> ssize_t {
    // SAFETY: as the caller says.
    unsafe { pwrite64(fd, buffer, count, offset) }
}

/// # Safety
///
/// As for `write(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(fd: c_int, buffer: *const c_void, count: size_t) -> ssize_t {
    // SAFETY: as the caller says; what was written is readable.
    unsafe {
        on_descriptor(
            Kind::Write,
            fd,
            || libc::syscall(libc::SYS_write, fd, buffer, count),
            |done| {
                let end = libc::syscall(libc::SYS_lseek, fd, 0, libc::SEEK_CUR);
                ((end - done).cast_unsigned(), bytes(buffer, done))
            },
        ) as ssize_t
    }
}

/// # Safety
///
/// `done` bytes can be read at `buffer`.
unsafe fn bytes(buffer: *const c_void, done: c_long) -> Vec<u8> {
    let length = usize::try_from(done).unwrap_or(0);
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), length) }.to_vec()
}

/// # Safety
///
/// As for `ftruncate(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ftruncate64(fd: c_int, length: off64_t) -> c_int {
    on_descriptor(
        Kind::Truncate,
        fd,
        // SAFETY: the call reads no memory.
        || unsafe { libc::syscall(libc::SYS_ftruncate, fd, length) },
        |_| (length.cast_unsigned(), Vec::new()),
    ) as c_int
}

/// # Safety
///
/// As for `ftruncate(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ftruncate(fd: c_int, length: off64_t) -> c_int {
    // SAFETY: as the caller says.
    unsafe { ftruncate64(fd, length) }
}

fn synced(fd: c_int, number: c_long) -> c_int {
    on_descriptor(
        Kind::Sync,
        fd,
        // SAFETY: the call reads no memory.
        || unsafe { libc::syscall(number, fd) },
        |_| (0, Vec::new()),
    ) as c_int
}

/// # Safety
///
/// As for `fdatasync(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fdatasync(fd: c_int) -> c_int {
    synced(fd, libc::SYS_fdatasync)
}

/// # Safety
///
/// As for `fsync(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fsync(fd: c_int) -> c_int {
    synced(fd, libc::SYS_fsync)
}

/// # Safety
///
/// As for `open(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: as the caller says.
    let name = absolute(unsafe { CStr::from_ptr(path) });
    let open = |flags: c_int| {
        // SAFETY: the path ends in NUL.
        unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, flags, mode) }
    };
    let mut state = state();
    if !state.watches(&name) {
        drop(state);
        return open(flags) as c_int;
    }
    if state.fails(Kind::Open) {
        return -1;
    }
    if flags & libc::O_CREAT != 0 {
        // Created only if it was not there: then its name has to reach the disk.
        let fd = open(flags | libc::O_EXCL);
        if fd >= 0 {
            state.tell(Kind::Open, &name, 0, &[]);
            return fd as c_int;
        }
    }
    let fd = open(flags);
    if fd >= 0 && flags & libc::O_TRUNC != 0 {
        state.tell(Kind::Truncate, &name, 0, &[]);
    }
    fd as c_int
}

/// # Safety
///
/// As for `open(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: as the caller says.
    unsafe { open64(path, flags, mode) }
}

/// # Safety
///
/// As for `unlink(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: as the caller says.
    let name = absolute(unsafe { CStr::from_ptr(path) });
    let mut state = state();
    let watched = state.watches(&name);
    if watched && state.fails(Kind::Remove) {
        return -1;
    }
    // SAFETY: the path ends in NUL.
    let done = unsafe { libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path, 0) };
    if watched && done >= 0 {
        state.tell(Kind::Remove, &name, 0, &[]);
    }
    done as c_int
}

/// # Safety
///
/// As for `rename(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: as the caller says.
    let (name, new) = unsafe { (absolute(CStr::from_ptr(from)), absolute(CStr::from_ptr(to))) };
    let mut state = state();
    let watched = state.watches(&name) && state.watches(&new);
    if watched && state.fails(Kind::Rename) {
        return -1;
    }
    // SAFETY: both paths end in NUL.
    let done = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            from,
            libc::AT_FDCWD,
            to,
            0,
        )
    };
    if watched && done >= 0 {
        state.tell(Kind::Rename, &name, 0, &new);
    }
    done as c_int
}

/// As a file system of another machine may lock: not at all.
///
/// # Safety
///
/// As for `fcntl(2)`, whose argument is one word.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int {
    let locks = matches!(
        command,
        libc::F_SETLK
            | libc::F_SETLKW
            | libc::F_GETLK
            | libc::F_OFD_SETLK
            | libc::F_OFD_SETLKW
            | libc::F_OFD_GETLK
    );
    if locks {
        let path = path_of(fd);
        let state = state();
        if state.locks != Locks::Work && state.watches(&path) {
            if state.locks == Locks::Fail {
                // SAFETY: the C library gives the address of this thread's errno.
                unsafe { *libc::__errno_location() = libc::ENOLCK };
                return -1;
            }
            if matches!(command, libc::F_GETLK | libc::F_OFD_GETLK) {
                // SAFETY: the argument of this command is a `flock`.
                unsafe { (*(argument as *mut libc::flock)).l_type = libc::F_UNLCK as _ };
            }
            return 0;
        }
    }
    // SAFETY: as the caller says.
    unsafe { libc::syscall(libc::SYS_fcntl, fd, command, argument) as c_int }
}

/// # Safety
///
/// As for [`fcntl64`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: as the caller says.
    unsafe { fcntl64(fd, command, argument) }
}
