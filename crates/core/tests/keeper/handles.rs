//! The calls of the handle table for states with a keeper.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use frazil::abi::{Frame, Handles, KINDS, LocalRequest, LocalState, slot};
use frazil::error::{Rule, Subject};
use frazil::layout::FieldKind;
use frazil::mint::{Claim, DEFAULT_SCOPE, Keeper, Machine, SequenceStart};
use frazil::{Code, Error, GeneratorOptions, Layout, Node, Registry};

use super::{Memory, T};

/// A frame that requests a generator with the layout `default` and these texts.
fn asking(dir: Option<&str>, scope: Option<&str>, file_system: Option<&str>) -> Box<Frame> {
    let mut frame = Box::new(Frame::new());
    let layout = Layout::named("default").unwrap().spec();
    let numbers = &mut frame.numbers;
    numbers[slot::EPOCH_MS] = 1_704_067_200_000.0;
    numbers[slot::TICK_MS] = 1.0;
    numbers[slot::FIELD_COUNT] = 3.0;
    for (at, field) in layout.fields.iter().enumerate() {
        let kind = KINDS.iter().position(|row| row.1 == field.kind).unwrap();
        numbers[slot::FIELDS + 2 * at] = f64::from(u8::try_from(kind).unwrap());
        numbers[slot::FIELDS + 2 * at + 1] = f64::from(field.bits);
    }
    let mut bytes = Vec::new();
    for (at, text) in [(slot::DIR_BYTES, dir), (slot::SCOPE_BYTES, scope), (slot::FILE_SYSTEM_BYTES, file_system)] {
        numbers[at] = text.map_or(f64::NAN, |text| f64::from(u16::try_from(text.len()).unwrap()));
        bytes.extend_from_slice(text.unwrap_or("").as_bytes());
    }
    put(&mut frame, &bytes);
    frame
}

