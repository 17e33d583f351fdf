//! The live part of the state file: mapped, and shared by all processes of the host.
//!
//! | offset | what |
//! |---|---|
//! | 0 | magic |
//! | 8, 16 | the boot of the kernel that wrote the rest: with another one it counts for nothing |
//! | 24 | the device on which the file lay then |
//! | 32 | 1 once a flush has failed: nothing more is issued |
//! | 40 | the number of the newest record on disk |
//! | 48 | the wall clock less the clock that runs since the boot, in milliseconds, as it was last believed |
//! | 56 | since when, on the clock since the boot, the wall clock is not believed; 0 where it is |
//! | 64 | where the sequence starts |
//! | 72 | the last word, while the state is closed cleanly; else 0 |
//! | 128, 136 | the window |
//! | 144, 152 | the key |
//! | 256 | the word, alone on its pair of cache lines |
//! | 1024 … | the clock ids |
//!
//! Numbers are in the order of the machine's bytes: the memory of one kernel. Of all this nothing is trusted after the kernel
//! is gone, because nothing says how old the copy on disk is.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use frazil::{Cells, SequenceStart};
use memmap2::{MmapOptions, MmapRaw};

use crate::disk::LIVE_AT;

pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"live   1");
const CLOCKS_AT: usize = 1024;

/// The places of single numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Magic = 0,
    BootHigh = 8,
    BootLow = 16,
    Device = 24,
    Failed = 32,
    Number = 40,
    Offset = 48,
    Disbelieved = 56,
    Start = 64,
    LastWord = 72,
    From = 128,
    Until = 136,
    Key = 144,
    Word = 256,
}

/// The mapped part.
#[derive(Debug)]
pub(crate) struct Live {
    map: MmapRaw,
    clocks: usize,
}

impl Live {
    /// How long a file with so many clock ids is.
    pub(crate) const fn file_len(clocks: usize) -> u64 {
        LIVE_AT + Self::len(clocks) as u64
    }

    /// Whole pages, of at least the size of any machine.
    const fn len(clocks: usize) -> usize {
        (CLOCKS_AT + 8 * clocks).next_multiple_of(65536)
    }

    /// Maps a file that has this length.
    pub(crate) fn map(file: &File, clocks: usize) -> io::Result<Self> {
        let map = MmapOptions::new().offset(LIVE_AT).len(Self::len(clocks)).map_raw(file)?;
        Ok(Self { map, clocks })
    }

    pub(crate) fn at(&self, place: Place) -> &AtomicU64 {
        &self.row(place as usize, 1)[0]
    }

    pub(crate) fn get(&self, place: Place) -> u64 {
        self.at(place).load(Ordering::Acquire)
    }

    pub(crate) fn set(&self, place: Place, value: u64) {
        self.at(place).store(value, Ordering::Release);
    }

    pub(crate) fn cells(&self, start: SequenceStart) -> Cells<'_> {
        let key = self.row(Place::Key as usize, 2);
        Cells {
            word: self.at(Place::Word),
            from_ms: self.at(Place::From),
            until_ms: self.at(Place::Until),
            key: key.first_chunk().unwrap_or(&NO_KEY),
            start,
            clocks: self.row(CLOCKS_AT, self.clocks),
        }
    }

    fn row(&self, at: usize, count: usize) -> &[AtomicU64] {
        assert!(at.is_multiple_of(8) && at + 8 * count <= self.map.len(), "within the mapping");
        // SAFETY: the mapping is at least that long (checked above), aligned to a page, lives as long as `self`, and is memory
        // that this process and others touch by atomics of this size alone. A file that is truncated by somebody else ends the
        // process with SIGBUS; it does not make this reference point to other memory.
        #[expect(clippy::cast_ptr_alignment, reason = "a page, and a multiple of 8 from it")]
        unsafe {
            std::slice::from_raw_parts(self.map.as_mut_ptr().add(at).cast::<AtomicU64>(), count)
        }
    }
}

/// What the key of a row that is too short would be; there is none.
static NO_KEY: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
