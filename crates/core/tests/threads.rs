//! Real threads on one state while the clock goes back and forth. The tests are small enough for Miri, which runs each seed of
//! `-Zmiri-many-seeds` with other interleavings, older values in loads, and swaps that fail spuriously.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::sync::Mutex;
use std::thread;

use frazil::clock::ManualClock;
use frazil::layout::{Field, LayoutSpec};
use frazil::mint::{Key, SequenceStart};
use frazil::{Generator, GeneratorOptions, Layout, Node, Registry};

const THREADS: u64 = 3;
const CALLS: u64 = if cfg!(miri) { 6 } else { 20_000 };

fn layout(clock_bits: u32) -> Layout {
    let clock = (clock_bits > 0).then_some(Field::clock(clock_bits));
    let fields = [Field::time(30)].into_iter().chain(clock).chain([Field::node(1), Field::sequence(3)]).collect();
    Layout::new(LayoutSpec { epoch_ms: 0, tick_ms: 1, unsigned: false, fields }).unwrap()
}

/// Opens a generator in each thread and mints in turn by `fill`, by `next`, and by the `next` of an unshared one; before each call
/// the thread sets the clock to `time(thread, call)`. Returns the number of IDs, none of which may be repeated, and how often a
/// thread followed the clock back.
fn mint(layout: &Layout, sequence_start: SequenceStart, time: impl Fn(u64, u64) -> u64 + Sync) -> (usize, u64) {
    let (registry, clock) = (Mutex::new(Registry::new()), ManualClock::new(0));
    let open = |number| {
        let key = Some(Key::new(number + 1, number + 1));
        let options = GeneratorOptions { sequence_start, key, start_ms: Some(0), ..GeneratorOptions::new(Node::Id(1)) };
        registry.lock().unwrap().open(layout, options).unwrap()
    };
    let run = |ids: &Generator, number| {
        let (mut own, mut unshared) = (Vec::new(), ids.unshared());
        for call in 0..CALLS {
            clock.set_ms(time(number, call));
            let mut block = [0; 3];
            // Refused if the clock went back and no clock id is free; the next call has another time.
            match call % 6 {
                0 | 3 => own.extend(ids.fill(&clock, &mut block).into_iter().flat_map(|count| &block[..count])),
                1 | 2 => own.extend(ids.next(&clock)),
                _ => own.extend(unshared.next(&clock)),
            }
        }
        let counted = [ids.stats(), unshared.stats()];
        assert_eq!(counted.map(|stats| stats.issued).iter().sum::<u64>(), own.len() as u64);
        (own, counted.map(|stats| stats.switches).iter().sum::<u64>())
    };
    let (mut all, mut switches) = (Vec::new(), 0);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || run(&open(number), number))).collect();
        for thread in threads {
            let (ids, more) = thread.join().unwrap();
            all.extend(ids);
            switches += more;
        }
    });
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "an ID was issued twice");
    (count, switches)
}

/// One millisecond later with each call, in every thread.
fn forward(_: u64, call: u64) -> u64 {
    100 + call
}

/// As `forward`, but every third call of the first thread sets the clock back by 50 ms, which is more than the lead.
fn back_and_forth(thread: u64, call: u64) -> u64 {
    if thread == 0 && call % 3 == 2 { 50 + call } else { 100 + call }
}

// docs/internals/claims.md: 2
#[test]
fn threads_without_clock_ids_mint_unique_ids() {
    for start in [SequenceStart::Zero, SequenceStart::Wrap] {
        let (count, switches) = mint(&layout(0), start, forward);
        assert!(count >= usize::try_from(CALLS).unwrap(), "{count} IDs");
        assert_eq!(switches, 0);
    }
}

// docs/internals/claims.md: 2, 7
#[test]
fn threads_whose_clock_goes_back_and_forth_mint_unique_ids() {
    for start in [SequenceStart::Zero, SequenceStart::Wrap] {
        let (count, switches) = mint(&layout(2), start, back_and_forth);
        assert!(count >= usize::try_from(CALLS).unwrap(), "{count} IDs");
        assert!(switches > 0 || cfg!(miri), "no thread followed the clock back; one seed of Miri may miss every step");
    }
}