fn put(frame: &mut Frame, bytes: &[u8]) {
    for (id, chunk) in frame.ids.iter_mut().zip(bytes.chunks(8)) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        *id = u64::from_ne_bytes(word);
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length")]
fn text(frame: &Frame) -> String {
    let bytes: Vec<u8> =
        frame.ids.iter().flat_map(|id| id.to_ne_bytes()).take(frame.numbers[slot::TEXT_BYTES] as usize).collect();
    String::from_utf8(bytes).unwrap()
}

/// The request that the handle table makes of a frame, or its refusal.
fn requested(frame: &mut Frame) -> Result<LocalRequest, (u32, Rule, Subject)> {
    let mut found = None;
    let refuse = |request| {
        found = Some(request);
        Err((Error::with_subject(Code::Closed, Subject::Dir), String::new()))
    };
    let status = Handles::new().local(frame, refuse);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
    let number = |at: usize| frame.numbers[at] as usize;
    found.ok_or((status, Rule::ALL[number(slot::RULE)], Subject::ALL[number(slot::SUBJECT)]))
}

#[test]
fn the_handle_table_reads_a_request_from_the_frame() {
    let request = requested(&mut asking(Some("/tmp/ü/x"), None, Some("fuse"))).unwrap();
    assert_eq!((request.dir.as_deref(), request.scope.as_deref()), (Some("/tmp/ü/x"), None));
    assert_eq!((request.file_system.as_deref(), request.start_wait_ms), (Some("fuse"), None));
    assert_eq!((request.machine.node(), request.machine.max_lead_ms(), request.node_missing), (1023, 1000, true));
    assert_eq!(request.sequence_start, SequenceStart::Zero);

    let mut frame = asking(Some(""), Some("shop"), None);
    for (at, value) in [
        (slot::HAS_NODE, 1.0),
        (slot::NODE, 9.0),
        (slot::HAS_MAX_LEAD_MS, 1.0),
        (slot::MAX_LEAD_MS, 5.0),
        (slot::HAS_START_WAIT_MS, 1.0),
        (slot::START_WAIT_MS, 0.0),
        (slot::SEQUENCE_START, 2.0),
    ] {
        frame.numbers[at] = value;
    }
    let request = requested(&mut frame).unwrap();
    assert_eq!((request.dir.as_deref(), request.scope.as_deref(), request.file_system), (Some(""), Some("shop"), None));
    assert_eq!((request.machine.node(), request.machine.max_lead_ms(), request.node_missing), (9, 5, false));
    assert_eq!((request.start_wait_ms, request.sequence_start), (Some(0), SequenceStart::Wrap));

    // A layout without a node field has no node id, but "none" may be given.
    let mut frame = asking(None, None, None);
    frame.numbers[slot::FIELD_COUNT] = 2.0;
    let sequence = KINDS.iter().position(|row| row.1 == FieldKind::Sequence).unwrap();
    frame.numbers[slot::FIELDS + 2] = f64::from(u8::try_from(sequence).unwrap());
    for none in [0.0, 1.0] {
        frame.numbers[slot::NODE_NONE] = none;
        assert_eq!(requested(&mut frame).unwrap().node_missing, none == 0.0);
    }
    frame.numbers[slot::NODE_NONE] = 0.0;
    frame.numbers[slot::HAS_NODE] = 1.0;
    assert_eq!(requested(&mut frame).unwrap_err().1, Rule::NodeNone);
}

#[test]
fn the_handle_table_refuses_a_wrong_request_before_a_file_is_attached() {
    let refused = |change: &dyn Fn(&mut Frame)| {
        let mut frame = asking(Some("/tmp"), None, None);
        change(&mut frame);
        requested(&mut frame).unwrap_err()
    };
    let option = Code::InvalidOption as u32;
    let whole = |at: usize, has: usize, value: f64, subject| {
        let found = refused(&|frame| {
            frame.numbers[has] = 1.0;
            frame.numbers[at] = value;
        });
        assert_eq!(found, (option, Rule::WholeNumber, subject));
    };
    whole(slot::MAX_LEAD_MS, slot::HAS_MAX_LEAD_MS, 1001.0, Subject::MaxLeadMs);
    whole(slot::START_WAIT_MS, slot::HAS_START_WAIT_MS, 1.5, Subject::StartWaitMs);
    whole(slot::MAX_WAIT_MS, slot::HAS_MAX_WAIT_MS, -1.0, Subject::MaxWaitMs);
    whole(slot::MAX_ASYNC_WAIT_MS, slot::HAS_MAX_ASYNC_WAIT_MS, 1e10, Subject::MaxAsyncWaitMs);
    let start = refused(&|frame| frame.numbers[slot::SEQUENCE_START] = 3.0);
    assert_eq!(start, (option, Rule::KnownStart, Subject::SequenceStart));
    assert_eq!(refused(&|frame| frame.numbers[slot::DIR_BYTES] = 40_000.0), (option, Rule::WholeNumber, Subject::Dir));
    assert_eq!(refused(&|frame| put(frame, b"/\xff\xff\xff")), (option, Rule::APath, Subject::Dir));
}

#[test]
fn the_handle_table_owns_a_kept_generator_and_reports_the_faults_of_its_keeper() {
    let mut handles = Handles::new();
    let memory = Arc::new(Memory { more_ms: 10, ..Memory::new(T) });
    let mut frame = asking(Some("/tmp"), None, None);
    let mut opened = Vec::new();
    for _ in 0..2 {
        let keeper: Arc<dyn Keeper> = Arc::<Memory>::clone(&memory);
        assert_eq!(handles.local(&mut frame, |_| Ok(LocalState { keeper, wait_ms: 12 })), 0);
        assert_eq!((frame.numbers[slot::WAIT_MS], frame.numbers[slot::MAX_BLOCK]), (12.0, 1024.0));
        assert_eq!((frame.numbers[slot::MAX_LEAD_MS], frame.numbers[slot::MAX_WAIT_MS]), (1000.0, 10.0));
        assert_eq!((frame.numbers[slot::MAX_ASYNC_WAIT_MS], frame.numbers[slot::NODE]), (5000.0, 1023.0));
        frame.numbers[slot::NODE] = f64::NAN;
        opened.push(frame.numbers[slot::HANDLE]);
        for at in [slot::DIR_BYTES, slot::SCOPE_BYTES, slot::FILE_SYSTEM_BYTES] {
            frame.numbers[at] = f64::NAN;
        }
    }
    assert_ne!(opened[0], opened[1]);
    let now_ms = 1_720_000_000_000.0;
    assert_eq!(handles.reserve(&mut frame, opened[0], now_ms, 1, false), 0);
    assert_eq!(handles.health(&mut frame, opened[0], now_ms), 0);
    assert_eq!(frame.numbers[slot::EXTENSIONS], 1.0);

    assert_eq!(handles.file(&mut frame, opened[1]), 0);
    assert_eq!(text(&frame), "/ä/fileext4");
    let shown = [slot::PATH_BYTES, slot::CEILING_MS, slot::ATTACHED, slot::RAISES, slot::DISTRUSTED_MS];
    assert_eq!(shown.map(|at| frame.numbers[at]), [8.0, 5000.0, 3.0, 4.0, 6.0]);

    memory.failed.store(true, Relaxed);
    let status = handles.reserve(&mut frame, opened[0], now_ms + 500.0, 1, false);
    assert_eq!((status, text(&frame).as_str()), (Code::StateFileFailed as u32, "größer als der Platz"));
    assert_eq!(handles.health(&mut frame, opened[1], now_ms), Code::StateFileFailed as u32);
    assert_eq!(text(&frame), "größer als der Platz");
    // Other refusals have no text.
    assert_eq!(handles.reserve(&mut frame, opened[0], f64::NAN, 1, false), Code::InvalidClock as u32);
    assert_eq!(frame.numbers[slot::TEXT_BYTES], 0.0);

    handles.release(opened[0]);
    assert_eq!(handles.file(&mut frame, opened[0]), Code::Closed as u32);
    assert_eq!(Arc::strong_count(&memory), 2, "the handle table must have released one");
}

#[test]
fn the_text_of_a_refusal_to_attach_is_cut_at_the_end_of_the_frame() {
    let mut handles = Handles::new();
    let error = Error::with_subject(Code::StateFileCorrupt, Subject::Dir);
    let mut frame = asking(None, None, None);
    let status = handles.local(&mut frame, |_| Err((error, "über".to_owned())));
    assert_eq!((status, text(&frame).as_str()), (Code::StateFileCorrupt as u32, "über"));
    let mut frame = asking(None, None, None);
    let long = format!("x{}", "ü".repeat(20_000));
    let status = handles.local(&mut frame, |_| Err((error, long.clone())));
    assert_eq!(status, Code::StateFileCorrupt as u32);
    assert_eq!(text(&frame), long[..32_767], "a character must not be cut in two");
}

#[test]
fn a_static_generator_and_a_kept_one_with_one_node_id_refuse_each_other_in_a_process() {
    let layout = Layout::named("default").unwrap();
    let attach = |_| Ok(LocalState { keeper: Arc::new(Memory::new(T)), wait_ms: 0 });
    let conflict = |frame: &Frame| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rule")]
        let rule = frame.numbers[slot::RULE] as usize;
        assert_eq!(Rule::ALL[rule], Rule::OneKind);
    };

    // All tests of this file run in one process, so only this test may use these node ids.
    let of_node = |node: f64, scope| {
        let mut frame = asking(None, scope, None);
        (frame.numbers[slot::HAS_NODE], frame.numbers[slot::NODE]) = (1.0, node);
        frame
    };
    let static_of = |node| Registry::new().open(&layout, GeneratorOptions::new(Node::Id(node)));
    let mut handles = Handles::new();
    static_of(40).unwrap();
    for scope in [None, Some("default")] {
        let mut frame = of_node(40.0, scope);
        assert_eq!(handles.local(&mut frame, attach), Code::StateConflict as u32);
        conflict(&frame);
    }
    // IDs of another scope or node id need not differ.
    assert_eq!(handles.local(&mut of_node(40.0, Some("shop")), attach), 0);
    assert_eq!(handles.local(&mut of_node(41.0, None), attach), 0);
    let error = static_of(41).unwrap_err();
    assert_eq!((error.code(), error.rule()), (Code::StateConflict, Rule::OneKind));
    static_of(42).unwrap();
}

