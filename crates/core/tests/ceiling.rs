//! The ceiling in a storage: when a row is written, what it says, and what it covers.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use frazil::ceiling::{CEILING_AHEAD_MS, CeilingGenerator, CeilingRow};
use frazil::layout::{Field, LayoutSpec};
use frazil::mint::{Key, Reservation, SequenceStart};
use frazil::{Code, Layout, Node};

const EPOCH_MS: u64 = 1_704_067_200_000;
const NOW_MS: u64 = EPOCH_MS + 50_000;
const MARK: u64 = 42;

fn of(tick_ms: u64, fields: &[Field]) -> Layout {
    Layout::new(LayoutSpec { epoch_ms: EPOCH_MS, tick_ms, unsigned: false, fields: fields.to_vec() }).unwrap()
}

fn generator(layout: &Layout, max_lead_ms: u64) -> CeilingGenerator {
    CeilingGenerator::new(layout, Node::Id(1), Some(max_lead_ms), MARK).unwrap()
}

fn edge() -> CeilingGenerator {
    generator(&Layout::named("edge").unwrap(), 1000)
}

const fn own(until_ms: u64) -> CeilingRow {
    CeilingRow { mark: MARK, until_ms }
}

const fn other(until_ms: u64) -> CeilingRow {
    CeilingRow { mark: 7, until_ms }
}

/// The time of the next ID, or the code of the refusal, without a write.
fn minted(ids: &mut CeilingGenerator, row: Option<CeilingRow>, now_ms: u64, layout: &Layout) -> Result<u64, Code> {
    ids.look(row, now_ms);
    match ids.reserve(now_ms, 1, true).map_err(|error| error.code())? {
        Reservation::Issued { block, .. } => Ok(layout.decode(block.first()).unwrap().timestamp_ms),
        Reservation::Recheck => unreachable!("a confirmed call"),
    }
}

// docs/internals/claims.md: 30
#[test]
fn a_row_is_written_where_the_tick_that_is_due_ends_after_its_ceiling() {
    for (tick_ms, ends_ms) in [(1, NOW_MS + 1), (20, NOW_MS + 20), (1500, EPOCH_MS + 34 * 1500)] {
        let layout = of(tick_ms, &[Field::time(35), Field::node(4), Field::sequence(8)]);
        let mut ids = generator(&layout, 0);
        let first = ids.look(None, NOW_MS).unwrap();
        assert_eq!(first, own(ends_ms + CEILING_AHEAD_MS), "a tick of {tick_ms} ms");
        assert_eq!(ids.look(Some(own(ends_ms)), NOW_MS), None);
        assert_eq!(ids.look(Some(own(ends_ms - 1)), NOW_MS), Some(first));
    }
}

// docs/internals/claims.md: 30
#[test]
fn nothing_is_written_where_nothing_can_be_issued() {
    let fields = [Field::time(16), Field::node(4), Field::sequence(1)];
    let (layout, end_ms) = (of(1, &fields), EPOCH_MS + (1 << 16));
    for now_ms in [0, EPOCH_MS - 1, end_ms, u64::MAX] {
        assert_eq!(generator(&layout, 1000).look(None, now_ms), None, "{now_ms}");
    }
    // Behind the ceiling at which the window begins, however often it is asked for.
    let mut ids = generator(&layout, 1000);
    for now_ms in [EPOCH_MS, NOW_MS - 1, NOW_MS + 3999, NOW_MS] {
        assert_eq!(ids.look(Some(other(NOW_MS + 4000)), now_ms), None);
        assert_eq!(ids.reserve(now_ms, 1, true).unwrap_err().code(), Code::ClockBackward);
    }
    assert_eq!(ids.look(Some(other(NOW_MS + 4000)), NOW_MS + 4000), Some(own(NOW_MS + 5001)));
    // With the lead used up.
    let mut ids = generator(&layout, 2);
    let row = ids.look(None, NOW_MS);
    ids.look(row, NOW_MS);
    ids.reserve(NOW_MS, 6, true).unwrap();
    assert_eq!(ids.look(None, NOW_MS), None, "not even if it was rolled back");
    assert_eq!(minted(&mut ids, row, NOW_MS, &layout), Err(Code::SequenceExhausted));
}

