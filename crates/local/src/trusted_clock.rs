//! The time to mint with when the wall clock steps far ahead of the clock that counts from the boot.
//!
//! If time is reserved up to a wrong reading, that time is lost until it comes. So a step forward by more than a minute is not
//! followed until it has lasted. A reading further back is used at once, since it reserves nothing. But the trusted time follows a step
//! back, too, only once it has lasted: otherwise one process whose clock is wrong would make the right time a step forward for all.
//! A step has lasted if:
//!
//! * it was **seen** at least three times, a minute or more apart, with offsets within a minute of each other;
//! * the first and the last of these sightings are at least **ten minutes** apart;
//! * no reading in between fitted the old time.
//!
//! Each opening of a file and each raise of its ceiling counts as a sighting, in any process of the machine, because the
//! sightings are in the mapped state. So processes that live for a second each follow a step together as one that runs for an
//! hour does.
//!
//! An *offset* is the wall clock minus the clock since the boot, in milliseconds.

/// A step by more than this is not followed at once, and offsets that differ by more are of different steps.
const MAX_STEP_MS: u64 = 60_000;
/// Sightings that are closer together count as one, because a burst of calls shows no more than one call.
const MIN_SIGHTING_GAP_MS: u64 = 60_000;
/// How far apart the first and the last sighting of a step must be.
const MIN_STEP_AGE_MS: u64 = 600_000;
/// How many sightings of a step are needed.
const MIN_SIGHTINGS: u64 = 3;

/// The trusted time, and the sightings of a step that is not trusted yet. The mapped state holds one number for each field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TrustedClock {
    /// The trusted offset.
    pub(crate) offset_ms: u64,
    /// The offset of a step that is not followed yet; without meaning if `sightings` is 0.
    pub(crate) step_offset_ms: u64,
    /// How often that step was seen; 0 if there is none.
    pub(crate) sightings: u64,
    /// When that step was first and last seen, on the clock since the boot.
    pub(crate) first_seen_ms: u64,
    pub(crate) last_seen_ms: u64,
}

impl TrustedClock {
    /// The first reading in a boot: the wall clock is trusted.
    pub(crate) fn new(wall_ms: u64, since_boot_ms: u64) -> Self {
        Self { offset_ms: wall_ms.wrapping_sub(since_boot_ms), ..Self::default() }
    }

    /// The state after a reading of both clocks.
    pub(crate) fn after_reading(self, wall_ms: u64, since_boot_ms: u64) -> Self {
        if wall_ms.abs_diff(self.time_ms(since_boot_ms)) <= MAX_STEP_MS {
            return Self::new(wall_ms, since_boot_ms);
        }
        let step_offset_ms = wall_ms.wrapping_sub(since_boot_ms);
        if self.sightings == 0 || (step_offset_ms.wrapping_sub(self.step_offset_ms).cast_signed()).unsigned_abs() > MAX_STEP_MS {
            return Self { step_offset_ms, sightings: 1, first_seen_ms: since_boot_ms, last_seen_ms: since_boot_ms, ..self };
        }
        if since_boot_ms.saturating_sub(self.last_seen_ms) < MIN_SIGHTING_GAP_MS {
            return self;
        }
        let sightings = self.sightings + 1;
        if sightings >= MIN_SIGHTINGS && since_boot_ms.saturating_sub(self.first_seen_ms) >= MIN_STEP_AGE_MS {
            return Self::new(wall_ms, since_boot_ms);
        }
        Self { sightings, last_seen_ms: since_boot_ms, ..self }
    }

    /// The time by the trusted offset.
    fn time_ms(self, since_boot_ms: u64) -> u64 {
        self.offset_ms.wrapping_add(since_boot_ms)
    }

