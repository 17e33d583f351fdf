//! The requests of a segment, and how they fail.

use super::machine::Segment;
use super::messages::{Allocated, SegmentRequest};
use super::patience::Patience;
use super::rate::Mark;
use super::terms::{SegmentTerms, TIMEOUT_MS};
use crate::asking::{MAX_BACKOFF_MS, Nonce, backoff_ms};
use crate::error::Result;

/// How long a call that found no number may wait at least before it tries again, while the store is asked, in milliseconds.
const FIRST_PAUSE_MS: u64 = 50;

/// With how many refusals in a row the pause grows: to 400 to 800 ms.
pub(crate) const REFUSALS_GROWING: u32 = 4;

impl Segment {
    /// A segment whose callers ask each for themselves, since none can wait for the answer to another one's try, as requests to a
    /// Cloudflare Worker. They call [`Segment::ask_again`] while they lack numbers, and tell the end of each try with its number
    /// ([`Segment::answered`], [`Segment::failed`], [`Segment::refused`]).
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentRequest, SegmentTerms};
    /// let mut orders = Segment::of_requests(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// let first = orders.ask(0, 1, 0, 7);
    /// assert_eq!(orders.ask_again(1, 1, 0, 8), SegmentRequest::Wait { ms: 50 });
    /// assert_eq!(orders.ask_again(51, 1, 0, 9), first);
    /// assert_eq!(orders.ask_again(52, 1, 0, 10), SegmentRequest::Wait { ms: 100 });
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn of_requests(terms: SegmentTerms) -> Self {
        Self { patience: Some(Patience::default()), ..Self::new(terms) }
    }

    /// What to request of the store now, if callers wait for `want` numbers. `ahead`: how many of the numbers that were drawn are not
    /// handed out yet: callers get those first, and the rate is that of those that are. `random` is for the attempt, if a new one
    /// begins: 128 bits from the kernel.
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentRequest, SegmentTerms};
    /// let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// assert!(matches!(orders.ask(0, 500, 0, 7), SegmentRequest::Allocate { count: Some(500), .. }));
    /// assert_eq!(orders.ask(1000, 500, 0, 8), SegmentRequest::Wait { ms: 2000 }); // for its time-out
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn ask(&mut self, monotonic_ms: u64, want: u64, ahead: u64, random: u128) -> SegmentRequest {
        self.request(monotonic_ms, want, ahead, random, false)
    }

    /// As [`Segment::ask`], for a caller that lacks numbers and cannot wait for the answer to another one's try: while a try is under way
    /// and its time is not over, another one of the same attempt is to be made beside it. The first answer of all is taken. Only the first
    /// failure passed to [`Segment::failed`] counts.
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
        self.request(monotonic_ms, want, ahead, random, true)
    }

    pub(crate) fn request(&mut self, monotonic_ms: u64, want: u64, ahead: u64, random: u128, is_again: bool) -> SegmentRequest {
        if self.closed {
            return SegmentRequest::Nothing;
        }
        let want = want.saturating_sub(ahead);
        let is_retry = self.attempt.is_some();
        if let Some(patience) = &mut self.patience {
            let wait_ms = patience.left_ms(monotonic_ms);
            if wait_ms > 0 {
                return SegmentRequest::Wait { ms: wait_ms };
            }
            if !is_retry {
                patience.forget();
            }
        }
        let mut wait_ms = self.due_in_ms(monotonic_ms);
        if self.outstanding && wait_ms == 0 {
            // Nobody could say that it failed, such as a caller whose clock showed no number then.
            #[expect(clippy::cast_possible_truncation, reason = "any of its random bits will do")]
            self.fail(monotonic_ms, random as u64);
            wait_ms = self.due_in_ms(monotonic_ms);
        }
        let is_beside = self.outstanding && is_again && self.left < want;
        if !is_beside {
            if !self.outstanding && !self.is_short(want) {
                return SegmentRequest::Nothing;
            }
            if wait_ms > 0 {
                return SegmentRequest::Wait { ms: wait_ms };
            }
            self.settled = self.tries;
            self.try_began_ms = monotonic_ms;
        }
        let missing = want.saturating_sub(self.left);
        let (attempt, count) = *self.attempt.get_or_insert_with(|| {
            let now = Mark { at_ms: monotonic_ms, used: self.drawn.saturating_sub(ahead) };
            self.step = self.step.map(|step| step.after(&self.terms, self.measured_from, now));
            self.attempt_began = now;
            let max_step = self.terms.max_step;
            let count = self.step.map(|step| missing.max(step.current).min(step.current.max(max_step)));
            (Nonce(random), count)
        });
        self.outstanding = true;
        self.tries = self.tries.saturating_add(1);
        if let Some(patience) = &mut self.patience {
            patience.began(self.tries, monotonic_ms, is_retry);
        }
        SegmentRequest::Allocate { count, above: self.above, attempt }
    }

    /// How many tries there were, so the number of the last one, for [`Segment::answered`] and [`Segment::failed`].
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.ask(0, 1, 0, 7);
    /// orders.ask_again(1, 1, 0, 8);
    /// assert_eq!(orders.tries(), 2);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn tries(&self) -> u64 {
        self.tries
    }

    /// The time to pass to the other calls, if a caller's clock shows this. In a segment of requests it is the latest that a caller saw,
    /// since a time that goes back ends the try under way.
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentTerms};
    /// # let terms = SegmentTerms::new(Some(100), 1000, 0, 0)?;
    /// let mut orders = Segment::of_requests(terms);
    /// assert_eq!((orders.seen(5000), orders.seen(4900), orders.seen(2000)), (5000, 5000, 2000)); // the clock was set
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn seen(&mut self, monotonic_ms: u64) -> u64 {
        self.patience.as_mut().map_or(monotonic_ms, |patience| patience.seen(monotonic_ms))
    }

    /// How long until a caller that lacks numbers may make a try, if none is made and no answer comes until then.
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentTerms};
    /// # let mut orders = Segment::of_requests(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.ask(0, 1, 0, 7);
    /// assert_eq!(orders.try_in_ms(10), 41);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn try_in_ms(&self, monotonic_ms: u64) -> u64 {
        let patient_ms = self.patience.map_or(0, |patience| patience.left_ms(monotonic_ms));
        patient_ms.max(self.rest_ms(monotonic_ms))
    }

    /// How much of the pause after a failure is left; 0 while a try is under way.
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentTerms};
    /// # let mut orders = Segment::of_requests(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.ask(0, 1, 0, 7);
    /// orders.failed(1, 10, 0);
    /// assert_eq!(orders.rest_ms(20), 40);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn rest_ms(&self, monotonic_ms: u64) -> u64 {
        if self.outstanding { 0 } else { self.due_in_ms(monotonic_ms) }
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

    /// As [`Segment::take`], for the answer to the try with a number, which began at a time.
    ///
    /// # Errors
    /// Those of [`Segment::take`].
    ///
    /// ```
    /// # use frazil::asking::Nonce;
    /// # use frazil::segment::{Allocated, Segment, SegmentRange, SegmentTerms};
    /// # let mut orders = Segment::of_requests(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.ask(0, 1, 0, 7);
    /// orders.ask_again(51, 1, 0, 8);
    /// let range = SegmentRange { first: 1, stride: 1, count: 100 };
    /// assert!(orders.answered(&Allocated { attempt: Nonce(7), range, step: None }, 2, 51, 60)?);
    /// assert_eq!(orders.try_in_ms(60), 51); // the first try may still be carried out
    /// orders.failed(1, 70, 0);
    /// assert_eq!(orders.try_in_ms(70), 0);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn answered(&mut self, answer: &Allocated, number: u64, asked_ms: u64, monotonic_ms: u64) -> Result<bool> {
        let is_expected = self.expects(answer.attempt);
        if let Some(patience) = &mut self.patience {
            patience.ended(number);
            if is_expected {
                patience.answered(asked_ms, monotonic_ms);
            }
        }
        self.take(answer, monotonic_ms)
    }

    /// The try failed, or nothing was heard of it in time. Its effect is unknown, so the next one is of the same attempt, after a pause
    /// that doubles with each failure. If a try began more than 5 s after it was due, because there were no callers, the failures before it
    /// do not count. `jitter` is any random number.
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
        // Without callers for longer than the longest pause, earlier failures say nothing about the store now.
        if self.try_began_ms.saturating_sub(self.due_ms) > MAX_BACKOFF_MS {
            self.stats.failures = 0;
        }
        self.stats.failures = self.stats.failures.saturating_add(1);
        let pause_ms = backoff_ms(self.stats.failures.min(growing), jitter);
        self.due_ms = over_ms.min(monotonic_ms).saturating_add(pause_ms);
    }

    /// The try with this number failed. Returns whether that counts: the first failure of those made beside each other does, if no later
    /// one has begun after it and the attempt is not over. A failure outside a try has the number 0, and counts. See [`Segment::fail`].
    ///
    /// ```
    /// # use frazil::segment::{Segment, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.ask(0, 1, 0, 7);
    /// orders.ask_again(1, 1, 0, 8);
    /// assert!(orders.failed(2, 2, 0));
    /// assert!(!orders.failed(1, 2, 0));
    /// assert_eq!(orders.stats().failures, 1);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn failed(&mut self, number: u64, monotonic_ms: u64, jitter: u64) -> bool {
        self.ended(number, monotonic_ms, jitter, u32::MAX)
    }

    /// As [`Segment::failed`], if the store refused: a person has to act, such as make the record of the tag. The next try follows within a
    /// second, however often that was so.
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
        if let Some(patience) = &mut self.patience {
            patience.ended(number);
        }
        let counts = number == 0 || self.outstanding && number > self.settled;
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
}
