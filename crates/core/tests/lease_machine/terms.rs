//! The terms that a holder can have.

use frazil::Code;
use frazil::lease::LeaseTerms;

use super::{RENEW, TIMEOUT};

#[test]
fn a_window_has_at_least_three_ticks_and_at_most_the_longest_timer() {
    for (window_ms, tick_ms, accepted) in [
        (2, 1, false),
        (3, 1, true),
        (29, 10, false),
        (30, 10, true),
        ((1 << 31) - 1, 1, true),
        (1 << 31, 1, false),
        (u64::MAX, 1, false),
        (1, u64::MAX, false),
    ] {
        let terms = LeaseTerms::new(window_ms, RENEW, TIMEOUT, tick_ms);
        assert_eq!(terms.is_ok(), accepted, "{window_ms} ms of {tick_ms}");
        if let Err(error) = terms {
            assert_eq!((error.code(), error.field(), error.value()), (Code::InvalidOption, "window_ms", Some(window_ms.into())));
        }
    }
}
