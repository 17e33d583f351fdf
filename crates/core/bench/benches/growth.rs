//! How the cost of an ID grows with threads and with states: two threads on one generator, on clones of it, and on states of their own,
//! beside what two cores can do at best with one line of memory.
//!
//! `npm run bench -- growth`, or `cargo bench --manifest-path crates/core/bench/Cargo.toml --bench growth`
//!
//! Two threads live as long as the benchmark, and mint in slices of time, alone or both at once. The subjects take turns. A ratio is
//! that of one round. Before anything is timed, both threads mint from each subject at once, and no ID may repeat.
#![allow(clippy::unwrap_used, reason = "a set-up that fails ends the benchmark")]
#![allow(clippy::cast_precision_loss, reason = "counts and times far below 2^52")]

use std::collections::HashSet;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use frazil::layout::{Field, LayoutSpec};
use frazil::{Code, Generator, GeneratorOptions, Layout, Node, Registry, SystemClock};

const ROUNDS: usize = 41;
const SLICE: Duration = Duration::from_millis(12);
/// The threads begin this long after the command, so that both are awake.
const HEAD_START: Duration = Duration::from_micros(300);
/// IDs of one step of a subject.
const STEP: usize = 1024;
const CHECKED_STEPS: usize = 300;
const HANDED_OVER: u64 = 500;

type Ids = [u64; STEP];
/// Mints `STEP` IDs.
type Mint = Box<dyn FnMut(&mut Ids) + Send>;

struct Subject {
    name: String,
    /// How many steps run between two looks at the time, so that the look costs less than a percent.
    steps: usize,
    /// The numbers of this row must differ, and no two threads mint them faster than those of that row do.
    floor: Option<usize>,
    /// For each thread.
    threads: [Mint; 2],
}

fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn layout(fields: &[Field; 3]) -> Layout {
    let spec = LayoutSpec { epoch_ms: 1_704_067_200_000, tick_ms: 1, unsigned: true, fields: fields.to_vec() };
    Layout::new(spec).unwrap()
}

/// 2^24 sequence numbers in a millisecond, 16.8 IDs a nanosecond: more than memory takes.
fn wide() -> Layout {
    layout(&[Field::time(38), Field::node(2), Field::sequence(24)])
}

/// A process that started long ago, so that a lead of 10 ms is allowed and nothing has to be waited for.
fn options(node: u64) -> GeneratorOptions<'static> {
    GeneratorOptions { start_ms: Some(1_704_067_200_000), ..GeneratorOptions::new(Node::Id(node)) }
}

/// A line of memory for itself. x86-64 fetches lines in pairs.
#[repr(align(128))]
#[derive(Default)]
struct Line(AtomicU64);

fn each(mut next: impl FnMut() -> u64 + Send + 'static) -> Mint {
    Box::new(move |ids| {
        for id in ids {
            *id = black_box(next());
        }
    })
}

/// frazil refuses where the sequence is full, and without a lead also where the clock of this core is behind that of the other.
fn next(ids: &Generator) -> u64 {
    loop {
        match ids.next(&SystemClock) {
            Ok(id) => return id,
            Err(error) => assert!(matches!(error.code(), Code::SequenceExhausted | Code::ClockBackward), "{error}"),
        }
        std::thread::yield_now();
    }
}

/// One ID by one call, or blocks.
fn mint(ids: impl AsRef<Generator> + Send + 'static, block: usize) -> Mint {
    if block == 1 {
        return each(move || next(ids.as_ref()));
    }
    Box::new(move |out| {
        for block in out.chunks_exact_mut(block) {
            assert_eq!(ids.as_ref().fill(&SystemClock, block).unwrap(), block.len());
        }
        black_box(out);
    })
}

/// A generator that a thread owns, and one that both borrow, as `AsRef`.
struct Own(Generator);
struct Shared(Arc<Own>);

