//! Threads that wait to raise the ceiling, while another process holds the lock for it and does not go on.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use frazil::{Code, Layout, SystemClock};
use frazil_local::{Local, LocalOptions};
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

const THREADS: usize = 8;
/// The byte of the lock under which the ceiling is raised.
const RAISE: i64 = (1 << 40) + 1;

/// A directory that is removed at the end.
struct TestDirectory(PathBuf);

impl TestDirectory {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("frazil-raising-{name}-{}", std::process::id())))
    }

    /// 256 IDs a millisecond.
    fn open(&self) -> Local {
        let options = LocalOptions { dir: Some(self.0.clone()), accept_unproven_platform: true, ..LocalOptions::default() };
        Local::open(&Layout::named("edge").unwrap(), options).unwrap()
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Takes the lock as another process does, by an open file of its own. It is released when the file is dropped.
fn hold(path: impl AsRef<Path>) -> File {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let whence = i16::try_from(libc::SEEK_SET).unwrap();
    let kind = i16::try_from(libc::F_WRLCK).unwrap();
    let lock = libc::flock { l_type: kind, l_whence: whence, l_start: RAISE, l_len: 1, l_pid: 0 };
    while fcntl(&file, FcntlArg::F_OFD_SETLK(&lock)).is_err() {
        sleep(Duration::from_millis(1));
    }
    file
}

fn repeats(ids: &[u64]) -> usize {
    ids.len() - ids.iter().collect::<HashSet<_>>().len()
}

/// What threads got that mint at the same time.
#[derive(Default)]
struct Minting {
    over: AtomicBool,
    /// Whether a call was refused because the file is lost.
    lost: AtomicBool,
    ids: Mutex<Vec<u64>>,
    /// How long each call took that was refused because the lock is held.
    waits: Mutex<Vec<Duration>>,
}

impl Minting {
    fn run(&self, ids: &Local) {
        let mut block = [0; 64];
        while !self.over.load(Relaxed) {
            let started = Instant::now();
            match ids.fill(&SystemClock, &mut block).map_err(|error| error.code()) {
                Ok(count) => self.ids.lock().unwrap().extend_from_slice(&block[..count]),
                Err(code) => {
                    if code == Code::LeaseExpired {
                        self.waits.lock().unwrap().push(started.elapsed());
                    }
                    self.lost.fetch_or(code == Code::StateFileCorrupt, Relaxed);
                    sleep(Duration::from_millis(1));
                }
            }
        }
    }

    fn longest_wait(&self) -> Option<Duration> {
        self.waits.lock().unwrap().iter().max().copied()
    }
}

fn until(condition: impl Fn() -> bool) {
    while !condition() {
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_call_waits_no_longer_beside_other_threads_than_alone() {
    let longest_wait = |threads: usize| {
        let directory = TestDirectory::new(&format!("threads-{threads}"));
        let (ids, minting) = (directory.open(), Minting::default());
        ids.next(&SystemClock).unwrap();
        let held = hold(ids.file().path);
        scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| minting.run(&ids));
            }
            until(|| minting.waits.lock().unwrap().len() >= 3 * threads);
            minting.over.store(true, Relaxed);
        });
        drop(held);
        minting.longest_wait().unwrap()
    };
    let (alone, beside) = scope(|scope| {
        let alone = scope.spawn(|| longest_wait(1));
        let beside = scope.spawn(|| longest_wait(THREADS));
        (alone.join().unwrap(), beside.join().unwrap())
    });
    assert!(beside < 2 * alone, "{beside:?} beside {THREADS} threads, {alone:?} alone");
}

// docs/safety.md: 18
#[test]
fn a_call_that_waited_while_the_file_was_given_up_mints_nothing_from_the_copy() {
    let directory = TestDirectory::new("copy");
    let (ids, first, second) = (directory.open(), Minting::default(), Minting::default());
    ids.next(&SystemClock).unwrap();
    let path = PathBuf::from(ids.file().path);
    scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| first.run(&ids));
        }
        let held = hold(&path);
        until(|| !first.waits.lock().unwrap().is_empty());
        fs::rename(&path, directory.0.join("old")).unwrap();
        until(|| first.lost.load(Relaxed));
        fs::rename(directory.0.join("old"), &path).unwrap();
        drop(held);
        let again = directory.open();
        scope.spawn(|| {
            sleep(Duration::from_secs(2));
            second.over.store(true, Relaxed);
            first.over.store(true, Relaxed);
        });
        second.run(&again);
    });
    let (mut all, more) = (first.ids.into_inner().unwrap(), second.ids.into_inner().unwrap());
    assert!(!more.is_empty());
    all.extend(more);
    assert_eq!(repeats(&all), 0);
}
