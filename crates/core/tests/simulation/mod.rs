//! What the simulations of ceilings and segments share: their seeds in threads, the record of what happened, and the broken twins.

use std::fmt::Debug;
use std::fmt::Write as _;

/// What a seed does: how often each event happened, or what was wrong.
pub(crate) type Outcome<const EVENTS: usize> = Result<[u64; EVENTS], String>;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Runs that many seeds (`FRAZIL_SEEDS`: another number; `FRAZIL_SEED`: that one, with a line for each step) and prints how often each
/// event happened. `simulate` has the seed, and whether it prints its steps.
pub(crate) fn check_seeds<const EVENTS: usize>(
    seeds: u64,
    events: [&str; EVENTS],
    simulate: impl Fn(u64, bool) -> Outcome<EVENTS> + Sync,
) {
    if let Some(seed) = variable("FRAZIL_SEED") {
        simulate(seed, true).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        return;
    }
    let seeds = variable("FRAZIL_SEEDS").unwrap_or(seeds);
    let mut counts = [0; EVENTS];
    let mut failures = String::new();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let results = std::thread::scope(|scope| {
        let simulate = &simulate;
        let run =
            move |thread: usize| (0..seeds).skip(thread).step_by(threads).map(|seed| (seed, simulate(seed, false))).collect();
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || -> Vec<_> { run(thread) })).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    for (seed, result) in results {
        match result {
            Ok(counted) => counts.iter_mut().zip(counted).for_each(|(sum, count)| *sum += count),
            Err(why) => writeln!(failures, "seed {seed}: {why}").expect("a text"),
        }
    }
    println!("{seeds} seeds");
    for (name, count) in events.iter().zip(counts) {
        println!("{count:>12} {name}");
    }
    assert!(failures.is_empty(), "{failures}FRAZIL_SEED=n replays one");
    if seeds >= 1000 {
        for (name, count) in events.iter().zip(counts) {
            assert_ne!(count, 0, "it never happened that {name}");
        }
    }
}

/// Each broken twin must be found within that many seeds. `is_found`: whether a text is that of its finding.
pub(crate) fn check_twins<D: Copy + Debug, const EVENTS: usize>(
    seeds: u64,
    defects: &[D],
    is_found: impl Fn(D, &str) -> bool,
    simulate: impl Fn(u64, D) -> Outcome<EVENTS>,
) {
    for &defect in defects {
        let found = (0..seeds).find_map(|seed| simulate(seed, defect).err().map(|why| (seed, why)));
        let (seed, why) = found.unwrap_or_else(|| panic!("{defect:?} was not found in {seeds} seeds"));
        assert!(is_found(defect, &why), "{defect:?} in seed {seed}: {why}");
        println!("{defect:?} in seed {seed}: {why}");
    }
}
