//! Segments: plain increasing numbers, which a store allocates in ranges.

mod machine;
mod messages;
mod patience;
mod range;
mod rate;
mod requests;
mod stats;
mod terms;

pub use machine::Segment;
pub use messages::{Allocated, SegmentRequest};
#[cfg(feature = "abi")]
pub(crate) use range::MAX_STRIDE;
pub use range::{MAX_SEGMENT_NUMBER, SegmentRange};
#[cfg(feature = "abi")]
pub(crate) use requests::REFUSALS_GROWING;
pub use stats::SegmentStats;
pub use terms::{MAX_STEP, SegmentTerms};
