//! Locks a mutex, also after a thread that held it has panicked.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the mutexes of this crate guard is consistent at every moment, so a poisoned one can be used.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
