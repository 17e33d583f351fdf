//! The fast path to one ID.

use std::sync::Arc as StdArc;

use frazil::mint::Window;
use frazil::{Generator, Node};
use loom::sync::atomic::{AtomicU64, Ordering};

use crate::call::{Answer, Call, Mints, at, ids, issued};
use crate::clock::At;
use crate::copied::Copied;
use crate::defect::Defect;
use crate::file::Action::{Begin, Close, Mint};
use crate::file::{FILE, FileModel};
use crate::model::{CLOCKS, Model, PLAIN};
use crate::state::State;
use crate::{REPEATED, panic_of};

/// One generator for all threads, by [`Generator::next`].
#[derive(Clone)]
struct ByNext(StdArc<Generator>);

impl ByNext {
    pub(crate) fn kept(model: &Model, state: StdArc<State>) -> Self {
        Self(StdArc::new(Generator::kept(&model.layout(), Node::Id(1), Some(model.max_lead_ms), state).unwrap()))
    }
}

impl Mints for ByNext {
    fn mint(&self, Call { now_ms, .. }: Call) -> Answer {
        self.0.next(&At(now_ms)).map_or_else(|error| Answer::Refused(error.code().name()), |id| Answer::Ids(vec![id]))
    }

    fn switches(&self) -> u64 {
        self.0.stats().switches
    }
}

/// A copy of the fast path of `Generator::next`, before the copy of the loop. Without clock ids.
#[derive(Clone)]
struct CopiedNext {
    copied: Copied,
    sequence_bits: u32,
    /// The first word of the range, and the origin by which it was decided.
    reach: StdArc<[AtomicU64; 2]>,
}

impl CopiedNext {
    pub(crate) fn on(model: &Model, state: StdArc<State>, kept: bool) -> Self {
        let reach = StdArc::new([AtomicU64::new(0), AtomicU64::new(u64::MAX)]);
        Self { copied: Copied::on(model, state, kept), sequence_bits: model.sequence_bits, reach }
    }

    fn short(&self, now_ms: u64) -> Option<u64> {
        let Copied { machine, state, kept, defect, .. } = &self.copied;
        let [from, origin] = &*self.reach;
        let word = state.word.load(Ordering::Acquire);
        let id = machine.fast_path().id(word, from.load(Ordering::Acquire), now_ms)?;
        let window = state.origin.load(Ordering::Relaxed);
        if origin.load(Ordering::Acquire) != window {
            return None;
        }
        if *defect == Some(Defect::ShortStored) {
            state.word.store(word + 1, Ordering::Release);
            return Some(id);
        }
        let read = if *defect == Some(Defect::ShortReadTwice) { state.word.load(Ordering::Acquire) } else { word };
        let swap = if *kept { Ordering::AcqRel } else { Ordering::Release };
        state.word.compare_exchange(read, read + 1, swap, Ordering::Relaxed).ok()?;
        (!kept || state.origin.load(Ordering::Relaxed) == window).then_some(id)
    }
}

impl Mints for CopiedNext {
    fn mint(&self, call: Call) -> Answer {
        if let Some(id) = self.short(call.now_ms) {
            return Answer::Ids(vec![id]);
        }
        let window = self.copied.state.origin.load(Ordering::Acquire);
        let answer = self.copied.mint(call);
        if let Some(id) = ids(std::slice::from_ref(&answer)).last() {
            // The node field of one bit lies between the tick and the sequence.
            let sequence = id & ((1 << self.sequence_bits) - 1);
            let word = ((id >> (self.sequence_bits + 1)) << self.sequence_bits | sequence) + 1;
            if let Some(first) = self.copied.machine.fast_path_from(word) {
                let [from, origin] = &*self.reach;
                origin.store(window, Ordering::Release);
                from.store(first, Ordering::Release);
            }
        }
        answer
    }

    fn switches(&self) -> u64 {
        0
    }
}

pub(crate) const SHORT: Model = Model { sequence_bits: 2, before: &[at(1)], threads: &[&[at(1), at(2)], &[at(1)]], ..PLAIN };
const SHORT_AND_LEAD: Model =
    Model { sequence_bits: 2, max_lead_ms: 1, before: &[at(1), at(1)], threads: &[&[at(1), at(2)], &[at(1)]], ..PLAIN };
const SHORT_WITH_CLOCKS: Model = Model { sequence_bits: 2, before: &[at(5)], threads: &[&[at(2)], &[at(5)]], ..CLOCKS };
const SHORT_STRAGGLER: FileModel =
    FileModel { rules: SHORT, before: &[Mint(at(1))], threads: &[&[Mint(at(1))], &[Close, Begin(8), Mint(at(2))]], ..FILE };
const SHORT_FILE: FileModel = FileModel { threads: &[&[Mint(at(1))], &[Mint(at(1))]], ..SHORT_STRAGGLER };
const SHORT_EXTENDS: FileModel = FileModel { until_ms: 0, ..SHORT_STRAGGLER };

// docs/internals/claims.md: 10, 13, 14, 15, 32
#[test]
fn the_fast_path_to_one_id_repeats_none() {
    for model in [SHORT, SHORT_AND_LEAD, SHORT_WITH_CLOCKS] {
        let runs = model.explore(|model| ByNext(StdArc::new(model.generator())));
        let most = runs.iter().map(|run| issued(run).len()).max();
        assert!(most >= Some(3), "{most:?}");
    }
    let copied = |model: &Model| CopiedNext::on(model, StdArc::new(State::new(model, Window::OPEN, None)), false);
    assert_eq!(SHORT.explore(copied), SHORT.explore(|model| ByNext(StdArc::new(model.generator()))));
    for model in [SHORT_FILE, SHORT_STRAGGLER, SHORT_EXTENDS] {
        let runs = model.explore(None, ByNext::kept);
        assert_eq!(runs, model.explore(None, |rules, state| CopiedNext::on(rules, state, true)), "{model:?}");
    }
}

#[test]
fn every_defect_of_the_fast_path_repeats_an_id() {
    for defect in [Defect::ShortStored, Defect::ShortReadTwice] {
        let copied =
            move |model: &Model| CopiedNext::on(model, StdArc::new(State::new(model, Window::OPEN, Some(defect))), false);
        let panic = panic_of(|| drop(SHORT.explore(copied)));
        assert!(panic.starts_with(REPEATED), "{defect:?}: {panic}");
        let panic = panic_of(|| drop(SHORT_FILE.explore(Some(defect), |rules, state| CopiedNext::on(rules, state, true))));
        assert!(panic.starts_with(REPEATED), "{defect:?}: {panic}");
    }
}
