//! States with a [`Keeper`]: what the generator asks of it, and the calls of the handle table for such states.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]
#![allow(clippy::float_cmp, reason = "small whole numbers that one side put there and the other reads")]

mod handles;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use frazil::clock::ManualClock;
use frazil::error::{Rule, Subject};
use frazil::layout::{Field, LayoutSpec};
use frazil::mint::{Keeper, Key, Machine, Reservation, SequenceStart, StateAtomics, StateFile, Window};
use frazil::{Code, Error, Generator, Layout, Node, Result};

const T: u64 = 1_720_000_000_000;

/// A keeper with a state in memory, which records the calls of `extend`.
#[derive(Debug)]
struct Memory {
    word: AtomicU64,
    origin: AtomicU64,
    until_ms: AtomicU64,
    key: [AtomicU64; 2],
    clocks: Vec<AtomicU64>,
    start: SequenceStart,
    asked: Mutex<Vec<(u64, u64)>>,
    /// By how much it extends beyond the time that is asked for.
    more_ms: u64,
    /// By how much the clock is ahead of the time that it trusts.
    ahead_ms: u64,
    failed: AtomicBool,
}

impl Memory {
    fn new(from_ms: u64) -> Self {
        Self {
            word: AtomicU64::new(0),
            origin: AtomicU64::new(from_ms),
            until_ms: AtomicU64::new(from_ms),
            key: [AtomicU64::new(0), AtomicU64::new(0)],
            clocks: Vec::new(),
            start: SequenceStart::Zero,
            asked: Mutex::new(Vec::new()),
            more_ms: 0,
            ahead_ms: 0,
            failed: AtomicBool::new(false),
        }
    }

    fn asked(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Keeper for Memory {
    fn atomics(&self) -> StateAtomics<'_> {
        let Self { word, origin, until_ms, key, clocks, start, .. } = self;
        StateAtomics { word, origin, until_ms, key, start: *start, clocks }
    }

    fn extend(&self, until_ms: u64, now_ms: u64) -> Result<u64> {
        self.asked.lock().unwrap().push((until_ms, now_ms));
        if let Some(fault) = self.fault() {
            return Err(fault);
        }
        if self.more_ms > 0 {
            self.until_ms.store((until_ms + self.more_ms).min(now_ms - self.ahead_ms + 1000), Relaxed);
        }
        Ok(now_ms - self.ahead_ms)
    }

    fn fault(&self) -> Option<Error> {
        self.failed.load(Relaxed).then_some(Error::with_subject(Code::StateFileFailed, Subject::Dir))
    }

    fn explain(&self) -> Option<String> {
        Some("größer als der Platz".to_owned())
    }

    fn file(&self) -> Option<StateFile> {
        let mut file = StateFile::new("/ä/file", "ext4");
        (file.ceiling_ms, file.attached, file.raises, file.distrusted_ms) = (5000, Some(3), 4, 6);
        Some(file)
    }
}

fn generator(memory: &Arc<Memory>, max_lead_ms: u64) -> Generator {
    let keeper: Arc<dyn Keeper> = Arc::<Memory>::clone(memory);
    Generator::kept(&Layout::named("default").unwrap(), Node::Id(7), Some(max_lead_ms), keeper).unwrap()
}

#[test]
fn a_call_that_finds_the_window_over_extends_it() {
    let memory = Arc::new(Memory { more_ms: 4, ..Memory::new(T) });
    let ids = generator(&memory, 0);
    let clock = ManualClock::new(T);
    ids.next(&clock).unwrap();
    assert_eq!(memory.asked(), [(T + 1, T)]);
    for _ in 0..5 {
        ids.next(&clock).unwrap();
        clock.set_ms(T + 4);
    }
    assert_eq!(memory.asked(), []);
    clock.set_ms(T + 5);
    ids.next(&clock).unwrap();
    assert_eq!(memory.asked(), [(T + 6, T + 5)]);
    assert_eq!((ids.stats().extensions, ids.stats().issued), (2, 7));
    // A time before the window is an error of the clock.
    let error = ids.reserve(T - 10, 1, true).unwrap_err();
    assert_eq!((error.code(), error.retry_after_ms()), (Code::ClockBackward, 15));
    assert_eq!(memory.asked(), []);
}

// docs/internals/claims.md: 10
#[test]
fn a_block_ends_with_the_window_and_the_lead_stays_inside_it() {
    let memory = Arc::new(Memory::new(T));
    memory.until_ms.store(T + 3, Relaxed);
    let ids = generator(&memory, 1000);
    let Ok(Reservation::Issued { block, .. }) = ids.reserve(T, 1 << 20, false) else { unreachable!() };
    assert_eq!(block.len(), 3 * 4096);
    let error = ids.reserve(T, 1, false).unwrap_err();
    assert_eq!(
        (error.code(), error.retry_after_ms()),
        (Code::LeaseExpired, 1),
        "the window was not extended, and a call must not ask forever"
    );
    assert_eq!(memory.asked(), vec![(T + 4, T); 8]);
    assert_eq!((ids.stats().extensions, ids.stats().stalls), (8, 1));
}

#[test]
fn ids_have_the_time_that_the_keeper_trusts() {
    let memory = Arc::new(Memory { more_ms: 1, ahead_ms: 3_600_000, ..Memory::new(T) });
    let ids = generator(&memory, 0);
    let Ok(Reservation::Issued { block, wall_tick_ms }) = ids.reserve(T + 3_600_005, 1, false) else { unreachable!() };
    let decoded = Layout::named("default").unwrap().decode(block.first()).unwrap();
    assert_eq!((decoded.timestamp_ms, wall_tick_ms), (T + 5, (T + 5, T + 6)));
}

#[test]
fn a_fault_of_the_keeper_refuses_calls_and_shows_in_health() {
    let memory = Arc::new(Memory::new(T));
    let ids = generator(&memory, 0);
    assert_eq!(ids.health(T).refusal, None, "a call would extend the window");
    memory.failed.store(true, Relaxed);
    assert_eq!(ids.reserve(T, 1, false).unwrap_err().code(), Code::StateFileFailed);
    assert_eq!(ids.health(T).refusal.unwrap().code(), Code::StateFileFailed);
    assert_eq!(ids.keeper().unwrap().explain().as_deref(), Some("größer als der Platz"));
}

/// A keeper that implements only the required methods.
#[derive(Debug)]
struct Silent(Memory);

impl Keeper for Silent {
    fn atomics(&self) -> StateAtomics<'_> {
        self.0.atomics()
    }

