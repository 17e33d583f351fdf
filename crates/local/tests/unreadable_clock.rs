//! A process that cannot read the clock since the boot: it is in a time namespace, and has left it to its children. A test file of its
//! own, because such a process is forked.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

mod namespaces;

use std::fs;
use std::mem::forget;

use frazil::{Code, Layout, SystemClock};
use frazil_local::{Local, LocalOptions};
use namespaces::{in_a_child, in_a_child_with_right_to, unshare};
use nix::libc;

const CLONE_NEWTIME: libc::c_int = 0x80;

// docs/internals/claims.md: 17
#[test]
fn a_process_without_a_clock_is_refused_alone() {
    in_a_child_with_right_to(CLONE_NEWTIME, || {
        let dir = std::env::temp_dir().join(format!("frazil-clock-{}", std::process::id()));
        let open = || {
            Local::open(
                &Layout::named("default").unwrap(),
                LocalOptions { dir: Some(dir.clone()), accept_unproven_platform: true, ..LocalOptions::default() },
            )
        };
        // It ends without closing the state, so that the next start raises the ceiling.
        in_a_child(|| {
            let ids = open().unwrap();
            ids.next(&SystemClock).unwrap();
            forget(ids);
        });
        in_a_child(|| {
            unshare(CLONE_NEWTIME).unwrap();
            in_a_child(|| {
                unshare(CLONE_NEWTIME).unwrap();
                assert_eq!(open().unwrap_err().code(), Code::StateFileFailed);
            });
        });
        in_a_child(|| assert!(open().unwrap().next(&SystemClock).is_ok()));
        fs::remove_dir_all(dir).unwrap();
    });
}
