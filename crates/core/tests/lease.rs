//! What a holder of a lease asks the store for, and what each answer does to it. `lease_model.rs` explores the same type in
//! every history of a small fleet.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::cell::Cell;

use frazil::Code;
use frazil::asking::{MAX_BACKOFF_MS, Nonce};
use frazil::lease::{Change, Grant, Granted, Held, Lease, LeaseRandom, LeaseTerms, Refusal, Release, Request};
use frazil::mint::Window;

const W: u64 = 30_000;
const RENEW: u64 = 10_000;
const TIMEOUT: u64 = 3000;
/// The time of the store, which has nothing to do with monotonic time.
const T: u64 = 1_720_000_000_000;
/// The pause after the first failure.
const FIRST: u64 = 100;
/// Jitter that makes a pause of 100 ms as long as it can be: 50 + 50 % 51.
const LONGEST: u64 = 50;

thread_local! {
    static DRAWN: Cell<u128> = const { Cell::new(0) };
}

/// The kernel: bits that nobody has drawn before.
fn random() -> LeaseRandom {
    let drawn = DRAWN.get() + 2;
    DRAWN.set(drawn);
    LeaseRandom { grant: drawn - 1, nonce: drawn }
}

fn new() -> Lease {
    Lease::new(LeaseTerms::new(W, RENEW, TIMEOUT, 1).unwrap())
}

/// Asks, and expects to acquire.
fn acquire(lease: &mut Lease, at: u64) -> (Grant, Nonce) {
    match lease.ask(at, random()) {
        Request::Acquire { grant, nonce } => (grant, nonce),
        other => panic!("{other:?}"),
    }
}

/// Asks, and expects to renew.
fn renew(lease: &mut Lease, at: u64) -> (Grant, Nonce, u64) {
    match lease.ask(at, random()) {
        Request::Renew { grant, nonce, until_ms, .. } => (grant, nonce, until_ms),
        other => panic!("{other:?}"),
    }
}

fn granted(grant: Grant, from_ms: u64, until_ms: u64, store_now_ms: u64) -> Granted {
    Granted { grant, node: 7, from_ms, until_ms, store_now_ms }
}

/// A lease of node id 7 from `T` on, taken at monotonic time 0, and its first answer.
fn held() -> (Lease, Granted) {
    let mut lease = new();
    let (grant, _) = acquire(&mut lease, 0);
    let answer = granted(grant, T, T + W, T);
    assert_eq!(lease.take(&answer, 0), Change::Begun);
    (lease, answer)
}

fn window(lease: &Lease) -> Option<(u64, u64, u64)> {
    lease.held().map(|Held { node, window: Window { from_ms, until_ms } }| (node, from_ms, until_ms))
}

/// When the next attempt is due, as it is kept: asked with an earlier time, the lease takes that for a clock that went back.
fn due(lease: &Lease) -> u64 {
    let text = format!("{lease:?}");
    let (_, rest) = text.split_once("due_ms: ").unwrap();
    rest.split(',').next().unwrap().parse().unwrap()
}

// ------------------------------------------------------------------------------------------------------------------ identity

#[test]
fn the_first_attempt_is_due_at_once_and_asks_for_a_node_id() {
    let mut lease = new();
    assert_eq!((due(&lease), lease.held(), lease.failures()), (0, None, 0));
    let drawn = random();
    let request = Request::Acquire { grant: Grant(drawn.grant), nonce: Nonce(drawn.nonce) };
    assert_eq!(lease.ask(0, drawn), request);
}

#[test]
fn an_answer_with_another_grant_changes_nothing() {
    let (mut lease, answer) = held();
    let before = lease.clone();
    for other in [
        Granted { grant: Grant(u128::MAX), ..answer },
        Granted { grant: Grant(u128::MAX), until_ms: T + 2 * W, ..answer },
        Granted { grant: Grant(u128::MAX), node: 8, ..answer },
    ] {
        assert_eq!(lease.take(&other, 5), Change::None);
        assert_eq!(lease, before);
    }
    for refusal in
        [Refusal::Lost, Refusal::Exhausted { retry_after_ms: 5 }, Refusal::Incarnation, Refusal::Behind, Refusal::Rejected]
    {
        assert_eq!(lease.refuse(Grant(u128::MAX), refusal, 5, 0), Change::None);
        assert_eq!(lease, before);
    }
}

#[test]
fn an_answer_before_anything_was_asked_changes_nothing() {
    let mut lease = new();
    assert_eq!(lease.take(&granted(Grant(1), T, T + W, T), 0), Change::None);
    assert_eq!(lease.refuse(Grant(1), Refusal::Lost, 0, 0), Change::None);
    assert_eq!(lease, new());
}

