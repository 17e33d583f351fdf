//! Opening a generator: the layout, the node id and the options that it reads, and what it writes.

use core::ops::Range;

use super::frame::{Frame, whole_number};
use super::handles::{Handles, Minter};
use super::slots::slot;
use crate::clock::millisecond_of;
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::layout::{FieldKind, Geometry, MAX_SAFE_INTEGER, SECONDS_END, SECONDS_START};
use crate::mint::{Generator, Key, MAX_LEAD_MS, Machine, Registry, ResolvedOptions, SequenceStart};

/// The longest time that an option can set: `setTimeout` and `Atomics.wait` both take at most 2^31 - 1 ms.
pub const MAX_WAIT_MS: u64 = (1 << 31) - 1;
const DEFAULT_WAIT_MS: u64 = 10;
const DEFAULT_ASYNC_WAIT_MS: u64 = 5000;

/// An epoch in this range is probably in seconds instead of milliseconds.
pub const IN_SECONDS: Range<u64> = SECONDS_START..SECONDS_END;

/// One time, one clock and one sequence field, and 32 node parts of one bit.
const MAX_FIELDS: usize = 35;

/// The kinds of fields in the order of their numbers, by the names they have in JavaScript.
pub const KINDS: &[(&str, FieldKind)] =
    &[("time", FieldKind::Time), ("node", FieldKind::Node), ("clock", FieldKind::Clock), ("sequence", FieldKind::Sequence)];

impl Frame {
    /// Reads the wait limits, and writes the values in force.
    #[expect(clippy::cast_precision_loss, reason = "below 2^31")]
    pub(super) fn read_wait_limits(&mut self) -> Result<()> {
        let sync = self.optional_number(slot::HAS_MAX_WAIT_MS, slot::MAX_WAIT_MS, Subject::MaxWaitMs, MAX_WAIT_MS)?;
        let (has, at) = (slot::HAS_MAX_ASYNC_WAIT_MS, slot::MAX_ASYNC_WAIT_MS);
        let asynchronous = self.optional_number(has, at, Subject::MaxAsyncWaitMs, MAX_WAIT_MS)?;
        self.numbers[slot::MAX_WAIT_MS] = sync.unwrap_or(DEFAULT_WAIT_MS) as f64;
        self.numbers[slot::MAX_ASYNC_WAIT_MS] = asynchronous.unwrap_or(DEFAULT_ASYNC_WAIT_MS) as f64;
        Ok(())
    }

    /// Writes the properties of a generator that was opened.
    #[expect(clippy::cast_precision_loss, reason = "a block of at most 4096, and milliseconds within a Date")]
    #[inline(never)] // for the size of the WebAssembly module
    pub(super) fn write_opened(&mut self, machine: &Machine, wait_ms: u64) {
        self.numbers[slot::MAX_BLOCK] = machine.max_block() as f64;
        self.numbers[slot::MAX_LEAD_MS] = machine.max_lead_ms as f64;
        self.numbers[slot::WAIT_MS] = wait_ms as f64;
        self.numbers[slot::LINE] = 0.0;
    }

    /// Reads the layout.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates, past every layout")]
    pub(super) fn read_geometry(&self) -> Result<Geometry> {
        let code = Code::InvalidLayout;
        let epoch_ms = self.whole_number(slot::EPOCH_MS, code, Subject::EpochMs, 0, MAX_SAFE_INTEGER)?;
        let tick_ms = self.whole_number(slot::TICK_MS, code, Subject::TickMs, 1, MAX_SAFE_INTEGER)?;
        let count = self.whole_number(slot::FIELD_COUNT, code, Subject::Fields, 0, MAX_FIELDS as u64)?;
        let mut fields = [(FieldKind::Node, 0); MAX_FIELDS];
        let fields = fields.get_mut(..usize::try_from(count).unwrap_or(MAX_FIELDS)).unwrap_or_default();
        for (field, pair) in fields.iter_mut().zip(self.numbers[slot::FIELDS..].chunks_exact(2)) {
            let kind = whole_number(pair[0], code, Subject::Fields, 0, KINDS.len() as u64 - 1)?;
            let kind = usize::try_from(kind).ok().and_then(|kind| KINDS.get(kind)).map_or(FieldKind::Node, |row| row.1);
            let bits = whole_number(pair[1], code, Subject::FieldBits, 1, u64::from(kind.max_bits()))?;
            *field = (kind, u32::try_from(bits).unwrap_or(0));
        }
        let geometry = Geometry::new(epoch_ms, tick_ms, self.flag(slot::UNSIGNED), fields)?;
        geometry.check_epoch(self.number(slot::PROCESS_FROM_MS) as u64..self.number(slot::PROCESS_UNTIL_MS) as u64)?;
        Ok(geometry)
    }

