//! Explores with loom every interleaving of a few calls on one state, and every value that their atomic loads may return.
//!
//! A [`Model`] is a layout of a few bits and the calls of each thread. Each call has its clock reading as a number, so nothing
//! waits for time. A model is explored on the real generator; on a copy of its loop ([`Copied`]), which must give the same set
//! of outcomes; and on that copy with a [`Defect`], where loom must find a repeated ID: if it found nothing wrong with a broken
//! copy, the other explorations would prove nothing. A [`FileModel`] is the same for a state file: calls, closing and beginning
//! anew on a state that a [`Keeper`] has.
//!
//! * **Covered**: every order of the steps of two or three threads with at most [`PREEMPTIONS`] preemptions (a thread that
//!   could run is stopped), and every older value (of the last seven) that a load may return under its ordering.
//! * **Not covered**: a compare-and-swap that fails spuriously, which Miri covers; one that fails on an older value, which is
//!   the same as an older load; and loads of values that are stored later (*load buffering*), which need a store that depends
//!   on no load before it. The loop has no such store. Beginning anew has one, but after the swap that closed the state, which
//!   has acquired everything that was swapped before: a call that read the new window swaps a later word, or its swap fails.
//!
//! `npm test -- loom` runs it; it needs `--cfg frazil_loom`.
#![cfg(frazil_loom)]
#![allow(clippy::unwrap_used, reason = "a model that cannot be set up has failed")]

use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc as StdArc, Mutex as StdMutex};

use frazil::abi::{Frame, Handles, KEYLESS, KINDS, slot};
use frazil::layout::{Field, LayoutSpec, Parts};
use frazil::mint::{ClockIds, Keeper, Key, Machine, Outcome, Reservation, SequenceStart, StateAtomics, Window};
use frazil::{Clock, Generator, GeneratorOptions, Layout, Node, Registry};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// The largest number of preemptions in one execution. One suffices to find each defect.
const PREEMPTIONS: usize = 4;

/// Explores all executions of a model.
fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(model);
}

/// The arguments of one call.
#[derive(Clone, Copy, Debug)]
struct Call {
    now_ms: u64,
    want: usize,
    confirmed: bool,
    /// Whether the thread dies between raising the cell and swapping the word. Only the copy of the loop can simulate that.
    dies: bool,
}

/// A call for one ID, at a clock reading that was confirmed by a second one.
const fn at(now_ms: u64) -> Call {
    Call { now_ms, want: 1, confirmed: true, dies: false }
}

const fn block(now_ms: u64, want: usize) -> Call {
    Call { want, ..at(now_ms) }
}

/// A call for one ID, at a clock reading that was not confirmed.
const fn unconfirmed_at(now_ms: u64) -> Call {
    Call { confirmed: false, ..at(now_ms) }
}

const fn dies_at(now_ms: u64) -> Call {
    Call { dies: true, ..at(now_ms) }
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Ids(Vec<u64>),
    Recheck,
    /// The name of the code.
    Refused(&'static str),
    Died,
}

/// The outcome of a model in one execution: how often the clock was followed back, the answers before the threads started, and
/// the answers to each thread.
type Run = (u64, Vec<Answer>, Vec<Vec<Answer>>);

fn ids(answers: &[Answer]) -> impl Iterator<Item = u64> + '_ {
    answers.iter().flat_map(|answer| if let Answer::Ids(ids) = answer { ids.as_slice() } else { &[] }).copied()
}

/// All IDs that were issued, in increasing order.
fn issued((_, before, threads): &Run) -> Vec<u64> {
    let mut all: Vec<u64> = ids(before).chain(threads.iter().flat_map(|answers| ids(answers))).collect();
    all.sort_unstable();
    all
}

/// How many calls were refused with a code.
fn refused((_, _, threads): &Run, code: &str) -> usize {
    threads.iter().flatten().filter(|answer| matches!(answer, Answer::Refused(name) if *name == code)).count()
}

/// A generator that can be shared: a clone uses the same state.
trait Mints: Clone + Send + 'static {
    fn mint(&self, call: Call) -> Answer;
    /// How often this clone followed the clock back.
    fn switches(&self) -> u64;
}

