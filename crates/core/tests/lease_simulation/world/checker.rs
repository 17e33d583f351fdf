//! The checker: what must hold of each ID, each refusal, and each request.

use frazil::lease::{IdTime, Readings};
use frazil::mint::SequenceStart;
use frazil::{Code, Error};

use super::{Checked, LeaseInfo, Life, Mint, World, say};
use crate::defect::{Defect, EXPIRED};
use crate::events::Sometimes;
use crate::plan::Plan;

impl World {
    pub(super) fn check_ids(&mut self, index: usize, ids: &[u64]) -> Checked {
        let Plan { tick_ms, options, .. } = self.plan;
        let ordered = self.plan.layout.plan().ordered && options.sequence_start != SequenceStart::Wrap;
        let Some(lease) = self.holders[index].lease else { return Err(format!("{index} mints without a lease")) };
        let LeaseInfo { node, window, confirmed, minted, .. } = self.leases[lease];
        self.leases[lease].minted = true;
        if !minted && self.trace {
            say("         the first ID of the lease");
        }
        let mut followed_back = false;
        for id in ids.iter().copied() {
            let decoded = self.plan.layout.decode(id).map_err(|error| error.to_string())?;
            let (at_ms, ends_ms) = (decoded.timestamp_ms, decoded.timestamp_ms + tick_ms);
            if u64::from(decoded.node.unwrap_or(0)) != node {
                return Err(format!("{index} mints for another node id than {node}: {decoded:?}"));
            }
            if (at_ms < window.from_ms || ends_ms > window.until_ms) && !self.lenient {
                return Err(format!("{index} mints outside {window:?}: {decoded:?}"));
            }
            let clocks = decoded.clock.is_some();
            let comparable = |last: &u64| {
                self.plan.time_above_node || self.plan.layout.decode(*last).is_ok_and(|last| last.node == decoded.node)
            };
            if ordered && self.holders[index].last_id.filter(comparable).is_some_and(|last| last >= id) {
                if !clocks && !self.lenient {
                    return Err(format!("the IDs of {index} do not increase: {decoded:?}"));
                }
                followed_back = true;
            }
            self.holders[index].last_id = Some(id);
            self.summary.hash = (self.summary.hash ^ id).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
            let mint = Mint { lease, confirmed };
            if let Some(other) = self.ids.insert(id, mint)
                && let Err(why) = self.check_repeat(other, mint, at_ms)
            {
                return Err(format!("{index} repeats an ID ({why}): {decoded:?}"));
            }
            if ends_ms + tick_ms > window.until_ms {
                self.sometimes(Sometimes::LastTick);
            }
            if at_ms < window.from_ms + tick_ms {
                self.sometimes(Sometimes::FirstTick);
            }
        }
        if followed_back {
            self.sometimes(Sometimes::ClockFollowedBack);
        }
        self.holders[index].minted_at = Some(self.now);
        Ok(())
    }

    /// Whether an ID may repeat: one of two copies of a holder, or a store that was restored and does not show it.
    fn check_repeat(&mut self, first: Mint, second: Mint, at_ms: u64) -> Checked {
        let [one, other] = [first, second].map(|mint| self.leases[mint.lease]);
        if [one, other].iter().any(|lease| self.exposed.get(&lease.grant).is_some_and(|until_ms| at_ms < *until_ms)) {
            self.sometimes(Sometimes::CloneRepeated);
            return Ok(());
        }
        let unseen = first.confirmed.min(second.confirmed);
        if self.restores[unseen..].iter().any(|until_ms| at_ms < *until_ms) {
            self.sometimes(Sometimes::RestoreRepeated);
            return Ok(());
        }
        Err(format!("{one:?} and {other:?}"))
    }