    fn extend(&self, _until_ms: u64, _now_ms: u64) -> Result<u64> {
        Err(Error::retry_after(Code::LeaseExpired, 7))
    }
}

#[test]
fn a_keeper_may_leave_the_optional_methods_out() {
    let ids = Generator::kept(&Layout::named("default").unwrap(), Node::Id(7), None, Arc::new(Silent(Memory::new(T)))).unwrap();
    assert_eq!(ids.reserve(T, 1, false).unwrap_err().retry_after_ms(), 7);
    let keeper = ids.keeper().unwrap();
    assert_eq!((keeper.fault(), keeper.explain(), keeper.file()), (None, None, None));
    assert_eq!((ids.health(T).refusal, ids.max_lead_ms()), (None, 1000));
}

/// A keeper whose window another process extends, and does not get ready.
#[derive(Debug)]
struct Obstructed(Memory);

impl Keeper for Obstructed {
    fn atomics(&self) -> StateAtomics<'_> {
        self.0.atomics()
    }

    fn extend(&self, _until_ms: u64, now_ms: u64) -> Result<u64> {
        self.obstacle(now_ms).map_or(Ok(now_ms), Err)
    }

    fn obstacle(&self, now_ms: u64) -> Option<Error> {
        Some(Error::retry_after(Code::LeaseExpired, now_ms - T))
    }
}

#[test]
fn health_shows_what_a_call_would_wait_for_once_the_window_is_over() {
    let memory = Memory::new(T);
    memory.until_ms.store(T + 5, Relaxed);
    let ids = Generator::kept(&Layout::named("default").unwrap(), Node::Id(7), Some(0), Arc::new(Obstructed(memory))).unwrap();
    assert!(ids.reserve(T + 4, 1, true).is_ok());
    assert_eq!(ids.health(T + 4).refusal, None, "the window is not over");
    let refusal = ids.health(T + 5).refusal.unwrap();
    assert_eq!((refusal.code(), refusal.retry_after_ms()), (Code::LeaseExpired, 5));
    assert_eq!(ids.reserve(T + 5, 1, true).unwrap_err(), refusal);
}

/// A keeper that another thread has given up, and whose calls would wait until that is done.
#[derive(Debug)]
struct BeingGivenUp(Memory);

