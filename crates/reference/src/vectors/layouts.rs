//! `layouts.json`: what IDs decode to, what a layout can hold, and which layouts are refused.

use serde_json::{Value, json};

use super::comment::comment;
use super::json::{decimal, decoded, fields, merge, number, spec};
use super::test_layouts::{custom_layouts, middle_values};
use crate::model::errors::{Rule, sentence};
use crate::model::layout::{Field, Kind, Layout, clock, named_layouts, node, part, sequence, time};

pub(super) fn vectors() -> Value {
    let row = |(name, layout): &(&str, Layout)| {
        let plan = layout.plan();
        let plan = json!({
            "plan": {
                "lastMs": number(plan.last_ms),
                "signedUntilMs": plan.signed_until_ms.map(number),
                "ordered": plan.ordered,
                "nodes": number(plan.nodes),
                "idsPerTick": number(plan.ids_per_tick),
            },
            "cases": cases(layout),
        });
        merge(merge(json!({ "name": name }), spec(layout)), plan)
    };
    json!({
        "_comment": comment(&[
            "named: every layout that has a name; a test asserts that these are all and that the library's spec of each is the one here. custom: layouts made from their spec. Both have:",
            "plan: lastMs is the start of the last tick; signedUntilMs the start of the last tick whose IDs are positive in a signed 64-bit column (null where a field other than time holds the sign bit); ordered: time above clock above sequence; nodes: how many node ids (1 without a node field); idsPerTick: how many IDs one node can issue a tick.",
            "cases: id decodes to timestampMs (start of the tick), node (null without a node field), parts (each node field by its name; one without a name is \"node\"; {} without a node field), clock (null without a clock field), sequence; and these compose back to id. `X + 1` is the ID whose integer is one step of the field's lowest bit above that of `X`, so it shows the carry into the field above.",
            "published: IDs of the real world whose meaning the source states; date is timestampMs in ISO 8601. Only the facts that the source states are given: a missing node, parts or sequence is not to be compared.",
            "invalid: making the layout is refused. Here `layout` is a name or a spec.",
        ]),
        "named": named_layouts().iter().map(row).collect::<Vec<_>>(),
        "custom": custom_layouts().iter().map(row).collect::<Vec<_>>(),
        "published": published(),
        "invalid": invalid(),
    })
}

