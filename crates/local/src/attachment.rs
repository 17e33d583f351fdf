//! One open state file: attaching to it, raising its ceiling, leaving it.
//!
//! * **The ceiling is on disk before it is in force**: the record is written and flushed, and only then does the end of the
//!   window in the mapping move. So no ID has ever been issued at or above what the disk holds.
//! * **The mapping counts for one boot.** It is the kernel's memory, which outlives every process but not the kernel. After
//!   another boot the state starts from the ceiling.
//! * **The last one out** takes the word away, and only then lowers the ceiling to the end of what was used.
//! * **A failed flush ends it for good**: the kernel may have dropped the pages and call the next flush a success.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use frazil::{Cells, Code, Error, Keeper, KeptFile, Machine, SequenceStart, Subject, Window};

use crate::disk::{Header, Record};
use crate::fault::Fault;
use crate::host;
use crate::live::{Live, MAGIC, Place};
use crate::locks::{self, DIRECTORIES, Mode, Range};
use crate::os::{self, DirectoryLock, Identity};
use crate::raiser::Raiser;
use crate::target::Target;

/// How far the ceiling is raised ahead of the clock.
pub(crate) const WINDOW_MS: u64 = 3000;
/// A ceiling, or a current tick, further ahead of the clock than this says that the clock is wrong.
const AHEAD_MS: u64 = 60_000;
/// A step forward by more than this is not followed at once …
const STEP_MS: u64 = 60_000;
/// … but after ten minutes.
const DISBELIEF_MS: u64 = 600_000;
/// How long to wait for another process that raises the ceiling: far longer than a flush takes.
const RAISE_PATIENCE: Duration = Duration::from_secs(1);
/// How long to wait for another process that attaches or leaves.
const ATTACH_PATIENCE: Duration = Duration::from_secs(5);

/// A state file in use by this process.
#[derive(Debug)]
pub(crate) struct Attachment {
    shared: Arc<Shared>,
    raiser: Raiser,
}

/// What the raiser's thread has too.
#[derive(Debug)]
pub(crate) struct Shared {
    path: PathBuf,
    file: File,
    identity: Identity,
    file_system: String,
    /// Held for as long as the file is in use, so that whoever makes another one knows.
    directories: Vec<DirectoryLock>,
    live: Live,
    start: SequenceStart,
    machine: Machine,
    /// The process that attached: a child that it forks has the same locks, so it must not use them.
    process: u32,
    /// Serialises the threads of this process, which one lock of the file cannot tell apart.
    raising: Mutex<()>,
    fault: Mutex<Option<Fault>>,
    faulty: AtomicBool,
    left: AtomicBool,
    raises: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the mutexes guard is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Attachment {
    /// Attaches to a state file that is there. Returns also how long it is until the first ID.
    pub(crate) fn attach(target: &Target, file: File, file_system: String) -> Result<(Self, u64), Fault> {
        let path = target.path();
        let failed = |doing| move |cause: io::Error| Fault::failed(path, doing, &cause);
        let directories = hold_directories(path)?;
        // The same open file, so the same locks.
        let gate = file.try_clone().map_err(failed("opened"))?;
        let _attaching =
            locks::hold(&gate, Range::Attach, ATTACH_PATIENCE).map_err(failed("locked"))?.ok_or_else(|| busy(path))?;
        let metadata = file.metadata().map_err(failed("read"))?;
        let machine = target.machine;
        if metadata.len() != Live::file_len(machine.clock_ids()) {
            return Err(Fault::corrupt(path, "has another length than it was made with"));
        }
        let header = Header::read(&file).map_err(failed("read"))?;
        let header = header.ok_or_else(|| Fault::corrupt(path, "has a damaged header"))?;
        let identity = os::identity(&file).map_err(failed("read"))?;
        target.check(&header, identity)?;
        let record = Record::read(&file).map_err(failed("read"))?;
        let record = record.ok_or_else(|| Fault::corrupt(path, "has a damaged record"))?;
        let live = Live::map(&file, machine.clock_ids()).map_err(failed("mapped"))?;
        let alone = locks::set(&file, Range::Attached, Mode::Exclusive).map_err(failed("locked"))?;
        if !locks::set(&file, Range::Attached, Mode::Shared).map_err(failed("locked"))? {
            return Err(busy(path));
        }
        let shared = Shared {
            path: path.to_owned(),
            identity,
            file,
            file_system,
            directories,
            live,
            start: target.sequence_start,
            machine,
            process: std::process::id(),
            raising: Mutex::new(()),
            fault: Mutex::new(None),
            faulty: AtomicBool::new(false),
            left: AtomicBool::new(false),
            raises: AtomicU64::new(0),
        };
        let wait_ms = shared.begin(alone, record, &header).map_err(|error| match error {
            Begin::Fault(fault) => fault,
            Begin::Io(cause) => Fault::failed(path, "read", &cause),
        })?;
        let shared = Arc::new(shared);
        Ok((Self { raiser: Raiser::new(Arc::clone(&shared)), shared }, wait_ms))
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
        let failed = |cause| Fault::failed(&self.shared.path, "read", &cause);
        self.shared.wait_ms(self.shared.believed_ms(host::wall_ms()).map_err(failed)?)
    }
}

enum Begin {
    Fault(Fault),
    Io(io::Error),
}

impl From<Fault> for Begin {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<io::Error> for Begin {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn busy(path: &Path) -> Fault {
    let text = format!(
        "{} is held by a process that attaches to it and does not go on: it may be stopped (kill -CONT), or hang on its disk",
        path.display()
    );
    Fault::new(Code::StateFileFailed, Subject::Dir, text)
}

/// Holds the directory of a file and those above it, as far as they can be opened.
fn hold_directories(path: &Path) -> Result<Vec<DirectoryLock>, Fault> {
    let mut held = Vec::new();
    for directory in path.ancestors().skip(1).take(DIRECTORIES) {
        let mut lock = None;
        let taken = locks::patiently(ATTACH_PATIENCE, || {
            lock = os::lock_directory(directory, Mode::Shared)?;
            Ok(lock.is_some() || !os::LOCKS_DIRECTORIES)
        });
        match (taken, lock) {
            (Ok(true), lock) => held.extend(lock),
            // Whoever may not open it cannot make a new file by way of it either.
            (Err(cause), _) if cause.kind() == io::ErrorKind::PermissionDenied => {}
            (Err(cause), _) => return Err(Fault::failed(directory, "locked", &cause)),
            _ => {
                let text = format!("{} is locked (flock) by another program: end it, or pass another dir", directory.display());
                return Err(Fault::new(Code::StateFileFailed, Subject::Dir, text));
            }
        }
    }
    Ok(held)
}

impl Shared {
    fn cells(&self) -> Cells<'_> {
        self.live.cells(self.start)
    }

