//! Threads that wait to raise the ceiling, while another process holds the lock for it and does not go on.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

mod file_locks;
mod slept_time;

use std::cell::Cell;
use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use file_locks::{RAISE, lock_on};
use frazil::{Code, Layout, SystemClock};
use frazil_local::{Local, LocalOptions};
use nix::fcntl::{self, FcntlArg};
use nix::libc;
use slept_time::SleptTime;

const THREADS: usize = 8;

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
    while fcntl::fcntl(&file, FcntlArg::F_OFD_SETLK(&lock_on(RAISE, 1))).is_err() {
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
}

/// What takes longer than this hangs, on any machine.
const LIMIT: Duration = Duration::from_secs(300);

fn until(condition: impl Fn() -> bool) {
    while !condition() {
        sleep(Duration::from_millis(5));
    }
}

/// How long a call waits for the lock: a second, and the last pause of each of its two waits.
fn assert_a_second(waited: Duration) {
    assert!(waited >= Duration::from_secs(1) && waited < Duration::from_millis(1020), "{waited:?}");
}

#[test]
fn a_call_waits_no_longer_beside_other_threads_than_alone() {
    let directory = TestDirectory::new("threads");
    let (ids, minting) = (directory.open(), Minting::default());
    ids.next(&SystemClock).unwrap();
    let held = hold(ids.file().path);
    scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| SleptTime::new().run(|| minting.run(&ids)));
        }
        until(|| minting.waits.lock().unwrap().len() >= 3 * THREADS);
        minting.over.store(true, Relaxed);
    });
    drop(held);
    minting.waits.into_inner().unwrap().into_iter().for_each(assert_a_second);
}

/// A thread that stops when it tries to take the lock of raising, and how often it has tried.
#[derive(Debug, Default)]
struct Tries {
    stops: AtomicBool,
    count: AtomicU32,
}

thread_local! {
    static TRIES: Cell<Option<&'static Tries>> = const { Cell::new(None) };
}

/// Takes the place of the function of the C library in this program.
#[unsafe(no_mangle)]
extern "C" fn fcntl(descriptor: libc::c_int, command: libc::c_int, argument: *const libc::flock) -> libc::c_int {
    // SAFETY: for that command, the argument is a lock.
    let tries = TRIES.get().filter(|_| command == libc::F_OFD_SETLK && unsafe { (*argument).l_start } == RAISE);
    if let Some(tries) = tries {
        tries.count.fetch_add(1, Relaxed);
        // On the real clock.
        while tries.stops.load(Relaxed) {
            std::thread::park();
        }
    }
    // SAFETY: the arguments are those of the caller.
    let status = unsafe { libc::syscall(libc::SYS_fcntl, descriptor, command, argument) };
    libc::c_int::try_from(status).unwrap()
}

/// Mints until a call is refused because the lock is held. Returns how long that call took.
fn refused(ids: &Local, tries: &'static Tries) -> Duration {
    TRIES.set(Some(tries));
    let mut block = [0; 64];
    loop {
        let started = Instant::now();
        match ids.fill(&SystemClock, &mut block).map_err(|error| error.code()) {
            Ok(_) | Err(Code::SequenceExhausted) => {}
            Err(code) => {
                assert_eq!(code, Code::LeaseExpired);
                return started.elapsed();
            }
        }
    }
}

#[test]
fn a_call_that_waits_for_another_thread_does_not_wait_for_the_lock_from_the_start() {
    let directory = TestDirectory::new("thread");
    let ids = directory.open();
    ids.next(&SystemClock).unwrap();
    let held = hold(ids.file().path);
    loop {
        let new = || -> &'static Tries { Box::leak(Box::default()) };
        let (first, second, third) = (new(), new(), new());
        first.stops.store(true, Relaxed);
        let (ids, half) = (&ids, SleptTime::new());
        half.hold_at(Duration::from_millis(500));
        scope(|scope| {
            // It holds the mutex, and does not go on. Before that, the ceiling's thread may hold the mutex for all of a call's time.
            let stopped = scope.spawn(|| {
                SleptTime::new().run(|| {
                    loop {
                        let waited = refused(ids, first);
                        if first.count.load(Relaxed) > 0 {
                            break waited;
                        }
                    }
                })
            });
            until(|| first.count.load(Relaxed) > 0);
            // It does not get the mutex.
            let (sender, receiver) = channel();
            scope.spawn(move || sender.send(SleptTime::new().run(|| refused(ids, second))));
            let beside = receiver.recv_timeout(LIMIT);
            // It gets the mutex when half of its time is over.
            let waiting = beside.is_ok().then(|| scope.spawn(|| half.run(|| refused(ids, third))));
            if waiting.is_some() {
                half.reached();
            }
            first.stops.store(false, Relaxed);
            stopped.thread().unpark();
            let stopped = stopped.join().unwrap();
            half.hold_at(Duration::MAX);
            let waited = [stopped, beside.expect("the call hangs"), waiting.unwrap().join().unwrap()];
            waited.into_iter().for_each(assert_a_second);
        });
        assert_eq!(second.count.load(Relaxed), 0);
        // Otherwise the ceiling's thread has held the mutex for the rest of the time.
        if third.count.load(Relaxed) > 0 {
            break;
        }
    }
    drop(held);
}

// docs/internals/claims.md: 18
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
            until(|| !second.ids.lock().unwrap().is_empty());
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
