//! One copy of this addon per process.
//!
//! One file that many threads load is one copy with one registry. Two files, such as two versions in one dependency tree, are
//! two copies with a registry each, and under one node id they would issue the same IDs. Within a realm the package's JavaScript
//! detects a second copy; across threads only the operating system knows both.
//!
//! * **Detected in memory**, not by a path: the file of a copy may have been replaced, renamed or deleted since it was loaded.
//! * **Whatever the scope of its symbols**: no symbol is looked up by name, because a copy that was loaded with `RTLD_GLOBAL` would answer
//!   for all later ones.
//! * **Never unloaded**, so states outlive the last worker thread that used them. On Linux `napi-build` links with `-z nodelete`
//!   (musl unloads nothing anyway); elsewhere a copy pins itself before it can have a state.
//! * **In doubt refused**: a copy that cannot look, or does not find itself where it looks, is not used.
//!
//! All versions that may share a process must find each other's marks, so these must not change:
//!
//! | system | another copy is seen by |
//! |---|---|
//! | Linux | a note of the ELF file (`.note.frazil`), which says where the mark is |
//! | macOS | a section of the Mach-O file (`__DATA,__frazil`), which is the mark |
//! | Windows | a named object of the kernel (`Local\frazil-addon-` and the process id) |
//!
//! Not covered: on Linux a copy that was loaded with `dlmopen`, whose namespace shows no modules of others. Node, Bun and Deno do
//! not call that.

use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, PoisonError};

#[cfg(target_os = "linux")]
#[path = "copies/linux.rs"]
mod system;
#[cfg(target_os = "macos")]
#[path = "copies/macos.rs"]
mod system;
#[cfg(windows)]
#[path = "copies/windows.rs"]
mod system;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
compile_error!("copies of the addon in one process must see each other: say in crates/napi/src/copies how, on this system");

/// Marks this copy as in use, and keeps it loaded; or returns why it cannot be used.
///
/// The mark is set before the others are read, so of two copies that start at once at least one sees the other.
pub(crate) fn mark_in_use() -> Result<(), String> {
    static IN_USE: Mutex<bool> = Mutex::new(false);
    let_in(&system::MARK, &IN_USE, || {
        let unknown = |why| format!("frazil cannot find out whether another copy of its addon is in this process: {why}");
        system::pin().map_err(|why| format!("the addon of frazil cannot be kept loaded: {why}"))?;
        match system::other().map_err(unknown)? {
            Some(path) => Err(format!(
                "another copy of frazil is loaded from {path}, and its states cannot be shared\nInstall one, and bundle all entries into one folder."
            )),
            None => Ok(()),
        }
    })
}

/// The rule of [`mark_in_use`]: `look` fails if this copy cannot be used. A copy in use stays in use and does not look again: any copy that
/// it could see is about to be refused because of this one.
pub(crate) fn let_in(mark: &AtomicU8, in_use: &Mutex<bool>, look: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    // Held until the mark is final: a refused thread clears the mark, and no other thread may rely on it in the meantime.
    let mut in_use = in_use.lock().unwrap_or_else(PoisonError::into_inner);
    if *in_use {
        return Ok(());
    }
    mark.store(1, SeqCst);
    let looked = look();
    match looked {
        Ok(()) => *in_use = true,
        Err(_) => mark.store(0, SeqCst),
    }
    looked
}