// docs/internals/claims.md: 30
#[test]
fn a_ceiling_that_was_taken_back_is_raised_again_and_the_ids_go_on() {
    let layout = Layout::named("edge").unwrap();
    for before in [None, Some(other(NOW_MS - 10))] {
        let mut ids = edge();
        let row = ids.look(before, NOW_MS);
        ids.look(row, NOW_MS);
        let Ok(Reservation::Issued { block, .. }) = ids.reserve(NOW_MS, 5, true) else { unreachable!() };
        let last = block.first() + 4;
        // Without a write there is no ID.
        assert_eq!(minted(&mut ids, before, NOW_MS, &layout), Err(Code::LeaseExpired));
        assert_eq!(ids.look(before, NOW_MS), row);
        ids.look(row, NOW_MS);
        let Ok(Reservation::Issued { block, .. }) = ids.reserve(NOW_MS, 1, true) else { unreachable!() };
        assert_eq!(block.first(), last + 1, "nobody else has issued anything, so no tick is left out");
    }
}

// docs/internals/claims.md: 30
#[test]
fn an_extension_that_was_taken_back_leaves_the_window_that_was_there_before() {
    let layout = Layout::named("edge").unwrap();
    let mut ids = edge();
    let first = ids.look(None, NOW_MS);
    let second = ids.look(first, NOW_MS + 1001);
    assert_eq!(second, Some(own(NOW_MS + 2002)));
    assert_eq!(minted(&mut ids, second, NOW_MS + 1001, &layout), Ok(NOW_MS + 1001));
    // The clock is back below the first ceiling, and the word is not.
    assert_eq!(ids.look(first, NOW_MS + 1000), Some(own(NOW_MS + 2002)));
    assert_eq!(minted(&mut ids, first, NOW_MS + 1000, &layout), Err(Code::LeaseExpired));
}

// docs/internals/claims.md: 30
#[test]
fn another_mark_ends_the_window_and_the_next_one_begins_at_its_ceiling() {
    let layout = Layout::named("edge").unwrap();
    let mut ids = edge();
    let first = ids.look(None, NOW_MS);
    assert_eq!(minted(&mut ids, first, NOW_MS, &layout), Ok(NOW_MS));
    // Also if it is the same time, which another generator has written after a rollback.
    let theirs = Some(CeilingRow { mark: 7, ..first.unwrap() });
    for now_ms in [NOW_MS, NOW_MS + 1000] {
        assert_eq!(ids.look(theirs, now_ms), None);
        assert_eq!(ids.reserve(now_ms, 1, true).unwrap_err().code(), Code::ClockBackward);
    }
    let row = ids.look(theirs, NOW_MS + 1001);
    assert_eq!(row, Some(own(NOW_MS + 2002)));
    assert_eq!(minted(&mut ids, row, NOW_MS + 1001, &layout), Ok(NOW_MS + 1001));
    // A row of its own, from before the window began, gives no time that lies before the window.
    assert_eq!(ids.look(first, NOW_MS + 500), None);
    assert_eq!(ids.reserve(NOW_MS + 500, 1, true).unwrap_err().code(), Code::ClockBackward);
}

#[test]
fn a_new_generator_begins_at_the_ceiling_even_if_the_row_has_its_mark() {
    let layout = Layout::named("edge").unwrap();
    for row in [own(NOW_MS + 700), other(NOW_MS + 700)] {
        let mut ids = edge();
        for _ in 0..2 {
            assert_eq!(ids.look(Some(row), NOW_MS + 699), None);
            assert_eq!(ids.reserve(NOW_MS + 699, 1, true).unwrap_err().retry_after_ms(), 1);
        }
        let written = ids.look(Some(row), NOW_MS + 700);
        assert_eq!(written, Some(own(NOW_MS + 1701)));
        assert_eq!(minted(&mut ids, written, NOW_MS + 700, &layout), Ok(NOW_MS + 700));
    }
}

