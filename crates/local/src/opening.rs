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

use crate::attached_file::{Shared, WINDOW_MS};
use crate::clock::wall_ms;
use crate::disk::{Header, Record};
use crate::fault::Fault;
use crate::file_spec::Target;
use crate::first_id::refuse_ahead;
use crate::locks::{self, Mode, Range};
use crate::mapped::{Live, MAGIC, Place};
use crate::name_locks::Presence;
use crate::os::{self, Identity};
use crate::trusted_clock::Trust;

/// How long to wait for another process that attaches, leaves or raises the ceiling.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a file may be replaced while it is opened.
const ATTEMPTS: u32 = 8;

/// How often to look whether the users of another file have given up.
const LOOK: Duration = Duration::from_millis(20);

/// How far ahead of the clock a user of another file can have issued.
const fn issued_ahead_ms(machine: &Machine) -> u64 {
    MAX_LEAD_MS + machine.tick_ms()
}

/// Which file was opened where other files of its name cannot be seen, and when first. The process remembers it, so that an
/// opening that is tried again does not wait anew.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenedBlind(Option<(Identity, Instant)>);

impl OpenedBlind {
    /// Whether there is anything to remember.
    pub(crate) const fn is_some(self) -> bool {
        self.0.is_some()
    }
}

/// Opens a state file, and makes it where there is none. Returns also how long it is until the first ID. Where another file of its
/// name is in use, it waits so long for its users to give up.
pub(crate) fn open(target: &Target, wait_ms: u64, blind: &mut OpenedBlind) -> Result<(Shared, u64), Fault> {
    let path = target.path();
    let started = Instant::now();
    let mut last_seen = None;
    let mut attempts = 0;
    while attempts < ATTEMPTS {
        let (file, file_system) = target.open()?;
        let identity = os::identity(&file).map_err(|cause| Fault::failed(path, "read", &cause))?;
        // First marked, and then looked: of two that open different files of one name, at least one sees the other.
        let presence = match Presence::mark(path, identity) {
            Ok(presence) => presence,
            // Moved away since the file was opened.
            Err((_, cause)) if cause.kind() == io::ErrorKind::NotFound => {
                attempts += 1;
                continue;
            }
            Err((directory, cause)) => return Err(Fault::failed(&directory, "opened", &cause)),
        };
        if presence.other_file_in_use() {
            drop(presence);
            last_seen = Some(Instant::now());
            if started.elapsed() >= Duration::from_millis(wait_ms) {
                return Err(other_file(path));
            }
            // Of two that see each other one is first, because no two processes pause alike.
            sleep(LOOK + Duration::from_millis(u64::from(std::process::id()) % 16));
            continue;
        }
        let reserved_ms =
            |since: Instant, ms: u64| ms.saturating_sub(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX));
        let after_other_ms = last_seen.map_or(0, |seen| reserved_ms(seen, issued_ahead_ms(&target.machine)));
        let since = blind.0.filter(|(opened, _)| *opened == identity).map(|(_, since)| since);
        let since = presence.is_blind().then(|| since.unwrap_or_else(Instant::now));
        *blind = OpenedBlind(since.map(|since| (identity, since)));
        let unseen_ms = since.map_or(0, |since| reserved_ms(since, WINDOW_MS.max(issued_ahead_ms(&target.machine))));
        match attach(target, file, identity, file_system, presence, after_other_ms.max(unseen_ms))? {
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
    target: &Target,
    file: File,
    identity: Identity,
    file_system: String,
    presence: Presence,
    reserved_ms: u64,
) -> Result<Option<(Shared, u64)>, Fault> {
    let path = target.path();
    let failed = |doing| move |cause: io::Error| Fault::failed(path, doing, &cause);
    // The same open file, so the same locks.
    let gate = file.try_clone().map_err(failed("opened"))?;
    let hold = |range| locks::hold(&gate, range, PATIENCE).map_err(failed("locked"))?.ok_or_else(|| busy(path));
    let _attaching = hold(Range::Attach)?;
    // What is read from here on changes under this lock alone.
    let _raising = hold(Range::Raise)?;
    if !identity.is_at(os::identity_at(path).map_err(failed("found"))?) {
        return Ok(None);
    }
    let machine = target.machine;
    if file.metadata().map_err(failed("read"))?.len() != Live::file_len(machine.clock_ids()) {
        return Err(Fault::corrupt(path, "has another length than it was made with"));
    }
    let header = Header::read(&file).map_err(failed("read"))?;
    let header = header.ok_or_else(|| Fault::corrupt(path, "has a damaged header"))?;
    target.check(&header, identity, &file_system)?;
    let record = Record::read(&file).map_err(failed("read"))?;
    let record = record.ok_or_else(|| Fault::corrupt(path, "has a damaged record"))?;
    let live = Live::map(&file, machine.clock_ids()).map_err(failed("mapped"))?;
    let alone = locks::set(&file, Range::Attached, Mode::Exclusive).map_err(failed("locked"))?;
    locks::set(&file, Range::Attached, Mode::Free).map_err(failed("locked"))?;
    let shared = Shared::new(target, file, identity, file_system, presence, live);
    let wait_ms = Opening { shared: &shared, record, header, alone, reserved_ms }.begin()?;
    // Only now: a child that is forked meanwhile keeps the lock, and a process that finds it held believes what is mapped.
    if !locks::set(&shared.file, Range::Attached, Mode::Shared).map_err(failed("locked"))? {
        return Err(busy(path));
    }
    Ok(Some((shared, wait_ms)))
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
    shared: &'a Shared,
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
        let Self { shared, record, alone, reserved_ms, .. } = self;
        let (live, machine) = (&shared.live, &shared.machine);
        if (!alone || self.is_current()?) && live.get(Place::Failed) != 0 {
            return Err(shared.failed_before());
        }
        // After this file alone: from its ceiling on. After another of its name: from what can have been issued from that one.
        let after = |from_ms: u64| {
            let reserved_until_ms = if reserved_ms > 0 { wall_ms().saturating_add(reserved_ms) } else { 0 };
            Window { from_ms: from_ms.max(reserved_until_ms), until_ms: record.ceiling_ms }
        };
        let cells = shared.atomics();
        if alone && !self.is_proven()? {
            self.anew(after(record.ceiling_ms))?;
        } else if cells.word.load(Ordering::Acquire) == u64::MAX {
            cells.begin_anew(after(record.ceiling_ms));
        } else if !cells.same_start() && !alone {
            let text =
                format!("{} is in use with another sequenceStart: all its generators must have the same", shared.path.display());
            return Err(Fault::new(Code::StateConflict, Subject::SequenceStart, text));
        } else if !cells.same_start() || (alone && reserved_ms > 0) {
            // Positions of a tick mean other IDs where the sequence starts elsewhere, so the tick must be another one too.
            let used_ms = cells.close(machine).unwrap_or(record.ceiling_ms);
            cells.begin_anew(after(used_ms.max(cells.from_ms())));
        }
        let wait_ms = shared.wait_ms()?;
        // A sighting of the clock, so that processes that live for a moment each learn it together.
        shared.learn().map_err(|cause| Fault::failed(&shared.path, "used, because there is no clock", &cause))?;
        Ok(wait_ms)
    }

    /// Whether the mapping was written in this boot.
    fn is_of_this_boot(&self) -> io::Result<bool> {
        let live = &self.shared.live;
        let of_boot = [Place::BootHigh, Place::BootLow].map(|place| live.get(place));
        Ok(live.get(Place::Magic) == MAGIC && os::boot()? == Some(of_boot))
    }

    /// Whether the mapping may be current, as far as boot and mount tell. Where mounts are not told apart it may.
    fn is_current(&self) -> Result<bool, Fault> {
        let Shared { path, file, live, .. } = self.shared;
        let read = |cause| Fault::failed(path, "read", &cause);
        if !self.is_of_this_boot().map_err(read)? {
            return Ok(false);
        }
        if live.get(Place::Disk) != os::disk(file).map_err(read)? {
            let what = "was on another disk earlier in this boot. If it is a copy (a snapshot, a cloned disk), the file that it was \
                        copied from may go on, so it cannot be used; if its disk was detached and came back under another number, \
                        restart the machine";
            return Err(Fault::corrupt(path, what));
        }
        Ok(os::superblock(file).is_none_or(|superblock| live.get(Place::Superblock) == superblock))
    }

    /// Whether the mapping is proven to be current although nobody was attached.
    fn is_proven(&self) -> Result<bool, Fault> {
        let shared = self.shared;
        let Shared { path, file, live, .. } = shared;
        if !self.is_current()? || os::superblock(file).is_none() || live.get(Place::Number) != self.record.number {
            return Ok(false);
        }
        // The kernel tells a new descriptor of a failure that nobody was told of yet. Where the state goes on as it was, the flush
        // raises the ceiling too, as the first ID would have to, so that a restart after a crash takes one flush and not two.
        let cells = shared.atomics();
        let goes_on = cells.word.load(Ordering::Acquire) != u64::MAX && cells.same_start() && self.reserved_ms == 0;
        let flushed = if goes_on { shared.flush_or_raise(self.record.ceiling_ms) } else { file.sync_data() };
        flushed.map_err(|cause| {
            live.set(Place::Failed, 1);
            Fault::failed(path, "flushed to disk, so nothing more is minted from it", &cause)
        })?;
        Ok(true)
    }

    /// Begins a state that nothing is known of but its ceiling.
    fn anew(&self, window: Window) -> Result<(), Fault> {
        let Self { shared, record, header, .. } = self;
        let live = &shared.live;
        let failed = |doing| move |cause: io::Error| Fault::failed(&shared.path, doing, &cause);
        refuse_ahead(&shared.path, &shared.machine, record.ceiling_ms, wall_ms())?;
        shared.presence.flush_names(shared.identity).map_err(failed("found again after a crash"))?;
        let read = failed("read");
        let (boot, disk) = (os::boot().map_err(read)?, os::disk(&shared.file).map_err(read)?);
        let [high, low] = boot.unwrap_or_default();
        let (wall_ms, since_boot_ms) = (wall_ms(), os::since_boot_ms().map_err(read)?);
        // What was learned of the clock in this boot is good however old it is.
        let trust = if self.is_of_this_boot().map_err(read)? {
            live.trust().after_reading(wall_ms, since_boot_ms)
        } else {
            Trust::new(wall_ms, since_boot_ms)
        };
        // A process that dies before the end leaves the old state, and the next one does it all again.
        live.set(Place::Magic, 0);
        live.set_trust(trust);
        live.set(Place::Failed, 0);
        live.set(Place::Disk, disk);
        live.set(Place::Number, record.number);
        live.set(Place::Superblock, os::superblock(&shared.file).unwrap_or(0));
        let cells = shared.atomics();
        for (half, key) in cells.key.iter().zip(header.key) {
            half.store(key, Ordering::Relaxed);
        }
        cells.begin_anew(window);
        live.set(Place::BootHigh, high);
        live.set(Place::BootLow, low);
        live.set(Place::Magic, MAGIC);
        Ok(())
    }
}
