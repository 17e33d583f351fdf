//! A process forks while another of its threads waits in an opening. The child opens the same file.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::path::Path;
use std::thread;
use std::time::Duration;

use frazil::{Code, Layout};
use frazil_local::{Fault, Local, LocalOptions};
use nix::libc;

fn open(dir: &Path) -> Result<Local, Fault> {
    Local::open(
        &Layout::named("default").unwrap(),
        LocalOptions { dir: Some(dir.to_path_buf()), accept_unproven_platform: true, ..LocalOptions::default() },
    )
}

#[test]
fn a_child_that_was_forked_while_a_thread_waits_in_an_opening_can_open_the_file() {
    let dir = std::env::temp_dir().join(format!("frazil-fork-waits-{}", std::process::id()));
    let ids = open(&dir).unwrap();
    let path = ids.file().path;
    drop(ids);
    // Another file of the name, and a process that uses it and does not look.
    // SAFETY: the child opens a file and waits. glibc leaves it a usable heap.
    let user = unsafe { libc::fork() };
    if user == 0 {
        let _ids = open(&dir).unwrap();
        std::fs::write(dir.join("open"), "").unwrap();
        // SAFETY: the call stops this process.
        unsafe { libc::raise(libc::SIGSTOP) };
        loop {
            thread::sleep(Duration::from_secs(1));
        }
    }
    while !dir.join("open").exists() {
        thread::sleep(Duration::from_millis(5));
    }
    std::fs::rename(&path, dir.join("old")).unwrap();
    let ended = thread::scope(|scope| {
        let opening = scope.spawn(|| open(&dir).map_err(|fault| fault.code()).err());
        thread::sleep(Duration::from_millis(500));
        // SAFETY: as above.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let options = LocalOptions {
                dir: Some(dir.clone()),
                start_wait_ms: Some(100),
                accept_unproven_platform: true,
                ..LocalOptions::default()
            };
            let opened = Local::open(&Layout::named("default").unwrap(), options);
            let refused = opened.map_err(|fault| fault.code()).err() == Some(Code::StateConflict);
            // SAFETY: it ends the child without running what the parent registered for its own end.
            unsafe { libc::_exit(i32::from(!refused)) };
        }
        assert_eq!(opening.join().unwrap(), Some(Code::StateConflict));
        let mut status = -1;
        // The child had to wait for less time than the thread that has just been refused.
        for _ in 0..50 {
            // SAFETY: the process is a child of this one, and there is room for the status.
            if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(100));
        }
        // SAFETY: started above.
        unsafe { libc::kill(child, libc::SIGKILL) };
        None
    });
    // SAFETY: started above.
    unsafe { libc::kill(user, libc::SIGKILL) };
    std::fs::remove_dir_all(dir).unwrap();
    assert_eq!(ended, Some(0), "the child is refused, and does not hang");
}
