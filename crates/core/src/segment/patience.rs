//! How long a caller that lacks numbers waits for other callers' tries, where no caller can wait for the answer itself: requests to a
//! Cloudflare Worker.
//!
//! * **Each try of an attempt has twice the time of the one before**, so that a slow store gets few. Then another caller makes one beside
//!   it.
//! * **After an answer, the other tries of the attempt have a while to end** before the next attempt begins: the store remembers one
//!   attempt of each process. So a try that it carries out later takes another range, which is never handed out, and a second try of the
//!   next attempt no longer finds its range. Both cost numbers, at most two ranges; waiting for it longer would cost time.
//! * **The time is the latest that a caller saw**: the clocks of two requests differ.

use super::terms::TIMEOUT_MS;

/// How long the first try of an attempt has: twice the time of the last answer, within these bounds, in milliseconds.
const MIN_FIRST_MS: u64 = 50;
const MAX_FIRST_MS: u64 = 500;
/// How long any try has at most, in milliseconds.
const MAX_MS: u64 = 1000;

/// The tries that have not ended, and how long they are waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Patience {
    /// The latest time that a caller saw.
    latest_ms: u64,
    /// A bit for each of the last 64 tries, which is set until that has ended.
    under_way: u64,
    /// How long the last try has.
    try_ms: u64,
    /// When that is over.
    until_ms: u64,
    /// How long the store took to answer the last try that was taken.
    answer_ms: u64,
}

impl Patience {
    /// The time to use: the latest that a caller saw, since a time that goes back would end the try under way. If a clock is behind by more
    /// than a try may take, it was set back, and counts.
    pub(super) const fn seen(&mut self, monotonic_ms: u64) -> u64 {
        if monotonic_ms >= self.latest_ms || self.latest_ms - monotonic_ms >= TIMEOUT_MS {
            self.latest_ms = monotonic_ms;
        }
        self.latest_ms
    }

    /// How long until the tries under way have had their time. A rest that is longer than any try has is left from before the clock was set
    /// back, and counts as over.
    pub(super) const fn left_ms(&self, monotonic_ms: u64) -> u64 {
        let ms = self.until_ms.saturating_sub(monotonic_ms);
        if self.under_way == 0 || ms > MAX_MS + 1 { 0 } else { ms }
    }

    /// A try began. `is_retry`: its attempt had one before.
    pub(super) fn began(&mut self, number: u64, monotonic_ms: u64, is_retry: bool) {
        self.under_way |= bit(number);
        // After a pause a try is the first one of those that follow.
        let is_next = is_retry && monotonic_ms < self.until_ms.saturating_add(MAX_MS);
        self.wait(monotonic_ms, if is_next { self.try_ms } else { 0 });
    }

    /// An answer was taken to a try that began at a time.
    pub(super) fn answered(&mut self, asked_ms: u64, monotonic_ms: u64) {
        self.answer_ms = monotonic_ms.saturating_sub(asked_ms);
        self.wait(monotonic_ms, 0);
    }

    /// Gives the tries under way their time: twice what the one before had.
    fn wait(&mut self, monotonic_ms: u64, before_ms: u64) {
        let first_ms = self.answer_ms.saturating_mul(2).clamp(MIN_FIRST_MS, MAX_FIRST_MS);
        self.try_ms = (2 * before_ms).max(first_ms).min(MAX_MS);
        // One more, since the clock shows whole milliseconds.
        self.until_ms = monotonic_ms.saturating_add(self.try_ms + 1);
    }

    /// A try has ended. To say so twice changes nothing.
    pub(super) const fn ended(&mut self, number: u64) {
        self.under_way &= !bit(number);
    }

    /// The tries that are left of an attempt which is over may never end: a request that made one was cancelled.
    pub(super) const fn forget(&mut self) {
        self.under_way = 0;
    }
}

const fn bit(number: u64) -> u64 {
    1 << (number % 64)
}
