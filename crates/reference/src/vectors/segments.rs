//! `segments.json`: how the steps of a segment follow the load.

use serde_json::{Value, json};

use super::comment::comment;
use super::json::{merge, number};
use crate::model::segment::Terms;

/// The longest step.
const LONGEST: u128 = 1_000_000_000;
/// The longest time.
const MAX_MS: u128 = (1 << 53) - 1;
const MINUTE_MS: u128 = 60_000;

pub(super) fn vectors() -> Value {
    json!({
        "_comment": comment(&[
            "steps: if `numbers` numbers lasted `lastedMs`, and the step is `step`, the next range has `next` numbers (in Rust SegmentTerms::next_step). `base`: the shortest step, which is the configured one, or else the one that the store has for the tag.",
            "segments: a segment that asks for a range at each time of `askedMs` (monotonic, in milliseconds), when it has handed out as many numbers as `drawn` says since the request before, asks for `counts` numbers. `ahead`, unless it is 0: how many of the numbers that were drawn were not handed out by then. A count of null: as many as the store has for the tag, which answers with `storeStep`, as the count and as its step. Without `step` in the terms, the store decides.",
        ]),
        "steps": steps(),
        "segments": segments(),
    })
}

fn terms_of(Terms { max_step, grow_below_ms, shrink_above_ms }: &Terms) -> Value {
    json!({
        "maxStep": number(*max_step),
        "growBelowMs": number(*grow_below_ms),
        "shrinkAboveMs": number(*shrink_above_ms),
    })
}

fn usual(max_step: u128) -> Terms {
    Terms { max_step, grow_below_ms: 15 * MINUTE_MS, shrink_above_ms: 30 * MINUTE_MS }
}

fn step_case(name: &str, terms: &Terms, (step, base): (u128, u128), lasted_ms: u128) -> Value {
    rate_case(name, terms, (step, base), (lasted_ms, step))
}

fn rate_case(name: &str, terms: &Terms, (step, base): (u128, u128), (lasted_ms, numbers): (u128, u128)) -> Value {
    let next = number(terms.next_step(step, base, lasted_ms, numbers));
    let given = json!({ "name": name, "step": number(step), "base": number(base) });
    merge(merge(given, terms_of(terms)), json!({ "lastedMs": number(lasted_ms), "numbers": number(numbers), "next": next }))
}

