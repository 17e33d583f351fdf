//! Numbers in the frame that are not valid.

use frazil::Code;
use frazil::abi::{RECHECK, slot};
use frazil::error::{Rule, Subject};
use frazil::mint::MAX_LEAD_MS;

use crate::NOW_MS;
use crate::host::Host;

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
