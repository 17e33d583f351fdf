//! From one lease to the next.

use frazil::Code;

use crate::{T, begin, layout, leased, lose, mint};

#[test]
fn ids_of_one_object_increase_from_one_lease_to_the_next() {
    for clock in [false, true] {
        let layout = layout(clock);
        let mut ids = leased(&layout);
        begin(&mut ids, 1, 9);
        let before = mint(&ids, T + 5000, 1).unwrap();
        lose(&mut ids, 1);
        begin(&mut ids, 2, 3); // a lower node id in the same tick
        let after = mint(&ids, T + 5000, 1).unwrap();
        assert!(before < after, "clock: {clock}");
        let ahead = (0..100).map(|_| mint(&ids, T + 5000, 64).unwrap()).last(); // some 25 or 100 ticks are borrowed
        lose(&mut ids, 2);
        begin(&mut ids, 3, 4);
        assert!(ahead < Some(mint(&ids, T + 5000, 1).unwrap()), "clock: {clock}");
    }
}

#[test]
fn a_clock_that_went_back_between_two_leases_stalls_as_it_does_within_one() {
    let mut ids = leased(&layout(false));
    begin(&mut ids, 1, 9);
    mint(&ids, T + 5000, 1).unwrap();
    let within = mint(&ids, T, 1).unwrap_err();
    lose(&mut ids, 1);
    begin(&mut ids, 2, 3);
    let between = mint(&ids, T, 1).unwrap_err();
    assert_eq!((within.code(), within.retry_after_ms()), (Code::ClockBackward, 4000)); // the lead is a second
    assert_eq!((between.code(), between.retry_after_ms()), (Code::ClockBackward, 4001)); // and tick 5000 is spent
    assert!(mint(&ids, T + 4001, 1).is_ok());
}

#[test]
fn with_a_clock_field_a_clock_that_went_back_between_two_leases_is_followed() {
    let mut ids = leased(&layout(true));
    begin(&mut ids, 1, 9);
    mint(&ids, T + 5000, 1).unwrap();
    lose(&mut ids, 1);
    begin(&mut ids, 2, 3);
    assert_eq!(layout(true).decode(mint(&ids, T, 1).unwrap()[0]).unwrap().timestamp_ms, T);
}
