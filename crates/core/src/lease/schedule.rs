//! When the next attempt is due, by a clock that may go back.

use super::machine::Lease;
use crate::asking::{FIRST_BACKOFF_MS, MAX_BACKOFF_MS, backoff_ms};

impl Lease {
    /// How many attempts failed in a row.
    ///
    /// ```
    /// # use frazil::lease::{Lease, LeaseTerms};
    /// let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// lease.fail(0, 12345);
    /// assert_eq!(lease.failures(), 1);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// The attempt failed, or nothing was heard of it in time. Its effect is unknown, so the next attempt has the same nonce.
    ///
    /// ```
    /// # use frazil::lease::{Lease, LeaseRandom, LeaseTerms, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// lease.ask(0, LeaseRandom { grant: 1, nonce: 2 });
    /// lease.fail(3000, 0);
    /// assert_eq!(lease.ask(3000, LeaseRandom { grant: 3, nonce: 4 }), Request::Wait { ms: 50 });
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn fail(&mut self, monotonic_ms: u64, jitter: u64) {
        // An attempt whose time passed while the process was stopped failed then: the next one need not wait again. Not where failures
        // follow each other: two requests of a Worker whose clock was set can have clocks that are far apart, and none would wait.
        let over_ms = self.began_ms.saturating_add(self.terms.timeout_ms);
        let failed_ms = if self.outstanding && self.failures == 0 { over_ms.min(monotonic_ms) } else { monotonic_ms };
        self.outstanding = false;
        self.failures = self.failures.saturating_add(1);
        self.due_ms = failed_ms.saturating_add(backoff_ms(self.failures, jitter));
    }

    /// Brings the next attempt forward, because the window is over by the holder's clock although no attempt is due: the machine
    /// was suspended, or the clocks differ by more than the window. At most one attempt in [`MAX_BACKOFF_MS`] begins like that.
    ///
    /// ```
    /// # use frazil::lease::{Granted, Lease, LeaseRandom, LeaseTerms, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let random = LeaseRandom { grant: 1, nonce: 2 };
    /// # let Request::Acquire { grant, .. } = lease.ask(0, random) else { unreachable!() };
    /// lease.take(&Granted { grant, node: 7, from_ms: 0, until_ms: 30_000, store_now_ms: 0 }, 0);
    /// lease.hurry(1000);
    /// assert_eq!(lease.ask(1000, random), Request::Wait { ms: 4000 });
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn hurry(&mut self, monotonic_ms: u64) {
        (self.began_ms, self.due_ms) = self.hurried_at(monotonic_ms);
    }

    fn hurried_at(&self, monotonic_ms: u64) -> (u64, u64) {
        let (began_ms, due_ms) = self.schedule_at(monotonic_ms);
        let earliest_ms = began_ms.saturating_add(MAX_BACKOFF_MS).max(monotonic_ms);
        (began_ms, if self.outstanding { due_ms } else { due_ms.min(earliest_ms) })
    }

    /// What [`Lease::retry_after_ms`] is after [`Lease::hurry`].
    pub(crate) fn retry_after_hurry_ms(&self, monotonic_ms: u64) -> u64 {
        self.until_ms(self.hurried_at(monotonic_ms), monotonic_ms)
    }

    /// Takes note of the time. If the clock went back, the schedule goes back with it, and moves on with the clock from there.
    /// [`Lease::ask`] and [`Lease::hurry`] do this too. A caller that asks only when [`Lease::retry_after_ms`] says that something is
    /// due makes this call before, at each look: without it the schedule goes back at each look, and nothing is ever due.
    ///
    /// ```
    /// # use frazil::lease::{Granted, Lease, LeaseRandom, LeaseTerms, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let random = LeaseRandom { grant: 1, nonce: 2 };
    /// let day_ms = 86_400_000; // ahead, while the lease is acquired
    /// let Request::Acquire { grant, .. } = lease.ask(day_ms, random) else { unreachable!() };
    /// lease.take(&Granted { grant, node: 7, from_ms: 0, until_ms: 30_000, store_now_ms: 0 }, day_ms);
    /// let unseen = lease.clone();
    /// lease.see(0);
    /// assert_eq!((lease.retry_after_ms(0), lease.retry_after_ms(9000)), (10_000, 1000));
    /// assert_eq!((unseen.retry_after_ms(0), unseen.retry_after_ms(9000)), (10_000, 10_000));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[inline(never)] // for the size of the WebAssembly module
    pub fn see(&mut self, monotonic_ms: u64) {
        (self.began_ms, self.due_ms) = self.schedule_at(monotonic_ms);
    }

