//! The locks of a state file: which processes are attached, and which one may change it.
//!
//! They are byte-range locks that belong to the open file description and not to the process. So closing another descriptor of
//! the file does not release them (as it does POSIX locks), they need no process ids, and the system releases them however a
//! process ends. Each locks one byte beyond the end of the file.
//!
//! A process is attached while it holds an exclusive lock on one of [`USERS`] bytes. Read access does not allow an exclusive lock, so no
//! reader can vouch for the mapped state, which is used without proof while a process is attached.
//!
//! They say nothing about another file of the same name; [`crate::name_locks`] does.

use std::fs::File;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::os::{self, Identity, Mode};

/// Beyond the end of every state file.
const FIRST_BYTE: u64 = 1 << 40;

/// A lock of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileLock {
    /// Held while attaching and while leaving, so that the number of attached processes does not change.
    Attach = 0,
    /// Held while the ceiling moves.
    Raise = 1,
}

impl FileLock {
    /// The byte that it locks.
    const fn byte(self) -> u64 {
        FIRST_BYTE + self as u64
    }
}

/// Takes, changes or releases a lock. `false` if the lock of another open file conflicts.
fn set(file: &File, lock: FileLock, mode: Mode) -> io::Result<bool> {
    os::lock(file, lock.byte(), mode)
}

/// The byte of the first user. Each process that is attached holds one byte from there on.
const FIRST_USER: u64 = FIRST_BYTE + 2;
/// How many processes can be attached at the same time.
const USERS: u64 = 1 << 16;

/// The byte that shows this process as attached, for as long as its file is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UserByte(u64);

/// Shows this process as attached. `None` if no byte is free. Needs the lock [`FileLock::Attach`].
pub(crate) fn show_attached(file: &File) -> io::Result<Option<UserByte>> {
    // Where processes have different ids, the first attempt succeeds.
    let first = u64::from(std::process::id());
    for at in first..first + USERS {
        let byte = FIRST_USER + at % USERS;
        if os::lock(file, byte, Mode::Exclusive)? {
            return Ok(Some(UserByte(byte)));
        }
    }
    Ok(None)
}

/// Whether another open file is attached. `own` shows that this one is. Needs the lock [`FileLock::Attach`].
pub(crate) fn another_is_attached(file: &File, own: Option<UserByte>) -> io::Result<bool> {
    // On Windows an open file's own lock is in its way.
    let own = own.filter(|_| cfg!(windows));
    if let Some(UserByte(byte)) = own {
        os::lock(file, byte, Mode::Unlocked)?;
    }
    let another = os::is_locked(file, FIRST_USER, USERS, Mode::Exclusive);
    if let Some(UserByte(byte)) = own {
        os::lock(file, byte, Mode::Exclusive)?;
    }
    another
}

/// The same as far as the system tells, without that lock. Not for a file that is attached itself.
pub(crate) fn another_seems_attached(file: &File) -> bool {
    // Windows shows a lock only to who tries to take it. A process that counts the others must not see that attempt, so it is made
    // under the lock of those who count. While another has that lock, nothing is known.
    let _counting = if cfg!(windows) {
        let Ok(Some(counting)) = hold(file, FileLock::Attach, Duration::ZERO) else { return false };
        Some(counting)
    } else {
        None
    };
    another_is_attached(file, None).unwrap_or(false)
}

/// How many processes are attached to a file to which this process is. `None` if the system does not show it.
pub(crate) fn count_attached(identity: Identity) -> Option<u64> {
    os::holders(identity, FIRST_USER..FIRST_USER + USERS)
}

/// Whether another open file holds a lock. Not for a lock that this one holds. On Windows it is taken for a moment to find out, which
/// those who try to take it meanwhile do not notice, since they try again.
pub(crate) fn is_held_by_another(file: &File, lock: FileLock) -> io::Result<bool> {
    os::is_locked(file, lock.byte(), 1, Mode::Exclusive)
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
        assert!(!another_seems_attached(&one));
        let user = show_attached(&other).unwrap();
        assert!(another_seems_attached(&one) && another_is_attached(&one, None).unwrap());
        assert!(!another_is_attached(&other, user).unwrap(), "it does not count itself");
        assert!(another_seems_attached(&one), "and is attached after that");
        let own = show_attached(&one).unwrap();
        assert!(own.is_some() && own != user, "each has a byte of its own");
        assert!(another_is_attached(&one, own).unwrap() && another_is_attached(&other, user).unwrap());
        drop(other);
        assert!(retry_for(Duration::from_secs(5), || Ok(!another_is_attached(&one, own)?)).unwrap());
    }

    // docs/internals/claims.md: 12
    #[test]
    #[cfg(unix)]
    fn a_lock_of_who_may_only_read_the_file_shows_nobody_as_attached_and_takes_the_place_of_nobody() {
        let path = std::env::temp_dir().join(format!("frazil-locks-reader-{}", std::process::id()));
        let open = || File::options().read(true).write(true).create(true).truncate(false).open(&path).unwrap();
        let (one, other, reader) = (open(), open(), File::open(&path).unwrap());
        std::fs::remove_file(path).unwrap();
        let first = FIRST_USER + u64::from(std::process::id()) % USERS;
        for byte in [FIRST_USER, first] {
            assert!(os::lock(&reader, byte, Mode::Shared).unwrap());
        }
        os::lock(&reader, FIRST_USER, Mode::Exclusive).unwrap_err();
        assert!(!another_seems_attached(&one));
        assert_ne!(show_attached(&other).unwrap().unwrap(), UserByte(first));
        assert!(another_seems_attached(&one));
    }

    #[test]
    fn a_lock_keeps_nobody_from_the_data() {
        let [one, other] = two_open_files("data");
        for lock in [FileLock::Attach, FileLock::Raise] {
            assert!(set(&one, lock, Mode::Exclusive).unwrap());
        }
        assert!(show_attached(&one).unwrap().is_some());
        os::write_at(&other, b"data", 0).unwrap();
        let mut data = [0; 4];
        os::read_at(&other, &mut data, 0).unwrap();
        assert_eq!(&data, b"data");
    }

    #[test]
    fn a_lock_conflicts_with_locks_of_other_open_files_on_the_same_byte() {
        let [one, other] = two_open_files("conflicts");
        let set = |file, lock, mode| set(file, lock, mode).unwrap();
        assert!(set(&one, FileLock::Attach, Mode::Exclusive));
        assert!(!set(&other, FileLock::Attach, Mode::Exclusive));
        assert!(set(&other, FileLock::Raise, Mode::Exclusive), "another byte");
        assert!(set(&one, FileLock::Attach, Mode::Exclusive), "its own lock is no conflict");
        assert!(set(&one, FileLock::Attach, Mode::Unlocked));
        assert!(set(&other, FileLock::Attach, Mode::Exclusive));
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