fn cases(layout: &Layout) -> Vec<Value> {
    let max = |kind| layout.count(kind) - 1;
    let [tick, node, clock, sequence] = middle_values(layout);
    let mut ids: Vec<(String, u128)> = vec![
        ("ZERO".into(), 0),
        ("ONE_OF_EACH".into(), layout.id_with_each(1)),
        ("MIDDLE".into(), layout.compose(tick, node, clock, sequence)),
    ];
    for (name, kind, id) in [
        ("MAX_SEQUENCE", Kind::Sequence, layout.compose(tick, node, clock, max(Kind::Sequence))),
        ("MAX_CLOCK", Kind::Clock, layout.compose(tick, node, max(Kind::Clock), sequence)),
        ("MAX_NODE", Kind::Node, layout.compose(tick, max(Kind::Node), clock, sequence)),
        ("MAX_TIME", Kind::Time, layout.compose(max(Kind::Time), node, clock, sequence)),
    ] {
        if layout.has(kind) {
            let unit = layout.unit(kind);
            ids.extend([(format!("{name} - 1"), id - unit), (name.into(), id), (format!("{name} + 1"), id + unit)]);
        }
    }
    ids.extend([("MAX_ID - 1".into(), layout.max_id() - 1), ("MAX_ID".into(), layout.max_id())]);
    let mut state = 0x5eed_u64;
    for number in 1..=4 {
        ids.push((format!("RANDOM {number}"), u128::from(split_mix(&mut state)) & layout.max_id()));
    }
    ids.retain(|(_, id)| *id <= layout.max_id());
    ids.iter().map(|(name, id)| merge(json!({ "name": name, "id": decimal(*id) }), decoded(&layout.decode(*id)))).collect()
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014), with the same numbers on every
/// run.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn published() -> Value {
    json!([
        {
            "source": "Wikipedia, \"Snowflake ID\": a tweet of @Wikipedia",
            "layout": "twitter", "id": "1541815603606036480",
            "timestampMs": 1_656_432_460_105_u64, "date": "2022-06-28T16:07:40.105Z", "node": 378, "sequence": 0,
        },
        {
            "source": "Discord developer documentation, reference, \"Snowflakes\"",
            "layout": "discord", "id": "175928847299117063",
            "timestampMs": 1_462_015_105_796_u64, "date": "2016-04-30T11:18:25.796Z",
            "parts": { "worker": 1, "process": 0 }, "sequence": 7,
        },
        {
            "source": "npm package discord-snowflake, readme",
            "layout": "discord", "id": "90339695967350784",
            "timestampMs": 1_441_609_061_949_u64, "date": "2015-09-07T06:57:41.949Z",
            "parts": { "worker": 0, "process": 3 }, "sequence": 0,
        },
        {
            "source": "docs.rs, twilight_util::snowflake::Snowflake::timestamp",
            "layout": "discord", "id": "105484726235607040",
            "timestampMs": 1_445_219_918_546_u64, "date": "2015-10-19T01:58:38.546Z",
        },
        {
            "source": "npm package twitter-snowflake-to-date, readme",
            "layout": "twitter", "id": "1233161576649121792",
            "timestampMs": 1_582_843_605_564_u64, "date": "2020-02-27T22:46:45.564Z",
        },
        {
            "source": "github.com/client9/snowflake2time, python/snowflake_test.py",
            "layout": "twitter", "id": "204697221847986177",
            "timestampMs": 1_337_638_595_436_u64, "date": "2012-05-21T22:16:35.436Z",
        },
        {
            "source": "github.com/obsidianforensics/unfurl, unfurl/tests/unit/test_twitter.py",
            "layout": "twitter", "id": "1098230906194546688",
            "timestampMs": 1_550_673_626_837_u64, "date": "2019-02-20T14:40:26.837Z",
        },
        {
            "source": "github.com/obsidianforensics/unfurl, unfurl/tests/unit/test_sonyflake.py: 45eec4a4600041b (hexadecimal), machine 4.27",
            "layout": "sonyflake", "id": "314948827708654619",
            "timestampMs": 1_597_253_729_980_u64, "date": "2020-08-12T17:35:29.980Z", "node": 1051,
        },
        {
            "source": "github.com/obsidianforensics/unfurl, unfurl/tests/unit/test_instagram.py: post DW1nTDiDvnF (URL-safe base 64)",
            "layout": "instagram", "id": "3870172288071432645",
            "timestampMs": 1_775_580_510_621_u64, "date": "2026-04-07T16:48:30.621Z", "node": 958, "sequence": 453,
        },
    ])
}

const EPOCH_MS: u64 = 1_704_067_200_000;
const MAX_SAFE: u128 = (1 << 53) - 1;
/// A name of 33 letters, one more than allowed.
const TOO_LONG_NAME: &str = "abcdefghijklmnopqrstuvwxyzabcdefg";

/// A layout that is refused: the name of the case, the spec, and the field and the rule of the error.
fn refused(name: &str, spec: &Value, field: &str, rule: &str) -> Value {
    json!({ "name": name, "layout": spec, "code": "INVALID_LAYOUT", "field": field, "rule": rule })
}

fn spec_of_fields(list: &Value, unsigned: bool) -> Value {
    json!({ "epochMs": EPOCH_MS, "tickMs": 1, "unsigned": unsigned, "fields": list })
}

fn invalid() -> Vec<Value> {
    let mut cases = wrong_field_sets();
    cases.extend(wrong_widths());
    cases.extend(wrong_names());
    cases.extend(wrong_epochs_and_ticks());
    cases
}

