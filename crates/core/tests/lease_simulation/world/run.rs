//! The whole run: one event after another, and at the end a quiet time in which everybody must mint again.

use frazil::asking::MAX_BACKOFF_MS;
use std::cmp::Reverse;
use std::fmt::Write;

use super::{Checked, Event, Holder, Life, Reply, Summary, World, say};
use crate::events::Sometimes;
use crate::plan::{BEGIN_MS, Plan};
use crate::store::{Answer, FENCE_MARGIN_MS};

impl World {
    pub(crate) fn run(mut self) -> Checked<Summary> {
        if self.trace {
            say(&format!("{:#?}", self.plan));
        }
        for _ in 0..self.plan.holders {
            let ms = self.rng.u64(..=self.plan.window_ms);
            self.after(ms, Event::Start);
        }
        let ms = self.around(self.plan.window_ms / 2);
        self.after(ms, Event::Fault);
        let end = self.plan.steps_ms;
        while self.queue.peek().is_some_and(|Reverse((at, ..))| *at <= end) {
            self.step()?;
        }
        if self.plan.ends {
            self.summary.ids = self.ids.len() as u64;
            return Ok(self.summary);
        }
        self.become_quiet();
        let since = self.now;
        let limit = since + self.liveness_ms();
        let least = since + 2 * self.plan.window_ms;
        while !(self.everybody_mints(since) && self.now >= least) {
            if self.now > limit {
                let took = limit - since;
                self.broken(format!("not everybody mints again {took} ms after the last fault\n{}", self.states()))?;
                break;
            }
            self.step()?;
        }
        self.summary.ids = self.ids.len() as u64;
        Ok(self.summary)
    }

    /// By when everybody that can have a node id mints again, when faults have stopped and the clocks agree: what the store has
    /// granted or fenced is over, what was minted or is taken for the time too, a fence that is raised now has passed, and the
    /// longest pause between two attempts.
    fn liveness_ms(&self) -> u64 {
        let Plan { window_ms, window_max_ms, timeout_ms, mint_every_ms, .. } = self.plan;
        let estimates = self.holders.iter().filter(|holder| holder.life == Life::Running);
        let last_of = |holder: &Holder| {
            let minted = holder.last_id.and_then(|id| self.plan.layout.decode(id).ok());
            let minted_ms = minted.map_or(0, |last| last.timestamp_ms + 2 * self.plan.tick_ms);
            holder.ids.now_ms(holder.clocks.read(self.now)).max(minted_ms)
        };
        let last_ms = estimates.map(last_of).max().unwrap_or(0).max(self.store.last_ms()).saturating_sub(self.store_now_ms());
        last_ms + 2 * window_ms + window_max_ms + FENCE_MARGIN_MS + 3 * MAX_BACKOFF_MS + 10 * (timeout_ms + 2 * mint_every_ms)
    }

    fn become_quiet(&mut self) {
        self.quiet = true;
        self.store_offset_ms = 0;
        self.store_back_at = self.now;
        for holder in &mut self.holders {
            if holder.clocks.wall_offset_ms != 0 {
                holder.jumped_at = self.now;
            }
            holder.clocks.wall_offset_ms = 0;
            holder.clocks.frozen_wall_ms = None;
        }
        if self.trace {
            say("-- the faults stop");
        }
    }

    fn everybody_mints(&self, since: u64) -> bool {
        let live = self.holders.iter().filter(|holder| holder.life == Life::Running);
        let (mut count, mut minting) = (0, 0);
        for holder in live {
            count += 1;
            minting += u64::from(holder.minted_at.is_some_and(|at| at > since));
        }
        let usable = self.plan.nodes - u64::from(self.plan.static_node.is_some());
        count > 0 && minting >= usable.min(count)
    }

    fn step(&mut self) -> Checked {
        let Some(Reverse((at, _, event))) = self.queue.pop() else { return Err("nothing happens any more".to_owned()) };
        self.now = at;
        let event = self.events[event];
        let holder = match event {
            Event::Wake(holder, _) | Event::Mint(holder) | Event::InHand(holder, _) => Some(holder),
            Event::AtHolder(message, ..) => Some(message.holder),
            _ => None,
        };
        if let Some(holder) = holder {
            let until = self.holders[holder].stopped_until;
            if until > self.now {
                // What happened meanwhile is there when the holder goes on, and in any order.
                let ms = until - self.now + self.rng.u64(..2);
                if let Event::AtHolder(_, Reply::Answer(Answer::Granted(_)), ..) = event {
                    self.sometimes(Sometimes::AnswerInHand);
                }
                self.after(ms, event);
                return Ok(());
            }
        }
        self.summary.steps += 1;
        if self.trace {
            say(&format!("{:>8} {event:?}", self.now));
        }
        match event {
            Event::Wake(holder, wake) => {
                if self.holders[holder].wake == wake {
                    self.drive(holder, true)?;
                }
            }
            Event::Mint(holder) => self.mint(holder)?,
            Event::InHand(holder, readings) => self.mint_in_hand(holder, readings)?,
            Event::AtStore(message) => self.at_store(message)?,
            Event::AtHolder(message, reply, restores, answered_at) => {
                self.at_holder(message, reply, (restores, answered_at))?;
            }
            Event::Start => self.start(),
            Event::Fault => {
                if !self.quiet {
                    self.fault()?;
                    let ms = self.around(self.plan.window_ms / 2);
                    self.after(ms, Event::Fault);
                }
            }
            Event::StoreBack => {}
            Event::ClockBack(holder) => self.set_clock(holder, 0),
        }
        if self.trace {
            say(&self.states());
        }
        Ok(())
    }

    /// The state as one line.
    fn states(&self) -> String {
        let relative = |ms: u64| i128::from(ms) - i128::from(BEGIN_MS);
        let mut line = format!("         store {:+}", relative(self.store_now_ms()));
        if self.store.fence_ms > 0 {
            let _ = write!(line, " fence {:+}", relative(self.store.fence_ms));
        }
        for (index, holder) in self.holders.iter().enumerate().filter(|(_, holder)| holder.life != Life::Crashed) {
            let _ = write!(line, " | {index} {:?}", holder.life);
            if let (Some(window), Some(lease)) = (holder.ids.window(), holder.lease) {
                let node = self.leases[lease].node;
                let _ = write!(line, " n{node} [{}, {})", relative(window.from_ms), relative(window.until_ms));
            }
            let _ = write!(line, " wall {:+}", relative(holder.clocks.wall_ms(self.now)));
            if !holder.attempts.is_empty() {
                let _ = write!(line, " asks");
            }
        }
        line
    }
}
