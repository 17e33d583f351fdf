//! Segments, call by call: what is drawn, when and for how many numbers the store is asked, and which answers count.
//!
//! docs/internals/claims.md: 28

use frazil::Code;
use frazil::asking::Nonce;
use frazil::error::{Rule, Subject};
use frazil::segment::{Allocated, MAX_SEGMENT_NUMBER, MAX_STEP, Segment, SegmentRange, SegmentRequest, SegmentTerms};

const MINUTE_MS: u64 = 60_000;

fn terms(step: u64, max_step: u64) -> SegmentTerms {
    SegmentTerms::new(Some(step), max_step, 15 * MINUTE_MS, 30 * MINUTE_MS).expect("terms")
}

const fn range(first: u64, count: u64) -> SegmentRange {
    SegmentRange { first, stride: 1, count }
}

/// The count that is asked for; the attempt is `random`.
fn asked(segment: &mut Segment, now: u64, want: u64, random: u128) -> u64 {
    match segment.ask(now, want, 0, random) {
        SegmentRequest::Allocate { count: Some(count), attempt, .. } if attempt == Nonce(random) => count,
        other => panic!("{other:?}"),
    }
}

fn take(segment: &mut Segment, now: u64, attempt: u128, range: SegmentRange) -> frazil::Result<bool> {
    segment.take(&Allocated { attempt: Nonce(attempt), range, step: None }, now)
}

/// A segment with a first range of 100, that began at 1.
fn begun() -> Segment {
    let mut segment = Segment::new(terms(100, 400));
    asked(&mut segment, 0, 1, 1);
    assert_eq!(take(&mut segment, 10, 1, range(1, 100)), Ok(true));
    segment
}

#[test]
fn terms_name_the_field_the_value_and_the_rule() {
    let refused = |step, max, grow, shrink| {
        let error = SegmentTerms::new(step, max, grow, shrink).expect_err("refused");
        (error.code(), error.field(), error.value(), error.rule())
    };
    let whole = |subject: Subject, value: u64| (Code::InvalidOption, subject.name(), Some(i128::from(value)), Rule::WholeNumber);
    assert_eq!(refused(Some(0), 10, 0, 0), whole(Subject::Step, 0));
    assert_eq!(refused(Some(MAX_STEP + 1), MAX_STEP, 0, 0), whole(Subject::Step, MAX_STEP + 1));
    assert_eq!(refused(Some(10), 9, 0, 0), whole(Subject::MaxStep, 9));
    assert_eq!(refused(None, 0, 0, 0), whole(Subject::MaxStep, 0));
    assert_eq!(refused(None, MAX_STEP + 1, 0, 0), whole(Subject::MaxStep, MAX_STEP + 1));
    assert_eq!(refused(None, 10, 1 << 53, 1 << 53), whole(Subject::GrowBelowMs, 1 << 53));
    assert_eq!(refused(None, 10, 5, 4), whole(Subject::ShrinkAboveMs, 4));
    assert!(SegmentTerms::new(Some(MAX_STEP), MAX_STEP, 5, 5).is_ok());
}

#[test]
fn a_tenth_is_drawn_before_the_next_range_is_asked_for() {
    let mut segment = begun();
    assert!(!segment.is_short(0), "nobody has drawn yet");
    assert_eq!(segment.draw(20, u64::MAX), Some(range(1, 10)));
    assert_eq!(segment.ask(20, 0, 0, 2), SegmentRequest::Nothing);
    assert_eq!(segment.draw(20, 1), Some(range(11, 1)));
    assert_eq!(asked(&mut segment, 20, 0, 2), 100);
    assert_eq!(segment.draw(21, u64::MAX), Some(range(12, 89)));
    assert_eq!(segment.draw(21, u64::MAX), None);
}

#[test]
fn small_ranges_are_handed_out_whole() {
    let mut segment = Segment::new(terms(1, 1));
    for number in 1..5 {
        asked(&mut segment, 0, 1, u128::from(number));
        assert_eq!(take(&mut segment, 0, u128::from(number), range(number, 1)), Ok(true));
        assert_eq!(segment.draw(0, 9), Some(range(number, 1)));
        assert!(segment.is_short(0));
    }
}

