//! Opening a state file: making it if there is none, taking its locks, checking it, and starting its state.
//!
//! The order is fixed, because each step relies on the one before:
//!
//! 1. the file is opened, and made if there is none ([`FileSpec::open`]);
//! 2. its name is locked ([`NameLocks`]), and then other files of the name are looked for. While one is in use, the opening
//!    waits. Its users stop within a second or two of their path leading elsewhere. Then this file begins after all that a user
//!    that was killed can have issued;
//! 3. the locks for attaching and for raising are taken, and the path is looked up again;
//! 4. length, header and record are checked;
//! 5. the state starts ([`crate::state_start`]);
//! 6. the lock that shows this process as attached is taken.

use std::fs::File;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use frazil::{Code, Error, MAX_LEAD_MS, Machine, Subject};

use crate::attached_file::AttachedFile;
use crate::cancellation;
use crate::ceiling::WINDOW_MS;
use crate::disk::{Header, Record};
use crate::fault::Fault;
use crate::file_spec::FileSpec;
use crate::locks::{self, FileLock, Mode};
use crate::mapped::MappedState;
use crate::name_locks::NameLocks;
use crate::os::{self, Identity};
use crate::state_start::StateStart;

/// How long to wait for another process that attaches, leaves or raises the ceiling.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// How often a file may be replaced while it is opened.
const ATTEMPTS: u32 = 8;
/// How often to check whether the users of another file of the name have stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How far ahead of the clock a user of another file can have issued.
const fn issued_ahead_ms(machine: &Machine) -> u64 {
    MAX_LEAD_MS + machine.tick_ms()
}

/// The file that this process opened with incomplete name locks, so that other files of its name could not be seen, and when it
/// did so first. An opening that is tried again does not wait from the start again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IncompleteSince(Option<(Identity, Instant)>);

impl IncompleteSince {
    pub(crate) const fn is_some(self) -> bool {
        self.0.is_some()
    }

    /// Notes an opening of a file, and returns since when its name locks are incomplete; `None` if they are complete.
    fn note(&mut self, identity: Identity, is_incomplete: bool) -> Option<Instant> {
        let since = self.0.filter(|(opened, _)| *opened == identity).map(|(_, since)| since);
        let since = is_incomplete.then(|| since.unwrap_or_else(Instant::now));
        *self = Self(since.map(|since| (identity, since)));
        since
    }
}

/// What is left of a time that began at `since`.
fn rest_ms(since: Instant, ms: u64) -> u64 {
    ms.saturating_sub(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX))
}

/// Opens a state file, and makes it if there is none. Returns also how long it is until the first ID. While another file of its
/// name is in use, it waits `wait_ms` for the users of that file to stop.
pub(crate) fn open(spec: &FileSpec, wait_ms: u64, incomplete: &mut IncompleteSince) -> Result<(AttachedFile, u64), Fault> {
    let path = spec.path();
    let started = Instant::now();
    let mut other_last_seen = None;
    let mut attempts = 0;
    while attempts < ATTEMPTS {
        if !cancellation::is_wanted() {
            return Err(Error::with_subject(Code::Closed, Subject::Generator).into());
        }
        let (file, file_system) = spec.open()?;
        let identity = os::identity(&file).map_err(|cause| Fault::failed(path, "read", &cause))?;
        // The name is locked first, and then other files are looked for. So of two processes that open different files of one
        // name, at least one sees the other.
        let name_locks = match NameLocks::acquire(path, identity) {
            Ok(name_locks) => name_locks,
            // The file was moved away since it was opened.
            Err((_, cause)) if cause.kind() == io::ErrorKind::NotFound => {
                attempts += 1;
                continue;
            }
            Err((directory, cause)) => return Err(Fault::failed(&directory, "opened", &cause)),
        };
        if name_locks.other_file_in_use() {
            drop(name_locks);
            other_last_seen = Some(Instant::now());
            if started.elapsed() >= Duration::from_millis(wait_ms) {
                return Err(other_file_in_use(path));
            }
            // The pause differs between processes, so that of two that see each other one comes first.
            sleep(POLL_INTERVAL + Duration::from_millis(u64::from(std::process::id()) % 16));
            continue;
        }
        let after_other_ms = other_last_seen.map_or(0, |seen| rest_ms(seen, issued_ahead_ms(&spec.machine)));
        let incomplete_since = incomplete.note(identity, name_locks.is_incomplete());
        let unseen_ms = incomplete_since.map_or(0, |since| rest_ms(since, WINDOW_MS.max(issued_ahead_ms(&spec.machine))));
        match attach(spec, file, identity, file_system, name_locks, after_other_ms.max(unseen_ms))? {
            Some(opened) => return Ok(opened),
            None => attempts += 1,
        }
    }
    Err(Fault::corrupt(path, "is replaced as soon as it is opened"))
}

