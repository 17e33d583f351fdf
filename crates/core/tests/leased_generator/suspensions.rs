//! Suspensions, in which monotonic time stands still.

use frazil::Code;
use frazil::lease::{IdTime, Readings, Request};

use crate::{T, W, at, by_calls, drawn, layout, leased};

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
