//! Every interleaving of a few calls on one state, and every value that an atomic may show them: loom explores both.
//!
//! A [`Model`] is a layout of a few bits and what each thread asks of it. The clock is a number in each call, so nothing
//! waits for time. It is explored on the generator that is shipped; on a copy of its loop ([`Copied`]), which must come to
//! the very same set of outcomes; and on that copy with a [`Defect`], where loom must find an ID twice: an exploration that
//! finds nothing wrong with a broken copy says nothing about the other two. A [`Life`] is the same for a state file: calls, and
//! closing and beginning anew, on a state that a [`Keeper`] has.
//!
//! * **Seen**: every order of the steps of two or three threads in which at most [`PREEMPTIONS`] times a thread is stopped
//!   that could have gone on, and every older value (of the last seven) that a load may return under its ordering.
//! * **Not seen**: a compare-and-swap that fails for no reason, which Miri does; one that fails on an older value, which is
//!   no more than an older load; and loads of values that are stored later (*load buffering*), which takes a store that
//!   depends on no load before it. The loop has none. Beginning anew has, but after the swap that closed the state, which has
//!   acquired whatever was swapped before: a call that read the new window swaps a later word, or its swap fails.
//!
//! `npm test -- loom` runs it; it needs `--cfg frazil_loom`.
#![cfg(frazil_loom)]
#![allow(clippy::unwrap_used, reason = "a model that cannot be set up has failed")]

use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc as StdArc, Mutex as StdMutex};

use frazil::page::{Handles, KEYLESS, KINDS, Page, STARTS, slot};
use frazil::{
    Clock, ClockIds, Field, Generator, GeneratorOptions, Keeper, Key, Layout, LayoutSpec, Machine, Node, Outcome, Parts,
    Registry, Reservation, SequenceStart, StateAtomics, Window,
};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// How often in one execution a thread may be stopped that could have gone on. Once is enough for each of the defects.
const PREEMPTIONS: usize = 4;

/// Explores a model to its end.
fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(model);
}

/// What one call asks for.
#[derive(Clone, Copy, Debug)]
struct Call {
    now_ms: u64,
    want: usize,
    confirmed: bool,
    /// Whether the thread ends between raising the cell and swapping the word. Only the copy of the loop can do that.
    dies: bool,
}

/// One ID, at a time that was read twice.
const fn at(now_ms: u64) -> Call {
    Call { now_ms, want: 1, confirmed: true, dies: false }
}

const fn block(now_ms: u64, want: usize) -> Call {
    Call { want, ..at(now_ms) }
}

/// One ID, at a time that was read once.
const fn glance(now_ms: u64) -> Call {
    Call { confirmed: false, ..at(now_ms) }
}

const fn dies_at(now_ms: u64) -> Call {
    Call { dies: true, ..at(now_ms) }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Ids(Vec<u64>),
    Recheck,
    /// The name of the code.
    Refused(&'static str),
    Died,
}

/// What came of a model in one execution: how often the clock was followed back, what was issued before the threads
/// started, and the answers to each thread.
type Run = (u64, Vec<Answer>, Vec<Vec<Answer>>);

fn ids(answers: &[Answer]) -> impl Iterator<Item = u64> + '_ {
    answers.iter().flat_map(|answer| if let Answer::Ids(ids) = answer { ids.as_slice() } else { &[] }).copied()
}

/// All that was issued, in increasing order.
fn issued((_, before, threads): &Run) -> Vec<u64> {
    let mut all: Vec<u64> = ids(before).chain(threads.iter().flat_map(|answers| ids(answers))).collect();
    all.sort_unstable();
    all
}

/// How often a code refused.
fn refused((_, _, threads): &Run, code: &str) -> usize {
    threads.iter().flatten().filter(|answer| matches!(answer, Answer::Refused(name) if *name == code)).count()
}

/// Something that mints and can be shared: a clone has the same state.
trait Mints: Clone + Send + 'static {
    fn mint(&self, call: Call) -> Answer;
    /// How often this clone followed the clock back.
    fn switches(&self) -> u64;
}

impl Mints for Generator {
    fn mint(&self, Call { now_ms, want, confirmed, dies }: Call) -> Answer {
        assert!(!dies, "nothing in the library stops half-way");
        match self.reserve(now_ms, want, confirmed) {
            Ok(Reservation::Issued { block, .. }) => {
                let mut ids = vec![0; block.len()];
                block.write(&mut ids);
                Answer::Ids(ids)
            }
            Ok(Reservation::Recheck) => Answer::Recheck,
            Err(error) => Answer::Refused(error.code().name()),
        }
    }

    fn switches(&self) -> u64 {
        self.stats().switches
    }
}

/// Time of 3 bits with ticks of a millisecond from 0 on, a node id of 1 bit, which is 1, and what the model says.
#[derive(Clone, Copy, Debug)]
struct Model {
    clock_bits: u32,
    sequence_bits: u32,
    max_lead_ms: u64,
    start: SequenceStart,
    /// What is asked before the threads start.
    before: &'static [Call],
    threads: &'static [&'static [Call]],
}

impl Model {
    fn layout(&self) -> Layout {
        let clock = (self.clock_bits > 0).then_some(Field::clock(self.clock_bits));
        let fields = [Field::time(3)].into_iter().chain(clock).chain([Field::node(1), Field::sequence(self.sequence_bits)]);
        Layout::new(LayoutSpec { epoch_ms: 0, tick_ms: 1, unsigned: false, fields: fields.collect() }).unwrap()
    }

    fn generator(&self) -> Generator {
        let max_lead_ms = Some(self.max_lead_ms);
        let (sequence_start, key) = (self.start, Some(KEY));
        let options = GeneratorOptions { max_lead_ms, sequence_start, key, ..GeneratorOptions::new(Node::Id(1)) };
        Generator::private(&self.layout(), options).unwrap()
    }

