//! The state of a generator as atomics: one word, and one number for each clock id.
//!
//! # Why one word is enough
//! Everything that a reservation decides is in the word. A compare-and-swap moves the word from the value that the decision was based on to
//! a value past the issued IDs, so two reservations never take the same positions. That needs two things: every atomic has a single
//! modification order at any ordering, and the word never takes a value twice. Without a clock field the word only grows. Coherence gives
//! the order: if one call happened before another, the second finds a later word.
//!
//! # With clock ids
//! With a clock field the decision also reads a *cell* for each clock id: the first tick for which it may be used. The machine
//! and the loop in `reservation.rs` keep these rules:
//!
//! 1. A cell only grows, and only to a value that is already true: the clock id in the word was used for the tick in the word.
//! 2. A swap that leaves a clock id comes after its cell was raised, and is `Release`.
//! 3. A call that reads cells has read the word before, with `Acquire`.
//!
//! So a call that reads a word sees at least the last tick of every clock id that was left on the way to that word. A cell that is newer
//! than the word belongs to a swap that makes this call's swap fail, or to a lost one whose tick is still in the word. Therefore a clock id
//! that looks free is free. A thread that dies between raising a cell and swapping the word leaves a cell that is correct.
//!
//! # The window, and beginning anew
//! The start and the end of the window lie beside the word. A keeper ([`Keeper`](crate::mint::Keeper)) moves the end. To end a state it
//! calls [`StateAtomics::close`], which first swaps the word for all ones and then reads how far the state was used. Lowering the end of
//! the window instead would race with a call that has already read the end.
//!
//! A state that begins anew has the word 0 again, so a call that read the word before could swap it afterwards. The loop
//! therefore reads the window again after the swap of a kept state, and the reservation counts only if it was decided by that window. If
//! the new window begins at the same time, nothing was issued in between, and the reservation is valid.
//!
//! `crates/core/tests/loom` explores the interleavings of all this, and must reject broken variants of it.
//!
//! Not covered: which IDs may be issued (`machine/`), and the loop that swaps the word (`reservation.rs`).

use alloc::boxed::Box;
#[cfg(not(frazil_loom))]
use core::mem::offset_of;

use super::machine::{ClockIds, EXHAUSTED, Key, Machine, SequenceStart, Window};
use super::sync::{AtomicU64, Ordering};
use crate::layout::Geometry;

/// The state that all generators of one geometry and node id share. It has a pair of cache lines to itself, so minting does not slow down
/// other states (x86-64 fetches adjacent lines in pairs).
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct State {
    word: AtomicU64,
    /// As in [`StateAtomics`]. Here it only grows.
    origin: AtomicU64,
    /// The end of the window. Only states under a session, a lease or a ceiling, have one.
    until_ms: AtomicU64,
    /// The halves of the key: 0 until they are drawn, and unchanged from then on.
    key: [AtomicU64; 2],
    pub(crate) start: SequenceStart,
    /// For each clock id, the first tick it may be used for. Empty if the layout has no clock field.
    clocks: Box<[AtomicU64]>,
}

// Where the line finds them (`line.rs`).
#[cfg(not(frazil_loom))]
const _: () =
    assert!(offset_of!(State, word) == 0 && offset_of!(State, origin) == 8 && offset_of!(State, until_ms) == 16, "the line");

impl State {
    pub(crate) fn new(geometry: &Geometry, start: SequenceStart) -> Self {
        Self::within(geometry, start, Window::OPEN, 0)
    }

