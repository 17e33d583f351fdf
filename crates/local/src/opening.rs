//! Opening a state file: which file it is, whether what is mapped of it can be believed, and from when on it may be minted
//! from.
//!
//! * **Attached already, by any process**: the mapping is the memory of the kernel that both run on, because its locks conflict
//!   with ours. It is current.
//! * **Attached by nobody**: the kernel may have dropped the mapping since. It is believed only with proof that it did not: the
//!   same boot, the same mount of the file system ([`os::superblock`]), the newest record on disk is the one that the mapping
//!   knows of, and a flush through the new descriptor succeeds. Without proof the state begins anew at the ceiling, which
//!   is above all that was issued. That is at most three seconds ahead, and after a clean close the end of the last tick used.
//! * **Another file of the same name in use** ([`crate::name_locks`]): the file is not opened before its users have given up, which
//!   takes them a second or two after their path leads elsewhere. Then it begins after all that a user that was killed can have
//!   issued.
//!
//! An equal boot id alone is no proof: a file system that was shut down and mounted again in one boot has lost what was not
//! flushed.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

use frazil::{Code, MAX_LEAD_MS, Machine, Subject, Window};

use crate::attached_file::{AttachedFile, WINDOW_MS};
use crate::clock::wall_ms;
use crate::disk::{Header, Record};
use crate::fault::Fault;
use crate::file_spec::FileSpec;
use crate::first_id::refuse_far_ahead;
use crate::locks::{self, FileLock, Mode};
use crate::mapped::{MAGIC, MappedState, Slot};
use crate::name_locks::NameLocks;
use crate::os::{self, Identity};
use crate::trusted_clock::TrustedClock;

/// How long to wait for another process that attaches, leaves or raises the ceiling.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// How often a file may be replaced while it is opened.
const ATTEMPTS: u32 = 8;

/// How often to look whether the users of another file have given up.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How far ahead of the clock a user of another file can have issued.
const fn issued_ahead_ms(machine: &Machine) -> u64 {
    MAX_LEAD_MS + machine.tick_ms()
}

/// Which file was opened where other files of its name cannot be seen, and when first. The process remembers it, so that an
/// opening that is tried again does not wait anew.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IncompleteSince(Option<(Identity, Instant)>);

impl IncompleteSince {
    /// Whether there is anything to remember.
    pub(crate) const fn is_some(self) -> bool {
        self.0.is_some()
    }
}

/// Opens a state file, and makes it where there is none. Returns also how long it is until the first ID. Where another file of its
/// name is in use, it waits so long for its users to give up.
pub(crate) fn open(spec: &FileSpec, wait_ms: u64, incomplete: &mut IncompleteSince) -> Result<(AttachedFile, u64), Fault> {
    let path = spec.path();
    let started = Instant::now();
    let mut last_seen = None;
    let mut attempts = 0;
    while attempts < ATTEMPTS {
        let (file, file_system) = spec.open()?;
        let identity = os::identity(&file).map_err(|cause| Fault::failed(path, "read", &cause))?;
        // First marked, and then looked: of two that open different files of one name, at least one sees the other.
        let name_locks = match NameLocks::acquire(path, identity) {
            Ok(name_locks) => name_locks,
            // Moved away since the file was opened.
            Err((_, cause)) if cause.kind() == io::ErrorKind::NotFound => {
                attempts += 1;
                continue;
            }
            Err((directory, cause)) => return Err(Fault::failed(&directory, "opened", &cause)),
        };
        if name_locks.other_file_in_use() {
            drop(name_locks);
            last_seen = Some(Instant::now());
            if started.elapsed() >= Duration::from_millis(wait_ms) {
                return Err(other_file(path));
            }
            // Of two that see each other one is first, because no two processes pause alike.
            sleep(POLL_INTERVAL + Duration::from_millis(u64::from(std::process::id()) % 16));
            continue;
        }
        let reserved_ms =
            |since: Instant, ms: u64| ms.saturating_sub(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX));
        let after_other_ms = last_seen.map_or(0, |seen| reserved_ms(seen, issued_ahead_ms(&spec.machine)));
        let since = incomplete.0.filter(|(opened, _)| *opened == identity).map(|(_, since)| since);
        let since = name_locks.is_incomplete().then(|| since.unwrap_or_else(Instant::now));
        *incomplete = IncompleteSince(since.map(|since| (identity, since)));
        let unseen_ms = since.map_or(0, |since| reserved_ms(since, WINDOW_MS.max(issued_ahead_ms(&spec.machine))));
        match attach(spec, file, identity, file_system, name_locks, after_other_ms.max(unseen_ms))? {
            Some(opened) => return Ok(opened),
            None => attempts += 1,
        }
    }
    Err(Fault::corrupt(path, "is replaced as soon as it is opened"))
}

