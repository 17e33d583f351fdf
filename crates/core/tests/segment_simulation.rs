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
//! docs/safety.md: 28, 29
#![expect(clippy::print_stdout, reason = "the seeds, the events and the mutants are the record")]

mod simulation;

use std::collections::{BinaryHeap, HashMap, HashSet};

use fastrand::Rng;
use frazil::asking::Nonce;
use frazil::segment::{Allocated, Segment, SegmentRange, SegmentRequest, SegmentTerms};

use crate::simulation::{Outcome, check_mutants, check_seeds};

const SEEDS: u64 = if cfg!(debug_assertions) { 100 } else { 10_000 };
const MUTANT_SEEDS: u64 = 10_000;
/// How long faults strike, and how long everybody has to come back afterwards.
const FAULTS_MS: u64 = 60_000;
const QUIET_MS: u64 = 30_000;
const STEP: u64 = 10;
const MAX_STEP: u64 = 80;
const FAILOVER_SKIP: u64 = 10 * MAX_STEP;

/// What is broken in a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    /// The store does not know attempts again.
    ForgetsAttempts,
    /// The store skips nothing after a failover.
    SkipsNothing,
    /// The store replaces a record that somebody else has written meanwhile.
    ReplacesBlindly,
    /// The store compares the record when it replaces it, and not which server it is.
    IgnoresServer,
    /// A driver counts a try that timed out as an attempt that did not happen.
    RenamesRetries,
}

impl Defect {
    /// Whether a text is that of its finding.
    fn is_found(self, why: &str) -> bool {
        match self {
            Self::ForgetsAttempts => why.ends_with("lives and did not take what was allocated to it"),
            Self::SkipsNothing | Self::ReplacesBlindly | Self::IgnoresServer => why.ends_with("was handed out twice"),
            // The range follows.
            Self::RenamesRetries => why.contains(": the counter of the store went back ("),
        }
    }
}

const DEFECTS: [Defect; 5] =
    [Defect::ForgetsAttempts, Defect::SkipsNothing, Defect::ReplacesBlindly, Defect::IgnoresServer, Defect::RenamesRetries];

/// What must happen in some seed.
const EVENTS: [&str; 18] = [
    "a request was lost",
    "an answer was lost",
    "a try timed out",
    "a caller asked beside a try",
    "a late answer was taken",
    "a late answer was dropped",
    "a retry got the range of its first try",
    "another process was faster",
    "a failover lost an allocation",
    "numbers were skipped",
    "a record was read before a failover and replaced after it",
    "a process was killed with numbers left",
    "a process closed",
    "a process was paused for longer than a try",
    "a caller found no number",
    "a range had the longest step",
    "a step became shorter",
    "the next range was asked for with the first number",
];