    fn machine(&self) -> Machine {
        Machine::new(&self.layout(), Node::Id(1), self.max_lead_ms).unwrap().starting(self.start, KEY)
    }

    /// The ID of a tick, clock id and number.
    fn id(&self, tick: u64, clock: u64, sequence: u64) -> u64 {
        let clock = (self.clock_bits > 0).then_some(clock);
        self.layout().compose(Parts { timestamp_ms: tick, node: Some(1), clock, sequence }).unwrap()
    }

    /// Explores the model with what `make` makes, holds every execution to the promises, and returns all that came of it.
    fn explore<M: Mints>(self, make: impl Fn(&Self) -> M + Send + Sync + 'static) -> BTreeSet<Run> {
        let runs = StdArc::new(StdMutex::new(BTreeSet::new()));
        let collected = StdArc::clone(&runs);
        explore(move || {
            let run = self.play(&make(&self));
            self.assert_promises(&run);
            collected.lock().unwrap().insert(run);
        });
        StdArc::into_inner(runs).unwrap().into_inner().unwrap()
    }

    fn play(&self, first: &impl Mints) -> Run {
        fn play(own: &impl Mints, calls: &[Call]) -> Vec<Answer> {
            let mut answers = Vec::new();
            for call in calls {
                answers.push(own.mint(*call));
                if answers.last() == Some(&Answer::Died) {
                    break;
                }
            }
            answers
        }
        let before = play(first, self.before);
        let (own, others) = self.threads.split_first().unwrap();
        let others: Vec<_> = others
            .iter()
            .map(|calls| {
                let clone = first.clone();
                thread::spawn(move || (play(&clone, calls), clone.switches()))
            })
            .collect();
        let mut threads = vec![play(first, own)];
        let mut switches = first.switches();
        for other in others {
            let (answers, more) = other.join().unwrap();
            threads.push(answers);
            switches += more;
        }
        (switches, before, threads)
    }

    /// No ID twice; and in order for each caller, unless the clock was followed back or the sequence goes round.
    fn assert_promises(&self, run: &Run) {
        let all = issued(run);
        let twice = all.windows(2).find(|pair| pair[0] == pair[1]);
        assert!(twice.is_none(), "{TWICE} {twice:?} in {run:?}");
        let (switches, before, threads) = run;
        if *switches == 0 && self.start != SequenceStart::Wrap {
            for answers in threads {
                assert!(ids(before).chain(ids(answers)).is_sorted(), "out of order: {run:?}");
            }
        }
    }
}

/// How the panic starts that a defect must lead to.
const TWICE: &str = "an ID was issued twice:";

const KEY: Key = Key::new(1, 2);

const PLAIN: Model =
    Model { clock_bits: 0, sequence_bits: 1, max_lead_ms: 0, start: SequenceStart::Zero, before: &[], threads: &[] };
const CLOCKS: Model = Model { clock_bits: 1, ..PLAIN };

const SINGLES: Model = Model { sequence_bits: 3, threads: &[&[at(1), at(1)], &[at(1), at(1)], &[at(1)]], ..PLAIN };
const ROUND: Model =
    Model { sequence_bits: 2, start: SequenceStart::Wrap, threads: &[&[at(1), at(1)], &[at(1), at(1), at(2)]], ..PLAIN };
const TICKS: Model = Model { sequence_bits: 2, threads: &[&[at(1), at(2)], &[at(1), at(2), at(3)]], ..PLAIN };
const BLOCKS: Model = Model { max_lead_ms: 2, threads: &[&[block(1, 3)], &[at(1), at(1)], &[block(1, 2)]], ..PLAIN };
const BORROWING: Model = Model { max_lead_ms: 1, threads: &[&[at(1), at(1)], &[at(1), at(1)], &[at(1)]], ..PLAIN };
const STALE_READING: Model = Model { before: &[at(1)], threads: &[&[at(3), at(3)], &[glance(2), at(3)]], ..PLAIN };
const FULL: Model = Model { threads: &[&[at(1), at(1)], &[at(1), at(1)], &[at(1)]], ..CLOCKS };
const BLOCKS_OF_CLOCKS: Model = Model { max_lead_ms: 1, threads: &[&[block(1, 2), at(1)], &[at(1), block(1, 2)]], ..CLOCKS };
const STEP_BACK: Model = Model { before: &[at(5)], threads: &[&[at(2)], &[at(5), at(6)]], ..CLOCKS };
const STEP_SEEN_TWICE: Model = Model { before: &[at(5)], threads: &[&[at(2)], &[at(2)], &[at(5)]], ..CLOCKS };
const BEFORE_THE_STEP: Model = Model { clock_bits: 2, before: &[at(5)], threads: &[&[at(2), at(2)], &[at(5), at(2)]], ..CLOCKS };
const BACK_AND_FORTH: Model =
    Model { clock_bits: 2, before: &[at(4)], threads: &[&[at(2), at(5), at(2)], &[at(2), at(5), at(2)]], ..CLOCKS };
const KILLED: Model = Model { before: &[at(5)], threads: &[&[at(2), at(6)], &[dies_at(2)], &[at(5)]], ..CLOCKS };

/// What is wrong with a copy of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    /// Another thread can see the clock id left before it can see when it was used.
    RaisedAfterTheSwap,
    RaisedTooLittle,
    NotRaised,
    RelaxedSwap,
    RelaxedLoad,
    /// The word that a lost swap returns is loaded without `Acquire`.
    RelaxedReload,
    StoredInsteadOfSwapped,
    /// A state file: what was judged by a window is issued, even where the state was begun anew before the swap.
    NotLookedAtAgain,
    /// The swap does not show the window that came with the word it swaps.
    NotAcquiredBySwap,
    /// The end of the window is raised before the ceiling on the disk.
    RaisedBeforeTheDisk,
    /// Closing and beginning anew may come between the two halves of an extension.
    ExtendedUnlocked,
    /// Closed by lowering the end of the window, and not by taking the word away.
    LoweredInsteadOfClosed,
    /// Closing does not see the clock ids that were left.
    RelaxedClose,
    /// The state begins anew with the word, and has the window later.
    WordFirst,
    /// The state begins anew with a word that does not show the window that comes with it.
    RelaxedWord,
}

