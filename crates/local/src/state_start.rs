//! Starting the state of a state file that is being opened: what is known of it, how it starts ([`crate::start_rule`]), and the
//! writes and flushes that this takes.
//!
//! A mapping that no process uses is proven to be current by four things: the boot, the mount of the file system
//! ([`os::superblock_id`]), the number of the newest record on disk, and a flush through the new descriptor. The boot id alone is
//! no proof: a file system that was shut down and mounted again in one boot has lost what was not flushed. A state that goes on
//! still issues nothing until all is over that a process which ended just now can have issued ([`crate::start_rule`]).
//!
//! If the state starts again, its window begins at the ceiling, which is above all that was issued. That is at most three seconds
//! ahead, and after a clean close the end of the last tick used.

use std::io;
use std::sync::atomic::Ordering;

use frazil::Code;
use frazil::error::Subject;
use frazil::mint::Window;

use crate::attached_file::AttachedFile;
use crate::ceiling::Unmoved;
use crate::clock::wall_ms;
use crate::disk::{Header, Record};
use crate::fault::Fault;
use crate::first_id::{refuse_far_ahead, unissued_from_ms};
use crate::mapped::{CLOSED_WORD, MAGIC, Slot};
use crate::os;
use crate::start_rule::{Facts, Mapping, Start, Word};
use crate::trusted_clock::TrustedClock;

/// A file whose state is about to start. No other process attaches, leaves or raises the ceiling meanwhile.
pub(crate) struct StateStart<'a> {
    pub(crate) file: &'a AttachedFile,
    pub(crate) record: Record,
    pub(crate) header: Header,
    /// Whether no other process is attached.
    pub(crate) alone: bool,
}

/// What is known of the mapped state.
#[derive(Clone, Copy)]
struct Evidence {
    mapping: Mapping,
    same_boot: bool,
    /// The mount that the file is on now.
    superblock_id: Option<u64>,
}

