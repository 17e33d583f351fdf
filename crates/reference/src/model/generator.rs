//! The generator: which ID comes next, given the time that the clock shows, or why there is none.

use std::collections::{BTreeMap, HashSet};

use super::errors::{CLOCK_BACKWARD, CLOCK_BEFORE_EPOCH, SEQUENCE_EXHAUSTED, TIME_EXHAUSTED};
use super::layout::{Kind, Layout};

/// The first sequence number of a tick that the generator enters because the clock shows it. A tick or clock id that it enters
/// because the one before is full starts at 0, and with `Wrap` at its own hash. The two numbers are the key of the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SequenceStart {
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
struct Position {
    tick: u128,
    clock: u128,
    index: u128,
}

/// A generator with a state of its own.
pub(crate) struct Generator<'a> {
    layout: &'a Layout,
    node: u128,
    max_lead_ms: u128,
    /// Before this time nothing is issued.
    earliest_ms: u128,
    sequence_start: SequenceStart,
    last: Option<Position>,
    /// The last tick issued, by clock id.
    last_ticks: BTreeMap<u128, u128>,
    issued: HashSet<u128>,
}

impl<'a> Generator<'a> {
    pub(crate) fn new(
        layout: &'a Layout,
        node: u128,
        max_lead_ms: u128,
        start_ms: Option<u128>,
        sequence_start: SequenceStart,
    ) -> Self {
        // A previous process with this node id can have issued up to its lead beyond the start of this one, and the tick
        // that contains that time is not known to be unused.
        let earliest_ms = start_ms.map_or(0, |start_ms| {
            let reached_ms = start_ms + max_lead_ms;
            if reached_ms < layout.epoch_ms { 0 } else { layout.start_ms((reached_ms - layout.epoch_ms) / layout.tick_ms + 1) }
        });
        let (last, last_ticks, issued) = (None, BTreeMap::new(), HashSet::new());
        Self { layout, node, max_lead_ms, earliest_ms, sequence_start, last, last_ticks, issued }
    }

    /// Issues up to `count` IDs. If there is a clock field, they all have one tick and one clock id. Refuses if there is not
    /// one ID. `confirmed` says that this is the second reading of the clock for one call: only then is a refusal final, and
    /// only then does the generator follow the clock back.
    pub(crate) fn reserve(&mut self, now_ms: u128, count: usize, confirmed: bool) -> Result<Vec<u128>, Refusal> {
        let mut ids = Vec::new();
        while ids.len() < count {
            match self.next(now_ms) {
                Ok((position, switched)) => {
                    let pair = |position: &Position| (position.tick, position.clock);
                    let is_new_pair = self.last.as_ref().map(pair) != Some(pair(&position));
                    if !ids.is_empty() && is_new_pair && self.layout.has(Kind::Clock) {
                        break;
                    }
                    if switched && !confirmed {
                        return Err(Refusal::Recheck);
                    }
                    let Position { tick, clock, .. } = position;
                    let id = self.layout.compose(tick, self.node, clock, self.sequence(position));
                    assert!(self.issued.insert(id), "the model repeats {id}");
                    let previous = self.last_ticks.insert(clock, tick);
                    assert!(
                        previous.is_none_or(|previous| previous <= tick),
                        "the model takes clock id {clock} back from tick {tick}"
                    );
                    self.last = Some(position);
                    ids.push(id);
                }
                Err(_) if ids.is_empty() && !confirmed => return Err(Refusal::Recheck),
                Err(code) if ids.is_empty() => return Err(Refusal::Code(code)),
                Err(_) => break,
            }
        }
        Ok(ids)
    }

    /// The sequence number of a position.
    fn sequence(&self, position: Position) -> u128 {
        match self.sequence_start {
            SequenceStart::Wrap(key) => (position.index + self.hash(key, position)) % self.layout.count(Kind::Sequence),
            SequenceStart::Zero | SequenceStart::Random(_) => position.index,
        }
    }

    fn hash(&self, key: [u64; 2], Position { tick, clock, .. }: Position) -> u128 {
        sip_hash(key, tick * self.layout.count(Kind::Clock) + clock)
    }

    /// The first position of a tick that the generator enters because the clock shows it.
    fn first_position(&self, tick: u128, clock: u128) -> Position {
        let position = Position { tick, clock, index: 0 };
        match self.sequence_start {
            SequenceStart::Random(key) => {
                let quarter = (self.layout.count(Kind::Sequence) / 4).max(1);
                Position { index: self.hash(key, position) % quarter, ..position }
            }
            SequenceStart::Zero | SequenceStart::Wrap(_) => position,
        }
    }