#[test]
fn a_range_that_would_be_used_before_an_answer_comes_is_followed_at_once() {
    // The store takes 10 ms. Of ranges that last 15 ms, the next one is needed at once: twice 10 ms are more than a range. Of ranges
    // that last a minute, a tenth is soon enough. It is the same if the rest of a range is drawn long before it is handed out.
    for (lasts_ms, is_at_once) in [(15, true), (MINUTE_MS, false)] {
        for rest_ms in [1, lasts_ms - 1] {
            let mut segment = begun();
            segment.draw(10, u64::MAX);
            segment.draw(10 + rest_ms, u64::MAX);
            asked(&mut segment, 10 + rest_ms, 0, 2);
            take(&mut segment, 20 + rest_ms, 2, range(101, 100)).expect("taken");
            assert_eq!(segment.draw(10 + lasts_ms, 1), Some(range(101, 1)));
            assert_eq!(segment.is_short(0), is_at_once, "{lasts_ms} ms, {rest_ms}");
        }
    }
}

#[test]
fn a_range_that_was_drawn_whole_is_not_taken_for_one_that_was_used_at_once() {
    // Ranges of one number are drawn whole, once in a minute.
    let mut segment = Segment::new(terms(100, 100));
    for number in 0..5_u64 {
        let now = number * MINUTE_MS;
        let attempt = u128::from(number) + 1;
        asked(&mut segment, now, 1, attempt);
        take(&mut segment, now + 10, attempt, range(1 + 100 * number, 100)).expect("taken");
        while segment.draw(now + 10, u64::MAX).is_some() {}
    }
    asked(&mut segment, 5 * MINUTE_MS, 1, 9);
    take(&mut segment, 5 * MINUTE_MS + 10, 9, range(501, 100)).expect("taken");
    segment.draw(5 * MINUTE_MS + 10, 1);
    assert!(!segment.is_short(0), "the next one is asked for after a tenth");
}

#[test]
fn a_clock_that_goes_back_delays_no_request() {
    let late = 600_000_000;
    let mut segment = Segment::new(terms(100, 400));
    let first = segment.ask(late, 1, 0, 1);
    assert_eq!(segment.retry_after_ms(0), 1, "the try is over");
    assert!(matches!(segment.ask(0, 1, 0, 2), SegmentRequest::Wait { ms: 50..=100 }));
    assert_eq!(segment.ask(100, 1, 0, 3), first);
    assert_eq!(segment.ask(late, 1, 0, 4), first);
    segment.fail(late + 60, 0);
    assert_eq!(segment.ask(0, 1, 0, 5), first, "the pause is over");
    assert_eq!(take(&mut segment, late, 1, range(1, 100)), Ok(true));
    segment.draw(late, 20);
    assert!(matches!(segment.ask(5, 200, 0, 5), SegmentRequest::Allocate { .. }), "nothing is due later");
    // The rate is not known, so the step stays.
    take(&mut segment, 6, 5, range(101, 100)).expect("taken");
    segment.draw(6, 200);
    assert_eq!(asked(&mut segment, 3, 200, 6), 100);
}

#[test]
fn steps_settle_at_every_steady_rate() {
    for (numbers_a_second, draws_ahead) in
        [1, 3, 7, 10, 25, 60, 100, 333].into_iter().flat_map(|rate| [(rate, false), (rate, true)])
    {
        let mut segment = Segment::new(terms(1000, 1_000_000));
        let (mut attempt, mut next, mut steps) = (0, 1, Vec::new());
        // What a driver that draws as much as it gets has not handed out yet.
        let mut ahead = 0;
        for tick in 0..600_000 {
            let now = tick * 1000;
            let mut left = numbers_a_second;
            while left > 0 {
                if ahead == 0 {
                    let want = if draws_ahead { u64::MAX } else { left };
                    ahead = segment.draw(now, want).map_or(0, |drawn| drawn.count);
                }
                let used = left.min(ahead);
                left -= used;
                ahead -= used;
                if segment.is_short(left) {
                    attempt += 1;
                    let SegmentRequest::Allocate { count: Some(count), .. } = segment.ask(now, left, ahead, attempt) else {
                        panic!("nothing is asked for at {now}");
                    };
                    take(&mut segment, now, attempt, range(next, count)).expect("taken");
                    next += count;
                    steps.push(count);
                }
            }
        }
        let settled = &steps[steps.len() - 20..];
        assert!(settled.iter().all(|step| step == &settled[0]), "{numbers_a_second} a second: {settled:?}");
        let lasts_s = settled[0] / numbers_a_second;
        assert!((15 * 60..=30 * 60).contains(&lasts_s), "{numbers_a_second} a second: {lasts_s} s");
    }
}