fn other_file_in_use(path: &Path) -> Fault {
    let text = format!(
        "another state file of the name {} is in use: by a process that has not noticed yet that its own was moved, deleted or covered \
         by a mount, which takes it a second; that is stopped; or for which the path still leads to the other file (a container, \
         other mounts). End that process, or pass another node",
        path.display()
    );
    Fault::new(Code::StateConflict, Subject::Dir, text)
}

/// Attaches to an open file, whose state begins at least `reserved_ms` ahead of the clock. `None` if its path leads to another
/// file by now.
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
    // A second descriptor of the same open file, so it has the same locks.
    let locked_file = file.try_clone().map_err(failed("opened"))?;
    let hold = |lock| locks::hold(&locked_file, lock, LOCK_WAIT).map_err(failed("locked"))?.ok_or_else(|| busy(path));
    let _attaching = hold(FileLock::Attach)?;
    // What is read from here on changes only under this lock.
    let _raising = hold(FileLock::Raise)?;
    if !identity.is_at(os::identity_at(path).map_err(failed("found"))?) {
        return Ok(None);
    }
    let clock_ids = spec.machine.clock_ids();
    if file.metadata().map_err(failed("read"))?.len() != MappedState::file_len(clock_ids) {
        return Err(Fault::corrupt(path, "has another length than it was made with"));
    }
    let header = Header::read(&file).map_err(failed("read"))?;
    let header = header.ok_or_else(|| Fault::corrupt(path, "has a damaged header"))?;
    spec.check(&header, identity, &file_system)?;
    let record = Record::read(&file).map_err(failed("read"))?;
    let record = record.ok_or_else(|| Fault::corrupt(path, "has a damaged record"))?;
    let mapped = MappedState::map(&file, clock_ids).map_err(failed("mapped"))?;
    let alone = locks::set(&file, FileLock::Attached, Mode::Exclusive).map_err(failed("locked"))?;
    locks::set(&file, FileLock::Attached, Mode::Unlocked).map_err(failed("locked"))?;
    let file = AttachedFile::new(spec, file, identity, file_system, name_locks, mapped);
    let wait_ms = StateStart { file: &file, record, header, alone, reserved_ms }.run()?;
    // Not before the state is started: a child that is forked meanwhile keeps the lock, and a process that finds it held uses the
    // mapped state without proof.
    if !locks::set(&file.file, FileLock::Attached, Mode::Shared).map_err(failed("locked"))? {
        return Err(busy(path));
    }
    Ok(Some((file, wait_ms)))
}

fn busy(path: &Path) -> Fault {
    let text = format!(
        "{} is held by a process that attaches to it or raises its ceiling and does not go on: it may be stopped (kill -CONT), or \
         hang on its disk",
        path.display()
    );
    Fault::new(Code::StateFileFailed, Subject::Dir, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_that_is_tried_again_does_not_wait_from_the_start_again() {
        let file = |inode| Identity { device: 1, inode, created_ns: 0, generation: None };
        let first = Instant::now().checked_sub(Duration::from_millis(5));
        let mut incomplete = IncompleteSince(first.map(|first| (file(1), first)));
        assert_eq!(incomplete.note(file(1), true), first, "the same file");
        assert_ne!(incomplete.note(file(2), true), first, "another file of the name");
        assert_eq!(incomplete.note(file(2), false), None);
        assert!(!incomplete.is_some(), "nothing is remembered of an opening that sees all");
    }
}
