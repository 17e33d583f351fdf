//! Random layouts, clocks and calls against a naive model: the last tick and the count within it, and a set.
//!
//! `PROPTEST_CASES` sets how many cases each property has.
#![allow(clippy::unwrap_used, reason = "a property that cannot be set up has failed")]

use std::collections::HashSet;

use frazil::{
    Code, Field, FieldKind, Generator, GeneratorOptions, Layout, LayoutSpec, Machine, Node, Outcome, Parts, Reservation,
};
use proptest::prelude::*;

fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(default);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
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

/// The value that the fields of a kind have together.
fn of_kind(values: &[(FieldKind, u32, u64)], kind: FieldKind) -> u64 {
    values.iter().filter(|value| value.0 == kind).fold(0, |all, value| (all << value.1) | value.2)
}

fn count(layout: &Layout, kind: FieldKind) -> u64 {
    1 << layout.fields().iter().filter(|field| field.kind == kind).map(|field| field.bits).sum::<u32>()
}

struct Model {
    epoch_ms: u64,
    tick_ms: u64,
    last_tick: u64,
    per_tick: u64,
    lead_ms: u64,
    from_ms: u64,
    last: Option<(u64, u64)>,
}

impl Model {
    fn new(layout: &Layout, lead_ms: u64, start_ms: Option<u64>) -> Self {
        let LayoutSpec { epoch_ms, tick_ms, .. } = layout.spec();
        // The first start of a tick after what a predecessor could reach, by walking there.
        let starts = (0..).map(|tick| epoch_ms + tick * tick_ms);
        let reached_ms = start_ms.map(|start_ms| start_ms + lead_ms).filter(|reached_ms| *reached_ms >= epoch_ms);
        let from_ms = reached_ms.and_then(|reached_ms| starts.into_iter().find(|start_ms| *start_ms > reached_ms));
        Self {
            epoch_ms,
            tick_ms,
            last_tick: count(layout, FieldKind::Time) - 1,
            per_tick: count(layout, FieldKind::Clock) * count(layout, FieldKind::Sequence),
            lead_ms,
            from_ms: from_ms.unwrap_or(0),
            last: None,
        }
    }

    fn start_ms(&self, tick: u64) -> u64 {
        self.epoch_ms + tick * self.tick_ms
    }

    fn next(&self, now_ms: u64) -> Result<(u64, u64), Code> {
        let wall = now_ms.checked_sub(self.epoch_ms).ok_or(Code::ClockBeforeEpoch)? / self.tick_ms;
        let reaches = |tick| self.start_ms(tick) <= now_ms + self.lead_ms;
        match self.last {
            _ if wall > self.last_tick || self.last == Some((self.last_tick, self.per_tick - 1)) => Err(Code::TimeExhausted),
            _ if now_ms < self.from_ms && self.from_ms >= self.start_ms(self.last_tick + 1) => Err(Code::TimeExhausted),
            _ if now_ms < self.from_ms => Err(Code::ClockBackward),
            Some((tick, _)) if tick >= wall && !reaches(tick) => Err(Code::ClockBackward),
            Some((tick, low)) if tick >= wall && low + 1 < self.per_tick => Ok((tick, low + 1)),
            Some((tick, _)) if tick >= wall && reaches(tick + 1) => Ok((tick + 1, 0)),
            Some((tick, _)) if tick >= wall => Err(Code::SequenceExhausted),
            _ => Ok((wall, 0)),
        }
    }

    fn reserve(&mut self, now_ms: u64, want: usize) -> Result<Vec<(u64, u64)>, Code> {
        let mut issued = vec![self.next(now_ms)?];
        self.last = issued.last().copied();
        while issued.len() < want
            && let Ok(next) = self.next(now_ms)
        {
            issued.push(next);
            self.last = Some(next);
        }
        Ok(issued)
    }
}

/// Layouts whose ticks, sequences and times run out within a short walk.
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

/// One generator beside the model, and what both have issued.
struct Walk {
    layout: Layout,
    node: u64,
    generator: Generator,
    model: Model,
    issued: HashSet<u64>,
    last: Option<u64>,
}

impl Walk {
    fn issue(&mut self, now_ms: u64, expected: &[(u64, u64)], ids: &[u64]) -> Result<(), TestCaseError> {
        prop_assert_eq!(ids.len(), expected.len());
        for (&id, &(tick, low)) in ids.iter().zip(expected) {
            let values = values(&self.layout, id);
            let sequences = count(&self.layout, FieldKind::Sequence);
            prop_assert_eq!(of_kind(&values, FieldKind::Time), tick);
            prop_assert_eq!(of_kind(&values, FieldKind::Clock), low / sequences);
            prop_assert_eq!(of_kind(&values, FieldKind::Sequence), low % sequences);
            prop_assert_eq!(of_kind(&values, FieldKind::Node), self.node);
            prop_assert!(self.issued.insert(id), "{} is repeated", id);
            prop_assert!(!self.layout.plan().ordered || self.last < Some(id), "{} is out of order", id);
            prop_assert!(self.model.start_ms(tick) <= now_ms + self.model.lead_ms, "the lead is over its maximum");
            self.last = Some(id);
        }
        Ok(())
    }

