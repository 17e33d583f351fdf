//! What a reservation writes into the frame, and the condition of the generator.

use frazil::abi::{Frame, Handles, KEYLESS, RECHECK, slot};
use frazil::error::{Rule, Subject};
use frazil::mint::{Key, Machine, Outcome, SequenceStart, Window};
use frazil::{Code, Layout, Node};

use crate::NOW_MS;
use crate::host::{Host, number};

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

#[test]
fn a_time_between_two_milliseconds_belongs_to_the_first() {
    let mut host = Host::new();
    let handle = host.handle_of(7, false);
    let first = host.next(handle, NOW_MS);
    assert_eq!(host.next(handle, NOW_MS + 0.75), first + 1);
    assert_eq!(host.frame.numbers[slot::VALID_FROM_MS].to_bits(), NOW_MS.to_bits());
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
fn the_id_of_all_ones_is_issued_and_then_the_time_is_over() {
    let mut host = Host::new();
    let discord = Layout::named("discord").unwrap();
    host.request(&discord.spec());
    host.set(slot::NODE, 1023.0);
    let handle = host.handle();
    let last_ms = number(discord.plan().last_ms);
    assert_eq!(host.reserve(handle, last_ms, 4095, false), 0);
    assert_eq!(host.next(handle, last_ms), u64::MAX);
    assert_eq!(host.reserve(handle, last_ms, 1, true), Code::TimeExhausted as u32);
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
