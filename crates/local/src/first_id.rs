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

/// A time in Unix milliseconds as a date of ISO 8601 in UTC. By the algorithm `civil_from_days` of Howard Hinnant, whose years begin
/// in March.
fn date(unix_ms: u64) -> String {
    let (days, second) = (unix_ms / 86_400_000, unix_ms / 1000 % 86_400);
    // Day 719,468 after 0000-03-01 is 1970-01-01. An era is 400 years.
    let (era, day_of_era) = ((days + 719_468) / 146_097, (days + 719_468) % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// Refuses a first ID that is too far ahead of the trusted time `now_ms`. The clock shows `wall_ms`.
pub(crate) fn refuse_far_ahead(path: &Path, machine: &Machine, first_ms: u64, now_ms: u64, wall_ms: u64) -> Result<(), Fault> {
    if !is_far_ahead(machine, first_ms, now_ms) {
        return Ok(());
    }
    let (of, hint) = if now_ms < wall_ms {
        let hint = format!(
            "The clock shows {}, which is followed once it has been seen to last for 10 minutes. Wait until then, or pass another node.",
            date(wall_ms)
        );
        ("the time that is trusted is", hint)
    } else {
        let hint = "Set the clock right, wait until then, or pass another node. If the clock is right now and was ahead before, IDs of \
                    that future time may exist: only if you know that none do, delete the file.";
        ("the clock shows", hint.to_owned())
    };
    let text = format!("{} has reserved time until {}, and {of} {}", path.display(), date(first_ms), date(now_ms));
    Err(Fault::new(Code::StateFileAhead, Subject::Dir, text, hint))
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
        let hint = fault.hint().unwrap();
        assert!(fault.text().ends_with("and the time that is trusted is 1970-01-01T00:01:40Z"), "{fault}");
        assert!(hint.starts_with("The clock shows 1970-01-01T00:11:30Z") && !hint.contains("delete"), "{hint}");
    }

    #[test]
    fn dates_are_those_of_iso_8601() {
        for (unix_ms, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399_999, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (951_868_800_000, "2000-03-01T00:00:00Z"),
            (1_709_251_199_000, "2024-02-29T23:59:59Z"),
            (1_735_689_599_000, "2024-12-31T23:59:59Z"),
            (1_767_225_600_000, "2026-01-01T00:00:00Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(date(unix_ms), expected);
        }
    }
}
