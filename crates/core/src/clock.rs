//! The wall clock. No other file of this crate asks for the time.
//!
//! The generator takes the time as an argument, in Unix milliseconds. A host gets it from a [`Clock`]:
//!
//! * [`SystemClock`] (feature `std`): the wall clock of the operating system. `wasm32-unknown-unknown` has none, and
//!   there it panics, so the WebAssembly binding never uses it: JavaScript passes `Date.now()` in.
//! * [`ManualClock`]: a clock that a test or a simulation sets by hand, safe to share between threads.
//!
//! * Not covered: waiting. The core only says how long to wait; a host that can block does so.

#[cfg(feature = "std")]
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
#[cfg(feature = "std")]
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::{Code, Error, Result, Rule, Subject};

/// A source of wall-clock time.
///
/// ```
/// use frazil::Clock;
/// use frazil::clock::ManualClock;
/// fn tenths(clock: &impl Clock) -> u64 { clock.now_ms().unwrap_or(0) / 100 }
/// assert_eq!(tenths(&ManualClock::new(1234)), 12);
/// ```
pub trait Clock {
    /// Milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    ///
    /// # Errors
    /// `CLOCK_BEFORE_EPOCH` if the clock shows a time before 1970.
    ///
    /// ```
    /// use frazil::{Clock, SystemClock};
    /// assert!(SystemClock.now_ms()? > 1_704_067_200_000);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    fn now_ms(&self) -> Result<u64>;
}

/// The wall clock of the operating system.
///
/// ```
/// use frazil::{Clock, SystemClock};
/// assert!(SystemClock.now_ms()? > 0);
/// # Ok::<(), frazil::Error>(())
/// ```
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[cfg(feature = "std")]
impl Clock for SystemClock {
    #[inline]
    fn now_ms(&self) -> Result<u64> {
        let now = SystemTime::now();
        let (from, until, ms) = LAST_MS.get();
        if from <= now && now < until { Ok(ms) } else { millisecond_at(now) }
    }
}

#[cfg(feature = "std")]
std::thread_local! {
    /// The last millisecond that this thread read: its bounds, and its number. To compare a time takes a third of what it takes to
    /// count its milliseconds.
    static LAST_MS: Cell<(SystemTime, SystemTime, u64)> = const { Cell::new((UNIX_EPOCH, UNIX_EPOCH, 0)) };
}

#[cfg(feature = "std")]
#[cold]
#[inline(never)]
fn millisecond_at(now: SystemTime) -> Result<u64> {
    let since = now.duration_since(UNIX_EPOCH).map_err(|_| Error::new(Code::ClockBeforeEpoch))?;
    // 2^64 ms are 584 million years. A clock beyond them is past every layout, and so is `u64::MAX`.
    let ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let [from, until] = [ms, ms.saturating_add(1)].map(|ms| UNIX_EPOCH.checked_add(Duration::from_millis(ms)));
    if let (Some(from), Some(until)) = (from, until) {
        LAST_MS.set((from, until, ms));
    }
    Ok(ms)
}

/// A clock that stands still until it is set.
///
/// ```
/// use frazil::Clock;
/// use frazil::clock::ManualClock;
/// let clock = ManualClock::new(1000);
/// clock.set_ms(999);
/// assert_eq!(clock.now_ms(), Ok(999));
/// ```
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// A clock that shows `now_ms`.
    #[must_use]
    pub const fn new(now_ms: u64) -> Self {
        Self(AtomicU64::new(now_ms))
    }

    /// Sets the time, forward or back.
    ///
    /// ```
    /// # use frazil::Clock;
    /// # use frazil::clock::ManualClock;
    /// let clock = ManualClock::new(5);
    /// clock.set_ms(7);
    /// assert_eq!(clock.now_ms(), Ok(7));
    /// ```
    pub fn set_ms(&self, now_ms: u64) {
        self.0.store(now_ms, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> Result<u64> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now_ms(&self) -> Result<u64> {
        (**self).now_ms()
    }
}

/// The millisecond that contains a time given as a JavaScript number.
///
/// A fraction is rounded down: it is a point of time within that millisecond.
///
/// # Errors
/// `INVALID_CLOCK` for NaN and infinities, `CLOCK_BEFORE_EPOCH` for a time before 1970.
///
/// ```
/// use frazil::Code;
/// use frazil::clock::millisecond_of;
/// assert_eq!(millisecond_of(12.75), Ok(12));
/// assert_eq!(millisecond_of(f64::NAN).unwrap_err().code(), Code::InvalidClock);
/// assert_eq!(millisecond_of(-1.0).unwrap_err().code(), Code::ClockBeforeEpoch);
/// ```
pub fn millisecond_of(now_ms: f64) -> Result<u64> {
    if !now_ms.is_finite() {
        return Err(Error::bad_input(Code::InvalidClock, Subject::Now, Rule::FiniteClock));
    }
    if now_ms < 0.0 {
        return Err(Error::new(Code::ClockBeforeEpoch));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "finite and not negative; beyond 2^64 the cast saturates, past every layout"
    )]
    Ok(now_ms as u64)
}
