//! The keeper of a state: a state file that this process is attached to, and the thread that raises its ceiling.

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use frazil::Error;
use frazil::mint::{Keeper, SequenceStart, StateAtomics, StateFile};

use crate::attached_file::AttachedFile;
use crate::ceiling_thread::CeilingThread;
use crate::clock::wall_ms;
use crate::fault::Fault;
use crate::locks;
use crate::mapped::Slot;

/// How long closing waits until the ceiling's thread has released the file: 20 ms at most.
const CLOSE_POLLS: u32 = 200;
const CLOSE_POLL_INTERVAL: Duration = Duration::from_micros(100);

/// The keeper of a state. All generators of this process on one file share it.
#[derive(Debug)]
pub(crate) struct Attachment {
    file: Arc<AttachedFile>,
    ceiling_thread: CeilingThread,
}

impl Attachment {
    /// The keeper of a file that this process has just attached to.
    pub(crate) fn new(file: AttachedFile) -> Self {
        let file = Arc::new(file);
        Self { ceiling_thread: CeilingThread::start(&file), file }
    }

    /// Whether this process can go on with it: it has no fault, and the path still leads to the file.
    pub(crate) fn is_usable(&self) -> bool {
        self.file.same_process() && self.fault().is_none() && !self.file.is_displaced() && self.file.is_at_path().unwrap_or(false)
    }

    pub(crate) fn sequence_start(&self) -> SequenceStart {
        self.file.sequence_start
    }

    /// The time to continue with if the clock is not trusted and the window is not over by the trusted time. While that lasts, every call
    /// asks for it, and most of them need no lock.
    fn trusted_within_window(&self, now_ms: u64) -> Option<u64> {
        let AttachedFile { mapped, .. } = &*self.file;
        if mapped.get(Slot::StepSightings) == 0
            || self.file.shows_overwritten()
            || self.file.fault().is_some()
            || self.file.is_displaced()
        {
            return None;
        }
        let trusted_ms = self.file.ceiling().trusted_ms(now_ms).ok()?;
        (trusted_ms < now_ms && trusted_ms.saturating_add(1) < mapped.get(Slot::WindowEnd)).then_some(trusted_ms)
    }

    /// How long it is until the first ID, for one more generator.
    pub(crate) fn wait_ms(&self) -> Result<u64, Fault> {
        self.file.wait_ms()
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        if self.file.same_process() {
            self.ceiling_thread.stop();
        }
        // There is no caller to report an error to. If leaving fails, the next start waits longer.
        let _: io::Result<()> = self.file.leave();
        // The ceiling's thread may hold the file for a moment longer. The next process that opens it should find it unused.
        for _ in 0..CLOSE_POLLS {
            if Arc::strong_count(&self.file) == 1 {
                break;
            }
            thread::sleep(CLOSE_POLL_INTERVAL);
        }
    }
}

impl Keeper for Attachment {
    fn atomics(&self) -> StateAtomics<'_> {
        self.file.atomics()
    }

    fn word_and_origin(&self) -> (&AtomicU64, &AtomicU64) {
        self.file.mapped.word_and_origin()
    }

    fn memory(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.file.mapped.memory()
    }

    fn extend(&self, until_ms: u64, now_ms: u64) -> frazil::Result<u64> {
        let trusted_ms = match self.trusted_within_window(now_ms) {
            Some(trusted_ms) => trusted_ms,
            None => self.file.raise(until_ms, now_ms)?,
        };
        self.ceiling_thread.wake();
        Ok(trusted_ms)
    }

    fn obstacle(&self, now_ms: u64) -> Option<Error> {
        if self.trusted_within_window(now_ms).is_some() { None } else { self.file.obstacle() }
    }

    fn is_given_up(&self) -> bool {
        self.file.is_displaced() || self.file.fault().is_some() || self.file.shows_overwritten()
    }

    fn fault(&self) -> Option<Error> {
        self.file.fault().map(|fault| fault.error())
    }

    fn explain(&self) -> Option<String> {
        self.file.fault().map(|fault| fault.explained())
    }

    fn file(&self) -> Option<StateFile> {
        let AttachedFile { path, file_system, mapped, identity, raises, name_locks, .. } = &*self.file;
        let wall_ms = wall_ms();
        let mut file = StateFile::new(path.display().to_string(), file_system.clone());
        file.ceiling_ms = mapped.get(Slot::WindowEnd);
        file.attached = locks::count_attached(*identity);
        file.raises = raises.load(Ordering::Relaxed);
        file.distrusted_ms = self.file.ceiling().trusted_ms(wall_ms).map_or(0, |trusted_ms| wall_ms - trusted_ms);
        file.locked = mapped.is_locked();
        file.blind = name_locks.is_incomplete();
        Some(file)
    }
}
