//! One open state file: raising its ceiling, and leaving it.
//!
//! * **The ceiling is on disk before it is in force**: the record is written and flushed, and only then does the end of the
//!   window in the mapping move. So no ID has ever been issued at or above what the disk holds.
//! * **The last one out** takes the word away, and only then lowers the ceiling to the end of what was used.
//! * **A path that leads elsewhere** ends the use of the file by this process: it mints nothing more, and when all that it issued is
//!   over, it gives the name to another file ([`crate::name_locks`]).
//! * **A failed flush ends the file until its file system is mounted anew**: the kernel may have dropped the pages and call the
//!   next flush a success. What is on the disk is known again once it is read anew, and its ceiling is above all that was issued.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use frazil::{Code, Error, Machine, SequenceStart, StateAtomics, Subject};

use crate::clock::wall_ms;
use crate::disk::Record;
use crate::fault::Fault;
use crate::file_spec::FileSpec;
use crate::first_id::refuse_far_ahead;
use crate::locks::{self, FileLock, Mode};
use crate::mapped::{MappedState, Slot};
use crate::mutex::lock;
use crate::name_locks::NameLocks;
use crate::os::{self, Identity};
use crate::process;

/// How far the ceiling is raised ahead of the clock.
pub(crate) const WINDOW_MS: u64 = 3000;
/// How long to wait for another process that raises the ceiling: far longer than a flush takes.
const RAISE_LOCK_WAIT: Duration = Duration::from_secs(1);
/// How long leaving waits for another process that attaches, leaves or raises. Where that takes longer, the ceiling stays where it
/// is, as after a crash.
const LEAVE_LOCK_WAIT: Duration = Duration::from_millis(200);

/// What the raiser's thread has too.
#[derive(Debug)]
pub(crate) struct AttachedFile {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    pub(crate) identity: Identity,
    pub(crate) file_system: String,
    pub(crate) name_locks: NameLocks,
    pub(crate) mapped: MappedState,
    pub(crate) start: SequenceStart,
    pub(crate) machine: Machine,
    /// The process that attached: a child that it forks has the same locks, so it must not use them.
    process: u64,
    /// Serialises the threads of this process, which one lock of the file cannot tell apart.
    raising: Mutex<()>,
    /// Once the path led elsewhere: when all that was issued from the file is over, in Unix milliseconds.
    name_free_at_ms: Mutex<Option<u64>>,
    fault: Mutex<Option<Fault>>,
    has_fault: AtomicBool,
    left: AtomicBool,
    pub(crate) raises: AtomicU64,
}

impl AttachedFile {
    /// A file that is open and attached to.
    pub(crate) fn new(
        spec: &FileSpec,
        file: File,
        identity: Identity,
        file_system: String,
        name_locks: NameLocks,
        mapped: MappedState,
    ) -> Self {
        Self {
            path: spec.path().to_owned(),
            file,
            identity,
            file_system,
            name_locks,
            mapped,
            start: spec.sequence_start,
            machine: spec.machine,
            process: process::unique_id(),
            raising: Mutex::new(()),
            name_free_at_ms: Mutex::new(None),
            fault: Mutex::new(None),
            has_fault: AtomicBool::new(false),
            left: AtomicBool::new(false),
            raises: AtomicU64::new(0),
        }
    }

