//! A process forks while another of its threads opens a file. The child inherits the open file and its locks.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use frazil::{Code, Layout, SystemClock};
use frazil_local::{Fault, Local, LocalOptions};
use nix::libc;

/// Where the mapped state begins.
const MAPPED_AT: u64 = 65536;

fn open(dir: &Path) -> Result<Local, Fault> {
    Local::open(
        &Layout::named("default").unwrap(),
        LocalOptions { dir: Some(dir.to_path_buf()), accept_unproven_platform: true, ..LocalOptions::default() },
    )
}

#[test]
fn a_child_that_was_forked_while_an_opening_was_refused_does_not_turn_the_refusal_into_trust() {
    let top = std::env::temp_dir().join(format!("frazil-attack-trust-{}", std::process::id()));
    let dir = top.join("a/b/c");
    let ids = open(&dir).unwrap();
    ids.next(&SystemClock).unwrap();
    let path = ids.file().path;
    drop(ids);
    // The mapped state says that it was written on another disk, as in a snapshot that is mounted beside it.
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(&1_u64.to_le_bytes(), MAPPED_AT + 24).unwrap();
    assert_eq!(open(&dir).unwrap_err().code(), Code::StateFileCorrupt);
    let over = AtomicBool::new(false);
    let mut children = Vec::new();
    let mut trusted = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Relaxed) {
                trusted += u32::from(open(&dir).is_ok());
            }
        });
        for _ in 0..300 {
            // SAFETY: the child calls only a function that is safe after a fork.
            unsafe {
                let child = libc::fork();
                if child == 0 {
                    loop {
                        libc::pause();
                    }
                }
                children.push(child);
            }
        }
        over.store(true, Relaxed);
    });
    let after = open(&dir).map(|ids| ids.next(&SystemClock));
    for child in children {
        // SAFETY: started above.
        unsafe { libc::kill(child, libc::SIGKILL) };
    }
    std::fs::remove_dir_all(top).unwrap();
    assert_eq!((trusted, after.map_err(|fault| fault.code()).err()), (0, Some(Code::StateFileCorrupt)));
}
