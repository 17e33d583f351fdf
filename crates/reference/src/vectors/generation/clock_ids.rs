//! Scripts for layouts with a clock field: a full sequence continues under the next clock id, and when the clock goes back, the
//! generator follows it under another clock id.

use serde_json::Value;

use super::script::{IDS, MAX_WANT, RECHECK, Script, Step, T, YEAR_MS, issued, refused, switched};
use crate::model::errors::{CLOCK_BACKWARD, SEQUENCE_EXHAUSTED, TIME_EXHAUSTED};

pub(super) fn scripts() -> Vec<Value> {
    [full_sequences(), switches(), stalls(), unusual_layouts()].concat()
}

fn full_sequences() -> Vec<Value> {
    vec![
        Script::new("a clock field", "A full sequence flows into the next clock id of the same tick: 16 times 1024 IDs.")
            .layout("multi-clock", Some(7))
            .max_lead_ms(0)
            .steps(
                &[&[issued(T, 1000); 2][..], &[issued(T, MAX_WANT); 15], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, 1)]]
                    .concat(),
            ),
        Script::new("a clock field, one by one", "Clock id, then tick.")
            .layout("one bit of everything", Some(1))
            .max_lead_ms(1)
            .steps(&[&[issued(0, 1); 8][..], &refused(0, TIME_EXHAUSTED)].concat()),
        Script::new("a clock field below the sequence", "The sequence counts first, though the clock id is the lower field.")
            .layout("clock below sequence", Some(7))
            .max_lead_ms(0)
            .steps(
                &[
                    &[issued(T, 1023), issued(T, 3)][..],
                    &[issued(T, MAX_WANT); 7],
                    &refused(T, SEQUENCE_EXHAUSTED),
                    &[issued(T + 1, 1)],
                ]
                .concat(),
            ),
        Script::new("a clock field above the time", "A borrowed tick starts with the lowest clock id again.")
            .layout("clock above time", Some(7))
            .max_lead_ms(1)
            .steps(
                &[
                    &[issued(T, 1023), issued(T, 3)][..],
                    &[issued(T, MAX_WANT); 15],
                    &refused(T, SEQUENCE_EXHAUSTED),
                    &[issued(T + 1, 1)],
                ]
                .concat(),
            ),
        Script::new("a clock field of 8 bits", "")
            .layout("clock next to sequence", Some(7))
            .max_lead_ms(0)
            .steps(&[&[issued(T, MAX_WANT); 256][..], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, 1)]].concat()),
    ]
}

fn switches() -> Vec<Value> {
    let multi_clock = |name, comment| Script::new(name, comment).layout("multi-clock", Some(7));
    // Forward to T and back by a second, 15 times: once less than there are clock ids.
    let forward_and_back: Vec<Step> =
        (0..15).flat_map(|_| [vec![issued(T, 1)], switched(T - 1000, 1).to_vec()].concat()).collect();
    vec![
        multi_clock("a clock field and a small step back", "Within the lead, clock ids and sequence of the tick go on.").steps(
            &[&[issued(T, 1020), issued(T - 10, 10), issued(T - 10, 10)][..], &switched(T - 11, 1), &[issued(T - 11, 1)]]
                .concat(),
        ),
        multi_clock("a switch", "Beyond the lead the clock is followed, under the lowest clock id that is free at its tick.")
            .steps(
                &[
                    &[issued(T, 3)][..],
                    &switched(T - 11, 2),
                    &[issued(T - 11, 1), issued(T - 5, 1), issued(T - 1, 1)],
                    &[issued(T, 2), issued(T + 1, 1)],
                ]
                .concat(),
            ),
        multi_clock("a switch without a lead", "The rule of the multi-clock paper: another clock id at each step back.")
            .max_lead_ms(0)
            .steps(
                &[&[issued(T, 2)][..], &switched(T - 1, 2), &switched(T - 2, 2), &switched(T - 3, 2), &[issued(T - 2, 2)]]
                    .concat(),
            ),
        multi_clock("a switch that the second reading takes back", "What looked like a step was a reading that had grown old.")
            .max_lead_ms(0)
            .steps(&[issued(T, 2), (T - 50, 1, false, RECHECK), (T, 1, true, IDS), issued(T + 1, 1)]),
        multi_clock("a year forward and back", "A clock that was a year ahead for a minute costs one clock id, and no time.")
            .steps(
                &[
                    &[
                        issued(T, 5),
                        issued(T + YEAR_MS, 2),
                        issued(T + YEAR_MS + 60_000, MAX_WANT),
                        issued(T + YEAR_MS + 60_000, 3),
                    ][..],
                    &switched(T + 60_000, 4),
                    &[
                        issued(T + 60_001, 4),
                        issued(T + YEAR_MS, 1),
                        issued(T + YEAR_MS + 60_000, 1),
                        issued(T + YEAR_MS + 60_001, 1),
                    ],
                ]
                .concat(),
            ),
        multi_clock(
            "fifteen steps back over one period, and one too many",
            "Each clock id remembers its last tick. With every one of them used at T, the clock has to come to T again.",
        )
        .steps(
            &[
                &forward_and_back[..],
                &[issued(T, 1)],
                &refused(T - 1000, CLOCK_BACKWARD),
                &refused(T - 11, CLOCK_BACKWARD),
                &[issued(T - 10, 1), issued(T + 1, 1)],
            ]
            .concat(),
        ),
        multi_clock("steps back again and again, each over a period of its own", "No number of them is too large.").steps(
            &(0..40)
                .flat_map(|round| [vec![issued(T + round * 100, 1)], switched(T + round * 100 - 50, 1).to_vec()].concat())
                .collect::<Vec<Step>>(),
        ),
    ]
}

