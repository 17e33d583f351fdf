//! One open state file of this process, with the thread that raises its ceiling.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use frazil::{Error, Keeper, SequenceStart, StateAtomics, StateFile};

use crate::attached_file::Shared;
use crate::ceiling_thread::Raiser;
use crate::clock::wall_ms;
use crate::fault::Fault;
use crate::file_spec::Target;
use crate::locks::Range;
use crate::mapped::Place;
use crate::opening::{self, OpenedBlind};
use crate::os;

/// How long to wait for the raiser's thread to notice that the file is left: for 20 ms at most.
const CLOSING_LOOKS: u32 = 200;
const CLOSING_LOOK: Duration = Duration::from_micros(100);

/// A state file in use by this process.
#[derive(Debug)]
pub(crate) struct Attachment {
    shared: Arc<Shared>,
    raiser: Raiser,
}

impl Attachment {
    /// Opens a state file, and makes it where there is none. Returns also how long it is until the first ID.
    pub(crate) fn open(target: &Target, wait_ms: u64, blind: &mut OpenedBlind) -> Result<(Self, u64), Fault> {
        let (shared, wait_ms) = opening::open(target, wait_ms, blind)?;
        let shared = Arc::new(shared);
        Ok((Self { raiser: Raiser::start(&shared), shared }, wait_ms))
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
        self.shared.wait_ms()
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        if self.shared.same_process() {
            self.raiser.stop();
        }
        // Nobody is left to tell, and nothing is lost but a wait.
        let _: io::Result<()> = self.shared.leave();
        // The raiser's thread may have the file open for a moment longer. The next process that opens it should find it free.
        for _ in 0..CLOSING_LOOKS {
            if Arc::strong_count(&self.shared) == 1 {
                break;
            }
            thread::sleep(CLOSING_LOOK);
        }
    }
}

impl Keeper for Attachment {
    fn atomics(&self) -> StateAtomics<'_> {
        self.shared.atomics()
    }

    fn extend(&self, until_ms: u64, now_ms: u64) -> frazil::Result<u64> {
        let shared = &self.shared;
        // While the clock is not believed, every call comes here; most need no lock.
        if shared.live.get(Place::StepSightings) != 0
            && self.fault().is_none()
            && let Ok(go_on_ms) = shared.go_by_ms(now_ms)
            && go_on_ms < now_ms
            && go_on_ms.saturating_add(1) < shared.live.get(Place::Until)
        {
            self.raiser.wake();
            return Ok(go_on_ms);
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

    fn file(&self) -> Option<StateFile> {
        let Shared { path, file_system, live, identity, raises, .. } = &*self.shared;
        let wall_ms = wall_ms();
        let mut file = StateFile::new(path.display().to_string(), file_system.clone());
        file.ceiling_ms = live.get(Place::Until);
        file.attached = os::holders(*identity, Range::Attached.byte());
        file.raises = raises.load(Ordering::Relaxed);
        file.distrusted_ms = self.shared.go_by_ms(wall_ms).map_or(0, |go_on_ms| wall_ms - go_on_ms);
        file.locked = live.is_locked();
        file.blind = self.shared.presence.is_blind();
        Some(file)
    }
}
