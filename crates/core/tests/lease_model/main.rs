//! docs/internals/claims.md: 22, 23, 24, 25, 26, 27
//! Every history of a small fleet whose holders are the shipped `Lease`: no ID is issued twice (`docs/internals/verification.md`).
//!
//! Stateright visits each state that the fleet can reach. A state has the leases of all holders (values of the real type, changed
//! only by its own methods), the rows and the record of a store that follows the rules of `npm/frazil/src/stores/lease-store.ts`, the
//! messages under way, and every time that was minted for each node id. In each state any of these happens: the store's clock
//! goes on, a holder asks, the store carries a request out, a holder receives an answer, a message is lost; and, as often as the
//! configuration allows, a fault.
//!
//! * **Time** is that of the store, a small number. A window is two long, so that an order of times that matters is there: within
//!   a window, at its end, before and after a fence.
//! * **Asking needs no timer**: a holder may ask at any moment, also while an attempt is under way. The driver asks less often.
//! * **Late answers**: where the fleet has the shipped driver (`Fleet::driver`), a holder has one attempt at a time. What belongs to an
//!   attempt that was given up is marked: its answer goes to `take_late`, and its refusal is dropped, as in
//!   `npm/frazil/src/lease/timer-driver.ts`. Elsewhere every answer goes to `take`, whenever it comes.
//! * **Clocks of holders are not bounded**: from the moment that a window is granted, all of its times count as minted, since a
//!   clock may show any of them at once. Two configurations mint one by one instead: where the last time used matters (closing),
//!   and where the mutants ignore the window (`Readings`).
//! * **Names**: a grant or nonce is only ever compared, so it is named by its place in the state. Holders are alike, so they are
//!   sorted. What decides only when an attempt is due (`timeless`) is left out.
//! * **No lease is lost to its own holder**: where the driver has one request under way and no holder is copied, the store never
//!   refuses a renewal for another attempt of the same holder.
//!
//! What may repeat is an `Exposure`: after a holder is copied, and after a store went back without a new incarnation, IDs of
//! times before one window later. A mutant is a defect, or a guarantee that is not given, for which the same search must find an ID
//! that repeats. Each configuration names what must happen in some of its histories (`Event`).
//!
//! Not covered: that an ID is minted by one compare-and-swap (loom), the backoff (`lease/schedule.rs`), and that a lease is ever had.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]
#![allow(clippy::print_stdout, reason = "how much was explored is part of the result")]

mod configurations;
mod fleet;
mod lease;
mod message;
mod mutant;
mod state;
mod store;

use std::time::Instant;

use frazil::lease::Lease;
use stateright::{Checker, Model};

use crate::configurations::{
    clocks, close, close_and_crash, copy, copy_and_close, crash, decline, duplicate, failover, late, late_and_copied,
    late_and_failover, late_and_overtaken, reorder, restore, step_back,
};
use crate::fleet::{Action, Event, Fleet};
use crate::lease::terms;
use crate::mutant::Mutant;

/// The length of a window, and the longest that the scope allows. Time is coarse: only the order of times matters.
const W: u8 = 2;
/// How far the clocks of two store hosts may differ. The fence passes the longest window by that much.
const MARGIN: u8 = 1;
/// Monotonic time: every attempt is due, so the holder may ask at any moment, sooner and later than any timer would.
const DUE: u64 = 1 << 40;
/// Monotonic time of a question that changes nothing: later than any pause that began at `DUE`.
const LATER: u64 = 1 << 60;
/// Longer than any pause, so that it shows whether a lease waits for an attempt.
const TIMEOUT: u64 = 1 << 50;
/// What the kernel draws when the model only looks what a lease has drawn before.
const PROBE: u128 = u128::MAX;
/// What no grant and no nonce is.
const NONE: u8 = 0;
/// The one property.
const GUARANTEE: &str = "no ID repeats, and no lease is lost to its own holder";

