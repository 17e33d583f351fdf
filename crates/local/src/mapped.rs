//! The mapped state: the part of the state file that all processes with the file map and share.
//!
//! | offset | what |
//! |---|---|
//! | 0 | magic number |
//! | 8, 16 | the id of the boot in which the rest was written: in another boot the rest does not count |
//! | 24 | the disk that the file was on in that boot |
//! | 32 | 1 after the disk has failed a flush: nothing more is issued |
//! | 40 | the number of the newest record on disk |
//! | 48 | the mount of the file system ([`crate::os::superblock_id`]), 0 if it is not known |
//! | 56 … 95 | the trusted clock ([`crate::trusted_clock`]) |
//! | 128, 136 | the window; the upper bits of its start say where the sequence starts ([`frazil::mint::StateAtomics::origin`]) |
//! | 144, 152 | the key |
//! | 256 | the word, on a pair of cache lines of its own |
//! | 1024 … | for each clock id the first tick it may be used for |
//!
//! Numbers have the machine's byte order, because they are shared within one kernel only. In another boot nothing of this is
//! used, because nothing says how old the copy on disk is.
//!
//! The pages are locked in memory where the system allows it. Otherwise the kernel may drop a page that it could not write back,
//! and read the older copy from the disk.

use std::any::Any;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use frazil::mint::{SequenceStart, StateAtomics};
use memmap2::{MmapOptions, MmapRaw};

use crate::disk::MAPPED_AT;
use crate::os;
use crate::trusted_clock::TrustedClock;

pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"live   2");
/// The word of a state that is closed.
pub(crate) const CLOSED_WORD: u64 = u64::MAX;
const CLOCKS_AT: usize = 1024;
const TRUSTED_CLOCK_SLOTS: [Slot; 5] =
    [Slot::TrustedOffset, Slot::StepOffset, Slot::StepFirstSeen, Slot::StepLastSeen, Slot::StepSightings];

/// The offsets of single numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    Magic = 0,
    BootHigh = 8,
    BootLow = 16,
    DiskId = 24,
    FlushFailed = 32,
    RecordNumber = 40,
    SuperblockId = 48,
    TrustedOffset = 56,
    StepOffset = 64,
    StepSightings = 72,
    StepFirstSeen = 80,
    StepLastSeen = 88,
    Origin = 128,
    WindowEnd = 136,
    Key = 144,
    Word = 256,
}

/// The mapped state of an open file.
#[derive(Debug)]
pub(crate) struct MappedState {
    /// Lines may have it too ([`MappedState::memory`]).
    map: Arc<MmapRaw>,
    clocks: usize,
    /// Whether its pages are locked in memory.
    locked: bool,
}

impl MappedState {
    /// The length of a file with that many clock ids.
    pub(crate) const fn file_len(clocks: usize) -> u64 {
        MAPPED_AT + Self::len(clocks) as u64
    }

    /// A multiple of 64 KiB, the largest page size in use.
    const fn len(clocks: usize) -> usize {
        (CLOCKS_AT + 8 * clocks).next_multiple_of(65536)
    }

    /// Whether a state of the file was ever started. A new file is all zeros there.
    pub(crate) fn was_started(file: &File) -> io::Result<bool> {
        let mut magic = [0; 8];
        os::read_at(file, &mut magic, MAPPED_AT + Slot::Magic as u64)?;
        Ok(u64::from_ne_bytes(magic) == MAGIC)
    }

    /// Maps a file that has the length [`MappedState::file_len`].
    pub(crate) fn map(file: &File, clocks: usize) -> io::Result<Self> {
        let map = MmapOptions::new().offset(MAPPED_AT).len(Self::len(clocks)).map_raw(file)?;
        let locked = os::lock_in_memory(map.as_mut_ptr(), CLOCKS_AT + 8 * clocks);
        Ok(Self { map: Arc::new(map), clocks, locked })
    }

    /// Keeps the memory after this was dropped. `None` where the file would be kept with it.
    pub(crate) fn memory(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        if os::REPLACES_MEMORY { Some(Arc::<MmapRaw>::clone(&self.map)) } else { None }
    }

