//! The state files that this process has open.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use crate::attachment::Attachment;
use crate::fault::Fault;
use crate::file_spec::FileSpec;
use crate::mutex::lock;
use crate::opening::IncompleteSince;

/// The files that this process has open, or had while another file of their name was in use. A second generator of a file
/// shares its attachment. The table is locked for a look only; each file has a lock of its own, which is held while it is
/// opened.
static OPEN_FILES: Mutex<BTreeMap<PathBuf, Arc<Mutex<FileEntry>>>> = Mutex::new(BTreeMap::new());

/// What this process knows of a file.
#[derive(Debug, Default)]
struct FileEntry {
    attachment: Weak<Attachment>,
    incomplete: IncompleteSince,
}

/// The attachment of a file: the one that this process has, or a new one.
pub(crate) fn attach_or_share(spec: &FileSpec, start_wait_ms: u64) -> Result<(Arc<Attachment>, u64), Fault> {
    let known = {
        let mut files = lock(&OPEN_FILES);
        // What nobody uses or opens, and nothing is remembered of.
        files.retain(|_, known| {
            Arc::strong_count(known) > 1
                || known.try_lock().is_ok_and(|known| known.attachment.strong_count() > 0 || known.incomplete.is_some())
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
    let (attachment, wait_ms) = Attachment::open(spec, start_wait_ms, &mut known.incomplete)?;
    let attachment = Arc::new(attachment);
    known.attachment = Arc::downgrade(&attachment);
    Ok((attachment, wait_ms))
}
