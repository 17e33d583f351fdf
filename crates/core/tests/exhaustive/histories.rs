//! Every history of small systems of threads, and of systems with a defect.

use std::collections::HashMap;

use frazil::layout::{Field, FieldKind};
use frazil::mint::{Machine, Outcome, SequenceStart, Window};
use frazil_reference::{Kind, Layout, Position};

use crate::call::{has, machine};
use crate::spaces::{Space, complete_space};
use crate::word::{USED_UP, last};
use crate::{KEY, model};

/// The events of a history: IDs that are issued, words that are replaced, and pairs of tick and clock id that are entered; a
/// bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Events {
    ids: u64,
    words: u64,
    pairs: u64,
}

impl Events {
    const ALL: Self = Self { ids: u64::MAX, words: u64::MAX, pairs: u64::MAX };

    const fn or(self, other: Self) -> Self {
        Self { ids: self.ids | other.ids, words: self.words | other.words, pairs: self.pairs | other.pairs }
    }

    const fn and(self, other: Self) -> Self {
        Self { ids: self.ids & other.ids, words: self.words & other.words, pairs: self.pairs & other.pairs }
    }
}

/// As many cells as the largest of these systems has clock ids.
type CellValues = [u64; 4];

/// The tick and the clock id of an ID.
fn pair_of(layout: &Layout, id: u64) -> (u128, u128) {
    (layout.value(id.into(), Kind::Time), layout.value(id.into(), Kind::Clock))
}

/// The bit that stands for a tick and a clock id.
fn pair_bit(layout: &Layout, (tick, clock): (u128, u128)) -> u64 {
    1 << (tick * layout.count(Kind::Clock) + clock)
}

/// A step that a thread has decided on and not made yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Swap {
    read: u64,
    next: u64,
    /// The cell to raise before the swap, and its new value; `None` if that is done.
    leaves: Option<(usize, u64)>,
    events: Events,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Thread {
    /// No call is running. A thread that died is one that begins no more calls.
    Idle,
    Loaded {
        word: u64,
    },
    /// Only in the mutant that reads the cells first.
    Read {
        cells: CellValues,
    },
    Judged(Swap),
    /// Only in the mutant that raises the cell after the swap.
    Late {
        cell: usize,
        free_from: u64,
    },
}

/// The word, the cells, and the progress of each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Shared {
    word: u64,
    cells: CellValues,
    threads: [Thread; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    None,
    CellNotRaised,
    CellRaisedToTheLastTick,
    CellRaisedTooFar,
    CellRaisedAfterTheSwap,
    CellsReadBeforeTheWord,
    WordStored,
    CellsNotRead,
    SequenceAnewAfterAStepBack,
}

/// A small layout in which threads make calls without end, each with any clock reading, lead, window and want.
struct System {
    space: Space,
    start: SequenceStart,
    threads: usize,
    defect: Defect,
}

/// A summary of all histories of a system.
#[derive(Debug)]
struct Histories {
    states: usize,
    steps: usize,
    issued: u64,
}

impl System {
    fn new(space: Space, start: SequenceStart, threads: usize, defect: Defect) -> Self {
        Self { space, start, threads, defect }
    }

    fn model(&self) -> Layout {
        model::layout(&self.space.layout)
    }

    fn clocked(&self) -> bool {
        has(&self.space.layout, FieldKind::Clock)
    }

    /// Every step that a thread may decide on after it has read a word and cells.
    fn judge(&self, machines: &[Machine], word: u64, cells: CellValues) -> Vec<Swap> {
        let model = self.model();
        let cells = if self.defect == Defect::CellsNotRead { [0; 4] } else { cells };
        let cells = &cells[..self.space.clocks()];
        let mut swaps = Vec::new();
        for (machine, &window) in
            machines.iter().flat_map(|machine| self.space.windows.iter().map(move |window| (machine, window)))
        {
            for (&now_ms, &want) in
                self.space.nows_ms.iter().flat_map(|now_ms| self.space.wants.iter().map(move |want| (now_ms, want)))
            {
                // The defect of a generator that forgets: the sequence restarts in the tick that the clock shows.
                let back = word != USED_UP && machine.lead_ms(word, now_ms) > 0;
                let read = if self.defect == Defect::SequenceAnewAfterAStepBack && back { 0 } else { word };
                let Outcome::Issued { word: next, block, leaves, .. } = machine.reserve(read, window, cells, now_ms, want, true)
                else {
                    continue;
                };
                let mut ids = vec![0; block.len()];
                block.write(&mut ids);
                let current = last(&model, word).map(Position::pair);
                let mut events = Events { words: 1 << word, ..Events::default() };
                for id in ids {
                    assert!(events.ids & (1 << id) == 0, "{id} occurs twice in a block");
                    events.ids |= 1 << id;
                    let pair = pair_of(&model, id);
                    events.pairs |= if Some(pair) == current { 0 } else { pair_bit(&model, pair) };
                }
                let leaves = match self.defect {
                    Defect::CellNotRaised => None,
                    Defect::CellRaisedToTheLastTick => leaves.map(|(cell, free_from)| (cell, free_from - 1)),
                    Defect::CellRaisedTooFar => leaves.map(|(cell, free_from)| (cell, free_from + 1)),
                    _ => leaves,
                };
                swaps.push(Swap { read: word, next, leaves, events });
            }
        }
        swaps.sort_unstable();
        swaps.dedup();
        swaps
    }

