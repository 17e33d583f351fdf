//! The states and calls that are tried.

use frazil::Layout;
use frazil::layout::{Field, FieldKind, LayoutSpec};
use frazil::mint::{SequenceStart, Window};
use frazil_reference::Kind;

use crate::word::USED_UP;
use crate::{MAX_WALK, model};

/// The states and calls of one layout: all combinations of these values.
#[derive(Clone)]
pub(crate) struct Space {
    pub(crate) layout: Layout,
    pub(crate) starts: Vec<SequenceStart>,
    pub(crate) leads_ms: Vec<u64>,
    pub(crate) words: Vec<u64>,
    /// The values of each cell.
    pub(crate) cells: Vec<u64>,
    pub(crate) windows: Vec<Window>,
    pub(crate) nows_ms: Vec<u64>,
    pub(crate) wants: Vec<usize>,
}

impl Space {
    pub(crate) fn clocks(&self) -> usize {
        let clock = self.layout.fields().iter().find(|field| field.kind == FieldKind::Clock);
        clock.map_or(0, |field| 1 << field.bits)
    }

    /// Every combination of cells.
    pub(crate) fn each_cells(&self, mut visit: impl FnMut(&[u64]) -> Result<(), String>) -> Result<(), String> {
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
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (SequenceStart, u64, u64)> {
        let leads = |start| self.leads_ms.iter().map(move |lead_ms| (start, *lead_ms));
        let words = |(start, lead_ms)| self.words.iter().map(move |word| (start, lead_ms, *word));
        self.starts.iter().flat_map(move |start| leads(*start)).flat_map(words)
    }
}

fn layout(epoch_ms: u64, tick_ms: u64, fields: &[Field]) -> Layout {
    Layout::new(LayoutSpec { epoch_ms, tick_ms, unsigned: true, fields: fields.to_vec() }).unwrap()
}

/// How many ticks, clock ids and sequence numbers a layout has.
fn counts(layout: &Layout) -> [u64; 3] {
    let layout = model::layout(layout);
    [Kind::Time, Kind::Clock, Kind::Sequence].map(|kind| layout.count(kind).try_into().unwrap())
}

/// Everything for a small layout: every word and some invalid ones, every tick in every cell, every window from before the
/// epoch to after the end, every clock reading, every lead that makes a difference, and every want.
pub(crate) fn complete_space(epoch_ms: u64, tick_ms: u64, fields: &[Field]) -> Space {
    let layout = layout(epoch_ms, tick_ms, fields);
    let [ticks, clocks, sequences] = counts(&layout);
    let positions = ticks * clocks * sequences;
    let end_ms = epoch_ms + ticks * tick_ms;
    let times = || (epoch_ms.saturating_sub(1)..=end_ms + 1).chain([u64::MAX]);
    let windows = times().flat_map(|from_ms| times().map(move |until_ms| Window { from_ms, until_ms }));
    let wants = (0..).take(usize::try_from(positions).unwrap() + 2);
    Space {
        starts: SequenceStart::ALL.to_vec(),
        leads_ms: (0..=end_ms - epoch_ms).chain([u64::MAX]).collect(),
        words: (0..=positions + 1).chain([USED_UP - 1, USED_UP]).collect(),
        cells: (0..=ticks).collect(),
        windows: windows.collect(),
        nows_ms: times().collect(),
        wants: wants.chain([usize::MAX]).collect(),
        layout,
    }
}

/// The smallest spaces, for the mutants and for builds without optimisation.
pub(crate) fn smallest() -> Vec<Space> {
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
pub(crate) fn complete_spaces() -> Vec<(&'static str, Vec<Space>)> {
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
pub(crate) fn ten_bits() -> Vec<(&'static str, Vec<Space>)> {
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
pub(crate) fn edges() -> Vec<(&'static str, Vec<Space>)> {
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
    let [ticks, clocks, sequences] = counts(&layout);
    let pairs = ticks * clocks;
    let positions = u128::from(pairs) * u128::from(sequences);
    let starts = (pairs - 3 * clocks..=pairs).map(|pair| u128::from(pair) * u128::from(sequences));
    let words = starts.flat_map(|start| start - 4..=start + 4).filter(|word| *word <= positions + 1);
    let words = words.map(|word| u64::try_from(word).unwrap_or(USED_UP)).chain([0, USED_UP]);
    let end_ms = ticks + 1;
    let times = || (end_ms - 5..=end_ms + 1).chain([u64::MAX]);
    let windows = times().flat_map(|from_ms| times().map(move |until_ms| Window { from_ms, until_ms }));
    Space {
        starts: SequenceStart::ALL.to_vec(),
        leads_ms: vec![0, 1, 2, 3, 1000, u64::MAX],
        words: words.collect(),
        cells: vec![0, ticks - 2, ticks - 1, ticks],
        windows: windows.chain([Window::OPEN]).collect(),
        nows_ms: times().collect(),
        wants: vec![1, 2, 3, 4, 5, 8, 9, 100, MAX_WALK, usize::MAX],
        layout,
    }
}
