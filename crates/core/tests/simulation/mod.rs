//! What the simulations of leases, segments and ceilings share: their seeds in threads, the record of what happened, the mutants.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// What a seed does: how often each event happened, or what was wrong.
pub(crate) type Outcome = Result<Vec<u64>, String>;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

fn in_threads(work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(&work);
        }
    });
}

/// What a seed does; a panic is wrong.
pub(crate) fn without_panic<T>(simulate: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(simulate)).unwrap_or_else(|_| Err("panicked".to_owned()))
}

/// What all seeds did.
struct Record {
    counts: Vec<u64>,
    failures: Vec<(u64, String)>,
}

impl Record {
    fn add(&mut self, seed: u64, outcome: Outcome) {
        match outcome {
            Ok(counted) => {
                assert_eq!(counted.len(), self.counts.len(), "a count for each event");
                self.counts.iter_mut().zip(counted).for_each(|(sum, count)| *sum += count);
            }
            Err(why) => self.failures.push((seed, why)),
        }
    }
}

fn print_counts(events: &[&str], counts: &[u64]) {
    assert_eq!(events.len(), counts.len(), "a count for each event");
    for (name, count) in events.iter().zip(counts) {
        println!("{count:>12} {name}");
    }
}

/// Runs that many seeds (`FRAZIL_SEEDS`: another number; `FRAZIL_SEED`: that one, with a line for each step) and prints how often each
/// event happened. `simulate` has the seed, and whether it prints its steps. With optimisation, and if there are not fewer seeds, every
/// event must have happened.
pub(crate) fn check_seeds(all: u64, events: &[&str], simulate: impl Fn(u64, bool) -> Outcome + Sync) {
    if let Some(seed) = variable("FRAZIL_SEED") {
        let counts = simulate(seed, true).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        print_counts(events, &counts);
        return;
    }
    let seeds = variable("FRAZIL_SEEDS").unwrap_or(all);
    let record = Mutex::new(Record { counts: vec![0; events.len()], failures: Vec::new() });
    let (next, begin) = (AtomicU64::new(0), Instant::now());
    in_threads(|| {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                break;
            }
            let outcome = without_panic(|| simulate(seed, false));
            record.lock().unwrap_or_else(PoisonError::into_inner).add(seed, outcome);
        }
    });
    let Record { counts, mut failures } = record.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{seeds} seeds, {:.1} s", begin.elapsed().as_secs_f64());
    print_counts(events, &counts);
    failures.sort_unstable();
    for (seed, why) in failures.iter().take(10) {
        println!("seed {seed}: {why}");
    }
    assert!(failures.is_empty(), "{} of {seeds} seeds fail; FRAZIL_SEED=n replays one", failures.len());
    if !cfg!(debug_assertions) && seeds >= all {
        let never: Vec<_> = events.iter().zip(counts).filter(|(_, count)| *count == 0).collect();
        assert!(never.is_empty(), "never happened: {never:?}");
    }
}

/// Each mutant must be found within that many seeds. `is_found`: whether a text is that of its finding.
pub(crate) fn check_mutants<D: Copy + Debug + Sync, T>(
    seeds: u64,
    defects: &[D],
    is_found: impl Fn(D, &str) -> bool + Sync,
    simulate: impl Fn(u64, D) -> Result<T, String> + Sync,
) {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    in_threads(|| {
        while let Some(&defect) = defects.get(next.fetch_add(1, Ordering::Relaxed)) {
            let run = |seed| without_panic(|| simulate(seed, defect)).err().map(|why| (seed, why));
            let text = match (0..seeds).find_map(run) {
                Some((seed, why)) if is_found(defect, &why) => {
                    println!("{defect:?} in seed {seed}: {why}");
                    continue;
                }
                Some((seed, why)) => format!("{defect:?} fails otherwise, in seed {seed}: {why}"),
                None => format!("{defect:?} is not found in {seeds} seeds"),
            };
            wrong.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }
    });
    let wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(wrong.is_empty(), "{wrong:#?}");
}
