//! The handle table that the bindings call: the vectors through the frame, handles, and numbers that are not valid.
#![allow(clippy::unwrap_used, reason = "a test that cannot read its case has failed")]
#![allow(clippy::float_cmp, reason = "whole numbers that one side put there and the other reads")]

use std::collections::HashSet;

use frazil::abi::{Frame, Handles, KEYLESS, KINDS, NO_ID, RECHECK, ceiling_call, slot};
use frazil::error::{Rule, Subject};
use frazil::layout::{Field, LayoutSpec};
use frazil::mint::{Key, MAX_LEAD_MS, Machine, Outcome, SequenceStart, Window};
use frazil::{Code, Layout, Node, Registry};
use serde_json::Value;

mod vector_files;
use vector_files::{camel, cases, id, in_rust, layout, read, spec, whole};

/// A time in the layout `default`.
const NOW_MS: f64 = 1_750_000_000_000.0;

/// A thread of a host: its handle table, frame and registry.
struct Host {
    registry: Registry,
    handles: Handles,
    frame: Box<Frame>,
}

impl Host {
    fn new() -> Self {
        Self { registry: Registry::new(), handles: Handles::new(), frame: Box::new(Frame::new()) }
    }

    /// Writes a request for a generator with the layout, node id 7 and no other options into the frame.
    fn request(&mut self, layout: &LayoutSpec) {
        let numbers = &mut self.frame.numbers;
        numbers.fill(0.0);
        numbers[slot::EPOCH_MS] = number(layout.epoch_ms);
        numbers[slot::TICK_MS] = number(layout.tick_ms);
        numbers[slot::UNSIGNED] = f64::from(u8::from(layout.unsigned));
        numbers[slot::FIELD_COUNT] = number(layout.fields.len() as u64);
        for (at, field) in layout.fields.iter().enumerate() {
            let kind = KINDS.iter().position(|row| row.1 == field.kind).unwrap();
            numbers[slot::FIELDS + 2 * at] = number(kind as u64);
            numbers[slot::FIELDS + 2 * at + 1] = f64::from(field.bits);
        }
        numbers[slot::HAS_NODE] = 1.0;
        numbers[slot::NODE] = 7.0;
        numbers[slot::START_MS] = f64::NAN;
    }

    fn request_default(&mut self) {
        self.request(&Layout::named("default").unwrap().spec());
    }

    fn set(&mut self, at: usize, value: f64) {
        self.frame.numbers[at] = value;
    }

    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn set_places(&mut self, from: usize, until: usize) {
        self.set(slot::FILL_FROM, from as f64);
        self.set(slot::FILL_UNTIL, until as f64);
    }

    fn set_key(&mut self, halves: [u64; 2]) {
        let parts = halves.iter().flat_map(|half| [half >> 32, half & u64::from(u32::MAX)]);
        for (at, part) in parts.enumerate() {
            self.set(slot::KEY + at, number(part));
        }
        self.set(slot::HAS_KEY, 1.0);
    }

    fn open(&mut self) -> u32 {
        self.handles.open(&mut self.frame, &mut self.registry)
    }

    /// Opens the generator that the frame describes, which must succeed.
    fn handle(&mut self) -> f64 {
        assert_eq!(self.open(), 0, "{}", self.refusal());
        self.frame.numbers[slot::HANDLE]
    }

    /// Opens a generator of the layout `default` with another node id, private or not.
    fn handle_of(&mut self, node: u32, private: bool) -> f64 {
        self.request_default();
        self.set(slot::NODE, f64::from(node));
        self.set(slot::PRIVATE, f64::from(u8::from(private)));
        self.handle()
    }

    fn reserve(&mut self, handle: f64, now_ms: f64, want: u32, confirmed: bool) -> u32 {
        self.handles.reserve(&mut self.frame, handle, now_ms, want, confirmed)
    }

    /// One ID; the call must succeed.
    fn next(&mut self, handle: f64, now_ms: f64) -> u64 {
        let id = self.handles.next(&mut self.frame, handle, now_ms, true);
        assert_ne!(id, NO_ID, "status {}", self.frame.numbers[slot::STATUS]);
        id
    }

    /// A slot that holds the number of a subject or a rule.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the core wrote a small whole number")]
    fn index(&self, at: usize) -> usize {
        self.frame.numbers[at] as usize
    }