    /// A refusal has a code that a lease can have, and says when the call can succeed or something will have happened.
    pub(super) fn check_refusal(&mut self, index: usize, error: Error, now_ms: u64, now: Readings) -> Checked {
        let (code, retry_ms) = (error.code(), error.retry_after_ms());
        let holder = &mut self.holders[index];
        match code {
            Code::Closed if holder.life == Life::Closed => {
                self.sometimes(Sometimes::Closed);
                return Ok(());
            }
            Code::TimeExhausted if self.plan.ends => {
                self.sometimes(Sometimes::TimeExhausted);
                return Ok(());
            }
            _ if retry_ms == 0 => return self.broken(format!("{index} is refused with {code:?} and may retry at once")),
            Code::LeaseLost => self.sometimes(Sometimes::LeaseLost),
            Code::LeaseExpired => {
                let monotonic_ms = now.monotonic_ms;
                if self.now >= holder.jumped_at + self.plan.calm_ms()
                    && holder.clocks.wall_offset_ms == 0
                    && self.plan.faults.jumps
                    && matches!(self.plan.defect, None | Some(Defect::UnseenJump))
                {
                    return Err(format!("{index} {EXPIRED}"));
                }
                holder.ids.hurry(monotonic_ms);
                if holder.ids.retry_after_ms(monotonic_ms) != retry_ms {
                    return self.broken(format!("{index} is told to retry after {retry_ms} ms, and that is not when it asks"));
                }
                let window = holder.ids.window();
                let asks = !holder.attempts.is_empty();
                if asks {
                    self.sometimes(Sometimes::InFlightAtExpiry);
                }
                if let Some(lease) = self.holders[index].lease.map(|lease| self.leases[lease])
                    && !lease.minted
                {
                    self.sometimes(Sometimes::OverBeforeTheFirst);
                }
                if window.is_some_and(|window| now_ms + self.plan.tick_ms < window.until_ms)
                    && self.plan.options.id_time == IdTime::Store
                {
                    self.sometimes(Sometimes::Drifted);
                }
                self.sometimes(Sometimes::LeaseExpired);
            }
            Code::ClockBackward | Code::SequenceExhausted => {
                self.check_stall(index, code, retry_ms, now_ms, now)?;
                let event = if code == Code::ClockBackward { Sometimes::ClockBackward } else { Sometimes::SequenceExhausted };
                self.sometimes(event);
                return Ok(());
            }
            code => return self.broken(format!("{index} is refused with {code:?}")),
        }
        if self.plan.parallel == 1 && self.holders[index].life == Life::Running && self.plan.defect.is_none() {
            // A refusal that comes late may put the next attempt off, so what was told is checked without.
            let current = self.holders[index].clocks.read(self.now).monotonic_ms;
            if now.monotonic_ms == current && !self.plan.late_refusals {
                let holder = &mut self.holders[index];
                let by_ms = (current + retry_ms).max(holder.busy_until);
                if holder.told.is_none_or(|(told_ms, _)| by_ms < told_ms) {
                    holder.told = Some((by_ms, holder.progress));
                }
            }
            self.drive(index, true)?;
        }
        Ok(())
    }

    /// The call succeeds at the time that the refusal named, or finds the window over, and not before.
    fn check_stall(&self, index: usize, code: Code, retry_ms: u64, now_ms: u64, now: Readings) -> Checked {
        let later = |ms: u64| Readings { wall_ms: now.wall_ms + ms, monotonic_ms: now.monotonic_ms + ms };
        let refused_with = |ms: u64| {
            let health = self.holders[index].ids.health(now_ms + ms, later(ms))?;
            Some(health.refusal.map(|error| error.code()))
        };
        let wrong = |ms: u64| format!("{index}: {code:?} names {retry_ms} ms, and that is wrong after {ms} ms");
        match refused_with(retry_ms) {
            None | Some(None | Some(Code::LeaseExpired)) => {}
            Some(Some(_)) => return Err(wrong(retry_ms)),
        }
        match refused_with(retry_ms - 1) {
            Some(None) => Err(wrong(retry_ms - 1)),
            _ => Ok(()),
        }
    }

    /// Whether what a call was told has come true: an attempt has begun or ended by then.
    pub(super) fn check_told(&mut self, index: usize, monotonic_ms: u64) -> Checked {
        let holder = &mut self.holders[index];
        let Some((by_ms, progress)) = holder.told else { return Ok(()) };
        if holder.progress > progress {
            holder.told = None;
        } else if monotonic_ms >= by_ms {
            return Err(format!("{index} told a call to retry at {by_ms}, and nothing has happened by {monotonic_ms}"));
        }
        Ok(())
    }

    /// No hot loop: in a second as many attempts as renewals are due, or as the shortest pauses after failures allow, and some
    /// more for what happens at once (a fence, a lease that ended, a suspended machine).
    pub(super) fn check_rate(&mut self, index: usize, monotonic_ms: u64) -> Checked {
        let pause_ms = self.plan.renew_after_ms.clamp(1, 50);
        let limit = (1000 / pause_ms + 20) * self.plan.parallel as u64;
        let begun = &mut self.holders[index].begun;
        begun.push_back(monotonic_ms);
        while begun.front().is_some_and(|at| at + 1000 <= monotonic_ms) {
            begun.pop_front();
        }
        let count = begun.len() as u64;
        if count > limit { Err(format!("{index} asks {count} times in a second")) } else { Ok(()) }
    }
}
