//! Openings while another process holds the locks for attaching and raising and does not go on: none waits longer than it may.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

mod file_locks;
mod slept_time;

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::scope;
use std::time::{Duration, Instant};

use file_locks::{ATTACH, RAISE, lock_on};
use frazil::{Code, Layout};
use frazil_local::{Fault, Local, LocalOptions};
use nix::fcntl::{FcntlArg, fcntl};
use slept_time::SleptTime;

/// The longest pause between two attempts to take a lock.
const PAUSE_MS: u64 = 5;
/// What takes longer than this hangs, on any machine.
const LIMIT: Duration = Duration::from_secs(300);

/// A directory with a state file that nobody uses. It is removed at the end.
struct TestDirectory {
    directory: PathBuf,
    file: PathBuf,
}

impl TestDirectory {
    fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("frazil-held-{name}-{}", std::process::id()));
        let mut this = Self { directory, file: PathBuf::new() };
        this.file = PathBuf::from(this.open(3500).unwrap().file().path);
        this
    }

    fn open(&self, start_wait_ms: u64) -> Result<Local, Fault> {
        let options = LocalOptions {
            dir: Some(self.directory.clone()),
            start_wait_ms: Some(start_wait_ms),
            accept_unproven_platform: true,
            ..LocalOptions::default()
        };
        Local::open(&Layout::named("edge").unwrap(), options)
    }

    /// The code of the refusal, and for how many milliseconds the opening slept before it.
    fn refused(&self, start_wait_ms: u64, time: &Arc<SleptTime>) -> (Code, u64) {
        time.run(|| {
            let started = Instant::now();
            let code = self.open(start_wait_ms).unwrap_err().code();
            (code, u64::try_from(started.elapsed().as_millis()).unwrap())
        })
    }

    /// Takes a lock as another process does, by an open file of its own. It is released when the file is dropped.
    fn hold(&self, byte: i64) -> File {
        let file = File::options().read(true).write(true).open(&self.file).unwrap();
        fcntl(&file, FcntlArg::F_OFD_SETLK(&lock_on(byte, 1))).unwrap();
        file
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.directory));
    }
}

fn assert_waited((code, waited_ms): (Code, u64), expected: Code, wait_ms: u64) {
    assert_eq!(code, expected, "{wait_ms} ms");
    assert!((wait_ms..=wait_ms + PAUSE_MS).contains(&waited_ms), "{waited_ms} ms and not {wait_ms} ms");
}

#[test]
fn an_opening_waits_for_a_lock_as_long_as_it_may_and_five_seconds_at_most() {
    let directory = TestDirectory::new("lock");
    for byte in [ATTACH, RAISE] {
        let held = directory.hold(byte);
        for (may_wait_ms, code, wait_ms) in [
            (0, Code::ClockBackward, 0),
            (300, Code::ClockBackward, 300),
            (1000, Code::StateFileFailed, 1000),
            (60_000, Code::StateFileFailed, 5000),
        ] {
            assert_waited(directory.refused(may_wait_ms, &SleptTime::new()), code, wait_ms);
        }
        drop(held);
    }
    directory.open(0).unwrap();
}

#[test]
fn what_an_opening_has_waited_for_one_lock_is_not_waited_for_the_other() {
    let directory = TestDirectory::new("both");
    let [attach, raise] = [ATTACH, RAISE].map(|byte| directory.hold(byte));
    let time = SleptTime::new();
    time.hold_at(Duration::from_millis(1500));
    let refused = scope(|scope| {
        let opening = scope.spawn(|| directory.refused(2000, &time));
        time.reached();
        drop(attach);
        time.hold_at(Duration::MAX);
        opening.join().unwrap()
    });
    assert_waited(refused, Code::StateFileFailed, 2000);
    drop(raise);
}

#[test]
fn an_opening_does_not_wait_for_another_thread_for_longer_than_it_may() {
    let directory = TestDirectory::new("thread");
    let held = directory.hold(ATTACH);
    let time = SleptTime::new();
    time.hold_at(Duration::from_millis(500));
    let (sender, receiver) = channel();
    let (patient, beside) = scope(|scope| {
        let patient = scope.spawn(|| directory.refused(3000, &time));
        time.reached();
        let directory = &directory;
        scope.spawn(move || sender.send(directory.refused(0, &SleptTime::new())));
        let beside = receiver.recv_timeout(LIMIT);
        time.hold_at(Duration::MAX);
        (patient.join().unwrap(), beside)
    });
    assert_waited(beside.expect("the opening hangs"), Code::ClockBackward, 0);
    assert_waited(patient, Code::StateFileFailed, 3000);
    drop(held);
}