/// Explores all of it. Returns the shortest path to an ID that repeats or a lease that is lost to its own holder, if there is one.
fn explore(fleet: &Fleet) -> Option<Vec<Action>> {
    let began = Instant::now();
    let checker = fleet.clone().checker().spawn_bfs().join();
    let path = checker.discovery(GUARANTEE);
    let took_s = began.elapsed().as_secs_f64();
    let Fleet { name, mutant, nodes, holders, horizon, .. } = fleet;
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    let transitions = checker.state_count() - 1; // the first state comes from none
    // Other tests run at the same time.
    let _whole_lines = std::io::stdout().lock();
    print!("{name} ({holders} holders, {nodes} node ids, time {horizon}");
    print!(
        "{}): {states} states, {transitions} transitions, {depth} steps, {took_s:.1} s",
        if *mutant == Mutant::None { String::new() } else { format!(", {mutant:?}") }
    );
    if std::env::var_os("LEASE_MODEL_PATH").is_some() {
        for (state, action) in path.iter().flat_map(|path| path.clone().into_vec()) {
            print!("\n{state:?}\n  {action:?}");
        }
    }
    let path = path.map(stateright::Path::into_actions);
    println!("{}", path.as_ref().map_or(String::new(), |path| format!(", the guarantee is broken after {}", path.len())));
    path
}

/// Nothing repeats, and each of these things happened in some history.
fn prove(fleet: &Fleet, events: &[Event]) {
    assert_eq!(explore(fleet), None);
    for event in USUAL.iter().chain(events) {
        assert!(fleet.has_seen(*event), "never happened: {event:?}");
    }
}

/// What happens in every configuration.
const USUAL: [Event; 6] =
    [Event::Begun, Event::Extended, Event::Ended, Event::NodeIdReused, Event::AnsweredAgain, Event::AnswerOfAnEndedLease];

macro_rules! proofs {
    ($($name:ident: [$($fleet:expr),*], [$($event:ident),*];)*) => {$(
        #[test]
        #[cfg_attr(debug_assertions, ignore = "needs a build with optimisation: npm test -- lease-model")]
        fn $name() {
            for fleet in [$($fleet),*] {
                prove(&fleet, &[$(Event::$event),*]);
            }
        }
    )*};
}

proofs! {
    a_copy_that_closes_frees_nothing_that_the_other_renewed: [copy_and_close()], [Closed, Released, ReleasedLate];
    nothing_repeats_when_a_holder_crashes: [crash(), Fleet { holders: 3, horizon: 4, ..crash() }], [RenewedAfterExpiry, Exhausted, Lost];
    nothing_repeats_when_a_holder_closes: [close(), close_and_crash()], [RenewedAfterExpiry, Closed, Released, ReleasedLate];
    nothing_repeats_when_a_holder_declines: [decline()], [RenewedAfterExpiry, Declined, Released];
    nothing_repeats_when_the_clocks_of_holders_step: [clocks()], [RenewedAfterExpiry, Exhausted, Lost];
    nothing_repeats_when_the_clock_of_the_store_steps_back: [step_back()], [RenewedAfterExpiry, Exhausted, Lost];
    nothing_repeats_when_messages_overtake_each_other: [reorder()], [RenewedAfterExpiry, AnsweredLate, Lost];
    nothing_repeats_when_answers_come_after_their_attempt: [late(), late_and_overtaken()], [LateTaken, LateDuringAnother, Lost];
    a_copy_of_a_holder_with_late_answers_repeats_nothing_beyond_one_window: [late_and_copied()], [LateTaken, LateDuringAnother, Exposed, Lost];
    nothing_repeats_when_a_replica_takes_over_and_answers_come_late: [late_and_failover()],
        [LateTaken, LateDuringAnother, Incarnation, Fenced, Behind, Healed];
    nothing_repeats_when_a_message_comes_twice: [duplicate()], [RenewedAfterExpiry, AnotherRow, Lost];
    a_copy_repeats_nothing_beyond_one_window: [copy(), Fleet { holders: 2, horizon: 3, ..copy() }], [RenewedAfterExpiry, Exposed, AnsweredLate, Lost];
    nothing_repeats_when_a_replica_takes_over: [failover()], [RenewedAfterExpiry, Incarnation, Fenced, BegunAfterFence, Behind, Healed];
    a_store_that_went_back_repeats_nothing_beyond_one_window: [restore(), Fleet { nodes: 2, horizon: 2, ..restore() }],
        [RenewedAfterExpiry, Behind, Fenced, Healed];
}

