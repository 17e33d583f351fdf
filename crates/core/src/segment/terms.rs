//! How many numbers a segment asks for, and how long an attempt may take.

use crate::error::{Code, Error, Result, Rule, Subject};
use crate::layout::MAX_SAFE_INTEGER;

/// The longest step, and so the most numbers that a request asks for. Only a step that the store has for the tag may be longer.
pub const MAX_STEP: u64 = 1_000_000_000;

/// The longest that an attempt may take, in milliseconds.
pub(super) const TIMEOUT_MS: u64 = 3000;

/// The steps of a segment, and when they change.
///
/// ```
/// let terms = frazil::segment::SegmentTerms::new(Some(1000), 1_000_000, 900_000, 1_800_000)?;
/// assert_eq!(terms.timeout_ms(), 3000);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentTerms {
    pub(super) step: Option<u64>,
    pub(super) max_step: u64,
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
    /// use frazil::Code;
    /// use frazil::segment::SegmentTerms;
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

    /// How long an attempt may take, in milliseconds. The caller then calls [`Segment::fail`](super::Segment::fail).
    #[must_use]
    pub const fn timeout_ms(&self) -> u64 {
        TIMEOUT_MS
    }

    /// The step after `step`, when `numbers` numbers were used in `lasted_ms`, and `base` is the shortest step. At that rate a range
    /// of `step` numbers lasts `lasted_ms * step / numbers`.
    ///
    /// ```
    /// # use frazil::segment::SegmentTerms;
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
