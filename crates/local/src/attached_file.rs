//! A state file that this process is attached to: extending its window, and ending its use.
//!
//! * **The last process to leave** closes the state: it swaps the word for all ones, and only then lowers the ceiling to the end
//!   of the last tick used.
//! * **If the path leads to another file**, this process stops using the file: it mints nothing more. Once all ticks that it can have
//!   issued are over, it releases its locks of the name, so that another file of the name can be opened ([`crate::name_locks`]). Until
//!   these ticks are over, no call reports the loss and no generator is closed: the caller may then end the process, and with it the locks.
//! * **If something else is written over the file**, such as an older copy of it, this process stops using it: at each raise, and
//!   each time the ceiling's thread looks at the path, it compares the header, and the number of the newest record, which only grows.
//! * **After a failed flush** nothing is issued until the file system is mounted again. Then the state begins at the ceiling that
//!   is read from the disk, which is above all that was issued.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

use frazil::error::Subject;
use frazil::mint::{MAX_LEAD_MS, Machine, SequenceStart, StateAtomics};
use frazil::{Code, Error};

use crate::ceiling::{Ceiling, Raise, Unmoved, WINDOW_MS};
use crate::clock::wall_ms;
use crate::disk::Header;
use crate::fault::Fault;
use crate::file_spec::FileSpec;
use crate::first_id;
use crate::locks::{self, FileLock, UserByte};
use crate::mapped::{CLOSED_WORD, MappedState, Slot};
use crate::mutex::{lock, lock_within};
use crate::name_locks::NameLocks;
use crate::os::{self, Identity};
use crate::process;

/// How long a call waits for another thread or process that raises the ceiling: far longer than a flush takes.
const RAISE_LOCK_WAIT: Duration = Duration::from_secs(1);
/// How long a look waits for it: what takes less is a flush that goes well, and no obstacle.
const LOOK_WAIT: Duration = Duration::from_millis(20);
/// How long the ceiling's thread waits for it. It has to check the path in time too.
const AHEAD_LOCK_WAIT: Duration = Duration::from_millis(250);
/// How long leaving waits for another process that attaches, leaves or raises. If that takes longer, the ceiling stays where it
/// is, as after a crash.
const LEAVE_LOCK_WAIT: Duration = Duration::from_millis(200);

/// How long giving up a file waits at most for what was issued to be over. It takes longer only if the clock was set back, or in a
/// layout whose ticks are longer than a second.
const MAX_END_WAIT: Duration = Duration::from_millis(2 * MAX_LEAD_MS);

/// A state file that this process is attached to. The ceiling's thread shares it.
#[derive(Debug)]
pub(crate) struct AttachedFile {
    pub(crate) path: PathBuf,
    // The fields are dropped in this order. The mapping refers to the open file too, so the kernel frees the file's locks when
    // the mapping is dropped, after those of the name.
    pub(crate) file: File,
    pub(crate) identity: Identity,
    pub(crate) file_system: String,
    pub(crate) name_locks: NameLocks,
    pub(crate) mapped: MappedState,
    /// Shows this process as attached. The state is started before.
    pub(crate) user: OnceLock<UserByte>,
    header: Header,
    /// The largest number of a record that this process has seen.
    newest_record: AtomicU64,
    pub(crate) sequence_start: SequenceStart,
    pub(crate) machine: Machine,
    /// The process that attached. A forked child has the same locks, so it must not use them.
    process: u64,
    /// Serializes the threads of this process, because they share the locks of the open file.
    raising: Mutex<()>,
    /// Set once the path was seen to lead to another file, before anything else is done about it.
    displaced: AtomicBool,
    /// Set once the mapping is private because the path leads to another file: the Unix millisecond at which all that was issued
    /// from this file is over.
    name_free_at_ms: Mutex<Option<u64>>,
    /// Whether the file that was given up is closed.
    detached: AtomicBool,
    fault: Mutex<Option<Fault>>,
    has_fault: AtomicBool,
    left: AtomicBool,
    /// How often this process raised the ceiling.
    pub(crate) raises: AtomicU64,
}

