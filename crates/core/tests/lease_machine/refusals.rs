//! What the store refuses, and fences.

use frazil::asking::MAX_BACKOFF_MS;
use frazil::lease::{Change, Granted, Refusal, Request};

use super::{FIRST, LONGEST, RENEW, T, TIMEOUT, W, acquire, due, held, new, random, renew, window};

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
