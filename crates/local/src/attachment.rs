//! One open state file of this process, with the thread that raises its ceiling.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use frazil::{Error, Keeper, SequenceStart, StateAtomics, StateFile};

use crate::attached_file::AttachedFile;
use crate::ceiling_thread::CeilingThread;
use crate::clock::wall_ms;
use crate::fault::Fault;
use crate::file_spec::FileSpec;
use crate::locks::FileLock;
use crate::mapped::Slot;
use crate::opening::{self, IncompleteSince};
use crate::os;

/// How long to wait for the raiser's thread to notice that the file is left: for 20 ms at most.
const CLOSE_POLLS: u32 = 200;
const CLOSE_POLL_INTERVAL: Duration = Duration::from_micros(100);

/// A state file in use by this process.
#[derive(Debug)]
pub(crate) struct Attachment {
    attached: Arc<AttachedFile>,
    ceiling_thread: CeilingThread,
}

impl Attachment {
    /// Opens a state file, and makes it where there is none. Returns also how long it is until the first ID.
    pub(crate) fn open(spec: &FileSpec, wait_ms: u64, incomplete: &mut IncompleteSince) -> Result<(Self, u64), Fault> {
        let (attached, wait_ms) = opening::open(spec, wait_ms, incomplete)?;
        let attached = Arc::new(attached);
        Ok((Self { ceiling_thread: CeilingThread::start(&attached), attached }, wait_ms))
    }

    /// Whether this is still the file of a path, and usable.
    pub(crate) fn current(&self) -> bool {
        self.attached.same_process() && self.fault().is_none() && self.attached.is_at_path().unwrap_or(false)
    }

    pub(crate) fn start(&self) -> SequenceStart {
        self.attached.start
    }

    /// How long it is until the first ID, for one more generator.
    pub(crate) fn wait_ms(&self) -> Result<u64, Fault> {
        self.attached.wait_ms()
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        if self.attached.same_process() {
            self.ceiling_thread.stop();
        }
        // Nobody is left to tell, and nothing is lost but a wait.
        let _: io::Result<()> = self.attached.leave();
        // The raiser's thread may have the file open for a moment longer. The next process that opens it should find it free.
        for _ in 0..CLOSE_POLLS {
            if Arc::strong_count(&self.attached) == 1 {
                break;
            }
            thread::sleep(CLOSE_POLL_INTERVAL);
        }
    }
}

impl Keeper for Attachment {
    fn atomics(&self) -> StateAtomics<'_> {
        self.attached.atomics()
    }

    fn extend(&self, until_ms: u64, now_ms: u64) -> frazil::Result<u64> {
        let attached = &self.attached;
        // While the clock is not believed, every call comes here; most need no lock.
        if attached.mapped.get(Slot::StepSightings) != 0
            && self.fault().is_none()
            && let Ok(trusted_ms) = attached.trusted_ms(now_ms)
            && trusted_ms < now_ms
            && trusted_ms.saturating_add(1) < attached.mapped.get(Slot::Until)
        {
            self.ceiling_thread.wake();
            return Ok(trusted_ms);
        }
        let trusted_ms = attached.raise(until_ms, now_ms)?;
        self.ceiling_thread.wake();
        Ok(trusted_ms)
    }

    fn fault(&self) -> Option<Error> {
        self.attached.fault().map(|fault| fault.error())
    }

    fn explain(&self) -> Option<String> {
        self.attached.fault().map(|fault| fault.text().to_owned())
    }

    fn file(&self) -> Option<StateFile> {
        let AttachedFile { path, file_system, mapped, identity, raises, .. } = &*self.attached;
        let wall_ms = wall_ms();
        let mut file = StateFile::new(path.display().to_string(), file_system.clone());
        file.ceiling_ms = mapped.get(Slot::Until);
        file.attached = os::holders(*identity, FileLock::Attached.byte());
        file.raises = raises.load(Ordering::Relaxed);
        file.distrusted_ms = self.attached.trusted_ms(wall_ms).map_or(0, |trusted_ms| wall_ms - trusted_ms);
        file.locked = mapped.is_locked();
        file.blind = self.attached.name_locks.is_incomplete();
        Some(file)
    }
}