/// The loop of `Generator::reserve`, on loom's atomics and the public, pure `Machine`.
struct Copied {
    machine: Machine,
    state: StdArc<State>,
    /// Whether the state is a file.
    kept: bool,
    switches: Cell<u64>,
    defect: Option<Defect>,
}

/// A state, and what a state file has besides.
#[derive(Debug)]
struct State {
    word: AtomicU64,
    /// Where the window begins: all sequences of these models start at 0, whose number is 0.
    origin: AtomicU64,
    until_ms: AtomicU64,
    key: [AtomicU64; 2],
    clocks: Vec<AtomicU64>,
    /// What the disk holds: from where a start after a power loss begins.
    ceiling_ms: AtomicU64,
    /// Held by whoever extends, closes or begins anew.
    lock: Mutex<()>,
    defect: Option<Defect>,
}

impl State {
    fn new(model: &Model, window: Window, defect: Option<Defect>) -> Self {
        let clocks = if model.clock_bits == 0 { 0 } else { 1 << model.clock_bits };
        Self {
            word: AtomicU64::new(0),
            origin: AtomicU64::new(window.from_ms),
            until_ms: AtomicU64::new(window.until_ms),
            key: [AtomicU64::new(0), AtomicU64::new(0)],
            clocks: (0..clocks).map(|_| AtomicU64::new(0)).collect(),
            ceiling_ms: AtomicU64::new(window.until_ms),
            lock: Mutex::new(()),
            defect,
        }
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    fn window(&self) -> Window {
        Window { from_ms: self.origin.load(Ordering::Relaxed), until_ms: self.until_ms.load(Ordering::Acquire) }
    }

    /// The ceiling as a power loss would leave it: a disk shows nothing older than the newest, as a load might.
    fn ceiling(&self) -> u64 {
        self.ceiling_ms.fetch_max(0, Ordering::Relaxed)
    }

    /// Takes the word away, and then lowers the ceiling to the end of what was used.
    fn close(&self, machine: &Machine) {
        let _alone = self.lock.lock().unwrap();
        // A defect has the word in another way, and leaves the rest of closing to a copy.
        let word = if self.has(Defect::LoweredInsteadOfClosed) {
            self.until_ms.store(0, Ordering::SeqCst);
            Some(self.word.load(Ordering::SeqCst))
        } else if self.has(Defect::RelaxedClose) {
            Some(self.word.swap(u64::MAX, Ordering::Relaxed))
        } else {
            None
        };
        let used_ms = match word.map(AtomicU64::new) {
            Some(word) => StateAtomics { word: &word, ..self.atomics() }.close(machine),
            None => self.atomics().close(machine),
        };
        self.ceiling_ms.swap(used_ms.unwrap().max(self.origin.load(Ordering::Relaxed)), Ordering::Relaxed);
    }

    /// Begins anew where the ceiling is, which is raised first.
    fn begin(&self, until_ms: u64) {
        let _alone = self.lock.lock().unwrap();
        let from_ms = self.ceiling();
        let window = Window { from_ms, until_ms: until_ms.max(from_ms) };
        self.ceiling_ms.swap(window.until_ms, Ordering::Relaxed);
        // A defect stores the word itself, and leaves the rest to cells with another.
        let others = StateAtomics { word: &AtomicU64::new(u64::MAX), ..self.atomics() };
        if self.has(Defect::WordFirst) {
            self.word.store(0, Ordering::Release);
            others.begin_anew(window);
        } else if self.has(Defect::RelaxedWord) {
            others.begin_anew(window);
            self.word.store(0, Ordering::Relaxed);
        } else {
            self.atomics().begin_anew(window);
        }
    }
}

impl Keeper for State {
    fn atomics(&self) -> StateAtomics<'_> {
        let Self { word, origin, until_ms, key, clocks, .. } = self;
        StateAtomics { word, origin, until_ms, key, start: SequenceStart::Zero, clocks }
    }

    fn extend(&self, until_ms: u64, now_ms: u64) -> frazil::Result<u64> {
        let _alone = (!self.has(Defect::ExtendedUnlocked)).then(|| self.lock.lock().unwrap());
        let mut raised = [&self.ceiling_ms, &self.until_ms];
        if self.has(Defect::RaisedBeforeTheDisk) {
            raised.reverse();
        }
        for end in raised {
            end.fetch_max(until_ms, Ordering::Relaxed);
        }
        Ok(now_ms)
    }
}

impl ClockIds for State {
    fn free_from(&self, clock: usize) -> u64 {
        self.clocks.get(clock).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
}

impl Clone for Copied {
    fn clone(&self) -> Self {
        let Self { machine, ref state, kept, switches: _, defect } = *self;
        Self { machine, state: StdArc::clone(state), kept, switches: Cell::new(0), defect }
    }
}

impl Copied {
    fn new(model: &Model, defect: Option<Defect>) -> Self {
        Self::on(model, StdArc::new(State::new(model, Window::OPEN, defect)), false)
    }

