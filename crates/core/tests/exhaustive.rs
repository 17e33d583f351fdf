//! Exhaustive instead of random: compares `Machine::reserve` with a naive model for each word, cell, window, clock reading,
//! lead and want of small layouts; and explores every history of small systems, in which no ID may be issued twice.
//!
//! The model keeps a tick, a clock id and a count, and issues one ID at a time. It takes no shortcuts: it finds a tick by
//! walking, a block by asking for single IDs, and the end of a wait by asking at each millisecond. It shares no code with the
//! core; the keyed starts come from the SipHash of the standard library.
//!
//! The model determines every outcome. Two more properties of the machine's answer are checked: without a clock field a
//! reservation lies at or above the word, and with one it does not reach beyond its tick and clock id.
//!
//! A build without optimisation checks only the smallest layouts; `npm test -- exhaustive` checks all.
//!
//! docs/safety.md: 1, 2, 6, 7, 8, 9
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use frazil::layout::{Field, FieldKind, LayoutSpec};
use frazil::mint::{Key, Machine, Outcome, SequenceStart, Window};
use frazil::{Code, Layout, Node};

/// The least number of calls that CI compares.
const MIN_CALLS: u64 = 100_000_000;
/// The word of a state whose time field is used up, as documented for `Machine`.
const USED_UP: u64 = u64::MAX;
/// The longest block that the model walks.
const MAX_WALK: usize = 300;
/// The halves of the key from which keyed starts are computed.
const KEY: [u64; 2] = [1, 2];

// ---------------------------------------------------------------------------------------------------------------- the model

/// A tick, a clock id, and the number of IDs with both before this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    tick: u64,
    clock: u64,
    at: u64,
}

/// The outcome of one call for one ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The next position, and whether the clock is followed back to it.
    Issue(Position, bool),
    Expired {
        until_ms: u64,
    },
    Stalled(Code),
    Refused(Code),
}

struct Model {
    epoch_ms: u64,
    tick_ms: u64,
    ticks: u64,
    clocks: u64,
    sequences: u64,
    has_clocks: bool,
    start: SequenceStart,
    /// The value of one tick, one clock id, and one sequence number in an ID.
    units: [u64; 3],
    node: u64,
}

/// SipHash-2-4 by the standard library, which has its own implementation.
#[expect(deprecated, reason = "deprecated as a hasher for maps; it is the one keyed SipHash that std still offers")]
fn sip_hash(number: u64) -> u64 {
    use std::hash::{Hasher, SipHasher};
    let mut hasher = SipHasher::new_with_keys(KEY[0], KEY[1]);
    hasher.write(&number.to_le_bytes());
    hasher.finish()
}

impl Model {
    fn new(spec: &LayoutSpec, node: u64, start: SequenceStart) -> Self {
        let count =
            |kind| spec.fields.iter().filter(|field| field.kind == kind).map(|field| 1_u64 << field.bits).product::<u64>();
        let unit = |kind| {
            let below = spec.fields.iter().rev().take_while(|field| field.kind != kind);
            // That of a field which is not there may be 2^64. It is multiplied by 0 alone.
            below.fold(1_u64, |unit, field| unit.wrapping_mul(1 << field.bits))
        };
        // The node id is split into its parts from the least significant on.
        let (mut rest, mut worth, mut placed) = (node, 1, 0);
        for field in spec.fields.iter().rev() {
            if field.kind == FieldKind::Node {
                placed += (rest % (1 << field.bits)) * worth;
                rest /= 1 << field.bits;
            }
            worth = worth.wrapping_mul(1 << field.bits);
        }
        Self {
            epoch_ms: spec.epoch_ms,
            tick_ms: spec.tick_ms,
            ticks: count(FieldKind::Time),
            clocks: count(FieldKind::Clock),
            sequences: count(FieldKind::Sequence),
            has_clocks: spec.fields.iter().any(|field| field.kind == FieldKind::Clock),
            start,
            units: [FieldKind::Time, FieldKind::Clock, FieldKind::Sequence].map(unit),
            node: placed,
        }
    }

    fn start_ms(&self, tick: u64) -> u128 {
        u128::from(self.epoch_ms) + u128::from(tick) * u128::from(self.tick_ms)
    }

    fn end_ms(&self, tick: u64) -> u128 {
        self.start_ms(tick + 1)
    }

    /// The tick of a time at or after the epoch, found by walking; `ticks` if the time lies after the last one.
    fn wall(&self, now_ms: u64) -> u64 {
        (0..self.ticks).find(|tick| u128::from(now_ms) < self.end_ms(*tick)).unwrap_or(self.ticks)
    }

    fn hash(&self, position: Position) -> u64 {
        sip_hash(position.tick * self.clocks + position.clock)
    }

    /// The first position of a tick and clock id that is entered because of the clock.
    fn entered_by_clock(&self, tick: u64, clock: u64) -> Position {
        let position = Position { tick, clock, at: 0 };
        match self.start {
            SequenceStart::Random => Position { at: self.hash(position) % (self.sequences / 4).max(1), ..position },
            _ => position,
        }
    }

