//! A deterministic simulation of an object with a storage and generators under a ceiling in it: real [`CeilingGenerator`]s, a host that
//! does what `npm/frazil/src/workers/durable.ts` does, transactions that are rolled back, nested ones too, writes that fail, crashes
//! at any point, restarts in a row, two generators at once, and a clock that stands still, steps and shows nonsense, all drawn from a
//! seed.
//!
//! What the object sends leaves it when all that it wrote before is durable, as the output gate of the runtime has it. An ID counts
//! when it is sent; those of a transaction that is rolled back, and of an event that ends before it sends, never are.
//!
//! * No ID is sent twice, and each lies below the ceiling that is durable then.
//! * The durable ceiling only grows, and a write raises it.
//! * It is at most [`CEILING_AHEAD_MS`], a tick and the lead beyond the latest reading of the clock.
//! * A write is asked for only if an ID is issued after it, and the next one by the same generator raises the ceiling by more than
//!   [`CEILING_AHEAD_MS`], unless something has happened to the first.
//! * When the faults stop and the clock is at the ceiling, a restarted object mints.
//!
//! `npm test -- ceiling-simulation` runs 20,000 seeds and the mutants, of which each must send an ID twice. A failure prints its
//! seed, and `FRAZIL_SEED=n` replays one. `FRAZIL_SEEDS=n` runs that many.
//!
//! docs/internals/claims.md: 30
#![expect(clippy::print_stdout, reason = "the seeds, the events and the mutants are the record")]

mod simulation;

use std::collections::HashSet;

use fastrand::Rng;
use frazil::ceiling::{CEILING_AHEAD_MS, CeilingGenerator, CeilingRow};
use frazil::layout::{Field, LayoutSpec};
use frazil::mint::{Key, Reservation, SequenceStart};
use frazil::{Code, Layout, Node};

use crate::simulation::{Outcome, check_mutants, check_seeds};

const SEEDS: u64 = if cfg!(debug_assertions) { 300 } else { 20_000 };
const MUTANT_SEEDS: u64 = 20_000;
/// How many things happen in a seed.
const STEPS: usize = 400;
const EPOCH_MS: u64 = 1_704_067_200_000;

/// What is broken in a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    /// The host reads the row once, and then goes by what it has written.
    ReadsOnce,
    /// A new instance begins at its clock, and not at the ceiling.
    BeginsAtTheClock,
    /// The host writes after it has minted, with the next call.
    WritesLate,
    /// A write that failed counts as one that succeeded.
    TrustsFailedWrites,
    /// IDs are reserved ahead, and handed out without another look at the row.
    KeepsBlocks,
    /// Two generators have one mark, so that a row says no more than its ceiling.
    SharesTheMark,
}

const DEFECTS: [Defect; 6] = [
    Defect::ReadsOnce,
    Defect::BeginsAtTheClock,
    Defect::WritesLate,
    Defect::TrustsFailedWrites,
    Defect::KeepsBlocks,
    Defect::SharesTheMark,
];

/// What must happen in some seed.
const EVENTS: [&str; 19] = [
    "a transaction was rolled back",
    "a rollback took a ceiling back",
    "a rollback took the first ceiling back",
    "a transaction in a transaction was rolled back after the ceiling was raised in both",
    "a transaction was committed",
    "the object ended with a ceiling that was not durable",
    "the object ended between a write and minting",
    "the object ended in a transaction",
    "the object restarted behind its ceiling",
    "a write failed",
    "a generator found that the other one had raised the ceiling",
    "the clock went back",
    "the clock showed nothing at which IDs can be issued",
    "IDs were borrowed across a ceiling",
    "a call was stalled",
    "a block was cut at the ceiling",
    "the clock was read again",
    "a clock id was switched",
    "the ceiling was beyond the last tick",
];

type Checked = Result<(), String>;