impl AsRef<Generator> for Own {
    fn as_ref(&self) -> &Generator {
        &self.0
    }
}
impl AsRef<Generator> for Shared {
    fn as_ref(&self) -> &Generator {
        &self.0.0
    }
}

/// The floors first: what no generator on one word can go below.
fn subjects() -> Vec<Subject> {
    let mut all = vec![];
    let mut add = |name: &str, steps, floor, threads| all.push(Subject { name: name.to_owned(), steps, floor, threads });
    add("a read of the clock, nothing shared", 1, None, [each(now_ms), each(now_ms)]);
    let line = Arc::new(Line::default());
    let counting = |line: &Arc<Line>| {
        let line = Arc::clone(line);
        each(move || {
            black_box(now_ms());
            line.0.fetch_add(1, Ordering::Relaxed)
        })
    };
    add("the clock, `fetch_add` on one line", 1, Some(1), [counting(&line), counting(&line)]);
    let line = Arc::new(Line::default());
    let swapping = |line: &Arc<Line>| {
        let line = Arc::clone(line);
        each(move || {
            let now_ms = black_box(now_ms());
            let mut before = line.0.load(Ordering::Relaxed);
            loop {
                let after = (now_ms << 22).max(before + 1);
                match line.0.compare_exchange_weak(before, after, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return after,
                    Err(current) => before = current,
                }
            }
        })
    };
    add("the clock, compare-and-swap on one line", 1, Some(2), [swapping(&line), swapping(&line)]);
    for (floor, block) in [(3, 64), (4, 1024)] {
        let line = Arc::new(Line::default());
        let reserving = |line: &Arc<Line>| -> Mint {
            let line = Arc::clone(line);
            Box::new(move |out| {
                for out in out.chunks_exact_mut(block) {
                    black_box(now_ms());
                    let first = line.0.fetch_add(block as u64, Ordering::Relaxed);
                    for (id, number) in out.iter_mut().zip(first..) {
                        *id = number;
                    }
                }
                black_box(out);
            })
        };
        let name = format!("the clock, `fetch_add` on one line, {block} stores");
        add(&name, if block == 64 { 4 } else { 64 }, Some(floor), [reserving(&line), reserving(&line)]);
    }
    let open = |layout: &Layout| Registry::new().open(layout, options(1)).unwrap();
    let calls = [(1, "`next`", 1, 2), (64, "blocks of 64", 4, 3), (1024, "blocks of 1,024", 64, 4)];
    for (block, call, steps, floor) in calls {
        let ids = Arc::new(Own(open(&wide())));
        let same = || mint(Shared(Arc::clone(&ids)), block);
        add(&format!("{call}, one `&Generator`"), steps, Some(floor), [same(), same()]);
        let ids = open(&wide());
        let clone = || mint(Own(ids.clone()), block);
        add(&format!("{call}, a clone each"), steps, Some(floor), [clone(), clone()]);
        let own = |node| mint(Own(Generator::private(&wide(), options(node)).unwrap()), block);
        add(&format!("{call}, a state each"), steps, None, [own(1), own(2)]);
    }
    // Without a lead: what is borrowed from the next milliseconds would be a good part of a slice.
    let options = GeneratorOptions::new(Node::Id(1));
    let ids = Registry::new().open(&Layout::named("default").unwrap(), options).unwrap();
    let capped = || mint(Own(ids.clone()), 1);
    add("`next`, default layout (at most 4,096 a ms), a clone each", 1, None, [capped(), capped()]);
    all
}

/// What a thread does next.
enum Command {
    /// Mints from a subject for `SLICE`, beginning at this time.
    Mint(usize, Instant),
    /// Mints some steps from it, and keeps the IDs.
    Collect(usize),
    /// Waits for its turn on a line, and gives the turn to the other thread.
    HandOver(Arc<Line>, u64),
}