    fn id(&self, position: Position) -> u64 {
        let turn = match self.start {
            SequenceStart::Wrap => self.hash(position) % self.sequences,
            _ => 0,
        };
        let sequence = (position.at + turn) % self.sequences;
        self.node
            + position.tick * self.units[0]
            + position.clock * self.units[1] * u64::from(self.has_clocks)
            + sequence * self.units[2]
    }

    /// The word after this position was issued: the number of positions before it, plus one.
    fn word_after(&self, position: Position) -> u64 {
        let wide = |number: u64| u128::from(number);
        let count =
            (wide(position.tick) * wide(self.clocks) + wide(position.clock)) * wide(self.sequences) + wide(position.at) + 1;
        let all = wide(self.ticks) * wide(self.clocks) * wide(self.sequences);
        if count == all { USED_UP } else { u64::try_from(count).unwrap() }
    }

    /// The last position that was issued, as a word tells: `None` if none was; an error if the time is used up.
    fn last(&self, word: u64) -> Result<Option<Position>, Code> {
        let Some(last) = word.checked_sub(1) else { return Ok(None) };
        let (pair, at) = (last / self.sequences, last % self.sequences);
        let (tick, clock) = (pair / self.clocks, pair % self.clocks);
        let position = Position { tick, clock, at };
        let used_up = word == USED_UP || tick >= self.ticks || self.word_after(position) == USED_UP;
        if used_up { Err(Code::TimeExhausted) } else { Ok(Some(position)) }
    }
}

/// A state and a reading of the clock, as input of the model.
struct Scene<'a> {
    model: &'a Model,
    window: Window,
    lead_ms: u64,
    cells: &'a [u64],
}

impl Scene<'_> {
    /// The lowest clock id from `lowest` on that was not used for this tick or a later one.
    fn free(&self, last: Option<Position>, tick: u64, lowest: u64) -> Option<u64> {
        (lowest..self.model.clocks).find(|clock| {
            let free_from = match last {
                Some(last) if last.clock == *clock => last.tick + 1,
                _ => self.cells.get(usize::try_from(*clock).unwrap()).copied().unwrap_or(0),
            };
            free_from <= tick
        })
    }

    fn step(&self, last: Result<Option<Position>, Code>, now_ms: u64, wall: u64) -> Step {
        let model = self.model;
        if now_ms < model.epoch_ms {
            return Step::Refused(Code::ClockBeforeEpoch);
        }
        let last = match last {
            Ok(last) if wall < model.ticks => last,
            _ => return Step::Refused(Code::TimeExhausted),
        };
        if model.start_ms(wall) < u128::from(self.window.from_ms) {
            return Step::Stalled(Code::ClockBackward);
        }
        match self.cascade(last, now_ms, wall) {
            Step::Issue(position, _) if model.end_ms(position.tick) > u128::from(self.window.until_ms) => {
                Step::Expired { until_ms: u64::try_from(model.end_ms(position.tick)).unwrap() }
            }
            step => step,
        }
    }

    fn cascade(&self, last: Option<Position>, now_ms: u64, wall: u64) -> Step {
        let model = self.model;
        let within_lead = |tick| model.start_ms(tick) <= u128::from(now_ms) + u128::from(self.lead_ms);
        let Some(last) = last.filter(|last| last.tick >= wall) else {
            let clock = self.free(last, wall, 0);
            return clock
                .map_or(Step::Stalled(Code::ClockBackward), |clock| Step::Issue(model.entered_by_clock(wall, clock), false));
        };
        if !within_lead(last.tick) {
            let clock = self.free(Some(last), wall, 0);
            return clock
                .map_or(Step::Stalled(Code::ClockBackward), |clock| Step::Issue(model.entered_by_clock(wall, clock), true));
        }
        if last.at + 1 < model.sequences {
            return Step::Issue(Position { at: last.at + 1, ..last }, false);
        }
        if let Some(clock) = self.free(Some(last), last.tick, last.clock + 1) {
            return Step::Issue(Position { tick: last.tick, clock, at: 0 }, false);
        }
        let tick = last.tick + 1;
        if tick == model.ticks {
            return Step::Refused(Code::TimeExhausted);
        }
        match self.free(Some(last), tick, 0).filter(|_| within_lead(tick)) {
            Some(clock) => Step::Issue(Position { tick, clock, at: 0 }, false),
            None => Step::Stalled(Code::SequenceExhausted),
        }
    }

    /// Walks the positions of one call: in a layout with a clock field only those of one tick and clock id. Returns whether the
    /// block ends within the walk.
    fn block(&self, first: Position, now_ms: u64, wall: u64, most: usize, block: &mut Vec<Position>) -> bool {
        block.clear();
        block.push(first);
        let mut last = first;
        loop {
            // No word exists for a position after the last one.
            let state = if self.model.word_after(last) == USED_UP { Err(Code::TimeExhausted) } else { Ok(Some(last)) };
            let Step::Issue(next, _) = self.step(state, now_ms, wall) else { return true };
            if self.model.has_clocks && (next.tick, next.clock) != (last.tick, last.clock) {
                return true;
            }
            if block.len() == most {
                return false;
            }
            block.push(next);
            last = next;
        }
    }
}

