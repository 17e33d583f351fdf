//! `ranges.json`: composing IDs from values, and the smallest and largest ID of a time.

use serde_json::{Value, json};

use super::comment::comment;
use super::json::{decimal, merge, number, numbers};
use super::test_layouts::{TestLayout, middle_values, test_layout, test_layouts};
use crate::model::errors::{Rule, sentence};
use crate::model::layout::{Kind, Layout};

pub(super) fn vectors() -> Value {
    json!({
        "_comment": comment(&[
            "compose: layout.compose({ timestampMs, node, clock, sequence }) gives id, or is refused. null stands for an argument that is not given.",
            "ranges: minIdAt(timestampMs, { node }) is minId and maxIdAt(timestampMs, { node }) is maxId, both inclusive: the IDs of the tick that contains timestampMs; or both calls are refused alike. node is null where it is not given.",
            "stretches: range(fromMs, toMs, { node }) is fromId and untilId, half open: the IDs of the ticks from the one that contains fromMs up to, but not including, the one that contains toMs; or it is refused. Times before the epoch count as the epoch, and after the last tick there are no IDs. No bound is above 2^63 - 1, or 2^64 - 1 in a layout of 64 bits.",
            "nodes: a node id by the names of its parts. node is what the caller gives: a number, or an object from part names to numbers. joined is the node id as one number, and id the ID that has this node id and zeros elsewhere (timestampMs is the epoch); or the node is refused wherever one is given.",
        ]),
        "compose": test_layouts().iter().flat_map(compositions).collect::<Vec<_>>(),
        "ranges": test_layouts().iter().flat_map(ranges).collect::<Vec<_>>(),
        "stretches": test_layouts().iter().flat_map(stretches).collect::<Vec<_>>(),
        "nodes": nodes(),
    })
}

fn error(code: &str, field: &str, rule: Rule, min: u128, max: u128) -> Value {
    json!({ "code": code, "field": field, "rule": sentence(rule, min, max) })
}

fn out_of_range(layout: &Layout) -> Value {
    error("TIME_OUT_OF_RANGE", "timestampMs", Rule::TIME_RANGE, layout.epoch_ms, layout.end_ms())
}

fn too_large(code: &str, field: &str, max: u128) -> Value {
    error(code, field, Rule::WHOLE_NUMBER, 0, max)
}

fn compositions(test: &TestLayout) -> Vec<Value> {
    let layout = &test.layout;
    let max = |kind| layout.count(kind) - 1;
    let [tick, node, clock, sequence] = middle_values(layout);
    let if_has = |kind, value| layout.has(kind).then_some(value);
    let (node, clock) = (if_has(Kind::Node, node), if_has(Kind::Clock, clock));
    let case = |timestamp_ms: u128, node: Option<u128>, clock: Option<u128>, sequence, expected| {
        let given = json!({
            "layout": test.name,
            "timestampMs": number(timestamp_ms),
            "node": node.map(number),
            "clock": clock.map(number),
            "sequence": number(sequence),
        });
        merge(given, expected)
    };
    let composed = |tick, node: Option<u128>, clock: Option<u128>, sequence| {
        let id = layout.compose(tick, node.unwrap_or(0), clock.unwrap_or(0), sequence);
        case(layout.start_ms(tick), node, clock, sequence, json!({ "id": decimal(id) }))
    };
    let start_ms = layout.start_ms(tick);
    let (last_node, last_clock) = (if_has(Kind::Node, max(Kind::Node)), if_has(Kind::Clock, max(Kind::Clock)));
    let mut cases = vec![
        composed(0, if_has(Kind::Node, 0), if_has(Kind::Clock, 0), 0),
        composed(tick, node, clock, sequence),
        composed(max(Kind::Time), last_node, last_clock, max(Kind::Sequence)),
        case(layout.end_ms() + 1, node, clock, sequence, out_of_range(layout)),
        case(start_ms, node, clock, max(Kind::Sequence) + 1, too_large("INVALID_ARGUMENT", "sequence", max(Kind::Sequence))),
    ];
    if layout.epoch_ms > 0 {
        cases.push(case(layout.epoch_ms - 1, node, clock, sequence, out_of_range(layout)));
    }
    if layout.tick_ms > 1 {
        let not_tick_start = || error("INVALID_ARGUMENT", "timestampMs", Rule::TICK_START, layout.tick_ms, 0);
        cases.push(case(start_ms + 1, node, clock, sequence, not_tick_start()));
        cases.push(case(start_ms + layout.tick_ms - 1, node, clock, sequence, not_tick_start()));
        cases.push(case(layout.end_ms(), node, clock, sequence, not_tick_start()));
    }
    let missing = |field| error("INVALID_ARGUMENT", field, Rule::FIELD_MISSING, 0, 0);
    let absent = |field| error("INVALID_ARGUMENT", field, Rule::FIELD_ABSENT, 0, 0);
    if layout.has(Kind::Node) {
        cases.push(case(start_ms, None, clock, sequence, missing("node")));
        let max = max(Kind::Node);
        cases.push(case(start_ms, Some(max + 1), clock, sequence, too_large("INVALID_NODE", "node", max)));
    } else {
        cases.push(case(start_ms, Some(0), clock, sequence, absent("node")));
    }
    if layout.has(Kind::Clock) {
        cases.push(case(start_ms, node, None, sequence, missing("clock")));
        let max = max(Kind::Clock);
        cases.push(case(start_ms, node, Some(max + 1), sequence, too_large("INVALID_ARGUMENT", "clock", max)));
    } else {
        cases.push(case(start_ms, node, Some(0), sequence, absent("clock")));
    }
    cases
}