    /// Replaces the mapping of this process, in one step, by private memory that issues nothing more: its window is empty, and its word is
    /// closed (all ones). `false` if the system cannot do that.
    ///
    /// A call that reads a closed word stops, so none can swap the copy's. If the word were copied, this process would go on from there,
    /// and repeat what was issued from the file between the copy and its use. If it were 0, a call that read 0 from the file would swap it
    /// to a word of the fast path, which does not check the window, and others would go on from that.
    pub(crate) fn make_private(&self) -> bool {
        os::replace_memory(self.map.as_mut_ptr(), self.map.len(), |copy| {
            // SAFETY: the copy is as long as the mapping, aligned to a page, and no other code has a pointer to it yet.
            #[expect(clippy::cast_ptr_alignment, reason = "a page, and a multiple of 8 from it")]
            let numbers = unsafe { std::slice::from_raw_parts(copy.cast::<AtomicU64>(), (CLOCKS_AT + 8 * self.clocks) / 8) };
            for (number, from) in numbers.iter().zip(self.atomics_at(0, numbers.len())) {
                number.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            for (slot, number) in [(Slot::WindowEnd, 0), (Slot::Word, CLOSED_WORD)] {
                numbers[slot as usize / 8].store(number, Ordering::Relaxed);
            }
        })
    }

    /// Whether the magic number is not there. Something else was written over the file; or a process that noticed that ended the use of
    /// the file for all; or the file is being made.
    pub(crate) fn lacks_magic(&self) -> bool {
        self.get(Slot::Magic) != MAGIC
    }

    /// Whether its pages stay in memory for as long as it is mapped.
    pub(crate) const fn is_locked(&self) -> bool {
        self.locked
    }

    /// The trusted clock.
    pub(crate) fn trusted_clock(&self) -> TrustedClock {
        let [offset_ms, step_offset_ms, first_seen_ms, last_seen_ms, sightings] = TRUSTED_CLOCK_SLOTS.map(|slot| self.get(slot));
        TrustedClock { offset_ms, step_offset_ms, sightings, first_seen_ms, last_seen_ms }
    }

    /// Stores the trusted clock. Needs the lock [`crate::locks::FileLock::Raise`].
    pub(crate) fn set_trusted_clock(
        &self,
        TrustedClock { offset_ms, step_offset_ms, sightings, first_seen_ms, last_seen_ms }: TrustedClock,
    ) {
        // The count last: a process that ends in between leaves too few sightings, or too recent ones, which only delays trust.
        for (slot, value) in
            TRUSTED_CLOCK_SLOTS.into_iter().zip([offset_ms, step_offset_ms, first_seen_ms, last_seen_ms, sightings])
        {
            self.set(slot, value);
        }
    }

    pub(crate) fn at(&self, slot: Slot) -> &AtomicU64 {
        &self.atomics_at(slot as usize, 1)[0]
    }

    pub(crate) fn get(&self, slot: Slot) -> u64 {
        self.at(slot).load(Ordering::Acquire)
    }

    pub(crate) fn set(&self, slot: Slot, value: u64) {
        self.at(slot).store(value, Ordering::Release);
    }

    pub(crate) fn atomics(&self, start: SequenceStart) -> StateAtomics<'_> {
        let key = self.atomics_at(Slot::Key as usize, 2);
        StateAtomics {
            word: self.at(Slot::Word),
            origin: self.at(Slot::Origin),
            until_ms: self.at(Slot::WindowEnd),
            key: key.first_chunk().unwrap_or(&NO_KEY),
            start,
            clocks: self.atomics_at(CLOCKS_AT, self.clocks),
        }
    }

    pub(crate) fn word_and_origin(&self) -> (&AtomicU64, &AtomicU64) {
        (self.at(Slot::Word), self.at(Slot::Origin))
    }

    fn atomics_at(&self, at: usize, count: usize) -> &[AtomicU64] {
        assert!(at.is_multiple_of(8) && at + 8 * count <= self.map.len(), "within the mapping");
        // SAFETY: the mapping is at least that long (checked above), aligned to a page, and lives as long as `self`. This process
        // and others access it only by atomics of this size. If another program truncates the file, an access ends the process
        // with SIGBUS; the reference never points to other memory.
        #[expect(clippy::cast_ptr_alignment, reason = "a page, and a multiple of 8 from it")]
        unsafe {
            std::slice::from_raw_parts(self.map.as_mut_ptr().add(at).cast::<AtomicU64>(), count)
        }
    }
}

impl Drop for MappedState {
    /// Frees the file at once, although a line still has the memory, until its generator is collected. No call is under way, so the word
    /// need not be closed in the same step.
    fn drop(&mut self) {
        if Arc::strong_count(&self.map) > 1 && os::replace_by_zeros(self.map.as_mut_ptr(), self.map.len()) {
            self.set(Slot::Word, CLOSED_WORD);
        }
    }
}

/// Stands for the key where its two numbers are missing, which cannot happen.
static NO_KEY: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
