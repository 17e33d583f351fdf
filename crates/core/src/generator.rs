//! Minting: one pure machine that answers "which IDs may be issued now".
//!
//! # State
//! The state is one 64-bit word, the *next* ID to issue as a count `[tick | clock | sequence]`, node left out. Adding one
//! carries from the sequence into the clock id and from there into the tick, so a full sequence flows on by itself: into
//! the next clock id (*clock id reuse*), then into the next tick (*borrowing the future*). The word only grows, and it
//! moves past every ID before that ID is handed out; so an ID would have to be issued twice for a word to recur. All
//! ones means that the time field is used up.
//!
//! # The cascade
//! **Lead** is how far the start of the current tick lies ahead of the clock: because the clock went back, or because a
//! full sequence pushed the tick on. Both are the same to the machine:
//!
//! 1. The clock is past the current tick: move to the clock's tick, sequence 0.
//! 2. The lead is over `max_lead_ms`: stalled, `CLOCK_BACKWARD`.
//! 3. Sequence numbers are left: issue. (A small step back is simply lead.)
//! 4. The sequence is full: the next tick if its lead stays within `max_lead_ms`; else stalled, `SEQUENCE_EXHAUSTED`.
//!
//! * **Pure**: no I/O, no allocation, no clock, no waiting; [`Machine::reserve`] is a function of its arguments.
//! * **Bounded**: no loop over time, and a refusal says when the call can first succeed.
//! * **Inert on refusal**: the word does not change.
//! * **Sceptical**: the first refusal is only [`Outcome::Recheck`], so that a thread that was paused between reading the
//!   clock and minting is not taken for a clock that went back.
//!
//! It does not share: see [`crate::Generator`]. It does not wait: the host does, if it can.
//!
//! Sources: Twitter's Snowflake (refuse), Baidu UidGenerator and Seata (borrow), Sonyflake (historical time), the
//! multi-clock snowflake (clock ids); `docs/design.md` says why one mechanism covers them.

use crate::error::{Code, Error, Result};
use crate::layout::{Geometry, Layout};

/// The word of a state that has issued everything its time field can hold.
pub(crate) const EXHAUSTED: u64 = u64::MAX;

/// What one reservation gives: IDs next to each other in the count.
///
/// ```
/// use frazil::{Code, Layout, Machine, Node, Outcome};
/// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
/// let Outcome::Issued { block, .. } = machine.reserve(0, 0, 1_704_067_200_001, 2, false) else { unreachable!() };
/// assert_eq!((block.first(), block.len()), ((1 << 22) | (7 << 12), 2));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    geometry: Geometry,
    node: u64,
    first: u64,
    len: usize,
}

impl Block {
    /// The first ID.
    ///
    /// ```
    /// # use frazil::{Layout, Machine, Node, Outcome};
    /// # let machine = Machine::new(&Layout::named("mastodon")?, Node::None, 10)?;
    /// let Outcome::Issued { block, .. } = machine.reserve(0, 0, 5, 1, false) else { unreachable!() };
    /// assert_eq!(block.first(), 5 << 16);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn first(&self) -> u64 {
        self.node | self.geometry.spread(self.first)
    }

    /// How many IDs the block has; at least 1.
    ///
    /// ```
    /// # use frazil::{Layout, Machine, Node, Outcome};
    /// # let machine = Machine::new(&Layout::named("mastodon")?, Node::None, 0)?;
    /// let Outcome::Issued { block, .. } = machine.reserve(0, 0, 5, 100_000, false) else { unreachable!() };
    /// assert_eq!(block.len(), 65_536); // one tick's worth: no lead is allowed here
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a block is never empty")]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Writes as many IDs of the block as `out` has room for, in increasing order of the count.
    ///
    /// ```
    /// # use frazil::{Layout, Machine, Node, Outcome};
    /// # let machine = Machine::new(&Layout::named("mastodon")?, Node::None, 10)?;
    /// let Outcome::Issued { block, .. } = machine.reserve(0, 0, 5, 3, false) else { unreachable!() };
    /// let mut ids = [0; 3];
    /// block.write(&mut ids);
    /// assert_eq!(ids, [(5 << 16), (5 << 16) + 1, (5 << 16) + 2]);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn write(&self, out: &mut [u64]) {
        let g = &self.geometry;
        let step = 1 << g.sequence.shift;
        let sequence_mask = g.sequence.max();
        let count = self.len.min(out.len());
        let (mut word, mut rest) = (self.first, &mut out[..count]);
        while !rest.is_empty() {
            // Within one sequence run the IDs are an arithmetic progression: one prefix, then additions.
            let run = sequence_mask - (word & sequence_mask) + 1;
            let (now, later) = rest.split_at_mut(usize::try_from(run).unwrap_or(usize::MAX).min(rest.len()));
            let mut id = self.node | g.spread(word);
            for slot in &mut *now {
                *slot = id;
                id = id.wrapping_add(step);
            }
            word = word.wrapping_add(now.len() as u64);
            rest = later;
        }
    }
}

