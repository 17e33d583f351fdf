//! Explores with loom every interleaving of a few calls on one state, and every value that their atomic loads may return.
//!
//! A [`Model`] is a layout of a few bits and the calls of each thread. Each call has its clock reading as a number, so nothing
//! waits for time. A model is explored on the real generator; on a copy of its loop ([`Copied`]), which must give the same set
//! of outcomes; and on that copy with a [`Defect`], where loom must find a repeated ID: if it found nothing wrong with a broken
//! copy, the other explorations would prove nothing. A [`FileModel`] is the same for a state file: calls, closing and beginning
//! anew on a state that a [`Keeper`] has.
//!
//! * **Covered**: every order of the steps of two or three threads with at most [`PREEMPTIONS`] preemptions (a thread that
//!   could run is stopped), and every older value (of the last seven) that a load may return under its ordering.
//! * **Not covered**: a compare-and-swap that fails spuriously, which Miri covers; one that fails on an older value, which is
//!   the same as an older load; and loads of values that are stored later (*load buffering*), which need a store that depends
//!   on no load before it. The loop has no such store. Beginning anew has one, but after the swap that closed the state, which
//!   has acquired everything that was swapped before: a call that read the new window swaps a later word, or its swap fails.
//!
//! `npm test -- loom` runs it; it needs `--cfg frazil_loom`.
#![cfg(frazil_loom)]
#![allow(clippy::unwrap_used, reason = "a model that cannot be set up has failed")]

mod call;
mod clock;
mod copied;
mod defect;
mod fast_path;
mod file;
mod given_up;
mod interleavings;
mod keys;
mod line;
mod model;
mod state;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The largest number of preemptions in one execution. One suffices to find each defect.
const PREEMPTIONS: usize = 4;

/// Explores all executions of a model.
fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(model);
}

/// The beginning of the panic message that a defect must cause.
const REPEATED: &str = "an ID was issued twice:";

/// The message of the panic in which an exploration ends.
fn panic_of(exploring: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(exploring)).unwrap_err();
    payload.downcast_ref::<String>().cloned().unwrap_or_default()
}
