//! The decision which IDs may be issued now.

use super::block::Block;
use super::clock_ids::{ClockIds, StateView};
use super::fast_path::FastPath;
use super::outcome::Outcome;
use super::start::{Key, SequenceStart};
use super::window::Window;
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::layout::{Geometry, Layout, Node};

/// The word of a state that has issued everything its time field can hold, and of one that was closed.
pub(crate) const EXHAUSTED: u64 = u64::MAX;

/// The most that a generator may run ahead of the clock, in milliseconds.
pub const MAX_LEAD_MS: u64 = 1000;

/// The rules of minting for one layout, node id and maximum lead: pure, and the same however the state is shared.
///
/// This type is:
///
/// * **Deterministic**: no clock, no entropy; tests and vectors drive it with scripted time.
/// * **Small**: under 100 bytes, `Copy`, no allocation.
///
/// To mint, use [`crate::Generator`]. Use this type to keep the state where `Generator` cannot.
///
/// ```
/// use frazil::{Layout, Node};
/// use frazil::mint::{Machine, Outcome, Window};
/// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
/// let mut word = 0;
/// let mut ids = Vec::new();
/// for _ in 0..2 {
///     let Outcome::Issued { word: next, block, .. } = machine.reserve(word, Window::OPEN, &[], 1_704_067_200_001, 1, false) else { unreachable!() };
///     word = next;
///     ids.push(block.first());
/// }
/// assert_eq!(ids, [4_222_976, 4_222_977]);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    pub(crate) geometry: Geometry,
    /// The node id in its bits of an ID.
    pub(crate) node: u64,
    pub(crate) max_lead_ms: u64,
    start: Option<(SequenceStart, Key)>,
}