// -------------------------------------------------------------------------------------------------------------- the checker

/// One call of the machine.
#[derive(Clone, Copy, Debug)]
struct Call<'a> {
    machine: &'a Machine,
    layout: &'a Layout,
    start: SequenceStart,
    lead_ms: u64,
    word: u64,
    window: Window,
    cells: &'a [u64],
    now_ms: u64,
    want: usize,
    confirmed: bool,
}

/// An outcome that the model never has.
const NEVER: Outcome = Outcome::Expired { until_ms: 0 };

impl Call<'_> {
    fn reserve(self) -> Outcome {
        self.checked_by(Self::short_way)
    }

    /// The ID that the short way has for this call, after another call changed the word to `after`.
    fn short_way(self, after: u64) -> Option<u64> {
        self.machine.short_way().id(self.word, self.machine.short_way_from(after)?, self.now_ms)
    }

    /// The outcome; or one that the model never has, if the short way has an ID for a call that follows, and the machine another
    /// answer.
    fn checked_by(self, short: impl Fn(Self, u64) -> Option<u64>) -> Outcome {
        let outcome = self.machine.reserve(self.word, self.window, self.cells, self.now_ms, self.want, self.confirmed);
        let Outcome::Issued { word: after, .. } = outcome else { return outcome };
        let bits: u32 =
            self.layout.fields().iter().filter(|field| field.kind == FieldKind::Sequence).map(|field| field.bits).sum();
        let (last, tick_ms) = (after.wrapping_sub(1), self.machine.tick_ms());
        let (first, full) = (last & (u64::MAX << bits), last | !(u64::MAX << bits));
        let words = [after, after.wrapping_add(1), full.wrapping_sub(1), full, full.wrapping_add(1), first];
        let nows_ms = [self.now_ms, self.now_ms.saturating_add(1), self.now_ms.saturating_add(tick_ms)];
        for (word, now_ms) in words.into_iter().flat_map(|word| nows_ms.map(|now_ms| (word, now_ms))) {
            let call = Self { word, now_ms, want: 1, confirmed: true, ..self };
            let Some(id) = short(call, after) else { continue };
            let by_machine = self.machine.reserve(word, self.window, self.cells, now_ms, 1, true);
            let Outcome::Issued { word: next, block, leaves: None, lead_ms: 0, switched: false } = by_machine else {
                return NEVER;
            };
            if next != word.wrapping_add(1) || block.first() != id {
                return NEVER;
            }
        }
        outcome
    }

    fn leading(self, lead_ms: u64) -> Outcome {
        let machine = machine(self.layout, lead_ms, self.start, KEY);
        Call { machine: &machine, ..self }.reserve()
    }

    fn starting(self, start: SequenceStart, key: [u64; 2]) -> Outcome {
        let machine = machine(self.layout, self.lead_ms, start, key);
        Call { machine: &machine, ..self }.reserve()
    }
}

fn has(layout: &Layout, kind: FieldKind) -> bool {
    layout.fields().iter().any(|field| field.kind == kind)
}

/// A node id of alternating bits.
fn node_id(layout: &Layout) -> u64 {
    let bits: u32 = layout.fields().iter().filter(|field| field.kind == FieldKind::Node).map(|field| field.bits).sum();
    0x5555_5555 & ((1 << bits) - 1)
}

fn machine(layout: &Layout, lead_ms: u64, start: SequenceStart, [high, low]: [u64; 2]) -> Machine {
    let node = if has(layout, FieldKind::Node) { Node::Id(node_id(layout)) } else { Node::None };
    Machine::new(layout, node, lead_ms).unwrap().starting(start, Key::new(high, low))
}

/// The states and calls of one layout: all combinations of these values.
#[derive(Clone)]
struct Space {
    layout: Layout,
    starts: Vec<SequenceStart>,
    leads_ms: Vec<u64>,
    words: Vec<u64>,
    /// The values of each cell.
    cells: Vec<u64>,
    windows: Vec<Window>,
    nows_ms: Vec<u64>,
    wants: Vec<usize>,
}

impl Space {
    fn clocks(&self) -> usize {
        let clock = self.layout.fields().iter().find(|field| field.kind == FieldKind::Clock);
        clock.map_or(0, |field| 1 << field.bits)
    }

    /// Every combination of cells.
    fn each_cells(&self, mut visit: impl FnMut(&[u64]) -> Result<(), String>) -> Result<(), String> {
        let mut digits = vec![0; self.clocks()];
        loop {
            let cells: Vec<u64> = digits.iter().map(|digit| self.cells[*digit]).collect();
            visit(&cells)?;
            let Some(place) = digits.iter().position(|digit| digit + 1 < self.cells.len()) else { return Ok(()) };
            digits[place] += 1;
            digits[..place].fill(0);
        }
    }

    /// The pieces of work for the threads: a start, a lead and a word each.
    fn pieces(&self) -> impl Iterator<Item = (SequenceStart, u64, u64)> {
        let leads = |start| self.leads_ms.iter().map(move |lead_ms| (start, *lead_ms));
        let words = |(start, lead_ms)| self.words.iter().map(move |word| (start, lead_ms, *word));
        self.starts.iter().flat_map(move |start| leads(*start)).flat_map(words)
    }