struct Instance {
    ids: CeilingGenerator,
    /// What this generator has written last, if nothing has happened to it since.
    raised: Option<u64>,
    /// What the host believes that the storage has, in a mutant, once it has begun to believe something.
    believed: Option<CeilingRow>,
    believes: bool,
    /// What is to be written later, in a mutant.
    late: Option<CeilingRow>,
    /// What was reserved ahead, in a mutant.
    block: Vec<u64>,
    seen: Option<CeilingRow>,
}

/// What a rollback restores.
struct Savepoint {
    row: Option<CeilingRow>,
    pending: usize,
}

struct World {
    rng: Rng,
    defect: Option<Defect>,
    layout: Layout,
    max_lead_ms: u64,
    start: SequenceStart,
    clock_ms: u64,
    stands_still: bool,
    /// What a crash leaves.
    durable: Option<CeilingRow>,
    /// What the object reads.
    current: Option<CeilingRow>,
    savepoints: Vec<Savepoint>,
    instances: Vec<Instance>,
    /// IDs that were not sent yet.
    pending: Vec<u64>,
    sent: HashSet<u64>,
    latest_ms: u64,
    has_faults: bool,
    counts: [u64; EVENTS.len()],
    trace: bool,
}

fn layout(rng: &mut Rng) -> Layout {
    let (time, node) = (Field::time(41), Field::node(3));
    let (tick_ms, fields) = match rng.u32(0..6) {
        0 => (1, vec![time, node, Field::sequence(8)]),
        1 => (1, vec![time, node, Field::sequence(2)]),
        2 => (10, vec![Field::time(39), node, Field::sequence(3)]),
        3 => (1500, vec![Field::time(30), node, Field::sequence(6)]),
        4 => (1, vec![time, Field::clock(2), node, Field::sequence(3)]),
        // The time field ends after 16 s.
        _ => (1, vec![Field::time(14), node, Field::sequence(3)]),
    };
    Layout::new(LayoutSpec { epoch_ms: EPOCH_MS, tick_ms, unsigned: false, fields }).expect("a layout")
}

impl World {
    fn new(seed: u64, defect: Option<Defect>, trace: bool) -> Self {
        let mut rng = Rng::with_seed(seed);
        let layout = layout(&mut rng);
        let max_lead_ms = [0, 10, 300, 1000][rng.usize(0..4)];
        let start = [SequenceStart::Zero, SequenceStart::Zero, SequenceStart::Random, SequenceStart::Wrap][rng.usize(0..4)];
        let mut world = Self {
            rng,
            defect,
            layout,
            max_lead_ms,
            start,
            clock_ms: EPOCH_MS + 5000,
            stands_still: true,
            durable: None,
            current: None,
            savepoints: Vec::new(),
            instances: Vec::new(),
            pending: Vec::new(),
            sent: HashSet::new(),
            latest_ms: 0,
            has_faults: true,
            counts: [0; EVENTS.len()],
            trace,
        };
        world.begin();
        world
    }

    fn sometimes(&mut self, event: &str) {
        let at = EVENTS.iter().position(|name| *name == event).expect("an event of the list");
        self.counts[at] += 1;
        if self.trace {
            println!("{:>16} {event}", self.clock_ms);
        }
    }

    /// A new instance of the object, with a generator or, where two copies of the package are loaded, two.
    fn begin(&mut self) {
        self.instances.clear();
        for _ in 0..=usize::from(self.rng.u32(0..3) == 0) {
            let mark = if self.defect == Some(Defect::SharesTheMark) { 42 } else { self.rng.u64(..1 << 53) };
            let ids = CeilingGenerator::new(&self.layout, Node::Id(5), Some(self.max_lead_ms), mark).expect("a generator");
            let ids = ids.starting(self.start);
            let (block, believed) = (Vec::new(), None);
            self.instances.push(Instance { ids, raised: None, believed, believes: false, late: None, block, seen: None });
        }
        if self.current.is_some_and(|row| row.until_ms > self.clock_ms) {
            self.sometimes("the object restarted behind its ceiling");
        }
    }

