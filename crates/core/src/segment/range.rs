//! Ranges of numbers.

/// The largest number of a segment: the counter, which is above it, fits a `bigint` column of a database.
pub const MAX_SEGMENT_NUMBER: u64 = (1 << 63) - 2;

/// The largest distance between two numbers of a range.
pub(crate) const MAX_STRIDE: u64 = (1 << 31) - 1;

/// Numbers that a store allocated: `first`, `first + stride`, and so on, `count` of them.
///
/// ```
/// let odd = frazil::segment::SegmentRange { first: 1, stride: 2, count: 50 };
/// assert_eq!(odd.end(), Some(100)); // above its last number, 99
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentRange {
    /// The first number.
    pub first: u64,
    /// The distance from one number to the next, at least 1.
    pub stride: u64,
    /// How many numbers.
    pub count: u64,
}

impl SegmentRange {
    /// The number after the last one, if all are numbers of a segment and there is one at least.
    ///
    /// ```
    /// use frazil::segment::{MAX_SEGMENT_NUMBER, SegmentRange};
    /// assert_eq!(SegmentRange { first: 5, stride: 1, count: 0 }.end(), None);
    /// assert_eq!(SegmentRange { first: MAX_SEGMENT_NUMBER, stride: 1, count: 2 }.end(), None);
    /// ```
    #[must_use]
    pub const fn end(&self) -> Option<u64> {
        let Self { first, stride, count } = *self;
        if count == 0 || stride == 0 || stride > MAX_STRIDE {
            return None;
        }
        let Some(length) = stride.checked_mul(count - 1) else { return None };
        let Some(last) = first.checked_add(length) else { return None };
        if last > MAX_SEGMENT_NUMBER { None } else { Some(last + 1) }
    }

    /// Takes numbers off the start.
    pub(super) const fn split(&mut self, count: u64) -> Self {
        let taken = Self { count, ..*self };
        self.count -= count;
        // Numbers behind the last one are never handed out.
        self.first = self.first.saturating_add(self.stride.saturating_mul(count));
        taken
    }
}
