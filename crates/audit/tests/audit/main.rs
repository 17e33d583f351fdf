//! The engine from bytes to the report.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::needless_for_each,
    reason = "tests, whose numbers are small and whose speed does not matter"
)]

mod clean;
mod formats;
mod kinds;
mod limits;

use frazil::Layout;
use frazil::layout::Parts;
use frazil_audit::{Audit, AuditError, Certainty, Finding, Kind, MemoryDisk, Options, Report};

/// 2026-09-21.
const NOW_MS: i64 = 1_790_000_000_000;

fn options(layout: &str) -> Options {
    Options { layout: Some(Layout::named(layout).unwrap()), layout_name: Some(layout.to_string()), ..Options::new(NOW_MS) }
}

/// Audits files.
fn try_audit(options: Options, files: &[&[u8]]) -> Result<Report, AuditError> {
    let mut audit = Audit::new(options, MemoryDisk::default())?;
    for file in files {
        audit.push(file)?;
        audit.end_file()?;
    }
    while !audit.merge(1000)? {}
    Ok(audit.report())
}

fn audit(options: Options, file: &str) -> Report {
    try_audit(options, &[file.as_bytes()]).unwrap()
}

fn raw(ids: &[u64]) -> Vec<u8> {
    ids.iter().flat_map(|id| id.to_le_bytes()).collect()
}

fn lines(ids: impl IntoIterator<Item = u64>) -> String {
    ids.into_iter().map(|id| format!("{id}\n")).collect()
}

fn found(report: &Report, kind: Kind) -> Vec<&Finding> {
    report.findings.iter().filter(|finding| finding.kind == kind).collect()
}

/// The kinds that are findings: those that are not only informational.
fn kinds(report: &Report) -> Vec<Kind> {
    let mut kinds: Vec<_> =
        report.findings.iter().filter(|one| one.certainty != Certainty::Informational).map(|one| one.kind).collect();
    kinds.dedup();
    kinds
}

/// Mints as processes do that each have one node: the sequence begins at a number in each tick and counts.
struct Fleet {
    layout: Layout,
    random: fastrand::Rng,
    /// Where a sequence begins: below this.
    starts_below: u64,
    /// The last tick and sequence of each process.
    last: std::collections::HashMap<u32, (u64, u64)>,
}

impl Fleet {
    fn new(layout: &str, seed: u64) -> Self {
        Self {
            layout: Layout::named(layout).unwrap(),
            random: fastrand::Rng::with_seed(seed),
            starts_below: 1,
            last: std::collections::HashMap::new(),
        }
    }

    /// An ID of a process at a time. `process` tells apart those that share a node.
    fn mint_by(&mut self, process: u32, node: u32, ms: i64) -> u64 {
        let spec = self.layout.spec();
        let tick = (ms as u64 - spec.epoch_ms) / spec.tick_ms;
        let sequences =
            1 << self.layout.fields().iter().find(|field| field.kind == frazil::layout::FieldKind::Sequence).unwrap().bits;
        let start = self.random.u64(..self.starts_below);
        let sequence = match self.last.get(&process) {
            Some(&(last, sequence)) if last == tick => (sequence + 1) % sequences,
            _ => start,
        };
        self.last.insert(process, (tick, sequence));
        let timestamp_ms = spec.epoch_ms + tick * spec.tick_ms;
        self.layout.compose(Parts { timestamp_ms, node: Some(u64::from(node)), clock: None, sequence }).unwrap()
    }

    fn mint(&mut self, node: u32, ms: i64) -> u64 {
        self.mint_by(node, node, ms)
    }
}