    /// The lowest clock id, from `lowest` on, that has not been used at this tick or a later one.
    fn lowest_free_clock(&self, tick: u128, lowest: u128) -> Option<u128> {
        let clocks = lowest..self.layout.count(Kind::Clock);
        clocks.into_iter().find(|clock| self.last_ticks.get(clock).is_none_or(|last| *last < tick))
    }

    /// The next position, and whether the generator follows the clock back to it; or the code of the refusal.
    fn next(&self, now_ms: u128) -> Result<(Position, bool), &'static str> {
        let layout = self.layout;
        if now_ms < layout.epoch_ms {
            return Err(CLOCK_BEFORE_EPOCH);
        }
        let wall_tick = (now_ms - layout.epoch_ms) / layout.tick_ms;
        if wall_tick > layout.last_tick() || self.is_used_up() {
            return Err(TIME_EXHAUSTED);
        }
        if now_ms < self.earliest_ms {
            let never = self.earliest_ms >= layout.start_ms(layout.last_tick() + 1);
            return Err(if never { TIME_EXHAUSTED } else { CLOCK_BACKWARD });
        }
        let is_within_lead = |tick| layout.start_ms(tick) <= now_ms + self.max_lead_ms;
        let Some(last) = self.last.filter(|last| last.tick >= wall_tick) else {
            return self
                .lowest_free_clock(wall_tick, 0)
                .map(|clock| (self.first_position(wall_tick, clock), false))
                .ok_or(CLOCK_BACKWARD);
        };
        if !is_within_lead(last.tick) {
            return self
                .lowest_free_clock(wall_tick, 0)
                .map(|clock| (self.first_position(wall_tick, clock), true))
                .ok_or(CLOCK_BACKWARD);
        }
        if last.index + 1 < layout.count(Kind::Sequence) {
            return Ok((Position { index: last.index + 1, ..last }, false));
        }
        if let Some(clock) = self.lowest_free_clock(last.tick, last.clock + 1) {
            return Ok((Position { tick: last.tick, clock, index: 0 }, false));
        }
        let tick = last.tick + 1;
        if tick > layout.last_tick() {
            return Err(TIME_EXHAUSTED);
        }
        self.lowest_free_clock(tick, 0)
            .filter(|_| is_within_lead(tick))
            .map(|clock| (Position { tick, clock, index: 0 }, false))
            .ok_or(SEQUENCE_EXHAUSTED)
    }

    /// Whether the last ID of the last tick has been issued.
    fn is_used_up(&self) -> bool {
        let Some(Position { tick, clock, index }) = self.last else { return false };
        // If time, clock and sequence fill all 64 bits, the ID in which every bit is 1 is never issued.
        let has_all_ones = self.layout.count(Kind::Time) * self.layout.ids_per_tick() == 1 << 64;
        let index_in_tick = clock * self.layout.count(Kind::Sequence) + index;
        tick == self.layout.last_tick() && index_in_tick + 1 + u128::from(has_all_ones) == self.layout.ids_per_tick()
    }

    /// How long until the same call can first succeed or is refused for another reason; `None` if waiting does not end the
    /// refusal. Found by trying every time at which the answer can change.
    pub(crate) fn retry_after_ms(&self, now_ms: u128) -> Option<u128> {
        let stalled = |at_ms| matches!(self.next(at_ms), Err(CLOCK_BACKWARD | SEQUENCE_EXHAUSTED));
        if !stalled(now_ms) {
            return None;
        }
        let layout = self.layout;
        let ticks = self.last_ticks.values().chain(self.last.as_ref().map(|last| &last.tick));
        let starts_ms = ticks.flat_map(|tick| [*tick, tick + 1]).map(|tick| layout.start_ms(tick));
        let mut moments_ms: Vec<u128> = starts_ms.flat_map(|ms| [ms, ms.saturating_sub(self.max_lead_ms)]).collect();
        moments_ms.push(self.earliest_ms);
        moments_ms.sort_unstable();
        let retry_at_ms = moments_ms.into_iter().find(|at_ms| *at_ms > now_ms && !stalled(*at_ms));
        let after_ms = retry_at_ms.map(|at_ms| at_ms - now_ms);
        assert!(
            after_ms.is_some_and(|after_ms| stalled(now_ms + after_ms - 1)),
            "the model finds no end of its stall at {now_ms}"
        );
        after_ms
    }
}

/// Why nothing is issued: the clock has to be read once more, or the code of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Recheck,
    Code(&'static str),
}