/// What [`Machine::reserve`] answers.
///
/// ```
/// use frazil::{Code, Layout, Machine, Node, Outcome};
/// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
/// let refused = machine.reserve(0, 0, 0, 1, true);
/// assert!(matches!(refused, Outcome::Refused(error) if error.code() == Code::ClockBeforeEpoch));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// IDs to issue, once `word` is the state.
    Issued {
        /// The state after the reservation.
        word: u64,
        /// The IDs.
        block: Block,
    },
    /// The clock as given allows nothing. Read it once more and ask again, `confirmed`.
    Recheck,
    /// Nothing can be issued before `retry_at_ms`.
    Stalled {
        /// The first Unix millisecond at which the same call would succeed.
        retry_at_ms: u64,
        /// `CLOCK_BACKWARD` or `SEQUENCE_EXHAUSTED`.
        cause: Code,
    },
    /// Nothing can be issued, and waiting alone does not help.
    Refused(Error),
}

/// The rules of minting for one layout, node id and lead: pure, and the same for every way of sharing the state.
///
/// This type is:
///
/// * **Deterministic**: no clock, no entropy; tests and vectors drive it with scripted time.
/// * **Small**: under 100 bytes, `Copy`, no allocation.
///
/// Use [`crate::Generator`] to mint. Use this to put the state somewhere that `Generator` does not know.
///
/// ```
/// use frazil::{Layout, Machine, Node, Outcome};
/// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
/// let mut word = 0;
/// let mut ids = Vec::new();
/// for _ in 0..2 {
///     let Outcome::Issued { word: next, block } = machine.reserve(word, 0, 1_704_067_200_001, 1, false) else { unreachable!() };
///     word = next;
///     ids.push(block.first());
/// }
/// assert_eq!(ids, [4_222_976, 4_222_977]);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    pub(crate) geometry: Geometry,
    /// The node id in its place.
    pub(crate) node: u64,
    pub(crate) max_lead_ms: u64,
}

