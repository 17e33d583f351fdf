//! The reference model that the vectors come from: slow, plain, and independent of the core.
//!
//! Fields are a list, an ID is taken apart by division, and the generator keeps the tick and the count within the tick as
//! numbers, issues one ID after another, and looks for a free clock id among everything it issued. Nothing here is shared
//! with `crates/core`: the named layouts, the codes and the sentences of the rules are written out again. So an error would
//! have to be made twice to go unseen.

pub(crate) mod errors;
pub(crate) mod text;

use std::collections::{BTreeMap, HashSet};

use errors::{CLOCK_BACKWARD, CLOCK_BEFORE_EPOCH, SEQUENCE_EXHAUSTED, TIME_EXHAUSTED};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Time,
    Node,
    Clock,
    Sequence,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Node => "node",
            Self::Clock => "clock",
            Self::Sequence => "sequence",
        }
    }
}

pub(crate) type Field = (Kind, u32, Option<&'static str>);

pub(crate) const fn time(bits: u32) -> Field {
    (Kind::Time, bits, None)
}
pub(crate) const fn node(bits: u32) -> Field {
    (Kind::Node, bits, None)
}
pub(crate) const fn part(name: &'static str, bits: u32) -> Field {
    (Kind::Node, bits, Some(name))
}
pub(crate) const fn clock(bits: u32) -> Field {
    (Kind::Clock, bits, None)
}
pub(crate) const fn sequence(bits: u32) -> Field {
    (Kind::Sequence, bits, None)
}

/// A layout as a list of fields from the most to the least significant.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) epoch_ms: u128,
    pub(crate) tick_ms: u128,
    pub(crate) unsigned: bool,
    pub(crate) fields: Vec<Field>,
}

/// DESIGN, section 2.
pub(crate) fn named() -> Vec<(&'static str, Layout)> {
    let row = |name, epoch_ms, tick_ms, unsigned, fields: &[Field]| {
        (name, Layout { epoch_ms, tick_ms, unsigned, fields: fields.to_vec() })
    };
    vec![
        row("default", 1_704_067_200_000, 1, false, &[time(41), node(10), sequence(12)]),
        row("twitter", 1_288_834_974_657, 1, false, &[time(41), part("datacenter", 5), part("worker", 5), sequence(12)]),
        row("discord", 1_420_070_400_000, 1, true, &[time(42), part("worker", 5), part("process", 5), sequence(12)]),
        row("instagram", 1_314_220_021_721, 1, true, &[time(41), part("shard", 13), sequence(10)]),
        row("sonyflake", 1_409_529_600_000, 10, false, &[time(39), sequence(8), part("machine", 16)]),
        row("sonyflake2", 1_735_689_600_000, 10, false, &[time(39), sequence(8), part("machine", 16)]),
        row("mastodon", 0, 1, true, &[time(48), sequence(16)]),
        row("baidu", 1_463_673_600_000, 1000, false, &[time(28), part("worker", 22), sequence(13)]),
        row("leaf", 1_288_834_974_657, 1, false, &[time(41), node(10), sequence(12)]),
        row("seata", 1_588_435_200_000, 1, false, &[node(10), time(41), sequence(12)]),
        row("tsid", 1_577_836_800_000, 1, true, &[time(42), node(10), sequence(12)]),
        row("cosid", 1_577_203_200_000, 1, false, &[time(41), node(10), sequence(12)]),
        row("multi-clock", 1_704_067_200_000, 1, false, &[time(41), clock(4), node(8), sequence(10)]),
        row("edge", 1_704_067_200_000, 1, false, &[time(41), node(14), sequence(8)]),
        row("safe53", 1_704_067_200_000, 1, false, &[time(41), node(3), sequence(9)]),
    ]
}

/// The values of an ID, by kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) timestamp_ms: u128,
    pub(crate) node: Option<u128>,
    pub(crate) parts: Vec<(&'static str, u128)>,
    pub(crate) clock: Option<u128>,
    pub(crate) sequence: u128,
}

pub(crate) struct Plan {
    pub(crate) last_ms: u128,
    pub(crate) signed_until_ms: Option<u128>,
    pub(crate) ordered: bool,
    pub(crate) nodes: u128,
    pub(crate) ids_per_tick: u128,
}

impl Layout {
    pub(crate) fn bits(&self) -> u32 {
        self.fields.iter().map(|field| field.1).sum()
    }

