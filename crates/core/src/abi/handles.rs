//! The handle table: the open generators of a frame, by number.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::frame::Frame;
use super::line_slots::LineSlots;
use crate::ceiling::CeilingGenerator;
#[cfg(feature = "std")]
use crate::error::Rule;
use crate::error::{Code, Error, Result};
use crate::layout::MAX_SAFE_INTEGER;
use crate::lease::LeasedGenerator;
use crate::mint::{Generator, Table};
use crate::segment::Segment;

/// The most generators that a handle table can have open at a time. It also sets how many bits of a handle are the index.
const CAPACITY: u64 = 1 << 24;
/// A handle is an index and, in the bits above it, a count of its earlier uses. It stays below 2^53, so JavaScript represents it exactly.
const HANDLE_LIMIT: u64 = MAX_SAFE_INTEGER + 1;

/// The index in a handle. Any number has one, so compare it with the handle in the entry.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the entry is compared with the whole number")]
const fn index_of(handle: f64) -> usize {
    (handle as u64 & (CAPACITY - 1)) as usize
}

/// Whether two handles are equal. They are compared by their bits, because a handle of a caller can be any number.
const fn is_same(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits()
}

/// The generators that one frame has open, by handle.
///
/// Equal generators share one handle, so opening a generator for each request does not grow the table. A private generator has its own
/// handle until it is released. No handle is given twice: after the release, every call with it fails with `CLOSED`, even one that began
/// before.
///
/// ```
/// use frazil::Registry;
/// use frazil::abi::{Handles, Frame, slot};
/// let (mut registry, mut handles, mut frame) = (Registry::new(), Handles::new(), Frame::new());
/// assert_eq!(handles.open(&mut frame, &mut registry), frazil::Code::InvalidLayout as u32); // a frame of zeros is no layout
/// ```
#[derive(Debug, Default)]
pub struct Handles {
    /// By index.
    entries: Vec<Entry>,
    /// Indices to use again.
    free: Vec<usize>,
    /// The handles that equal generators share, by their sharing key.
    shared: Table<(usize, u64), f64>,
    /// Whether the entries have lines.
    pub(super) has_lines: bool,
}

/// The possible targets of a handle.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "most entries are generators, and every call of them reads one")]
pub(super) enum Minter {
    /// A generator that is static, private or local.
    Generator(Generator),
    /// One whose node id comes from a lease.
    Leased(Box<LeasedGenerator>),
    /// One whose ceiling is in a storage.
    Ceiling(Box<CeilingGenerator>),
    /// Ranges of numbers, which no generator mints.
    Segment(Box<Segment>),
}

impl Minter {
    /// The generator. A segment has none, so generator calls with its handle fail with `CLOSED`.
    pub(super) fn generator(&self) -> Result<&Generator> {
        match self {
            Self::Generator(generator) => Ok(generator),
            Self::Leased(ids) => Ok(ids.generator()),
            Self::Ceiling(ids) => Ok(ids.generator()),
            Self::Segment(_) => Err(Error::new(Code::Closed)),
        }
    }
}

/// An entry of the table.
#[derive(Debug)]
pub(super) struct Entry {
    /// The handle of the generator that is there, or of the next one.
    handle: f64,
    pub(super) minter: Option<Minter>,
    /// The line slots of the generator, once it had a line.
    pub(super) line: Option<Arc<LineSlots>>,
}

