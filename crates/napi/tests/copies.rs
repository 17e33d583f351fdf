//! Threads of one copy of the addon that claim the process while another copy does. The module is compiled on its own: the rest
//! of the addon links with Node only.

#![allow(clippy::expect_used, reason = "a test whose set-up fails has failed")]
#![allow(dead_code, reason = "the addon uses what the test does not")]
#![cfg(target_os = "linux")]

#[path = "../src/copies.rs"]
mod copies;

use std::sync::Mutex;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// A copy of the addon.
#[derive(Default)]
struct Copy {
    mark: AtomicU8,
    in_use: Mutex<bool>,
}

impl Copy {
    /// Asks whether a thread may use this copy. `other` looks for another copy in use.
    fn claim(&self, other: impl FnOnce() -> Option<String>) -> Result<(), String> {
        copies::claim(&self.mark, &self.in_use, other)
    }

    fn mark(&self) -> u8 {
        self.mark.load(SeqCst)
    }
}

const OTHER: &str = "the path of the other copy";

/// Sees the other copy in use.
#[expect(clippy::unnecessary_wraps, reason = "the look at another copy, which may see none")]
fn other() -> Option<String> {
    Some(OTHER.to_owned())
}

fn refused() -> Result<(), String> {
    Err(OTHER.to_owned())
}

/// One thread finds the other copy in use. While it looks, the other copy withdraws its mark, and a second thread of this copy
/// asks.
#[test]
fn a_thread_that_is_refused_leaves_the_mark_of_a_thread_that_was_let_in() {
    let copy = &Copy::default();
    thread::scope(|scope| {
        let mut second = None;
        let first = copy.claim(|| {
            let (ended, ends) = channel();
            second = Some(scope.spawn(move || {
                let result = copy.claim(|| None);
                // Nobody waits for it any more if the first thread came first.
                let _: Result<(), _> = ended.send(());
                result
            }));
            // Both orders are right, so a timeout is no failure: without a lock the second thread ends at once, and with a lock
            // not before the first one.
            let _: Result<(), _> = ends.recv_timeout(Duration::from_millis(500));
            other()
        });
        assert_eq!(first, refused());
        let second = second.expect("the first thread looked").join().expect("it does not panic");
        assert_eq!(second, Ok(()));
    });
    assert_eq!(copy.mark(), 1, "the second thread uses this copy");
}

#[test]
fn a_refused_copy_can_be_used_once_the_other_is_not() {
    let copy = Copy::default();
    assert_eq!(copy.claim(other), refused());
    assert_eq!(copy.mark(), 0, "the other copy is not refused because of this one");
    assert_eq!(copy.claim(|| None), Ok(()));
    assert_eq!(copy.mark(), 1);
}

#[test]
fn a_copy_marks_itself_before_it_looks() {
    let copy = Copy::default();
    assert_eq!(copy.claim(|| (copy.mark() == 0).then(String::new)), Ok(()));
}

#[test]
fn a_copy_in_use_stays_in_use() {
    let copy = Copy::default();
    assert_eq!(copy.claim(|| None), Ok(()));
    // The mark of a copy that looks now, and that is refused because of this one.
    assert_eq!(copy.claim(other), Ok(()));
    assert_eq!(copy.mark(), 1);
}
