//! How long a lease is, when it is renewed, and how long an attempt may take.

use crate::error::{Code, Error, Result, Rule, Subject};

/// The longest that an attempt may take, in milliseconds: closing waits for one.
const MAX_TIMEOUT_MS: u64 = 10_000;

/// Timers take at most 2^31 - 1 ms.
const MAX_WINDOW_MS: u64 = (1 << 31) - 1;

/// The shortest usual window. Anything shorter was meant in seconds: a lease is renewed after a third of its window, and no network is that
/// fast.
pub const MIN_WINDOW_MS: u64 = 1000;

/// How many ticks a window must have at least. Rounding to whole ticks takes up to one at each end.
pub const MIN_WINDOW_TICKS: u64 = 3;

/// The lengths of a lease, in milliseconds.
///
/// ```
/// let terms = frazil::lease::LeaseTerms::new(30_000, 10_000, 3000, 1)?;
/// assert_eq!(terms.window_ms(), 30_000);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseTerms {
    pub(super) window_ms: u64,
    pub(super) renew_after_ms: u64,
    pub(super) timeout_ms: u64,
    pub(super) has_copies: bool,
}

impl LeaseTerms {
    /// The terms of leases whose window is `window_ms` long. They are renewed `renew_after_ms` after they were asked for (a third
    /// of the window where timers run, half of it where only calls do). An attempt is given up after `timeout_ms`, by the
    /// caller ([`Lease::fail`](super::Lease::fail)).
    ///
    /// # Errors
    /// `INVALID_OPTION` if the window is shorter than three ticks or longer than 2^31 - 1 ms.
    ///
    /// ```
    /// use frazil::Code;
    /// use frazil::lease::LeaseTerms;
    /// let error = LeaseTerms::new(2999, 1000, 300, 1000).unwrap_err();
    /// assert_eq!((error.code(), error.field(), error.value()), (Code::InvalidOption, "window_ms", Some(2999)));
    /// ```
    pub fn new(window_ms: u64, renew_after_ms: u64, timeout_ms: u64, tick_ms: u64) -> Result<Self> {
        let bounds = (tick_ms.saturating_mul(MIN_WINDOW_TICKS), MAX_WINDOW_MS);
        if window_ms < bounds.0 || window_ms > bounds.1 {
            return Err(Error::bad_number(Code::InvalidOption, Subject::WindowMs, Rule::WindowTicks, window_ms, bounds));
        }
        Ok(Self { window_ms, renew_after_ms: renew_after_ms.min(window_ms), timeout_ms, has_copies: true })
    }

    /// The usual terms: an attempt may take a tenth of the window, at most ten seconds. A lease is renewed after a third of the window, or
    /// after half if only calls renew it, since no timer runs between them.
    ///
    /// # Errors
    /// `INVALID_OPTION` if the window is shorter than a second or three ticks, or longer than 2^31 - 1 ms. A window of 30 is one in
    /// seconds: it would be renewed every 10 ms, and be over after each pause of the process.
    ///
    /// ```
    /// # use frazil::error::Rule;
    /// # use frazil::lease::LeaseTerms;
    /// assert_eq!(LeaseTerms::usual(30, false, 1).unwrap_err().rule(), Rule::WindowLength);
    /// assert_eq!(LeaseTerms::usual(30_000, false, 1)?, LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// assert_eq!(LeaseTerms::usual(300_000, true, 1)?, LeaseTerms::new(300_000, 150_000, 10_000, 1)?);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn usual(window_ms: u64, by_calls: bool, tick_ms: u64) -> Result<Self> {
        let bounds = (tick_ms.saturating_mul(MIN_WINDOW_TICKS).max(MIN_WINDOW_MS), MAX_WINDOW_MS);
        if window_ms < bounds.0 || window_ms > bounds.1 {
            return Err(Error::bad_number(Code::InvalidOption, Subject::WindowMs, Rule::WindowLength, window_ms, bounds));
        }
        let renew_after_ms = window_ms / if by_calls { 2 } else { 3 };
        Self::new(window_ms, renew_after_ms, (window_ms / 10).clamp(1, MAX_TIMEOUT_MS), tick_ms)
    }

    /// The same for holders that are never copied, such as isolates of Cloudflare Workers. A lease keeps its nonce, so the store takes none
    /// of its concurrent requests for a copy's.
    ///
    /// ```
    /// # use frazil::lease::{Granted, Lease, LeaseRandom, LeaseTerms, Request};
    /// let mut lease = Lease::new(LeaseTerms::usual(300_000, true, 1)?.uncopied());
    /// let Request::Acquire { grant, nonce } = lease.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// lease.take(&Granted { grant, node: 7, from_ms: 0, until_ms: 300_000, store_now_ms: 0 }, 0);
    /// let renewal = lease.ask(150_000, LeaseRandom { grant: 3, nonce: 4 });
    /// assert!(matches!(renewal, Request::Renew { nonce: same, .. } if same == nonce));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn uncopied(self) -> Self {
        Self { has_copies: false, ..self }
    }

    /// How long an attempt may take.
    #[must_use]
    pub const fn timeout_ms(&self) -> u64 {
        self.timeout_ms
    }

    /// The length of the window.
    #[must_use]
    pub const fn window_ms(&self) -> u64 {
        self.window_ms
    }
}
