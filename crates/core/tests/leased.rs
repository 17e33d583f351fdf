//! A leased generator: what it may issue under each lease, and from one lease to the next. `lease_simulation` runs whole fleets.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use frazil::{
    Change, Code, Field, Grant, Granted, IdTime, Layout, LayoutSpec, LeaseRandom, LeaseTerms, LeasedGenerator, LeasedOptions,
    Readings, Refusal, Registry, Request, Reservation, Result, Taken,
};

const T: u64 = 1_720_000_000_000;
const W: u64 = 30_000;

/// A generator whose node ids no other test uses otherwise.
fn leased(layout: &Layout) -> LeasedGenerator {
    let options = LeasedOptions::new(LeaseTerms::new(W, W / 3, W / 10, 1).unwrap());
    LeasedGenerator::new(layout, LeasedOptions { default_scope: false, ..options }).unwrap()
}

/// A layout with a clock field or without.
fn layout(clock: bool) -> Layout {
    let fields = [Field::time(41), Field::clock(2), Field::node(8), Field::sequence(6)];
    let fields = fields.into_iter().filter(|field| clock || *field != Field::clock(2)).collect();
    Layout::new(LayoutSpec { epoch_ms: 1_704_067_200_000, tick_ms: 1, unsigned: false, fields }).unwrap()
}

const fn at(wall_ms: u64) -> Readings {
    Readings { wall_ms, monotonic_ms: 0 }
}

fn drawn(number: u128) -> LeaseRandom {
    LeaseRandom { grant: number, nonce: number }
}

/// Has the store grant a node id for a window that begins long ago.
fn begin(ids: &mut LeasedGenerator, grant: u128, node: u64) {
    assert!(matches!(ids.ask(0, drawn(grant)), Request::Acquire { .. }));
    let answer = Granted { grant: Grant(grant), node, from_ms: 0, until_ms: T + W, store_now_ms: T };
    assert_eq!(ids.take(&answer, at(T), &mut Registry::new()).unwrap(), Taken::Changed(Change::Begun));
}

fn lose(ids: &mut LeasedGenerator, grant: u128) {
    assert_eq!(ids.refuse(Grant(grant), Refusal::Lost, 0, 0), Change::Ended);
}

fn mint(ids: &LeasedGenerator, wall_ms: u64, want: usize) -> Result<Vec<u64>> {
    let Reservation::Issued { block, .. } = ids.reserve(wall_ms, at(wall_ms), want, true)? else { unreachable!() };
    let mut out = vec![0; block.len()];
    block.write(&mut out);
    Ok(out)
}

#[test]
fn ids_of_one_object_increase_from_one_lease_to_the_next() {
    for clock in [false, true] {
        let layout = layout(clock);
        let mut ids = leased(&layout);
        begin(&mut ids, 1, 9);
        let before = mint(&ids, T + 5000, 1).unwrap();
        lose(&mut ids, 1);
        begin(&mut ids, 2, 3); // a lower node id in the same tick
        let after = mint(&ids, T + 5000, 1).unwrap();
        assert!(before < after, "clock: {clock}");
        let ahead = (0..100).map(|_| mint(&ids, T + 5000, 64).unwrap()).last(); // some 25 or 100 ticks are borrowed
        lose(&mut ids, 2);
        begin(&mut ids, 3, 4);
        assert!(ahead < Some(mint(&ids, T + 5000, 1).unwrap()), "clock: {clock}");
    }
}

#[test]
fn a_clock_that_went_back_between_two_leases_stalls_as_it_does_within_one() {
    let mut ids = leased(&layout(false));
    begin(&mut ids, 1, 9);
    mint(&ids, T + 5000, 1).unwrap();
    let within = mint(&ids, T, 1).unwrap_err();
    lose(&mut ids, 1);
    begin(&mut ids, 2, 3);
    let between = mint(&ids, T, 1).unwrap_err();
    assert_eq!((within.code(), within.retry_after_ms()), (Code::ClockBackward, 4000)); // the lead is a second
    assert_eq!((between.code(), between.retry_after_ms()), (Code::ClockBackward, 4001)); // and tick 5000 is spent
    assert!(mint(&ids, T + 4001, 1).is_ok());
}

