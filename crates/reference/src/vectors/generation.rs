//! `generation.json`: scripted clocks, and what the generator answers at each step.

mod clock_ids;
mod starts;

use serde_json::{Value, json};

use super::{comment, join, named, number, subject, text};
use crate::model::errors::{CLOCK_BACKWARD, CLOCK_BEFORE_EPOCH, SEQUENCE_EXHAUSTED, TIME_EXHAUSTED};
use crate::model::{Kind, Layout, Minter, Refusal, Start};

/// The most that a script asks for at once: what one call across a binding can hand over.
const FULL: usize = 4096;
/// What a step is meant to show. A script whose model disagrees is not written.
const IDS: &str = "ids";
const RECHECK: &str = "recheck";

/// Some day, at the start of a tick in every layout whose ticks are at most a second and start with 2024.
const T: u128 = 1_704_067_200_000 + 86_400_000;
const HOUR: u128 = 3_600_000;
const YEAR: u128 = 365 * 24 * HOUR;

pub(super) fn vectors() -> Value {
    let mut scripts = Vec::new();
    scripts.extend(ticks());
    scripts.extend(full_sequences());
    scripts.extend(steps_back());
    scripts.extend(epochs());
    scripts.extend(last_ticks());
    scripts.extend(last_ids());
    scripts.extend(starts());
    scripts.extend(long_ticks());
    scripts.extend(odd_layouts());
    scripts.extend(clock_ids::scripts());
    scripts.extend(starts::scripts());
    scripts.extend(every_named_layout());
    json!({
        "_comment": comment(&[
            "scripts: each is one generator with a state of its own (Generator::private in Rust; PRIVATE = 1 at the page), asked step after step; a refusal leaves it as it was.",
            "layout; node: the node id as a number, or \"none\"; maxLeadMs; startMs: when the process started, null where unknown; sequenceStart; key: the two halves of the state's key, null where sequenceStart is zero.",
            "A step: the clock shows nowMs, want IDs are asked for (at most 4096), and confirmed says whether this is the second reading of the clock for one call. expect is one of:",
            "{ ids: { first, last, count }, validFromMs, validUntilMs }: count IDs (1 to want) are issued, first and last as given, and the clock's tick is [validFromMs, validUntilMs). With a clock field they are all of one tick and clock id.",
            "{ recheck: true }: nothing is issued; the clock is to be read again. Only where confirmed is false.",
            "{ code, retryAfterMs? }: refused. retryAfterMs is how long until the same call can first succeed; absent where waiting alone does not help (the bindings then report 0).",
            "Each script's IDs are all different, over all its steps.",
        ]),
        "scripts": scripts,
    })
}

