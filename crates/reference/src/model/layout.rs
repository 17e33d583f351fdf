//! Layouts, and what an ID of a layout consists of. Values of time, node, clock and sequence are `u128`, wide enough for
//! every sum and product here; times are in Unix milliseconds.

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ticks since the epoch.
    Time,
    /// The node id, or a part of it.
    Node,
    /// The clock id.
    Clock,
    /// The sequence number.
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

/// A field of a layout. Only node fields have a name: that of a part of the node id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// What it holds.
    pub kind: Kind,
    /// Its width.
    pub bits: u32,
    /// The name of a part of the node id.
    pub name: Option<&'static str>,
}

impl Field {
    fn value_count(self) -> u128 {
        1 << self.bits
    }
}

pub(crate) const fn time(bits: u32) -> Field {
    Field { kind: Kind::Time, bits, name: None }
}
pub(crate) const fn node(bits: u32) -> Field {
    Field { kind: Kind::Node, bits, name: None }
}
pub(crate) const fn part(name: &'static str, bits: u32) -> Field {
    Field { kind: Kind::Node, bits, name: Some(name) }
}
pub(crate) const fn clock(bits: u32) -> Field {
    Field { kind: Kind::Clock, bits, name: None }
}
pub(crate) const fn sequence(bits: u32) -> Field {
    Field { kind: Kind::Sequence, bits, name: None }
}

/// A layout.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The start of tick 0.
    pub epoch_ms: u128,
    /// The length of a tick.
    pub tick_ms: u128,
    /// Whether an ID may have 64 bits.
    pub unsigned: bool,
    /// From the most to the least significant.
    pub fields: Vec<Field>,
}

