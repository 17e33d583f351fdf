//! Scripts in which the sequence of a tick is full: later ticks are borrowed within the lead, and then the call is refused.

use serde_json::Value;

use super::script::{IDS, MAX_WANT, RECHECK, Script, Step, T, issued, refused};
use crate::model::errors::{CLOCK_BACKWARD, SEQUENCE_EXHAUSTED};

pub(super) fn scripts() -> Vec<Value> {
    let frozen: Vec<Step> =
        [vec![issued(T, MAX_WANT); 11], refused(T, SEQUENCE_EXHAUSTED).to_vec(), refused(T, SEQUENCE_EXHAUSTED).to_vec()]
            .concat();
    vec![
        Script::new("sequence full without lead", "4096 IDs are what a millisecond has.")
            .max_lead_ms(0)
            .steps(&[&[issued(T, MAX_WANT)][..], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, 1)]].concat()),
        Script::new("a request larger than what is left", "The rest is issued; the caller asks again for more.")
            .max_lead_ms(0)
            .steps(&[&[issued(T, 4000), issued(T, 4000)][..], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, 4000)]].concat()),
        Script::new("a request that flows into borrowed ticks", "One block spans as many ticks as the lead allows.")
            .max_lead_ms(2)
            .layout("tiny with node", Some(2))
            .steps(&[
                issued(1_000_000, 10),
                (1_000_000, 10, true, SEQUENCE_EXHAUSTED),
                issued(1_000_001, 10),
                (1_000_001, 1, true, SEQUENCE_EXHAUSTED),
            ]),
        Script::new("borrows within the lead, to its exact end", "A lead of 2 ms is two ticks beyond the clock's own.")
            .max_lead_ms(2)
            .steps(
                &[
                    &[issued(T, MAX_WANT); 3][..],
                    &refused(T, SEQUENCE_EXHAUSTED),
                    &[issued(T + 1, MAX_WANT)],
                    &refused(T + 1, SEQUENCE_EXHAUSTED),
                    &[issued(T + 4, 1), issued(T + 4, MAX_WANT), issued(T + 4, MAX_WANT), issued(T + 4, MAX_WANT)],
                    &refused(T + 4, SEQUENCE_EXHAUSTED),
                ]
                .concat(),
            ),
        Script::new(
            "the clock catches up with what was borrowed",
            "The sequence of a borrowed tick goes on when the clock arrives there.",
        )
        .steps(&[issued(T, MAX_WANT), issued(T, 5), issued(T + 1, 1), issued(T + 1, 1), issued(T + 2, 1)]),
        Script::new(
            "a recheck finds that the clock moved on",
            "The first refusal changes nothing and the second reading succeeds.",
        )
        .max_lead_ms(0)
        .steps(&[issued(T, MAX_WANT), (T, 1, false, RECHECK), (T + 1, 1, true, IDS), issued(T + 1, 1)]),
        Script::new("a recheck finds the same time", "Refused for good only when confirmed.").max_lead_ms(0).steps(&[
            issued(T, MAX_WANT),
            (T, 1, false, RECHECK),
            (T, 1, true, SEQUENCE_EXHAUSTED),
            (T, 1, false, RECHECK),
            (T, 1, true, SEQUENCE_EXHAUSTED),
            issued(T + 1, 2),
        ]),
        Script::new(
            "frozen clock",
            "With the default lead a clock that stands still gives eleven ticks; then the call is refused, and nothing hangs.",
        )
        .steps(&frozen),
        Script::new("frozen clock that goes on", "Each further millisecond gives one more tick; a real gap restores the lead.")
            .steps(
                &[
                    &frozen[..],
                    &[issued(T + 1, MAX_WANT)],
                    &refused(T + 1, SEQUENCE_EXHAUSTED),
                    &[issued(T + 3, MAX_WANT), issued(T + 3, MAX_WANT)],
                    &refused(T + 3, SEQUENCE_EXHAUSTED),
                    &[issued(T + 14, 1)],
                ]
                .concat(),
            ),
        Script::new(
            "full sequence behind a step back",
            "With every ID of the tick issued, the cause is the lead of the last tick issued, not of the next.",
        )
        .max_lead_ms(5)
        .steps(
            &[
                &[issued(T, MAX_WANT)][..],
                &refused(T - 5, SEQUENCE_EXHAUSTED),
                &refused(T - 6, CLOCK_BACKWARD),
                &[issued(T - 4, 1)],
            ]
            .concat(),
        ),
    ]
}
