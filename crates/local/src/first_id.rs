//! When the first ID can be minted.

use std::path::Path;

use frazil::{Code, Machine, Subject};

use crate::fault::Fault;

/// A ceiling, or a current tick, further ahead of the clock than this says that the clock is wrong.
const MAX_AHEAD_MS: u64 = 60_000;

/// Refuses a first ID that lies far ahead of the clock.
pub(crate) fn refuse_far_ahead(path: &Path, machine: &Machine, first_ms: u64, now_ms: u64) -> Result<(), Fault> {
    let ahead_ms = first_ms.saturating_sub(now_ms);
    // A tick may be longer than that.
    if ahead_ms <= MAX_AHEAD_MS.max(2 * machine.tick_ms()) {
        return Ok(());
    }
    let text = format!(
        "{} has reserved time up to {first_ms} (Unix ms), {} s ahead of the clock, which shows {now_ms}: set the clock right; or \
         wait until then; or pass another node. If the clock is right now and was ahead before, IDs of that future time may \
         exist: only if you know that none do, delete the file",
        path.display(),
        ahead_ms / 1000
    );
    Err(Fault::new(Code::StateFileAhead, Subject::Dir, text))
}