#[test]
fn with_a_clock_field_a_clock_that_went_back_between_two_leases_is_followed() {
    let mut ids = leased(&layout(true));
    begin(&mut ids, 1, 9);
    mint(&ids, T + 5000, 1).unwrap();
    lose(&mut ids, 1);
    begin(&mut ids, 2, 3);
    assert_eq!(layout(true).decode(mint(&ids, T, 1).unwrap()[0]).unwrap().timestamp_ms, T);
}

#[test]
fn a_lease_without_an_id_is_released_within_its_window() {
    let mut ids = leased(&layout(false));
    begin(&mut ids, 1, 9);
    mint(&ids, T + W - 1, 1).unwrap();
    lose(&mut ids, 1);
    ids.ask(0, drawn(2));
    let answer = Granted { grant: Grant(2), node: 3, from_ms: 0, until_ms: T + 5, store_now_ms: T };
    ids.take(&answer, at(T), &mut Registry::new()).unwrap();
    assert_eq!(ids.close().unwrap().until_ms, T + 5);
}

/// The nonce of the renewal that is due, and the end of the window that it names.
/// A generator on the store's time whose store is an hour ahead, and its lease.
fn ahead() -> (LeasedGenerator, Granted) {
    let options = LeasedOptions::new(LeaseTerms::new(W, W / 3, W / 10, 1).unwrap());
    let options = LeasedOptions { default_scope: false, id_time: IdTime::Store, ..options };
    let mut ids = LeasedGenerator::new(&layout(false), options).unwrap();
    ids.ask(0, drawn(1));
    let now_ms = T + 3_600_000;
    let answer = Granted { grant: Grant(1), node: 3, from_ms: 0, until_ms: now_ms + W, store_now_ms: now_ms };
    ids.take(&answer, at(T), &mut Registry::new()).unwrap();
    (ids, answer)
}

const fn after(ms: u64) -> Readings {
    Readings { wall_ms: T + ms, monotonic_ms: ms }
}

#[test]
fn store_time_follows_a_store_whose_clock_went_back() {
    // The end of the window cannot grow until the store's clock has caught up; or the store gave another lease.
    for ends in [false, true] {
        let (mut ids, answer) = ahead();
        assert_eq!(ids.now_ms(after(10_000)), answer.store_now_ms + 10_000);
        assert!(matches!(ids.ask(10_000, drawn(2)), Request::Renew { .. }));
        if ends {
            lose(&mut ids, 1);
            ids.ask(10_000, drawn(3));
        }
        let grant = Grant(if ends { 3 } else { 1 });
        let back = Granted { grant, store_now_ms: T + 10_000, ..answer };
        ids.take(&back, after(10_020), &mut Registry::new()).unwrap();
        assert_eq!(ids.now_ms(after(10_020)), T + 10_020, "ends: {ends}"); // the answer may be from when it was asked
    }
}

#[test]
fn store_time_does_not_go_back_for_an_answer_that_took_long() {
    let (mut ids, answer) = ahead();
    ids.ask(10_000, drawn(2));
    let (store_now_ms, until_ms) = (answer.store_now_ms + 10_001, answer.until_ms + 10_001);
    ids.take(&Granted { store_now_ms, until_ms, ..answer }, after(12_900), &mut Registry::new()).unwrap();
    assert_eq!(ids.now_ms(after(12_900)), answer.store_now_ms + 12_900);
}

#[test]
fn store_time_does_not_follow_an_answer_that_came_twice() {
    let (mut ids, answer) = ahead();
    ids.take(&answer, after(9000), &mut Registry::new()).unwrap();
    assert_eq!(ids.now_ms(after(9000)), answer.store_now_ms + 9000);
}

#[test]
fn an_answer_whose_window_ends_before_it_begins_is_refused_and_changes_nothing() {
    let mut ids = leased(&layout(false));
    assert!(matches!(ids.ask(0, drawn(1)), Request::Acquire { .. }));
    for (from_ms, until_ms) in [(T + W, T), (T, T)] {
        let answer = Granted { grant: Grant(1), node: 7, from_ms, until_ms, store_now_ms: T };
        assert_eq!(ids.take(&answer, at(T), &mut Registry::new()).unwrap_err().code(), Code::StoreRefused);
        assert_eq!(ids.status().held, None);
    }
    begin(&mut ids, 1, 7);
}