fn wrong_field_sets() -> Vec<Value> {
    let case = |name, list: &[Field], rule| refused(name, &spec_of_fields(&fields(list), false), "fields", &sentence(rule, 0, 0));
    vec![
        case("no fields", &[], Rule::ONE_TIME),
        case("no time", &[node(10), sequence(12)], Rule::ONE_TIME),
        case("two times", &[time(20), time(20), sequence(12)], Rule::ONE_TIME),
        case("no sequence", &[time(41), node(10)], Rule::ONE_SEQUENCE),
        case("two sequences", &[time(41), sequence(6), sequence(6)], Rule::ONE_SEQUENCE),
        case("two clocks", &[time(41), clock(2), clock(2), sequence(6)], Rule::ONE_CLOCK),
        merge(
            refused(
                "an unknown kind",
                &spec_of_fields(&json!([{ "kind": "shard", "bits": 10 }]), false),
                "kind",
                &sentence(Rule::KNOWN_KIND, 0, 0),
            ),
            json!({ "jsOnly": true }),
        ),
        refused("an unknown name", &json!("twiter"), "layout", &sentence(Rule::KNOWN_LAYOUT, 0, 0)),
        refused("a name in capitals", &json!("Twitter"), "layout", &sentence(Rule::KNOWN_LAYOUT, 0, 0)),
        refused("an empty name", &json!(""), "layout", &sentence(Rule::KNOWN_LAYOUT, 0, 0)),
    ]
}

fn wrong_widths() -> Vec<Value> {
    let whole_to = |max| sentence(Rule::WHOLE_NUMBER, 1, max);
    let whole = whole_to(64);
    let bits = |name, list: &[Field], rule: &str| refused(name, &spec_of_fields(&fields(list), false), "bits", rule);
    let sum = |name, list: &[Field], unsigned, rule, max| {
        refused(name, &spec_of_fields(&fields(list), unsigned), "fields", &sentence(rule, 0, max))
    };
    let js = |name, width: Value| {
        let list = json!([{ "kind": "time", "bits": 41 }, { "kind": "node", "bits": width }, { "kind": "sequence", "bits": 12 }]);
        merge(refused(name, &spec_of_fields(&list, false), "bits", &whole), json!({ "jsOnly": true }))
    };
    vec![
        bits("a time of 0 bits", &[time(0), node(10), sequence(12)], &whole),
        bits("a node of 0 bits", &[time(41), node(0), sequence(12)], &whole),
        bits("a clock of 0 bits", &[time(41), clock(0), sequence(12)], &whole_to(8)),
        bits("a sequence of 0 bits", &[time(41), node(10), sequence(0)], &whole_to(53)),
        bits("a time of 65 bits", &[time(65), sequence(12)], &whole),
        js("a width with a fraction", json!(1.5)),
        js("a width that is text", json!("12")),
        js("a width below 0", json!(-1)),
        js("a width of null", Value::Null),
        bits("a sequence of 54 bits", &[time(9), sequence(54)], &whole_to(53)),
        bits("a clock of 9 bits", &[time(41), clock(9), sequence(12)], &whole_to(8)),
        sum("a node of 33 bits", &[time(20), node(33), sequence(10)], false, Rule::NODE_WIDTH, 32),
        sum("node parts of 33 bits", &[part("a", 16), time(20), part("b", 17), sequence(10)], false, Rule::NODE_WIDTH, 32),
        sum("64 bits, signed", &[time(41), node(11), sequence(12)], false, Rule::WIDTH, 63),
        sum("65 bits, unsigned", &[time(41), node(12), sequence(12)], true, Rule::WIDTH, 64),
    ]
}

