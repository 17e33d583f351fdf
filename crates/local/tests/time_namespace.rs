//! A process that made a time namespace for its children (`unshare` without `exec`) is not in that namespace, but the kernel
//! shows its offsets. A child that it forks afterwards is in it. This is a test file of its own, because a process reads the
//! offset of its namespace only once.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use frazil::{Layout, SystemClock};
use frazil_local::{Local, LocalOptions};
use nix::libc;

const CLONE_NEWTIME: libc::c_int = 0x80;
const DAY_S: u32 = 86_400;

#[test]
fn the_offsets_of_a_time_namespace_that_is_only_for_children_are_not_its_own() {
    // SAFETY: the call changes nothing.
    let is_root = unsafe { libc::geteuid() == 0 };
    if !is_root || !Path::new("/proc/self/ns/time").exists() {
        return;
    }
    let dir = std::env::temp_dir().join(format!("frazil-time-{}", std::process::id()));
    let open = || {
        Local::open(
            &Layout::named("default").unwrap(),
            LocalOptions { dir: Some(dir.clone()), accept_unproven_platform: true, ..LocalOptions::default() },
        )
    };
    // A process without an offset opens the file first, so that the file holds a trusted clock.
    in_a_child(|| assert!(open().unwrap().next(&SystemClock).is_ok()));
    in_a_child(|| {
        // SAFETY: only children of this process, of which there are none, are in the new namespace.
        assert_eq!(unsafe { libc::unshare(CLONE_NEWTIME) }, 0);
        fs::write("/proc/self/timens_offsets", format!("boottime {DAY_S} 0")).unwrap();
        let ids = open().unwrap();
        ids.next(&SystemClock).unwrap();
        assert_eq!(ids.file().distrusted_ms, 0, "the clock of this process is that of the other");
    });
    in_a_child(|| {
        // This process knows its offset, and then leaves the namespace to its children.
        open().unwrap().next(&SystemClock).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { libc::unshare(CLONE_NEWTIME) }, 0);
        fs::write("/proc/self/timens_offsets", format!("boottime {DAY_S} 0")).unwrap();
        in_a_child(|| {
            let ids = open().unwrap();
            ids.next(&SystemClock).unwrap();
            assert_eq!(ids.file().distrusted_ms, 0, "the clock of the child, less its offset, is that of the others");
        });
    });
    in_a_child(|| {
        let ids = open().unwrap();
        ids.next(&SystemClock).unwrap();
        assert_eq!(ids.file().distrusted_ms, 0, "the child taught the file no other clock");
    });
    fs::remove_dir_all(dir).unwrap();
}

/// Runs something in a process with one thread.
fn in_a_child(work: impl FnOnce()) {
    // SAFETY: the child has one thread, which works and ends. glibc leaves it a usable heap.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let done = catch_unwind(AssertUnwindSafe(work));
        // SAFETY: it ends the child without running what the parent registered for its own end.
        unsafe { libc::_exit(i32::from(done.is_err())) };
    }
    let mut status = 0;
    // SAFETY: the process is a child of this one, and there is room for the status.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}
