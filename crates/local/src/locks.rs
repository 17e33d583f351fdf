//! The locks of a state file: which processes are attached, and which one may change it.
//!
//! They are byte-range locks that belong to the open file description and not to the process. So closing another descriptor of the
//! file does not release them (as it does POSIX locks), they need no process ids, and the system releases them however a process
//! ends. Each locks one byte beyond the end of the file.
//!
//! They say nothing about another file of the same name. For that there is [`crate::name_locks`].

use std::fs::File;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::os;
pub(crate) use crate::os::Mode;

/// Beyond the end of every state file.
const FIRST_BYTE: u64 = 1 << 40;

/// A lock of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileLock {
    /// Held while attaching and while leaving, so that the number of attached processes does not change.
    Attach = 0,
    /// Held while the ceiling moves.
    Raise = 1,
    /// Held, shared, for as long as a process is attached.
    Attached = 2,
}

impl FileLock {
    /// The byte that it locks.
    pub(crate) const fn byte(self) -> u64 {
        FIRST_BYTE + self as u64
    }
}

/// Takes, changes or releases a lock. `false` if the lock of another open file conflicts.
pub(crate) fn set(file: &File, lock: FileLock, mode: Mode) -> io::Result<bool> {
    os::lock(file, lock.byte(), mode)
}

/// A lock that is released when this is dropped.
#[derive(Debug)]
pub(crate) struct HeldLock<'a>(&'a File, FileLock);

impl Drop for HeldLock<'_> {
    fn drop(&mut self) {
        // Releasing cannot fail on an open file, and closing the file releases the lock in any case.
        let _: io::Result<bool> = set(self.0, self.1, Mode::Free);
    }
}

/// Takes an exclusive lock once no other open file holds it. `None` if that takes longer than `wait`: the process that holds it may
/// be stopped.
pub(crate) fn hold(file: &File, lock: FileLock, wait: Duration) -> io::Result<Option<HeldLock<'_>>> {
    let got = retry_for(wait, || set(file, lock, Mode::Exclusive))?;
    Ok(got.then(|| HeldLock(file, lock)))
}

/// Retries until an attempt succeeds or the time is up, with pauses that grow from 0.1 ms to 5 ms. There is at least one attempt.
pub(crate) fn retry_for(wait: Duration, mut attempt: impl FnMut() -> io::Result<bool>) -> io::Result<bool> {
    let started = Instant::now();
    let mut pause = Duration::from_micros(100);
    loop {
        if attempt()? {
            return Ok(true);
        }
        if started.elapsed() >= wait {
            return Ok(false);
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}
