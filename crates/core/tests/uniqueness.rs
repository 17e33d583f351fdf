//! No ID is repeated. Each guarantee is tested next to a broken generator, which shows that the check can detect a repeat.
//!
//! Every scenario mints into a list, and one function counts the repeats. It must find none from the library, and some
//! from the broken generator of the scenario.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

use frazil::clock::ManualClock;
use frazil::layout::{Field, LayoutSpec};
use frazil::mint::{Machine, Outcome, Reservation, SequenceStart, Window};
use frazil::{Clock, Code, Generator, GeneratorOptions, Layout, Node, Registry, SystemClock};

/// 2024-07-03, in the layout `default`.
const T: u64 = 1_720_000_000_000;

/// How many IDs of the list repeat an earlier one.
fn repeats(ids: &[u64]) -> usize {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

#[test]
fn the_checker_counts_repeats() {
    assert_eq!(repeats(&[]), 0);
    assert_eq!(repeats(&[3, 1, 2]), 0);
    assert_eq!(repeats(&[3, 1, 3, 2, 1, 3]), 3);
}

/// A layout with four million IDs per millisecond, so that a tight loop never has to wait.
fn wide() -> Layout {
    let fields = vec![Field::time(40), Field::node(1), Field::sequence(22)];
    Layout::new(LayoutSpec { epoch_ms: 1_704_067_200_000, tick_ms: 1, unsigned: false, fields }).unwrap()
}

fn open(layout: &Layout) -> Generator {
    Registry::new().open(layout, GeneratorOptions::new(Node::Id(1))).unwrap()
}

/// One ID of the machine, and the word after it, for a state that the test keeps, correctly or not.
fn mint(machine: &Machine, word: u64, now_ms: u64) -> Option<(u64, u64)> {
    match machine.reserve(word, Window::OPEN, &[], now_ms, 1, true) {
        Outcome::Issued { word, block, .. } => Some((block.first(), word)),
        _ => None,
    }
}

#[test]
fn two_million_ids_in_a_tight_loop_are_unique() {
    let ids = open(&wide());
    let minted: Vec<u64> = (0..2_000_000).map(|_| ids.next(&SystemClock).unwrap()).collect();
    assert_eq!(repeats(&minted), 0);
    assert!(minted.is_sorted());
}

#[test]
fn a_generator_that_reads_a_stale_state_is_caught() {
    let machine = Machine::new(&wide(), Node::Id(1), 0).unwrap();
    let (word, stale) = (Cell::new(0), Cell::new(0));
    let minted: Vec<u64> = (0..10_000)
        .filter_map(|number| {
            // Once in a thousand calls it uses the state before the previous call.
            let read = if number % 1000 == 999 { stale.get() } else { word.get() };
            let (id, next) = mint(&machine, read, SystemClock.now_ms().unwrap())?;
            stale.set(word.get());
            word.set(next);
            Some(id)
        })
        .collect();
    assert_ne!(repeats(&minted), 0);
}

// docs/internals/claims.md: 3
#[test]
fn generators_with_one_node_id_share_a_state() {
    let (layout, mut registry) = (wide(), Registry::new());
    let mutants = [(); 2].map(|()| registry.open(&layout, GeneratorOptions::new(Node::Id(1))).unwrap());
    let minted: Vec<u64> = (0..200_000).map(|number| mutants[number % 2].next(&SystemClock).unwrap()).collect();
    assert_eq!(repeats(&minted), 0);
    assert!(minted.is_sorted());
}

#[test]
fn generators_with_one_node_id_and_a_state_each_are_caught() {
    let layout = wide();
    let options = || GeneratorOptions { max_lead_ms: Some(0), ..GeneratorOptions::new(Node::Id(1)) };
    let mutants = [(); 2].map(|()| Generator::private(&layout, options()).unwrap());
    let minted: Vec<u64> = (0..200_000).map(|number| mutants[number % 2].next(&SystemClock).unwrap()).collect();
    assert_ne!(repeats(&minted), 0);
}

const THREADS: usize = 4;

/// The IDs that four threads mint, thread by thread.
fn on_threads(count: usize, mint: impl Fn(usize) -> u64 + Sync) -> Vec<u64> {
    let minted = Mutex::new(Vec::with_capacity(THREADS * count));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let own: Vec<u64> = (0..count).map(&mint).collect();
                minted.lock().unwrap().extend(own);
            });
        }
    });
    minted.into_inner().unwrap()
}