impl Machine {
    /// The machine of a layout and a node id that may run `max_lead_ms` ahead of the clock.
    ///
    /// # Errors
    /// `INVALID_NODE` as [`Layout::join_node`].
    ///
    /// ```
    /// use frazil::{Code, Layout, Machine, Node};
    /// let error = Machine::new(&Layout::named("safe53")?, Node::Id(8), 0).unwrap_err();
    /// assert_eq!(error.code(), Code::InvalidNode);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn new(layout: &Layout, node: crate::Node<'_>, max_lead_ms: u64) -> Result<Self> {
        Ok(Self::placed(layout.geometry, layout.join_node(node)?, max_lead_ms))
    }

    pub(crate) fn placed(geometry: Geometry, node: u32, max_lead_ms: u64) -> Self {
        Self { geometry, node: geometry.scatter_node(u64::from(node)), max_lead_ms }
    }

    /// Answers which IDs may be issued when the state is `word` and the clock shows `now_ms`: `want` of them (at least
    /// one), or as many as the lead allows. Nothing is issued while the clock is before `from_ms`.
    ///
    /// ```
    /// use frazil::{Code, Layout, Machine, Node, Outcome};
    /// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
    /// let at_100 = (100 << 12) | 5; // five IDs of tick 100 are issued
    /// let back_to_80 = machine.reserve(at_100, 0, 1_704_067_200_080, 1, true);
    /// assert_eq!(back_to_80, Outcome::Stalled { retry_at_ms: 1_704_067_200_090, cause: Code::ClockBackward });
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn reserve(&self, word: u64, from_ms: u64, now_ms: u64, want: usize, confirmed: bool) -> Outcome {
        match self.judge(word, from_ms, now_ms, want) {
            Outcome::Stalled { .. } | Outcome::Refused(_) if !confirmed => Outcome::Recheck,
            outcome => outcome,
        }
    }

    fn judge(&self, word: u64, from_ms: u64, now_ms: u64, want: usize) -> Outcome {
        let g = &self.geometry;
        let low = g.low_bits();
        if now_ms < g.epoch_ms {
            return Outcome::Refused(Error::new(Code::ClockBeforeEpoch));
        }
        let elapsed_ms = now_ms - g.epoch_ms;
        let wall = elapsed_ms / g.tick_ms;
        let last = g.time.max();
        // A word beyond the last tick is none that this machine made; it says as much as `EXHAUSTED`.
        if wall > last || word == EXHAUSTED || word >> low > last {
            return Outcome::Refused(Error::new(Code::TimeExhausted));
        }
        if now_ms < from_ms {
            // Waiting for a time beyond the last tick would end in this refusal.
            if (from_ms - g.epoch_ms) / g.tick_ms > last {
                return Outcome::Refused(Error::new(Code::TimeExhausted));
            }
            let retry_at_ms = from_ms.max(g.tick_start_ms(word >> low).saturating_sub(self.max_lead_ms));
            return Outcome::Stalled { retry_at_ms, cause: Code::ClockBackward };
        }
        // `wall` is at most `last`, so both fit their fields and the shift loses nothing.
        let first = word.max(wall << low);
        let tick = first >> low;
        // The clock and the lead are each below 2^64; their sum need not be.
        let reach = (elapsed_ms.saturating_add(self.max_lead_ms) / g.tick_ms).min(last);
        if tick > reach {
            // The word is the next ID, so with nothing issued in its tick the last tick issued is the one before.
            let untouched = first & !(u64::MAX << low) == 0;
            let cause = if untouched && tick - 1 <= reach { Code::SequenceExhausted } else { Code::ClockBackward };
            return Outcome::Stalled { retry_at_ms: g.tick_start_ms(tick).saturating_sub(self.max_lead_ms), cause };
        }
        // One past the last position within reach, in 64 bits: a layout of 64 count bits ends at all ones, which is never
        // issued, and so gives up its very last ID.
        let end = if reach == EXHAUSTED >> low { EXHAUSTED } else { (reach + 1) << low };
        let len = (want as u64).clamp(1, end - first);
        let next = first + len;
        let used_up = reach == last && next == end;
        let len = usize::try_from(len).unwrap_or(want);
        let block = Block { geometry: self.geometry, node: self.node, first, len };
        Outcome::Issued { word: if used_up { EXHAUSTED } else { next }, block }
    }

    /// The Unix milliseconds `[from, until)` of the tick that contains `now_ms`, as long as the clock stays in which a
    /// block may be served.
    pub(crate) fn wall_tick_ms(&self, now_ms: u64) -> (u64, u64) {
        let g = &self.geometry;
        let start_ms = g.tick_start_ms((now_ms - g.epoch_ms) / g.tick_ms);
        (start_ms, start_ms + g.tick_ms.get())
    }

    /// The first millisecond at which nothing that a predecessor can have issued is in the way, when that predecessor read
    /// its clock at `start_ms` at the latest: the start of the first tick beyond its lead.
    pub(crate) fn first_ms_after(&self, start_ms: u64) -> u64 {
        let g = &self.geometry;
        match start_ms.saturating_add(self.max_lead_ms).checked_sub(g.epoch_ms) {
            // May lie beyond the last tick; the clock is refused there anyway.
            Some(elapsed_ms) => (g.epoch_ms + (elapsed_ms - elapsed_ms % g.tick_ms)).saturating_add(g.tick_ms.get()),
            None => 0,
        }
    }

    /// How many IDs a call that may wait `wait_ms` can get at the very most: every tick that the clock can reach in that
    /// time, and those of the lead.
    ///
    /// ```
    /// use frazil::{Layout, Machine, Node};
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
    ///
    /// ```
    /// # use frazil::{Layout, Machine, Node};
    /// assert_eq!(Machine::new(&Layout::named("edge")?, Node::Id(7), 0)?.max_block(), 64);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn max_block(&self) -> usize {
        match self.geometry.sequence.bits {
            0..=2 => 1,
            bits @ 3..=13 => 1 << (bits - 2),
            _ => 4096,
        }
    }
}
