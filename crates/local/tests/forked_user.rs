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

/// Mints as fast as it may, and hands each block over, until it is refused for good and `is_over`.
fn mint(ids: &Generator, mut take: impl FnMut(&[u64]), is_over: impl Fn() -> bool) {
    let mut block = [0; 64];
    loop {
        match ids.fill(&SystemClock, &mut block) {
            Ok(count) => take(&block[..count]),
            Err(error) if !error.code().retryable() && is_over() => return,
            Err(_) => sleep(Duration::from_millis(1)),
        }
    }
}

/// Mints for a while. Returns the IDs.
fn mint_for(ids: &Generator, time: Duration) -> Vec<u64> {
    let (mut all, started) = (Vec::new(), Instant::now());
    while all.is_empty() || started.elapsed() < time {
        let mut block = [0; 64];
        match ids.fill(&SystemClock, &mut block) {
            Ok(count) => all.extend_from_slice(&block[..count]),
            Err(error) => {
                assert!(error.code().retryable(), "{error}");
                sleep(Duration::from_millis(1));
            }
        }
    }
    all
}

/// How many IDs the child mints at least before the file loses its name.
const MINTED_BEFORE: u64 = 100_000;

// docs/internals/claims.md: 18
#[test]
fn a_file_that_a_process_gave_up_is_in_use_while_its_forked_child_lives() {
    let dir = std::env::temp_dir().join(format!("frazil-forked-user-{}", std::process::id()));
    let [part, minted, old] = ["part", "minted", "old"].map(|name| dir.join(name));
    let ids = open(&dir).unwrap();
    let mut all = vec![ids.next(&SystemClock).unwrap()];
    // SAFETY: the child has one thread, which mints, writes a file and waits. glibc leaves it a usable heap.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let mut file = fs::File::create(&part).unwrap();
        let write = |ids: &[u64]| {
            let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
            file.write_all(&bytes).unwrap();
        };
        // It is refused when the window is over, which its parent raises until the file loses its name.
        mint(&ids, write, || old.exists());
        fs::rename(part, minted).unwrap();
        loop {
            sleep(Duration::from_secs(1));
        }
    }
    while fs::metadata(&part).map_or(0, |part| part.len()) < 8 * MINTED_BEFORE {
        all.extend(ids.next(&SystemClock));
        sleep(Duration::from_millis(1));
    }
    let path = ids.file().path;
    fs::rename(&path, &old).unwrap();
    loop {
        match ids.next(&SystemClock).map_err(|error| error.code()) {
            Ok(id) => all.push(id),
            Err(Code::StateFileCorrupt) => break,
            Err(_) => sleep(Duration::from_millis(1)),
        }
    }
    let opened = open(&dir);
    let code = opened.as_ref().map_err(Fault::code).err();
    all.extend(opened.map_or_else(|_| Vec::new(), |ids| mint_for(&ids, Duration::from_millis(500))));
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
    let after = loop {
        match open(&dir) {
            Ok(ids) => break ids,
            // What the child issued is not over yet.
            Err(fault) => assert!(fault.code().retryable(), "{fault}"),
        }
    };
    all.extend(mint_for(&after, Duration::from_millis(100)));
    drop(after);
    fs::remove_dir_all(dir).unwrap();
    assert_eq!(all.len() - all.iter().collect::<HashSet<_>>().len(), 0, "repeats");
    assert_eq!(code, Some(Code::StateConflict), "while the child lives");
}
