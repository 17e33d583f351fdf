//! How fast numbers are used, and what follows from it: how many to ask for, and when.

use super::terms::SegmentTerms;

/// A range that a number was drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Begun {
    pub(super) size: u64,
    pub(super) at_ms: u64,
}

/// A moment: the time, and how many numbers were handed out by then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Mark {
    pub(super) at_ms: u64,
    pub(super) used: u64,
}

impl Mark {
    /// How long ago another moment was, and how many numbers were used since; `None` if none was, or if the clock went back.
    pub(super) fn since(self, before: Self) -> Option<(u64, u64)> {
        let lasted_ms = self.at_ms.checked_sub(before.at_ms)?;
        let used = self.used.checked_sub(before.used)?;
        (used > 0).then_some((lasted_ms, used))
    }
}

/// A range that was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Usage {
    pub(super) numbers: u64,
    pub(super) lasted_ms: u64,
}

/// How many numbers to ask for, and the fewest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Step {
    pub(super) current: u64,
    pub(super) base: u64,
}

impl Step {
    /// The step after what was used from one moment to another.
    pub(super) fn after(self, terms: &SegmentTerms, from: Option<Mark>, now: Mark) -> Self {
        let Some((lasted_ms, numbers)) = from.and_then(|from| now.since(from)) else { return self };
        Self { current: terms.next_step(self.current, self.base, lasted_ms, numbers), ..self }
    }
}

/// The next range is asked for when fewer numbers than this are left of a range of `count`: nine tenths, or more if that, at the rate of
/// the last range, would be used up in twice the time that the store takes to answer.
pub(super) fn ask_below(count: u64, used: Option<Usage>, fetch_ms: u64) -> u64 {
    let usual = count - count.div_ceil(10);
    let Some(Usage { numbers, lasted_ms }) = used else { return usual };
    let needed = numbers.saturating_mul(fetch_ms).saturating_mul(2) / lasted_ms.max(1);
    // Not `clamp`, which could panic.
    needed.max(usual).min(count)
}
