//! Who is attached to a state file, and who may change it: locks of open files.
//!
//! They belong to the open file and not to the process, so closing another descriptor of the same file does not drop them
//! (as it does POSIX locks), they need no process ids, and the system frees them however a process ends. They lie beyond the
//! end of the file, where no byte is.
//!
//! These tell of one file. Whether another file of the same name is in use, [`crate::name_locks`] tells.

use std::fs::File;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::os;
pub(crate) use crate::os::Mode;

/// Beyond the end of every state file.
const FIRST_BYTE: u64 = 1 << 40;

/// What a lock is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileLock {
    /// Held while attaching and while closing: who is attached does not change.
    Attach = 0,
    /// Held while the ceiling moves.
    Raise = 1,
    /// Held, shared, for as long as one is attached.
    Attached = 2,
}

impl FileLock {
    /// The byte that it locks.
    pub(crate) const fn byte(self) -> u64 {
        FIRST_BYTE + self as u64
    }
}

/// Takes, changes or frees a lock, unless another open file is in the way: then `false`.
pub(crate) fn set(file: &File, lock: FileLock, mode: Mode) -> io::Result<bool> {
    os::lock(file, lock.byte(), mode)
}

/// A lock that is freed when this is dropped.
#[derive(Debug)]
pub(crate) struct HeldLock<'a>(&'a File, FileLock);

impl Drop for HeldLock<'_> {
    fn drop(&mut self) {
        // Freeing cannot fail on a file that is open, and closing the file frees it in any case.
        let _: io::Result<bool> = set(self.0, self.1, Mode::Free);
    }
}

/// Holds a lock alone, once nobody else does. `None` where that takes too long: a process that was stopped while it held it.
pub(crate) fn hold(file: &File, lock: FileLock, wait: Duration) -> io::Result<Option<HeldLock<'_>>> {
    let got = retry_for(wait, || set(file, lock, Mode::Exclusive))?;
    Ok(got.then(|| HeldLock(file, lock)))
}

/// Tries until it works or time is up, each time a little later.
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
