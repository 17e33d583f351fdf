//! Scripts for layouts with fields in other places, and of other widths, than the default; and for each named layout.

use serde_json::Value;

use super::script::{FULL, Script, T, issued, refused};
use crate::model::errors::{CLOCK_BACKWARD, SEQUENCE_EXHAUSTED, TIME_EXHAUSTED};
use crate::model::layout::{Kind, Layout, named};
use crate::vectors::test_layouts::subject;

pub(super) fn odd_layouts() -> Vec<Value> {
    let split = |name: &'static str, title, comment| {
        let layout = subject(name).layout;
        Script::new(title, comment).layout(name, layout.has(Kind::Node).then(|| layout.count(Kind::Node) - 2))
    };
    let q = 1_000_000;
    vec![
        Script::new("one bit of sequence", "Two IDs a millisecond.").layout("one bit of sequence", Some(1023)).lead(2).steps(
            &[
                &[issued(T, 1), issued(T, 3), issued(T, 9)][..],
                &refused(T, SEQUENCE_EXHAUSTED),
                &[issued(T + 1, 9), issued(T + 7, 9)],
                &refused(T + 4, CLOCK_BACKWARD),
            ]
            .concat(),
        ),
        split("seata", "node first", "The node's bits lie above the time; the IDs of one node still increase.").lead(1).steps(
            &[&[issued(T, FULL), issued(T, FULL)][..], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, FULL), issued(T + 5, 2)]]
                .concat(),
        ),
        split("sequence above time", "time not on top", "The IDs of a tick are spread; a block still counts the sequence first.")
            .lead(1)
            .steps(
                &[
                    &[issued(T, 3), issued(T, FULL), issued(T, FULL)][..],
                    &refused(T, SEQUENCE_EXHAUSTED),
                    &[issued(T + 1, 2), issued(T + 2, 2)],
                ]
                .concat(),
            ),
        split("node split by time", "node split by time", "")
            .lead(1)
            .steps(&[&[issued(T, 300), issued(T, 300)][..], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, 300)]].concat()),
        split("node split in three", "node split in three", "").lead(1).steps(
            &[&[issued(T, 1000), issued(T, 1000), issued(T, 1000)][..], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, 1)]]
                .concat(),
        ),
        split("node last", "node last", "The sequence counts in steps of the node's width.")
            .lead(0)
            .steps(&[&[issued(T, 3), issued(T, FULL)][..], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, 3)]].concat()),
        split("unsigned, node on top", "an unsigned layout with the node on top", "").steps(&[
            issued(T, 3),
            issued(T, FULL),
            issued(T + 3, 1),
        ]),
        split("unsigned, sequence on top", "an unsigned layout with the sequence on top", "").steps(&[
            issued(T, 3),
            issued(T, FULL),
            issued(T + 3, 1),
        ]),
        split("32 node parts of one bit", "32 node parts", "").lead(0).steps(
            &[&[issued(T, 40), issued(T, 40)][..], &refused(T + 59_999, SEQUENCE_EXHAUSTED), &[issued(T + 60_000, 1)]].concat(),
        ),
        split("widest sequence", "a sequence of 53 bits", "").lead(0).steps(&[
            issued(q, FULL),
            issued(q + 999_999, FULL),
            issued(2 * q, 1),
        ]),
        split("wide sequence", "a sequence of 22 bits", "").steps(&[
            issued(T, FULL),
            issued(T, FULL),
            issued(T - 10, FULL),
            issued(T + 1, 1),
        ]),
        split("widest node", "a node of 32 bits", "")
            .lead(0)
            .steps(&[&[issued(T, 300)][..], &refused(T + 999, SEQUENCE_EXHAUSTED), &[issued(T + 1000, 1)]].concat()),
        split("last tick ends with the last Date", "the last tick of a Date", "").steps(
            &[
                &[issued(8_639_999_999_999_999, 1), issued(8_640_000_000_000_000, 1)][..],
                &refused(8_640_000_000_000_001, TIME_EXHAUSTED),
            ]
            .concat(),
        ),
    ]
}

pub(super) fn every_named_layout() -> Vec<Value> {
    let script = |(name, layout): (&'static str, Layout)| {
        let node = layout.has(Kind::Node).then(|| layout.count(Kind::Node) - 1);
        // Some tick in the first year, for a layout whose time has ended by now too.
        let at = layout.start_ms(123_456) + layout.tick_ms / 2;
        let full = usize::try_from(layout.ids_per_tick()).unwrap_or(FULL).min(FULL);
        Script::new(&format!("mints in {name}"), "").layout(name, node).lead(0).steps(&[
            issued(at, 1),
            issued(at, full - 1),
            issued(at + layout.tick_ms, 2),
            issued(at + 5 * layout.tick_ms, 1),
        ])
    };
    named().into_iter().map(script).collect()
}
