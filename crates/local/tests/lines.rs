//! The memory of a state file that a line has after the file was closed (`Keeper::memory`).
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::any::Any;
use std::fs;
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use frazil::{Layout, SystemClock};
use frazil_local::{Local, LocalOptions};
use nix::libc;

/// What TypeScript has of a state: the addresses of its numbers, and what keeps them.
struct Line {
    word: *const AtomicU64,
    until_ms: *const AtomicU64,
    _memory: Arc<dyn Any + Send + Sync>,
}

impl Line {
    fn of(ids: &Local) -> Self {
        let keeper = ids.keeper().unwrap();
        let atomics = keeper.atomics();
        Self { word: atomics.word, until_ms: atomics.until_ms, _memory: keeper.memory().unwrap() }
    }

    fn numbers(&self) -> (&AtomicU64, &AtomicU64) {
        // SAFETY: the memory exists as long as this does.
        unsafe { (&*self.word, &*self.until_ms) }
    }
}

/// A directory that is removed at the end.
struct TestDirectory(PathBuf);

impl Drop for TestDirectory {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn open(directory: &TestDirectory) -> Local {
    let dir = Some(directory.0.clone());
    Local::open(&Layout::named("default").unwrap(), LocalOptions { dir, ..LocalOptions::default() }).unwrap()
}

/// Sets how much memory this process may have, and returns what was set before.
fn limit_memory(bytes: u64) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the calls write and read the two numbers.
    let answers = unsafe {
        let got = libc::getrlimit(libc::RLIMIT_AS, &raw mut limit);
        [got, libc::setrlimit(libc::RLIMIT_AS, &libc::rlimit { rlim_cur: bytes, ..limit })]
    };
    assert_eq!(answers, [0, 0]);
    limit.rlim_cur
}

/// Whether the kernel gives this process as much memory as a state has.
fn gets_memory() -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping where the kernel chooses, which is left there.
    let made = unsafe { libc::mmap(null_mut(), 65536, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    made != libc::MAP_FAILED
}

/// Waits until each other thread of this process sleeps. One that has just been started needs memory, and ends the process without it.
fn let_threads_start() {
    let own = fs::read_link("/proc/thread-self").unwrap().file_name().unwrap().to_os_string().into_string().unwrap();
    let sleeps = |id: &str| {
        // A thread that has ended since has no such file.
        let stat = fs::read_to_string(format!("/proc/self/task/{id}/stat")).unwrap_or_else(|_| ") S".to_owned());
        stat.rsplit_once(") ").unwrap().1.starts_with('S')
    };
    let ids = || fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().file_name().into_string().unwrap());
    while !ids().all(|id| id == own || sleeps(&id)) {
        std::thread::yield_now();
    }
}

/// Has this process no memory left, and returns its limit before.
fn use_up_memory() -> u64 {
    let_threads_start();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    let limit = limit_memory(1024 * size.trim().trim_end_matches(" kB").parse::<u64>().unwrap());
    while gets_memory() {}
    limit
}

// One test: the limit is that of the whole process.
// docs/internals/claims.md: 13, 34
#[test]
fn a_file_is_free_once_it_is_closed_and_a_line_that_still_has_its_memory_wins_no_swap_with_and_without_memory() {
    let directory = TestDirectory(std::env::temp_dir().join(format!("frazil-lines-{}", std::process::id())));
    fs::create_dir(&directory.0).unwrap();
    let is_mapped = || fs::read_to_string("/proc/self/maps").unwrap().contains(directory.0.to_str().unwrap());
    for is_short_of_memory in [false, true] {
        let ids = open(&directory);
        let line = Line::of(&ids);
        let first = ids.next(&SystemClock).unwrap();
        let (word, until_ms) = line.numbers();
        let before = word.load(Ordering::SeqCst);
        assert!(is_mapped() && before != u64::MAX);
        if is_short_of_memory {
            let limit = use_up_memory();
            drop(ids);
            limit_memory(limit);
        } else {
            drop(ids);
        }
        assert!(!is_mapped(), "the file must be free although the memory is kept, short of memory: {is_short_of_memory}");
        assert_eq!(word.compare_exchange(before, before + 1, Ordering::SeqCst, Ordering::SeqCst), Err(u64::MAX));
        assert_eq!(until_ms.load(Ordering::SeqCst), 0);
        // The file is used again, and the memory is no part of it.
        let again = open(&directory);
        let another = Line::of(&again);
        assert!(first < again.next(&SystemClock).unwrap());
        assert_eq!(word.load(Ordering::SeqCst), u64::MAX);
        assert_ne!(line.word, another.word);
    }
}
