//! From what was counted to what is said.

mod inferred;

use std::collections::HashMap;

use frazil::Layout;

use crate::calendar::{count, date, instant, length};
use crate::disk::Disk;
use crate::intake::{Intake, Reading};
use crate::ledger::Ledger;
use crate::locate::Place;
use crate::options::Options;
use crate::order::Step;
use crate::report::{Certainty, DayReport, Finding, Kind, LayoutReport, NodeReport, NodesReport, Order, Report, RowReport};
use crate::sort::NO_HOST;
use crate::statistics;
use crate::tally::{ByNode, Sample, Tally};

/// How many nodes a report lists.
const TOP_NODES: usize = 10;

/// Everything that findings are made of.
pub(crate) struct Facts<'a, D> {
    options: &'a Options,
    intake: &'a Intake<D>,
    ledger: &'a Ledger,
    places: Option<&'a HashMap<u64, Vec<Place>>>,
    findings: Vec<Finding>,
}

pub(crate) fn report<D: Disk>(
    options: &Options,
    files: u32,
    intake: &Intake<D>,
    ledger: Option<&Ledger>,
    places: Option<&HashMap<u64, Vec<Place>>>,
) -> Report {
    let none = Ledger::new(None, 0, 0);
    let ledger = ledger.unwrap_or(&none);
    let mut facts = Facts { options, intake, ledger, places, findings: Vec::new() };
    facts.repeats();
    facts.shared_nodes();
    facts.times();
    facts.steps();
    facts.rest();
    facts.inferences();
    facts.created();
    facts.nodes();
    facts.findings.sort_by_key(|finding| finding.kind);
    let reading = intake.reading.as_ref();
    let layout = reading.and_then(|reading| reading.layout.as_ref());
    let nodes = &ledger.nodes;
    Report {
        layout: layout_report(options, reading),
        files,
        rows: intake.ids + intake.unreadable,
        ids: intake.ids,
        distinct: ledger.distinct,
        from_ms: nodes.iter().filter(|node| node.ids > 0).map(|node| node.from_ms).min(),
        to_ms: nodes.iter().filter(|node| node.ids > 0).map(|node| node.to_ms).max(),
        order: intake.orders.order.unwrap_or(Order::Time),
        nodes: nodes_report(layout, intake, ledger),
        days: ledger.days.iter().filter_map(|day| Some(DayReport { day: date(day.number)?, ids: day.ids })).collect(),
        findings: facts.findings,
    }
}

fn layout_report(options: &Options, reading: Option<&Reading>) -> LayoutReport {
    let Some(Reading { layout: Some(layout), guesses, .. }) = reading else {
        let reason = "no named layout puts the IDs between its epoch and now".to_string();
        return LayoutReport { guessed: options.layout.is_none(), reason: Some(reason), ..LayoutReport::default() };
    };
    let spec = layout.spec();
    let best = guesses.first();
    LayoutReport {
        name: best.map_or(options.layout_name.clone(), |guess| Some(guess.name.to_string())),
        fields: spec.fields,
        epoch_ms: spec.epoch_ms,
        tick_ms: spec.tick_ms,
        guessed: best.is_some(),
        score: best.map(|guess| guess.score),
        reason: best.map(|guess| guess.reason.clone()),
        runner_up: guesses.get(1).map(|guess| (guess.name.to_string(), guess.score)),
    }
}

fn nodes_report<D: Disk>(layout: Option<&Layout>, intake: &Intake<D>, ledger: &Ledger) -> NodesReport {
    let mut all: Vec<_> = ledger.slots.nodes().iter().zip(&ledger.nodes).filter(|(_, node)| node.ids > 0).collect();
    let in_use = all.len() as u64;
    all.sort_by_key(|(number, node)| (std::cmp::Reverse(node.ids), **number));
    all.truncate(TOP_NODES);
    let top = all.into_iter().map(|(&number, node)| NodeReport {
        node: number,
        ids: node.ids,
        from_ms: node.from_ms,
        to_ms: node.to_ms,
        hosts: node.hosts.iter().filter_map(|&host| intake.hosts.name(host).map(String::from)).collect(),
    });
    NodesReport { in_use, of: layout.map_or(0, |layout| layout.plan().nodes), top: top.collect() }
}

