//! For tests: system calls on the files of one folder that fail when told to, and a record of what
//! they did, from which a test makes the folder as a power cut would have left it.
//!
//! Loaded with `LD_PRELOAD`, it stands before the C library for the few calls by which SQLite and
//! Python change files. A VFS of SQLite's would see less: the driver's cannot share a write-ahead
//! log among connections, so the store would have to run in another way than it does.

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

/// Which call fails.
struct Fault {
    /// The kinds that count, a bit each.
    kinds: u32,
    /// How many of them still succeed.
    before: u64,
    errno: c_int,
    /// Whether all after it fail as well.
    lasting: bool,
}

struct State {
    /// With a slash at its end; empty while nothing is watched.
    folder: Vec<u8>,
    record: RawFd,
    fault: Option<Fault>,
    counted: u64,
}

static STATE: Mutex<State> = Mutex::new(State {
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
        if !fault.lasting {
            fault.before = u64::MAX;
        }
        // SAFETY: the C library gives the address of this thread's errno.
        unsafe { *libc::__errno_location() = errno };
        true
    }
}

/// Watch the files below a folder; record what is done to them if `record` is a descriptor.
///
/// # Safety
///
/// `folder` is a string of C, an absolute path without links.
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

/// Let the call after `before` others of these kinds fail, and those after it if it is `lasting`.
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

/// Let every call succeed again; return how many were counted since it was armed.
#[unsafe(no_mangle)]
pub extern "C" fn faults_disarm() -> u64 {
    let mut state = state();
    state.fault = None;
    state.counted
}
