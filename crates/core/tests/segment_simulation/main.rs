//! A deterministic simulation of processes with segments of one tag: real [`Segment`]s, drivers that do what a driver must, a store
//! by the rules of `npm/frazil/src/stores/kit/segment/rules.ts` (read, decide, replace what was read), a network that loses and delays,
//! processes that are killed, paused and closed, and failovers that lose allocations, all drawn from a seed.
//!
//! After each step: no number is handed out twice, and the numbers of one process increase. At the end of a seed the faults stop,
//! every process hands out numbers again, and each allocation that nobody took belongs to a process that died or closed, or was
//! lost by a failover.
//!
//! `npm test -- segment-simulation` runs 10,000 seeds and the mutants. A failure prints its seed, and `FRAZIL_SEED=n` replays
//! one. `FRAZIL_SEEDS=n` runs that many.
//!
//! docs/internals/claims.md: 28, 29
#![expect(clippy::print_stdout, reason = "the seeds, the events and the mutants are the record")]

mod defect;
mod events;
#[path = "../simulation/mod.rs"]
mod simulation;
mod world;

use crate::defect::{DEFECTS, Defect};
use crate::events::EVENTS;
use crate::simulation::{check_mutants, check_seeds};
use crate::world::World;

const SEEDS: u64 = if cfg!(debug_assertions) { 100 } else { 10_000 };
const MUTANT_SEEDS: u64 = 10_000;

#[test]
fn no_number_comes_twice_and_only_ends_and_failovers_leave_holes() {
    check_seeds(SEEDS, &EVENTS, |seed, trace| World::new(seed, None, trace).run());
}

#[test]
#[cfg_attr(debug_assertions, ignore = "it takes long without optimisation")]
fn every_mutant_is_found() {
    check_mutants(MUTANT_SEEDS, &DEFECTS, Defect::is_found, |seed, defect| World::new(seed, Some(defect), false).run());
}
