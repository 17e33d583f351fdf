//! A state that its keeper gives up.

use std::collections::BTreeSet;
use std::sync::Arc as StdArc;

use frazil::mint::{Keeper, SequenceStart, StateAtomics};
use frazil::{Generator, Node};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::clock::At;
use crate::fast_path::SHORT;
use crate::{REPEATED, explore, panic_of};

/// A state whose keeper gives it up while calls are under way, as one whose file was deleted.
#[derive(Debug)]
struct GivenUp {
    word: AtomicU64,
    origin: AtomicU64,
    until_ms: AtomicU64,
    key: [AtomicU64; 2],
}

impl Keeper for GivenUp {
    fn atomics(&self) -> StateAtomics<'_> {
        let Self { word, origin, until_ms, key } = self;
        StateAtomics { word, origin, until_ms, key, start: SequenceStart::Zero, clocks: &[] }
    }

    fn extend(&self, _: u64, _: u64) -> frazil::Result<u64> {
        Err(frazil::Error::with_subject(frazil::Code::StateFileCorrupt, frazil::error::Subject::Dir))
    }

    fn is_given_up(&self) -> bool {
        self.until_ms.load(Ordering::Relaxed) == 0
    }
}

/// Mints with two threads on a state that nobody has used, and gives it up meanwhile: its window is empty, and its word is `left`.
fn given_up_with(left: u64) {
    explore(move || {
        let until_ms = AtomicU64::new(8);
        let zero = || AtomicU64::new(0);
        let state = StdArc::new(GivenUp { word: zero(), origin: zero(), until_ms, key: [zero(), zero()] });
        let ids = StdArc::new(Generator::kept(&SHORT.layout(), Node::Id(1), Some(0), state.clone()).unwrap());
        let next = |ids: &Generator| ids.next(&At(1)).ok();
        let other = {
            let ids = StdArc::clone(&ids);
            thread::spawn(move || next(&ids))
        };
        let mut issued: Vec<u64> = (0..2).filter_map(|_| next(&ids)).collect();
        state.until_ms.store(0, Ordering::SeqCst);
        state.word.store(left, Ordering::SeqCst);
        issued.extend(next(&ids));
        issued.extend(other.join().unwrap());
        let all: BTreeSet<u64> = issued.iter().copied().collect();
        assert!(all.len() == issued.len(), "{REPEATED} {issued:?}");
        if left == u64::MAX {
            assert_eq!(ids.next(&At(1)).unwrap_err().code(), frazil::Code::StateFileCorrupt);
        }
    });
}

// docs/internals/claims.md: 32
#[test]
fn a_state_that_is_given_up_repeats_no_id() {
    given_up_with(u64::MAX);
}

/// A call that has read 0 swaps the word of such a state, and others go on from there by the fast path.
#[test]
fn a_state_that_is_given_up_with_the_word_0_repeats_an_id() {
    let panic = panic_of(|| given_up_with(0));
    assert!(panic.starts_with(REPEATED), "{panic}");
}
