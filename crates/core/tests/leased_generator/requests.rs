//! Several requests of one attempt.

use frazil::Registry;
use frazil::asking::Nonce;
use frazil::lease::{Asked, Change, Grant, Granted, IdTime, LeasedGenerator, Refusal, Request, Taken};

use crate::{T, W, after, asked_last, by_calls, drawn, layout, leased};

/// Asks again and again at one time, and returns the requests.
fn ask_together(ids: &mut LeasedGenerator, ms: u64, count: u64) -> Vec<Asked> {
    (0..count)
        .map(|number| {
            assert!(!matches!(ids.ask(ms, drawn(100 + u128::from(number))), Request::Wait { .. }));
            asked_last(ids, after(ms))
        })
        .collect()
}

#[test]
fn requests_at_one_time_are_told_apart_by_number() {
    // Of two requests of one attempt the store may carry out the second one later than it answers the first.
    for answered in [0, 1] {
        let mut ids = by_calls(IdTime::Wall);
        let from_ms = ids.status().held.unwrap().window.from_ms;
        let Request::Renew { nonce, until_ms, .. } = ids.ask(W / 2, drawn(2)) else { unreachable!() };
        let asked = [asked_last(&ids, after(W / 2)), ask_together(&mut ids, W / 2, 1)[0]];
        let answer = Granted { grant: Grant(1), node: 9, from_ms, until_ms: until_ms + W / 2, store_now_ms: T + W / 2 };
        let taken = ids.answered(&answer, asked[answered], after(W / 2), &mut Registry::new()).unwrap();
        assert_eq!(taken, Taken::Changed(Change::Extended));
        let Request::Renew { nonce: next, .. } = ids.ask(W + W / 2, drawn(4)) else { unreachable!() };
        assert_eq!(next == nonce, answered == 0);
    }
}

#[test]
fn callers_that_ask_in_turn_wait_where_the_store_cannot_extend_the_window() {
    // The store's clock went back; or the store breaks its contract, and names an earlier end.
    for shorter_ms in [0, 1000] {
        callers_wait_where_the_window_ends(shorter_ms);
    }
}

fn callers_wait_where_the_window_ends(shorter_ms: u64) {
    let mut ids = by_calls(IdTime::Wall);
    let held = ids.status().held.unwrap();
    let (from_ms, until_ms) = (held.window.from_ms, held.window.until_ms - shorter_ms);
    let answer = Granted { grant: Grant(1), node: held.node, from_ms, until_ms, store_now_ms: T };
    let asked = ask_together(&mut ids, W / 2, 3);
    let answered = |ids: &mut LeasedGenerator, asked| {
        let taken = ids.answered(&answer, asked, after(W / 2 + 10), &mut Registry::new()).unwrap();
        assert_eq!(taken, Taken::Changed(Change::None));
    };
    // An answer to an attempt before says nothing of the one that is under way.
    let before = Asked { number: asked[0].number - 1, at: after(0) };
    answered(&mut ids, before);
    assert!(matches!(ids.ask(W / 2, drawn(2)), Request::Renew { .. }));
    answered(&mut ids, asked[1]);
    let Request::Wait { ms } = ids.ask(W / 2 + 10, drawn(3)) else { panic!("the first caller asks again at once") };
    assert!(ms > 1000, "{ms} ms");
    // The store may still carry out the second one, so neither the answer nor the failure of the last one ends its nonce.
    let last = asked_last(&ids, after(W / 2));
    answered(&mut ids, last);
    assert!(!ids.failed(Some(ids.requests()), W / 2 + 20, 0));
    let Request::Renew { nonce, .. } = ids.ask(W, drawn(4)) else { panic!("the next attempt is due") };
    assert_eq!(nonce, Nonce(100));
}

#[test]
fn requests_of_two_clocks_that_fail_again_and_again_are_asked_after_a_pause() {
    // The clock of an isolate was set back: a request from before and one from after it ask, and the store refuses each after 5 ms.
    let mut ids = by_calls(IdTime::Wall);
    let mut asked = 0;
    let mut callers = [(0, W / 2 + 20_000, None), (1, W / 2, None)];
    while let Some((at_ms, ahead_ms, request)) = callers.iter_mut().min_by_key(|(at_ms, ..)| *at_ms)
        && *at_ms < 1000
    {
        let now_ms = *at_ms + *ahead_ms;
        if let Some(number) = request.take() {
            ids.failed(Some(number), now_ms, 0);
        }
        if let Request::Wait { ms } = ids.ask(now_ms, drawn(200 + u128::from(*at_ms))) {
            *at_ms += ms;
        } else {
            asked += 1;
            *request = Some(ids.requests());
            *at_ms += 5;
        }
    }
    // In a second.
    assert!((4..20).contains(&asked), "{asked} requests");
}

#[test]
fn requests_that_fail_together_count_once() {
    let mut ids = leased(&layout(false));
    let asked = ask_together(&mut ids, 0, 5);
    assert!(ids.failed(Some(asked[0].number), 5, 0));
    assert!(!ids.failed(Some(asked[1].number), 6, 0));
    // Another one is under way when the rest of them fail or are refused.
    let next = ask_together(&mut ids, 1000, 1)[0];
    for number in [asked[2].number, asked[3].number] {
        assert!(!ids.failed(Some(number), 1001, 0));
        assert_eq!(ids.refused(number, Grant(100), Refusal::Rejected, 1001, 0), None);
    }
    assert_eq!(ids.status().failures, 1);
    assert!(ids.failed(Some(next.number), 1002, 0));
    assert_eq!(ids.status().failures, 2);
    // What is no request counts always.
    assert!(ids.failed(None, 1003, 0));
    assert_eq!(ids.status().failures, 3);
}

#[test]
fn after_an_answer_only_the_failure_of_the_last_request_counts() {
    for (answered, failed) in [(0, 1), (1, 2), (2, 1)] {
        let mut ids = leased(&layout(false));
        let asked = ask_together(&mut ids, 0, 3);
        let answer = Granted { grant: Grant(100), node: 3, from_ms: 0, until_ms: T + W, store_now_ms: T };
        ids.answered(&answer, asked[answered], after(1), &mut Registry::new()).unwrap();
        assert_eq!(ids.failed(Some(asked[failed].number), 2, 0), failed == 2);
        // Its nonce may be known to the store, and is not drawn anew before an answer.
        assert_eq!(u64::from(ids.status().failures), u64::from(failed == 2));
    }
}

#[test]
fn a_fence_that_several_requests_raised_is_taken_once() {
    let mut ids = leased(&layout(false));
    let asked = ask_together(&mut ids, 0, 1)[0];
    assert_eq!(ids.refused(asked.number, Grant(100), Refusal::Incarnation, 1, 0), Some(Change::None));
    let fences = ask_together(&mut ids, 1, 2);
    ids.fence_answered(fences[0].number, 2);
    let acquire = ask_together(&mut ids, 2, 1)[0];
    ids.fence_answered(fences[1].number, 3);
    assert!(ids.failed(Some(acquire.number), 4, 0), "it was still under way");
}
