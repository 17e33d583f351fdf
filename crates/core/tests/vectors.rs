//! The core gives the results of the vectors.
#![allow(clippy::unwrap_used, reason = "a test that cannot read its case has failed")]

use std::collections::HashSet;

use frazil::layout::{Columns, Parts};
use frazil::mint::{Key, Reservation, SequenceStart};
use frazil::segment::{Allocated, Segment, SegmentRange, SegmentRequest, SegmentTerms};
use frazil::{Code, Error, Generator, GeneratorOptions, Layout, Node, Registry, TextForm};
use serde_json::Value;

mod vector_files;
use vector_files::{camel, cases, id, in_rust, layout, read, spec, whole};

fn assert_refused(case: &Value, error: &Error) {
    assert_eq!(error.code().name(), case["code"], "{case}");
    if let Some(field) = case.get("field") {
        assert_eq!(&camel(error.field()), field, "{case}");
    }
    if let Some(rule) = case.get("rule") {
        let message = error.to_string();
        let rule = rule.as_str().unwrap();
        let about = if rule.starts_with("must ") { format!("{} ", error.field()) } else { String::new() };
        let index = error.index().map_or_else(String::new, |index| format!("{index} "));
        let rest = message.strip_prefix(&format!("{}: {about}{index}{rule}", error.code().name()));
        let is_whole =
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(", got ") || rest.starts_with(", wrong at byte "));
        assert!(is_whole, "{message} of {case}");
    }
    if let Some(position) = case.get("position") {
        assert_eq!(error.position().map(|position| position as u64), Some(whole(position)), "{case}");
    }
}

/// Checks that the answer is the result, or the refusal, that the case expects.
fn assert_answer<T: PartialEq + std::fmt::Debug>(case: &Value, answer: &Result<T, Error>, expected: impl Fn() -> T) {
    match answer {
        Ok(answer) => {
            assert!(case.get("code").is_none(), "{answer:?} for {case}");
            assert_eq!(answer, &expected(), "{case}");
        }
        Err(error) => assert_refused(case, error),
    }
}

fn optional(value: &Value) -> Option<u64> {
    (!value.is_null()).then(|| whole(value))
}

