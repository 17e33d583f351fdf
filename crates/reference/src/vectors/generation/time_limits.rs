//! Scripts at the limits of the time field: the epoch, the last tick, and the last ID.

use serde_json::Value;

use super::script::{MAX_WANT, RECHECK, Script, T, YEAR_MS, issued, last_ms, refused};
use crate::model::errors::{CLOCK_BACKWARD, CLOCK_BEFORE_EPOCH, SEQUENCE_EXHAUSTED, TIME_EXHAUSTED};

pub(super) fn epochs() -> Vec<Value> {
    let epoch_ms = T - 86_400_000;
    vec![
        Script::new("before the epoch", "Workers show 0 before their first request.").steps(
            &[
                &refused(0, CLOCK_BEFORE_EPOCH)[..],
                &refused(1, CLOCK_BEFORE_EPOCH),
                &refused(epoch_ms - 1, CLOCK_BEFORE_EPOCH),
                &[issued(epoch_ms, 1)],
            ]
            .concat(),
        ),
        Script::new("at the epoch", "Tick 0 is a tick like any other.").max_lead_ms(0).steps(
            &[
                &[issued(epoch_ms, 1), issued(epoch_ms, MAX_WANT)][..],
                &refused(epoch_ms, SEQUENCE_EXHAUSTED),
                &[issued(epoch_ms + 1, 1)],
            ]
            .concat(),
        ),
        Script::new("back before the epoch, within the lead", "A clock before the epoch is wrong, whatever the lead.").steps(
            &[
                &[issued(epoch_ms + 2, 1), issued(epoch_ms, 1)][..],
                &refused(epoch_ms - 1, CLOCK_BEFORE_EPOCH),
                &[issued(epoch_ms, 1)],
            ]
            .concat(),
        ),
        Script::new("at the epoch of 1970", "A clock that shows 0 is right where the epoch is 0.")
            .layout("mastodon", None)
            .steps(&[issued(0, 2), issued(1, 1)]),
    ]
}

pub(super) fn last_ticks() -> Vec<Value> {
    let last_tick_ms = last_ms("default");
    let last_long_tick_ms = last_ms("ticks of 10 ms");
    vec![
        Script::new("the last tick", "Every ID of it is issued; then the time is used up for ever, wherever the clock goes.")
            .steps(
                &[
                    &[issued(last_tick_ms, 1), issued(last_tick_ms, MAX_WANT)][..],
                    &refused(last_tick_ms, TIME_EXHAUSTED),
                    &refused(last_tick_ms + 1, TIME_EXHAUSTED),
                    &refused(last_tick_ms - 1, TIME_EXHAUSTED),
                    &refused(last_tick_ms - YEAR_MS, TIME_EXHAUSTED),
                    &refused(last_tick_ms, TIME_EXHAUSTED),
                ]
                .concat(),
            ),
        Script::new("beyond the last tick and back", "A clock beyond the last tick is refused and changes nothing.").steps(
            &[
                &[issued(last_tick_ms - 1, 2)][..],
                &refused(last_tick_ms + 1, TIME_EXHAUSTED),
                &refused(last_tick_ms + YEAR_MS, TIME_EXHAUSTED),
                &[issued(last_tick_ms - 1, 2), issued(last_tick_ms, 2)],
            ]
            .concat(),
        ),
        Script::new("borrowing ends with the last tick", "The lead reaches no further than the time field.").steps(
            &[
                &[issued(last_tick_ms - 1, MAX_WANT), issued(last_tick_ms - 1, MAX_WANT)][..],
                &refused(last_tick_ms - 1, TIME_EXHAUSTED),
                &refused(last_tick_ms - 5, TIME_EXHAUSTED),
                &refused(last_tick_ms, TIME_EXHAUSTED),
            ]
            .concat(),
        ),
        Script::new("back from the last tick", "With IDs left in the last tick a step back is only lead, or only stalled.")
            .steps(
                &[
                    &[issued(last_tick_ms, 2), issued(last_tick_ms - 10, 2)][..],
                    &refused(last_tick_ms - 11, CLOCK_BACKWARD),
                    &[issued(last_tick_ms, 1)],
                ]
                .concat(),
            ),
        Script::new("the last tick of ten milliseconds", "The whole tick can be used.")
            .layout("ticks of 10 ms", Some(4095))
            .steps(
                &[
                    &[issued(last_long_tick_ms, 1), issued(last_long_tick_ms + 9, 1)][..],
                    &refused(last_long_tick_ms + 10, TIME_EXHAUSTED),
                ]
                .concat(),
            ),
        Script::new("every ID of a tiny layout", "16 ticks of 4 IDs, borrowed at once.")
            .layout("tiny", None)
            .max_lead_ms(1000)
            .steps(
                &[
                    &[issued(0, 60), issued(0, 60)][..],
                    &refused(0, TIME_EXHAUSTED),
                    &refused(15, TIME_EXHAUSTED),
                    &refused(16, TIME_EXHAUSTED),
                ]
                .concat(),
            ),
        Script::new("the last tick of a tiny layout", "").layout("tiny", None).max_lead_ms(0).steps(
            &[
                &[issued(14, 4)][..],
                &refused(14, SEQUENCE_EXHAUSTED),
                &[issued(15, 3), issued(15, 3)],
                &refused(15, TIME_EXHAUSTED),
                &refused(3, TIME_EXHAUSTED),
            ]
            .concat(),
        ),
    ]
}