// docs/internals/claims.md: 2
#[test]
fn threads_that_share_a_generator_mint_two_million_unique_ids() {
    let ids = open(&wide());
    let minted = on_threads(500_000, |_| {
        loop {
            // Without a lead, a thread that was paused between reading the clock and the state is refused, and calls again.
            if let Ok(id) = ids.next(&SystemClock) {
                return id;
            }
        }
    });
    assert_eq!(minted.len(), 2_000_000);
    assert_eq!(repeats(&minted), 0);
}

#[test]
fn threads_that_load_and_store_instead_of_swapping_are_caught() {
    let machine = Machine::new(&wide(), Node::Id(1), 1000).unwrap();
    let (word, together) = (AtomicU64::new(0), Barrier::new(THREADS));
    let minted = on_threads(1000, |number| {
        let read = word.load(Ordering::SeqCst);
        if number == 500 {
            together.wait(); // forces the race: all threads have loaded and none has stored
        }
        let (id, next) = mint(&machine, read, SystemClock.now_ms().unwrap()).unwrap();
        word.store(next, Ordering::SeqCst);
        id
    });
    assert_ne!(repeats(&minted), 0);
}

#[test]
fn on_a_frozen_clock_the_tick_and_the_lead_are_issued_and_then_calls_are_refused() {
    let layout = Layout::named("default").unwrap();
    let ids = Generator::private(&layout, GeneratorOptions::new(Node::Id(1))).unwrap();
    let clock = ManualClock::new(T);
    let mut minted = Vec::new();
    for _ in 0..100_000 {
        match ids.next(&clock) {
            Ok(id) => minted.push(id),
            Err(error) => assert_eq!((error.code(), error.retry_after_ms()), (Code::SequenceExhausted, 1)),
        }
    }
    assert_eq!(minted.len(), 11 * 4096, "the tick of the clock and ten ticks of lead");
    assert_eq!(repeats(&minted), 0);
}

#[test]
fn a_sequence_that_wraps_within_its_tick_is_caught() {
    let layout = Layout::named("default").unwrap();
    let machine = Machine::new(&layout, Node::Id(1), 10).unwrap();
    let word = Cell::new(0);
    let minted: Vec<u64> = (0..100_000)
        .filter_map(|_| {
            let (id, next) = mint(&machine, word.get(), T)?;
            let (tick, sequence) = (next >> 12, next & 0xfff);
            // Counts only in the low bits, as `(sequence + 1) & mask` does.
            word.set(if sequence == 0 { (tick - 1) << 12 } else { next });
            Some(id)
        })
        .collect();
    assert_ne!(repeats(&minted), 0);
}

/// All IDs that a process can mint while its clock shows these times.
fn process(layout: &Layout, start_ms: u64, max_lead_ms: u64, sequence_start: SequenceStart, times_ms: Range<u64>) -> Vec<u64> {
    let (start_ms, max_lead_ms) = (Some(start_ms), Some(max_lead_ms));
    let options = GeneratorOptions { start_ms, max_lead_ms, sequence_start, ..GeneratorOptions::new(Node::Id(1)) };
    let ids = Registry::new().open(layout, options).unwrap();
    let clock = ManualClock::new(0);
    let at = |now_ms| {
        clock.set_ms(now_ms);
        std::iter::from_fn(|| ids.next(&clock).ok()).collect::<Vec<u64>>()
    };
    times_ms.flat_map(at).collect()
}

