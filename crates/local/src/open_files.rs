//! The state files that this process has open. A second generator of a file shares the attachment of the first.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use crate::attachment::Attachment;
use crate::fault::Fault;
use crate::file_spec::FileSpec;
use crate::mutex::lock;
use crate::wait_rule::Sightings;

/// The files that this process has open, and those of which it remembers what a refused opening saw. The table is
/// locked only for a lookup. Each entry has a lock of its own, which is held while the file is opened.
static OPEN_FILES: Mutex<BTreeMap<PathBuf, Arc<Mutex<FileEntry>>>> = Mutex::new(BTreeMap::new());

/// What this process knows of a file.
#[derive(Debug, Default)]
struct FileEntry {
    attachment: Weak<Attachment>,
    sightings: Sightings,
}

/// Returns the attachment of a file, the existing one or a new one, and how long it is until the first ID.
pub(crate) fn attach_or_share(spec: &FileSpec, start_wait_ms: u64) -> Result<(Arc<Attachment>, u64), Fault> {
    let known = {
        let mut files = lock(&OPEN_FILES);
        // Drops the entries that are not in use, are not being opened and remember nothing.
        files.retain(|_, known| {
            Arc::strong_count(known) > 1
                || known.try_lock().is_ok_and(|known| known.attachment.strong_count() > 0 || !known.sightings.is_empty())
        });
        Arc::clone(files.entry(spec.path().to_owned()).or_default())
    };
    let mut known = lock(&known);
    let open = known.attachment.upgrade();
    if let Some(attachment) =
        open.filter(|attachment| attachment.is_usable() && attachment.sequence_start() == spec.sequence_start)
    {
        let wait_ms = attachment.wait_ms()?;
        return Ok((attachment, wait_ms));
    }
    let (attachment, wait_ms) = Attachment::open(spec, start_wait_ms, &mut known.sightings)?;
    let attachment = Arc::new(attachment);
    known.attachment = Arc::downgrade(&attachment);
    Ok((attachment, wait_ms))
}
