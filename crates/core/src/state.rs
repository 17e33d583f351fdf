//! Sharing: one atomic word for all threads, and the registry that makes equal generators meet on it.
//!
//! # Why one word is enough
//! Everything a reservation decides is in the word. A compare-and-swap moves it from the value the decision was based on
//! to one past the IDs it issues, so two reservations can never take the same positions: that needs only the single
//! modification order that every atomic has, at any ordering, and that the word never takes a value twice. Without a clock
//! field the word only grows. Coherence gives the order: if one call happened before another, the second finds a later word.
//!
//! # And with clock ids
//! There the decision also reads one cell for each clock id: the first tick it may be used for. The machine keeps these
//! rules, and this module the orderings:
//!
//! 1. A cell only grows, and only to what is true already: the clock id in the word was used for the tick in the word.
//! 2. A swap that leaves a clock id comes after its cell was raised, and is `Release`.
//! 3. Whoever reads cells read the word before, with `Acquire`.
//!
//! So a reader of a word sees the last tick of every clock id that was left on the way to it, at least; and a cell that is
//! newer than the word belongs to a swap that makes the reader's own fail, or that was lost and whose tick the word still
//! shows. A clock id that looks free is free. A thread that dies between raising and swapping leaves a truth behind.
//!
//! * **Lock-free**: a lost compare-and-swap means that somebody else minted.
//! * **Clock first**: the time is read before the word, so the window in which a swap can be lost is two instructions
//!   long. A time that is stale by then looks like a step back and is answered with a recheck.
//! * **Never forgotten**: a [`Registry`](crate::Registry) keeps every state it made, because a state that is dropped and made anew would
//!   start over. It holds one state per layout geometry and node id, some 300 bytes each, and 8 for each clock id.
//!
//! # A state that somebody else keeps
//! With the feature `std` a state can lie in memory that a [`Keeper`](crate::Keeper) provides, and that may be shared by processes: the
//! same word and cells, with a window whose end the keeper moves. A keeper ends its state with [`StateAtomics::close`], which takes
//! the word away from whoever mints, and only then tells what was used: lowering the end of the window instead would be a
//! race with a call that has read it.
//!
//! A state that begins anew has the word 0 again, so a call that read the word before may swap it after. A reservation from a
//! kept state therefore counts only if the window is still the one it was judged by, which is looked at once more after the
//! swap. Where the window begins at the same time, nothing was issued in between, and the reservation is as good.
//!
//! Not covered: two processes, or two WebAssembly instances, with one static node id. They share no memory.
//!

use alloc::boxed::Box;

use crate::clock_ids::ClockIds;
use crate::layout::Geometry;
use crate::machine::{EXHAUSTED, Machine};
use crate::start::{Key, SequenceStart};
use crate::sync::{AtomicU64, Ordering};
use crate::window::Window;

/// What all generators of one geometry and node id share. On its own pair of cache lines, so that minting does not slow
/// down its neighbours (adjacent lines are fetched in pairs on x86-64).
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct State {
    word: AtomicU64,
    /// As in [`StateAtomics`]; it only grows.
    origin: AtomicU64,
    /// The end of the window; none so far.
    until_ms: AtomicU64,
    /// The halves of the key; 0 until drawn, and then never changed.
    key: [AtomicU64; 2],
    pub(crate) start: SequenceStart,
    /// For each clock id the first tick it may be used for. Empty where the layout has no clock field.
    clocks: Box<[AtomicU64]>,
}

