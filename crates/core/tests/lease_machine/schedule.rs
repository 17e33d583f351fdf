//! When the store is asked.

use frazil::asking::MAX_BACKOFF_MS;
use frazil::lease::{Change, Granted, Lease, LeaseTerms, Refusal, Request};

use super::{FIRST, LONGEST, RENEW, T, TIMEOUT, W, acquire, due, granted, held, new, random, renew};

#[test]
fn a_lease_is_renewed_that_long_after_it_was_asked_for() {
    let mut lease = new();
    let (grant, _) = acquire(&mut lease, 500);
    lease.take(&granted(grant, T, T + W, T), 900);
    assert_eq!(due(&lease), 500 + RENEW);
    assert_eq!(lease.ask(500 + RENEW - 1, random()), Request::Wait { ms: 1 });
    renew(&mut lease, 500 + RENEW);
}

#[test]
fn the_start_of_the_window_does_not_change_the_schedule() {
    let mut lease = new();
    let (grant, _) = acquire(&mut lease, 0);
    lease.take(&granted(grant, T - 1_000_000, T + W, T), 0);
    assert_eq!(due(&lease), RENEW);
}

#[test]
fn a_lease_of_which_less_is_left_is_renewed_sooner() {
    for (left, after) in [(W, RENEW), (W / 2, RENEW / 2), (600, 200), (299, FIRST), (1, FIRST), (0, FIRST)] {
        let mut lease = new();
        let (grant, _) = acquire(&mut lease, 0);
        lease.take(&granted(grant, T, T + W, T + W - left), 0);
        assert_eq!(due(&lease), after, "{left} ms left");
    }
    // One that is over, and one that ends far later than asked for (the store's clock went back).
    for (store_now_ms, after) in [(T + 10 * W, FIRST), (T - 10 * W, RENEW)] {
        let mut lease = new();
        let (grant, _) = acquire(&mut lease, 0);
        lease.take(&granted(grant, T, T + W, store_now_ms), 0);
        assert_eq!(due(&lease), after);
    }
}

#[test]
fn a_window_whose_renewal_is_due_within_the_shortest_pause_is_renewed_at_once_if_nothing_is_left() {
    let mut lease = Lease::new(LeaseTerms::new(3, 1, 1, 1).unwrap());
    let (grant, _) = acquire(&mut lease, 0);
    lease.take(&granted(grant, T, T + 3, T + 3), 0);
    assert_eq!(due(&lease), 1);
}

#[test]
fn an_answer_that_comes_late_does_not_postpone_the_renewal() {
    // Asked at 0, timed out at 3 s, answered at 20 s: of the window 10 s are left.
    let mut lease = new();
    let (grant, _) = acquire(&mut lease, 0);
    lease.fail(TIMEOUT, 0);
    lease.take(&granted(grant, T, T + W, T), 20_000);
    assert_eq!(due(&lease), RENEW);
    renew(&mut lease, 20_000);
}

#[test]
fn the_pause_doubles_with_each_failure_up_to_five_seconds() {
    let mut lease = new();
    for (failure, longest) in [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1600), (6, 3200), (7, 5000), (8, 5000), (9, 5000)] {
        let mut shortest = lease.clone();
        shortest.fail(100_000, 0);
        assert_eq!(due(&shortest), 100_000 + longest / 2);
        lease.fail(100_000, longest / 2);
        assert_eq!((due(&lease), lease.failures()), (100_000 + longest, failure));
        // Asked again later, but failing at the same time, so that only the pause differs.
        acquire(&mut lease, 200_000);
    }
}

#[test]
fn a_pause_is_between_half_of_it_and_all_of_it_whatever_was_drawn() {
    let mut seen = (u64::MAX, 0);
    for jitter in (0..200).chain([u64::MAX - 1, u64::MAX]) {
        let mut lease = new();
        lease.fail(0, jitter);
        seen = (seen.0.min(due(&lease)), seen.1.max(due(&lease)));
    }
    assert_eq!(seen, (FIRST / 2, FIRST));
}

#[test]
fn failures_do_not_overflow() {
    let mut lease = new();
    for _ in 0..100_000 {
        lease.fail(0, 0);
    }
    assert_eq!(due(&lease), MAX_BACKOFF_MS / 2);
    lease.fail(u64::MAX, u64::MAX);
    assert_eq!(due(&lease), u64::MAX);
}

#[test]
fn a_success_ends_the_backoff() {
    let (mut lease, answer) = held();
    for _ in 0..5 {
        lease.fail(RENEW, 0);
    }
    renew(&mut lease, 2 * RENEW);
    lease.take(&Granted { until_ms: T + 2 * W, store_now_ms: T + W, ..answer }, 2 * RENEW);
    assert_eq!((due(&lease), lease.failures()), (3 * RENEW, 0));
    lease.fail(3 * RENEW, LONGEST);
    assert_eq!(due(&lease), 3 * RENEW + FIRST);
}

#[test]
fn a_window_that_the_store_could_not_extend_is_asked_for_again_as_usual() {
    // The store's clock went back.
    let (mut lease, answer) = held();
    renew(&mut lease, RENEW);
    assert_eq!(lease.take(&Granted { store_now_ms: T - 5, ..answer }, RENEW), Change::None);
    assert_eq!((due(&lease), lease.failures()), (2 * RENEW, 0));
}

#[test]
fn a_store_that_answers_an_earlier_end_is_not_asked_again_at_once() {
    let (mut lease, answer) = held();
    for failure in 1..=20 {
        renew(&mut lease, RENEW * u64::from(failure));
        lease.take(&Granted { until_ms: T + 1, ..answer }, RENEW * u64::from(failure));
        assert_eq!(lease.failures(), failure);
        assert!(due(&lease) >= RENEW * u64::from(failure) + FIRST / 2);
    }
}

