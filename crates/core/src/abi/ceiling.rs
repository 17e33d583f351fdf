//! Ceilings in a storage: `ceiling`, one call with a number for what it does.
//!
//! JavaScript reads and writes the row; what it means is decided in [`CeilingGenerator`].

use alloc::boxed::Box;

use super::calls::numbered_calls;
use super::frame::Frame;
use super::handles::{Handles, Minter};
use super::slots::slot;
use crate::ceiling::{CeilingGenerator, CeilingRow};
use crate::clock::millisecond_of;
use crate::error::{Result, Subject};
use crate::mint::{MAX_LEAD_MS, Machine};

numbered_calls! {
    /// The calls of `ceiling`, by number.
    ceiling_call;
    /// The calls of `ceiling`, by name and in the order of the numbers.
    CEILING_CALLS: 2;
    random: OPEN;
    /// Opens a generator whose ceiling is in a storage.
    OPEN = 0;
    /// Returns the row to write into the storage before IDs are reserved. Each reservation needs one.
    LOOK = 1;
}

impl Frame {
    fn read_row(&self) -> Result<Option<CeilingRow>> {
        if !self.flag(slot::HAS_ROW) {
            return Ok(None);
        }
        // Equal marks have equal bits, and no other number has the bits of a mark.
        let mark = self.number(slot::ROW_MARK).to_bits();
        Ok(Some(CeilingRow { mark, until_ms: self.read_store_time(slot::ROW_UNTIL_MS)? }))
    }

    #[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
    fn write_row(&mut self, row: Option<CeilingRow>) {
        self.numbers[slot::HAS_ROW] = f64::from(u8::from(row.is_some()));
        if let Some(CeilingRow { mark, until_ms }) = row {
            self.numbers[slot::ROW_MARK] = f64::from_bits(mark);
            self.numbers[slot::ROW_UNTIL_MS] = until_ms as f64;
        }
    }
}

impl Handles {
    /// Opens a generator with a ceiling, or makes the call of that number on one ([`CEILING_CALLS`]).
    ///
    /// ```
    /// # use frazil::abi::{CEILING_CALLS, Handles, Frame};
    /// let look = CEILING_CALLS.iter().position(|name| *name == "LOOK").unwrap();
    /// assert_eq!(Handles::new().ceiling(&mut Frame::new(), 0.0, look as u32), frazil::Code::Closed as u32);
    /// ```
    pub fn ceiling(&mut self, frame: &mut Frame, handle: f64, call: u32) -> u32 {
        let done = if call == ceiling_call::OPEN { self.open_ceiling(frame) } else { self.look(frame, handle) };
        done.map_or_else(|error| frame.refuse(error), |()| 0)
    }

    #[inline(never)] // for the size of the WebAssembly module
    fn open_ceiling(&mut self, frame: &mut Frame) -> Result<()> {
        let geometry = frame.read_geometry()?;
        let node = frame.read_node(&geometry)?;
        let max_lead_ms = frame.optional_number(slot::HAS_MAX_LEAD_MS, slot::MAX_LEAD_MS, Subject::MaxLeadMs, MAX_LEAD_MS)?;
        let machine = Machine::from_geometry_with_max_lead(geometry, node, max_lead_ms)?;
        frame.read_wait_limits()?;
        let start = frame.read_sequence_start()?;
        // 53 bits, which a number holds.
        #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
        let mark = ((frame.read_bits(slot::RANDOM)? >> 75) as u64 as f64).to_bits();
        frame.write_opened(&machine, 0);
        frame.numbers[slot::MAX_BLOCK] = 0.0;
        frame.numbers[slot::HANDLE] =
            self.insert(Minter::Ceiling(Box::new(CeilingGenerator::from_machine(machine, start, mark))));
        Ok(())
    }

    fn look(&mut self, frame: &mut Frame, handle: f64) -> Result<()> {
        let ids = self.ceiling_mut(handle)?;
        let row = frame.read_row()?;
        // A clock that shows no time needs no write. The reservation refuses it.
        frame.write_row(millisecond_of(frame.number(slot::WALL_MS)).ok().and_then(|now_ms| ids.look(row, now_ms)));
        Ok(())
    }
}