fn other_file(path: &Path) -> Fault {
    let text = format!(
        "another state file of the name {} is in use: by a process that has not noticed yet that its own was moved, deleted or covered \
         by a mount, which takes it a second; that is stopped; or for which the path still leads to the other file (a container, \
         other mounts). End that process, or pass another node",
        path.display()
    );
    Fault::new(Code::StateConflict, Subject::Dir, text)
}

/// Attaches to a file that is open, and begins so far ahead of the clock at least. `None` where its path leads to another one by
/// now.
fn attach(
    spec: &FileSpec,
    file: File,
    identity: Identity,
    file_system: String,
    name_locks: NameLocks,
    reserved_ms: u64,
) -> Result<Option<(AttachedFile, u64)>, Fault> {
    let path = spec.path();
    let failed = |doing| move |cause: io::Error| Fault::failed(path, doing, &cause);
    // The same open file, so the same locks.
    let gate = file.try_clone().map_err(failed("opened"))?;
    let hold = |lock| locks::hold(&gate, lock, LOCK_WAIT).map_err(failed("locked"))?.ok_or_else(|| busy(path));
    let _attaching = hold(FileLock::Attach)?;
    // What is read from here on changes under this lock alone.
    let _raising = hold(FileLock::Raise)?;
    if !identity.is_at(os::identity_at(path).map_err(failed("found"))?) {
        return Ok(None);
    }
    let machine = spec.machine;
    if file.metadata().map_err(failed("read"))?.len() != MappedState::file_len(machine.clock_ids()) {
        return Err(Fault::corrupt(path, "has another length than it was made with"));
    }
    let header = Header::read(&file).map_err(failed("read"))?;
    let header = header.ok_or_else(|| Fault::corrupt(path, "has a damaged header"))?;
    spec.check(&header, identity, &file_system)?;
    let record = Record::read(&file).map_err(failed("read"))?;
    let record = record.ok_or_else(|| Fault::corrupt(path, "has a damaged record"))?;
    let mapped = MappedState::map(&file, machine.clock_ids()).map_err(failed("mapped"))?;
    let alone = locks::set(&file, FileLock::Attached, Mode::Exclusive).map_err(failed("locked"))?;
    locks::set(&file, FileLock::Attached, Mode::Free).map_err(failed("locked"))?;
    let attached = AttachedFile::new(spec, file, identity, file_system, name_locks, mapped);
    let wait_ms = Opening { attached: &attached, record, header, alone, reserved_ms }.begin()?;
    // Only now: a child that is forked meanwhile keeps the lock, and a process that finds it held believes what is mapped.
    if !locks::set(&attached.file, FileLock::Attached, Mode::Shared).map_err(failed("locked"))? {
        return Err(busy(path));
    }
    Ok(Some((attached, wait_ms)))
}

fn busy(path: &Path) -> Fault {
    let text = format!(
        "{} is held by a process that attaches to it or raises its ceiling and does not go on: it may be stopped (kill -CONT), or \
         hang on its disk",
        path.display()
    );
    Fault::new(Code::StateFileFailed, Subject::Dir, text)
}

/// A file that is about to be minted from. Nobody else attaches, leaves or raises meanwhile.
struct Opening<'a> {
    attached: &'a AttachedFile,
    record: Record,
    header: Header,
    /// Whether nobody else is attached.
    alone: bool,
    /// How far ahead of the clock users of another file of the same name can have issued; 0 where there were none.
    reserved_ms: u64,
}