    /// The time to mint with when the clock shows `now_ms`.
    pub(crate) fn trusted_ms(self, now_ms: u64, since_boot_ms: u64) -> u64 {
        let time_ms = self.time_ms(since_boot_ms);
        if now_ms <= time_ms.saturating_add(MAX_STEP_MS) { now_ms } else { time_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALL: u64 = 1_720_000_000_000;
    const MINUTE: u64 = 60_000;
    const YEAR: u64 = 365 * 24 * 60 * MINUTE;

    /// How far ahead the trusted time is after readings at those minutes since the boot, of clocks that are so many ms ahead.
    fn trusted_ahead_ms(readings: &[(u64, u64)]) -> u64 {
        let last = readings.last().map_or(0, |(minute, _)| *minute);
        let clock = readings.iter().fold(TrustedClock::new(WALL, 0), |clock, (minute, ahead_ms)| {
            clock.after_reading(WALL + minute * MINUTE + ahead_ms, minute * MINUTE)
        });
        clock.time_ms(last * MINUTE) - (WALL + last * MINUTE)
    }

    #[test]
    fn a_step_is_followed_once_it_was_seen_three_times_in_ten_minutes() {
        assert_eq!(trusted_ahead_ms(&[(1, YEAR), (6, YEAR), (11, YEAR)]), YEAR);
        assert_eq!(trusted_ahead_ms(&[(1, YEAR), (6, YEAR), (11, YEAR + MINUTE)]), YEAR + MINUTE, "a clock drifts");
        // The broken rule trusts the second sighting: two processes with one wrong reading each.
        assert_eq!(trusted_ahead_ms(&[(1, YEAR), (12, YEAR)]), 0);
        assert_eq!(trusted_ahead_ms(&[(1, YEAR), (6, YEAR), (10, YEAR)]), 0, "nine minutes");
        assert_eq!(trusted_ahead_ms(&[(1, YEAR), (1, YEAR), (1, YEAR), (12, YEAR)]), 0, "a burst is one sighting");
    }

    #[test]
    fn a_reading_that_fits_the_old_time_or_another_step_resets_the_sightings() {
        assert_eq!(trusted_ahead_ms(&[(1, YEAR), (6, YEAR), (8, 0), (11, YEAR)]), 0);
        assert_eq!(trusted_ahead_ms(&[(1, YEAR), (6, YEAR), (8, 0), (11, YEAR), (16, YEAR), (21, YEAR)]), YEAR);
        assert_eq!(trusted_ahead_ms(&[(1, YEAR), (6, 2 * YEAR), (11, YEAR)]), 0);
        assert_eq!(trusted_ahead_ms(&[(1, YEAR), (6, YEAR), (11, YEAR + MINUTE + 1)]), 0);
    }

    #[test]
    fn small_steps_are_followed_at_once() {
        assert_eq!(trusted_ahead_ms(&[(1, MINUTE)]), MINUTE);
        assert_eq!(trusted_ahead_ms(&[(1, MINUTE + 1)]), 0);
        let after = |wall_ms| TrustedClock::new(WALL, 0).after_reading(wall_ms, 0).time_ms(0);
        assert_eq!((after(WALL - MINUTE), after(WALL - MINUTE - 1)), (WALL - MINUTE, WALL));
    }

    #[test]
    fn a_reading_further_back_is_used_at_once_and_leaves_the_right_time_trusted() {
        let wrong = TrustedClock::new(WALL, 0).after_reading(WALL - YEAR, MINUTE);
        assert_eq!(wrong.trusted_ms(WALL - YEAR, MINUTE), WALL - YEAR);
        // The broken rule follows it: then the right time is a step forward.
        assert_eq!(wrong.trusted_ms(WALL + MINUTE, MINUTE), WALL + MINUTE);
        assert_eq!(wrong.after_reading(WALL + MINUTE, MINUTE).sightings, 0);
    }

    #[test]
    fn a_step_back_is_followed_once_it_has_lasted() {
        let readings = [1, 6, 11].map(|minute| minute * MINUTE);
        let back = readings.iter().fold(TrustedClock::new(WALL, 0), |clock, at| clock.after_reading(WALL + at - YEAR, *at));
        assert_eq!(back.time_ms(11 * MINUTE), WALL + 11 * MINUTE - YEAR);
        assert_eq!(back.trusted_ms(WALL + 11 * MINUTE, 11 * MINUTE), WALL + 11 * MINUTE - YEAR, "a step forward from then on");
    }
}
