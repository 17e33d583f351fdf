//! The models.

use std::collections::BTreeSet;
use std::sync::{Arc as StdArc, Mutex as StdMutex};

use frazil::layout::{Field, LayoutSpec, Parts};
use frazil::mint::{Key, Machine, SequenceStart};
use frazil::{Generator, GeneratorOptions, Layout, Node};
use loom::thread;

use crate::call::{Answer, Call, Mints, Run, at, block, dies_at, ids, issued, unconfirmed_at};
use crate::{REPEATED, explore};

/// A layout with a time of 3 bits in milliseconds since 0, a node field of 1 bit, the fields of this struct, and the calls. The
/// node id is 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Model {
    pub(crate) clock_bits: u32,
    pub(crate) sequence_bits: u32,
    pub(crate) max_lead_ms: u64,
    pub(crate) start: SequenceStart,
    /// The calls before the threads start.
    pub(crate) before: &'static [Call],
    pub(crate) threads: &'static [&'static [Call]],
}

impl Model {
    pub(crate) fn layout(&self) -> Layout {
        let clock = (self.clock_bits > 0).then_some(Field::clock(self.clock_bits));
        let fields = [Field::time(3)].into_iter().chain(clock).chain([Field::node(1), Field::sequence(self.sequence_bits)]);
        Layout::new(LayoutSpec { epoch_ms: 0, tick_ms: 1, unsigned: false, fields: fields.collect() }).unwrap()
    }

    pub(crate) fn generator(&self) -> Generator {
        let max_lead_ms = Some(self.max_lead_ms);
        let (sequence_start, key) = (self.start, Some(KEY));
        let options = GeneratorOptions { max_lead_ms, sequence_start, key, ..GeneratorOptions::new(Node::Id(1)) };
        Generator::private(&self.layout(), options).unwrap()
    }

    pub(crate) fn machine(&self) -> Machine {
        Machine::new(&self.layout(), Node::Id(1), self.max_lead_ms).unwrap().starting(self.start, KEY)
    }

    /// The ID of a tick, clock id and number.
    pub(crate) fn id(&self, tick: u64, clock: u64, sequence: u64) -> u64 {
        let clock = (self.clock_bits > 0).then_some(clock);
        self.layout().compose(Parts { timestamp_ms: tick, node: Some(1), clock, sequence }).unwrap()
    }

    /// Explores the model with the generators of `make`, checks the guarantees in every execution, and returns all outcomes.
    pub(crate) fn explore<M: Mints>(self, make: impl Fn(&Self) -> M + Send + Sync + 'static) -> BTreeSet<Run> {
        let runs = StdArc::new(StdMutex::new(BTreeSet::new()));
        let collected = StdArc::clone(&runs);
        explore(move || {
            let run = self.play(&make(&self));
            self.assert_guarantees(&run);
            collected.lock().unwrap().insert(run);
        });
        StdArc::into_inner(runs).unwrap().into_inner().unwrap()
    }

    pub(crate) fn play(&self, first: &impl Mints) -> Run {
        fn play(own: &impl Mints, calls: &[Call]) -> Vec<Answer> {
            let mut answers = Vec::new();
            for call in calls {
                answers.push(own.mint(*call));
                if answers.last() == Some(&Answer::Died) {
                    break;
                }
            }
            answers
        }
        let before = play(first, self.before);
        let (own, others) = self.threads.split_first().unwrap();
        let others: Vec<_> = others
            .iter()
            .map(|calls| {
                let clone = first.clone();
                thread::spawn(move || (play(&clone, calls), clone.switches()))
            })
            .collect();
        let mut threads = vec![play(first, own)];
        let mut switches = first.switches();
        for other in others {
            let (answers, more) = other.join().unwrap();
            threads.push(answers);
            switches += more;
        }
        (switches, before, threads)
    }

    /// Asserts that no ID is repeated, and that IDs increase for each thread, unless the clock was followed back or the
    /// sequence wraps.
    fn assert_guarantees(&self, run: &Run) {
        let all = issued(run);
        let twice = all.windows(2).find(|pair| pair[0] == pair[1]);
        assert!(twice.is_none(), "{REPEATED} {twice:?} in {run:?}");
        let (switches, before, threads) = run;
        if *switches == 0 && self.start != SequenceStart::Wrap {
            for answers in threads {
                assert!(ids(before).chain(ids(answers)).is_sorted(), "out of order: {run:?}");
            }
        }
    }
}

pub(crate) const KEY: Key = Key::new(1, 2);

pub(crate) const PLAIN: Model =
    Model { clock_bits: 0, sequence_bits: 1, max_lead_ms: 0, start: SequenceStart::Zero, before: &[], threads: &[] };
pub(crate) const CLOCKS: Model = Model { clock_bits: 1, ..PLAIN };

pub(crate) const SINGLES: Model = Model { sequence_bits: 3, threads: &[&[at(1), at(1)], &[at(1), at(1)], &[at(1)]], ..PLAIN };
pub(crate) const WRAPPING: Model =
    Model { sequence_bits: 2, start: SequenceStart::Wrap, threads: &[&[at(1), at(1)], &[at(1), at(1), at(2)]], ..PLAIN };
pub(crate) const TICKS: Model = Model { sequence_bits: 2, threads: &[&[at(1), at(2)], &[at(1), at(2), at(3)]], ..PLAIN };
pub(crate) const BLOCKS: Model = Model { max_lead_ms: 2, threads: &[&[block(1, 3)], &[at(1), at(1)], &[block(1, 2)]], ..PLAIN };
pub(crate) const BORROWING: Model = Model { max_lead_ms: 1, threads: &[&[at(1), at(1)], &[at(1), at(1)], &[at(1)]], ..PLAIN };
pub(crate) const STALE_READING: Model =
    Model { before: &[at(1)], threads: &[&[at(3), at(3)], &[unconfirmed_at(2), at(3)]], ..PLAIN };
pub(crate) const FULL: Model = Model { threads: &[&[at(1), at(1)], &[at(1), at(1)], &[at(1)]], ..CLOCKS };
pub(crate) const BLOCKS_WITH_CLOCKS: Model =
    Model { max_lead_ms: 1, threads: &[&[block(1, 2), at(1)], &[at(1), block(1, 2)]], ..CLOCKS };
pub(crate) const STEP_BACK: Model = Model { before: &[at(5)], threads: &[&[at(2)], &[at(5), at(6)]], ..CLOCKS };
pub(crate) const STEP_SEEN_TWICE: Model = Model { before: &[at(5)], threads: &[&[at(2)], &[at(2)], &[at(5)]], ..CLOCKS };
pub(crate) const BEFORE_THE_STEP: Model =
    Model { clock_bits: 2, before: &[at(5)], threads: &[&[at(2), at(2)], &[at(5), at(2)]], ..CLOCKS };
pub(crate) const BACK_AND_FORTH: Model =
    Model { clock_bits: 2, before: &[at(4)], threads: &[&[at(2), at(5), at(2)], &[at(2), at(5), at(2)]], ..CLOCKS };
pub(crate) const KILLED: Model = Model { before: &[at(5)], threads: &[&[at(2), at(6)], &[dies_at(2)], &[at(5)]], ..CLOCKS };