    fn subject(&self) -> Subject {
        Subject::ALL[self.index(slot::SUBJECT)]
    }

    fn rule(&self) -> Rule {
        Rule::ALL[self.index(slot::RULE)]
    }

    /// The text of the last refusal, from the slots of the frame.
    fn refusal(&self) -> String {
        let numbers = &self.frame.numbers;
        let filled = self.rule().template().replace("{min}", &numbers[slot::MIN].to_string());
        format!("{} {}", camel(self.subject().name()), filled.replace("{max}", &numbers[slot::MAX].to_string()))
    }

    #[track_caller]
    fn assert_refused(&self, status: u32, code: Code, subject: Subject, rule: Rule) {
        assert_eq!(status, code as u32);
        assert_eq!((self.subject(), self.rule()), (subject, rule));
    }
}

#[expect(clippy::cast_precision_loss, reason = "the numbers of the vectors are exact as a JavaScript number")]
fn number(value: u64) -> f64 {
    value as f64
}

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

// docs/safety.md: 3
#[test]
fn equal_generators_have_one_handle() {
    let mut host = Host::new();
    let seven = host.handle_of(7, false);
    let eight = host.handle_of(8, false);
    assert_ne!(seven, eight);
    assert_eq!(host.handle_of(7, false), seven);
    assert_eq!(host.handle_of(8, false), eight);

    // The same state with other options is another generator.
    host.request_default();
    host.set(slot::START_MS, NOW_MS - 60_000.0);
    let with_lead = host.handle();
    assert_ne!(with_lead, seven);
    let (first, second) = (host.next(seven, NOW_MS), host.next(with_lead, NOW_MS));
    assert_eq!(first + 1, second);
    assert_eq!(host.registry.len(), 2);
}

#[test]
fn a_million_equal_generators_have_one_handle() {
    let mut host = Host::new();
    host.request_default();
    let handle = host.handle();
    for _ in 1..1_000_000 {
        assert_eq!(host.open(), 0);
    }
    assert_eq!(host.handle(), handle);
    assert_eq!(host.registry.len(), 1);
    assert_eq!(host.handle_of(8, false), handle + 1.0, "no handle was used up in between");
}

#[test]
fn private_generators_share_no_state() {
    let mut host = Host::new();
    let (one, other) = (host.handle_of(7, true), host.handle_of(7, true));
    assert_ne!(one, other);
    assert_eq!(host.next(one, NOW_MS), host.next(other, NOW_MS));
    assert!(host.registry.is_empty());
}

#[test]
fn fill_writes_the_ids_of_reserve_into_the_array_that_is_given() {
    let mut host = Host::new();
    let (handle, mutant) = (host.handle_of(7, true), host.handle_of(7, true));
    for (length, now_ms) in [(1, NOW_MS), (5, NOW_MS), (4096, NOW_MS), (5000, NOW_MS + 3.0), (7, NOW_MS - 2.0)] {
        let mut array = vec![0; length + 10];
        host.set_places(5, length + 5);
        assert_eq!(host.handles.fill(&mut host.frame, handle, now_ms, &mut array, true), 0);
        let out = &array[5..];
        let written = [slot::COUNT, slot::VALID_FROM_MS, slot::VALID_UNTIL_MS].map(|at| host.frame.numbers[at].to_bits());
        assert_eq!(host.reserve(mutant, now_ms, u32::try_from(length).unwrap(), true), 0);
        assert_eq!(written, [slot::COUNT, slot::VALID_FROM_MS, slot::VALID_UNTIL_MS].map(|at| host.frame.numbers[at].to_bits()));
        let count = host.index(slot::COUNT);
        assert_eq!(out[..count], host.frame.ids[..count]);
        assert!(out[count..].iter().all(|id| *id == 0), "what was not reserved is left alone");
    }
    for (from, until) in [(0, 0), (3, 3), (4, 3), (0, 9)] {
        host.set_places(from, until);
        assert_eq!(host.handles.fill(&mut host.frame, handle, NOW_MS, &mut [0; 8], true), Code::InvalidArgument as u32);
    }
    for places in [[-1.0, 1.0], [0.5, 1.0], [0.0, 1.5], [f64::NAN, 1.0], [0.0, f64::INFINITY]] {
        host.frame.numbers[slot::FILL_FROM..=slot::FILL_UNTIL].copy_from_slice(&places);
        assert_eq!(host.handles.fill(&mut host.frame, handle, NOW_MS, &mut [0; 8], true), Code::InvalidArgument as u32);
    }
    assert_eq!(host.next(handle, NOW_MS), host.next(mutant, NOW_MS), "a fill of nothing takes nothing");
}

