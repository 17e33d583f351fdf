//! Scripts in which the clock goes back, for layouts without a clock field.

use serde_json::Value;

use super::script::{HOUR_MS, MAX_WANT, Script, T, YEAR_MS, issued, refused};
use crate::model::errors::CLOCK_BACKWARD;

pub(super) fn scripts() -> Vec<Value> {
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
            .max_lead_ms(0)
            .steps(&[&[issued(T, 2)][..], &refused(T - 1, CLOCK_BACKWARD), &[issued(T, 2), issued(T + 1, 1)]].concat()),
        Script::new(
            "a step back after borrowing",
            "Lead is lead, wherever it came from: four borrowed ticks leave six milliseconds.",
        )
        .steps(
            &[
                &[issued(T, MAX_WANT); 4][..],
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
            .max_lead_ms(1000)
            .steps(&[&[issued(T, 1), issued(T - 1000, 1)][..], &refused(T - 1001, CLOCK_BACKWARD), &[issued(T + 1, 1)]].concat()),
    ];
    for (name, step_ms) in [("1 s", 1000), ("1 h", HOUR_MS), ("1 day", 24 * HOUR_MS)] {
        scripts.push(recovery(name, T, step_ms));
    }
    scripts.push(recovery("1 year", T + 2 * YEAR_MS, YEAR_MS));
    scripts
}

fn recovery(name: &str, at_ms: u128, step_ms: u128) -> Value {
    Script::new(
        &format!("a step back of {name}, and recovery"),
        "Refused until the clock is within the lead again, to the millisecond.",
    )
    .steps(
        &[
            &[issued(at_ms, 3)][..],
            &refused(at_ms - step_ms, CLOCK_BACKWARD),
            &refused(at_ms - step_ms + 1, CLOCK_BACKWARD),
            &refused(at_ms - 11, CLOCK_BACKWARD),
            &[issued(at_ms - 10, 1), issued(at_ms, 1), issued(at_ms + 1, 1)],
        ]
        .concat(),
    )
}