    /// All next steps of one thread: the state after each, and its events.
    fn steps(&self, state: &Shared, at: usize, judged: &mut impl FnMut(u64, CellValues) -> Vec<Swap>) -> Vec<(Shared, Events)> {
        let nothing = Events::default();
        let turn = |thread: Thread| {
            let mut next = *state;
            next.threads[at] = thread;
            // States that differ only in the order of the threads are the same.
            next.threads[..self.threads].sort_unstable();
            next
        };
        let mut steps = Vec::new();
        let mut judge = |word, cells| judged(word, cells).into_iter().map(|swap| (turn(Thread::Judged(swap)), nothing)).collect();
        match state.threads[at] {
            Thread::Idle if self.defect == Defect::CellsReadBeforeTheWord => {
                return vec![(turn(Thread::Read { cells: state.cells }), nothing)];
            }
            Thread::Idle => return vec![(turn(Thread::Loaded { word: state.word }), nothing)],
            Thread::Loaded { word } => steps = judge(word, state.cells),
            Thread::Read { cells } => steps = judge(state.word, cells),
            Thread::Judged(Swap { leaves: Some((cell, free_from)), read, next, events }) => {
                let late = self.defect == Defect::CellRaisedAfterTheSwap;
                if !late {
                    let mut raised = turn(Thread::Judged(Swap { leaves: None, read, next, events }));
                    raised.cells[cell] = raised.cells[cell].max(free_from);
                    steps.push((raised, nothing));
                } else if state.word == read {
                    steps.push((Shared { word: next, ..turn(Thread::Late { cell, free_from }) }, events));
                }
            }
            Thread::Judged(Swap { leaves: None, read, next, events }) => {
                if state.word == read || self.defect == Defect::WordStored {
                    steps.push((Shared { word: next, ..turn(Thread::Idle) }, events));
                }
            }
            Thread::Late { cell, free_from } => {
                let mut raised = turn(Thread::Idle);
                raised.cells[cell] = raised.cells[cell].max(free_from);
                return vec![(raised, nothing)];
            }
        }
        // A swap that fails, a refusal, and a thread that dies.
        steps.push((turn(Thread::Idle), nothing));
        steps
    }

    /// Explores all histories; an error describes one that is wrong.
    fn explore(&self) -> Result<Histories, String> {
        let machines: Vec<Machine> =
            self.space.leads_ms.iter().map(|lead_ms| machine(&self.space.layout, *lead_ms, self.start, KEY)).collect();
        let mut memory: HashMap<(u64, CellValues), Vec<Swap>> = HashMap::new();
        let mut judged = |word, cells| memory.entry((word, cells)).or_insert_with(|| self.judge(&machines, word, cells)).clone();
        let first = Shared { word: 0, cells: [0; 4], threads: [Thread::Idle; 3] };
        let (mut states, mut places) = (vec![first], HashMap::from([(first, 0_usize)]));
        let mut steps: Vec<(usize, usize, Events)> = Vec::new();
        let mut at = 0;
        while at < states.len() {
            let state = states[at];
            for thread in 0..self.threads {
                for (next, events) in self.steps(&state, thread, &mut judged) {
                    let place = *places.entry(next).or_insert_with(|| {
                        states.push(next);
                        states.len() - 1
                    });
                    steps.push((at, place, events));
                }
            }
            at += 1;
        }
        let nothing = Events::default();
        // The events that can follow a state, that can have preceded it, and that must have preceded it.
        let (mut after, mut before) = (vec![nothing; states.len()], vec![nothing; states.len()]);
        let mut surely = vec![Events::ALL; states.len()];
        surely[0] = nothing;
        let mut changed = true;
        while changed {
            changed = false;
            for &(from, to, events) in steps.iter().rev() {
                let more = after[from].or(events).or(after[to]);
                changed |= more != after[from];
                after[from] = more;
            }
            for &(from, to, events) in &steps {
                let more = before[to].or(before[from]).or(events);
                let fewer = surely[to].and(surely[from].or(events));
                changed |= more != before[to] || fewer != surely[to];
                (before[to], surely[to]) = (more, fewer);
            }
        }
        for &(from, to, events) in &steps {
            let twice = events.and(after[to]);
            if twice != nothing {
                return Err(format!("{:?} and then {:?}: {twice:?} again", states[from], states[to]));
            }
        }
        let model = self.model();
        for (state, (before, surely)) in states.iter().zip(before.iter().zip(&surely)) {
            self.check_cells(&model, state, before, surely)?;
        }
        Ok(Histories { states: states.len(), steps: steps.len(), issued: after[0].ids })
    }

