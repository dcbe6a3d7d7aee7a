//! Structures shared by threads.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A structure behind a lock.
///
/// The lock is only taken with the GIL released, and its holder never takes the GIL, so the two
/// cannot deadlock.
pub(crate) struct Shared<T>(RwLock<T>);

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(RwLock::new(value))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
