//! What a holder of a lease asks the store for, and what each answer does to it. `lease_model` explores the same type in
//! every history of a small fleet.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

mod giving_back;
mod identity;
mod refusals;
mod schedule;
mod terms;

use std::cell::Cell;

use frazil::asking::Nonce;
use frazil::lease::{Change, Grant, Granted, Held, Lease, LeaseRandom, LeaseTerms, Request};
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
