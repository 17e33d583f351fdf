//! The steps of a segment: how many numbers its next range has.

/// The terms of a segment.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) max_step: u128,
    pub(crate) grow_below_ms: u128,
    pub(crate) shrink_above_ms: u128,
}

impl Terms {
    /// The step after `step`, if `numbers` numbers lasted so long. A step leaves the range from the base to the maximum only if it
    /// is outside already, so each change is limited by the middle one of three values.
    pub(crate) fn next_step(&self, step: u128, base: u128, lasted_ms: u128, numbers: u128) -> u128 {
        // How long a range of `step` numbers lasts, in parts of a millisecond of which `numbers` are one.
        let lasted = lasted_ms * step;
        let lasted_short = lasted < self.grow_below_ms * numbers;
        let lasted_long = lasted > self.shrink_above_ms * numbers;
        match (lasted_short, lasted_long) {
            (true, _) => middle([step, step * 2, self.max_step]),
            (_, true) => middle([step, step / 2, base]),
            _ => step,
        }
    }

    /// The counts of requests, if the first one has `base` numbers. For each further one: how long after the request before it is
    /// made, and how many numbers were used meanwhile; without a number, all of the range that was asked for before. The first
    /// range is asked for by a caller that waits, and the second when it begins, so the time between those two requests says
    /// nothing about the load.
    pub(crate) fn counts(&self, base: u128, requests: &[(u128, Option<u128>)]) -> Vec<u128> {
        let mut counts = vec![base];
        for (at, (lasted_ms, used)) in requests.iter().enumerate() {
            let before = counts[at];
            let next = if at == 0 { base } else { self.next_step(before, base, *lasted_ms, used.unwrap_or(before)) };
            counts.push(next);
        }
        counts
    }
}

fn middle(mut values: [u128; 3]) -> u128 {
    values.sort_unstable();
    values[1]
}