/// How many IDs two processes with one static node id repeat. In its last millisecond the first issues all IDs that its lead
/// allows; the second starts in the same millisecond. Tested with ticks of several lengths, at each millisecond of a tick.
fn across_a_restart(clock: Option<&Field>, lead_before_ms: u64, lead_ms: u64) -> usize {
    let mut repeated = 0;
    for (tick_ms, sequence_start) in (1..=3).flat_map(|tick_ms| SequenceStart::ALL.map(|start| (tick_ms, start))) {
        let fields = [Some(&Field::time(20)), clock, Some(&Field::node(1)), Some(&Field::sequence(3))];
        let fields = fields.into_iter().flatten().cloned().collect();
        let layout = Layout::new(LayoutSpec { epoch_ms: 1, tick_ms, unsigned: false, fields }).unwrap();
        for end_ms in 1000..1000 + tick_ms {
            let mut minted = process(&layout, 0, lead_before_ms, sequence_start, end_ms..end_ms + 1);
            assert!(minted.len() >= 6, "{minted:?}");
            minted.extend(process(&layout, end_ms, lead_ms, sequence_start, end_ms..end_ms + 20));
            repeated += repeats(&minted);
        }
    }
    repeated
}

// docs/internals/claims.md: 4
#[test]
fn a_restart_repeats_no_id_if_the_lead_of_the_predecessor_was_not_longer() {
    let clock = Field::clock(1);
    for (clock, lead_ms) in [None, Some(&clock)].into_iter().flat_map(|clock| (0..=7).map(move |lead_ms| (clock, lead_ms))) {
        for before_ms in 0..=lead_ms {
            assert_eq!(across_a_restart(clock, before_ms, lead_ms), 0, "{clock:?}, a lead of {before_ms} and then {lead_ms}");
        }
        // The guarantee does not cover a predecessor with a longer lead, and the checker detects its repeats.
        assert_ne!(across_a_restart(clock, lead_ms + 1, lead_ms), 0, "{clock:?}, a lead of {} and then {lead_ms}", lead_ms + 1);
    }
}

/// Mints while the clock is set back by `step_ms` three times.
fn through_steps_back(step_ms: u64, mut mint: impl FnMut(u64) -> Option<u64>) -> Vec<u64> {
    let mut minted = Vec::new();
    for round in 0..3 {
        let top = T + round * 20;
        for now_ms in (top..top + 50).chain(top + 50 - step_ms..top + 100 - step_ms).chain(top + 50..top + 70) {
            minted.extend((0..100).filter_map(|_| mint(now_ms)));
        }
    }
    minted
}

const STEPS_MS: [u64; 3] = [1, 1000, 3_600_000];

// docs/internals/claims.md: 1
#[test]
fn steps_back_cause_no_repeat() {
    let layout = Layout::named("default").unwrap();
    for step_ms in STEPS_MS {
        let ids = Generator::private(&layout, GeneratorOptions::new(Node::Id(1))).unwrap();
        let clock = ManualClock::new(0);
        let minted = through_steps_back(step_ms, |now_ms| {
            clock.set_ms(now_ms);
            let id = ids.next(&clock);
            assert!(id.is_ok() || id.is_err_and(|error| error.code() == Code::ClockBackward));
            id.ok()
        });
        assert!(minted.len() >= 3 * 70 * 100 / 2, "{} minted around steps of {step_ms} ms", minted.len());
        assert_eq!(repeats(&minted), 0, "after steps of {step_ms} ms");
        assert!(minted.is_sorted());
    }
}

#[test]
fn a_sequence_that_starts_again_after_a_step_back_is_caught() {
    let layout = Layout::named("default").unwrap();
    let machine = Machine::new(&layout, Node::Id(1), 10).unwrap();
    for step_ms in STEPS_MS {
        let (word, last_ms) = (Cell::new(0), Cell::new(0));
        let minted = through_steps_back(step_ms, |now_ms| {
            if now_ms < last_ms.get() {
                word.set(0);
            }
            last_ms.set(now_ms);
            let (id, next) = mint(&machine, word.get(), now_ms)?;
            word.set(next);
            Some(id)
        });
        assert_ne!(repeats(&minted), 0, "after steps of {step_ms} ms");
    }
}

/// The IDs that four threads mint while another sets the clock back and forth a hundred times, and to the same time twice in a
/// row. Each time is there for thousands of calls.
fn under_a_wild_clock(mint: impl Fn(u64) -> Option<u64> + Sync) -> Vec<u64> {
    let (clock, running, calls) = (AtomicU64::new(T), AtomicU64::new(1), AtomicU64::new(0));
    let minted = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut own = Vec::new();
                while running.load(Ordering::Relaxed) == 1 {
                    own.extend(mint(clock.load(Ordering::Relaxed)));
                    calls.fetch_add(1, Ordering::Relaxed);
                }
                minted.lock().unwrap().extend(own);
            });
        }
        for step in 0..100_u64 {
            clock.store(T + step / 5 * 50 + [60, 0, 90, 0, 30][usize::try_from(step % 5).unwrap()], Ordering::Relaxed);
            let before = calls.load(Ordering::Relaxed);
            while calls.load(Ordering::Relaxed) < before + 5000 {
                thread::yield_now();
            }
        }
        running.store(0, Ordering::Relaxed);
    });
    minted.into_inner().unwrap()
}