fn ranges(test: &TestLayout) -> Vec<Value> {
    let layout = &test.layout;
    let [tick, node, ..] = middle_values(layout);
    let case = |timestamp_ms: u128, node: Option<u128>, expected| {
        merge(json!({ "layout": test.name, "timestampMs": number(timestamp_ms), "node": node.map(number) }), expected)
    };
    let (start_ms, end_ms) = (layout.start_ms(tick), layout.end_ms());
    if let Some(field) = [Kind::Clock, Kind::Sequence].into_iter().find(|kind| layout.above_time(*kind)) {
        let not_ordered = || error("NOT_TIME_ORDERED", field.name(), Rule::NOTHING_UNORDERED, 0, 0);
        return vec![case(layout.epoch_ms, None, not_ordered()), case(start_ms, Some(node), not_ordered())];
    }
    let node_is_above = layout.above_time(Kind::Node);
    let node = node_is_above.then_some(node);
    let range = |timestamp_ms: u128, node: Option<u128>| {
        let (min_id, max_id) = layout.id_range((timestamp_ms - layout.epoch_ms) / layout.tick_ms, node.unwrap_or(0));
        case(timestamp_ms, node, json!({ "minId": decimal(min_id), "maxId": decimal(max_id) }))
    };
    let mut cases = vec![range(layout.epoch_ms, node), range(start_ms, node)];
    if layout.tick_ms > 1 {
        cases.push(range(layout.epoch_ms + layout.tick_ms - 1, node));
        cases.push(range(layout.epoch_ms + layout.tick_ms, node));
        cases.push(range(start_ms + layout.tick_ms / 2, node));
        cases.push(range(start_ms + layout.tick_ms - 1, node));
        cases.push(range(layout.start_ms(layout.last_tick()), node));
    }
    cases.push(range(end_ms, node));
    cases.push(case(end_ms + 1, node, out_of_range(layout)));
    if layout.epoch_ms > 0 {
        cases.push(case(layout.epoch_ms - 1, node, out_of_range(layout)));
        cases.push(case(0, node, out_of_range(layout)));
    }
    if node_is_above {
        let max = layout.count(Kind::Node) - 1;
        cases.extend([range(start_ms, Some(0)), range(start_ms, Some(max))]);
        cases.push(case(start_ms, None, error("INVALID_ARGUMENT", "node", Rule::FIELD_ABOVE, 0, 0)));
        cases.push(case(start_ms, Some(max + 1), too_large("INVALID_NODE", "node", max)));
    } else {
        cases.push(case(start_ms, Some(0), error("INVALID_ARGUMENT", "node", Rule::FIELD_BELOW, 0, 0)));
    }
    cases
}