impl AttachedFile {
    pub(crate) fn new(
        spec: &FileSpec,
        file: File,
        identity: Identity,
        file_system: String,
        name_locks: NameLocks,
        mapped: MappedState,
        header: Header,
    ) -> Self {
        Self {
            path: spec.path().to_owned(),
            file,
            identity,
            file_system,
            name_locks,
            mapped,
            user: OnceLock::new(),
            header,
            newest_record: AtomicU64::new(0),
            sequence_start: spec.sequence_start,
            machine: spec.machine,
            process: process::unique_id(),
            raising: Mutex::new(()),
            displaced: AtomicBool::new(false),
            name_free_at_ms: Mutex::new(None),
            detached: AtomicBool::new(false),
            fault: Mutex::new(None),
            has_fault: AtomicBool::new(false),
            left: AtomicBool::new(false),
            raises: AtomicU64::new(0),
        }
    }

    pub(crate) fn atomics(&self) -> StateAtomics<'_> {
        self.mapped.atomics(self.sequence_start)
    }

    pub(crate) const fn ceiling(&self) -> Ceiling<'_> {
        Ceiling::new(&self.file, &self.mapped)
    }

    /// How long it is until the first ID.
    pub(crate) fn wait_ms(&self) -> Result<u64, Fault> {
        let failed = |cause| Fault::failed(&self.path, "read", &cause);
        let clock_ms = wall_ms();
        let now_ms = self.ceiling().trusted_ms(clock_ms).map_err(failed)?;
        let (atomics, machine) = (self.atomics(), &self.machine);
        let from_ms = atomics.from_ms();
        let wait_ms = first_id::wait_ms(machine, from_ms, atomics.word.load(Ordering::Acquire), now_ms);
        first_id::refuse_far_ahead(&self.path, machine, now_ms.saturating_add(wait_ms), now_ms, clock_ms)?;
        Ok(wait_ms)
    }

    /// The refusal of a file with an earlier flush that failed.
    pub(crate) fn flush_failed_before(&self) -> Fault {
        let text = format!("{} could not be flushed to its disk, so what it reserved may be lost", self.path.display());
        let hint = "Check the disk, then unmount its file system and mount it anew, or restart the machine. Or pass another \
                    node.";
        Fault::new(Code::StateFileFailed, Subject::Dir, text, hint)
    }

    /// The refusal of a file whose flush has just failed.
    fn flush_failed(&self, cause: &io::Error) -> Fault {
        Fault::not_flushed(&self.path, cause)
    }

    pub(crate) fn same_process(&self) -> bool {
        self.process == process::unique_id()
    }

    /// Why this process issues nothing more from the file, if so.
    pub(crate) fn fault(&self) -> Option<Fault> {
        if self.same_process() {
            return self.has_fault.load(Ordering::Acquire).then(|| lock(&self.fault).clone()).flatten();
        }
        // In a forked child the mutex may be held by a thread that does not exist there.
        let text = format!("{} was opened by the process that forked this one", self.path.display());
        Some(Fault::new(Code::Closed, Subject::Generator, text, "Open it again in this process."))
    }

    /// Ends the use of the file by this process, for good. The first fault is kept.
    fn fail(&self, fault: Fault) -> Error {
        let error = lock(&self.fault).get_or_insert(fault).error();
        self.has_fault.store(true, Ordering::Release);
        error
    }

    /// Whether something else was written over the file: nothing that uses it changes the header, and the numbers of the records grow.
    /// The caller holds the mutex of raising, or nothing else uses this: otherwise another thread notes a newer record in between.
    pub(crate) fn is_overwritten(&self) -> io::Result<bool> {
        let number = self.mapped.get(Slot::RecordNumber);
        let newest = self.newest_record.fetch_max(number, Ordering::Release);
        Ok(self.mapped.lacks_magic() || number < newest || Header::read(&self.file)?.as_ref() != Some(&self.header))
    }

    /// Whether the mapping alone shows that, which needs no mutex: the number of the newest record is read before that of the mapping,
    /// which can only be larger. It does not show contents with another header, such as another node id's file.
    pub(crate) fn shows_overwritten(&self) -> bool {
        let newest = self.newest_record.load(Ordering::Acquire);
        self.mapped.lacks_magic() || self.mapped.get(Slot::RecordNumber) < newest
    }

    /// Ends the use of the file by this process if something else was written over it. The caller holds the mutex of raising.
    fn check_contents(&self) -> Result<(), Error> {
        match self.is_overwritten() {
            Ok(false) => Ok(()),
            Ok(true) => Err(self.give_up_contents()),
            Err(cause) => Err(self.fail(Fault::failed(&self.path, "read", &cause))),
        }
    }

    /// Ends the use of the file by this process at once, because something else was written over it: the window in those contents may
    /// end much later.
    fn give_up_contents(&self) -> Error {
        let error = self.fail(Fault::overwritten(&self.path));
        // Another program may use the file that it has written. Where the system has no private memory, the state is closed for all that
        // use the file; the magic number tells them why, and an opening too.
        if !self.mapped.make_private() {
            self.mapped.set(Slot::Magic, 0);
            self.mapped.set(Slot::Word, CLOSED_WORD);
        }
        error
    }

    /// The refusal of a file whose ceiling could not be moved.
    pub(crate) fn not_raised(&self, cause: &Unmoved) -> Fault {
        match cause {
            Unmoved::Failed(cause) => self.flush_failed(cause),
            Unmoved::Overwritten => Fault::overwritten(&self.path),
        }
    }

    /// Whether the path still leads to the file, and the file was not deleted. A file that is mounted by itself keeps its path
    /// when it is deleted.
    pub(crate) fn is_at_path(&self) -> io::Result<bool> {
        Ok(self.identity.is_at(os::identity_at(&self.path)?) && os::has_links(&self.file)?)
    }

    /// Whether this process has seen that the path leads to another file.
    pub(crate) fn is_displaced(&self) -> bool {
        self.displaced.load(Ordering::Acquire)
    }

    /// Extends the window to `until_ms` at least, and returns the trusted time.
    pub(crate) fn raise(&self, until_ms: u64, now_ms: u64) -> Result<u64, Error> {
        self.raise_within(RAISE_LOCK_WAIT, until_ms, now_ms)
    }

    /// The same, and waits at most `wait` for each other thread and process that raises the ceiling.
    fn raise_within(&self, wait: Duration, until_ms: u64, now_ms: u64) -> Result<u64, Error> {
        if let Some(fault) = self.fault() {
            return Err(fault.error());
        }
        let failed = |doing| move |cause: io::Error| self.fail(Fault::failed(&self.path, doing, &cause));
        let started = Instant::now();
        let Some(_thread) = self.hold_raising(wait) else { return Err(call_again()) };
        let mut process = None;
        let rest = wait.saturating_sub(started.elapsed());
        locks::retry_for(rest, || {
            process = locks::hold(&self.file, FileLock::Raise, Duration::ZERO)?;
            Ok(process.is_some() || self.is_displaced())
        })
        .map_err(failed("locked"))?;
        // Another thread has seen that the path leads elsewhere, and waits for this one.
        if self.is_displaced() {
            drop(process);
            return Err(self.abandon());
        }
        let Some(process) = process else { return Err(call_again()) };
        // The caller's clock was read before the wait.
        let waited_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let [until_ms, now_ms] = [until_ms, now_ms].map(|ms| ms.saturating_add(waited_ms));
        // Again, because the use of the file may have ended while this call waited for the locks: then the mapping is a copy.
        if let Some(fault) = self.fault() {
            return Err(fault.error());
        }
        if self.left.load(Ordering::Acquire) {
            return Err(Error::with_subject(Code::Closed, Subject::Generator));
        }
        self.check_contents()?;
        let ceiling = self.ceiling();
        if ceiling.has_failed() {
            return Err(self.fail(self.flush_failed_before()));
        }
        let needed = ceiling.needed(until_ms, now_ms).map_err(failed("used, because there is no clock"))?;
        let Raise { trusted_ms, ceiling_ms: Some(ceiling_ms) } = needed else { return Ok(needed.trusted_ms) };
        let found = self.is_at_path();
        if !matches!(found, Ok(true)) {
            // Other processes may go on with the file.
            drop(process);
            return Err(match found {
                Ok(_) => self.abandon(),
                Err(cause) => self.abandon_for(Fault::failed(&self.path, "found", &cause)),
            });
        }
        if let Err(cause) = ceiling.move_to(ceiling_ms) {
            // If that is why it failed, the error says so.
            self.check_contents()?;
            return Err(match cause {
                Unmoved::Failed(cause) => self.fail(self.flush_failed(&cause)),
                Unmoved::Overwritten => self.give_up_contents(),
            });
        }
        // Again, because it may have been overwritten since.
        self.check_contents()?;
        self.raises.fetch_add(1, Ordering::Relaxed);
        Ok(trusted_ms)
    }

    /// The refusal of a call that needs the ceiling raised, if another thread or process has been at that for longer than a flush takes;
    /// or if the file is to be given up, which takes until all that was issued is over.
    pub(crate) fn obstacle(&self) -> Option<Error> {
        if self.is_displaced() {
            return Some(call_again());
        }
        let Some(_thread) = lock_within(&self.raising, LOOK_WAIT, || false) else { return Some(call_again()) };
        // If the lock cannot be looked at, a call finds out why.
        let free = locks::retry_for(LOOK_WAIT, || Ok(!locks::is_held_by_another(&self.file, FileLock::Raise)?));
        (!free.unwrap_or(true)).then(call_again)
    }

    /// Raises the ceiling before a call needs it. The next call finds a fault.
    pub(crate) fn raise_ahead(&self) {
        let now_ms = wall_ms();
        let _: Result<u64, Error> = self.raise_within(AHEAD_LOCK_WAIT, now_ms.saturating_add(WINDOW_MS), now_ms);
    }

    /// Locks the mutex of raising. `None` if that takes longer than `wait`. If the thread that holds it gives up the file, the caller
    /// has to wait for the end of that too; but not for longer than that takes, since the thread may hang on its disk.
    fn hold_raising(&self, wait: Duration) -> Option<MutexGuard<'_, ()>> {
        lock_within(&self.raising, wait, || self.is_displaced())
            .or_else(|| self.is_displaced().then(|| lock_within(&self.raising, MAX_END_WAIT + wait, || false)).flatten())
    }

    /// How far the window reaches beyond the clock.
    pub(crate) fn window_left_ms(&self) -> u64 {
        self.mapped.get(Slot::WindowEnd).saturating_sub(wall_ms())
    }

    /// A number that changes when IDs are minted.
    pub(crate) fn word(&self) -> u64 {
        self.mapped.get(Slot::Word)
    }

    /// Ends minting from a file that the path does not lead to any more, and waits until all that was issued from it is over.
    /// The caller holds the mutex of raising, and no lock of the file.
    fn abandon(&self) -> Error {
        let text = format!("{} was deleted or replaced while it was in use", self.path.display());
        let hint = "Restart this process. It then uses the file that is there.";
        self.abandon_for(Fault::new(Code::StateFileCorrupt, Subject::Dir, text, hint))
    }

    /// The same, for what was found at the path.
    fn abandon_for(&self, fault: Fault) -> Error {
        self.displaced.store(true, Ordering::Release);
        let end_ms = *lock(&self.name_free_at_ms);
        let end_ms = end_ms.unwrap_or_else(|| {
            // Other processes may still have the file and go on. So the mapping is made private first, and what was used is read
            // afterwards, from a new mapping.
            let is_private = self.mapped.make_private();
            let used_ms = |mapped: &MappedState| mapped.atomics(self.sequence_start).used_until_ms(&self.machine);
            let mapped_again = MappedState::map(&self.file, self.machine.clock_ids());
            // If the file cannot be mapped again, all counts as used that can have been issued.
            let issued_ms = || self.now_ms().saturating_add(first_id::issued_ahead_ms(&self.machine));
            let end_ms = mapped_again.as_ref().map_or_else(|_| used_ms(&self.mapped).max(issued_ms()), used_ms);
            // If the mapping is still shared, this process may go on for a moment, and keeps the locks.
            if is_private {
                *lock(&self.name_free_at_ms) = Some(end_ms);
                drop(mapped_again);
                self.detach();
            }
            self.sleep_until(end_ms);
            end_ms
        });
        self.release_name(end_ms);
        // While the mapping is shared, other calls may go on, so the loss is not reported. The next call tries again.
        if lock(&self.name_free_at_ms).is_none() {
            return call_again();
        }
        self.fail(fault)
    }

    /// Closes the file that was given up. Nothing of this process uses it any more, so it must not count as attached, unless a
    /// forked child does. If no descriptor is free for that, it is tried again once the directories are closed.
    fn detach(&self) {
        if !self.detached.load(Ordering::Relaxed) {
            self.detached.store(os::detach_file(&self.file), Ordering::Relaxed);
        }
    }

    /// Releases the locks of the name of a file that was given up, if all that was issued from it is over.
    fn release_name(&self, end_ms: u64) {
        if self.now_ms() >= end_ms && lock(&self.name_free_at_ms).is_some() {
            self.name_locks.release();
            self.detach();
        }
    }

    /// The time by which IDs are minted: 0, which is before all that was issued, if there is no clock.
    fn now_ms(&self) -> u64 {
        self.ceiling().trusted_ms(wall_ms()).unwrap_or(0)
    }

    /// Waits until all that was issued up to `end_ms` is over, but no longer than [`MAX_END_WAIT`].
    fn sleep_until(&self, end_ms: u64) {
        let started = Instant::now();
        loop {
            let rest = Duration::from_millis(end_ms.saturating_sub(self.now_ms()));
            let pause = rest.min(MAX_END_WAIT.saturating_sub(started.elapsed()));
            if pause.is_zero() {
                return;
            }
            sleep(pause);
        }
    }

    /// Checks whether the path still leads to the file and nothing was written over it, and releases the name's locks once all that was
    /// issued from a file that was given up is over. The ceiling's thread calls it in every process that is attached, whether it mints or
    /// not.
    pub(crate) fn check_use(&self) {
        let end_ms = *lock(&self.name_free_at_ms);
        match end_ms {
            Some(end_ms) => self.release_name(end_ms),
            // If the path cannot be looked up, nothing is known. The next raise reports it.
            None if self.is_at_path().unwrap_or(true) => {
                // Here as well, because most processes leave raising to one, and would know an old record. A call that raises checks it.
                if let Ok(_thread) = self.raising.try_lock()
                    && self.fault().is_none()
                {
                    // The next call finds the fault.
                    let _: Result<(), Error> = self.check_contents();
                }
            }
            None => {
                self.displaced.store(true, Ordering::Release);
                let _thread = lock(&self.raising);
                let _: Error = self.abandon();
            }
        }
    }

    /// Leaves the file. The last process to leave lowers the ceiling, so that a start in another boot has less to wait for. If
    /// that fails, that wait is all that is lost.
    pub(crate) fn leave(&self) -> io::Result<()> {
        self.left.store(true, Ordering::Release);
        // In a forked child the mutex itself may be held by a thread that does not exist there.
        if !self.same_process() {
            return Ok(());
        }
        // Only the ceiling's thread can hold the mutex for long. If its disk hangs, it has the file and the locks of the name until it
        // goes on. By then what was issued is over.
        let Some(_thread) = self.hold_raising(MAX_END_WAIT) else { return Ok(()) };
        // With the file the locks of the name are released, so what was issued has to be over if another file can have the name.
        if self.is_displaced() || !self.is_at_path().unwrap_or(false) {
            let _: Error = self.abandon();
            return Ok(());
        }
        let mut used_ms = None;
        let result = self.close_if_last(&mut used_ms);
        // Looked up again, because leaving can wait for locks and for the disk.
        if !self.is_at_path().unwrap_or(false) {
            match used_ms {
                // The word is closed, so the mapping no longer shows what was used.
                Some(used_ms) => self.sleep_until(used_ms),
                None => drop(self.abandon()),
            }
        }
        result
    }

    /// Closes the state if no other process is attached, and notes the end of the last tick used.
    fn close_if_last(&self, closed: &mut Option<u64>) -> io::Result<()> {
        if self.fault().is_some() || self.ceiling().has_failed() {
            return Ok(());
        }
        let Some(_attaching) = locks::hold(&self.file, FileLock::Attach, LEAVE_LOCK_WAIT)? else { return Ok(()) };
        // A forked child has the same lock, and is attached for as long as it lives.
        if locks::another_is_attached(&self.file, self.user.get().copied())? || !self.is_at_path()? {
            return Ok(());
        }
        let Some(_raising) = locks::hold(&self.file, FileLock::Raise, LEAVE_LOCK_WAIT)? else { return Ok(()) };
        let (atomics, until_ms) = (self.atomics(), self.mapped.get(Slot::WindowEnd));
        let from_ms = atomics.from_ms();
        let Some(used_ms) = atomics.close(&self.machine) else { return Ok(()) };
        *closed = Some(used_ms);
        let ceiling_ms = used_ms.max(from_ms).min(until_ms);
        if ceiling_ms < until_ms {
            // While this runs, the disk holds less than the window, but there is no word to mint from.
            return match self.ceiling().move_to(ceiling_ms) {
                Err(Unmoved::Failed(cause)) => Err(cause),
                // There is nothing left to end.
                Ok(()) | Err(Unmoved::Overwritten) => Ok(()),
            };
        }
        Ok(())
    }
}

/// The refusal of a call that waited too long for another thread or process to raise the ceiling, or lacked the memory to give the file up.
const fn call_again() -> Error {
    Error::retry_after(Code::LeaseExpired, 10)
}
