//! The rules of minting: which ID comes next, given what was issued and the time that the clock shows, or why there is none.

use super::errors::{CLOCK_BACKWARD, CLOCK_BEFORE_EPOCH, SEQUENCE_EXHAUSTED, TIME_EXHAUSTED};
use super::layout::{Kind, Layout};

/// The first sequence number of a tick that is entered because the clock shows it. A tick or clock id that is entered because
/// the one before is full starts at 0, and with `Wrap` at its own hash. The two numbers are the key of the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceStart {
    /// 0.
    Zero,
    /// A keyed hash of tick and clock id, in the lowest quarter of the sequence; the numbers below it are left out.
    Random([u64; 2]),
    /// A keyed hash of tick and clock id; after the largest number the sequence continues at 0.
    Wrap([u64; 2]),
}

/// SipHash-2-4 as the standard library implements it; the core uses another implementation.
#[expect(deprecated, reason = "deprecated as a hasher for maps; it is the one keyed SipHash that std still offers")]
fn sip_hash([k0, k1]: [u64; 2], number: u128) -> u128 {
    use std::hash::{Hasher, SipHasher};
    let mut hasher = SipHasher::new_with_keys(k0, k1);
    hasher.write(&u64::try_from(number).unwrap_or(u64::MAX).to_le_bytes());
    u128::from(hasher.finish())
}

/// A tick, a clock id, and the index of an ID within these two, from 0. The index is the sequence number, except with
/// `SequenceStart::Wrap`, which rotates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the sentence above names them in their order")]
pub struct Position {
    pub tick: u128,
    pub clock: u128,
    pub index: u128,
}

impl Position {
    /// The tick and the clock id.
    #[must_use]
    pub const fn pair(self) -> (u128, u128) {
        (self.tick, self.clock)
    }
}

/// The times that may be issued: a tick may be used only if all of it lies from `from_ms` to before `until_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the sentence above names them")]
pub struct Window {
    pub from_ms: u128,
    pub until_ms: u128,
}

/// What was issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The last position.
    pub last: Option<Position>,
    /// By clock id: the tick after the last one that it was used for, or 0.
    pub free_from: Vec<u128>,
}

impl State {
    /// Notes that a position was issued.
    pub fn issue(&mut self, position: Position) {
        self.last = Some(position);
        for (free_from, clock) in self.free_from.iter_mut().zip(0..) {
            if clock == position.clock {
                *free_from = position.tick + 1;
            }
        }
    }

    /// The lowest clock id, from `lowest` on, that was not used for this tick or a later one.
    fn lowest_free_clock(&self, tick: u128, lowest: u128) -> Option<u128> {
        let clocks = self.free_from.iter().zip(0..).filter(|(_, clock)| *clock >= lowest);
        clocks.into_iter().find(|(free_from, _)| **free_from <= tick).map(|(_, clock)| clock)
    }
}

