//! A deterministic simulation of fleets under leases: real `LeasedGenerator`s, drivers that do what a driver must, a store by the
//! rules of `npm/frazil/src/stores/store.ts`, a network, clocks, crashes and copies, all drawn from a seed.
//!
//! After each step: no ID repeats, except within the exposure that docs/leases.md names for copies of a process and for stores
//! that are set back unseen; the time in each ID is in its window; the IDs of one object increase; the windows of one node id
//! never overlap; each refusal has a code of a lease and the true time of the next attempt; nobody asks in a loop. At the end of a
//! seed the faults stop, and everybody that can have a node id mints again within the time that `World::liveness_ms` computes.
//!
//! `npm test -- lease-simulation` runs 10,000 seeds and the broken twins; a build without optimisation runs a few seeds. A failure
//! prints its seed, and `FRAZIL_SEED=n` replays one, with a line of state for each step. `FRAZIL_SEEDS=n` runs that many.
//!
//! docs/safety.md: 22, 23, 24, 25, 26, 27
#![expect(clippy::print_stdout, reason = "the seeds, the events and the twins are the record")]

mod defect;
mod events;
mod ids;
mod plan;
mod store;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::defect::Defect;
use crate::events::{Counts, Sometimes};
use crate::world::{Summary, World};

/// How many seeds a run has.
const SEEDS: u64 = if cfg!(debug_assertions) { 60 } else { 10_000 };
/// In how many seeds a broken twin must repeat an ID.
const TWIN_SEEDS: u64 = 10_000;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

fn simulate(seed: u64, defect: Option<Defect>, copied: bool, trace: bool) -> Result<Summary, String> {
    let run = AssertUnwindSafe(|| World::new(seed, defect, copied, trace).map_or(Ok(Summary::default()), World::run));
    catch_unwind(run).unwrap_or_else(|_| Err("panicked".to_owned()))
}

fn in_threads(work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(&work);
        }
    });
}

#[test]
fn no_fleet_repeats_an_id() {
    if let Some(seed) = variable("FRAZIL_SEED") {
        let summary = simulate(seed, None, false, true).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        println!("seed {seed}: {} steps, {} IDs", summary.steps, summary.ids);
        return;
    }
    let seeds = variable("FRAZIL_SEEDS").unwrap_or(SEEDS);
    let (next, ids, steps) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let counts = Counts::new();
    let failures = Mutex::new(Vec::new());
    let begin = Instant::now();
    in_threads(|| {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                break;
            }
            match simulate(seed, None, false, false) {
                Ok(summary) => {
                    ids.fetch_add(summary.ids, Ordering::Relaxed);
                    steps.fetch_add(summary.steps, Ordering::Relaxed);
                    counts.add(&summary.counts);
                }
                Err(why) => failures.lock().expect("no panic").push((seed, why)),
            }
        }
    });
    let (ids, steps) = (ids.into_inner(), steps.into_inner());
    println!("{seeds} seeds, {steps} steps, {ids} IDs, {:.1} s", begin.elapsed().as_secs_f64());
    for (event, name) in Sometimes::ALL {
        println!("{:>12} {name}", counts.get(*event));
    }
    let mut failures = failures.into_inner().expect("no panic");
    failures.sort_unstable();
    for (seed, why) in failures.iter().take(10) {
        println!("seed {seed}: {why}");
    }
    assert!(failures.is_empty(), "{} of {seeds} seeds fail; FRAZIL_SEED=n replays one", failures.len());
    if seeds >= 10_000 {
        let never: Vec<_> = Sometimes::ALL.iter().filter(|(event, _)| counts.get(*event) == 0).collect();
        assert!(never.is_empty(), "never happened: {never:?}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "it takes minutes without optimisation")]
fn every_broken_twin_is_found() {
    let next = AtomicUsize::new(0);
    let never = Mutex::new(Vec::new());
    in_threads(|| {
        while let Some(defect) = Defect::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            let caught = |seed| simulate(seed, Some(*defect), true, false).err().map(|why| (seed, why));
            match (0..TWIN_SEEDS).find_map(caught) {
                Some((seed, why)) if why.contains(defect.says()) => println!("{defect:?} in seed {seed}: {}", defect.says()),
                other => never.lock().expect("no panic").push((defect, other)),
            }
        }
    });
    let never = never.into_inner().expect("no panic");
    assert!(never.is_empty(), "not caught in {TWIN_SEEDS} seeds: {never:?}");
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
