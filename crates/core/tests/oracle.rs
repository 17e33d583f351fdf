//! Random layouts, clocks and calls compared with a naive model: the last position, the last tick of each clock id, and a set
//! of IDs.
//!
//! `PROPTEST_CASES` sets the number of cases of each property.
#![allow(clippy::unwrap_used, reason = "a property that cannot be set up has failed")]

use std::collections::HashSet;

use frazil::clock::ManualClock;
use frazil::error::Rule;
use frazil::layout::{Field, FieldKind, LayoutSpec, Parts};
use frazil::mint::{Block, ENDS_SOON_MS, Health, Key, Machine, Outcome, Reservation, SequenceStart, Stats, Window};
use frazil::{Code, Generator, GeneratorOptions, Layout, Node};
use proptest::prelude::*;

fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(default);
    ProptestConfig { cases, failure_persistence: None, max_local_rejects: cases.saturating_mul(100), ..ProptestConfig::default() }
}

/// The value of each field of an ID, by division.
fn values(layout: &Layout, id: u64) -> Vec<(FieldKind, u32, u64)> {
    let mut rest = u128::from(id);
    let take = |field: &Field| {
        let value = rest % (1 << field.bits);
        rest /= 1 << field.bits;
        (field.kind, field.bits, u64::try_from(value).unwrap())
    };
    let mut values: Vec<_> = layout.fields().iter().rev().map(take).collect();
    values.reverse();
    values
}

/// The combined value of the fields of a kind.
fn of_kind(values: &[(FieldKind, u32, u64)], kind: FieldKind) -> u64 {
    values.iter().filter(|value| value.0 == kind).fold(0, |all, value| (all << value.1) | value.2)
}

fn count(layout: &Layout, kind: FieldKind) -> u64 {
    1 << layout.fields().iter().filter(|field| field.kind == kind).map(|field| field.bits).sum::<u32>()
}

/// A tick, a clock id, and the number of IDs with both before this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    tick: u128,
    clock: u128,
    at: u128,
}

struct Model {
    epoch_ms: u128,
    tick_ms: u128,
    last_tick: u128,
    clocks: u128,
    sequences: u128,
    has_clocks: bool,
    lead_ms: u128,
    from_ms: u128,
    start: SequenceStart,
    last: Option<Position>,
    /// By clock id.
    last_ticks: Vec<Option<u128>>,
}

impl Model {
    fn new(layout: &Layout, lead_ms: u64, start_ms: Option<u64>, start: SequenceStart) -> Self {
        let LayoutSpec { epoch_ms, tick_ms, fields, .. } = layout.spec();
        // The first tick that begins after the times that a predecessor could reach, found by walking.
        let starts = (0..).map(|tick| epoch_ms + tick * tick_ms);
        let reached_ms = start_ms.map(|start_ms| start_ms + lead_ms).filter(|reached_ms| *reached_ms >= epoch_ms);
        let from_ms = reached_ms.and_then(|reached_ms| starts.into_iter().find(|start_ms| *start_ms > reached_ms));
        let clocks = count(layout, FieldKind::Clock);
        Self {
            epoch_ms: epoch_ms.into(),
            tick_ms: tick_ms.into(),
            last_tick: u128::from(count(layout, FieldKind::Time)) - 1,
            clocks: clocks.into(),
            sequences: count(layout, FieldKind::Sequence).into(),
            has_clocks: fields.iter().any(|field| field.kind == FieldKind::Clock),
            lead_ms: lead_ms.into(),
            from_ms: from_ms.unwrap_or(0).into(),
            start,
            last: None,
            last_ticks: (0..clocks).map(|_| None).collect(),
        }
    }

    fn start_ms(&self, tick: u128) -> u128 {
        self.epoch_ms + tick * self.tick_ms
    }

    /// By how much the current tick is ahead of the clock.
    fn lead_ms(&self, now_ms: u64) -> u64 {
        let start_ms = self.last.map_or(0, |last| self.start_ms(last.tick));
        u64::try_from(start_ms.saturating_sub(now_ms.into())).unwrap()
    }

    fn free(&self, tick: u128, least: u128) -> Option<u128> {
        let clocks = self.last_ticks.iter().zip(0..).filter(|(_, clock)| *clock >= least);
        clocks.into_iter().find(|(last, _)| last.is_none_or(|last| last < tick)).map(|(_, clock)| clock)
    }

