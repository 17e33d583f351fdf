//! The condition of a generator: `health`.

use super::frame::Frame;
use super::handles::{Handles, Minter};
use super::slots::slot;
use crate::ceiling::CeilingGenerator;
use crate::clock::millisecond_of;
use crate::error::Result;

impl Handles {
    /// Writes the condition of the generator at a time. The status is 0, or that of the refusal that a call would get now.
    pub fn health(&self, frame: &mut Frame, handle: f64, now_ms: f64) -> u32 {
        self.try_health(frame, handle, now_ms).unwrap_or_else(|error| self.refuse(frame, handle, error))
    }

    #[expect(clippy::cast_precision_loss, reason = "counts, and times within a Date")]
    fn try_health(&self, frame: &mut Frame, handle: f64, now_ms: f64) -> Result<u32> {
        let minter = self.minter(handle)?;
        let generator = minter.generator()?;
        let mut health = generator.health(millisecond_of(now_ms)?);
        match minter {
            Minter::Leased(ids) => health = ids.leased_health(health, frame.read_clocks()?),
            Minter::Ceiling(_) => health = CeilingGenerator::without_expiry(health),
            _ => {}
        }
        let stats = generator.stats();
        for (at, value) in [
            (slot::LEAD_MS, health.lead_ms),
            (slot::WORST_LEAD_MS, stats.worst_lead_ms),
            (slot::STEPS_BACK, stats.steps_back),
            (slot::LARGEST_STEP_BACK_MS, stats.largest_step_back_ms),
            (slot::SWITCHES, stats.switches),
            (slot::EXTENSIONS, stats.extensions),
            (slot::END_MS, health.end_ms),
            (slot::REMAINING_MS, health.remaining_ms),
            (slot::ENDS_SOON, u64::from(health.ends_soon)),
        ] {
            frame.set_number(at, value as f64);
        }
        health.refusal.map_or(Ok(0), Err)
    }
}
