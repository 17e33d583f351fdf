//! The answers: what a holder does with one that reaches it.

use frazil::lease::{Asked, Change, Granted, IdTime, Readings, Refusal, Taken};
use frazil::mint::{SequenceStart, Window};

use super::{Ask, Checked, LeaseInfo, Life, Message, Reply, World};
use crate::defect::{Defect, LOST_TO_ITSELF};
use crate::events::Sometimes;
use crate::plan::Plan;
use crate::store::{Answer, Reason};

impl World {
    pub(super) fn at_holder(&mut self, message: Message, reply: Reply, answered: (usize, u64)) -> Checked {
        let index = message.holder;
        let now = self.holders[index].clocks.read(self.now);
        let monotonic_ms = now.monotonic_ms;
        match self.holders[index].life {
            Life::Crashed => return Ok(()),
            Life::Closed => {
                if self.plan.defect == Some(Defect::ReleaseBeforeClose) && matches!(message.ask, Ask::Release(_)) {
                    self.holders[index].life = Life::Crashed;
                }
                self.sometimes(Sometimes::AnsweredAfterClose);
            }
            _ => {}
        }
        let times = self.delivered.entry(message.attempt).or_default();
        *times += 1;
        if *times == 2 {
            self.sometimes(Sometimes::AnswerDoubled);
        }
        let holder = &mut self.holders[index];
        let position = holder.attempts.iter().position(|attempt| attempt.number == message.attempt);
        if let Some(position) = position {
            holder.attempts.remove(position);
        }
        holder.progress += 1;
        let in_time = position.is_some();
        let jitter = self.rng.u64(..);
        match reply {
            Reply::Unavailable if in_time => self.holders[index].ids.fail(monotonic_ms, jitter),
            Reply::Done if in_time && matches!(message.ask, Ask::Fence { .. }) => self.holders[index].ids.fenced(monotonic_ms),
            Reply::Unavailable | Reply::Done => {}
            Reply::Answer(Answer::Granted(granted)) => self.granted(index, message, &granted, now, answered, in_time)?,
            Reply::Answer(Answer::Refused { reason, store_now_ms, free_at_ms }) => {
                if !in_time {
                    self.sometimes(Sometimes::LateRefusal);
                }
                if in_time || self.plan.late_refusals {
                    let free_in_ms = free_at_ms.saturating_sub(store_now_ms);
                    self.refused(index, message, (reason, in_time), free_in_ms, monotonic_ms)?;
                }
            }
        }
        if self.plan.parallel == 1 || self.holders[index].life != Life::Running { self.drive(index, true) } else { Ok(()) }
    }

    fn granted(
        &mut self,
        index: usize,
        message: Message,
        granted: &Granted,
        now: Readings,
        (restores, answered_at): (usize, u64),
        in_time: bool,
    ) -> Checked {
        let held = self.holders[index].lease;
        if !in_time {
            let holder = &mut self.holders[index];
            holder.wait_out_attempts();
        }
        // Whichever attempt is under way besides.
        let under_way = self.holders[index].attempts.first().map(|attempt| attempt.ask);
        let ids = &mut self.holders[index].ids;
        let taken = if in_time {
            ids.take(granted, message.asked, now, &mut self.registry)
        } else {
            ids.take_late(granted, message.asked, now, &mut self.registry)
        };
        let taken = taken.map_err(|error| format!("{index} does not take {granted:?}: {error}"))?;
        let change = match taken {
            Taken::Changed(change) => change,
            Taken::Declined(release) => {
                self.sometimes(Sometimes::Declined);
                let attempt = self.number();
                self.send(Message { holder: index, attempt, ask: Ask::Release(release), asked: Asked { number: 0, at: now } });
                return Ok(());
            }
        };
        let Granted { grant, node, from_ms, until_ms, .. } = *granted;
        let window = Window { from_ms, until_ms };
        match change {
            Change::Begun => {
                self.leases.push(LeaseInfo { grant, node, window, confirmed: restores, minted: false });
                let (high, low) = (self.rng.u64(1..), self.rng.u64(1..));
                let lease = self.leases.len() - 1;
                let holder = &mut self.holders[index];
                holder.lease = Some(lease);
                holder.last_node = Some(node);
                if self.plan.options.sequence_start != SequenceStart::Zero {
                    holder.ids.offer_key(high, low);
                }
                if self.holders[index].exhausted {
                    self.holders[index].exhausted = false;
                    self.sometimes(Sometimes::ExhaustedThenFreed);
                }
            }
            Change::Extended => {
                let lease = &mut self.leases[held.ok_or("a lease is extended that has not begun")?];
                lease.window.until_ms = until_ms;
                lease.confirmed = lease.confirmed.max(restores);
                if self.holders[index].saw_incarnation {
                    self.holders[index].saw_incarnation = false;
                    self.sometimes(Sometimes::IncarnationThenRenewed);
                }
            }
            Change::Ended => {
                self.sometimes(Sometimes::EndedByTheStore);
                self.lost(index);
            }
            Change::None => {
                let holder = &mut self.holders[index];
                if message.asked.number > holder.time_from && holder.ids.window() == Some(window) {
                    holder.time_from = message.asked.number;
                    holder.slept_at_answer_ms = holder.slept_before_ms(answered_at);
                }
                if let Some(lease) = held.map(|lease| &mut self.leases[lease]) {
                    if lease.grant == grant {
                        lease.confirmed = lease.confirmed.max(restores);
                        if until_ms < lease.window.until_ms {
                            self.sometimes(Sometimes::AnswersReordered);
                        }
                    } else {
                        self.sometimes(Sometimes::LateAnswer);
                    }
                }
            }
        }
        if matches!(change, Change::Begun | Change::Extended) {
            let holder = &mut self.holders[index];
            holder.time_from = message.asked.number;
            holder.slept_at_answer_ms = holder.slept_before_ms(answered_at);
            if !in_time {
                self.granted_late(index, under_way, change);
            }
            if let Some(granted_ms) = message.ask.nonce().and_then(|nonce| self.shared_nonces.get_mut(&nonce)) {
                granted_ms.insert(index, until_ms);
                // The times that two of them were granted.
                let mut ends_ms: Vec<u64> = granted_ms.values().copied().collect();
                ends_ms.sort_unstable();
                if let [.., both_ms, _] = ends_ms[..] {
                    let exposed_ms = self.exposed.entry(grant).or_default();
                    *exposed_ms = (*exposed_ms).max(both_ms);
                }
            }
        }
        let ours = self.holders[index].lease.map(|lease| self.leases[lease].window);
        let known = self.holders[index].ids.window();
        if known.is_some() && known != ours && !self.lenient {
            return Err(format!("{index} holds {known:?}, and was granted {ours:?}"));
        }
        Ok(())
    }

