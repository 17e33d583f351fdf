//! Findings that are inferences: a node that looks shared, rounded IDs, IDs of another layout, nodes chosen at random.

use frazil::Layout;

use crate::calendar::{DAY_MS, count, date};
use crate::intake::Reading;
use crate::key::Keys;
use crate::ledger::{Day, Ledger, Node};
use crate::rounded::{FALSE_ALARM_RATE, Rounded, tail};

/// Distances of a kind that say something.
const FEW: u64 = 10;
/// Repeats in so many minutes are not those of one step of a clock.
const SPREAD_MINUTES: u64 = 5;

/// Sums over all nodes, taken once: there may be millions of them.
pub(crate) struct Totals {
    distances: u64,
    far: u64,
    squares: f64,
    nodes: usize,
}

impl Totals {
    pub(crate) fn of(ledger: &Ledger) -> Self {
        Self {
            distances: ledger.total(distances),
            far: ledger.total(|node| node.far),
            squares: ledger.nodes.iter().map(square).sum(),
            nodes: ledger.nodes.len(),
        }
    }
}

fn distances(node: &Node) -> u64 {
    node.near + node.middle + node.far
}

fn square(node: &Node) -> f64 {
    (node.ids as f64).powi(2)
}

/// Why a node looks shared; `None` if it does not.
pub(crate) fn looks_shared(node: &Node, totals: &Totals) -> Option<String> {
    if node.repeats >= FEW && node.repeat_minutes >= SPREAD_MINUTES && !node.is_copied() {
        let minutes = count(node.repeat_minutes);
        return Some(format!("{} of its IDs occur more than once, spread over {minutes} minutes", count(node.repeats)));
    }
    let (all, far) = (distances(node), node.far);
    // A sequence that counts has neighbours at 1, and a second process others far away; rows that are missing would leave small gaps too,
    // and numbers drawn at random more of those than neighbours.
    let is_two_runs = node.near >= FEW && far >= FEW && node.middle * 4 <= node.near && far * 20 >= all && all * 19 >= far * 20;
    let rest = totals.distances - all;
    let rest_far = totals.far - far;
    // The rate of the others, with three more than were seen: at 95 % the true rate is not above it.
    let usual = (rest_far + 3) as f64 / rest.max(1) as f64;
    let tested = totals.nodes as f64;
    let is_unlike_others = rest >= 300 && usual <= 0.02 && far >= FEW && far * 5 >= all;
    let is_unlike_others = is_unlike_others && tested * tail(all as f64, far as f64, usual) < FALSE_ALARM_RATE;
    // Processes that rarely mint two IDs in a tick: two of them do so more often than each of the others, and with two runs at most. How
    // often IDs meet in a tick grows with the square of their number.
    let rest_square: f64 = totals.squares - square(node);
    let expected = (rest_far + 3) as f64 * square(node) / rest_square.max(1.0);
    let is_meeting = tested >= 3.0 && far >= 2 * FEW && far * 5 <= node.far_ticks * 6 && far as f64 >= 5.0 * expected;
    let is_meeting = is_meeting && tested * poisson_tail(far as f64, expected) < FALSE_ALARM_RATE;
    (is_two_runs || is_unlike_others || is_meeting)
        .then(|| format!("{} of {} sequence numbers of a tick begin another run", count(far), count(all)))
}

/// The chance of at least `count` events where `expected` are: Chernoff's bound.
fn poisson_tail(count: f64, expected: f64) -> f64 {
    if count <= expected { 1.0 } else { (count - expected - count * (count / expected).ln()).exp() }
}

/// Whether IDs went through a double: why, and how many did.
pub(crate) fn rounded(rounded: &Rounded, ledger: &Ledger, keys: &Keys) -> Option<(String, u64)> {
    if rounded.multiples.is_unusual() || rounded.is_uneven() {
        let lost = rounded.usual_lost();
        let (hits, of) = (rounded.multiples.count, rounded.multiples.of());
        let message = format!(
            "{} of {} IDs with a sequence above 0 are multiples of {}, as doubles are",
            count(hits),
            count(of),
            1_u64 << lost
        );
        return Some((message, hits));
    }
    if rounded.are_texts() {
        let hits = rounded.texts.count;
        return Some((format!("{} IDs end in zeros exactly as JavaScript prints a number that lost digits", count(hits)), hits));
    }
    let lost = rounded.usual_lost();
    let used = || ledger.slots.nodes().iter().zip(&ledger.nodes).filter(|(_, node)| node.ids > 0);
    if keys.ends_in_sequence {
        // Rounding makes one ID of those that differ only in their last bits. Repeats of two processes have other sequences as well.
        let repeats = ledger.total(|node| node.repeats);
        let at_zero = ledger.total(|node| node.repeats_at_zero);
        let repeating = used().filter(|(_, node)| node.repeats > 0).count();
        let nodes = used().count();
        let counted = ledger.total(|node| node.counted_ticks) as f64 / ledger.total(|node| node.ticks).max(1) as f64;
        let chance: f64 = if counted > 0.0 { counted * counted / 2.0 } else { 1.0 / 16.0 };
        let is_whole = repeats == at_zero && nodes >= 3 && 2 * repeating >= nodes && repeats * 10 < ledger.distinct * 9;
        if is_whole && lost <= keys.sequence_bits && (1.0 - chance).powf(repeats as f64) < FALSE_ALARM_RATE {
            let message =
                format!("all {} IDs that occur more than once are multiples of {}, as doubles are", count(repeats), 1 << lost);
            return Some((message, rounded.doubles));
        }
        return None;
    }
    // The node is at the low end: rounded, all node ids are multiples.
    let step = 1_u64 << lost.min(keys.node_bits);
    let nodes = used().count();
    let all_rounded = used().all(|(&node, _)| u64::from(node) % step == 0);
    if rounded.large > 0 && nodes > 0 && all_rounded && (1.0 / step as f64).powf(nodes as f64) < FALSE_ALARM_RATE {
        let message = format!("all {} node ids are multiples of {step}, as doubles make them", count(nodes as u64));
        return Some((message, rounded.doubles));
    }
    None
}

