//! The locks of a state file, as another process takes or looks for them: bytes of the file, as in `src/locks.rs`.
#![allow(dead_code, reason = "not every test that has this module uses all of it")]

use nix::libc;

/// Held while a process attaches.
pub(crate) const ATTACH: i64 = 1 << 40;
/// Held while the ceiling moves.
pub(crate) const RAISE: i64 = ATTACH + 1;
/// The first of the bytes of which each shows a process as attached, …
pub(crate) const FIRST_USER: i64 = ATTACH + 2;
/// … and how many there are.
pub(crate) const USERS: i64 = 1 << 16;

/// An exclusive lock on that many bytes.
pub(crate) fn lock_on(first: i64, count: i64) -> libc::flock {
    let [kind, whence] = [libc::F_WRLCK, libc::SEEK_SET].map(|number| i16::try_from(number).unwrap());
    libc::flock { l_type: kind, l_whence: whence, l_start: first, l_len: count, l_pid: 0 }
}