#[test]
fn what_is_admitted_stays_so_and_so_do_smaller_counts() {
    let mut host = Host::new();
    let handle = host.handle_of(7, true);
    let admits = |handles: &mut Handles, frame: &mut Frame, count: u32| handles.admit(frame, handle, f64::from(count), 10.0) == 0;
    let Host { handles, frame, .. } = &mut host;
    let admitted: Vec<bool> = (0..100_000).map(|count| admits(handles, frame, count)).collect();
    let largest = admitted.iter().rposition(|is_admitted| *is_admitted).unwrap();
    assert_eq!(largest, 86_016);
    assert!(admitted[..=largest].iter().all(|is_admitted| *is_admitted));
    // Whatever the state and the clock: after IDs, a refusal, and a step back.
    for now_ms in [NOW_MS, NOW_MS + 5.0, NOW_MS - 1e9] {
        while handles.reserve(frame, handle, now_ms, 4096, true) == 0 {}
        for count in [0, 1, 4096, 86_016] {
            assert!(admits(handles, frame, count), "{count} at {now_ms}");
        }
        assert!(!admits(handles, frame, 86_017));
    }
}

/// The statuses of the calls for a handle: `reserve` (and `next`, which must be the same), `admit`, `health`, `file`.
fn answers(host: &mut Host, handle: f64) -> [u32; 4] {
    let Host { handles, frame, .. } = host;
    let reserve = handles.reserve(frame, handle, NOW_MS, 1, true);
    assert_eq!(handles.next(frame, handle, NOW_MS, true) == NO_ID, reserve != 0);
    assert_eq!(frame.numbers[slot::STATUS].to_bits(), f64::from(reserve).to_bits());
    [reserve, handles.admit(frame, handle, 1.0, 0.0), handles.health(frame, handle, NOW_MS), handles.file(frame, handle)]
}

// docs/safety.md: 20
#[test]
fn a_released_handle_stays_closed_when_its_table_entry_is_reused() {
    let closed = [Code::Closed as u32; 4];
    let mut host = Host::new();
    let handle = host.handle_of(7, true);
    let first = host.next(handle, NOW_MS);
    host.handles.release(handle);
    assert_eq!(answers(&mut host, handle), closed);
    for stale in [handle, f64::NAN, -1.0, 1e300, f64::from(u32::MAX)] {
        host.handles.release(stale);
    }

    let (again, fresh) = (host.handle_of(8, true), host.handle_of(7, true));
    assert_eq!(answers(&mut host, handle), closed, "node 8 has the table entry now");
    host.handles.release(handle);
    assert_ne!(again.to_bits(), fresh.to_bits(), "an entry that is released twice must not be reused twice");
    assert_eq!(host.next(fresh, NOW_MS), first, "a private generator begins with an empty state");
    assert_eq!(host.next(again, NOW_MS), first + (1 << 12), "an old handle with the same entry must not close it");
}

#[test]
fn releasing_a_shared_handle_closes_it_for_all_its_generators() {
    let mut host = Host::new();
    let shared = host.handle_of(7, false);
    let first = host.next(shared, NOW_MS);
    host.handles.release(shared);
    let private = host.handle_of(8, true);
    assert_eq!(answers(&mut host, shared)[0], Code::Closed as u32);
    let again = host.handle_of(7, false);
    assert_eq!(host.next(again, NOW_MS), first + 1, "the state must be kept");
    assert_ne!(again.to_bits(), private.to_bits());
}

#[test]
fn a_number_that_is_no_handle_is_closed() {
    let mut host = Host::new();
    let handle = host.handle_of(7, true);
    assert_eq!(handle.to_bits(), 0.0_f64.to_bits());
    for near in [-0.0, 0.5, -0.5, -1.0, 1.0, f64::NAN, f64::INFINITY, 16_777_216.0, 18_446_744_073_709_551_616.0] {
        assert_eq!(answers(&mut host, near), [Code::Closed as u32; 4], "{near}");
    }
}

