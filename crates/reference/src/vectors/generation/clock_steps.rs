//! Scripts of clocks that go back, for layouts without a clock field.

use serde_json::Value;

use super::script::{FULL, HOUR, Script, T, YEAR, issued, refused};
use crate::model::errors::CLOCK_BACKWARD;

pub(super) fn steps_back() -> Vec<Value> {
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