    /// The next position, and whether the clock is followed back to it. If a random start determines the position, it is only
    /// known to lie in the lowest quarter of the tick; then the count is 0.
    fn next(&self, now_ms: u64) -> Result<(Position, bool), Code> {
        let now_ms = u128::from(now_ms);
        let wall = now_ms.checked_sub(self.epoch_ms).ok_or(Code::ClockBeforeEpoch)? / self.tick_ms;
        let reaches = |tick| self.start_ms(tick) <= now_ms + self.lead_ms;
        let end = Position { tick: self.last_tick, clock: self.clocks - 1, at: self.sequences - 1 };
        if wall > self.last_tick || self.last == Some(end) {
            return Err(Code::TimeExhausted);
        }
        if now_ms < self.from_ms {
            let never = self.from_ms >= self.start_ms(self.last_tick + 1);
            return Err(if never { Code::TimeExhausted } else { Code::ClockBackward });
        }
        let fresh = |tick, clock| Position { tick, clock, at: 0 };
        let Some(last) = self.last.filter(|last| last.tick >= wall) else {
            return self.free(wall, 0).map(|clock| (fresh(wall, clock), false)).ok_or(Code::ClockBackward);
        };
        if !reaches(last.tick) {
            return self.free(wall, 0).map(|clock| (fresh(wall, clock), true)).ok_or(Code::ClockBackward);
        }
        if last.at + 1 < self.sequences {
            return Ok((Position { at: last.at + 1, ..last }, false));
        }
        if let Some(clock) = self.free(last.tick, last.clock + 1) {
            return Ok((fresh(last.tick, clock), false));
        }
        if last.tick == self.last_tick {
            return Err(Code::TimeExhausted);
        }
        let next = self.free(last.tick + 1, 0).filter(|_| reaches(last.tick + 1));
        next.map(|clock| (fresh(last.tick + 1, clock), false)).ok_or(Code::SequenceExhausted)
    }

    /// Whether the next position begins a tick because of the clock, so that a random start may raise it.
    fn is_entered_by_clock(&self, now_ms: u64, position: Position) -> bool {
        let wall = (u128::from(now_ms) - self.epoch_ms) / self.tick_ms;
        position.tick == wall && self.last.is_none_or(|last| last.tick != wall)
    }

    fn issue(&mut self, position: Position) {
        let known = &mut self.last_ticks[usize::try_from(position.clock).unwrap()];
        assert!(known.is_none_or(|known| known <= position.tick));
        *known = Some(position.tick);
        self.last = Some(position);
    }
}

/// Layouts whose sequences and time fields are used up within a short walk.
fn small_layout() -> impl Strategy<Value = Layout> {
    let nodes = prop::collection::vec(1..=3_u32, 0..=3);
    (1..=8_u32, 1..=4_u32, prop::option::of(1..=2_u32), nodes, 0..=60_u64, prop_oneof![Just(1), 1..=20_u64])
        .prop_flat_map(|(time, sequence, clock, nodes, epoch_ms, tick_ms)| {
            let parts = nodes.into_iter().enumerate().map(|(at, bits)| Field::part(format!("p{at}"), bits));
            let fields: Vec<Field> =
                [Field::time(time), Field::sequence(sequence)].into_iter().chain(clock.map(Field::clock)).chain(parts).collect();
            (Just(fields).prop_shuffle(), Just(epoch_ms), Just(tick_ms), any::<bool>())
        })
        .prop_map(|(fields, epoch_ms, tick_ms, unsigned)| {
            Layout::new(LayoutSpec { epoch_ms, tick_ms, unsigned, fields }).unwrap()
        })
}

/// Layouts of any width.
fn layout() -> impl Strategy<Value = Layout> {
    let nodes = prop::collection::vec(1..=16_u32, 0..=3);
    let clock = prop::option::weighted(0.3, 1..=8_u32);
    (1..=52_u32, 1..=53_u32, clock, nodes, 0..=4_000_000_000_000_u64, prop_oneof![Just(1), Just(10), 1..=100_000_u64])
        .prop_flat_map(|(time, sequence, clock, nodes, epoch_ms, tick_ms)| {
            let parts = nodes.into_iter().enumerate().map(|(at, bits)| Field::part(format!("p{at}"), bits));
            let fields: Vec<Field> =
                [Field::time(time), Field::sequence(sequence)].into_iter().chain(clock.map(Field::clock)).chain(parts).collect();
            (Just(fields).prop_shuffle(), Just(epoch_ms), Just(tick_ms), any::<bool>())
        })
        .prop_filter_map("the widths do not add up", |(fields, epoch_ms, tick_ms, unsigned)| {
            Layout::new(LayoutSpec { epoch_ms, tick_ms, unsigned, fields }).ok()
        })
}