#[test]
fn a_generator_is_found_behind_the_gap_of_a_released_handle() {
    let mut host = Host::new();
    let simulation = host.handle_of(7, true);
    let (seven, eight) = (host.handle_of(7, false), host.handle_of(8, false));
    host.handles.release(simulation);
    assert_eq!((host.handle_of(7, false), host.handle_of(8, false)), (seven, eight));
}

// docs/safety.md: 20
#[test]
fn a_million_private_generators_one_after_another_use_one_table_entry() {
    let mut host = Host::new();
    let first = host.handle_of(7, true);
    let mut handle = first;
    for _ in 0..1_000_000 {
        host.handles.release(handle);
        let again = host.handle();
        assert!(again > handle, "no handle may be used twice");
        handle = again;
    }
    assert_eq!(host.handle_of(8, false).to_bits(), (first + 1.0).to_bits());
}

#[test]
fn opening_takes_no_longer_with_a_hundred_thousand_states_than_with_none() {
    let wide = LayoutSpec {
        epoch_ms: 1_704_067_200_000,
        tick_ms: 1,
        unsigned: false,
        fields: vec![Field::time(41), Field::node(20), Field::sequence(2)],
    };
    let mut host = Host::new();
    host.request(&wide);
    let cost = |host: &mut Host, nodes: std::ops::Range<u32>| {
        let batches = nodes.step_by(100).map(|from| {
            let start = std::time::Instant::now();
            for node in from..from + 100 {
                host.set(slot::NODE, f64::from(node));
                assert_eq!(host.open(), 0);
            }
            start.elapsed()
        });
        // The smallest time, so that a pause of the machine does not count.
        batches.min().unwrap()
    };
    let first = cost(&mut host, 0..2000);
    cost(&mut host, 2000..100_000);
    let last = cost(&mut host, 100_000..102_000);
    let again = cost(&mut host, 50_000..52_000);
    assert_eq!(host.registry.len(), 102_000);
    assert!(last < 20 * first, "{last:?} for 100 at last, {first:?} at first");
    assert!(again < 20 * first, "{again:?} for 100 that are open, {first:?} at first");
}

/// Numbers that are not whole numbers from 0 up.
const NO_NUMBERS: [f64; 7] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.5, 1.5, -1.0, 1e300];

#[test]
fn a_number_that_is_not_whole_is_refused_in_every_slot_of_a_request() {
    let (layout, option) = (Code::InvalidLayout, Code::InvalidOption);
    let slots = [
        (slot::EPOCH_MS, layout, Subject::EpochMs),
        (slot::TICK_MS, layout, Subject::TickMs),
        (slot::FIELD_COUNT, layout, Subject::Fields),
        (slot::FIELDS, layout, Subject::Fields),
        (slot::FIELDS + 1, layout, Subject::FieldBits),
        (slot::FIELDS + 4, layout, Subject::Fields),
        (slot::FIELDS + 5, layout, Subject::FieldBits),
        (slot::NODE, Code::InvalidNode, Subject::Node),
        (slot::MAX_LEAD_MS, option, Subject::MaxLeadMs),
        (slot::MAX_WAIT_MS, option, Subject::MaxWaitMs),
        (slot::MAX_ASYNC_WAIT_MS, option, Subject::MaxAsyncWaitMs),
    ];
    let mut host = Host::new();
    for (at, code, subject) in slots {
        for value in NO_NUMBERS {
            host.request_default();
            for has in [slot::HAS_MAX_LEAD_MS, slot::HAS_MAX_WAIT_MS, slot::HAS_MAX_ASYNC_WAIT_MS] {
                host.set(has, 1.0);
            }
            host.set(at, value);
            let status = host.open();
            host.assert_refused(status, code, subject, Rule::WholeNumber);
            let most = |number: u64| host.index(slot::MAX) as u64 == number;
            assert!(at != slot::MAX_LEAD_MS || most(MAX_LEAD_MS), "a lead has a bound of its own");
        }
    }
    assert!(host.registry.is_empty());
}

