//! The wall clock.

use frazil::{Clock, SystemClock};

/// The wall clock. Where it shows a time before 1970 it is at 0, before every epoch.
pub(crate) fn wall_ms() -> u64 {
    SystemClock.now_ms().unwrap_or(0)
}
