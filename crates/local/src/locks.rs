//! The locks of a state file: which processes are attached, and which one may change it.
//!
//! They are byte-range locks that belong to the open file description and not to the process. So closing another descriptor of
//! the file does not release them (as it does POSIX locks), they need no process ids, and the system releases them however a
//! process ends. Each locks one byte beyond the end of the file.
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

/// Whether another open file is attached, as far as the system tells. Not for a file that is attached itself.
pub(crate) fn another_is_attached(file: &File) -> bool {
    // Windows shows a lock only to who tries to take it. A process that counts the others must not see that attempt, so it is made
    // under the lock of those who count. While another has that lock, nothing is known.
    let _counting = if cfg!(windows) {
        let Ok(Some(counting)) = hold(file, FileLock::Attach, Duration::ZERO) else { return false };
        Some(counting)
    } else {
        None
    };
    is_held_by_another(file, FileLock::Attached).unwrap_or(false)
}

/// Whether another open file holds a lock. Not for a lock that this one holds. On Windows it is taken for a moment to find out, which
/// those who try to take it meanwhile do not notice, since they try again.
pub(crate) fn is_held_by_another(file: &File, lock: FileLock) -> io::Result<bool> {
    os::is_locked(file, lock.byte(), 1)
}

/// A lock that is released when this is dropped.
#[derive(Debug)]
pub(crate) struct HeldLock<'a>(&'a File, FileLock);

impl Drop for HeldLock<'_> {
    fn drop(&mut self) {
        // Releasing cannot fail on an open file, and closing the file releases the lock in any case.
        let _: io::Result<bool> = set(self.0, self.1, Mode::Unlocked);
    }
}

/// Takes an exclusive lock once no other open file holds it. `None` if that takes longer than `wait`: the process that holds it
/// may be stopped.
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

    use super::*;

    /// Two open files of one file, as two processes have them.
    fn two_open_files(name: &str) -> [File; 2] {
        let path = std::env::temp_dir().join(format!("frazil-locks-{name}-{}", std::process::id()));
        let open = || File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
        let files = [open(), open()];
        std::fs::remove_file(path).unwrap();
        files
    }

    #[test]
    fn a_look_at_who_is_attached_takes_no_lock() {
        let [one, other] = two_open_files("look");
        assert!(!another_is_attached(&one));
        assert!(set(&other, FileLock::Attached, Mode::Exclusive).unwrap(), "the look took nothing");
        assert!(set(&other, FileLock::Attached, Mode::Shared).unwrap());
        assert!(another_is_attached(&one) && another_is_attached(&one));
        assert!(set(&one, FileLock::Attached, Mode::Shared).unwrap(), "nor the shared lock");
        assert!(set(&one, FileLock::Attached, Mode::Unlocked).unwrap());
        drop(other);
        assert!(retry_for(Duration::from_secs(5), || Ok(!another_is_attached(&one))).unwrap());
    }

    #[test]
    fn a_lock_keeps_nobody_from_the_data() {
        let [one, other] = two_open_files("data");
        for lock in [FileLock::Attach, FileLock::Raise, FileLock::Attached] {
            assert!(set(&one, lock, Mode::Exclusive).unwrap());
        }
        os::write_at(&other, b"data", 0).unwrap();
        let mut data = [0; 4];
        os::read_at(&other, &mut data, 0).unwrap();
        assert_eq!(&data, b"data");
    }

    #[test]
    fn a_lock_conflicts_with_exclusive_locks_of_other_open_files_on_the_same_byte() {
        let [one, other] = two_open_files("conflicts");
        let set = |file, lock, mode| set(file, lock, mode).unwrap();
        // On Windows a change that fails leaves no lock, so those who count take theirs again.
        let again = |file| assert!(!cfg!(windows) || set(file, FileLock::Attached, Mode::Shared));
        assert!(set(&one, FileLock::Attached, Mode::Shared) && set(&other, FileLock::Attached, Mode::Shared));
        assert!(!set(&one, FileLock::Attached, Mode::Exclusive));
        again(&one);
        assert!(!set(&other, FileLock::Attached, Mode::Exclusive), "the shared lock of the first is still there");
        again(&other);
        assert!(set(&other, FileLock::Raise, Mode::Exclusive), "another byte");
        assert!(set(&other, FileLock::Attached, Mode::Unlocked));
        assert!(set(&one, FileLock::Attached, Mode::Exclusive), "its own lock is no conflict");
        assert!(!set(&other, FileLock::Attached, Mode::Shared));
    }

    #[test]
    fn a_held_lock_is_released_when_it_is_dropped() {
        let [one, other] = two_open_files("held");
        let held = hold(&one, FileLock::Raise, Duration::ZERO).unwrap();
        assert!(held.is_some());
        assert!(hold(&other, FileLock::Raise, Duration::from_millis(2)).unwrap().is_none());
        drop(held);
        assert!(hold(&other, FileLock::Raise, Duration::ZERO).unwrap().is_some());
    }

    #[test]
    fn retrying_ends_with_success_an_error_or_the_time() {
        let count = |wait, answer: fn(u32) -> io::Result<bool>| {
            let mut attempts = 0;
            let result = retry_for(wait, || {
                attempts += 1;
                answer(attempts)
            });
            (attempts, result.ok())
        };
        assert_eq!(count(Duration::from_secs(60), |attempt| Ok(attempt == 3)), (3, Some(true)));
        assert_eq!(count(Duration::from_secs(60), |_| Err(io::Error::other("broken"))), (1, None));
        assert_eq!(count(Duration::ZERO, |_| Ok(false)), (1, Some(false)), "there is one attempt at least");
    }
}
