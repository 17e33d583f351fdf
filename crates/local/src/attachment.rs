//! One open state file: raising its ceiling, and leaving it.
//!
//! * **The ceiling is on disk before it is in force**: the record is written and flushed, and only then does the end of the
//!   window in the mapping move. So no ID has ever been issued at or above what the disk holds.
//! * **The last one out** takes the word away, and only then lowers the ceiling to the end of what was used.
//! * **A path that leads elsewhere** ends the use of the file by this process: it mints nothing more, and when all that it issued is
//!   over, it gives the name to another file ([`crate::presence`]).
//! * **A failed flush ends the file until its file system is mounted anew**: the kernel may have dropped the pages and call the
//!   next flush a success. What is on the disk is known again once it is read anew, and its ceiling is above all that was issued.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use frazil::{Code, Error, Keeper, Machine, SequenceStart, StateAtomics, StateFile, Subject};

use crate::disk::Record;
use crate::fault::Fault;
use crate::host;
use crate::live::{Live, Place};
use crate::locks::{self, Mode, Range};
use crate::opening::{self, OpenedBlind, refuse_ahead};
use crate::os::{self, Identity};
use crate::presence::Presence;
use crate::process;
use crate::raiser::Raiser;
use crate::target::Target;

/// How far the ceiling is raised ahead of the clock.
pub(crate) const WINDOW_MS: u64 = 3000;
/// How long to wait for another process that raises the ceiling: far longer than a flush takes.
const RAISE_PATIENCE: Duration = Duration::from_secs(1);
/// How long leaving waits for another process that attaches, leaves or raises. Where that takes longer, the ceiling stays where it
/// is, as after a crash.
const LEAVE_PATIENCE: Duration = Duration::from_millis(200);

/// How long to wait for the raiser's thread to notice that the file is left: for 20 ms at most.
const CLOSING_LOOKS: u32 = 200;
const CLOSING_LOOK: Duration = Duration::from_micros(100);

/// A state file in use by this process.
#[derive(Debug)]
pub(crate) struct Attachment {
    shared: Arc<Shared>,
    raiser: Raiser,
}

/// What the raiser's thread has too.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    pub(crate) identity: Identity,
    file_system: String,
    pub(crate) presence: Presence,
    pub(crate) live: Live,
    start: SequenceStart,
    pub(crate) machine: Machine,
    /// The process that attached: a child that it forks has the same locks, so it must not use them.
    process: u64,
    /// Serialises the threads of this process, which one lock of the file cannot tell apart.
    raising: Mutex<()>,
    /// Once the path led elsewhere: when all that was issued from the file is over, in Unix milliseconds.
    displaced_until_ms: Mutex<Option<u64>>,
    fault: Mutex<Option<Fault>>,
    faulty: AtomicBool,
    left: AtomicBool,
    raises: AtomicU64,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the mutexes guard is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Attachment {
    /// Opens a state file, and makes it where there is none. Returns also how long it is until the first ID.
    pub(crate) fn open(target: &Target, wait_ms: u64, blind: &mut OpenedBlind) -> Result<(Self, u64), Fault> {
        let (shared, wait_ms) = opening::open(target, wait_ms, blind)?;
        let shared = Arc::new(shared);
        Ok((Self { raiser: Raiser::start(&shared), shared }, wait_ms))
    }

    /// Whether this is still the file of a path, and usable.
    pub(crate) fn current(&self) -> bool {
        self.shared.same_process() && self.fault().is_none() && self.shared.in_place().unwrap_or(false)
    }

    pub(crate) fn start(&self) -> SequenceStart {
        self.shared.start
    }

    /// How long it is until the first ID, for one more generator.
    pub(crate) fn wait_ms(&self) -> Result<u64, Fault> {
        self.shared.wait_ms()
    }
}

impl Shared {
    /// A file that is open and attached to.
    pub(crate) fn new(
        target: &Target,
        file: File,
        identity: Identity,
        file_system: String,
        presence: Presence,
        live: Live,
    ) -> Self {
        Self {
            path: target.path().to_owned(),
            file,
            identity,
            file_system,
            presence,
            live,
            start: target.sequence_start,
            machine: target.machine,
            process: process::current(),
            raising: Mutex::new(()),
            displaced_until_ms: Mutex::new(None),
            fault: Mutex::new(None),
            faulty: AtomicBool::new(false),
            left: AtomicBool::new(false),
            raises: AtomicU64::new(0),
        }
    }