#[test]
fn an_answer_that_comes_twice_begins_one_lease() {
    let (mut lease, answer) = held();
    assert_eq!(lease.take(&answer, 1), Change::None);
    assert_eq!(window(&lease), Some((7, T, T + W)));
}

#[test]
fn the_window_is_extended_and_never_shortened() {
    let (mut lease, answer) = held();
    let later = Granted { until_ms: T + W + RENEW, store_now_ms: T + RENEW, ..answer };
    assert_eq!(lease.take(&later, RENEW), Change::Extended);
    assert_eq!(lease.take(&answer, RENEW + 1), Change::None);
    assert_eq!(window(&lease), Some((7, T, T + W + RENEW)));
    assert_eq!(lease.take(&Granted { until_ms: 0, ..answer }, RENEW + 1), Change::None);
    assert_eq!(window(&lease), Some((7, T, T + W + RENEW)));
}

#[test]
fn an_answer_whose_predecessor_was_lost_is_enough() {
    let mut lease = new();
    let (grant, nonce) = acquire(&mut lease, 0);
    lease.fail(TIMEOUT, 0);
    assert_eq!(acquire(&mut lease, TIMEOUT + FIRST), (grant, nonce));
    // The store answers what it has under the grant, after it was extended.
    assert_eq!(lease.take(&granted(grant, T, T + W + 5, T + 5), TIMEOUT + FIRST), Change::Begun);
    assert_eq!(window(&lease), Some((7, T, T + W + 5)));
}

// docs/safety.md: 24
#[test]
fn the_same_grant_with_another_node_id_or_start_ends_the_lease_for_good() {
    for other in [
        |answer| Granted { node: 8, ..answer },
        |answer: Granted| Granted { from_ms: answer.from_ms + 1, ..answer },
        |answer: Granted| Granted { from_ms: answer.from_ms - 1, until_ms: answer.until_ms + 1, ..answer },
    ] {
        let (mut lease, answer) = held();
        assert_eq!(lease.take(&other(answer), 5), Change::Ended);
        assert_eq!(lease.held(), None);
        for late in [answer, other(answer)] {
            assert_eq!(lease.take(&late, 5), Change::None);
        }
        let (grant, _) = acquire(&mut lease, 5);
        assert_ne!(grant, answer.grant);
        for late in [answer, other(answer)] {
            assert_eq!(lease.take(&late, 5), Change::None);
        }
        assert_eq!(lease.held(), None);
    }
}

// docs/safety.md: 24
#[test]
fn a_new_grant_and_nonce_are_drawn_after_every_end() {
    let ends: [fn(&mut Lease, Granted); 3] = [
        |lease, answer| assert_eq!(lease.refuse(answer.grant, Refusal::Lost, 5, 0), Change::Ended),
        |lease, answer| assert_eq!(lease.take(&Granted { node: 8, ..answer }, 5), Change::Ended),
        |lease, answer| _ = lease.decline(&answer, 5),
    ];
    for end in ends {
        let (mut lease, answer) = held();
        let (_, attempt, _) = renew(&mut lease, RENEW);
        end(&mut lease, answer);
        assert_eq!(lease.held(), None);
        let (grant, nonce) = acquire(&mut lease, RENEW + MAX_BACKOFF_MS);
        assert_ne!(grant, answer.grant);
        assert_ne!(nonce, attempt);
        assert_eq!(lease.take(&answer, RENEW), Change::None, "an ended lease came back");
    }
}

#[test]
fn retries_have_the_same_nonce_and_the_attempt_after_a_success_has_another() {
    let (mut lease, answer) = held();
    let (grant, nonce, until_ms) = renew(&mut lease, RENEW);
    assert_eq!((grant, until_ms), (answer.grant, T + W));
    assert_eq!(renew(&mut lease, RENEW + 1), (grant, nonce, until_ms)); // the same attempt once more
    lease.fail(RENEW + TIMEOUT, 0);
    lease.fail(RENEW + TIMEOUT, 0);
    assert_eq!(renew(&mut lease, RENEW + TIMEOUT + FIRST), (grant, nonce, until_ms));
    let extended = Granted { until_ms: T + W + RENEW, store_now_ms: T + RENEW, ..answer };
    assert_eq!(lease.take(&extended, RENEW + TIMEOUT + FIRST), Change::Extended);
    let (same, next, until_ms) = renew(&mut lease, 3 * RENEW);
    assert_eq!((same, until_ms), (grant, T + W + RENEW));
    assert_ne!(next, nonce);
}

