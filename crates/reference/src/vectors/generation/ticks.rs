//! Scripts of ticks that follow each other: of one millisecond, and of more.

use serde_json::Value;

use super::script::{FULL, IDS, Script, T, YEAR, issued, refused};
use crate::model::errors::{CLOCK_BACKWARD, SEQUENCE_EXHAUSTED};
use crate::vectors::test_layouts::subject;

pub(super) fn ticks() -> Vec<Value> {
    vec![
        Script::new("normal ticks", "Every tick starts its sequence at 0.").steps(&[
            issued(T, 1),
            issued(T + 1, 1),
            issued(T + 2, 1),
            issued(T + 10, 1),
            issued(T + 1000, 1),
            issued(T + YEAR, 1),
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
                &[issued(T, 1), issued(T + YEAR, 1)][..],
                &refused(T + 1, CLOCK_BACKWARD),
                &refused(T + YEAR - 11, CLOCK_BACKWARD),
                &[issued(T + YEAR - 10, 1)],
            ]
            .concat(),
        ),
    ]
}

pub(super) fn long_ticks() -> Vec<Value> {
    let sony = 1_409_529_600_000 + 1_000_000;
    let odd = subject("ticks of 7 ms").layout.start_ms(1000);
    vec![
        Script::new("ticks of 10 ms", "All times within a tick are one time.").layout("sonyflake", Some(1051)).steps(&[
            issued(sony, 1),
            issued(sony + 1, 1),
            issued(sony + 9, 1),
            issued(sony + 10, 1),
            issued(sony + 25, 1),
        ]),
        Script::new("a step back within a tick", "Not even lead: the tick has already begun.")
            .layout("sonyflake", Some(7))
            .lead(0)
            .steps(
                &[
                    &[issued(sony + 9, 1), issued(sony, 1)][..],
                    &refused(sony - 1, CLOCK_BACKWARD),
                    &refused(sony - 10, CLOCK_BACKWARD),
                    &[issued(sony, 1)],
                ]
                .concat(),
            ),
        Script::new("a step back over the edge of a tick of 10 ms", "The lead counts from the start of the tick.")
            .layout("sonyflake", Some(7))
            .steps(
                &[
                    &[issued(sony + 9, 1), issued(sony - 1, 1), issued(sony - 10, 1)][..],
                    &refused(sony - 11, CLOCK_BACKWARD),
                    &[issued(sony + 10, 1)],
                ]
                .concat(),
            ),
        Script::new("sequence full in a tick of 10 ms", "The next tick can be borrowed once its start is within the lead.")
            .layout("sonyflake", Some(7))
            .lead(5)
            .steps(
                &[
                    &[issued(sony, 256)][..],
                    &refused(sony, SEQUENCE_EXHAUSTED),
                    &refused(sony + 4, SEQUENCE_EXHAUSTED),
                    &[issued(sony + 5, 256)],
                    &refused(sony + 5, SEQUENCE_EXHAUSTED),
                    &refused(sony + 10, SEQUENCE_EXHAUSTED),
                ]
                .concat(),
            ),
        Script::new("sequence full in a tick of 10 ms without lead", "").layout("sonyflake", Some(7)).lead(0).steps(
            &[
                &[issued(sony + 3, 300)][..],
                &refused(sony + 3, SEQUENCE_EXHAUSTED),
                &refused(sony + 9, SEQUENCE_EXHAUSTED),
                &[issued(sony + 10, 1)],
            ]
            .concat(),
        ),
        Script::new("ticks of 1 s, borrowed", "A lead of a second is one tick.")
            .layout("ticks of 1 s", Some(65_535))
            .lead(1000)
            .steps(
                &[
                    &[issued(T, FULL); 16][..],
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
                    &[issued(T + 100, FULL); 8][..],
                    &refused(T + 100, SEQUENCE_EXHAUSTED),
                    &refused(T + 989, SEQUENCE_EXHAUSTED),
                    &[issued(T + 990, 1)],
                ]
                .concat(),
            ),
        Script::new("ticks of 7 ms", "Nothing is special about tens.").layout("ticks of 7 ms", Some(200)).lead(3).steps(
            &[
                &[issued(odd + 6, 2), issued(odd, 2), issued(odd - 3, 2)][..],
                &refused(odd - 4, CLOCK_BACKWARD),
                &[issued(odd + 7, 256)],
                &refused(odd + 10, SEQUENCE_EXHAUSTED),
                &[issued(odd + 11, 1)],
            ]
            .concat(),
        ),
    ]
}