    /// An answer was read after its attempt was given up, and has begun or extended a lease.
    fn granted_late(&mut self, index: usize, under_way: Option<Ask>, change: Change) {
        self.holders[index].superfluous = under_way.and_then(|ask| ask.nonce());
        self.sometimes(Sometimes::LateGrantTaken);
        if under_way.is_some() {
            self.sometimes(Sometimes::LateDuringAnother);
        }
        if change == Change::Begun {
            self.sometimes(Sometimes::LateBegan);
        }
        if self.plan.options.id_time == IdTime::Store {
            self.sometimes(Sometimes::LateTime);
        }
    }

    fn lost(&mut self, index: usize) {
        let holder = &mut self.holders[index];
        if let Some(lease) = holder.lease.take()
            && self.exposed.contains_key(&self.leases[lease].grant)
        {
            self.sometimes(Sometimes::CloneLost);
        }
    }

    fn refused(
        &mut self,
        index: usize,
        message: Message,
        refused: (Reason, bool),
        free_in_ms: u64,
        monotonic_ms: u64,
    ) -> Checked {
        let (reason, in_time) = refused;
        let Some(grant) = message.ask.grant() else { return Ok(()) };
        let acquires = matches!(message.ask, Ask::Acquire { .. });
        let refusal = match reason {
            Reason::Taken => Refusal::Lost,
            Reason::Fenced if !acquires => {
                self.sometimes(Sometimes::Fenced);
                Refusal::Lost
            }
            Reason::Fenced | Reason::Exhausted => {
                if reason == Reason::Fenced {
                    self.sometimes(Sometimes::FencedAcquire);
                } else {
                    self.holders[index].exhausted = true;
                }
                Refusal::Exhausted { retry_after_ms: free_in_ms }
            }
            Reason::Incarnation => {
                self.holders[index].saw_incarnation = !acquires;
                Refusal::Incarnation
            }
            Reason::Behind => {
                self.sometimes(Sometimes::BehindSeen);
                Refusal::Behind
            }
            Reason::Window => Refusal::Rejected,
        };
        let holds = |row: &crate::store::Row| row.grant == Some(grant);
        if reason == Reason::Taken && !acquires && self.knows_its_attempts() && self.store.rows.iter().flatten().any(holds) {
            return Err(format!("{index} {LOST_TO_ITSELF}"));
        }
        let jitter = self.rng.u64(..);
        if self.holders[index].ids.refuse(grant, refusal, monotonic_ms, jitter) == Change::Ended {
            if reason == Reason::Taken && !self.exposed.contains_key(&grant) && self.store.rows.iter().flatten().any(holds) {
                self.sometimes(if in_time { Sometimes::LostToALateRequest } else { Sometimes::LostToALateRefusal });
            }
            self.lost(index);
        }
        Ok(())
    }

    /// Whether no request reaches the store after the next one of its holder, and no copy of a holder asks: then a renewal is refused
    /// for an attempt of the same holder only if the lease forgot that attempt.
    pub(super) const fn knows_its_attempts(&self) -> bool {
        let Plan { faults, parallel, late_refusals, .. } = &self.plan;
        *parallel == 1 && !*late_refusals && faults.orders_requests()
    }
}
