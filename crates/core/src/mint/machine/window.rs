//! The times that a state may issue, bounded at both ends.
//!
//! A window is the right to mint: it begins after everything that a predecessor may have issued, and ends before anything that a successor
//! may issue. The machine compares the start and the end of each tick with the window, so even a wrong clock issues no ID outside it.

/// The times that may be issued: ticks that lie in `[from_ms, until_ms)` as a whole, in Unix milliseconds.
///
/// ```
/// use frazil::{Layout, Node};
/// use frazil::mint::{Machine, Outcome, Window};
/// let machine = Machine::new(&Layout::named("sonyflake")?, Node::Id(7), 0)?; // ticks of 10 ms
/// let window = Window { from_ms: 1_409_529_600_015, until_ms: 1_409_529_600_035 };
/// let Outcome::Issued { block, .. } = machine.reserve(0, window, &[], 1_409_529_600_021, 1, true) else { unreachable!() };
/// assert_eq!(block.first(), (2 << 24) | 7); // tick 1 began before the window
/// let expired = machine.reserve(0, window, &[], 1_409_529_600_031, 1, true);
/// assert_eq!(expired, Outcome::Expired { until_ms: 1_409_529_600_040 }); // and tick 3 would end after it
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// Nothing earlier is issued.
    pub from_ms: u64,
    /// Nothing from here on is issued.
    pub until_ms: u64,
}

impl Window {
    /// All times.
    pub const OPEN: Self = Self::since(0);

    /// All times from one on.
    #[must_use]
    pub const fn since(from_ms: u64) -> Self {
        Self { from_ms, until_ms: u64::MAX }
    }
}
