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
use crate::file::{ABOVE_CEILING, FILE, FileModel};
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

/// A copy of both fast paths of `Generator::next`, before the copy of the loop. Without clock ids.
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

    fn first_of_tick(&self, now_ms: u64) -> Option<u64> {
        let Copied { machine, state, kept, defect, .. } = &self.copied;
        let (load, swap) = if *kept { (Ordering::Acquire, Ordering::AcqRel) } else { (Ordering::Relaxed, Ordering::Relaxed) };
        let origin = state.origin.load(Ordering::Acquire);
        let word = state.word.load(load);
        let window = state.window();
        let (next, id) = machine.fast_path().first_id(word, window, now_ms)?;
        if *defect == Some(Defect::NewTickStored) {
            state.word.store(next, Ordering::Release);
        } else {
            state.word.compare_exchange(word, next, swap, Ordering::Relaxed).ok()?;
        }
        if *kept {
            let now = state.window();
            let is_anew = now.from_ms != window.from_ms && *defect != Some(Defect::NewTickStartNotRechecked);
            let is_shorter = now.until_ms < window.until_ms && *defect != Some(Defect::NewTickEndNotRechecked);
            if is_anew || is_shorter {
                return None;
            }
        }
        self.open(next, origin);
        Some(id)
    }

    fn open(&self, first: u64, window: u64) {
        let [from, origin] = &*self.reach;
        origin.store(window, Ordering::Release);
        from.store(first, Ordering::Release);
    }
}

impl Mints for CopiedNext {
    fn mint(&self, call: Call) -> Answer {
        if let Some(id) = self.short(call.now_ms).or_else(|| self.first_of_tick(call.now_ms)) {
            return Answer::Ids(vec![id]);
        }
        let window = self.copied.state.origin.load(Ordering::Acquire);
        let answer = self.copied.mint(call);
        if let Some(id) = ids(std::slice::from_ref(&answer)).last() {
            // The node field of one bit lies between the tick and the sequence.
            let sequence = id & ((1 << self.sequence_bits) - 1);
            let word = ((id >> (self.sequence_bits + 1)) << self.sequence_bits | sequence) + 1;
            if let Some(first) = self.copied.machine.fast_path_from(word) {
                self.open(first, window);
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
/// Two threads, of which both find a new tick.
const NEW_TICK: Model = Model { before: &[], threads: &[&[at(1), at(2)], &[at(1)]], ..SHORT };
const NEW_TICK_FILE: FileModel = FileModel { threads: &[&[Mint(at(1))], &[Mint(at(1))]], ..FILE };
/// The thread that begins anew comes first: then loom finds the defects soon.
const NEW_TICK_STRAGGLER: FileModel = FileModel { threads: &[&[Mint(at(1)), Close, Begin(8)], &[Mint(at(1))]], ..FILE };
const NEW_TICK_AHEAD: FileModel = FileModel { threads: &[&[Close, Begin(4)], &[Mint(at(6))]], ..FILE };

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

// docs/internals/claims.md: 32
#[test]
fn the_fast_path_to_a_new_tick_repeats_no_id() {
    for model in [NEW_TICK_FILE, NEW_TICK_STRAGGLER, NEW_TICK_AHEAD] {
        let runs = model.explore(None, ByNext::kept);
        assert_eq!(runs, model.explore(None, |rules, state| CopiedNext::on(rules, state, true)), "{model:?}");
    }
    let copied = |model: &Model| CopiedNext::on(model, StdArc::new(State::new(model, Window::OPEN, None)), false);
    assert_eq!(NEW_TICK.explore(copied), NEW_TICK.explore(|model| ByNext(StdArc::new(model.generator()))));
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
    let stored =
        |model: &Model| CopiedNext::on(model, StdArc::new(State::new(model, Window::OPEN, Some(Defect::NewTickStored))), false);
    let panic = panic_of(|| drop(NEW_TICK.explore(stored)));
    assert!(panic.starts_with(REPEATED), "{panic}");
    for (defect, model, found) in [
        (Defect::NewTickStored, NEW_TICK_FILE, REPEATED),
        (Defect::NewTickStartNotRechecked, NEW_TICK_STRAGGLER, REPEATED),
        (Defect::NewTickEndNotRechecked, NEW_TICK_AHEAD, ABOVE_CEILING),
    ] {
        let panic = panic_of(|| drop(model.explore(Some(defect), |rules, state| CopiedNext::on(rules, state, true))));
        assert!(panic.starts_with(found), "{defect:?}: {panic}");
    }
}