impl StateStart<'_> {
    /// Starts the state, and returns how long it is until the first ID.
    pub(crate) fn run(self) -> Result<u64, Fault> {
        let Self { file, record, alone, .. } = self;
        let evidence = self.evidence()?;
        let atomics = file.atomics();
        let start = Start::decide(Facts {
            mapping: evidence.mapping,
            flush_failed: file.ceiling().has_failed(),
            word: match atomics.word.load(Ordering::Acquire) {
                CLOSED_WORD => Word::Closed,
                _ if atomics.same_start() => Word::SameSequenceStart,
                _ => Word::OtherSequenceStart,
            },
        });
        let no_clock = |cause| Fault::failed(&file.path, "used, because there is no clock", &cause);
        // Read once no other process uses the file.
        let now_ms = file.ceiling().trusted_ms(wall_ms()).map_err(no_clock)?;
        let unissued_from_ms = unissued_from_ms(&file.machine, record.ceiling_ms, now_ms);
        let needs_proof = alone && matches!(start, Start::AtCeiling | Start::AfterLastTick | Start::Resume);
        if needs_proof {
            // A new descriptor gets a write error that the kernel has not reported to any process. If the state goes on, this flush also
            // raises the ceiling, which the first ID would need, so a start after a crash takes one flush instead of two.
            let ceiling = file.ceiling();
            let flushed = if start == Start::Resume {
                ceiling.flush_or_raise(record.ceiling_ms, now_ms)
            } else {
                ceiling.flush().map_err(Unmoved::Failed)
            };
            flushed.map_err(|cause| file.not_raised(&cause))?;
        }
        match start {
            Start::RefuseAfterFailedFlush => return Err(file.flush_failed_before()),
            Start::RefuseConflict => return Err(self.other_sequence_start()),
            Start::Initialize => self.initialize(evidence)?,
            Start::AtCeiling => atomics.begin_anew(self.window_from(record.ceiling_ms)),
            Start::AfterLastTick => {
                let used_ms = atomics.close(&file.machine).unwrap_or(record.ceiling_ms);
                atomics.begin_anew(self.window_from(used_ms.max(atomics.from_ms()).max(unissued_from_ms)));
            }
            Start::Resume => atomics.begin_later(unissued_from_ms),
            Start::Join => {}
        }
        let wait_ms = file.wait_ms()?;
        // An opening counts as a sighting of the clock, so that processes that live for a second each find out together.
        file.ceiling().observe_clocks().map_err(no_clock)?;
        Ok(wait_ms)
    }

    fn evidence(&self) -> Result<Evidence, Fault> {
        if !self.alone {
            return Ok(Evidence { mapping: Mapping::InUse, same_boot: true, superblock_id: None });
        }
        let AttachedFile { path, file, mapped, .. } = self.file;
        let read = |cause| Fault::failed(path, "read", &cause);
        let superblock_id = os::superblock_id(file);
        let same_boot = self.is_of_this_boot().map_err(read)?;
        if same_boot && mapped.get(Slot::DiskId) != os::disk_id(file).map_err(read)? {
            let text = format!("{} was on another disk earlier in this boot", path.display());
            let hint = "If its disk was detached and came back under another number, restart the machine. If it is a copy (a snapshot, a \
                        cloned disk), the original may go on, so pass another node.";
            return Err(Fault::new(Code::StateFileCorrupt, Subject::Dir, text, hint));
        }
        let written = Some(mapped.get(Slot::SuperblockId)).filter(|id| *id != 0);
        let knows_newest_record = mapped.get(Slot::RecordNumber) == self.record.number;
        let mapping = Mapping::of_unused_file(same_boot, written, superblock_id, knows_newest_record);
        Ok(Evidence { mapping, same_boot, superblock_id })
    }

    /// Whether the mapped state was written in this boot.
    fn is_of_this_boot(&self) -> io::Result<bool> {
        let mapped = &self.file.mapped;
        let written = [Slot::BootHigh, Slot::BootLow].map(|slot| mapped.get(slot));
        Ok(mapped.get(Slot::Magic) == MAGIC && os::boot_id()? == Some(written))
    }

    fn other_sequence_start(&self) -> Fault {
        let path = self.file.path.display();
        let text = format!("{path} is in use with a different sequenceStart");
        Fault::new(Code::StateConflict, Subject::SequenceStart, text, "Give all its generators the same sequenceStart.")
    }

    /// The window of a state that starts again, from `from_ms` on, where its IDs end.
    const fn window_from(&self, from_ms: u64) -> Window {
        Window { from_ms, until_ms: self.record.ceiling_ms }
    }

    /// Writes all mapped numbers of a state if only its ceiling is known.
    fn initialize(&self, evidence: Evidence) -> Result<(), Fault> {
        let Self { file: AttachedFile { path, file, identity, name_locks, mapped, machine, .. }, record, header, .. } = self;
        let failed = |doing| move |cause: io::Error| Fault::failed(path, doing, &cause);
        let window = self.window_from(record.ceiling_ms);
        let now_ms = wall_ms();
        refuse_far_ahead(path, machine, record.ceiling_ms, now_ms, now_ms)?;
        name_locks.flush_names(*identity).map_err(failed("found again after a crash"))?;
        let read = failed("read");
        let (boot_id, disk_id) = (os::boot_id().map_err(read)?, os::disk_id(file).map_err(read)?);
        let [high, low] = boot_id.unwrap_or_default();
        let (wall_ms, since_boot_ms) = (wall_ms(), os::since_boot_ms().map_err(read)?);
        // Findings about the clock in this boot hold, however old.
        let clock = if evidence.same_boot {
            mapped.trusted_clock().after_reading(wall_ms, since_boot_ms)
        } else {
            TrustedClock::new(wall_ms, since_boot_ms)
        };
        // If the process dies before the magic is written again, the next opening initializes the state again.
        mapped.set(Slot::Magic, 0);
        mapped.set_trusted_clock(clock);
        mapped.set(Slot::FlushFailed, 0);
        mapped.set(Slot::DiskId, disk_id);
        mapped.set(Slot::RecordNumber, record.number);
        mapped.set(Slot::SuperblockId, evidence.superblock_id.unwrap_or(0));
        let atomics = self.file.atomics();
        for (half, key) in atomics.key.iter().zip(header.key) {
            half.store(key, Ordering::Relaxed);
        }
        atomics.begin_anew(window);
        mapped.set(Slot::BootHigh, high);
        mapped.set(Slot::BootLow, low);
        mapped.set(Slot::Magic, MAGIC);
        Ok(())
    }
}