impl State {
    pub(crate) fn new(geometry: &Geometry, start: SequenceStart) -> Self {
        let clock_ids = if geometry.clock.bits == 0 { 0 } else { 1 << geometry.clock.bits };
        Self {
            word: AtomicU64::new(0),
            origin: AtomicU64::new(origin(0, start)),
            until_ms: AtomicU64::new(u64::MAX),
            key: [AtomicU64::new(0), AtomicU64::new(0)],
            start,
            clocks: (0..clock_ids).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(crate) fn atomics(&self) -> StateAtomics<'_> {
        let Self { word, origin, until_ms, key, start, clocks } = self;
        StateAtomics { word, origin, until_ms, key, start: *start, clocks }
    }

    /// Nothing is issued before the first tick that a predecessor cannot have reached.
    pub(crate) fn delay_until_after_start(&self, machine: &Machine, start_ms: u64) {
        self.origin.fetch_max(origin(machine.first_ms_after(start_ms), self.start), Ordering::Relaxed);
    }

    /// Sets each half that is not set yet. Whoever comes second finds both set: one of the two keys, or a half of each, and
    /// any of them is as random.
    pub(crate) fn offer_key(&self, key: Key) {
        for (cell, half) in self.key.iter().zip([key.0, key.1]) {
            let _: Result<u64, u64> = cell.compare_exchange(0, half, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

/// Two bits above every time say where the sequence starts: see [`StateAtomics::origin`].
const START_SHIFT: u32 = 62;
const FROM_MASK: u64 = (1 << START_SHIFT) - 1;

/// The start of a window and the start of the sequence as one number.
fn origin(from_ms: u64, start: SequenceStart) -> u64 {
    // No layout has a tick from 2^53 ms on, so a later time means "never" whatever it is.
    from_ms.min(FROM_MASK) | (start as u64) << START_SHIFT
}

/// The atomics of a state, wherever they lie.
///
/// ```
/// use std::sync::atomic::AtomicU64;
/// use frazil::{StateAtomics, Layout, Machine, Node, SequenceStart};
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
    /// The next ID to issue, as [`Machine`] counts. All ones where it is closed.
    pub word: &'a AtomicU64,
    /// The start of the window in Unix milliseconds, and above it, in the two highest bits, the number of the sequence
    /// start: 0 zero, 1 random, 2 wrap. Both change only where the word starts anew. They are one number so that a caller
    /// whose sequence starts elsewhere (a forked child, after its parent chose another start) is refused without another read.
    pub origin: &'a AtomicU64,
    /// The end of the window, which only grows until the word is closed.
    pub until_ms: &'a AtomicU64,
    /// The halves of the key under which the sequence starts; 0 where there is none.
    pub key: &'a [AtomicU64; 2],
    /// Where the sequence starts.
    pub start: SequenceStart,
    /// For each clock id the first tick it may be used for. Empty where the layout has no clock field.
    pub clocks: &'a [AtomicU64],
}

impl StateAtomics<'_> {
    /// The window; `None` where the state has another start of the sequence than these cells.
    pub(crate) fn window(&self) -> Option<Window> {
        let origin = self.origin.load(Ordering::Relaxed);
        let window = Window { from_ms: origin & FROM_MASK, until_ms: self.until_ms.load(Ordering::Acquire) };
        (origin >> START_SHIFT == self.start as u64).then_some(window)
    }

    /// Whether the window is still the one that was read, which may have been extended since.
    pub(crate) fn is_still(&self, read: Window) -> bool {
        self.window().is_some_and(|now| now.from_ms == read.from_ms && now.until_ms >= read.until_ms)
    }

    /// The start of the window in Unix milliseconds.
    ///
    /// ```
    /// use std::sync::atomic::AtomicU64;
    /// use frazil::{StateAtomics, SequenceStart, Window};
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

    /// Whether the sequence of the state starts as that of these cells, which [`StateAtomics::from_ms`] has an example of.
    #[must_use]
    pub fn same_start(&self) -> bool {
        self.window().is_some()
    }

    pub(crate) fn key(&self) -> Option<Key> {
        let [high, low] = [0, 1].map(|half| self.key[half].load(Ordering::Relaxed));
        (high != 0 && low != 0).then_some(Key::new(high, low))
    }

    /// Ends the state: later calls find it closed, and nothing is issued any more. Returns the Unix millisecond at which the
    /// largest tick ends that any clock id was used for, and 0 where none was: from then on the node id is free. `None` where
    /// the state is closed already (or its time field is used up).
    ///
    /// ```
    /// use std::sync::atomic::AtomicU64;
    /// use frazil::{StateAtomics, Layout, Machine, Node, SequenceStart};
    /// let [word, origin, until_ms] = [(5 << 12) | 1, 0, u64::MAX].map(AtomicU64::new); // an ID of tick 5 was issued
    /// let key = [AtomicU64::new(0), AtomicU64::new(0)];
    /// let state = StateAtomics { word: &word, origin: &origin, until_ms: &until_ms, key: &key, start: SequenceStart::Zero, clocks: &[] };
    /// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
    /// assert_eq!(state.close(&machine), Some(1_704_067_200_006));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn close(&self, machine: &Machine) -> Option<u64> {
        // A swap, and not a store: the word that it takes away is the last that anybody made. `Acquire`, to see the clock ids
        // that were left on the way to it.
        let word = self.word.swap(EXHAUSTED, Ordering::AcqRel);
        (word != EXHAUSTED).then(|| self.used_up_to_ms(word, machine))
    }

    /// The Unix millisecond at which the largest tick ends that any clock id was used for so far, and 0 where none was. Where the
    /// state is closed, what the clock ids that were left tell.
    ///
    /// ```
    /// use std::sync::atomic::AtomicU64;
    /// use frazil::{StateAtomics, Layout, Machine, Node, SequenceStart};
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

    /// Begins the state anew, with a window that must begin where all that was ever issued from it has ended. Only while
    /// nobody else does the same.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// use frazil::{StateAtomics, SequenceStart, Window};
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
        // Last, and `Release`: who finds the new word finds the new window.
        self.word.store(0, Ordering::Release);
    }
}

impl ClockIds for [AtomicU64] {
    fn free_from(&self, clock: usize) -> u64 {
        self.get(clock).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
}
