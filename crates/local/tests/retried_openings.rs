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
    assert_eq!(open().err(), Some((Code::ClockBackward, 1001)));
    sleep(Duration::from_secs(2));
    assert_eq!(open().err(), None);
    std::fs::remove_dir_all(dir).unwrap();
}
