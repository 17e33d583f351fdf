//! When the first ID can be issued after an opening, and when that is too far ahead of the clock.

use std::path::Path;

use frazil::Code;
use frazil::error::Subject;
use frazil::mint::{MAX_LEAD_MS, Machine};

use crate::fault::Fault;
use crate::mapped::CLOSED_WORD;

/// A state whose first ID lies further ahead of the clock than this is refused: its clock was or is wrong.
const MAX_AHEAD_MS: u64 = 60_000;

/// How far ahead of the clock any process can have issued.
pub(crate) const fn issued_ahead_ms(machine: &Machine) -> u64 {
    MAX_LEAD_MS + machine.tick_ms()
}

/// From when on nothing was issued, if the last process that used the state has ended by `now_ms`, and the ceiling on disk is
/// `ceiling_ms`; whatever the mapped state says.
pub(crate) fn unissued_from_ms(machine: &Machine, ceiling_ms: u64, now_ms: u64) -> u64 {
    now_ms.saturating_add(issued_ahead_ms(machine)).min(ceiling_ms)
}

/// How long it is until the first ID of a state at `now_ms`: until the window begins and, without clock ids to switch to, until
/// the current tick is within the lead.
pub(crate) fn wait_ms(machine: &Machine, from_ms: u64, word: u64, now_ms: u64) -> u64 {
    let begin_ms = machine.tick_from(from_ms).saturating_sub(now_ms);
    let lead_ms = match (machine.clock_ids(), word) {
        (0, word) if word != CLOSED_WORD => machine.lead_ms(word, now_ms).saturating_sub(machine.max_lead_ms()),
        _ => 0,
    };
    begin_ms.max(lead_ms)
}

/// Whether a first ID at `first_ms` is too far ahead of the clock. A tick may be longer than the limit.
fn is_far_ahead(machine: &Machine, first_ms: u64, now_ms: u64) -> bool {
    first_ms.saturating_sub(now_ms) > MAX_AHEAD_MS.max(2 * machine.tick_ms())
}

/// Refuses a first ID that is too far ahead of the trusted time `now_ms`. The clock shows `wall_ms`.
pub(crate) fn refuse_far_ahead(path: &Path, machine: &Machine, first_ms: u64, now_ms: u64, wall_ms: u64) -> Result<(), Fault> {
    if !is_far_ahead(machine, first_ms, now_ms) {
        return Ok(());
    }
    let (path, ahead_s) = (path.display(), first_ms.saturating_sub(now_ms) / 1000);
    let text = if now_ms < wall_ms {
        format!(
            "{path} has reserved time up to {first_ms} (Unix ms), {ahead_s} s ahead of the time that is trusted, {now_ms}. The clock shows \
             {wall_ms}, which is followed once it has been seen to last for 10 minutes: wait until then, or pass another node"
        )
    } else {
        format!(
            "{path} has reserved time up to {first_ms} (Unix ms), {ahead_s} s ahead of the clock, which shows {now_ms}: set the clock \
             right; or wait until then; or pass another node. If the clock is right now and was ahead before, IDs of that future \
             time may exist: only if you know that none do, delete the file"
        )
    };
    Err(Fault::new(Code::StateFileAhead, Subject::Dir, text))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

    use frazil::{Layout, Node};

    use super::*;

    fn machine(layout: &str) -> Machine {
        Machine::new(&Layout::named(layout).unwrap(), Node::Id(0), 1000).unwrap()
    }

    #[test]
    fn the_first_id_waits_for_the_window_and_for_the_lead() {
        let machine = machine("default");
        let epoch_ms = machine.tick_from(0);
        // The layout `default` has ticks of 1 ms and a sequence of 12 bits; the last ID issued is one of tick 5000.
        let word = (5000 << 12) | 1;
        let wait = |from_ms, word, now_ms| wait_ms(&machine, epoch_ms + from_ms, word, epoch_ms + now_ms);
        assert_eq!([wait(7000, 0, 6999), wait(7000, 0, 7000), wait(7000, 0, 7001)], [1, 0, 0], "the window alone");
        assert_eq!([wait(0, word, 3999), wait(0, word, 4000), wait(0, word, 4001)], [1, 0, 0], "the lead alone");
        assert_eq!([wait(6000, word, 3000), wait(3500, word, 3000)], [3000, 1000], "the longer of the two");
        assert_eq!(wait(0, CLOSED_WORD, 0), 0, "a closed state has no current tick");
    }

    // docs/internals/claims.md: 12
    #[test]
    fn nothing_was_issued_from_the_ceiling_on_nor_beyond_a_lead_and_a_tick_from_now() {
        let from = |ceiling_ms, now_ms| unissued_from_ms(&machine("default"), ceiling_ms, now_ms);
        assert_eq!([from(5000, 3000), from(4001, 3000), from(4000, 3000), from(2000, 3000)], [4001, 4001, 4000, 2000]);
        assert_eq!(unissued_from_ms(&machine("sonyflake"), 5000, 3000), 4010, "a tick of 10 ms");
        assert_eq!(from(u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn a_layout_with_clock_ids_does_not_wait_for_the_lead() {
        let machine = machine("multi-clock");
        assert!(machine.clock_ids() > 0);
        let now_ms = machine.tick_from(0);
        assert_eq!(wait_ms(&machine, now_ms, 5000 << 12, now_ms), 0);
    }

    #[test]
    fn a_first_id_that_is_more_than_a_minute_ahead_is_refused() {
        let machine = machine("default");
        let refused = |first_ms, now_ms| {
            refuse_far_ahead(Path::new("/a"), &machine, first_ms, now_ms, now_ms).map_err(|fault| fault.code())
        };
        assert_eq!(refused(160_000, 100_000), Ok(()));
        assert_eq!(refused(160_001, 100_000), Err(Code::StateFileAhead));
        assert_eq!(refused(100_000, u64::MAX), Ok(()), "a time that is over");
    }

    #[test]
    fn the_refusal_names_the_clock_and_the_time_that_is_trusted_if_they_differ() {
        let fault = refuse_far_ahead(Path::new("/a"), &machine("default"), 700_000, 100_000, 690_000).unwrap_err();
        assert!(fault.text().contains("600 s ahead of the time that is trusted, 100000. The clock shows 690000"), "{fault}");
        assert!(!fault.text().contains("delete"), "{fault}");
    }
}
