//! What the operating system is asked, side by side for each: its boot, its clocks, its locks, its file systems, its conventions.
//!
//! All have the same functions. Run and tested is Linux; the others are compiled, by the suite `lint-rust`.

#[cfg(unix)]
use std::io;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
compile_error!("frazil-local knows Linux, macOS and Windows");

/// How to hold a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Shared,
    Exclusive,
    Free,
}

/// Which file it is. Inodes are used again, so one of the last two tells a file from its successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// When it was made, in nanoseconds; 0 where the file system does not say.
    pub(crate) created_ns: u64,
    /// Which use of the inode it is; `None` where the file system does not say. A path does not tell.
    pub(crate) generation: Option<u32>,
}

impl Identity {
    /// Whether a path leads to this file, as far as a path can tell.
    pub(crate) fn is_at(self, path: Option<Self>) -> bool {
        path == Some(Self { generation: None, ..self })
    }
}

/// Whether a kind of file system keeps what a state file needs: memory that all who map it share, locks that meet, inodes
/// that stay, and flushes that last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Sound,
    /// It does where one host uses it and its server flushes; the caller can vouch for that.
    Vouched,
    /// It does not.
    Never(&'static str),
}

#[cfg(unix)]
pub(crate) const GONE: &str = "is gone after a restart";
#[cfg(target_os = "linux")]
pub(crate) const LAYER: &str = "is a layer of one container: each container would have a file of its own";
pub(crate) const HOSTS: &str = "is shared by hosts, and they share no memory";
pub(crate) const INODES: &str = "numbers its files anew each time it is mounted";

/// 128 bits out of a text with 32 hexadecimal digits.
#[cfg(unix)]
fn bits_of(text: &str) -> io::Result<[u64; 2]> {
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let half = |at: usize| u64::from_str_radix(digits.get(at..at + 16)?, 16).ok();
    match (half(0), half(16)) {
        (Some(high), Some(low)) => Ok([high, low]),
        _ => Err(io::Error::other(format!("the kernel's boot id is {text:?}"))),
    }
}
