//! The requests: what the store does with one that reaches it.

use frazil::lease::{Granted, Release};

use super::{Ask, Checked, Event, Holder, Interval, Message, Reply, World};
use crate::events::Sometimes;
use crate::store::{AcquireRequest, Answer, RenewRequest};

impl World {
    pub(super) fn at_store(&mut self, message: Message) -> Checked {
        if self.store_back_at > self.now {
            // A refused connection is noticed at once, a dropped packet is not.
            if self.rng.bool()
                && let Some(ms) = self.latency_ms()
            {
                self.after(ms, Event::AtHolder(message, Reply::Unavailable, self.restores.len(), self.now));
            }
            return Ok(());
        }
        let reply = self.carry_out(message)?;
        let (restores, at) = (self.restores.len(), self.now);
        if let Some(ms) = self.latency_ms() {
            self.after(ms, Event::AtHolder(message, reply, restores, at));
        }
        if !self.quiet && self.plan.faults.doubled && self.rng.u8(..10) == 0 {
            let ms = self.rng.u64(..=2 * self.plan.window_ms);
            self.after(ms, Event::AtHolder(message, reply, restores, at));
        }
        Ok(())
    }

    fn carry_out(&mut self, message: Message) -> Checked<Reply> {
        let host = self.host();
        let window_ms = self.plan.window_ms;
        let before = self.store.rows.clone();
        Ok(match message.ask {
            Ask::Acquire { grant, nonce, node } => {
                let known = before.iter().flatten().any(|row| row.grant == Some(grant));
                let answer = self.store.acquire(host, &AcquireRequest { grant, nonce, window_ms, node });
                if let Answer::Granted(granted) = answer {
                    if known {
                        self.sometimes(Sometimes::AcquiredAgain);
                    } else {
                        self.check_interval(&granted, true)?;
                    }
                }
                Reply::Answer(answer)
            }
            Ask::Renew { grant, nonce, node, until_ms } => {
                let answer = self.store.renew(host, &RenewRequest { grant, nonce, window_ms, node, until_ms });
                if let Answer::Granted(granted) = answer {
                    self.check_interval(&granted, false)?;
                    let was_ms = before[usize::try_from(node).expect("few nodes")].map_or(0, |row| row.until_ms);
                    if self.knows_its_attempts() {
                        self.sometimes(Sometimes::OwnAttempt);
                    }
                    if until_ms <= host.now_ms {
                        self.sometimes(Sometimes::RenewedAfterExpiry);
                    }
                    if was_ms > until_ms {
                        self.sometimes(Sometimes::RetriedRenewal);
                    }
                    if was_ms < until_ms {
                        self.sometimes(Sometimes::BehindHealed);
                    }
                    if granted.until_ms == until_ms {
                        self.sometimes(Sometimes::StoreClockBack);
                    }
                }
                Reply::Answer(answer)
            }
            Ask::Fence { behind } => {
                self.fence_during_renewal();
                self.store.ensure(host, behind);
                Reply::Done
            }
            Ask::Release(release) => {
                let Release { grant, node, .. } = release;
                if self.store.release(&release) {
                    let node = usize::try_from(node).expect("few nodes");
                    let row = self.store.rows[node].expect("a row that was released");
                    for interval in self.intervals[node].iter_mut().filter(|interval| interval.grant == grant) {
                        interval.until_ms = row.until_ms;
                        interval.released = true;
                    }
                }
                Reply::Done
            }
        })
    }

    pub(super) fn fence_during_renewal(&mut self) {
        let renews = |holder: &Holder| holder.attempts.iter().any(|attempt| matches!(attempt.ask, Ask::Renew { .. }));
        if self.holders.iter().any(renews) {
            self.sometimes(Sometimes::FenceDuringRenewal);
        }
    }

    /// The windows of one node id never overlap.
    fn check_interval(&mut self, granted: &Granted, acquired: bool) -> Checked {
        let Granted { grant, node, from_ms, until_ms, .. } = *granted;
        let intervals = &mut self.intervals[usize::try_from(node).expect("few nodes")];
        let excused_ms = self.restores.iter().copied().max().unwrap_or(0);
        let mut taken_at_once = false;
        for other in intervals.iter().filter(|other| other.grant != grant) {
            let (from_ms, until_ms) = (from_ms.max(other.from_ms), until_ms.min(other.until_ms));
            if from_ms < until_ms && until_ms > excused_ms && !self.lenient {
                return Err(format!("the store grants {granted:?} over {other:?}"));
            }
            taken_at_once |= acquired && other.released && other.until_ms == granted.from_ms;
        }
        match intervals.iter_mut().find(|interval| interval.grant == grant && interval.from_ms == from_ms) {
            Some(interval) => interval.until_ms = interval.until_ms.max(until_ms),
            None => intervals.push(Interval { grant, from_ms, until_ms, released: false }),
        }
        if taken_at_once && from_ms + self.plan.window_ms > granted.store_now_ms {
            self.sometimes(Sometimes::ReleasedAndTaken);
        }
        Ok(())
    }
}