    /// Makes the mapping what it has to be for this boot, and returns how long it is until the first ID. Nobody else attaches
    /// or leaves meanwhile.
    fn begin(&self, alone: bool, record: Record, header: &Header) -> Result<u64, Begin> {
        let live = &self.live;
        // Whoever raises the ceiling of a state that begins anew must see it begun.
        let Some(_raising) = locks::hold(&self.file, Range::Raise, ATTACH_PATIENCE)? else {
            return Err(busy(&self.path).into());
        };
        let boot = os::boot()?;
        let start = self.start as u64;
        let of_boot = [Place::BootHigh, Place::BootLow].map(|place| live.get(place));
        // Where boots are not told apart, only somebody else who is attached shows that this is still the same.
        let this_boot = live.get(Place::Magic) == MAGIC && boot.map_or(!alone, |boot| boot == of_boot);
        let [high, low] = boot.unwrap_or_default();
        if !this_boot {
            if !alone {
                return Err(Fault::corrupt(&self.path, "is in use by processes of another kernel").into());
            }
            self.refuse_ahead(record.ceiling_ms, host::wall_ms())?;
            self.flush_names()?;
            // Whoever dies before the end leaves the old boot in place, and the next one does it all again.
            live.set(Place::Magic, 0);
            live.set(Place::Offset, host::wall_ms().wrapping_sub(os::since_boot_ms()?));
            live.set(Place::Disbelieved, 0);
            live.set(Place::Failed, 0);
            live.set(Place::Device, self.identity.device);
            live.set(Place::Number, record.number);
            live.set(Place::Start, start);
            live.set(Place::LastWord, 0);
            let cells = self.cells();
            for (half, key) in cells.key.iter().zip(header.key) {
                half.store(key, Ordering::Relaxed);
            }
            cells.open(Window { from_ms: record.ceiling_ms, until_ms: record.ceiling_ms });
            live.set(Place::BootHigh, high);
            live.set(Place::BootLow, low);
            live.set(Place::Magic, MAGIC);
        }
        if live.get(Place::Device) != self.identity.device {
            return Err(Fault::corrupt(&self.path, "is a copy of one on another device").into());
        }
        if live.get(Place::Failed) != 0 {
            return Err(self.failed_before().into());
        }
        if live.get(Place::Start) != start {
            if !alone {
                let text = format!(
                    "{} is in use with another sequenceStart: all its generators must have the same",
                    self.path.display()
                );
                return Err(Fault::new(Code::StateConflict, Subject::SequenceStart, text).into());
            }
            // Positions of a tick mean other IDs now, so the tick must be another one too.
            live.set(Place::LastWord, 0);
            let _: Option<(u64, u64)> = self.cells().close(&self.machine);
            live.set(Place::Start, start);
        }
        self.reopen();
        Ok(self.wait_ms(self.believed_ms(host::wall_ms())?)?)
    }