#[test]
fn an_answer_that_comes_twice_neither_postpones_nor_forgets_a_renewal() {
    let (mut lease, answer) = held();
    assert_eq!(lease.take(&answer, RENEW - 1000), Change::None);
    assert_eq!(due(&lease), RENEW);
    // The store carries this out, and the answer is lost.
    let attempt = renew(&mut lease, RENEW);
    assert_eq!(lease.take(&answer, RENEW + 1), Change::None);
    lease.fail(RENEW + TIMEOUT, 0);
    // So another nonce would look like a copy of this holder.
    assert_eq!(renew(&mut lease, 2 * RENEW), attempt);
}

#[test]
fn a_late_answer_leaves_the_attempt_under_way_alone() {
    let (mut lease, answer) = held();
    renew(&mut lease, RENEW);
    let later = Granted { until_ms: T + W + RENEW, store_now_ms: T + RENEW, ..answer };
    assert_eq!(lease.take(&later, RENEW), Change::Extended);
    assert_eq!(lease.take(&answer, RENEW + 1000), Change::None);
    assert_eq!((lease.failures(), due(&lease)), (0, 2 * RENEW));
    renew(&mut lease, 2 * RENEW);
    assert_eq!(lease.take(&answer, 2 * RENEW + 1), Change::None);
    // Until the time-out of the attempt, since its driver asks nothing before.
    assert_eq!(lease.retry_after_ms(2 * RENEW + 1), TIMEOUT - 1);
}

// docs/safety.md: 26
#[test]
fn two_copies_of_a_holder_draw_different_nonces() {
    let (mut lease, _) = held();
    let mut copy = lease.clone();
    let ((grant, nonce, _), (same, other, _)) = (renew(&mut lease, RENEW), renew(&mut copy, RENEW));
    assert_eq!(grant, same);
    assert_ne!(nonce, other);
}

#[test]
fn two_copies_of_a_holder_that_was_refused_a_node_id_ask_for_different_leases() {
    // A process that waits for a node id may be copied long before it gets one. Both copies would begin the same lease.
    for refusal in [Refusal::Exhausted { retry_after_ms: 1000 }, Refusal::Rejected] {
        let mut lease = new();
        let (grant, _) = acquire(&mut lease, 0);
        lease.refuse(grant, refusal, 0, 0);
        let mut copy = lease.clone();
        let ((one, _), (other, _)) = (acquire(&mut lease, MAX_BACKOFF_MS), acquire(&mut copy, MAX_BACKOFF_MS));
        assert_ne!(one, other);
    }
}

// ------------------------------------------------------------------------------------------------------------------ schedule

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

// ------------------------------------------------------------------------------------------------------------------ refusals

#[test]
fn a_lost_lease_ends_and_another_is_asked_for_at_once() {
    let (mut lease, answer) = held();
    renew(&mut lease, RENEW);
    assert_eq!(lease.refuse(answer.grant, Refusal::Lost, RENEW + 5, 0), Change::Ended);
    assert_eq!((lease.held(), due(&lease)), (None, RENEW + 5));
    assert_eq!(lease.refuse(answer.grant, Refusal::Lost, RENEW + 5, 0), Change::None, "the same refusal twice");
}

#[test]
fn a_store_that_is_another_one_is_fenced_first_and_then_the_same_attempt_continues() {
    for (refusal, behind) in [(Refusal::Incarnation, false), (Refusal::Behind, true)] {
        let (mut lease, answer) = held();
        let (grant, nonce, until_ms) = renew(&mut lease, RENEW);
        assert_eq!(lease.refuse(answer.grant, refusal, RENEW + 1, 0), Change::None);
        assert_eq!(window(&lease), Some((7, T, T + W)), "minting goes on");
        assert_eq!(lease.ask(RENEW + 1, random()), Request::Fence { behind });
        assert_eq!(lease.ask(RENEW + 2, random()), Request::Fence { behind }, "the same once more");
        lease.fenced(RENEW + 3);
        // With the nonce of before: the first try may have been carried out, and its answer lost with the old store.
        assert_eq!(renew(&mut lease, RENEW + 3), (grant, nonce, until_ms));

        let mut lease = new();
        let (grant, nonce) = acquire(&mut lease, 0);
        assert_eq!(lease.refuse(grant, refusal, 1, 0), Change::None);
        assert_eq!(lease.ask(1, random()), Request::Fence { behind });
        lease.fenced(2);
        assert_eq!(acquire(&mut lease, 2), (grant, nonce));
    }
}