#[test]
fn a_refused_call_is_told_when_the_attempt_ends_or_the_next_one_begins() {
    let mut lease = new();
    assert_eq!(lease.retry_after_ms(0), 1); // nothing asked yet: at once, but at least 1
    acquire(&mut lease, 1000);
    assert_eq!(lease.retry_after_ms(1000), TIMEOUT);
    assert_eq!(lease.retry_after_ms(1000 + TIMEOUT - 1), 1);
    assert_eq!(lease.retry_after_ms(1000 + TIMEOUT), 1);
    assert_eq!(lease.retry_after_ms(u64::MAX), 1);
    lease.fail(1000 + TIMEOUT, LONGEST);
    assert_eq!(lease.retry_after_ms(1000 + TIMEOUT), FIRST);
    assert_eq!(lease.retry_after_ms(1000 + TIMEOUT + FIRST - 1), 1);
    let wait = lease.retry_after_ms(1000 + TIMEOUT);
    assert!(matches!(lease.ask(1000 + TIMEOUT + wait, random()), Request::Acquire { .. }));
}

#[test]
fn hurrying_begins_at_most_one_attempt_in_five_seconds() {
    let (mut lease, answer) = held();
    let mut attempts = 0;
    for at in 1..=60_000 {
        lease.hurry(at);
        if matches!(lease.ask(at, random()), Request::Renew { .. }) {
            attempts += 1;
            lease.take(&answer, at); // nothing was gained
        }
    }
    assert_eq!(attempts, 60_000 / MAX_BACKOFF_MS);
}

#[test]
fn hurrying_neither_postpones_an_attempt_nor_touches_one_that_is_under_way() {
    let (mut lease, _) = held();
    lease.hurry(RENEW + 5); // due at 10 s already
    assert_eq!(due(&lease), RENEW);
    renew(&mut lease, RENEW);
    let under_way = lease.clone();
    lease.hurry(RENEW + 1);
    assert_eq!(lease, under_way);
    lease.fail(RENEW + 1, LONGEST);
    lease.hurry(RENEW + 2);
    assert_eq!(due(&lease), RENEW + 1 + FIRST);
}

#[test]
fn hurrying_after_a_suspended_night_is_at_once() {
    let (mut lease, _) = held();
    let morning = 8 * 3_600_000;
    lease.hurry(morning);
    renew(&mut lease, morning);
}

#[test]
fn a_renewal_is_never_due_after_the_window() {
    let mut lease = Lease::new(LeaseTerms::new(1000, 1001, 10, 1).unwrap());
    let (grant, _) = acquire(&mut lease, 0);
    lease.take(&granted(grant, T, T + 1000, T), 0);
    assert_eq!(due(&lease), 1000);
}

/// A day, by which a clock jumps ahead that is no monotonic one.
const DAY: u64 = 86_400_000;

#[test]
fn a_clock_that_jumps_ahead_by_a_day_and_comes_back_takes_the_schedule_back_with_it() {
    // Renewed meanwhile.
    let (mut lease, answer) = held();
    renew(&mut lease, DAY);
    assert_eq!(lease.take(&Granted { until_ms: T + 2 * W, ..answer }, DAY), Change::Extended);
    assert_eq!(lease.retry_after_ms(2000), RENEW);
    lease.hurry(2000);
    assert_eq!(lease.ask(2000, random()), Request::Wait { ms: 5000 });
    renew(&mut lease, 7000);

    // Asked, and not answered.
    let (mut lease, _) = held();
    renew(&mut lease, DAY);
    assert_eq!(lease.retry_after_ms(2000), TIMEOUT);

    // The answer came in the meantime, so only the pause lies ahead.
    for refused in [false, true] {
        let mut lease = new();
        let (grant, _) = acquire(&mut lease, 0);
        if refused {
            lease.refuse(grant, Refusal::Exhausted { retry_after_ms: W }, DAY, 0);
        } else {
            lease.fail(DAY, 0);
        }
        let ms = lease.retry_after_ms(10);
        assert!(ms <= 5000, "{ms}");
        assert_eq!(lease.ask(10, random()), if ms == 1 { lease.clone().ask(10, random()) } else { Request::Wait { ms } });
        acquire(&mut lease, 10 + ms);
    }
}

#[test]
fn requests_whose_clocks_differ_a_little_neither_postpone_a_renewal_nor_bring_it_forward() {
    let (mut lease, _) = held();
    for round in 0..1000 {
        for at in [round + 200, round] {
            assert!(matches!(lease.ask(at, random()), Request::Wait { .. }));
        }
    }
    assert_eq!(due(&lease), RENEW);
}

#[test]
fn a_store_that_answers_with_another_lease_again_and_again_is_asked_less_and_less_often() {
    let mut lease = new();
    let (mut at, mut pauses) = (0, Vec::new());
    for _ in 0..8 {
        let (grant, _) = acquire(&mut lease, at);
        let answer = granted(grant, T, T + W, T);
        assert_eq!(lease.take(&answer, at), Change::Begun);
        assert_eq!(lease.take_late(&Granted { node: 8, ..answer }, true, at), Change::Ended);
        pauses.push(due(&lease).saturating_sub(at));
        at = due(&lease).max(at);
    }
    assert_eq!(pauses[0], 0, "the first time at once: the store may have gone back");
    assert!(pauses[1] >= FIRST / 2 && pauses[7] >= 2500, "{pauses:?}");
}