    fn on(model: &Model, state: StdArc<State>, kept: bool) -> Self {
        let defect = state.defect;
        Self { machine: model.machine(), state, kept, switches: Cell::new(0), defect }
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    fn raise(&self, leaves: Option<(usize, u64)>) {
        if let Some((clock, free_from)) = leaves {
            let free_from = free_from - u64::from(self.has(Defect::RaisedTooLittle));
            self.state.clocks[clock].fetch_max(free_from, Ordering::Relaxed);
        }
    }

    fn swap(&self, word: u64, next: u64) -> Result<u64, u64> {
        let reload = if self.has(Defect::RelaxedReload) { Ordering::Relaxed } else { Ordering::Acquire };
        let swap = match self.defect {
            Some(Defect::RelaxedSwap) => Ordering::Relaxed,
            _ if self.kept && !self.has(Defect::NotAcquiredBySwap) => Ordering::AcqRel,
            _ => Ordering::Release,
        };
        if self.has(Defect::StoredInsteadOfSwapped) {
            self.state.word.store(next, swap);
            return Ok(word);
        }
        self.state.word.compare_exchange_weak(word, next, swap, reload)
    }
}

impl Mints for Copied {
    fn mint(&self, Call { mut now_ms, want, confirmed, dies }: Call) -> Answer {
        let load = if self.has(Defect::RelaxedLoad) { Ordering::Relaxed } else { Ordering::Acquire };
        let mut word = self.state.word.load(load);
        loop {
            let window = self.state.window();
            match self.machine.reserve(word, window, &*self.state, now_ms, want, confirmed) {
                Outcome::Issued { word: next, block, leaves, switched, .. } => {
                    if !self.has(Defect::RaisedAfterTheSwap) && !self.has(Defect::NotRaised) {
                        self.raise(leaves);
                    }
                    if dies {
                        return Answer::Died;
                    }
                    if let Err(current) = self.swap(word, next) {
                        word = current;
                        continue;
                    }
                    if self.has(Defect::RaisedAfterTheSwap) {
                        self.raise(leaves);
                    }
                    if self.kept && !self.has(Defect::NotLookedAtAgain) {
                        let now = self.state.window();
                        if now.from_ms != window.from_ms || now.until_ms < window.until_ms {
                            word = self.state.word.load(load);
                            continue;
                        }
                    }
                    self.switches.set(self.switches.get() + u64::from(switched));
                    let mut ids = vec![0; block.len()];
                    block.write(&mut ids);
                    return Answer::Ids(ids);
                }
                Outcome::Recheck => return Answer::Recheck,
                Outcome::Stalled { cause, .. } => return Answer::Refused(cause.name()),
                Outcome::Expired { until_ms } => {
                    now_ms = self.state.extend(until_ms, now_ms).unwrap();
                    word = self.state.word.load(load);
                }
                // No model of a state file comes to the end of time.
                Outcome::Refused(_) if self.kept && word == u64::MAX => return Answer::Refused("CLOSED"),
                Outcome::Refused(error) => return Answer::Refused(error.code().name()),
            }
        }
    }

