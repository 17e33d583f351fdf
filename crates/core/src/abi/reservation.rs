//! Reserving IDs: `admit`, `reserve` and `fill`.

use super::frame::{Frame, IDS, KEYLESS, RECHECK, whole_number};
use super::handles::{Handles, Minter};
use super::opening::MAX_WAIT_MS;
use super::slots::slot;
use crate::clock::millisecond_of;
use crate::error::{Code, Error, Rule, Subject};
use crate::mint::{Block, MAX_COUNT, Reservation};

impl Handles {
    /// Whether a call for `count` IDs that may wait `wait_ms` can succeed at all. The answer depends only on the layout and the lead of the
    /// generator, not on its state or the clock. If a count is admitted, so is every smaller one, so a binding may remember the largest
    /// count that was admitted for a handle and a wait.
    pub fn admit(&self, frame: &mut Frame, handle: f64, count: f64, wait_ms: f64) -> u32 {
        let decide = || {
            let machine = self.generator(handle)?.machine();
            let count = whole_number(count, Code::InvalidArgument, Subject::Count, 0, MAX_COUNT as u64)?;
            let max = machine.max_count(whole_number(wait_ms, Code::InvalidArgument, Subject::MaxWaitMs, 0, MAX_WAIT_MS)?);
            if count > max {
                return Err(Error::bad_input(Code::SequenceExhausted, Subject::Count, Rule::CountReach).with_bounds(0, max));
            }
            Ok(0)
        };
        decide().unwrap_or_else(|error| frame.refuse(error))
    }

    /// Reserves up to `want` IDs, at most [`IDS`], and writes them, their `COUNT` and the clock's tick.
    pub fn reserve(&self, frame: &mut Frame, handle: f64, now_ms: f64, want: u32, confirmed: bool) -> u32 {
        let want = (want as usize).min(IDS);
        self.reserve_with(frame, handle, now_ms, want, confirmed, |frame, block| block.write(&mut frame.ids))
    }

    /// Reserves IDs, at most [`IDS`], and writes them into the elements `FILL_FROM` to `FILL_UNTIL` of an array; `COUNT` and the
    /// clock's tick as `reserve`.
    ///
    /// ```
    /// # use frazil::abi::{Handles, Frame, slot};
    /// let mut frame = Frame::new();
    /// let no_element = Handles::new().fill(&mut frame, 0.0, 0.0, &mut [0], true);
    /// assert_eq!(no_element, frazil::Code::InvalidArgument as u32); // up to element 0: a reservation would lose an ID
    /// frame.numbers[slot::FILL_UNTIL] = 1.0;
    /// assert_eq!(Handles::new().fill(&mut frame, 0.0, 0.0, &mut [0], true), frazil::Code::Closed as u32);
    /// ```
    #[cfg(feature = "std")] // only the addon has arrays to fill
    pub fn fill(&self, frame: &mut Frame, handle: f64, now_ms: f64, elements: &mut [u64], confirmed: bool) -> u32 {
        let wanted = |frame: &Frame| {
            let place = |at, min, max| frame.whole_number(at, Code::InvalidArgument, Subject::Count, min, max);
            let until = place(slot::FILL_UNTIL, 1, elements.len() as u64)?;
            Ok((place(slot::FILL_FROM, 0, until - 1)?, until))
        };
        let (from, until) = match wanted(frame) {
            Ok(places) => places,
            Err(error) => return frame.refuse(error),
        };
        #[expect(clippy::cast_possible_truncation, reason = "at most the length of the array")]
        let out = elements.get_mut(from as usize..until as usize).unwrap_or_default();
        let want = out.len().min(IDS);
        self.reserve_with(frame, handle, now_ms, want, confirmed, |_, block| block.write(out))
    }

    /// The common part of `reserve` and `fill`: everything except where the IDs are written.
    #[expect(clippy::cast_precision_loss, reason = "a count of at most 4096, and times within a Date")]
    fn reserve_with(
        &self,
        frame: &mut Frame,
        handle: f64,
        now_ms: f64,
        want: usize,
        confirmed: bool,
        write: impl FnOnce(&mut Frame, &Block),
    ) -> u32 {
        let minter = match self.minter(handle) {
            Ok(minter) => minter,
            Err(error) => return frame.refuse(error),
        };
        let lease = match minter {
            Minter::Leased(ids) => frame.read_clocks().and_then(|now| ids.check_held(now).map(|()| Some((ids, now)))),
            _ => Ok(None),
        };
        let reserve = |frame: &mut Frame| {
            let generator = minter.generator()?;
            let now_ms = millisecond_of(now_ms)?;
            if generator.lacks_key() {
                if let Some(key) = frame.take_key()? {
                    generator.offer_key(key);
                }
                if generator.lacks_key() {
                    // A key is asked for only if it would be used, because Workers allow no entropy at module scope, where their
                    // clock shows 0.
                    return match generator.health(now_ms).refusal {
                        Some(_) if !confirmed => Ok(RECHECK),
                        Some(error) => Err(error),
                        None => Ok(KEYLESS),
                    };
                }
            }
            match generator.reserve(now_ms, want, confirmed)? {
                Reservation::Recheck => Ok(RECHECK),
                Reservation::Issued { block, wall_tick_ms } => {
                    write(frame, &block);
                    frame.numbers[slot::COUNT] = block.len() as f64;
                    frame.numbers[slot::VALID_FROM_MS] = wall_tick_ms.0 as f64;
                    frame.numbers[slot::VALID_UNTIL_MS] = wall_tick_ms.1 as f64;
                    Ok(0)
                }
            }
        };
        let answer =
            lease.and_then(|lease| reserve(frame).map_err(|error| lease.map_or(error, |(ids, now)| ids.refusal(error, now))));
        if let Minter::Ceiling(ids) = minter {
            ids.end_look();
        }
        answer.unwrap_or_else(|error| self.refuse(frame, handle, error))
    }
}
