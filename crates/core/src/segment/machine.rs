//! A segment: plain increasing numbers, which a store allocates in ranges, as a state machine without I/O.
//!
//! A store (a database) keeps one counter for each tag and allocates ranges of it. [`Segment`] hands out the numbers of its ranges
//! and decides when to ask for the next range and how long it shall be; the caller, which has I/O, carries the request and the answer.
//! `docs/segments.md` is the protocol.
//!
//! * **Pure**: no I/O, no clock, no entropy; equal calls on equal values give equal results.
//! * **Increasing**: no number is handed out twice, nor after a larger one. A range that begins below the end of an earlier one is
//!   refused.
//! * **Two buffers**: the next range is asked for when a tenth of the current one is used, or as soon as the current one begins
//!   if, at the rate of the last one, it would be used before the store answers.
//! * **Steps follow the load**: where a range lasts under `grow_below_ms` the next one is twice as long, where it lasts over
//!   `shrink_above_ms` half as long ([`SegmentTerms::next_step`]). What is measured is the rate since the
//!   request before: from one request to the next a part of two ranges is used, which may differ in length.
//! * **No range that is asked for is longer than the longest step**, also if a call wants more: a store that loses an allocation
//!   skips some multiple of that. Such a call gets several ranges. Only where the store has a longer step for the tag, that is it.
//! * **Each attempt has a nonce**, which its retries keep, so that a store whose answer was lost answers again with the same range.
//!   A caller that cannot wait for the answer to another one's try makes one beside it ([`Segment::ask_again`]); the first answer
//!   counts.
//! * Not covered: copies. A virtual machine that is restored twice from one snapshot hands out the ranges in it twice.
//!
//! Sources: Meituan's Leaf (segments, two buffers, the steps and the 15 and 30 minutes); CosId's `SegmentId`; Didi's Tinyid
//! (strides).

use alloc::collections::VecDeque;

use super::messages::{Allocated, SegmentRequest};
use super::range::SegmentRange;
use super::rate::{Begun, Mark, Step, Usage, ask_below};
use super::stats::SegmentStats;
use super::terms::{MAX_STEP, SegmentTerms, TIMEOUT_MS};
use crate::asking::{MAX_BACKOFF_MS, Nonce, backoff_ms};
use crate::error::{Code, Error, Result, Rule, Subject};

/// How long a call that found no number may wait at least before it tries again, while the store is asked, in milliseconds.
const FIRST_PAUSE_MS: u64 = 50;

/// With how many refusals in a row the pause grows: to 400 to 800 ms.
pub(crate) const REFUSALS_GROWING: u32 = 4;

/// The side of a segment that hands out numbers.
///
/// * **Deterministic**: what it does is a function of its value and of the call.
/// * **Comparable**: `Clone`, `Eq` and `Hash`, so that a checker explores this type itself.
///
/// ```
/// use frazil::asking::Nonce;
/// use frazil::segment::{Allocated, Segment, SegmentRange, SegmentRequest, SegmentTerms};
/// let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 900_000, 1_800_000)?);
/// let request = orders.ask(0, 1, 0, 7);
/// assert_eq!(request, SegmentRequest::Allocate { count: Some(100), above: 0, attempt: Nonce(7) });
/// let range = SegmentRange { first: 1, stride: 1, count: 100 };
/// assert!(orders.take(&Allocated { attempt: Nonce(7), range, step: None }, 2)?);
/// // Up to the point at which the next range is asked for.
/// assert_eq!(orders.draw(2, 50), Some(SegmentRange { first: 1, stride: 1, count: 10 }));
/// assert_eq!(orders.ask(2, 0, 0, 8), SegmentRequest::Nothing);
/// assert_eq!(orders.draw(2, 50), Some(SegmentRange { first: 11, stride: 1, count: 50 }));
/// assert!(matches!(orders.ask(2, 0, 0, 8), SegmentRequest::Allocate { above: 101, .. }));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "four facts, which hold or not whatever the others are")]
pub struct Segment {
    terms: SegmentTerms,
    /// What is left of the ranges, in order. Two, unless one call wants more than they have.
    ranges: VecDeque<SegmentRange>,
    /// How many numbers they have.
    left: u64,
    /// Whether a number of the first of them was drawn.
    is_front_begun: bool,
    /// The last range of which a number was drawn: how many it had, and when that was.
    begun: Option<Begun>,
    /// How the range before that was used up.
    last_used: Option<Usage>,
    /// The next range is asked for when fewer numbers of the first one are left.
    ask_below: u64,
    /// How many numbers were drawn in all.
    drawn: u64,
    /// Whether those that were drawn last are the rest of a range.
    is_rest_drawn: bool,
    /// How many numbers to ask for. `None`: the store decides.
    step: Option<Step>,
    /// Above all that was allocated.
    above: u64,
    /// The attempt whose outcome is not known, and how many numbers it asks for.
    attempt: Option<(Nonce, Option<u64>)>,
    /// When that was first made.
    attempt_began: Mark,
    /// When the last attempt that was answered was first made. `None` until the first range is measured.
    measured_from: Option<Mark>,
    /// When the last try of the attempt began.
    try_began_ms: u64,
    /// How many tries began. Those beside one are not counted.
    tries: u64,
    /// Whether the outcome of that is still to come.
    outstanding: bool,
    /// When the next try is due.
    due_ms: u64,
    stats: SegmentStats,
    closed: bool,
}

