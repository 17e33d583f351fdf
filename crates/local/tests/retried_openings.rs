//! Openings that may not wait for long enough, and are tried again.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::thread::sleep;
use std::time::Duration;

use frazil::{Code, Layout};
use frazil_local::{Local, LocalOptions};

#[test]
fn an_opening_of_a_new_file_that_is_tried_again_late_does_not_wait_again() {
    let dir = std::env::temp_dir().join(format!("frazil-retried-{}", std::process::id()));
    let open = || {
        let options = LocalOptions {
            dir: Some(dir.clone()),
            start_wait_ms: Some(0),
            accept_unproven_platform: true,
            ..LocalOptions::default()
        };
        Local::open(&Layout::named("default").unwrap(), options).map_err(|fault| (fault.code(), fault.error().retry_after_ms()))
    };
    // Where a directory cannot be locked, each start waits for as long as an unseen user takes to stop, and is late 250 ms after that.
    let (wait_ms, late_ms) = if cfg!(windows) { (3000, 100) } else { (1001, 1000) };
    assert_eq!(open().err(), Some((Code::ClockBackward, wait_ms)));
    sleep(Duration::from_millis(wait_ms + late_ms));
    assert_eq!(open().err(), None);
    std::fs::remove_dir_all(dir).unwrap();
}