    pub(crate) fn atomics(&self) -> StateAtomics<'_> {
        self.live.atomics(self.start)
    }

    /// How long it is until the first ID: until the window begins and, without clock ids to switch to, until the current tick
    /// is within the lead.
    pub(crate) fn wait_ms(&self) -> Result<u64, Fault> {
        let failed = |cause| Fault::failed(&self.path, "read", &cause);
        let now_ms = self.go_by_ms(host::wall_ms()).map_err(failed)?;
        let (cells, machine) = (self.atomics(), &self.machine);
        let begin_ms = machine.tick_from(cells.from_ms()).saturating_sub(now_ms);
        let lead_ms = match (machine.clock_ids(), cells.word.load(Ordering::Acquire)) {
            (0, word) if word != u64::MAX => machine.lead_ms(word, now_ms).saturating_sub(machine.max_lead_ms()),
            _ => 0,
        };
        let wait_ms = begin_ms.max(lead_ms);
        refuse_ahead(&self.path, machine, now_ms.saturating_add(wait_ms), now_ms)?;
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

    fn same_process(&self) -> bool {
        self.process == process::current()
    }

    /// Ends the use of the file by this process, for good.
    fn poison(&self, fault: Fault) -> Error {
        let error = fault.error();
        lock(&self.fault).get_or_insert(fault);
        self.faulty.store(true, Ordering::Release);
        error
    }

    /// Takes a reading of the clocks for what is known of them. Only under the lock that raises hold.
    pub(crate) fn learn(&self) -> io::Result<()> {
        let (before, since_boot_ms) = (self.live.trust(), os::since_boot_ms()?);
        let after = before.after_reading(host::wall_ms(), since_boot_ms);
        if after != before {
            self.live.set_trust(after);
        }
        Ok(())
    }

    /// The time to go on with when the clock shows `now_ms`.
    fn go_by_ms(&self, now_ms: u64) -> io::Result<u64> {
        Ok(self.live.trust().go_by(now_ms, os::since_boot_ms()?))
    }

    /// Whether the path still leads to the file, and the file was not deleted (where it is mounted by itself, its path goes on).
    fn in_place(&self) -> io::Result<bool> {
        Ok(self.identity.is_at(os::identity_at(&self.path)?) && os::has_a_name(&self.file)?)
    }

    /// Raises the ceiling so that the window reaches `until_ms`, and returns the time to go on with.
    pub(crate) fn raise(&self, until_ms: u64, now_ms: u64) -> Result<u64, Error> {
        if let Some(fault) = self.fault() {
            return Err(fault.error());
        }
        let failed = |doing| move |cause: io::Error| self.poison(Fault::failed(&self.path, doing, &cause));
        let _thread = lock(&self.raising);
        let Some(_process) = locks::hold(&self.file, Range::Raise, RAISE_PATIENCE).map_err(failed("locked"))? else {
            return Err(Error::retry_after(Code::LeaseExpired, 10));
        };
        if self.left.load(Ordering::Acquire) {
            return Err(Error::with_subject(Code::Closed, Subject::Generator));
        }
        if self.live.get(Place::Failed) != 0 {
            return Err(self.poison(self.failed_before()));
        }
        let go_on_ms = self.learn().and_then(|()| self.go_by_ms(now_ms)).map_err(failed("used, because there is no clock"))?;
        // The caller asked for a time by a clock that is not believed.
        let until_ms = if go_on_ms == now_ms { until_ms } else { go_on_ms.saturating_add(1) };
        if self.live.get(Place::Until) >= until_ms {
            return Ok(go_on_ms);
        }
        if !self.in_place().map_err(failed("found"))? {
            return Err(self.give_up());
        }
        let ceiling_ms = until_ms.max(go_on_ms.saturating_add(WINDOW_MS));
        self.record(ceiling_ms).map_err(|cause| {
            self.live.set(Place::Failed, 1);
            self.poison(Fault::failed(&self.path, "flushed to disk, so nothing more is minted from it", &cause))
        })?;
        self.live.set(Place::Until, ceiling_ms);
        self.raises.fetch_add(1, Ordering::Relaxed);
        Ok(go_on_ms)
    }

    /// Ends minting from a file that the path does not lead to any more.
    fn give_up(&self) -> Error {
        let text = format!(
            "{} was deleted or replaced while it was in use: restart this process, which joins the file that is there then",
            self.path.display()
        );
        let error = self.poison(Fault::new(Code::StateFileCorrupt, Subject::Dir, text));
        let mut until_ms = lock(&self.displaced_until_ms);
        // Others may have the file still, and go on. So what this process has of it is cut off, and then what was used is looked up.
        if until_ms.is_none()
            && self.live.cut_off()
            && let Ok(live) = Live::map(&self.file, self.machine.clock_ids())
        {
            *until_ms = Some(live.atomics(self.start).used_until_ms(&self.machine));
        }
        error
    }

    /// Looks whether the path still leads to the file, and gives the name free once all that was issued from another is over. For the
    /// raiser, in every process that is attached, whether it mints or not.
    pub(crate) fn watch(&self) {
        let over = lock(&self.displaced_until_ms).map(|until_ms| host::wall_ms() >= until_ms);
        match over {
            Some(true) => self.presence.clear(),
            Some(false) => {}
            // Where it cannot be looked at, nothing is known, and the next raise says so.
            None if self.in_place().unwrap_or(true) => {}
            None => {
                let _thread = lock(&self.raising);
                let _: Error = self.give_up();
            }
        }
    }

    /// Makes a ceiling durable.
    fn record(&self, ceiling_ms: u64) -> io::Result<()> {
        let number = self.live.get(Place::Number) + 1;
        Record { number, ceiling_ms }.write(&self.file)?;
        // `fdatasync`: the length does not change, and the blocks are allocated.
        self.file.sync_data()?;
        self.live.set(Place::Number, number);
        Ok(())
    }

    /// Flushes the file, and raises its ceiling where that lies no further ahead than the next call would raise it. For an opening,
    /// which holds the lock that raises hold.
    pub(crate) fn flush_or_raise(&self, ceiling_ms: u64) -> io::Result<()> {
        let raised_ms = self.go_by_ms(host::wall_ms())?.saturating_add(WINDOW_MS);
        if raised_ms <= ceiling_ms {
            return self.file.sync_data();
        }
        self.record(raised_ms)?;
        self.live.set(Place::Until, raised_ms);
        Ok(())
    }

    /// How far the window reaches beyond the clock, and a number that moves when IDs are minted: for the raiser.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.live.get(Place::Until).saturating_sub(host::wall_ms()), self.live.get(Place::Word))
    }

    /// Raises the ceiling ahead of use. A fault is there for the next call to find.
    pub(crate) fn raise_ahead(&self) {
        let now_ms = host::wall_ms();
        let _: Result<u64, Error> = self.raise(now_ms.saturating_add(WINDOW_MS), now_ms);
    }

    fn fault(&self) -> Option<Fault> {
        if self.faulty.load(Ordering::Acquire) {
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
    fn leave(&self) -> io::Result<()> {
        self.left.store(true, Ordering::Release);
        // In a child of the process even the mutex may be held, by a thread that is not there.
        if self.fault().is_some() || self.live.get(Place::Failed) != 0 {
            return Ok(());
        }
        let _thread = lock(&self.raising);
        let Some(_attaching) = locks::hold(&self.file, Range::Attach, LEAVE_PATIENCE)? else { return Ok(()) };
        let alone = locks::set(&self.file, Range::Attached, Mode::Exclusive)?;
        // A forked child has the same lock, and is attached for as long as it lives.
        locks::set(&self.file, Range::Attached, Mode::Shared)?;
        if !alone || !self.in_place()? {
            return Ok(());
        }
        let Some(_raising) = locks::hold(&self.file, Range::Raise, LEAVE_PATIENCE)? else { return Ok(()) };
        let (cells, until_ms) = (self.atomics(), self.live.get(Place::Until));
        let from_ms = cells.from_ms();
        let Some(used_ms) = cells.close(&self.machine) else { return Ok(()) };
        let ceiling_ms = used_ms.max(from_ms).min(until_ms);
        if ceiling_ms < until_ms {
            // From here on the disk holds less than the window, but there is no word to mint from.
            if let Err(cause) = self.record(ceiling_ms) {
                self.live.set(Place::Failed, 1);
                return Err(cause);
            }
            self.live.set(Place::Until, ceiling_ms);
        }
        Ok(())
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        if self.shared.same_process() {
            self.raiser.stop();
        }
        // Nobody is left to tell, and nothing is lost but a wait.
        let _: io::Result<()> = self.shared.leave();
        // The raiser's thread may have the file open for a moment longer. The next process that opens it should find it free.
        for _ in 0..CLOSING_LOOKS {
            if Arc::strong_count(&self.shared) == 1 {
                break;
            }
            thread::sleep(CLOSING_LOOK);
        }
    }
}

impl Keeper for Attachment {
    fn atomics(&self) -> StateAtomics<'_> {
        self.shared.atomics()
    }

    fn extend(&self, until_ms: u64, now_ms: u64) -> frazil::Result<u64> {
        let shared = &self.shared;
        // While the clock is not believed, every call comes here; most need no lock.
        if shared.live.get(Place::StepSightings) != 0
            && self.fault().is_none()
            && let Ok(go_on_ms) = shared.go_by_ms(now_ms)
            && go_on_ms < now_ms
            && go_on_ms.saturating_add(1) < shared.live.get(Place::Until)
        {
            self.raiser.wake();
            return Ok(go_on_ms);
        }
        let go_on_ms = shared.raise(until_ms, now_ms)?;
        self.raiser.wake();
        Ok(go_on_ms)
    }

    fn fault(&self) -> Option<Error> {
        self.shared.fault().map(|fault| fault.error())
    }

    fn explain(&self) -> Option<String> {
        self.shared.fault().map(|fault| fault.text().to_owned())
    }

    fn file(&self) -> Option<StateFile> {
        let Shared { path, file_system, live, identity, raises, .. } = &*self.shared;
        let wall_ms = host::wall_ms();
        let mut file = StateFile::new(path.display().to_string(), file_system.clone());
        file.ceiling_ms = live.get(Place::Until);
        file.attached = os::holders(*identity, Range::Attached.byte());
        file.raises = raises.load(Ordering::Relaxed);
        file.distrusted_ms = self.shared.go_by_ms(wall_ms).map_or(0, |go_on_ms| wall_ms - go_on_ms);
        file.locked = live.is_locked();
        file.blind = self.shared.presence.is_blind();
        Some(file)
    }
}