    fn crash(&mut self) {
        if self.current != self.durable {
            self.sometimes("the object ended with a ceiling that was not durable");
        }
        if !self.savepoints.is_empty() {
            self.sometimes("the object ended in a transaction");
        }
        self.savepoints.clear();
        self.pending.clear();
        self.current = self.durable;
        self.begin();
    }

    /// The object sends what it has, once everything that it has written is durable.
    fn send(&mut self) -> Checked {
        if !self.savepoints.is_empty() {
            return Ok(());
        }
        if self.is_strict() && self.current.map(|row| row.until_ms) < self.durable.map(|row| row.until_ms) {
            return Err(format!("the durable ceiling went back from {:?} to {:?}", self.durable, self.current));
        }
        self.durable = self.current;
        let tick_ms = self.layout.spec().tick_ms;
        for id in std::mem::take(&mut self.pending) {
            let begin_ms = self.layout.decode(id).expect("an ID").timestamp_ms;
            let ceiling_ms = self.durable.map_or(0, |row| row.until_ms);
            if self.is_strict() && begin_ms + tick_ms > ceiling_ms {
                return Err(format!("an ID of {begin_ms} was sent, and the ceiling is {ceiling_ms}"));
            }
            if !self.sent.insert(id) {
                return Err(format!("{id} was sent twice"));
            }
        }
        Ok(())
    }

    /// Mutants must send an ID twice; what else is wrong with them does not count.
    fn is_strict(&self) -> bool {
        self.defect.is_none()
    }

    fn move_clock(&mut self) {
        if !self.stands_still {
            self.clock_ms += self.rng.u64(0..40);
        }
    }

    fn change_clock(&mut self) {
        let before_ms = self.clock_ms;
        match self.rng.u32(0..12) {
            0..4 => self.stands_still = !self.stands_still,
            4..6 => self.clock_ms += self.rng.u64(0..1500),
            6 => self.clock_ms += self.rng.u64(0..4000),
            7..10 => self.clock_ms = self.clock_ms.saturating_sub(self.rng.u64(0..1500)).max(EPOCH_MS),
            10 => self.clock_ms = EPOCH_MS + self.rng.u64(0..20_000),
            // Workers show 0 at module scope.
            _ => {
                let now_ms = std::mem::replace(&mut self.clock_ms, [0, EPOCH_MS - 1, u64::MAX][self.rng.usize(0..3)]);
                self.sometimes("the clock showed nothing at which IDs can be issued");
                let at = self.rng.usize(0..self.instances.len());
                let row = self.current;
                assert_eq!(self.instances[at].ids.look(row, self.clock_ms), None, "at {}", self.clock_ms);
                assert!(self.instances[at].ids.reserve(self.clock_ms, 1, true).is_err());
                self.clock_ms = now_ms;
            }
        }
        if self.clock_ms < before_ms {
            self.sometimes("the clock went back");
        }
    }

    /// Writes a row as the statement of the package does. Returns whether that succeeded.
    fn write(&mut self, at: usize, row: CeilingRow) -> bool {
        if self.has_faults && self.rng.u32(0..25) == 0 {
            self.sometimes("a write failed");
            self.instances[at].raised = None;
            return false;
        }
        let until_ms = self.current.map_or(0, |row| row.until_ms).max(row.until_ms);
        self.current = Some(CeilingRow { until_ms, ..row });
        for (other, instance) in self.instances.iter_mut().enumerate() {
            instance.raised = (other == at).then_some(row.until_ms);
        }
        true
    }

    /// What the host takes for the row.
    fn read(&mut self, at: usize) -> Option<CeilingRow> {
        let instance = &mut self.instances[at];
        let believes = std::mem::replace(&mut instance.believes, true);
        match self.defect {
            Some(Defect::ReadsOnce) => {
                if !believes {
                    instance.believed = self.current;
                }
                instance.believed
            }
            Some(Defect::BeginsAtTheClock) if !believes => None,
            _ => self.current,
        }
    }

