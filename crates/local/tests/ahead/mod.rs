//! A state file of its own, and a process that mints as far ahead of the clock as it may: for tests of lost paths.

use std::fs;
use std::path::PathBuf;

use frazil::{Code, Layout, SystemClock};
use frazil_local::{Local, LocalOptions};

/// A directory that is removed at the end.
pub(crate) struct TestDirectory(pub(crate) PathBuf);

impl TestDirectory {
    /// `name` is that of the test.
    pub(crate) fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("frazil-ahead-{name}-{}", std::process::id())))
    }

    /// 256 IDs a millisecond.
    pub(crate) fn open(&self) -> (Local, PathBuf) {
        self.open_with(&Layout::named("edge").unwrap())
    }

    pub(crate) fn open_with(&self, layout: &Layout) -> (Local, PathBuf) {
        let options = LocalOptions { dir: Some(self.0.clone()), accept_unproven_platform: true, ..LocalOptions::default() };
        let ids = Local::open(layout, options).unwrap();
        let path = ids.file().path.into();
        (ids, path)
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Mints as far ahead of the clock as it may. Returns the code that ended it, and the end of the last tick.
pub(crate) fn run_ahead(ids: &Local) -> (Code, u64) {
    let layout = Layout::named("edge").unwrap();
    let (mut block, mut end_ms) = ([0; 64], 0);
    loop {
        match ids.fill(&SystemClock, &mut block) {
            Ok(count) => end_ms = layout.decode(block[count - 1]).unwrap().timestamp_ms + 1,
            Err(error) => return (error.code(), end_ms),
        }
    }
}
