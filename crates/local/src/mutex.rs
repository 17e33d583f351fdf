//! Locking a mutex whatever a thread that held it did.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the mutexes guard is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
