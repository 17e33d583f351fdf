//! Minting: what the program of a holder does with its generator.

use frazil::Code;
use frazil::lease::{IdTime, Readings};

use super::{Checked, Event, Life, World};
use crate::defect::{Defect, SUSPENDED};
use crate::events::Sometimes;
use crate::plan::Plan;

impl World {
    pub(super) fn mint(&mut self, index: usize) -> Checked {
        let holder = &self.holders[index];
        if holder.life == Life::Crashed {
            return Ok(());
        }
        let closed = holder.life == Life::Closed;
        let now = holder.clocks.read(self.now);
        if !closed || self.rng.bool() {
            let ms = self.around(self.plan.mint_every_ms);
            self.after(ms, Event::Mint(index));
        }
        if self.plan.faults.pause && !self.quiet && !closed && self.rng.u8(..40) == 0 {
            let ms = self.rng.u64(..=3 * self.plan.window_ms);
            self.holders[index].stopped_until = self.now + ms;
            self.after(ms, Event::InHand(index, now));
            return Ok(());
        }
        let calls = if self.rng.u8(..4) == 0 { 12 } else { 1 };
        for _ in 0..calls {
            let now_ms = self.holders[index].ids.now_ms(now);
            if !self.call(index, now_ms, now_ms, now)? {
                break;
            }
        }
        if self.plan.parallel > 1 { self.drive(index, false) } else { Ok(()) }
    }

    /// Whether store time must be refused: the machine was suspended for more than a second since the store answered.
    /// Of several attempts at once, `take` knows only when the last one was sent, so drivers with more than one are left out too.
    /// A call that read the clocks before a pause is left out, and so are wall clocks that are set.
    fn was_suspended(&self, index: usize, now: Readings) -> bool {
        let Plan { faults, options, parallel, .. } = &self.plan;
        let holder = &self.holders[index];
        let is_current = now == holder.clocks.read(self.now);
        let slept_ms = holder.clocks.slept_ms - holder.slept_at_answer_ms.min(holder.clocks.slept_ms);
        options.id_time == IdTime::Store
            && faults.shows_suspensions()
            && !self.quiet
            && is_current
            && slept_ms > 1000
            && *parallel == 1
    }

    /// A call that read the clocks, and was paused before it reserved.
    pub(super) fn mint_in_hand(&mut self, index: usize, read: Readings) -> Checked {
        if self.holders[index].life == Life::Crashed {
            return Ok(());
        }
        let ids = &self.holders[index].ids;
        let checked_ms = ids.now_ms(read);
        let fresh = self.holders[index].clocks.read(self.now);
        let now_ms = if self.plan.defect == Some(Defect::CheckThenMint) { ids.now_ms(fresh) } else { checked_ms };
        // A reading from before the pause is as one of a clock that went back: by it an attempt that was begun since is over earlier.
        let holder = &mut self.holders[index];
        holder.wait_out_attempts();
        let issued = self.call(index, checked_ms, now_ms, read)?;
        self.sometimes(if issued { Sometimes::CallInHandIssued } else { Sometimes::CallInHandRefused });
        Ok(())
    }

    /// One call of the program: whether it got IDs.
    fn call(&mut self, index: usize, checked_ms: u64, now_ms: u64, now: Readings) -> Checked<bool> {
        let want = 1 + if self.rng.u8(..4) == 0 { self.rng.usize(..64) } else { 0 };
        let ids = &mut self.holders[index].ids;
        let reserved = match ids.reserve(checked_ms, now_ms, now, want, false) {
            Ok(None) => ids.reserve(checked_ms, now_ms, now, want, true),
            reserved => reserved,
        };
        match reserved {
            Ok(Some(ids)) => {
                if self.was_suspended(index, now) {
                    return Err(format!("{index} {SUSPENDED}"));
                }
                self.holders[index].told = None;
                self.check_ids(index, &ids)?;
                Ok(true)
            }
            Ok(None) => Err("a confirmed call was asked to read the clock again".to_owned()),
            Err(error) => {
                if error.code() == Code::LeaseExpired && self.was_suspended(index, now) {
                    self.sometimes(Sometimes::SuspendedSinceAnswer);
                }
                self.check_refusal(index, error, now_ms, now)?;
                Ok(false)
            }
        }
    }
}
