//! The module's calls as JavaScript makes them: arguments in the frame at `frame()`, and a status as the result.
//!
//! `npm test -- wasm-bindgen` runs them in Node.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::unwrap_used, reason = "a test that cannot read its memory has failed")]

use std::collections::HashSet;

use frazil::Code;
use frazil::abi::{KINDS, NUMBERS, RECHECK, slot};
use frazil::layout::FieldKind;
use frazil_wasm::{admit, frame, open, release, reserve};
use js_sys::{BigUint64Array, Date, Float64Array, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

/// 2024-01-01, the epoch of the layout below.
const EPOCH_MS: f64 = 1_704_067_200_000.0;
/// The time of clocks that stand still.
const NOW_MS: f64 = EPOCH_MS + 1e10;
const NODE: f64 = 7.0;
/// The IDs of a tick of the layout, 2^12.
const IDS_PER_TICK: usize = 4096;
const LEAD_MS: usize = 10;

/// A new view for each use, because a view becomes empty when the memory grows.
fn numbers() -> Float64Array {
    let buffer = Reflect::get(&wasm_bindgen::memory(), &"buffer".into()).unwrap();
    Float64Array::new_with_byte_offset_and_length(&buffer, frame(), u32::try_from(NUMBERS).unwrap())
}

fn get(at: usize) -> f64 {
    numbers().get_index(u32::try_from(at).unwrap())
}

fn set(at: usize, value: f64) {
    numbers().set_index(u32::try_from(at).unwrap(), value);
}

fn ids() -> Vec<u64> {
    let buffer = Reflect::get(&wasm_bindgen::memory(), &"buffer".into()).unwrap();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of at most 4096")]
    let count = get(slot::COUNT) as u32;
    let offset = frame() + u32::try_from(8 * NUMBERS).unwrap();
    BigUint64Array::new_with_byte_offset_and_length(&buffer, offset, count).to_vec()
}

/// Writes a request for a private generator with time 41, node 10, sequence 12 into the frame.
fn describe() {
    for at in 0..NUMBERS {
        set(at, 0.0);
    }
    set(slot::EPOCH_MS, EPOCH_MS);
    set(slot::TICK_MS, 1.0);
    set(slot::FIELD_COUNT, 3.0);
    for (field, (kind, bits)) in
        [(FieldKind::Time, 41.0), (FieldKind::Node, 10.0), (FieldKind::Sequence, 12.0)].iter().enumerate()
    {
        let number = KINDS.iter().position(|row| row.1 == *kind).unwrap();
        set(slot::FIELDS + 2 * field, f64::from(u32::try_from(number).unwrap()));
        set(slot::FIELDS + 2 * field + 1, *bits);
    }
    set(slot::HAS_NODE, 1.0);
    set(slot::NODE, NODE);
    set(slot::START_MS, f64::NAN);
    set(slot::PRIVATE, 1.0);
    set(slot::HAS_MAX_LEAD_MS, 1.0);
    set(slot::MAX_LEAD_MS, f64::from(u32::try_from(LEAD_MS).unwrap()));
}

/// One ID; the call must succeed.
fn next(handle: f64, now_ms: f64, confirmed: bool) -> u64 {
    assert_eq!(reserve(frame(), handle, now_ms, 1, confirmed), 0);
    ids()[0]
}

fn open_generator() -> f64 {
    describe();
    assert_eq!(open(frame()), 0);
    get(slot::HANDLE)
}

#[expect(clippy::cast_precision_loss, reason = "a time below 2^53")]
fn time_of(id: u64) -> f64 {
    EPOCH_MS + (id >> 22) as f64
}

fn assert_refused(code: Code, status: u32) {
    assert_eq!(status, code as u32, "{code:?}");
}

#[wasm_bindgen_test]
fn the_frame_lies_in_the_memory_and_stays_there() {
    assert_ne!(frame(), 0);
    assert_eq!(frame() % 8, 0);
    let before = frame();
    open_generator();
    assert_eq!(frame(), before);
}

#[wasm_bindgen_test]
fn opening_writes_the_options_into_the_frame() {
    open_generator();
    assert_eq!(get(slot::MAX_LEAD_MS).to_bits(), 10_f64.to_bits());
    assert_eq!(get(slot::MAX_BLOCK).to_bits(), 1024_f64.to_bits());
}

#[wasm_bindgen_test]
fn reserve_of_one_gives_an_id_with_the_time_of_the_host_and_the_node_id() {
    let handle = open_generator();
    let before = Date::now();
    let id = next(handle, Date::now(), false);
    assert!(before <= time_of(id) && time_of(id) <= Date::now(), "{id} at {before}");
    assert_eq!((id >> 12) & 0x3ff, 7);
    assert_eq!(id & 0xfff, 0);
}

#[wasm_bindgen_test]
fn reserve_with_the_clock_of_the_host_repeats_no_id() {
    let handle = open_generator();
    let mut last = 0;
    let mut refusals = 0;
    for _ in 0..100_000 {
        match reserve(frame(), handle, Date::now(), 1, true) {
            0 => {
                let id = ids()[0];
                assert!(id > last, "{id} after {last}");
                last = id;
            }
            status => {
                assert_refused(Code::SequenceExhausted, status);
                refusals += 1;
            }
        }
    }
    assert!(refusals < 100_000 && last > 0);
}

#[wasm_bindgen_test]
fn reserve_writes_a_block_and_the_tick_in_which_it_is_valid() {
    let handle = open_generator();
    assert_eq!(reserve(frame(), handle, NOW_MS, 1000, false), 0);
    let block = ids();
    assert_eq!(block.len(), 1000);
    assert!(block.windows(2).all(|pair| pair[0] + 1 == pair[1]));
    assert_eq!(get(slot::VALID_FROM_MS).to_bits(), NOW_MS.to_bits());
    assert_eq!(get(slot::VALID_UNTIL_MS).to_bits(), (NOW_MS + 1.0).to_bits());
    assert_eq!(next(handle, NOW_MS, false), block[999] + 1);
}

#[wasm_bindgen_test]
fn on_a_clock_that_stands_still_the_lead_is_issued_and_then_calls_are_refused() {
    let handle = open_generator();
    let mut issued = HashSet::new();
    let full = IDS_PER_TICK * (LEAD_MS + 1);
    for _ in 0..full {
        assert!(issued.insert(next(handle, NOW_MS, true)), "a repeat");
    }
    // The mutant masks its sequence. The set that found no repeat above must find its repeats.
    let first = issued.iter().min().unwrap();
    assert_eq!((0..full as u64).map(|count| first + count % 4096).collect::<HashSet<_>>().len(), IDS_PER_TICK);

    assert_eq!(reserve(frame(), handle, NOW_MS, 1, false), RECHECK);
    assert_refused(Code::SequenceExhausted, reserve(frame(), handle, NOW_MS, 1, true));
    assert_eq!(get(slot::RETRY_AFTER_MS).to_bits(), 1_f64.to_bits());
    assert!(issued.insert(next(handle, NOW_MS + 1.0, true)), "a repeat");
}

#[wasm_bindgen_test]
fn a_clock_that_steps_back_is_rechecked_and_then_refused() {
    let handle = open_generator();
    let id = next(handle, NOW_MS, false);
    assert_eq!(next(handle, NOW_MS - 10.0, false), id + 1, "within the lead");
    assert_eq!(reserve(frame(), handle, NOW_MS - 1000.0, 1, false), RECHECK);
    assert_refused(Code::ClockBackward, reserve(frame(), handle, NOW_MS - 1000.0, 1, true));
    assert_eq!(get(slot::RETRY_AFTER_MS).to_bits(), 990_f64.to_bits());
}

#[wasm_bindgen_test]
fn an_invalid_clock_reading_is_refused() {
    let handle = open_generator();
    assert_refused(Code::ClockBeforeEpoch, reserve(frame(), handle, 0.0, 1, true));
    assert_refused(Code::ClockBeforeEpoch, reserve(frame(), handle, EPOCH_MS - 1.0, 1, true));
    assert_refused(Code::InvalidClock, reserve(frame(), handle, f64::NAN, 1, true));
    assert_refused(Code::InvalidClock, reserve(frame(), handle, f64::INFINITY, 1, true));
    assert_refused(Code::TimeExhausted, reserve(frame(), handle, EPOCH_MS + 2_199_023_255_552.0, 1, true));
    assert_eq!(time_of(next(handle, EPOCH_MS, true)).to_bits(), EPOCH_MS.to_bits());
}

#[wasm_bindgen_test]
fn invalid_options_are_refused_with_the_bounds_of_the_rule() {
    for at in 0..NUMBERS {
        set(at, 0.0);
    }
    assert_refused(Code::InvalidLayout, open(frame()));
    for (at, value, code, max) in [
        (slot::NODE, 1024.0, Code::InvalidNode, Some(1023.0)),
        (slot::NODE, -1.0, Code::InvalidNode, Some(1023.0)),
        (slot::NODE, f64::NAN, Code::InvalidNode, Some(1023.0)),
        (slot::HAS_NODE, 0.0, Code::NodeRequired, None),
        (slot::MAX_LEAD_MS, 1.5, Code::InvalidOption, Some(1000.0)),
        (slot::MAX_LEAD_MS, 1001.0, Code::InvalidOption, Some(1000.0)),
        (slot::FIELDS + 1, 42.0, Code::InvalidLayout, None),
    ] {
        describe();
        set(at, value);
        assert_refused(code, open(frame()));
        if let Some(max) = max {
            assert_eq!(get(slot::MAX).to_bits(), f64::to_bits(max), "{code:?} of {value}");
        }
    }
}

#[wasm_bindgen_test]
fn a_count_is_admitted_up_to_the_ids_of_lead_and_wait() {
    let handle = open_generator();
    let reach = f64::from(u32::try_from(IDS_PER_TICK * (LEAD_MS + 1)).unwrap());
    assert_eq!(admit(frame(), handle, reach, 0.0), 0);
    assert_refused(Code::SequenceExhausted, admit(frame(), handle, reach + 1.0, 0.0));
    assert_eq!(get(slot::MAX).to_bits(), reach.to_bits());
    assert_refused(Code::InvalidArgument, admit(frame(), handle, 0.5, 0.0));
    assert_refused(Code::InvalidArgument, admit(frame(), handle, f64::from(1 << 20) + 1.0, 1e9));
}

#[wasm_bindgen_test]
fn equal_generators_share_one_state() {
    let shared = || {
        describe();
        set(slot::PRIVATE, 0.0);
        // The start time of this process is unknown, so a shared state must not run ahead: it could repeat a predecessor's IDs.
        assert_refused(Code::InvalidOption, open(frame()));
        set(slot::HAS_MAX_LEAD_MS, 0.0);
        assert_eq!(open(frame()), 0);
        assert_eq!(get(slot::MAX_LEAD_MS).to_bits(), 0);
        get(slot::HANDLE)
    };
    assert_eq!(shared().to_bits(), shared().to_bits());
    // Private generators never do.
    assert_ne!(open_generator().to_bits(), open_generator().to_bits());
}

#[wasm_bindgen_test]
fn a_released_generator_and_an_unknown_frame_are_closed() {
    let open_handle = open_generator();
    release(frame() + 8, open_handle);
    assert_eq!(reserve(frame(), open_handle, NOW_MS, 1, true), 0, "it must not be released through an unknown frame");
    let elsewhere = frame() + 8;
    assert_refused(Code::Closed, open(elsewhere));
    assert_refused(Code::Closed, reserve(elsewhere, open_handle, NOW_MS, 1, true));
    assert_refused(Code::Closed, admit(elsewhere, open_handle, 1.0, 0.0));
    release(frame(), open_handle);
    assert_refused(Code::Closed, reserve(frame(), open_handle, NOW_MS, 1, true));
}

#[wasm_bindgen_test]
fn memory_that_grows_keeps_the_frame_and_the_state() {
    let handle = open_generator();
    let id = next(handle, NOW_MS, true);
    let before = numbers();
    let grow = Reflect::get(&wasm_bindgen::memory(), &"grow".into()).unwrap();
    js_sys::Function::from(grow).call1(&wasm_bindgen::memory(), &JsValue::from(1)).unwrap();
    assert_eq!(before.length(), 0, "the older view must be empty");
    assert_eq!(next(handle, NOW_MS, true), id + 1);
}
