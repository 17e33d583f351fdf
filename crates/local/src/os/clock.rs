//! Clocks of Linux and macOS.

use std::io;

use nix::time::{ClockId, clock_gettime};

/// Milliseconds on a clock that cannot be set.
pub(super) fn clock_ms(clock: ClockId) -> io::Result<u64> {
    let time = clock_gettime(clock)?;
    match (u64::try_from(time.tv_sec()), u64::try_from(time.tv_nsec())) {
        (Ok(seconds), Ok(nanos)) => Ok(seconds * 1000 + nanos / 1_000_000),
        _ => Err(io::Error::other("the clock since the boot is negative")),
    }
}
