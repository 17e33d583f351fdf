//! The operating system: its boot id, clocks, locks, file systems and directories.
//!
//! `linux`, `macos` and `windows` have the same functions; `unix` holds what Linux and macOS have in common. [`crate::platforms`]
//! says where they were run. The other files hold the types and parts that the systems share.

#[cfg(unix)]
mod boot_id;
#[cfg(unix)]
mod clock;
mod file_system;
mod found_lock;
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
pub(crate) use found_lock::FoundLock;
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