fn stretches(test: &TestLayout) -> Vec<Value> {
    let layout = &test.layout;
    let [tick, node, ..] = middle_values(layout);
    let node_is_above = layout.above_time(Kind::Node);
    let case = |from_ms: u128, to_ms: u128, node: Option<u128>, expected| {
        let given = json!({ "layout": test.name, "fromMs": number(from_ms), "toMs": number(to_ms), "node": node.map(number) });
        merge(given, expected)
    };
    if let Some(field) = [Kind::Clock, Kind::Sequence].into_iter().find(|kind| layout.above_time(*kind)) {
        let not_ordered = error("NOT_TIME_ORDERED", field.name(), Rule::NOTHING_UNORDERED, 0, 0);
        return vec![case(layout.epoch_ms, layout.end_ms(), None, not_ordered)];
    }
    let node = node_is_above.then_some(node);
    let stretch = |from_ms: u128, to_ms: u128| {
        let [from_id, until_id] = [from_ms, to_ms].map(|ms| {
            let tick = (ms.max(layout.epoch_ms) - layout.epoch_ms) / layout.tick_ms;
            let (first, last) = layout.id_range(tick.min(layout.last_tick()), node.unwrap_or(0));
            let bound = if layout.max_id() < 1 << 63 { (1 << 63) - 1 } else { (1 << 64) - 1 };
            bound.min(if tick <= layout.last_tick() { first } else { last + 1 })
        });
        case(from_ms, to_ms, node, json!({ "fromId": decimal(from_id), "untilId": decimal(until_id) }))
    };
    let (start_ms, end_ms) = (layout.start_ms(tick), layout.end_ms());
    let refused = |node, expected| case(start_ms, end_ms, node, expected);
    let mut cases = vec![
        stretch(layout.epoch_ms, start_ms),
        stretch(start_ms, start_ms),
        stretch(start_ms, start_ms + layout.tick_ms),
        stretch(start_ms, start_ms + layout.tick_ms - 1),
        stretch(start_ms + layout.tick_ms - 1, start_ms + 2 * layout.tick_ms - 1),
        stretch(start_ms, end_ms),
        stretch(start_ms, end_ms + 1),
        stretch(0, end_ms + 2),
        stretch(end_ms, end_ms + 1),
        stretch(end_ms + 1, end_ms + 1000),
        case(start_ms + 1, start_ms, node, error("INVALID_ARGUMENT", "from", Rule::FROM_AFTER_TO, 0, start_ms)),
    ];
    if layout.epoch_ms > 0 {
        cases.extend([stretch(layout.epoch_ms - 1, start_ms), stretch(0, layout.epoch_ms - 1)]);
        let before_1970 = json!({ "layout": test.name, "fromMs": -1, "toMs": 0, "node": node.map(number), "jsOnly": true });
        let first = decimal(layout.id_range(0, node.unwrap_or(0)).0);
        cases.push(merge(before_1970, json!({ "fromId": first, "untilId": first })));
    }
    // Where the epoch is after 100,000,000,000, what is below and has its thousandfold in the layout is in seconds.
    let seconds_end = 100_000_000_000;
    let (first, last) = (layout.epoch_ms.div_ceil(1000), (end_ms / 1000).min(seconds_end - 1));
    if layout.epoch_ms >= seconds_end && first <= last {
        let in_seconds = |field, ms: u128| json!({ "code": "TIME_OUT_OF_RANGE", "field": field, "value": number(ms), "rule": sentence(Rule::NOT_SECONDS, 0, 0) });
        cases.push(case(first, start_ms, node, in_seconds("from", first)));
        cases.push(case(last, start_ms, node, in_seconds("from", last)));
        cases.push(case(0, first, node, in_seconds("to", first)));
        cases.push(case(last, first, node, in_seconds("from", last)));
        cases.extend([stretch(first - 1, start_ms), stretch(0, last + 1)]);
    } else if layout.epoch_ms > 1 {
        cases.push(stretch(layout.epoch_ms.div_ceil(1000), start_ms));
    }
    if node_is_above {
        let max = layout.count(Kind::Node) - 1;
        cases.push(refused(None, error("INVALID_ARGUMENT", "node", Rule::FIELD_ABOVE, 0, 0)));
        cases.push(refused(Some(max + 1), too_large("INVALID_NODE", "node", max)));
    } else {
        cases.push(refused(Some(0), error("INVALID_ARGUMENT", "node", Rule::FIELD_BELOW, 0, 0)));
    }
    cases
}

