//! The ceiling of a state file: the record on disk, and the end of the window in the mapped state.
//!
//! * **The ceiling is on disk before the window reaches it.** The record is written and flushed, and only then does the end of
//!   the window in the mapped state move. So no ID was ever issued at or above the ceiling on disk.
//! * **A flush that the disk failed is noted in the mapped state** ([`Slot::FlushFailed`]), and all processes find it there. The kernel
//!   may have dropped the pages and report the next flush as a success. If it drops the page with the note, the next start is like one
//!   after a crash, and repeats nothing either ([`crate::start_rule`]).
//! * **A failure of one process alone is not noted**: a write (a limit on file sizes), which changes at most the older record; a flush that
//!   is forbidden to the process (seccomp), which has not begun; a clock that cannot be read.
//! * **When it is raised, and to where**, is the core's rule ([`CeilingRule`]), counted from the clock. `crates/core/src/ceiling.rs` says
//!   how a ceiling in a storage differs, and why.
//! * **The time that counts is the trusted time** ([`crate::trusted_clock`]), so one wrong reading of the clock reserves nothing.
//!
//! All methods that write need the lock [`crate::locks::FileLock::Raise`].

use std::fs::File;
use std::io;
use std::sync::atomic::Ordering;

use frazil::ceiling::CeilingRule;

use crate::clock::wall_ms;
use crate::disk::Record;
use crate::fault::is_forbidden;
use crate::mapped::{MappedState, Slot};
use crate::os;

/// How far the ceiling is raised ahead of the clock.
pub(crate) const WINDOW_MS: u64 = 3000;
const RULE: CeilingRule = CeilingRule::ahead(WINDOW_MS);

/// The ceiling of an open state file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ceiling<'a> {
    file: &'a File,
    mapped: &'a MappedState,
}

/// What a call that extends the window needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raise {
    /// The time to mint with.
    pub(crate) trusted_ms: u64,
    /// The ceiling to raise to; `None` if the window reaches far enough.
    pub(crate) ceiling_ms: Option<u64>,
}

impl Raise {
    /// The caller's clock shows `now_ms`, and it needs the window up to `until_ms`. The window reaches to `end_ms` now.
    const fn needed(until_ms: u64, now_ms: u64, trusted_ms: u64, end_ms: u64) -> Self {
        // If the clock is not trusted, what the caller needs is counted from the trusted time.
        let until_ms = if trusted_ms == now_ms { until_ms } else { trusted_ms.saturating_add(1) };
        Self { trusted_ms, ceiling_ms: RULE.raised(end_ms, until_ms, trusted_ms) }
    }
}

/// Why the ceiling was not moved.
#[derive(Debug)]
pub(crate) enum Unmoved {
    /// The record could not be written or flushed.
    Failed(io::Error),
    /// Something else was written over the mapped state.
    Overwritten,
}

impl<'a> Ceiling<'a> {
    pub(crate) const fn new(file: &'a File, mapped: &'a MappedState) -> Self {
        Self { file, mapped }
    }

    /// Whether the disk has failed a flush in this mount.
    pub(crate) fn has_failed(self) -> bool {
        self.mapped.get(Slot::FlushFailed) != 0
    }

    /// The trusted time when the clock shows `now_ms`.
    pub(crate) fn trusted_ms(self, now_ms: u64) -> io::Result<u64> {
        Ok(self.mapped.trusted_clock().trusted_ms(now_ms, os::since_boot_ms()?))
    }

    /// Reads the clocks, and notes what the reading says of the wall clock.
    pub(crate) fn observe_clocks(self) -> io::Result<()> {
        let (before, since_boot_ms) = (self.mapped.trusted_clock(), os::since_boot_ms()?);
        let after = before.after_reading(wall_ms(), since_boot_ms);
        if after != before {
            self.mapped.set_trusted_clock(after);
        }
        Ok(())
    }

    /// What a call needs whose clock shows `now_ms`, and that wants to issue IDs up to `until_ms`.
    pub(crate) fn needed(self, until_ms: u64, now_ms: u64) -> io::Result<Raise> {
        self.observe_clocks()?;
        let trusted_ms = self.trusted_ms(now_ms)?;
        Ok(Raise::needed(until_ms, now_ms, trusted_ms, self.mapped.get(Slot::WindowEnd)))
    }

    /// Flushes the file.
    pub(crate) fn flush(self) -> io::Result<()> {
        self.file.sync_data().inspect_err(|cause| {
            if !is_forbidden(cause) {
                self.mapped.set(Slot::FlushFailed, 1);
            }
        })
    }

    /// Flushes the file, and raises the ceiling with the same flush if a call at `now_ms` would raise it above `ceiling_ms`.
    pub(crate) fn flush_or_raise(self, ceiling_ms: u64, now_ms: u64) -> Result<(), Unmoved> {
        let raised_ms = RULE.raised(ceiling_ms, now_ms.saturating_add(WINDOW_MS), now_ms);
        raised_ms.map_or_else(|| self.flush().map_err(Unmoved::Failed), |raised_ms| self.move_to(raised_ms))
    }

    /// Moves the ceiling, on disk first. Lowering it needs a state that is closed.
    pub(crate) fn move_to(self, ceiling_ms: u64) -> Result<(), Unmoved> {
        self.move_after(self.mapped.get(Slot::RecordNumber), ceiling_ms)
    }

