//! What the operating system is asked, side by side for each: its boot, its clocks, its locks, its file systems, its conventions.
//!
//! All have the same functions. Run and tested is Linux; the others are compiled, by the suite `lint-rust`.

#[cfg(unix)]
mod boot_id;
#[cfg(unix)]
mod clock;
mod file_system;
mod identity;
#[cfg(target_os = "linux")]
mod linux;
mod lock_mode;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub(crate) use file_system::Support;
pub(crate) use identity::Identity;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;
pub(crate) use lock_mode::Mode;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
compile_error!("frazil-local knows Linux, macOS and Windows");
