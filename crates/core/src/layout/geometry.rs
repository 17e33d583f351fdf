//! The geometry of a layout: where each field lies, the epoch and the tick, and no names.
//!
//! The geometry decides which numbers come out. The generator works with it alone, and it is the identity of a state
//! (`state_key.rs`).

use core::num::NonZeroU64;
use core::ops::Range;

use super::field::{FieldKind, UNSIGNED_BITS, invalid};
use crate::error::{Code, Error, Result, Rule, Subject};

/// The largest width of an ID that stays positive in a signed 64-bit column.
const SIGNED_BITS: u32 = 63;

/// A node id is a `u32`.
const MAX_NODE_BITS: u32 = 32;

/// ECMA-262, section 21.4.1.1: the largest time value of a `Date`.
const MAX_DATE_MS: u64 = 8_640_000_000_000_000;
/// 2^53 - 1, the largest safe integer of JavaScript.
pub(crate) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Times below this are in seconds where milliseconds are meant: seconds until 5138, and milliseconds until 1973.
pub(crate) const SECONDS_END: u64 = 100_000_000_000;
/// An epoch from here on is in seconds, which are those of 2001: no one counts milliseconds from 12 January 1970 on.
pub(crate) const SECONDS_START: u64 = 1_000_000_000;

/// Where a field lies: `bits` wide, its lowest bit at `shift`. Absent fields are 0 wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) shift: u32,
    pub(crate) bits: u32,
}

impl Span {
    /// The largest value the field holds.
    pub(crate) const fn max(self) -> u64 {
        if self.bits == 0 { 0 } else { u64::MAX >> (64 - self.bits) }
    }

    pub(crate) const fn get(self, id: u64) -> u64 {
        if self.bits == 0 { 0 } else { (id >> self.shift) & self.max() }
    }

    /// The value, shifted to the field. An absent field may have any shift, and its 0 must not be shifted by 64.
    pub(crate) const fn put(self, value: u64) -> u64 {
        if self.bits == 0 { 0 } else { value << self.shift }
    }
}

/// The part of a layout that decides which numbers come out. It has no names, so `leaf` and `twitter` have the same geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) epoch_ms: u64,
    /// Nonzero by its type, so that no division on the minting path can panic.
    pub(crate) tick_ms: NonZeroU64,
    pub(crate) time: Span,
    pub(crate) clock: Span,
    pub(crate) sequence: Span,
    /// The bits of the node id; its parts need not be neighbours.
    pub(crate) node_mask: u64,
}

impl Geometry {
    /// Checks that the epoch is not one that a process took from its clock: [`Layout::check_epoch`](super::Layout::check_epoch).
    pub(crate) fn check_epoch(&self, process_ms: Range<u64>) -> Result<()> {
        let moves = Error::bad_input(Code::InvalidLayout, Subject::EpochMs, Rule::EpochMoves);
        // A clock that shows 0 was not set, or tells nothing yet: an epoch of 0 is the same at each start.
        if self.epoch_ms > 0 && process_ms.contains(&self.epoch_ms) { Err(moves) } else { Ok(()) }
    }

    /// Checks every rule except those for names, and computes where the fields lie. The last field is at bit 0.
    pub(crate) fn new(epoch_ms: u64, tick_ms: u64, unsigned: bool, fields: &[(FieldKind, u32)]) -> Result<Self> {
        if epoch_ms > MAX_SAFE_INTEGER {
            return Err(Error::bad_number(
                Code::InvalidLayout,
                Subject::EpochMs,
                Rule::WholeNumber,
                epoch_ms,
                (0, MAX_SAFE_INTEGER),
            ));
        }
        if (SECONDS_START..SECONDS_END).contains(&epoch_ms) {
            return Err(Error::bad_number(Code::InvalidLayout, Subject::EpochMs, Rule::NotSeconds, epoch_ms, (0, 0)));
        }
        let Some(tick_ms) = NonZeroU64::new(tick_ms).filter(|tick_ms| tick_ms.get() <= MAX_SAFE_INTEGER) else {
            return Err(Error::bad_number(
                Code::InvalidLayout,
                Subject::TickMs,
                Rule::WholeNumber,
                tick_ms,
                (1, MAX_SAFE_INTEGER),
            ));
        };
        for (wanted, rule, least) in [
            (FieldKind::Time, Rule::OneTime, 1),
            (FieldKind::Sequence, Rule::OneSequence, 1),
            (FieldKind::Clock, Rule::OneClock, 0),
        ] {
            let count = fields.iter().filter(|field| field.0 == wanted).count();
            if count < least || count > 1 {
                return Err(invalid(Subject::Fields, rule));
            }
        }
        let (mut node_bits, mut total) = (0, 0_u64);
        for &(kind, bits) in fields {
            let max = kind.max_bits();
            if bits == 0 || bits > max {
                let bounds = (1, u64::from(max));
                return Err(Error::bad_number(
                    Code::InvalidLayout,
                    Subject::FieldBits,
                    Rule::WholeNumber,
                    u64::from(bits),
                    bounds,
                ));
            }
            // The input may be a long list of wide fields, so the sums have 64 bits.
            total += u64::from(bits);
            node_bits += if kind == FieldKind::Node { u64::from(bits) } else { 0 };
        }
        if node_bits > u64::from(MAX_NODE_BITS) {
            return Err(Error::bad_number(
                Code::InvalidLayout,
                Subject::Fields,
                Rule::NodeWidth,
                node_bits,
                (0, u64::from(MAX_NODE_BITS)),
            ));
        }
        let limit = u64::from(if unsigned { UNSIGNED_BITS } else { SIGNED_BITS });
        if total > limit {
            return Err(Error::bad_number(Code::InvalidLayout, Subject::Fields, Rule::Width, total, (0, limit)));
        }
        let empty = Span::default();
        let mut geometry = Self { epoch_ms, tick_ms, time: empty, clock: empty, sequence: empty, node_mask: 0 };
        let mut shift = 0;
        for &(kind, bits) in fields.iter().rev() {
            let span = Span { shift, bits };
            match kind {
                FieldKind::Time => geometry.time = span,
                FieldKind::Clock => geometry.clock = span,
                FieldKind::Sequence => geometry.sequence = span,
                FieldKind::Node => geometry.node_mask |= span.put(span.max()),
            }
            shift += bits;
        }
        // A division instead of a multiplication, so that nothing can overflow.
        let reach_ms = MAX_DATE_MS.checked_sub(epoch_ms);
        if reach_ms.is_none_or(|reach_ms| geometry.time.max() > reach_ms / tick_ms) {
            return Err(invalid(Subject::Fields, Rule::LastTick).with_bounds(0, MAX_DATE_MS));
        }
        Ok(geometry)
    }

