//! The vectors through the frame.

use std::collections::HashSet;

use frazil::Code;
use frazil::abi::{RECHECK, slot};
use frazil::mint::SequenceStart;
use serde_json::Value;

use crate::NOW_MS;
use crate::host::{Host, number};
use crate::vector_files::{cases, id, in_rust, layout, read, spec, whole};

#[test]
fn the_handle_table_follows_the_scripts_of_the_vectors() {
    let file = read("generation");
    for script in cases(&file, "scripts") {
        let mut host = Host::new();
        host.request(&layout(&file, &script["layout"]).spec());
        if script["node"] == "none" {
            host.set(slot::NODE_NONE, 1.0);
        } else {
            host.set(slot::NODE, number(whole(&script["node"])));
        }
        host.set(slot::PRIVATE, 1.0);
        host.set(slot::HAS_MAX_LEAD_MS, 1.0);
        host.set(slot::MAX_LEAD_MS, number(whole(&script["maxLeadMs"])));
        host.set(slot::START_MS, script["startMs"].as_f64().unwrap_or(f64::NAN));
        let start = SequenceStart::ALL.iter().position(|start| script["sequenceStart"] == start.name()).unwrap();
        host.set(slot::SEQUENCE_START, number(start as u64));
        let handle = host.handle();
        if let Some(halves) = script["key"].as_array() {
            host.set_key([id(&halves[0]), id(&halves[1])]);
        }
        let mut issued = HashSet::new();
        for step in cases(script, "steps") {
            let (name, expect) = (&script["name"], &step["expect"]);
            let want = u32::try_from(whole(&step["want"])).unwrap();
            let status = host.reserve(handle, step["nowMs"].as_f64().unwrap(), want, step["confirmed"] == true);
            let numbers = &host.frame.numbers;
            if let Some(ids) = expect.get("ids") {
                assert_eq!(status, 0, "{name}: {step}");
                let count = usize::try_from(whole(&ids["count"])).unwrap();
                assert_eq!(Some(numbers[slot::COUNT]), ids["count"].as_f64(), "{name}: {step}");
                assert_eq!(Some(numbers[slot::VALID_FROM_MS]), expect["validFromMs"].as_f64(), "{name}: {step}");
                assert_eq!(Some(numbers[slot::VALID_UNTIL_MS]), expect["validUntilMs"].as_f64(), "{name}: {step}");
                let frame_ids = &host.frame.ids[..count];
                assert_eq!((frame_ids[0], frame_ids[count - 1]), (id(&ids["first"]), id(&ids["last"])), "{name}: {step}");
                assert!(frame_ids.iter().all(|id| issued.insert(*id)), "{name} repeats: {step}");
            } else if expect["recheck"] == true {
                assert_eq!(status, RECHECK, "{name}: {step}");
            } else {
                let code = Code::ALL.iter().find(|code| **code as u32 == status);
                assert_eq!(code.map(|code| code.name()), expect["code"].as_str(), "{name}: {step}");
                let retry_after_ms = expect.get("retryAfterMs").map_or(Some(0.0), Value::as_f64);
                assert_eq!(Some(numbers[slot::RETRY_AFTER_MS]), retry_after_ms, "{name}: {step}");
            }
        }
    }
}

#[test]
fn invalid_options_are_refused_and_leave_no_state() {
    let file = read("errors");
    let mut count = 0;
    for case in cases(&file, "open") {
        let mut host = Host::new();
        host.request(&layout(&file, &case["layout"]).spec());
        match &case["node"] {
            Value::Null => host.set(slot::HAS_NODE, 0.0),
            Value::String(_) => host.set(slot::NODE_NONE, 1.0),
            Value::Number(node) => host.set(slot::NODE, node.as_f64().unwrap()),
            _ => continue, // parts are joined in JavaScript
        }
        host.set(slot::START_MS, if case.get("startMs").is_some() { f64::NAN } else { NOW_MS });
        host.set(slot::PRIVATE, f64::from(u8::from(case["private"] == true)));
        for (has, at, option) in [
            (slot::HAS_MAX_LEAD_MS, slot::MAX_LEAD_MS, "maxLeadMs"),
            (slot::HAS_MAX_WAIT_MS, slot::MAX_WAIT_MS, "maxWaitMs"),
            (slot::HAS_MAX_ASYNC_WAIT_MS, slot::MAX_ASYNC_WAIT_MS, "maxAsyncWaitMs"),
        ] {
            if let Some(value) = case.get(option) {
                host.set(has, 1.0);
                host.set(at, value.as_f64().unwrap());
            }
        }
        if let Some(start) = case.get("sequenceStart") {
            // An unknown name is -1, as `indexOf` returns.
            let number = SequenceStart::ALL.iter().zip(0_u8..).find(|(known, _)| *start == known.name());
            host.set(slot::SEQUENCE_START, number.map_or(-1.0, |row| f64::from(row.1)));
        }
        let status = host.open();
        let code = Code::ALL.iter().find(|code| **code as u32 == status).unwrap();
        assert_eq!(code.name(), case["code"], "{case}");
        assert_eq!(host.refusal(), format!("{} {}", case["field"].as_str().unwrap(), case["rule"].as_str().unwrap()), "{case}");
        assert!(host.registry.is_empty(), "{case} left a state");
        count += 1;
    }
    assert_ne!(count, 0);
}

#[test]
fn invalid_layouts_are_refused() {
    let mut count = 0;
    for case in cases(&read("layouts"), "invalid").iter().filter(|case| in_rust(case)) {
        // Names stay in JavaScript.
        if case["layout"].is_string() || case["field"] == "name" {
            continue;
        }
        let mut host = Host::new();
        host.request(&spec(&case["layout"]));
        assert_eq!(host.open(), Code::InvalidLayout as u32, "{case}");
        assert_eq!(host.refusal(), format!("{} {}", case["field"].as_str().unwrap(), case["rule"].as_str().unwrap()), "{case}");
        count += 1;
    }
    assert_ne!(count, 0);
}