    fn switches(&self) -> u64 {
        self.switches.get()
    }
}

/// What came of a model: the same on the generator and on the copy of its loop, or the defects below would say nothing.
fn runs_of(model: Model) -> BTreeSet<Run> {
    let runs = model.explore(Model::generator);
    assert!(runs == model.explore(|model| Copied::new(model, None)), "the copy is none: {model:?}");
    runs
}

// docs/safety.md: 2
#[test]
fn single_ids_are_issued_in_every_order_of_the_callers() {
    let runs = runs_of(SINGLES);
    assert_eq!(runs.len(), 30, "5! / (2! 2! 1!) orders of five calls by three threads");
    let first_five: Vec<u64> = (0..5).map(|number| SINGLES.id(1, 0, number)).collect();
    assert!(runs.iter().all(|run| issued(run) == first_five));
}

#[test]
fn a_sequence_that_goes_round_is_shared_like_any_other() {
    let whole: Vec<u64> = (0..4).map(|number| ROUND.id(1, 0, number)).chain([ROUND.id(2, 0, 0)]).collect();
    assert!(runs_of(ROUND).iter().any(|run| issued(run)[..4] == whole[..4]));
}

#[test]
fn the_tick_changes_while_others_mint() {
    let runs = runs_of(TICKS);
    assert!(runs.iter().any(|run| issued(run).len() == 5));
    assert!(runs.iter().any(|run| refused(run, "CLOCK_BACKWARD") == 2), "both readings of the first thread are late");
}

#[test]
fn blocks_and_single_ids_leave_no_gap() {
    let all: Vec<u64> = (1..=3).flat_map(|tick| [BLOCKS.id(tick, 0, 0), BLOCKS.id(tick, 0, 1)]).collect();
    assert!(runs_of(BLOCKS).iter().all(|run| issued(run) == all));
}

#[test]
fn borrowing_ends_with_the_lead_whoever_borrows() {
    let all: Vec<u64> = (1..=2).flat_map(|tick| [BORROWING.id(tick, 0, 0), BORROWING.id(tick, 0, 1)]).collect();
    for run in runs_of(BORROWING) {
        assert_eq!((issued(&run), refused(&run, "SEQUENCE_EXHAUSTED")), (all.clone(), 1), "{run:?}");
    }
}

#[test]
fn a_stale_reading_is_looked_at_again_before_it_counts_as_a_step_back() {
    let runs = runs_of(STALE_READING);
    let first = |(_, _, threads): &Run| threads[1][0].clone();
    assert!(runs.iter().any(|run| first(run) == Answer::Recheck));
    assert!(runs.iter().all(|run| !matches!(first(run), Answer::Refused(_))));
}

#[test]
fn a_full_sequence_flows_into_the_next_clock_id_once() {
    let all: Vec<u64> = (0..=1).flat_map(|clock| [FULL.id(1, clock, 0), FULL.id(1, clock, 1)]).collect();
    for run in runs_of(FULL) {
        assert_eq!((issued(&run), refused(&run, "SEQUENCE_EXHAUSTED")), (all.clone(), 1), "{run:?}");
    }
}

#[test]
fn blocks_and_single_ids_share_clock_ids_and_borrowed_ticks() {
    assert!(runs_of(BLOCKS_OF_CLOCKS).iter().any(|run| issued(run).contains(&BLOCKS_OF_CLOCKS.id(2, 0, 1))));
}

// docs/safety.md: 7
#[test]
fn the_clock_is_followed_back_while_others_mint() {
    let [before, after] = [STEP_BACK.id(5, 0, 0), STEP_BACK.id(2, 1, 0)];
    let runs = runs_of(STEP_BACK);
    assert!(runs.iter().all(|run| run.0 == 1 && issued(run).contains(&before) && issued(run).contains(&after)));
}

// docs/safety.md: 2
#[test]
fn two_threads_that_see_the_same_step_back_follow_it_once() {
    assert!(runs_of(STEP_SEEN_TWICE).iter().all(|run| run.0 == 1));
}

#[test]
fn a_thread_with_a_reading_from_before_the_step_may_come_at_any_time() {
    let switches: BTreeSet<u64> = runs_of(BEFORE_THE_STEP).iter().map(|run| run.0).collect();
    assert_eq!(switches, BTreeSet::from([1, 2]));
}

#[test]
fn the_clock_goes_back_and_forth_and_back_again() {
    assert!(runs_of(BACK_AND_FORTH).iter().any(|run| run.0 == 3));
}

#[test]
fn a_thread_that_dies_in_the_middle_of_a_switch_harms_nobody() {
    let runs = KILLED.explore(|model| Copied::new(model, None));
    assert!(runs.iter().any(|(_, _, threads)| threads[1] == [Answer::Died]));
    assert!(runs.iter().all(|(_, _, threads)| matches!(threads[0][1], Answer::Ids(_))), "it holds nobody up");
}

/// The panic that exploring ends in.
fn panic_of(exploring: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(exploring)).unwrap_err();
    payload.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn every_defect_repeats_an_id() {
    for (defect, model) in [
        (Defect::RaisedAfterTheSwap, STEP_BACK),
        (Defect::RaisedTooLittle, STEP_BACK),
        (Defect::NotRaised, STEP_BACK),
        (Defect::RelaxedSwap, STEP_BACK),
        (Defect::RelaxedLoad, STEP_BACK),
        (Defect::RelaxedReload, STEP_BACK),
        (Defect::StoredInsteadOfSwapped, SINGLES),
        (Defect::StoredInsteadOfSwapped, STEP_SEEN_TWICE),
    ] {
        let panic = panic_of(|| drop(model.explore(move |model| Copied::new(model, Some(defect)))));
        assert!(panic.starts_with(TWICE), "{defect:?}: {panic}");
    }
}

/// What a host does with the handles: two IDs at tick 1, and the key where it is asked for one.
fn two_by_handles(registry: &Mutex<Registry>, start: SequenceStart, [high, low]: [u32; 2]) -> (Handles, Box<Page>, [u64; 2]) {
    let (mut handles, mut page) = (Handles::new(), Box::new(Page::new()));
    let fields = [("time", 3), ("node", 1), ("sequence", 4)];
    for (at, (name, bits)) in fields.into_iter().enumerate() {
        let kind = KINDS.iter().position(|kind| kind.0 == name).unwrap();
        page.numbers[slot::FIELDS + 2 * at] = f64::from(u8::try_from(kind).unwrap());
        page.numbers[slot::FIELDS + 2 * at + 1] = f64::from(bits);
    }
    page.numbers[slot::FIELD_COUNT] = 3.0;
    let start = STARTS.iter().position(|known| *known == start).unwrap();
    page.numbers[slot::SEQUENCE_START] = f64::from(u8::try_from(start).unwrap());
    for at in [slot::TICK_MS, slot::HAS_NODE, slot::NODE] {
        page.numbers[at] = 1.0;
    }
    page.numbers[slot::START_MS] = f64::NAN;
    assert_eq!(handles.open(&mut page, &mut registry.lock().unwrap()), 0);

    let mut ids = [(); 2].map(|()| 0);
    for id in &mut ids {
        if handles.reserve(&mut page, 0.0, 1.0, 1, true) == KEYLESS {
            page.numbers[slot::HAS_KEY] = 1.0;
            page.numbers[slot::KEY + 1] = f64::from(high);
            page.numbers[slot::KEY + 3] = f64::from(low);
            assert_eq!(handles.reserve(&mut page, 0.0, 1.0, 1, true), 0);
        }
        *id = page.ids[0];
    }
    (handles, page, ids)
}

/// The IDs of a key: four of tick 1, and one of each later tick.
fn under(start: SequenceStart, key: Key) -> BTreeSet<u64> {
    let machine = Machine::new(&Model { sequence_bits: 4, ..PLAIN }.layout(), Node::Id(1), 0).unwrap().starting(start, key);
    let (mut word, mut ids) = (0, BTreeSet::new());
    for now_ms in [1, 1, 1, 1, 2, 3, 4, 5, 6, 7] {
        let Outcome::Issued { word: next, block, .. } = machine.reserve(word, Window::OPEN, &[], now_ms, 1, true) else {
            unreachable!()
        };
        word = next;
        ids.insert(block.first());
    }
    ids
}

#[test]
fn threads_that_open_one_state_and_offer_a_key_each_mint_under_one_key() {
    for start in [SequenceStart::Random, SequenceStart::Wrap] {
        let keys = StdArc::new(StdMutex::new(BTreeSet::new()));
        let used = StdArc::clone(&keys);
        explore(move || {
            let registry = Arc::new(Mutex::new(Registry::new()));
            let hosts = [[1, 2], [3, 4]].map(|key| {
                let registry = Arc::clone(&registry);
                // In words. A page does not fit the stack of loom's threads, and it is made there before it is boxed.
                thread::Builder::new().stack_size(1 << 16).spawn(move || two_by_handles(&registry, start, key)).unwrap()
            });
            let hosts = hosts.map(|host| host.join().unwrap());
            let mut ids: Vec<u64> = hosts.iter().flat_map(|(_, _, ids)| *ids).collect();
            for ((handles, mut page, _), later) in hosts.into_iter().zip([[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]) {
                for now_ms in later {
                    assert_eq!(handles.reserve(&mut page, 0.0, now_ms, 1, true), 0);
                    ids.push(page.ids[0]);
                }
            }
            let all: BTreeSet<u64> = ids.iter().copied().collect();
            assert_eq!(all.len(), ids.len(), "{TWICE} {ids:?}");
            let key = [(1, 2), (1, 4), (3, 2), (3, 4)].into_iter().find(|(high, low)| under(start, Key::new(*high, *low)) == all);
            used.lock().unwrap().insert(key.unwrap());
        });
        // Halves of both keys too: each half is whosever came first with it.
        assert!(keys.lock().unwrap().is_superset(&BTreeSet::from([(1, 2), (3, 4)])), "{keys:?}");
    }
}

/// The offer of `State::offer`, and one that overwrites what another thread has offered and may have used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offer {
    Swapped,
    Stored,
}

/// Two threads that each offer a key and mint two IDs of one tick under the key that they find.
fn offer_keys(offer: Offer) {
    fn two(state: &[AtomicU64; 3], own: [u64; 2], offer: Offer) -> [u64; 2] {
        let [word, key @ ..] = state;
        for (cell, half) in key.iter().zip(own) {
            match offer {
                Offer::Swapped => drop(cell.compare_exchange(0, half, Ordering::Relaxed, Ordering::Relaxed)),
                Offer::Stored => cell.store(half, Ordering::Relaxed),
            }
        }
        let [high, low] = [0, 1].map(|half: usize| key[half].load(Ordering::Relaxed));
        let machine = Machine::new(&ROUND.layout(), Node::Id(1), 0).unwrap();
        let machine = machine.starting(SequenceStart::Wrap, Key::new(high, low));
        let mut read = word.load(Ordering::Relaxed);
        loop {
            let Outcome::Issued { word: next, block, .. } = machine.reserve(read, Window::OPEN, &[], 1, 2, true) else {
                unreachable!()
            };
            match word.compare_exchange_weak(read, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    let mut ids = [0; 2];
                    block.write(&mut ids);
                    return ids;
                }
                Err(current) => read = current,
            }
        }
    }
    explore(move || {
        let state = Arc::new([(); 3].map(|()| AtomicU64::new(0)));
        let other = thread::spawn({
            let state = Arc::clone(&state);
            move || two(&state, [1, 2], offer)
        });
        let ids = [two(&state, [3, 4], offer), other.join().unwrap()].concat();
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 4, "{TWICE} {ids:?}");
    });
}