#[test]
fn a_kind_or_a_count_of_fields_out_of_range_is_refused() {
    let mut host = Host::new();
    for (at, value) in [(slot::FIELDS, 4.0), (slot::FIELD_COUNT, 36.0)] {
        host.request_default();
        host.set(at, value);
        let status = host.open();
        host.assert_refused(status, Code::InvalidLayout, Subject::Fields, Rule::WholeNumber);
    }
}

#[test]
fn a_start_time_that_is_not_valid_is_refused_and_nan_means_unknown() {
    let mut host = Host::new();
    host.request_default();
    for value in [f64::INFINITY, f64::NEG_INFINITY] {
        host.set(slot::START_MS, value);
        let status = host.open();
        host.assert_refused(status, Code::InvalidClock, Subject::Now, Rule::FiniteClock);
    }
    host.set(slot::START_MS, -1.0);
    let status = host.open();
    host.assert_refused(status, Code::ClockBeforeEpoch, Subject::None, Rule::None);
    assert!(host.registry.is_empty());

    host.set(slot::START_MS, f64::NAN);
    assert_eq!(host.open(), 0);
    assert_eq!(host.frame.numbers[slot::MAX_LEAD_MS].to_bits(), 0.0_f64.to_bits(), "the lead must be 0 if the start is unknown");
}

#[test]
fn an_epoch_from_the_clock_of_the_process_is_refused_and_a_later_one_is_not() {
    let start_ms = NOW_MS - 60_000.0;
    for (from_ms, epoch_ms, until_ms, refused) in [
        (start_ms, start_ms - 1.0, NOW_MS + 1.0, false),
        (start_ms, start_ms, NOW_MS + 1.0, true),
        (start_ms, NOW_MS, NOW_MS + 1.0, true),
        (start_ms, NOW_MS + 1.0, NOW_MS + 1.0, false),
        // Not compared.
        (0.0, NOW_MS, 0.0, false),
        (0.0, 0.0, 0.0, false),
        // A clock that shows no time yet: the epoch is 0 at each start.
        (0.0, 0.0, 1.0, false),
        (-500.0, 0.0, 501.0, false),
        (0.0, 1.0, 2.0, true),
        (f64::NAN, NOW_MS, f64::NAN, false),
        // A clock that was set back since the start.
        (NOW_MS + 5.0, NOW_MS, NOW_MS + 1.0, false),
    ] {
        let mut host = Host::new();
        host.request_default();
        for (at, value) in [(slot::PROCESS_FROM_MS, from_ms), (slot::EPOCH_MS, epoch_ms), (slot::PROCESS_UNTIL_MS, until_ms)] {
            host.set(at, value);
        }
        let status = host.open();
        if refused {
            host.assert_refused(status, Code::InvalidLayout, Subject::EpochMs, Rule::EpochMoves);
        }
        assert_eq!((status != 0, host.registry.is_empty()), (refused, refused), "{from_ms} {epoch_ms} {until_ms}");
    }
}

#[test]
fn an_invalid_clock_reading_issues_no_id_and_changes_no_state() {
    let mut host = Host::new();
    let handle = host.handle_of(7, false);
    let mut last = host.next(handle, NOW_MS);
    for confirmed in [false, true] {
        for now_ms in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let status = host.reserve(handle, now_ms, 1, confirmed);
            host.assert_refused(status, Code::InvalidClock, Subject::Now, Rule::FiniteClock);
            assert_eq!(host.handles.next(&mut host.frame, handle, now_ms, confirmed), NO_ID);
            let next = host.next(handle, NOW_MS);
            assert_eq!(next, last + 1);
            last = next;
        }
        for now_ms in [-1.0, -0.5, -1e300] {
            let status = host.reserve(handle, now_ms, 1, confirmed);
            host.assert_refused(status, Code::ClockBeforeEpoch, Subject::None, Rule::None);
        }
        let beyond = host.reserve(handle, 1e300, 1, confirmed);
        assert_eq!(beyond, if confirmed { Code::TimeExhausted as u32 } else { RECHECK });
    }
    assert_eq!(host.next(handle, NOW_MS), last + 1);
}

#[test]
fn a_time_between_two_milliseconds_belongs_to_the_first() {
    let mut host = Host::new();
    let handle = host.handle_of(7, false);
    let first = host.next(handle, NOW_MS);
    assert_eq!(host.next(handle, NOW_MS + 0.75), first + 1);
    assert_eq!(host.frame.numbers[slot::VALID_FROM_MS].to_bits(), NOW_MS.to_bits());
}