    /// Makes a ceiling durable, in the record after the one with that number, and then moves the end of the window there.
    fn move_after(self, before: u64, ceiling_ms: u64) -> Result<(), Unmoved> {
        let number = before + 1;
        // `fdatasync`: the length does not change, and the blocks are allocated.
        Record { number, ceiling_ms }.write(self.file).and_then(|()| self.flush()).map_err(Unmoved::Failed)?;
        // No other process writes the number meanwhile. If it is another one, something else was written over the file, and the window
        // must not move: the word may be older than the IDs. The disk works.
        let newest = self.mapped.at(Slot::RecordNumber);
        if newest.compare_exchange(before, number, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return Err(Unmoved::Overwritten);
        }
        self.mapped.set(Slot::WindowEnd, ceiling_ms);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

    use super::*;

    #[test]
    fn the_ceiling_is_raised_where_the_window_is_too_short_and_by_the_trusted_time() {
        let raise = |trusted_ms, ceiling_ms| Raise { trusted_ms, ceiling_ms };
        // The clock is trusted.
        assert_eq!(Raise::needed(50, 10, 10, 50), raise(10, None), "the window reaches as far");
        assert_eq!(Raise::needed(50, 10, 10, 49), raise(10, Some(10 + WINDOW_MS)));
        assert_eq!(Raise::needed(9000, 10, 10, 50), raise(10, Some(9000)), "further than a window");
        // The clock shows a year ahead: what the caller wants does not count.
        assert_eq!(Raise::needed(900_000, 800_000, 10, 11), raise(10, None));
        assert_eq!(Raise::needed(900_000, 800_000, 10, 10), raise(10, Some(10 + WINDOW_MS)));
        assert_eq!(Raise::needed(u64::MAX, u64::MAX, u64::MAX, 5), raise(u64::MAX, Some(u64::MAX)));
    }

    /// A state file without a header, with the ceiling 0 and a mapped state of zeros.
    struct Sample {
        path: std::path::PathBuf,
        file: File,
        mapped: MappedState,
    }

    impl Sample {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("frazil-ceiling-{name}-{}", std::process::id()));
            let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
            file.set_len(MappedState::file_len(0)).unwrap();
            for number in [0, 1] {
                Record { number, ceiling_ms: 0 }.write(&file).unwrap();
            }
            let mapped = MappedState::map(&file, 0).unwrap();
            mapped.set(Slot::RecordNumber, 1);
            Self { path, file, mapped }
        }

        /// The record on disk, and the number, the end of the window and the failure in the mapped state.
        fn state(&self) -> (Record, [u64; 3]) {
            let numbers = [Slot::RecordNumber, Slot::WindowEnd, Slot::FlushFailed].map(|slot| self.mapped.get(slot));
            (Record::read(&self.file).unwrap().unwrap(), numbers)
        }
    }

    impl Drop for Sample {
        fn drop(&mut self) {
            drop(std::fs::remove_file(&self.path));
        }
    }

    #[test]
    fn moving_the_ceiling_writes_the_next_record_and_then_moves_the_window() {
        let sample = Sample::new("moves");
        let ceiling = Ceiling::new(&sample.file, &sample.mapped);
        ceiling.move_to(7000).unwrap();
        assert_eq!(sample.state(), (Record { number: 2, ceiling_ms: 7000 }, [2, 7000, 0]));
        ceiling.move_to(6000).unwrap();
        assert_eq!(sample.state(), (Record { number: 3, ceiling_ms: 6000 }, [3, 6000, 0]));
        assert!(!ceiling.has_failed());
    }

    // docs/internals/claims.md: 10, 17
    #[test]
    fn a_write_that_fails_leaves_the_window_where_it_was_and_is_not_noted() {
        let sample = Sample::new("fails");
        Ceiling::new(&sample.file, &sample.mapped).move_to(7000).unwrap();
        let read_only = File::open(&sample.path).unwrap();
        let ceiling = Ceiling::new(&read_only, &sample.mapped);
        assert!(matches!(ceiling.move_to(9000), Err(Unmoved::Failed(_))));
        assert_eq!(sample.state(), (Record { number: 2, ceiling_ms: 7000 }, [2, 7000, 0]));
        assert!(!ceiling.has_failed());
    }

    #[test]
    fn what_is_written_over_the_mapped_state_meanwhile_does_not_count_as_a_failed_flush() {
        let sample = Sample::new("overwritten");
        let ceiling = Ceiling::new(&sample.file, &sample.mapped);
        ceiling.move_to(7000).unwrap();
        // Another number than the one that was read before the flush.
        assert!(matches!(ceiling.move_after(4, 9000), Err(Unmoved::Overwritten)));
        assert_eq!(sample.state().1, [2, 7000, 0]);
    }

    #[test]
    fn an_opening_raises_the_ceiling_with_its_flush_unless_it_is_high_enough() {
        let sample = Sample::new("opening");
        let ceiling = Ceiling::new(&sample.file, &sample.mapped);
        ceiling.flush_or_raise(5 + WINDOW_MS, 5).unwrap();
        assert_eq!(sample.state().0.number, 1);
        ceiling.flush_or_raise(4 + WINDOW_MS, 5).unwrap();
        assert_eq!(sample.state(), (Record { number: 2, ceiling_ms: 5 + WINDOW_MS }, [2, 5 + WINDOW_MS, 0]));
    }
}