    pub(crate) fn max_id(&self) -> u128 {
        (1 << self.bits()) - 1
    }

    /// How many values the fields of a kind can take together; 1 where there is none.
    pub(crate) fn count(&self, kind: Kind) -> u128 {
        self.fields.iter().filter(|field| field.0 == kind).map(|field| 1_u128 << field.1).product()
    }

    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.fields.iter().any(|field| field.0 == kind)
    }

    fn place(&self, kind: Kind) -> Option<usize> {
        self.fields.iter().position(|field| field.0 == kind)
    }

    /// Whether a field of the kind lies above the time field.
    pub(crate) fn above_time(&self, kind: Kind) -> bool {
        self.place(kind) < self.place(Kind::Time) && self.has(kind)
    }

    pub(crate) fn last_tick(&self) -> u128 {
        self.count(Kind::Time) - 1
    }

    pub(crate) fn start_ms(&self, tick: u128) -> u128 {
        self.epoch_ms + tick * self.tick_ms
    }

    /// The last millisecond that an ID can stand for.
    pub(crate) fn end_ms(&self) -> u128 {
        self.start_ms(self.last_tick() + 1) - 1
    }

    /// What the lowest field of a kind is worth: adding it to an ID adds 1 to the kind's value.
    pub(crate) fn unit(&self, kind: Kind) -> u128 {
        self.fields.iter().rev().take_while(|field| field.0 != kind).map(|field| 1_u128 << field.1).product()
    }

    /// The value of each field, in the order of the fields.
    pub(crate) fn values(&self, id: u128) -> Vec<u128> {
        let mut rest = id;
        let mut values: Vec<u128> = Vec::new();
        for field in self.fields.iter().rev() {
            values.insert(0, rest % (1 << field.1));
            rest /= 1 << field.1;
        }
        values
    }

    fn of_values(&self, values: &[u128]) -> u128 {
        self.fields.iter().zip(values).fold(0, |id, (field, value)| id * (1 << field.1) + value)
    }

    /// The ID with the same value in every field.
    pub(crate) fn of_each(&self, value: u128) -> u128 {
        self.of_values(&vec![value; self.fields.len()])
    }

    pub(crate) fn decode(&self, id: u128) -> Decoded {
        let values = self.values(id);
        let fields = || self.fields.iter().zip(&values);
        let of =
            |kind| fields().filter(move |field| field.0.0 == kind).fold(0, |all, (field, value)| all * (1 << field.1) + value);
        Decoded {
            timestamp_ms: self.start_ms(of(Kind::Time)),
            node: self.has(Kind::Node).then(|| of(Kind::Node)),
            parts: fields().filter(|f| f.0.0 == Kind::Node).map(|(field, value)| (field.2.unwrap_or("node"), *value)).collect(),
            clock: self.has(Kind::Clock).then(|| of(Kind::Clock)),
            sequence: of(Kind::Sequence),
        }
    }

    pub(crate) fn compose(&self, tick: u128, node: u128, clock: u128, sequence: u128) -> u128 {
        let mut node = node;
        let mut values: Vec<u128> = Vec::new();
        for field in self.fields.iter().rev() {
            let value = match field.0 {
                Kind::Time => tick,
                Kind::Clock => clock,
                Kind::Sequence => sequence,
                Kind::Node => {
                    let value = node % (1 << field.1);
                    node /= 1 << field.1;
                    value
                }
            };
            values.insert(0, value);
        }
        self.of_values(&values)
    }

    /// The smallest and the largest ID of a tick. The node id counts where it lies above the time.
    pub(crate) fn range(&self, tick: u128, node: u128) -> (u128, u128) {
        let least = self.values(self.compose(tick, node, 0, 0));
        let place = self.place(Kind::Time).unwrap_or_default();
        let fill = |below: fn(u32) -> u128| {
            let filled: Vec<u128> = self
                .fields
                .iter()
                .zip(&least)
                .enumerate()
                .map(|(at, (field, value))| if at > place { below(field.1) } else { *value })
                .collect();
            self.of_values(&filled)
        };
        (fill(|_| 0), fill(|bits| (1 << bits) - 1))
    }

    pub(crate) fn plan(&self) -> Plan {
        let place = |kind| self.place(kind).unwrap_or_default();
        let last_ms = self.start_ms(self.last_tick());
        Plan {
            last_ms,
            signed_until_ms: match (self.bits(), self.fields[0].0) {
                (64, Kind::Time) => Some(self.start_ms(self.count(Kind::Time) / 2 - 1)),
                (64, _) => None,
                _ => Some(last_ms),
            },
            ordered: place(Kind::Time) < place(Kind::Sequence)
                && (!self.has(Kind::Clock)
                    || (place(Kind::Time) < place(Kind::Clock) && place(Kind::Clock) < place(Kind::Sequence))),
            nodes: self.count(Kind::Node),
            ids_per_tick: self.ids_per_tick(),
        }
    }

    pub(crate) fn ids_per_tick(&self) -> u128 {
        self.count(Kind::Clock) * self.count(Kind::Sequence)
    }
}

