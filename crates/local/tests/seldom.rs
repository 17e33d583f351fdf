//! A program that mints every few seconds: only its first calls may wait for a flush.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use frazil::{Layout, SystemClock};
use frazil_local::{Local, LocalOptions};

/// Longer than the thread that raises the ceiling stays at first, with what is left of the window then.
const PAUSE: Duration = Duration::from_secs(7);

#[test]
fn a_call_every_few_seconds_finds_the_ceiling_raised() {
    let dir = std::env::temp_dir().join(format!("frazil-seldom-{}", std::process::id()));
    let options = LocalOptions { dir: Some(dir.clone()), accept_unproven_platform: true, ..LocalOptions::default() };
    let ids = Local::open(&Layout::named("edge").unwrap(), options).unwrap();
    let call = || {
        ids.next(&SystemClock).unwrap();
        ids.stats().extensions
    };
    let mut extensions = vec![call()];
    for _ in 0..3 {
        sleep(PAUSE);
        extensions.push(call());
    }
    drop(ids);
    fs::remove_dir_all(dir).unwrap();
    assert!(extensions[1] > extensions[0], "the second call wakes the thread: {extensions:?}");
    // One of the two may wait where the machine stands still for two seconds. Of a thread that rests after three, both do.
    assert!(extensions[3] - extensions[1] < 2, "{extensions:?}");
}