#[test]
fn a_store_that_wants_to_be_fenced_again_and_again_is_asked_less_and_less_often() {
    let (mut lease, answer) = held();
    let (mut at, mut pauses) = (RENEW, Vec::new());
    for _ in 0..9 {
        renew(&mut lease, at);
        lease.refuse(answer.grant, Refusal::Behind, at, u64::MAX);
        let next = due(&lease);
        pauses.push(next - at);
        at = next;
        assert_eq!(lease.ask(at, random()), Request::Fence { behind: true });
        lease.fenced(at);
    }
    assert_eq!(pauses[0], 0);
    assert!(pauses[1..].windows(2).all(|pair| pair[0] <= 2 * pair[1]), "{pauses:?}");
    assert!(pauses[1] >= FIRST / 2 && pauses[8] >= MAX_BACKOFF_MS / 2, "{pauses:?}");
}

#[test]
fn a_store_that_comes_back_as_another_one_is_fenced_at_once() {
    let (mut lease, answer) = held();
    let mut at = RENEW;
    for _ in 0..6 {
        renew(&mut lease, at);
        lease.fail(at + TIMEOUT, 0);
        at = due(&lease);
    }
    renew(&mut lease, at);
    lease.refuse(answer.grant, Refusal::Incarnation, at + 1, u64::MAX);
    assert_eq!(lease.ask(at + 1, random()), Request::Fence { behind: false }, "before the window is over");
    lease.fenced(at + 2);
    renew(&mut lease, at + 2);
    lease.refuse(answer.grant, Refusal::Incarnation, at + 3, u64::MAX);
    assert!(due(&lease) >= at + 3 + MAX_BACKOFF_MS / 2, "the second time after a pause");
}

#[test]
fn a_fence_that_fails_is_asked_for_again_after_a_pause() {
    let (mut lease, answer) = held();
    renew(&mut lease, RENEW);
    lease.refuse(answer.grant, Refusal::Incarnation, RENEW, 0);
    assert_eq!(lease.ask(RENEW, random()), Request::Fence { behind: false });
    assert_eq!(lease.retry_after_ms(RENEW), TIMEOUT);
    lease.fail(RENEW + TIMEOUT, 0);
    assert!(due(&lease) >= RENEW + TIMEOUT + FIRST / 2);
    assert_eq!(lease.ask(due(&lease), random()), Request::Fence { behind: false });
}

#[test]
fn a_lease_that_ends_while_a_fence_is_due_asks_for_a_node_id() {
    let (mut lease, answer) = held();
    renew(&mut lease, RENEW);
    lease.refuse(answer.grant, Refusal::Behind, RENEW, 0);
    assert_eq!(lease.take(&Granted { node: 8, ..answer }, RENEW), Change::Ended);
    acquire(&mut lease, RENEW);
}

#[test]
fn a_fence_that_is_confirmed_twice_or_unasked_changes_no_lease() {
    let (mut lease, _) = held();
    let before = window(&lease);
    lease.fenced(5);
    assert_eq!(window(&lease), before);
    renew(&mut lease, 5);
}

#[test]
fn an_exhausted_scope_is_asked_again_when_the_store_says_or_sooner() {
    for (retry_after_ms, jitter, after) in [
        (2000, 0, 1000),
        (2000, 1000, 2000),
        (0, 0, FIRST / 2),
        (0, LONGEST, FIRST),
        (u64::MAX, 0, MAX_BACKOFF_MS / 2),
        (u64::MAX, MAX_BACKOFF_MS / 2, MAX_BACKOFF_MS),
    ] {
        let mut lease = new();
        let (grant, nonce) = acquire(&mut lease, 0);
        assert_eq!(lease.refuse(grant, Refusal::Exhausted { retry_after_ms }, 5, jitter), Change::None);
        assert_eq!(due(&lease), 5 + after);
        let (_, next) = acquire(&mut lease, 5 + after);
        assert_ne!(next, nonce, "nothing was stored under it");
    }
}

#[test]
fn a_refused_acquire_that_comes_late_changes_nothing_of_a_lease_that_is_held() {
    // The first try was refused, the second one granted, and the refusal comes last: when a renewal is under way, its retries
    // must keep their nonce, or the store refuses them.
    let (mut lease, answer) = held();
    renew(&mut lease, RENEW);
    let before = lease.clone();
    assert_eq!(lease.refuse(answer.grant, Refusal::Exhausted { retry_after_ms: 50 }, RENEW + 1, 0), Change::None);
    assert_eq!(lease, before);
}

