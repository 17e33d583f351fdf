//! `errors.json`: the table of error codes, and options with which no generator can be opened.

use serde_json::{Value, json};

use super::comment::comment;
use super::json::merge;
use super::test_layouts::test_layout;
use crate::model::errors::{ERRORS, Rule, sentence};

const MAX_SAFE: u64 = (1 << 53) - 1;
/// The longest delay that `setTimeout` accepts: 2^31 - 1 ms.
const MAX_WAIT_MS: u128 = (1 << 31) - 1;

pub(super) fn vectors() -> Value {
    let codes = (1..).zip(ERRORS).map(
        |(number, (code, class, retryable))| json!({ "code": code, "number": number, "class": class, "retryable": retryable }),
    );
    json!({
        "_comment": comment(&[
            "codes: every code in the order of its number (the status by which a binding reports it), with the name of its class in JavaScript, and retryable: whether the same call can succeed later although the caller changes nothing.",
            "open: options with which no generator can be made. layout; node: a number, an object from part names to numbers, \"none\", or null where it is not given; and, where given, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart.",
            "startMs: null means that the start of the process is unknown to the host; without this member it is known. private: true means a generator with a state of its own (in JavaScript: with the option `now`).",
        ]),
        "codes": codes.collect::<Vec<_>>(),
        "open": open(),
    })
}

fn open() -> Vec<Value> {
    let case = |layout: &str, node: Value, options: Value, code, field, rule: String| {
        let given = merge(json!({ "layout": test_layout(layout).name, "node": node }), options);
        merge(given, json!({ "code": code, "field": field, "rule": rule }))
    };
    let js = |case| merge(case, json!({ "jsOnly": true }));
    let plain = |rule| sentence(rule, 0, 0);
    let node = |layout, node, rule| case(layout, node, json!({}), "INVALID_NODE", "node", rule);
    let whole = |max| sentence(Rule::WHOLE_NUMBER, 0, max);
    let required = |layout, rule| js(case(layout, Value::Null, json!({}), "NODE_REQUIRED", "node", plain(rule)));
    let lead = |options, rule| case("default", json!(7), options, "INVALID_OPTION", "maxLeadMs", rule);
    let static_lead = || sentence(Rule::STATIC_LEAD, 0, 1000);
    let mut cases = vec![
        node("default", json!(1024), whole(1023)),
        node("default", json!(MAX_SAFE), whole(1023)),
        node("default", json!(MAX_SAFE + 1), whole(1023)),
        js(node("default", json!(-1), whole(1023))),
        js(node("default", json!(1.5), whole(1023))),
        js(node("default", json!(1e300), whole(1023))),
        node("default", json!("none"), plain(Rule::NODE_NOT_NONE)),
        node("twitter", json!({ "datacenter": 3 }), plain(Rule::PART_NAMES)),
        node("twitter", json!({ "datacenter": 3, "worker": 32 }), whole(31)),
        node("twitter", json!(1024), whole(1023)),
        node("safe53", json!(8), whole(7)),
        node("seata", json!(1024), whole(1023)),
        node("node split by time", json!(128), whole(127)),
        node("widest node", json!(1_u64 << 32), whole((1 << 32) - 1)),
        node("mastodon", json!(0), plain(Rule::NODE_NONE)),
        node("mastodon", json!(7), plain(Rule::NODE_NONE)),
        js(node("mastodon", json!(1.5), plain(Rule::NODE_NONE))),
        required("default", Rule::NODE_GIVEN),
        required("twitter", Rule::NODE_GIVEN),
        required("seata", Rule::NODE_GIVEN),
        required("mastodon", Rule::NODE_NONE),
        required("tiny", Rule::NODE_NONE),
        lead(json!({ "maxLeadMs": 1001 }), static_lead()),
        lead(json!({ "maxLeadMs": 60_000 }), static_lead()),
        lead(json!({ "maxLeadMs": 1001, "private": true }), static_lead()),
        lead(json!({ "maxLeadMs": 1, "startMs": null }), plain(Rule::NO_START_LEAD)),
        lead(json!({ "maxLeadMs": 1000, "startMs": null }), plain(Rule::NO_START_LEAD)),
    ];
    for value in [json!("ones"), json!("Zero"), json!(""), json!(0)] {
        let options = json!({ "sequenceStart": value });
        let refused = case("default", json!(7), options, "INVALID_OPTION", "sequenceStart", plain(Rule::KNOWN_START));
        cases.push(js(refused));
    }
    for (option, max) in [("maxLeadMs", 1000), ("maxWaitMs", MAX_WAIT_MS), ("maxAsyncWaitMs", MAX_WAIT_MS)] {
        for value in [json!(-1), json!(1.5), json!(1_u64 << 31), json!(1e300)] {
            let options = json!({ option: value });
            cases.push(js(case("default", json!(7), options, "INVALID_OPTION", option, whole(max))));
        }
    }
    cases
}
