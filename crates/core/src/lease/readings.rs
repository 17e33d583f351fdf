//! Readings of two clocks, and what they tell about the time of the store.

/// How far the wall clock and monotonic time may drift apart, in milliseconds. Beyond that, store time asks the store again, and a lease
/// that only calls renew counts it as a suspension. A suspended machine shows up like that, since monotonic time stands still meanwhile.
/// The clocks of requests that run at the same time differ by less.
pub const MAX_DRIFT_MS: u64 = 1000;

/// The readings of two clocks, taken together.
///
/// ```
/// let now = frazil::lease::Readings { wall_ms: 1_704_067_200_000, monotonic_ms: 5 };
/// assert_eq!(now.monotonic_ms, 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Readings {
    /// Unix milliseconds, from a clock that may be set.
    pub wall_ms: u64,
    /// Milliseconds since any fixed moment, from a clock that is never set.
    pub monotonic_ms: u64,
}

impl Readings {
    /// The readings at a later monotonic time, if the wall clock is not set and the machine is not suspended until then.
    pub(super) const fn moved_to(self, monotonic_ms: u64) -> Self {
        let passed_ms = monotonic_ms.saturating_sub(self.monotonic_ms);
        Self { wall_ms: self.wall_ms.saturating_add(passed_ms), monotonic_ms }
    }
}

/// A difference of two times.
#[inline(never)] // for the size of the WebAssembly module
pub(super) fn difference_ms(minuend_ms: u64, subtrahend_ms: u64) -> i64 {
    let size_ms = i64::try_from(minuend_ms.abs_diff(subtrahend_ms)).unwrap_or(i64::MAX);
    if minuend_ms < subtrahend_ms { -size_ms } else { size_ms }
}

/// How much further the wall clock moved on than monotonic time did.
#[inline(never)] // for the size of the WebAssembly module
pub(super) fn drift_ms(from: Readings, to: Readings) -> i64 {
    difference_ms(to.wall_ms, from.wall_ms).saturating_sub(difference_ms(to.monotonic_ms, from.monotonic_ms))
}

/// The last answer of the store, and when it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    /// The number of the request that was answered.
    pub(super) number: u64,
    /// The store's clock in the answer; or the estimate from earlier answers if that is larger, but no more than the store's clock
    /// can show by now.
    pub(super) store_ms: u64,
    /// What the clocks show then, from what they showed when the store was asked: so a suspension since counts as drift.
    pub(super) at: Readings,
    /// Whether readings since then left the time of the store unknown. The next answer tells it again.
    pub(super) is_lost: bool,
}

impl Anchor {
    pub(super) const fn estimate_ms(&self, monotonic_ms: u64) -> u64 {
        self.store_ms.saturating_add(monotonic_ms.saturating_sub(self.at.monotonic_ms))
    }
}
