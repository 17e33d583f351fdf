//! Every interleaving of a few calls on one state.

use std::collections::BTreeSet;

use crate::call::{Answer, Run, issued, refused};
use crate::copied::Copied;
use crate::defect::Defect;
use crate::model::{
    BACK_AND_FORTH, BEFORE_THE_STEP, BLOCKS, BLOCKS_WITH_CLOCKS, BORROWING, FULL, KILLED, Model, SINGLES, STALE_READING,
    STEP_BACK, STEP_SEEN_TWICE, TICKS, WRAPPING,
};
use crate::{REPEATED, panic_of};

/// All outcomes of a model. They must be the same on the generator and on the copy of its loop, or the defects below prove
/// nothing.
fn runs_of(model: Model) -> BTreeSet<Run> {
    let runs = model.explore(Model::generator);
    assert!(runs == model.explore(|model| Copied::new(model, None)), "the copy differs from the generator: {model:?}");
    runs
}

// docs/internals/claims.md: 2
#[test]
fn single_ids_are_issued_in_every_order_of_the_callers() {
    let runs = runs_of(SINGLES);
    assert_eq!(runs.len(), 30, "5! / (2! 2! 1!) orders of five calls by three threads");
    let first_five: Vec<u64> = (0..5).map(|number| SINGLES.id(1, 0, number)).collect();
    assert!(runs.iter().all(|run| issued(run) == first_five));
}

#[test]
fn a_wrapping_sequence_is_shared_without_a_repeat() {
    let whole: Vec<u64> = (0..4).map(|number| WRAPPING.id(1, 0, number)).chain([WRAPPING.id(2, 0, 0)]).collect();
    assert!(runs_of(WRAPPING).iter().any(|run| issued(run)[..4] == whole[..4]));
}

#[test]
fn the_tick_may_change_while_other_threads_mint() {
    let runs = runs_of(TICKS);
    assert!(runs.iter().any(|run| issued(run).len() == 5));
    assert!(
        runs.iter().any(|run| refused(run, "CLOCK_BACKWARD") == 2),
        "both readings of the first thread can be behind the state"
    );
}

#[test]
fn blocks_and_single_ids_leave_no_gap() {
    let all: Vec<u64> = (1..=3).flat_map(|tick| [BLOCKS.id(tick, 0, 0), BLOCKS.id(tick, 0, 1)]).collect();
    assert!(runs_of(BLOCKS).iter().all(|run| issued(run) == all));
}

#[test]
fn threads_together_borrow_no_further_than_the_lead() {
    let all: Vec<u64> = (1..=2).flat_map(|tick| [BORROWING.id(tick, 0, 0), BORROWING.id(tick, 0, 1)]).collect();
    for run in runs_of(BORROWING) {
        assert_eq!((issued(&run), refused(&run, "SEQUENCE_EXHAUSTED")), (all.clone(), 1), "{run:?}");
    }
}

#[test]
fn a_stale_clock_reading_is_rechecked_before_it_counts_as_a_step_back() {
    let runs = runs_of(STALE_READING);
    let first = |(_, _, threads): &Run| threads[1][0].clone();
    assert!(runs.iter().any(|run| first(run) == Answer::Recheck));
    assert!(runs.iter().all(|run| !matches!(first(run), Answer::Refused(_))));
}

#[test]
fn a_full_sequence_continues_in_the_next_clock_id_once() {
    let all: Vec<u64> = (0..=1).flat_map(|clock| [FULL.id(1, clock, 0), FULL.id(1, clock, 1)]).collect();
    for run in runs_of(FULL) {
        assert_eq!((issued(&run), refused(&run, "SEQUENCE_EXHAUSTED")), (all.clone(), 1), "{run:?}");
    }
}

#[test]
fn blocks_and_single_ids_share_clock_ids_and_borrowed_ticks() {
    assert!(runs_of(BLOCKS_WITH_CLOCKS).iter().any(|run| issued(run).contains(&BLOCKS_WITH_CLOCKS.id(2, 0, 1))));
}

// docs/internals/claims.md: 7
#[test]
fn the_clock_is_followed_back_while_other_threads_mint() {
    let [before, after] = [STEP_BACK.id(5, 0, 0), STEP_BACK.id(2, 1, 0)];
    let runs = runs_of(STEP_BACK);
    assert!(runs.iter().all(|run| run.0 == 1 && issued(run).contains(&before) && issued(run).contains(&after)));
}

// docs/internals/claims.md: 2
#[test]
fn two_threads_that_see_the_same_step_back_follow_it_once() {
    assert!(runs_of(STEP_SEEN_TWICE).iter().all(|run| run.0 == 1));
}

#[test]
fn a_call_with_a_reading_from_before_the_step_may_come_at_any_time() {
    let switches: BTreeSet<u64> = runs_of(BEFORE_THE_STEP).iter().map(|run| run.0).collect();
    assert_eq!(switches, BTreeSet::from([1, 2]));
}

#[test]
fn the_clock_may_go_back_and_forth_and_back_again() {
    assert!(runs_of(BACK_AND_FORTH).iter().any(|run| run.0 == 3));
}

#[test]
fn a_thread_that_dies_during_a_switch_does_not_affect_others() {
    let runs = KILLED.explore(|model| Copied::new(model, None));
    assert!(runs.iter().any(|(_, _, threads)| threads[1] == [Answer::Died]));
    assert!(runs.iter().all(|(_, _, threads)| matches!(threads[0][1], Answer::Ids(_))), "the other thread must not be blocked");
}

#[test]
fn every_defect_repeats_an_id() {
    for (defect, model) in [
        (Defect::RaisedAfterTheSwap, STEP_BACK),
        (Defect::RaisedTooLittle, STEP_BACK),
        (Defect::NotRaised, STEP_BACK),
        (Defect::RelaxedSwap, STEP_BACK),
        (Defect::RelaxedLoad, STEP_BACK),
        (Defect::RelaxedReload, STEP_BACK),
        (Defect::StoredInsteadOfSwapped, SINGLES),
        (Defect::StoredInsteadOfSwapped, STEP_SEEN_TWICE),
    ] {
        let panic = panic_of(|| drop(model.explore(move |model| Copied::new(model, Some(defect)))));
        assert!(panic.starts_with(REPEATED), "{defect:?}: {panic}");
    }
}