impl Machine {
    /// The machine for a layout and a node id. It may run `max_lead_ms` ahead of the clock.
    ///
    /// # Errors
    /// `INVALID_NODE` as [`Layout::join_node`].
    ///
    /// ```
    /// use frazil::{Code, Layout, Node};
    /// use frazil::mint::Machine;
    /// let error = Machine::new(&Layout::named("safe53")?, Node::Id(8), 0).unwrap_err();
    /// assert_eq!(error.code(), Code::InvalidNode);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn new(layout: &Layout, node: Node<'_>, max_lead_ms: u64) -> Result<Self> {
        Ok(Self::from_geometry(layout.geometry, layout.join_node(node)?, max_lead_ms))
    }

    /// The same as [`Machine::new`], with a lead of at most 1000 ms. `None` means 1000.
    ///
    /// # Errors
    /// `INVALID_NODE` as [`Layout::join_node`]; `INVALID_OPTION` for a longer lead.
    ///
    /// ```
    /// use frazil::{Layout, Node};
    /// use frazil::mint::Machine;
    /// let layout = Layout::named("default")?;
    /// assert_eq!(Machine::with_max_lead(&layout, Node::Id(7), None)?, Machine::new(&layout, Node::Id(7), 1000)?);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn with_max_lead(layout: &Layout, node: Node<'_>, max_lead_ms: Option<u64>) -> Result<Self> {
        Self::from_geometry_with_max_lead(layout.geometry, layout.join_node(node)?, max_lead_ms)
    }

    #[inline(never)] // one copy in the module instead of one for each caller
    pub(crate) fn from_geometry_with_max_lead(geometry: Geometry, node: u32, max_lead_ms: Option<u64>) -> Result<Self> {
        let max_lead_ms = max_lead_ms.unwrap_or(MAX_LEAD_MS);
        if max_lead_ms > MAX_LEAD_MS {
            let (subject, rule, bounds) = (Subject::MaxLeadMs, Rule::WholeNumber, (0, MAX_LEAD_MS));
            return Err(Error::bad_number(Code::InvalidOption, subject, rule, max_lead_ms, bounds));
        }
        Ok(Self::from_geometry(geometry, node, max_lead_ms))
    }

    pub(crate) fn from_geometry(geometry: Geometry, node: u32, max_lead_ms: u64) -> Self {
        Self { geometry, node: geometry.scatter_node(u64::from(node)), max_lead_ms, start: None }
    }

    /// The same machine with another start of the sequence. All reservations of one state must use the same start and key.
    ///
    /// ```
    /// use frazil::{Layout, Node};
    /// use frazil::mint::{Key, Machine, Outcome, SequenceStart, Window};
    /// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?.starting(SequenceStart::Random, Key::new(1, 2));
    /// let Outcome::Issued { block, .. } = machine.reserve(0, Window::OPEN, &[], 1_704_067_200_001, 1, false) else { unreachable!() };
    /// assert_eq!(block.first() & 0xfff, 740); // below 1024, and another number in every tick
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn starting(mut self, start: SequenceStart, key: Key) -> Self {
        self.start = match start {
            SequenceStart::Zero => None,
            start => Some((start, key)),
        };
        self
    }

    /// Whether no key decides where sequences start.
    #[cfg(feature = "abi")]
    pub(crate) const fn starts_at_zero(&self) -> bool {
        self.start.is_none()
    }

    /// Decides which IDs may be issued for the state `word` with the clock ids `clocks` when the clock shows `now_ms`: up to `want`, at
    /// least one, as far as the lead and the window allow.
    ///
    /// Without a clock field a block may span many ticks. With one, a block has one tick and one clock id.
    ///
    /// ```
    /// use frazil::{Code, Layout, Node};
    /// use frazil::mint::{Machine, Outcome, Window};
    /// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
    /// let at_100 = (100 << 12) | 5; // five IDs of tick 100 are issued
    /// let back_to_80 = machine.reserve(at_100, Window::OPEN, &[], 1_704_067_200_080, 1, true);
    /// assert_eq!(back_to_80, Outcome::Stalled { retry_at_ms: 1_704_067_200_090, cause: Code::ClockBackward });
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn reserve(
        &self,
        word: u64,
        window: Window,
        clocks: &(impl ClockIds + ?Sized),
        now_ms: u64,
        want: usize,
        confirmed: bool,
    ) -> Outcome {
        match self.decide(word, window, clocks, now_ms, want) {
            // An old reading of the clock cannot make a window look ended, so this needs no recheck.
            outcome @ (Outcome::Issued { switched: false, .. } | Outcome::Expired { .. }) => outcome,
            _ if !confirmed => Outcome::Recheck,
            outcome => outcome,
        }
    }

    #[inline(never)] // one copy in the module instead of one for each caller
    pub(crate) fn decide(
        &self,
        word: u64,
        window: Window,
        clocks: &(impl ClockIds + ?Sized),
        now_ms: u64,
        want: usize,
    ) -> Outcome {
        let g = &self.geometry;
        let low = g.low_bits();
        if now_ms < g.epoch_ms {
            return Outcome::Refused(Error::new(Code::ClockBeforeEpoch));
        }
        let elapsed_ms = now_ms - g.epoch_ms;
        let wall = elapsed_ms / g.tick_ms;
        let last = g.time.max();
        // This machine makes no word beyond the last tick; such a word is treated like `EXHAUSTED`.
        if wall > last || word == EXHAUSTED || word >> low > last {
            return Outcome::Refused(Error::new(Code::TimeExhausted));
        }
        // Comparing times instead of ticks takes no division.
        if g.tick_start_ms(wall) < window.from_ms {
            let from_ms = self.tick_from(window.from_ms);
            // The wait ends at the first time from then on at which the same call would succeed; it may never end.
            return match self.decide(word, window, clocks, from_ms, want) {
                Outcome::Issued { .. } | Outcome::Expired { .. } => {
                    Outcome::Stalled { retry_at_ms: from_ms, cause: Code::ClockBackward }
                }
                Outcome::Stalled { retry_at_ms, .. } => Outcome::Stalled { retry_at_ms, cause: Code::ClockBackward },
                refused => refused,
            };
        }
        // The clock and the lead are each below 2^64, but their sum may not be.
        let reach = (elapsed_ms.saturating_add(self.max_lead_ms) / g.tick_ms).min(last);
        let state = StateView { geometry: g, word, clocks };
        let next_tick = state.next_tick();
        let mut switched = false;
        let first = if wall >= next_tick {
            let Some(pair) = state.lowest_free(wall, 0) else { return self.stalled_back(&state) };
            self.first_position(pair)
        } else if next_tick - 1 > reach {
            let Some(pair) = state.lowest_free(wall, 0) else { return self.stalled_back(&state) };
            switched = true;
            self.first_position(pair)
        } else if !state.is_full() {
            word
        } else if let Some(pair) = state.higher_free() {
            pair << g.sequence.bits
        } else if next_tick <= reach
            && let Some(pair) = state.lowest_free(next_tick, 0)
        {
            pair << g.sequence.bits
        } else {
            return self.stalled_until(next_tick, Code::SequenceExhausted);
        };
        let due_ms = self.tick_end_ms(first >> low);
        if due_ms > window.until_ms {
            return Outcome::Expired { until_ms: due_ms };
        }
        let reach = if self.tick_end_ms(reach) <= window.until_ms {
            reach
        } else {
            // The tick that is due ends within the window, so at least one does, and the subtraction cannot underflow.
            (window.until_ms - g.epoch_ms) / g.tick_ms - 1
        };
        // One past the last position. A layout with 64 count bits ends at all ones, which marks a used-up state, so its very
        // last ID is never issued.
        let limit = if last == EXHAUSTED >> low { EXHAUSTED } else { (last + 1) << low };
        let end = if g.clock.bits > 0 {
            (first | g.sequence.max()).checked_add(1).unwrap_or(limit).min(limit)
        } else if reach == last {
            limit
        } else {
            (reach + 1) << low
        };
        let len = (want as u64).max(1).min(end - first);
        let next = first + len;
        let pair = (next - 1) >> g.sequence.bits;
        let leaves = state.pair().filter(|left| state.clock(*left) != state.clock(pair));
        let len = usize::try_from(len).unwrap_or(want);
        Outcome::Issued {
            word: if next == limit { EXHAUSTED } else { next },
            block: Block { geometry: self.geometry, node: self.node, first, len, rotation_key: self.rotation_key() },
            leaves: leaves.map(|left| (usize::try_from(state.clock(left)).unwrap_or(usize::MAX), next_tick)),
            lead_ms: g.tick_start_ms(pair >> g.clock.bits).saturating_sub(now_ms),
            switched,
        }
    }

    /// The fast path to the IDs of this machine: see [`FastPath`].
    #[must_use]
    pub const fn fast_path(&self) -> FastPath {
        FastPath::new(&self.geometry, self.node)
    }

    /// The first word of the fast path after [`Machine::reserve`] changed the word to `word`, valid as long as the start of the window is
    /// unchanged; `None` if the sequence wraps.
    ///
    /// ```
    /// # use frazil::{Layout, Node};
    /// # use frazil::mint::Machine;
    /// # let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
    /// assert_eq!(machine.fast_path_from((100 << 12) | 5), Some((100 << 12) | 1));
    /// assert_eq!(machine.fast_path_from(101 << 12), Some((100 << 12) | 1)); // the last ID is of tick 100
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn fast_path_from(&self, word: u64) -> Option<u64> {
        let wraps = matches!(self.start, Some((SequenceStart::Wrap, _)));
        word.checked_sub(1).filter(|_| !wraps && word != EXHAUSTED).map(|last| self.fast_path().from(last))
    }

    /// The first position of a tick and clock id that was reached because the clock moved, not because a sequence was full.
    fn first_position(&self, pair: u64) -> u64 {
        let sequence = self.geometry.sequence;
        let offset = match self.start {
            // The lowest quarter, so that at least three quarters are left: two bits fewer than the sequence has, and 0 for a
            // sequence of one or two bits.
            Some((SequenceStart::Random, key)) => key.hash(pair) & (sequence.max() >> 2),
            _ => 0,
        };
        (pair << sequence.bits) | offset
    }

    const fn rotation_key(&self) -> Option<Key> {
        match self.start {
            Some((SequenceStart::Wrap, key)) => Some(key),
            _ => None,
        }
    }

    /// Stalled until a tick comes within the lead. Refused if the layout has no such tick.
    fn stalled_until(&self, tick: u64, cause: Code) -> Outcome {
        if tick > self.geometry.time.max() {
            return Outcome::Refused(Error::new(Code::TimeExhausted));
        }
        Outcome::Stalled { retry_at_ms: self.first_ms_within_lead(tick), cause }
    }

    /// Stalled because no clock id is free at the clock's tick. The stall ends when another clock id is free, or when the current tick is
    /// within the lead again. If that tick has no ID and no higher clock id left, the next tick must be within the lead.
    fn stalled_back(&self, state: &StateView<'_, impl ClockIds + ?Sized>) -> Outcome {
        let freed = state.next_freed().filter(|tick| *tick <= self.geometry.time.max());
        let freed_ms = freed.map(|tick| self.geometry.tick_start_ms(tick));
        let stalled = |retry_at_ms| Outcome::Stalled { retry_at_ms, cause: Code::ClockBackward };
        let Some(current) = state.next_tick().checked_sub(1) else {
            return freed_ms.map_or(Outcome::Refused(Error::new(Code::TimeExhausted)), stalled);
        };
        // Once the current tick is within the lead, rules 3 and 4 apply to it again, and it may be full.
        if let Some(freed_ms) = freed_ms.filter(|freed_ms| *freed_ms < self.first_ms_within_lead(current)) {
            return stalled(freed_ms);
        }
        let spent = state.is_full() && state.higher_free().is_none();
        self.stalled_until(current + u64::from(spent), Code::ClockBackward)
    }

    /// The number of clock ids in the layout: 0 without a clock field.
    #[must_use]
    pub const fn clock_ids(&self) -> usize {
        self.geometry.clock_ids()
    }

    /// The most the machine may run ahead of the clock, in milliseconds.
    #[must_use]
    pub const fn max_lead_ms(&self) -> u64 {
        self.max_lead_ms
    }

    /// The node id as one number; 0 in a layout without a node field.
    #[must_use]
    pub fn node(&self) -> u64 {
        self.geometry.gather_node(self.node)
    }

    /// The most IDs that a call can get within `wait_ms`: those of every tick that the clock can reach in that time, and those of the lead.
    ///
    /// ```
    /// use frazil::{Layout, Node};
    /// use frazil::mint::Machine;
    /// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
    /// assert_eq!(machine.max_count(10), 21 * 4096); // this tick, 10 more of waiting, 10 of lead
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn max_count(&self, wait_ms: u64) -> u64 {
        let g = &self.geometry;
        let span_ms = wait_ms.saturating_add(self.max_lead_ms).saturating_add(g.tick_ms.get() - 1);
        let ticks = (span_ms / g.tick_ms).saturating_add(1);
        let fits = ticks.leading_zeros() >= g.low_bits();
        if fits { ticks << g.low_bits() } else { u64::MAX }
    }

    /// The largest block worth reserving ahead of use: a quarter of a tick's sequence, at most 4096.
    #[must_use]
    pub const fn max_block(&self) -> usize {
        match self.geometry.sequence.bits {
            0..=2 => 1,
            bits @ 3..=13 => 1 << (bits - 2),
            _ => 4096,
        }
    }
}