/// Calls with the node of a case: a number, an object of parts, or "none".
fn with_node<T>(value: &Value, call: impl FnOnce(Node<'_>) -> T) -> T {
    match value {
        Value::Object(parts) => {
            let parts: Vec<(&str, u64)> = parts.iter().map(|(name, value)| (name.as_str(), whole(value))).collect();
            call(Node::Parts(&parts))
        }
        Value::String(none) if none == "none" => call(Node::None),
        number => call(Node::Id(whole(number))),
    }
}

#[test]
fn the_named_layouts_are_those_of_the_vectors() {
    let file = read("layouts");
    let names: Vec<&str> = cases(&file, "named").iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(Layout::names().collect::<Vec<_>>(), names);
    for row in cases(&file, "named") {
        assert_eq!(Layout::named(row["name"].as_str().unwrap()).unwrap().spec(), spec(row));
    }
}

#[test]
fn plans_decoding_and_composing_follow_the_vectors() {
    let file = read("layouts");
    for row in [cases(&file, "named"), cases(&file, "custom")].concat() {
        let layout = Layout::new(spec(&row)).unwrap();
        let (plan, expected) = (layout.plan(), &row["plan"]);
        assert_eq!(plan.last_ms, whole(&expected["lastMs"]));
        assert_eq!(plan.signed_until_ms, optional(&expected["signedUntilMs"]));
        assert_eq!(plan.ordered, expected["ordered"]);
        assert_eq!(plan.nodes, whole(&expected["nodes"]));
        assert_eq!(plan.ids_per_tick, whole(&expected["idsPerTick"]));

        let cases = cases(&row, "cases");
        for case in cases {
            let decoded = layout.decode(id(&case["id"])).unwrap();
            assert_eq!(decoded.id, id(&case["id"]));
            assert_eq!(decoded.timestamp_ms, whole(&case["timestampMs"]), "{case}");
            assert_eq!(decoded.node.map(u64::from), optional(&case["node"]), "{case}");
            assert_eq!(decoded.clock.map(u64::from), optional(&case["clock"]), "{case}");
            assert_eq!(decoded.sequence, whole(&case["sequence"]), "{case}");
            assert_eq!(layout.timestamp_of(decoded.id), Ok(decoded.timestamp_ms));
            if let Some(node) = decoded.node {
                assert_eq!(with_node(&case["parts"], |parts| layout.join_node(parts)), Ok(node), "{case}");
            } else {
                assert_eq!(case["parts"].as_object().unwrap().len(), 0);
            }
            let parts = Parts {
                timestamp_ms: decoded.timestamp_ms,
                node: decoded.node.map(u64::from),
                clock: decoded.clock.map(u64::from),
                sequence: decoded.sequence,
            };
            assert_eq!(layout.compose(parts), Ok(decoded.id), "{case}");
        }
        assert_columns(&layout, cases);
    }
}

fn assert_columns(layout: &Layout, cases: &[Value]) {
    let ids: Vec<u64> = cases.iter().map(|case| id(&case["id"])).collect();
    let (mut timestamp_ms, mut sequence) = (vec![0; ids.len()], vec![0; ids.len()]);
    let (mut node, mut clock) = (vec![0; ids.len()], vec![0; ids.len()]);
    let columns = Columns { timestamp_ms: &mut timestamp_ms, node: &mut node, clock: &mut clock, sequence: &mut sequence };
    layout.decode_many(&ids, columns).unwrap();
    for (at, case) in cases.iter().enumerate() {
        assert_eq!(timestamp_ms[at], whole(&case["timestampMs"]), "{case}");
        assert_eq!(u64::from(node[at]), optional(&case["node"]).unwrap_or(0), "{case}");
        assert_eq!(u64::from(clock[at]), optional(&case["clock"]).unwrap_or(0), "{case}");
        assert_eq!(sequence[at], whole(&case["sequence"]), "{case}");
    }
}

#[test]
fn published_ids_decode_to_what_their_sources_say() {
    for case in cases(&read("layouts"), "published") {
        let layout = Layout::named(case["layout"].as_str().unwrap()).unwrap();
        let decoded = layout.decode(id(&case["id"])).unwrap();
        assert_eq!(decoded.timestamp_ms, whole(&case["timestampMs"]), "{case}");
        if let Some(node) = case.get("node") {
            assert_eq!(decoded.node.map(u64::from), optional(node), "{case}");
        }
        if let Some(parts) = case.get("parts") {
            assert_eq!(with_node(parts, |parts| layout.join_node(parts)).ok(), decoded.node, "{case}");
        }
        if let Some(sequence) = case.get("sequence") {
            assert_eq!(decoded.sequence, whole(sequence), "{case}");
        }
    }
}

#[test]
fn invalid_layouts_are_refused() {
    let mut count = 0;
    for case in cases(&read("layouts"), "invalid").iter().filter(|case| in_rust(case)) {
        let refused = match &case["layout"] {
            Value::String(name) => Layout::named(name),
            own => Layout::new(spec(own)),
        };
        assert_refused(case, &refused.unwrap_err());
        count += 1;
    }
    assert_ne!(count, 0);
}

#[test]
fn ids_are_parsed_from_text_and_other_texts_are_refused() {
    let file = read("ids");
    let read = |case: &Value| {
        let layout = layout(&file, &case["layout"]);
        let input = case["input"].as_str();
        match case["kind"].as_str().unwrap() {
            "text" => Some(layout.parse(input.unwrap())),
            "bigint" => input.unwrap().parse().ok().map(|id| layout.check(id)),
            _ => None, // a number of JavaScript
        }
    };
    let (mut accepted, mut refused) = (0, 0);
    for case in cases(&file, "valid") {
        let Some(answer) = read(case) else { continue };
        assert_eq!(answer, Ok(id(&case["id"])), "{case}");
        accepted += 1;
    }
    for case in cases(&file, "invalid") {
        let Some(answer) = read(case) else { continue };
        assert_refused(case, &answer.unwrap_err());
        refused += 1;
    }
    assert!(accepted > 0 && refused > 0);
}

#[test]
fn ids_are_converted_to_signed_columns_and_back() {
    let file = read("ids");
    for case in cases(&file, "signed") {
        let layout = layout(&file, &case["layout"]);
        let signed: i64 = case["signed"].as_str().unwrap().parse().unwrap();
        assert_eq!(layout.to_signed(id(&case["id"])), Ok(signed), "{case}");
        assert_eq!(layout.from_signed(signed), Ok(id(&case["id"])), "{case}");
    }
    for case in cases(&file, "invalidSigned").iter().filter(|case| in_rust(case)) {
        let signed = case["signed"].as_str().unwrap().parse().unwrap();
        assert_refused(case, &layout(&file, &case["layout"]).from_signed(signed).unwrap_err());
    }
}

#[test]
fn ids_are_composed_from_their_parts() {
    let file = read("ranges");
    for case in cases(&file, "compose") {
        let parts = Parts {
            timestamp_ms: whole(&case["timestampMs"]),
            node: optional(&case["node"]),
            clock: optional(&case["clock"]),
            sequence: whole(&case["sequence"]),
        };
        assert_answer(case, &layout(&file, &case["layout"]).compose(parts), || id(&case["id"]));
    }
}

#[test]
fn a_time_has_a_range_of_ids() {
    let file = read("ranges");
    for case in cases(&file, "ranges") {
        let layout = layout(&file, &case["layout"]);
        let (at, node) = (whole(&case["timestampMs"]), optional(&case["node"]));
        assert_answer(case, &layout.min_id_at(at, node), || id(&case["minId"]));
        assert_answer(case, &layout.max_id_at(at, node), || id(&case["maxId"]));
    }
}

#[test]
fn a_stretch_of_time_has_a_range_of_ids() {
    let file = read("ranges");
    for case in cases(&file, "stretches").iter().filter(|case| in_rust(case)) {
        let range = layout(&file, &case["layout"]).range(whole(&case["fromMs"]), whole(&case["toMs"]), optional(&case["node"]));
        assert_answer(case, &range, || id(&case["fromId"])..id(&case["untilId"]));
    }
}

#[test]
fn node_ids_are_composed_from_their_parts() {
    let file = read("ranges");
    for case in cases(&file, "nodes").iter().filter(|case| in_rust(case)) {
        let layout = layout(&file, &case["layout"]);
        let joined = with_node(&case["node"], |node| layout.join_node(node)).map(u64::from);
        assert_answer(case, &joined, || whole(&case["joined"]));
        if let Ok(node) = joined {
            let epoch_ms = layout.spec().epoch_ms;
            let parts = Parts { timestamp_ms: epoch_ms, node: Some(node), clock: None, sequence: 0 };
            assert_eq!(layout.compose(parts), Ok(id(&case["id"])), "{case}");
        }
    }
}

/// The start of the sequence in a script, and its key.
fn start(script: &Value) -> (SequenceStart, Option<Key>) {
    let start = SequenceStart::ALL.into_iter().find(|start| script["sequenceStart"] == start.name()).unwrap();
    let key = script["key"].as_array().map(|halves| Key::new(id(&halves[0]), id(&halves[1])));
    (start, key)
}

#[test]
fn the_generator_follows_the_scripts() {
    let file = read("generation");
    for script in cases(&file, "scripts") {
        let layout = layout(&file, &script["layout"]);
        let generator = with_node(&script["node"], |node| {
            let (max_lead_ms, start_ms) = (optional(&script["maxLeadMs"]), optional(&script["startMs"]));
            let (sequence_start, key) = start(script);
            Generator::private(&layout, GeneratorOptions { node, max_lead_ms, start_ms, sequence_start, key }).unwrap()
        });
        let mut issued = Vec::new();
        for step in cases(script, "steps") {
            let (name, expect) = (&script["name"], &step["expect"]);
            let want = usize::try_from(whole(&step["want"])).unwrap();
            match generator.reserve(whole(&step["nowMs"]), want, step["confirmed"] == true) {
                Ok(Reservation::Issued { block, wall_tick_ms }) => {
                    let mut ids = vec![0; block.len()];
                    block.write(&mut ids);
                    assert_eq!(block.first(), ids[0]);
                    let expected = &expect["ids"];
                    assert_eq!(ids.len() as u64, whole(&expected["count"]), "{name}: {step}");
                    assert_eq!((ids[0], ids[ids.len() - 1]), (id(&expected["first"]), id(&expected["last"])), "{name}: {step}");
                    assert_eq!(wall_tick_ms, (whole(&expect["validFromMs"]), whole(&expect["validUntilMs"])), "{name}: {step}");
                    issued.extend(ids);
                }
                Ok(Reservation::Recheck) => assert_eq!(expect["recheck"], true, "{name}: {step}"),
                Err(error) => {
                    assert_refused(expect, &error);
                    assert_eq!(error.retry_after_ms(), expect.get("retryAfterMs").map_or(0, whole), "{name}: {step}");
                }
            }
        }
        assert_eq!(issued.iter().collect::<HashSet<_>>().len(), issued.len(), "{} repeats", script["name"]);
        let ordered = layout.plan().ordered && generator.stats().switches == 0 && script["sequenceStart"] != "wrap";
        assert!(!ordered || issued.is_sorted_by(|a, b| a < b), "{} is out of order", script["name"]);
        assert_eq!(generator.stats().issued, issued.len() as u64, "{}", script["name"]);
    }
}

#[test]
fn the_table_of_codes_is_that_of_the_vectors() {
    let file = read("errors");
    let rows = cases(&file, "codes");
    assert_eq!(rows.len(), Code::ALL.len());
    for (row, code) in rows.iter().zip(Code::ALL) {
        assert_eq!(code.name(), row["code"]);
        assert_eq!(*code as u64, whole(&row["number"]), "{row}");
        assert_eq!(code.class().name(), row["class"], "{row}");
        assert_eq!(code.retryable(), row["retryable"], "{row}");
    }
}

#[test]
fn invalid_options_are_refused() {
    let file = read("errors");
    let mut count = 0;
    for case in cases(&file, "open").iter().filter(|case| in_rust(case)) {
        let layout = layout(&file, &case["layout"]);
        let start_ms = case.get("startMs").is_none().then_some(1_704_067_200_000);
        let refused = with_node(&case["node"], |node| {
            let max_lead_ms = case.get("maxLeadMs").map(whole);
            let options = GeneratorOptions { max_lead_ms, start_ms, ..GeneratorOptions::new(node) };
            if case["private"] == true { Generator::private(&layout, options) } else { Registry::new().open(&layout, options) }
        });
        assert_refused(case, &refused.unwrap_err());
        count += 1;
    }
    assert_ne!(count, 0);
}

fn text_form(name: &Value) -> TextForm {
    match name.as_str().unwrap() {
        "hex" => TextForm::Hex,
        "base32" => TextForm::Base32,
        "base58" => TextForm::Base58,
        "base62" => TextForm::Base62,
        "base36" => TextForm::Base36,
        "crockford" => TextForm::Crockford,
        "base64url" => TextForm::Base64Url,
        "bwmarrinBase32" => TextForm::BwmarrinBase32,
        "bwmarrinBase58" => TextForm::BwmarrinBase58,
        name => panic!("{name} is no text form"),
    }
}

/// Encodes an ID with every function that can.
fn texts(form: TextForm, is_short: bool, id: u64) -> [String; 3] {
    let room = &mut [b'?'; TextForm::MAX_WIDTH];
    if is_short {
        let form = form.short();
        [form.encode(id), form.encode_into(id, room).to_owned(), form.display(id).to_string()]
    } else {
        [form.encode(id), form.encode_into(id, room).to_owned(), form.display(id).to_string()]
    }
}

fn of_text(form: TextForm, is_short: bool, text: &str) -> Result<u64, Error> {
    if is_short { form.short().decode(text) } else { form.decode(text) }
}

#[test]
fn the_text_forms_are_those_of_the_vectors() {
    let file = read("text");
    let rows = cases(&file, "forms");
    assert_eq!(rows.len(), TextForm::ALL.len());
    for (row, form) in rows.iter().zip(TextForm::ALL) {
        assert_eq!(text_form(&row["name"]), *form);
        assert_eq!(form.alphabet(), row["alphabet"], "{row}");
        assert_eq!(form.width() as u64, whole(&row["width"]), "{row}");
    }
}

#[test]
fn ids_are_encoded_as_text_and_decoded_again() {
    let file = read("text");
    let cases = cases(&file, "ids");
    let ids: Vec<u64> = cases.iter().map(|case| id(&case["id"])).collect();
    for row in file["forms"].as_array().unwrap() {
        let (name, form) = (row["name"].as_str().unwrap(), text_form(&row["name"]));
        let column = |of: &str| -> Vec<&str> { cases.iter().map(|case| case[of][name].as_str().unwrap()).collect() };
        let (fixed, short) = (column("fixed"), column("short"));
        for (at, &id) in ids.iter().enumerate() {
            for (is_short, text) in [(false, fixed[at]), (true, short[at])] {
                assert_eq!(texts(form, is_short, id), [text; 3]);
                assert_eq!(of_text(form, is_short, text), Ok(id), "{text}");
            }
        }
        let mut many = vec![0; form.width() * ids.len()];
        form.encode_many(&ids, &mut many).unwrap();
        assert_eq!(many, fixed.concat().into_bytes());
        let mut read = vec![0; ids.len()];
        form.decode_many(&fixed, &mut read).unwrap();
        assert_eq!(read, ids);
        read.fill(0);
        form.short().decode_many(&short, &mut read).unwrap();
        assert_eq!(read, ids);
        // The IDs of the file are in ascending order.
        assert!(ids.is_sorted(), "{name}");
        assert_eq!(fixed.is_sorted(), form.is_ordered(), "{name}");
        assert!(!short.is_sorted(), "{name}");
    }
    for (case, id) in cases.iter().zip(ids) {
        let bytes: Vec<u64> = case["bytes"].as_array().unwrap().iter().map(whole).collect();
        assert_eq!(id.to_be_bytes().map(u64::from), bytes[..], "{case}");
    }
}

#[test]
fn published_texts_decode_to_what_their_sources_say() {
    for case in cases(&read("text"), "published") {
        let (form, is_short, text) = (text_form(&case["form"]), case["short"] == true, case["text"].as_str().unwrap());
        assert_eq!(of_text(form, is_short, text), Ok(id(&case["id"])), "{case}");
        assert_eq!(texts(form, is_short, id(&case["id"])), [text; 3], "{case}");
    }
}

#[test]
fn texts_that_a_form_reads_and_does_not_write_are_decoded() {
    for case in cases(&read("text"), "read") {
        let (form, is_short, text) = (text_form(&case["form"]), case["short"] == true, case["text"].as_str().unwrap());
        assert_eq!(of_text(form, is_short, text), Ok(id(&case["id"])), "{case}");
        assert_ne!(texts(form, is_short, id(&case["id"])), [text; 3], "{case}");
    }
}

#[test]
fn texts_that_encode_no_id_are_refused() {
    let mut count = 0;
    for case in cases(&read("text"), "refused").iter().filter(|case| in_rust(case)) {
        let (form, is_short, text) = (text_form(&case["form"]), case["short"] == true, case["text"].as_str().unwrap());
        assert_refused(case, &of_text(form, is_short, text).unwrap_err());
        count += 1;
    }
    assert_ne!(count, 0);
}

fn segment_terms(case: &Value) -> SegmentTerms {
    let [max_step, grow_below_ms, shrink_above_ms] = ["maxStep", "growBelowMs", "shrinkAboveMs"].map(|name| whole(&case[name]));
    SegmentTerms::new(optional(&case["step"]), max_step, grow_below_ms, shrink_above_ms).unwrap()
}

#[test]
fn steps_follow_the_vectors() {
    for case in cases(&read("segments"), "steps") {
        let [step, base, lasted_ms, numbers, next] =
            ["step", "base", "lastedMs", "numbers", "next"].map(|name| whole(&case[name]));
        let mut terms = case.clone();
        terms["step"] = Value::Null;
        assert_eq!(segment_terms(&terms).next_step(step, base, lasted_ms, numbers), next, "{case}");
    }
}

#[test]
fn segments_ask_for_the_counts_of_the_vectors() {
    for case in cases(&read("segments"), "segments") {
        let mut segment = Segment::new(segment_terms(case));
        let (asked_ms, counts) = (case["askedMs"].as_array().unwrap(), case["counts"].as_array().unwrap());
        assert_eq!(asked_ms.len(), counts.len(), "{case}");
        let drawn = case["drawn"].as_array().unwrap();
        let ahead = case["ahead"].as_array();
        for (at, ((asked_ms, drawn), expected)) in asked_ms.iter().zip(drawn).zip(counts).enumerate() {
            let now_ms = whole(asked_ms);
            let ahead = ahead.map_or(0, |ahead| whole(&ahead[at]));
            let mut left = whole(drawn);
            while left > 0 {
                left -= segment.draw(now_ms, left).unwrap().count;
            }
            let SegmentRequest::Allocate { count, above, attempt } = segment.ask(now_ms, 1, ahead, at as u128 + 1) else {
                panic!("nothing is asked for at {now_ms} of {case}");
            };
            assert_eq!(count, optional(expected), "at {now_ms} of {case}");
            let step = optional(&case["storeStep"]);
            let range = SegmentRange { first: above, stride: 1, count: count.or(step).unwrap() };
            assert!(segment.take(&Allocated { attempt, range, step }, now_ms).unwrap());
        }
    }
}