#[derive(Clone, Debug)]
struct Step {
    clock_moves_ms: i64,
    want: usize,
    confirmed: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let moves = prop_oneof![4 => Just(0), 6 => -3..=6_i64, 2 => -60..=60_i64, 1 => -2000..=2000_i64];
    let want = prop_oneof![3 => Just(1), 2 => 1..=40_usize];
    (moves, want, any::<bool>()).prop_map(|(clock_moves_ms, want, confirmed)| Step { clock_moves_ms, want, confirmed })
}

/// One generator, the model, and the IDs that were issued.
struct Walk {
    layout: Layout,
    node: u64,
    generator: Generator,
    model: Model,
    issued: HashSet<u64>,
    last: Option<u64>,
    /// For the current tick and clock id: the first sequence number, if the sequence wraps.
    rotation: u128,
    read_ms: u64,
    stats: Stats,
}

impl Walk {
    fn position(&self, id: u64) -> Position {
        let values = values(&self.layout, id);
        let of = |kind| u128::from(of_kind(&values, kind));
        Position { tick: of(FieldKind::Time), clock: of(FieldKind::Clock), at: of(FieldKind::Sequence) }
    }

    fn issue(&mut self, now_ms: u64, want: usize, ids: &[u64]) -> Result<(), TestCaseError> {
        for (at, &id) in ids.iter().enumerate() {
            let (expected, switched) = self.model.next(now_ms).map_err(|code| TestCaseError::fail(code.name()))?;
            let mut found = self.position(id);
            let sequences = self.model.sequences;
            match self.model.start {
                SequenceStart::Wrap => {
                    if expected.at == 0 {
                        self.rotation = found.at;
                    }
                    found.at = (found.at + sequences - self.rotation) % sequences;
                }
                SequenceStart::Random if self.model.is_entered_by_clock(now_ms, expected) || switched => {
                    prop_assert!(found.at < (sequences / 4).max(1), "{} starts too high", id);
                    prop_assert_eq!(Position { at: 0, ..found }, expected);
                }
                _ => {}
            }
            if self.model.start != SequenceStart::Random || found.at != expected.at {
                let lifted =
                    self.model.start == SequenceStart::Random && (self.model.is_entered_by_clock(now_ms, expected) || switched);
                prop_assert!(lifted || found == expected, "{:?} instead of {:?}", found, expected);
            }
            prop_assert_eq!(of_kind(&values(&self.layout, id), FieldKind::Node), self.node);
            prop_assert!(self.issued.insert(id), "{} is repeated", id);
            let ordered = self.layout.plan().ordered && !switched && self.model.start != SequenceStart::Wrap;
            prop_assert!(!ordered || self.last < Some(id), "{} is out of order", id);
            let latest_ms = u128::from(now_ms) + self.model.lead_ms;
            prop_assert!(self.model.start_ms(found.tick) <= latest_ms, "the lead is over its maximum");
            if let Some(last) = self.model.last.filter(|_| at > 0 && self.model.has_clocks) {
                prop_assert_eq!((last.tick, last.clock), (found.tick, found.clock), "a block with two ticks or clock ids");
            }
            self.last = Some(id);
            self.model.issue(found);
            self.stats.issued += 1;
            self.stats.switches += u64::from(switched);
        }
        self.stats.worst_lead_ms = self.stats.worst_lead_ms.max(self.model.lead_ms(now_ms));
        // A block must not be shorter than necessary.
        if ids.len() < want
            && let Ok((next, _)) = self.model.next(now_ms)
        {
            let last = self.model.last.unwrap();
            prop_assert!(self.model.has_clocks, "{} of {} IDs, and {:?} is left", ids.len(), want, next);
            prop_assert!((next.tick, next.clock) != (last.tick, last.clock), "{:?} is left", next);
        }
        Ok(())
    }

