//! Clocks of Linux and macOS.

use std::io;

/// A reading in milliseconds of a clock that cannot be set.
pub(super) fn ms_of(seconds: i64, nanos: i64) -> io::Result<u64> {
    match (u64::try_from(seconds), u64::try_from(nanos)) {
        (Ok(seconds), Ok(nanos)) => Ok(seconds * 1000 + nanos / 1_000_000),
        _ => Err(io::Error::other("the clock since the boot is negative")),
    }
}