    /// How many bits of a position lie below the tick: the clock id, then the sequence. A tick holds 2 to the power of this many
    /// IDs.
    pub(crate) const fn low_bits(&self) -> u32 {
        self.clock.bits + self.sequence.bits
    }

    /// The first Unix millisecond of a tick. It cannot overflow for a tick that the layout holds, because the last tick begins at
    /// `MAX_DATE_MS` at the latest.
    pub(crate) const fn tick_start_ms(&self, tick: u64) -> u64 {
        self.epoch_ms + tick * self.tick_ms.get()
    }

    /// The last millisecond of the last tick that the time field can hold.
    pub(crate) const fn end_ms(&self) -> u64 {
        self.tick_start_ms(self.time.max()) + (self.tick_ms.get() - 1)
    }

    /// The tick after that of the last position below a word: 0 if there is none.
    pub(crate) const fn next_tick(&self, word: u64) -> u64 {
        match word.checked_sub(1) {
            Some(last) => (last >> self.low_bits()) + 1,
            None => 0,
        }
    }

    /// How many clock ids there are: 0 without a clock field.
    pub(crate) const fn clock_ids(&self) -> usize {
        if self.clock.bits == 0 { 0 } else { 1 << self.clock.bits }
    }

    /// Moves the low bits of `value` to the set bits of the node mask, in order.
    pub(crate) const fn scatter_node(&self, value: u64) -> u64 {
        let (mut id, mut mask, mut rest) = (0, self.node_mask, value);
        while mask != 0 {
            let run = Run::lowest(mask);
            id |= (rest & run.span.max()) << run.span.shift;
            rest = if run.span.bits == 64 { 0 } else { rest >> run.span.bits };
            mask = run.above;
        }
        id
    }

    /// The inverse of `scatter_node`.
    pub(crate) const fn gather_node(&self, id: u64) -> u64 {
        let (mut value, mut mask, mut at) = (0, self.node_mask, 0);
        while mask != 0 {
            let run = Run::lowest(mask);
            value |= run.span.get(id) << at;
            at += run.span.bits;
            mask = run.above;
        }
        value
    }

    /// The largest node id; 0 if there is no node field.
    pub(crate) const fn max_node(&self) -> u64 {
        self.gather_node(u64::MAX)
    }

    /// The node id of a state file unless one is given: [`Layout::local_node`](super::Layout::local_node).
    pub(crate) fn local_node(&self) -> u32 {
        to_u32(self.max_node())
    }

    /// The node id, if this layout can hold it.
    pub(crate) fn check_node(&self, id: u64) -> Result<u32> {
        let max = self.max_node();
        let rule = if max == 0 { Rule::NodeNone } else { Rule::WholeNumber };
        if max == 0 || id > max {
            return Err(Error::bad_number(Code::InvalidNode, Subject::Node, rule, id, (0, max)));
        }
        Ok(to_u32(id))
    }

    /// Accepts `"none"` as the node id, which only a layout without a node field does.
    pub(crate) fn check_no_node(&self) -> Result<u32> {
        if self.node_mask != 0 {
            return Err(Error::bad_input(Code::InvalidNode, Subject::Node, Rule::NodeNotNone));
        }
        Ok(0)
    }

    /// The ID of a position of the count `[tick | clock id | sequence]`, without its node bits.
    pub(crate) const fn spread(&self, word: u64) -> u64 {
        let low = self.low_bits();
        // Every layout has a time field, so there are fewer than 64 low bits, and at least one: the shift is below 64.
        let count = word & (u64::MAX >> (64 - low));
        let sequence = Span { shift: 0, bits: self.sequence.bits };
        let clock = Span { shift: self.sequence.bits, bits: self.clock.bits };
        self.time.put(word >> low) | self.clock.put(clock.get(count)) | self.sequence.put(sequence.get(count))
    }
}

/// The node field is at most 32 bits wide and the clock field 8, so both fit.
pub(crate) fn to_u32(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The lowest run of set bits of a mask, and the mask without it.
struct Run {
    span: Span,
    above: u64,
}

impl Run {
    const fn lowest(mask: u64) -> Self {
        let shift = mask.trailing_zeros();
        let bits = (mask >> shift).trailing_ones();
        let run = if bits == 64 { u64::MAX } else { ((1 << bits) - 1) << shift };
        Self { span: Span { shift, bits }, above: mask & !run }
    }
}