/// Every layout that has a name in the library, from the table in `docs/reference/layouts.md`.
pub(crate) fn named_layouts() -> Vec<(&'static str, Layout)> {
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

/// What an ID decodes to. `node` is the value of all node fields joined, and `parts` the value of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) timestamp_ms: u128,
    pub(crate) node: Option<u128>,
    pub(crate) parts: Vec<(&'static str, u128)>,
    pub(crate) clock: Option<u128>,
    pub(crate) sequence: u128,
}

/// What a layout can hold; `_comment` in `layouts.json` defines each member.
pub(crate) struct Plan {
    pub(crate) last_ms: u128,
    pub(crate) signed_until_ms: Option<u128>,
    pub(crate) ordered: bool,
    pub(crate) nodes: u128,
    pub(crate) ids_per_tick: u128,
}

impl Layout {
    pub(crate) fn bits(&self) -> u32 {
        self.fields.iter().map(|field| field.bits).sum()
    }

    pub(crate) fn max_id(&self) -> u128 {
        (1 << self.bits()) - 1
    }

    /// How many values the fields of a kind have together; 1 if there is no such field.
    #[must_use]
    pub fn count(&self, kind: Kind) -> u128 {
        self.fields.iter().filter(|field| field.kind == kind).map(|field| field.value_count()).product()
    }

    /// Whether there is a field of a kind.
    #[must_use]
    pub fn has(&self, kind: Kind) -> bool {
        self.fields.iter().any(|field| field.kind == kind)
    }

    fn index_of(&self, kind: Kind) -> Option<usize> {
        self.fields.iter().position(|field| field.kind == kind)
    }

    /// Whether a field of the kind lies above the time field.
    pub(crate) fn above_time(&self, kind: Kind) -> bool {
        self.index_of(kind) < self.index_of(Kind::Time) && self.has(kind)
    }

    /// The last tick that the time field can hold.
    #[must_use]
    pub fn last_tick(&self) -> u128 {
        self.count(Kind::Time) - 1
    }

    /// The first millisecond of a tick.
    #[must_use]
    pub fn start_ms(&self, tick: u128) -> u128 {
        self.epoch_ms + tick * self.tick_ms
    }

    /// The last millisecond of the last tick.
    #[must_use]
    pub fn end_ms(&self) -> u128 {
        self.start_ms(self.last_tick() + 1) - 1
    }

    /// The value of the lowest bit of a kind: an ID plus this has 1 more as the value of that kind.
    pub(crate) fn unit(&self, kind: Kind) -> u128 {
        self.fields.iter().rev().take_while(|field| field.kind != kind).map(|field| field.value_count()).product()
    }

    /// The value of each field, from the most to the least significant.
    #[must_use]
    pub fn values(&self, id: u128) -> Vec<u128> {
        let mut rest = id;
        let mut values: Vec<u128> = Vec::new();
        for field in self.fields.iter().rev() {
            values.insert(0, rest % field.value_count());
            rest /= field.value_count();
        }
        values
    }

    fn id_with_values(&self, values: &[u128]) -> u128 {
        self.fields.iter().zip(values).fold(0, |id, (field, value)| id * field.value_count() + value)
    }

    /// The ID with the same value in every field.
    pub(crate) fn id_with_each(&self, value: u128) -> u128 {
        self.id_with_values(&vec![value; self.fields.len()])
    }

    /// The value of all fields of a kind joined; 0 if there is no such field.
    #[must_use]
    pub fn value(&self, id: u128, kind: Kind) -> u128 {
        let fields = self.fields.iter().zip(self.values(id)).filter(|(field, _)| field.kind == kind);
        fields.fold(0, |joined, (field, value)| joined * field.value_count() + value)
    }

    pub(crate) fn decode(&self, id: u128) -> Decoded {
        let fields = self.fields.iter().zip(self.values(id));
        let value = |kind| self.has(kind).then(|| self.value(id, kind));
        Decoded {
            timestamp_ms: self.start_ms(self.value(id, Kind::Time)),
            node: value(Kind::Node),
            parts: fields
                .filter(|(field, _)| field.kind == Kind::Node)
                .map(|(field, value)| (field.name.unwrap_or("node"), value))
                .collect(),
            clock: value(Kind::Clock),
            sequence: self.value(id, Kind::Sequence),
        }
    }

    /// The ID of these values; those of fields that the layout does not have are 0.
    #[must_use]
    pub fn compose(&self, tick: u128, node: u128, clock: u128, sequence: u128) -> u128 {
        let mut node = node;
        let mut values: Vec<u128> = Vec::new();
        for field in self.fields.iter().rev() {
            let value = match field.kind {
                Kind::Time => tick,
                Kind::Clock => clock,
                Kind::Sequence => sequence,
                Kind::Node => {
                    let value = node % field.value_count();
                    node /= field.value_count();
                    value
                }
            };
            values.insert(0, value);
        }
        self.id_with_values(&values)
    }

    /// The smallest and the largest ID of a tick, with this value in the node fields above the time field and with any value
    /// in every field below it.
    pub(crate) fn id_range(&self, tick: u128, node: u128) -> (u128, u128) {
        let lowest = self.values(self.compose(tick, node, 0, 0));
        let time = self.index_of(Kind::Time).unwrap_or_default();
        let fill = |value_below: fn(u32) -> u128| {
            let filled: Vec<u128> = self
                .fields
                .iter()
                .zip(&lowest)
                .enumerate()
                .map(|(index, (field, value))| if index > time { value_below(field.bits) } else { *value })
                .collect();
            self.id_with_values(&filled)
        };
        (fill(|_| 0), fill(|bits| (1 << bits) - 1))
    }

    pub(crate) fn plan(&self) -> Plan {
        let is_above = |upper, lower| self.index_of(upper) < self.index_of(lower);
        let last_ms = self.start_ms(self.last_tick());
        Plan {
            last_ms,
            signed_until_ms: match (self.bits(), self.fields[0].kind) {
                (64, Kind::Time) => Some(self.start_ms(self.count(Kind::Time) / 2 - 1)),
                (64, _) => None,
                _ => Some(last_ms),
            },
            ordered: is_above(Kind::Time, Kind::Sequence)
                && (!self.has(Kind::Clock) || (is_above(Kind::Time, Kind::Clock) && is_above(Kind::Clock, Kind::Sequence))),
            nodes: self.count(Kind::Node),
            ids_per_tick: self.ids_per_tick(),
        }
    }

    pub(crate) fn ids_per_tick(&self) -> u128 {
        self.count(Kind::Clock) * self.count(Kind::Sequence)
    }
}