/// The time, how many are asked for, whether confirmed, and what kind of answer the step is meant to show.
type Step = (u128, usize, bool, &'static str);

struct Script {
    name: String,
    comment: &'static str,
    layout: &'static str,
    node: Option<u128>,
    max_lead_ms: u128,
    start_ms: Option<u128>,
    start: Start,
}

impl Script {
    fn new(name: &str, comment: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            comment,
            layout: "default",
            node: Some(7),
            max_lead_ms: 10,
            start_ms: None,
            start: Start::Zero,
        }
    }

    fn layout(mut self, layout: &'static str, node: Option<u128>) -> Self {
        (self.layout, self.node) = (layout, node);
        self
    }

    fn lead(mut self, max_lead_ms: u128) -> Self {
        self.max_lead_ms = max_lead_ms;
        self
    }

    fn start(mut self, start_ms: u128) -> Self {
        self.start_ms = Some(start_ms);
        self
    }

    fn sequence(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    fn steps(self, steps: &[Step]) -> Value {
        let subject = subject(self.layout);
        let layout = &subject.layout;
        let mut minter = Minter::new(layout, self.node.unwrap_or(0), self.max_lead_ms, self.start_ms, self.start);
        let answer = |(step, &(now_ms, want, confirmed, meant)): (usize, &Step)| {
            let (kind, expect) = answer(layout, &mut minter, now_ms, want, confirmed);
            assert_eq!(kind, meant, "{}, step {step}", self.name);
            json!({ "nowMs": number(now_ms), "want": want, "confirmed": confirmed, "expect": expect })
        };
        let steps: Vec<Value> = steps.iter().enumerate().map(answer).collect();
        json!({
            "name": self.name,
            "comment": self.comment,
            "layout": subject.name,
            "node": self.node.map_or(json!("none"), number),
            "maxLeadMs": number(self.max_lead_ms),
            "startMs": self.start_ms.map(number),
            "sequenceStart": match self.start { Start::Zero => "zero", Start::Random(_) => "random", Start::Wrap(_) => "wrap" },
            "key": match self.start {
                Start::Zero => Value::Null,
                Start::Random(key) | Start::Wrap(key) => json!(key.map(|half| half.to_string())),
            },
            "steps": steps,
        })
    }
}

fn answer(layout: &Layout, minter: &mut Minter<'_>, now_ms: u128, want: usize, confirmed: bool) -> (&'static str, Value) {
    match minter.reserve(now_ms, want, confirmed) {
        Ok(ids) => {
            let first = ids.first().copied().unwrap_or_default();
            let last = ids.last().copied().unwrap_or_default();
            let from_ms = layout.start_ms((now_ms - layout.epoch_ms) / layout.tick_ms);
            let expect = json!({
                "ids": { "first": text(first), "last": text(last), "count": ids.len() },
                "validFromMs": number(from_ms),
                "validUntilMs": number(from_ms + layout.tick_ms),
            });
            (IDS, expect)
        }
        Err(Refusal::Recheck) => (RECHECK, json!({ "recheck": true })),
        Err(Refusal::Code(code)) => {
            let retry = minter.retry_after_ms(now_ms).map_or(json!({}), |after| json!({ "retryAfterMs": number(after) }));
            (code, join(json!({ "code": code }), retry))
        }
    }
}

/// A call as a host makes it: not confirmed, and once more where that is answered with a recheck.
const fn refused(now_ms: u128, code: &'static str) -> [Step; 2] {
    [(now_ms, 1, false, RECHECK), (now_ms, 1, true, code)]
}

const fn issued(now_ms: u128, want: usize) -> Step {
    (now_ms, want, false, IDS)
}

/// A call that the clock led back, and that is asked twice before the clock is followed.
const fn switched(now_ms: u128, want: usize) -> [Step; 2] {
    [(now_ms, want, false, RECHECK), (now_ms, want, true, IDS)]
}

fn ticks() -> Vec<Value> {
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

fn full_sequences() -> Vec<Value> {
    let frozen: Vec<Step> =
        [vec![issued(T, FULL); 11], refused(T, SEQUENCE_EXHAUSTED).to_vec(), refused(T, SEQUENCE_EXHAUSTED).to_vec()].concat();
    vec![
        Script::new("sequence full without lead", "4096 IDs are what a millisecond has.")
            .lead(0)
            .steps(&[&[issued(T, FULL)][..], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, 1)]].concat()),
        Script::new("a request larger than what is left", "The rest is issued; the caller asks again for more.")
            .lead(0)
            .steps(&[&[issued(T, 4000), issued(T, 4000)][..], &refused(T, SEQUENCE_EXHAUSTED), &[issued(T + 1, 4000)]].concat()),
        Script::new("a request that flows into borrowed ticks", "One block spans as many ticks as the lead allows.")
            .lead(2)
            .layout("tiny with node", Some(2))
            .steps(&[
                issued(1_000_000, 10),
                (1_000_000, 10, true, SEQUENCE_EXHAUSTED),
                issued(1_000_001, 10),
                (1_000_001, 1, true, SEQUENCE_EXHAUSTED),
            ]),
        Script::new("borrows within the lead, to its exact end", "A lead of 2 ms is two ticks beyond the clock's own.")
            .lead(2)
            .steps(
                &[
                    &[issued(T, FULL); 3][..],
                    &refused(T, SEQUENCE_EXHAUSTED),
                    &[issued(T + 1, FULL)],
                    &refused(T + 1, SEQUENCE_EXHAUSTED),
                    &[issued(T + 4, 1), issued(T + 4, FULL), issued(T + 4, FULL), issued(T + 4, FULL)],
                    &refused(T + 4, SEQUENCE_EXHAUSTED),
                ]
                .concat(),
            ),
        Script::new(
            "the clock catches up with what was borrowed",
            "The sequence of a borrowed tick goes on when the clock arrives there.",
        )
        .steps(&[issued(T, FULL), issued(T, 5), issued(T + 1, 1), issued(T + 1, 1), issued(T + 2, 1)]),
        Script::new(
            "a recheck finds that the clock moved on",
            "The first refusal changes nothing and the second reading succeeds.",
        )
        .lead(0)
        .steps(&[issued(T, FULL), (T, 1, false, RECHECK), (T + 1, 1, true, IDS), issued(T + 1, 1)]),
        Script::new("a recheck finds the same time", "Refused for good only when confirmed.").lead(0).steps(&[
            issued(T, FULL),
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
                    &[issued(T + 1, FULL)],
                    &refused(T + 1, SEQUENCE_EXHAUSTED),
                    &[issued(T + 3, FULL), issued(T + 3, FULL)],
                    &refused(T + 3, SEQUENCE_EXHAUSTED),
                    &[issued(T + 14, 1)],
                ]
                .concat(),
            ),
        Script::new(
            "full sequence behind a step back",
            "With every ID of the tick issued, the cause is the lead of the last tick issued, not of the next.",
        )
        .lead(5)
        .steps(
            &[&[issued(T, FULL)][..], &refused(T - 5, SEQUENCE_EXHAUSTED), &refused(T - 6, CLOCK_BACKWARD), &[issued(T - 4, 1)]]
                .concat(),
        ),
    ]
}

