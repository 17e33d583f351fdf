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

use crate::asking::{MAX_BACKOFF_MS, Nonce, backoff_ms};
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::layout::MAX_SAFE_INTEGER;

/// The largest number of a segment: the counter, which is above it, fits a `bigint` column of a database.
///
/// ```
/// assert_eq!(frazil::MAX_SEGMENT_NUMBER, i64::MAX as u64 - 1);
/// ```
pub const MAX_SEGMENT_NUMBER: u64 = (1 << 63) - 2;

/// The longest step, and so the most numbers that a request asks for. Only a step that the store has for the tag may be longer.
///
/// ```
/// assert_eq!(frazil::MAX_STEP, 1_000_000_000);
/// ```
pub const MAX_STEP: u64 = 1_000_000_000;

/// The largest distance between two numbers of a range.
pub(crate) const MAX_STRIDE: u64 = (1 << 31) - 1;

/// The longest that an attempt may take, in milliseconds.
const TIMEOUT_MS: u64 = 3000;

/// With how many refusals in a row the pause grows: to 400 to 800 ms.
pub(crate) const REFUSALS_GROWING: u32 = 4;

/// The steps of a segment, and when they change.
///
/// ```
/// let terms = frazil::SegmentTerms::new(Some(1000), 1_000_000, 900_000, 1_800_000)?;
/// assert_eq!(terms.timeout_ms(), 3000);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentTerms {
    step: Option<u64>,
    max_step: u64,
    grow_below_ms: u64,
    shrink_above_ms: u64,
}

impl SegmentTerms {
    /// Terms with a step of at least `step` numbers (`None`: what the store has for the tag) and at most `max_step`. It is doubled
    /// after a range that lasted less than `grow_below_ms`, and halved after one that lasted more than `shrink_above_ms`.
    ///
    /// # Errors
    /// `INVALID_OPTION` if a step is 0 or over [`MAX_STEP`], if `max_step` is below `step`, or if `shrink_above_ms` is below
    /// `grow_below_ms`.
    ///
    /// ```
    /// use frazil::{Code, SegmentTerms};
    /// let error = SegmentTerms::new(Some(1000), 999, 900_000, 1_800_000).unwrap_err();
    /// assert_eq!((error.code(), error.field(), error.value()), (Code::InvalidOption, "max_step", Some(999)));
    /// ```
    pub fn new(step: Option<u64>, max_step: u64, grow_below_ms: u64, shrink_above_ms: u64) -> Result<Self> {
        Self::read(step.is_some(), |subject, min, max| {
            let value = match subject {
                Subject::Step => step.unwrap_or(0),
                Subject::MaxStep => max_step,
                Subject::GrowBelowMs => grow_below_ms,
                _ => shrink_above_ms,
            };
            if (min..=max).contains(&value) {
                return Ok(value);
            }
            Err(Error::bad_number(Code::InvalidOption, subject, Rule::WholeNumber, value, (min, max)))
        })
    }

    /// The terms whose values `get` returns if they are within bounds, which may depend on those before.
    pub(crate) fn read(has_step: bool, get: impl Fn(Subject, u64, u64) -> Result<u64>) -> Result<Self> {
        let step = if has_step { Some(get(Subject::Step, 1, MAX_STEP)?) } else { None };
        let max_step = get(Subject::MaxStep, step.unwrap_or(1), MAX_STEP)?;
        let grow_below_ms = get(Subject::GrowBelowMs, 0, MAX_SAFE_INTEGER)?;
        let shrink_above_ms = get(Subject::ShrinkAboveMs, grow_below_ms, MAX_SAFE_INTEGER)?;
        Ok(Self { step, max_step, grow_below_ms, shrink_above_ms })
    }

    /// How long an attempt may take, in milliseconds. The caller then calls [`Segment::fail`].
    ///
    /// ```
    /// # use frazil::SegmentTerms;
    /// assert_eq!(SegmentTerms::new(None, 1000, 0, 0)?.timeout_ms(), 3000);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn timeout_ms(&self) -> u64 {
        TIMEOUT_MS
    }

    /// The step after `step`, when `numbers` numbers were used in `lasted_ms`, and `base` is the shortest step. At that rate a range
    /// of `step` numbers lasts `lasted_ms * step / numbers`.
    ///
    /// ```
    /// # use frazil::SegmentTerms;
    /// let terms = SegmentTerms::new(Some(1000), 3000, 900_000, 1_800_000)?;
    /// assert_eq!(terms.next_step(1000, 1000, 899_999, 1000), 2000);
    /// assert_eq!(terms.next_step(2000, 1000, 449_999, 1000), 3000); // the maximum
    /// assert_eq!(terms.next_step(2000, 1000, 1_800_000, 2000), 2000);
    /// assert_eq!(terms.next_step(2000, 1000, 1_800_001, 2000), 1000);
    /// assert_eq!(terms.next_step(1000, 1000, 1_800_001, 1000), 1000); // never below the shortest
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn next_step(&self, step: u64, base: u64, lasted_ms: u64, numbers: u64) -> u64 {
        // Compared without a division, so without rounding.
        let lasted = lasted_ms as u128 * step as u128;
        if lasted < self.grow_below_ms as u128 * numbers as u128 {
            let doubled = step.saturating_mul(2);
            // A step of the store's own may be longer than the maximum: it stays.
            let most = if self.max_step > step { self.max_step } else { step };
            if doubled < most { doubled } else { most }
        } else if lasted > self.shrink_above_ms as u128 * numbers as u128 {
            let half = step / 2;
            if half > base { half } else { base }
        } else {
            step
        }
    }
}