/// What a call for one ID gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The ID of this position.
    Issued {
        /// Where it is.
        position: Position,
        /// Whether the clock is followed back to it, which needs a second reading of the clock.
        follows_back: bool,
    },
    /// Nothing before the window ends at this time or later.
    Expired {
        /// The end of the tick that would be used.
        until_ms: u128,
    },
    /// Nothing now, for the reason of this code; see [`Rules::retry_at_ms`].
    Stalled(&'static str),
    /// Nothing however long the call waits.
    Refused(&'static str),
}

/// The rules for one layout, node id, lead and start of the sequence.
#[derive(Clone, Debug)]
pub struct Rules {
    layout: Layout,
    max_lead_ms: u128,
    sequence_start: SequenceStart,
    ticks: u128,
    clocks: u128,
    sequences: u128,
    /// The ID in which all but the node id is 0; and by how much the next tick, clock id and sequence number raise an ID.
    lowest_id: u128,
    units: [u128; 3],
}

impl Rules {
    /// The rules, for times that run ahead of the clock by no more than a lead.
    #[must_use]
    pub fn new(layout: &Layout, node: u128, max_lead_ms: u128, sequence_start: SequenceStart) -> Self {
        let count = |kind| layout.count(kind);
        Self {
            max_lead_ms,
            sequence_start,
            ticks: count(Kind::Time),
            clocks: count(Kind::Clock),
            sequences: count(Kind::Sequence),
            lowest_id: layout.compose(0, node, 0, 0),
            units: [Kind::Time, Kind::Clock, Kind::Sequence].map(|kind| layout.unit(kind)),
            layout: layout.clone(),
        }
    }

    /// The layout.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// A state in which nothing was issued.
    #[must_use]
    pub fn unused(&self) -> State {
        State { last: None, free_from: (0..self.clocks).map(|_| 0).collect() }
    }

    fn hash(&self, key: [u64; 2], Position { tick, clock, .. }: Position) -> u128 {
        sip_hash(key, tick * self.clocks + clock)
    }

    /// The ID at a position.
    #[must_use]
    pub fn id(&self, position: Position) -> u128 {
        let Position { tick, clock, index } = position;
        let sequence = match self.sequence_start {
            SequenceStart::Wrap(key) => (index + self.hash(key, position)) % self.sequences,
            SequenceStart::Zero | SequenceStart::Random(_) => index,
        };
        let [tick_unit, clock_unit, sequence_unit] = self.units;
        self.lowest_id + tick * tick_unit + clock * clock_unit + sequence * sequence_unit
    }

    /// The number of positions up to this one, of those that the layout has.
    #[must_use]
    pub const fn positions_to(&self, Position { tick, clock, index }: Position) -> u128 {
        (tick * self.clocks + clock) * self.sequences + index + 1
    }

    /// Whether a position is the last one, or one that the layout does not have.
    #[must_use]
    pub const fn is_last(&self, position: Position) -> bool {
        let all = self.ticks * self.clocks * self.sequences;
        // If time, clock and sequence fill all 64 bits, the ID in which every bit is 1 is never issued.
        let all_ones = if all == 1 << 64 { 1 } else { 0 };
        self.positions_to(position) + all_ones >= all
    }

    /// The first position of a tick that is entered because the clock shows it.
    fn first_position(&self, tick: u128, clock: u128) -> Position {
        let position = Position { tick, clock, index: 0 };
        match self.sequence_start {
            SequenceStart::Random(key) => Position { index: self.hash(key, position) % (self.sequences / 4).max(1), ..position },
            SequenceStart::Zero | SequenceStart::Wrap(_) => position,
        }
    }

    /// What a call for one ID gets when the clock shows `now_ms`.
    #[must_use]
    pub fn answer(&self, state: &State, window: Window, now_ms: u128) -> Answer {
        let layout = &self.layout;
        if now_ms < layout.epoch_ms {
            return Answer::Refused(CLOCK_BEFORE_EPOCH);
        }
        let wall_tick = (now_ms - layout.epoch_ms) / layout.tick_ms;
        if wall_tick >= self.ticks || state.last.is_some_and(|last| self.is_last(last)) {
            return Answer::Refused(TIME_EXHAUSTED);
        }
        if layout.start_ms(wall_tick) < window.from_ms {
            return Answer::Stalled(CLOCK_BACKWARD);
        }
        match self.next(state, now_ms, wall_tick) {
            Answer::Issued { position, .. } if layout.start_ms(position.tick + 1) > window.until_ms => {
                Answer::Expired { until_ms: layout.start_ms(position.tick + 1) }
            }
            answer => answer,
        }
    }

    fn next(&self, state: &State, now_ms: u128, wall_tick: u128) -> Answer {
        let is_within_lead = |tick| self.layout.start_ms(tick) <= now_ms + self.max_lead_ms;
        let at_wall_tick = |follows_back| match state.lowest_free_clock(wall_tick, 0) {
            Some(clock) => Answer::Issued { position: self.first_position(wall_tick, clock), follows_back },
            None => Answer::Stalled(CLOCK_BACKWARD),
        };
        let at = |tick, clock, index| Answer::Issued { position: Position { tick, clock, index }, follows_back: false };
        let Some(Position { tick, clock, index }) = state.last.filter(|last| last.tick >= wall_tick) else {
            return at_wall_tick(false);
        };
        if !is_within_lead(tick) {
            return at_wall_tick(true);
        }
        if index + 1 < self.sequences {
            return at(tick, clock, index + 1);
        }
        if let Some(clock) = state.lowest_free_clock(tick, clock + 1) {
            return at(tick, clock, 0);
        }
        if tick + 1 == self.ticks {
            return Answer::Refused(TIME_EXHAUSTED);
        }
        match state.lowest_free_clock(tick + 1, 0).filter(|_| is_within_lead(tick + 1)) {
            Some(clock) => at(tick + 1, clock, 0),
            None => Answer::Stalled(SEQUENCE_EXHAUSTED),
        }
    }

    /// The positions that a call for `most` IDs gets: none if a call for one ID gets none. If the layout has a clock field, all
    /// have one tick and one clock id.
    #[must_use]
    pub fn block(&self, state: &State, window: Window, now_ms: u128, most: usize) -> Vec<Position> {
        let (mut state, mut block) = (state.clone(), Vec::new());
        while let Answer::Issued { position, .. } = self.answer(&state, window, now_ms) {
            let is_new_pair = block.first().is_some_and(|first: &Position| first.pair() != position.pair());
            if block.len() == most || (is_new_pair && self.layout.has(Kind::Clock)) {
                break;
            }
            state.issue(position);
            block.push(position);
        }
        block
    }

    /// When a stalled call can first get an ID or would find the window too short; `None` if that never comes. Found by trying
    /// every time at which the answer can change.
    ///
    /// # Panics
    /// If the call would also succeed a millisecond before.
    #[must_use]
    pub fn retry_at_ms(&self, state: &State, window: Window, now_ms: u128) -> Option<u128> {
        let layout = &self.layout;
        let ticks = state.free_from.iter().copied().chain(state.last.iter().flat_map(|last| [last.tick, last.tick + 1]));
        let starts_ms = ticks.map(|tick| layout.start_ms(tick));
        let first_tick = window.from_ms.saturating_sub(layout.epoch_ms).div_ceil(layout.tick_ms);
        let mut moments_ms: Vec<u128> = starts_ms.flat_map(|ms| [ms, ms.saturating_sub(self.max_lead_ms)]).collect();
        moments_ms.push(layout.start_ms(first_tick));
        moments_ms.sort_unstable();
        let ends = |at_ms: &u128| matches!(self.answer(state, window, *at_ms), Answer::Issued { .. } | Answer::Expired { .. });
        let retry_at_ms = moments_ms.into_iter().filter(|at_ms| *at_ms > now_ms).find(ends)?;
        assert!(!ends(&(retry_at_ms - 1)), "the model finds no end of its stall at {now_ms}");
        Some(retry_at_ms)
    }
}
