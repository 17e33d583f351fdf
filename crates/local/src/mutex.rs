//! Locks a mutex, also after a thread that held it has panicked.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use crate::locks::retry_for;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data behind this crate's mutexes is always consistent, so a poisoned one can be used.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same for at most `wait`, and until the caller wants to stop. `None` if it is not free by then.
pub(crate) fn lock_within<T>(mutex: &Mutex<T>, wait: Duration, stop: impl Fn() -> bool) -> Option<MutexGuard<'_, T>> {
    let mut held = None;
    // The attempts do not fail.
    let _: io::Result<bool> = retry_for(wait, || {
        held = match mutex.try_lock() {
            Ok(held) => Some(held),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        Ok(held.is_some() || stop())
    });
    held
}