#[test]
fn a_key_that_overwrites_another_repeats_an_id() {
    offer_keys(Offer::Swapped);
    let panic = panic_of(|| offer_keys(Offer::Stored));
    assert!(panic.contains(TWICE), "{panic}");
}

/// A clock that a model sets.
struct Wall(AtomicU64);

impl Clock for Wall {
    fn now_ms(&self) -> frazil::Result<u64> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}

/// Two threads that mint by one generator from one clock, which the first of them sets between its calls.
fn by_the_wall(model: Model, from_ms: u64, to_ms: u64, check: impl Fn(&Generator) + Send + Sync + 'static) {
    explore(move || {
        let shared = Arc::new((model.generator(), Wall(AtomicU64::new(from_ms))));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.0.next(&shared.1).ok()
        });
        let (ids, wall) = &*shared;
        let before = ids.next(wall).ok();
        wall.0.store(to_ms, Ordering::Relaxed);
        let after = ids.next(wall).ok();
        let minted: Vec<u64> = [before, after].into_iter().chain([other.join().unwrap()]).flatten().collect();
        assert_eq!(minted.iter().collect::<HashSet<_>>().len(), minted.len(), "{TWICE} {minted:?}");
        assert_eq!(ids.stats().issued, minted.len() as u64);
        check(ids);
    });
}

#[test]
fn a_clock_that_is_set_back_between_calls_of_next_repeats_nothing() {
    let switched = StdArc::new(StdMutex::new(BTreeSet::new()));
    let seen = StdArc::clone(&switched);
    by_the_wall(CLOCKS, 5, 2, move |ids| {
        seen.lock().unwrap().insert(ids.stats().switches);
    });
    assert!(switched.lock().unwrap().contains(&1), "{switched:?}");
}

#[test]
fn a_clock_that_goes_forward_is_never_counted_as_a_step_back() {
    by_the_wall(PLAIN, 1, 2, |ids| assert_eq!(ids.stats().steps_back, 0));
}

#[test]
fn health_and_stats_may_be_read_at_any_time_and_change_nothing() {
    let model = CLOCKS;
    let leads = StdArc::new(StdMutex::new(BTreeSet::new()));
    let seen = StdArc::clone(&leads);
    explore(move || {
        let shared = Arc::new(model.generator());
        shared.mint(at(5));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let (health, stats) = (shared.health(2), shared.stats());
                assert_eq!(shared.health(5).refusal, None);
                assert!((1..=3).contains(&stats.issued) && stats.switches <= 1);
                health
            }
        });
        let minted = [(); 2].map(|()| shared.mint(at(2)));
        let health = other.join().unwrap();
        assert_eq!(minted, [0, 1].map(|number| Answer::Ids(vec![model.id(2, 1, number)])));
        assert_eq!((shared.stats().issued, shared.stats().switches), (3, 1));
        seen.lock().unwrap().insert((health.lead_ms, health.refusal.map(|error| error.code().name())));
    });
    let full = Some("SEQUENCE_EXHAUSTED");
    assert_eq!(*leads.lock().unwrap(), BTreeSet::from([(3, None), (0, None), (0, full)]));
}

