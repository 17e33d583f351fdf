//! The state files that this process has open. A second generator of a file shares the attachment of the first.
//!
//! Openings of one file wait side by side for users of other files, each for as long as it may. One at a time attaches; those
//! that waited for it share what it got: its attachment, or its refusal if the file is held by another process.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use frazil::{Code, Error};

use crate::attachment::Attachment;
use crate::fault::Fault;
use crate::file_spec::FileSpec;
use crate::mutex::{lock, lock_within};
use crate::opening::{self, Patience};
use crate::opening_wait::Sightings;
use crate::process;

/// The files that this process has open, and files that a refused opening saw. The table is locked only for a lookup. The key has the
/// number of the process: in a forked child, the lock of an entry can be held by a thread that does not exist there.
static OPEN_FILES: Mutex<BTreeMap<(u64, PathBuf), Arc<FileEntry>>> = Mutex::new(BTreeMap::new());

/// What this process knows of a file.
#[derive(Debug, Default)]
struct FileEntry {
    sightings: Mutex<Sightings>,
    /// Held while the file is attached to.
    attached: Mutex<Attached>,
}

#[derive(Debug, Default)]
struct Attached {
    attachment: Weak<Attachment>,
    /// The last refusal because another process holds the file, which takes seconds, and when it came.
    held: Option<(Instant, Fault)>,
}

impl FileEntry {
    /// Whether it is of use after all openings have ended.
    fn is_in_use(&self) -> bool {
        let attached = self.attached.try_lock().is_ok_and(|attached| attached.attachment.strong_count() > 0);
        attached || self.sightings.try_lock().is_ok_and(|sightings| !sightings.is_empty(Instant::now()))
    }
}

impl Attached {
    /// What an opening that began at `started` shares with an earlier one.
    fn share(&self, spec: &FileSpec, started: Instant) -> Result<Option<Arc<Attachment>>, Fault> {
        let open = self.attachment.upgrade();
        let usable = open.filter(|open| open.is_usable() && open.sequence_start() == spec.sequence_start);
        match &self.held {
            None => Ok(usable),
            _ if usable.is_some() => Ok(usable),
            Some((refused, fault)) if *refused >= started => Err(fault.clone()),
            Some(_) => Ok(None),
        }
    }
}

/// Returns the attachment of a file, the existing one or a new one, and how long it is until the first ID. Refused if that and what the
/// opening has waited for are longer than `start_wait_ms` together.
pub(crate) fn attach_or_share(spec: &FileSpec, start_wait_ms: u64) -> Result<(Arc<Attachment>, u64), Fault> {
    let started = Instant::now();
    let entry = {
        let mut files = lock(&OPEN_FILES);
        // Drops the entries that no opening has and that are of no use.
        files.retain(|_, entry| Arc::strong_count(entry) > 1 || entry.is_in_use());
        Arc::clone(files.entry((process::unique_id(), spec.path().to_owned())).or_default())
    };
    // Another thread may hold it while it waits for another process.
    let hold =
        |patience: Patience| lock_within(&entry.attached, patience.rest(), || false).ok_or_else(|| patience.is_over(spec.path()));
    let wait = Duration::from_millis(start_wait_ms);
    let shared = hold(Patience::new(wait))?.share(spec, started)?;
    let within = |attachment, wait_ms, rest| {
        if Duration::from_millis(wait_ms) > rest {
            return Err(Error::retry_after(Code::ClockBackward, wait_ms).into());
        }
        Ok((attachment, wait_ms))
    };
    if let Some(attachment) = shared {
        let wait_ms = attachment.wait_ms()?;
        return within(attachment, wait_ms, wait);
    }
    let ((attachment, wait_ms), rest) =
        opening::open(spec, wait.saturating_sub(started.elapsed()), &entry.sightings, |candidate, patience| {
            let mut attached = hold(patience)?;
            if let Some(attachment) = attached.share(spec, started)? {
                let wait_ms = attachment.wait_ms()?;
                return Ok(Some((attachment, wait_ms)));
            }
            let opened = candidate.attach(spec, patience).inspect_err(|fault| {
                if fault.code() == Code::StateFileFailed {
                    attached.held = Some((Instant::now(), fault.clone()));
                }
            })?;
            Ok(opened.map(|(file, wait_ms)| {
                let attachment = Arc::new(Attachment::new(file));
                *attached = Attached { attachment: Arc::downgrade(&attachment), held: None };
                (attachment, wait_ms)
            }))
        })?;
    within(attachment, wait_ms, rest)
}