#[test]
fn a_retry_is_the_same_attempt_and_has_the_same_count() {
    let mut segment = Segment::new(terms(100, 400));
    let first = segment.ask(0, 300, 0, 1);
    assert_eq!(first, SegmentRequest::Allocate { count: Some(300), above: 0, attempt: Nonce(1) });
    assert_eq!(segment.ask(100, 500, 0, 2), SegmentRequest::Wait { ms: 2900 });
    segment.fail(100, 0);
    assert_eq!(segment.ask(100, 1, 0, 3), SegmentRequest::Wait { ms: 50 });
    assert_eq!(segment.ask(150, 1, 0, 4), first);
    // A try whose time passed while the process was stopped failed then.
    segment.fail(60_000, 0);
    assert_eq!(segment.ask(60_000, 1, 0, 5), first);
    assert_eq!(segment.stats().failures, 2);
}

#[test]
fn a_try_of_which_nobody_says_that_it_failed_is_over_after_its_time_out() {
    let mut segment = Segment::new(terms(100, 400));
    let first = segment.ask(0, 1, 0, 1);
    assert_eq!(segment.ask(2999, 1, 0, 2), SegmentRequest::Wait { ms: 1 });
    assert!(matches!(segment.ask(3000, 1, 0, 2), SegmentRequest::Wait { ms: 50..=100 }));
    assert_eq!(segment.ask(3100, 1, 0, 3), first);
    assert_eq!(segment.stats().failures, 1);
}

#[test]
fn a_refused_try_is_followed_by_another_within_a_second() {
    let (mut refused, mut failed) = (Segment::new(terms(100, 400)), Segment::new(terms(100, 400)));
    for try_number in 1..=20 {
        let ms = try_number * 5000;
        for (segment, longest_ms) in [(&mut refused, 800), (&mut failed, 5000)] {
            assert!(matches!(segment.ask(ms, 1, 0, 7), SegmentRequest::Allocate { attempt: Nonce(7), .. }));
            let jitter = longest_ms / 2; // for the longest pause there is
            let counts =
                if longest_ms == 800 { segment.refused(try_number, ms, jitter) } else { segment.failed(try_number, ms, jitter) };
            assert!(counts);
            let pause_ms = (100 << try_number.min(10).saturating_sub(1)).min(longest_ms);
            assert!((pause_ms / 2..=pause_ms).contains(&segment.retry_after_ms(ms)), "after {try_number}");
            assert_eq!(u64::from(segment.stats().failures), try_number);
        }
        assert!(!refused.refused(try_number, ms, 0), "one beside it");
    }
    assert!((400..=800).contains(&refused.retry_after_ms(100_000)));
    assert_eq!(failed.retry_after_ms(100_000), 5000);
}

#[test]
fn an_answer_counts_once_and_only_for_its_attempt() {
    let mut segment = Segment::new(terms(100, 400));
    asked(&mut segment, 0, 1, 1);
    assert_eq!(take(&mut segment, 1, 2, range(1, 100)), Ok(false));
    segment.fail(3000, 0);
    assert_eq!(take(&mut segment, 3001, 1, range(1, 100)), Ok(true), "late");
    assert_eq!(take(&mut segment, 3002, 1, range(1, 100)), Ok(false), "again");
    assert_eq!(segment.left(), 100);
    assert_eq!(segment.stats().failures, 0);
}

