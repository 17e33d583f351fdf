//! Pauses after failed attempts to reach a store.

/// The longest pause after a failed attempt, in milliseconds.
pub const MAX_BACKOFF_MS: u64 = 5000;

/// The pause after the first failed attempt. It doubles with each further one.
pub(crate) const FIRST_BACKOFF_MS: u64 = 100;

/// The pause after `failures` failures in a row, at least one. `jitter` is any random number.
pub(crate) fn backoff_ms(failures: u32, jitter: u64) -> u64 {
    let doublings = failures.saturating_sub(1).min(16);
    let doubled_ms = FIRST_BACKOFF_MS.checked_shl(doublings).unwrap_or(MAX_BACKOFF_MS);
    with_jitter(doubled_ms.min(MAX_BACKOFF_MS), jitter)
}

/// A pause of half to all of `pause_ms`, so that holders that failed together do not come back together.
#[inline(never)] // for the size of the WebAssembly module
pub(crate) const fn with_jitter(pause_ms: u64, jitter: u64) -> u64 {
    let half_ms = pause_ms / 2;
    match jitter.checked_rem(pause_ms - half_ms + 1) {
        Some(more_ms) => half_ms + more_ms,
        None => half_ms,
    }
}
