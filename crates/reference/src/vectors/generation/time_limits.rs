//! Scripts at the ends of the time field: the epoch, the last tick, and the last ID.

use serde_json::Value;

use super::script::{FULL, RECHECK, Script, T, YEAR, issued, last_ms, refused};
use crate::model::errors::{CLOCK_BACKWARD, CLOCK_BEFORE_EPOCH, SEQUENCE_EXHAUSTED, TIME_EXHAUSTED};

pub(super) fn epochs() -> Vec<Value> {
    let epoch = T - 86_400_000;
    vec![
        Script::new("before the epoch", "Workers show 0 before their first request.").steps(
            &[
                &refused(0, CLOCK_BEFORE_EPOCH)[..],
                &refused(1, CLOCK_BEFORE_EPOCH),
                &refused(epoch - 1, CLOCK_BEFORE_EPOCH),
                &[issued(epoch, 1)],
            ]
            .concat(),
        ),
        Script::new("at the epoch", "Tick 0 is a tick like any other.").lead(0).steps(
            &[&[issued(epoch, 1), issued(epoch, FULL)][..], &refused(epoch, SEQUENCE_EXHAUSTED), &[issued(epoch + 1, 1)]]
                .concat(),
        ),
        Script::new("back before the epoch, within the lead", "A clock before the epoch is wrong, whatever the lead.").steps(
            &[&[issued(epoch + 2, 1), issued(epoch, 1)][..], &refused(epoch - 1, CLOCK_BEFORE_EPOCH), &[issued(epoch, 1)]]
                .concat(),
        ),
        Script::new("at the epoch of 1970", "A clock that shows 0 is right where the epoch is 0.")
            .layout("mastodon", None)
            .steps(&[issued(0, 2), issued(1, 1)]),
    ]
}

pub(super) fn last_ticks() -> Vec<Value> {
    let at = last_ms("default");
    let long = last_ms("ticks of 10 ms");
    vec![
        Script::new("the last tick", "Every ID of it is issued; then the time is used up for ever, wherever the clock goes.")
            .steps(
                &[
                    &[issued(at, 1), issued(at, FULL)][..],
                    &refused(at, TIME_EXHAUSTED),
                    &refused(at + 1, TIME_EXHAUSTED),
                    &refused(at - 1, TIME_EXHAUSTED),
                    &refused(at - YEAR, TIME_EXHAUSTED),
                    &refused(at, TIME_EXHAUSTED),
                ]
                .concat(),
            ),
        Script::new("beyond the last tick and back", "A clock beyond the last tick is refused and changes nothing.").steps(
            &[
                &[issued(at - 1, 2)][..],
                &refused(at + 1, TIME_EXHAUSTED),
                &refused(at + YEAR, TIME_EXHAUSTED),
                &[issued(at - 1, 2), issued(at, 2)],
            ]
            .concat(),
        ),
        Script::new("borrowing ends with the last tick", "The lead reaches no further than the time field.").steps(
            &[
                &[issued(at - 1, FULL), issued(at - 1, FULL)][..],
                &refused(at - 1, TIME_EXHAUSTED),
                &refused(at - 5, TIME_EXHAUSTED),
                &refused(at, TIME_EXHAUSTED),
            ]
            .concat(),
        ),
        Script::new("back from the last tick", "With IDs left in the last tick a step back is only lead, or only stalled.")
            .steps(&[&[issued(at, 2), issued(at - 10, 2)][..], &refused(at - 11, CLOCK_BACKWARD), &[issued(at, 1)]].concat()),
        Script::new("the last tick of ten milliseconds", "The whole tick can be used.")
            .layout("ticks of 10 ms", Some(4095))
            .steps(&[&[issued(long, 1), issued(long + 9, 1)][..], &refused(long + 10, TIME_EXHAUSTED)].concat()),
        Script::new("every ID of a tiny layout", "16 ticks of 4 IDs, borrowed at once.").layout("tiny", None).lead(1000).steps(
            &[
                &[issued(0, 60), issued(0, 60)][..],
                &refused(0, TIME_EXHAUSTED),
                &refused(15, TIME_EXHAUSTED),
                &refused(16, TIME_EXHAUSTED),
            ]
            .concat(),
        ),
        Script::new("the last tick of a tiny layout", "").layout("tiny", None).lead(0).steps(
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

/// The largest IDs that 63 and 64 bits hold.
pub(super) fn last_ids() -> Vec<Value> {
    let signed = last_ms("63 bits, no node");
    let plain = last_ms("unsigned, no node");
    let with_node = last_ms("unsigned, sequence on top");
    let on_top = last_ms("sequence on top, unsigned");
    let mastodon = last_ms("mastodon");
    vec![
        Script::new("the last ID of 63 bits", "The largest signed 64-bit number is issued, and no other after it.")
            .layout("63 bits, no node", None)
            .steps(
                &[
                    &[issued(signed, 4095), issued(signed, 1)][..],
                    &refused(signed, TIME_EXHAUSTED),
                    &refused(signed - 1000, TIME_EXHAUSTED),
                ]
                .concat(),
            ),
        Script::new("64 bits of time, clock and sequence", "All ones is never issued, so the last tick has one ID less.")
            .layout("unsigned, no node", None)
            .steps(
                &[
                    &[issued(plain, FULL); 3][..],
                    &[issued(plain, FULL), (plain, 1, false, RECHECK), (plain, 1, true, TIME_EXHAUSTED)],
                    &refused(plain - 1, TIME_EXHAUSTED),
                ]
                .concat(),
            ),
        Script::new("64 bits, sequence on top", "All ones is never issued where the sequence holds the sign bit either.")
            .layout("sequence on top, unsigned", None)
            .steps(&[&[issued(on_top, FULL); 4][..], &refused(on_top, TIME_EXHAUSTED)].concat()),
        Script::new("64 bits with a node", "Time and sequence leave room, so the last tick is whole.")
            .layout("unsigned, sequence on top", Some(5))
            .steps(&[&[issued(with_node, 4095), issued(with_node, 4095)][..], &refused(with_node, TIME_EXHAUSTED)].concat()),
        Script::new("the last tick of mastodon", "65,535 IDs: all ones is never issued.").layout("mastodon", None).steps(
            &[
                &[issued(mastodon, FULL); 16][..],
                &refused(mastodon, TIME_EXHAUSTED),
                &refused(mastodon - 1, TIME_EXHAUSTED),
                &refused(0, TIME_EXHAUSTED),
            ]
            .concat(),
        ),
        Script::new("borrowing into the last tick of mastodon", "")
            .layout("mastodon", None)
            .lead(1)
            .steps(&[&[issued(mastodon - 1, FULL); 32][..], &refused(mastodon - 1, TIME_EXHAUSTED)].concat()),
    ]
}