#[test]
fn counts_and_waits_that_are_not_whole_numbers_are_not_admitted() {
    let mut host = Host::new();
    let handle = host.handle_of(7, false);
    for value in NO_NUMBERS {
        let status = host.handles.admit(&mut host.frame, handle, value, 10.0);
        host.assert_refused(status, Code::InvalidArgument, Subject::Count, Rule::WholeNumber);
        let status = host.handles.admit(&mut host.frame, handle, 1.0, value);
        host.assert_refused(status, Code::InvalidArgument, Subject::MaxWaitMs, Rule::WholeNumber);
    }
    let status = host.handles.admit(&mut host.frame, handle, 1_048_577.0, 2000.0);
    host.assert_refused(status, Code::InvalidArgument, Subject::Count, Rule::WholeNumber);
}

#[test]
fn a_count_beyond_the_full_lead_and_the_full_wait_is_not_admitted() {
    let mut host = Host::new();
    let handle = host.handle_of(7, false);
    let most = 11.0 * 4096.0; // this tick and ten of waiting; the lead is 0 if the start is unknown
    assert_eq!(host.handles.admit(&mut host.frame, handle, most, 10.0), 0);
    let status = host.handles.admit(&mut host.frame, handle, most + 1.0, 10.0);
    host.assert_refused(status, Code::SequenceExhausted, Subject::Count, Rule::CountReach);
    assert_eq!(host.frame.numbers[slot::MAX].to_bits(), most.to_bits());
}

#[test]
fn one_call_writes_as_many_ids_as_fit_into_the_frame() {
    let mut host = Host::new();
    host.request(&Layout::named("mastodon").unwrap().spec());
    host.set(slot::NODE_NONE, 1.0);
    let handle = host.handle();
    for want in [4096, 4097, u32::MAX] {
        assert_eq!(host.reserve(handle, NOW_MS, want, false), 0);
        assert_eq!(host.frame.numbers[slot::COUNT].to_bits(), 4096.0_f64.to_bits());
    }
}

#[test]
fn the_status_distinguishes_an_id_of_all_ones_from_a_refusal() {
    let mut host = Host::new();
    let discord = Layout::named("discord").unwrap();
    host.request(&discord.spec());
    host.set(slot::NODE, 1023.0);
    let handle = host.handle();
    let last_ms = number(discord.plan().last_ms);
    assert_eq!(host.reserve(handle, last_ms, 4095, false), 0);
    let last = host.handles.next(&mut host.frame, handle, last_ms, false);
    assert_eq!((last, host.frame.numbers[slot::STATUS].to_bits()), (NO_ID, 0.0_f64.to_bits()));
    assert_eq!(host.handles.next(&mut host.frame, handle, last_ms, true), NO_ID);
    assert_eq!(host.frame.numbers[slot::STATUS].to_bits(), f64::from(Code::TimeExhausted as u8).to_bits());
}

#[test]
fn a_state_without_a_key_asks_for_one_and_keeps_the_first() {
    let mut host = Host::new();
    host.request_default();
    host.set(slot::SEQUENCE_START, 1.0);
    let handle = host.handle();
    // It does not ask if the key would not be used.
    assert_eq!(host.reserve(handle, 0.0, 1, false), RECHECK);
    assert_eq!(host.reserve(handle, 0.0, 1, true), Code::ClockBeforeEpoch as u32);
    assert_eq!(host.reserve(handle, NOW_MS, 1, false), KEYLESS);
    assert_eq!(host.handles.next(&mut host.frame, handle, NOW_MS, false), NO_ID);
    assert_eq!(host.index(slot::STATUS), KEYLESS as usize);

    // A key with a half of 0 counts as missing, an invalid number is refused, and no key stays in the frame.
    host.set_key([0, 5]);
    assert_eq!(host.reserve(handle, NOW_MS, 1, false), KEYLESS);
    host.set_key([1, 2]);
    host.set(slot::KEY + 1, 0.5);
    let status = host.reserve(handle, NOW_MS, 1, false);
    host.assert_refused(status, Code::InvalidArgument, Subject::SequenceStart, Rule::WholeNumber);
    host.set_key([7, 9]);
    assert_eq!(host.reserve(handle, NOW_MS, 1, false), 0);
    assert_eq!(host.frame.numbers[slot::HAS_KEY..slot::KEY + 4], [0.0; 5]);

    // The first value of each half is kept: 5 from the first key, 7 from the last.
    let layout = Layout::named("default").unwrap();
    let machine = Machine::new(&layout, Node::Id(7), 0).unwrap().starting(SequenceStart::Random, Key::new(7, 5));
    let Outcome::Issued { block, .. } = machine.reserve(0, Window::OPEN, &[], 1_750_000_000_000, 1, false) else {
        unreachable!()
    };
    assert_eq!(host.frame.ids[0], block.first());
}