fn steps_back() -> Vec<Value> {
    let mut scripts = vec![
        Script::new("a step back of 1 ms", "Within the lead: the sequence of the tick goes on.").steps(&[
            issued(T, 2),
            issued(T - 1, 2),
            issued(T, 1),
            issued(T + 1, 1),
        ]),
        Script::new("a step back of exactly the lead", "The lead is inclusive.").steps(&[
            issued(T, 2),
            issued(T - 10, 2),
            issued(T - 9, 1),
        ]),
        Script::new("a step back of the lead and 1 ms", "Refused for the one millisecond that is missing.").steps(
            &[&[issued(T, 2)][..], &refused(T - 11, CLOCK_BACKWARD), &[issued(T - 10, 2), issued(T, 1), issued(T + 1, 1)]]
                .concat(),
        ),
        Script::new("a step back of 1 ms without lead", "Twitter's rule.")
            .lead(0)
            .steps(&[&[issued(T, 2)][..], &refused(T - 1, CLOCK_BACKWARD), &[issued(T, 2), issued(T + 1, 1)]].concat()),
        Script::new(
            "a step back after borrowing",
            "Lead is lead, wherever it came from: four borrowed ticks leave six milliseconds.",
        )
        .steps(
            &[
                &[issued(T, FULL); 4][..],
                &[issued(T, 1), issued(T - 6, 1)],
                &refused(T - 7, CLOCK_BACKWARD),
                &[issued(T - 6, 1), issued(T + 5, 1)],
            ]
            .concat(),
        ),
        Script::new("a step back twice", "Each refusal counts from the same tick.").steps(
            &[
                &[issued(T, 1)][..],
                &refused(T - 1000, CLOCK_BACKWARD),
                &refused(T - 5000, CLOCK_BACKWARD),
                &refused(T - 20, CLOCK_BACKWARD),
                &[issued(T - 10, 1)],
            ]
            .concat(),
        ),
        Script::new("a step back with the largest lead", "A lead of a second rides through a step of a second.")
            .lead(1000)
            .steps(&[&[issued(T, 1), issued(T - 1000, 1)][..], &refused(T - 1001, CLOCK_BACKWARD), &[issued(T + 1, 1)]].concat()),
    ];
    for (name, step) in [("1 s", 1000), ("1 h", HOUR), ("1 day", 24 * HOUR)] {
        scripts.push(recovery(name, T, step));
    }
    scripts.push(recovery("1 year", T + 2 * YEAR, YEAR));
    scripts
}

fn recovery(name: &str, at: u128, step: u128) -> Value {
    Script::new(
        &format!("a step back of {name}, and recovery"),
        "Refused until the clock is within the lead again, to the millisecond.",
    )
    .steps(
        &[
            &[issued(at, 3)][..],
            &refused(at - step, CLOCK_BACKWARD),
            &refused(at - step + 1, CLOCK_BACKWARD),
            &refused(at - 11, CLOCK_BACKWARD),
            &[issued(at - 10, 1), issued(at, 1), issued(at + 1, 1)],
        ]
        .concat(),
    )
}