fn terms() -> SegmentTerms {
    SegmentTerms::new(Some(STEP), MAX_STEP, 2000, 4000).expect("terms")
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Record {
    next: u64,
    server: u64,
    /// Holder, attempt, range.
    recent: Vec<(usize, Nonce, SegmentRange)>,
}

/// An allocation that a record has.
#[derive(Clone, Copy)]
struct Entry {
    holder: usize,
    attempt: Nonce,
    first: u64,
}

struct Store {
    server: u64,
    record: Record,
    /// The records before, the newest last, each with its allocation.
    history: Vec<(Record, Entry)>,
}

#[derive(Clone)]
struct Request {
    holder: usize,
    attempt: Nonce,
    count: u64,
    above: u64,
    /// The number of the try, which the driver gave up when it has a later one.
    number: u64,
}

#[derive(Clone)]
enum Event {
    /// A caller wants numbers.
    Use(usize),
    /// A timer of a driver.
    Look(usize),
    Read(Request),
    Replace(Request, Record, Record, SegmentRange),
    Answer(Request, SegmentRange),
    Fault,
}

struct Process {
    segment: Segment,
    /// The try under way, and when it is given up.
    underway: Option<(u64, u64)>,
    /// The try before, which timed out, and whose answer would still be taken.
    late: Option<u64>,
    tries: u64,
    last: Option<u64>,
    is_gone: bool,
    paused_until: u64,
    pace_ms: u64,
    /// Where the ranges that it took begin.
    taken: HashSet<u64>,
    asking: Option<Nonce>,
    step: u64,
    answered_at: u64,
}

struct World {
    rng: Rng,
    defect: Option<Defect>,
    now: u64,
    order: u64,
    queue: BinaryHeap<std::cmp::Reverse<(u64, u64)>>,
    events: HashMap<u64, Event>,
    store: Store,
    processes: Vec<Process>,
    seen: HashSet<u64>,
    highest: u64,
    /// The attempts of which a failover lost an allocation: the retry gets another range, and one of the two is taken.
    lost: HashSet<(usize, Nonce)>,
    counts: [u64; EVENTS.len()],
    has_faults: bool,
    trace: bool,
}

type Checked = Result<(), String>;

impl World {
    fn new(seed: u64, defect: Option<Defect>, trace: bool) -> Self {
        let rng = Rng::with_seed(seed);
        let record = Record { next: 1, server: 0, recent: Vec::new() };
        let mut world = Self {
            rng,
            defect,
            now: 0,
            order: 0,
            queue: BinaryHeap::new(),
            events: HashMap::new(),
            store: Store { server: 0, record, history: Vec::new() },
            processes: Vec::new(),
            seen: HashSet::new(),
            highest: 0,
            lost: HashSet::new(),
            counts: [0; EVENTS.len()],
            has_faults: true,
            trace,
        };
        for _ in 0..world.rng.usize(2..6) {
            world.start();
        }
        world.after(500, Event::Fault);
        world
    }

    fn sometimes(&mut self, event: &str) {
        let at = EVENTS.iter().position(|name| *name == event).expect("an event of the list");
        self.counts[at] += 1;
        if self.trace {
            println!("{:>6} {event}", self.now);
        }
    }

    fn after(&mut self, ms: u64, event: Event) {
        self.order += 1;
        self.queue.push(std::cmp::Reverse((self.now + ms, self.order)));
        self.events.insert(self.order, event);
    }

    fn start(&mut self) {
        let terms = terms();
        let pace_ms = [20, 100, 800][self.rng.usize(0..3)];
        self.processes.push(Process {
            segment: Segment::new(terms),
            underway: None,
            late: None,
            tries: 0,
            last: None,
            is_gone: false,
            paused_until: 0,
            pace_ms,
            taken: HashSet::new(),
            asking: None,
            step: STEP,
            answered_at: 0,
        });
        self.after(1, Event::Use(self.processes.len() - 1));
    }

    fn run(mut self) -> Outcome {
        let mut quiet_since = 0;
        while let Some(std::cmp::Reverse((at, order))) = self.queue.pop() {
            self.now = at;
            if self.has_faults && self.now > FAULTS_MS {
                self.has_faults = false;
                quiet_since = self.now;
            }
            if !self.has_faults && self.now > quiet_since + QUIET_MS {
                break;
            }
            let event = self.events.remove(&order).expect("an event");
            self.step(event)?;
        }
        self.check_end(quiet_since)?;
        Ok(self.counts.to_vec())
    }

    fn step(&mut self, event: Event) -> Checked {
        // A paused process handles nothing until it goes on; what comes meanwhile waits.
        if let Event::Use(at) | Event::Look(at) | Event::Answer(Request { holder: at, .. }, _) = event {
            let process = &self.processes[at];
            if process.is_gone {
                return Ok(());
            }
            if process.paused_until > self.now {
                let ms = process.paused_until - self.now;
                self.after(ms, event);
                return Ok(());
            }
        }
        match event {
            Event::Use(at) => self.use_numbers(at)?,
            Event::Look(at) => self.look(at),
            Event::Read(request) => self.read(&request),
            Event::Replace(request, seen, record, range) => self.replace(request, &seen, record, range),
            Event::Answer(request, range) => self.answered(&request, range)?,
            Event::Fault => self.fault(),
        }
        Ok(())
    }

    fn use_numbers(&mut self, at: usize) -> Checked {
        let want = self.rng.u64(1..8);
        let mut left = want;
        while left > 0 {
            let before = self.processes[at].segment.left();
            let Some(drawn) = self.processes[at].segment.draw(self.now, left) else { break };
            if drawn.count == 0 || drawn.count > left || drawn.count > before {
                return Err(format!("drew {} of {left}, and {before} were there", drawn.count));
            }
            left -= drawn.count;
            for index in 0..drawn.count {
                let number = drawn.first + index * drawn.stride;
                if !self.seen.insert(number) {
                    return Err(format!("{number} was handed out twice"));
                }
                let process = &mut self.processes[at];
                if process.last.is_some_and(|last| last >= number) {
                    return Err(format!("process {at}: {number} after {:?}", process.last));
                }
                process.last = Some(number);
                process.answered_at = self.now;
            }
            let stats = self.processes[at].segment.stats();
            if drawn.count == 1 && stats.buffers == 1 && stats.left > 0 && self.processes[at].segment.is_short(0) {
                self.sometimes("the next range was asked for with the first number");
            }
        }
        if left > 0 {
            self.sometimes("a caller found no number");
        }
        self.ask(at, left);
        let pace_ms = self.processes[at].pace_ms;
        let ms = self.rng.u64(1..=2 * pace_ms);
        self.after(ms, Event::Use(at));
        Ok(())
    }

    /// What a driver does: one try at a time, which it gives up after a while.
    fn look(&mut self, at: usize) {
        let process = &mut self.processes[at];
        if let Some((number, until)) = process.underway
            && self.now >= until
        {
            process.underway = None;
            process.late = Some(number);
            let jitter = self.rng.u64(..);
            let process = &mut self.processes[at];
            process.segment.fail(self.now, jitter);
            self.sometimes("a try timed out");
        }
        self.ask(at, 0);
    }

    /// A caller that lacks numbers, and cannot wait for the answer to another one's try, makes one beside it.
    fn ask_beside(&mut self, at: usize, want: u64, until: u64) {
        if self.now >= until || want == 0 || self.rng.bool() {
            return;
        }
        let random = self.rng.u128(..);
        let process = &mut self.processes[at];
        let number = process.tries;
        // A driver that renames its retries is another mutant.
        if self.defect == Some(Defect::RenamesRetries) {
            return;
        }
        if let SegmentRequest::Allocate { count, above, attempt } = process.segment.ask_again(self.now, want, 0, random) {
            let count = count.expect("a step of its own");
            self.sometimes("a caller asked beside a try");
            self.send(Event::Read(Request { holder: at, attempt, count, above, number }), "a request was lost");
        }
    }

    fn ask(&mut self, at: usize, want: u64) {
        if let Some((_, until)) = self.processes[at].underway {
            self.ask_beside(at, want, until);
            return;
        }
        let random = self.rng.u128(..);
        let process = &mut self.processes[at];
        match process.segment.ask(self.now, want, 0, random) {
            SegmentRequest::Nothing => {}
            SegmentRequest::Wait { ms } => self.after(ms, Event::Look(at)),
            SegmentRequest::Allocate { count, above, attempt } => {
                let count = count.expect("a step of its own");
                process.tries += 1;
                let timeout_ms = terms().timeout_ms();
                process.underway = Some((process.tries, self.now + timeout_ms));
                let is_retry = process.asking == Some(attempt);
                process.asking = Some(attempt);
                let attempt = if is_retry && self.defect == Some(Defect::RenamesRetries) { Nonce(random) } else { attempt };
                let request = Request { holder: at, attempt, count, above, number: process.tries };
                let step = process.segment.stats().step;
                let before = std::mem::replace(&mut process.step, step);
                if step < before {
                    self.sometimes("a step became shorter");
                }
                if count == MAX_STEP {
                    self.sometimes("a range had the longest step");
                }
                self.after(timeout_ms, Event::Look(at));
                self.send(Event::Read(request), "a request was lost");
            }
        }
    }

    /// Sends a message, which may be late or lost.
    fn send(&mut self, event: Event, lost: &str) {
        let fate = if self.has_faults { self.rng.u32(0..100) } else { 50 };
        match fate {
            0..5 => self.sometimes(lost),
            5..10 => {
                let ms = self.rng.u64(1000..9000);
                self.after(ms, event);
            }
            _ => {
                let ms = self.rng.u64(1..30);
                self.after(ms, event);
            }
        }
    }

    fn read(&mut self, request: &Request) {
        // The client is told when nobody waits any more, and replaces nothing then.
        if self.has_given_up(request) {
            return;
        }
        let seen = self.store.record.clone();
        let server = self.store.server;
        let has_lost = (seen.server != server || request.above > seen.next) && self.defect != Some(Defect::SkipsNothing);
        if has_lost {
            self.sometimes("numbers were skipped");
        }
        // So that two stores which lack the same record skip to different numbers.
        let high_bits = u64::try_from(request.attempt.0 >> 96).expect("32 bits");
        let skipped = FAILOVER_SKIP + ((FAILOVER_SKIP * high_bits) >> 32);
        let start = seen.next.max(request.above) + if has_lost { skipped } else { 0 };
        let is_same = |(holder, attempt, range): &&(usize, Nonce, SegmentRange)| {
            *holder == request.holder && *attempt == request.attempt && range.first >= request.above
        };
        let known = seen.recent.iter().find(is_same).filter(|_| self.defect != Some(Defect::ForgetsAttempts));
        let range = known.map_or(SegmentRange { first: start, stride: 1, count: request.count }, |(_, _, range)| *range);
        let next = if known.is_some() { start } else { start + request.count };
        if known.is_some() {
            self.sometimes("a retry got the range of its first try");
        }
        let mut recent: Vec<_> = seen.recent.iter().filter(|(holder, ..)| *holder != request.holder).copied().collect();
        recent.insert(0, (request.holder, request.attempt, range));
        let record = Record { next, server, recent };
        // The second round trip of the store's client.
        self.send(Event::Replace(request.clone(), seen, record, range), "a request was lost");
    }

    fn has_given_up(&self, request: &Request) -> bool {
        let process = &self.processes[request.holder];
        let is_awaited =
            process.late == Some(request.number) || process.underway.is_some_and(|(number, _)| number == request.number);
        process.is_gone || !is_awaited
    }

    fn replace(&mut self, request: Request, seen: &Record, record: Record, range: SegmentRange) {
        let is_server = self.store.server == record.server;
        if !is_server {
            self.sometimes("a record was read before a failover and replaced after it");
        }
        let is_same = self.store.record == *seen || self.defect == Some(Defect::ReplacesBlindly);
        if !is_same || (!is_server && self.defect != Some(Defect::IgnoresServer)) {
            self.sometimes("another process was faster");
            // The client reads again.
            self.read(&request);
            return;
        }
        let entry = Entry { holder: request.holder, attempt: request.attempt, first: range.first };
        let before = std::mem::replace(&mut self.store.record, record);
        self.store.history.push((before, entry));
        self.highest = self.highest.max(self.store.record.next);
        self.send(Event::Answer(request, range), "an answer was lost");
    }

    fn answered(&mut self, request: &Request, range: SegmentRange) -> Checked {
        let at = request.holder;
        let process = &mut self.processes[at];
        let is_late = process.underway.is_none_or(|(number, _)| number != request.number);
        if !is_late {
            process.underway = None;
        }
        // A driver that renames its retries gives the core the name that it knows.
        let attempt =
            if self.defect == Some(Defect::RenamesRetries) { process.asking.unwrap_or(request.attempt) } else { request.attempt };
        let answer = Allocated { attempt, range, step: None };
        match process.segment.take(&answer, self.now) {
            Ok(true) => {
                process.taken.insert(range.first);
                process.asking = None;
                // Gives up both tries.
                process.underway = None;
                process.late = None;
                if is_late {
                    self.sometimes("a late answer was taken");
                }
            }
            Ok(false) => self.sometimes("a late answer was dropped"),
            Err(error) => return Err(format!("process {at}: {error} ({range:?})")),
        }
        self.ask(at, 0);
        Ok(())
    }

    fn fault(&mut self) {
        if !self.has_faults {
            return;
        }
        let ms = self.rng.u64(200..4000);
        self.after(ms, Event::Fault);
        let at = self.rng.usize(0..self.processes.len());
        match self.rng.u32(0..10) {
            0 | 1 => {
                if !self.processes[at].is_gone {
                    if self.processes[at].segment.left() > 0 {
                        self.sometimes("a process was killed with numbers left");
                    }
                    self.processes[at].is_gone = true;
                    self.start();
                }
            }
            2 => {
                if !self.processes[at].is_gone {
                    self.processes[at].segment.close();
                    self.processes[at].is_gone = true;
                    self.sometimes("a process closed");
                    self.start();
                }
            }
            3..6 => {
                let ms = self.rng.u64(100..8000);
                self.processes[at].paused_until = self.now + ms;
                if ms > terms().timeout_ms() {
                    self.sometimes("a process was paused for longer than a try");
                }
            }
            _ => self.fail_over(),
        }
    }

    /// Another server takes over, which may lack the last allocations: as many as the skip covers.
    fn fail_over(&mut self) {
        self.store.server += 1;
        let lose = self.rng.usize(0..4);
        for _ in 0..lose {
            let Some((before, _)) = self.store.history.last() else { break };
            if self.highest - before.next > FAILOVER_SKIP {
                break;
            }
            let (before, entry) = self.store.history.pop().expect("it was there");
            self.store.record = before;
            self.lost.insert((entry.holder, entry.attempt));
            self.sometimes("a failover lost an allocation");
        }
    }

    fn check_end(&self, quiet_since: u64) -> Checked {
        for (at, process) in self.processes.iter().enumerate().filter(|(_, process)| !process.is_gone) {
            if process.answered_at < quiet_since {
                return Err(format!("process {at} hands out no number"));
            }
        }
        for (_, Entry { holder, attempt, first }) in &self.store.history {
            let process = &self.processes[*holder];
            let is_taken = process.taken.contains(first) || process.asking == Some(*attempt);
            if !is_taken && !process.is_gone && !self.lost.contains(&(*holder, *attempt)) {
                return Err(format!("a hole: process {holder} lives and did not take what was allocated to it"));
            }
        }
        Ok(())
    }
}

#[test]
fn no_number_comes_twice_and_only_ends_and_failovers_leave_holes() {
    check_seeds(SEEDS, &EVENTS, |seed, trace| World::new(seed, None, trace).run());
}

#[test]
#[cfg_attr(debug_assertions, ignore = "it takes long without optimisation")]
fn every_mutant_is_found() {
    check_mutants(MUTANT_SEEDS, &DEFECTS, Defect::is_found, |seed, defect| World::new(seed, Some(defect), false).run());
}
