//! Which generators share a state, and from which time on it issues IDs.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use frazil::clock::ManualClock;
use frazil::error::Rule;
use frazil::layout::{Field, LayoutSpec};
use frazil::mint::{Key, SequenceStart};
use frazil::{Code, GeneratorOptions, Layout, Node, Registry};

const T: u64 = 1_720_000_000_000;

fn layout(fields: &[Field]) -> LayoutSpec {
    LayoutSpec { epoch_ms: 1_704_067_200_000, tick_ms: 1, unsigned: false, fields: fields.to_vec() }
}

fn open(registry: &mut Registry, spec: LayoutSpec, node: u64) {
    registry.open(&Layout::new(spec).unwrap(), GeneratorOptions::new(Node::Id(node))).unwrap();
}

// docs/internals/claims.md: 3
#[test]
fn layouts_or_node_ids_that_give_other_ids_have_another_state() {
    let plain = || layout(&[Field::time(40), Field::node(8), Field::sequence(10)]);
    let mut registry = Registry::new();
    open(&mut registry, plain(), 3);
    for (other, node) in [
        (plain(), 4),
        (LayoutSpec { epoch_ms: 1_704_067_200_001, ..plain() }, 3),
        (LayoutSpec { tick_ms: 2, ..plain() }, 3),
        (layout(&[Field::time(41), Field::node(8), Field::sequence(10)]), 3),
        (layout(&[Field::time(40), Field::node(9), Field::sequence(9)]), 3),
        (layout(&[Field::time(40), Field::node(7), Field::sequence(11)]), 3),
        (layout(&[Field::time(40), Field::sequence(10), Field::node(8)]), 3),
        (layout(&[Field::node(8), Field::time(40), Field::sequence(10)]), 3),
        (layout(&[Field::node(8), Field::sequence(10), Field::time(40)]), 3),
        (layout(&[Field::sequence(10), Field::node(8), Field::time(40)]), 3),
        (layout(&[Field::time(40), Field::node(8), Field::clock(2), Field::sequence(8)]), 3),
        (layout(&[Field::time(40), Field::node(8), Field::clock(3), Field::sequence(7)]), 3),
        (layout(&[Field::time(40), Field::node(8), Field::sequence(8), Field::clock(2)]), 3),
        (layout(&[Field::time(40), Field::clock(2), Field::node(8), Field::sequence(8)]), 3),
        (layout(&[Field::part("a", 4), Field::time(40), Field::part("b", 4), Field::sequence(10)]), 3),
    ] {
        let before = registry.len();
        open(&mut registry, other.clone(), node);
        assert_eq!(registry.len(), before + 1, "{other:?}");
        open(&mut registry, other.clone(), node);
        assert_eq!(registry.len(), before + 1, "{other:?} once more");
    }
}

/// A window that begins later ends the fast path of the generators that mint already, in the middle of a tick.
#[test]
fn a_window_that_begins_later_counts_for_the_next_id_of_every_generator() {
    let (mut registry, clock) = (Registry::new(), ManualClock::new(T));
    let default = Layout::named("default").unwrap();
    let mut open =
        |start_ms| registry.open(&default, GeneratorOptions { start_ms, ..GeneratorOptions::new(Node::Id(1)) }).unwrap();
    let ids = open(None);
    let first = [(); 3].map(|()| ids.next(&clock).unwrap());
    assert_eq!(first[2], first[0] + 2);
    open(Some(T + 1000));
    let error = ids.next(&clock).unwrap_err();
    assert_eq!((error.code(), error.retry_after_ms()), (Code::ClockBackward, 1011)); // and the lead of a predecessor
}

// docs/internals/claims.md: 3
#[test]
fn names_and_unused_high_bits_do_not_change_the_state() {
    let mut registry = Registry::new();
    open(&mut registry, layout(&[Field::time(41), Field::node(10), Field::sequence(12)]), 113);
    let parts = [Field::part("datacenter", 5), Field::part("worker", 5)];
    let joined = layout(&[&[Field::time(41)], &parts[..], &[Field::sequence(12)]].concat());
    open(&mut registry, joined.clone(), 113);
    open(&mut registry, LayoutSpec { unsigned: true, ..joined }, 113);
    assert_eq!((registry.len(), registry.is_empty()), (1, false));
}