/// Numbers that a store allocated: `first`, `first + stride`, and so on, `count` of them.
///
/// ```
/// let odd = frazil::SegmentRange { first: 1, stride: 2, count: 50 };
/// assert_eq!(odd.end(), Some(100)); // above its last number, 99
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentRange {
    /// The first number.
    pub first: u64,
    /// The distance from one number to the next, at least 1.
    pub stride: u64,
    /// How many numbers.
    pub count: u64,
}

impl SegmentRange {
    /// The number after the last one, if all are numbers of a segment and there is one at least.
    ///
    /// ```
    /// use frazil::{MAX_SEGMENT_NUMBER, SegmentRange};
    /// assert_eq!(SegmentRange { first: 5, stride: 1, count: 0 }.end(), None);
    /// assert_eq!(SegmentRange { first: MAX_SEGMENT_NUMBER, stride: 1, count: 2 }.end(), None);
    /// ```
    #[must_use]
    pub const fn end(&self) -> Option<u64> {
        let Self { first, stride, count } = *self;
        if count == 0 || stride == 0 || stride > MAX_STRIDE {
            return None;
        }
        let Some(length) = stride.checked_mul(count - 1) else { return None };
        let Some(last) = first.checked_add(length) else { return None };
        if last > MAX_SEGMENT_NUMBER { None } else { Some(last + 1) }
    }

    /// Takes numbers off the start.
    const fn split(&mut self, count: u64) -> Self {
        let taken = Self { count, ..*self };
        self.count -= count;
        // What is behind the last number is never handed out.
        self.first = self.first.saturating_add(self.stride.saturating_mul(count));
        taken
    }
}

/// What to do next.
///
/// ```
/// assert_ne!(frazil::SegmentRequest::Nothing, frazil::SegmentRequest::Wait { ms: 5 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SegmentRequest {
    /// Nothing: enough is there. Ask again after the next [`Segment::draw`].
    Nothing,
    /// Nothing for so long. Then ask again.
    Wait {
        /// Milliseconds of monotonic time.
        ms: u64,
    },
    /// Ask the store for a range.
    Allocate {
        /// How many numbers; `None`: as many as the store has for the tag.
        count: Option<u64>,
        /// What the range must not begin below: the end of all that was allocated to this segment. If the counter of the store is
        /// below it, the store has lost an allocation.
        above: u64,
        /// The attempt. A store that has carried it out answers with the same range again.
        attempt: Nonce,
    },
}

/// A store's answer.
///
/// ```
/// use frazil::{Allocated, Nonce, SegmentRange};
/// let answer = Allocated { attempt: Nonce(1), range: SegmentRange { first: 1, stride: 1, count: 1000 }, step: None };
/// assert_eq!(answer.range.end(), Some(1001));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Allocated {
    /// The attempt that asked for it.
    pub attempt: Nonce,
    /// The numbers.
    pub range: SegmentRange,
    /// The step that the store has for the tag, in numbers, if it has one.
    pub step: Option<u64>,
}

/// Counters of a segment.
///
/// ```
/// assert_eq!(frazil::SegmentStats::default().ranges, 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SegmentStats {
    /// How many numbers a range that is asked for next has; 0 if the store decides.
    pub step: u64,
    /// How many numbers are there to hand out, in all ranges.
    pub left: u64,
    /// How many ranges are there.
    pub buffers: u64,
    /// How many ranges the store allocated.
    pub ranges: u64,
    /// How many numbers they had.
    pub allocated: u64,
    /// How many attempts failed in a row.
    pub failures: u32,
    /// How long the store takes to answer, in milliseconds: the longest of the last answers.
    pub fetch_ms: u64,
}

/// The side of a segment that hands out numbers.
///
/// * **Deterministic**: what it does is a function of its value and of the call.
/// * **Comparable**: `Clone`, `Eq` and `Hash`, so that a checker explores this type itself.
///
/// ```
/// use frazil::{Allocated, Nonce, Segment, SegmentRange, SegmentRequest, SegmentTerms};
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

