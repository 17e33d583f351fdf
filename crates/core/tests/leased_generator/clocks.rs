//! Clocks that jump ahead and come back, where monotonic time is the wall clock.

use frazil::Registry;
use frazil::lease::{Granted, LeaseTerms, LeasedGenerator, LeasedOptions, Request};

use crate::{T, W, after, ahead, drawn, layout, one_clock};

#[test]
fn looks_alone_find_a_renewal_due_after_a_clock_that_jumped_ahead_and_came_back() {
    let day_ms = 86_400_000;
    let options = LeasedOptions { by_calls: true, ..LeasedOptions::new(LeaseTerms::usual(W, true, 1).unwrap()) };
    let options = LeasedOptions { default_scope: false, ..options };
    let mut ids = LeasedGenerator::new(&layout(false), options).unwrap();
    // Acquired while the clock is a day ahead.
    let ahead_ms = ids.lease_ms(one_clock(T + day_ms));
    let Request::Acquire { grant, .. } = ids.ask(ahead_ms, drawn(1)) else { unreachable!() };
    let answer = Granted { grant, node: 7, from_ms: 0, until_ms: T + W, store_now_ms: T };
    ids.take(&answer, one_clock(T + day_ms), &mut Registry::new()).unwrap();
    assert_eq!(ids.status().skew_ms, day_ms.cast_signed());
    // Back, there is a look each second, and the store is asked only when something is due.
    let mut look = |ms: u64| {
        let lease_ms = ids.lease_ms(one_clock(T + ms));
        (ids.retry_after_ms(lease_ms), ids.status().skew_ms)
    };
    for second in 0..15 {
        assert_eq!(look(1000 * second), (W / 2 - 1000 * second, 0));
    }
    assert_eq!(look(W / 2), (1, 0));
}

#[test]
fn a_renewal_is_due_as_soon_as_before_although_the_clock_went_back_to_a_time_after_the_last_attempt() {
    let options = LeasedOptions { by_calls: true, ..LeasedOptions::new(LeaseTerms::usual(W, true, 1).unwrap()) };
    let options = LeasedOptions { default_scope: false, ..options };
    let mut ids = LeasedGenerator::new(&layout(false), options).unwrap();
    // Acquired 14 s ahead; right again before half of the window is over.
    let ahead_ms = 14_000;
    let lease_ms = ids.lease_ms(one_clock(T + ahead_ms));
    let Request::Acquire { grant, .. } = ids.ask(lease_ms, drawn(1)) else { unreachable!() };
    let answer = Granted { grant, node: 7, from_ms: 0, until_ms: T + W, store_now_ms: T };
    ids.take(&answer, one_clock(T + ahead_ms), &mut Registry::new()).unwrap();
    let mut look = |ms: u64| {
        let lease_ms = ids.lease_ms(one_clock(T + ms));
        ids.retry_after_ms(lease_ms)
    };
    assert_eq!(look(ahead_ms + 14_600), W / 2 - 14_600);
    assert_eq!(look(14_600), W / 2 - 14_600);
    // Requests that run at the same time have clocks of their own, which differ by less than a second.
    assert_eq!(look(14_900), W / 2 - 14_900);
    assert_eq!(look(14_000), W / 2 - 14_000);
    assert_eq!(look(W / 2), 1);
}

#[test]
fn what_the_clock_showed_between_two_looks_counts_if_it_went_back_by_more_than_a_second() {
    for (back_ms, usable) in [(1000, true), (1001, false)] {
        let (mut ids, _) = ahead();
        let (shown, now) = (after(5000), after(5000 - back_ms));
        ids.lease_ms(after(0));
        ids.has_shown(shown.wall_ms, now);
        let lease_ms = ids.lease_ms(now);
        // The store is asked after a third of the window. Or at once, since its time is not known any more.
        assert_eq!(ids.usable_ms(now, lease_ms), if usable { W / 3 - (5000 - back_ms) } else { 0 }, "{back_ms}");
    }
}
