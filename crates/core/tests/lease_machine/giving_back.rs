//! Declining a lease, and closing it.

use frazil::lease::{Change, Refusal, Release, Request};

use super::{FIRST, RENEW, T, W, acquire, due, granted, held, new, random, renew};

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

// docs/internals/claims.md: 25
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
