//! Which calls read the random numbers in the frame: the bindings draw some for these alone.

use frazil::Registry;
use frazil::abi::{CEILING_CALLS, Frame, Handles, LEASE_CALLS, SEGMENT_CALLS, ceiling_call, lease_call, segment_call, slot};

use crate::NOW_MS;
use crate::host::Host;

/// A kind of calls: its name, how many there are, which of them read random numbers, and the call.
type Kind = (&'static str, usize, fn(u32) -> bool, fn(&mut Handles, &mut Frame, &mut Registry, f64, u32) -> u32);

const KINDS: [Kind; 3] = [
    ("lease", LEASE_CALLS.len(), lease_call::reads_random, |handles, frame, registry, handle, call| {
        handles.lease(frame, registry, handle, call)
    }),
    ("ceiling", CEILING_CALLS.len(), ceiling_call::reads_random, |handles, frame, _, handle, call| {
        handles.ceiling(frame, handle, call)
    }),
    ("segment", SEGMENT_CALLS.len(), segment_call::reads_random, |handles, frame, _, handle, call| {
        handles.segment(frame, handle, call)
    }),
];

/// Opens something, asks for it, and makes a call with these random numbers. Returns the status and what is in the frame.
fn answer(kind: &Kind, call: u32, random: f64) -> (u32, Vec<u64>) {
    let mut host = Host::new();
    host.request_default();
    for (at, value) in [
        (slot::WINDOW_MS, 30_000.0),
        (slot::WALL_MS, NOW_MS),
        (slot::MONOTONIC_MS, 5.0),
        (slot::MAX_STEP, 10.0),
        (slot::STRIDE, 1.0),
        (slot::FROM_MS, NOW_MS),
        (slot::UNTIL_MS, NOW_MS + 30_000.0),
        (slot::LEASE_NODE, 1.0),
    ] {
        host.set(at, value);
    }
    let Host { handles, frame, registry, .. } = &mut host;
    let numbers = |frame: &mut Frame, value: f64| frame.numbers[slot::RANDOM..slot::RANDOM + 8].fill(value);
    numbers(frame, if call == 0 { random } else { 7.0 });
    let status = kind.3(handles, frame, registry, 0.0, 0);
    if call == 0 {
        return (status, bits(frame));
    }
    assert_eq!(status, 0, "{} opens", kind.0);
    let handle = frame.numbers[slot::HANDLE];
    if call != 1 {
        kind.3(handles, frame, registry, handle, 1);
    }
    numbers(frame, random);
    (kind.3(handles, frame, registry, handle, call), bits(frame))
}

/// What is in the frame, but for the random numbers themselves.
fn bits(frame: &Frame) -> Vec<u64> {
    let mut numbers = frame.numbers;
    numbers[slot::RANDOM..slot::RANDOM + 8].fill(0.0);
    numbers.iter().map(|number| number.to_bits()).chain(frame.ids).collect()
}

#[test]
fn the_calls_that_are_listed_read_random_numbers_and_the_others_do_not() {
    for kind in &KINDS {
        for call in 0..u32::try_from(kind.1).unwrap() {
            let is_same = answer(kind, call, f64::NAN) == answer(kind, call, 9.0);
            assert_eq!(is_same, !kind.2(call), "call {call} of {}", kind.0);
        }
    }
}
