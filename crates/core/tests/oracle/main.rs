//! Random layouts, clocks and calls compared with the model (`crates/reference`), and the properties that the docs claim.
//!
//! `PROPTEST_CASES` sets the number of cases of each property.
#![allow(clippy::unwrap_used, reason = "a property that cannot be set up has failed")]

use frazil::layout::{Field, LayoutSpec};
use frazil::mint::SequenceStart;
use frazil::{Layout, Node};
use frazil_reference::Kind;
use proptest::prelude::*;

mod generator;
mod layouts;
mod machine;
#[path = "../model/mod.rs"]
mod model;

fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(default);
    ProptestConfig { cases, failure_persistence: None, max_local_rejects: cases.saturating_mul(100), ..ProptestConfig::default() }
}

/// How many values the fields of a kind have together; 1 if there is no such field.
fn count(layout: &Layout, kind: Kind) -> u64 {
    model::layout(layout).count(kind).try_into().unwrap()
}

/// The lowest node id of a layout.
fn lowest_node(layout: &Layout) -> Node<'_> {
    if count(layout, Kind::Node) == 1 { Node::None } else { Node::Id(0) }
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

fn start() -> impl Strategy<Value = SequenceStart> {
    prop_oneof![3 => Just(SequenceStart::Zero), 1 => Just(SequenceStart::Random), 1 => Just(SequenceStart::Wrap)]
}
