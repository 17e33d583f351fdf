//! A disk that hangs: calls and closing beside a flush that does not return.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

mod slept_time;

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use frazil::{Clock as _, Code, Layout, SystemClock};
use frazil_local::{Local, LocalOptions};
use nix::libc;
use slept_time::SleptTime;

/// One test at a time, because the disk hangs for all of them.
static ALONE: Mutex<()> = Mutex::new(());
/// Whether the disk hangs, and whether a flush waits for it.
static HANGS: AtomicBool = AtomicBool::new(false);
static FLUSHING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether the flushes of a thread go on while the disk hangs.
    static GOES_ON: Cell<bool> = const { Cell::new(false) };
}

/// Takes the place of the function of the C library in this program.
#[unsafe(no_mangle)]
extern "C" fn fdatasync(descriptor: libc::c_int) -> libc::c_int {
    if !GOES_ON.get() {
        while HANGS.load(Relaxed) {
            FLUSHING.store(true, Relaxed);
            sleep(Duration::from_millis(1));
        }
        FLUSHING.store(false, Relaxed);
    }
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

/// The disk hangs until this is dropped.
struct Hanging;

impl Hanging {
    fn begin() -> Self {
        HANGS.store(true, Relaxed);
        Self
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        HANGS.store(false, Relaxed);
    }
}

/// What takes longer than this hangs, on any machine.
const LIMIT: Duration = Duration::from_secs(300);

/// Makes a call. Returns its result and how long it slept. Fails if it hangs with the flush, and ends the hanging first.
fn timed<T: Send>(call: impl FnOnce() -> T + Send) -> (T, Duration) {
    let (sender, receiver) = channel();
    let timed = move || {
        let started = Instant::now();
        (call(), started.elapsed())
    };
    scope(|threads| {
        threads.spawn(move || sender.send(SleptTime::new().run(timed)));
        let result = receiver.recv_timeout(LIMIT);
        if result.is_err() {
            HANGS.store(false, Relaxed);
        }
        result.expect("the call hangs")
    })
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
    let hanging = Hanging::begin();
    scope(|threads| {
        let hanging = hanging;
        // The first ID raises the ceiling.
        let flushed = threads.spawn(|| ids.next(&SystemClock));
        until(|| FLUSHING.load(Relaxed));
        let health = ids.health(SystemClock.now_ms().unwrap());
        assert_eq!(health.refusal.map(|error| error.code()), Some(Code::LeaseExpired));
        let path = PathBuf::from(ids.file().path);
        fs::rename(&path, path.with_extension("moved")).unwrap();
        let waited = || {
            let (result, waited) = timed(|| ids.next(&SystemClock).map_err(|error| error.code()));
            assert_eq!(result, Err(Code::LeaseExpired));
            waited
        };
        // A second for the lock, until the ceiling's thread has found out; then three more, in which the file could be given up. The
        // last pause of a wait is 5 ms at most.
        let mut last = Duration::ZERO;
        while last < Duration::from_millis(1100) {
            last = waited();
            assert!(last >= Duration::from_secs(1) && last < Duration::from_millis(4020), "{last:?}");
        }
        let after = waited();
        assert!(after >= Duration::from_secs(3) && after < Duration::from_millis(3010), "{after:?}");
        drop(hanging);
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
    let hanging = Hanging::begin();
    // The ceiling's thread raises it before a call needs it. A call that comes before that thread does not hang.
    GOES_ON.set(true);
    until(|| {
        let result = ids.next(&SystemClock).map_err(|error| error.code());
        assert!(matches!(result, Ok(_) | Err(Code::LeaseExpired)), "{result:?}");
        FLUSHING.load(Relaxed)
    });
    GOES_ON.set(false);
    // Two seconds for the thread, and at most 20 ms until it has released the file.
    let ((), waited) = timed(move || drop(ids));
    assert!(waited >= Duration::from_secs(2) && waited < Duration::from_millis(2040), "{waited:?}");
    drop(hanging);
    // The thread has ended with the flush, and the file is free.
    until(|| !FLUSHING.load(Relaxed));
    directory.open().next(&SystemClock).unwrap();
}
