//! What must sometimes happen: a simulation in which one of these never occurs checks less than it seems.

/// What must happen in some seed.
pub(crate) const EVENTS: [&str; 18] = [
    "a request was lost",
    "an answer was lost",
    "a try timed out",
    "a caller asked beside a try",
    "a late answer was taken",
    "a late answer was dropped",
    "a retry got the range of its first try",
    "another process was faster",
    "a failover lost an allocation",
    "numbers were skipped",
    "a record was read before a failover and replaced after it",
    "a process was killed with numbers left",
    "a process closed",
    "a process was paused for longer than a try",
    "a caller found no number",
    "a range had the longest step",
    "a step became shorter",
    "the next range was asked for with the first number",
];