#[test]
fn a_range_below_what_was_allocated_is_refused() {
    let mut segment = begun();
    asked(&mut segment, 10, 200, 2);
    for below in [1, 50, 100] {
        let mut copy = segment.clone();
        let error = take(&mut copy, 11, 2, range(below, 100)).expect_err("refused");
        assert_eq!((error.code(), error.rule()), (Code::StoreRefused, Rule::SegmentAbove));
        assert_eq!(copy.left(), 100, "nothing of it is handed out");
        copy.fail(11, 0);
        assert_eq!(asked(&mut copy, 61, 200, 3), 100, "another attempt");
    }
    assert_eq!(take(&mut segment, 11, 2, range(101, 100)), Ok(true));
}

#[test]
fn ranges_without_numbers_or_beyond_the_largest_are_refused() {
    for wrong in [
        range(1, 0),
        SegmentRange { first: 1, stride: 0, count: 1 },
        SegmentRange { first: 1, stride: 1 << 31, count: 1 },
        range(MAX_SEGMENT_NUMBER, 2),
        range(u64::MAX, 1),
        SegmentRange { first: 1, stride: 2, count: u64::MAX },
    ] {
        let mut segment = Segment::new(terms(1, 1));
        asked(&mut segment, 0, 1, 1);
        let error = take(&mut segment, 0, 1, wrong).expect_err("refused");
        assert_eq!((error.code(), error.rule()), (Code::StoreRefused, Rule::SegmentRange), "{wrong:?}");
        assert_eq!(segment.draw(0, 1), None);
    }
    let mut segment = Segment::new(terms(1, 1));
    asked(&mut segment, 0, 1, 1);
    assert_eq!(take(&mut segment, 0, 1, range(MAX_SEGMENT_NUMBER, 1)), Ok(true));
    assert_eq!(segment.draw(0, 1), Some(range(MAX_SEGMENT_NUMBER, 1)));
}

#[test]
fn a_draw_ends_where_the_upper_32_bits_change() {
    let carry = 1 << 32;
    for (stride, first) in [(1, carry - 3), (7, carry - 20), ((1 << 31) - 1, carry - 1)] {
        let mut segment = Segment::new(terms(1000, 1000));
        asked(&mut segment, 0, 1, 1);
        take(&mut segment, 0, 1, SegmentRange { first, stride, count: 1000 }).expect("taken");
        let mut expected = first;
        while let Some(drawn) = segment.draw(0, u64::MAX) {
            assert_eq!(drawn.first, expected);
            let last = drawn.first + stride * (drawn.count - 1);
            assert_eq!(drawn.first >> 32, last >> 32);
            expected = last + stride;
        }
        assert_eq!(expected, first + 1000 * stride);
    }
}

#[test]
fn a_call_that_wants_more_than_two_ranges_gets_several() {
    let mut segment = begun();
    segment.draw(10, 20);
    assert_eq!(asked(&mut segment, 10, 300, 2), 210, "what is missing");
    take(&mut segment, 11, 2, range(101, 150)).expect("fewer than asked for");
    assert_eq!(asked(&mut segment, 11, 1000, 3), 400, "never more than the longest step");
    take(&mut segment, 12, 3, range(251, 400)).expect("taken");
    assert_eq!(asked(&mut segment, 12, 1000, 4), 360);
    take(&mut segment, 13, 4, range(651, 360)).expect("taken");
    assert_eq!(segment.stats().buffers, 4);
    assert!(!segment.is_short(1000));
    let mut drawn = 0;
    while let Some(range) = segment.draw(13, u64::MAX) {
        drawn += range.count;
    }
    assert_eq!(drawn, 1000);
}

#[test]
fn the_store_decides_the_first_step() {
    let mut segment = Segment::new(SegmentTerms::new(None, 100, 5, 9).expect("terms"));
    assert_eq!(segment.ask(0, 1, 0, 1), SegmentRequest::Allocate { count: None, above: 0, attempt: Nonce(1) });
    let answer = Allocated { attempt: Nonce(1), range: range(1, 2000), step: Some(2000) };
    assert_eq!(segment.take(&answer, 0), Ok(true));
    assert_eq!(segment.stats().step, 2000, "longer than the maximum: it stays");
    while !segment.is_short(0) {
        segment.draw(0, u64::MAX);
    }
    assert_eq!(asked(&mut segment, 0, 0, 2), 2000);
}