fn clocked() -> Layout {
    let fields = vec![Field::time(38), Field::clock(4), Field::node(1), Field::sequence(20)];
    Layout::new(LayoutSpec { epoch_ms: 1_704_067_200_000, tick_ms: 1, unsigned: false, fields }).unwrap()
}

// docs/internals/claims.md: 6, 7
#[test]
fn a_clock_that_goes_back_and_forth_causes_no_repeat_with_clock_ids() {
    let options = GeneratorOptions { max_lead_ms: Some(0), ..GeneratorOptions::new(Node::Id(1)) };
    let ids = Generator::private(&clocked(), options).unwrap();
    let minted = under_a_wild_clock(|now_ms| match ids.reserve(now_ms, 3, true) {
        Ok(Reservation::Issued { block, .. }) => Some(block.first()),
        _ => None,
    });
    assert!(minted.len() > 1000, "{}", minted.len());
    assert_eq!(repeats(&minted), 0);
    assert!(ids.stats().switches >= 20, "{:?}", ids.stats());
}

#[test]
fn a_generator_that_forgets_the_last_ticks_of_clock_ids_is_caught() {
    let machine = Machine::new(&clocked(), Node::Id(1), 0).unwrap();
    let word = AtomicU64::new(0);
    let minted = under_a_wild_clock(|now_ms| {
        let read = word.load(Ordering::SeqCst);
        let Outcome::Issued { word: next, block, .. } = machine.reserve(read, Window::OPEN, &[], now_ms, 3, true) else {
            return None;
        };
        word.compare_exchange(read, next, Ordering::SeqCst, Ordering::SeqCst).ok().map(|_| block.first())
    });
    assert_ne!(repeats(&minted), 0);
}

#[test]
fn a_clock_field_gives_a_tick_all_its_clock_ids_under_load() {
    let layout = Layout::named("multi-clock").unwrap();
    let options = GeneratorOptions { max_lead_ms: Some(0), ..GeneratorOptions::new(Node::Id(1)) };
    let ids = Generator::private(&layout, options).unwrap();
    let clock = ManualClock::new(T);
    // Four threads ask for 20,000 IDs in total.
    let minted = on_threads(5000, |_| ids.next(&clock).unwrap_or(0));
    let minted: Vec<u64> = minted.into_iter().filter(|id| *id != 0).collect();
    assert_eq!((minted.len(), repeats(&minted)), (1 << 14, 0));
}

/// The percentage of the IDs that the fullest of 16 shards gets, at one ID every two milliseconds.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn fullest_shard(sequence_start: SequenceStart) -> f64 {
    const IDS: usize = 20_000;
    let options = GeneratorOptions { sequence_start, ..GeneratorOptions::new(Node::Id(1)) };
    let ids = Generator::private(&Layout::named("default").unwrap(), options).unwrap();
    let mut shards = [0_usize; 16];
    for call in 0..IDS as u64 {
        let id = ids.next(&ManualClock::new(T + 2 * call)).unwrap();
        shards[usize::try_from(id % 16).unwrap()] += 1;
    }
    100.0 * shards.into_iter().max().unwrap_or(0) as f64 / IDS as f64
}

#[test]
fn a_keyed_start_spreads_the_ids_of_a_rarely_used_generator_over_all_shards() {
    // A sixteenth is 6.25 %; with 20,000 IDs, 8 % is ten standard deviations above.
    assert!(fullest_shard(SequenceStart::Random) <= 8.0);
    assert!(fullest_shard(SequenceStart::Wrap) <= 8.0);
    assert!(fullest_shard(SequenceStart::Zero) > 99.0, "with the start zero nearly all IDs are in one shard");
}
