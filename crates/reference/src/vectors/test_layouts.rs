//! The layouts that the vectors are about: every named layout, and custom ones at the limits of the rules.

use crate::model::layout::{Field, Kind, Layout, clock, named_layouts, node, part, sequence, time};

/// A layout and the name by which the vectors refer to it.
pub(super) struct TestLayout {
    pub(super) name: &'static str,
    pub(super) layout: Layout,
}

/// A name of 32 characters, the most that are allowed, with every kind of character that is not a letter.
const LONGEST_NAME: &str = "abcdefghijklmnopqrstuvwxyz-_0189";

/// Layouts at the limits of the rules. None of them has a name in the library.
pub(super) fn custom_layouts() -> Vec<(&'static str, Layout)> {
    let row = |name, epoch_ms, tick_ms, unsigned, fields: &[Field]| {
        (name, Layout { epoch_ms, tick_ms, unsigned, fields: fields.to_vec() })
    };
    vec![
        row("node first", 1_704_067_200_000, 1, false, &[node(10), time(41), sequence(12)]),
        row("sequence above time", 1_704_067_200_000, 1, false, &[node(10), sequence(12), time(41)]),
        row("sequence on top, unsigned", 0, 1, true, &[sequence(14), time(50)]),
        row("node split by time", 1_704_067_200_000, 1, false, &[part("a", 3), time(40), part("b", 4), sequence(8)]),
        row("node split in three", 1, 1, false, &[part("hi", 2), time(41), part("mid", 3), sequence(10), part("lo", 4)]),
        row("node parts in a row above time", 5, 1, false, &[part("x", 5), part("y", 6), time(41), sequence(9)]),
        row("node last", 1_704_067_200_000, 1, false, &[time(41), sequence(12), node(10)]),
        row("one bit of sequence", 1_704_067_200_000, 1, false, &[time(41), node(10), sequence(1)]),
        row("one bit of everything", 0, 1, false, &[time(1), node(1), clock(1), sequence(1)]),
        row("clock above time", 1_704_067_200_000, 1, false, &[clock(3), time(41), node(6), sequence(10)]),
        row("clock below sequence", 1_704_067_200_000, 1, false, &[time(41), node(6), sequence(10), clock(3)]),
        row("clock next to sequence", 1_704_067_200_000, 1, false, &[time(41), node(6), clock(8), sequence(8)]),
        row("two clock ids", 1_704_067_200_000, 1, false, &[time(41), clock(1), node(2), sequence(2)]),
        row("clock ids and ticks of 10 ms", 1_704_067_200_000, 10, false, &[time(39), clock(2), node(8), sequence(3)]),
        row("sequence of 1 bit", 1_704_067_200_000, 1, false, &[time(41), node(4), sequence(1)]),
        row("sequence of 2 bits", 1_704_067_200_000, 1, false, &[time(41), node(4), sequence(2)]),
        row("sequence of 3 bits", 1_704_067_200_000, 1, false, &[time(41), node(4), sequence(3)]),
        row("clock without node", 1_704_067_200_000, 1, false, &[time(41), clock(4), sequence(10)]),
        row("ticks of 10 ms", 1_704_067_200_000, 10, false, &[time(39), node(12), sequence(12)]),
        row("ticks of 1 s", 1_704_067_200_000, 1000, false, &[time(32), node(16), sequence(15)]),
        row("ticks of 7 ms", 1_704_067_200_003, 7, false, &[time(38), node(8), sequence(8)]),
        row("unsigned, node on top", 1_704_067_200_000, 1, true, &[node(10), time(42), sequence(12)]),
        row("unsigned, sequence on top", 1_704_067_200_000, 1, true, &[sequence(12), time(42), node(10)]),
        row("unsigned, clock on top", 1_704_067_200_000, 1, true, &[clock(2), time(42), node(8), sequence(12)]),
        row("unsigned, no node", 0, 1, true, &[time(50), clock(2), sequence(12)]),
        row("63 bits, no node", 0, 1, false, &[time(51), sequence(12)]),
        row("tiny", 0, 1, false, &[time(4), sequence(2)]),
        row("tiny with node", 1_000_000, 3, false, &[time(4), node(2), sequence(2)]),
        row("wide sequence", 1_704_067_200_000, 1, false, &[time(40), node(1), sequence(22)]),
        row("widest sequence", 0, 1_000_000, false, &[time(10), sequence(53)]),
        row("widest node", 1_704_067_200_000, 1000, true, &[time(24), node(32), sequence(8)]),
        row("longest name of a node part", 0, 1, false, &[time(41), part(LONGEST_NAME, 3), part("Z", 2), sequence(12)]),
        row("32 node parts of one bit", 0, 60_000, false, &[&[time(25)][..], &one_bit_parts(), &[sequence(6)]].concat()),
        row(
            "last tick ends with the last Date",
            8_640_000_000_000_000 - ((1 << 41) - 1),
            1,
            false,
            &[time(41), node(10), sequence(12)],
        ),
        row("widest time", 0, 1, false, &[time(52), sequence(11)]),
    ]
}

/// 32 node parts of one bit, `p0` to `p31`.
fn one_bit_parts() -> Vec<Field> {
    const NAMES: [&str; 32] = [
        "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15", "p16", "p17",
        "p18", "p19", "p20", "p21", "p22", "p23", "p24", "p25", "p26", "p27", "p28", "p29", "p30", "p31",
    ];
    NAMES.iter().map(|name| part(name, 1)).collect()
}

pub(super) fn test_layouts() -> Vec<TestLayout> {
    named_layouts().into_iter().chain(custom_layouts()).map(|(name, layout)| TestLayout { name, layout }).collect()
}

/// The layout of this name; this crate uses no other name.
pub(super) fn test_layout(name: &str) -> TestLayout {
    test_layouts().into_iter().find(|test| test.name == name).unwrap_or_else(|| unreachable!("no layout is called {name}"))
}

/// Values around the middle of each field: tick, node, clock, sequence.
pub(super) fn middle_values(layout: &Layout) -> [u128; 4] {
    let max = |kind| layout.count(kind) - 1;
    [max(Kind::Time) / 3, max(Kind::Node) * 2 / 3, max(Kind::Clock) / 2, max(Kind::Sequence) / 3]
}