    fn check_write(&mut self, at: usize, due: CeilingRow) -> Checked {
        if !self.is_strict() {
            return Ok(());
        }
        let most_ms = self.latest_ms + self.max_lead_ms + self.layout.spec().tick_ms + CEILING_AHEAD_MS;
        if due.until_ms > most_ms {
            return Err(format!("the ceiling is raised to {}, and {most_ms} would do", due.until_ms));
        }
        if self.current.is_some_and(|row| row.until_ms >= due.until_ms) {
            return Err(format!("a write of {} raises nothing", due.until_ms));
        }
        if let Some(before_ms) = self.instances[at].raised
            && due.until_ms <= before_ms + CEILING_AHEAD_MS
        {
            return Err(format!("the ceiling was raised from {before_ms} to {} only", due.until_ms));
        }
        if due.until_ms > self.layout.plan().last_ms {
            self.sometimes("the ceiling was beyond the last tick");
        }
        Ok(())
    }

    /// A call that mints, as the package makes it: each reservation begins with a look at the row.
    fn mint(&mut self, at: usize) -> Checked {
        let mut want = self.rng.usize(1..60);
        if self.defect == Some(Defect::KeepsBlocks) {
            let kept = self.instances[at].block.len().min(want);
            let taken: Vec<u64> = self.instances[at].block.drain(..kept).collect();
            self.pending.extend(taken);
            want -= kept;
        }
        if let Some(row) = self.instances[at].late.take() {
            self.write(at, row);
        }
        while want > 0 {
            let issued = self.reserve(at, want)?;
            if issued == 0 {
                break;
            }
            want -= issued.min(want);
        }
        Ok(())
    }

    /// Reserves IDs. Returns how many; 0 if the call is refused, or the object has ended.
    fn reserve(&mut self, at: usize, want: usize) -> Result<usize, String> {
        let mut written = None;
        for confirmed in [false, true] {
            self.move_clock();
            let now_ms = self.clock_ms;
            self.latest_ms = self.latest_ms.max(now_ms);
            let row = self.read(at);
            let before = std::mem::replace(&mut self.instances[at].seen, row);
            if let (Some(before), Some(row)) = (before, row)
                && before.mark != row.mark
            {
                self.sometimes("a generator found that the other one had raised the ceiling");
            }
            if let Some(due) = self.instances[at].ids.look(row, now_ms) {
                self.check_write(at, due)?;
                if self.defect == Some(Defect::WritesLate) {
                    self.instances[at].late = Some(due);
                } else if !self.write(at, due) && self.defect != Some(Defect::TrustsFailedWrites) {
                    return Ok(0);
                }
                if self.has_faults && self.rng.u32(0..40) == 0 {
                    self.sometimes("the object ended between a write and minting");
                    self.crash();
                    return Ok(0);
                }
                if self.defect == Some(Defect::ReadsOnce) {
                    self.instances[at].believed = Some(due);
                }
                self.instances[at].seen = Some(due);
                if self.instances[at].ids.look(Some(due), now_ms).is_some() && self.is_strict() {
                    return Err("a second write is asked for after the first".to_owned());
                }
                written = Some(now_ms);
            }
            let ahead = if self.defect == Some(Defect::KeepsBlocks) { 40 } else { 0 };
            let key = Key::new(self.rng.u64(1..), self.rng.u64(1..));
            let instance = &mut self.instances[at];
            instance.ids.offer_key(key);
            let switches = instance.ids.stats().switches;
            let lead_ms = instance.ids.health(now_ms).lead_ms;
            match instance.ids.reserve(now_ms, want + ahead, confirmed) {
                Ok(Reservation::Issued { block, .. }) => {
                    let mut ids = vec![0; block.len()];
                    block.write(&mut ids);
                    instance.block = ids.split_off(ids.len().min(want));
                    if instance.ids.stats().switches > switches {
                        self.sometimes("a clock id was switched");
                    }
                    if written.is_some() && lead_ms > 0 {
                        self.sometimes("IDs were borrowed across a ceiling");
                    }
                    if ids.len() < want && self.layout.spec().fields.iter().all(|field| *field != Field::clock(2)) {
                        self.sometimes("a block was cut at the ceiling");
                    }
                    self.pending.extend(&ids);
                    return Ok(ids.len());
                }
                Ok(Reservation::Recheck) => self.sometimes("the clock was read again"),
                Err(error) => {
                    let known = [Code::ClockBackward, Code::SequenceExhausted, Code::ClockBeforeEpoch, Code::TimeExhausted]
                        .contains(&error.code());
                    if self.is_strict() && !known {
                        return Err(format!("{error}"));
                    }
                    if self.is_strict() && written == Some(now_ms) {
                        return Err(format!("after a write nothing was issued: {error}"));
                    }
                    self.sometimes("a call was stalled");
                    return Ok(0);
                }
            }
        }
        Ok(0)
    }

