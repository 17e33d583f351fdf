//! The tables of the ABI: its slots and numbers, and what its calls answer with.
//!
//! A bundle carries what it imports, so the tables hold only what the calls can answer with. The lists of that are here, and a test
//! compares them with the answers.
//!
//! Not covered: the lists of the calls that only the native addon has. No test of this crate compares those with its answers.

use std::fmt::Write as _;

use frazil::Code;
use frazil::abi::{
    ABI, CEILING_CALLS, Frame, IDS, KEYLESS, KINDS, LEASE_CALLS, LEASE_CHANGES, LEASE_REASONS, LEASE_REQUESTS, MAX_WAIT_MS,
    NUMBERS, RECHECK, SEGMENT_CALLS, SEGMENT_REQUESTS, SLOTS,
};
use frazil::error::{Rule, Subject};
use frazil::lease::{MIN_WINDOW_MS, MIN_WINDOW_TICKS};
use frazil::mint::{MAX_COUNT, SequenceStart};

use super::text::{CLASSES, HEADER, camel_case, constant_name};

/// The codes that the frame can answer with. Every bundle that generates IDs carries this list and the two below, so they leave
/// out the codes of errors that JavaScript itself throws.
const PAGE_CODES: &[Code] = &[
    Code::InvalidLayout,
    Code::InvalidNode,
    Code::NodeRequired,
    Code::InvalidOption,
    Code::InvalidArgument,
    Code::StateConflict,
    Code::Closed,
    Code::ClockBackward,
    Code::SequenceExhausted,
    Code::ClockBeforeEpoch,
    Code::TimeExhausted,
    Code::InvalidClock,
    Code::LeaseExpired,
    Code::LeaseLost,
];

/// The codes, rules and subjects with which the calls for leases answer, and no others do.
const LEASE_CODES: &[Code] = &[Code::StoreRefused];
const LEASE_RULES: &[Rule] = &[Rule::WindowLength, Rule::LeaseTimes];
const LEASE_SUBJECTS: &[Subject] = &[Subject::WindowMs, Subject::Lease];

/// The same of the calls for segments.
const SEGMENT_CODES: &[Code] = &[Code::StoreRefused];
const SEGMENT_RULES: &[Rule] = &[Rule::SegmentRange, Rule::SegmentAbove];
const SEGMENT_SUBJECTS: &[Subject] =
    &[Subject::Segment, Subject::Step, Subject::MaxStep, Subject::GrowBelowMs, Subject::ShrinkAboveMs];

/// The rules that the frame can answer with.
const PAGE_RULES: &[Rule] = &[
    Rule::WholeNumber,
    Rule::OneTime,
    Rule::OneSequence,
    Rule::OneClock,
    Rule::NodeWidth,
    Rule::Width,
    Rule::LastTick,
    Rule::NodeNone,
    Rule::NodeNotNone,
    Rule::NodeGiven,
    Rule::CountReach,
    Rule::StaticLead,
    Rule::NoStartLead,
    Rule::FiniteClock,
    Rule::KnownStart,
    Rule::OneStart,
    Rule::OneKind,
    Rule::EpochMoves,
    Rule::NotSeconds,
];

/// What the answers that have a rule can be about.
const PAGE_SUBJECTS: &[Subject] = &[
    Subject::Node,
    Subject::EpochMs,
    Subject::TickMs,
    Subject::Fields,
    Subject::FieldBits,
    Subject::MaxLeadMs,
    Subject::MaxWaitMs,
    Subject::MaxAsyncWaitMs,
    Subject::Now,
    Subject::Count,
    Subject::SequenceStart,
];

/// What the calls that only the native addon has can answer with in addition. Bundles without these calls do not carry it.
const NATIVE_CODES: &[Code] = &[
    Code::UnsupportedFileSystem,
    Code::StateFileCorrupt,
    Code::StateFileAhead,
    Code::StateFileFailed,
    Code::UnprovenPlatform,
    Code::LeaseExpired,
];
const NATIVE_RULES: &[Rule] = &[Rule::NameSyntax, Rule::APath];
const NATIVE_SUBJECTS: &[Subject] = &[
    Subject::Generator,
    Subject::Dir,
    Subject::Scope,
    Subject::FileSystem,
    Subject::StartWaitMs,
    Subject::AcceptUnprovenPlatform,
];