impl Mints for Generator {
    fn mint(&self, Call { now_ms, want, confirmed, dies }: Call) -> Answer {
        assert!(!dies, "the real generator cannot die in mid-call");
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

/// A layout with a time of 3 bits in milliseconds since 0, a node field of 1 bit, the fields of this struct, and the calls. The
/// node id is 1.
#[derive(Clone, Copy, Debug)]
struct Model {
    clock_bits: u32,
    sequence_bits: u32,
    max_lead_ms: u64,
    start: SequenceStart,
    /// The calls before the threads start.
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

    /// Explores the model with the generators of `make`, checks the guarantees in every execution, and returns all outcomes.
    fn explore<M: Mints>(self, make: impl Fn(&Self) -> M + Send + Sync + 'static) -> BTreeSet<Run> {
        let runs = StdArc::new(StdMutex::new(BTreeSet::new()));
        let collected = StdArc::clone(&runs);
        explore(move || {
            let run = self.play(&make(&self));
            self.assert_guarantees(&run);
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

    /// Asserts that no ID is repeated, and that IDs increase for each thread, unless the clock was followed back or the
    /// sequence wraps.
    fn assert_guarantees(&self, run: &Run) {
        let all = issued(run);
        let twice = all.windows(2).find(|pair| pair[0] == pair[1]);
        assert!(twice.is_none(), "{REPEATED} {twice:?} in {run:?}");
        let (switches, before, threads) = run;
        if *switches == 0 && self.start != SequenceStart::Wrap {
            for answers in threads {
                assert!(ids(before).chain(ids(answers)).is_sorted(), "out of order: {run:?}");
            }
        }
    }
}

/// The beginning of the panic message that a defect must cause.
const REPEATED: &str = "an ID was issued twice:";

const KEY: Key = Key::new(1, 2);

const PLAIN: Model =
    Model { clock_bits: 0, sequence_bits: 1, max_lead_ms: 0, start: SequenceStart::Zero, before: &[], threads: &[] };
const CLOCKS: Model = Model { clock_bits: 1, ..PLAIN };

const SINGLES: Model = Model { sequence_bits: 3, threads: &[&[at(1), at(1)], &[at(1), at(1)], &[at(1)]], ..PLAIN };
const WRAPPING: Model =
    Model { sequence_bits: 2, start: SequenceStart::Wrap, threads: &[&[at(1), at(1)], &[at(1), at(1), at(2)]], ..PLAIN };
const TICKS: Model = Model { sequence_bits: 2, threads: &[&[at(1), at(2)], &[at(1), at(2), at(3)]], ..PLAIN };
const BLOCKS: Model = Model { max_lead_ms: 2, threads: &[&[block(1, 3)], &[at(1), at(1)], &[block(1, 2)]], ..PLAIN };
const BORROWING: Model = Model { max_lead_ms: 1, threads: &[&[at(1), at(1)], &[at(1), at(1)], &[at(1)]], ..PLAIN };
const STALE_READING: Model = Model { before: &[at(1)], threads: &[&[at(3), at(3)], &[unconfirmed_at(2), at(3)]], ..PLAIN };
const FULL: Model = Model { threads: &[&[at(1), at(1)], &[at(1), at(1)], &[at(1)]], ..CLOCKS };
const BLOCKS_WITH_CLOCKS: Model = Model { max_lead_ms: 1, threads: &[&[block(1, 2), at(1)], &[at(1), block(1, 2)]], ..CLOCKS };
const STEP_BACK: Model = Model { before: &[at(5)], threads: &[&[at(2)], &[at(5), at(6)]], ..CLOCKS };
const STEP_SEEN_TWICE: Model = Model { before: &[at(5)], threads: &[&[at(2)], &[at(2)], &[at(5)]], ..CLOCKS };
const BEFORE_THE_STEP: Model = Model { clock_bits: 2, before: &[at(5)], threads: &[&[at(2), at(2)], &[at(5), at(2)]], ..CLOCKS };
const BACK_AND_FORTH: Model =
    Model { clock_bits: 2, before: &[at(4)], threads: &[&[at(2), at(5), at(2)], &[at(2), at(5), at(2)]], ..CLOCKS };
const KILLED: Model = Model { before: &[at(5)], threads: &[&[at(2), at(6)], &[dies_at(2)], &[at(5)]], ..CLOCKS };

/// A defect of the copy of the loop, or of the copy of a state file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    /// Another thread can see that a clock id was left before it can see when that clock id was last used.
    RaisedAfterTheSwap,
    RaisedTooLittle,
    NotRaised,
    RelaxedSwap,
    RelaxedLoad,
    /// The word that a failed swap returns is loaded without `Acquire`.
    RelaxedReload,
    StoredInsteadOfSwapped,
    /// The fast path: the word is stored instead of swapped.
    ShortStored,
    /// The fast path: the ID is that of the word, and the swap of a word that was read later.
    ShortReadTwice,
    /// State file: a block is issued even if the state was begun anew between the reading of the window and the swap.
    WindowNotRechecked,
    /// The swap does not acquire the window that was stored before the word that it replaces.
    SwapWithoutAcquire,
    /// The end of the window is raised before the ceiling on the disk.
    RaisedBeforeTheDisk,
    /// Closing and beginning anew can happen between the two stores of an extension.
    ExtendedUnlocked,
    /// Closing lowers the end of the window instead of replacing the word.
    LoweredInsteadOfClosed,
    /// Closing does not see the cells of the clock ids that were left.
    RelaxedClose,
    /// Beginning anew stores the word before the window.
    WordBeforeWindow,
    /// Beginning anew stores the word without releasing the window.
    RelaxedWordStore,
}

/// A copy of the loop of `Generator::reserve`, with loom's atomics and the public, pure `Machine`.
struct Copied {
    machine: Machine,
    state: StdArc<State>,
    /// Whether the state is a state file.
    kept: bool,
    switches: Cell<u64>,
    defect: Option<Defect>,
}

/// A state, and the additional parts of a state file.
#[derive(Debug)]
struct State {
    word: AtomicU64,
    /// The beginning of the window. It also encodes the sequence start, which is `Zero` in these models and adds 0.
    origin: AtomicU64,
    until_ms: AtomicU64,
    key: [AtomicU64; 2],
    clocks: Vec<AtomicU64>,
    /// The ceiling on disk, at which a start after a power loss begins.
    ceiling_ms: AtomicU64,
    /// Held while a thread extends, closes or begins anew.
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

    /// The ceiling as a power loss would leave it: the newest value, whereas a load could return an older one.
    fn ceiling(&self) -> u64 {
        self.ceiling_ms.fetch_max(0, Ordering::Relaxed)
    }

    /// Replaces the word by the closed one, and then lowers the ceiling to the end of the last tick used.
    fn close(&self, machine: &Machine) {
        let _guard = self.lock.lock().unwrap();
        // A defect gets the word in another way, and does the rest of closing on a copy of the word.
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

    /// Begins anew at the ceiling, after raising the ceiling to the end of the new window.
    fn begin(&self, until_ms: u64) {
        let _guard = self.lock.lock().unwrap();
        let from_ms = self.ceiling();
        let window = Window { from_ms, until_ms: until_ms.max(from_ms) };
        self.ceiling_ms.swap(window.until_ms, Ordering::Relaxed);
        // A defect stores the word itself, and does the rest on atomics with another word.
        let others = StateAtomics { word: &AtomicU64::new(u64::MAX), ..self.atomics() };
        if self.has(Defect::WordBeforeWindow) {
            self.word.store(0, Ordering::Release);
            others.begin_anew(window);
        } else if self.has(Defect::RelaxedWordStore) {
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
        let _guard = (!self.has(Defect::ExtendedUnlocked)).then(|| self.lock.lock().unwrap());
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
            _ if self.kept && !self.has(Defect::SwapWithoutAcquire) => Ordering::AcqRel,
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
                    if self.kept && !self.has(Defect::WindowNotRechecked) {
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
                // No model of a state file reaches the end of the time field, so this word means closed.
                Outcome::Refused(_) if self.kept && word == u64::MAX => return Answer::Refused("CLOSED"),
                Outcome::Refused(error) => return Answer::Refused(error.code().name()),
            }
        }
    }

    fn switches(&self) -> u64 {
        self.switches.get()
    }
}

/// All outcomes of a model. They must be the same on the generator and on the copy of its loop, or the defects below prove
/// nothing.
fn runs_of(model: Model) -> BTreeSet<Run> {
    let runs = model.explore(Model::generator);
    assert!(runs == model.explore(|model| Copied::new(model, None)), "the copy differs from the generator: {model:?}");
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
fn a_wrapping_sequence_is_shared_without_a_repeat() {
    let whole: Vec<u64> = (0..4).map(|number| WRAPPING.id(1, 0, number)).chain([WRAPPING.id(2, 0, 0)]).collect();
    assert!(runs_of(WRAPPING).iter().any(|run| issued(run)[..4] == whole[..4]));
}

#[test]
fn the_tick_may_change_while_other_threads_mint() {
    let runs = runs_of(TICKS);
    assert!(runs.iter().any(|run| issued(run).len() == 5));
    assert!(
        runs.iter().any(|run| refused(run, "CLOCK_BACKWARD") == 2),
        "both readings of the first thread can be behind the state"
    );
}

#[test]
fn blocks_and_single_ids_leave_no_gap() {
    let all: Vec<u64> = (1..=3).flat_map(|tick| [BLOCKS.id(tick, 0, 0), BLOCKS.id(tick, 0, 1)]).collect();
    assert!(runs_of(BLOCKS).iter().all(|run| issued(run) == all));
}

#[test]
fn threads_together_borrow_no_further_than_the_lead() {
    let all: Vec<u64> = (1..=2).flat_map(|tick| [BORROWING.id(tick, 0, 0), BORROWING.id(tick, 0, 1)]).collect();
    for run in runs_of(BORROWING) {
        assert_eq!((issued(&run), refused(&run, "SEQUENCE_EXHAUSTED")), (all.clone(), 1), "{run:?}");
    }
}

#[test]
fn a_stale_clock_reading_is_rechecked_before_it_counts_as_a_step_back() {
    let runs = runs_of(STALE_READING);
    let first = |(_, _, threads): &Run| threads[1][0].clone();
    assert!(runs.iter().any(|run| first(run) == Answer::Recheck));
    assert!(runs.iter().all(|run| !matches!(first(run), Answer::Refused(_))));
}

#[test]
fn a_full_sequence_continues_in_the_next_clock_id_once() {
    let all: Vec<u64> = (0..=1).flat_map(|clock| [FULL.id(1, clock, 0), FULL.id(1, clock, 1)]).collect();
    for run in runs_of(FULL) {
        assert_eq!((issued(&run), refused(&run, "SEQUENCE_EXHAUSTED")), (all.clone(), 1), "{run:?}");
    }
}

#[test]
fn blocks_and_single_ids_share_clock_ids_and_borrowed_ticks() {
    assert!(runs_of(BLOCKS_WITH_CLOCKS).iter().any(|run| issued(run).contains(&BLOCKS_WITH_CLOCKS.id(2, 0, 1))));
}

// docs/safety.md: 7
#[test]
fn the_clock_is_followed_back_while_other_threads_mint() {
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
fn a_call_with_a_reading_from_before_the_step_may_come_at_any_time() {
    let switches: BTreeSet<u64> = runs_of(BEFORE_THE_STEP).iter().map(|run| run.0).collect();
    assert_eq!(switches, BTreeSet::from([1, 2]));
}

#[test]
fn the_clock_may_go_back_and_forth_and_back_again() {
    assert!(runs_of(BACK_AND_FORTH).iter().any(|run| run.0 == 3));
}

#[test]
fn a_thread_that_dies_during_a_switch_does_not_affect_others() {
    let runs = KILLED.explore(|model| Copied::new(model, None));
    assert!(runs.iter().any(|(_, _, threads)| threads[1] == [Answer::Died]));
    assert!(runs.iter().all(|(_, _, threads)| matches!(threads[0][1], Answer::Ids(_))), "the other thread must not be blocked");
}

/// The message of the panic in which an exploration ends.
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
        assert!(panic.starts_with(REPEATED), "{defect:?}: {panic}");
    }
}

/// Mints two IDs at tick 1 through a frame, as a host does, and offers the key if it is asked for one.
fn mint_two_through_a_frame(
    registry: &Mutex<Registry>,
    start: SequenceStart,
    [high, low]: [u32; 2],
) -> (Handles, Box<Frame>, [u64; 2]) {
    let (mut handles, mut frame) = (Handles::new(), Box::new(Frame::new()));
    let fields = [("time", 3), ("node", 1), ("sequence", 4)];
    for (at, (name, bits)) in fields.into_iter().enumerate() {
        let kind = KINDS.iter().position(|kind| kind.0 == name).unwrap();
        frame.numbers[slot::FIELDS + 2 * at] = f64::from(u8::try_from(kind).unwrap());
        frame.numbers[slot::FIELDS + 2 * at + 1] = f64::from(bits);
    }
    frame.numbers[slot::FIELD_COUNT] = 3.0;
    let start = SequenceStart::ALL.iter().position(|known| *known == start).unwrap();
    frame.numbers[slot::SEQUENCE_START] = f64::from(u8::try_from(start).unwrap());
    for at in [slot::TICK_MS, slot::HAS_NODE, slot::NODE] {
        frame.numbers[at] = 1.0;
    }
    frame.numbers[slot::START_MS] = f64::NAN;
    assert_eq!(handles.open(&mut frame, &mut registry.lock().unwrap()), 0);

    let mut ids = [(); 2].map(|()| 0);
    for id in &mut ids {
        if handles.reserve(&mut frame, 0.0, 1.0, 1, true) == KEYLESS {
            frame.numbers[slot::HAS_KEY] = 1.0;
            frame.numbers[slot::KEY + 1] = f64::from(high);
            frame.numbers[slot::KEY + 3] = f64::from(low);
            assert_eq!(handles.reserve(&mut frame, 0.0, 1.0, 1, true), 0);
        }
        *id = frame.ids[0];
    }
    (handles, frame, ids)
}

/// The IDs of a key: four of tick 1, and one of each later tick.
fn ids_under(start: SequenceStart, key: Key) -> BTreeSet<u64> {
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
fn threads_that_open_one_state_and_each_offer_a_key_use_one_key() {
    for start in [SequenceStart::Random, SequenceStart::Wrap] {
        let keys = StdArc::new(StdMutex::new(BTreeSet::new()));
        let used = StdArc::clone(&keys);
        explore(move || {
            let registry = Arc::new(Mutex::new(Registry::new()));
            let hosts = [[1, 2], [3, 4]].map(|key| {
                let registry = Arc::clone(&registry);
                // The stack size is in words. A frame is created on the stack before it is boxed, and loom's default is too small.
                thread::Builder::new().stack_size(1 << 16).spawn(move || mint_two_through_a_frame(&registry, start, key)).unwrap()
            });
            let hosts = hosts.map(|host| host.join().unwrap());
            let mut ids: Vec<u64> = hosts.iter().flat_map(|(_, _, ids)| *ids).collect();
            for ((handles, mut frame, _), later) in hosts.into_iter().zip([[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]) {
                for now_ms in later {
                    assert_eq!(handles.reserve(&mut frame, 0.0, now_ms, 1, true), 0);
                    ids.push(frame.ids[0]);
                }
            }
            let all: BTreeSet<u64> = ids.iter().copied().collect();
            assert_eq!(all.len(), ids.len(), "{REPEATED} {ids:?}");
            let key =
                [(1, 2), (1, 4), (3, 2), (3, 4)].into_iter().find(|(high, low)| ids_under(start, Key::new(*high, *low)) == all);
            used.lock().unwrap().insert(key.unwrap());
        });
        // Mixed keys are possible too: each half is that of the thread that offered it first.
        assert!(keys.lock().unwrap().is_superset(&BTreeSet::from([(1, 2), (3, 4)])), "{keys:?}");
    }
}

/// How a thread offers a key: swapped in as the library does, or stored over a key that another thread offered and may have used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offer {
    Swapped,
    Stored,
}

/// Two threads each offer a key and mint two IDs of one tick with the key that they then read.
fn offer_keys(offer: Offer) {
    fn mint_two(state: &[AtomicU64; 3], own: [u64; 2], offer: Offer) -> [u64; 2] {
        let [word, key @ ..] = state;
        for (cell, half) in key.iter().zip(own) {
            match offer {
                Offer::Swapped => drop(cell.compare_exchange(0, half, Ordering::Relaxed, Ordering::Relaxed)),
                Offer::Stored => cell.store(half, Ordering::Relaxed),
            }
        }
        let [high, low] = [0, 1].map(|half: usize| key[half].load(Ordering::Relaxed));
        let machine = Machine::new(&WRAPPING.layout(), Node::Id(1), 0).unwrap();
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
            move || mint_two(&state, [1, 2], offer)
        });
        let ids = [mint_two(&state, [3, 4], offer), other.join().unwrap()].concat();
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 4, "{REPEATED} {ids:?}");
    });
}

#[test]
fn a_key_that_overwrites_another_repeats_an_id() {
    offer_keys(Offer::Swapped);
    let panic = panic_of(|| offer_keys(Offer::Stored));
    assert!(panic.contains(REPEATED), "{panic}");
}

/// A clock of one call.
struct At(u64);

impl Clock for At {
    fn now_ms(&self) -> frazil::Result<u64> {
        Ok(self.0)
    }
}

/// One generator for all threads, by [`Generator::next`].
#[derive(Clone)]
struct ByNext(StdArc<Generator>);

impl ByNext {
    fn kept(model: &Model, state: StdArc<State>) -> Self {
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
    fn on(model: &Model, state: StdArc<State>, kept: bool) -> Self {
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

const SHORT: Model = Model { sequence_bits: 2, before: &[at(1)], threads: &[&[at(1), at(2)], &[at(1)]], ..PLAIN };
const SHORT_AND_LEAD: Model =
    Model { sequence_bits: 2, max_lead_ms: 1, before: &[at(1), at(1)], threads: &[&[at(1), at(2)], &[at(1)]], ..PLAIN };
const SHORT_WITH_CLOCKS: Model = Model { sequence_bits: 2, before: &[at(5)], threads: &[&[at(2)], &[at(5)]], ..CLOCKS };
const SHORT_STRAGGLER: FileModel =
    FileModel { rules: SHORT, before: &[Mint(at(1))], threads: &[&[Mint(at(1))], &[Close, Begin(8), Mint(at(2))]], ..FILE };
const SHORT_FILE: FileModel = FileModel { threads: &[&[Mint(at(1))], &[Mint(at(1))]], ..SHORT_STRAGGLER };
const SHORT_EXTENDS: FileModel = FileModel { until_ms: 0, ..SHORT_STRAGGLER };

// docs/safety.md: 10, 13, 14, 15, 32
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

// docs/safety.md: 32
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

/// A clock that threads share and set.
struct SharedClock(AtomicU64);

impl Clock for SharedClock {
    fn now_ms(&self) -> frazil::Result<u64> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}

/// Two threads mint with one generator and one clock, which the first thread sets between its calls.
fn on_one_clock(model: Model, from_ms: u64, to_ms: u64, check: impl Fn(&Generator) + Send + Sync + 'static) {
    explore(move || {
        let shared = Arc::new((model.generator(), SharedClock(AtomicU64::new(from_ms))));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.0.next(&shared.1).ok()
        });
        let (ids, clock) = &*shared;
        let before = ids.next(clock).ok();
        clock.0.store(to_ms, Ordering::Relaxed);
        let after = ids.next(clock).ok();
        let minted: Vec<u64> = [before, after].into_iter().chain([other.join().unwrap()]).flatten().collect();
        assert_eq!(minted.iter().collect::<HashSet<_>>().len(), minted.len(), "{REPEATED} {minted:?}");
        assert_eq!(ids.stats().issued, minted.len() as u64);
        check(ids);
    });
}

#[test]
fn a_clock_that_is_set_back_between_calls_of_next_causes_no_repeat() {
    let switched = StdArc::new(StdMutex::new(BTreeSet::new()));
    let seen = StdArc::clone(&switched);
    on_one_clock(CLOCKS, 5, 2, move |ids| {
        seen.lock().unwrap().insert(ids.stats().switches);
    });
    assert!(switched.lock().unwrap().contains(&1), "{switched:?}");
}

#[test]
fn a_clock_that_goes_forward_is_never_counted_as_a_step_back() {
    on_one_clock(PLAIN, 1, 2, |ids| assert_eq!(ids.stats().steps_back, 0));
}

#[test]
fn health_and_stats_can_be_read_at_any_time_and_change_no_state() {
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

/// An action on a state file.
#[derive(Clone, Copy, Debug)]
enum Action {
    Mint(Call),
    Close,
    /// Begins the state anew, with a window from the ceiling to this time.
    Begin(u64),
}
use Action::{Begin, Close, Mint};

/// A state file, as `Snowflake.local()` has it, and the actions on it: before the threads start, by each thread, and after they
/// have ended.
#[derive(Clone, Copy, Debug)]
struct FileModel {
    rules: Model,
    /// The end of the first window, which begins at 0.
    until_ms: u64,
    before: &'static [Action],
    threads: &'static [&'static [Action]],
    after: &'static [Action],
}

/// The outcome of a file model in one execution: the answers before the threads started, to each thread, and after they ended.
type FileRun = Vec<Vec<Answer>>;

/// The beginning of the panic message if an ID could be repeated after a power loss.
const ABOVE_CEILING: &str = "an ID lies above the ceiling:";

impl FileModel {
    /// Explores the model with the generators that `make` creates on its state, checks the guarantees in every execution, and
    /// returns all outcomes.
    fn explore<M: Mints>(
        self,
        defect: Option<Defect>,
        make: impl Fn(&Model, StdArc<State>) -> M + Send + Sync + 'static,
    ) -> BTreeSet<FileRun> {
        let outcomes = StdArc::new(StdMutex::new(BTreeSet::new()));
        let collected = StdArc::clone(&outcomes);
        explore(move || {
            let window = Window { from_ms: 0, until_ms: self.until_ms };
            let state = StdArc::new(State::new(&self.rules, window, defect));
            let (run, above) = self.play(&make(&self.rules, StdArc::clone(&state)), &state);
            let mut all: Vec<u64> = run.iter().flat_map(|answers| ids(answers)).collect();
            all.sort_unstable();
            let twice = all.windows(2).find(|pair| pair[0] == pair[1]);
            assert!(twice.is_none(), "{REPEATED} {twice:?} in {run:?}");
            assert!(above.is_empty(), "{ABOVE_CEILING} {above:?} in {run:?}");
            collected.lock().unwrap().insert(run);
        });
        StdArc::into_inner(outcomes).unwrap().into_inner().unwrap()
    }

    /// One execution: its outcome, and each ID that lay above the ceiling after an action of a thread that knew the ID, with that
    /// ceiling.
    fn play(&self, first: &impl Mints, state: &StdArc<State>) -> (FileRun, Vec<(u64, u64)>) {
        fn play(
            model: &FileModel,
            own: &impl Mints,
            state: &State,
            actions: &[Action],
            known: &[u64],
        ) -> (Vec<Answer>, Vec<(u64, u64)>) {
            let Model { clock_bits, sequence_bits, .. } = model.rules;
            let (mut answers, mut above) = (Vec::new(), Vec::new());
            for action in actions {
                match *action {
                    Mint(call) => answers.push(own.mint(call)),
                    Close => state.close(&model.rules.machine()),
                    Begin(until_ms) => state.begin(until_ms),
                }
                let ceiling_ms = state.ceiling();
                let known = known.iter().copied().chain(ids(&answers));
                above.extend(known.filter(|id| id >> (clock_bits + 1 + sequence_bits) >= ceiling_ms).map(|id| (id, ceiling_ms)));
            }
            (answers, above)
        }
        let mut stages = vec![play(self, first, state, self.before, &[])];
        let known: Vec<u64> = ids(&stages[0].0).collect();
        let (own, others) = self.threads.split_first().unwrap();
        let others: Vec<_> = others
            .iter()
            .map(|actions| {
                let (model, clone, state, known) = (*self, first.clone(), StdArc::clone(state), known.clone());
                thread::spawn(move || play(&model, &clone, &state, actions, &known))
            })
            .collect();
        stages.push(play(self, first, state, own, &known));
        stages.extend(others.into_iter().map(|other| other.join().unwrap()));
        let known: Vec<u64> = stages.iter().flat_map(|(answers, _)| ids(answers)).collect();
        stages.push(play(self, first, state, self.after, &known));
        let (run, above): (_, Vec<_>) = stages.into_iter().unzip();
        (run, above.concat())
    }

    /// The ID of a tick, clock id and number, as an answer.
    fn id(&self, tick: u64, clock: u64, sequence: u64) -> Answer {
        Answer::Ids(vec![self.rules.id(tick, clock, sequence)])
    }
}

const FILE: FileModel = FileModel { rules: PLAIN, until_ms: 8, before: &[], threads: &[], after: &[] };
const FILE_WITH_CLOCKS: FileModel = FileModel { rules: CLOCKS, before: &[Mint(at(5))], ..FILE };

const EXTENDED: FileModel = FileModel { until_ms: 0, threads: &[&[Mint(at(1)), Mint(at(2))], &[Mint(at(1))]], ..FILE };
const EXTENDED_BLOCKS: FileModel = FileModel {
    rules: Model { max_lead_ms: 2, ..PLAIN },
    until_ms: 0,
    threads: &[&[Mint(block(1, 3))], &[Mint(at(2)), Mint(at(2))]],
    ..FILE
};
const CLOSED: FileModel = FileModel {
    threads: &[&[Mint(at(1)), Mint(at(2))], &[Close]],
    after: &[Begin(8), Mint(at(2)), Mint(at(2)), Mint(at(3))],
    ..FILE
};
const CLOSED_FOR_TWO_THREADS: FileModel =
    FileModel { threads: &[&[Mint(at(1))], &[Mint(at(1))], &[Close]], after: &[Begin(8), Mint(at(1)), Mint(at(2))], ..FILE };
const CLOSED_CLOCKS: FileModel = FileModel {
    threads: &[&[Mint(at(2)), Mint(at(6))], &[Close]],
    after: &[Begin(8), Mint(at(5)), Mint(at(6)), Mint(at(7))],
    ..FILE_WITH_CLOCKS
};
const STRAGGLER: FileModel =
    FileModel { threads: &[&[Mint(at(1)), Mint(at(2))], &[Mint(at(1)), Close, Begin(8), Mint(at(2))]], ..FILE };
const STRAGGLER_BACK: FileModel = FileModel { threads: &[&[Mint(at(2))], &[Close, Begin(8), Mint(at(6))]], ..FILE_WITH_CLOCKS };
const STRAGGLER_AHEAD: FileModel = FileModel { threads: &[&[Mint(at(6))], &[Close, Begin(4), Mint(at(1))]], ..FILE };
const STRAGGLER_EXTENDS: FileModel = FileModel { until_ms: 0, ..STRAGGLER_AHEAD };

/// All outcomes of a file model. They must be the same on the generator and on the copy of its loop.
fn file_runs_of(model: FileModel) -> BTreeSet<FileRun> {
    let runs = model
        .explore(None, |rules, state| Generator::kept(&rules.layout(), Node::Id(1), Some(rules.max_lead_ms), state).unwrap());
    assert!(
        runs == model.explore(None, |rules, state| Copied::on(rules, state, true)),
        "the copy differs from the generator: {model:?}"
    );
    runs
}

/// All answers to a call of a stage: the calls before the threads started, those of each thread, and those after they ended.
fn answers(runs: &BTreeSet<FileRun>, stage: usize, call: usize) -> BTreeSet<Answer> {
    runs.iter().map(|run| run[stage][call].clone()).collect()
}

const BACKWARD_ANSWER: Answer = Answer::Refused("CLOCK_BACKWARD");
const CLOSED_ANSWER: Answer = Answer::Refused("CLOSED");

// docs/safety.md: 10
#[test]
fn ids_issued_while_the_window_is_extended_lie_below_the_ceiling() {
    let runs = file_runs_of(EXTENDED);
    assert_eq!(answers(&runs, 1, 1), BTreeSet::from([EXTENDED.id(2, 0, 0)]));
    assert_eq!(answers(&runs, 2, 0), BTreeSet::from([EXTENDED.id(1, 0, 0), EXTENDED.id(1, 0, 1), BACKWARD_ANSWER]));

    let lengths: BTreeSet<usize> = file_runs_of(EXTENDED_BLOCKS).iter().map(|run| ids(&run[1]).count()).collect();
    assert_eq!(lengths, BTreeSet::from([1, 2, 3]), "a block must end with the window, however far other threads extended it");
}

// docs/safety.md: 13
#[test]
fn closing_refuses_calls_that_are_in_progress() {
    let runs = file_runs_of(CLOSED);
    assert_eq!(answers(&runs, 1, 0), BTreeSet::from([CLOSED.id(1, 0, 0), CLOSED_ANSWER]));
    assert_eq!(answers(&runs, 1, 1), BTreeSet::from([CLOSED.id(2, 0, 0), CLOSED_ANSWER]));
    assert_eq!(
        answers(&runs, 3, 0),
        BTreeSet::from([CLOSED.id(2, 0, 0), BACKWARD_ANSWER]),
        "the ceiling must be as low as possible"
    );
    assert_eq!(answers(&runs, 3, 2), BTreeSet::from([CLOSED.id(3, 0, 0)]));

    let runs = file_runs_of(CLOSED_FOR_TWO_THREADS);
    assert!([1, 2].iter().all(|thread| answers(&runs, *thread, 0).contains(&CLOSED_ANSWER)));
    assert_eq!(answers(&runs, 4, 0), BTreeSet::from([CLOSED.id(1, 0, 0), BACKWARD_ANSWER]));

    // The ceiling must not be below the tick that was used before the clock went back.
    let runs = file_runs_of(CLOSED_CLOCKS);
    assert_eq!(answers(&runs, 3, 0), BTreeSet::from([BACKWARD_ANSWER]));
    assert_eq!(answers(&runs, 3, 2), BTreeSet::from([CLOSED_CLOCKS.id(7, 0, 0)]));
}

// docs/safety.md: 14, 15
#[test]
fn a_straggler_may_mint_while_the_state_begins_anew() {
    let runs = file_runs_of(STRAGGLER);
    let both = [STRAGGLER.id(1, 0, 0), STRAGGLER.id(1, 0, 1)];
    assert_eq!(
        answers(&runs, 1, 0),
        BTreeSet::from(both).union(&BTreeSet::from([BACKWARD_ANSWER, CLOSED_ANSWER])).cloned().collect()
    );

    let runs = file_runs_of(STRAGGLER_BACK);
    assert_eq!(answers(&runs, 1, 0), BTreeSet::from([STRAGGLER_BACK.id(2, 1, 0), BACKWARD_ANSWER, CLOSED_ANSWER]));

    // The first ID is skipped if it was reserved under the old window and the straggler extends the new one.
    for model in [STRAGGLER_AHEAD, STRAGGLER_EXTENDS] {
        let expected = BTreeSet::from([model.id(6, 0, 0), model.id(6, 0, 1), BACKWARD_ANSWER, CLOSED_ANSWER]);
        assert_eq!(answers(&file_runs_of(model), 1, 0), expected, "{model:?}");
    }
}

#[test]
fn every_defect_of_a_state_file_repeats_an_id_at_once_or_after_a_power_loss() {
    for (defect, model, found) in [
        (Defect::RaisedBeforeTheDisk, EXTENDED, ABOVE_CEILING),
        (Defect::RaisedBeforeTheDisk, EXTENDED_BLOCKS, ABOVE_CEILING),
        (Defect::ExtendedUnlocked, STRAGGLER_EXTENDS, ABOVE_CEILING),
        (Defect::LoweredInsteadOfClosed, CLOSED, REPEATED),
        (Defect::RelaxedClose, CLOSED_CLOCKS, REPEATED),
        (Defect::RelaxedSwap, CLOSED_CLOCKS, REPEATED),
        (Defect::RaisedAfterTheSwap, CLOSED_CLOCKS, REPEATED),
        (Defect::WordBeforeWindow, STRAGGLER, REPEATED),
        (Defect::RelaxedWordStore, STRAGGLER, REPEATED),
        (Defect::WindowNotRechecked, STRAGGLER, REPEATED),
        (Defect::WindowNotRechecked, STRAGGLER_AHEAD, ABOVE_CEILING),
        (Defect::SwapWithoutAcquire, STRAGGLER, REPEATED),
        (Defect::SwapWithoutAcquire, STRAGGLER_AHEAD, ABOVE_CEILING),
    ] {
        let panic = panic_of(|| drop(model.explore(Some(defect), |rules, state| Copied::on(rules, state, true))));
        assert!(panic.starts_with(found), "{defect:?}: {panic}");
    }
}
