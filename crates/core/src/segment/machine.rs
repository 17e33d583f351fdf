//! A segment: plain increasing numbers, which a store allocates in ranges, as a state machine without I/O.
//!
//! A store (a database) keeps one counter for each tag and allocates ranges of it. [`Segment`] hands out the numbers of its ranges
//! and decides when to ask for the next range and how long it shall be; the caller, which has I/O, carries the request and the answer.
//! `docs/concepts/segments.md` is the protocol.
//!
//! * **Pure**: no I/O, no clock, no entropy; equal calls on equal values give equal results.
//! * **Increasing**: no number is handed out twice, nor after a larger one. A range that begins below the end of an earlier one is
//!   refused.
//! * **Two buffers**: the next range is requested when a tenth of the current one is used. If, at the rate of the last one, the current
//!   range would not last until the store answers, the next is requested when it begins.
//! * **Steps follow the load**: where a range lasts under `grow_below_ms` the next one is twice as long, where it lasts over
//!   `shrink_above_ms` half as long ([`SegmentTerms::next_step`]). The rate is measured since the request before: from one request to the
//!   next a part of two ranges is used, which may differ in length.
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

use super::messages::Allocated;
use super::patience::Patience;
use super::range::SegmentRange;
use super::rate::{Begun, Mark, Step, Usage, ask_below};
use super::stats::SegmentStats;
use super::terms::{MAX_STEP, SegmentTerms};
use crate::asking::Nonce;
use crate::error::{Code, Error, Result, Rule, Subject};

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
    pub(super) terms: SegmentTerms,
    /// What is left of the ranges, in order. Two, unless one call wants more than they have.
    pub(super) ranges: VecDeque<SegmentRange>,
    /// How many numbers they have.
    pub(super) left: u64,
    /// Whether a number of the first of them was drawn.
    pub(super) is_front_begun: bool,
    /// The last range that a number was drawn from: how many it had, and when that was.
    pub(super) begun: Option<Begun>,
    /// How the range before that was used up.
    pub(super) last_used: Option<Usage>,
    /// The next range is asked for when fewer numbers of the first one are left.
    pub(super) ask_below: u64,
    /// How many numbers were drawn in all.
    pub(super) drawn: u64,
    /// Whether those that were drawn last are the rest of a range.
    pub(super) is_rest_drawn: bool,
    /// How many numbers to ask for. `None`: the store decides.
    pub(super) step: Option<Step>,
    /// Above all that was allocated.
    pub(super) above: u64,
    /// The attempt whose outcome is not known, and how many numbers it asks for.
    pub(super) attempt: Option<(Nonce, Option<u64>)>,
    /// When that was first made.
    pub(super) attempt_began: Mark,
    /// When the last attempt that was answered was first made. `None` until the first range is measured.
    pub(super) measured_from: Option<Mark>,
    /// When the last try of the attempt began.
    pub(super) try_began_ms: u64,
    /// How many tries began, also beside another one.
    pub(super) tries: u64,
    /// The number of the last one before those whose outcome is still to come.
    pub(super) settled: u64,
    /// Whether any has such an outcome.
    pub(super) outstanding: bool,
    /// When the next try is due.
    pub(super) due_ms: u64,
    /// Where callers ask each for themselves.
    pub(super) patience: Option<Patience>,
    pub(super) stats: SegmentStats,
    pub(super) closed: bool,
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
            settled: 0,
            outstanding: false,
            due_ms: 0,
            patience: None,
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

    /// Whether another range is needed, if callers wait for `want` numbers.
    #[must_use]
    pub fn is_short(&self, want: u64) -> bool {
        let is_low = match self.ranges.len() {
            0 => true,
            // If no number was drawn from it yet, no one will miss the next one.
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

    /// How many ranges have numbers that are not handed out. `ahead`: how many of the drawn numbers are not.
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
