//! The clock ids of a state, as the machine reads them.
//!
//! A state keeps one number for each clock id: the first tick for which it may be used, which is one past the last tick it was
//! used for. The clock id in use is the exception: its last tick is in the word, and its number is stored when the state leaves
//! it.
//!
//! * **No extra memory**: [`ClockIds`] reads a slice, an array, or the atomics of a state.
//! * Not covered: storing the numbers, and the memory orderings. `mint/state.rs` does that.

use crate::layout::Geometry;

/// The numbers that a state keeps for its clock ids. A slice implements this; it is empty if the layout has no clock field.
///
/// ```
/// use frazil::{Layout, Node};
/// use frazil::mint::{ClockIds, Machine, Outcome, Window};
/// let machine = Machine::new(&Layout::named("multi-clock")?, Node::Id(7), 0)?;
/// let free_from = [101, 90]; // clock id 0 was used for tick 100, clock id 1 for tick 89
/// assert_eq!(free_from.free_from(1), 90);
/// // The last ID was one of tick 120 and clock id 2, and now the clock shows tick 95: clock id 1 is the lowest that is free.
/// let word = (120 << 14) | (2 << 10) | 5;
/// let Outcome::Issued { block, leaves, .. } = machine.reserve(word, Window::OPEN, &free_from, 1_704_067_200_095, 1, true) else { unreachable!() };
/// assert_eq!(block.first(), (95 << 22) | (1 << 18) | (7 << 10));
/// assert_eq!(leaves, Some((2, 121))); // clock id 2 may be used again from tick 121 on
/// # Ok::<(), frazil::Error>(())
/// ```
pub trait ClockIds {
    /// The first tick for which a clock id may be used: one past the last tick it was used for, or 0 if it was never used.
    fn free_from(&self, clock: usize) -> u64;
}

impl ClockIds for [u64] {
    fn free_from(&self, clock: usize) -> u64 {
        self.get(clock).copied().unwrap_or(0)
    }
}

impl<const N: usize> ClockIds for [u64; N] {
    fn free_from(&self, clock: usize) -> u64 {
        self.as_slice().free_from(clock)
    }
}

/// A state as the machine reads it. A *pair* is a tick and a clock id: a position of the count without the sequence.
pub(crate) struct StateView<'a, C: ?Sized> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) word: u64,
    pub(crate) clocks: &'a C,
}

impl<C: ClockIds + ?Sized> StateView<'_, C> {
    /// The pair of the last ID issued, whose position is one below the word. `None` before the first ID.
    pub(crate) const fn pair(&self) -> Option<u64> {
        match self.word.checked_sub(1) {
            Some(last) => Some(last >> self.geometry.sequence.bits),
            None => None,
        }
    }

    pub(crate) const fn clock(&self, pair: u64) -> u64 {
        pair & self.geometry.clock.max()
    }

    /// The tick after the current one: 0 before the first ID.
    pub(crate) const fn next_tick(&self) -> u64 {
        self.geometry.next_tick(self.word)
    }

    /// Whether the sequence of the current pair is used up.
    pub(crate) const fn is_full(&self) -> bool {
        self.word & self.geometry.sequence.max() == 0
    }

    /// The first tick at which a clock id is free. The word tells the last tick of the current one.
    fn free_from(&self, clock: u64) -> u64 {
        if self.pair().is_some_and(|pair| self.clock(pair) == clock) {
            return self.next_tick();
        }
        self.clocks.free_from(usize::try_from(clock).unwrap_or(usize::MAX))
    }

    /// The pair of a tick and the lowest free clock id, not below `least`.
    pub(crate) fn lowest_free(&self, tick: u64, least: u64) -> Option<u64> {
        let clock = (least..=self.geometry.clock.max()).find(|clock| self.free_from(*clock) <= tick)?;
        Some((tick << self.geometry.clock.bits) | clock)
    }

    /// The pair of the current tick and the next higher clock id that is free there. The current one is not free there.
    pub(crate) fn higher_free(&self) -> Option<u64> {
        let pair = self.pair()?;
        self.lowest_free(pair >> self.geometry.clock.bits, self.clock(pair))
    }

    /// The first tick at which a clock id other than the current one is free.
    pub(crate) fn next_freed(&self) -> Option<u64> {
        let current = self.pair().map(|pair| self.clock(pair));
        let others = (0..=self.geometry.clock.max()).filter(|clock| Some(*clock) != current);
        others.map(|clock| self.free_from(clock)).min()
    }
}