impl Keeper for BeingGivenUp {
    fn atomics(&self) -> StateAtomics<'_> {
        self.0.atomics()
    }

    fn extend(&self, until_ms: u64, now_ms: u64) -> Result<u64> {
        self.0.extend(until_ms, now_ms)
    }

    fn obstacle(&self, _now_ms: u64) -> Option<Error> {
        (!self.0.failed.load(Relaxed)).then_some(Error::retry_after(Code::LeaseExpired, 10))
    }

    fn is_given_up(&self) -> bool {
        true
    }

    fn fault(&self) -> Option<Error> {
        self.0.fault()
    }
}

#[test]
fn health_waits_for_nobody_who_gives_the_state_up() {
    let memory = Memory::new(T);
    memory.until_ms.store(T + 5, Relaxed);
    memory.word.store(u64::MAX, Relaxed);
    let keeper = Arc::new(BeingGivenUp(memory));
    let ids =
        Generator::kept(&Layout::named("default").unwrap(), Node::Id(7), Some(0), Arc::<BeingGivenUp>::clone(&keeper)).unwrap();
    assert_eq!(ids.health(T).refusal.unwrap().code(), Code::LeaseExpired);
    keeper.0.failed.store(true, Relaxed);
    assert_eq!(ids.health(T).refusal.unwrap().code(), Code::StateFileFailed);
    assert_eq!(keeper.0.asked(), [], "a look gives nothing up itself");
    // A call does.
    assert_eq!(ids.reserve(T, 1, true).unwrap_err().code(), Code::StateFileFailed);
    assert_eq!(keeper.0.asked(), [(T, T)]);
}

// docs/internals/claims.md: 13
#[test]
fn a_closed_state_refuses_every_generator_until_it_is_begun_anew() {
    let memory = Arc::new(Memory { more_ms: 10, ..Memory::new(T) });
    let (ids, other) = (generator(&memory, 0), generator(&memory, 10));
    ids.reserve(T, 3, false).unwrap();
    assert_eq!(memory.atomics().close(ids.machine()), Some(T + 1));
    assert_eq!(memory.atomics().close(ids.machine()), None);
    for ids in [&ids, &other] {
        assert_eq!(ids.reserve(T + 5, 1, true).unwrap_err().code(), Code::Closed);
        assert_eq!(ids.health(T + 5).refusal.unwrap().code(), Code::Closed);
    }
    // A state whose time field is used up has the same word; it refuses calls too.
    let end_ms = ids.health(T).end_ms;
    assert_eq!(ids.reserve(end_ms, 1, true).unwrap_err().code(), Code::TimeExhausted);
    assert_eq!(other.reserve(end_ms - 10, 1, true).unwrap_err().code(), Code::TimeExhausted);
    assert_eq!(other.reserve(end_ms - 11, 1, true).unwrap_err().code(), Code::Closed);
    memory.atomics().begin_anew(Window { from_ms: T + 20, until_ms: T + 20 });
    assert_eq!(ids.reserve(T + 19, 1, true).unwrap_err().retry_after_ms(), 1);
    assert!(ids.reserve(T + 20, 1, true).is_ok());
}

// docs/internals/claims.md: 13
#[test]
fn closing_returns_the_end_of_the_last_tick_that_any_clock_id_was_used_for() {
    let layout = Layout::named("multi-clock").unwrap();
    let machine = Machine::new(&layout, Node::Id(7), 0).unwrap();
    let memory = Memory { clocks: (0..16).map(|_| AtomicU64::new(0)).collect(), ..Memory::new(0) };
    memory.until_ms.store(u64::MAX, Relaxed);
    let memory = Arc::new(memory);
    let keeper: Arc<dyn Keeper> = Arc::<Memory>::clone(&memory);
    let ids = Generator::kept(&layout, Node::Id(7), Some(0), keeper).unwrap();
    for now_ms in [T + 90, T] {
        assert!(matches!(ids.reserve(now_ms, 1, true), Ok(Reservation::Issued { .. })));
    }
    assert_eq!(ids.stats().switches, 1);
    assert_eq!(memory.atomics().close(&machine), Some(T + 91), "clock id 0 was last used at T + 90");
    memory.atomics().begin_anew(Window { from_ms: T + 91, until_ms: u64::MAX });
    assert!(memory.clocks.iter().all(|cell| cell.load(Relaxed) == 0), "every clock id is free after that time");
}

