//! Which named layout IDs are probably of. One ID is weighed as `npm/frazil/src/likely/layouts.ts` does, so that `decode` and the audit do
//! not contradict each other; many IDs also say how their nodes are spread, and whether the times of the rows fit.

use frazil::Layout;

use crate::calendar::{DAY_MS, count};
use crate::key::Keys;

const MONTH_MS: i64 = 30 * DAY_MS;
/// A layout that fewer of the IDs fit is none.
const LEAST_SHARE: f64 = 0.5;
/// From so many IDs on, they say more together than alone.
const MANY: u64 = 32;
/// Times of rows and IDs agree within this, time zones included.
const CREATED_MS: i64 = DAY_MS;

/// What is known of a system's IDs; the table of `likely/layouts.ts`.
struct System {
    usual: f64,
    counts: bool,
    since_ms: i64,
}

fn system(name: &str) -> System {
    let (usual, counts, since_ms) = match name {
        "default" => (2.0, true, 0),
        "twitter" => (5.0, true, 0),
        "discord" => (4.0, true, 0),
        "instagram" => (3.0, false, 0),
        // Since its version 2.0 of October 2017.
        "mastodon" => (3.0, false, 1_506_816_000_000),
        "tsid" => (1.0, false, 0),
        "sonyflake" => (1.0, true, 0),
        _ => (0.0, true, 0),
    };
    System { usual, counts, since_ms }
}

/// A layout that the IDs can be of.
pub(crate) struct Guess {
    pub(crate) name: &'static str,
    pub(crate) layout: Layout,
    pub(crate) score: f64,
    pub(crate) reason: String,
}

/// Weighs the named layouts for IDs and, where they are known, the times of their rows; the most likely one first.
pub(crate) fn guess(rows: &[(u64, Option<i64>)], now_ms: i64) -> Vec<Guess> {
    let mut guesses: Vec<Guess> = Vec::new();
    for name in Layout::names() {
        let Ok(layout) = Layout::named(name) else { continue };
        let same = guesses.iter_mut().find(|guess| is_same(&guess.layout, &layout));
        if let Some(same) = same {
            same.reason.push_str("; the same as ");
            same.reason.push_str(name);
            continue;
        }
        if let Some((score, reason)) = weigh(name, &layout, rows, now_ms) {
            guesses.push(Guess { name, layout, score, reason });
        }
    }
    // Stable, so of equal ones the first of the table comes first.
    guesses.sort_by(|a, b| b.score.total_cmp(&a.score));
    guesses
}

/// Whether two layouts read every ID alike, but for the names of parts.
fn is_same(a: &Layout, b: &Layout) -> bool {
    let shape = |layout: &Layout| {
        let keys = Keys::new(layout);
        let parts = (keys.time_shift, keys.time_bits, keys.node_shift, keys.node_bits, keys.sequence_bits, layout.bits());
        (keys.epoch_ms, keys.tick_ms, parts, layout.fields().first().map(|field| field.kind))
    };
    shape(a) == shape(b)
}

fn weigh(name: &str, layout: &Layout, rows: &[(u64, Option<i64>)], now_ms: i64) -> Option<(f64, String)> {
    let keys = Keys::new(layout);
    let System { usual, counts, since_ms } = system(name);
    let span_ms = keys.tick_ms as f64 * 2_f64.powi(keys.time_bits.cast_signed());
    let (mut fitting, mut low, mut created, mut agreeing) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut fitting_keys = Vec::new();
    let mut recency = 0.0;
    let mut nodes = std::collections::BTreeMap::<u32, u32>::new();
    for &(id, created_ms) in rows {
        let key = keys.key(id);
        if keys.is_outside(key) {
            continue;
        }
        let ms = keys.ms_of(key);
        if ms > now_ms.saturating_add(DAY_MS) || ms < keys.epoch_ms + DAY_MS || ms < since_ms {
            continue;
        }
        fitting += 1;
        fitting_keys.push(key);
        recency += (span_ms / ((now_ms - ms).max(0) + MONTH_MS) as f64).log2();
        let sequence = key & crate::key::ones(keys.sequence_bits);
        low += u64::from(u128::from(sequence) * 256 < 1 << keys.sequence_bits);
        *nodes.entry(keys.node(key)).or_default() += 1;
        if let Some(created_ms) = created_ms {
            created += 1;
            agreeing += u64::from(created_ms.abs_diff(ms) <= CREATED_MS.cast_unsigned());
        }
    }
    let share = fitting as f64 / rows.len().max(1) as f64;
    if share < LEAST_SHARE {
        return None;
    }
    let of = |count: u64, all: u64| count as f64 / all.max(1) as f64;
    let mut score = usual + recency / fitting as f64;
    let mut reasons = vec![format!("{} of the IDs lie between its epoch and now", percent(share))];
    // Each ID that does not fit is evidence against the layout.
    score -= 20.0 * (1.0 - share);
    if counts {
        let low = of(low, fitting);
        score += 5.0 * low - 3.0 * (1.0 - low);
        reasons.push(format!("{} have a low sequence number", percent(low)));
        // In the right layout, the first ID of a node in a tick has the sequence number 0.
        fitting_keys.sort_unstable();
        let ticks = || fitting_keys.chunk_by(|a, b| a >> keys.node_shift == b >> keys.node_shift);
        let begins = of(ticks().filter(|ids| keys.low(ids[0]) == 0).count() as u64, ticks().count() as u64);
        if fitting >= MANY {
            score += 6.0 * begins;
            reasons.push(format!("{} of the ticks of a node begin at 0", percent(begins)));
        }
    }
    if keys.node_bits > 0 {
        let all = 2_f64.powi(keys.node_bits.cast_signed());
        let used = nodes.len() as f64;
        // How many different ones random node bits would give.
        let random = all * (1.0 - (1.0 - 1.0 / all).powf(fitting as f64));
        if fitting >= MANY {
            score += if used < random / 4.0 {
                4.0
            } else if used > random * 0.8 {
                -6.0
            } else {
                0.0
            };
        }
        reasons.push(format!("{} of {} node ids are used", count(nodes.len() as u64), count(1 << keys.node_bits)));
    }
    if created > 0 {
        let agreeing = of(agreeing, created);
        score += 20.0 * agreeing;
        reasons.push(format!("{} are within a day of their created_at", percent(agreeing)));
    }
    Some(((score * 10.0).round() / 10.0, reasons.join(", ")))
}

fn percent(share: f64) -> String {
    format!("{}%", (share * 1000.0).floor() / 10.0)
}
