//! Scripts in which the clock goes forward, or jitters within the lead: ticks of 1 ms, and longer ticks.

use serde_json::Value;

use super::script::{IDS, MAX_WANT, Script, T, YEAR_MS, issued, refused};
use crate::model::errors::{CLOCK_BACKWARD, SEQUENCE_EXHAUSTED};
use crate::vectors::test_layouts::test_layout;

pub(super) fn ticks() -> Vec<Value> {
    vec![
        Script::new("normal ticks", "Every tick starts its sequence at 0.").steps(&[
            issued(T, 1),
            issued(T + 1, 1),
            issued(T + 2, 1),
            issued(T + 10, 1),
            issued(T + 1000, 1),
            issued(T + YEAR_MS, 1),
        ]),
        Script::new("many in a tick", "Within a tick the sequence goes on, whatever the size of the requests.").steps(&[
            issued(T, 1),
            issued(T, 1),
            issued(T, 100),
            issued(T, 1),
            issued(T, 1000),
            issued(T + 1, 2),
            issued(T + 1, 1),
        ]),
        Script::new("a confirmed call issues as any other", "").steps(&[(T, 3, true, IDS), (T + 1, 1, true, IDS)]),
        Script::new(
            "a clock that jitters within the lead",
            "Small steps back are lead: the sequence of the latest tick goes on.",
        )
        .steps(&[
            issued(T + 3, 2),
            issued(T, 2),
            issued(T + 4, 2),
            issued(T + 1, 2),
            issued(T + 4, 2),
            issued(T + 3, 2),
            issued(T + 5, 2),
        ]),
        Script::new(
            "far ahead and back",
            "A clock that was a year ahead for one call stalls the generator for that year, less the lead.",
        )
        .steps(
            &[
                &[issued(T, 1), issued(T + YEAR_MS, 1)][..],
                &refused(T + 1, CLOCK_BACKWARD),
                &refused(T + YEAR_MS - 11, CLOCK_BACKWARD),
                &[issued(T + YEAR_MS - 10, 1)],
            ]
            .concat(),
        ),
    ]
}

pub(super) fn long_ticks() -> Vec<Value> {
    let sonyflake_ms = 1_409_529_600_000 + 1_000_000;
    let start_ms = test_layout("ticks of 7 ms").layout.start_ms(1000);
    vec![
        Script::new("ticks of 10 ms", "All times within a tick are one time.").layout("sonyflake", Some(1051)).steps(&[
            issued(sonyflake_ms, 1),
            issued(sonyflake_ms + 1, 1),
            issued(sonyflake_ms + 9, 1),
            issued(sonyflake_ms + 10, 1),
            issued(sonyflake_ms + 25, 1),
        ]),
        Script::new("a step back within a tick", "Not even lead: the tick has already begun.")
            .layout("sonyflake", Some(7))
            .max_lead_ms(0)
            .steps(
                &[
                    &[issued(sonyflake_ms + 9, 1), issued(sonyflake_ms, 1)][..],
                    &refused(sonyflake_ms - 1, CLOCK_BACKWARD),
                    &refused(sonyflake_ms - 10, CLOCK_BACKWARD),
                    &[issued(sonyflake_ms, 1)],
                ]
                .concat(),
            ),
        Script::new("a step back over the edge of a tick of 10 ms", "The lead counts from the start of the tick.")
            .layout("sonyflake", Some(7))
            .steps(
                &[
                    &[issued(sonyflake_ms + 9, 1), issued(sonyflake_ms - 1, 1), issued(sonyflake_ms - 10, 1)][..],
                    &refused(sonyflake_ms - 11, CLOCK_BACKWARD),
                    &[issued(sonyflake_ms + 10, 1)],
                ]
                .concat(),
            ),
        Script::new("sequence full in a tick of 10 ms", "The next tick can be borrowed once its start is within the lead.")
            .layout("sonyflake", Some(7))
            .max_lead_ms(5)
            .steps(
                &[
                    &[issued(sonyflake_ms, 256)][..],
                    &refused(sonyflake_ms, SEQUENCE_EXHAUSTED),
                    &refused(sonyflake_ms + 4, SEQUENCE_EXHAUSTED),
                    &[issued(sonyflake_ms + 5, 256)],
                    &refused(sonyflake_ms + 5, SEQUENCE_EXHAUSTED),
                    &refused(sonyflake_ms + 10, SEQUENCE_EXHAUSTED),
                ]
                .concat(),
            ),
        Script::new("sequence full in a tick of 10 ms without lead", "").layout("sonyflake", Some(7)).max_lead_ms(0).steps(
            &[
                &[issued(sonyflake_ms + 3, 300)][..],
                &refused(sonyflake_ms + 3, SEQUENCE_EXHAUSTED),
                &refused(sonyflake_ms + 9, SEQUENCE_EXHAUSTED),
                &[issued(sonyflake_ms + 10, 1)],
            ]
            .concat(),
        ),
        Script::new("ticks of 1 s, borrowed", "A lead of a second is one tick.")
            .layout("ticks of 1 s", Some(65_535))
            .max_lead_ms(1000)
            .steps(
                &[
                    &[issued(T, MAX_WANT); 16][..],
                    &refused(T, SEQUENCE_EXHAUSTED),
                    &refused(T + 999, SEQUENCE_EXHAUSTED),
                    &[issued(T + 1000, 1)],
                ]
                .concat(),
            ),
        Script::new("ticks of 1 s with a small lead", "The next tick is out of reach until its last milliseconds.")
            .layout("ticks of 1 s", Some(7))
            .steps(
                &[
                    &[issued(T + 100, MAX_WANT); 8][..],
                    &refused(T + 100, SEQUENCE_EXHAUSTED),
                    &refused(T + 989, SEQUENCE_EXHAUSTED),
                    &[issued(T + 990, 1)],
                ]
                .concat(),
            ),
        Script::new("ticks of 7 ms", "Nothing is special about tens.").layout("ticks of 7 ms", Some(200)).max_lead_ms(3).steps(
            &[
                &[issued(start_ms + 6, 2), issued(start_ms, 2), issued(start_ms - 3, 2)][..],
                &refused(start_ms - 4, CLOCK_BACKWARD),
                &[issued(start_ms + 7, 256)],
                &refused(start_ms + 10, SEQUENCE_EXHAUSTED),
                &[issued(start_ms + 11, 1)],
            ]
            .concat(),
        ),
    ]
}