fn steps() -> Vec<Value> {
    let mut cases = Vec::new();
    let default = usual(1_000_000);
    // Both limits, and one millisecond beside them, on the shortest step, on one between, on one that is not the base times a
    // power of two, on the maximum and next to it.
    for (name, step) in [
        ("the base", 1000),
        ("twice the base", 2000),
        ("less than twice the base", 1999),
        ("more than twice the base", 2001),
        ("half the maximum", 500_000),
        ("less than half the maximum", 499_999),
        ("more than half the maximum", 500_001),
        ("the maximum", 1_000_000),
    ] {
        for lasted_ms in [0, 1, 899_999, 900_000, 900_001, 1_799_999, 1_800_000, 1_800_001, MAX_MS] {
            cases.push(step_case(&format!("{name}, {lasted_ms} ms"), &default, (step, 1000), lasted_ms));
        }
    }
    let short_and_long = [0, MAX_MS];
    for lasted_ms in short_and_long {
        let mut add = |name: &str, terms: &Terms, steps| cases.push(step_case(name, terms, steps, lasted_ms));
        add("a step of one", &default, (1, 1));
        add("a step of one that cannot grow", &usual(1), (1, 1));
        add("an odd step", &default, (7, 1));
        add("an odd step over an odd base", &default, (7, 3));
        add("the base is half of it", &default, (7, 4));
        add("the longest step", &usual(LONGEST), (LONGEST, LONGEST));
        add("the longest step over the shortest base", &usual(LONGEST), (LONGEST, 1));
        add("one below the longest step", &usual(LONGEST), (LONGEST - 1, 1));
        add("the store's step is over the maximum", &usual(1000), (5000, 5000));
        add("the store's step is the longest, and over the maximum", &usual(1), (LONGEST, LONGEST));
        add("the store's step is far over the maximum", &usual(10), (1000, 1000));
    }
    for (name, grow_below_ms, shrink_above_ms) in [
        ("never grows", 0, 1000),
        ("never shrinks", 1000, MAX_MS),
        ("no time between growing and shrinking", 1000, 1000),
        ("never grows, and shrinks unless the time is 0", 0, 0),
        ("grows unless the time is the longest", MAX_MS, MAX_MS),
    ] {
        let terms = Terms { max_step: 100, grow_below_ms, shrink_above_ms };
        for lasted_ms in [0, 1, 999, 1000, 1001, MAX_MS] {
            cases.push(step_case(&format!("{name}, {lasted_ms} ms"), &terms, (40, 10), lasted_ms));
        }
    }
    // A range of 3000 numbers lasts 900 s at the limit, whatever part of it, or how many of them, was measured.
    for (name, numbers, lasted_ms) in [("a third", 1000, 300_000), ("one number", 1, 300), ("twice as many", 6000, 1_800_000)] {
        for (side, lasted_ms) in [("below", lasted_ms - 1), ("at", lasted_ms), ("above the upper limit", 2 * lasted_ms + 1)] {
            cases.push(rate_case(&format!("{name}, {side}"), &default, (3000, 1000), (lasted_ms, numbers)));
        }
    }
    cases.push(rate_case("the largest numbers", &usual(LONGEST), (LONGEST, 1), (MAX_MS, MAX_MS)));
    let mut random = Random(1);
    for index in 1..=300 {
        let base = random.magnitude(1, LONGEST);
        let step = random.magnitude(base, LONGEST);
        let max_step = random.magnitude(1, LONGEST);
        let grow_below_ms = random.magnitude(0, MAX_MS);
        let shrink_above_ms = random.magnitude(grow_below_ms, MAX_MS);
        let terms = Terms { max_step, grow_below_ms, shrink_above_ms };
        let any_ms = random.magnitude(0, MAX_MS);
        let places = [any_ms, grow_below_ms.saturating_sub(1), grow_below_ms, shrink_above_ms, (shrink_above_ms + 1).min(MAX_MS)];
        let lasted_ms = places[random.below(5)];
        let numbers = if random.below(2) == 0 { step } else { random.magnitude(1, LONGEST) };
        cases.push(rate_case(&format!("random {index}"), &terms, (step, base), (lasted_ms, numbers)));
    }
    cases
}

/// A segment whose ranges last that long, the first of them from the time 1000.
fn segment_case(name: &str, terms: &Terms, step: u128, is_of_store: bool, lasted_ms: &[u128]) -> Value {
    let requests: Vec<_> = lasted_ms.iter().map(|lasted_ms| (*lasted_ms, None)).collect();
    history_case(name, terms, step, is_of_store, &requests)
}

/// A segment whose requests come that long after each other, when so many numbers were used; the first at the time 1000.
fn history_case(name: &str, terms: &Terms, step: u128, is_of_store: bool, requests: &[(u128, Option<u128>)]) -> Value {
    let (mut asked_ms, mut drawn) = (vec![1000], vec![0]);
    let counts = terms.counts(step, requests);
    for (at, (lasted_ms, used)) in requests.iter().enumerate() {
        asked_ms.push(asked_ms[at] + lasted_ms);
        drawn.push(used.unwrap_or(counts[at]));
    }
    let counts: Vec<Value> = counts
        .into_iter()
        .enumerate()
        .map(|(at, count)| if is_of_store && at == 0 { json!(null) } else { number(count) })
        .collect();
    let key = if is_of_store { "storeStep" } else { "step" };
    let [asked_ms, drawn] = [asked_ms, drawn].map(|list| list.into_iter().map(number).collect::<Vec<Value>>());
    let history = json!({ "askedMs": asked_ms, "drawn": drawn, "counts": counts });
    merge(merge(json!({ "name": name, key: number(step) }), terms_of(terms)), history)
}

