//! The fast path to one ID: most calls take it, without the machine's rules.
//!
//! After an ID was issued in the clock's own tick, later calls in that tick take the next numbers of its sequence: the word grows by one,
//! and nothing else changes. That holds for a range of words. It begins after the first number of the sequence (where the rules for a new
//! tick lead) and ends before the last one. So a call has two comparisons to make: whether the word is in that range, and whether the clock
//! is in the tick of the word.
//!
//! If the layout has no clock field and sequences start at zero, the first ID of a tick has a fast path as well: the word becomes the
//! second position of the tick. `mint/line.rs` is the same rule in doubles, for JavaScript.
//!
//! * **With the feature `std` only**: the addon and the WebAssembly module reserve through the frame and never come here.
//! * **No other ID than the machine's**: the range comes from an ID that [`Machine::reserve`](crate::mint::Machine::reserve) issued, and
//!   `tests/exhaustive` and `tests/line` compare every answer of the fast paths with the machine's.
//! * Not covered: a sequence that wraps, because its IDs are not in order of the count.

use super::window::Window;
use crate::layout::Geometry;
#[cfg(feature = "std")]
use crate::mint::sync::{AtomicU64, Ordering};

/// The fast path for a layout and node id: its inputs, computed once.
///
/// ```
/// use frazil::{Layout, Node};
/// use frazil::mint::Machine;
/// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
/// let now_ms = 1_704_067_200_100; // tick 100
/// let after_five = (100 << 12) | 5; // the word after five IDs of tick 100
/// let from = machine.fast_path_from(after_five).unwrap();
/// assert_eq!(machine.fast_path().id(after_five, from, now_ms), Some((100 << 22) | (7 << 12) | 5));
/// assert_eq!(machine.fast_path().id(after_five, from, now_ms + 1), None); // the clock is in another tick
/// assert_eq!(machine.fast_path().id(101 << 12, from, now_ms), None); // the word is
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastPath {
    node: u64,
    epoch_ms: u64,
    tick_ms: u64,
    time_max: u64,
    sequence_max: u64,
    clock_max: u64,
    sequence_bits: u8,
    low_bits: u8,
    time_shift: u8,
    clock_shift: u8,
    sequence_shift: u8,
}

impl FastPath {
    #[expect(clippy::cast_possible_truncation, reason = "numbers of bits, at most 64")]
    pub(crate) const fn new(geometry: &Geometry, node: u64) -> Self {
        let Geometry { time, clock, sequence, .. } = geometry;
        Self {
            node,
            epoch_ms: geometry.epoch_ms,
            tick_ms: geometry.tick_ms.get(),
            time_max: time.max(),
            sequence_max: sequence.max(),
            clock_max: clock.max(),
            sequence_bits: sequence.bits as u8,
            low_bits: geometry.low_bits() as u8,
            time_shift: time.shift as u8,
            clock_shift: clock.shift as u8,
            sequence_shift: sequence.shift as u8,
        }
    }

    /// The first word of the range that `last`, the position of an ID, is in: at least 1.
    pub(crate) const fn from(&self, last: u64) -> u64 {
        (last & !self.sequence_max) | 1
    }

    /// The ID at a word, if the word is in the range that begins at `from`, and the clock in the tick of the word.
    #[must_use]
    #[inline]
    pub const fn id(&self, word: u64, from: u64, now_ms: u64) -> Option<u64> {
        // Every layout has a time field, so all shifts are below 64; the mask saves the check for it.
        let tick = word >> (self.low_bits & 63);
        // If the word is not in the range, the tick may be anything and may overflow.
        let since_tick_ms = now_ms.wrapping_sub(self.epoch_ms).wrapping_sub(tick.wrapping_mul(self.tick_ms));
        if word.wrapping_sub(from) >= self.sequence_max.saturating_sub(1) || since_tick_ms >= self.tick_ms {
            return None;
        }
        let time = tick << (self.time_shift & 63);
        let sequence = (word & self.sequence_max) << (self.sequence_shift & 63);
        let fields = if self.clock_max == 0 {
            time | sequence
        } else {
            time | sequence | ((word >> (self.sequence_bits & 63)) & self.clock_max) << (self.clock_shift & 63)
        };
        Some(self.node | fields)
    }