#[test]
fn a_closed_segment_asks_draws_and_takes_nothing() {
    let mut segment = begun();
    asked(&mut segment, 10, 200, 2);
    segment.close();
    assert_eq!(segment.draw(11, 1), None);
    assert_eq!(segment.ask(11, 1, 0, 3), SegmentRequest::Nothing);
    assert_eq!(take(&mut segment, 11, 2, range(101, 100)), Ok(false));
}

#[test]
fn failures_before_a_silence_longer_than_the_longest_pause_do_not_count() {
    for (silence_ms, failures) in [(4999, 6), (5000, 6), (5001, 1)] {
        let mut segment = Segment::new(terms(100, 400));
        let mut ms = 0;
        for number in 1..=5 {
            segment.ask(ms, 1, 0, 7);
            assert!(segment.failed(number, ms, 0));
            ms += segment.retry_after_ms(ms);
        }
        ms += silence_ms;
        assert!(matches!(segment.ask(ms, 1, 0, 8), SegmentRequest::Allocate { attempt: Nonce(7), .. }), "still the same attempt");
        assert!(segment.failed(6, ms + 3000, 0));
        assert_eq!(segment.stats().failures, failures, "after {silence_ms} ms");
    }
}

#[test]
fn each_try_of_an_attempt_has_twice_the_time_of_the_one_before() {
    let mut segment = Segment::of_requests(terms(100, 400));
    let first = segment.ask(0, 1, 0, 1);
    let mut ms = 0;
    for patience_ms in [50, 100, 200, 400, 800] {
        assert_eq!(segment.try_in_ms(ms), patience_ms + 1);
        assert_eq!(segment.ask_again(ms + patience_ms, 1, 0, 2), SegmentRequest::Wait { ms: 1 });
        // Also the caller whose try is beside a request, and not only those that lack numbers.
        assert_eq!(segment.ask(ms + patience_ms, 1, 0, 2), SegmentRequest::Wait { ms: 1 });
        ms += patience_ms + 1;
        assert_eq!(segment.try_in_ms(ms), 0);
        assert_eq!(segment.ask_again(ms, 1, 0, 2), first);
    }
    assert_eq!(segment.try_in_ms(ms), 1001, "the longest");
    // After a pause a try is the first one of those that follow.
    assert_eq!(segment.ask_again(ms + 2001, 1, 0, 2), first);
    assert_eq!(segment.try_in_ms(ms + 2001), 51);
}

#[test]
fn after_an_answer_the_other_tries_have_a_while_to_end() {
    let answered = |ended: &[u64]| {
        let mut segment = Segment::of_requests(terms(100, 400));
        segment.ask(0, 1, 0, 1);
        segment.ask_again(51, 1, 0, 2);
        segment.ask_again(152, 1, 0, 3);
        for number in ended {
            assert!(!segment.failed(*number, 155, 0) || *number == 1, "one failure counts");
        }
        let answer = Allocated { attempt: Nonce(1), range: range(1, 100), step: None };
        assert_eq!(segment.answered(&answer, 2, 51, 160), Ok(true));
        segment
    };
    let mut segment = answered(&[1, 1]);
    // Twice the time of the answer, which was 109 ms.
    assert_eq!((segment.try_in_ms(160), segment.ask(160, 101, 0, 4)), (219, SegmentRequest::Wait { ms: 219 }));
    assert!(!segment.failed(3, 170, 0));
    assert!(matches!(segment.ask(170, 101, 0, 4), SegmentRequest::Allocate { attempt: Nonce(4), .. }));
    // Those that never end are not waited for after that, and not in the next attempt.
    let mut segment = answered(&[]);
    assert!(matches!(segment.ask(379, 101, 0, 4), SegmentRequest::Allocate { attempt: Nonce(4), .. }));
    assert!(segment.failed(4, 380, 0));
    assert_eq!(segment.try_in_ms(380), segment.rest_ms(380));
    // With all ended, the next attempt begins at once.
    assert_eq!(answered(&[1, 3]).try_in_ms(160), 0);
    // An answer to an attempt that is over ends its try, and changes no patience.
    let mut segment = answered(&[]);
    let late = Allocated { attempt: Nonce(1), range: range(1, 100), step: None };
    assert_eq!(segment.answered(&late, 3, 152, 300), Ok(false));
    assert_eq!((segment.try_in_ms(300), segment.left()), (79, 100));
}

