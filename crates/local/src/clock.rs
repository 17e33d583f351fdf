//! The wall clock.

use frazil::{Clock, SystemClock};

/// The wall clock in Unix milliseconds. A time before 1970 counts as 0, which is before every epoch.
pub(crate) fn wall_ms() -> u64 {
    SystemClock.now_ms().unwrap_or(0)
}