/// Where the sequence starts in a tick that the clock leads to: DESIGN, section 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Zero,
    Random([u64; 2]),
    Wrap([u64; 2]),
}

/// SipHash-2-4 by the standard library, which has its own implementation.
#[expect(deprecated, reason = "deprecated as a hasher for maps; it is the one keyed SipHash that std still offers")]
fn sip_hash([high, low]: [u64; 2], number: u128) -> u128 {
    use std::hash::{Hasher, SipHasher};
    let mut hasher = SipHasher::new_with_keys(high, low);
    hasher.write(&u64::try_from(number).unwrap_or(u64::MAX).to_le_bytes());
    u128::from(hasher.finish())
}

/// A tick, a clock id, and how many sequence numbers of them are gone: the last one issued is one less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    tick: u128,
    clock: u128,
    at: u128,
}

/// The generator: the last position issued, the last tick of each clock id, and a set of everything issued.
pub(crate) struct Minter<'a> {
    layout: &'a Layout,
    node: u128,
    max_lead_ms: u128,
    from_ms: u128,
    start: Start,
    last: Option<Position>,
    last_ticks: BTreeMap<u128, u128>,
    issued: HashSet<u128>,
}

impl<'a> Minter<'a> {
    pub(crate) fn new(layout: &'a Layout, node: u128, max_lead_ms: u128, start_ms: Option<u128>, start: Start) -> Self {
        // The predecessor of this process may have issued the tick that contains the furthest time it could reach.
        let from_ms = start_ms.map_or(0, |start_ms| {
            let reached_ms = start_ms + max_lead_ms;
            if reached_ms < layout.epoch_ms { 0 } else { layout.start_ms((reached_ms - layout.epoch_ms) / layout.tick_ms + 1) }
        });
        let (last, last_ticks, issued) = (None, BTreeMap::new(), HashSet::new());
        Self { layout, node, max_lead_ms, from_ms, start, last, last_ticks, issued }
    }