/// Scripts that issue the largest ID of 63 or 64 bits.
pub(super) fn last_ids() -> Vec<Value> {
    let signed_ms = last_ms("63 bits, no node");
    let without_node_ms = last_ms("unsigned, no node");
    let with_node_ms = last_ms("unsigned, sequence on top");
    let sequence_on_top_ms = last_ms("sequence on top, unsigned");
    let mastodon_ms = last_ms("mastodon");
    vec![
        Script::new("the last ID of 63 bits", "The largest signed 64-bit number is issued, and no other after it.")
            .layout("63 bits, no node", None)
            .steps(
                &[
                    &[issued(signed_ms, 4095), issued(signed_ms, 1)][..],
                    &refused(signed_ms, TIME_EXHAUSTED),
                    &refused(signed_ms - 1000, TIME_EXHAUSTED),
                ]
                .concat(),
            ),
        Script::new("64 bits of time, clock and sequence", "All ones is never issued, so the last tick has one ID less.")
            .layout("unsigned, no node", None)
            .steps(
                &[
                    &[issued(without_node_ms, MAX_WANT); 3][..],
                    &[
                        issued(without_node_ms, MAX_WANT),
                        (without_node_ms, 1, false, RECHECK),
                        (without_node_ms, 1, true, TIME_EXHAUSTED),
                    ],
                    &refused(without_node_ms - 1, TIME_EXHAUSTED),
                ]
                .concat(),
            ),
        Script::new("64 bits, sequence on top", "All ones is never issued where the sequence holds the sign bit either.")
            .layout("sequence on top, unsigned", None)
            .steps(&[&[issued(sequence_on_top_ms, MAX_WANT); 4][..], &refused(sequence_on_top_ms, TIME_EXHAUSTED)].concat()),
        Script::new("64 bits with a node", "Time and sequence leave room, so the last tick is whole.")
            .layout("unsigned, sequence on top", Some(5))
            .steps(
                &[&[issued(with_node_ms, 4095), issued(with_node_ms, 4095)][..], &refused(with_node_ms, TIME_EXHAUSTED)].concat(),
            ),
        Script::new("the last tick of mastodon", "65,535 IDs: all ones is never issued.").layout("mastodon", None).steps(
            &[
                &[issued(mastodon_ms, MAX_WANT); 16][..],
                &refused(mastodon_ms, TIME_EXHAUSTED),
                &refused(mastodon_ms - 1, TIME_EXHAUSTED),
                &refused(0, TIME_EXHAUSTED),
            ]
            .concat(),
        ),
        Script::new("borrowing into the last tick of mastodon", "")
            .layout("mastodon", None)
            .max_lead_ms(1)
            .steps(&[&[issued(mastodon_ms - 1, MAX_WANT); 32][..], &refused(mastodon_ms - 1, TIME_EXHAUSTED)].concat()),
    ]
}