/// For example a forked child whose parent has chosen another start since then: the same positions are other IDs now.
// docs/internals/claims.md: 14
#[test]
fn a_state_begun_anew_with_another_sequence_start_refuses_generators_of_the_old_start() {
    let key = || [AtomicU64::new(1), AtomicU64::new(2)];
    let memory = Arc::new(Memory { more_ms: 1000, key: key(), ..Memory::new(T) });
    let ids = generator(&memory, 0);
    let Ok(Reservation::Issued { block, .. }) = ids.reserve(T, 3, false) else { unreachable!() };
    assert_eq!(memory.atomics().close(ids.machine()), Some(T + 1));
    let wrap = StateAtomics { start: SequenceStart::Wrap, ..memory.atomics() };
    for cells in [wrap, memory.atomics()] {
        cells.begin_anew(Window { from_ms: T + 1, until_ms: T + 1000 });
        let closed = cells.start == SequenceStart::Wrap;
        assert_eq!(memory.atomics().same_start(), !closed);
        match ids.reserve(T + 1, 1, true) {
            Err(error) => assert_eq!((closed, error.code()), (true, Code::Closed)),
            Ok(Reservation::Issued { block: next, .. }) => assert!(!closed && next.first() > block.first()),
            Ok(Reservation::Recheck) => unreachable!(),
        }
        assert_eq!(ids.health(T + 1).refusal.map(|error| error.code()), closed.then_some(Code::Closed));
    }
}

#[test]
fn the_key_of_the_keeper_is_used() {
    let memory = Arc::new(Memory {
        start: SequenceStart::Random,
        key: [AtomicU64::new(1), AtomicU64::new(2)],
        more_ms: 10,
        ..Memory::new(0)
    });
    memory.atomics().begin_anew(Window { from_ms: 0, until_ms: 0 });
    let ids = generator(&memory, 0);
    let now_ms = 1_704_067_200_001;
    assert_eq!(Key::new(3, 4).halves(), [3, 4]);
    let Ok(Reservation::Issued { block, .. }) = ids.reserve(now_ms, 1, false) else { unreachable!() };
    assert_eq!(block.first() & 0xfff, 740);
    memory.key[1].store(0, Relaxed);
    assert_eq!(ids.reserve(now_ms, 1, false).unwrap_err().rule(), Rule::StartKey);
}

#[test]
fn a_fingerprint_depends_on_the_layout_but_not_on_its_name_or_the_node_id() {
    let print = |spec: LayoutSpec| Machine::new(&Layout::new(spec).unwrap(), Node::Id(1), 5).unwrap().fingerprint();
    let plain = || LayoutSpec {
        epoch_ms: 5,
        tick_ms: 1,
        unsigned: false,
        fields: vec![Field::time(40), Field::node(8), Field::sequence(10)],
    };
    let mut prints = vec![print(plain())];
    for other in [
        LayoutSpec { epoch_ms: 6, ..plain() },
        LayoutSpec { tick_ms: 2, ..plain() },
        LayoutSpec { fields: vec![Field::time(41), Field::node(8), Field::sequence(10)], ..plain() },
        LayoutSpec { fields: vec![Field::time(40), Field::node(9), Field::sequence(9)], ..plain() },
        LayoutSpec { fields: vec![Field::time(40), Field::sequence(10), Field::node(8)], ..plain() },
        LayoutSpec { fields: vec![Field::time(40), Field::node(8), Field::clock(2), Field::sequence(8)], ..plain() },
    ] {
        prints.push(print(other));
    }
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), 7);
    let named =
        LayoutSpec { fields: vec![Field::time(40), Field::part("a", 4), Field::part("b", 4), Field::sequence(10)], ..plain() };
    assert_eq!(print(named), print(plain()));
    let rules = |node, lead_ms| Machine::new(&Layout::named("twitter").unwrap(), Node::Id(node), lead_ms).unwrap();
    assert_eq!(rules(1, 0).fingerprint(), rules(2, 10).fingerprint());
    assert_eq!((rules(113, 0).node(), rules(0, 0).tick_ms(), rules(0, 0).clock_ids()), (113, 1, 0));
    let of = |name| Machine::new(&Layout::named(name).unwrap(), Node::Id(0), 0).unwrap();
    assert_eq!((of("sonyflake").tick_ms(), of("multi-clock").clock_ids()), (10, 16));
}