    /// Checks that no cell is too small, and that each was raised because its clock id was used.
    fn check_cells(&self, model: &Layout, state: &Shared, before: &Events, surely: &Events) -> Result<(), String> {
        if !self.clocked() {
            return Ok(());
        }
        let last = last(model, state.word);
        for id in (0..64).filter(|id| before.ids & (1 << id) != 0) {
            let (tick, clock) = pair_of(model, id);
            let free_from = match last {
                Some(last) if last.clock == clock => last.tick + 1,
                _ => state.cells[usize::try_from(clock).unwrap()].into(),
            };
            if tick >= free_from {
                return Err(format!("{state:?}: clock id {clock} was used for tick {tick}"));
            }
        }
        for (cell, clock) in state.cells.iter().zip(0..) {
            let Some(tick) = cell.checked_sub(1) else { continue };
            if surely.pairs & pair_bit(model, (tick.into(), clock)) == 0 {
                return Err(format!("{state:?}: clock id {clock} need not have been used for tick {tick}"));
            }
        }
        Ok(())
    }
}

/// Every clock reading, lead and window of a layout, and blocks of one to three IDs.
fn any_call(fields: &[Field]) -> Space {
    Space { wants: vec![1, 2, 3], ..complete_space(1, 1, fields) }
}

/// Explores all histories of a system, and prints how many there were.
#[expect(clippy::print_stdout, reason = "CI shows how much was searched")]
fn assert_unique_in_every_history(name: &str, space: &Space, start: SequenceStart, threads: usize) {
    let system = System::new(space.clone(), start, threads, Defect::None);
    let Histories { states, steps, issued } = system.explore().unwrap();
    println!("{states:>13} states, {steps} steps: {name}, threads: {threads}, {}", start.name());
    // Every ID occurs in some history, except those below the random start of a tick.
    assert!(start == SequenceStart::Random || issued == u64::MAX >> (63 - space.layout.max_id()), "{issued:b}");
}

#[test]
fn no_history_of_a_small_system_issues_an_id_twice() {
    let [time, clock, sequence] = [Field::time, Field::clock, Field::sequence];
    for start in SequenceStart::ALL {
        assert_unique_in_every_history("time 2, sequence 3", &any_call(&[time(2), sequence(3)]), start, 1);
        assert_unique_in_every_history("time 2, clock 1, sequence 1", &any_call(&[time(2), clock(1), sequence(1)]), start, 1);
        assert_unique_in_every_history("time 1, clock 1, sequence 1", &any_call(&[time(1), clock(1), sequence(1)]), start, 2);
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "needs a build with optimisation: npm test -- exhaustive")]
fn no_history_of_a_larger_system_issues_an_id_twice() {
    let [time, clock, sequence] = [Field::time, Field::clock, Field::sequence];
    for start in SequenceStart::ALL {
        assert_unique_in_every_history("time 2, sequence 3", &any_call(&[time(2), sequence(3)]), start, 2);
        assert_unique_in_every_history("time 2, clock 1, sequence 1", &any_call(&[time(2), clock(1), sequence(1)]), start, 2);
        assert_unique_in_every_history("time 1, clock 1, sequence 1", &any_call(&[time(1), clock(1), sequence(1)]), start, 3);
        let open = |fields: &[Field]| Space { windows: vec![Window::OPEN], ..any_call(fields) };
        assert_unique_in_every_history(
            "time 2, clock 1, sequence 3, no window",
            &open(&[time(2), clock(1), sequence(3)]),
            start,
            1,
        );
        assert_unique_in_every_history("time 2, clock 2, sequence 1", &any_call(&[time(2), clock(2), sequence(1)]), start, 1);
    }
    let long = Space { windows: vec![Window::OPEN], ..any_call(&[time(3), sequence(3)]) };
    assert_unique_in_every_history("time 3, sequence 3, no window", &long, SequenceStart::Random, 2);
    let single = Space { wants: vec![1], ..any_call(&[time(2), clock(2), sequence(1)]) };
    assert_unique_in_every_history("time 2, clock 2, sequence 1, one ID a call", &single, SequenceStart::Zero, 2);
}

#[test]
fn exploring_a_system_with_a_defect_finds_it() {
    let fields = [Field::time(1), Field::clock(1), Field::sequence(1)];
    let repeats = " again";
    for (defect, threads, says) in [
        (Defect::CellNotRaised, 1, repeats),
        (Defect::CellRaisedToTheLastTick, 1, repeats),
        (Defect::CellRaisedTooFar, 1, "need not have been used"),
        (Defect::CellRaisedAfterTheSwap, 2, repeats),
        (Defect::CellsReadBeforeTheWord, 2, repeats),
        (Defect::WordStored, 2, repeats),
        (Defect::CellsNotRead, 1, repeats),
        (Defect::SequenceAnewAfterAStepBack, 1, repeats),
    ] {
        let found = System::new(any_call(&fields), SequenceStart::Zero, threads, defect).explore();
        assert!(found.as_ref().is_err_and(|found| found.contains(says)), "{defect:?}: {found:?}");
    }
}
