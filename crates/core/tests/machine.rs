//! Edge cases of the machine: numbers that follow from a layout, and states that the random walks of the oracle rarely reach.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use frazil::clock::ManualClock;
use frazil::layout::{Field, LayoutSpec};
use frazil::mint::{MAX_COUNT, Machine, Outcome, Window};
use frazil::{Code, Generator, GeneratorOptions, Layout, Node};

fn machine(tick_ms: u64, fields: &[Field], lead_ms: u64) -> Machine {
    let layout = Layout::new(LayoutSpec { epoch_ms: 1000, tick_ms, unsigned: false, fields: fields.to_vec() }).unwrap();
    Machine::new(&layout, Node::None, lead_ms).unwrap()
}

/// The number of IDs that can be issued from `now_ms` until `wait_ms` later.
fn drain(machine: &Machine, now_ms: u64, wait_ms: u64) -> u64 {
    let (mut state, mut issued) = (0, 0);
    for now_ms in now_ms..=now_ms + wait_ms {
        while let Outcome::Issued { word, block, .. } = machine.reserve(state, Window::OPEN, &[], now_ms, 1, true) {
            (state, issued) = (word, issued + 1);
            assert!(block.len() == 1 && issued < 1000, "{issued} IDs so far, and {} more", block.len());
        }
    }
    issued
}

#[test]
fn max_count_is_what_a_call_gets_at_the_best_moment() {
    for tick_ms in [1, 2, 3, 10] {
        for (lead_ms, wait_ms) in (0..=12).flat_map(|lead_ms| (0..=12).map(move |wait_ms| (lead_ms, wait_ms))) {
            let machine = machine(tick_ms, &[Field::time(20), Field::sequence(2)], lead_ms);
            let most = (0..tick_ms).map(|phase_ms| drain(&machine, 2000 + phase_ms, wait_ms)).max();
            assert_eq!(Some(machine.max_count(wait_ms)), most, "tick {tick_ms}, lead {lead_ms}, wait {wait_ms}");
        }
    }
}

#[test]
fn the_first_tick_is_the_first_from_any_time_up_to_its_start() {
    let machine = machine(10, &[Field::time(20), Field::sequence(2)], 0);
    assert_eq!([0, 999, 1000, 1001].map(|from_ms| machine.tick_from(from_ms)), [1000, 1000, 1000, 1010]);
}

#[test]
fn max_count_saturates() {
    let machine = machine(1, &[Field::time(20), Field::clock(1), Field::sequence(1)], 0);
    assert_eq!(machine.max_count((1 << 62) - 2), u64::MAX - 3);
    assert_eq!(machine.max_count((1 << 62) - 1), u64::MAX);
    assert_eq!(machine.max_count(u64::MAX), u64::MAX);
}

#[test]
fn a_block_ahead_of_use_is_a_quarter_of_a_tick_and_at_most_4096() {
    for (bits, expected) in [(1, 1), (2, 1), (3, 2), (4, 4), (12, 1024), (13, 2048), (14, 4096), (15, 4096), (40, 4096)] {
        let machine = machine(1, &[Field::time(20), Field::sequence(bits)], 0);
        assert_eq!(machine.max_block(), expected, "{bits} bits");
    }
}

#[test]
fn a_stall_is_not_resolved_by_a_clock_id_that_becomes_free_for_a_used_up_tick() {
    let machine = machine(1, &[Field::time(20), Field::clock(1), Field::sequence(1)], 10);
    let spent = (50 << 2) + 4; // both clock ids of tick 50
    let stalled = |retry_at_ms: u64| Outcome::Stalled { retry_at_ms: 1000 + retry_at_ms, cause: Code::ClockBackward };
    let reserve = |free_from: u64, now_ms: u64| machine.reserve(spent, Window::OPEN, &[free_from, 0], 1000 + now_ms, 1, true);
    assert_eq!(reserve(39, 30), stalled(39)); // followed back to
    assert!(matches!(reserve(39, 39), Outcome::Issued { switched: true, .. }));
    assert_eq!(reserve(40, 30), stalled(41)); // tick 50 counts from 40 on, and only the next one has IDs
    assert!(matches!(reserve(40, 41), Outcome::Issued { switched: false, .. }));
}

#[test]
fn health_warns_when_less_than_a_year_of_the_time_field_is_left() {
    let generator = Generator::private(&Layout::named("mastodon").unwrap(), GeneratorOptions::new(Node::None)).unwrap();
    let year_ms = 31_536_000_000; // 365 days
    let end_ms = (1 << 48) - 1;
    for (left_ms, near) in [(year_ms + 1, false), (year_ms, false), (year_ms - 1, true), (0, true)] {
        let health = generator.health(end_ms - left_ms);
        assert_eq!((health.end_ms, health.remaining_ms, health.ends_soon), (end_ms, left_ms, near));
    }
}

#[test]
fn fill_accepts_an_array_of_max_count_ids() {
    let generator = Generator::private(&Layout::named("default").unwrap(), GeneratorOptions::new(Node::Id(7))).unwrap();
    let clock = ManualClock::new(1_720_000_000_000);
    assert_eq!(generator.fill(&clock, &mut []), Ok(0));
    let error = generator.fill(&clock, &mut vec![0; MAX_COUNT + 1]).unwrap_err();
    assert_eq!((error.code(), error.field()), (Code::InvalidArgument, "count"));
    assert_eq!(generator.fill(&clock, &mut vec![0; MAX_COUNT]), Ok(11 * 4096)); // a tick, and ten of lead
}

/// Words of another layout, of a newer version, or of a damaged file: every bit, and the edges of every field.
fn foreign_words() -> impl Iterator<Item = u64> {
    let around = |word: u64| [word.wrapping_sub(1), word, word.wrapping_add(1)];
    (0..64).flat_map(move |bit| around(1 << bit).into_iter().chain(around(u64::MAX << bit)))
}

#[test]
fn a_word_that_no_machine_of_the_layout_makes_counts_as_used_up() {
    for tick_ms in [1, 7, 1 << 40] {
        let machine = machine(tick_ms, &[Field::time(10), Field::sequence(3)], 1000);
        let (end, last_ms) = ((1 << 13) + 1, 1000 + 1023 * tick_ms);
        for word in foreign_words() {
            for now_ms in [0, 1000, last_ms, u64::MAX] {
                let outcome = machine.reserve(word, Window::OPEN, &[], now_ms, usize::MAX, true);
                assert!(word < end || !matches!(outcome, Outcome::Issued { .. }), "{word} at {now_ms}: {outcome:?}");
                let lead_ms = machine.lead_ms(word, now_ms);
                assert!(word < end || lead_ms == last_ms.saturating_sub(now_ms), "{word} at {now_ms}: {lead_ms}");
                let _ = machine.fast_path_from(word).map(|from| machine.fast_path().id(word, from, now_ms));
            }
        }
    }
}