/// Whether the frame can answer with this code and without a rule. The message then needs the meaning of the code.
fn needs_meaning(code: Code) -> bool {
    matches!(
        code,
        Code::Closed
            | Code::ClockBackward
            | Code::SequenceExhausted
            | Code::ClockBeforeEpoch
            | Code::TimeExhausted
            | Code::LeaseExpired
            | Code::LeaseLost
    )
}

/// Writes an object whose keys are numbers.
fn write_object(text: &mut String, doc: &str, declaration: &str, rows: impl Iterator<Item = (u8, String)>) {
    let _ = writeln!(text, "/** {doc} */\nexport const {declaration} = {{");
    for (number, value) in rows {
        let _ = writeln!(text, "  {number}: {value},");
    }
    text.push_str("};\n\n");
}

/// The slots, sizes and special statuses of the frame, and the tables by which its answers are read.
pub(super) fn frame() -> String {
    let mut text = format!(
        "{HEADER}import {{ CLASSES, type ErrorCode }} from \"./errors.js\";\nimport {{ Rule }} from \"./rules.js\";\n\n\
         /** The slots of the frame. */\nexport enum Slot {{\n"
    );
    for (name, index) in SLOTS {
        let _ = writeln!(text, "  {name} = {index},");
    }
    let _ = write!(
        text,
        "}}\n\n/** What is fixed about the frame. */\nexport enum Frame {{\n\
         \x20 /** How many floats it starts with. */\n  NUMBERS = {NUMBERS},\n\
         \x20 /** How many IDs follow them. */\n  IDS = {IDS},\n\
         \x20 /** Its size in bytes. */\n  BYTES = {bytes},\n\
         \x20 /** The most IDs or numbers of a call. */\n  MAX_COUNT = {MAX_COUNT},\n\
         \x20 /** The longest time that an option can say, in milliseconds. */\n  MAX_WAIT_MS = {MAX_WAIT_MS},\n\
         \x20 /** The status that asks for the clock to be read once more. */\n  RECHECK = {RECHECK},\n\
         \x20 /** The status that asks for a key. */\n  KEYLESS = {KEYLESS},\n\
         \x20 /** Copies of the package share their states where this is equal. */\n  ABI = {ABI},\n}}\n\n",
        bytes = size_of::<Frame>()
    );
    let _ = writeln!(
        text,
        "/** The kinds of fields by their numbers. No two begin with one letter, and the table of layouts has only that. */\n\
         export const KINDS = {:?} as const;\n",
        KINDS.iter().map(|row| row.0).collect::<Vec<_>>()
    );
    let starts = SequenceStart::ALL.map(SequenceStart::name);
    let _ = writeln!(text, "/** The starts of the sequence by their numbers. */\nexport const STARTS = {starts:?} as const;\n");
    // The classes list the codes in the order of their numbers, so the bundle needs no second list.
    let split = "/* @__PURE__ */ ` ${Object.values(CLASSES).join(\" \")}`.split(\" \") as ErrorCode[]";
    let _ = writeln!(text, "/** All codes by their status numbers. */\nexport const STATUSES = {split};\n");
    text.push_str("/** The first status of each class. */\nexport enum First {\n");
    for class in CLASSES {
        if let Some(code) = Code::ALL.iter().find(|code| code.class() == class) {
            let _ = writeln!(text, "  {} = {},", class.name(), *code as u8);
        }
    }
    text.push_str("}\n\n");
    let without_rule: Vec<Code> = PAGE_CODES.iter().copied().filter(|code| needs_meaning(*code)).collect();
    write_answers(&mut text, PAGE_CODES, &without_rule, PAGE_RULES, PAGE_SUBJECTS);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The numbers of the calls for leases and of their answers, and the tables by which those answers are read that no other call
/// gives.
pub(super) fn lease() -> String {
    let enums = [
        ("What the call does.", "LeaseCall", &LEASE_CALLS[..]),
        ("What the call for a ceiling does.", "CeilingCall", &CEILING_CALLS),
        ("What to request of the store.", "LeaseRequest", &LEASE_REQUESTS),
        ("What an answer changed.", "LeaseChange", &LEASE_CHANGES),
        ("Why the store granted nothing.", "LeaseReason", &LEASE_REASONS),
    ];
    let mut text = with_numbered_calls(&enums, LEASE_CODES, LEASE_RULES, LEASE_SUBJECTS);
    let _ = write!(
        text,
        "\n/** The shortest window, in milliseconds. */\n\
         export const minWindowMs = (tickMs: number): number => Math.max({MIN_WINDOW_MS}, {MIN_WINDOW_TICKS} * tickMs);\n"
    );
    text
}

/// The same for segments.
pub(super) fn segment() -> String {
    let enums = [
        ("What the call does.", "SegmentCall", &SEGMENT_CALLS[..]),
        ("What to request of the store.", "SegmentRequest", &SEGMENT_REQUESTS),
    ];
    with_numbered_calls(&enums, SEGMENT_CODES, SEGMENT_RULES, SEGMENT_SUBJECTS)
}

fn with_numbered_calls(enums: &[(&str, &str, &[&str])], codes: &[Code], rules: &[Rule], subjects: &[Subject]) -> String {
    let mut text =
        format!("{HEADER}import type {{ ErrorCode }} from \"./errors.js\";\nimport {{ Rule }} from \"./rules.js\";\n\n");
    for (doc, name, members) in enums {
        let _ = writeln!(text, "/** {doc} */\nexport enum {name} {{");
        for (number, member) in members.iter().enumerate() {
            let _ = writeln!(text, "  {member} = {number},");
        }
        text.push_str("}\n\n");
    }
    write_answers(&mut text, codes, &[], rules, subjects);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The tables by which the answers of the native addon's own calls are read.
pub(super) fn native() -> String {
    let mut text =
        format!("{HEADER}import type {{ ErrorCode }} from \"./errors.js\";\nimport {{ Rule }} from \"./rules.js\";\n\n");
    write_answers(&mut text, NATIVE_CODES, NATIVE_CODES, NATIVE_RULES, NATIVE_SUBJECTS);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Writes the tables by which answers are read. `without_rule` are the codes that can come without a rule.
fn write_answers(text: &mut String, codes: &[Code], without_rule: &[Code], rules: &[Rule], subjects: &[Subject]) {
    write_object(
        text,
        "The codes that the core answers with, by status.",
        "CODES: { readonly [status: number]: ErrorCode }",
        codes.iter().map(|code| (*code as u8, format!("{:?}", code.name()))),
    );
    let retryable: Vec<u8> = codes.iter().filter(|code| code.retryable()).map(|code| *code as u8).collect();
    let _ =
        writeln!(text, "/** Those that pass although the caller changes nothing. */\nexport const RETRYABLE = {retryable:?};\n");
    write_object(
        text,
        "What those mean that no rule explains.",
        "MEANINGS: { readonly [status: number]: string }",
        without_rule.iter().map(|code| (*code as u8, format!("{:?}", code.meaning()))),
    );
    write_object(
        text,
        "The rules that it answers with, by number.",
        "RULES: { readonly [rule: number]: Rule }",
        rules.iter().map(|rule| (*rule as u8, format!("Rule.{}", constant_name(&format!("{rule:?}"))))),
    );
    write_object(
        text,
        "What the answers are about, by number.",
        "SUBJECTS: { readonly [subject: number]: string }",
        subjects.iter().map(|subject| (*subject as u8, format!("{:?}", camel_case(subject.name())))),
    );
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{
        LEASE_CODES, LEASE_RULES, LEASE_SUBJECTS, PAGE_CODES, PAGE_RULES, PAGE_SUBJECTS, SEGMENT_CODES, SEGMENT_RULES,
        SEGMENT_SUBJECTS, needs_meaning,
    };
    use frazil::abi::{CEILING_CALLS, Frame, Handles, KEYLESS, LEASE_CALLS, RECHECK, SEGMENT_CALLS, SLOTS, slot};
    use frazil::{Code, Registry};

    const EPOCH_MS: f64 = 1_704_067_200_000.0;
    /// Values for a slot or an argument: some that are valid somewhere, their neighbours, and some that are valid nowhere.
    const VALUES: [f64; 12] =
        [0.0, -1.0, 1.5, 2.0, 64.0, 1001.0, 1_048_576.0, 1e9, EPOCH_MS, EPOCH_MS + 1000.0, f64::INFINITY, f64::NAN];
    /// Fields as pairs of the number of a kind and a width: valid layouts, and one for each rule about layouts that the frame
    /// can answer with.
    const LAYOUTS: [&[(u8, u8)]; 10] = [
        &[(0, 41), (1, 10), (3, 8)],
        &[(0, 41), (3, 8)],
        &[(0, 4), (2, 1), (1, 1), (3, 1)],
        &[(1, 10), (3, 8)],
        &[(0, 41)],
        &[(0, 20), (2, 1), (2, 1), (3, 8)],
        &[(0, 20), (1, 20), (1, 20), (3, 1)],
        &[(0, 41), (1, 10), (3, 20)],
        &[(0, 60), (3, 1)],
        &[(0, 41), (1, 0), (3, 8)],
    ];

    /// The numbers of the codes, rules and subjects that the frame answered with.
    #[derive(Default)]
    struct Seen {
        codes: BTreeSet<u8>,
        meanings: BTreeSet<u8>,
        rules: BTreeSet<u8>,
        subjects: BTreeSet<u8>,
    }

    impl Seen {
        fn record(&mut self, frame: &Frame, status: u32) {
            if [0, RECHECK, KEYLESS].contains(&status) {
                return;
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the frame's numbers are small")]
            let number = |slot: usize| frame.numbers[slot] as u8;
            let code = u8::try_from(status).unwrap_or(u8::MAX);
            self.codes.insert(code);
            if number(slot::RULE) == 0 {
                self.meanings.insert(code);
            } else {
                self.rules.insert(number(slot::RULE));
                self.subjects.insert(number(slot::SUBJECT));
            }
        }
    }

    /// A frame with a request to open a generator; a node of NaN means that no node is given.
    fn frame_to_open(fields: &[(u8, u8)], node: f64) -> Frame {
        let mut frame = Frame::new();
        frame.numbers[slot::EPOCH_MS] = EPOCH_MS;
        frame.numbers[slot::TICK_MS] = 1.0;
        frame.numbers[slot::FIELD_COUNT] = f64::from(u8::try_from(fields.len()).unwrap_or(0));
        for (pair, (kind, bits)) in frame.numbers[slot::FIELDS..].chunks_exact_mut(2).zip(fields) {
            pair.copy_from_slice(&[f64::from(*kind), f64::from(*bits)]);
        }
        frame.numbers[slot::HAS_NODE] = f64::from(u8::from(!node.is_nan()));
        frame.numbers[slot::NODE] = node;
        frame
    }

    /// Changes one slot of the request, opens the generator, and makes every call with every value.
    fn open_and_call(seen: &mut Seen, frame: &mut Frame, changed_slot: usize, value: f64) {
        let (mut handles, mut registry) = (Handles::new(), Registry::new());
        for flag in [slot::HAS_MAX_LEAD_MS, slot::HAS_MAX_WAIT_MS, slot::HAS_MAX_ASYNC_WAIT_MS] {
            frame.numbers[flag] = f64::from(u8::from(changed_slot == flag + 1));
        }
        frame.numbers[changed_slot] = value;
        let status = handles.open(frame, &mut registry);
        seen.record(frame, status);
        if status != 0 {
            return;
        }
        frame.numbers[slot::SEQUENCE_START] = 2.0;
        let status = handles.open(frame, &mut registry);
        seen.record(frame, status);
        for a in VALUES {
            for b in VALUES {
                let status = handles.admit(frame, 0.0, a, b);
                seen.record(frame, status);
            }
            for confirmed in [false, true, true] {
                let status = handles.reserve(frame, 0.0, a, 4096, confirmed);
                seen.record(frame, status);
            }
            let status = handles.health(frame, 0.0, a);
            seen.record(frame, status);
        }
        handles.release(0.0);
        let status = handles.reserve(frame, 0.0, EPOCH_MS, 1, true);
        seen.record(frame, status);
    }

    /// Opens a leased generator, changes one slot, and makes every call for leases twice, and those that mint.
    fn lease_and_call(seen: &mut Seen, frame: &mut Frame, changed_slot: usize, value: f64) {
        let (mut handles, mut registry) = (Handles::new(), Registry::new());
        frame.numbers[slot::WINDOW_MS] = 30_000.0;
        frame.numbers[slot::DEFAULT_SCOPE] = 0.0;
        frame.numbers[slot::WALL_MS] = EPOCH_MS + 5000.0;
        frame.numbers[slot::STORE_NOW_MS] = EPOCH_MS + 5000.0;
        frame.numbers[slot::UNTIL_MS] = EPOCH_MS + 9000.0;
        frame.numbers[changed_slot] = value;
        let status = handles.lease(frame, &mut registry, 0.0, 0);
        seen.record(frame, status);
        if status != 0 {
            return;
        }
        for call in (1..LEASE_CALLS.len()).chain(1..LEASE_CALLS.len()) {
            let status = handles.lease(frame, &mut registry, 0.0, u32::try_from(call).unwrap_or(0));
            seen.record(frame, status);
            frame.numbers[changed_slot] = value;
            for now_ms in [EPOCH_MS + 5000.0, EPOCH_MS + 1e9] {
                let status = handles.reserve(frame, 0.0, now_ms, 1, true);
                seen.record(frame, status);
            }
        }
    }

    /// Opens a generator with a ceiling, changes one slot, and looks at a row twice.
    fn ceiling_and_call(seen: &mut Seen, changed_slot: usize, value: f64) {
        let (mut handles, mut frame) = (Handles::new(), frame_to_open(&[(0, 41), (1, 10), (3, 8)], 7.0));
        for (at, number) in [(slot::WALL_MS, EPOCH_MS + 5000.0), (slot::HAS_ROW, 1.0), (changed_slot, value)] {
            frame.numbers[at] = number;
        }
        for call in (0..CEILING_CALLS.len()).chain(1..CEILING_CALLS.len()) {
            let status = handles.ceiling(&mut frame, 0.0, u32::try_from(call).unwrap_or(0));
            seen.record(&frame, status);
            frame.numbers[changed_slot] = value;
        }
    }

    /// Opens a segment, changes one slot, and draws, asks and takes, and then makes every call for segments.
    fn segment_and_call(seen: &mut Seen, changed_slot: usize, value: f64) {
        let (mut handles, mut frame) = (Handles::new(), Frame::new());
        let given =
            [(slot::HAS_STEP, 1.0), (slot::STEP, 10.0), (slot::MAX_STEP, 100.0), (slot::STRIDE, 1.0), (slot::RANGE_COUNT, 9.0)];
        for (at, number) in given.into_iter().chain([(changed_slot, value)]) {
            frame.numbers[at] = number;
        }
        let status = handles.segment(&mut frame, 0.0, 0);
        seen.record(&frame, status);
        for call in (1..4).chain(1..SEGMENT_CALLS.len()) {
            let status = handles.segment(&mut frame, 0.0, u32::try_from(call).unwrap_or(0));
            seen.record(&frame, status);
            for (at, number) in given.into_iter().chain([(changed_slot, value)]) {
                frame.numbers[at] = number;
            }
            frame.ids[0] = 7;
        }
    }

    #[test]
    fn the_tables_of_answers_are_what_the_frame_answers_with() {
        let mut seen = Seen::default();
        for changed_slot in SLOTS.iter().map(|row| row.1) {
            for value in VALUES {
                segment_and_call(&mut seen, changed_slot, value);
            }
        }
        for changed_slot in SLOTS.iter().map(|row| row.1).filter(|index| *index >= slot::EPOCH_MS) {
            for value in VALUES {
                lease_and_call(&mut seen, &mut frame_to_open(&[(0, 41), (1, 10), (3, 8)], f64::NAN), changed_slot, value);
                ceiling_and_call(&mut seen, changed_slot, value);
            }
        }
        for fields in LAYOUTS {
            for (node, node_none) in [(f64::NAN, 0.0), (f64::NAN, 1.0), (0.0, 0.0), (1024.0, 0.0)] {
                for changed_slot in SLOTS.iter().map(|row| row.1).filter(|index| *index >= slot::EPOCH_MS) {
                    for (private, start_ms) in [(0.0, EPOCH_MS), (1.0, f64::NAN), (0.0, f64::NAN)] {
                        for value in VALUES {
                            let mut frame = frame_to_open(fields, node);
                            frame.numbers[slot::NODE_NONE] = node_none;
                            frame.numbers[slot::PRIVATE] = private;
                            frame.numbers[slot::START_MS] = start_ms;
                            open_and_call(&mut seen, &mut frame, changed_slot, value);
                        }
                    }
                }
            }
        }
        let known = |codes: &mut dyn Iterator<Item = &Code>| codes.map(|code| *code as u8).collect::<BTreeSet<_>>();
        assert_eq!(seen.codes, known(&mut PAGE_CODES.iter().chain(LEASE_CODES).chain(SEGMENT_CODES)), "the codes");
        assert_eq!(seen.meanings, known(&mut PAGE_CODES.iter().filter(|code| needs_meaning(**code))), "needs_meaning");
        assert_eq!(
            seen.rules,
            PAGE_RULES.iter().chain(LEASE_RULES).chain(SEGMENT_RULES).map(|rule| *rule as u8).collect(),
            "the rules"
        );
        assert_eq!(
            seen.subjects,
            PAGE_SUBJECTS.iter().chain(LEASE_SUBJECTS).chain(SEGMENT_SUBJECTS).map(|subject| *subject as u8).collect(),
            "the subjects"
        );
    }
}
