//! A process forks while other threads of it are told that their state file is lost. The child is refused, and does not hang.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{scope, sleep};
use std::time::Duration;

use frazil::{Code, Layout, SystemClock};
use frazil_local::{Local, LocalOptions};
use nix::libc;

/// Forks so many children, one after the other. Returns the status of each, or `None` for one that has not ended after two seconds.
fn fork_many(count: usize, child_main: impl Fn() -> i32) -> Vec<Option<i32>> {
    (0..count)
        .map(|_| {
            // SAFETY: the child makes one call and ends. glibc leaves it a usable heap.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let status = child_main();
                // SAFETY: it ends the child without running what the parent registered for its own end.
                unsafe { libc::_exit(status) };
            }
            let mut status = -1;
            for _ in 0..2000 {
                // SAFETY: the process is a child of this one, and there is room for the status.
                if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
                    return Some(status);
                }
                sleep(Duration::from_millis(1));
            }
            // SAFETY: started above.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, &raw mut status, 0);
            }
            None
        })
        .collect()
}

#[test]
fn a_child_that_was_forked_beside_a_refusal_is_refused() {
    let dir = std::env::temp_dir().join(format!("frazil-fork-fault-{}", std::process::id()));
    let options = LocalOptions { dir: Some(dir.clone()), accept_unproven_platform: true, ..LocalOptions::default() };
    let ids = Local::open(&Layout::named("default").unwrap(), options).unwrap();
    ids.next(&SystemClock).unwrap();
    std::fs::rename(ids.file().path, dir.join("old")).unwrap();
    while ids.next(&SystemClock).map_err(|error| error.code()) != Err(Code::StateFileCorrupt) {
        sleep(Duration::from_millis(1));
    }
    let over = AtomicBool::new(false);
    let ended = scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while !over.load(Relaxed) {
                    ids.next(&SystemClock).unwrap_err();
                }
            });
        }
        let ended = fork_many(300, || i32::from(ids.next(&SystemClock).map_err(|error| error.code()) != Err(Code::Closed)));
        over.store(true, Relaxed);
        ended
    });
    std::fs::remove_dir_all(dir).unwrap();
    let hung = ended.iter().filter(|status| status.is_none()).count();
    assert_eq!(hung, 0, "children that hang, of {}", ended.len());
    assert!(ended.iter().all(|status| *status == Some(0)));
}
