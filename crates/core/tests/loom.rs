//! Every interleaving of a few calls on one state, and every value that an atomic may show them: loom explores both.
//!
//! A [`Model`] is a layout of a few bits and what each thread asks of it. The clock is a number in each call, so nothing
//! waits for time. It is explored on the generator that is shipped; on a copy of its loop ([`Copied`]), which must come to
//! the very same set of outcomes; and on that copy with a [`Defect`], where loom must find an ID twice: an exploration that
//! finds nothing wrong with a broken copy says nothing about the other two.
//!
//! * **Seen**: every order of the steps of two or three threads in which at most [`PREEMPTIONS`] times a thread is stopped
//!   that could have gone on, and every older value (of the last seven) that a load may return under its ordering.
//! * **Not seen**: a compare-and-swap that fails for no reason, which Miri does; one that fails on an older value, which is
//!   no more than an older load; and loads of values that are stored later (*load buffering*), which takes a store that
//!   depends on no load before it, and the loop has none.
//!
//! `npm test -- loom` runs it; it needs `--cfg frazil_loom`.
#![cfg(frazil_loom)]
#![allow(clippy::unwrap_used, reason = "a model that cannot be set up has failed")]

use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc as StdArc, Mutex as StdMutex};

use frazil::page::{Desk, KEYLESS, KINDS, Page, STARTS, slot};
use frazil::{
    Clock, ClockIds, Field, Generator, GeneratorOptions, Key, Layout, LayoutSpec, Machine, Node, Outcome, Parts, Registry,
    Reservation, SequenceStart, Window,
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
}

/// The loop of `Generator::reserve`, on loom's atomics and the public, pure `Machine`.
struct Copied {
    machine: Machine,
    state: Arc<State>,
    switches: Cell<u64>,
    defect: Option<Defect>,
}

struct State {
    word: AtomicU64,
    cells: Vec<AtomicU64>,
}

impl ClockIds for State {
    fn free_from(&self, clock: usize) -> u64 {
        self.cells.get(clock).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
}

impl Clone for Copied {
    fn clone(&self) -> Self {
        Self { machine: self.machine, state: Arc::clone(&self.state), switches: Cell::new(0), defect: self.defect }
    }
}

impl Copied {
    fn new(model: &Model, defect: Option<Defect>) -> Self {
        let cells = if model.clock_bits == 0 { 0 } else { 1 << model.clock_bits };
        let cells = (0..cells).map(|_| AtomicU64::new(0)).collect();
        let machine = Machine::new(&model.layout(), Node::Id(1), model.max_lead_ms).unwrap().starting(model.start, KEY);
        Self { machine, state: Arc::new(State { word: AtomicU64::new(0), cells }), switches: Cell::new(0), defect }
    }

    fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    fn raise(&self, leaves: Option<(usize, u64)>) {
        if let Some((clock, free_from)) = leaves {
            let free_from = free_from - u64::from(self.has(Defect::RaisedTooLittle));
            self.state.cells[clock].fetch_max(free_from, Ordering::Relaxed);
        }
    }

    fn swap(&self, word: u64, next: u64) -> Result<u64, u64> {
        let reload = if self.has(Defect::RelaxedReload) { Ordering::Relaxed } else { Ordering::Acquire };
        let swap = if self.has(Defect::RelaxedSwap) { Ordering::Relaxed } else { Ordering::Release };
        if self.has(Defect::StoredInsteadOfSwapped) {
            self.state.word.store(next, swap);
            return Ok(word);
        }
        self.state.word.compare_exchange_weak(word, next, swap, reload)
    }
}

impl Mints for Copied {
    fn mint(&self, Call { now_ms, want, confirmed, dies }: Call) -> Answer {
        let load = if self.has(Defect::RelaxedLoad) { Ordering::Relaxed } else { Ordering::Acquire };
        let mut word = self.state.word.load(load);
        loop {
            match self.machine.reserve(word, Window::OPEN, &*self.state, now_ms, want, confirmed) {
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
                    self.switches.set(self.switches.get() + u64::from(switched));
                    let mut ids = vec![0; block.len()];
                    block.write(&mut ids);
                    return Answer::Ids(ids);
                }
                Outcome::Recheck => return Answer::Recheck,
                Outcome::Stalled { cause, .. } => return Answer::Refused(cause.name()),
                Outcome::Refused(error) => return Answer::Refused(error.code().name()),
                Outcome::Expired { .. } => unreachable!("the window is open"),
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

#[test]
fn the_clock_is_followed_back_while_others_mint() {
    let [before, after] = [STEP_BACK.id(5, 0, 0), STEP_BACK.id(2, 1, 0)];
    let runs = runs_of(STEP_BACK);
    assert!(runs.iter().all(|run| run.0 == 1 && issued(run).contains(&before) && issued(run).contains(&after)));
}

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

/// What a host does with the desk: two IDs at tick 1, and the key where it is asked for one.
fn two_by_desk(registry: &Mutex<Registry>, start: SequenceStart, [high, low]: [u32; 2]) -> (Desk, Box<Page>, [u64; 2]) {
    let (mut desk, mut page) = (Desk::new(), Box::new(Page::new()));
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
    assert_eq!(desk.open(&mut page, &mut registry.lock().unwrap()), 0);

    let mut ids = [(); 2].map(|()| 0);
    for id in &mut ids {
        if desk.reserve(&mut page, 0, 1.0, 1, true) == KEYLESS {
            page.numbers[slot::HAS_KEY] = 1.0;
            page.numbers[slot::KEY + 1] = f64::from(high);
            page.numbers[slot::KEY + 3] = f64::from(low);
            assert_eq!(desk.reserve(&mut page, 0, 1.0, 1, true), 0);
        }
        *id = page.ids[0];
    }
    (desk, page, ids)
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
                thread::Builder::new().stack_size(1 << 16).spawn(move || two_by_desk(&registry, start, key)).unwrap()
            });
            let hosts = hosts.map(|host| host.join().unwrap());
            let mut ids: Vec<u64> = hosts.iter().flat_map(|(_, _, ids)| *ids).collect();
            for ((desk, mut page, _), later) in hosts.into_iter().zip([[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]) {
                for now_ms in later {
                    assert_eq!(desk.reserve(&mut page, 0, now_ms, 1, true), 0);
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