    /// Makes the names on the way to the file durable: whoever made them may have ended, or failed, before they were.
    fn flush_names(&self) -> Result<(), Fault> {
        for directory in &self.directories {
            // On another file system the name of the mounted one was there before.
            os::flush_on(directory, self.identity.device)
                .map_err(|cause| Fault::failed(&self.path, "found again after a crash", &cause))?;
        }
        Ok(())
    }

    /// Opens a state that was closed: with the word it had, where that is known, and from the end of the window otherwise.
    fn reopen(&self) {
        let (live, cells) = (&self.live, self.cells());
        if cells.word.load(Ordering::Acquire) != u64::MAX {
            return;
        }
        let until_ms = live.get(Place::Until);
        match live.get(Place::LastWord) {
            0 => {
                cells.open(Window { from_ms: until_ms, until_ms });
            }
            word => {
                // First: a word that stays behind might be taken for the last of another closing.
                live.set(Place::LastWord, 0);
                cells.resume(word, until_ms);
            }
        }
    }

    /// How long it is until the first ID: until the window begins and, without clock ids to switch to, until the current tick
    /// is within the lead.
    fn wait_ms(&self, now_ms: u64) -> Result<u64, Fault> {
        let (cells, machine) = (self.cells(), &self.machine);
        let begin_ms = machine.tick_from(cells.from_ms.load(Ordering::Acquire)).saturating_sub(now_ms);
        let lead_ms = match (machine.clock_ids(), cells.word.load(Ordering::Acquire)) {
            (0, word) if word != u64::MAX => machine.lead_ms(word, now_ms).saturating_sub(machine.max_lead_ms()),
            _ => 0,
        };
        let wait_ms = begin_ms.max(lead_ms);
        self.refuse_ahead(now_ms.saturating_add(wait_ms), now_ms)?;
        Ok(wait_ms)
    }

    fn refuse_ahead(&self, first_ms: u64, now_ms: u64) -> Result<(), Fault> {
        let ahead_ms = first_ms.saturating_sub(now_ms);
        // A tick may be longer than that.
        if ahead_ms <= AHEAD_MS.max(2 * self.machine.tick_ms()) {
            return Ok(());
        }
        let text = format!(
            "{} has reserved time up to {first_ms} (Unix ms), {} s ahead of the clock, which shows {now_ms}: set the clock right; or \
             wait until then; or pass another node. If the clock is right now and was ahead before, IDs of that future time may \
             exist: only if you know that none do, delete the file",
            self.path.display(),
            ahead_ms / 1000
        );
        Err(Fault::new(Code::StateFileAhead, Subject::Dir, text))
    }

    fn failed_before(&self) -> Fault {
        let text = format!(
            "{} could not be flushed to its disk, so what it reserved is not certain to last: check the disk, then restart the \
             machine, or pass another node, or a dir on another disk",
            self.path.display()
        );
        Fault::new(Code::StateFileFailed, Subject::Dir, text)
    }

    fn same_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Ends the use of the file by this process, for good.
    fn poison(&self, fault: Fault) -> Error {
        let error = fault.error();
        lock(&self.fault).get_or_insert(fault);
        self.faulty.store(true, Ordering::Release);
        error
    }

    /// The time to go on with when the clock shows `now_ms`: the clock's, unless it has stepped far ahead of the clock that
    /// nobody sets. Only while the ceiling is held, because it learns.
    fn believe_ms(&self, now_ms: u64) -> io::Result<u64> {
        let live = &self.live;
        let (wall_ms, since_boot_ms) = (host::wall_ms(), os::since_boot_ms()?);
        let believed_ms = live.get(Place::Offset).wrapping_add(since_boot_ms);
        let disbelieved = live.get(Place::Disbelieved);
        let long_since = disbelieved != 0 && since_boot_ms.saturating_sub(disbelieved) >= DISBELIEF_MS;
        if wall_ms <= believed_ms.saturating_add(STEP_MS) || long_since {
            live.set(Place::Offset, wall_ms.wrapping_sub(since_boot_ms));
            live.set(Place::Disbelieved, 0);
        } else if disbelieved == 0 {
            live.set(Place::Disbelieved, since_boot_ms.max(1));
        }
        self.believed_ms(now_ms)
    }