impl Segment {
    /// A segment that has nothing yet.
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentTerms};
    /// let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 900_000, 1_800_000)?);
    /// assert_eq!(orders.draw(0, 1), None);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn new(terms: SegmentTerms) -> Self {
        Self {
            terms,
            ranges: VecDeque::new(),
            left: 0,
            is_front_begun: false,
            begun: None,
            last_used: None,
            ask_below: 0,
            drawn: 0,
            is_rest_drawn: false,
            step: terms.step.map(|step| Step { current: step, base: step }),
            above: 0,
            attempt: None,
            attempt_began: Mark::default(),
            measured_from: None,
            try_began_ms: 0,
            tries: 0,
            outstanding: false,
            due_ms: 0,
            stats: SegmentStats::default(),
            closed: false,
        }
    }

    /// How many numbers are there to hand out.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// Hands out up to `want` numbers that follow each other. `None` if none is there. They may be fewer although more are there:
    /// those up to the point at which the next range is asked for, so call [`Segment::ask`] after each draw; and those that differ
    /// in their lower 32 bits only, so that a caller whose numbers are exact to 53 bits can count them.
    ///
    /// ```
    /// # use frazil::asking::Nonce;
    /// # use frazil::segment::{Allocated, Segment, SegmentRange, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(2), 1000, 0, 0)?);
    /// # orders.ask(0, 1, 0, 7);
    /// orders.take(&Allocated { attempt: Nonce(7), range: SegmentRange { first: 10, stride: 5, count: 2 }, step: None }, 0)?;
    /// assert_eq!(orders.draw(0, 9), Some(SegmentRange { first: 10, stride: 5, count: 1 }));
    /// assert_eq!(orders.draw(0, 9), Some(SegmentRange { first: 15, stride: 5, count: 1 }));
    /// assert_eq!(orders.draw(0, 9), None);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn draw(&mut self, monotonic_ms: u64, want: u64) -> Option<SegmentRange> {
        let front = self.ranges.front_mut()?;
        if !self.is_front_begun {
            self.is_front_begun = true;
            // Until now, since a caller may draw the rest of a range long before it hands that out.
            self.last_used =
                self.begun.map(|Begun { size, at_ms }| Usage { numbers: size, lasted_ms: monotonic_ms.saturating_sub(at_ms) });
            self.begun = Some(Begun { size: front.count, at_ms: monotonic_ms });
            self.ask_below = ask_below(front.count, self.last_used, self.stats.fetch_ms);
        }
        let before = if front.count > self.ask_below { front.count - self.ask_below } else { front.count };
        let low = front.first & u64::from(u32::MAX);
        let until_carry = (u64::from(u32::MAX) - low).checked_div(front.stride).unwrap_or(0).saturating_add(1);
        let count = want.min(before).min(until_carry);
        if count == 0 {
            return None;
        }
        self.drawn = self.drawn.saturating_add(count);
        self.left = self.left.saturating_sub(count);
        let drawn = front.split(count);
        self.is_rest_drawn = front.count == 0;
        if self.is_rest_drawn {
            self.is_front_begun = false;
            self.ranges.pop_front();
        }
        Some(drawn)
    }

    /// What to request of the store now, if callers wait for `want` numbers. `ahead`: how many of the numbers that were drawn are not
    /// handed out yet: the rate is that of those that are. `random` is for the attempt, if a new one begins: 128 bits from the kernel.
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentRequest, SegmentTerms};
    /// let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// assert!(matches!(orders.ask(0, 500, 0, 7), SegmentRequest::Allocate { count: Some(500), .. }));
    /// assert_eq!(orders.ask(1000, 500, 0, 8), SegmentRequest::Wait { ms: 2000 }); // for its time-out
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn ask(&mut self, monotonic_ms: u64, want: u64, ahead: u64, random: u128) -> SegmentRequest {
        if self.closed {
            return SegmentRequest::Nothing;
        }
        let wait_ms = self.due_in_ms(monotonic_ms);
        if self.outstanding {
            if wait_ms > 0 {
                return SegmentRequest::Wait { ms: wait_ms };
            }
            // Nobody could say that it failed, such as a caller whose clock showed no number then.
            #[expect(clippy::cast_possible_truncation, reason = "any of its random bits will do")]
            self.fail(monotonic_ms, random as u64);
        }
        if !self.is_short(want) {
            return SegmentRequest::Nothing;
        }
        let wait_ms = self.due_in_ms(monotonic_ms);
        if wait_ms > 0 {
            return SegmentRequest::Wait { ms: wait_ms };
        }
        let missing = want.saturating_sub(self.left);
        let (attempt, count) = *self.attempt.get_or_insert_with(|| {
            let now = Mark { at_ms: monotonic_ms, used: self.drawn.saturating_sub(ahead) };
            self.step = self.step.map(|step| step.after(&self.terms, self.measured_from, now));
            self.attempt_began = now;
            let max_step = self.terms.max_step;
            (Nonce(random), self.step.map(|Step { current, .. }| missing.max(current).min(current.max(max_step))))
        });
        self.outstanding = true;
        self.try_began_ms = monotonic_ms;
        self.tries = self.tries.saturating_add(1);
        SegmentRequest::Allocate { count, above: self.above, attempt }
    }

    /// As [`Segment::ask`], for a caller that lacks numbers and cannot wait for the answer to another one's try: while a try is under
    /// way and its time is not over, another one of the same attempt is to be made beside it. The first answer of all is taken. Only
    /// the failure that [`Segment::failed`] is told of first counts.
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentRequest, SegmentTerms};
    /// let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// let first = orders.ask(0, 1, 0, 7);
    /// assert_eq!(orders.ask(1, 1, 0, 8), SegmentRequest::Wait { ms: 2999 });
    /// assert_eq!(orders.ask_again(1, 1, 0, 9), first);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn ask_again(&mut self, monotonic_ms: u64, want: u64, ahead: u64, random: u128) -> SegmentRequest {
        match self.attempt {
            Some((attempt, count)) if self.outstanding && self.left < want && self.due_in_ms(monotonic_ms) > 0 => {
                SegmentRequest::Allocate { count, above: self.above, attempt }
            }
            _ => self.ask(monotonic_ms, want, ahead, random),
        }
    }

    /// How many tries [`Segment::ask`] began, so the number of the last one, for [`Segment::failed`].
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.ask(0, 1, 0, 7);
    /// orders.ask_again(1, 1, 0, 8);
    /// assert_eq!(orders.tries(), 1);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn tries(&self) -> u64 {
        self.tries
    }

    /// How long until the try under way is over, or the next one is due. A clock that goes back shows a longer time than there can
    /// be: then it is over, or due.
    #[inline(never)] // for the size of the WebAssembly module
    fn due_in_ms(&self, monotonic_ms: u64) -> u64 {
        let (at_ms, longest_ms) = if self.outstanding {
            (self.try_began_ms.saturating_add(TIMEOUT_MS), TIMEOUT_MS)
        } else {
            (self.due_ms, MAX_BACKOFF_MS)
        };
        let ms = at_ms.saturating_sub(monotonic_ms);
        if ms > longest_ms { 0 } else { ms }
    }

    /// Whether another range is needed, if callers wait for `want` numbers.
    #[must_use]
    pub fn is_short(&self, want: u64) -> bool {
        let is_low = match self.ranges.len() {
            0 => true,
            // If nobody has drawn from it yet, nobody will miss the next one.
            1 => self.is_front_begun && self.left < self.ask_below,
            _ => false,
        };
        self.left < want || is_low
    }

    /// The store allocated a range. Returns whether it is handed out: an answer to another attempt is not.
    ///
    /// # Errors
    /// `STORE_REFUSED` if the range has no numbers, or begins below the end of an earlier one: then the counter of the store went
    /// back. The attempt is over, and nothing of the range is handed out.
    ///
    /// ```
    /// # use frazil::Code;
    /// # use frazil::asking::Nonce;
    /// # use frazil::segment::{Allocated, Segment, SegmentRange, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.ask(0, 1, 0, 7);
    /// let range = SegmentRange { first: 1, stride: 1, count: 100 };
    /// assert!(!orders.take(&Allocated { attempt: Nonce(6), range, step: None }, 1)?);
    /// assert!(orders.take(&Allocated { attempt: Nonce(7), range, step: None }, 1)?);
    /// orders.ask(1, 101, 0, 8);
    /// let again = orders.take(&Allocated { attempt: Nonce(8), range, step: None }, 1);
    /// assert_eq!(again.unwrap_err().code(), Code::StoreRefused);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn take(&mut self, answer: &Allocated, monotonic_ms: u64) -> Result<bool> {
        let Allocated { attempt, range, step } = *answer;
        if !self.expects(attempt) {
            return Ok(false);
        }
        let refused = |rule| Err(Error::bad_input(Code::StoreRefused, Subject::Segment, rule));
        let Some(end) = range.end() else {
            self.give_up();
            return refused(Rule::SegmentRange);
        };
        if range.first < self.above {
            self.give_up();
            return refused(Rule::SegmentAbove);
        }
        self.above = end;
        self.stats.ranges = self.stats.ranges.saturating_add(1);
        self.stats.allocated = self.stats.allocated.saturating_add(range.count);
        // The longest of late: it falls by a quarter with each faster answer.
        let took_ms = monotonic_ms.saturating_sub(self.attempt_began.at_ms);
        self.stats.fetch_ms = took_ms.max(self.stats.fetch_ms / 4 * 3);
        if self.step.is_none() {
            let base = step.unwrap_or(range.count).clamp(1, MAX_STEP);
            self.step = Some(Step { current: base, base });
        }
        // The first request comes from a caller that waits, and the second soon after it: nothing was measured by then.
        self.measured_from = (self.stats.ranges > 1).then_some(self.attempt_began);
        self.left = self.left.saturating_add(range.count);
        self.ranges.push_back(range);
        self.give_up();
        self.stats.failures = 0;
        self.due_ms = 0;
        Ok(true)
    }

    /// Whether an answer to this attempt is still taken.
    ///
    /// ```
    /// # use frazil::asking::Nonce;
    /// # use frazil::segment::{Segment, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.ask(0, 1, 0, 7);
    /// assert!(orders.expects(Nonce(7)) && !orders.expects(Nonce(8)));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn expects(&self, attempt: Nonce) -> bool {
        !self.closed && self.attempt.is_some_and(|(ours, _)| ours == attempt)
    }

    /// The attempt is over. Its nonce is not used again.
    const fn give_up(&mut self) {
        self.attempt = None;
        self.outstanding = false;
    }

    /// The try failed, or nothing was heard of it in time. What it did is unknown, so the next one is of the same attempt, after a
    /// pause that doubles with each failure. `jitter` is any random number.
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentRequest, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// let first = orders.ask(0, 1, 0, 7);
    /// orders.fail(3000, 0);
    /// assert_eq!(orders.ask(3000, 1, 0, 8), SegmentRequest::Wait { ms: 50 });
    /// assert_eq!(orders.ask(3050, 1, 0, 9), first);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn fail(&mut self, monotonic_ms: u64, jitter: u64) {
        self.rest(monotonic_ms, jitter, u32::MAX);
    }

    /// Begins the pause after another failure, which grows with the first `growing` of those in a row.
    fn rest(&mut self, monotonic_ms: u64, jitter: u64, growing: u32) {
        // A try whose time passed while the process was stopped failed then: the next one need not wait again.
        let over_ms = if self.outstanding { self.try_began_ms.saturating_add(TIMEOUT_MS) } else { monotonic_ms };
        self.outstanding = false;
        self.stats.failures = self.stats.failures.saturating_add(1);
        let pause_ms = backoff_ms(self.stats.failures.min(growing), jitter);
        self.due_ms = over_ms.min(monotonic_ms).saturating_add(pause_ms);
    }

    /// The try with this number failed, or one beside it. Returns whether that counts: the first failure of a try does, if no later
    /// try has begun and the attempt is not over. What was no try has the number 0, and counts. See [`Segment::fail`].
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.ask(0, 1, 0, 7);
    /// orders.ask_again(1, 1, 0, 8);
    /// assert!(orders.failed(1, 2, 0));
    /// assert!(!orders.failed(1, 2, 0));
    /// assert_eq!(orders.stats().failures, 1);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn failed(&mut self, number: u64, monotonic_ms: u64, jitter: u64) -> bool {
        self.ended(number, monotonic_ms, jitter, u32::MAX)
    }

    /// As [`Segment::failed`], if the store refused: somebody has to change something, such as to make the record of the tag, and the
    /// next try follows within a second, however often that was so.
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// for ms in (0..20_000).step_by(1000) {
    ///     orders.ask(ms, 1, 0, 7);
    ///     assert!(orders.refused(orders.tries(), ms, 400));
    ///     assert!(orders.retry_after_ms(ms) <= 800);
    /// }
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn refused(&mut self, number: u64, monotonic_ms: u64, jitter: u64) -> bool {
        self.ended(number, monotonic_ms, jitter, REFUSALS_GROWING)
    }

    pub(crate) fn ended(&mut self, number: u64, monotonic_ms: u64, jitter: u64, growing: u32) -> bool {
        let counts = number == 0 || self.outstanding && number == self.tries;
        if counts {
            self.rest(monotonic_ms, jitter, growing);
        }
        counts
    }

    /// How long until the store has answered the try under way or the next one begins, at least 1: when a call that found no
    /// number can first succeed.
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.ask(0, 1, 0, 7);
    /// assert_eq!(orders.retry_after_ms(1000), 2000);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn retry_after_ms(&self, monotonic_ms: u64) -> u64 {
        self.due_in_ms(monotonic_ms).max(1)
    }

    /// How long a call that found no number may wait before it tries again: an answer is usually there long before the time of the try
    /// under way is over.
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.ask(0, 1, 0, 7);
    /// assert_eq!((orders.retry_after_ms(1000), orders.retry_usually_ms(1000)), (2000, 50));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn retry_usually_ms(&self, monotonic_ms: u64) -> u64 {
        let retry_ms = self.retry_after_ms(monotonic_ms);
        if self.outstanding { retry_ms.min(self.stats.fetch_ms.max(FIRST_PAUSE_MS)) } else { retry_ms }
    }

    /// How many ranges the numbers are in that are not handed out. `ahead`: how many of those that were drawn are not.
    #[must_use]
    pub fn buffers(&self, ahead: u64) -> u64 {
        self.ranges.len() as u64 + u64::from(self.is_rest_drawn && ahead > 0)
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> SegmentStats {
        let step = self.step.map_or(0, |step| step.current);
        SegmentStats { step, left: self.left(), buffers: self.buffers(0), ..self.stats }
    }

    /// Ends it: what is left of its ranges is never handed out.
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentRequest, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.close();
    /// assert_eq!(orders.ask(0, 1, 0, 7), SegmentRequest::Nothing);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn close(&mut self) {
        self.closed = true;
        self.ranges.clear();
        self.left = 0;
        self.give_up();
    }
}