#[test]
fn ids_that_are_borrowed_need_a_write_a_second_of_their_times() {
    let layout = of(1, &[Field::time(41), Field::node(4), Field::sequence(1)]);
    let mut ids = generator(&layout, 1000);
    let (mut row, mut writes, mut issued) = (None, Vec::new(), 0);
    loop {
        if let Some(due) = ids.look(row, NOW_MS) {
            writes.push(due.until_ms - NOW_MS);
            row = Some(due);
            ids.look(row, NOW_MS);
        }
        match ids.reserve(NOW_MS, 4096, true) {
            Ok(Reservation::Issued { block, .. }) => issued += block.len(),
            error => break assert_eq!(error.unwrap_err().code(), Code::SequenceExhausted),
        }
    }
    assert_eq!((issued, writes), (2 * 1001, vec![1001]));
}

#[test]
fn a_layout_with_clock_ids_follows_its_clock_back_within_the_window() {
    let layout = of(1, &[Field::time(38), Field::clock(1), Field::node(4), Field::sequence(8)]);
    let mut ids = generator(&layout, 0);
    let begun_at = Some(other(NOW_MS - 500));
    let row = ids.look(begun_at, NOW_MS);
    assert_eq!(minted(&mut ids, row, NOW_MS, &layout), Ok(NOW_MS));
    assert_eq!(ids.look(row, NOW_MS - 500), None, "the row covers the earlier tick");
    assert_eq!(minted(&mut ids, row, NOW_MS - 500, &layout), Ok(NOW_MS - 500));
    assert_eq!(minted(&mut ids, row, NOW_MS - 501, &layout), Err(Code::ClockBackward));
    // After a deletion of all rows the window begins where it did.
    assert_eq!(minted(&mut ids, None, NOW_MS - 501, &layout), Err(Code::ClockBackward));
}

#[test]
fn the_last_tick_of_the_time_field_is_issued_and_no_later_one() {
    let layout = of(1, &[Field::time(16), Field::node(4), Field::sequence(1)]);
    let last_ms = EPOCH_MS + (1 << 16) - 1;
    let mut ids = generator(&layout, 1000);
    let row = ids.look(None, last_ms);
    assert_eq!(row, Some(own(last_ms + 1 + CEILING_AHEAD_MS)));
    for _ in 0..2 {
        assert_eq!(minted(&mut ids, row, last_ms, &layout), Ok(last_ms));
    }
    assert_eq!(minted(&mut ids, row, last_ms, &layout), Err(Code::TimeExhausted));
    // And by nobody after it.
    let mut next = CeilingGenerator::new(&layout, Node::Id(1), None, 7).unwrap();
    for now_ms in [last_ms, last_ms + 2000] {
        assert_eq!(minted(&mut next, row, now_ms, &layout), Err(Code::TimeExhausted));
    }
}

#[test]
fn the_start_of_the_sequence_is_kept_from_window_to_window() {
    let layout = Layout::named("edge").unwrap();
    let mut ids = edge().starting(SequenceStart::Random);
    for (row, now_ms) in [(None, NOW_MS), (Some(other(NOW_MS + 5000)), NOW_MS + 5000)] {
        let due = ids.look(row, now_ms);
        ids.look(due, now_ms);
        assert_eq!(ids.reserve(now_ms, 1, true).unwrap_err().code(), Code::InvalidOption, "each window has a key of its own");
        ids.offer_key(Key::new(1, 2));
        ids.look(due, now_ms);
        let Ok(Reservation::Issued { block, .. }) = ids.reserve(now_ms, 1, true) else { unreachable!() };
        assert_ne!(layout.decode(block.first()).unwrap().sequence, 0);
    }
    assert_eq!(ids.stats().issued, 2);
}