fn epochs() -> Vec<Value> {
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

/// The start of the last tick of a layout.
fn last_ms(name: &str) -> u128 {
    subject(name).layout.plan().last_ms
}

fn last_ticks() -> Vec<Value> {
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
fn last_ids() -> Vec<Value> {
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

fn starts() -> Vec<Value> {
    let sony = 1_409_529_600_000 + 1_000_000;
    let epoch = T - 86_400_000;
    vec![
        Script::new(
            "a start, ticks of 1 ms",
            "A predecessor that stopped at the start can have issued up to its lead, that tick included.",
        )
        .start(T)
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
            .start(T)
            .lead(0)
            .steps(&[&refused(T, CLOCK_BACKWARD)[..], &[issued(T + 1, FULL)], &refused(T + 1, SEQUENCE_EXHAUSTED)].concat()),
        Script::new("a start with the largest lead", "")
            .start(T)
            .lead(1000)
            .steps(&[&refused(T, CLOCK_BACKWARD)[..], &refused(T + 1000, CLOCK_BACKWARD), &[issued(T + 1001, 1)]].concat()),
        Script::new("a start, ticks of 10 ms", "The first tick that begins after the start and the lead.")
            .layout("sonyflake", Some(7))
            .start(sony + 3)
            .steps(
                &[
                    &refused(sony + 3, CLOCK_BACKWARD)[..],
                    &refused(sony + 13, CLOCK_BACKWARD),
                    &refused(sony + 19, CLOCK_BACKWARD),
                    &[issued(sony + 20, 1)],
                ]
                .concat(),
            ),
        Script::new(
            "a start at the edge of a tick of 10 ms",
            "A predecessor can have issued the tick that begins exactly at the end of its lead.",
        )
        .layout("sonyflake", Some(7))
        .start(sony)
        .steps(&[&refused(sony + 10, CLOCK_BACKWARD)[..], &refused(sony + 19, CLOCK_BACKWARD), &[issued(sony + 20, 1)]].concat()),
        Script::new("a start, ticks of 1 s", "")
            .layout("ticks of 1 s", Some(7))
            .start(T + 500)
            .steps(&[&refused(T + 500, CLOCK_BACKWARD)[..], &refused(T + 999, CLOCK_BACKWARD), &[issued(T + 1000, 1)]].concat()),
        Script::new("a start, ticks of 1 s and the largest lead", "")
            .layout("ticks of 1 s", Some(7))
            .lead(1000)
            .start(T + 500)
            .steps(&[&refused(T + 500, CLOCK_BACKWARD)[..], &refused(T + 1999, CLOCK_BACKWARD), &[issued(T + 2000, 1)]].concat()),
        Script::new("a start before the epoch", "A predecessor that could not reach the epoch issued nothing.")
            .start(epoch - 11)
            .steps(&[&refused(epoch - 1, CLOCK_BEFORE_EPOCH)[..], &[issued(epoch, 1)]].concat()),
        Script::new("a start whose lead ends at the epoch", "Tick 0 may be the predecessor's.")
            .start(epoch - 10)
            .steps(&[&refused(epoch, CLOCK_BACKWARD)[..], &[issued(epoch + 1, 1)]].concat()),
        Script::new(
            "a clock that falls behind the start",
            "The bound of the start holds later too, though it be within the lead.",
        )
        .start(T)
        .steps(
            &[&[issued(T + 11, 1)][..], &refused(T + 10, CLOCK_BACKWARD), &refused(T + 1, CLOCK_BACKWARD), &[issued(T + 11, 1)]]
                .concat(),
        ),
        Script::new(
            "a start whose lead ends beyond the time field",
            "There is nothing to wait for: no millisecond is left to mint in.",
        )
        .start(last_ms("default") - 5)
        .steps(&refused(last_ms("default"), TIME_EXHAUSTED)),
        Script::new("behind the start and beyond the lead", "Both bounds have to be met: the later one counts.").start(T).steps(
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

fn long_ticks() -> Vec<Value> {
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

fn odd_layouts() -> Vec<Value> {
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

fn every_named_layout() -> Vec<Value> {
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
