//! A leased generator: what it may issue under each lease, and from one lease to the next. `lease_simulation` runs whole fleets.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use frazil::asking::Nonce;
use frazil::layout::{Field, LayoutSpec};
use frazil::lease::{
    Asked, Change, Grant, Granted, IdTime, LeaseRandom, LeaseTerms, LeasedGenerator, LeasedOptions, Readings, Reason, Refusal,
    Request, Taken,
};
use frazil::mint::Reservation;
use frazil::{Code, Layout, Registry, Result};
use proptest::prelude::*;

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

/// The clock of a holder on Cloudflare Workers, where monotonic time is the wall clock.
const fn one_clock(ms: u64) -> Readings {
    Readings { wall_ms: ms, monotonic_ms: ms }
}

#[test]
fn looks_alone_find_a_renewal_due_after_a_clock_that_jumped_ahead_and_came_back() {
    let day_ms = 86_400_000;
    let options = LeasedOptions { by_calls: true, ..LeasedOptions::new(LeaseTerms::usual(W, true, 1).unwrap()) };
    let options = LeasedOptions { default_scope: false, ..options };
    let mut ids = LeasedGenerator::new(&layout(false), options).unwrap();
    // Acquired while the clock is a day ahead.
    let ahead_ms = ids.lease_ms(one_clock(T + day_ms));
    let Request::Acquire { grant, .. } = ids.ask(ahead_ms, drawn(1)) else { unreachable!() };
    let answer = Granted { grant, node: 7, from_ms: 0, until_ms: T + W, store_now_ms: T };
    ids.take(&answer, one_clock(T + day_ms), &mut Registry::new()).unwrap();
    assert_eq!(ids.status().skew_ms, day_ms.cast_signed());
    // Back, there is a look each second, and the store is asked only when something is due.
    let mut look = |ms: u64| {
        let lease_ms = ids.lease_ms(one_clock(T + ms));
        (ids.retry_after_ms(lease_ms), ids.status().skew_ms)
    };
    for second in 0..15 {
        assert_eq!(look(1000 * second), (W / 2 - 1000 * second, 0));
    }
    assert_eq!(look(W / 2), (1, 0));
}

#[test]
fn a_renewal_is_due_as_soon_as_before_although_the_clock_went_back_to_a_time_after_the_last_attempt() {
    let options = LeasedOptions { by_calls: true, ..LeasedOptions::new(LeaseTerms::usual(W, true, 1).unwrap()) };
    let options = LeasedOptions { default_scope: false, ..options };
    let mut ids = LeasedGenerator::new(&layout(false), options).unwrap();
    // Acquired 14 s ahead; right again before half of the window is over.
    let ahead_ms = 14_000;
    let lease_ms = ids.lease_ms(one_clock(T + ahead_ms));
    let Request::Acquire { grant, .. } = ids.ask(lease_ms, drawn(1)) else { unreachable!() };
    let answer = Granted { grant, node: 7, from_ms: 0, until_ms: T + W, store_now_ms: T };
    ids.take(&answer, one_clock(T + ahead_ms), &mut Registry::new()).unwrap();
    let mut look = |ms: u64| {
        let lease_ms = ids.lease_ms(one_clock(T + ms));
        ids.retry_after_ms(lease_ms)
    };
    assert_eq!(look(ahead_ms + 14_600), W / 2 - 14_600);
    assert_eq!(look(14_600), W / 2 - 14_600);
    // Requests that run at the same time have clocks of their own, which differ by less than a second.
    assert_eq!(look(14_900), W / 2 - 14_900);
    assert_eq!(look(14_000), W / 2 - 14_000);
    assert_eq!(look(W / 2), 1);
}

