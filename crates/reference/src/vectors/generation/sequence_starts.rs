//! Scripts with the two sequence starts other than 0: random, and wrapping.

use serde_json::Value;

use super::script::{MAX_WANT, Script, Step, T, issued, last_ms, switched};
use crate::model::minting::SequenceStart;

/// The key of the hash; its value does not matter.
const KEY: [u64; 2] = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];

pub(super) fn scripts() -> Vec<Value> {
    let random = |name: &str, layout, node| {
        let comment = "A keyed start in the lowest quarter; ticks entered by carry start at 0.";
        Script::new(&format!("random start: {name}"), comment).layout(layout, node).sequence_start(SequenceStart::Random(KEY))
    };
    let wrap = |name: &str, layout, node| {
        let comment = "A keyed start anywhere, and round: every ID of the tick.";
        Script::new(&format!("wrapping start: {name}"), comment).layout(layout, node).sequence_start(SequenceStart::Wrap(KEY))
    };
    let ticks: Vec<Step> = (0..20).map(|tick| issued(T + tick, 1)).collect();
    let mut scripts = Vec::new();
    for make in [random, wrap] {
        scripts.extend([
            make("normal ticks", "default", Some(7)).steps(&ticks),
            make("a full tick", "default", Some(7))
                .max_lead_ms(0)
                .steps(&[&[issued(T, 5), issued(T, MAX_WANT)][..], &[issued(T + 1, MAX_WANT), issued(T + 2, 1)]].concat()),
            make("borrowing", "default", Some(7)).max_lead_ms(2).steps(&[
                issued(T, MAX_WANT),
                issued(T, MAX_WANT),
                issued(T + 1, 3),
                issued(T + 2, 3),
                issued(T + 3, 3),
            ]),
            make("a step back within the lead", "default", Some(7)).steps(&[issued(T, 3), issued(T - 9, 3), issued(T + 1, 3)]),
            make("another node", "default", Some(8)).steps(&ticks[..3]),
            make("ticks of 10 ms", "sonyflake", Some(7)).max_lead_ms(0).steps(&[
                issued(T, 9),
                issued(T + 9, 300),
                issued(T + 10, 300),
            ]),
            make("a sequence of 1 bit", "sequence of 1 bit", Some(3)).max_lead_ms(1).steps(&[
                issued(T, 1),
                issued(T, 1),
                issued(T, 1),
                issued(T + 1, 4),
                issued(T + 2, 4),
            ]),
            make("a sequence of 2 bits", "sequence of 2 bits", Some(3)).max_lead_ms(0).steps(&[
                issued(T, 1),
                issued(T, 9),
                issued(T + 1, 9),
                issued(T + 2, 9),
            ]),
            make("a sequence of 3 bits", "sequence of 3 bits", Some(3))
                .max_lead_ms(0)
                .steps(&(0..12).map(|tick| issued(T + tick, 9)).collect::<Vec<Step>>()),
            make("a sequence of 53 bits", "widest sequence", None)
                .max_lead_ms(0)
                .steps(&[issued(0, MAX_WANT), issued(1_000_000, 2)]),
            make("no node", "mastodon", None).max_lead_ms(0).steps(&[issued(T, MAX_WANT), issued(T, 1), issued(T + 1, 1)]),
            make("a clock field", "multi-clock", Some(7)).max_lead_ms(0).steps(
                &[
                    &[issued(T, MAX_WANT), issued(T, MAX_WANT), issued(T, 1), issued(T + 1, 1)][..],
                    &switched(T - 1, 3),
                    &[issued(T, 3)],
                ]
                .concat(),
            ),
            make("time not on top", "sequence above time", Some(7)).max_lead_ms(0).steps(&[issued(T, 9), issued(T + 1, 9)]),
            make("the last tick", "default", Some(7))
                .steps(&[&[issued(last_ms("default"), 1), issued(last_ms("default"), MAX_WANT)][..]].concat()),
        ]);
    }
    scripts
}