/// The same, by a driver that draws the rest of a range before it asks: nine tenths of each are not handed out then.
fn drawn_ahead(name: &str, mut case: Value) -> Value {
    let numbers = |key: &str| -> Vec<u64> {
        let list = case[key].as_array().into_iter().flatten();
        list.map(|value| value.as_u64().unwrap_or_default()).collect()
    };
    let (used, counts) = (numbers("drawn"), numbers("counts"));
    let mut ahead = vec![0];
    // With the second request, all but the first number of the first range.
    ahead.extend(counts.iter().take(counts.len() - 1).map(|count| count - count / 10 - 1));
    let drawn: Vec<u64> = used
        .iter()
        .enumerate()
        .map(|(at, used)| used + ahead[at] - at.checked_sub(1).map_or(0, |before| ahead[before]))
        .collect();
    case["name"] = json!(name);
    case["drawn"] = json!(drawn);
    case["ahead"] = json!(ahead);
    case
}

fn segments() -> Vec<Value> {
    let (grows, stays, shrinks) = (1000, 20 * MINUTE_MS, 31 * MINUTE_MS);
    let default = usual(1_000_000);
    let mut cases = Vec::new();
    for is_of_store in [false, true] {
        let mut add = |name: &str, terms: &Terms, step, lasted_ms: &[u128]| {
            let name = if is_of_store { format!("{name}, a step of the store") } else { name.to_owned() };
            cases.push(segment_case(&name, terms, step, is_of_store, lasted_ms));
        };
        add("one request", &default, 1000, &[]);
        add("the first two have the base, however long the first lasted", &default, 1000, &[shrinks, stays]);
        add("grows to the maximum", &default, 1000, &[grows; 14]);
        add("a maximum that is no power of two times the base", &usual(5000), 1000, &[grows; 5]);
        add(
            "grows, stays and shrinks",
            &default,
            1000,
            &[grows, grows, grows, stays, stays, shrinks, shrinks, shrinks, grows, stays, shrinks],
        );
        add("never below the base", &default, 1000, &[shrinks; 4]);
    }
    // Each request comes with the number behind the first tenth of a range. The numbers of the last two are those of the rest of
    // the range before and of that tenth.
    let ten_a_second: Vec<_> = [101, 1000, 1100, 2200, 4400, 8800, 16_000, 16_000]
        .into_iter()
        .map(|numbers| (100 * (numbers - numbers % 100), Some(numbers)))
        .collect();
    let table = history_case("ten numbers a second, the table of docs/guides/segments.md", &default, 1000, false, &ten_a_second);
    cases.push(drawn_ahead("ten numbers a second, drawn as the driver does", table.clone()));
    cases.push(table);
    cases.push(segment_case("the store's step is over the maximum", &usual(1000), 5000, true, &[grows, grows, shrinks]));
    let mut random = Random(2);
    for index in 1..=40 {
        let step = random.magnitude(1, 1_000_000);
        let max_step = random.magnitude(step, LONGEST);
        let grow_below_ms = random.magnitude(0, 1 << 40);
        let shrink_above_ms = random.magnitude(grow_below_ms, 1 << 40);
        let terms = Terms { max_step, grow_below_ms, shrink_above_ms };
        let lasted_ms: Vec<u128> = (0..12)
            .map(|_| {
                let any_ms = random.magnitude(0, 1 << 40);
                [any_ms, grow_below_ms.saturating_sub(1), grow_below_ms, shrink_above_ms, shrink_above_ms + 1][random.below(5)]
            })
            .collect();
        cases.push(segment_case(&format!("random {index}"), &terms, step, index % 2 == 0, &lasted_ms));
    }
    cases
}

/// Knuth's MMIX linear congruential generator, of which the high half is used.
struct Random(u128);

impl Random {
    fn next_32_bits(&mut self) -> u128 {
        self.0 = (self.0 * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % (1 << 64);
        self.0 >> 32
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next_32_bits()).unwrap_or_default() % count
    }

    /// A number of at least `min` and at most `max`, small ones as often as large ones.
    fn magnitude(&mut self, min: u128, max: u128) -> u128 {
        let bits = self.below(54);
        let drawn = (self.next_32_bits() << 32) | self.next_32_bits();
        min + (drawn % (1 << bits)).min(max - min)
    }
}
