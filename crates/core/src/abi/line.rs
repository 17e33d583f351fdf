//! The lines of a frame: where TypeScript reads the numbers of a line and writes the last reading of the clock.
//!
//! Each handle has nine numbers at a fixed address, its *line slots*. On WebAssembly they lead to the state of the generator. TypeScript
//! reads and writes its word between calls of the core, because the memory belongs to one thread (`crates/wasm`). On the addon, threads
//! share a state, so TypeScript swaps the word in memory from [`Handles::line_memory`].
//!
//! * **Never a state that is gone**: the slots are written in the call that begins, replaces, ends or releases a state. Memory from
//!   [`Handles::line_memory`] keeps its state alive, and that state is closed before the generator gets another.
//! * **The window of today**: TypeScript reads its start and end from the state, because a lease or another generator may have moved them.
//! * **Nothing uncounted**: the last reading of the clock is here, and counted before that of the next call ([`Handles::see_line`]).
//!   TypeScript only replaces it with a later one, so the core sees every step back.
//! * Not covered: the rule itself ([`Line`](super::Line)), and memory that threads share.

use alloc::sync::Arc;

use super::frame::Frame;
use super::handles::{Handles, Minter};
use super::line_slots::LineSlots;
use super::slots::slot;
use crate::clock::millisecond_of;
#[cfg(all(feature = "std", not(frazil_loom)))]
use crate::mint::LineMemory;

/// The distance from one address to another in steps of 8 bytes. All addresses are multiples of 8.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_wrap, reason = "the memory of a module ends at 2^32")]
const fn distance(from: usize, to: usize) -> f64 {
    (to.wrapping_sub(from) as isize >> 3) as f64
}

impl Handles {
    /// A handle table with lines: opening writes into the slot `LINE` where the line slots of the handle are.
    ///
    /// ```
    /// use frazil::Registry;
    /// use frazil::abi::{Frame, Handles, slot};
    /// let mut frame = Frame::new();
    /// Handles::with_lines().open(&mut frame, &mut Registry::new());
    /// assert_eq!(frame.numbers[slot::LINE], 0.0); // a frame of zeros is no layout, and nothing was opened
    /// ```
    #[must_use]
    pub const fn with_lines() -> Self {
        let mut handles = Self::new();
        handles.has_lines = true;
        handles
    }

    /// Takes the line of a handle away until it is drawn again.
    pub(super) fn hide_line(&self, handle: f64) {
        if let Some(line) = self.entry(handle).and_then(|entry| entry.line.as_ref()) {
            line.hide();
        }
    }

    /// Writes the line of a handle into its slots, and the place of the first one into the frame, as a slot's.
    pub(super) fn draw_line(&mut self, frame: &mut Frame, handle: f64) {
        if !self.has_lines {
            return;
        }
        let Some(entry) = self.entry_mut(handle) else { return };
        let line = match &entry.minter {
            Some(Minter::Generator(generator)) => generator.line(),
            Some(Minter::Leased(ids)) => ids.line(),
            _ => None,
        };
        // Only the line of a lease comes and goes.
        if line.is_none() && entry.line.is_none() {
            return;
        }
        let slots = entry.line.get_or_insert_with(Arc::default);
        let state = line.map_or(0, |(_, state)| state);
        // In halves of 8 bytes.
        slots.draw(line.map(|(line, _)| line), 2.0 * distance(frame.ids.as_ptr().addr(), state));
        // Exposed, since TypeScript reads and writes it.
        let place = core::ptr::from_ref::<LineSlots>(&**slots).expose_provenance();
        frame.set_number(slot::LINE, distance(frame.numbers.as_ptr().addr(), place));
    }

    /// A part of the memory of a line, by the order of the parts: the line slots, the word of the state, and its window. `None` if there is
    /// no line, or no such part.
    ///
    /// ```
    /// assert!(frazil::abi::Handles::with_lines().line_memory(0.0, 0).is_none()); // of a handle that is not open: nothing
    /// ```
    #[cfg(all(feature = "std", not(frazil_loom)))]
    #[must_use]
    pub fn line_memory(&self, handle: f64, part: u32) -> Option<LineMemory> {
        let entry = self.entry(handle)?;
        let slots = Arc::clone(entry.line.as_ref()?);
        let [word, window] = entry.minter.as_ref()?.generator().ok()?.line_memory()?;
        match part {
            0 => {
                // Exposed, since TypeScript reads and writes it.
                let address = core::ptr::from_ref::<LineSlots>(&*slots).expose_provenance();
                Some(LineMemory { address, bytes: size_of::<LineSlots>(), owner: slots })
            }
            1 => Some(word),
            2 => Some(window),
            _ => None,
        }
    }

    /// Counts the clock reading with which TypeScript last took an ID by the line of this handle. Then records `now_ms`, the reading of the
    /// call that follows; NaN for a call that only reads the counters.
    ///
    /// ```
    /// frazil::abi::Handles::with_lines().see_line(0.0, 5.0); // of a handle that is not open: nothing
    /// ```
    pub fn see_line(&self, handle: f64, now_ms: f64) {
        if let Some(entry) = self.entry(handle)
            && let (Some(slots), Some(minter)) = (&entry.line, &entry.minter)
            && let (Ok(seen_ms), Ok(generator)) = (millisecond_of(slots.seen_ms()), minter.generator())
        {
            generator.see(seen_ms);
            if millisecond_of(now_ms).is_ok() {
                slots.see(now_ms);
            }
        }
    }
}
