//! The line slots of a handle: `line.rs` says what they are for.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::mint::Line;

/// 64-bit floats, which `#nextByLine` of `snowflake.ts` reads by position: raise `CALLS` (`version.rs`) with any change of their order or
/// meaning. They are atomic because TypeScript writes them where Rust cannot see it.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct LineSlots {
    // As in [`Line`].
    epoch_ms: AtomicU64,
    tick_ms: AtomicU64,
    /// 0 if there is no line: no tick ends before that.
    end_ms: AtomicU64,
    word_step: AtomicU64,
    id_step: AtomicU64,
    /// The node id in its bits of an ID, in two halves.
    node_low: AtomicU64,
    node_high: AtomicU64,
    /// The offset of the state from the IDs of the frame, in steps of 4 bytes.
    state: AtomicU64,
    /// The last reading of the clock, by TypeScript or in a call of the core.
    seen_ms: AtomicU64,
}

impl LineSlots {
    pub(super) fn draw(&self, line: Option<Line>, state: f64) {
        let write = |slot: &AtomicU64, number: f64| slot.store(number.to_bits(), Ordering::Relaxed);
        let Some(line) = line else { return self.hide() };
        write(&self.epoch_ms, line.epoch_ms);
        write(&self.tick_ms, line.tick_ms);
        write(&self.end_ms, line.end_ms);
        write(&self.word_step, line.word_step);
        write(&self.id_step, line.id_step);
        write(&self.node_low, line.node_low);
        write(&self.node_high, line.node_high);
        write(&self.state, state);
    }

    pub(super) fn seen_ms(&self) -> f64 {
        f64::from_bits(self.seen_ms.load(Ordering::Relaxed))
    }

    pub(super) fn see(&self, now_ms: f64) {
        self.seen_ms.store(now_ms.to_bits(), Ordering::Relaxed);
    }

    /// Leads nowhere until it is drawn again.
    pub(super) fn hide(&self) {
        self.end_ms.store(0, Ordering::Relaxed);
    }

    /// Leads nowhere, as a new one.
    pub(super) fn clear(&self) {
        self.hide();
        self.see(0.0);
    }
}
