//! Scripts with a known start of the process: nothing is issued that a previous process with the node id can have issued.

use serde_json::Value;

use super::script::{MAX_WANT, Script, T, issued, last_ms, refused};
use crate::model::errors::{CLOCK_BACKWARD, CLOCK_BEFORE_EPOCH, SEQUENCE_EXHAUSTED, TIME_EXHAUSTED};

pub(super) fn scripts() -> Vec<Value> {
    let sonyflake_ms = 1_409_529_600_000 + 1_000_000;
    let epoch_ms = T - 86_400_000;
    vec![
        Script::new(
            "a start, ticks of 1 ms",
            "A predecessor that stopped at the start can have issued up to its lead, that tick included.",
        )
        .start_ms(T)
        .steps(
            &[
                &refused(T, CLOCK_BACKWARD)[..],
                &refused(T + 5, CLOCK_BACKWARD),
                &refused(T + 10, CLOCK_BACKWARD),
                &[issued(T + 11, 1), issued(T + 11, 1)],
            ]
            .concat(),
        ),
        Script::new("a start without lead", "The tick of the start itself may be the predecessor's.")
            .start_ms(T)
            .max_lead_ms(0)
            .steps(&[&refused(T, CLOCK_BACKWARD)[..], &[issued(T + 1, MAX_WANT)], &refused(T + 1, SEQUENCE_EXHAUSTED)].concat()),
        Script::new("a start with the largest lead", "")
            .start_ms(T)
            .max_lead_ms(1000)
            .steps(&[&refused(T, CLOCK_BACKWARD)[..], &refused(T + 1000, CLOCK_BACKWARD), &[issued(T + 1001, 1)]].concat()),
        Script::new("a start, ticks of 10 ms", "The first tick that begins after the start and the lead.")
            .layout("sonyflake", Some(7))
            .start_ms(sonyflake_ms + 3)
            .steps(
                &[
                    &refused(sonyflake_ms + 3, CLOCK_BACKWARD)[..],
                    &refused(sonyflake_ms + 13, CLOCK_BACKWARD),
                    &refused(sonyflake_ms + 19, CLOCK_BACKWARD),
                    &[issued(sonyflake_ms + 20, 1)],
                ]
                .concat(),
            ),
        Script::new(
            "a start at the edge of a tick of 10 ms",
            "A predecessor can have issued the tick that begins exactly at the end of its lead.",
        )
        .layout("sonyflake", Some(7))
        .start_ms(sonyflake_ms)
        .steps(
            &[
                &refused(sonyflake_ms + 10, CLOCK_BACKWARD)[..],
                &refused(sonyflake_ms + 19, CLOCK_BACKWARD),
                &[issued(sonyflake_ms + 20, 1)],
            ]
            .concat(),
        ),
        Script::new("a start, ticks of 1 s", "")
            .layout("ticks of 1 s", Some(7))
            .start_ms(T + 500)
            .steps(&[&refused(T + 500, CLOCK_BACKWARD)[..], &refused(T + 999, CLOCK_BACKWARD), &[issued(T + 1000, 1)]].concat()),
        Script::new("a start, ticks of 1 s and the largest lead", "")
            .layout("ticks of 1 s", Some(7))
            .max_lead_ms(1000)
            .start_ms(T + 500)
            .steps(&[&refused(T + 500, CLOCK_BACKWARD)[..], &refused(T + 1999, CLOCK_BACKWARD), &[issued(T + 2000, 1)]].concat()),
        Script::new("a start before the epoch", "A predecessor that could not reach the epoch issued nothing.")
            .start_ms(epoch_ms - 11)
            .steps(&[&refused(epoch_ms - 1, CLOCK_BEFORE_EPOCH)[..], &[issued(epoch_ms, 1)]].concat()),
        Script::new("a start whose lead ends at the epoch", "Tick 0 may be the predecessor's.")
            .start_ms(epoch_ms - 10)
            .steps(&[&refused(epoch_ms, CLOCK_BACKWARD)[..], &[issued(epoch_ms + 1, 1)]].concat()),
        Script::new(
            "a clock that falls behind the start",
            "The bound of the start holds later too, though it be within the lead.",
        )
        .start_ms(T)
        .steps(
            &[&[issued(T + 11, 1)][..], &refused(T + 10, CLOCK_BACKWARD), &refused(T + 1, CLOCK_BACKWARD), &[issued(T + 11, 1)]]
                .concat(),
        ),
        Script::new(
            "a start whose lead ends beyond the time field",
            "There is nothing to wait for: no millisecond is left to mint in.",
        )
        .start_ms(last_ms("default") - 5)
        .steps(&refused(last_ms("default"), TIME_EXHAUSTED)),
        Script::new("behind the start and beyond the lead", "Both bounds have to be met: the later one counts.")
            .start_ms(T)
            .steps(
                &[
                    &[issued(T + 500, 1)][..],
                    &refused(T, CLOCK_BACKWARD),
                    &refused(T + 11, CLOCK_BACKWARD),
                    &refused(T + 489, CLOCK_BACKWARD),
                    &[issued(T + 490, 1)],
                ]
                .concat(),
            ),
        Script::new("an unknown start", "Nothing to wait for.").steps(&[issued(T, 1)]),
    ]
}
