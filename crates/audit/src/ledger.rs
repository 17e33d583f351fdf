//! What the IDs in order say: repeats, the nodes, two hosts with one node, sequences, days.

use crate::calendar::DAY_MS;
use crate::key::{Keys, ones};
use crate::rounded::lost_bits;
use crate::slots::Slots;
use crate::sort::NO_HOST;
use crate::tally::{ByNode, Sample};

/// Two hosts that take turns with a node within this time share it.
const TURNS_MS: i64 = 1000;
/// Sequence numbers of a tick that are further apart belong to two runs. Rows that are missing leave small gaps.
const FAR: u64 = 16;
/// How many hosts of a node are kept.
const MAX_NODE_HOSTS: usize = 8;
/// Days that are told apart: 54 years.
const MAX_DAYS: usize = 20_000;

/// What is known of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    pub(crate) ids: u64,
    pub(crate) from_ms: i64,
    pub(crate) to_ms: i64,
    /// Ticks with IDs, and those with a sequence number above 0.
    pub(crate) ticks: u64,
    pub(crate) counted_ticks: u64,
    /// The distances of neighbours within a tick: 1, up to `FAR`, and beyond.
    pub(crate) near: u64,
    pub(crate) middle: u64,
    pub(crate) far: u64,
    /// Ticks that have such a distance beyond `FAR`.
    pub(crate) far_ticks: u64,
    /// Values that occur more than once; those of them that end in zero bits; and in how many minutes.
    pub(crate) repeats: u64,
    pub(crate) repeats_at_zero: u64,
    pub(crate) repeat_minutes: u64,
    last_repeat_minute: i64,
    /// How many ticks there were at the first and at the last repeat.
    repeat_ticks: [u64; 2],
    /// The longest stretch without IDs, and how many IDs of all nodes it has.
    pub(crate) silence: Silence,
    /// How many IDs of all nodes there were at its last one.
    all_at_last: u64,
    pub(crate) hosts: Vec<u32>,
    last_host: u32,
    last_host_ms: i64,
    other_host: u32,
    other_host_ms: i64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Silence {
    pub(crate) from_ms: i64,
    pub(crate) to_ms: i64,
    pub(crate) others: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Day {
    /// Since 1970-01-01.
    pub(crate) number: i64,
    pub(crate) ids: u64,
    pub(crate) first_key: u64,
    pub(crate) last_key: u64,
}

/// The IDs of one node in one tick.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    prefix: u64,
    rows: u64,
    distinct: u64,
    first_low: u64,
    last_low: u64,
    widest: u64,
    near: u64,
    middle: u64,
    far: u64,
    first_key: u64,
    host: u32,
    other_host: u32,
    other_key: u64,
}

/// An ID that occurs again.
#[derive(Clone, Copy, Debug, Default)]
struct Repeat {
    rows: u64,
    hosts: [u32; 2],
}

pub(crate) struct Ledger {
    keys: Option<Keys>,
    max_rows: usize,
    pub(crate) ids: u64,
    pub(crate) distinct: u64,
    last_key: Option<u64>,
    repeat: Repeat,
    group: Option<Group>,
    pub(crate) slots: Slots,
    pub(crate) nodes: Vec<Node>,
    pub(crate) days: Vec<Day>,
    pub(crate) days_capped: bool,
    day_end_ms: i64,
    pub(crate) repeats: ByNode,
    pub(crate) shared_ticks: ByNode,
    pub(crate) turns: ByNode,
    pub(crate) peaks: ByNode,
}

impl Ledger {
    pub(crate) fn new(keys: Option<Keys>, memory_bytes: usize, max_rows: usize) -> Self {
        let node_bits = keys.as_ref().map_or(0, |keys| keys.node_bits);
        let most = memory_bytes / size_of::<Node>();
        Self {
            keys,
            max_rows,
            ids: 0,
            distinct: 0,
            last_key: None,
            repeat: Repeat::default(),
            group: None,
            slots: Slots::new(node_bits, most),
            nodes: Vec::new(),
            days: Vec::new(),
            days_capped: false,
            day_end_ms: i64::MIN,
            repeats: ByNode::default(),
            shared_ticks: ByNode::default(),
            turns: ByNode::default(),
            peaks: ByNode::default(),
        }
    }

