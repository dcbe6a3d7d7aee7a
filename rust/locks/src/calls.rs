//! The replacements for SQLite's system calls.

use std::ffi::CStr;
use std::os::fd::IntoRawFd;

use libc::{c_char, c_int, c_void};

use crate::descriptor::{self, Inode};
use crate::table;

pub fn addresses() -> Vec<(&'static str, usize)> {
    table::watch_forks();
    vec![
        ("fcntl", fcntl as *const () as usize),
        ("close", close as *const () as usize),
        ("open", open as *const () as usize),
    ]
}

/// `fcntl(2)`, its locks taken on the private description of the file.
///
/// SQLite calls it as the variadic function it stands in for. Such a call leaves its third argument
/// in the third register, as here, everywhere but on Apple's arm64.
///
/// # Safety
///
/// As for `fcntl(2)`: `argument` is what `command` expects.
#[cfg(not(all(target_vendor = "apple", target_arch = "aarch64")))]
unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: as the caller says.
    unsafe { lock(fd, command, argument) }
}

/// `fcntl(2)`, its locks taken on the private description of the file.
///
/// On Apple's arm64 the arguments of a variadic call are on the stack. A function that is not
/// variadic finds its ninth argument there, the first eight being in registers.
///
/// # Safety
///
/// As for `fcntl(2)`: `argument` is what `command` expects.
#[cfg(all(target_vendor = "apple", target_arch = "aarch64"))]
#[allow(clippy::too_many_arguments)]
unsafe extern "C" fn fcntl(
    fd: c_int,
    command: c_int,
    _x2: usize,
    _x3: usize,
    _x4: usize,
    _x5: usize,
    _x6: usize,
    _x7: usize,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe { lock(fd, command, argument) }
}

/// # Safety
///
/// As for `fcntl(2)`: `argument` is what `command` expects.
unsafe fn lock(fd: c_int, command: c_int, argument: *mut c_void) -> c_int {
    if let Some(by_description) = descriptor::by_description(command) {
        // The table is unlocked before the call, which may wait. The description stays open,
        // because SQLite's descriptor, which is in use here, counts as one of its users.
        if let Some(own) = table::table().lock_target(fd) {
            // SAFETY: the argument of a command that locks is a `flock`; the field must be zero
            // for locks of open file descriptions, and is ignored for others.
            unsafe { (*argument.cast::<libc::flock>()).l_pid = 0 };
            // SAFETY: the command takes the same argument as the one it stands for.
            return unsafe { refused(libc::fcntl(own, by_description, argument)) };
        }
    }
    // SAFETY: as the caller says.
    unsafe { refused(libc::fcntl(fd, command, argument)) }
}

/// SQLite takes "no locks available" for a lock of another process, and waits for it in vain: a
/// file system that has no locks is reported as such.
fn refused(done: c_int) -> c_int {
    if done == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOLCK) {
        // SAFETY: the C library gives the address of this thread's errno.
        #[cfg(target_os = "linux")]
        unsafe {
            *libc::__errno_location() = libc::EOPNOTSUPP;
        }
        // SAFETY: as above.
        #[cfg(target_vendor = "apple")]
        unsafe {
            *libc::__error() = libc::EOPNOTSUPP;
        }
    }
    done
}

/// `close(2)`, postponed while other code in the process has the file open.
///
/// # Safety
///
/// As for `close(2)`: nobody uses the descriptor afterwards.
unsafe extern "C" fn close(fd: c_int) -> c_int {
    match Inode::of(fd) {
        Some(inode) => {
            // SAFETY: the descriptor is open, since it has an inode; the rest as the caller says.
            let fd = unsafe { table::given_up(fd) };
            table::table().close(inode, fd);
            0
        }
        // SAFETY: as the caller says.
        None => unsafe { libc::close(fd) },
    }
}

/// `open(2)`, which reuses a descriptor that was kept open if there is one.
///
/// # Safety
///
/// As for `open(2)`: the path ends in NUL.
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
    let mut table = table::table();
    if flags & (libc::O_EXCL | libc::O_TRUNC) == 0 && table.keeps_any() {
        // SAFETY: the path ends in NUL, as the caller says.
        let inode = Inode::at(unsafe { CStr::from_ptr(path) });
        let kept = inode.and_then(|inode| table.reuse(inode, flags & libc::O_ACCMODE));
        if let Some(fd) = kept {
            return fd.into_raw_fd();
        }
    }
    drop(table);
    // SAFETY: as the caller says; the mode is promoted to what `open` reads for it.
    unsafe { libc::open(path, flags, libc::c_uint::try_from(mode).unwrap_or(0)) }
}
