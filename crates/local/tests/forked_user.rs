//! A forked child that mints on what it inherited uses the file of its parent, also after the parent has given that file up.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use frazil::{Code, Generator, Layout, SystemClock};
use frazil_local::{Fault, Local, LocalOptions};
use nix::libc;

/// 256 IDs a millisecond.
fn open(dir: &Path) -> Result<Local, Fault> {
    Local::open(
        &Layout::named("edge").unwrap(),
        LocalOptions { dir: Some(dir.to_path_buf()), accept_unproven_platform: true, ..LocalOptions::default() },
    )
}

/// Mints as fast as it may until it is refused for good or the time is up.
fn mint(ids: &Generator, time: Duration) -> Vec<u64> {
    let (mut all, mut block, started) = (Vec::new(), [0; 64], Instant::now());
    while started.elapsed() < time {
        match ids.fill(&SystemClock, &mut block) {
            Ok(count) => all.extend_from_slice(&block[..count]),
            Err(error) if error.code().retryable() => sleep(Duration::from_millis(1)),
            Err(_) => break,
        }
    }
    all
}

// docs/safety.md: 18
#[test]
fn a_file_that_a_process_gave_up_is_in_use_while_its_forked_child_lives() {
    let dir = std::env::temp_dir().join(format!("frazil-forked-user-{}", std::process::id()));
    let minted = dir.join("minted");
    let ids = open(&dir).unwrap();
    ids.next(&SystemClock).unwrap();
    // SAFETY: the child has one thread, which mints, writes a file and waits. glibc leaves it a usable heap.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let bytes: Vec<u8> = mint(&ids, Duration::from_secs(5)).iter().flat_map(|id| id.to_le_bytes()).collect();
        let whole = dir.join("whole");
        fs::File::create(&whole).unwrap().write_all(&bytes).unwrap();
        fs::rename(whole, minted).unwrap();
        loop {
            sleep(Duration::from_secs(1));
        }
    }
    let path = ids.file().path;
    fs::rename(&path, dir.join("old")).unwrap();
    while ids.next(&SystemClock).map_err(|error| error.code()) != Err(Code::StateFileCorrupt) {
        sleep(Duration::from_millis(1));
    }
    let opened = open(&dir);
    let code = opened.as_ref().map_err(Fault::code).err();
    let mut all = opened.map_or_else(|_| Vec::new(), |ids| mint(&ids, Duration::from_millis(500)));
    while !minted.exists() {
        sleep(Duration::from_millis(10));
    }
    let bytes = fs::read(minted).unwrap();
    all.extend(bytes.chunks_exact(8).map(|id| u64::from_le_bytes(id.try_into().unwrap())));
    // SAFETY: the process is a child of this one, and only this code waits for it.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
    let after = open(&dir).map(|ids| mint(&ids, Duration::from_millis(100)));
    all.extend(after.unwrap());
    fs::remove_dir_all(dir).unwrap();
    assert!(all.len() > 100_000, "{}", all.len());
    assert_eq!(all.len() - all.iter().collect::<HashSet<_>>().len(), 0, "repeats");
    assert_eq!(code, Some(Code::StateConflict), "while the child lives");
}