fn nodes() -> Vec<Value> {
    let mut cases = Vec::new();
    for name in [
        "default",
        "twitter",
        "discord",
        "instagram",
        "sonyflake",
        "baidu",
        "seata",
        "safe53",
        "node split by time",
        "node split in three",
        "node parts in a row above time",
        "node last",
        "32 node parts of one bit",
        "widest node",
    ] {
        let test = test_layout(name);
        let layout = &test.layout;
        let max = layout.count(Kind::Node) - 1;
        for joined in [0, 1, max / 3, max / 2 + 1, max] {
            let id = layout.compose(0, joined, 0, 0);
            let expected = json!({ "joined": number(joined), "id": decimal(id) });
            let case = |given: Value| merge(json!({ "layout": test.name, "node": given }), expected.clone());
            cases.extend([case(number(joined)), case(numbers(&layout.decode(id).parts))]);
        }
    }
    let wrong = |name: &str, given: Value, rule: String| {
        let expected = json!({ "code": "INVALID_NODE", "field": "node", "rule": rule });
        merge(json!({ "layout": test_layout(name).name, "node": given }), expected)
    };
    let names = || sentence(Rule::PART_NAMES, 0, 0);
    let whole = |max| sentence(Rule::WHOLE_NUMBER, 0, max);
    let none = || sentence(Rule::NODE_NONE, 0, 0);
    cases.extend([
        // The parts can be given in any order.
        json!({ "layout": "twitter", "node": { "worker": 17, "datacenter": 3 }, "joined": 113, "id": (113 << 12).to_string() }),
        wrong("twitter", json!({}), names()),
        wrong("twitter", json!({ "datacenter": 3 }), names()),
        wrong("twitter", json!({ "worker": 3 }), names()),
        wrong("twitter", json!({ "datacenter": 3, "machine": 17 }), names()),
        wrong("twitter", json!({ "datacenter": 3, "worker": 17, "process": 1 }), names()),
        wrong("twitter", json!({ "node": 113 }), names()),
        wrong("twitter", json!({ "datacenter": 32, "worker": 17 }), whole(31)),
        wrong("twitter", json!({ "datacenter": 3, "worker": 32 }), whole(31)),
        wrong("twitter", json!(1024), whole(1023)),
        wrong("default", json!({ "worker": 1 }), names()),
        wrong("default", json!({ "node": 1024 }), whole(1023)),
        wrong("node split by time", json!({ "a": 8, "b": 0 }), whole(7)),
        wrong("node split by time", json!({ "a": 0, "b": 16 }), whole(15)),
        wrong("node split by time", json!(128), whole(127)),
        wrong("widest node", json!(1_u64 << 32), whole((1 << 32) - 1)),
        wrong("mastodon", json!(0), none()),
        wrong("mastodon", json!({ "node": 0 }), none()),
        wrong("mastodon", json!({}), none()),
        merge(wrong("twitter", json!({ "datacenter": -1, "worker": 17 }), whole(31)), json!({ "jsOnly": true })),
        merge(wrong("twitter", json!({ "datacenter": 0.5, "worker": 17 }), whole(31)), json!({ "jsOnly": true })),
    ]);
    cases
}
