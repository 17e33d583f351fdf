//! One simulation: time, the store, the network, the processes with their drivers, and the checker.

mod driver;
mod faults;
mod store;

use std::collections::{BinaryHeap, HashMap, HashSet};

use fastrand::Rng;
use frazil::asking::Nonce;
use frazil::segment::{Segment, SegmentRange, SegmentTerms};

use crate::defect::Defect;
use crate::events::EVENTS;
use crate::simulation::Outcome;

/// How long faults strike, and how long everybody has to come back afterwards.
const FAULTS_MS: u64 = 60_000;
const QUIET_MS: u64 = 30_000;
const STEP: u64 = 10;
const MAX_STEP: u64 = 80;
const FAILOVER_SKIP: u64 = 10 * MAX_STEP;

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

pub(crate) struct World {
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
    pub(crate) fn new(seed: u64, defect: Option<Defect>, trace: bool) -> Self {
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

    pub(crate) fn run(mut self) -> Outcome {
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
