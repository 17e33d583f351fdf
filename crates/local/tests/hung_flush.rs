//! A disk that hangs: calls and closing beside a flush that does not return.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread::{scope, sleep, spawn};
use std::time::{Duration, Instant};

use frazil::{Code, Layout, SystemClock};
use frazil_local::{Local, LocalOptions};
use nix::libc;

/// One test at a time, because the disk hangs for all of them.
static ALONE: Mutex<()> = Mutex::new(());
/// Whether the disk hangs, and whether a flush waits for it.
static HANGS: AtomicBool = AtomicBool::new(false);
static FLUSHING: AtomicBool = AtomicBool::new(false);

/// Takes the place of the function of the C library in this program.
#[unsafe(no_mangle)]
extern "C" fn fdatasync(descriptor: libc::c_int) -> libc::c_int {
    while HANGS.load(Relaxed) {
        FLUSHING.store(true, Relaxed);
        sleep(Duration::from_millis(1));
    }
    FLUSHING.store(false, Relaxed);
    // SAFETY: the call takes a number, and refuses one that is no open file.
    let status = unsafe { libc::syscall(libc::SYS_fdatasync, descriptor) };
    libc::c_int::try_from(status).unwrap()
}

/// A directory that is removed at the end.
struct TestDirectory(PathBuf);

impl TestDirectory {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("frazil-hung-{name}-{}", std::process::id())))
    }

    fn open(&self) -> Local {
        let options = LocalOptions { dir: Some(self.0.clone()), accept_unproven_platform: true, ..LocalOptions::default() };
        Local::open(&Layout::named("default").unwrap(), options).unwrap()
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Makes a call. Returns its result and how long it took; fails if that is longer than 20 seconds, and ends the hanging first.
fn timed<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> (T, Duration) {
    let (sender, receiver) = channel();
    let started = Instant::now();
    spawn(move || sender.send(call()));
    let result = receiver.recv_timeout(Duration::from_secs(20));
    let took = started.elapsed();
    if result.is_err() {
        HANGS.store(false, Relaxed);
    }
    (result.expect("the call hangs"), took)
}

fn until(condition: impl Fn() -> bool) {
    while !condition() {
        sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_call_beside_a_flush_that_hangs_ends_after_the_path_is_lost_too() {
    let _alone = ALONE.lock();
    let directory = TestDirectory::new("call");
    let ids = directory.open();
    let (flushing, waiting, other) = (ids.clone(), ids.clone(), ids.clone());
    HANGS.store(true, Relaxed);
    scope(|threads| {
        // The first ID raises the ceiling.
        let flushed = threads.spawn(move || flushing.next(&SystemClock));
        until(|| FLUSHING.load(Relaxed));
        let path = PathBuf::from(ids.file().path);
        fs::rename(&path, path.with_extension("moved")).unwrap();
        // Longer than the ceiling's thread takes to find out.
        let (before, took) = timed(move || waiting.next(&SystemClock).map_err(|error| error.code()));
        assert_eq!(before, Err(Code::LeaseExpired));
        assert!(took < Duration::from_millis(4500), "{took:?}");
        let (after, took) = timed(move || other.next(&SystemClock).map_err(|error| error.code()));
        assert_eq!(after, Err(Code::LeaseExpired));
        assert!(took < Duration::from_millis(3500), "{took:?}");
        HANGS.store(false, Relaxed);
        // The loss of the path may be noticed before this call has minted.
        let flushed = flushed.join().unwrap().map_err(|error| error.code());
        assert!(matches!(flushed, Ok(_) | Err(Code::StateFileCorrupt)), "{flushed:?}");
    });
    until(|| ids.next(&SystemClock).map_err(|error| error.code()) == Err(Code::StateFileCorrupt));
}

#[test]
fn closing_beside_a_flush_that_hangs_ends() {
    let _alone = ALONE.lock();
    let directory = TestDirectory::new("close");
    let ids = directory.open();
    let raises = || ids.file().raises;
    until(|| ids.next(&SystemClock).is_ok() && raises() > 0);
    HANGS.store(true, Relaxed);
    // The ceiling's thread raises it before a call needs it.
    until(|| ids.next(&SystemClock).is_ok() && FLUSHING.load(Relaxed));
    let ((), took) = timed(move || drop(ids));
    assert!(took < Duration::from_millis(2500), "{took:?}");
    HANGS.store(false, Relaxed);
    // The thread has ended with the flush, and the file is free.
    until(|| !FLUSHING.load(Relaxed));
    directory.open().next(&SystemClock).unwrap();
}
