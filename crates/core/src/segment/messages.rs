//! What a segment asks a store, and what a store answers.

use super::range::SegmentRange;
use crate::asking::Nonce;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SegmentRequest {
    /// Nothing: enough is there. Ask again after the next [`Segment::draw`](super::Segment::draw).
    Nothing,
    /// Nothing for so long. Then ask again.
    Wait {
        /// Milliseconds of monotonic time.
        ms: u64,
    },
    /// Ask the store for a range.
    Allocate {
        /// How many numbers; `None`: as many as the store has for the tag.
        count: Option<u64>,
        /// The least number at which the range may begin: the end of all that was allocated to this segment. If the counter of the store is
        /// below it, the store has lost an allocation.
        above: u64,
        /// The attempt. A store that has carried it out answers with the same range again.
        attempt: Nonce,
    },
}

/// A store's answer.
///
/// ```
/// use frazil::asking::Nonce;
/// use frazil::segment::{Allocated, SegmentRange};
/// let answer = Allocated { attempt: Nonce(1), range: SegmentRange { first: 1, stride: 1, count: 1000 }, step: None };
/// assert_eq!(answer.range.end(), Some(1001));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Allocated {
    /// The attempt that asked for it.
    pub attempt: Nonce,
    /// The numbers.
    pub range: SegmentRange,
    /// The step that the store has for the tag, in numbers, if it has one.
    pub step: Option<u64>,
}