    /// Reads where the sequence starts.
    #[inline(never)] // for the size of the WebAssembly module
    pub(super) fn read_sequence_start(&self) -> Result<SequenceStart> {
        let (code, subject) = (Code::InvalidOption, Subject::SequenceStart);
        let number = self.whole_number(slot::SEQUENCE_START, code, subject, 0, SequenceStart::ALL.len() as u64 - 1).ok();
        let known = number.and_then(|number| SequenceStart::ALL.get(usize::try_from(number).ok()?));
        known.copied().ok_or(Error::bad_input(code, subject, Rule::KnownStart))
    }

    /// Takes the key from the frame, if there is one, and clears it there.
    pub(super) fn take_key(&mut self) -> Result<Option<Key>> {
        if !self.flag(slot::HAS_KEY) {
            return Ok(None);
        }
        self.numbers[slot::HAS_KEY] = 0.0;
        let mut halves = [0; 2];
        for (half, at) in halves.iter_mut().zip([slot::KEY, slot::KEY + 2]) {
            for at in [at, at + 1] {
                let part = self.whole_number(at, Code::InvalidArgument, Subject::SequenceStart, 0, u64::from(u32::MAX))?;
                *half = (*half << 32) | part;
                self.set_number(at, 0.0);
            }
        }
        Ok(Some(Key::new(halves[0], halves[1])))
    }

    /// Reads the node id.
    #[inline(never)] // for the size of the WebAssembly module
    pub(super) fn read_node(&self, geometry: &Geometry) -> Result<u32> {
        if self.flag(slot::NODE_NONE) {
            return geometry.check_no_node();
        }
        let max = geometry.max_node();
        if !self.flag(slot::HAS_NODE) {
            let rule = if max == 0 { Rule::NodeNone } else { Rule::NodeGiven };
            return Err(Error::bad_input(Code::NodeRequired, Subject::Node, rule));
        }
        // A layout without a node field has its own rule, which refuses every number, so the number is not read.
        let id = if max == 0 { 0 } else { self.whole_number(slot::NODE, Code::InvalidNode, Subject::Node, 0, max)? };
        geometry.check_node(id)
    }
}

impl Handles {
    /// Opens the generator that the frame describes, and writes its `HANDLE`, its `MAX_BLOCK` and the options in force.
    pub fn open(&mut self, frame: &mut Frame, registry: &mut Registry) -> u32 {
        self.try_open(frame, registry).map_or_else(|error| frame.refuse(error), |()| 0)
    }

    fn try_open(&mut self, frame: &mut Frame, registry: &mut Registry) -> Result<()> {
        let geometry = frame.read_geometry()?;
        let node = frame.read_node(&geometry)?;
        // The bound of the lead depends on where the node id comes from, so `ResolvedOptions` checks it. For anything but a whole number,
        // the error names the largest bound.
        let max_lead_ms = frame
            .optional_number(slot::HAS_MAX_LEAD_MS, slot::MAX_LEAD_MS, Subject::MaxLeadMs, MAX_WAIT_MS)
            .map_err(|error| error.with_bounds(0, MAX_LEAD_MS))?;
        frame.read_wait_limits()?;
        let start = frame.numbers[slot::START_MS];
        let start_ms = if start.is_nan() { None } else { Some(millisecond_of(start)?) };
        let sequence_start = frame.read_sequence_start()?;
        let options = ResolvedOptions { geometry, node, max_lead_ms, start_ms, sequence_start };
        let private = frame.flag(slot::PRIVATE);
        let generator = if private { Generator::private_resolved(&options)? } else { registry.open_resolved(&options)? };
        frame.write_opened(generator.machine(), 0);
        frame.numbers[slot::HANDLE] =
            if private { self.insert(Minter::Generator(generator)) } else { self.insert_shared(generator) };
        self.draw_line(frame, frame.numbers[slot::HANDLE]);
        Ok(())
    }
}