#[test]
fn a_node_id_is_held_during_attaching_and_released_if_that_fails() {
    let layout = Layout::named("default").unwrap();
    let machine = Machine::new(&layout, Node::Id(50), 10).unwrap();
    let open = || Registry::new().open(&layout, GeneratorOptions::new(Node::Id(50)));
    let (first, second) = (Claim::kept(&machine, None).unwrap(), Claim::kept(&machine, Some(DEFAULT_SCOPE)).unwrap());
    assert_eq!(open().unwrap_err().rule(), Rule::OneKind);
    drop(first);
    assert_eq!(open().unwrap_err().rule(), Rule::OneKind, "the second is still attaching");
    drop(second);
    // A handle table holds it during the request, and releases it if the request is refused.
    let mut frame = asking(None, None, None);
    (frame.numbers[slot::HAS_NODE], frame.numbers[slot::NODE]) = (1.0, 50.0);
    let status = Handles::new().local(&mut frame, |_| {
        assert_eq!(open().unwrap_err().rule(), Rule::OneKind);
        Err((Error::with_subject(Code::StateFileCorrupt, Subject::Dir), String::new()))
    });
    assert_eq!(status, Code::StateFileCorrupt as u32);
    open().unwrap();
    assert_eq!(Claim::kept(&machine, None).unwrap_err().rule(), Rule::OneKind);
    // This holds for any registry of the process: a generator that it created may have minted.
    open().unwrap();

    let other = Machine::new(&layout, Node::Id(51), 10).unwrap();
    let (confirmed, dropped) = (Claim::kept(&other, None).unwrap(), Claim::kept(&other, None).unwrap());
    confirmed.confirm();
    drop(dropped);
    let error = Registry::new().open(&layout, GeneratorOptions::new(Node::Id(51))).unwrap_err();
    assert_eq!(error.rule(), Rule::OneKind, "a confirmed node id stays taken");
}
