//! IDs with the time of the store.

use frazil::lease::{Asked, Grant, Granted, IdTime, LeaseTerms, LeasedGenerator, LeasedOptions, Readings, Request};
use frazil::{Code, Registry};

use crate::{T, W, after, ahead, asked_last, drawn, layout, lose, one_clock};

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
