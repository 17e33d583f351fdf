//! The holders and their drivers: when they ask, and what they send.

use frazil::lease::{Asked, LeaseRandom, Request};
use std::collections::VecDeque;

use super::{Ask, Attempt, Checked, Clocks, Event, Holder, Life, Message, World};
use crate::defect::Defect;
use crate::events::Sometimes;
use crate::ids::Ids;
use crate::plan::Plan;

impl World {
    pub(super) fn start(&mut self) {
        let mut clocks =
            Clocks { wall_offset_ms: 0, frozen_wall_ms: None, drift_ppm: 0, slept_ms: 0, alone: self.plan.faults.jumps };
        if !self.quiet && self.plan.faults.skew {
            clocks.wall_offset_ms = self.skew_ms();
        }
        if self.plan.faults.drift {
            clocks.drift_ppm = self.rng.i64(-2000..=2000);
        }
        let Plan { layout, options, defect, copied, .. } = &self.plan;
        let ids = if *copied { Ids::copied(layout, *options, *defect) } else { Ids::real(layout, *options) };
        self.holders.push(Holder {
            ids,
            slept_at_answer_ms: 0,
            time_from: 0,
            sleeps: Vec::new(),
            superfluous: None,
            life: Life::Running,
            clocks,
            stopped_until: 0,
            attempts: Vec::new(),
            wake: 0,
            own_random: (self.plan.defect == Some(Defect::CopiedRandom)).then(|| self.rng.fork()),
            lease: None,
            last_node: None,
            last_grant: None,
            last_nonce: None,
            last_id: None,
            begun: VecDeque::new(),
            progress: 0,
            told: None,
            busy_until: 0,
            minted_at: None,
            exhausted: false,
            saw_incarnation: false,
            closes_waited: false,
            jumped_at: 0,
        });
        self.set_going(self.holders.len() - 1);
    }

    pub(super) fn set_going(&mut self, holder: usize) {
        self.arm(holder, 0);
        let ms = self.around(self.plan.mint_every_ms);
        self.after(ms, Event::Mint(holder));
    }

    pub(super) fn arm(&mut self, holder: usize, ms: u64) {
        let wake = self.number();
        self.holders[holder].wake = wake;
        self.after(ms, Event::Wake(holder, wake));
    }

    /// Skew of up to some windows, and sometimes of 20 s.
    pub(super) fn skew_ms(&mut self) -> i64 {
        let w = self.plan.window_ms.cast_signed();
        match self.rng.u8(..4) {
            0 => self.rng.i64(-20_000..=20_000),
            1 => self.rng.i64(-3 * w..=3 * w),
            _ => self.rng.i64(-w / 2..=w / 2),
        }
    }

    fn random(&mut self, holder: usize) -> LeaseRandom {
        let rng = self.holders[holder].own_random.as_mut().unwrap_or(&mut self.rng);
        LeaseRandom { grant: rng.u128(..), nonce: rng.u128(..) }
    }

