//! The line beside the machine, and the fast path to a new tick, which is the same rule in whole numbers: every answer is the machine's,
//! and there is one wherever one is due.
//!
//! Small layouts: every word, window and reading. All others: proptest, at the edges of ticks, words and windows.
//!
//! docs/internals/claims.md: 34
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use frazil::abi::Line;
use frazil::layout::{Field, FieldKind, LayoutSpec};
use frazil::mint::{Key, Machine, Outcome, SequenceStart, Window};
use frazil::{Layout, Node};
use proptest::prelude::*;

/// A state, a window and a reading of the clock.
#[derive(Clone, Copy, Debug)]
struct Call<'a> {
    machine: &'a Machine,
    line: Line,
    word: u64,
    window: Window,
    now_ms: u64,
    layout: &'a Layout,
}

impl Call<'_> {
    #[expect(clippy::cast_precision_loss, reason = "as the clock of JavaScript shows it")]
    fn next(self) -> Option<(u64, u64)> {
        self.line.next(self.word, self.window, self.now_ms as f64)
    }

    fn by_fast_path(self) -> Option<(u64, u64)> {
        self.machine.fast_path().first_id(self.word, self.window, self.now_ms)
    }

    /// The answer of the machine, if it is one that a line has: an ID of the clock's tick, which none was issued of yet.
    fn expected(self) -> Option<(u64, u64)> {
        let Self { machine, word, window, now_ms, layout, .. } = self;
        let Outcome::Issued { word: next, block, leaves, lead_ms, switched } =
            machine.reserve(word, window, &[], now_ms, 1, false)
        else {
            return None;
        };
        assert!(leaves.is_none() && !switched && block.len() == 1);
        let is_first = layout.decode(block.first()).unwrap().sequence == 0;
        (is_first && lead_ms == 0).then(|| (next, block.first()))
    }
}

/// Compares a line with the machine at every call of a space.
fn check(spaces: &[Space], next: impl Fn(Call) -> Option<(u64, u64)>) -> Result<u64, String> {
    let mut answers = 0;
    for Space { layout, leads_ms, words, windows, nows_ms } in spaces {
        for &lead_ms in leads_ms {
            let machine = machine(layout, lead_ms);
            let line = Line::of(&machine).unwrap();
            for (&word, &window) in words.iter().flat_map(|word| windows.iter().map(move |window| (word, window))) {
                for &now_ms in nows_ms {
                    let call = Call { machine: &machine, line, word, window, now_ms, layout };
                    let (found, expected) = (next(call), call.expected());
                    if found != expected {
                        return Err(format!("{call:?}: {found:?}, but the machine says {expected:?}"));
                    }
                    answers += u64::from(found.is_some());
                }
            }
        }
    }
    Ok(answers)
}

fn bits(layout: &Layout, kind: FieldKind) -> u32 {
    layout.fields().iter().filter(|field| field.kind == kind).map(|field| field.bits).sum()
}

/// A machine with a node id of alternating bits.
fn machine(layout: &Layout, lead_ms: u64) -> Machine {
    let node = match bits(layout, FieldKind::Node) {
        0 => Node::None,
        bits => Node::Id(0x5555_5555 & (u64::MAX >> (64 - bits))),
    };
    Machine::new(layout, node, lead_ms).unwrap()
}

struct Space {
    layout: Layout,
    leads_ms: Vec<u64>,
    words: Vec<u64>,
    windows: Vec<Window>,
    nows_ms: Vec<u64>,
}

/// Every word and some that no machine makes, every window and reading from before the epoch to after the end, and a few leads.
fn complete(epoch_ms: u64, tick_ms: u64, fields: &[Field]) -> Space {
    let layout = Layout::new(LayoutSpec { epoch_ms, tick_ms, unsigned: true, fields: fields.to_vec() }).unwrap();
    let (ticks, sequences) = (1 << bits(&layout, FieldKind::Time), 1 << bits(&layout, FieldKind::Sequence));
    let positions: u64 = ticks * sequences;
    let end_ms = epoch_ms + ticks * tick_ms;
    let times = || (epoch_ms.saturating_sub(2)..=end_ms + 2).chain([u64::MAX]);
    Space {
        leads_ms: vec![0, 1, tick_ms, u64::MAX],
        words: (0..=positions + 1).chain([u64::MAX - 1, u64::MAX]).collect(),
        windows: times().flat_map(|from_ms| times().map(move |until_ms| Window { from_ms, until_ms })).collect(),
        nows_ms: times().collect(),
        layout,
    }
}