/// A range of which a number was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Begun {
    size: u64,
    at_ms: u64,
}

/// A moment: the time, and how many numbers were handed out by then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Mark {
    at_ms: u64,
    used: u64,
}

impl Mark {
    /// How long ago another moment was, and how many numbers were used since; `None` if none was, or if the clock went back.
    fn since(self, before: Self) -> Option<(u64, u64)> {
        let lasted_ms = self.at_ms.checked_sub(before.at_ms)?;
        let used = self.used.checked_sub(before.used)?;
        (used > 0).then_some((lasted_ms, used))
    }
}

/// A range that was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Usage {
    numbers: u64,
    lasted_ms: u64,
}

/// How many numbers to ask for, and the fewest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Step {
    current: u64,
    base: u64,
}

impl Step {
    /// The step after what was used from one moment to another.
    fn after(self, terms: &SegmentTerms, from: Option<Mark>, now: Mark) -> Self {
        let Some((lasted_ms, numbers)) = from.and_then(|from| now.since(from)) else { return self };
        Self { current: terms.next_step(self.current, self.base, lasted_ms, numbers), ..self }
    }
}

impl Segment {
    /// A segment that has nothing yet.
    ///
    /// ```
    /// # use frazil::{Segment, SegmentTerms};
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
    ///
    /// ```
    /// # use frazil::{Segment, SegmentTerms};
    /// assert_eq!(Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?).left(), 0);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// Hands out up to `want` numbers that follow each other. `None` if none is there. They may be fewer although more are there:
    /// those up to the point at which the next range is asked for, so call [`Segment::ask`] after each draw; and those that differ
    /// in their lower 32 bits only, so that a caller whose numbers are exact to 53 bits can count them.
    ///
    /// ```
    /// # use frazil::{Allocated, Nonce, Segment, SegmentRange, SegmentTerms};
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
        if front.count == 0 {
            self.is_front_begun = false;
            self.ranges.pop_front();
        }
        Some(drawn)
    }

    /// What to request of the store now, if callers wait for `want` numbers. `ahead`: how many of the numbers that were drawn are not
    /// handed out yet: the rate is that of those that are. `random` is for the attempt, if a new one begins: 128 bits from the kernel.
    ///
    /// ```
    /// # use frazil::{Segment, SegmentRequest, SegmentTerms};
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
    /// # use frazil::{Segment, SegmentRequest, SegmentTerms};
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
    /// # use frazil::{Segment, SegmentTerms};
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
    ///
    /// ```
    /// # use frazil::{Segment, SegmentTerms};
    /// assert!(Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?).is_short(0));
    /// # Ok::<(), frazil::Error>(())
    /// ```
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
    /// # use frazil::{Allocated, Code, Nonce, Segment, SegmentRange, SegmentTerms};
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
    /// # use frazil::{Nonce, Segment, SegmentTerms};
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
    /// # use frazil::{Segment, SegmentRequest, SegmentTerms};
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
    /// # use frazil::{Segment, SegmentTerms};
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
    /// # use frazil::{Segment, SegmentTerms};
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
    /// # use frazil::{Segment, SegmentTerms};
    /// # let mut orders = Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?);
    /// orders.ask(0, 1, 0, 7);
    /// assert_eq!(orders.retry_after_ms(1000), 2000);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn retry_after_ms(&self, monotonic_ms: u64) -> u64 {
        self.due_in_ms(monotonic_ms).max(1)
    }

    /// The counters.
    ///
    /// ```
    /// # use frazil::{Segment, SegmentTerms};
    /// assert_eq!(Segment::new(SegmentTerms::new(Some(100), 1000, 0, 0)?).stats().step, 100);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn stats(&self) -> SegmentStats {
        let step = self.step.map_or(0, |step| step.current);
        SegmentStats { step, left: self.left(), buffers: self.ranges.len() as u64, ..self.stats }
    }

    /// Ends it: what is left of its ranges is never handed out.
    ///
    /// ```
    /// # use frazil::{Segment, SegmentRequest, SegmentTerms};
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

/// The next range is asked for when fewer numbers than this are left of a range of `count`: nine tenths, or more if, at the rate of
/// the last range (so many numbers in so many milliseconds), that would be used up in twice the time that the store takes to
/// answer.
fn ask_below(count: u64, used: Option<Usage>, fetch_ms: u64) -> u64 {
    let usual = count - count.div_ceil(10);
    let Some(Usage { numbers, lasted_ms }) = used else { return usual };
    let needed = numbers.saturating_mul(fetch_ms).saturating_mul(2) / lasted_ms.max(1);
    // Not `clamp`, which could panic.
    needed.max(usual).min(count)
}