    pub(crate) fn atomics(&self) -> StateAtomics<'_> {
        self.mapped.atomics(self.start)
    }

    /// How long it is until the first ID: until the window begins and, without clock ids to switch to, until the current tick
    /// is within the lead.
    pub(crate) fn wait_ms(&self) -> Result<u64, Fault> {
        let failed = |cause| Fault::failed(&self.path, "read", &cause);
        let now_ms = self.trusted_ms(wall_ms()).map_err(failed)?;
        let (cells, machine) = (self.atomics(), &self.machine);
        let begin_ms = machine.tick_from(cells.from_ms()).saturating_sub(now_ms);
        let lead_ms = match (machine.clock_ids(), cells.word.load(Ordering::Acquire)) {
            (0, word) if word != u64::MAX => machine.lead_ms(word, now_ms).saturating_sub(machine.max_lead_ms()),
            _ => 0,
        };
        let wait_ms = begin_ms.max(lead_ms);
        refuse_far_ahead(&self.path, machine, now_ms.saturating_add(wait_ms), now_ms)?;
        Ok(wait_ms)
    }

    pub(crate) fn failed_before(&self) -> Fault {
        let text = format!(
            "{} could not be flushed to its disk, so what it reserved is not certain to last: check the disk, then unmount its file \
             system and mount it anew, or restart the machine; or pass another node, or a dir on another disk",
            self.path.display()
        );
        Fault::new(Code::StateFileFailed, Subject::Dir, text)
    }

    pub(crate) fn same_process(&self) -> bool {
        self.process == process::unique_id()
    }

    /// Ends the use of the file by this process, for good.
    fn fail(&self, fault: Fault) -> Error {
        let error = fault.error();
        lock(&self.fault).get_or_insert(fault);
        self.has_fault.store(true, Ordering::Release);
        error
    }

    /// Takes a reading of the clocks for what is known of them. Only under the lock that raises hold.
    pub(crate) fn observe_clocks(&self) -> io::Result<()> {
        let (before, since_boot_ms) = (self.mapped.trusted_clock(), os::since_boot_ms()?);
        let after = before.after_reading(wall_ms(), since_boot_ms);
        if after != before {
            self.mapped.set_trusted_clock(after);
        }
        Ok(())
    }

    /// The time to go on with when the clock shows `now_ms`.
    pub(crate) fn trusted_ms(&self, now_ms: u64) -> io::Result<u64> {
        Ok(self.mapped.trusted_clock().trusted_ms(now_ms, os::since_boot_ms()?))
    }

    /// Whether the path still leads to the file, and the file was not deleted (where it is mounted by itself, its path goes on).
    pub(crate) fn is_at_path(&self) -> io::Result<bool> {
        Ok(self.identity.is_at(os::identity_at(&self.path)?) && os::has_links(&self.file)?)
    }

    /// Raises the ceiling so that the window reaches `until_ms`, and returns the time to go on with.
    pub(crate) fn raise(&self, until_ms: u64, now_ms: u64) -> Result<u64, Error> {
        if let Some(fault) = self.fault() {
            return Err(fault.error());
        }
        let failed = |doing| move |cause: io::Error| self.fail(Fault::failed(&self.path, doing, &cause));
        let _thread = lock(&self.raising);
        let Some(_process) = locks::hold(&self.file, FileLock::Raise, RAISE_LOCK_WAIT).map_err(failed("locked"))? else {
            return Err(Error::retry_after(Code::LeaseExpired, 10));
        };
        if self.left.load(Ordering::Acquire) {
            return Err(Error::refusal(Code::Closed, Subject::Generator));
        }
        if self.mapped.get(Slot::Failed) != 0 {
            return Err(self.fail(self.failed_before()));
        }
        let trusted_ms =
            self.observe_clocks().and_then(|()| self.trusted_ms(now_ms)).map_err(failed("used, because there is no clock"))?;
        // The caller asked for a time by a clock that is not believed.
        let until_ms = if trusted_ms == now_ms { until_ms } else { trusted_ms.saturating_add(1) };
        if self.mapped.get(Slot::Until) >= until_ms {
            return Ok(trusted_ms);
        }
        if !self.is_at_path().map_err(failed("found"))? {
            return Err(self.abandon());
        }
        let ceiling_ms = until_ms.max(trusted_ms.saturating_add(WINDOW_MS));
        self.record(ceiling_ms).map_err(|cause| {
            self.mapped.set(Slot::Failed, 1);
            self.fail(Fault::failed(&self.path, "flushed to disk, so nothing more is minted from it", &cause))
        })?;
        self.mapped.set(Slot::Until, ceiling_ms);
        self.raises.fetch_add(1, Ordering::Relaxed);
        Ok(trusted_ms)
    }

    /// Ends minting from a file that the path does not lead to any more.
    fn abandon(&self) -> Error {
        let text = format!(
            "{} was deleted or replaced while it was in use: restart this process, which joins the file that is there then",
            self.path.display()
        );
        let error = self.fail(Fault::new(Code::StateFileCorrupt, Subject::Dir, text));
        let mut until_ms = lock(&self.name_free_at_ms);
        // Others may have the file still, and go on. So what this process has of it is cut off, and then what was used is looked up.
        if until_ms.is_none()
            && self.mapped.make_private()
            && let Ok(mapped) = MappedState::map(&self.file, self.machine.clock_ids())
        {
            *until_ms = Some(mapped.atomics(self.start).used_until_ms(&self.machine));
        }
        error
    }

    /// Looks whether the path still leads to the file, and gives the name free once all that was issued from another is over. For the
    /// raiser, in every process that is attached, whether it mints or not.
    pub(crate) fn check_path(&self) {
        let over = lock(&self.name_free_at_ms).map(|until_ms| wall_ms() >= until_ms);
        match over {
            Some(true) => self.name_locks.clear(),
            Some(false) => {}
            // Where it cannot be looked at, nothing is known, and the next raise says so.
            None if self.is_at_path().unwrap_or(true) => {}
            None => {
                let _thread = lock(&self.raising);
                let _: Error = self.abandon();
            }
        }
    }

    /// Makes a ceiling durable.
    fn record(&self, ceiling_ms: u64) -> io::Result<()> {
        let number = self.mapped.get(Slot::Number) + 1;
        Record { number, ceiling_ms }.write(&self.file)?;
        // `fdatasync`: the length does not change, and the blocks are allocated.
        self.file.sync_data()?;
        self.mapped.set(Slot::Number, number);
        Ok(())
    }

    /// Flushes the file, and raises its ceiling where that lies no further ahead than the next call would raise it. For an opening,
    /// which holds the lock that raises hold.
    pub(crate) fn flush_or_raise(&self, ceiling_ms: u64) -> io::Result<()> {
        let raised_ms = self.trusted_ms(wall_ms())?.saturating_add(WINDOW_MS);
        if raised_ms <= ceiling_ms {
            return self.file.sync_data();
        }
        self.record(raised_ms)?;
        self.mapped.set(Slot::Until, raised_ms);
        Ok(())
    }

    /// How far the window reaches beyond the clock, and a number that moves when IDs are minted: for the raiser.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.mapped.get(Slot::Until).saturating_sub(wall_ms()), self.mapped.get(Slot::Word))
    }

    /// Raises the ceiling ahead of use. A fault is there for the next call to find.
    pub(crate) fn raise_ahead(&self) {
        let now_ms = wall_ms();
        let _: Result<u64, Error> = self.raise(now_ms.saturating_add(WINDOW_MS), now_ms);
    }

    pub(crate) fn fault(&self) -> Option<Fault> {
        if self.has_fault.load(Ordering::Acquire) {
            return lock(&self.fault).clone();
        }
        if self.same_process() {
            return None;
        }
        let text = format!("{} was attached to by the process that forked this one: attach anew", self.path.display());
        Some(Fault::new(Code::Closed, Subject::Generator, text))
    }

    /// Leaves the file. Whoever leaves last lowers the ceiling, so that a start after another boot has less to wait for;
    /// where that fails, nothing is lost but that wait.
    pub(crate) fn leave(&self) -> io::Result<()> {
        self.left.store(true, Ordering::Release);
        // In a child of the process even the mutex may be held, by a thread that is not there.
        if self.fault().is_some() || self.mapped.get(Slot::Failed) != 0 {
            return Ok(());
        }
        let _thread = lock(&self.raising);
        let Some(_attaching) = locks::hold(&self.file, FileLock::Attach, LEAVE_LOCK_WAIT)? else { return Ok(()) };
        let alone = locks::set(&self.file, FileLock::Attached, Mode::Exclusive)?;
        // A forked child has the same lock, and is attached for as long as it lives.
        locks::set(&self.file, FileLock::Attached, Mode::Shared)?;
        if !alone || !self.is_at_path()? {
            return Ok(());
        }
        let Some(_raising) = locks::hold(&self.file, FileLock::Raise, LEAVE_LOCK_WAIT)? else { return Ok(()) };
        let (cells, until_ms) = (self.atomics(), self.mapped.get(Slot::Until));
        let from_ms = cells.from_ms();
        let Some(used_ms) = cells.close(&self.machine) else { return Ok(()) };
        let ceiling_ms = used_ms.max(from_ms).min(until_ms);
        if ceiling_ms < until_ms {
            // From here on the disk holds less than the window, but there is no word to mint from.
            if let Err(cause) = self.record(ceiling_ms) {
                self.mapped.set(Slot::Failed, 1);
                return Err(cause);
            }
            self.mapped.set(Slot::Until, ceiling_ms);
        }
        Ok(())
    }
}
