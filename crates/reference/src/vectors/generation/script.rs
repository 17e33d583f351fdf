//! A script: the options of a generator, and a list of steps. A step says what the clock shows, how many IDs are asked for, and
//! which kind of answer the script is about; writing fails if the model answers otherwise.

use serde_json::{Value, json};

use crate::model::generator::{Generator, Refusal};
use crate::model::layout::Layout;
use crate::model::minting::SequenceStart;
use crate::vectors::json::{decimal, merge, number};
use crate::vectors::test_layouts::test_layout;

/// The most IDs that a step asks for: as many as the frame holds. The default layout has as many in a tick.
pub(super) const MAX_WANT: usize = 4096;
// The kinds of answers that are not codes.
pub(super) const IDS: &str = "ids";
pub(super) const RECHECK: &str = "recheck";

/// Unix milliseconds: a day after the start of 2024. It is the start of a tick in every layout whose epoch is the start of 2024
/// and whose ticks divide a second.
pub(super) const T: u128 = 1_704_067_200_000 + 86_400_000;
pub(super) const HOUR_MS: u128 = 3_600_000;
pub(super) const YEAR_MS: u128 = 365 * 24 * HOUR_MS;

/// The time in Unix milliseconds, how many IDs are asked for, whether the call is confirmed, and the expected kind of answer.
pub(super) type Step = (u128, usize, bool, &'static str);

/// A script without its steps. Unless said otherwise: the default layout, node 7, a lead of 10 ms, an unknown start of the
/// process, and sequences from 0.
pub(super) struct Script {
    name: String,
    comment: &'static str,
    layout: &'static str,
    node: Option<u128>,
    max_lead_ms: u128,
    start_ms: Option<u128>,
    sequence_start: SequenceStart,
}

impl Script {
    pub(super) fn new(name: &str, comment: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            comment,
            layout: "default",
            node: Some(7),
            max_lead_ms: 10,
            start_ms: None,
            sequence_start: SequenceStart::Zero,
        }
    }

    pub(super) fn layout(mut self, layout: &'static str, node: Option<u128>) -> Self {
        (self.layout, self.node) = (layout, node);
        self
    }

    pub(super) fn max_lead_ms(mut self, max_lead_ms: u128) -> Self {
        self.max_lead_ms = max_lead_ms;
        self
    }

    pub(super) fn start_ms(mut self, start_ms: u128) -> Self {
        self.start_ms = Some(start_ms);
        self
    }

    pub(super) fn sequence_start(mut self, sequence_start: SequenceStart) -> Self {
        self.sequence_start = sequence_start;
        self
    }

    /// The script as JSON, with the answers of the model.
    pub(super) fn steps(self, steps: &[Step]) -> Value {
        let test = test_layout(self.layout);
        let layout = &test.layout;
        let mut generator = Generator::new(layout, self.node.unwrap_or(0), self.max_lead_ms, self.start_ms, self.sequence_start);
        let answer = |(step, &(now_ms, want, confirmed, expected_kind)): (usize, &Step)| {
            let (kind, expect) = answer(layout, &mut generator, now_ms, want, confirmed);
            assert_eq!(kind, expected_kind, "{}, step {step}", self.name);
            json!({ "nowMs": number(now_ms), "want": want, "confirmed": confirmed, "expect": expect })
        };
        let steps: Vec<Value> = steps.iter().enumerate().map(answer).collect();
        let (sequence_start, key) = match self.sequence_start {
            SequenceStart::Zero => ("zero", None),
            SequenceStart::Random(key) => ("random", Some(key)),
            SequenceStart::Wrap(key) => ("wrap", Some(key)),
        };
        json!({
            "name": self.name,
            "comment": self.comment,
            "layout": test.name,
            "node": self.node.map_or(json!("none"), number),
            "maxLeadMs": number(self.max_lead_ms),
            "startMs": self.start_ms.map(number),
            "sequenceStart": sequence_start,
            "key": key.map(|key| key.map(|half| half.to_string())),
            "steps": steps,
        })
    }
}

fn answer(layout: &Layout, generator: &mut Generator, now_ms: u128, want: usize, confirmed: bool) -> (&'static str, Value) {
    match generator.reserve(now_ms, want, confirmed) {
        Ok(ids) => {
            let first = ids.first().copied().unwrap_or_default();
            let last = ids.last().copied().unwrap_or_default();
            let tick_start_ms = layout.start_ms((now_ms - layout.epoch_ms) / layout.tick_ms);
            let expect = json!({
                "ids": { "first": decimal(first), "last": decimal(last), "count": ids.len() },
                "validFromMs": number(tick_start_ms),
                "validUntilMs": number(tick_start_ms + layout.tick_ms),
            });
            (IDS, expect)
        }
        Err(Refusal::Recheck) => (RECHECK, json!({ "recheck": true })),
        Err(Refusal::Code(code, retry_after_ms)) => {
            let retry = retry_after_ms.map_or(json!({}), |after_ms| json!({ "retryAfterMs": number(after_ms) }));
            (code, merge(json!({ "code": code }), retry))
        }
    }
}

/// A call that is refused, as a host makes it: not confirmed, and once more after the recheck.
pub(super) const fn refused(now_ms: u128, code: &'static str) -> [Step; 2] {
    [(now_ms, 1, false, RECHECK), (now_ms, 1, true, code)]
}

/// A call that issues IDs at once.
pub(super) const fn issued(now_ms: u128, want: usize) -> Step {
    (now_ms, want, false, IDS)
}

/// A call for which the generator follows the clock back, under another clock id: only after the recheck.
pub(super) const fn switched(now_ms: u128, want: usize) -> [Step; 2] {
    [(now_ms, want, false, RECHECK), (now_ms, want, true, IDS)]
}

/// The start of the last tick of a layout, in Unix milliseconds.
pub(super) fn last_ms(name: &str) -> u128 {
    test_layout(name).layout.plan().last_ms
}