fn stalls() -> Vec<Value> {
    let two_clock_ids = |name, comment| Script::new(name, comment).layout("two clock ids", Some(2)).max_lead_ms(0);
    vec![
        two_clock_ids("the stall ends when a clock id is free", "Long before the clock is back where it was.").steps(
            &[
                &[issued(T, 1), issued(T + 1000, 1)][..],
                &switched(T + 10, 1),
                &[issued(T + 20, 1)],
                &refused(T + 15, CLOCK_BACKWARD),
                &[issued(T + 20, 1)],
                &[issued(T + 500, 1)],
                &refused(T + 499, CLOCK_BACKWARD),
                &[issued(T + 500, 3)],
                &refused(T + 500, SEQUENCE_EXHAUSTED),
                &[issued(T + 1000, 1), issued(T + 1001, 1)],
                &refused(T + 900, CLOCK_BACKWARD),
                &refused(T + 1000, CLOCK_BACKWARD),
                &[issued(T + 1001, 1)],
            ]
            .concat(),
        ),
        two_clock_ids("a clock id comes free before the lead is", "The clock is followed forward to it.").steps(
            &[
                &[issued(T, 1)][..],
                &switched(T - 500, 1),
                &[issued(T - 100, 1), issued(T + 900, 1)],
                &refused(T - 200, CLOCK_BACKWARD),
                &refused(T - 100, CLOCK_BACKWARD),
                &switched(T - 99, 1),
            ]
            .concat(),
        ),
        two_clock_ids("a full tick behind a step back", "The current tick has nothing left, so its own lead is not enough.")
            .max_lead_ms(5)
            .steps(
                &[
                    &[issued(T, 4), issued(T, 4), issued(T, 4), issued(T, 4)][..],
                    &refused(T - 4, SEQUENCE_EXHAUSTED),
                    &refused(T - 9, CLOCK_BACKWARD),
                    &[issued(T + 1, 1)],
                ]
                .concat(),
            ),
        two_clock_ids(
            "clock ids in use are passed over",
            "Both are at a tick that one of them was at before: it has half of its IDs left.",
        )
        .max_lead_ms(1)
        .steps(
            &[
                &[issued(T, 1), issued(T + 3, 1)][..],
                &switched(T + 1, 1),
                &[issued(T + 3, 9); 3],
                &refused(T + 3, SEQUENCE_EXHAUSTED),
                &[issued(T + 4, 9)],
            ]
            .concat(),
        ),
    ]
}

fn unusual_layouts() -> Vec<Value> {
    vec![
        Script::new("a switch in ticks of 10 ms", "").layout("clock ids and ticks of 10 ms", Some(7)).max_lead_ms(25).steps(
            &[
                &[issued(T + 105, 1)][..],
                &[issued(T + 75, 1)],
                &switched(T + 74, 1),
                &[issued(T + 79, 1), issued(T + 80, 1)],
                &switched(T + 9, 9),
                &[issued(T + 9, 9), issued(T + 9, 9), issued(T + 9, 9), issued(T + 9, 9), issued(T + 9, 9)],
            ]
            .concat(),
        ),
        Script::new("no switch below the start", "A switch goes to the clock's tick, and nothing is issued before the start.")
            .layout("multi-clock", Some(7))
            .start_ms(T)
            .steps(
                &[&[issued(T + 11, 1), issued(T + 500, 1)][..], &refused(T + 10, CLOCK_BACKWARD), &switched(T + 11, 1)].concat(),
            ),
        Script::new("a switch under clock ids above the time", "")
            .layout("clock above time", Some(7))
            .steps(&[&[issued(T, 1)][..], &switched(T - 11, 1), &[issued(T, 1), issued(T + 1, 1)]].concat()),
        Script::new("a switch away from the last tick", "What is left of the time can still be used.")
            .layout("one bit of everything", Some(0))
            .max_lead_ms(0)
            .steps(
                &[
                    &[issued(1, 1)][..],
                    &switched(0, 1),
                    &[issued(0, 9)],
                    &refused(0, SEQUENCE_EXHAUSTED),
                    &[issued(1, 9)],
                    &refused(1, TIME_EXHAUSTED),
                ]
                .concat(),
            ),
    ]
}
