//! The line: one ID in a new tick, as arithmetic that TypeScript does on the state itself.
//!
//! At one call per millisecond, crossing the boundary costs more than the decision itself, because code and data have left the caches. But
//! while the clock is in a later tick than the last ID, [`Machine::reserve`] for one ID is two linear functions of the tick. The next word
//! is `tick * word_step + 1`, and the ID `tick * id_step` with the node id. So the core publishes these numbers (the *line*), and
//! TypeScript calls the core only where the line has no answer.
//!
//! * **No other ID than the machine's**: `tests/line` compares [`Line::next`] with [`Machine::reserve`] for every word, window and
//!   reading of small layouts, and at the edges of all others.
//! * **Exact in doubles**: ticks and times are below 2^53; a step is a power of two, so its products are exact below 2^64; and 64-bit
//!   numbers are halved: `ToUint32` of a double is exact modulo 2^32. A layout whose last tick ends beyond 2^53 has no line.
//! * **Only where the word and the window decide**: not with clock ids, whose cells decide too, nor with keyed starts of the sequence.
//! * Not covered: who may read and write the state. `abi/line.rs` says that; `npm/frazil/src/generator` does it, in `snowflake.ts` on
//!   WebAssembly and in `swap-line.ts` on the addon.

use super::generator::Generator;
use super::keeper::StateRef;
#[cfg(feature = "std")]
use super::machine::Window;
use super::machine::{Machine, SequenceStart};
use super::state::State;
use super::sync::Ordering;
use crate::layout::MAX_SAFE_INTEGER;

/// The numbers of a line.
///
/// ```
/// use frazil::abi::Line;
/// use frazil::mint::{Machine, Window};
/// use frazil::{Layout, Node};
/// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
/// let line = Line::of(&machine).unwrap();
/// let now_ms = 1_704_067_200_100.0; // tick 100
/// assert_eq!(line.next(5 << 12, Window::OPEN, now_ms), Some(((100 << 12) | 1, (100 << 22) | (7 << 12))));
/// assert_eq!(line.next((100 << 12) | 1, Window::OPEN, now_ms), None); // an ID of tick 100 is issued: ask the core
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Unix milliseconds of tick 0.
    pub epoch_ms: f64,
    /// The length of a tick in milliseconds.
    pub tick_ms: f64,
    /// The end of the last tick, in Unix milliseconds.
    pub end_ms: f64,
    /// The distance between the words of adjacent ticks: a power of two.
    pub word_step: f64,
    /// The distance between the IDs of adjacent ticks: a power of two.
    pub id_step: f64,
    /// The node id in its bits of an ID: the lower half.
    pub node_low: f64,
    /// The upper half.
    pub node_high: f64,
}

impl Line {
    /// The line of a machine. `None` if more than the word and the window matters, or if a time is not exact in a double.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "halves; at most 2^53, or a power of two")]
    pub fn of(machine: &Machine) -> Option<Self> {
        let (g, node) = (&machine.geometry, machine.node);
        if g.clock.bits > 0 || !machine.starts_at_zero() || g.end_ms() >= MAX_SAFE_INTEGER {
            return None;
        }
        Some(Self {
            epoch_ms: g.epoch_ms as f64,
            tick_ms: g.tick_ms.get() as f64,
            end_ms: (g.end_ms() + 1) as f64,
            word_step: (1_u64 << (g.low_bits() & 63)) as f64,
            id_step: (1_u64 << (g.time.shift & 63)) as f64,
            node_low: f64::from(node as u32),
            node_high: f64::from((node >> 32) as u32),
        })
    }

    /// The next word and the ID, if the line has an answer for a reading of the clock. In TypeScript `#nextByLine` and `swapOne` do the
    /// same, step by step, and call the core if the clock is behind its last reading; `swapOne` also if the word rounds to the first one of
    /// the tick. The module does not contain this function.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn next(&self, word: u64, window: Window, now_ms: f64) -> Option<(u64, u64)> {
        let Self { epoch_ms, tick_ms, end_ms, word_step, id_step, node_low, node_high } = *self;
        // A quotient may be rounded up to the next tick, which then begins after the reading.
        let tick = ((now_ms - epoch_ms) / tick_ms).floor();
        let starts_ms = epoch_ms + tick * tick_ms;
        let ends_ms = starts_ms + tick_ms;
        let first = tick * word_step;
        let [low, high] = split(word).map(f64::from);
        // The difference is exact below 2^53, and any larger one is nowhere near the lower half. Times from 2^53 on are rounded, and remain
        // beyond all ticks. Before the epoch `first` is negative.
        let is_due = low <= first - high * TWO_32
            && starts_ms <= now_ms
            && ends_ms <= end_ms
            && double(window.from_ms) <= starts_ms
            && double(window.until_ms) >= ends_ms;
        // A word step is even, so adding one does not overflow the lower half.
        let [low, high] = halves(first);
        is_due.then(|| {
            (joined([low + 1, high]), joined(halves(tick * id_step)) | joined([halves(node_low)[0], halves(node_high)[0]]))
        })
    }
}

impl Generator {
    /// The line of this generator, and the address of its state. The first three numbers there are the word, the start of the window with 0
    /// for the start of the sequence, and its end. For a kept state, the address only identifies it; `None` if the keeper does not share
    /// its memory.
    pub(crate) fn line(&self) -> Option<(Line, usize)> {
        let line = Line::of(&self.machine)?;
        match &self.state {
            // Exposed, because TypeScript reads and writes it.
            StateRef::Own(state) => {
                (state.start == SequenceStart::Zero).then(|| (line, core::ptr::from_ref::<State>(state).expose_provenance()))
            }
            #[cfg(feature = "std")]
            StateRef::Kept(keeper) => {
                let atomics = keeper.atomics();
                (atomics.start == SequenceStart::Zero && keeper.memory().is_some())
                    .then(|| (line, core::ptr::from_ref(atomics.word).addr()))
            }
        }
    }

    /// Counts a reading of the clock that is newer than all counted ones.
    pub(crate) fn see(&self, now_ms: u64) {
        self.counters.read(self.counters.read_ms.load(Ordering::Relaxed), now_ms);
    }
}

#[cfg(feature = "std")]
const TWO_32: f64 = 4_294_967_296.0;

/// The lower and the upper half of a number of 64 bits.
#[cfg(feature = "std")]
#[expect(clippy::cast_possible_truncation, reason = "that is what a half is")]
const fn split(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

#[cfg(feature = "std")]
const fn joined([low, high]: [u32; 2]) -> u64 {
    (high as u64) << 32 | low as u64
}

/// A number of 64 bits as a double, from its halves. A result that is not exact is later than every valid time.
#[cfg(feature = "std")]
fn double(number: u64) -> f64 {
    let [low, high] = split(number).map(f64::from);
    high * TWO_32 + low
}

/// `ToUint32` of a double and of its 2^32nd part.
#[cfg(feature = "std")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and below 2^64")]
const fn halves(number: f64) -> [u32; 2] {
    [number as u64 as u32, (number / TWO_32) as u64 as u32]
}