fn wrong_names() -> Vec<Value> {
    let case = |name, list: &[Field], rule| refused(name, &spec_of_fields(&fields(list), false), "name", &sentence(rule, 0, 0));
    let syntax = |name, part_name| case(name, &[time(41), part(part_name, 10), sequence(12)], Rule::NAME_SYNTAX);
    let misplaced = |name, field: Field, rest: [Field; 2]| {
        case(name, &[rest[0], Field { name: Some("mine"), ..field }, rest[1]], Rule::NAME_ONLY_NODE)
    };
    vec![
        case("two parts of one name", &[time(41), part("a", 5), part("a", 5), sequence(12)], Rule::DISTINCT_NAMES),
        case("two parts without a name", &[time(41), node(5), node(5), sequence(12)], Rule::DISTINCT_NAMES),
        case(
            "a part without a name and one called node",
            &[time(41), node(5), part("node", 5), sequence(12)],
            Rule::DISTINCT_NAMES,
        ),
        case("parts of one name far apart", &[part("a", 5), time(41), sequence(12), part("a", 5)], Rule::DISTINCT_NAMES),
        syntax("an empty part name", ""),
        syntax("a part name that starts with a digit", "1a"),
        syntax("a part name that starts with -", "-a"),
        syntax("a part name with a blank", "a b"),
        syntax("a part name with a dot", "a.b"),
        syntax("a part name with a letter beyond ASCII", "région"),
        syntax("a part name of 33 letters", TOO_LONG_NAME),
        misplaced("a name on time", time(41), [node(10), sequence(12)]),
        misplaced("a name on sequence", sequence(12), [node(10), time(41)]),
        misplaced("a name on clock", clock(2), [time(41), sequence(12)]),
    ]
}

fn wrong_epochs_and_ticks() -> Vec<Value> {
    let list = fields(&[time(41), node(10), sequence(12)]);
    let case = |name, epoch_ms: Value, tick_ms: Value, field, rule: &str| {
        refused(name, &json!({ "epochMs": epoch_ms, "tickMs": tick_ms, "unsigned": false, "fields": list }), field, rule)
    };
    let js = |case| merge(case, json!({ "jsOnly": true }));
    let (epoch, tick) = (sentence(Rule::WHOLE_NUMBER, 0, MAX_SAFE), sentence(Rule::WHOLE_NUMBER, 1, MAX_SAFE));
    let seconds = sentence(Rule::NOT_SECONDS, 0, 0);
    let too_late = |name, epoch_ms: u64, tick_ms: u64, time_bits| {
        let list = fields(&[time(time_bits), sequence(10)]);
        let spec = json!({ "epochMs": epoch_ms, "tickMs": tick_ms, "unsigned": false, "fields": list });
        refused(name, &spec, "fields", &sentence(Rule::LAST_TICK, 0, 0))
    };
    vec![
        case("an epoch of 2^53", json!(1_u64 << 53), json!(1), "epochMs", &epoch),
        js(case("an epoch before 1970", json!(-1), json!(1), "epochMs", &epoch)),
        js(case("an epoch with a fraction", json!(0.5), json!(1), "epochMs", &epoch)),
        js(case("an epoch that is text", json!("0"), json!(1), "epochMs", &epoch)),
        case("the first epoch in seconds", json!(1_000_000_000), json!(1), "epochMs", &seconds),
        case("an epoch in seconds", json!(1_704_067_200), json!(1), "epochMs", &seconds),
        case("the last epoch in seconds", json!(99_999_999_999_u64), json!(1), "epochMs", &seconds),
        case("a tick of 0 ms", json!(0), json!(0), "tickMs", &tick),
        case("a tick of 2^53 ms", json!(0), json!(1_u64 << 53), "tickMs", &tick),
        js(case("a tick with a fraction", json!(0), json!(0.5), "tickMs", &tick)),
        js(case("a tick below 0", json!(0), json!(-1), "tickMs", &tick)),
        too_late("a last tick one ms after the last Date", 8_640_000_000_000_001 - ((1 << 41) - 1), 1, 41),
        too_late("a time of 53 bits", 0, 1, 53),
        too_late("a long time of long ticks", 0, 1000, 44),
        too_late("two ticks of 2^53 - 1 ms", 0, (1 << 53) - 1, 1),
        too_late("an epoch near the last Date", 8_639_999_999_999_999, 1, 4),
    ]
}