/// The node in a sentence: " of node 7", or nothing.
fn of_node(node: Option<u32>) -> String {
    node.map_or(String::new(), |node| format!(" of node {node}"))
}

fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

impl<D: Disk> Facts<'_, D> {
    /// The rows of samples. Where the input was read once more, those of an ID whose line is not known are all its rows.
    fn rows(&self, samples: &[Sample]) -> Vec<RowReport> {
        let mut rows: Vec<RowReport> = Vec::new();
        for sample in samples {
            let id = sample.id.to_string();
            let host = self.intake.hosts.name(sample.host).map(String::from);
            let places =
                self.places.and_then(|places| places.get(&sample.id)).filter(|places| sample.line == 0 && !places.is_empty());
            let Some(places) = places else {
                rows.push(RowReport { place: (sample.line > 0).then_some((sample.file, sample.line)), id, host });
                continue;
            };
            if rows.iter().any(|row| row.id == id) {
                continue;
            }
            rows.extend(places.iter().map(|(file, line, host)| RowReport {
                place: Some((*file, *line)),
                id: id.clone(),
                host: host.clone(),
            }));
        }
        rows
    }

    fn hosts_of(&self, samples: &[Sample]) -> Vec<String> {
        let mut hosts: Vec<_> = samples.iter().map(|sample| sample.host).filter(|&host| host != NO_HOST).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts.into_iter().filter_map(|host| self.intake.hosts.name(host).map(String::from)).collect()
    }

    fn add(&mut self, mut finding: Finding, node: Option<u32>, tally: &Tally) {
        finding.node = node;
        finding.at_ms = tally.at_ms;
        finding.from_ms = tally.from_ms;
        finding.to_ms = tally.to_ms;
        finding.rows = self.rows(&tally.samples);
        finding.hosts = self.hosts_of(&tally.samples);
        self.findings.push(finding);
    }

    /// A finding for each of the nodes that have most of it, and one for all others.
    fn by_node(&mut self, by_node: &ByNode, make: impl Fn(&Self, Option<u32>, &Tally) -> Finding) {
        let ranked = by_node.ranked();
        let (named, others) = ranked.split_at(ranked.len().min(self.options.max_rows));
        for &(node, tally) in named {
            let finding = make(self, node, tally);
            self.add(finding, node, tally);
        }
        if !others.is_empty() {
            let mut rest = Tally::default();
            for (_, tally) in others {
                rest.merge(tally, self.options.max_rows);
            }
            let mut finding = make(self, None, &rest);
            finding.message = format!("{} further nodes: {}", count(others.len() as u64), finding.message);
            self.add(finding, None, &rest);
        }
    }

    fn repeats(&mut self) {
        self.by_node(&self.ledger.repeats, |_, node, tally| {
            let values = plural(tally.count, "ID", "IDs");
            let verb = if tally.count == 1 { "occurs" } else { "occur" };
            let message = format!("{values}{} {verb} more than once, in {} rows", of_node(node), count(tally.rows));
            let hint = "If the rows are not copies of each other, two processes used one node id, or a clock went back. A column of \
                        hosts (--host) and rows in the order of arrival tell which.";
            let mut finding = Finding::new(Kind::Repeats, Certainty::Exact, tally.count, message, hint);
            finding.count_rows = Some(tally.rows);
            finding
        });
    }

    fn shared_nodes(&mut self) {
        const HINT: &str = "Give each host its own node id: from a lease, or from one list.";
        let ticks = &self.ledger.shared_ticks;
        self.by_node(ticks, |facts, node, tally| {
            let hosts = facts.hosts_of(&tally.samples).join(", ");
            let count = plural(tally.count, "tick", "ticks");
            let message = format!("two hosts minted in the same tick{}, in {count}: {hosts}", of_node(node));
            Finding::new(Kind::SharedNode, Certainty::Exact, tally.count, message, HINT)
        });
        for (node, tally) in self.ledger.turns.ranked() {
            if ticks.ranked().iter().any(|(other, _)| *other == node) {
                continue;
            }
            let hosts = node.and_then(|node| self.ledger.node(node)).map_or(&[][..], |node| &node.hosts);
            let names: Vec<_> = hosts.iter().filter_map(|&host| self.intake.hosts.name(host).map(String::from)).collect();
            let times = plural(tally.count, "time", "times");
            let message = format!("hosts took turns{} within a second, {times}: {}", of_node(node), names.join(", "));
            let finding = Finding::new(Kind::SharedNode, Certainty::Exact, tally.count, message, HINT);
            self.add(finding, node, tally);
            if let Some(last) = self.findings.last_mut() {
                last.hosts = names;
            }
        }
    }

    fn times(&mut self) {
        let intake = self.intake;
        let mut future = intake.future.clone();
        let reading = intake.reading.as_ref();
        for other in reading.map_or(Vec::new(), |reading| statistics::other_layouts(self.ledger, reading, self.options.now_ms)) {
            // What is of another layout is not in the future.
            future.leave_out(other.from_ms, other.to_ms);
            let mut tally = Tally { count: other.ids, ..Tally::default() };
            tally.from_ms = Some(other.from_ms);
            tally.to_ms = Some(other.to_ms);
            tally.samples = other.samples.iter().map(|&id| Sample::of_id(id)).collect();
            let hint = format!("Audit each generator's IDs alone: --layout {}", other.name);
            let mut finding = Finding::new(Kind::MixedLayouts, Certainty::Statistical, other.ids, other.message, hint);
            finding.false_alarm_rate = Some(other.rate);
            self.add(finding, None, &tally);
        }
        self.by_node(&future, |_, node, tally| {
            let latest = tally.to_ms.map_or(String::new(), instant);
            let ids = plural(tally.count, "ID", "IDs");
            let message = format!("{ids}{} {} later than now, up to {latest}", of_node(node), be(tally.count));
            let hint = "The layout or its epoch is another one, or the node's clock was ahead. Before that clock is set back, give the \
                        process a node id that was never used: otherwise it can repeat these IDs.";
            Finding::new(Kind::Future, Certainty::Exact, tally.count, message, hint)
        });
        if intake.before_epoch.count > 0 {
            let tally = &intake.before_epoch;
            let earliest = tally.from_ms.map_or(String::new(), instant);
            let ids = plural(tally.count, "ID", "IDs");
            let message = format!("{ids} {} below zero: a time before the epoch, from {earliest}", be(tally.count));
            let hint = "A clock was not set yet when the process started. Start generators after the clock is synchronised.";
            let finding = Finding::new(Kind::BeforeEpoch, Certainty::Exact, tally.count, message, hint);
            self.add(finding, None, tally);
        }
        if intake.negative.count > 0 {
            let tally = &intake.negative;
            let ids = plural(tally.count, "ID", "IDs");
            let message = format!("{ids} {} below zero, which the layout does not have", be(tally.count));
            let hint = "The time field overflowed into the sign bit, or other bits did. A layout with a wider time field needs a new \
                        column: in this one its IDs can repeat old ones.";
            let finding = Finding::new(Kind::Negative, Certainty::Exact, tally.count, message, hint);
            self.add(finding, None, tally);
        }
        if intake.outside.count > 0 {
            let tally = &intake.outside;
            let ids = plural(tally.count, "ID", "IDs");
            let verb = if tally.count == 1 { "has" } else { "have" };
            let message = format!("{ids} {verb} bits above the width of the layout");
            let hint = "They come from another generator, or the layout is another one.";
            let finding = Finding::new(Kind::MixedLayouts, Certainty::Exact, tally.count, message, hint);
            self.add(finding, None, tally);
        }
    }

    fn steps(&mut self) {
        let mut back = ByNode::default();
        let mut forward = ByNode::default();
        let numbers = self.intake.slots.nodes();
        let has_nodes =
            self.intake.reading.as_ref().and_then(|reading| reading.keys.as_ref()).is_some_and(|keys| keys.node_bits > 0);
        for step in &self.intake.orders.steps {
            let Step { slot, is_back, before_ms, after_ms, by_ms, sample, .. } = *step;
            let node = numbers.get(slot).copied().filter(|_| has_nodes);
            let tally = if is_back { back.of(node) } else { forward.of(node) };
            tally.count += 1;
            tally.at_ms.get_or_insert(before_ms);
            if by_ms > tally.most_ms {
                (tally.most_ms, tally.from_ms, tally.to_ms) = (by_ms, Some(before_ms), Some(after_ms));
            }
            tally.show(sample, self.options.max_rows);
        }
        self.by_node(&back, |_, node, tally| {
            let by = length(tally.most_ms);
            let at = tally.at_ms.map_or(String::new(), instant);
            let message = match tally.count {
                1 => format!("the time{} goes back by {by} at {at}, in the order of the rows", of_node(node)),
                times => format!("the time{} goes back {} times, by up to {by}, first at {at}", of_node(node), count(times)),
            };
            let hint = "The clock was set back. Slew the clock instead, and use a generator that remembers its last time.";
            Finding::new(Kind::ClockBack, Certainty::Exact, tally.count, message, hint)
        });
        self.by_node(&forward, |_, node, tally| {
            let by = length(tally.most_ms);
            let at = tally.at_ms.map_or(String::new(), instant);
            let message =
                format!("the time{} leaps {by} ahead of all other nodes after {at}, in the order of the rows", of_node(node));
            let hint = "The clock was ahead. Before it is set back, give the process a node id that was never used: otherwise it can \
                        repeat these IDs.";
            Finding::new(Kind::ClockForward, Certainty::Exact, tally.count, message, hint)
        });
    }

    fn rest(&mut self) {
        self.time_ends();
        self.by_node(&self.ledger.peaks, |_, node, tally| {
            let ticks = plural(tally.count, "tick", "ticks");
            let message = format!("all sequence numbers{} are used in {ticks}", of_node(node));
            let hint = "The node is at its limit. Use more nodes. A layout with more sequence bits needs a new column: in this one its \
                        IDs can repeat old ones.";
            Finding::new(Kind::Peak, Certainty::Exact, tally.count, message, hint)
        });
        let intake = self.intake;
        if intake.unreadable > 0 {
            let rows = plural(intake.unreadable, "row", "rows");
            let first = intake.unreadable_rows.first();
            let why = first.map_or(String::new(), |row| format!("; the first: {}", row.reason.text()));
            let message = format!("{rows} without an ID{why}");
            let mut finding =
                Finding::new(Kind::Unreadable, Certainty::Exact, intake.unreadable, message, "Look at the listed rows.");
            let row = |row: &crate::intake::Unreadable| RowReport {
                place: Some((row.file, row.line)),
                id: row.text.clone(),
                host: None,
            };
            finding.rows = intake.unreadable_rows.iter().map(row).collect();
            self.findings.push(finding);
        }
        self.capped();
    }

    fn time_ends(&mut self) {
        const YEARS_MS: i64 = 5 * 365 * crate::calendar::DAY_MS;
        let Some(layout) = self.intake.reading.as_ref().and_then(|reading| reading.layout.as_ref()) else { return };
        let last_ms = i64::try_from(layout.plan().last_ms).unwrap_or(i64::MAX);
        let now_ms = self.options.now_ms;
        if last_ms > now_ms.saturating_add(YEARS_MS) {
            return;
        }
        let message = if last_ms < now_ms {
            format!("the time field ended at {}", instant(last_ms))
        } else {
            format!("the time field ends at {}, in {}", instant(last_ms), length(last_ms - now_ms))
        };
        let hint = "Plan a new column, with a wider time field or a later epoch. In this column their IDs can repeat old ones.";
        let mut finding = Finding::new(Kind::TimeEnds, Certainty::Exact, 1, message, hint);
        finding.at_ms = Some(last_ms);
        self.findings.push(finding);
    }

    fn capped(&mut self) {
        let mut capped = Vec::new();
        let nodes = self.ledger.slots.first_refused.or(self.intake.slots.first_refused);
        if let Some(node) = nodes {
            capped.push(format!("nodes after the first {}, from node {node} on", count(self.ledger.slots.nodes().len() as u64)));
        }
        if let Some(host) = &self.intake.hosts.first_refused {
            capped.push(format!("hosts after the first {}, from {host} on", count(self.intake.hosts.count() as u64)));
        }
        if self.ledger.days_capped {
            capped.push(format!("days after the first {}", count(self.ledger.days.len() as u64)));
        }
        for what in capped {
            let message = format!("the memory was too small for {what}");
            let hint = "Repeats are found all the same. Give more memory: --memory 1G.";
            self.findings.push(Finding::new(Kind::Capped, Certainty::Exact, 1, message, hint));
        }
    }
}

fn be(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}
