//! Scripts for layouts whose fields have another order or width than in the default layout, and for each named layout.

use serde_json::Value;

use super::script::{MAX_WANT, Script, T, issued, refused};
use crate::model::errors::{CLOCK_BACKWARD, SEQUENCE_EXHAUSTED, TIME_EXHAUSTED};
use crate::model::layout::{Kind, Layout, named_layouts};
use crate::vectors::test_layouts::test_layout;

pub(super) fn unusual_layouts() -> Vec<Value> {
    let script_in = |name: &'static str, title, comment| {
        let layout = test_layout(name).layout;
        Script::new(title, comment).layout(name, layout.has(Kind::Node).then(|| layout.count(Kind::Node) - 2))
    };
    let tick_ms = 1_000_000;
    vec![
        Script::new("one bit of sequence", "Two IDs a millisecond.")
            .layout("one bit of sequence", Some(1023))
            .max_lead_ms(2)
            .steps(
                &[
                    &[issued(T, 1), issued(T, 3), issued(T, 9)][..],
                    &refused(T, SEQUENCE_EXHAUSTED),
                    &[issued(T + 1, 9), issued(T + 7, 9)],
                    &refused(T + 4, CLOCK_BACKWARD),
                ]
                .concat(),
            ),
        script_in("seata", "node first", "The node's bits lie above the time; the IDs of one node still increase.")
            .max_lead_ms(1)
            .steps(
                &[
                    &[issued(T, MAX_WANT), issued(T, MAX_WANT)][..],
                    &refused(T, SEQUENCE_EXHAUSTED),
                    &[issued(T + 1, MAX_WANT), issued(T + 5, 2)],
                ]
                .concat(),
            ),
        script_in(
            "sequence above time",
            "time not on top",
            "The IDs of a tick are spread; a block still counts the sequence first.",
        )
        .max_lead_ms(1)
        .steps(
            &[
                &[issued(T, 3), issued(T, MAX_WANT), issued(T, MAX_WANT)][..],
                &refused(T, SEQUENCE_EXHAUSTED),
                &[issued(T + 1, 2), issued(T + 2, 2)],
            ]
            .concat(),
        ),
        script_in("node split by time", "node split by time", "")
            .max_lead_ms(1)
            .steps(&[&[issued(T, 300), issued(T, 300)][..], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, 300)]].concat()),
        script_in("node split in three", "node split in three", "").max_lead_ms(1).steps(
            &[&[issued(T, 1000), issued(T, 1000), issued(T, 1000)][..], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, 1)]]
                .concat(),
        ),
        script_in("node last", "node last", "The sequence counts in steps of the node's width.")
            .max_lead_ms(0)
            .steps(&[&[issued(T, 3), issued(T, MAX_WANT)][..], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, 3)]].concat()),
        script_in("unsigned, node on top", "an unsigned layout with the node on top", "").steps(&[
            issued(T, 3),
            issued(T, MAX_WANT),
            issued(T + 3, 1),
        ]),
        script_in("unsigned, sequence on top", "an unsigned layout with the sequence on top", "").steps(&[
            issued(T, 3),
            issued(T, MAX_WANT),
            issued(T + 3, 1),
        ]),
        script_in("32 node parts of one bit", "32 node parts", "").max_lead_ms(0).steps(
            &[&[issued(T, 40), issued(T, 40)][..], &refused(T + 59_999, SEQUENCE_EXHAUSTED), &[issued(T + 60_000, 1)]].concat(),
        ),
        script_in("widest sequence", "a sequence of 53 bits", "").max_lead_ms(0).steps(&[
            issued(tick_ms, MAX_WANT),
            issued(tick_ms + 999_999, MAX_WANT),
            issued(2 * tick_ms, 1),
        ]),
        script_in("wide sequence", "a sequence of 22 bits", "").steps(&[
            issued(T, MAX_WANT),
            issued(T, MAX_WANT),
            issued(T - 10, MAX_WANT),
            issued(T + 1, 1),
        ]),
        script_in("widest node", "a node of 32 bits", "")
            .max_lead_ms(0)
            .steps(&[&[issued(T, 300)][..], &refused(T + 999, SEQUENCE_EXHAUSTED), &[issued(T + 1000, 1)]].concat()),
        script_in("last tick ends with the last Date", "the last tick of a Date", "").steps(
            &[
                &[issued(8_639_999_999_999_999, 1), issued(8_640_000_000_000_000, 1)][..],
                &refused(8_640_000_000_000_001, TIME_EXHAUSTED),
            ]
            .concat(),
        ),
    ]
}

pub(super) fn each_named_layout() -> Vec<Value> {
    let script = |(name, layout): (&'static str, Layout)| {
        let node = layout.has(Kind::Node).then(|| layout.count(Kind::Node) - 1);
        // A time soon after the epoch, because the time field of a layout can have ended by now.
        let at_ms = layout.start_ms(123_456) + layout.tick_ms / 2;
        let ids_of_tick = usize::try_from(layout.ids_per_tick()).unwrap_or(MAX_WANT).min(MAX_WANT);
        Script::new(&format!("mints in {name}"), "").layout(name, node).max_lead_ms(0).steps(&[
            issued(at_ms, 1),
            issued(at_ms, ids_of_tick - 1),
            issued(at_ms + layout.tick_ms, 2),
            issued(at_ms + 5 * layout.tick_ms, 1),
        ])
    };
    named_layouts().into_iter().map(script).collect()
}
