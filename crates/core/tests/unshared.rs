//! The generator of one owner: what it serves, and what it leaves to the state's other generators.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::collections::HashSet;

use frazil::clock::ManualClock;
use frazil::layout::{Field, LayoutSpec};
use frazil::mint::{Key, SequenceStart, Unshared};
use frazil::{Code, Generator, GeneratorOptions, Layout, Node, Registry};
use proptest::prelude::*;

const T: u64 = 1_720_000_000_000;

fn default() -> Layout {
    Layout::named("default").unwrap()
}

fn private() -> Unshared {
    Generator::private(&default(), GeneratorOptions::new(Node::Id(7))).unwrap().unshared()
}

#[test]
fn an_id_is_served_in_the_tick_of_its_reservation_only() {
    let (mut ids, clock) = (private(), ManualClock::new(T));
    for _ in 0..10 {
        assert_eq!(default().decode(ids.next(&clock).unwrap()).unwrap().timestamp_ms, T);
    }
    // Five of the block of eight are left; they are never served.
    clock.set_ms(T + 1);
    let next = default().decode(ids.next(&clock).unwrap()).unwrap();
    assert_eq!((next.timestamp_ms, next.sequence), (T + 1, 0));
    assert_eq!(ids.stats().issued, 11);
}

#[test]
fn blocks_double_within_a_tick_and_take_what_was_served_before() {
    let shared = Generator::private(&default(), GeneratorOptions::new(Node::Id(7))).unwrap();
    let (mut ids, clock) = (shared.unshared(), ManualClock::new(T));
    let mut taken = Vec::new();
    for _ in 0..7 {
        taken.push(default().decode(ids.next(&clock).unwrap()).unwrap().sequence);
    }
    // 1 and 2 and 4: the word stands at 7, and the other generator goes on there.
    assert_eq!(taken, [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(default().decode(shared.next(&clock).unwrap()).unwrap().sequence, 7);
    assert_eq!(default().decode(ids.next(&clock).unwrap()).unwrap().sequence, 8);
    assert_eq!(default().decode(shared.next(&clock).unwrap()).unwrap().sequence, 16);
}

#[test]
fn a_refused_call_loses_no_id() {
    let (mut ids, clock) = (private(), ManualClock::new(T));
    let first = ids.next(&clock).unwrap();
    ids.next(&clock).unwrap();
    clock.set_ms(T - 100);
    let error = ids.next(&clock).unwrap_err();
    assert_eq!((error.code(), error.retry_after_ms()), (Code::ClockBackward, 90));
    clock.set_ms(T);
    assert_eq!(ids.next(&clock).unwrap(), first + 2, "the rest of the block of two");
    assert_eq!(ids.stats().issued, 3);
}

#[test]
fn an_array_continues_after_the_last_id() {
    let (mut ids, clock, mut out) = (private(), ManualClock::new(T), [0; 100]);
    let before: Vec<u64> = (0..5).map(|_| ids.next(&clock).unwrap()).collect();
    assert_eq!(ids.fill(&clock, &mut out).unwrap(), 100);
    let all: Vec<u64> = before.into_iter().chain(out).chain([ids.next(&clock).unwrap()]).collect();
    assert!(all.is_sorted_by(|a, b| a < b), "{all:?}");
    assert_eq!(ids.stats().issued, 106);
}

#[test]
fn an_empty_array_drops_nothing() {
    let (mut ids, clock) = (private(), ManualClock::new(T));
    let before: Vec<u64> = (0..5).map(|_| ids.next(&clock).unwrap()).collect();
    assert_eq!(ids.fill(&clock, &mut []).unwrap(), 0);
    assert_eq!(ids.next(&clock).unwrap(), before[4] + 1, "the rest of the block of four");
}

/// A call of one of the generators, at a time.
type Step = (u8, u64);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Times that stay, go on, and now and then go back.
    let moves = prop_oneof![8 => Just(0i64), 4 => 1..3i64, 1 => -4..0i64];
    prop::collection::vec((0u8..4, moves), 1..200).prop_map(|moves| {
        let mut now_ms = T;
        moves
            .into_iter()
            .map(|(who, by)| {
                (who, {
                    now_ms = now_ms.saturating_add_signed(by);
                    now_ms
                })
            })
            .collect()
    })
}

/// Repeats among the IDs of four callers on one state, of whom two are unshared. `serve` makes the calls of those.
fn repeats(
    layout: &Layout,
    sequence_start: SequenceStart,
    lead_ms: u64,
    steps: &[Step],
    mut serve: impl FnMut(&mut Unshared, &ManualClock) -> Option<u64>,
) -> Result<usize, TestCaseError> {
    let mut registry = Registry::new();
    let mut open = || {
        let (max_lead_ms, key) = (Some(lead_ms), Some(Key::new(5, 6)));
        let options =
            GeneratorOptions { max_lead_ms, sequence_start, key, start_ms: Some(0), ..GeneratorOptions::new(Node::Id(1)) };
        registry.open(layout, options).unwrap()
    };
    let (shared, mut own) = ([open(), open()], [open().unshared(), open().unshared()]);
    let clock = ManualClock::new(T);
    let (mut all, mut minted) = (HashSet::new(), 0);
    for (who, now_ms) in steps {
        clock.set_ms(*now_ms);
        let at = usize::from(who % 2);
        let id = if *who < 2 { shared[at].next(&clock).ok() } else { serve(&mut own[at], &clock) };
        if let Some(id) = id {
            all.insert(id);
            minted += 1;
            // No older than the tick of the clock; and no further ahead than the lead of a reading of that tick, of two ms at most.
            let at_ms = layout.decode(id).unwrap().timestamp_ms;
            prop_assert!(at_ms + 1 >= *now_ms && at_ms <= now_ms + lead_ms + 1, "{at_ms} at {now_ms}");
        }
    }
    Ok(minted - all.len())
}

fn layouts() -> impl Strategy<Value = (Layout, SequenceStart, u64)> {
    let starts = prop_oneof![Just(SequenceStart::Zero), Just(SequenceStart::Random), Just(SequenceStart::Wrap)];
    (0u32..3, 1u32..6, 1u64..3, starts, 0u64..4).prop_map(|(clock, sequence, tick_ms, start, lead_ms)| {
        let clock = (clock > 0).then_some(Field::clock(clock));
        let fields = [Field::time(42)].into_iter().chain(clock).chain([Field::node(2), Field::sequence(sequence)]).collect();
        (Layout::new(LayoutSpec { epoch_ms: 0, tick_ms, unsigned: false, fields }).unwrap(), start, lead_ms)
    })
}

proptest! {
    // docs/internals/claims.md: 2
    #[test]
    fn unshared_and_shared_generators_of_one_state_repeat_nothing((layout, start, lead_ms) in layouts(), steps in steps()) {
        let found = repeats(&layout, start, lead_ms, &steps, |ids, clock| ids.next(clock).ok())?;
        prop_assert_eq!(found, 0);
    }
}

/// A broken owner, who has each ID served twice.
#[test]
fn an_owner_that_serves_an_id_twice_is_caught() {
    let steps: Vec<Step> = (0..20).map(|call| (call % 4, T)).collect();
    let mut last = None;
    let twice = repeats(&default(), SequenceStart::Zero, 10, &steps, |ids, clock| {
        last.take().or_else(|| {
            last = ids.next(clock).ok();
            last
        })
    });
    assert!(twice.unwrap() > 0);
}
