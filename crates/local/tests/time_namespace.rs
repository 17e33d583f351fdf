//! A process that made a time namespace for its children (`unshare` without `exec`) is not in that namespace, but the kernel
//! shows its offsets. A child that it forks afterwards is in it. This is a test file of its own, because a process reads the
//! offset of its namespace only once.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

mod namespaces;

use std::fs;

use frazil::{Layout, SystemClock};
use frazil_local::{Local, LocalOptions};
use namespaces::{in_a_child, in_a_child_with_right_to, unshare};
use nix::libc;

const CLONE_NEWTIME: libc::c_int = 0x80;
const DAY_S: u32 = 86_400;

#[test]
fn the_offsets_of_a_time_namespace_that_is_only_for_children_are_not_its_own() {
    in_a_child_with_right_to(CLONE_NEWTIME, || {
        let dir = std::env::temp_dir().join(format!("frazil-time-{}", std::process::id()));
        let open = || {
            Local::open(
                &Layout::named("default").unwrap(),
                LocalOptions { dir: Some(dir.clone()), accept_unproven_platform: true, ..LocalOptions::default() },
            )
        };
        let make_namespace = || {
            unshare(CLONE_NEWTIME).unwrap();
            fs::write("/proc/self/timens_offsets", format!("boottime {DAY_S} 0")).unwrap();
        };
        // A process without an offset opens the file first, so that the file holds a trusted clock.
        in_a_child(|| assert!(open().unwrap().next(&SystemClock).is_ok()));
        in_a_child(|| {
            make_namespace();
            let ids = open().unwrap();
            ids.next(&SystemClock).unwrap();
            assert_eq!(ids.file().distrusted_ms, 0, "the clock of this process is that of the other");
        });
        in_a_child(|| {
            // This process knows its offset, and then leaves the namespace to its children.
            open().unwrap().next(&SystemClock).unwrap();
            make_namespace();
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
    });
}
