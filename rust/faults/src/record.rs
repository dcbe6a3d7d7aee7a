//! The record: one entry for each call that changed something.
//!
//! `kind: u8, path: u32 + bytes, offset: u64, data: u32 + bytes`, little-endian. The offset of a
//! truncation is the new length; the data of a renaming is the new path.

use std::os::fd::RawFd;

use crate::{Kind, State};

impl State {
    pub fn tell(&self, kind: Kind, path: &[u8], offset: u64, data: &[u8]) {
        if self.record < 0 || path.ends_with(b"-shm") {
            return; // memory that is not on disk does not survive a power cut
        }
        let mut entry = vec![kind as u8];
        entry.extend(length(path).to_le_bytes());
        entry.extend(path);
        entry.extend(offset.to_le_bytes());
        entry.extend(length(data).to_le_bytes());
        entry.extend(data);
        append(self.record, &entry);
    }
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

fn append(fd: RawFd, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: pointer and length are those of one slice; the system call, not the function of
        // the C library, which is ours.
        let done = unsafe { libc::syscall(libc::SYS_write, fd, bytes.as_ptr(), bytes.len()) };
        let Ok(done) = usize::try_from(done) else {
            return;
        };
        bytes = &bytes[done..];
    }
}
