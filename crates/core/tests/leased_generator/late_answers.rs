//! Answers to attempts that were given up.

use frazil::Registry;
use frazil::lease::{Change, Grant, Granted, IdTime, LeasedGenerator, Request, Taken};

use crate::{T, W, after, asked_last, by_calls, drawn};

#[test]
fn a_late_answer_leaves_the_attempt_under_way_its_nonce() {
    let mut ids = by_calls(IdTime::Wall);
    let from_ms = ids.status().held.unwrap().window.from_ms;
    let Request::Renew { nonce, until_ms, .. } = ids.ask(W / 2, drawn(2)) else { unreachable!() };
    let asked = asked_last(&ids, after(W / 2));
    ids.fail(W, 0);
    assert!(matches!(ids.ask(W, drawn(3)), Request::Renew { .. }));
    let answer = Granted { grant: Grant(1), node: 9, from_ms, until_ms: until_ms + W / 2, store_now_ms: T + W / 2 };
    let now = after(W + 5);
    let taken = ids.take_late(&answer, asked, now, &mut Registry::new()).unwrap();
    assert_eq!(taken, Taken::Changed(Change::Extended));
    assert_eq!(ids.take_late(&answer, asked, now, &mut Registry::new()).unwrap(), Taken::Changed(Change::None));
    // The store may have carried it out, although nothing is heard of it.
    ids.fail(2 * W, 0);
    let Request::Renew { nonce: again, .. } = ids.ask(3 * W, drawn(4)) else { unreachable!() };
    assert_eq!(again, nonce);
}

#[test]
fn a_late_answer_leaves_the_nonce_to_later_attempts_that_were_given_up_too() {
    for is_last in [false, true] {
        let mut ids = by_calls(IdTime::Wall);
        let from_ms = ids.status().held.unwrap().window.from_ms;
        let ask = |ids: &mut LeasedGenerator, ms: u64, number: u128| {
            let at_ms = ids.lease_ms(after(ms));
            let Request::Renew { nonce, until_ms, .. } = ids.ask(at_ms, drawn(number)) else { unreachable!() };
            ids.fail(at_ms + W / 10, 0);
            (nonce, until_ms, asked_last(ids, after(ms)))
        };
        let (nonce, until_ms, first) = ask(&mut ids, W / 2, 2);
        let (same, _, second) = ask(&mut ids, W, 3);
        assert_eq!(same, nonce);
        // Of the first, or of the second. The store has carried out both.
        let asked = if is_last { second } else { first };
        let answer = Granted { grant: Grant(1), node: 9, from_ms, until_ms: until_ms + W / 2, store_now_ms: T + W / 2 };
        ids.take_late(&answer, asked, after(W + W / 10), &mut Registry::new()).unwrap();
        assert_eq!(ask(&mut ids, 2 * W, 4).0 == nonce, !is_last);
    }
}

#[test]
fn an_attempt_that_a_late_answer_made_superfluous_keeps_no_nonce_when_it_ends() {
    // Of two copies of a holder that know one nonce, the store would refuse neither.
    for earlier_ms in [0, 1] {
        let mut ids = by_calls(IdTime::Wall);
        let from_ms = ids.status().held.unwrap().window.from_ms;
        let Request::Renew { nonce, until_ms, .. } = ids.ask(W / 2, drawn(2)) else { unreachable!() };
        let asked = asked_last(&ids, after(W / 2));
        ids.fail(W, 0);
        ids.ask(W, drawn(3));
        let answer = Granted { grant: Grant(1), node: 9, from_ms, until_ms: until_ms + W, store_now_ms: T + W };
        ids.take_late(&answer, asked, after(W + 5), &mut Registry::new()).unwrap();
        let second = Granted { until_ms: answer.until_ms - earlier_ms, ..answer };
        assert_eq!(ids.take(&second, after(W + 6), &mut Registry::new()).unwrap(), Taken::Changed(Change::None));
        let Request::Renew { nonce: next, .. } = ids.ask(3 * W, drawn(4)) else { unreachable!() };
        assert_ne!(next, nonce);
    }
}