    /// Makes one call, and checks the state after it. A call for one ID is now [`Generator::next`], now a reservation.
    fn step(&mut self, now_ms: u64, want: usize, confirmed: bool) -> Result<(), TestCaseError> {
        if want == 1 && self.issued.len().is_multiple_of(2) {
            self.answer_next(now_ms)?;
        } else {
            self.answer(now_ms, want, confirmed)?;
        }
        prop_assert_eq!(self.generator.stats(), self.stats);
        let Health { end_ms, remaining_ms, ends_soon, lead_ms, refusal, .. } = self.generator.health(now_ms);
        prop_assert_eq!(u128::from(end_ms), self.model.start_ms(self.model.last_tick + 1) - 1);
        prop_assert_eq!((remaining_ms, ends_soon), (end_ms.saturating_sub(now_ms), remaining_ms < ENDS_SOON_MS));
        prop_assert_eq!(lead_ms, self.model.lead_ms(now_ms));
        prop_assert_eq!(refusal.map(|error| error.code()), self.model.next(now_ms).err());
        Ok(())
    }

    fn count_reading(&mut self, now_ms: u64) {
        let back_ms = self.read_ms.saturating_sub(now_ms);
        self.stats.steps_back += u64::from(back_ms > 0);
        self.stats.largest_step_back_ms = self.stats.largest_step_back_ms.max(back_ms);
        self.read_ms = now_ms;
    }

    fn reserve(&mut self, now_ms: u64, want: usize, confirmed: bool) -> frazil::Result<Reservation> {
        self.count_reading(now_ms);
        let answer = self.generator.reserve(now_ms, want, confirmed);
        self.stats.stalls += u64::from(answer.is_err_and(|error| error.code().retryable()));
        answer
    }

    fn answer_next(&mut self, now_ms: u64) -> Result<(), TestCaseError> {
        self.count_reading(now_ms);
        match (self.generator.next(&ManualClock::new(now_ms)), self.model.next(now_ms)) {
            (Ok(id), Ok(_)) => self.issue(now_ms, 1, &[id]),
            (Err(error), Err(code)) => {
                prop_assert_eq!(error.code(), code);
                self.stats.stalls += u64::from(code.retryable());
                Ok(())
            }
            (answer, expected) => Err(TestCaseError::fail(format!("{answer:?} instead of {expected:?}"))),
        }
    }

    fn answer(&mut self, now_ms: u64, want: usize, confirmed: bool) -> Result<(), TestCaseError> {
        match (self.reserve(now_ms, want, confirmed), self.model.next(now_ms)) {
            (Ok(Reservation::Issued { block, wall_tick_ms: (from_ms, until_ms) }), Ok((_, switched))) => {
                prop_assert!(confirmed || !switched, "a switch without a confirmed reading");
                let mut ids = vec![0; block.len()];
                block.write(&mut ids);
                prop_assert!(!ids.is_empty() && ids.len() <= want);
                prop_assert_eq!(block.first(), ids[0]);
                prop_assert!(from_ms <= now_ms && now_ms < until_ms);
                prop_assert_eq!(u128::from(until_ms - from_ms), self.model.tick_ms);
                prop_assert_eq!((u128::from(from_ms) - self.model.epoch_ms) % self.model.tick_ms, 0);
                self.issue(now_ms, want, &ids)
            }
            (Ok(Reservation::Recheck), answer) => {
                prop_assert!(!confirmed && !matches!(answer, Ok((_, false))));
                Ok(())
            }
            (Err(error), Err(code)) => {
                prop_assert!(confirmed);
                prop_assert_eq!(error.code(), code);
                self.check_end_of_refusal(
                    now_ms,
                    error.retry_after_ms(),
                    matches!(code, Code::ClockBackward | Code::SequenceExhausted),
                )
            }
            (answer, expected) => Err(TestCaseError::fail(format!("{answer:?} instead of {expected:?}"))),
        }
    }

    /// Checks that a temporary refusal ends exactly when it said.
    fn check_end_of_refusal(&mut self, now_ms: u64, retry_after_ms: u64, stalled: bool) -> Result<(), TestCaseError> {
        prop_assert_eq!(retry_after_ms > 0, stalled);
        let health = self.generator.health(now_ms);
        prop_assert_eq!(health.refusal.map(|error| error.retry_after_ms()), Some(retry_after_ms));
        if !stalled {
            return Ok(());
        }
        let retry_at_ms = now_ms + retry_after_ms;
        let early = self.reserve(retry_at_ms - 1, 1, true);
        prop_assert_eq!(early.map_err(|error| error.retry_after_ms()).unwrap_err(), 1);
        self.step(retry_at_ms, 1, true)
    }
}