    /// The next word and the first ID of the clock's tick, if no ID of it was issued and the window covers it. For sequences that start at
    /// zero.
    ///
    /// ```
    /// use frazil::{Layout, Node};
    /// use frazil::mint::{Machine, Window};
    /// let fast_path = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?.fast_path();
    /// let now_ms = 1_704_067_200_100; // tick 100
    /// assert_eq!(fast_path.first_id(5 << 12, Window::OPEN, now_ms), Some(((100 << 12) | 1, (100 << 22) | (7 << 12))));
    /// assert_eq!(fast_path.first_id((100 << 12) | 1, Window::OPEN, now_ms), None); // an ID of tick 100 is issued
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn first_id(&self, word: u64, window: Window, now_ms: u64) -> Option<(u64, u64)> {
        let Some(elapsed_ms) = now_ms.checked_sub(self.epoch_ms) else { return None };
        // Most ticks are milliseconds, and a division takes as long as everything else here.
        let tick = if self.tick_ms == 1 { elapsed_ms } else { elapsed_ms / self.tick_ms };
        if tick > self.time_max || self.clock_max > 0 {
            return None;
        }
        let starts_ms = self.epoch_ms + tick * self.tick_ms;
        let first = tick << (self.low_bits & 63);
        if word > first || window.from_ms > starts_ms || window.until_ms < starts_ms + self.tick_ms {
            return None;
        }
        Some((first + 1, self.node | tick << (self.time_shift & 63)))
    }
}

/// The fast path of one generator, and where it is valid: written after the machine issued an ID.
///
/// The two numbers are written one after the other, so a call can read the range of one ID and the origin of another. It still issues no
/// wrong ID: both are written with `Release` after the swap of the word to their tick. A call that reads one of them therefore fails to
/// swap the word of an earlier tick.
#[cfg(feature = "std")]
#[derive(Debug)]
pub(crate) struct FastPathRange {
    way: FastPath,
    /// The first word of the range.
    from: AtomicU64,
    /// The origin of the state for which it is valid, or [`NOWHERE`].
    origin: AtomicU64,
}

/// No origin of a state: the two highest bits are no start of a sequence.
#[cfg(feature = "std")]
const NOWHERE: u64 = u64::MAX;

#[cfg(feature = "std")]
impl FastPathRange {
    /// Leads nowhere until an ID was issued.
    pub(crate) fn new(way: FastPath) -> Self {
        Self { way, from: AtomicU64::new(0), origin: AtomicU64::new(NOWHERE) }
    }

    /// Ends the fast path until the machine issues an ID again.
    pub(crate) fn end(&self) {
        self.origin.store(NOWHERE, Ordering::Relaxed);
    }

    /// Opens it from a word on. `origin` must have been read before the ID was decided.
    pub(crate) fn open(&self, from: u64, origin: u64) {
        self.origin.store(origin, Ordering::Release);
        self.from.store(from, Ordering::Release);
    }

    /// The ID at a word, if the fast path is valid there.
    #[inline]
    pub(crate) fn id(&self, word: u64, now_ms: u64) -> Option<u64> {
        self.way.id(word, self.from.load(Ordering::Acquire), now_ms)
    }

    #[inline]
    pub(crate) const fn first_id(&self, word: u64, window: Window, now_ms: u64) -> Option<(u64, u64)> {
        self.way.first_id(word, window, now_ms)
    }

    #[inline]
    pub(crate) fn has_origin(&self, origin: u64) -> bool {
        self.origin.load(Ordering::Acquire) == origin
    }
}

/// There is none.
#[cfg(not(feature = "std"))]
#[derive(Debug)]
pub(crate) struct FastPathRange;

#[cfg(not(feature = "std"))]
impl FastPathRange {
    pub(crate) const fn new(_: FastPath) -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "with std there is something to end")]
    pub(crate) const fn end(&self) {}
}
