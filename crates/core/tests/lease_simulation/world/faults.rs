//! The faults: clocks, suspensions, crashes, copies, and stores that go back or fail over.

use frazil::lease::Grant;

use super::{Ask, Checked, Event, Holder, Life, STORE_SKEW_MS, World};
use crate::events::Sometimes;
use crate::store::Store;

impl World {
    /// A live holder.
    fn some_holder(&mut self) -> Option<usize> {
        let live: Vec<usize> = (0..self.holders.len()).filter(|index| self.holders[*index].life == Life::Running).collect();
        self.rng.choice(live)
    }

    pub(super) fn set_clock(&mut self, index: usize, ahead_ms: u64) {
        let holder = &mut self.holders[index];
        holder.clocks.wall_offset_ms = ahead_ms.cast_signed();
        holder.jumped_at = self.now;
    }

    fn jump(&mut self, index: usize) {
        let w = self.plan.window_ms;
        let ahead_ms = if self.rng.bool() { 86_400_000 } else { self.rng.u64(..=3 * w) };
        if ahead_ms > w {
            self.sometimes(Sometimes::JumpedAhead);
        }
        self.set_clock(index, ahead_ms);
        let ms = self.around(self.plan.mint_every_ms);
        self.after(ms, Event::ClockBack(index));
    }

    pub(super) fn fault(&mut self) -> Checked {
        let faults = self.plan.faults;
        let w = self.plan.window_ms;
        let holder = self.some_holder();
        if let Some(index) = holder.filter(|_| faults.jumps) {
            self.jump(index);
            return Ok(());
        }
        let kind = self.rng.u8(..16);
        match (kind, holder) {
            (0, Some(index)) if faults.wall_steps => {
                let step_ms = self.skew_ms();
                self.holders[index].clocks.wall_offset_ms += step_ms;
            }
            (1, Some(index)) if faults.frozen_walls => {
                let clocks = &mut self.holders[index].clocks;
                clocks.frozen_wall_ms = match clocks.frozen_wall_ms {
                    None => Some(clocks.wall_ms(self.now)),
                    Some(_) => None,
                };
            }
            (2, Some(index)) if faults.suspend => {
                let ms = self.rng.u64(..=3 * w);
                let holder = &mut self.holders[index];
                if holder.stopped_until <= self.now {
                    holder.stopped_until = self.now + ms;
                    // Nothing is read before it goes on.
                    holder.clocks.slept_ms += ms;
                    holder.sleeps.push((self.now, ms));
                }
            }
            (3, Some(index)) if faults.pause => {
                let ms = self.rng.u64(..=3 * w);
                let holder = &mut self.holders[index];
                if holder.stopped_until <= self.now {
                    holder.stopped_until = self.now + ms;
                }
            }
            (4 | 5, Some(index)) if faults.crash => {
                if self.holders[index].attempts.iter().any(|attempt| matches!(attempt.ask, Ask::Acquire { .. })) {
                    self.sometimes(Sometimes::CrashedInFlight);
                }
                self.holders[index].life = Life::Crashed;
                let ms = self.around(w / 2);
                self.after(ms, Event::Start);
            }
            (6, Some(index)) if faults.clone && self.holders.len() < 40 => self.copy(index),
            (7 | 8, Some(index)) if faults.close => {
                let holder = &mut self.holders[index];
                let monotonic_ms = holder.clocks.read(self.now.max(holder.stopped_until)).monotonic_ms;
                holder.life = Life::Closing(monotonic_ms + self.plan.timeout_ms / 2);
                if holder.stopped_until <= self.now {
                    return self.drive(index, true);
                }
                self.arm(index, 0);
            }
            (9, _) if faults.store_restart => {
                let ms = self.around(w / 10);
                self.store_away(ms);
            }
            (10, _) if faults.store_away => {
                let ms = self.around(w);
                self.store_away(ms);
            }
            (11, _) if faults.fence => {
                self.fence_during_renewal();
                let host = self.host();
                self.store.fence(host);
            }
            (12, _) if faults.store_clock => {
                let back_ms = self.skew_ms();
                self.store_offset_ms = if self.rng.bool() { back_ms } else { 0 };
            }
            (13, _) if faults.restore || faults.failover => {
                let snapshot = (self.store.clone(), self.now);
                self.snapshots.push(snapshot);
            }
            (14, _) if faults.restore && !self.snapshots.is_empty() => {
                let which = self.rng.usize(..self.snapshots.len());
                let (store, _) = self.snapshots[which].clone();
                if self.rng.u8(..3) == 0 {
                    // A restore that shows: the same as a failover to an old replica.
                    self.fail_over(store, true);
                    self.sometimes(Sometimes::RestoredAsOther);
                } else {
                    self.expose_copies();
                    self.store = store;
                    self.restores.push(self.store_now_ms() + self.plan.window_max_ms);
                }
            }
            (15, _) if faults.failover => {
                // The replica lacks what was written since the last snapshot, or nothing.
                let lost = self.rng.bool().then(|| self.snapshots.last().cloned()).flatten();
                let lacks_writes = lost.is_some();
                let store = lost.map_or_else(|| self.store.clone(), |(store, _)| store);
                self.fail_over(store, lacks_writes);
                self.store_offset_ms = self.rng.i64(-STORE_SKEW_MS / 2..=STORE_SKEW_MS / 2);
                let ms = self.around(w / 4);
                self.store_away(ms);
            }
            _ => {}
        }
        Ok(())
    }

