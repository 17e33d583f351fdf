//! Handles: which generators share one, and what a released one does.

use frazil::Code;
use frazil::abi::slot;
use frazil::error::{Rule, Subject};
use frazil::layout::{Field, LayoutSpec};

use crate::NOW_MS;
use crate::host::Host;

// docs/internals/claims.md: 3
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

/// The statuses of the calls for a handle: `reserve`, `admit`, `health`, `file`.
fn answers(host: &mut Host, handle: f64) -> [u32; 4] {
    let Host { handles, frame, .. } = host;
    let reserve = handles.reserve(frame, handle, NOW_MS, 1, true);
    [reserve, handles.admit(frame, handle, 1.0, 0.0), handles.health(frame, handle, NOW_MS), handles.file(frame, handle)]
}

// docs/internals/claims.md: 20
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

// docs/internals/claims.md: 20
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