enum Answer {
    /// IDs in a nanosecond.
    Rate(f64),
    Ids(Vec<u64>),
    /// Nanoseconds.
    Trip(f64),
}

struct Worker {
    commands: Sender<Command>,
    answers: Receiver<Answer>,
}

impl Worker {
    /// `subjects`: how many steps run between two looks at the time, and how to mint.
    fn start(mut subjects: Vec<(usize, Mint)>) -> Self {
        let (commands, given) = channel();
        let (results, answers) = channel();
        std::thread::spawn(move || {
            for command in given {
                let mut ids = [0; STEP];
                let answer = match command {
                    Command::Mint(at, begin) => {
                        let (steps, mint) = &mut subjects[at];
                        while Instant::now() < begin {}
                        let (mut count, mut spent) = (0, Duration::ZERO);
                        while spent < SLICE {
                            (0..*steps).for_each(|_| mint(&mut ids));
                            count += *steps * STEP;
                            spent = begin.elapsed();
                        }
                        Answer::Rate(count as f64 / (spent.as_secs_f64() * 1e9))
                    }
                    Command::Collect(at) => Answer::Ids(
                        (0..CHECKED_STEPS)
                            .flat_map(|_| {
                                subjects[at].1(&mut ids);
                                ids
                            })
                            .collect(),
                    ),
                    Command::HandOver(line, turn) => {
                        let mut begin = Instant::now();
                        for count in 0..HANDED_OVER {
                            // Only by then the other thread is awake.
                            if count == 1 {
                                begin = Instant::now();
                            }
                            while line.0.load(Ordering::Acquire) != 2 * count + turn {
                                std::hint::spin_loop();
                            }
                            line.0.store(2 * count + turn + 1, Ordering::Release);
                        }
                        Answer::Trip(begin.elapsed().as_secs_f64() * 1e9 / (HANDED_OVER - 1) as f64)
                    }
                };
                results.send(answer).unwrap();
            }
        });
        Self { commands, answers }
    }
}

/// The sum of the rates of some threads that mint at once.
fn rate(workers: &[Worker], at: usize) -> f64 {
    let begin = Instant::now() + HEAD_START;
    for worker in workers {
        worker.commands.send(Command::Mint(at, begin)).unwrap();
    }
    let one = |worker: &Worker| match worker.answers.recv().unwrap() {
        Answer::Rate(rate) => rate,
        _ => unreachable!(),
    };
    workers.iter().map(one).sum()
}

/// Both threads mint at once, and no number may be there twice.
fn check(workers: &[Worker], at: usize, name: &str) {
    for worker in workers {
        worker.commands.send(Command::Collect(at)).unwrap();
    }
    let mut seen = HashSet::new();
    for worker in workers {
        let Answer::Ids(ids) = worker.answers.recv().unwrap() else { unreachable!() };
        assert!(ids.is_sorted(), "{name} is not in order");
        for id in ids {
            assert!(seen.insert(id), "{name} repeats {id}");
        }
    }
}