    /// The state under a session, a lease or a ceiling. It continues at a tick: a generator that had another state before issues nothing
    /// earlier, unless it follows its clock back.
    #[inline(never)] // one copy in the module instead of one for each caller
    pub(crate) fn within(geometry: &Geometry, start: SequenceStart, window: Window, next_tick: u64) -> Self {
        // Beyond the last tick the shift could overflow.
        let word = if next_tick > geometry.time.max() { EXHAUSTED } else { next_tick << geometry.low_bits() };
        Self {
            word: AtomicU64::new(word),
            origin: AtomicU64::new(origin(window.from_ms, start)),
            until_ms: AtomicU64::new(window.until_ms),
            key: [AtomicU64::new(0), AtomicU64::new(0)],
            start,
            clocks: (0..geometry.clock_ids()).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(crate) fn atomics(&self) -> StateAtomics<'_> {
        let Self { word, origin, until_ms, key, start, clocks } = self;
        StateAtomics { word, origin, until_ms, key, start: *start, clocks }
    }

    #[cfg(feature = "std")]
    pub(crate) const fn word_and_origin(&self) -> (&AtomicU64, &AtomicU64) {
        (&self.word, &self.origin)
    }

    /// Moves the start of the window to the first tick that a predecessor cannot have reached, if it last ran before `start_ms`.
    pub(crate) fn delay_until_after_start(&self, machine: &Machine, start_ms: u64) {
        self.origin.fetch_max(origin(machine.first_ms_after(start_ms), self.start), Ordering::Relaxed);
    }

    /// Sets each half that is not set yet. The result of a race is one of the two keys or a half of each, and all of them are
    /// equally random.
    pub(crate) fn offer_key(&self, key: Key) {
        for (cell, half) in self.key.iter().zip([key.0, key.1]) {
            let _: Result<u64, u64> = cell.compare_exchange(0, half, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

/// The two highest bits, which no time needs, hold the start of the sequence: see [`StateAtomics::origin`].
const START_SHIFT: u32 = 62;
const FROM_MASK: u64 = (1 << START_SHIFT) - 1;

/// The start of a window and the start of the sequence as one number.
fn origin(from_ms: u64, start: SequenceStart) -> u64 {
    // No layout has a tick at 2^53 ms or later, so every such time means "never".
    from_ms.min(FROM_MASK) | (start as u64) << START_SHIFT
}

/// Borrowed atomics of a state, in any memory.
///
/// ```
/// use std::sync::atomic::AtomicU64;
/// use frazil::{Layout, Node};
/// use frazil::mint::{StateAtomics, Machine, SequenceStart};
/// let [word, origin, until_ms] = [0, 1_704_067_200_000, 1_704_067_203_000].map(AtomicU64::new);
/// let key = [AtomicU64::new(0), AtomicU64::new(0)];
/// let state = StateAtomics { word: &word, origin: &origin, until_ms: &until_ms, key: &key, start: SequenceStart::Zero, clocks: &[] };
/// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
/// assert_eq!(state.close(&machine), Some(0)); // nothing was issued
/// assert_eq!(state.close(&machine), None); // it is closed already
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StateAtomics<'a> {
    /// The position of the next ID to issue, as [`Machine`] counts. All ones if the state is closed.
    pub word: &'a AtomicU64,
    /// The start of the window in Unix milliseconds and, in the two highest bits, the number of the sequence start: 0 zero,
    /// 1 random, 2 wrap. Both change only when the state begins anew, or later. As one number, they need only one read to refuse a caller
    /// with another start of the sequence (a forked child whose parent has since chosen another start).
    pub origin: &'a AtomicU64,
    /// The end of the window. It only grows until the state is closed.
    pub until_ms: &'a AtomicU64,
    /// The halves of the key for the starts of the sequence; 0 if there is none.
    pub key: &'a [AtomicU64; 2],
    /// Where the sequence starts.
    pub start: SequenceStart,
    /// For each clock id, the first tick it may be used for. Empty if the layout has no clock field.
    pub clocks: &'a [AtomicU64],
}

impl StateAtomics<'_> {
    /// The window, or `None` if the state has another start of the sequence than `start`.
    pub(crate) fn window(&self) -> Option<Window> {
        let origin = self.origin.load(Ordering::Relaxed);
        let window = Window { from_ms: origin & FROM_MASK, until_ms: self.until_ms.load(Ordering::Acquire) };
        (origin >> START_SHIFT == self.start as u64).then_some(window)
    }

    /// Whether the window is still the one that was read, possibly extended since.
    pub(crate) fn is_still(&self, read: Window) -> bool {
        self.window().is_some_and(|now| now.from_ms == read.from_ms && now.until_ms >= read.until_ms)
    }

    /// The start of the window in Unix milliseconds.
    ///
    /// ```
    /// use std::sync::atomic::AtomicU64;
    /// use frazil::mint::{StateAtomics, SequenceStart, Window};
    /// let [word, origin, until_ms] = [u64::MAX, 0, 0].map(AtomicU64::new);
    /// let key = [AtomicU64::new(0), AtomicU64::new(0)];
    /// let wrap = StateAtomics { word: &word, origin: &origin, until_ms: &until_ms, key: &key, start: SequenceStart::Wrap, clocks: &[] };
    /// wrap.begin_anew(Window { from_ms: 5000, until_ms: 8000 });
    /// assert_eq!((wrap.from_ms(), wrap.same_start()), (5000, true));
    /// let zero = StateAtomics { start: SequenceStart::Zero, ..wrap };
    /// assert_eq!((zero.from_ms(), zero.same_start()), (5000, false));
    /// ```
    #[must_use]
    pub fn from_ms(&self) -> u64 {
        self.origin.load(Ordering::Acquire) & FROM_MASK
    }

    /// Whether the state has the start of the sequence that is in `start`. [`StateAtomics::from_ms`] has an example.
    #[must_use]
    pub fn same_start(&self) -> bool {
        self.window().is_some()
    }

    pub(crate) fn key(&self) -> Option<Key> {
        let [high, low] = self.key;
        let (high, low) = (high.load(Ordering::Relaxed), low.load(Ordering::Relaxed));
        (high != 0 && low != 0).then_some(Key::new(high, low))
    }

    /// Ends the state: later calls find it closed, and nothing more is issued. Returns the Unix millisecond at which the largest used tick
    /// of any clock id ends: from then on the node id is free. Returns 0 if no ID was issued, and `None` if the state is closed already (or
    /// its time field is used up).
    ///
    /// ```
    /// use std::sync::atomic::AtomicU64;
    /// use frazil::{Layout, Node};
    /// use frazil::mint::{StateAtomics, Machine, SequenceStart};
    /// let [word, origin, until_ms] = [(5 << 12) | 1, 0, u64::MAX].map(AtomicU64::new); // an ID of tick 5 was issued
    /// let key = [AtomicU64::new(0), AtomicU64::new(0)];
    /// let state = StateAtomics { word: &word, origin: &origin, until_ms: &until_ms, key: &key, start: SequenceStart::Zero, clocks: &[] };
    /// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
    /// assert_eq!(state.close(&machine), Some(1_704_067_200_006));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn close(&self, machine: &Machine) -> Option<u64> {
        // A swap instead of a store, because it returns the last word that any call made. `Acquire`, to see the cells that were
        // raised on the way to it.
        let word = self.word.swap(EXHAUSTED, Ordering::AcqRel);
        (word != EXHAUSTED).then(|| self.used_up_to_ms(word, machine))
    }

    /// The Unix millisecond at which the largest used tick of any clock id ends, or 0 if no ID was issued. If the state is closed, only the
    /// clock ids that were left count.
    ///
    /// ```
    /// use std::sync::atomic::AtomicU64;
    /// use frazil::{Layout, Node};
    /// use frazil::mint::{StateAtomics, Machine, SequenceStart};
    /// let [word, origin, until_ms] = [(5 << 12) | 1, 0, u64::MAX].map(AtomicU64::new); // an ID of tick 5 was issued
    /// let key = [AtomicU64::new(0), AtomicU64::new(0)];
    /// let state = StateAtomics { word: &word, origin: &origin, until_ms: &until_ms, key: &key, start: SequenceStart::Zero, clocks: &[] };
    /// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
    /// assert_eq!(state.used_until_ms(&machine), 1_704_067_200_006);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn used_until_ms(&self, machine: &Machine) -> u64 {
        let word = self.word.load(Ordering::Acquire);
        self.used_up_to_ms(if word == EXHAUSTED { 0 } else { word }, machine)
    }

    fn used_up_to_ms(&self, word: u64, machine: &Machine) -> u64 {
        let left = self.clocks.iter().map(|cell| cell.load(Ordering::Relaxed)).max().unwrap_or(0);
        let free_from = machine.next_tick(word).max(left);
        if free_from == 0 { 0 } else { machine.tick_start_ms(free_from) }
    }

    /// Begins the state anew. The window must begin after everything that the state ever issued. Calls must not run concurrently.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// use frazil::mint::{StateAtomics, SequenceStart, Window};
    /// let [word, origin, until_ms] = [u64::MAX, 0, 0].map(AtomicU64::new);
    /// let key = [AtomicU64::new(0), AtomicU64::new(0)];
    /// let state = StateAtomics { word: &word, origin: &origin, until_ms: &until_ms, key: &key, start: SequenceStart::Zero, clocks: &[] };
    /// state.begin_anew(Window { from_ms: 5000, until_ms: 8000 });
    /// assert_eq!((word.load(Relaxed), state.from_ms()), (0, 5000));
    /// ```
    pub fn begin_anew(&self, window: Window) {
        self.origin.store(origin(window.from_ms, self.start), Ordering::Relaxed);
        self.until_ms.store(window.until_ms, Ordering::Relaxed);
        for cell in self.clocks {
            cell.store(0, Ordering::Relaxed);
        }
        // Last, and `Release`: a call that reads the new word also reads the new window.
        self.word.store(0, Ordering::Release);
    }

    /// Moves the start of the window to `from_ms`, if that is later. The state goes on: no ID that it has issued is forgotten. For a
    /// state that begins its sequences as `start` says, and that no other process uses.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// use frazil::mint::{StateAtomics, SequenceStart};
    /// let [word, origin, until_ms] = [5 << 12, 5000, 8000].map(AtomicU64::new);
    /// let key = [AtomicU64::new(0), AtomicU64::new(0)];
    /// let state = StateAtomics { word: &word, origin: &origin, until_ms: &until_ms, key: &key, start: SequenceStart::Zero, clocks: &[] };
    /// for (from_ms, begins_ms) in [(6000, 6000), (5500, 6000)] {
    ///     state.begin_later(from_ms);
    ///     assert_eq!((word.load(Relaxed), state.from_ms()), (5 << 12, begins_ms));
    /// }
    /// ```
    pub fn begin_later(&self, from_ms: u64) {
        self.origin.fetch_max(origin(from_ms, self.start), Ordering::Relaxed);
    }
}

impl ClockIds for [AtomicU64] {
    fn free_from(&self, clock: usize) -> u64 {
        self.get(clock).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
}
