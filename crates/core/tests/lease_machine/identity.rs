//! Whose answer it is: grants, nonces, and what an answer begins, extends or ends.

use frazil::asking::{MAX_BACKOFF_MS, Nonce};
use frazil::lease::{Change, Grant, Granted, Lease, Refusal, Request};

use super::{FIRST, RENEW, T, TIMEOUT, W, acquire, due, granted, held, new, random, renew, window};

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

// docs/internals/claims.md: 24
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

// docs/internals/claims.md: 24
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

// docs/internals/claims.md: 26
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