/// What is done with a state file.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Mint(Call),
    Close,
    /// Begins the state anew, with a window from the ceiling to there.
    Begin(u64),
}
use Deed::{Begin, Close, Mint};

/// A state file, as `Snowflake.local()` has it, and what is done with it: before the threads start, by each of them, and once
/// they have ended.
#[derive(Clone, Copy, Debug)]
struct Life {
    rules: Model,
    /// The end of the first window, which begins at 0.
    until_ms: u64,
    before: &'static [Deed],
    threads: &'static [&'static [Deed]],
    after: &'static [Deed],
}

/// What came of a life: the answers before the threads started, to each of them, and after they ended.
type Lived = Vec<Vec<Answer>>;

/// How the panic starts where an ID could come again after a power loss.
const ABOVE: &str = "an ID lies above the ceiling:";

impl Life {
    /// Explores the life with what `make` makes of its state, holds every execution to the promises, and returns all that came
    /// of it.
    fn explore<M: Mints>(
        self,
        defect: Option<Defect>,
        make: impl Fn(&Model, StdArc<State>) -> M + Send + Sync + 'static,
    ) -> BTreeSet<Lived> {
        let outcomes = StdArc::new(StdMutex::new(BTreeSet::new()));
        let collected = StdArc::clone(&outcomes);
        explore(move || {
            let window = Window { from_ms: 0, until_ms: self.until_ms };
            let state = StdArc::new(State::new(&self.rules, window, defect));
            let (lived, above) = self.live(&make(&self.rules, StdArc::clone(&state)), &state);
            let mut all: Vec<u64> = lived.iter().flat_map(|answers| ids(answers)).collect();
            all.sort_unstable();
            let twice = all.windows(2).find(|pair| pair[0] == pair[1]);
            assert!(twice.is_none(), "{TWICE} {twice:?} in {lived:?}");
            assert!(above.is_empty(), "{ABOVE} {above:?} in {lived:?}");
            collected.lock().unwrap().insert(lived);
        });
        StdArc::into_inner(outcomes).unwrap().into_inner().unwrap()
    }

    /// What came of it, and each ID that lay above the ceiling after a deed of a thread that knew of it, with that ceiling.
    fn live(&self, first: &impl Mints, state: &StdArc<State>) -> (Lived, Vec<(u64, u64)>) {
        fn live(life: &Life, own: &impl Mints, state: &State, deeds: &[Deed], known: &[u64]) -> (Vec<Answer>, Vec<(u64, u64)>) {
            let Model { clock_bits, sequence_bits, .. } = life.rules;
            let (mut answers, mut above) = (Vec::new(), Vec::new());
            for deed in deeds {
                match *deed {
                    Mint(call) => answers.push(own.mint(call)),
                    Close => state.close(&life.rules.machine()),
                    Begin(until_ms) => state.begin(until_ms),
                }
                let ceiling_ms = state.ceiling();
                let known = known.iter().copied().chain(ids(&answers));
                above.extend(known.filter(|id| id >> (clock_bits + 1 + sequence_bits) >= ceiling_ms).map(|id| (id, ceiling_ms)));
            }
            (answers, above)
        }
        let mut lived = vec![live(self, first, state, self.before, &[])];
        let known: Vec<u64> = ids(&lived[0].0).collect();
        let (own, others) = self.threads.split_first().unwrap();
        let others: Vec<_> = others
            .iter()
            .map(|deeds| {
                let (life, clone, state, known) = (*self, first.clone(), StdArc::clone(state), known.clone());
                thread::spawn(move || live(&life, &clone, &state, deeds, &known))
            })
            .collect();
        lived.push(live(self, first, state, own, &known));
        lived.extend(others.into_iter().map(|other| other.join().unwrap()));
        let known: Vec<u64> = lived.iter().flat_map(|(answers, _)| ids(answers)).collect();
        lived.push(live(self, first, state, self.after, &known));
        let (lived, above): (_, Vec<_>) = lived.into_iter().unzip();
        (lived, above.concat())
    }

    /// The ID of a tick, clock id and number, as an answer.
    fn id(&self, tick: u64, clock: u64, sequence: u64) -> Answer {
        Answer::Ids(vec![self.rules.id(tick, clock, sequence)])
    }
}

const FILE: Life = Life { rules: PLAIN, until_ms: 8, before: &[], threads: &[], after: &[] };
const FILE_OF_CLOCKS: Life = Life { rules: CLOCKS, before: &[Mint(at(5))], ..FILE };

const EXTENDED: Life = Life { until_ms: 0, threads: &[&[Mint(at(1)), Mint(at(2))], &[Mint(at(1))]], ..FILE };
const EXTENDED_BLOCKS: Life = Life {
    rules: Model { max_lead_ms: 2, ..PLAIN },
    until_ms: 0,
    threads: &[&[Mint(block(1, 3))], &[Mint(at(2)), Mint(at(2))]],
    ..FILE
};
const CLOSED: Life =
    Life { threads: &[&[Mint(at(1)), Mint(at(2))], &[Close]], after: &[Begin(8), Mint(at(2)), Mint(at(2)), Mint(at(3))], ..FILE };
const CLOSED_TO_BOTH: Life =
    Life { threads: &[&[Mint(at(1))], &[Mint(at(1))], &[Close]], after: &[Begin(8), Mint(at(1)), Mint(at(2))], ..FILE };
const CLOSED_CLOCKS: Life = Life {
    threads: &[&[Mint(at(2)), Mint(at(6))], &[Close]],
    after: &[Begin(8), Mint(at(5)), Mint(at(6)), Mint(at(7))],
    ..FILE_OF_CLOCKS
};
const STRAGGLER: Life = Life { threads: &[&[Mint(at(1)), Mint(at(2))], &[Mint(at(1)), Close, Begin(8), Mint(at(2))]], ..FILE };
const STRAGGLER_BACK: Life = Life { threads: &[&[Mint(at(2))], &[Close, Begin(8), Mint(at(6))]], ..FILE_OF_CLOCKS };
const STRAGGLER_AHEAD: Life = Life { threads: &[&[Mint(at(6))], &[Close, Begin(4), Mint(at(1))]], ..FILE };
const STRAGGLER_EXTENDS: Life = Life { until_ms: 0, ..STRAGGLER_AHEAD };

