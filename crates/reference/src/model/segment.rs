//! The steps of a segment: how many numbers its next range has.

/// The terms of a segment.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) max_step: u128,
    pub(crate) grow_below_ms: u128,
    pub(crate) shrink_above_ms: u128,
}

impl Terms {
    /// The step after a range of `step` numbers that lasted so long. A step leaves the range from the base to the maximum only if
    /// it is outside already, so each change is limited by the middle one of three values.
    pub(crate) fn next_step(&self, step: u128, base: u128, lasted_ms: u128) -> u128 {
        let lasted_short = lasted_ms < self.grow_below_ms;
        let lasted_long = lasted_ms > self.shrink_above_ms;
        match (lasted_short, lasted_long) {
            (true, _) => middle([step, step * 2, self.max_step]),
            (_, true) => middle([step, step / 2, base]),
            _ => step,
        }
    }

    /// The counts of the requests that are made at these times, each when the range before is used up, if the first one has `base`
    /// numbers. The first range is asked for by a caller that waits, and the second when it begins, so the time between those two
    /// requests says nothing about the load.
    pub(crate) fn counts(&self, base: u128, asked_ms: &[u128]) -> Vec<u128> {
        let mut counts = vec![base; asked_ms.len().min(2)];
        for at in 2..asked_ms.len() {
            counts.push(self.next_step(counts[at - 1], base, asked_ms[at] - asked_ms[at - 1]));
        }
        counts
    }
}

fn middle(mut values: [u128; 3]) -> u128 {
    values.sort_unstable();
    values[1]
}
