//! Counters of a segment.

/// Counters of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SegmentStats {
    /// How many numbers a range that is asked for next has; 0 if the store decides.
    pub step: u64,
    /// How many numbers are there to hand out, in all ranges.
    pub left: u64,
    /// How many ranges are there.
    pub buffers: u64,
    /// How many ranges the store allocated.
    pub ranges: u64,
    /// How many numbers they had.
    pub allocated: u64,
    /// How many attempts failed in a row.
    pub failures: u32,
    /// How long the store takes to answer, in milliseconds: the longest of the last answers.
    pub fetch_ms: u64,
}