    /// The same, learning nothing.
    fn believed_ms(&self, now_ms: u64) -> io::Result<u64> {
        let believed_ms = self.live.get(Place::Offset).wrapping_add(os::since_boot_ms()?);
        Ok(if now_ms <= believed_ms.saturating_add(STEP_MS) { now_ms } else { believed_ms })
    }

    /// Whether the path still leads to the file.
    fn in_place(&self) -> io::Result<bool> {
        Ok(os::identity_at(&self.path)? == Some(self.identity))
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
            return Err(Error::refusal(Code::Closed, Subject::Generator));
        }
        if self.live.get(Place::Failed) != 0 {
            return Err(self.poison(self.failed_before()));
        }
        let go_on_ms = self.believe_ms(now_ms).map_err(failed("used, because there is no clock"))?;
        // What was asked for was asked for at the time that is not believed.
        let until_ms = if go_on_ms == now_ms { until_ms } else { go_on_ms.saturating_add(1) };
        if self.live.get(Place::Until) >= until_ms {
            return Ok(go_on_ms);
        }
        if !self.in_place().map_err(failed("found"))? {
            let text = format!(
                "{} was deleted or replaced while it was in use: restart this process, which joins the file that is there then",
                self.path.display()
            );
            return Err(self.poison(Fault::new(Code::StateFileCorrupt, Subject::Dir, text)));
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

    /// Makes a ceiling durable.
    fn record(&self, ceiling_ms: u64) -> io::Result<()> {
        let number = self.live.get(Place::Number) + 1;
        Record { number, ceiling_ms }.write(&self.file)?;
        // `fdatasync`: the length does not change, and the blocks are allocated.
        self.file.sync_data()?;
        self.live.set(Place::Number, number);
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
        let Some(_attaching) = locks::hold(&self.file, Range::Attach, ATTACH_PATIENCE)? else { return Ok(()) };
        let alone = locks::set(&self.file, Range::Attached, Mode::Exclusive)?;
        if !alone || !self.in_place()? {
            return Ok(());
        }
        let Some(_raising) = locks::hold(&self.file, Range::Raise, RAISE_PATIENCE)? else { return Ok(()) };
        let cells = self.cells();
        let (from_ms, until_ms) = (self.live.get(Place::From), self.live.get(Place::Until));
        let Some((word, used_ms)) = cells.close(&self.machine) else { return Ok(()) };
        let ceiling_ms = used_ms.max(from_ms).min(until_ms);
        if ceiling_ms < until_ms {
            // From here on the disk holds less than the window, but there is no word to mint from.
            if let Err(cause) = self.record(ceiling_ms) {
                self.live.set(Place::Failed, 1);
                return Err(cause);
            }
            self.live.set(Place::Until, ceiling_ms);
        }
        // Last: only a closing that went to its end may be undone.
        self.live.set(Place::LastWord, word);
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
        if self.shared.same_process() {
            // The raiser's thread may have the file open for a moment longer.
            let _: io::Result<bool> = locks::set(&self.shared.file, Range::Attached, Mode::Free);
        }
    }
}

impl Keeper for Attachment {
    fn cells(&self) -> Cells<'_> {
        self.shared.cells()
    }

    fn extend(&self, until_ms: u64, now_ms: u64) -> frazil::Result<u64> {
        let shared = &self.shared;
        // Where the clock is not believed every call comes here; most need no lock.
        if shared.live.get(Place::Disbelieved) != 0
            && self.fault().is_none()
            && let Ok(believed_ms) = shared.believed_ms(now_ms)
            && believed_ms < now_ms
            && believed_ms.saturating_add(1) < shared.live.get(Place::Until)
        {
            self.raiser.wake();
            return Ok(believed_ms);
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

    fn file(&self) -> Option<KeptFile> {
        let Shared { path, file_system, live, identity, raises, .. } = &*self.shared;
        let wall_ms = host::wall_ms();
        let mut file = KeptFile::new(path.display().to_string(), file_system.clone());
        file.ceiling_ms = live.get(Place::Until);
        file.attached = os::holders(*identity, Range::Attached.byte());
        file.raises = raises.load(Ordering::Relaxed);
        file.distrusted_ms = self.shared.believed_ms(wall_ms).map_or(0, |believed_ms| wall_ms - believed_ms);
        Some(file)
    }
}