fn spaces() -> Vec<Space> {
    let [time, sequence, node] = [Field::time, Field::sequence, Field::node];
    vec![
        complete(0, 1, &[time(2), sequence(2)]),
        complete(3, 3, &[node(3), time(2), sequence(1)]),
        complete(2, 2, &[sequence(1), time(3), node(2)]),
        complete(7, 5, &[sequence(3), node(1), time(1)]),
    ]
}

#[test]
fn on_small_layouts_every_answer_of_the_line_is_the_machines() {
    let answers = check(&spaces(), |call: Call<'_>| call.next()).unwrap();
    assert!(answers > 10_000, "{answers}");
    assert_eq!(check(&spaces(), |call: Call<'_>| call.by_fast_path()), Ok(answers));
}

/// A line that breaks one rule.
type Mutant = (&'static str, fn(Call) -> Option<(u64, u64)>);

const MUTANTS: &[Mutant] = &[
    ("one more word", |call| Call { word: call.word.saturating_sub(1), ..call }.next()),
    ("one word less", |call| Call { word: call.word.saturating_add(1), ..call }.next()),
    ("any word", |call| Call { word: 0, ..call }.next()),
    ("the start of the window is not checked", |call| Call { window: Window { from_ms: 0, ..call.window }, ..call }.next()),
    ("the end of the window is not checked", |call| Call { window: Window::since(call.window.from_ms), ..call }.next()),
    ("a tick may begin a millisecond before the window", |call| {
        Call { window: Window { from_ms: call.window.from_ms.saturating_sub(1), ..call.window }, ..call }.next()
    }),
    ("a tick may end a millisecond after the window", |call| {
        Call { window: Window { until_ms: call.window.until_ms.saturating_add(1), ..call.window }, ..call }.next()
    }),
    ("the time field has a tick more", |call| {
        Call { line: Line { end_ms: call.line.end_ms + call.line.tick_ms, ..call.line }, ..call }.next()
    }),
    ("the time field has a tick less", |call| {
        Call { line: Line { end_ms: call.line.end_ms - call.line.tick_ms, ..call.line }, ..call }.next()
    }),
    ("the clock is a millisecond ahead", |call| Call { now_ms: call.now_ms.saturating_add(1), ..call }.next()),
    ("the word stays at the first of the tick", |call| call.next().map(|(word, id)| (word - 1, id))),
    ("the ID has no node id", |call| Call { line: Line { node_low: 0.0, node_high: 0.0, ..call.line }, ..call }.next()),
    ("the ID is shifted by a bit more", |call| {
        Call { line: Line { id_step: 2.0 * call.line.id_step, ..call.line }, ..call }.next()
    }),
];

/// Fast paths that break one.
const FAST_MUTANTS: &[Mutant] = &[
    ("one more word", |call| Call { word: call.word.saturating_sub(1), ..call }.by_fast_path()),
    ("one word less", |call| Call { word: call.word.saturating_add(1), ..call }.by_fast_path()),
    ("the start of the window is not checked", |call| {
        Call { window: Window { from_ms: 0, ..call.window }, ..call }.by_fast_path()
    }),
    ("the end of the window is not checked", |call| Call { window: Window::since(call.window.from_ms), ..call }.by_fast_path()),
    ("a tick may end a millisecond after the window", |call| {
        Call { window: Window { until_ms: call.window.until_ms.saturating_add(1), ..call.window }, ..call }.by_fast_path()
    }),
    ("the clock is a millisecond ahead", |call| Call { now_ms: call.now_ms.saturating_add(1), ..call }.by_fast_path()),
    ("the word stays at the first of the tick", |call| call.by_fast_path().map(|(word, id)| (word - 1, id))),
];

#[test]
fn a_line_that_breaks_a_rule_is_caught() {
    for (name, next) in MUTANTS.iter().chain(FAST_MUTANTS) {
        assert!(check(&spaces(), next).is_err(), "{name}: not detected");
    }
}

#[test]
fn there_is_no_line_where_more_than_the_word_and_the_window_decides_or_a_time_is_not_exact() {
    let of = |tick_ms, fields: &[Field]| {
        let layout = Layout::new(LayoutSpec { epoch_ms: 5, tick_ms, unsigned: false, fields: fields.to_vec() }).unwrap();
        Machine::new(&layout, Node::None, 0).unwrap()
    };
    let plain = [Field::time(4), Field::sequence(4)];
    assert!(Line::of(&of(1, &plain)).is_some());
    for start in [SequenceStart::Random, SequenceStart::Wrap] {
        assert_eq!(Line::of(&of(1, &plain).starting(start, Key::new(1, 2))), None);
    }
    let with_clock_ids = of(1, &[Field::time(4), Field::clock(1), Field::sequence(4)]);
    assert_eq!((Line::of(&with_clock_ids), with_clock_ids.fast_path().first_id(0, Window::OPEN, 9)), (None, None));
    // Of two ticks the last ends at 5 + 2 * tick_ms, and its last millisecond is to be a safe integer.
    let widest = (1 << 52) - 3;
    let two = [Field::time(1), Field::sequence(4)];
    assert!(Line::of(&of(widest, &two)).is_some());
    assert_eq!(Line::of(&of(widest + 1, &two)), None);
}

/// Layouts of any width.
fn layout() -> impl Strategy<Value = Layout> {
    let nodes = prop::collection::vec(1..=16_u32, 0..=2);
    let tick_ms = prop_oneof![3 => Just(1), 1 => Just(10), 2 => 1..=100_000_u64, 1 => 1..=1_u64 << 53];
    (1..=63_u32, 1..=63_u32, nodes, 0..=4_000_000_000_000_u64, tick_ms, any::<bool>())
        .prop_flat_map(|(time, sequence, nodes, epoch_ms, tick_ms, unsigned)| {
            let parts = nodes.into_iter().enumerate().map(|(at, bits)| Field::part(format!("p{at}"), bits));
            let fields: Vec<Field> = [Field::time(time), Field::sequence(sequence)].into_iter().chain(parts).collect();
            (Just(fields).prop_shuffle(), Just(epoch_ms), Just(tick_ms), Just(unsigned))
        })
        .prop_filter_map("no layout", |(fields, epoch_ms, tick_ms, unsigned)| {
            Layout::new(LayoutSpec { epoch_ms, tick_ms, unsigned, fields }).ok()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, failure_persistence: None, max_local_rejects: 4_000_000, ..ProptestConfig::default() })]

    #[test]
    fn on_all_layouts_every_answer_of_the_line_is_the_machines(
        layout in layout(),
        lead_ms in prop_oneof![Just(0), 0..=1000_u64],
        tick in prop_oneof![2 => any::<u64>(), 1 => 0..=2_u64, 1 => (0..=2_u64).prop_map(|less| u64::MAX - less)],
        into_ms in prop_oneof![Just(0), any::<u64>(), Just(u64::MAX)],
        word_off in prop_oneof![-2..=2_i64, any::<i64>()],
        window_offs in prop::array::uniform2(prop_oneof![3 => -2..=2_i64, 1 => any::<i64>()]),
        is_open in any::<bool>(),
    ) {
        let machine = machine(&layout, lead_ms);
        let LayoutSpec { epoch_ms, tick_ms, .. } = layout.spec();
        let last = u64::MAX >> (64 - bits(&layout, FieldKind::Time));
        let Some(line) = Line::of(&machine) else {
            prop_assert!(u128::from(epoch_ms) + (u128::from(last) + 1) * u128::from(tick_ms) >= 1 << 53);
            return Ok(());
        };
        let tick = if last == u64::MAX { tick } else { tick % (last + 1) };
        let starts_ms = epoch_ms + tick * tick_ms;
        let word = (tick << bits(&layout, FieldKind::Sequence)).wrapping_add_signed(word_off);
        let window = if is_open { Window::OPEN } else {
            Window {
                from_ms: starts_ms.saturating_add_signed(window_offs[0]),
                until_ms: (starts_ms + tick_ms).saturating_add_signed(window_offs[1]),
            }
        };
        for now_ms in [starts_ms + into_ms % tick_ms, starts_ms + tick_ms - 1, starts_ms.saturating_sub(1), starts_ms + tick_ms] {
            let call = Call { machine: &machine, line, word, window, now_ms, layout: &layout };
            prop_assert_eq!(call.next(), call.expected(), "{:?}", call);
            prop_assert_eq!(call.by_fast_path(), call.expected(), "{:?}", call);
            // A clock may show fractions, which count to the millisecond.
            #[expect(clippy::cast_precision_loss, reason = "below 2^53, and then rounded as a clock's")]
            let fraction = now_ms as f64 + 0.999_999;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as `millisecond_of`")]
            let whole = fraction as u64;
            prop_assert_eq!(line.next(word, window, fraction), Call { now_ms: whole, ..call }.expected(), "{:?}", call);
        }
    }
}