/// IDs that are days apart from all others, and at the time of these in another layout.
pub(crate) struct Other {
    pub(crate) name: &'static str,
    pub(crate) ids: u64,
    pub(crate) from_ms: i64,
    pub(crate) to_ms: i64,
    pub(crate) rate: f64,
    pub(crate) message: String,
    pub(crate) samples: Vec<u64>,
}

/// Days without IDs that separate two groups.
const GAP_DAYS: i64 = 60;
const NEAR_MS: i64 = 30 * DAY_MS;

pub(crate) fn other_layouts(ledger: &Ledger, reading: &Reading, now_ms: i64) -> Vec<Other> {
    let (Some(layout), Some(keys)) = (&reading.layout, &reading.keys) else { return Vec::new() };
    let groups: Vec<&[Day]> = ledger.days.chunk_by(|a, b| b.number - a.number <= GAP_DAYS).collect();
    let size = |group: &[Day]| group.iter().map(|day| day.ids).sum::<u64>();
    let Some(main) = groups.iter().max_by_key(|group| size(group)).copied() else { return Vec::new() };
    let ends = |group: &[Day]| Some((group.first()?.first_key, group.last()?.last_key));
    let Some((first, last)) = ends(main) else { return Vec::new() };
    let near_ms = keys.ms_of(first).saturating_sub(NEAR_MS)..=keys.ms_of(last).saturating_add(NEAR_MS);
    let mut found = Vec::new();
    for group in groups.iter().filter(|group| !std::ptr::eq(**group, main)) {
        let Some((from, to)) = ends(group) else { continue };
        let ids: Vec<u64> = group.iter().flat_map(|day| [keys.id(day.first_key), keys.id(day.last_key)]).collect();
        let fits = |other: &Layout| {
            other != layout
                && ids.iter().all(|&id| {
                    let ms = other.timestamp_of(id).ok().and_then(|ms| i64::try_from(ms).ok());
                    ms.is_some_and(|ms| ms <= now_ms.saturating_add(DAY_MS) && near_ms.contains(&ms))
                })
        };
        let mut names = Layout::names().filter(|name| Layout::named(name).is_ok_and(|other| fits(&other)));
        let Some(name) = names.next() else { continue };
        // By chance, a group lies near to the others in one of the layouts this often.
        let stretch_ms = near_ms.end().saturating_sub(*near_ms.start()) as f64;
        let span_ms = now_ms.saturating_sub(keys.epoch_ms).max(1) as f64;
        let rate = (Layout::names().count() as f64 * stretch_ms / span_ms).clamp(1e-3, 1.0);
        let (from_ms, to_ms) = (keys.ms_of(from), keys.ms_of(to));
        let day = |ms: i64| date(ms.div_euclid(DAY_MS)).unwrap_or_default();
        let message = format!(
            "{} IDs would be of {} to {}, far from all others; in the layout {name} they are of the same time as these",
            count(size(group)),
            day(from_ms),
            day(to_ms)
        );
        let ids = size(group);
        let samples = vec![keys.id(from), keys.id(to)];
        found.push(Other { name, ids, from_ms, to_ms, rate, message, samples });
    }
    found
}

/// What the nodes in use would be if they were drawn at random: how many processes, and the chance that two share one. `None` if they look
/// assigned.
pub(crate) fn random_nodes(nodes: &[u32], of: u64) -> Option<(u64, f64)> {
    let used = nodes.len() as u64;
    let (least, most) = (nodes.iter().min()?, nodes.iter().max()?);
    // Numbers in a row, or nearly so, are handed out; and a few say nothing.
    if used < 4 || u64::from(most - least) < 3 * used || used == of {
        return None;
    }
    let (all, used) = (of as f64, used as f64);
    // Some of the processes share a node, so there are more of them than nodes.
    let processes = ((1.0 - used / all).ln() / (1.0 - 1.0 / all).ln()).round().max(used) as u32;
    // The birthday problem: all of them differ with this chance.
    let differ: f64 = (0..processes).map(|other| (1.0 - f64::from(other) / all).max(0.0).ln()).sum();
    Some((u64::from(processes), 1.0 - differ.exp()))
}

/// Whether a node was silent for long while others minted: fewer than one in e^30 pauses would be so by chance.
pub(crate) fn is_silent(node: &Node, all: u64) -> bool {
    const LEAST_MS: i64 = 60_000;
    const EXPECTED: f64 = 30.0;
    let silence = &node.silence;
    let share = node.ids as f64 / all.max(1) as f64;
    silence.to_ms - silence.from_ms >= LEAST_MS && share < 1.0 && silence.others as f64 * share / (1.0 - share) >= EXPECTED
}
