//! One ID at a time on the system's clock, in Rust: frazil and other crates side by side, each against a read of the clock.
//!
//! `cargo bench --manifest-path crates/core/bench/Cargo.toml`
//!
//! A generator of 12 sequence bits gives 4,096 IDs in a millisecond, and then waits or runs ahead. So each sample takes `IDS` at the
//! beginning of a millisecond, which is the work of a program that is not at its limit. The generators take turns, and begin with another
//! one in each round; a ratio is that of one round. Before anything is timed, a million IDs of each are counted.
#![allow(clippy::unwrap_used, reason = "a set-up that fails ends the benchmark")]

use std::collections::HashSet;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ferroid::generator::{AtomicSnowflakeGenerator, BasicSnowflakeGenerator};
use ferroid::id::SnowflakeTwitterId;
use ferroid::time::TimeSource;
use frazil::{Generator, GeneratorOptions, Layout, Node, Registry, SystemClock};
use frazil_local::{Local, LocalOptions};

/// IDs of a sample. At 100 ns each they take a tenth of a millisecond.
const IDS: u16 = 1000;
const ROUNDS: usize = 1500;
const COUNTED: usize = 1_000_000;

/// The time in milliseconds, as `SystemClock` reads it.
fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// For ferroid, whose own clock is a thread that writes the time each millisecond.
#[derive(Clone)]
struct WallClock;

impl TimeSource<u64> for WallClock {
    fn current_millis(&self) -> u64 {
        now_ms() - 1_288_834_974_657
    }
}

/// frazil refuses where others wait. In a sample that does not happen.
fn waiting(mut next: impl FnMut() -> frazil::Result<u64>) -> u64 {
    loop {
        match next() {
            Ok(id) => return id,
            Err(error) => assert_eq!(error.code(), frazil::Code::SequenceExhausted),
        }
        std::thread::yield_now();
    }
}

type Fill = Box<dyn FnMut(&mut [u64])>;

struct Contender {
    name: &'static str,
    /// Fills an array, one ID by one call.
    fill: Fill,
}

/// Generic, so that each call is compiled into its loop.
fn contender(name: &'static str, mut next: impl FnMut() -> u64 + 'static) -> Contender {
    let fill = move |ids: &mut [u64]| {
        for id in ids {
            *id = black_box(next());
        }
    };
    Contender { name, fill: Box::new(fill) }
}

/// The floor first: what every ratio refers to.
fn contenders(state: &std::path::Path) -> Vec<Contender> {
    let layout = Layout::named("default").unwrap();
    let options = || GeneratorOptions::new(Node::Id(7));
    let shared = Registry::new().open(&layout, options()).unwrap();
    let mut unshared = shared.unshared();
    let private = Generator::private(&layout, options()).unwrap();
    let local = LocalOptions { dir: Some(state.to_owned()), ..LocalOptions::default() };
    let local = Local::open(&layout, local).unwrap();
    let word = AtomicU64::new(0);
    let atomic = AtomicSnowflakeGenerator::<SnowflakeTwitterId, _>::new(7, WallClock);
    let basic = BasicSnowflakeGenerator::<SnowflakeTwitterId, _>::new(7, WallClock);
    let me = snowflake_me::Snowflake::builder().machine_id(&|| Ok(7)).data_center_id(&|| Ok(1)).finalize().unwrap();
    let flaked = snowflaked::sync::Generator::new(7);
    let mut flaked_alone = snowflaked::Generator::new(7);
    let snowid = snowid::SnowID::new(7).unwrap();
    let mut serial = 0;
    vec![
        contender("a read of the clock", now_ms),
        contender("a read of the clock, one compare-and-swap", move || {
            serial += 1;
            let before = word.load(Ordering::Relaxed);
            let after = now_ms() << 22 | serial;
            word.compare_exchange(before, after, Ordering::Relaxed, Ordering::Relaxed).unwrap();
            after
        }),
        contender("frazil, shared state", move || waiting(|| shared.next(&SystemClock))),
        contender("frazil, private state", move || waiting(|| private.next(&SystemClock))),
        contender("frazil, unshared", move || waiting(|| unshared.next(&SystemClock))),
        contender("frazil, Local", move || waiting(|| local.next(&SystemClock))),
        contender("snowid 3.0 (no bound of the lead)", move || snowid.generate()),
        contender("snowflake_me 2.2", move || me.next_id().unwrap().as_u64()),
        contender("ferroid 2.0, atomic, wall clock", move || atomic.next_id(|_| std::thread::yield_now()).to_raw()),
        contender("ferroid 2.0, not Sync, wall clock", move || basic.next_id(|_| std::thread::yield_now()).to_raw()),
        contender("snowflaked 1.0, sync", move || flaked.generate()),
        contender("snowflaked 1.0, &mut", move || flaked_alone.generate()),
        contender("tsid 0.3", || tsid::create_tsid().number()),
        contender("uuid 1.29, v7 (128 bits)", || uuid::Uuid::now_v7().as_u64_pair().1),
    ]
}

/// Waits for the beginning of the next millisecond.
fn begin() {
    let now = now_ms();
    while now_ms() == now {}
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let state = std::env::temp_dir().join(format!("frazil-bench-{}", std::process::id()));
    let mut all = contenders(&state);
    let mut ids = vec![0; COUNTED];
    let repeats: Vec<_> = all
        .iter_mut()
        .map(|each| {
            (each.fill)(&mut ids);
            COUNTED - ids.iter().collect::<HashSet<_>>().len()
        })
        .collect();
    let mut samples = vec![Vec::with_capacity(ROUNDS); all.len()];
    let count = all.len();
    for round in 0..ROUNDS {
        for turn in 0..count {
            let at = (round + turn) % count;
            begin();
            let start = Instant::now();
            (all[at].fill)(&mut ids[..IDS.into()]);
            samples[at].push(start.elapsed().as_secs_f64() * 1e9 / f64::from(IDS));
        }
    }
    println!("| one ID by one call | x the clock | middle half | ns | repeats of {COUNTED} |");
    println!("|---|---:|---:|---:|---:|");
    let floor = samples[0].clone();
    for ((Contender { name, .. }, repeats), times) in all.iter().zip(repeats).zip(samples) {
        let mut ratios: Vec<_> = times.iter().zip(&floor).map(|(time, floor)| time / floor).collect();
        let middle = median(&mut ratios);
        let (low, high) = (ratios[ROUNDS / 4], ratios[3 * ROUNDS / 4]);
        let nanoseconds = median(&mut times.clone());
        let counted = if name.starts_with("a read") { "-".into() } else { repeats.to_string() };
        println!("| {name} | {middle:.2} | {low:.2} to {high:.2} | {nanoseconds:.0} | {counted} |");
    }
    drop(all);
    std::fs::remove_dir_all(state).unwrap();
}
