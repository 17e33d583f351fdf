//! What is inferred, and what is only worth knowing.

use std::collections::HashMap;

use super::{Facts, plural};
use crate::calendar::{count, instant, length};
use crate::disk::Disk;
use crate::ledger::Node;
use crate::report::{Certainty, Finding, Kind};
use crate::rounded;
use crate::statistics;
use crate::tally::ByNode;

impl<D: Disk> Facts<'_, D> {
    /// What is not certain, with its rate of false alarms.
    pub(super) fn inferences(&mut self) {
        let Some(keys) = self.intake.reading.as_ref().and_then(|reading| reading.keys.as_ref()) else { return };
        if let Some((message, ids)) = statistics::rounded(&self.intake.rounded, self.ledger, keys) {
            let hint = "A JSON number or a spreadsheet keeps 53 bits. Other findings may be of lost digits: take the IDs from their \
                        source, and send them as text.";
            let mut finding = Finding::new(Kind::Rounded, Certainty::Statistical, ids, message, hint);
            finding.false_alarm_rate = Some(rounded::FALSE_ALARM_RATE);
            self.findings.push(finding);
        }
        let mut shared = ByNode::default();
        let mut why = HashMap::new();
        let totals = statistics::Totals::of(self.ledger);
        for (number, node) in self.used().filter(|(_, node)| node.hosts.is_empty()) {
            let Some(reason) = statistics::looks_shared(node, &totals) else { continue };
            let number = Some(number).filter(|_| keys.node_bits > 0);
            let tally = shared.of(number);
            tally.count += node.far.max(node.repeats);
            (tally.from_ms, tally.to_ms) = (Some(node.from_ms), Some(node.to_ms));
            why.insert(number, reason);
        }
        self.by_node(&shared, |_, number, tally| {
            let what = number.map_or("the node".to_string(), |number| format!("node {number}"));
            let reason = why.get(&number).cloned().unwrap_or_default();
            let message = format!("{what} looks shared by two processes: {reason}");
            let hint = "Compare the processes' node ids, or export a column of hosts: then the audit tells for certain.";
            let mut finding = Finding::new(Kind::LooksShared, Certainty::Statistical, tally.count, message, hint);
            finding.false_alarm_rate = Some(rounded::FALSE_ALARM_RATE);
            finding
        });
    }

    /// The nodes that have IDs.
    fn used(&self) -> impl Iterator<Item = (u32, &Node)> {
        self.ledger.slots.nodes().iter().copied().zip(&self.ledger.nodes).filter(|(_, node)| node.ids > 0)
    }

    /// The times of rows that contradict those of IDs.
    pub(super) fn created(&mut self) {
        const LEAST_ROWS: u64 = 20;
        const ALL_MS: i64 = 60_000;
        const ONE_MS: i64 = 5000;
        const HOUR_MS: i64 = 3_600_000;
        let created = &self.intake.created;
        let Some((usual_ms, spread_ms)) = created.all.median().filter(|_| created.all.rows >= LEAST_ROWS) else { return };
        let direction = |ms: i64| if ms < 0 { "earlier" } else { "later" };
        let zone = |ms: i64| {
            let quarter = HOUR_MS / 4;
            let rest = (ms.abs() + quarter / 2) % quarter - quarter / 2;
            ms.abs() > quarter / 2 && ms.abs() <= 14 * HOUR_MS + quarter / 2 && rest.abs() <= 60_000
        };
        if usual_ms.abs() >= ALL_MS {
            let by = length(usual_ms.abs());
            let message =
                format!("created_at is {by} {} than the time of the ID, in the median of all rows", direction(usual_ms));
            let hint = if zone(usual_ms) {
                "It looks like a time zone: created_at is a local time, or the epoch was read as one."
            } else {
                "The epoch of the layout is another one, or rows are made long after their IDs."
            };
            self.findings.push(Finding::new(Kind::CreatedAt, Certainty::Exact, created.all.rows, message, hint));
        }
        let is_off = |(median_ms, _): &(i64, i64)| (median_ms - usual_ms).abs() >= ONE_MS.max(20 * spread_ms);
        let mut found = Vec::new();
        for (host, sketch) in created.of_hosts(LEAST_ROWS) {
            let Some((median_ms, _)) = sketch.median().filter(is_off) else { continue };
            let Some(name) = self.intake.hosts.name(host) else { continue };
            let node = self.used().find(|(_, node)| node.hosts == [host]).map(|(number, _)| number);
            found.push((format!("host {name}"), node, vec![name.to_string()], median_ms - usual_ms, sketch.rows));
        }
        for (slot, sketch) in created.of_nodes(LEAST_ROWS) {
            let Some((median_ms, _)) = sketch.median().filter(is_off) else { continue };
            let Some(&number) = self.intake.slots.nodes().get(slot) else { continue };
            if !found.iter().any(|(_, node, ..)| *node == Some(number)) {
                found.push((format!("node {number}"), Some(number), Vec::new(), median_ms - usual_ms, sketch.rows));
            }
        }
        let found_off: u64 = found.len() as u64;
        for (what, node, hosts, off_ms, rows) in found.into_iter().take(self.options.max_rows) {
            let by = length(off_ms.abs());
            // A late row time means an early ID time.
            let ahead = if off_ms < 0 { "ahead" } else { "behind" };
            let message = format!("the IDs of {what} are {by} {ahead} of created_at, compared with all rows, in the median");
            let hint = if off_ms < 0 {
                "Its clock is ahead, unless the rows of others are made later. Before it is set back, give the process a node id that \
                 was never used: otherwise it can repeat these IDs."
            } else {
                "Its clock is behind, unless its rows are made later than those of others."
            };
            let mut finding = Finding::new(Kind::CreatedAt, Certainty::Exact, rows, message, hint);
            (finding.node, finding.hosts) = (node, hosts);
            self.findings.push(finding);
        }
        // If many rows are off, created_at is not the time of the row.
        if found_off == 0 && created.outliers > 0 && created.outliers * 20 < created.all.rows {
            let rows = plural(created.outliers, "row is", "rows are");
            let message = format!("{rows} more than a day from the usual distance of created_at and ID");
            let hint = "The IDs were made long before or after their rows, or by a clock that was wrong.";
            let mut finding = Finding::new(Kind::CreatedAt, Certainty::Exact, created.outliers, message, hint);
            finding.rows = self.rows(&created.samples);
            self.findings.push(finding);
        }
    }

    /// What is worth knowing of the nodes, and no fault by itself.
    pub(super) fn nodes(&mut self) {
        let Some(layout) = self.intake.reading.as_ref().and_then(|reading| reading.layout.as_ref()) else { return };
        let of = layout.plan().nodes;
        let numbers: Vec<u32> = self.used().map(|(number, _)| number).collect();
        if let Some((processes, chance)) = statistics::random_nodes(&numbers, of) {
            let used = numbers.len() as u64;
            let percent = (chance * 100.0).round();
            let message = format!(
                "{} of {} node ids are in use, not in a row: if they were drawn at random, by about {} processes, two of which share one in \
                 {percent}% of such fleets",
                count(used),
                count(of),
                count(processes)
            );
            let hint = "Hand out node ids instead of drawing them.";
            self.findings.push(Finding::new(Kind::RandomNodes, Certainty::Informational, used, message, hint));
        }
        let all = self.ledger.total(|node| node.ids);
        let mut silent = ByNode::default();
        for (number, node) in self.used().filter(|(_, node)| statistics::is_silent(node, all)) {
            let tally = silent.of(Some(number));
            tally.count += 1;
            tally.most_ms = node.silence.to_ms - node.silence.from_ms;
            tally.rows = node.silence.others;
            (tally.at_ms, tally.from_ms, tally.to_ms) =
                (Some(node.silence.from_ms), Some(node.silence.from_ms), Some(node.silence.to_ms));
        }
        self.by_node(&silent, |_, node, tally| {
            let from = tally.from_ms.map_or(String::new(), instant);
            let what = node.map_or("they".to_string(), |node| format!("node {node}"));
            let (by, others) = (length(tally.most_ms), count(tally.rows));
            let message = format!("{what} minted nothing for {by} after {from}, while others minted {others} IDs");
            Finding::new(Kind::Silent, Certainty::Informational, tally.count, message, "Was it stopped then?")
        });
    }
}