    fn begin_transaction(&mut self) {
        if self.savepoints.len() < 3 {
            self.savepoints.push(Savepoint { row: self.current, pending: self.pending.len() });
        }
    }

    fn roll_back(&mut self) {
        let Some(Savepoint { row, pending }) = self.savepoints.pop() else { return };
        self.sometimes("a transaction was rolled back");
        if row != self.current {
            self.sometimes("a rollback took a ceiling back");
            if row.is_none() {
                self.sometimes("a rollback took the first ceiling back");
            }
            if self.savepoints.last().is_some_and(|outer| outer.row != row) {
                self.sometimes("a transaction in a transaction was rolled back after the ceiling was raised in both");
            }
            self.instances.iter_mut().for_each(|instance| instance.raised = None);
        }
        self.current = row;
        self.pending.truncate(pending);
    }

    fn step(&mut self) -> Checked {
        let at = self.rng.usize(0..self.instances.len());
        match self.rng.u32(0..100) {
            0..50 => self.mint(at)?,
            50..60 => self.send()?,
            60..70 => self.change_clock(),
            70..80 => self.begin_transaction(),
            80..87 => self.roll_back(),
            87..93 => {
                if self.savepoints.pop().is_some() {
                    self.sometimes("a transaction was committed");
                }
            }
            _ => self.crash(),
        }
        Ok(())
    }

    fn run(mut self) -> Outcome {
        for _ in 0..STEPS {
            self.step()?;
        }
        (self.has_faults, self.stands_still) = (false, true);
        self.savepoints.clear();
        self.send()?;
        self.crash();
        // Whatever has happened, the object mints when its clock is past the ceiling by a tick, if the layout has that time.
        let tick_ms = self.layout.spec().tick_ms;
        self.clock_ms = self.clock_ms.max(self.durable.map_or(0, |row| row.until_ms) + tick_ms);
        if self.clock_ms <= self.layout.plan().last_ms && self.reserve(0, 1)? == 0 {
            return Err("no ID is issued at the ceiling".to_owned());
        }
        self.send()?;
        Ok(self.counts.to_vec())
    }
}

#[test]
fn no_id_is_sent_twice_and_the_ceiling_goes_no_further_than_needed() {
    check_seeds(SEEDS, &EVENTS, |seed, trace| World::new(seed, None, trace).run());
}

#[test]
#[cfg_attr(debug_assertions, ignore = "it takes long without optimisation")]
fn every_mutant_sends_an_id_twice() {
    check_mutants(
        MUTANT_SEEDS,
        &DEFECTS,
        |_, why| why.ends_with("was sent twice"),
        |seed, defect| World::new(seed, Some(defect), false).run(),
    );
}
