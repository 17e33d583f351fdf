//! A deterministic simulation of fleets under leases: real `LeasedGenerator`s, drivers that do what a driver must, a store by the
//! rules of `npm/frazil/src/stores/lease-store.ts`, a network, clocks, crashes and copies, all drawn from a seed.
//!
//! After each step: no ID repeats, except within the exposure that docs/concepts/leases.md names for copies of a process and for stores
//! that are set back unseen; the time in each ID is in its window; the IDs of one object increase; the windows of one node id
//! never overlap; each refusal has a code of a lease and the true time of the next attempt; nobody asks in a loop. At the end of a
//! seed the faults stop, and everybody that can have a node id mints again within the time that `World::liveness_ms` computes.
//!
//! `npm test -- lease-simulation` runs 10,000 seeds and the mutants; a build without optimisation runs a few seeds. A failure
//! prints its seed, and `FRAZIL_SEED=n` replays one, with a line of state for each step. `FRAZIL_SEEDS=n` runs that many.
//!
//! docs/internals/claims.md: 22, 23, 24, 25, 26, 27
#![expect(clippy::print_stdout, reason = "the seeds, the events and the mutants are the record")]

mod defect;
mod events;
mod ids;
mod plan;
#[path = "../simulation/mod.rs"]
mod simulation;
mod store;
mod world;

use crate::defect::Defect;
use crate::events::Sometimes;
use crate::simulation::{check_mutants, check_seeds, without_panic};
use crate::world::{Summary, World};

/// How many seeds a run has.
const SEEDS: u64 = if cfg!(debug_assertions) { 60 } else { 10_000 };
/// In how many seeds a mutant must repeat an ID.
const MUTANT_SEEDS: u64 = 10_000;

fn simulate(seed: u64, defect: Option<Defect>, copied: bool, trace: bool) -> Result<Summary, String> {
    without_panic(|| World::new(seed, defect, copied, trace).map_or(Ok(Summary::default()), World::run))
}

#[test]
fn no_fleet_repeats_an_id() {
    let events = [&["a step was taken", "an ID was issued"], Sometimes::NAMES].concat();
    check_seeds(SEEDS, &events, |seed, trace| {
        let Summary { steps, ids, mut counts, .. } = simulate(seed, None, false, trace)?;
        // Empty for a seed whose plan the core refuses.
        counts.resize(Sometimes::NAMES.len(), 0);
        Ok([vec![steps, ids], counts].concat())
    });
}

#[test]
#[cfg_attr(debug_assertions, ignore = "it takes minutes without optimisation")]
fn every_mutant_is_found() {
    let is_found = |defect: Defect, why: &str| why.contains(defect.says());
    check_mutants(MUTANT_SEEDS, &Defect::ALL, is_found, |seed, defect| simulate(seed, Some(defect), true, false));
}

#[test]
fn the_copy_without_a_defect_issues_the_same_ids() {
    for seed in 0..SEEDS / 20 {
        let real = simulate(seed, None, false, false).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        if !real.plain {
            continue;
        }
        let copied = simulate(seed, None, true, false).unwrap_or_else(|why| panic!("seed {seed}, copied: {why}"));
        assert_eq!((real.ids, real.hash), (copied.ids, copied.hash), "seed {seed}");
    }
}
