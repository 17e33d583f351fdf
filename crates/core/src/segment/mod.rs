//! Segments: plain increasing numbers, which a store allocates in ranges.

mod machine;
mod messages;
mod range;
mod rate;
mod stats;
mod terms;

#[cfg(feature = "abi")]
pub(crate) use machine::REFUSALS_GROWING;
pub use machine::Segment;
pub use messages::{Allocated, SegmentRequest};
#[cfg(feature = "abi")]
pub(crate) use range::MAX_STRIDE;
pub use range::{MAX_SEGMENT_NUMBER, SegmentRange};
pub use stats::SegmentStats;
pub use terms::{MAX_STEP, SegmentTerms};