// docs/internals/claims.md: 3
#[test]
fn a_state_outlives_its_generators() {
    let (mut registry, clock) = (Registry::new(), ManualClock::new(T));
    let default = Layout::named("default").unwrap();
    let mut first = || registry.open(&default, GeneratorOptions::new(Node::Id(7))).unwrap().next(&clock).unwrap();
    let ids = [first(), first(), first()];
    assert!(ids[0] < ids[1] && ids[1] < ids[2], "{ids:?}");
}

#[test]
fn a_refused_generator_leaves_no_state() {
    let mut registry = Registry::new();
    let default = Layout::named("default").unwrap();
    for (node, max_lead_ms) in [(1024, None), (7, Some(1001)), (7, Some(1))] {
        let options = GeneratorOptions { max_lead_ms, ..GeneratorOptions::new(Node::Id(node)) };
        assert!(registry.open(&default, options).is_err());
    }
    assert!(registry.is_empty());
}

// docs/internals/claims.md: 4
#[test]
fn a_state_waits_for_the_largest_lead_asked_of_it_after_the_earliest_start() {
    let mut registry = Registry::new();
    let default = Layout::named("default").unwrap();
    let mut open = |start_ms, max_lead_ms| {
        let (start_ms, max_lead_ms) = (Some(start_ms), Some(max_lead_ms));
        let options = GeneratorOptions { start_ms, max_lead_ms, ..GeneratorOptions::new(Node::Id(7)) };
        registry.open(&default, options).unwrap()
    };
    let small = open(T, 10);
    let clock = ManualClock::new(T + 5);
    let error = small.next(&clock).unwrap_err();
    assert_eq!((error.code(), error.retry_after_ms()), (Code::ClockBackward, 6));

    let large = open(T + 60_000, 100); // a thread that starts a minute later
    for ids in [&small, &large] {
        let error = ids.next(&clock).unwrap_err();
        assert_eq!((error.code(), error.retry_after_ms()), (Code::ClockBackward, 96));
    }
    clock.set_ms(T + 101);
    assert_eq!(small.next(&clock).unwrap() + 1, large.next(&clock).unwrap());
}

#[test]
fn all_generators_of_a_state_have_one_sequence_start() {
    let mut registry = Registry::new();
    let default = Layout::named("default").unwrap();
    let mut open = |sequence_start| {
        let key = Some(Key::new(1, 2));
        let options = GeneratorOptions { sequence_start, key, ..GeneratorOptions::new(Node::Id(7)) };
        registry.open(&default, options).map(|generator| generator.machine().max_block())
    };
    for _ in 0..2 {
        assert!(open(SequenceStart::Random).is_ok());
        for other in [SequenceStart::Zero, SequenceStart::Wrap] {
            assert_eq!(open(other).unwrap_err().code(), Code::StateConflict);
        }
    }
}

#[test]
fn a_key_with_a_missing_half_is_refused_and_leaves_no_state() {
    let default = Layout::named("default").unwrap();
    let mut registry = Registry::new();
    for (sequence_start, key) in
        [(SequenceStart::Random, Key::new(0, 0)), (SequenceStart::Random, Key::new(1, 0)), (SequenceStart::Wrap, Key::new(0, 1))]
    {
        let options = GeneratorOptions { sequence_start, key: Some(key), ..GeneratorOptions::new(Node::Id(7)) };
        assert_eq!(registry.open(&default, options).unwrap_err().rule(), Rule::StartKey);
        assert!(registry.is_empty());
    }
    // Neither the start nor the half of the key affects the next generator.
    registry.open(&default, GeneratorOptions::new(Node::Id(7))).unwrap();
}

/// Without `std` no key can be drawn.
#[cfg(not(feature = "std"))]
#[test]
fn a_keyed_start_is_refused_and_leaves_no_state_if_no_key_can_be_drawn() {
    let default = Layout::named("default").unwrap();
    let mut registry = Registry::new();
    let asking = |key| GeneratorOptions { sequence_start: SequenceStart::Random, key, ..GeneratorOptions::new(Node::Id(7)) };
    assert_eq!(registry.open(&default, asking(None)).unwrap_err().rule(), Rule::StartKey);
    assert!(registry.is_empty());
    registry.open(&default, asking(Some(Key::new(1, 2)))).unwrap();
    registry.open(&default, asking(None)).unwrap();
}