    /// The store loses writes, and with them perhaps the renewal by which it tells two copies apart. That is as if the copy were
    /// made now: what was granted so far may repeat.
    fn expose_copies(&mut self) {
        let granted_ms = |grant: Grant| {
            let intervals = self.intervals.iter().flatten().filter(|interval| interval.grant == grant);
            intervals.map(|interval| interval.until_ms).max().unwrap_or(0)
        };
        for (grant, until_ms) in &mut self.exposed {
            *until_ms = (*until_ms).max(granted_ms(*grant));
        }
        let copies =
            self.holders.iter().filter(|holder| holder.last_grant.is_some_and(|grant| self.exposed.contains_key(&grant)));
        for nonce in copies.filter_map(|holder| holder.last_nonce) {
            self.shared_nonces.entry(nonce).or_default();
        }
    }

    fn store_away(&mut self, ms: u64) {
        self.store_back_at = self.store_back_at.max(self.now + ms);
        self.after(ms, Event::StoreBack);
    }

    fn fail_over(&mut self, store: Store, lacks_writes: bool) {
        self.expose_copies();
        // Its answers are none from a store that was restored before: it need not know what that one has granted.
        if lacks_writes {
            let exposed_ms = self.restores.iter().copied().max().filter(|until_ms| *until_ms > self.store_now_ms());
            self.restores.extend(exposed_ms);
        }
        self.store = store;
        self.incarnations += 1;
        self.incarnation = self.incarnations;
    }

    /// A snapshot of the holder goes on beside it. Requests under way are answered to the one that sent them.
    fn copy(&mut self, index: usize) {
        let ids = self.holders[index].ids.snapshot(&mut self.registry);
        let holder = &self.holders[index];
        if let Some(grant) = holder.last_grant {
            let until_ms = holder.ids.window().map_or(0, |window| window.until_ms);
            let exposed_ms = self.exposed.entry(grant).or_default();
            *exposed_ms = (*exposed_ms).max(until_ms);
        }
        if let Some(nonce) = holder.last_nonce {
            self.shared_nonces.entry(nonce).or_default();
        }
        let lease = holder.lease.map(|lease| {
            self.leases.push(self.leases[lease]);
            self.leases.len() - 1
        });
        let holder = &self.holders[index];
        let copy = Holder {
            ids,
            slept_at_answer_ms: holder.slept_at_answer_ms,
            time_from: holder.time_from,
            sleeps: holder.sleeps.clone(),
            superfluous: holder.superfluous,
            life: holder.life,
            clocks: holder.clocks,
            stopped_until: holder.stopped_until,
            attempts: holder.attempts.clone(),
            wake: 0,
            own_random: holder.own_random.clone(),
            lease,
            last_node: holder.last_node,
            last_grant: holder.last_grant,
            last_nonce: holder.last_nonce,
            last_id: holder.last_id,
            begun: holder.begun.clone(),
            progress: holder.progress,
            told: holder.told,
            busy_until: holder.busy_until,
            minted_at: holder.minted_at,
            exhausted: holder.exhausted,
            saw_incarnation: holder.saw_incarnation,
            closes_waited: false,
            jumped_at: holder.jumped_at,
        };
        self.holders.push(copy);
        // It goes on a little later.
        let ms = self.rng.u64(..=self.plan.window_ms);
        let copy = self.holders.last_mut().expect("the copy");
        copy.stopped_until = copy.stopped_until.max(self.now + ms);
        self.set_going(self.holders.len() - 1);
    }
}