    /// Compares all calls of a piece of work with the model, and counts them.
    fn check(
        &self,
        (start, lead_ms, word): (SequenceStart, u64, u64),
        reserve: &impl Fn(Call) -> Outcome,
    ) -> Result<u64, String> {
        let spec = self.layout.spec();
        let model = Model::new(&spec, node_id(&self.layout), start);
        let machine = machine(&self.layout, lead_ms, start, KEY);
        let walls: Vec<u64> = self.nows_ms.iter().map(|now_ms| model.wall(*now_ms)).collect();
        let last = model.last(word);
        let mut count = 0;
        let mut buffers = Buffers::default();
        self.each_cells(|cells| {
            for &window in &self.windows {
                let scene = Scene { model: &model, window, lead_ms, cells };
                buffers.steps.clear();
                buffers.steps.extend(self.nows_ms.iter().zip(&walls).map(|(now_ms, wall)| scene.step(last, *now_ms, *wall)));
                // Readings are checked from the last to the first, so that the end of each wait is known.
                let mut ends_ms = None;
                for at in (0..self.nows_ms.len()).rev() {
                    let now_ms = self.nows_ms[at];
                    let step = buffers.steps[at];
                    if matches!(step, Step::Issue(..) | Step::Expired { .. }) {
                        ends_ms = Some(now_ms);
                    }
                    let ended = match step {
                        Step::Issue(first, _) => scene.block(first, now_ms, walls[at], MAX_WALK, &mut buffers.block),
                        _ => true,
                    };
                    for &want in &self.wants {
                        if !ended && want > MAX_WALK {
                            continue;
                        }
                        for confirmed in [false, true] {
                            let layout = &self.layout;
                            let call =
                                Call { machine: &machine, layout, start, lead_ms, word, window, cells, now_ms, want, confirmed };
                            let outcome = reserve(call);
                            count += 1;
                            if !agrees(&model, last, call, step, ends_ms, &mut buffers, &outcome) {
                                let block = &buffers.block[..buffers.block.len().min(want.max(1))];
                                return Err(format!(
                                    "{call:?}: {outcome:?}, but the model says {step:?}, until {ends_ms:?}, {block:?}"
                                ));
                            }
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(count)
    }
}

#[derive(Default)]
struct Buffers {
    steps: Vec<Step>,
    block: Vec<Position>,
    ids: Vec<u64>,
}

/// Whether the outcome of the machine is that of the model.
fn agrees(
    model: &Model,
    last: Result<Option<Position>, Code>,
    call: Call,
    step: Step,
    ends_ms: Option<u64>,
    buffers: &mut Buffers,
    outcome: &Outcome,
) -> bool {
    match (step, outcome) {
        (Step::Issue(_, switched), Outcome::Recheck) => !call.confirmed && switched,
        (Step::Stalled(_) | Step::Refused(_), Outcome::Recheck) => !call.confirmed,
        (Step::Expired { until_ms }, Outcome::Expired { until_ms: found_ms }) => *found_ms == until_ms,
        (Step::Refused(code), Outcome::Refused(error)) => call.confirmed && error.code() == code && error.retry_after_ms() == 0,
        // A wait without an end is a refusal without a wait.
        (Step::Stalled(cause), Outcome::Stalled { retry_at_ms, cause: found }) => {
            call.confirmed && Some(*retry_at_ms) == ends_ms && *found == cause
        }
        (Step::Stalled(_), Outcome::Refused(error)) => call.confirmed && ends_ms.is_none() && error.code() == Code::TimeExhausted,
        (Step::Issue(first, switched), Outcome::Issued { word, block, leaves, lead_ms, switched: found }) => {
            let expected = &buffers.block[..buffers.block.len().min(call.want.max(1))];
            let end = expected[expected.len() - 1];
            let left = last.ok().flatten().filter(|last| last.clock != end.clock);
            let leaves_expected = left.map(|last| (usize::try_from(last.clock).unwrap(), last.tick + 1));
            let lead_expected = model.start_ms(end.tick).saturating_sub(call.now_ms.into());
            buffers.ids.resize(expected.len() + 1, 0);
            buffers.ids[expected.len()] = USED_UP;
            block.write(&mut buffers.ids);
            let same = expected.iter().zip(&buffers.ids).all(|(position, id)| model.id(*position) == *id);
            let nothing_beyond = buffers.ids[expected.len()] == USED_UP;
            let in_place = if model.has_clocks {
                (first.tick, first.clock) == (end.tick, end.clock)
            } else {
                *word > call.word && model.word_after(first) > call.word
            };
            let same_numbers = block.len() == expected.len() && block.first() == buffers.ids[0] && *word == model.word_after(end);
            let same_words = *leaves == leaves_expected && u128::from(*lead_ms) == lead_expected && *found == switched;
            (call.confirmed || !switched) && same && nothing_beyond && in_place && same_numbers && same_words
        }
        _ => false,
    }
}

/// Compares every call of every space, on all cores. Returns the number of calls, or a difference.
fn check(spaces: &[Space], reserve: impl Fn(Call) -> Outcome + Sync) -> Result<u64, String> {
    let pieces: Vec<_> = spaces.iter().flat_map(|space| space.pieces().map(move |piece| (space, piece))).collect();
    let (next, count, difference) = (AtomicUsize::new(0), AtomicU64::new(0), Mutex::new(None));
    let work = || {
        while let Some((space, piece)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            match space.check(*piece, &reserve) {
                Ok(counted) => count.fetch_add(counted, Ordering::Relaxed),
                Err(found) => {
                    difference.lock().unwrap().get_or_insert(found);
                    return;
                }
            };
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(work);
        }
    });
    difference.into_inner().unwrap().map_or(Ok(count.into_inner()), Err)
}

// --------------------------------------------------------------------------------------------------------------- the spaces

fn layout(epoch_ms: u64, tick_ms: u64, fields: &[Field]) -> Layout {
    Layout::new(LayoutSpec { epoch_ms, tick_ms, unsigned: true, fields: fields.to_vec() }).unwrap()
}

/// Everything for a small layout: every word and some invalid ones, every tick in every cell, every window from before the
/// epoch to after the end, every clock reading, every lead that makes a difference, and every want.
fn complete_space(epoch_ms: u64, tick_ms: u64, fields: &[Field]) -> Space {
    let layout = layout(epoch_ms, tick_ms, fields);
    let model = Model::new(&layout.spec(), 0, SequenceStart::Zero);
    let positions = model.ticks * model.clocks * model.sequences;
    let end_ms = u64::try_from(model.end_ms(model.ticks - 1)).unwrap();
    let times = || (epoch_ms.saturating_sub(1)..=end_ms + 1).chain([u64::MAX]);
    let windows = times().flat_map(|from_ms| times().map(move |until_ms| Window { from_ms, until_ms }));
    let wants = (0..).take(usize::try_from(positions).unwrap() + 2);
    Space {
        starts: SequenceStart::ALL.to_vec(),
        leads_ms: (0..=end_ms - epoch_ms).chain([u64::MAX]).collect(),
        words: (0..=positions + 1).chain([USED_UP - 1, USED_UP]).collect(),
        cells: (0..=model.ticks).collect(),
        windows: windows.collect(),
        nows_ms: times().collect(),
        wants: wants.chain([usize::MAX]).collect(),
        layout,
    }
}

/// The smallest spaces, for the mutants and for builds without optimisation.
fn smallest() -> Vec<Space> {
    let keyed = vec![SequenceStart::Random, SequenceStart::Wrap];
    let keyed = Space { starts: keyed, ..complete_space(0, 1, &[Field::time(1), Field::sequence(3)]) };
    let clocked = complete_space(2, 1, &[Field::time(2), Field::clock(1), Field::node(1), Field::sequence(1)]);
    let clocked = Space { starts: vec![SequenceStart::Zero], leads_ms: vec![0, 1, 2], wants: vec![1, 2, 3], ..clocked };
    let zero = complete_space(1, 2, &[Field::time(2), Field::sequence(1)]);
    let zero = Space { starts: vec![SequenceStart::Zero], leads_ms: vec![0, 2, 3], ..zero };
    vec![zero, keyed, clocked]
}

/// All permutations of fields.
fn permutations(fields: &[Field]) -> Vec<Vec<Field>> {
    let Some((first, rest)) = fields.split_first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for order in permutations(rest) {
        for place in 0..=order.len() {
            let mut order = order.clone();
            order.insert(place, first.clone());
            all.push(order);
        }
    }
    all
}

/// Whether everything runs, which takes some minutes on two cores: `npm run test:long -- exhaustive-all`. Otherwise what differs from the
/// rest only in a tick, an order or a width is left out.
fn everything() -> bool {
    std::env::var_os("FRAZIL_EXHAUSTIVE_ALL").is_some()
}

/// Those that always run, and with [`everything`] the others.
fn chosen(spaces: Vec<(bool, &'static str, Vec<Space>)>) -> Vec<(&'static str, Vec<Space>)> {
    spaces.into_iter().filter(|(always, ..)| *always || everything()).map(|(_, name, spaces)| (name, spaces)).collect()
}

/// Layouts of up to six bits, and up to ten with a node id: everything for each, except that wants and leads are limited if the
/// name lists them.
fn complete_spaces() -> Vec<(&'static str, Vec<Space>)> {
    let [time, sequence, node] = [Field::time, Field::sequence, Field::node];
    let ticks = |tick_ms| complete_space(5, tick_ms, &[time(2), sequence(2), node(6)]);
    let clocked = permutations(&[time(2), Field::clock(1), sequence(1), Field::part("a", 3), Field::part("b", 2)]);
    // Six of the 120 orders: two of them, and four.
    let orders = |first: usize, step: usize| -> Vec<_> {
        clocked.iter().step_by(23).skip(first).step_by(step).map(|fields| complete_space(1, 1, fields)).collect()
    };
    let others = [orders(1, 3), orders(2, 3)].concat();
    let four = complete_space(0, 1, &[time(2), Field::clock(2), node(5), sequence(1)]);
    let three_bits = complete_space(3, 1, &[time(3), node(4), Field::clock(1), sequence(2)]);
    let zero = vec![SequenceStart::Zero];
    chosen(vec![
        (true, "time 2, sequence 2, node 6; ticks of 3 ms", vec![ticks(3)]),
        (false, "time 2, sequence 2, node 6; ticks of 1, 2 and 5 ms", [1, 2, 5].map(ticks).to_vec()),
        (true, "time 3, sequence 3, node 4", vec![complete_space(0, 1, &[node(4), sequence(3), time(3)])]),
        (true, "time 1, sequence 5", vec![complete_space(7, 3, &[sequence(5), time(1)])]),
        (true, "time 2, clock 1, sequence 1, node 3 + 2; two orders of the fields", orders(0, 3)),
        (false, "time 2, clock 1, sequence 1, node 3 + 2; four others", others),
        (
            false,
            "time 2, clock 1, sequence 2, node 5; ticks of 3 ms, wants 1 and 3, seven leads",
            vec![Space {
                leads_ms: vec![0, 1, 2, 3, 5, 6, 9],
                wants: vec![1, 3],
                ..complete_space(2, 3, &[time(2), sequence(2), Field::clock(1), node(5)])
            }],
        ),
        (
            true,
            "time 2, clock 2, sequence 1, node 5; wants 1 and 2",
            vec![Space { starts: zero.clone(), wants: vec![1, 2], ..four }],
        ),
        (
            false,
            "time 3, clock 1, sequence 2, node 4; wants 1, 3 and 5, four leads",
            vec![Space { starts: zero, leads_ms: vec![0, 1, 3, 8], wants: vec![1, 3, 5], ..three_bits }],
        ),
    ])
}

/// Limits the windows to those that begin at each time and do not end, and those that end at each time and have no beginning.
fn half_open(space: Space) -> Space {
    let one_side = |window: &Window| window.from_ms == space.nows_ms[0] || window.until_ms == u64::MAX;
    Space { windows: space.windows.iter().copied().filter(one_side).collect(), ..space }
}

/// Layouts of ten bits without a node id: every word, cell and clock reading, and a few windows, leads and wants.
fn ten_bits() -> Vec<(&'static str, Vec<Space>)> {
    let few =
        |space: Space, leads_ms: &[u64]| Space { leads_ms: leads_ms.to_vec(), wants: vec![1, 2, usize::MAX], ..half_open(space) };
    let [time, clock, sequence] = [Field::time, Field::clock, Field::sequence];
    let zero = vec![SequenceStart::Zero];
    let one = |space: Space| Space {
        leads_ms: vec![0, 2],
        windows: vec![Window::OPEN, Window { from_ms: 3, until_ms: 6 }],
        wants: vec![9],
        starts: zero.clone(),
        ..space
    };
    chosen(vec![
        (true, "time 5, sequence 5", vec![few(complete_space(1, 1, &[time(5), sequence(5)]), &[0, 1, 7, 31])]),
        (
            false,
            "time 6, sequence 4",
            vec![few(Space { starts: zero.clone(), ..complete_space(1, 1, &[sequence(4), time(6)]) }, &[0, 2])],
        ),
        (true, "time 4, clock 1, sequence 5", vec![one(complete_space(0, 1, &[time(4), clock(1), sequence(5)]))]),
        (
            false,
            "time 3, clock 2, sequence 5",
            vec![Space { leads_ms: vec![1], ..one(complete_space(1, 1, &[clock(2), time(3), sequence(5)])) }],
        ),
    ])
}

/// The limits of 64-bit numbers: layouts that fill an ID, the last times that a layout may have, and unlimited leads. Every clock
/// reading in the last ticks; words at the edges of their sequences.
fn edges() -> Vec<(&'static str, Vec<Space>)> {
    const DATE_MS: u64 = 8_640_000_000_000_000;
    let [time, clock, sequence] = [Field::time, Field::clock, Field::sequence];
    let last_dates = |fields: &[Field]| Space { wants: vec![1, 2, 5], ..complete_space(DATE_MS - 3 * 2, 2, fields) };
    vec![
        (
            "the last ticks of a date",
            vec![
                last_dates(&[time(2), sequence(2)]),
                Space { leads_ms: vec![0, 1, 2, 4, u64::MAX - 1, u64::MAX], ..last_dates(&[time(2), clock(1), sequence(1)]) },
            ],
        ),
        ("time 11, sequence 53: no bit is left over", vec![end_of(&[time(11), sequence(53)])]),
        ("time 10, clock 1, sequence 53: no bit is left over", vec![end_of(&[sequence(53), clock(1), time(10)])]),
        ("time 10, sequence 53, and a node id above", vec![end_of(&[Field::node(1), time(10), sequence(53)])]),
    ]
}

/// The last three ticks of a layout with a long sequence.
fn end_of(fields: &[Field]) -> Space {
    let layout = layout(1, 1, fields);
    let model = Model::new(&layout.spec(), 0, SequenceStart::Zero);
    let pairs = model.ticks * model.clocks;
    let positions = u128::from(pairs) * u128::from(model.sequences);
    let starts = (pairs - 3 * model.clocks..=pairs).map(|pair| u128::from(pair) * u128::from(model.sequences));
    let words = starts.flat_map(|start| start - 4..=start + 4).filter(|word| *word <= positions + 1);
    let words = words.map(|word| u64::try_from(word).unwrap_or(USED_UP)).chain([0, USED_UP]);
    let end_ms = model.ticks + 1;
    let times = || (end_ms - 5..=end_ms + 1).chain([u64::MAX]);
    let windows = times().flat_map(|from_ms| times().map(move |until_ms| Window { from_ms, until_ms }));
    Space {
        starts: SequenceStart::ALL.to_vec(),
        leads_ms: vec![0, 1, 2, 3, 1000, u64::MAX],
        words: words.collect(),
        cells: vec![0, model.ticks - 2, model.ticks - 1, model.ticks],
        windows: windows.chain([Window::OPEN]).collect(),
        nows_ms: times().collect(),
        wants: vec![1, 2, 3, 4, 5, 8, 9, 100, MAX_WALK, usize::MAX],
        layout,
    }
}

// ------------------------------------------------------------------------------------------------------- every call, and mutants

#[test]
fn every_call_of_the_smallest_layouts_has_the_outcome_of_the_model() {
    let count = check(&smallest(), |call: Call<'_>| call.reserve()).unwrap();
    assert!(count > 1_000_000, "{count}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "needs a build with optimisation: npm test -- exhaustive")]
#[expect(clippy::print_stdout, reason = "CI shows how much was compared")]
fn every_call_of_every_state_has_the_outcome_of_the_model() {
    let mut all = 0;
    for (name, spaces) in [complete_spaces(), ten_bits(), edges()].concat() {
        let count = check(&spaces, |call: Call<'_>| call.reserve()).unwrap();
        println!("{count:>13} calls: {name}");
        all += count;
    }
    println!("{all:>13} calls in all");
    assert!(all >= MIN_CALLS, "{all} calls are fewer than {MIN_CALLS}");
}

/// Changes an outcome that issues IDs.
fn issued(outcome: Outcome, change: impl FnOnce(&mut u64, &mut Option<(usize, u64)>, &mut u64, &mut bool)) -> Outcome {
    match outcome {
        Outcome::Issued { mut word, block, mut leaves, mut lead_ms, mut switched } => {
            change(&mut word, &mut leaves, &mut lead_ms, &mut switched);
            Outcome::Issued { word, block, leaves, lead_ms, switched }
        }
        outcome => outcome,
    }
}

/// The outcome of the machine for changed cells.
fn with_cells(call: Call, change: impl Fn(usize, u64) -> u64) -> Outcome {
    let cells: Vec<u64> = call.cells.iter().enumerate().map(|(clock, free_from)| change(clock, *free_from)).collect();
    Call { cells: &cells, ..call }.reserve()
}

/// A machine that breaks one rule.
type Mutant = (&'static str, fn(Call) -> Outcome);

const MUTANTS: &[Mutant] = &[
    ("the lead is compared with < instead of <=", |call| call.leading(call.lead_ms.saturating_sub(1))),
    ("the lead is one millisecond longer", |call| call.leading(call.lead_ms + 1)),
    ("the end of the window is passed by a tick", |call| {
        let Window { from_ms, until_ms } = call.window;
        let until_ms = until_ms.saturating_add(call.machine.tick_ms());
        Call { window: Window { from_ms, until_ms }, ..call }.reserve()
    }),
    ("the end of the window is ignored", |call| Call { window: Window::since(call.window.from_ms), ..call }.reserve()),
    ("a tick that begins a millisecond before the window is used", |call| {
        let from_ms = call.window.from_ms.saturating_sub(1);
        Call { window: Window { from_ms, ..call.window }, ..call }.reserve()
    }),
    ("a clock id is free whatever its cell says", |call| Call { cells: &[], ..call }.reserve()),
    ("a cell holds the last tick instead of the one after it", |call| {
        with_cells(call, |_, free_from| free_from.saturating_sub(1))
    }),
    ("a cell is one tick too large", |call| with_cells(call, |_, free_from| free_from + 1)),
    ("clock id 0 is never free", |call| with_cells(call, |clock, free_from| if clock == 0 { u64::MAX } else { free_from })),
    ("the clock id that was left is not reported", |call| issued(call.reserve(), |_, leaves, _, _| *leaves = None)),
    ("the clock id that was left is free one tick too early", |call| {
        issued(call.reserve(), |_, leaves, _, _| *leaves = leaves.map(|(clock, free_from)| (clock, free_from - 1)))
    }),
    ("the clock is followed back without a second reading", |call| Call { confirmed: true, ..call }.reserve()),
    ("each call asks for a second reading", |call| if call.confirmed { call.reserve() } else { Outcome::Recheck }),
    ("a switch of the clock id is not reported", |call| issued(call.reserve(), |_, _, _, switched| *switched = false)),
    ("the lead is checked only for the first ID of a block", |call| {
        let first = Call { want: 1, ..call }.reserve();
        issued(call.reserve(), |_, _, lead_ms, _| {
            issued(first, |_, _, first_ms, _| *lead_ms = *first_ms);
        })
    }),
    ("the word stays within the block", |call| issued(call.reserve(), |word, _, _, _| *word -= 1)),
    ("the word at the end of the time field is treated like any other", |call| {
        issued(call.reserve(), |word, _, _, _| {
            if *word == USED_UP {
                let bits = |field: &Field| if field.kind == FieldKind::Node { 0 } else { field.bits };
                *word = 1 << call.layout.fields().iter().map(bits).sum::<u32>();
            }
        })
    }),
    ("a state whose time is used up begins anew", |call| {
        Call { word: if call.word == USED_UP { 0 } else { call.word }, ..call }.reserve()
    }),
    ("a block has one ID too many", |call| Call { want: call.want.max(1).saturating_add(1), ..call }.reserve()),
    ("a call for zero IDs gets none", |call| if call.want == 0 { Outcome::Recheck } else { call.reserve() }),
    ("the wait is a millisecond too short", |call| match call.reserve() {
        Outcome::Stalled { retry_at_ms, cause } => Outcome::Stalled { retry_at_ms: retry_at_ms - 1, cause },
        outcome => outcome,
    }),
    ("the wait is a millisecond too long", |call| match call.reserve() {
        Outcome::Stalled { retry_at_ms, cause } => Outcome::Stalled { retry_at_ms: retry_at_ms + 1, cause },
        outcome => outcome,
    }),
    ("a full sequence is reported as a clock that went back", |call| match call.reserve() {
        Outcome::Stalled { retry_at_ms, .. } => Outcome::Stalled { retry_at_ms, cause: Code::ClockBackward },
        outcome => outcome,
    }),
    ("a window is extended by a tick too few", |call| match call.reserve() {
        Outcome::Expired { until_ms } => Outcome::Expired { until_ms: until_ms - call.machine.tick_ms() },
        outcome => outcome,
    }),
    ("the clock is a millisecond ahead", |call| Call { now_ms: call.now_ms.saturating_add(1), ..call }.reserve()),
    ("the short way has no end", |call| {
        call.checked_by(|call, _| call.machine.short_way().id(call.word, call.word, call.now_ms))
    }),
    ("the short way is a millisecond ahead", |call| {
        call.checked_by(|call, after| Call { now_ms: call.now_ms.saturating_add(1), ..call }.short_way(after))
    }),
    ("the short way issues the ID after the next one", |call| {
        call.checked_by(|call, after| Call { word: call.word.wrapping_add(1), ..call }.short_way(after))
    }),
    ("the short way does not know that a sequence wraps", |call| {
        call.checked_by(|call, after| {
            let machine = machine(call.layout, call.lead_ms, SequenceStart::Zero, KEY);
            Call { machine: &machine, ..call }.short_way(after)
        })
    }),
    ("a keyed start is ignored", |call| call.starting(SequenceStart::Zero, KEY)),
    ("a keyed start uses another key", |call| call.starting(call.start, [KEY[0], KEY[1] + 1])),
];

#[test]
fn a_machine_that_breaks_a_rule_is_caught() {
    let spaces = smallest();
    for (name, reserve) in MUTANTS {
        assert!(check(&spaces, |call: Call<'_>| reserve(call)).is_err(), "{name}: not detected");
    }
}

// ---------------------------------------------------------------------------------------------------------------- histories

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

    fn model(&self) -> Model {
        Model::new(&self.space.layout.spec(), 0, self.start)
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
                let pair = |id: u64| id / model.units[0] % model.ticks * model.clocks + self.clock(&model, id);
                let current = model.last(word).ok().flatten().map(|last| last.tick * model.clocks + last.clock);
                let mut events = Events { words: 1 << word, ..Events::default() };
                for id in ids {
                    assert!(events.ids & (1 << id) == 0, "{id} occurs twice in a block");
                    events.ids |= 1 << id;
                    events.pairs |= if Some(pair(id)) == current { 0 } else { 1 << pair(id) };
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

    fn clock(&self, model: &Model, id: u64) -> u64 {
        if self.clocked() { id / model.units[1] % model.clocks } else { 0 }
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
    fn check_cells(&self, model: &Model, state: &Shared, before: &Events, surely: &Events) -> Result<(), String> {
        if !self.clocked() {
            return Ok(());
        }
        // If the word says that the time is used up, the current pair is the last one.
        let last = model.last(state.word).unwrap_or(Some(Position { tick: model.ticks - 1, clock: model.clocks - 1, at: 0 }));
        for id in (0..64).filter(|id| before.ids & (1 << id) != 0) {
            let (tick, clock) = (id / model.units[0] % model.ticks, self.clock(model, id));
            let free_from = match last {
                Some(last) if last.clock == clock => last.tick + 1,
                _ => state.cells[usize::try_from(clock).unwrap()],
            };
            if tick >= free_from {
                return Err(format!("{state:?}: clock id {clock} was used for tick {tick}"));
            }
        }
        for (cell, clock) in state.cells.iter().zip(0..) {
            let Some(tick) = cell.checked_sub(1) else { continue };
            if surely.pairs & (1 << (tick * model.clocks + clock)) == 0 {
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
