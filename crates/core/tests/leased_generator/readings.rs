//! Any readings of both clocks, and any outcomes of the attempts.

use frazil::Registry;
use frazil::lease::{Change, Grant, Granted, IdTime, Reason, Refusal, Request};
use proptest::prelude::*;

use crate::{T, W, at, by_calls, drawn};

/// What happens between two calls of a program, and what becomes of the attempt under way.
#[derive(Clone, Copy, Debug)]
struct Step {
    monotonic_ms: u64,
    /// How much further the wall clock moves.
    jump_ms: i64,
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Nothing,
    Granted,
    Failed,
    Exhausted,
    Lost,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let moved = prop_oneof![0_u64..20, 0_u64..3000, 0..2 * W];
    let jumps = prop_oneof![4 => Just(0_i64), 1 => -2000_i64..2000, 1 => -7_200_000_i64..7_200_000];
    let outcomes = prop_oneof![
        Just(Outcome::Nothing),
        Just(Outcome::Granted),
        Just(Outcome::Failed),
        Just(Outcome::Exhausted),
        Just(Outcome::Lost)
    ];
    let step = (moved, jumps, outcomes).prop_map(|(monotonic_ms, jump_ms, outcome)| Step { monotonic_ms, jump_ms, outcome });
    proptest::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever both clocks show: at most one attempt in the shortest pause, and one more for each suspension that was counted; and
    /// without a lease, one in the longest pause.
    #[test]
    fn any_readings_of_both_clocks_keep_the_attempts_apart_and_a_lost_lease_is_asked_for_again(steps in steps()) {
        let mut ids = by_calls(IdTime::Wall);
        let least_ms = 50;
        let mut now = at(T);
        let (mut lease_ms, mut attempts, mut suspensions) = (ids.lease_ms(now), 0, 0);
        let mut losses = 0;
        let mut under_way: Option<(Grant, u64)> = None;
        let mut due_by_ms = u64::MAX;
        for (jitter, Step { monotonic_ms, jump_ms, outcome }) in (10_u64..).zip(steps) {
            now.monotonic_ms += monotonic_ms;
            now.wall_ms = (now.wall_ms + monotonic_ms).saturating_add_signed(jump_ms);
            let before_ms = std::mem::replace(&mut lease_ms, ids.lease_ms(now));
            prop_assert!(lease_ms - before_ms >= monotonic_ms, "no pause gets longer");
            let suspended_ms = lease_ms - before_ms - monotonic_ms;
            prop_assert!(suspended_ms == 0 || suspended_ms >= frazil::asking::MAX_BACKOFF_MS);
            suspensions += u64::from(suspended_ms > 0);
            if let Some((grant, began_ms)) = under_way {
                // An attempt may take a tenth of the window.
                let is_over = lease_ms >= began_ms + W / 10;
                match outcome {
                    Outcome::Nothing if !is_over => {}
                    Outcome::Nothing | Outcome::Failed => ids.fail(lease_ms, jitter),
                    Outcome::Exhausted => {
                        let refusal = Refusal::of(Reason::Exhausted, ids.status().held.is_some(), 60_000);
                        ids.refuse(grant, refusal, lease_ms, jitter);
                    }
                    Outcome::Lost => losses += u64::from(ids.refuse(grant, Refusal::Lost, lease_ms, jitter) == Change::Ended),
                    Outcome::Granted => {
                        let held = ids.status().held.map(|held| held.window);
                        let from_ms = held.map_or(T, |window| window.from_ms);
                        let store_now_ms = T + lease_ms.max(held.map_or(0, |window| window.until_ms.saturating_sub(T)));
                        let answer = Granted { grant, node: 9, from_ms, until_ms: store_now_ms + W, store_now_ms };
                        ids.take(&answer, now, &mut Registry::new()).unwrap();
                    }
                }
                if outcome != Outcome::Nothing || is_over {
                    under_way = None;
                }
            }
            if under_way.is_some() {
                continue;
            }
            match ids.ask(lease_ms, drawn(jitter.into())) {
                Request::Acquire { grant, .. } | Request::Renew { grant, .. } => {
                    (under_way, due_by_ms) = (Some((grant, lease_ms)), u64::MAX);
                    attempts += 1;
                }
                Request::Wait { ms } => {
                    let limit_ms = if ids.status().held.is_some() { W / 2 + frazil::asking::MAX_BACKOFF_MS } else { frazil::asking::MAX_BACKOFF_MS };
                    prop_assert!(ms <= limit_ms, "waits for {ms} ms");
                    due_by_ms = due_by_ms.min(now.monotonic_ms + ms);
                    prop_assert!(now.monotonic_ms < due_by_ms, "was due by {due_by_ms}");
                }
                other => prop_assert!(false, "{other:?}"),
            }
            // After a lease was lost the next attempt is due at once.
            let limit = 1 + now.monotonic_ms / least_ms + suspensions + losses;
            prop_assert!(attempts <= limit, "{attempts} attempts by {now:?}, {suspensions} suspensions");
        }
    }
}