    /// The clock went back by so much since the last look, and the schedule goes back with it: what was due in a minute is.
    ///
    /// ```
    /// # use frazil::lease::{Granted, Lease, LeaseRandom, LeaseTerms, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let random = LeaseRandom { grant: 1, nonce: 2 };
    /// # let Request::Acquire { grant, .. } = lease.ask(20_000, random) else { unreachable!() };
    /// lease.take(&Granted { grant, node: 7, from_ms: 0, until_ms: 30_000, store_now_ms: 0 }, 20_000);
    /// assert_eq!(lease.retry_after_ms(28_000), 2000);
    /// lease.go_back(5000);
    /// assert_eq!(lease.retry_after_ms(23_000), 2000);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub const fn go_back(&mut self, by_ms: u64) {
        self.began_ms = self.began_ms.saturating_sub(by_ms);
        self.due_ms = self.due_ms.saturating_sub(by_ms);
    }

    /// How long until the store has answered the attempt under way or the next attempt begins, at least 1: when a call that was refused
    /// without a lease can first succeed.
    ///
    /// ```
    /// # use frazil::lease::{Lease, LeaseRandom, LeaseTerms};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// lease.ask(0, LeaseRandom { grant: 1, nonce: 2 });
    /// assert_eq!(lease.retry_after_ms(1000), 2000);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn retry_after_ms(&self, monotonic_ms: u64) -> u64 {
        self.until_ms(self.schedule_at(monotonic_ms), monotonic_ms)
    }

    fn until_ms(&self, (began_ms, due_ms): (u64, u64), monotonic_ms: u64) -> u64 {
        let at_ms = if self.outstanding { began_ms.saturating_add(self.terms.timeout_ms) } else { due_ms };
        at_ms.saturating_sub(monotonic_ms).max(1)
    }

    /// When the last attempt began and the next one is due, by a clock that may have gone back: on Cloudflare Workers monotonic time
    /// is the wall clock. What lies in the future cannot be: an attempt that would begin there begins now, with its pause behind
    /// it, and no pause is longer than there is a reason for.
    #[inline(never)] // for the size of the WebAssembly module
    fn schedule_at(&self, monotonic_ms: u64) -> (u64, u64) {
        let back_ms = self.began_ms.saturating_sub(monotonic_ms);
        let is_renewed = self.held.is_some() && self.failures == 0;
        let longest_ms = if is_renewed { self.terms.renew_after_ms.max(FIRST_BACKOFF_MS) } else { MAX_BACKOFF_MS };
        let due_ms = self.due_ms.saturating_sub(back_ms).min(monotonic_ms.saturating_add(longest_ms));
        (self.began_ms - back_ms, due_ms)
    }

    /// Whether an attempt is under way: its outcome is still to come.
    ///
    /// ```
    /// # use frazil::lease::{Lease, LeaseRandom, LeaseTerms};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// lease.ask(0, LeaseRandom { grant: 1, nonce: 2 });
    /// assert!(lease.is_under_way());
    /// lease.fail(3000, 0);
    /// assert!(!lease.is_under_way());
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn is_under_way(&self) -> bool {
        self.outstanding
    }

    /// When the last attempt began, in monotonic milliseconds.
    pub(crate) const fn began_ms(&self) -> u64 {
        self.began_ms
    }
}
