//! For tests: makes system calls on the files of one folder fail on request, and records the
//! successful ones, so that a test can reconstruct the folder as a power cut would leave it.
//!
//! Loaded with `LD_PRELOAD`, it replaces the few functions of the C library by which SQLite and
//! Python change files. An SQLite VFS would not do: the driver's cannot share a write-ahead log
//! among connections, so the store would have to run differently than it does.

#![cfg(target_os = "linux")]

mod calls;
mod record;

use std::ffi::CStr;
use std::os::fd::RawFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use libc::{c_char, c_int};

/// What a call does, as tests name it.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Write = 0,
    Sync = 1,
    Truncate = 2,
    Open = 3,
    Remove = 4,
    Rename = 5,
}

/// In place of an `errno`: the process is killed before the call.
const KILLED: c_int = -1;

/// Which call fails.
struct Fault {
    /// The kinds of calls that count, one bit each.
    kinds: u32,
    /// How many of them still succeed.
    before: u64,
    errno: c_int,
    /// Whether all after it fail as well.
    lasting: bool,
}

/// What locks do on the files that are watched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Locks {
    Work,
    /// They succeed, and keep nobody out.
    Pretend,
    Fail,
}

struct State {
    locks: Locks,
    /// With a slash at its end; empty while nothing is watched.
    folder: Vec<u8>,
    record: RawFd,
    fault: Option<Fault>,
    counted: u64,
}

static STATE: Mutex<State> = Mutex::new(State {
    locks: Locks::Work,
    folder: Vec::new(),
    record: -1,
    fault: None,
    counted: 0,
});

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn watches(&self, path: &[u8]) -> bool {
        let itself = path.len() + 1 == self.folder.len() && self.folder.starts_with(path);
        !self.folder.is_empty() && (itself || path.starts_with(&self.folder))
    }

    /// Count a call; return whether it has to fail, with `errno` set.
    fn fails(&mut self, kind: Kind) -> bool {
        let Some(fault) = &mut self.fault else {
            return false;
        };
        if fault.kinds & (1 << kind as u8) == 0 {
            return false;
        }
        self.counted += 1;
        if fault.before > 0 {
            fault.before -= 1;
            return false;
        }
        let errno = fault.errno;
        if errno == KILLED {
            // SAFETY: the process ends here, as if another one had killed it.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        }
        if !fault.lasting {
            fault.before = u64::MAX;
        }
        // SAFETY: the C library gives the address of this thread's errno.
        unsafe { *libc::__errno_location() = errno };
        true
    }
}

/// Watch the files below a folder; record changes to them if `record` is a descriptor.
///
/// # Safety
///
/// `folder` is a C string, an absolute path without links.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn faults_watch(folder: *const c_char, record: c_int) {
    // SAFETY: as the caller says.
    let mut folder = unsafe { CStr::from_ptr(folder) }.to_bytes().to_vec();
    if !folder.is_empty() {
        folder.push(b'/');
    }
    let mut state = state();
    state.folder = folder;
    state.record = record;
}

/// Make the call after `before` others of these kinds fail, and all later ones if `lasting`; with an
/// `errno` of -1 the process is killed instead.
#[unsafe(no_mangle)]
pub extern "C" fn faults_arm(kinds: u32, before: u64, errno: c_int, lasting: bool) {
    let mut state = state();
    state.counted = 0;
    state.fault = Some(Fault {
        kinds,
        before,
        errno,
        lasting,
    });
}

/// Say what locks do from now on: work (0), succeed without effect (1), or fail (2).
#[unsafe(no_mangle)]
pub extern "C" fn faults_locks(kind: c_int) {
    state().locks = match kind {
        1 => Locks::Pretend,
        2 => Locks::Fail,
        _ => Locks::Work,
    };
}

/// Let every call succeed again; returns how many were counted since it was armed.
#[unsafe(no_mangle)]
pub extern "C" fn faults_disarm() -> u64 {
    let mut state = state();
    state.fault = None;
    state.counted
}
