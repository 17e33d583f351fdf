//! A leased generator: what it may issue under each lease, and from one lease to the next. `lease_simulation` runs whole fleets.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

mod clocks;
mod late_answers;
mod readings;
mod requests;
mod store_time;
mod succession;
mod suspensions;
mod windows;

use frazil::layout::{Field, LayoutSpec};
use frazil::lease::{
    Asked, Change, Grant, Granted, IdTime, LeaseRandom, LeaseTerms, LeasedGenerator, LeasedOptions, Readings, Refusal, Request,
    Taken,
};
use frazil::mint::Reservation;
use frazil::{Layout, Registry, Result};

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

/// The clock of a holder on Cloudflare Workers, where monotonic time is the wall clock.
const fn one_clock(ms: u64) -> Readings {
    Readings { wall_ms: ms, monotonic_ms: ms }
}

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

/// A generator that only calls renew, at wall time `T` and monotonic time 0.
fn by_calls(id_time: IdTime) -> LeasedGenerator {
    let options = LeasedOptions::new(LeaseTerms::usual(W, true, 1).unwrap());
    let options = LeasedOptions { default_scope: false, by_calls: true, id_time, ..options };
    let mut ids = LeasedGenerator::new(&layout(false), options).unwrap();
    assert_eq!(ids.lease_ms(at(T)), 0);
    begin(&mut ids, 1, 9);
    ids
}