    /// The next key, at or above the last one.
    #[inline]
    pub(crate) fn take(&mut self, key: u64, host: u32) {
        self.ids += 1;
        if self.last_key == Some(key) {
            self.again(key, host);
            return;
        }
        if self.repeat.rows > 0 {
            self.end_repeat();
        }
        self.distinct += 1;
        self.last_key = Some(key);
        self.repeat.hosts[0] = host;
        let Some(keys) = &self.keys else { return };
        let (prefix, low) = (key >> keys.low_bits, keys.low(key));
        match &mut self.group {
            Some(group) if group.prefix == prefix => group.add(key, low, host),
            _ => {
                self.end_group();
                self.group = Some(Group {
                    prefix,
                    rows: 1,
                    distinct: 1,
                    first_low: low,
                    last_low: low,
                    first_key: key,
                    host,
                    other_host: NO_HOST,
                    ..Group::default()
                });
            }
        }
    }

    /// The same key again.
    #[cold]
    fn again(&mut self, key: u64, host: u32) {
        if self.repeat.rows == 0 {
            self.repeat.rows = 1;
            self.repeat.hosts[1] = host;
        }
        if self.repeat.hosts[1] == self.repeat.hosts[0] {
            self.repeat.hosts[1] = host;
        }
        self.repeat.rows += 1;
        if let Some(group) = &mut self.group {
            group.rows += 1;
            group.see_host(key, host);
        }
    }

    #[cold]
    fn end_repeat(&mut self) {
        let Repeat { rows, hosts } = std::mem::take(&mut self.repeat);
        let Some(key) = self.last_key else { return };
        let keys = self.keys.as_ref().filter(|keys| !keys.is_outside(key));
        let ms = keys.map(|keys| keys.ms_of(key));
        let node = keys.filter(|keys| keys.node_bits > 0).map(|keys| keys.node(key));
        let id = self.id(key);
        let tally = self.repeats.of(node);
        tally.add(1, ms);
        tally.rows += rows;
        for host in hosts {
            tally.show(Sample { host, ..Sample::of_id(id) }, self.max_rows);
        }
        let (Some(keys), Some(ms)) = (keys, ms) else { return };
        let Some(slot) = node_slot(&mut self.slots, &mut self.nodes, keys.node(key)) else { return };
        let node = &mut self.nodes[slot];
        node.repeats += 1;
        node.repeats_at_zero += u64::from(id & ones(lost_bits(id)) == 0);
        if node.repeats == 1 {
            node.repeat_ticks[0] = node.ticks;
        }
        node.repeat_ticks[1] = node.ticks;
        let minute = ms.div_euclid(60_000);
        if node.repeats == 1 || node.last_repeat_minute != minute {
            node.repeat_minutes += 1;
            node.last_repeat_minute = minute;
        }
    }

    fn end_group(&mut self) {
        let Some(group) = self.group.take() else { return };
        let Some(keys) = &self.keys else { return };
        let key = group.first_key;
        if keys.is_outside(key) {
            return;
        }
        let ms = keys.ms_of(key);
        if ms >= self.day_end_ms {
            let day = ms.div_euclid(DAY_MS);
            self.day_end_ms = (day + 1).saturating_mul(DAY_MS);
            if self.days.len() < MAX_DAYS {
                self.days.push(Day { number: day, ids: 0, first_key: key, last_key: key });
            } else {
                self.days_capped = true;
            }
        }
        if let Some(day) = self.days.last_mut() {
            day.ids += group.rows;
            day.last_key = key;
        }
        let number = keys.node(key);
        let Some(slot) = node_slot(&mut self.slots, &mut self.nodes, number) else { return };
        let node = &mut self.nodes[slot];
        if node.ids == 0 {
            node.from_ms = ms;
        } else if ms - node.to_ms > node.silence.to_ms - node.silence.from_ms {
            let others = self.ids.saturating_sub(node.all_at_last + group.rows);
            node.silence = Silence { from_ms: node.to_ms, to_ms: ms, others };
        }
        node.ids += group.rows;
        node.to_ms = ms;
        node.all_at_last = self.ids;
        node.ticks += 1;
        node.counted_ticks += u64::from(group.last_low > 0);
        let named = (keys.node_bits > 0).then_some(number);
        if group.distinct > 1 {
            node.add_distances(&group, keys);
            // Where a clock is below the node, a tick has the sequence once for each of its values.
            if keys.sequence_bits == keys.low_bits && group.distinct >= 1 << keys.sequence_bits {
                let id = keys.id(key);
                let peaks = self.peaks.of(named);
                peaks.add(1, Some(ms));
                peaks.show(Sample::of_id(id), self.max_rows);
            }
        }
        if group.host != NO_HOST {
            self.end_hosts(&group, slot, named, ms);
        }
    }

