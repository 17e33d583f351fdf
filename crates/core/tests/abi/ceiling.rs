//! Generators with a ceiling.

use frazil::Code;
use frazil::abi::{ceiling_call, slot};
use frazil::error::{Rule, Subject};

use crate::NOW_MS;
use crate::host::Host;

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

// docs/internals/claims.md: 30
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
fn a_generator_with_a_ceiling_registers_no_node_id() {
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
