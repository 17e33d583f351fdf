//! Opening a state file: making it if there is none, taking its locks, checking it, and starting its state.
//!
//! The order is fixed, because each step relies on the one before:
//!
//! 1. the file is opened, and made if there is none ([`FileSpec::open`]);
//! 2. its name is locked ([`NameLocks`]), and then other files of the name are looked for. While one is in use, the opening
//!    waits. Its users stop within a second or two of their path leading elsewhere. Then the opening waits until all that a user
//!    that was killed can have issued is over ([`crate::opening_wait`]). Meanwhile it holds its own locks of the name;
//! 3. the locks for attaching and for raising are taken, and the path is looked up again;
//! 4. length, header and record are checked;
//! 5. the state starts ([`crate::state_start`]);
//! 6. the lock that shows this process as attached is taken.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use frazil::error::Subject;
use frazil::{Code, Error};

use crate::attached_file::AttachedFile;
use crate::cancellation;
use crate::disk::{Header, Record};
use crate::fault::Fault;
use crate::file_spec::{self, FileSpec};
use crate::locks::{self, FileLock};
use crate::mapped::MappedState;
use crate::mutex::lock;
use crate::name_locks::{NameLocks, OtherUser};
use crate::opening_wait::{Look, Sightings};
use crate::os::{self, Identity};
use crate::state_start::StateStart;

/// How long to wait at most for other threads and processes that attach, leave or raise the ceiling.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// If an opening has waited for so long, what it waits for is held up: one that goes on is done long before.
const HELD_UP_AFTER: Duration = Duration::from_secs(1);
/// How often a file may be replaced while it is opened.
const ATTEMPTS: u32 = 8;
/// How often to check whether the users of another file of the name have stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A file that is open, and whose name is locked.
pub(crate) struct Candidate {
    file: File,
    file_system: String,
    identity: Identity,
    name_locks: NameLocks,
}

impl Candidate {
    /// Opens the file of a name, and makes it if there is none. `None` if it was moved away meanwhile.
    fn open(spec: &FileSpec, sightings: &Mutex<Sightings>) -> Result<Option<Self>, Fault> {
        let (file, file_system) = spec.open()?;
        let identity = os::identity(&file).map_err(|cause| Fault::failed(spec.path(), "read", &cause))?;
        // Files that are too short to tell are refused later.
        if file_spec::is_new(&file).unwrap_or(false) {
            lock(sightings).note_new_file(identity);
        }
        // The name is locked first, and then other files are looked for. So of two processes that open different files of one
        // name, at least one sees the other.
        match NameLocks::acquire(spec.path(), identity) {
            Ok(name_locks) => Ok(Some(Self { file, file_system, identity, name_locks })),
            Err((_, cause)) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err((directory, cause)) => Err(Fault::failed(&directory, "opened", &cause)),
        }
    }

    fn look(&self) -> Look {
        let unseen = self.name_locks.is_incomplete() && !locks::another_seems_attached(&self.file);
        Look { other_user: self.name_locks.other_file_in_use(), unseen_of: unseen.then_some(self.identity) }
    }

    /// Attaches to the file. Returns also how long it is until the first ID; `None` if its path leads to another file by now.
    pub(crate) fn attach(self, spec: &FileSpec, patience: Patience) -> Result<Option<(AttachedFile, u64)>, Fault> {
        let Candidate { file, file_system, identity, name_locks } = self;
        let path = spec.path();
        let failed = |doing| move |cause: io::Error| Fault::failed(path, doing, &cause);
        // A second descriptor of the same open file, so it has the same locks.
        let locked_file = file.try_clone().map_err(failed("opened"))?;
        let hold = |lock| {
            let held = locks::hold(&locked_file, lock, patience.rest()).map_err(failed("locked"))?;
            held.ok_or_else(|| patience.is_over(path))
        };
        let _attaching = hold(FileLock::Attach)?;
        // From here on, what is read changes only under this lock.
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
        let alone = !locks::another_is_attached(&file, None).map_err(failed("locked"))?;
        if !alone && mapped.lacks_magic() {
            return Err(Fault::overwritten(path));
        }
        let file = AttachedFile::new(spec, file, identity, file_system, name_locks, mapped, header.clone());
        let wait_ms = StateStart { file: &file, record, header, alone }.run()?;
        // Also notes the newest record.
        if file.is_overwritten().map_err(failed("read"))? {
            return Err(Fault::corrupt(path, "was overwritten while it was opened"));
        }
        // Not before the state is started: a child that is forked meanwhile keeps the lock, and a process that finds it held uses the
        // mapped state without proof.
        let Some(user) = locks::show_attached(&file.file).map_err(failed("locked"))? else {
            let text = format!("{} has no room for one more user", path.display());
            return Err(Fault::new(Code::StateFileFailed, Subject::Dir, text, ""));
        };
        file.user.get_or_init(|| user);
        Ok(Some((file, wait_ms)))
    }
}

