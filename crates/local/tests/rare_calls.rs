//! A program that mints every few seconds: only its first calls may wait for a flush.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use frazil::{Clock, Layout, SystemClock};
use frazil_local::{Local, LocalOptions};

/// What takes longer than this hangs, on any machine.
const LIMIT: Duration = Duration::from_secs(300);
/// How often a thread raises the ceiling at most that rests three seconds after it was woken. It does so when less than 1.9 of 3 seconds
/// are left, so it does so 1.1 seconds apart at least, however late it comes.
const OF_THREE_SECONDS: u64 = 3;
/// More often than it does so in three seconds after a call that finds it awake: half a second may pass before it sees that call, and it
/// may be about to raise the ceiling then.
const OF_FIFTEEN_SECONDS: u64 = 5;

/// A program that rarely uses a state file.
struct Program {
    ids: Local,
    /// How often the ceiling was raised when the last call was over.
    raises: u64,
}

impl Program {
    /// Makes a call. Returns whether it had to raise the ceiling itself.
    fn call(&mut self) -> bool {
        let before = self.ids.stats().extensions;
        while let Err(error) = self.ids.next(&SystemClock) {
            assert!(error.code().retryable(), "{error}");
        }
        self.raises = self.ids.file().raises;
        self.ids.stats().extensions > before
    }

    /// Waits until the thread has raised the ceiling that often since the last call, or the ceiling is over. Returns how often it was.
    fn pause(&self, limit: u64) -> u64 {
        loop {
            let file = self.ids.file();
            let count = file.raises - self.raises;
            if count >= limit || file.ceiling_ms < SystemClock.now_ms().unwrap() {
                return count;
            }
            sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_call_every_few_seconds_finds_the_ceiling_raised() {
    let dir = std::env::temp_dir().join(format!("frazil-rare-calls-{}", std::process::id()));
    let options = LocalOptions { dir: Some(dir.clone()), accept_unproven_platform: true, ..LocalOptions::default() };
    let mut program = Program { ids: Local::open(&Layout::named("edge").unwrap(), options).unwrap(), raises: 0 };
    // The opening has raised the ceiling, and the first call that has to wakes the thread.
    while !program.call() {
        sleep(Duration::from_millis(10));
    }
    let count = program.pause(u64::MAX);
    assert!(count <= OF_THREE_SECONDS, "the thread does not rest after three seconds, and raises the ceiling {count} times");
    // The next call wakes it again soon, so it stays for fifteen seconds, and a call finds the ceiling raised: unless the machine stands
    // still for two seconds.
    let started = Instant::now();
    loop {
        program.call();
        if program.pause(OF_FIFTEEN_SECONDS) >= OF_FIFTEEN_SECONDS && !program.call() {
            break;
        }
        assert!(started.elapsed() < LIMIT, "each call raises the ceiling");
    }
    drop(program);
    fs::remove_dir_all(dir).unwrap();
}
