//! The times of rows against the times of their IDs.

use crate::sort::NO_HOST;
use crate::tally::Sample;

/// Differences of which the median is taken.
const KEPT: usize = 64;
const KEPT_OF_ALL: usize = 1024;
/// Rows after which the usual difference is known.
const FIRST_ROWS: u64 = 1000;
/// A row this far from the usual difference is an outlier.
const OUTLIER_MS: i64 = 86_400_000;

/// The differences of a node, a host or all, as a sample of which each row is equally likely a part (Vitter's algorithm R).
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    pub(crate) rows: u64,
    kept: Vec<i64>,
    most: usize,
    random: u64,
}

impl Sketch {
    fn new(most: usize) -> Self {
        Self { rows: 0, kept: Vec::new(), most, random: 0x2545_F491_4F6C_DD1D }
    }

    fn add(&mut self, difference_ms: i64) {
        self.rows += 1;
        if self.kept.len() < self.most {
            self.kept.push(difference_ms);
            return;
        }
        // xorshift64 (Marsaglia, 2003): the same rows give the same report.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        // A number below `rows`, without a division.
        let at = ((self.random >> 32) * self.rows.min(1 << 32)) >> 32;
        if let Some(kept) = usize::try_from(at).ok().and_then(|at| self.kept.get_mut(at)) {
            *kept = difference_ms;
        }
    }

    /// The median, and the median of the distances from it.
    pub(crate) fn median(&self) -> Option<(i64, i64)> {
        let middle = |values: &mut Vec<i64>| {
            values.sort_unstable();
            values.get(values.len() / 2).copied()
        };
        let median = middle(&mut self.kept.clone())?;
        let mut distances: Vec<_> = self.kept.iter().map(|&one| one.saturating_sub(median).saturating_abs()).collect();
        Some((median, middle(&mut distances)?))
    }
}

/// All differences.
pub(crate) struct Created {
    pub(crate) all: Sketch,
    /// By the slot of the node, and by the number of the host: as many as the memory has room for.
    nodes: Vec<Sketch>,
    hosts: Vec<Sketch>,
    most: usize,
    usual_ms: Option<i64>,
    pub(crate) outliers: u64,
    pub(crate) samples: Vec<Sample>,
}

impl Created {
    pub(crate) fn new(memory_bytes: usize) -> Self {
        Self {
            all: Sketch::new(KEPT_OF_ALL),
            nodes: Vec::new(),
            hosts: Vec::new(),
            most: memory_bytes / (2 * (size_of::<Sketch>() + KEPT * size_of::<i64>())),
            usual_ms: None,
            outliers: 0,
            samples: Vec::new(),
        }
    }

    /// A row that has a time.
    #[cold]
    pub(crate) fn row(&mut self, slot: Option<usize>, id_ms: i64, created_ms: i64, sample: Sample, max_rows: usize) {
        let difference_ms = created_ms.saturating_sub(id_ms);
        self.all.add(difference_ms);
        if let Some(slot) = slot {
            add(&mut self.nodes, slot, self.most, difference_ms);
        }
        if sample.host != NO_HOST {
            add(&mut self.hosts, sample.host as usize, self.most, difference_ms);
        }
        if self.all.rows < FIRST_ROWS {
            return;
        }
        let all = &self.all;
        let usual_ms = *self.usual_ms.get_or_insert_with(|| all.median().map_or(0, |median| median.0));
        if difference_ms.saturating_sub(usual_ms).saturating_abs() > OUTLIER_MS {
            self.outliers += 1;
            if self.samples.len() < max_rows {
                self.samples.push(sample);
            }
        }
    }

    /// The sketches of nodes, by slot, and of hosts, by number: those of enough rows.
    pub(crate) fn of_nodes(&self, least_rows: u64) -> impl Iterator<Item = (usize, &Sketch)> {
        self.nodes.iter().enumerate().filter(move |(_, sketch)| sketch.rows >= least_rows)
    }

    /// See `of_nodes`.
    pub(crate) fn of_hosts(&self, least_rows: u64) -> impl Iterator<Item = (u32, &Sketch)> {
        (0..).zip(&self.hosts).filter(move |(_, sketch)| sketch.rows >= least_rows)
    }
}

fn add(sketches: &mut Vec<Sketch>, at: usize, most: usize, difference_ms: i64) {
    if at >= most {
        return;
    }
    if at >= sketches.len() {
        sketches.resize_with(at + 1, || Sketch::new(KEPT));
    }
    sketches[at].add(difference_ms);
}