impl Handles {
    /// A handle table with nothing open.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: Vec::new(), free: Vec::new(), shared: Table::new(), has_lines: false }
    }

    /// Inserts a generator, or finds the handle of an equal one.
    pub(super) fn insert_shared(&mut self, generator: Generator) -> f64 {
        let Some(key) = generator.sharing_key() else { return self.insert(Minter::Generator(generator)) };
        if let Some(handle) = self.shared.get(&key) {
            return *handle;
        }
        let handle = self.insert(Minter::Generator(generator));
        if !handle.is_nan() {
            self.shared.insert(key, handle);
        }
        handle
    }

    /// Inserts a generator under a new handle. If the table is full, returns NaN, which is never open.
    #[expect(clippy::cast_precision_loss, reason = "indices are below 2^24")]
    pub(super) fn insert(&mut self, minter: Minter) -> f64 {
        let minter = Some(minter);
        if let Some(entry) = self.free.pop().and_then(|index| self.entries.get_mut(index)) {
            entry.minter = minter;
            return entry.handle;
        }
        let index = self.entries.len() as u64;
        if index >= CAPACITY {
            return f64::NAN;
        }
        self.entries.push(Entry { handle: index as f64, minter, line: None });
        index as f64
    }

    /// Releases the handle of a generator. From then on, calls with it fail with `CLOSED`.
    #[expect(clippy::cast_precision_loss, reason = "2^24 and 2^53 are exact")]
    pub fn release(&mut self, handle: f64) {
        let Some(entry) = self.entry_mut(handle) else { return };
        let Some(minter) = entry.minter.take() else { return };
        if let Some(line) = &entry.line {
            line.clear();
        }
        entry.handle += CAPACITY as f64;
        // An index whose handles are used up stays empty.
        if entry.handle < HANDLE_LIMIT as f64 {
            self.free.push(index_of(handle));
        }
        // The bindings release private generators only. Releasing a shared handle closes it for all sharers.
        if let Minter::Generator(generator) = minter
            && let Some(key) = generator.sharing_key()
            && self.shared.get(&key).is_some_and(|known| is_same(*known, handle))
        {
            self.shared.remove(&key);
        }
    }

    /// The entry of a handle, which may be released.
    #[inline(never)] // for the size of the WebAssembly module
    pub(super) fn entry(&self, handle: f64) -> Option<&Entry> {
        self.entries.get(index_of(handle)).filter(|entry| is_same(entry.handle, handle))
    }

    #[inline(never)] // for the size of the WebAssembly module
    pub(super) fn entry_mut(&mut self, handle: f64) -> Option<&mut Entry> {
        self.entries.get_mut(index_of(handle)).filter(|entry| is_same(entry.handle, handle))
    }

    /// The target of a handle.
    pub(super) fn minter(&self, handle: f64) -> Result<&Minter> {
        self.entry(handle).and_then(|entry| entry.minter.as_ref()).ok_or(Error::new(Code::Closed))
    }

    /// The open generator of a handle.
    pub(super) fn generator(&self, handle: f64) -> Result<&Generator> {
        self.minter(handle)?.generator()
    }

    /// The leased generator of a handle; `CLOSED` for any other handle.
    pub(super) fn leased_mut(&mut self, handle: f64) -> Result<&mut LeasedGenerator> {
        match self.minter_mut(handle) {
            Some(Minter::Leased(ids)) => Ok(ids),
            _ => Err(Error::new(Code::Closed)),
        }
    }

    /// The generator of a handle whose ceiling is in a storage; `CLOSED` for any other handle.
    pub(super) fn ceiling_mut(&mut self, handle: f64) -> Result<&mut CeilingGenerator> {
        match self.minter_mut(handle) {
            Some(Minter::Ceiling(ids)) => Ok(ids),
            _ => Err(Error::new(Code::Closed)),
        }
    }

    /// The segment of a handle; `CLOSED` for any other handle.
    pub(super) fn segment_mut(&mut self, handle: f64) -> Result<&mut Segment> {
        match self.minter_mut(handle) {
            Some(Minter::Segment(segment)) => Ok(segment),
            _ => Err(Error::new(Code::Closed)),
        }
    }

    fn minter_mut(&mut self, handle: f64) -> Option<&mut Minter> {
        self.entry_mut(handle).and_then(|entry| entry.minter.as_mut())
    }

    /// Writes an error and, if the keeper of the state caused it, the keeper's explanation. Returns the status.
    pub(super) fn refuse(&self, frame: &mut Frame, handle: f64, error: Error) -> u32 {
        #[cfg(feature = "std")]
        if error.rule() == Rule::None
            && let Ok(generator) = self.generator(handle)
            && let Some(keeper) = generator.keeper()
            && keeper.fault().is_some_and(|fault| fault.code() == error.code())
        {
            return frame.refuse_with_text(error, keeper.explain().as_deref());
        }
        let _: (&Self, f64) = (self, handle);
        frame.refuse(error)
    }
}
