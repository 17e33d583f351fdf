//! Threads of one copy of the addon that mark themselves in use while another copy does. The module is compiled on its own: the rest
//! of the addon links with Node only.

#![allow(clippy::expect_used, reason = "a test whose set-up fails has failed")]
#![allow(dead_code, reason = "the addon uses what the test does not")]

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
    /// Asks whether a thread may use this copy. `look` fails if it sees another copy in use.
    fn let_in(&self, look: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
        copies::let_in(&self.mark, &self.in_use, look)
    }

    fn mark(&self) -> u8 {
        self.mark.load(SeqCst)
    }
}

const OTHER: &str = "the path of the other copy";

/// Sees the other copy in use.
fn other() -> Result<(), String> {
    Err(OTHER.to_owned())
}

/// The real look at the modules of this process, in which the test is the only copy.
#[test]
fn a_copy_that_is_alone_finds_itself_and_no_other() {
    assert_eq!(copies::mark_in_use(), Ok(()));
    assert_eq!(copies::mark_in_use(), Ok(()), "a copy in use stays in use");
}

/// One thread finds the other copy in use. While it looks, the other copy withdraws its mark, and a second thread of this copy
/// asks.
#[test]
fn a_thread_that_is_refused_leaves_the_mark_of_a_thread_that_was_let_in() {
    let copy = &Copy::default();
    thread::scope(|scope| {
        let mut second = None;
        let first = copy.let_in(|| {
            let (ended, ends) = channel();
            second = Some(scope.spawn(move || {
                let result = copy.let_in(|| Ok(()));
                // Nobody waits for it any more if the first thread came first.
                let _: Result<(), _> = ended.send(());
                result
            }));
            // Both orders are right, so a timeout is no failure: without a lock the second thread ends at once, and with a lock
            // not before the first one.
            let _: Result<(), _> = ends.recv_timeout(Duration::from_millis(500));
            other()
        });
        assert_eq!(first, other());
        let second = second.expect("the first thread looked").join().expect("it does not panic");
        assert_eq!(second, Ok(()));
    });
    assert_eq!(copy.mark(), 1, "the second thread uses this copy");
}

#[test]
fn a_refused_copy_can_be_used_once_the_other_is_not() {
    let copy = Copy::default();
    assert_eq!(copy.let_in(other), other());
    assert_eq!(copy.mark(), 0, "the other copy is not refused because of this one");
    assert_eq!(copy.let_in(|| Ok(())), Ok(()));
    assert_eq!(copy.mark(), 1);
}

#[test]
fn a_copy_marks_itself_before_it_looks() {
    let copy = Copy::default();
    assert_eq!(copy.let_in(|| if copy.mark() == 1 { Ok(()) } else { other() }), Ok(()));
}

#[test]
fn a_copy_in_use_stays_in_use() {
    let copy = Copy::default();
    assert_eq!(copy.let_in(|| Ok(())), Ok(()));
    // The mark of a copy that looks now, and that is refused because of this one.
    assert_eq!(copy.let_in(other), Ok(()));
    assert_eq!(copy.mark(), 1);
}