    /// Up to `count` IDs, one after another, or why not even one. With a clock field, all of one tick and clock id.
    pub(crate) fn reserve(&mut self, now_ms: u128, count: usize, confirmed: bool) -> Result<Vec<u128>, Refusal> {
        let mut ids = Vec::new();
        while ids.len() < count {
            match self.next(now_ms) {
                Ok((position, switched)) => {
                    let pair = |position: &Position| (position.tick, position.clock);
                    let elsewhere = self.last.as_ref().map(pair) != Some(pair(&position));
                    if !ids.is_empty() && elsewhere && self.layout.has(Kind::Clock) {
                        break;
                    }
                    if switched && !confirmed {
                        return Err(Refusal::Recheck);
                    }
                    let Position { tick, clock, at } = position;
                    let id = self.layout.compose(tick, self.node, clock, self.sequence(position, at));
                    assert!(self.issued.insert(id), "the model repeats {id}");
                    let known = self.last_ticks.insert(clock, tick);
                    assert!(known.is_none_or(|known| known <= tick), "the model takes clock id {clock} back from tick {tick}");
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

    /// The sequence number that stands for a count within a tick and clock id.
    fn sequence(&self, position: Position, at: u128) -> u128 {
        match self.start {
            Start::Wrap(key) => (at + self.hash(key, position)) % self.layout.count(Kind::Sequence),
            Start::Zero | Start::Random(_) => at,
        }
    }

    fn hash(&self, key: [u64; 2], Position { tick, clock, .. }: Position) -> u128 {
        sip_hash(key, tick * self.layout.count(Kind::Clock) + clock)
    }

    /// The first position of a tick and clock id that the clock leads to.
    fn led_to(&self, tick: u128, clock: u128) -> Position {
        let position = Position { tick, clock, at: 0 };
        match self.start {
            Start::Random(key) => {
                let quarter = (self.layout.count(Kind::Sequence) / 4).max(1);
                Position { at: self.hash(key, position) % quarter, ..position }
            }
            Start::Zero | Start::Wrap(_) => position,
        }
    }

    fn free(&self, tick: u128, least: u128) -> Option<u128> {
        let clocks = least..self.layout.count(Kind::Clock);
        clocks.into_iter().find(|clock| self.last_ticks.get(clock).is_none_or(|last| *last < tick))
    }

    /// The next position, and whether the clock is followed back to it.
    fn next(&self, now_ms: u128) -> Result<(Position, bool), &'static str> {
        let layout = self.layout;
        if now_ms < layout.epoch_ms {
            return Err(CLOCK_BEFORE_EPOCH);
        }
        let wall = (now_ms - layout.epoch_ms) / layout.tick_ms;
        if wall > layout.last_tick() || self.used_up() {
            return Err(TIME_EXHAUSTED);
        }
        if now_ms < self.from_ms {
            let never = self.from_ms >= layout.start_ms(layout.last_tick() + 1);
            return Err(if never { TIME_EXHAUSTED } else { CLOCK_BACKWARD });
        }
        let reaches = |tick| layout.start_ms(tick) <= now_ms + self.max_lead_ms;
        let Some(last) = self.last.filter(|last| last.tick >= wall) else {
            return self.free(wall, 0).map(|clock| (self.led_to(wall, clock), false)).ok_or(CLOCK_BACKWARD);
        };
        if !reaches(last.tick) {
            return self.free(wall, 0).map(|clock| (self.led_to(wall, clock), true)).ok_or(CLOCK_BACKWARD);
        }
        if last.at + 1 < layout.count(Kind::Sequence) {
            return Ok((Position { at: last.at + 1, ..last }, false));
        }
        if let Some(clock) = self.free(last.tick, last.clock + 1) {
            return Ok((Position { tick: last.tick, clock, at: 0 }, false));
        }
        let tick = last.tick + 1;
        if tick > layout.last_tick() {
            return Err(TIME_EXHAUSTED);
        }
        self.free(tick, 0)
            .filter(|_| reaches(tick))
            .map(|clock| (Position { tick, clock, at: 0 }, false))
            .ok_or(SEQUENCE_EXHAUSTED)
    }

    fn used_up(&self) -> bool {
        let Some(Position { tick, clock, at }) = self.last else { return false };
        // Where time, clock and sequence fill all 64 bits, the ID of all ones is never issued.
        let full = self.layout.count(Kind::Time) * self.layout.ids_per_tick() == 1 << 64;
        let low = clock * self.layout.count(Kind::Sequence) + at;
        tick == self.layout.last_tick() && low + 1 + u128::from(full) == self.layout.ids_per_tick()
    }

    /// How long until the refusal has another answer, found by trying each moment at which anything can change.
    pub(crate) fn retry_after_ms(&self, now_ms: u128) -> Option<u128> {
        let stalled = |at_ms| matches!(self.next(at_ms), Err(CLOCK_BACKWARD | SEQUENCE_EXHAUSTED));
        if !stalled(now_ms) {
            return None;
        }
        let layout = self.layout;
        let ticks = self.last_ticks.values().chain(self.last.as_ref().map(|last| &last.tick));
        let starts = ticks.flat_map(|tick| [*tick, tick + 1]).map(|tick| layout.start_ms(tick));
        let mut moments: Vec<u128> = starts.flat_map(|ms| [ms, ms.saturating_sub(self.max_lead_ms)]).collect();
        moments.push(self.from_ms);
        moments.sort_unstable();
        let retry_at_ms = moments.into_iter().find(|at_ms| *at_ms > now_ms && !stalled(*at_ms));
        let after = retry_at_ms.map(|at_ms| at_ms - now_ms);
        assert!(after.is_some_and(|after| stalled(now_ms + after - 1)), "the model finds no end of its stall at {now_ms}");
        after
    }
}

/// Why nothing is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Recheck,
    Code(&'static str),
}