/// How long an opening waits for those that attach, leave or raise the ceiling, in this process and in others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    started: Instant,
    wait: Duration,
}

impl Patience {
    /// For an opening that may wait for so long from now on.
    pub(crate) fn new(wait: Duration) -> Self {
        Self { started: Instant::now(), wait: wait.min(LOCK_WAIT) }
    }

    /// How long it may still wait.
    pub(crate) fn rest(self) -> Duration {
        self.wait.saturating_sub(self.started.elapsed())
    }

    /// The refusal of an opening that has waited for so long.
    pub(crate) fn is_over(self, path: &Path) -> Fault {
        if self.wait >= HELD_UP_AFTER { busy(path) } else { Error::retry_after(Code::ClockBackward, 10).into() }
    }
}

/// Opens a state file, and makes it if there is none. Waits at most `wait` for users of other files of its name, and for the end of all
/// that they can have issued. Then `attach` attaches to the file, and returns `None` if its path leads to another file by then. Also
/// returns what is left of `wait`; only waiting counts, not a slow disk.
pub(crate) fn open<T>(
    spec: &FileSpec,
    wait: Duration,
    sightings: &Mutex<Sightings>,
    mut attach: impl FnMut(Candidate, Patience) -> Result<Option<T>, Fault>,
) -> Result<(T, Duration), Fault> {
    let path = spec.path();
    let started = Instant::now();
    let mut attempts = 0;
    let mut held = None;
    let mut waited = Duration::ZERO;
    while attempts < ATTEMPTS {
        if !cancellation::is_wanted() {
            return Err(Error::with_subject(Code::Closed, Subject::Generator).into());
        }
        let candidate = if held.is_some() { held.take() } else { Candidate::open(spec, sightings)? };
        let Some(candidate) = candidate else {
            attempts += 1;
            continue;
        };
        let look = candidate.look();
        let rest = lock(sightings).note(look, &spec.machine, Instant::now());
        if look.other_user {
            if started.elapsed() >= wait {
                return Err(other_file_in_use(path, &candidate.name_locks));
            }
            drop(candidate);
            waited += pause();
            continue;
        }
        if rest.is_zero() {
            if let Some(opened) = attach(candidate, Patience::new(wait.saturating_sub(started.elapsed())))? {
                *lock(sightings) = Sightings::default();
                return Ok((opened, wait.saturating_sub(waited)));
            }
            lock(sightings).note_replaced();
            attempts += 1;
            continue;
        }
        if started.elapsed() + rest > wait {
            return Err(Error::retry_after(Code::ClockBackward, millis_up(rest)).into());
        }
        waited += pause();
        if candidate.identity.is_at(os::identity_at(path).map_err(|cause| Fault::failed(path, "found", &cause))?) {
            held = Some(candidate);
        } else {
            lock(sightings).note_replaced();
            attempts += 1;
        }
    }
    Err(Fault::corrupt(path, "is replaced as soon as it is opened"))
}

/// Waits until the next look, and returns for how long.
fn pause() -> Duration {
    // It differs between processes, so that of two that see each other one comes first.
    let pause = POLL_INTERVAL + Duration::from_millis(u64::from(std::process::id()) % 16);
    sleep(pause);
    pause
}

/// A time in milliseconds, rounded up.
fn millis_up(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

fn other_file_in_use(path: &Path, name_locks: &NameLocks) -> Fault {
    let path = path.display();
    let by = |holder: Option<String>| holder.map(|holder| format!(" by {holder}"));
    let (text, hint) = match name_locks.user() {
        Some(OtherUser { directory, lock, holder }) if !lock.is_of_state_file() => {
            let finding = if holder.is_none() { " Root finds it with grep -l lock: /proc/[0-9]*/fdinfo/*." } else { "" };
            let by = by(holder).unwrap_or_else(|| " by another user's process".to_owned());
            (
                format!("{} is locked (fcntl){by}, on more bytes than a state file locks", directory.display()),
                format!("End that process: its lock hides whether another file of the name {path} is in use.{finding}"),
            )
        }
        found => (
            format!(
                "another state file of the name {path} is in use{}",
                found.and_then(|found| by(found.holder)).unwrap_or_default()
            ),
            "End that process, or pass another node. It has not noticed yet that its own file was moved, deleted or covered by a mount, \
             which takes a second; or it is stopped; or the path leads to another file there (a container, other mounts)."
                .to_owned(),
        ),
    };
    Fault::new(Code::StateConflict, Subject::Dir, text, hint)
}

fn busy(path: &Path) -> Fault {
    let text = format!("{} is held by a process that opens it or raises its ceiling, and does not go on", path.display());
    let hint = "Is that process stopped (kill -CONT), or does it hang on its disk?";
    Fault::new(Code::StateFileFailed, Subject::Dir, text, hint)
}