/// What came of a life: the same on the generator and on the copy of its loop.
fn lives_of(life: Life) -> BTreeSet<Lived> {
    let lives =
        life.explore(None, |rules, state| Generator::kept(&rules.layout(), Node::Id(1), Some(rules.max_lead_ms), state).unwrap());
    assert!(lives == life.explore(None, |rules, state| Copied::on(rules, state, true)), "the copy is none: {life:?}");
    lives
}

/// All that a call was answered with, by the stage of the life that it belongs to.
fn answers(lives: &BTreeSet<Lived>, stage: usize, call: usize) -> BTreeSet<Answer> {
    lives.iter().map(|life| life[stage][call].clone()).collect()
}

const BACKWARD: Answer = Answer::Refused("CLOCK_BACKWARD");
const SHUT: Answer = Answer::Refused("CLOSED");

// docs/safety.md: 10
#[test]
fn what_is_issued_while_the_window_is_extended_lies_below_the_ceiling() {
    let lives = lives_of(EXTENDED);
    assert_eq!(answers(&lives, 1, 1), BTreeSet::from([EXTENDED.id(2, 0, 0)]));
    assert_eq!(answers(&lives, 2, 0), BTreeSet::from([EXTENDED.id(1, 0, 0), EXTENDED.id(1, 0, 1), BACKWARD]));

    let lengths: BTreeSet<usize> = lives_of(EXTENDED_BLOCKS).iter().map(|life| ids(&life[1]).count()).collect();
    assert_eq!(lengths, BTreeSet::from([1, 2, 3]), "a block ends with the window, however far it was extended by others");
}

// docs/safety.md: 13
#[test]
fn closing_takes_the_word_from_whoever_mints() {
    let lives = lives_of(CLOSED);
    assert_eq!(answers(&lives, 1, 0), BTreeSet::from([CLOSED.id(1, 0, 0), SHUT]));
    assert_eq!(answers(&lives, 1, 1), BTreeSet::from([CLOSED.id(2, 0, 0), SHUT]));
    assert_eq!(answers(&lives, 3, 0), BTreeSet::from([CLOSED.id(2, 0, 0), BACKWARD]), "the ceiling is as low as it may be");
    assert_eq!(answers(&lives, 3, 2), BTreeSet::from([CLOSED.id(3, 0, 0)]));

    let lives = lives_of(CLOSED_TO_BOTH);
    assert!([1, 2].iter().all(|thread| answers(&lives, *thread, 0).contains(&SHUT)));
    assert_eq!(answers(&lives, 4, 0), BTreeSet::from([CLOSED.id(1, 0, 0), BACKWARD]));

    // Not below the tick that was issued before the clock went back.
    let lives = lives_of(CLOSED_CLOCKS);
    assert_eq!(answers(&lives, 3, 0), BTreeSet::from([BACKWARD]));
    assert_eq!(answers(&lives, 3, 2), BTreeSet::from([CLOSED_CLOCKS.id(7, 0, 0)]));
}

// docs/safety.md: 14, 15
#[test]
fn a_straggler_may_mint_while_the_state_begins_anew() {
    let lives = lives_of(STRAGGLER);
    let both = [STRAGGLER.id(1, 0, 0), STRAGGLER.id(1, 0, 1)];
    assert_eq!(answers(&lives, 1, 0), BTreeSet::from(both).union(&BTreeSet::from([BACKWARD, SHUT])).cloned().collect());

    let lives = lives_of(STRAGGLER_BACK);
    assert_eq!(answers(&lives, 1, 0), BTreeSet::from([STRAGGLER_BACK.id(2, 1, 0), BACKWARD, SHUT]));

    // The first number is left out where it was judged by the window before, and the straggler asks for more time.
    for life in [STRAGGLER_AHEAD, STRAGGLER_EXTENDS] {
        let expected = BTreeSet::from([life.id(6, 0, 0), life.id(6, 0, 1), BACKWARD, SHUT]);
        assert_eq!(answers(&lives_of(life), 1, 0), expected, "{life:?}");
    }
}

#[test]
fn every_defect_of_a_state_file_repeats_an_id_or_would_after_a_power_loss() {
    for (defect, life, found) in [
        (Defect::RaisedBeforeTheDisk, EXTENDED, ABOVE),
        (Defect::RaisedBeforeTheDisk, EXTENDED_BLOCKS, ABOVE),
        (Defect::ExtendedUnlocked, STRAGGLER_EXTENDS, ABOVE),
        (Defect::LoweredInsteadOfClosed, CLOSED, TWICE),
        (Defect::RelaxedClose, CLOSED_CLOCKS, TWICE),
        (Defect::RelaxedSwap, CLOSED_CLOCKS, TWICE),
        (Defect::RaisedAfterTheSwap, CLOSED_CLOCKS, TWICE),
        (Defect::WordFirst, STRAGGLER, TWICE),
        (Defect::RelaxedWord, STRAGGLER, TWICE),
        (Defect::NotLookedAtAgain, STRAGGLER, TWICE),
        (Defect::NotLookedAtAgain, STRAGGLER_AHEAD, ABOVE),
        (Defect::NotAcquiredBySwap, STRAGGLER, TWICE),
        (Defect::NotAcquiredBySwap, STRAGGLER_AHEAD, ABOVE),
    ] {
        let panic = panic_of(|| drop(life.explore(Some(defect), |rules, state| Copied::on(rules, state, true))));
        assert!(panic.starts_with(found), "{defect:?}: {panic}");
    }
}