#[test]
fn to_requests_the_time_is_the_latest_that_one_of_them_saw() {
    let mut segment = Segment::of_requests(terms(100, 400));
    assert_eq!((segment.seen(10_000), segment.seen(7001)), (10_000, 10_000));
    segment.ask(10_000, 1, 0, 1);
    // Behind by more than a try may take: the clock was set, and nothing that was noted before holds.
    assert_eq!(segment.seen(7000), 7000);
    assert_eq!((segment.try_in_ms(7000), segment.rest_ms(7000)), (0, 0));
    // Where timers ask there is one clock.
    let mut segment = Segment::new(terms(100, 400));
    assert_eq!((segment.seen(10_000), segment.seen(9999)), (10_000, 9999));
    segment.ask(9999, 1, 0, 1);
    assert_eq!(segment.try_in_ms(9999), 0);
}

#[test]
fn callers_that_cannot_wait_for_each_other_make_tries_of_one_attempt() {
    let mut segment = Segment::new(terms(100, 400));
    let first = segment.ask(0, 1, 0, 1);
    assert_eq!(segment.ask(10, 1, 0, 2), SegmentRequest::Wait { ms: 2990 });
    assert_eq!(segment.ask_again(10, 500, 0, 3), first, "also for a caller that wants more");
    assert_eq!(segment.tries(), 2);
    // The first answer counts.
    assert_eq!(take(&mut segment, 20, 1, range(1, 100)), Ok(true));
    assert_eq!(take(&mut segment, 21, 1, range(1, 100)), Ok(false));
    // Nothing is under way: it is as `ask`, which is not for a caller whose numbers are there.
    assert_eq!(segment.ask_again(30, 100, 0, 4), SegmentRequest::Nothing);
    assert_eq!(segment.draw(30, 10), Some(range(1, 10)));
    assert_eq!(segment.draw(30, 10), Some(range(11, 10)));
    assert!(matches!(segment.ask(30, 0, 0, 5), SegmentRequest::Allocate { attempt: Nonce(5), .. }));
    assert_eq!(segment.ask_again(31, 80, 0, 6), SegmentRequest::Wait { ms: 2999 });
    assert!(matches!(segment.ask_again(31, 81, 0, 6), SegmentRequest::Allocate { attempt: Nonce(5), .. }));
}

#[test]
fn of_the_tries_beside_each_other_one_failure_counts() {
    let mut segment = Segment::new(terms(100, 400));
    segment.ask(0, 1, 0, 1);
    segment.ask_again(1, 1, 0, 2);
    assert!(segment.failed(2, 10, 0));
    let pause = segment.retry_after_ms(10);
    assert!(!segment.failed(1, 11, 0));
    assert_eq!((segment.stats().failures, segment.retry_after_ms(10)), (1, pause));
    // During the pause nobody asks. Then the attempt is the same.
    assert_eq!(segment.ask_again(11, 1, 0, 3), SegmentRequest::Wait { ms: pause - 1 });
    assert!(matches!(segment.ask_again(10 + pause, 1, 0, 4), SegmentRequest::Allocate { attempt: Nonce(1), .. }));
    // A failure of the try before is late, and ends no pause and no try.
    assert!(!segment.failed(1, 11 + pause, 0));
    assert!(matches!(segment.ask(11 + pause, 1, 0, 5), SegmentRequest::Wait { .. }));
    assert!(segment.failed(3, 12 + pause, 0));
    assert_eq!(segment.stats().failures, 2);
    // After its time a try has failed, also for a caller that would make one beside it.
    let mut segment = Segment::new(terms(100, 400));
    segment.ask(0, 1, 0, 1);
    assert!(matches!(segment.ask_again(3000, 1, 0, 2), SegmentRequest::Wait { .. }));
    assert_eq!(segment.stats().failures, 1);
    assert!(!segment.failed(1, 3001, 0));
}