#[test]
fn what_asking_again_would_not_change_is_asked_again_after_five_seconds_at_most() {
    let mut lease = new();
    let (grant, _) = acquire(&mut lease, 0);
    lease.refuse(grant, Refusal::Rejected, 0, 0);
    assert_eq!(due(&lease), MAX_BACKOFF_MS / 2);
    let (mut lease, answer) = held();
    let (_, nonce, _) = renew(&mut lease, RENEW);
    assert_eq!(lease.refuse(answer.grant, Refusal::Rejected, RENEW, MAX_BACKOFF_MS / 2), Change::None);
    assert_eq!(due(&lease), RENEW + MAX_BACKOFF_MS);
    assert!(lease.held().is_some(), "the window is still ours");
    assert_eq!(renew(&mut lease, RENEW + MAX_BACKOFF_MS).1, nonce);
}

// ---------------------------------------------------------------------------------------------------------- giving it back

#[test]
fn a_declined_lease_stays_taken_to_its_end_and_another_is_asked_for() {
    for from_ms in [T - 500, T, T + 500] {
        let mut lease = new();
        let (grant, _) = acquire(&mut lease, 0);
        let answer = granted(grant, from_ms, T + W, T);
        lease.take(&answer, 0);
        // A node id that is free is preferred to a new one, so the store would answer with this one again.
        assert_eq!(lease.decline(&answer, 5), Release { grant, node: 7, until_ms: T + W, held_until_ms: T + W });
        assert_eq!((lease.held(), lease.failures()), (None, 1));
        assert!((5 + FIRST / 2..=5 + FIRST).contains(&due(&lease)));
        assert_ne!(acquire(&mut lease, 5 + FIRST).0, grant);
    }
}

#[test]
fn declining_again_and_again_waits_longer_each_time() {
    let mut lease = new();
    let mut at = 0;
    for failures in 1..=9 {
        let (grant, _) = acquire(&mut lease, at);
        let answer = granted(grant, T, T + W, T);
        lease.take(&answer, at);
        lease.decline(&answer, at);
        assert_eq!(lease.failures(), failures);
        // The node id is taken to the end of its window, and the store has to be asked before.
        assert!(due(&lease) <= at + W / 8);
        at = due(&lease);
    }
}

// docs/safety.md: 25
#[test]
fn a_closed_lease_is_released_from_the_end_of_what_was_used() {
    for (used, until_ms) in [(0, T), (T - 1, T), (T, T), (T + 1, T + 1), (T + W, T + W)] {
        let (mut lease, answer) = held();
        let release = Release { grant: answer.grant, node: 7, until_ms, held_until_ms: T + W };
        assert_eq!(lease.close(used), Some(release));
        assert_eq!((lease.close(used), lease.held()), (None, None));
    }
}

#[test]
fn a_closed_lease_asks_nothing_and_takes_nothing() {
    let (mut lease, answer) = held();
    renew(&mut lease, RENEW);
    lease.close(0);
    assert_eq!(lease.take(&answer, RENEW), Change::None);
    assert_eq!(lease.refuse(answer.grant, Refusal::Lost, RENEW, 0), Change::None);
    lease.fail(RENEW, 0);
    lease.fenced(RENEW);
    lease.hurry(RENEW);
    assert_eq!((lease.ask(u64::MAX, random()), lease.held()), (Request::Nothing, None));

    let mut lease = new();
    let (grant, _) = acquire(&mut lease, 0);
    assert_eq!(lease.close(0), None);
    assert_eq!(lease.take(&granted(grant, T, T + W, T), 5), Change::None, "a lease began after the end");
}

#[test]
fn a_window_has_at_least_three_ticks_and_at_most_the_longest_timer() {
    for (window_ms, tick_ms, accepted) in [
        (2, 1, false),
        (3, 1, true),
        (29, 10, false),
        (30, 10, true),
        ((1 << 31) - 1, 1, true),
        (1 << 31, 1, false),
        (u64::MAX, 1, false),
        (1, u64::MAX, false),
    ] {
        let terms = LeaseTerms::new(window_ms, RENEW, TIMEOUT, tick_ms);
        assert_eq!(terms.is_ok(), accepted, "{window_ms} ms of {tick_ms}");
        if let Err(error) = terms {
            assert_eq!((error.code(), error.field(), error.value()), (Code::InvalidOption, "window_ms", Some(window_ms.into())));
        }
    }
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