#[test]
fn all_generators_of_a_state_have_one_sequence_start() {
    let mut host = Host::new();
    host.request_default();
    host.handle();
    host.set(slot::SEQUENCE_START, 2.0);
    let status = host.open();
    host.assert_refused(status, Code::StateConflict, Subject::SequenceStart, Rule::OneStart);
    assert_eq!(host.registry.len(), 1);
    host.set(slot::NODE, 8.0);
    assert_eq!(host.open(), 0);
}

#[test]
fn health_writes_the_condition_of_a_generator_into_the_frame() {
    let mut host = Host::new();
    host.request(&Layout::named("multi-clock").unwrap().spec());
    host.set(slot::PRIVATE, 1.0);
    let handle = host.handle();
    host.next(handle, NOW_MS);
    host.next(handle, NOW_MS - 5.0);
    host.next(handle, NOW_MS - 3600.0);
    assert_eq!(host.handles.health(&mut host.frame, handle, NOW_MS - 3600.0), 0);
    let numbers = &host.frame.numbers;
    assert_eq!(numbers[slot::LEAD_MS..=slot::SWITCHES], [0.0, 5.0, 2.0, 3595.0, 1.0]);
    let end_ms = 1_704_067_200_000.0 + f64::from(1_u32 << 31) * 1024.0 - 1.0;
    assert_eq!(numbers[slot::END_MS..=slot::ENDS_SOON], [end_ms, end_ms - (NOW_MS - 3600.0), 0.0]);
    assert_eq!(host.handles.health(&mut host.frame, handle, 0.0), Code::ClockBeforeEpoch as u32);
    assert_eq!(host.handles.health(&mut host.frame, handle, f64::NAN), Code::InvalidClock as u32);
}

/// Opens a generator with a ceiling for the layout `default`, and returns the status.
fn open_ceiling(host: &mut Host, change: impl FnOnce(&mut Host)) -> u32 {
    host.request_default();
    for (at, word) in [1.0, 0.0, 0.0, 0.0].into_iter().enumerate() {
        host.set(slot::RANDOM + at, word);
    }
    change(host);
    host.handles.ceiling(&mut host.frame, 0.0, ceiling_call::OPEN)
}

/// Looks at a row, and returns the status and what is to be written.
fn look(host: &mut Host, handle: f64, row: Option<(f64, f64)>, now_ms: f64) -> (u32, Option<(f64, f64)>) {
    host.set(slot::HAS_ROW, f64::from(u8::from(row.is_some())));
    let (mark, until_ms) = row.unwrap_or((f64::NAN, f64::NAN));
    host.set(slot::ROW_MARK, mark);
    host.set(slot::ROW_UNTIL_MS, until_ms);
    host.set(slot::WALL_MS, now_ms);
    let status = host.handles.ceiling(&mut host.frame, handle, ceiling_call::LOOK);
    let [has_row, mark, until_ms] = [slot::HAS_ROW, slot::ROW_MARK, slot::ROW_UNTIL_MS].map(|at| host.frame.numbers[at]);
    (status, (status == 0 && has_row == 1.0).then_some((mark, until_ms)))
}