fn start() -> impl Strategy<Value = SequenceStart> {
    prop_oneof![3 => Just(SequenceStart::Zero), 1 => Just(SequenceStart::Random), 1 => Just(SequenceStart::Wrap)]
}

proptest! {
    #![proptest_config(cases(10_000))]

    // docs/safety.md: 1, 4, 6, 7, 8, 9
    #[test]
    fn a_generator_behaves_like_the_naive_model(
        layout in small_layout(),
        lead_ms in prop_oneof![Just(0), 0..=12_u64, 0..=1000_u64],
        start_ms in prop::option::weighted(0.3, 0..=400_u64),
        node in any::<u64>(),
        begin_ms in 0..=200_u64,
        steps in prop::collection::vec(step(), 1..60),
        sequence_start in start(),
        key in any::<(u64, u64)>(),
    ) {
        let nodes = count(&layout, FieldKind::Node);
        let node = node % nodes;
        let given = if nodes == 1 { Node::None } else { Node::Id(node) };
        let key = Some(Key::new(key.0.max(1), key.1.max(1)));
        let options = GeneratorOptions { node: given, max_lead_ms: Some(lead_ms), start_ms, sequence_start, key };
        let generator = Generator::private(&layout, options).unwrap();
        let model = Model::new(&layout, lead_ms, start_ms, sequence_start);
        let mut walk = Walk { layout, node, generator, model, issued: HashSet::new(), last: None, rotation: 0, read_ms: 0, stats: Stats::default() };
        let mut now_ms = begin_ms;
        for Step { clock_moves_ms, want, confirmed } in steps {
            now_ms = now_ms.saturating_add_signed(clock_moves_ms);
            walk.step(now_ms, want, confirmed)?;
        }
    }

    // docs/safety.md: 1, 6, 9
    #[test]
    fn a_reservation_depends_only_on_its_arguments_and_no_word_recurs(
        layout in small_layout(),
        lead_ms in 0..=100_u64,
        from_ms in prop_oneof![3 => Just(0), 1 => 0..=100_u64],
        begin_ms in 0..=200_u64,
        steps in prop::collection::vec(step(), 1..60),
        start in start(),
    ) {
        let node = if count(&layout, FieldKind::Node) == 1 { Node::None } else { Node::Id(0) };
        let machine = Machine::new(&layout, node, lead_ms).unwrap().starting(start, Key::new(1, 2));
        let mut clocks = [0; 4];
        let (mut word, mut now_ms, mut words) = (0, begin_ms, HashSet::from([0]));
        for Step { clock_moves_ms, want, confirmed } in steps {
            now_ms = now_ms.saturating_add_signed(clock_moves_ms);
            let outcome = machine.reserve(word, Window::since(from_ms), &clocks, now_ms, want, confirmed);
            prop_assert_eq!(outcome, machine.reserve(word, Window::since(from_ms), &clocks, now_ms, want, confirmed));
            match outcome {
                Outcome::Issued { word: next, block, leaves, switched, .. } => {
                    prop_assert!(words.insert(next), "the word {} recurs", next);
                    prop_assert!(switched || next > word);
                    prop_assert!(1 <= block.len() && block.len() <= want);
                    if let Some((clock, free_from)) = leaves {
                        prop_assert!(free_from > clocks[clock], "the cell of clock id {} does not rise", clock);
                        clocks[clock] = free_from;
                    }
                    word = next;
                }
                Outcome::Recheck => prop_assert!(!confirmed),
                Outcome::Stalled { retry_at_ms, .. } => prop_assert!(retry_at_ms > now_ms),
                Outcome::Expired { .. } => prop_assert!(false, "the window has no end"),
                Outcome::Refused(error) => prop_assert_eq!(error.retry_after_ms(), 0),
            }
        }
    }

    // docs/safety.md: 10
    #[test]
    fn a_window_limits_a_reservation_to_the_ticks_inside_it(
        layout in small_layout(),
        lead_ms in 0..=100_u64,
        (from_ms, length_ms) in (0..=100_u64, 0..=200_u64),
        begin_ms in 0..=200_u64,
        steps in prop::collection::vec(step(), 1..60),
        start in start(),
    ) {
        let node = if count(&layout, FieldKind::Node) == 1 { Node::None } else { Node::Id(0) };
        let machine = Machine::new(&layout, node, lead_ms).unwrap().starting(start, Key::new(1, 2));
        let LayoutSpec { epoch_ms, tick_ms, .. } = layout.spec();
        let from_ms = epoch_ms.saturating_sub(50) + from_ms;
        let window = Window { from_ms, until_ms: from_ms + length_ms };
        let tick_of = |id| of_kind(&values(&layout, id), FieldKind::Time);
        let inside = |id| {
            let starts_ms = epoch_ms + tick_of(id) * tick_ms;
            from_ms <= starts_ms && starts_ms + tick_ms <= window.until_ms
        };
        let written = |block: &Block| {
            let mut ids = vec![0; block.len()];
            block.write(&mut ids);
            ids
        };
        let mut clocks = [0; 4];
        let (mut word, mut now_ms) = (0, begin_ms);
        for Step { clock_moves_ms, want, confirmed } in steps {
            now_ms = now_ms.saturating_add_signed(clock_moves_ms);
            let free = machine.reserve(word, Window::OPEN, &clocks, now_ms, want, confirmed);
            let bound = machine.reserve(word, window, &clocks, now_ms, want, confirmed);
            let wall_starts_ms = now_ms - now_ms.checked_sub(epoch_ms).map_or(0, |elapsed_ms| elapsed_ms % tick_ms);
            match (bound, free) {
                (Outcome::Issued { word: next, block, leaves, .. }, Outcome::Issued { block: free, .. }) => {
                    let (ids, free) = (written(&block), written(&free));
                    prop_assert!(ids.iter().copied().all(inside));
                    let most = free.iter().take_while(|id| inside(**id)).count();
                    prop_assert_eq!(&ids[..], &free[..most]);
                    if let Some((clock, free_from)) = leaves {
                        clocks[clock] = free_from;
                    }
                    word = next;
                }
                (Outcome::Expired { until_ms }, Outcome::Issued { block, .. }) => {
                    prop_assert!(from_ms <= wall_starts_ms);
                    prop_assert_eq!(until_ms, epoch_ms + (tick_of(block.first()) + 1) * tick_ms);
                    prop_assert!(until_ms > window.until_ms);
                    let reserve = |until_ms| machine.reserve(word, Window { until_ms, ..window }, &clocks, now_ms, want, confirmed);
                    let issued = matches!(reserve(until_ms), Outcome::Issued { .. });
                    prop_assert!(issued);
                    prop_assert_eq!(reserve(until_ms - 1), bound);
                }
                (Outcome::Recheck, _) => {
                    prop_assert!(!confirmed);
                    prop_assert!(free == Outcome::Recheck || wall_starts_ms < from_ms);
                }
                // A switch needs a confirmed reading; the end of the window does not.
                (Outcome::Expired { .. }, Outcome::Recheck) => {
                    let confirmed = machine.reserve(word, Window::OPEN, &clocks, now_ms, want, true);
                    let switches = matches!(confirmed, Outcome::Issued { switched: true, .. });
                    prop_assert!(switches);
                }
                (Outcome::Stalled { retry_at_ms, .. }, free) => {
                    prop_assert!(retry_at_ms > now_ms && (free == bound || wall_starts_ms < from_ms));
                }
                (Outcome::Refused(error), free) => {
                    prop_assert_eq!(error.retry_after_ms(), 0);
                    prop_assert!(free == bound || wall_starts_ms < from_ms);
                }
                (bound, free) => prop_assert!(false, "{:?} where it would be {:?}", bound, free),
            }
        }
    }

    #[test]
    fn in_any_state_a_stalled_call_succeeds_at_the_time_it_said_and_not_before(
        layout in small_layout(),
        lead_ms in prop_oneof![0..=12_u64, 0..=100_u64],
        from_ms in prop_oneof![3 => Just(0), 1 => 0..=200_u64],
        word in any::<u64>(),
        clocks in [0..=40_u64, 0..=40_u64, 0..=40_u64, 0..=40_u64],
        now_ms in 0..=200_u64,
    ) {
        let node = if count(&layout, FieldKind::Node) == 1 { Node::None } else { Node::Id(0) };
        let machine = Machine::new(&layout, node, lead_ms).unwrap();
        let LayoutSpec { epoch_ms, .. } = layout.spec();
        // In half of the cases the sequence is full.
        let word = if word & 1 == 0 { word >> 1 } else { (word >> 10) * count(&layout, FieldKind::Sequence) };
        let word = word % (1_u64 << 10).min(layout.plan().ids_per_tick * count(&layout, FieldKind::Time));
        let reserve = |now_ms| machine.reserve(word, Window::since(from_ms), &clocks, now_ms, 1, true);
        let issues = |now_ms| matches!(reserve(now_ms), Outcome::Issued { .. });
        if let Outcome::Stalled { retry_at_ms, .. } = reserve(epoch_ms + now_ms) {
            for early_ms in epoch_ms + now_ms..retry_at_ms {
                prop_assert!(!issues(early_ms), "{} instead of {}", early_ms, retry_at_ms);
            }
            prop_assert!(issues(retry_at_ms));
        }
    }

    #[test]
    fn decoding_equals_division_and_composing_is_its_inverse(layout in layout(), id in any::<u64>()) {
        let id = id & layout.max_id();
        let decoded = layout.decode(id).unwrap();
        let values = values(&layout, id);
        let LayoutSpec { epoch_ms, tick_ms, fields, .. } = layout.spec();
        let has = |kind| fields.iter().any(|field| field.kind == kind);
        prop_assert_eq!(decoded.timestamp_ms, epoch_ms + of_kind(&values, FieldKind::Time) * tick_ms);
        prop_assert_eq!(decoded.node.map(u64::from), has(FieldKind::Node).then(|| of_kind(&values, FieldKind::Node)));
        prop_assert_eq!(decoded.clock.map(u64::from), has(FieldKind::Clock).then(|| of_kind(&values, FieldKind::Clock)));
        prop_assert_eq!(decoded.sequence, of_kind(&values, FieldKind::Sequence));

        let parts = Parts {
            timestamp_ms: decoded.timestamp_ms,
            node: decoded.node.map(u64::from),
            clock: decoded.clock.map(u64::from),
            sequence: decoded.sequence,
        };
        prop_assert_eq!(layout.compose(parts), Ok(id));
        if let Some(node) = decoded.node {
            let named: Vec<(&str, u64)> = fields
                .iter()
                .zip(&values)
                .filter(|(field, _)| field.kind == FieldKind::Node)
                .map(|(field, value)| (field.name.as_deref().unwrap(), value.2))
                .rev()
                .collect();
            prop_assert_eq!(layout.join_node(Node::Parts(&named)), Ok(node));
        }
        prop_assert_eq!(layout.parse(&id.to_string()), Ok(id));
        prop_assert_eq!(layout.to_signed(id).and_then(|signed| layout.from_signed(signed)), Ok(id));
        prop_assert_eq!(layout.check(layout.max_id()), Ok(layout.max_id()));
        prop_assert!(layout.max_id() == u64::MAX || layout.check(layout.max_id() + 1).is_err());
    }

    #[test]
    fn an_id_lies_in_the_range_of_its_own_time_and_in_no_adjacent_range(layout in layout(), id in any::<u64>()) {
        let id = id & layout.max_id();
        let decoded = layout.decode(id).unwrap();
        let kinds: Vec<FieldKind> = layout.fields().iter().map(|field| field.kind).collect();
        let above = kinds.split(|kind| *kind == FieldKind::Time).next().unwrap();
        let node = above.contains(&FieldKind::Node).then(|| u64::from(decoded.node.unwrap()));
        let range = |at| layout.min_id_at(at, node).and_then(|least| Ok((least, layout.max_id_at(at, node)?)));
        if above.contains(&FieldKind::Clock) || above.contains(&FieldKind::Sequence) {
            prop_assert_eq!(range(decoded.timestamp_ms).unwrap_err().code(), Code::NotTimeOrdered);
            return Ok(());
        }
        let tick_ms = layout.spec().tick_ms;
        let (least, largest) = range(decoded.timestamp_ms).unwrap();
        prop_assert!(least <= id && id <= largest);
        prop_assert_eq!(range(decoded.timestamp_ms + tick_ms - 1), Ok((least, largest)));
        if let Ok((next, _)) = range(decoded.timestamp_ms + tick_ms) {
            prop_assert_eq!(largest + 1, next);
        }
    }

    #[test]
    fn an_id_lies_in_a_stretch_of_time_exactly_if_its_tick_does_and_stretches_that_meet_share_none(
        layout in layout(),
        id in any::<u64>(),
        mut times in prop::array::uniform3(any::<u64>()),
        near in prop::array::uniform3(any::<bool>()),
    ) {
        let id = id & layout.max_id();
        let decoded = layout.decode(id).unwrap();
        let (epoch_ms, tick_ms) = (layout.spec().epoch_ms, layout.spec().tick_ms);
        for (time, near) in times.iter_mut().zip(near) {
            if near {
                *time = (decoded.timestamp_ms + *time % (4 * tick_ms)).saturating_sub(2 * tick_ms);
            }
        }
        times.sort_unstable();
        let [from, middle, to] = times;
        let kinds: Vec<FieldKind> = layout.fields().iter().map(|field| field.kind).collect();
        let above = kinds.split(|kind| *kind == FieldKind::Time).next().unwrap();
        let node = above.contains(&FieldKind::Node).then(|| u64::from(decoded.node.unwrap()));
        if above.contains(&FieldKind::Clock) || above.contains(&FieldKind::Sequence) {
            prop_assert_eq!(layout.range(from, to, node).unwrap_err().code(), Code::NotTimeOrdered);
            return Ok(());
        }
        let tick = |ms: u64| ms.saturating_sub(epoch_ms) / tick_ms;
        let range = layout.range(from, to, node).unwrap();
        let own = tick(decoded.timestamp_ms);
        prop_assert_eq!(range.contains(&u128::from(id)), tick(from) <= own && own < tick(to));
        let (first, second) = (layout.range(from, middle, node).unwrap(), layout.range(middle, to, node).unwrap());
        prop_assert_eq!((first.start, first.end, second.end), (range.start, second.start, range.end));
        if from < to {
            prop_assert_eq!(layout.range(to, from, node).unwrap_err().rule(), Rule::FromAfterTo);
        }
    }

    #[test]
    fn text_is_parsed_as_an_id_exactly_if_printing_the_id_gives_it_back(text in "[0-9]{1,21}|[-+ 0-9a-fx_.]{0,8}|.{0,4}") {
        let layout = Layout::named("discord").unwrap();
        let expected = text.parse::<u64>().ok().filter(|id| id.to_string() == text);
        prop_assert_eq!(layout.parse(&text).ok(), expected);
    }

    #[test]
    fn no_layout_and_no_time_panics(
        epoch_ms in any::<u64>(),
        tick_ms in any::<u64>(),
        small in any::<bool>(),
        unsigned in any::<bool>(),
        fields in prop::collection::vec((0..4_u8, prop_oneof![4 => 1..=24_u32, 1 => any::<u32>()]), 0..6),
        times in prop::collection::vec(any::<u64>(), 0..6),
        lead_ms in any::<u64>(),
    ) {
        let (epoch_ms, tick_ms) = if small { (epoch_ms >> 23, tick_ms >> 54) } else { (epoch_ms, tick_ms) };
        let field = |(at, (kind, bits)): (usize, (u8, u32))| match kind {
            0 => Field::time(bits),
            1 => Field::sequence(bits),
            2 => Field::clock(bits),
            _ => Field::part(format!("p{at}"), bits),
        };
        let fields = fields.into_iter().enumerate().map(field).collect();
        let Ok(layout) = Layout::new(LayoutSpec { epoch_ms, tick_ms, unsigned, fields }) else { return Ok(()) };
        let node = if count(&layout, FieldKind::Node) == 1 { Node::None } else { Node::Id(0) };
        let machine = Machine::new(&layout, node, lead_ms).unwrap();
        let plan = layout.plan();
        let (mut word, mut out) = (0, [0; 3]);
        for now_ms in times.into_iter().chain([0, epoch_ms, plan.last_ms, u64::MAX]) {
            let _ = (layout.min_id_at(now_ms, None), layout.decode(now_ms), machine.max_count(now_ms));
            if let Outcome::Issued { word: next, block, .. } = machine.reserve(word, Window::OPEN, &[], now_ms, usize::MAX, true) {
                block.write(&mut out);
                word = next;
            }
        }
    }
}