#[test]
fn a_clock_that_went_back_has_lost_the_time_of_the_store_until_a_newer_answer_tells_it() {
    let options =
        LeasedOptions { id_time: IdTime::Store, by_calls: true, ..LeasedOptions::new(LeaseTerms::usual(W, true, 1).unwrap()) };
    let options = LeasedOptions { default_scope: false, ..options };
    let mut ids = LeasedGenerator::new(&layout(false), options).unwrap();
    let mut registry = Registry::new();
    let lease_ms = ids.lease_ms(one_clock(T));
    let Request::Acquire { grant, .. } = ids.ask(lease_ms, drawn(1)) else { unreachable!() };
    let granted = Granted { grant, node: 7, from_ms: 0, until_ms: T + W, store_now_ms: T };
    ids.take(&granted, one_clock(T), &mut registry).unwrap();
    let minted = |ids: &mut LeasedGenerator, ms: u64| {
        let now = one_clock(T + ms);
        ids.lease_ms(now);
        ids.reserve(ids.now_ms(now), now, 1, true).map(|_| ()).map_err(|error| error.code())
    };
    assert_eq!(minted(&mut ids, 12_000), Ok(()));
    // Less than a second back: a request that runs at the same time.
    assert_eq!(minted(&mut ids, 11_500), Ok(()));
    // By 9 s, to a time after the answer. The store can be asked at once, since it was not asked in the 12 s before that.
    assert_eq!(minted(&mut ids, 2500), Err(Code::LeaseExpired));
    assert_eq!(ids.reserve(T, one_clock(T + 2500), 1, true).map_err(|error| error.retry_after_ms()).err(), Some(1));
    // And then on, past all that it has shown.
    for ms in [3000, 9000, 12_500] {
        assert_eq!(minted(&mut ids, ms), Err(Code::LeaseExpired), "{ms}");
    }
    // The clock is 9 s behind that of the store.
    let now = one_clock(T + 12_500);
    let lease_ms = ids.lease_ms(now);
    ids.hurry(lease_ms);
    assert!(matches!(ids.ask(lease_ms, drawn(2)), Request::Renew { .. }));
    let renewed = Granted { until_ms: T + 21_500 + W, store_now_ms: T + 21_500, ..granted };
    ids.take(&renewed, now, &mut registry).unwrap();
    assert_eq!(minted(&mut ids, 12_600), Ok(()));
    assert_eq!(ids.now_ms(one_clock(T + 12_600)), T + 21_600);
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

/// The last request, which was made at that time.
const fn asked_last(ids: &LeasedGenerator, at: Readings) -> Asked {
    Asked { number: ids.requests(), at }
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
fn where_the_time_of_the_store_is_not_known_an_answer_before_that_to_a_later_request_tells_it() {
    let options = LeasedOptions { by_calls: true, ..LeasedOptions::new(LeaseTerms::usual(W, true, 1).unwrap()) };
    let options = LeasedOptions { id_time: IdTime::Store, default_scope: false, ..options };
    let mut ids = LeasedGenerator::new(&layout(false), options).unwrap();
    let day_ms = 86_400_000;
    let now = one_clock(T + day_ms);
    let ahead_ms = ids.lease_ms(now);
    let Request::Acquire { grant, .. } = ids.ask(ahead_ms, drawn(1)) else { unreachable!() };
    let answer = Granted { grant, node: 7, from_ms: 0, until_ms: T + W, store_now_ms: T };
    ids.take(&answer, now, &mut Registry::new()).unwrap();
    let mint = |ids: &LeasedGenerator, now| ids.reserve(ids.now_ms(now), now, 1, true).map_err(|error| error.code());
    assert!(mint(&ids, now).is_ok());
    // The clock is right again, two calls ask at once, and the store cannot extend the window.
    let now = one_clock(T + W / 2);
    let lease_ms = ids.lease_ms(now);
    ids.hurry(lease_ms);
    assert_eq!(mint(&ids, now).unwrap_err(), Code::LeaseExpired);
    let now = one_clock(T + W / 2 + 5000);
    let lease_ms = ids.lease_ms(now);
    assert!(matches!(ids.ask(lease_ms, drawn(2)), Request::Renew { .. }));
    let first = Asked { number: ids.requests(), at: now };
    assert!(matches!(ids.ask(lease_ms, drawn(3)), Request::Renew { .. }));
    let store_now_ms = T + W / 2;
    ids.answered(&Granted { store_now_ms, ..answer }, first, now, &mut Registry::new()).unwrap();
    assert!(mint(&ids, now).is_ok());
    assert_eq!(ids.now_ms(now), store_now_ms);
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
fn what_the_clock_showed_between_two_looks_counts_if_it_went_back_by_more_than_a_second() {
    for (back_ms, usable) in [(1000, true), (1001, false)] {
        let (mut ids, _) = ahead();
        let (shown, now) = (after(5000), after(5000 - back_ms));
        ids.lease_ms(after(0));
        ids.has_shown(shown.wall_ms, now);
        let lease_ms = ids.lease_ms(now);
        // The store is asked after a third of the window. Or at once, since its time is not known any more.
        assert_eq!(ids.usable_ms(now, lease_ms), if usable { W / 3 - (5000 - back_ms) } else { 0 }, "{back_ms}");
    }
}

#[test]
fn a_lease_is_usable_from_the_start_of_its_window_to_its_end_or_to_when_it_is_due() {
    let mut ids = leased(&layout(false));
    assert_eq!(ids.usable_ms(at(T), 0), 0);
    assert!(matches!(ids.ask(0, drawn(1)), Request::Acquire { .. }));
    let answer = Granted { grant: Grant(1), node: 7, from_ms: T, until_ms: T + W, store_now_ms: T };
    ids.take(&answer, at(T), &mut Registry::new()).unwrap();
    let usable = [T - 1, T, T + W - 5, T + W - 1, T + W].map(|wall_ms| ids.usable_ms(at(wall_ms), 0));
    assert_eq!(usable, [0, W / 3, 5, 1, 0]);
    ids.close();
    assert_eq!(ids.usable_ms(at(T), 0), 0);
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

/// A generator that only calls renew, at wall time `T` and monotonic time 0.
fn by_calls(id_time: IdTime) -> LeasedGenerator {
    let options = LeasedOptions::new(LeaseTerms::usual(W, true, 1).unwrap());
    let options = LeasedOptions { default_scope: false, by_calls: true, id_time, ..options };
    let mut ids = LeasedGenerator::new(&layout(false), options).unwrap();
    assert_eq!(ids.lease_ms(at(T)), 0);
    begin(&mut ids, 1, 9);
    ids
}

#[test]
fn a_suspension_in_which_monotonic_time_stood_still_counts_where_only_calls_renew() {
    for id_time in [IdTime::Wall, IdTime::Store] {
        let mut ids = by_calls(id_time);
        // A quarter of the window: with the store's time the store is asked, and soon.
        let now = Readings { wall_ms: T + W / 4, monotonic_ms: 5 };
        let lease_ms = ids.lease_ms(now);
        assert_eq!(lease_ms, W / 4);
        assert_eq!(ids.ask(lease_ms, drawn(2)), Request::Wait { ms: W / 2 - lease_ms });
        if id_time == IdTime::Store {
            let refused = ids.reserve(ids.now_ms(now), now, 1, true).unwrap_err();
            assert_eq!((refused.code(), refused.retry_after_ms()), (Code::LeaseExpired, 1));
            ids.hurry(lease_ms);
            assert!(matches!(ids.ask(lease_ms, drawn(3)), Request::Renew { .. }));
        }
    }
    let mut ids = by_calls(IdTime::Wall);
    let now = Readings { wall_ms: T + W / 2 + 5, monotonic_ms: 5 };
    let lease_ms = ids.lease_ms(now);
    assert!(matches!(ids.ask(lease_ms, drawn(2)), Request::Renew { .. }));
    // Counted once, and time goes on.
    assert_eq!(ids.lease_ms(now), lease_ms);
    assert_eq!(ids.lease_ms(Readings { wall_ms: now.wall_ms + 7, monotonic_ms: now.monotonic_ms + 7 }), lease_ms + 7);
}

#[test]
fn no_pause_goes_on_after_a_suspension_of_a_second() {
    let mut ids = by_calls(IdTime::Wall);
    assert_eq!(ids.lease_ms(Readings { wall_ms: T + 1000, monotonic_ms: 0 }), 0);
    assert_eq!(ids.lease_ms(Readings { wall_ms: T + 1001, monotonic_ms: 0 }), frazil::asking::MAX_BACKOFF_MS);
}

#[test]
fn short_suspensions_add_up() {
    let mut ids = by_calls(IdTime::Wall);
    let after = |times: u64| Readings { wall_ms: T + 900 * times, monotonic_ms: 5 * times };
    assert_eq!(ids.lease_ms(after(1)), 5);
    assert_eq!(ids.lease_ms(after(2)), 10 + frazil::asking::MAX_BACKOFF_MS);
}

#[test]
fn a_wall_clock_that_is_set_back_is_no_suspension_and_hides_none() {
    let mut ids = by_calls(IdTime::Wall);
    assert_eq!(ids.lease_ms(Readings { wall_ms: T - 60_000, monotonic_ms: 1 }), 1);
    assert_eq!(ids.lease_ms(Readings { wall_ms: T - 50_000, monotonic_ms: 2 }), 2 + 9999);
}

#[test]
fn where_timers_renew_the_wall_clock_does_not_change_when() {
    let mut ids = leased(&layout(false));
    assert_eq!(ids.lease_ms(at(T)), 0);
    assert_eq!(ids.lease_ms(Readings { wall_ms: T + 3_600_000, monotonic_ms: 5 }), 5);
}

#[test]
fn an_attempt_whose_time_passed_while_the_process_was_stopped_is_tried_again_at_once() {
    let mut ids = by_calls(IdTime::Wall);
    let Request::Renew { nonce, .. } = ids.ask(W / 2, drawn(2)) else { unreachable!() };
    ids.fail(W, 0);
    assert_eq!(ids.status().failures, 1);
    let Request::Renew { nonce: again, .. } = ids.ask(W, drawn(3)) else { unreachable!() };
    assert_eq!(again, nonce, "a retry keeps its nonce");
    // If its time has just passed, there is a pause.
    ids.fail(W + W / 10, 0);
    assert_eq!(ids.ask(W + W / 10, drawn(4)), Request::Wait { ms: 100 });
}

#[test]
fn a_late_answer_leaves_the_attempt_under_way_its_nonce() {
    let mut ids = by_calls(IdTime::Wall);
    let from_ms = ids.status().held.unwrap().window.from_ms;
    let Request::Renew { nonce, until_ms, .. } = ids.ask(W / 2, drawn(2)) else { unreachable!() };
    let asked = asked_last(&ids, after(W / 2));
    ids.fail(W, 0);
    assert!(matches!(ids.ask(W, drawn(3)), Request::Renew { .. }));
    let answer = Granted { grant: Grant(1), node: 9, from_ms, until_ms: until_ms + W / 2, store_now_ms: T + W / 2 };
    let now = after(W + 5);
    let taken = ids.take_late(&answer, asked, now, &mut Registry::new()).unwrap();
    assert_eq!(taken, Taken::Changed(Change::Extended));
    assert_eq!(ids.take_late(&answer, asked, now, &mut Registry::new()).unwrap(), Taken::Changed(Change::None));
    // The store may have carried it out, although nothing is heard of it.
    ids.fail(2 * W, 0);
    let Request::Renew { nonce: again, .. } = ids.ask(3 * W, drawn(4)) else { unreachable!() };
    assert_eq!(again, nonce);
}

#[test]
fn a_late_answer_leaves_the_nonce_to_later_attempts_that_were_given_up_too() {
    for is_last in [false, true] {
        let mut ids = by_calls(IdTime::Wall);
        let from_ms = ids.status().held.unwrap().window.from_ms;
        let ask = |ids: &mut LeasedGenerator, ms: u64, number: u128| {
            let at_ms = ids.lease_ms(after(ms));
            let Request::Renew { nonce, until_ms, .. } = ids.ask(at_ms, drawn(number)) else { unreachable!() };
            ids.fail(at_ms + W / 10, 0);
            (nonce, until_ms, asked_last(ids, after(ms)))
        };
        let (nonce, until_ms, first) = ask(&mut ids, W / 2, 2);
        let (same, _, second) = ask(&mut ids, W, 3);
        assert_eq!(same, nonce);
        // Of the first, or of the second. The store has carried out both.
        let asked = if is_last { second } else { first };
        let answer = Granted { grant: Grant(1), node: 9, from_ms, until_ms: until_ms + W / 2, store_now_ms: T + W / 2 };
        ids.take_late(&answer, asked, after(W + W / 10), &mut Registry::new()).unwrap();
        assert_eq!(ask(&mut ids, 2 * W, 4).0 == nonce, !is_last);
    }
}

#[test]
fn an_attempt_that_a_late_answer_made_superfluous_keeps_no_nonce_when_it_ends() {
    // Of two copies of a holder that know one nonce, the store would refuse neither.
    for earlier_ms in [0, 1] {
        let mut ids = by_calls(IdTime::Wall);
        let from_ms = ids.status().held.unwrap().window.from_ms;
        let Request::Renew { nonce, until_ms, .. } = ids.ask(W / 2, drawn(2)) else { unreachable!() };
        let asked = asked_last(&ids, after(W / 2));
        ids.fail(W, 0);
        ids.ask(W, drawn(3));
        let answer = Granted { grant: Grant(1), node: 9, from_ms, until_ms: until_ms + W, store_now_ms: T + W };
        ids.take_late(&answer, asked, after(W + 5), &mut Registry::new()).unwrap();
        let second = Granted { until_ms: answer.until_ms - earlier_ms, ..answer };
        assert_eq!(ids.take(&second, after(W + 6), &mut Registry::new()).unwrap(), Taken::Changed(Change::None));
        let Request::Renew { nonce: next, .. } = ids.ask(3 * W, drawn(4)) else { unreachable!() };
        assert_ne!(next, nonce);
    }
}

/// Asks again and again at one time, and returns the requests.
fn ask_together(ids: &mut LeasedGenerator, ms: u64, count: u64) -> Vec<Asked> {
    (0..count)
        .map(|number| {
            assert!(!matches!(ids.ask(ms, drawn(100 + u128::from(number))), Request::Wait { .. }));
            asked_last(ids, after(ms))
        })
        .collect()
}

#[test]
fn requests_at_one_time_are_told_apart_by_number() {
    // Of two requests of one attempt the store may carry out the second one later than it answers the first.
    for answered in [0, 1] {
        let mut ids = by_calls(IdTime::Wall);
        let from_ms = ids.status().held.unwrap().window.from_ms;
        let Request::Renew { nonce, until_ms, .. } = ids.ask(W / 2, drawn(2)) else { unreachable!() };
        let asked = [asked_last(&ids, after(W / 2)), ask_together(&mut ids, W / 2, 1)[0]];
        let answer = Granted { grant: Grant(1), node: 9, from_ms, until_ms: until_ms + W / 2, store_now_ms: T + W / 2 };
        let taken = ids.answered(&answer, asked[answered], after(W / 2), &mut Registry::new()).unwrap();
        assert_eq!(taken, Taken::Changed(Change::Extended));
        let Request::Renew { nonce: next, .. } = ids.ask(W + W / 2, drawn(4)) else { unreachable!() };
        assert_eq!(next == nonce, answered == 0);
    }
}

#[test]
fn callers_that_ask_in_turn_wait_where_the_store_cannot_extend_the_window() {
    // The store's clock went back; or the store breaks its contract, and names an earlier end.
    for shorter_ms in [0, 1000] {
        callers_wait_where_the_window_ends(shorter_ms);
    }
}

fn callers_wait_where_the_window_ends(shorter_ms: u64) {
    let mut ids = by_calls(IdTime::Wall);
    let held = ids.status().held.unwrap();
    let (from_ms, until_ms) = (held.window.from_ms, held.window.until_ms - shorter_ms);
    let answer = Granted { grant: Grant(1), node: held.node, from_ms, until_ms, store_now_ms: T };
    let asked = ask_together(&mut ids, W / 2, 3);
    let answered = |ids: &mut LeasedGenerator, asked| {
        let taken = ids.answered(&answer, asked, after(W / 2 + 10), &mut Registry::new()).unwrap();
        assert_eq!(taken, Taken::Changed(Change::None));
    };
    // An answer to an attempt before says nothing of the one that is under way.
    let before = Asked { number: asked[0].number - 1, at: after(0) };
    answered(&mut ids, before);
    assert!(matches!(ids.ask(W / 2, drawn(2)), Request::Renew { .. }));
    answered(&mut ids, asked[1]);
    let Request::Wait { ms } = ids.ask(W / 2 + 10, drawn(3)) else { panic!("the first caller asks again at once") };
    assert!(ms > 1000, "{ms} ms");
    // The store may still carry out the second one, so neither the answer nor the failure of the last one ends its nonce.
    let last = asked_last(&ids, after(W / 2));
    answered(&mut ids, last);
    assert!(!ids.failed(Some(ids.requests()), W / 2 + 20, 0));
    let Request::Renew { nonce, .. } = ids.ask(W, drawn(4)) else { panic!("the next attempt is due") };
    assert_eq!(nonce, Nonce(100));
}

#[test]
fn requests_of_two_clocks_that_fail_again_and_again_are_asked_after_a_pause() {
    // The clock of an isolate was set back: a request from before and one from after it ask, and the store refuses each after 5 ms.
    let mut ids = by_calls(IdTime::Wall);
    let mut asked = 0;
    let mut callers = [(0, W / 2 + 20_000, None), (1, W / 2, None)];
    while let Some((at_ms, ahead_ms, request)) = callers.iter_mut().min_by_key(|(at_ms, ..)| *at_ms)
        && *at_ms < 1000
    {
        let now_ms = *at_ms + *ahead_ms;
        if let Some(number) = request.take() {
            ids.failed(Some(number), now_ms, 0);
        }
        if let Request::Wait { ms } = ids.ask(now_ms, drawn(200 + u128::from(*at_ms))) {
            *at_ms += ms;
        } else {
            asked += 1;
            *request = Some(ids.requests());
            *at_ms += 5;
        }
    }
    // In a second.
    assert!((4..20).contains(&asked), "{asked} requests");
}

#[test]
fn requests_that_fail_together_count_once() {
    let mut ids = leased(&layout(false));
    let asked = ask_together(&mut ids, 0, 5);
    assert!(ids.failed(Some(asked[0].number), 5, 0));
    assert!(!ids.failed(Some(asked[1].number), 6, 0));
    // Another one is under way when the rest of them fail or are refused.
    let next = ask_together(&mut ids, 1000, 1)[0];
    for number in [asked[2].number, asked[3].number] {
        assert!(!ids.failed(Some(number), 1001, 0));
        assert_eq!(ids.refused(number, Grant(100), Refusal::Rejected, 1001, 0), None);
    }
    assert_eq!(ids.status().failures, 1);
    assert!(ids.failed(Some(next.number), 1002, 0));
    assert_eq!(ids.status().failures, 2);
    // What is no request counts always.
    assert!(ids.failed(None, 1003, 0));
    assert_eq!(ids.status().failures, 3);
}

#[test]
fn after_an_answer_only_the_failure_of_the_last_request_counts() {
    for (answered, failed) in [(0, 1), (1, 2), (2, 1)] {
        let mut ids = leased(&layout(false));
        let asked = ask_together(&mut ids, 0, 3);
        let answer = Granted { grant: Grant(100), node: 3, from_ms: 0, until_ms: T + W, store_now_ms: T };
        ids.answered(&answer, asked[answered], after(1), &mut Registry::new()).unwrap();
        assert_eq!(ids.failed(Some(asked[failed].number), 2, 0), failed == 2);
        // Its nonce may be known to the store, and is not drawn anew before an answer.
        assert_eq!(u64::from(ids.status().failures), u64::from(failed == 2));
    }
}

#[test]
fn a_fence_that_several_requests_raised_is_taken_once() {
    let mut ids = leased(&layout(false));
    let asked = ask_together(&mut ids, 0, 1)[0];
    assert_eq!(ids.refused(asked.number, Grant(100), Refusal::Incarnation, 1, 0), Some(Change::None));
    let fences = ask_together(&mut ids, 1, 2);
    ids.fence_answered(fences[0].number, 2);
    let acquire = ask_together(&mut ids, 2, 1)[0];
    ids.fence_answered(fences[1].number, 3);
    assert!(ids.failed(Some(acquire.number), 4, 0), "it was still under way");
}

#[test]
fn store_time_does_not_go_back_for_a_late_answer_and_does_not_trust_it_after_a_suspension() {
    for suspended_ms in [0, 3_600_000] {
        let (mut ids, answer) = ahead();
        ids.ask(10_000, drawn(2));
        let asked = asked_last(&ids, after(10_000));
        ids.fail(13_000, 0);
        ids.ask(60_000, drawn(3));
        let now = Readings { wall_ms: T + 60_001 + suspended_ms, monotonic_ms: 60_001 };
        let (store_now_ms, until_ms) = (answer.store_now_ms + 10_001, answer.until_ms + 3_600_000);
        let late = Granted { store_now_ms, until_ms, ..answer };
        ids.take_late(&late, asked, now, &mut Registry::new()).unwrap();
        assert_eq!(ids.now_ms(now), answer.store_now_ms + 60_001);
        assert_eq!(ids.status().skew_ms, -3_600_000, "suspended for {suspended_ms} ms");
        let minted = ids.reserve(ids.now_ms(now), now, 1, true).map(|_| ()).map_err(|error| error.code());
        assert_eq!(minted, if suspended_ms == 0 { Ok(()) } else { Err(Code::LeaseExpired) });
    }
}

#[test]
fn store_time_does_not_trust_an_answer_that_was_on_its_way_during_a_suspension() {
    let (mut ids, answer) = ahead();
    let asked_ms = ids.lease_ms(after(10_000));
    ids.ask(asked_ms, drawn(2));
    let now = Readings { wall_ms: T + 70_000, monotonic_ms: 10_001 };
    let (store_now_ms, until_ms) = (answer.store_now_ms + 10_000, answer.until_ms + 10_000);
    ids.take(&Granted { store_now_ms, until_ms, ..answer }, now, &mut Registry::new()).unwrap();
    let error = ids.reserve(ids.now_ms(now), now, 1, true).unwrap_err();
    assert_eq!(error.code(), Code::LeaseExpired);
}

/// What happens between two calls of a program, and what becomes of the attempt under way.
#[derive(Clone, Copy, Debug)]
struct Step {
    monotonic_ms: u64,
    /// How much further the wall clock moves.
    jump_ms: i64,
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Nothing,
    Granted,
    Failed,
    Exhausted,
    Lost,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let moved = prop_oneof![0_u64..20, 0_u64..3000, 0..2 * W];
    let jumps = prop_oneof![4 => Just(0_i64), 1 => -2000_i64..2000, 1 => -7_200_000_i64..7_200_000];
    let outcomes = prop_oneof![
        Just(Outcome::Nothing),
        Just(Outcome::Granted),
        Just(Outcome::Failed),
        Just(Outcome::Exhausted),
        Just(Outcome::Lost)
    ];
    let step = (moved, jumps, outcomes).prop_map(|(monotonic_ms, jump_ms, outcome)| Step { monotonic_ms, jump_ms, outcome });
    proptest::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever both clocks show: at most one attempt in the shortest pause, and one more for each suspension that was counted; and
    /// without a lease, one in the longest pause.
    #[test]
    fn any_readings_of_both_clocks_keep_the_attempts_apart_and_a_lost_lease_is_asked_for_again(steps in steps()) {
        let mut ids = by_calls(IdTime::Wall);
        let least_ms = 50;
        let mut now = at(T);
        let (mut lease_ms, mut attempts, mut suspensions) = (ids.lease_ms(now), 0, 0);
        let mut losses = 0;
        let mut under_way: Option<(Grant, u64)> = None;
        let mut due_by_ms = u64::MAX;
        for (jitter, Step { monotonic_ms, jump_ms, outcome }) in (10_u64..).zip(steps) {
            now.monotonic_ms += monotonic_ms;
            now.wall_ms = (now.wall_ms + monotonic_ms).saturating_add_signed(jump_ms);
            let before_ms = std::mem::replace(&mut lease_ms, ids.lease_ms(now));
            prop_assert!(lease_ms - before_ms >= monotonic_ms, "no pause gets longer");
            let suspended_ms = lease_ms - before_ms - monotonic_ms;
            prop_assert!(suspended_ms == 0 || suspended_ms >= frazil::asking::MAX_BACKOFF_MS);
            suspensions += u64::from(suspended_ms > 0);
            if let Some((grant, began_ms)) = under_way {
                // An attempt may take a tenth of the window.
                let is_over = lease_ms >= began_ms + W / 10;
                match outcome {
                    Outcome::Nothing if !is_over => {}
                    Outcome::Nothing | Outcome::Failed => ids.fail(lease_ms, jitter),
                    Outcome::Exhausted => {
                        let refusal = Refusal::of(Reason::Exhausted, ids.status().held.is_some(), 60_000);
                        ids.refuse(grant, refusal, lease_ms, jitter);
                    }
                    Outcome::Lost => losses += u64::from(ids.refuse(grant, Refusal::Lost, lease_ms, jitter) == Change::Ended),
                    Outcome::Granted => {
                        let held = ids.status().held.map(|held| held.window);
                        let from_ms = held.map_or(T, |window| window.from_ms);
                        let store_now_ms = T + lease_ms.max(held.map_or(0, |window| window.until_ms.saturating_sub(T)));
                        let answer = Granted { grant, node: 9, from_ms, until_ms: store_now_ms + W, store_now_ms };
                        ids.take(&answer, now, &mut Registry::new()).unwrap();
                    }
                }
                if outcome != Outcome::Nothing || is_over {
                    under_way = None;
                }
            }
            if under_way.is_some() {
                continue;
            }
            match ids.ask(lease_ms, drawn(jitter.into())) {
                Request::Acquire { grant, .. } | Request::Renew { grant, .. } => {
                    (under_way, due_by_ms) = (Some((grant, lease_ms)), u64::MAX);
                    attempts += 1;
                }
                Request::Wait { ms } => {
                    let limit_ms = if ids.status().held.is_some() { W / 2 + frazil::asking::MAX_BACKOFF_MS } else { frazil::asking::MAX_BACKOFF_MS };
                    prop_assert!(ms <= limit_ms, "waits for {ms} ms");
                    due_by_ms = due_by_ms.min(now.monotonic_ms + ms);
                    prop_assert!(now.monotonic_ms < due_by_ms, "was due by {due_by_ms}");
                }
                other => prop_assert!(false, "{other:?}"),
            }
            // After a lease was lost the next attempt is due at once.
            let limit = 1 + now.monotonic_ms / least_ms + suspensions + losses;
            prop_assert!(attempts <= limit, "{attempts} attempts by {now:?}, {suspensions} suspensions");
        }
    }
}