    fn step(&mut self, now_ms: u64, want: usize, confirmed: bool) -> Result<(), TestCaseError> {
        let expected = self.model.reserve(now_ms, want);
        match (self.generator.reserve(now_ms, want, confirmed), expected) {
            (Ok(Reservation::Issued { block, wall_tick_ms: (from_ms, until_ms) }), Ok(expected)) => {
                let mut ids = vec![0; block.len()];
                block.write(&mut ids);
                prop_assert_eq!(block.first(), ids[0]);
                prop_assert!(from_ms <= now_ms && now_ms < until_ms);
                prop_assert_eq!(until_ms - from_ms, self.model.tick_ms);
                prop_assert_eq!((from_ms - self.model.epoch_ms) % self.model.tick_ms, 0);
                self.issue(now_ms, &expected, &ids)
            }
            (Ok(Reservation::Recheck), Err(_)) => {
                prop_assert!(!confirmed);
                Ok(())
            }
            (Err(error), Err(code)) => {
                prop_assert!(confirmed);
                prop_assert_eq!(error.code(), code);
                self.keep_promise(now_ms, error.retry_after_ms(), matches!(code, Code::ClockBackward | Code::SequenceExhausted))
            }
            (answer, expected) => Err(TestCaseError::fail(format!("{answer:?} instead of {expected:?}"))),
        }
    }

    /// A refusal that ends by itself ends exactly when it said.
    fn keep_promise(&mut self, now_ms: u64, retry_after_ms: u64, stalled: bool) -> Result<(), TestCaseError> {
        prop_assert_eq!(retry_after_ms > 0, stalled);
        if !stalled {
            return Ok(());
        }
        let retry_at_ms = now_ms + retry_after_ms;
        let early = self.generator.reserve(retry_at_ms - 1, 1, true);
        prop_assert_eq!(early.map_err(|error| error.retry_after_ms()).unwrap_err(), 1);
        self.step(retry_at_ms, 1, true)
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn a_generator_does_what_the_naive_model_does(
        layout in small_layout(),
        lead_ms in prop_oneof![Just(0), 0..=12_u64, 0..=1000_u64],
        start_ms in prop::option::weighted(0.3, 0..=400_u64),
        node in any::<u64>(),
        begin_ms in 0..=200_u64,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let nodes = count(&layout, FieldKind::Node);
        let node = node % nodes;
        let given = if nodes == 1 { Node::None } else { Node::Id(node) };
        let options = GeneratorOptions { node: given, max_lead_ms: Some(lead_ms), start_ms };
        let generator = Generator::private(&layout, options).unwrap();
        let model = Model::new(&layout, lead_ms, start_ms);
        let mut walk = Walk { layout, node, generator, model, issued: HashSet::new(), last: None };
        let mut now_ms = begin_ms;
        for Step { clock_moves_ms, want, confirmed } in steps {
            now_ms = now_ms.saturating_add_signed(clock_moves_ms);
            walk.step(now_ms, want, confirmed)?;
        }
    }

    #[test]
    fn the_word_only_grows_and_refusals_are_a_function_of_the_arguments(
        layout in small_layout(),
        lead_ms in 0..=100_u64,
        from_ms in prop_oneof![3 => Just(0), 1 => 0..=100_u64],
        begin_ms in 0..=200_u64,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let node = if count(&layout, FieldKind::Node) == 1 { Node::None } else { Node::Id(0) };
        let machine = Machine::new(&layout, node, lead_ms).unwrap();
        let (mut word, mut now_ms) = (0, begin_ms);
        for Step { clock_moves_ms, want, confirmed } in steps {
            now_ms = now_ms.saturating_add_signed(clock_moves_ms);
            let outcome = machine.reserve(word, from_ms, now_ms, want, confirmed);
            prop_assert_eq!(outcome, machine.reserve(word, from_ms, now_ms, want, confirmed));
            match outcome {
                Outcome::Issued { word: next, block } => {
                    prop_assert!(next > word);
                    prop_assert!(1 <= block.len() && block.len() <= want);
                    word = next;
                }
                Outcome::Recheck => prop_assert!(!confirmed),
                Outcome::Stalled { retry_at_ms, .. } => prop_assert!(retry_at_ms > now_ms),
                Outcome::Refused(error) => prop_assert_eq!(error.retry_after_ms(), 0),
            }
        }
    }

    #[test]
    fn decoding_is_division_and_composing_its_inverse(layout in layout(), id in any::<u64>()) {
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
    fn an_id_lies_in_the_range_of_its_time_and_its_neighbours_in_time_do_not(layout in layout(), id in any::<u64>()) {
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
    fn text_is_an_id_exactly_where_printing_the_id_gives_it_back(text in "[0-9]{1,21}|[-+ 0-9a-fx_.]{0,8}|.{0,4}") {
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
            if let Outcome::Issued { word: next, block } = machine.reserve(word, 0, now_ms, usize::MAX, true) {
                block.write(&mut out);
                word = next;
            }
        }
    }
}