// docs/safety.md: 30
#[test]
fn a_ceiling_is_looked_at_before_each_reservation_and_no_block_may_be_kept() {
    let mut host = Host::new();
    assert_eq!(open_ceiling(&mut host, |_| ()), 0);
    let handle = host.frame.numbers[slot::HANDLE];
    assert_eq!(host.frame.numbers[slot::MAX_BLOCK], 0.0);
    assert_eq!(host.frame.numbers[slot::MAX_LEAD_MS], 1000.0);
    assert_eq!(host.reserve(handle, NOW_MS, 1, true), Code::LeaseExpired as u32, "no look");
    // The mark is made of the highest 53 random bits.
    let due = Some((f64::from(1 << 21), NOW_MS + 1001.0));
    assert_eq!(look(&mut host, handle, None, NOW_MS), (0, due));
    assert_eq!(host.reserve(handle, NOW_MS, 1, true), Code::LeaseExpired as u32, "not written");
    for _ in 0..2 {
        assert_eq!(look(&mut host, handle, due, NOW_MS), (0, None));
        assert_eq!(host.reserve(handle, NOW_MS, 1, true), 0);
        assert_eq!(host.reserve(handle, NOW_MS, 1, true), Code::LeaseExpired as u32, "the look was used");
    }
    host.handles.release(handle);
    assert_eq!(look(&mut host, handle, due, NOW_MS).0, Code::Closed as u32);
}

#[test]
fn the_health_of_a_generator_with_a_ceiling_needs_no_write() {
    let mut host = Host::new();
    open_ceiling(&mut host, |_| ());
    let handle = host.frame.numbers[slot::HANDLE];
    look(&mut host, handle, None, NOW_MS);
    assert_eq!(host.handles.health(&mut host.frame, handle, NOW_MS), 0);
    look(&mut host, handle, Some((5.0, NOW_MS + 300.0)), NOW_MS);
    assert_eq!(host.handles.health(&mut host.frame, handle, NOW_MS), Code::ClockBackward as u32);
    assert_eq!(host.frame.numbers[slot::RETRY_AFTER_MS], 300.0);
}

#[test]
fn a_generator_with_a_ceiling_refuses_options_rows_and_handles_that_are_not_valid() {
    let mut host = Host::new();
    for lead_ms in [1001.0, 0.5, -1.0, f64::NAN] {
        let status = open_ceiling(&mut host, |host| {
            host.set(slot::HAS_MAX_LEAD_MS, 1.0);
            host.set(slot::MAX_LEAD_MS, lead_ms);
        });
        host.assert_refused(status, Code::InvalidOption, Subject::MaxLeadMs, Rule::WholeNumber);
    }
    let status = open_ceiling(&mut host, |host| host.set(slot::NODE, 1024.0));
    host.assert_refused(status, Code::InvalidNode, Subject::Node, Rule::WholeNumber);
    let status = open_ceiling(&mut host, |host| host.set(slot::RANDOM, f64::NAN));
    host.assert_refused(status, Code::InvalidArgument, Subject::Lease, Rule::WholeNumber);
    assert_eq!(open_ceiling(&mut host, |host| host.set(slot::NODE, 1023.0)), 0);
    let handle = host.frame.numbers[slot::HANDLE];
    for until_ms in [f64::NAN, -1.0, 0.5, 2f64.powi(53)] {
        let (status, _) = look(&mut host, handle, Some((1.0, until_ms)), NOW_MS);
        host.assert_refused(status, Code::StoreRefused, Subject::Lease, Rule::LeaseTimes);
    }
    // A mark that nobody can have written is another one's.
    assert_eq!(look(&mut host, handle, Some((f64::NAN, NOW_MS + 5.0)), NOW_MS), (0, None));
    assert_eq!(host.reserve(handle, NOW_MS, 1, true), Code::ClockBackward as u32);
    // A clock that shows no time, which the reservation refuses.
    for now_ms in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        assert_eq!(look(&mut host, handle, None, now_ms), (0, None));
    }
    let plain = host.handle_of(7, true);
    assert_eq!(look(&mut host, plain, None, NOW_MS).0, Code::Closed as u32);
}

/// Objects have ID spaces of their own, however many of them an isolate has.
#[test]
fn a_generator_with_a_ceiling_claims_no_node_id() {
    let mut host = Host::new();
    host.handle_of(7, false);
    for _ in 0..2 {
        assert_eq!(open_ceiling(&mut host, |_| ()), 0);
        let handle = host.frame.numbers[slot::HANDLE];
        let (_, due) = look(&mut host, handle, None, NOW_MS);
        look(&mut host, handle, due, NOW_MS);
        assert_eq!(host.reserve(handle, NOW_MS, 1, true), 0);
    }
    host.handle_of(7, false);
}
