//! Reserving IDs: `admit`, `reserve` and `next`.

use super::handles::Handles;
use super::memory::{IDS, KEYLESS, NO_ID, Page, RECHECK, whole_number};
use super::opening::MAX_WAIT_MS;
use super::slots::slot;
use crate::clock::millisecond_of;
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::mint::{Block, MAX_COUNT, Reservation};

impl Handles {
    /// Whether a call for `count` IDs that may wait `wait_ms` can succeed at all. The answer depends on the layout and the lead of the
    /// generator alone, not on its state or the clock, and a smaller count is admitted wherever a larger one is: a binding may remember
    /// the largest count that was admitted for a handle and a wait.
    pub fn admit(&self, page: &mut Page, handle: f64, count: f64, wait_ms: f64) -> u32 {
        let decide = || {
            let machine = self.generator(handle)?.machine();
            let count = whole_number(count, Code::InvalidArgument, Subject::Count, 0, MAX_COUNT as u64)?;
            let max = machine.max_count(whole_number(wait_ms, Code::InvalidArgument, Subject::MaxWaitMs, 0, MAX_WAIT_MS)?);
            if count > max {
                return Err(Error::bad_input(Code::SequenceExhausted, Subject::Count, Rule::CountReach).with_bounds(0, max));
            }
            Ok(0)
        };
        decide().unwrap_or_else(|error| page.refuse(error))
    }

    /// Reserves up to `want` IDs, at most [`IDS`], and writes them, their `COUNT` and the clock's tick.
    pub fn reserve(&self, page: &mut Page, handle: f64, now_ms: f64, want: u32, confirmed: bool) -> u32 {
        let want = (want as usize).min(IDS);
        self.reserve_with(page, handle, now_ms, want, confirmed, |page, block| block.write(&mut page.ids))
    }

    /// Reserves IDs, at most [`IDS`], and writes them into the elements `FILL_FROM` to `FILL_UNTIL` of an array; `COUNT` and the
    /// clock's tick as `reserve`.
    ///
    /// ```
    /// # use frazil::abi::{Handles, Page, slot};
    /// let mut page = Page::new();
    /// let no_element = Handles::new().fill(&mut page, 0.0, 0.0, &mut [0], true);
    /// assert_eq!(no_element, frazil::Code::InvalidArgument as u32); // up to element 0: a reservation would lose an ID
    /// page.numbers[slot::FILL_UNTIL] = 1.0;
    /// assert_eq!(Handles::new().fill(&mut page, 0.0, 0.0, &mut [0], true), frazil::Code::Closed as u32);
    /// ```
    #[cfg(feature = "std")] // only the addon has arrays to fill
    pub fn fill(&self, page: &mut Page, handle: f64, now_ms: f64, elements: &mut [u64], confirmed: bool) -> u32 {
        let wanted = |page: &Page| {
            let place = |at, min, max| page.whole_number(at, Code::InvalidArgument, Subject::Count, min, max);
            let until = place(slot::FILL_UNTIL, 1, elements.len() as u64)?;
            Ok((place(slot::FILL_FROM, 0, until - 1)?, until))
        };
        let (from, until) = match wanted(page) {
            Ok(places) => places,
            Err(error) => return page.refuse(error),
        };
        #[expect(clippy::cast_possible_truncation, reason = "at most the length of the array")]
        let out = elements.get_mut(from as usize..until as usize).unwrap_or_default();
        let want = out.len().min(IDS);
        self.reserve_with(page, handle, now_ms, want, confirmed, |_, block| block.write(out))
    }

    fn reserve_with(
        &self,
        page: &mut Page,
        handle: f64,
        now_ms: f64,
        want: usize,
        confirmed: bool,
        write: impl FnOnce(&mut Page, &Block),
    ) -> u32 {
        let lease = match self.leased(handle) {
            None => Ok(None),
            Some(ids) => page.read_clocks().and_then(|now| ids.check_held(now).map(|()| Some((ids, now)))),
        };
        let answer = lease.and_then(|lease| {
            let answer = self.try_reserve(page, handle, now_ms, want, confirmed, write);
            answer.map_err(|error| lease.map_or(error, |(ids, now)| ids.refusal(error, now)))
        });
        if let Some(ids) = self.with_ceiling(handle) {
            ids.end_look();
        }
        answer.unwrap_or_else(|error| self.refuse(page, handle, error))
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of at most 4096, and times within a Date")]
    fn try_reserve(
        &self,
        page: &mut Page,
        handle: f64,
        now_ms: f64,
        want: usize,
        confirmed: bool,
        write: impl FnOnce(&mut Page, &Block),
    ) -> Result<u32> {
        let generator = self.generator(handle)?;
        let now_ms = millisecond_of(now_ms)?;
        if generator.lacks_key() {
            if let Some(key) = page.take_key()? {
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
                write(page, &block);
                page.numbers[slot::COUNT] = block.len() as f64;
                page.numbers[slot::VALID_FROM_MS] = wall_tick_ms.0 as f64;
                page.numbers[slot::VALID_UNTIL_MS] = wall_tick_ms.1 as f64;
                Ok(0)
            }
        }
    }

    /// Reserves one ID and returns it, or [`NO_ID`] with the status in the slot `STATUS`.
    pub fn next(&self, page: &mut Page, handle: f64, now_ms: f64, confirmed: bool) -> u64 {
        let status = self.reserve(page, handle, now_ms, 1, confirmed);
        page.numbers[slot::STATUS] = f64::from(status);
        if status == 0 { page.ids[0] } else { NO_ID }
    }
}
