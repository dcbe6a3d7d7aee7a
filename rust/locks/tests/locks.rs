//! The replacements, called as SQLite calls them, while other code in the process uses the
//! same file through the system's own calls.

#![cfg(any(target_os = "linux", target_vendor = "apple"))]

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use libc::{c_char, c_int, c_void};
use memstore_locks::{Locked, locked, pretend_unsupported, system_calls};

type Fcntl = unsafe extern "C" fn(c_int, c_int, ...) -> c_int;
type Close = unsafe extern "C" fn(c_int) -> c_int;
type Open = unsafe extern "C" fn(*const c_char, c_int, c_int) -> c_int;

/// The type of `F_WRLCK`.
#[cfg(target_os = "linux")]
type Kind = c_int;
#[cfg(target_vendor = "apple")]
type Kind = libc::c_short;

/// One test at a time: the table is the process's.
static ALONE: Mutex<()> = Mutex::new(());

struct Sqlite {
    path: PathBuf,
    fcntl: Fcntl,
    close: Close,
    open: Open,
    _alone: MutexGuard<'static, ()>,
}

impl Sqlite {
    fn on(name: &str) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        pretend_unsupported(false);
        let path =
            std::env::temp_dir().join(format!("memstore-locks-{}-{name}", std::process::id()));
        File::create(&path).unwrap();
        let calls = system_calls();
        let address = |name| calls.iter().find(|call| call.0 == name).unwrap().1;
        // SAFETY: the addresses are of functions that are called in just this way.
        unsafe {
            Self {
                path,
                fcntl: std::mem::transmute::<usize, Fcntl>(address("fcntl")),
                close: std::mem::transmute::<usize, Close>(address("close")),
                open: std::mem::transmute::<usize, Open>(address("open")),
                _alone: alone,
            }
        }
    }

    fn open(&self) -> c_int {
        let path = CString::new(self.path.to_str().unwrap()).unwrap();
        // SAFETY: the path ends in NUL.
        let fd = unsafe { (self.open)(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC, 0) };
        assert!(fd >= 0);
        fd
    }

    fn lock(&self, fd: c_int, kind: Kind) {
        let mut lock = at_byte_100(kind);
        // SAFETY: the command takes a `flock`.
        assert_eq!(0, unsafe {
            (self.fcntl)(fd, libc::F_SETLK, (&raw mut lock).cast::<c_void>())
        });
    }

    fn close(&self, fd: c_int) {
        // SAFETY: the descriptor is not used again.
        assert_eq!(0, unsafe { (self.close)(fd) });
    }

    fn stranger(&self) -> File {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(&self.path)
            .unwrap()
    }

    /// Whether another user of the file, in this process or another, finds the byte locked.
    fn is_locked(&self) -> bool {
        let code = std::process::Command::new("python3")
            .arg("-c")
            .arg(
                "import fcntl, sys\nwith open(sys.argv[1], 'r+b') as file:\n    try: \
                 fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 100)\n    except OSError: \
                 sys.exit(3)",
            )
            .arg(&self.path)
            .status()
            .unwrap();
        code.code() == Some(3)
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[allow(clippy::unnecessary_cast)]
fn at_byte_100(kind: Kind) -> libc::flock {
    // SAFETY: a plain C struct of integers.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = 100;
    lock.l_len = 1;
    lock
}

fn posix_lock(file: &File, kind: Kind) {
    let mut lock = at_byte_100(kind);
    // SAFETY: the command takes a `flock`.
    assert_eq!(0, unsafe {
        libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw mut lock)
    });
}

#[test]
fn lock_survives_closes_by_other_code() {
    let sqlite = Sqlite::on("survives");
    let fd = sqlite.open();
    sqlite.lock(fd, libc::F_WRLCK);
    drop(sqlite.stranger());
    std::fs::read(&sqlite.path).unwrap();
    assert!(sqlite.is_locked());
    sqlite.lock(fd, libc::F_UNLCK);
    assert!(!sqlite.is_locked());
    sqlite.close(fd);
}

#[test]
fn one_connection_can_release_the_lock_of_another() {
    let sqlite = Sqlite::on("shared");
    let (one, other) = (sqlite.open(), sqlite.open());
    sqlite.lock(one, libc::F_WRLCK);
    sqlite.lock(other, libc::F_UNLCK);
    assert!(!sqlite.is_locked());
    sqlite.lock(other, libc::F_WRLCK);
    sqlite.close(one);
    assert!(sqlite.is_locked());
    sqlite.close(other);
    assert!(!sqlite.is_locked());
    assert_eq!(locked(), Locked::default());
}

#[test]
fn closing_keeps_the_locks_of_other_code() {
    let sqlite = Sqlite::on("others");
    let fd = sqlite.open();
    sqlite.lock(fd, libc::F_WRLCK);
    sqlite.lock(fd, libc::F_UNLCK);
    let stranger = sqlite.stranger();
    posix_lock(&stranger, libc::F_WRLCK);
    sqlite.close(fd);
    assert!(sqlite.is_locked());
    assert!(locked().kept_descriptors > 0);

    // What was kept is used again, and goes with the first close after the stranger's.
    let kept = locked().kept_descriptors;
    let again = sqlite.open();
    assert_eq!(locked().kept_descriptors, kept - 1);
    drop(stranger);
    sqlite.close(again);
    assert_eq!(locked(), Locked::default());
}

#[test]
fn opening_and_closing_alongside_other_code_leaks_no_descriptors() {
    let sqlite = Sqlite::on("many");
    let stranger = sqlite.stranger();
    for _ in 0..2_000 {
        let fd = sqlite.open();
        sqlite.lock(fd, libc::F_RDLCK);
        sqlite.close(fd);
    }
    assert!(locked().kept_descriptors <= 2);
    drop(stranger);
    sqlite.close(sqlite.open());
    assert_eq!(locked(), Locked::default());
}

#[test]
fn process_locks_are_the_counted_fallback() {
    let sqlite = Sqlite::on("fallback");
    pretend_unsupported(true);
    let fd = sqlite.open();
    sqlite.lock(fd, libc::F_WRLCK);
    assert_eq!(
        locked(),
        Locked {
            by_process: 1,
            ..Locked::default()
        }
    );
    assert!(sqlite.is_locked());
    drop(sqlite.stranger());
    assert!(!sqlite.is_locked());
    sqlite.close(fd);
    assert_eq!(locked(), Locked::default());
}

#[test]
fn descriptors_of_other_kinds_are_closed_at_once() {
    let sqlite = Sqlite::on("pipe");
    let mut ends = [0; 2];
    // SAFETY: pipe writes two descriptors.
    assert_eq!(0, unsafe { libc::pipe(ends.as_mut_ptr()) });
    for end in ends {
        sqlite.close(end);
        // SAFETY: asking is harmless.
        assert_eq!(-1, unsafe { libc::fcntl(end, libc::F_GETFD) });
    }
    // SAFETY: a descriptor that is closed already is refused.
    assert_eq!(-1, unsafe { (sqlite.close)(ends[0]) });
}