    /// What the hosts of a tick say of its node.
    fn end_hosts(&mut self, group: &Group, slot: usize, named: Option<u32>, ms: i64) {
        let Some(keys) = &self.keys else { return };
        let node = &mut self.nodes[slot];
        let samples = |keys: &Keys, other: u32| {
            [
                Sample { host: group.host, ..Sample::of_id(keys.id(group.first_key)) },
                Sample { host: other, ..Sample::of_id(keys.id(group.other_key)) },
            ]
        };
        for host in [group.host, group.other_host] {
            if host != NO_HOST && node.hosts.len() < MAX_NODE_HOSTS && !node.hosts.contains(&host) {
                node.hosts.push(host);
            }
        }
        if group.other_host != NO_HOST {
            let tally = self.shared_ticks.of(named);
            tally.add(1, Some(ms));
            for sample in samples(keys, group.other_host) {
                tally.show(sample, self.max_rows);
            }
        }
        let is_first = node.ticks == 1 || node.last_host == NO_HOST;
        if is_first {
            (node.last_host, node.other_host) = (group.host, NO_HOST);
        } else if node.last_host != group.host {
            if node.other_host == group.host && ms - node.other_host_ms <= TURNS_MS {
                let tally = self.turns.of(named);
                tally.add(1, Some(ms));
                let sample = Sample { host: group.host, ..Sample::of_id(keys.id(group.first_key)) };
                tally.show(sample, self.max_rows);
            }
            (node.other_host, node.other_host_ms) = (node.last_host, node.last_host_ms);
            node.last_host = group.host;
        }
        node.last_host_ms = ms;
    }

    /// After the last key.
    pub(crate) fn end(&mut self) {
        if self.repeat.rows > 0 {
            self.end_repeat();
        }
        self.end_group();
    }

    fn id(&self, key: u64) -> u64 {
        self.keys.as_ref().map_or(key, |keys| keys.id(key))
    }

    pub(crate) fn node(&self, number: u32) -> Option<&Node> {
        self.slots.find(number).and_then(|slot| self.nodes.get(slot))
    }

    pub(crate) fn total(&self, of: impl Fn(&Node) -> u64) -> u64 {
        self.nodes.iter().map(of).sum()
    }
}

/// The slot of a node, with its state.
fn node_slot(slots: &mut Slots, nodes: &mut Vec<Node>, number: u32) -> Option<usize> {
    let slot = slots.of(number)?;
    if slot == nodes.len() {
        nodes.push(Node { last_host: NO_HOST, other_host: NO_HOST, ..Node::default() });
    }
    Some(slot)
}

impl Node {
    /// Whether the repeats are those of a stretch in which every ID occurs again: rows that were copied.
    pub(crate) fn is_copied(&self) -> bool {
        let ticks = self.repeat_ticks[1] - self.repeat_ticks[0] + 1;
        self.repeats * 10 >= ticks * 9
    }

    /// Adds the distances of a tick's sequence numbers. They are those on a circle, since a sequence that begins at random wraps; the
    /// widest is the one outside of all, and does not count.
    fn add_distances(&mut self, group: &Group, keys: &Keys) {
        let mut whole = *group;
        whole.distance((1_u64 << keys.low_bits.min(63)) - (group.last_low - group.first_low));
        let count = |matches: bool| u64::from(matches);
        self.near += whole.near - count(whole.widest == 1);
        self.middle += whole.middle - count(whole.widest > 1 && whole.widest <= FAR);
        let far = whole.far - count(whole.widest > FAR);
        self.far += far;
        self.far_ticks += u64::from(far > 0);
    }
}

impl Group {
    #[inline]
    fn add(&mut self, key: u64, low: u64, host: u32) {
        self.rows += 1;
        self.distinct += 1;
        self.distance(low - self.last_low);
        self.last_low = low;
        self.see_host(key, host);
    }

    #[inline]
    fn distance(&mut self, distance: u64) {
        self.widest = self.widest.max(distance);
        match distance {
            1 => self.near += 1,
            2..=FAR => self.middle += 1,
            _ => self.far += 1,
        }
    }

    #[inline]
    fn see_host(&mut self, key: u64, host: u32) {
        if host == NO_HOST || host == self.host {
            return;
        }
        if self.host == NO_HOST {
            self.host = host;
        } else if self.other_host == NO_HOST {
            self.other_host = host;
            self.other_key = key;
        }
    }
}
