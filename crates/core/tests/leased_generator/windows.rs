//! The window of a lease: where it begins and ends.

use frazil::lease::{Grant, Granted, Request};
use frazil::{Code, Registry};

use crate::{T, W, at, begin, drawn, layout, leased, lose, mint};

#[test]
fn a_lease_without_an_id_is_released_within_its_window() {
    let mut ids = leased(&layout(false));
    begin(&mut ids, 1, 9);
    mint(&ids, T + W - 1, 1).unwrap();
    lose(&mut ids, 1);
    ids.ask(0, drawn(2));
    let answer = Granted { grant: Grant(2), node: 3, from_ms: 0, until_ms: T + 5, store_now_ms: T };
    ids.take(&answer, at(T), &mut Registry::new()).unwrap();
    assert_eq!(ids.close().unwrap().until_ms, T + 5);
}

#[test]
fn a_lease_is_usable_from_the_start_of_its_window_to_its_end_or_to_when_it_is_due() {
    let mut ids = leased(&layout(false));
    assert_eq!(ids.usable_ms(at(T), 0), 0);
    assert!(matches!(ids.ask(0, drawn(1)), Request::Acquire { .. }));
    let answer = Granted { grant: Grant(1), node: 7, from_ms: T, until_ms: T + W, store_now_ms: T };
    ids.take(&answer, at(T), &mut Registry::new()).unwrap();
    let usable = [T - 1, T, T + W - 5, T + W - 1, T + W].map(|wall_ms| ids.usable_ms(at(wall_ms), 0));
    assert_eq!(usable, [0, W / 3, 5, 1, 0]);
    ids.close();
    assert_eq!(ids.usable_ms(at(T), 0), 0);
}

#[test]
fn an_answer_whose_window_ends_before_it_begins_is_refused_and_changes_nothing() {
    let mut ids = leased(&layout(false));
    assert!(matches!(ids.ask(0, drawn(1)), Request::Acquire { .. }));
    for (from_ms, until_ms) in [(T + W, T), (T, T)] {
        let answer = Granted { grant: Grant(1), node: 7, from_ms, until_ms, store_now_ms: T };
        assert_eq!(ids.take(&answer, at(T), &mut Registry::new()).unwrap_err().code(), Code::StoreRefused);
        assert_eq!(ids.status().held, None);
    }
    begin(&mut ids, 1, 7);
}
