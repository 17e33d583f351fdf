//! How often something was found, when, and by which node, with a few of its IDs.

use std::collections::BTreeMap;

use crate::sort::NO_HOST;

/// Nodes that a tally tells apart; further ones count together.
const MAX_NODES: usize = 4096;

/// An ID that shows a finding, and where it was read if that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) id: u64,
    pub(crate) host: u32,
    /// The index of the file and the line; line 0 if that was not kept.
    pub(crate) file: u32,
    pub(crate) line: u64,
}

impl Sample {
    pub(crate) const fn of_id(id: u64) -> Self {
        Self { id, host: NO_HOST, file: 0, line: 0 }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) count: u64,
    /// A second number: of repeats the rows.
    pub(crate) rows: u64,
    pub(crate) at_ms: Option<i64>,
    pub(crate) from_ms: Option<i64>,
    pub(crate) to_ms: Option<i64>,
    /// The largest extent, in milliseconds.
    pub(crate) most_ms: i64,
    pub(crate) samples: Vec<Sample>,
}

impl Tally {
    pub(crate) fn add(&mut self, count: u64, ms: Option<i64>) {
        self.count += count;
        if let Some(ms) = ms {
            self.at_ms.get_or_insert(ms);
            self.from_ms = Some(self.from_ms.map_or(ms, |from_ms| from_ms.min(ms)));
            self.to_ms = Some(self.to_ms.map_or(ms, |to_ms| to_ms.max(ms)));
        }
    }

    pub(crate) fn show(&mut self, sample: Sample, most: usize) {
        if self.samples.len() < most {
            self.samples.push(sample);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self, most: usize) {
        self.count += other.count;
        self.rows += other.rows;
        self.most_ms = self.most_ms.max(other.most_ms);
        let earliest = |a: Option<i64>, b: Option<i64>| a.into_iter().chain(b).min();
        self.at_ms = earliest(self.at_ms, other.at_ms);
        self.from_ms = earliest(self.from_ms, other.from_ms);
        self.to_ms = self.to_ms.into_iter().chain(other.to_ms).max();
        let room = most.saturating_sub(self.samples.len());
        self.samples.extend(other.samples.iter().take(room));
    }
}

/// A tally for each node. `None` is for what has no node, and for what nodes have beyond those that are told apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByNode {
    nodes: BTreeMap<Option<u32>, Tally>,
}

impl ByNode {
    pub(crate) fn of(&mut self, node: Option<u32>) -> &mut Tally {
        let node = if self.nodes.len() < MAX_NODES || self.nodes.contains_key(&node) { node } else { None };
        self.nodes.entry(node).or_default()
    }

    /// All, the most frequent first.
    pub(crate) fn ranked(&self) -> Vec<(Option<u32>, &Tally)> {
        let mut all: Vec<_> = self.nodes.iter().map(|(&node, tally)| (node, tally)).collect();
        all.sort_by_key(|(node, tally)| (std::cmp::Reverse(tally.count), *node));
        all
    }

    /// Drops what lies wholly within a stretch of time.
    pub(crate) fn leave_out(&mut self, from_ms: i64, to_ms: i64) {
        self.nodes.retain(|_, tally| tally.from_ms < Some(from_ms) || tally.to_ms > Some(to_ms));
    }
}