    /// Does what is due: gives attempts up, closes, asks.
    pub(super) fn drive(&mut self, index: usize, by_timer: bool) -> Checked {
        let now = self.holders[index].clocks.read(self.now);
        // What the timers of the driver go by.
        let monotonic_ms = if self.plan.faults.jumps { self.now } else { now.monotonic_ms };
        loop {
            let holder = &mut self.holders[index];
            let Some(late) = holder.attempts.iter().position(|attempt| attempt.deadline_ms <= monotonic_ms) else { break };
            holder.attempts.remove(late);
            holder.progress += 1;
            let jitter = self.rng.u64(..);
            self.holders[index].ids.fail(now.monotonic_ms, jitter);
        }
        match self.holders[index].life {
            Life::Closed | Life::Crashed => return Ok(()),
            Life::Closing(deadline_ms) => {
                let waits = !self.holders[index].attempts.is_empty();
                if waits && monotonic_ms < deadline_ms {
                    self.holders[index].closes_waited = true;
                } else {
                    self.close(index, waits);
                    return Ok(());
                }
            }
            Life::Running => {}
        }
        let mut due_ms = u64::MAX;
        let Plan { parallel, timeout_ms, .. } = self.plan;
        // With timers a driver has one attempt under way; where requests ask, some may have one each.
        let room = self.holders[index].attempts.len() < if by_timer { 1 } else { parallel };
        // One that has only the clock that jumps looks first, as the driver for Cloudflare Workers does.
        let is_due = !self.plan.faults.jumps || self.holders[index].ids.look(now) <= 1;
        if self.holders[index].life == Life::Running && room && is_due {
            let random = self.random(index);
            let ask = match self.holders[index].ids.ask(now, random) {
                Request::Nothing => None,
                Request::Wait { ms } => {
                    due_ms = monotonic_ms + ms;
                    None
                }
                Request::Acquire { grant, nonce } => {
                    let holder = &self.holders[index];
                    if holder.last_grant.is_some_and(|last| last != grant) {
                        self.sometimes(Sometimes::GrantRedrawn);
                    }
                    Some(Ask::Acquire { grant, nonce, node: self.holders[index].last_node })
                }
                Request::Renew { grant, nonce, node, until_ms } => Some(Ask::Renew { grant, nonce, node, until_ms }),
                Request::Fence { behind } => Some(Ask::Fence { behind }),
            };
            if let Some(ask) = ask {
                let number = self.number();
                let holder = &mut self.holders[index];
                holder.attempts.push(Attempt { number, deadline_ms: monotonic_ms + timeout_ms, ask });
                holder.last_grant = ask.grant().or(holder.last_grant);
                holder.last_nonce = ask.nonce().or(holder.last_nonce);
                holder.progress += 1;
                if let Some(nonce) = ask.nonce()
                    && holder.superfluous.take() == Some(nonce)
                {
                    self.sometimes(Sometimes::LateNonceKept);
                }
                if self.holders[index].clocks.wall_offset_ms > self.plan.window_ms.cast_signed() && self.plan.faults.jumps {
                    self.sometimes(Sometimes::AskedAhead);
                }
                self.check_rate(index, monotonic_ms).or_else(|why| self.broken(why))?;
                let asked = Asked { number: self.holders[index].ids.requests(), at: now };
                self.send(Message { holder: index, attempt: number, ask, asked });
            }
        }
        self.check_told(index, monotonic_ms).or_else(|why| self.broken(why))?;
        let holder = &self.holders[index];
        if let Life::Closing(deadline_ms) = holder.life {
            due_ms = due_ms.min(deadline_ms);
        }
        // Where requests ask there is no timer for what is due next, only for requests under way.
        if parallel > 1 && holder.life == Life::Running {
            due_ms = u64::MAX;
        }
        let next_ms = holder.attempts.iter().map(|attempt| attempt.deadline_ms).min().unwrap_or(u64::MAX).min(due_ms);
        if next_ms < u64::MAX {
            // The clock may be slow, then the timer fires too early and is set again.
            self.arm(index, next_ms.saturating_sub(monotonic_ms).max(1));
        }
        Ok(())
    }

    pub(super) fn close(&mut self, index: usize, gave_up: bool) {
        let now = self.holders[index].clocks.read(self.now);
        if gave_up {
            self.sometimes(Sometimes::CloseGaveUp);
        } else if self.holders[index].closes_waited {
            self.sometimes(Sometimes::CloseWaited);
        }
        let holder = &mut self.holders[index];
        let release = holder.ids.close(now);
        holder.life = Life::Closed;
        if let Some(release) = release {
            let attempt = self.number();
            self.send(Message { holder: index, attempt, ask: Ask::Release(release), asked: Asked { number: 0, at: now } });
        }
        // Another process takes its place.
        let ms = self.around(self.plan.window_ms / 2);
        self.after(ms, Event::Start);
    }

    pub(super) fn send(&mut self, message: Message) {
        if let Some(ms) = self.latency_ms() {
            self.after(ms, Event::AtStore(message));
        }
        if !self.quiet && self.plan.faults.doubled && self.rng.u8(..40) == 0 {
            let ms = self.rng.u64(..=2 * self.plan.window_ms);
            self.after(ms, Event::AtStore(message));
        }
    }

    /// How long a message takes. `None` if it is lost.
    pub(super) fn latency_ms(&mut self) -> Option<u64> {
        let Plan { faults, timeout_ms, window_ms, .. } = self.plan;
        let quick_ms = self.rng.u64(..=timeout_ms / 3);
        if self.quiet {
            return Some(quick_ms);
        }
        if faults.loss && self.rng.u8(..8) == 0 {
            return None;
        }
        let slow = faults.slow && self.rng.u8(..8) == 0;
        Some(if slow { self.rng.u64(..=3 * window_ms / 2) } else { quick_ms })
    }
}