macro_rules! mutants {
    ($($name:ident: $mutant:ident, $fleet:expr;)*) => {$(
        #[test]
        #[cfg_attr(debug_assertions, ignore = "needs a build with optimisation: npm test -- lease-model")]
        fn $name() {
            assert_ne!(explore(&Fleet { mutant: Mutant::$mutant, ..$fleet }), None, "the model does not see the defect");
        }
    )*};
}

mutants! {
    found_a_lease_that_bounds_no_times: Ttl, clocks();
    found_a_window_without_a_start: UpperBoundOnly, clocks();
    found_a_window_without_an_end: LowerBoundOnly, clocks();
    found_a_clock_that_is_read_again_after_the_check: CheckThenMint, clocks();
    found_a_release_before_the_close: ReleaseBeforeClose, close();
    found_a_release_beside_calls_in_flight: ReleaseBesideCalls, close();
    found_a_release_by_its_grant_alone: ReleaseByGrantAlone, copy_and_close();
    found_a_failover_without_a_fence: NoFence, failover();
    found_a_fence_on_acquire_only: FenceOnAcquireOnly, failover();
    found_a_fence_without_a_margin: FenceWithoutMargin, failover();
    found_a_window_that_ended_before_the_fence_and_is_renewed: EndedWindowRenewed, failover();
    found_a_row_that_is_healed_without_a_fence: HealedWithoutFence, Fleet { nodes: 2, horizon: 2, ..restore() };
    found_a_renewal_without_a_nonce: NoNonce, copy();
    found_a_nonce_that_copies_share: SharedNonce, copy();
    found_an_acquire_that_is_answered_again_by_its_grant_alone: AcquireByGrantAlone, copy();
    found_an_ended_grant_that_is_taken_again: EndedGrantAgain, duplicate();
    found_answers_that_are_not_the_whole_lease: PartialAnswers, duplicate();
    found_a_counter_in_the_place_of_the_grant: CountedGrants, Fleet { holders: 1, horizon: 1, under_way: (1, 2), ..failover() };
    found_an_owner_in_the_place_of_the_grant: SameOwner, crash();
    found_a_late_answer_that_is_taken_for_that_of_the_attempt_under_way: LateAsInTime, late();
    found_a_late_answer_that_ends_the_nonce_of_later_attempts: LateIsLast, late();
    limit_a_copy_repeats_within_one_window: NoExposure, copy();
    limit_a_store_that_went_back_unseen_repeats_within_one_window: NoExposure, restore();
    limit_a_store_whose_clock_is_behind_by_more_than_the_margin: None, Fleet { failover: Some(MARGIN + 1), ..failover() };
}

/// `timeless` makes a lease anew from what these fields say. If there is another field, it must be considered there.
#[test]
fn a_lease_has_the_fields_that_the_model_knows() {
    let text = format!("{:?}", Lease::new(terms()));
    let fields = [
        "terms",
        "grant",
        "nonce",
        "held",
        "fence",
        "has_hurried",
        "began_ms",
        "outstanding",
        "due_ms",
        "failures",
        "declined",
        "closed",
    ];
    let of_terms = ["window_ms", "renew_after_ms", "timeout_ms", "has_copies"];
    assert_eq!(text.matches(": ").count(), fields.len() + of_terms.len(), "{text}");
    for field in fields.iter().chain(&of_terms) {
        assert!(text.contains(&format!(" {field}: ")), "{field} of {text}");
    }
}