impl Opening<'_> {
    /// Makes the mapping what it has to be, and returns how long it is until the first ID.
    fn begin(self) -> Result<u64, Fault> {
        let Self { attached, record, alone, reserved_ms, .. } = self;
        let (mapped, machine) = (&attached.mapped, &attached.machine);
        if (!alone || self.is_current()?) && mapped.get(Slot::Failed) != 0 {
            return Err(attached.failed_before());
        }
        // After this file alone: from its ceiling on. After another of its name: from what can have been issued from that one.
        let after = |from_ms: u64| {
            let reserved_until_ms = if reserved_ms > 0 { wall_ms().saturating_add(reserved_ms) } else { 0 };
            Window { from_ms: from_ms.max(reserved_until_ms), until_ms: record.ceiling_ms }
        };
        let cells = attached.atomics();
        if alone && !self.is_proven()? {
            self.initialize(after(record.ceiling_ms))?;
        } else if cells.word.load(Ordering::Acquire) == u64::MAX {
            cells.begin_anew(after(record.ceiling_ms));
        } else if !cells.same_start() && !alone {
            let text = format!(
                "{} is in use with another sequenceStart: all its generators must have the same",
                attached.path.display()
            );
            return Err(Fault::new(Code::StateConflict, Subject::SequenceStart, text));
        } else if !cells.same_start() || (alone && reserved_ms > 0) {
            // Positions of a tick mean other IDs where the sequence starts elsewhere, so the tick must be another one too.
            let used_ms = cells.close(machine).unwrap_or(record.ceiling_ms);
            cells.begin_anew(after(used_ms.max(cells.from_ms())));
        }
        let wait_ms = attached.wait_ms()?;
        // A sighting of the clock, so that processes that live for a moment each learn it together.
        attached.observe_clocks().map_err(|cause| Fault::failed(&attached.path, "used, because there is no clock", &cause))?;
        Ok(wait_ms)
    }

    /// Whether the mapping was written in this boot.
    fn is_of_this_boot(&self) -> io::Result<bool> {
        let mapped = &self.attached.mapped;
        let of_boot = [Slot::BootHigh, Slot::BootLow].map(|slot| mapped.get(slot));
        Ok(mapped.get(Slot::Magic) == MAGIC && os::boot_id()? == Some(of_boot))
    }

    /// Whether the mapping may be current, as far as boot and mount tell. Where mounts are not told apart it may.
    fn is_current(&self) -> Result<bool, Fault> {
        let AttachedFile { path, file, mapped, .. } = self.attached;
        let read = |cause| Fault::failed(path, "read", &cause);
        if !self.is_of_this_boot().map_err(read)? {
            return Ok(false);
        }
        if mapped.get(Slot::Disk) != os::disk_id(file).map_err(read)? {
            let what = "was on another disk earlier in this boot. If it is a copy (a snapshot, a cloned disk), the file that it was \
                        copied from may go on, so it cannot be used; if its disk was detached and came back under another number, \
                        restart the machine";
            return Err(Fault::corrupt(path, what));
        }
        Ok(os::superblock_id(file).is_none_or(|superblock| mapped.get(Slot::Superblock) == superblock))
    }

    /// Whether the mapping is proven to be current although nobody was attached.
    fn is_proven(&self) -> Result<bool, Fault> {
        let attached = self.attached;
        let AttachedFile { path, file, mapped, .. } = attached;
        if !self.is_current()? || os::superblock_id(file).is_none() || mapped.get(Slot::Number) != self.record.number {
            return Ok(false);
        }
        // The kernel tells a new descriptor of a failure that nobody was told of yet. Where the state goes on as it was, the flush
        // raises the ceiling too, as the first ID would have to, so that a restart after a crash takes one flush and not two.
        let cells = attached.atomics();
        let goes_on = cells.word.load(Ordering::Acquire) != u64::MAX && cells.same_start() && self.reserved_ms == 0;
        let flushed = if goes_on { attached.flush_or_raise(self.record.ceiling_ms) } else { file.sync_data() };
        flushed.map_err(|cause| {
            mapped.set(Slot::Failed, 1);
            Fault::failed(path, "flushed to disk, so nothing more is minted from it", &cause)
        })?;
        Ok(true)
    }

    /// Begins a state that nothing is known of but its ceiling.
    fn initialize(&self, window: Window) -> Result<(), Fault> {
        let Self { attached, record, header, .. } = self;
        let mapped = &attached.mapped;
        let failed = |doing| move |cause: io::Error| Fault::failed(&attached.path, doing, &cause);
        refuse_far_ahead(&attached.path, &attached.machine, record.ceiling_ms, wall_ms())?;
        attached.name_locks.flush_names(attached.identity).map_err(failed("found again after a crash"))?;
        let read = failed("read");
        let (boot, disk) = (os::boot_id().map_err(read)?, os::disk_id(&attached.file).map_err(read)?);
        let [high, low] = boot.unwrap_or_default();
        let (wall_ms, since_boot_ms) = (wall_ms(), os::since_boot_ms().map_err(read)?);
        // What was learned of the clock in this boot is good however old it is.
        let clock = if self.is_of_this_boot().map_err(read)? {
            mapped.trusted_clock().after_reading(wall_ms, since_boot_ms)
        } else {
            TrustedClock::new(wall_ms, since_boot_ms)
        };
        // A process that dies before the end leaves the old state, and the next one does it all again.
        mapped.set(Slot::Magic, 0);
        mapped.set_trusted_clock(clock);
        mapped.set(Slot::Failed, 0);
        mapped.set(Slot::Disk, disk);
        mapped.set(Slot::Number, record.number);
        mapped.set(Slot::Superblock, os::superblock_id(&attached.file).unwrap_or(0));
        let cells = attached.atomics();
        for (half, key) in cells.key.iter().zip(header.key) {
            half.store(key, Ordering::Relaxed);
        }
        cells.begin_anew(window);
        mapped.set(Slot::BootHigh, high);
        mapped.set(Slot::BootLow, low);
        mapped.set(Slot::Magic, MAGIC);
        Ok(())
    }
}
