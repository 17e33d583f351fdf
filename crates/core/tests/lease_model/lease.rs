//! What a lease holds and has drawn, and the same lease without what only decides when an attempt is due.

use frazil::asking::Nonce;
use frazil::lease::{Grant, Granted, Held, Lease, LeaseRandom, LeaseTerms, Refusal, Request};
use frazil::mint::Window;

use crate::state::Holder;
use crate::store::Answer;
use crate::{LATER, NONE, PROBE, TIMEOUT};

pub(crate) fn terms() -> LeaseTerms {
    // They only decide when an attempt is due.
    LeaseTerms::new(3, 1, TIMEOUT, 1).unwrap()
}

pub(crate) fn fresh() -> Holder {
    Holder { lease: Lease::new(terms()), word: 0, decided: None, asks: false }
}

pub(crate) fn small(number: u128) -> u8 {
    if number == PROBE { NONE } else { u8::try_from(number).unwrap() }
}

/// The grant and the nonce that a lease has drawn.
pub(crate) fn drawn(lease: &Lease) -> (u8, u8) {
    let mut lease = lease.clone();
    lease.fenced(LATER);
    match lease.ask(LATER, LeaseRandom { grant: PROBE, nonce: PROBE }) {
        Request::Acquire { grant: Grant(grant), nonce: Nonce(nonce) }
        | Request::Renew { grant: Grant(grant), nonce: Nonce(nonce), .. } => (small(grant), small(nonce)),
        _ => (NONE, NONE),
    }
}

/// Whether a lease waits for an attempt.
fn waits(lease: &Lease) -> bool {
    lease.retry_after_ms(0) >= TIMEOUT
}

/// Whether the store must be fenced, and whether it was behind. `Err` if the lease is closed.
fn fence_of(lease: &Lease) -> Result<Option<bool>, ()> {
    match lease.clone().ask(LATER, LeaseRandom { grant: PROBE, nonce: PROBE }) {
        Request::Nothing => Err(()),
        Request::Fence { behind } => Ok(Some(behind)),
        _ => Ok(None),
    }
}

/// The same lease as if it had just been begun: what it holds, what it has drawn, and whether the store must be fenced, without what
/// only decides when the next attempt is due. With a driver also whether it waits for an attempt, and whether the last one failed:
/// `take_late` depends on that. Without one, a lease that has drawn a nonce waits, so the nonce stays.
pub(crate) fn timeless(lease: &Lease, driver: bool, rename: impl Fn(u8) -> u8) -> Lease {
    let mut same = Lease::new(terms());
    let Ok(fence) = fence_of(lease) else {
        same.close(0);
        return same;
    };
    let (grant, nonce) = drawn(lease);
    let (grant, nonce) = (rename(grant), rename(nonce));
    let random = LeaseRandom { grant: grant.into(), nonce: nonce.into() };
    let refusal = fence.map(|behind| if behind { Refusal::Behind } else { Refusal::Incarnation });
    let mut at = 0;
    let mut ask = |same: &mut Lease| {
        at += 10_000;
        same.ask(at, random);
    };
    let (mut has_failed, waiting) =
        if driver { (lease.failures() > 0, waits(lease)) } else { (fence.is_some(), fence.is_none() && nonce != NONE) };
    if let Some(Held { node, window: Window { from_ms, until_ms } }) = lease.held() {
        let grant = Grant(grant.into());
        let before = Granted { grant, node, from_ms, until_ms: until_ms - 1, store_now_ms: 0 };
        ask(&mut same);
        same.take(&before, 0);
        if nonce != NONE {
            ask(&mut same);
        }
        if let Some(refusal) = refusal {
            same.refuse(grant, refusal, 0, 0);
            ask(&mut same);
        }
        let answer = Granted { until_ms, ..before };
        // A late answer leaves the attempt under way its nonce.
        if nonce == NONE {
            same.take(&answer, 0)
        } else {
            same.take_late(&answer, false, 0)
        };
    } else {
        // Failures count only where a lease is held, and an attempt sets them back before.
        has_failed &= grant != NONE;
        if grant != NONE || refusal.is_some() {
            ask(&mut same);
        }
        if let Some(refusal) = refusal {
            // It draws a grant, which is withdrawn if there was none.
            let drawn = Grant(random.grant);
            same.refuse(drawn, refusal, 0, 0);
            if grant == NONE {
                same.refuse(drawn, Refusal::Lost, 0, 0);
            }
        }
        if grant != NONE && refusal.is_none() && !waiting {
            has_failed = true;
        }
    }
    if has_failed && same.failures() == 0 {
        same.fail(0, 0);
    }
    if waiting && !waits(&same) {
        ask(&mut same);
    }
    assert_eq!((same.held(), drawn(&same), fence_of(&same), waits(&same)), (lease.held(), (grant, nonce), Ok(fence), waiting));
    assert!(!driver || lease.held().is_none() || (same.failures() > 0) == (lease.failures() > 0), "{lease:?}");
    same
}

pub(crate) fn held(lease: &Lease) -> Option<(u8, u8, u8)> {
    lease.held().map(|Held { node, window: Window { from_ms, until_ms } }| {
        (u8::try_from(node).unwrap(), u8::try_from(from_ms).unwrap(), u8::try_from(until_ms).unwrap())
    })
}

pub(crate) fn granted(answer: Answer) -> Granted {
    Granted {
        grant: Grant(answer.grant.into()),
        node: answer.node.into(),
        from_ms: answer.from.into(),
        until_ms: answer.until.into(),
        store_now_ms: answer.now.into(),
    }
}
