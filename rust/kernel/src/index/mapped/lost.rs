//! Mapped files that can no longer be read: another program truncated them, or the disk fails.
//!
//! Reading such a page raises SIGBUS, which ends the process. The handler here replaces the whole
//! mapping with zeros and notes that the file is lost, so the reader goes on. Who uses its result
//! asks [`Watched::is_lost`] first. Faults at other addresses go to the handler that was there before.
//!
//! The handler may interrupt any code, so it only walks a list that never shrinks, and makes one
//! system call. An entry is reused for another mapping after its own has ended.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use std::sync::{Mutex, Once, OnceLock, PoisonError};

use libc::{c_int, c_void, siginfo_t};

/// Where a file is mapped.
struct Span {
    start: AtomicUsize,
    /// 0 while the entry is unused; written last, and cleared first.
    end: AtomicUsize,
    lost: AtomicBool,
    next: *const Span,
}

// SAFETY: `next` is never changed after the entry is published, and the rest is atomic.
unsafe impl Sync for Span {}

static SPANS: AtomicPtr<Span> = AtomicPtr::new(ptr::null_mut());
static UNUSED: Mutex<Vec<&'static Span>> = Mutex::new(Vec::new());
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// A mapping whose loss does not end the process. Drop it before the mapping ends.
pub struct Watched(&'static Span);

impl Watched {
    /// Watch a whole mapping of a file, which begins at a page.
    pub fn new(map: &[u8]) -> Self {
        install();
        let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
        let span = unused.pop().unwrap_or_else(added);
        let start = map.as_ptr().addr();
        span.start.store(start, SeqCst);
        span.lost.store(false, SeqCst);
        span.end.store(start + map.len(), SeqCst);
        Self(span)
    }

    /// Whether a part of it could not be read, so that what was read may be zeros.
    pub fn is_lost(&self) -> bool {
        self.0.lost.load(SeqCst)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.end.store(0, SeqCst);
        let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
        unused.push(self.0);
    }
}

/// A new entry at the head of the list. The caller holds the lock.
fn added() -> &'static Span {
    let span: &'static mut Span = Box::leak(Box::new(Span {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
        next: SPANS.load(SeqCst),
    }));
    let span = ptr::from_mut(span);
    SPANS.store(span, SeqCst);
    // SAFETY: it was leaked, and from here on is only shared.
    unsafe { &*span }
}

/// Install the handler, once in the process.
fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let mut before = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: without a new action, the call only writes the present one.
        if unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), before.as_mut_ptr()) } != 0 {
            return;
        }
        // SAFETY: the call that fills it succeeded. The handler needs it, so it is kept first.
        let _ = BEFORE.set(unsafe { before.assume_init() });
        // SAFETY: a plain C struct of integers and pointers, for which all zeros is a value.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the action is whole, and its handler has the type that its flags announce. If the
        // call fails, faults end the process as before.
        unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) };
    });
}

extern "C" fn on_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a whole `siginfo_t`; a positive code says that it made the signal
    // itself, and then the address is set.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    if code <= 0 || !is_replaced(address) {
        pass_on(signal, info, context, code);
    }
}

/// Put zeros in place of the mapping around an address; `false` if none of ours is there.
fn is_replaced(address: usize) -> bool {
    let mut next = SPANS.load(SeqCst).cast_const();
    // SAFETY: entries are never freed.
    while let Some(span) = unsafe { next.as_ref() } {
        let end = span.end.load(SeqCst);
        let start = span.start.load(SeqCst);
        // An entry that is reused meanwhile is for another mapping: ours is being read, so it lasts.
        if (start..end).contains(&address) && span.end.load(SeqCst) == end {
            span.lost.store(true, SeqCst); // before anybody can read a zero
            let place = ptr::with_exposed_provenance_mut(start);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED | libc::MAP_NORESERVE;
            // SAFETY: the range is a mapping of ours that somebody is reading, so it does not end
            // now, and it stays readable.
            let zeros = unsafe { libc::mmap(place, end - start, libc::PROT_READ, flags, -1, 0) };
            return zeros == place;
        }
        next = span.next;
    }
    false
}

/// Do what would have been done without this handler.
fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void, code: c_int) {
    let Some(before) = BEFORE.get() else { return };
    match before.sa_sigaction {
        libc::SIG_IGN if code <= 0 => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: it is the action that was in force. After it the fault occurs again, and
            // a signal that somebody sent is sent again.
            unsafe {
                libc::sigaction(signal, before, ptr::null_mut());
                if code <= 0 {
                    libc::raise(signal);
                }
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the flags say that the address is that of such a function.
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: the flags say that the address is that of such a function.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}