/// Nanoseconds until a line that the other core wrote was written here and read there.
fn round_trip_ns(workers: &[Worker]) -> f64 {
    let line = Arc::new(Line::default());
    for (turn, worker) in (0..).zip(workers) {
        worker.commands.send(Command::HandOver(Arc::clone(&line), turn)).unwrap();
    }
    let one = |worker: &Worker| match worker.answers.recv().unwrap() {
        Answer::Trip(ns) => ns,
        _ => unreachable!(),
    };
    workers.iter().map(one).sum::<f64>() / workers.len() as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn threads() {
    let mut per_thread = [vec![], vec![]];
    let mut names = vec![];
    for Subject { name, steps, floor, threads } in subjects() {
        for (list, mint) in per_thread.iter_mut().zip(threads) {
            list.push((steps, mint));
        }
        names.push((name, floor));
    }
    let workers = per_thread.map(Worker::start);
    for (at, (name, _)) in names.iter().enumerate().skip(1) {
        check(&workers, at, name);
    }
    let mut all = vec![vec![]; names.len()];
    let mut trips = vec![];
    for round in 0..ROUNDS {
        eprint!("\rthreads in Rust: round {} of {ROUNDS}", round + 1);
        trips.push(round_trip_ns(&workers));
        for turn in 0..names.len() {
            let at = (round + turn) % names.len();
            // One thread before or after both, in turns: a machine that becomes busy must not count for one of them.
            let (mut one, mut two) = (0.0, 0.0);
            for both in [round % 2 == 0, round % 2 == 1] {
                if both {
                    two = rate(&workers, at);
                } else {
                    one = rate(&workers[..1], at);
                }
            }
            all[at].push((one, two));
        }
    }
    eprintln!();
    println!(
        "| in Rust | ns an ID, one thread | two threads, in total | x the floor | IDs a second of two, x one | middle half |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    for ((name, floor), samples) in names.iter().zip(&all) {
        let of = |rate: fn(&(f64, f64)) -> f64| median(&mut samples.iter().map(|pair| 1.0 / rate(pair)).collect::<Vec<_>>());
        let mut ratios: Vec<_> = samples.iter().map(|(one, two)| two / one).collect();
        let middle = median(&mut ratios);
        let (low, high) = (ratios[ROUNDS / 4], ratios[3 * ROUNDS / 4]);
        let (one, two) = (of(|pair| pair.0), of(|pair| pair.1));
        let digits = if one < 10.0 { 2 } else { 0 };
        let over = floor.map_or("-".into(), |floor| {
            let mut ratios: Vec<_> = all[floor].iter().zip(samples).map(|(floor, each)| floor.1 / each.1).collect();
            format!("{:.2}", median(&mut ratios))
        });
        println!("| {name} | {one:.digits$} | {two:.digits$} | {over} | {middle:.2} | {low:.2} to {high:.2} |");
    }
    let trip = median(&mut trips);
    let (low, high) = (trips[ROUNDS / 4], trips[3 * ROUNDS / 4]);
    println!(
        "\nA line of memory went to the other core and back in {trip:.0} ns (middle half of the rounds {low:.0} to {high:.0})."
    );
}

/// The memory of this process in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

fn states() {
    const MOST: u32 = 1_000_000;
    const LOOKUPS: u32 = 20_000;
    let layout = layout(&[Field::time(40), Field::node(20), Field::sequence(3)]);
    let mut registry = Registry::new();
    let mut made = 0;
    println!("\n| states in Rust | opening one that exists, ns | opening a new one, ns | bytes a state |");
    println!("|---:|---:|---:|---:|");
    let before = resident();
    for most in [1, 10, 100, 1000, 10_000, 100_000, MOST] {
        let begin = Instant::now();
        let new = most - made;
        for node in made..most {
            registry.open(&layout, options(node.into())).unwrap();
        }
        let new_ns = begin.elapsed().as_secs_f64() * 1e9 / f64::from(new);
        made = most;
        let begin = Instant::now();
        let mut node = 1;
        for _ in 0..LOOKUPS {
            // Anywhere among them: a multiplicative congruence.
            node = (node * 48_271) % 2_147_483_647_u64;
            let known = node % u64::from(made);
            black_box(registry.open(&layout, options(known)).unwrap());
        }
        let ns = begin.elapsed().as_secs_f64() * 1e9 / f64::from(LOOKUPS);
        // Fewer do not fill pages enough to be measured.
        let bytes = if made < 10_000 { "-".into() } else { ((resident() - before) / u64::from(made)).to_string() };
        println!("| {made} | {ns:.0} | {new_ns:.0} | {bytes} |");
    }
    assert_eq!(registry.len(), MOST as usize);
    println!("\nA `Generator` itself, of which each clone has one: {} bytes.", size_of::<Generator>());
}

fn main() {
    threads();
    states();
}
