//! A generator whose node id and window come from a lease.
//!
//! [`LeasedGenerator`] joins a [`Lease`] (what to ask the store, and what answers mean) with a [`Generator`] (what may be minted).
//! The caller, which has I/O, calls [`LeasedGenerator::ask`], carries the request to the store, and hands the answer to
//! [`LeasedGenerator::take`] or [`LeasedGenerator::refuse`].
//!
//! * **A fresh state for each lease**, never shared, so what was minted under another lease cannot make it repeat an ID.
//! * **In order across leases**: it continues at the tick after the last one of the lease before. So the IDs of one object increase, even
//!   if the node id is smaller, the clock was set back, or time was borrowed from the future. (Not in a layout with the node id above the
//!   time, and not if the clock is followed back to another clock id.)
//! * **The window bounds the times in the IDs at both ends**, so the clock of this machine decides only whether an ID can be
//!   minted, never whether it is unique.
//! * **Closed before released**: the word of the state is swapped for the mark of a closed one, and only then is there a
//!   [`Release`] to send.
//! * **Minting never waits and asks nothing**: without a lease the answer is `LEASE_LOST`, after the window `LEASE_EXPIRED`, each
//!   with the time until the store may have answered.
//! * Not covered: timers, requests and retries on the wire. `npm/frazil/src/lease/index.ts` has those for JavaScript.

use super::machine::Lease;
use super::messages::{Held, Release};
use super::options::{IdTime, LeasedOptions};
use super::readings::{Anchor, MAX_DRIFT_MS, Readings, difference_ms, drift_ms};
use crate::asking::MAX_BACKOFF_MS;
use crate::error::{Code, Error, Result};
use crate::layout::{Geometry, Layout};
#[cfg(feature = "abi")]
use crate::mint::Line;
use crate::mint::{Generator, Health, Key, Machine, Reservation, Stats, Window};

/// The condition of a lease at a time.
///
/// ```
/// # use frazil::Layout;
/// # use frazil::lease::{LeasedGenerator, LeasedOptions, LeaseTerms};
/// let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
/// let status = LeasedGenerator::new(&Layout::named("default")?, options)?.status();
/// assert_eq!((status.held, status.failures, status.skew_ms), (None, 0, 0));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaseStatus {
    /// The lease that is held.
    pub held: Option<Held>,
    /// How many attempts to acquire or renew failed in a row.
    pub failures: u32,
    /// How far the wall clock was ahead of the store's clock at the last answer, in milliseconds; negative if it was behind. The
    /// time that the answer was on its way counts as being ahead, unless earlier answers or a suspension account for it. If the
    /// wall clock has gone back since, what it shows then counts, as if the store's clock stood still.
    pub skew_ms: i64,
}

/// Mints IDs under a lease.
///
/// This type is:
///
/// * **Non-blocking**: it never waits, and never calls the store; a refusal says how long to wait.
/// * **One object for many leases**: when a lease is lost, the next one that begins may have another node id.
///
/// ```
/// use frazil::{Layout, Registry};
/// use frazil::lease::{Granted, LeaseRandom, LeaseTerms, LeasedGenerator, LeasedOptions, Readings, Request};
/// use frazil::mint::Reservation;
/// let terms = LeaseTerms::new(30_000, 10_000, 3000, 1)?;
/// let mut ids = LeasedGenerator::new(&Layout::named("default")?, LeasedOptions::new(terms))?;
/// let now = Readings { wall_ms: 1_720_000_000_000, monotonic_ms: 0 };
/// let Request::Acquire { grant, .. } = ids.ask(now.monotonic_ms, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
/// // Here the store is asked.
/// let (from_ms, until_ms) = (now.wall_ms - 5000, now.wall_ms + 30_000);
/// ids.take(&Granted { grant, node: 7, from_ms, until_ms, store_now_ms: now.wall_ms }, now, &mut Registry::new())?;
/// let Reservation::Issued { block, .. } = ids.reserve(now.wall_ms, now, 1, true)? else { unreachable!() };
/// assert_eq!(Layout::named("default")?.decode(block.first())?.node, Some(7));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Debug)]
pub struct LeasedGenerator {
    pub(super) geometry: Geometry,
    pub(super) options: LeasedOptions,
    pub(super) lease: Lease,
    /// On the state of the held lease; on one that allows nothing if none is held.
    pub(super) generator: Generator,
    /// The tick after the last one that was used under the lease before.
    pub(super) next_tick: u64,
    pub(super) anchor: Option<Anchor>,
    pub(super) skew_ms: i64,
    /// What the clocks showed when a suspension was last counted.
    pub(super) counted_at: Option<Readings>,
    /// All suspensions that were counted.
    pub(super) suspended_ms: u64,
    /// What the clocks showed at the last call that read them, and the time that the schedule went by then.
    pub(super) seen: Option<(u64, Readings)>,
    /// What they showed when the store was asked last.
    pub(super) asked: Option<Readings>,
    /// How many requests were made.
    pub(super) requests: u64,
    /// Up to which one they belong to attempts whose outcome counts already, or that were over when another one began.
    pub(super) settled: u64,
    pub(super) closed: bool,
}

/// The window of a generator without a lease: no time lies in it.
const NO_WINDOW: Window = Window { from_ms: u64::MAX, until_ms: 0 };

impl LeasedGenerator {
    /// A generator without a lease: [`LeasedGenerator::ask`] says what to request.
    ///
    /// # Errors
    /// `INVALID_OPTION` for a `max_lead_ms` over 1000.
    ///
    /// ```
    /// use frazil::{Code, Layout};
    /// use frazil::lease::{LeasedGenerator, LeasedOptions, LeaseTerms};
    /// let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// let options = LeasedOptions { max_lead_ms: Some(1001), ..options };
    /// let error = LeasedGenerator::new(&Layout::named("default")?, options).unwrap_err();
    /// assert_eq!(error.code(), Code::InvalidOption);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn new(layout: &Layout, options: LeasedOptions) -> Result<Self> {
        Self::from_geometry(layout.geometry, options)
    }

    pub(crate) fn from_geometry(geometry: Geometry, options: LeasedOptions) -> Result<Self> {
        let machine = Machine::from_geometry_with_max_lead(geometry, 0, options.max_lead_ms)?;
        let generator = Generator::within(machine, options.sequence_start, NO_WINDOW, 0);
        let lease = Lease::new(options.terms);
        Ok(Self {
            geometry,
            options,
            lease,
            generator,
            next_tick: 0,
            anchor: None,
            skew_ms: 0,
            counted_at: None,
            suspended_ms: 0,
            seen: None,
            asked: None,
            requests: 0,
            settled: 0,
            closed: false,
        })
    }

    /// The time that the schedule of the lease goes by, to be passed wherever monotonic time is: monotonic time, and if only calls
    /// renew the lease, also the time in which the machine was suspended.
    ///
    /// Monotonic time stands still during a suspension on many systems, so a lease whose window ended long ago would be due much
    /// later. Where the wall clock has moved on by more than a second more than monotonic time did, the difference counts, and at
    /// least [`MAX_BACKOFF_MS`]: no pause that had begun goes on after a suspension. A wall clock that is set forward looks the same, and
    /// brings one attempt forward.
    ///
    /// The schedule takes note of the time ([`Lease::see`]), and [`LeaseStatus::skew_ms`] of a wall clock that went back.
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil::lease::{LeasedGenerator, LeasedOptions, LeaseTerms, Readings};
    /// let options = LeasedOptions { by_calls: true, ..LeasedOptions::new(LeaseTerms::usual(30_000, true, 1)?) };
    /// let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// assert_eq!(ids.lease_ms(Readings { wall_ms: 1_720_000_000_000, monotonic_ms: 5 }), 5);
    /// // The machine was suspended for a minute.
    /// assert_eq!(ids.lease_ms(Readings { wall_ms: 1_720_000_060_000, monotonic_ms: 5 }), 60_005);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[inline(never)] // for the size of the WebAssembly module
    pub fn lease_ms(&mut self, now: Readings) -> u64 {
        let uncounted_ms = self.uncounted_ms(now);
        if uncounted_ms > 0 || self.counted_at.is_none_or(|at| drift_ms(at, now) < 0) {
            self.counted_at = Some(now);
        }
        self.suspended_ms = self.suspended_ms.saturating_add(uncounted_ms);
        let lease_ms = now.monotonic_ms.saturating_add(self.suspended_ms);
        let is_lost = self.lacks_time(now);
        if let Some(anchor) = &mut self.anchor {
            anchor.is_lost = is_lost;
            self.skew_ms = self.skew_ms.min(difference_ms(now.wall_ms, anchor.store_ms));
        }
        self.lease.go_back(self.stepped_back_ms(now));
        self.lease.see(lease_ms);
        self.seen = Some((lease_ms, now));
        lease_ms
    }

    /// The wall clock has shown this since the last look, and monotonic time moved on with it, as on Cloudflare Workers, where it is
    /// the wall clock. To be told before the look at `now`: if the clock went back by more than a second since, the look alone would
    /// not find that.
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil::lease::{LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Readings};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// let at = |wall_ms: u64| Readings { wall_ms, monotonic_ms: wall_ms };
    /// let asked_ms = ids.lease_ms(at(50_000));
    /// ids.ask(asked_ms, LeaseRandom { grant: 1, nonce: 2 });
    /// ids.has_shown(52_000, at(50_500));
    /// let now_ms = ids.lease_ms(at(50_500));
    /// assert_eq!(ids.retry_after_ms(now_ms), 1000); // two of the three seconds of the attempt are over
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn has_shown(&mut self, wall_ms: u64, now: Readings) {
        let back_ms = wall_ms.saturating_sub(now.wall_ms);
        if back_ms > MAX_DRIFT_MS {
            self.lease_ms(Readings { wall_ms, monotonic_ms: now.monotonic_ms.saturating_add(back_ms) });
        }
    }

    /// For how long IDs can be minted before the store is to be asked or the window is over; 0 if none can be now. `monotonic_ms` is
    /// what [`LeasedGenerator::lease_ms`] was.
    ///
    /// ```
    /// # use frazil::{Layout, Registry};
    /// # use frazil::lease::{Granted, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Readings, Request};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// let now = Readings { wall_ms: 1_720_000_000_000, monotonic_ms: 0 };
    /// assert_eq!(ids.usable_ms(now, 0), 0);
    /// # let Request::Acquire { grant, .. } = ids.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// let answer = Granted { grant, node: 7, from_ms: 1_720_000_000_000, until_ms: 1_720_000_030_000, store_now_ms: 1_720_000_000_000 };
    /// ids.take(&answer, now, &mut Registry::new())?;
    /// assert_eq!(ids.usable_ms(now, 0), 10_000); // a third of the window
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn usable_ms(&self, now: Readings, monotonic_ms: u64) -> u64 {
        let now_ms = self.now_ms(now);
        match self.lease.held() {
            Some(Held { window, .. }) if window.from_ms <= now_ms && !self.lacks_time(now) => {
                window.until_ms.saturating_sub(now_ms).min(self.retry_after_ms(monotonic_ms))
            }
            _ => 0,
        }
    }

    /// The same as [`LeasedGenerator::lease_ms`], where nothing can be changed.
    pub(crate) fn peek_lease_ms(&self, now: Readings) -> u64 {
        now.monotonic_ms.saturating_add(self.suspended_ms).saturating_add(self.uncounted_ms(now))
    }

    /// What counts as a suspension since the last one.
    fn uncounted_ms(&self, now: Readings) -> u64 {
        let drift_ms = self.counted_at.map_or(0, |at| drift_ms(at, now));
        match u64::try_from(drift_ms) {
            Ok(drift_ms) if self.options.by_calls && drift_ms > MAX_DRIFT_MS => drift_ms.max(MAX_BACKOFF_MS),
            _ => 0,
        }
    }

    /// How long until the store may have answered: [`Lease::retry_after_ms`].
    #[must_use]
    pub fn retry_after_ms(&self, monotonic_ms: u64) -> u64 {
        self.lease.retry_after_ms(monotonic_ms)
    }

    /// Ends everything: closes the state first, and then returns what to tell the store, if a lease was held.
    pub fn close(&mut self) -> Option<Release> {
        self.closed = true;
        let used_until_ms = self.generator.close_state();
        let held_until_ms = self.lease.held().map_or(0, |held| held.window.until_ms);
        // A state whose time field is used up was used to the end of its window. One that issued nothing may continue at a later
        // tick than its window has.
        self.lease.close(used_until_ms.unwrap_or(held_until_ms).min(held_until_ms))
    }

    /// The time for IDs: the wall clock, or the estimate of the store's clock.
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil::lease::{LeasedGenerator, LeasedOptions, LeaseTerms, Readings};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// let ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// assert_eq!(ids.now_ms(Readings { wall_ms: 1_720_000_000_000, monotonic_ms: 5 }), 1_720_000_000_000);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn now_ms(&self, now: Readings) -> u64 {
        match (self.options.id_time, &self.anchor) {
            (IdTime::Store, Some(anchor)) => anchor.estimate_ms(now.monotonic_ms),
            _ => now.wall_ms,
        }
    }

    /// Reserves IDs as [`Generator::reserve`], at `now_ms`, which is [`LeasedGenerator::now_ms`].
    ///
    /// # Errors
    /// Those of [`Generator::reserve`]; `LEASE_EXPIRED` if the window is over, or with store time if wall and monotonic time have
    /// drifted apart by more than a second, or monotonic time went back by more; `LEASE_LOST` if no lease is held; `CLOSED`.
    ///
    /// ```
    /// # use frazil::{Code, Layout};
    /// # use frazil::lease::{LeasedGenerator, LeasedOptions, LeaseTerms, Readings};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// let ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// let now = Readings { wall_ms: 1_720_000_000_000, monotonic_ms: 5 };
    /// assert_eq!(ids.reserve(now.wall_ms, now, 1, true).unwrap_err().code(), Code::LeaseLost);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn reserve(&self, now_ms: u64, now: Readings, want: usize, confirmed: bool) -> Result<Reservation> {
        self.check_held(now)?;
        self.generator.reserve(now_ms, want, confirmed).map_err(|error| self.refusal(error, now))
    }

    /// Refuses where nothing may be minted whatever the generator says.
    pub(crate) fn check_held(&self, now: Readings) -> Result<()> {
        if self.closed {
            return Err(Error::new(Code::Closed));
        }
        if self.lease.held().is_none() {
            return Err(Error::retry_after(Code::LeaseLost, self.lease.retry_after_ms(self.peek_lease_ms(now))));
        }
        if self.lacks_time(now) { Err(self.expired(now)) } else { Ok(()) }
    }

    /// Whether the time of the store is not known any more.
    #[inline(never)] // for the size of the WebAssembly module
    pub(crate) fn lacks_time(&self, now: Readings) -> bool {
        self.options.id_time == IdTime::Store
            && self.anchor.is_some_and(|Anchor { at, is_lost, .. }| {
                is_lost || drift_ms(at, now).unsigned_abs() > MAX_DRIFT_MS || self.stepped_back_ms(now) > 0
            })
    }

    /// By how much monotonic time went back since the last look, which it does on Cloudflare Workers, where it is the wall clock. 0 up to a
    /// second: concurrent requests have their own clocks.
    #[inline(never)] // for the size of the WebAssembly module
    fn stepped_back_ms(&self, now: Readings) -> u64 {
        let back_ms = self.seen.map_or(0, |(_, seen)| seen.monotonic_ms.saturating_sub(now.monotonic_ms));
        if back_ms > MAX_DRIFT_MS { back_ms } else { 0 }
    }

    /// The refusal of the generator, with the time at which the store may have extended the window.
    pub(crate) fn refusal(&self, error: Error, now: Readings) -> Error {
        if error.code() == Code::LeaseExpired { self.expired(now) } else { error }
    }

    /// The time assumes that the caller then calls [`LeasedGenerator::hurry`].
    fn expired(&self, now: Readings) -> Error {
        Error::retry_after(Code::LeaseExpired, self.lease.retry_after_hurry_ms(self.peek_lease_ms(now)))
    }

    /// The condition at a time: [`Generator::health`], and whether a lease is missing.
    ///
    /// ```
    /// # use frazil::{Code, Layout};
    /// # use frazil::lease::{LeasedGenerator, LeasedOptions, LeaseTerms, Readings};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// let ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// let now = Readings { wall_ms: 1_720_000_000_000, monotonic_ms: 5 };
    /// assert_eq!(ids.health(now.wall_ms, now).refusal.map(|error| error.code()), Some(Code::LeaseLost));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn health(&self, now_ms: u64, now: Readings) -> Health {
        self.leased_health(self.generator.health(now_ms), now)
    }

    /// The condition of the generator, with what the lease adds to it.
    pub(crate) fn leased_health(&self, health: Health, now: Readings) -> Health {
        let refusal = self.check_held(now).err().or(health.refusal.map(|error| self.refusal(error, now)));
        Health { refusal, ..health }
    }

    /// What was counted over all leases.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.generator.stats()
    }

    /// The condition of the lease.
    #[must_use]
    pub fn status(&self) -> LeaseStatus {
        let Self { lease, skew_ms, .. } = self;
        LeaseStatus { held: lease.held(), failures: lease.failures(), skew_ms: *skew_ms }
    }

    /// Gives the state of the held lease a key, if it needs one and has none. Each state has its own key.
    pub fn offer_key(&self, key: Key) {
        self.generator.offer_key(key);
    }

    /// The generator of the held lease.
    #[cfg(feature = "abi")]
    pub(crate) const fn generator(&self) -> &Generator {
        &self.generator
    }

    /// The line of the state, and the address of the state: without a lease the state is closed, or its window is empty. None with the
    /// time of the store, which can be lost without a call.
    #[cfg(feature = "abi")]
    pub(crate) fn line(&self) -> Option<(Line, usize)> {
        if self.options.id_time == IdTime::Wall { self.generator.line() } else { None }
    }

    /// The estimate of the store's clock at monotonic time 0, which may be before 1970.
    #[cfg(feature = "abi")]
    pub(crate) fn store_offset_ms(&self) -> i64 {
        self.anchor.map_or(0, |anchor| difference_ms(anchor.store_ms, anchor.at.monotonic_ms))
    }

    pub(super) fn close_state(&mut self) {
        self.next_tick = self.generator.next_tick();
        // From when the node id is free does not matter: another holder has it, or will get it after the window.
        let _: Option<u64> = self.generator.close_state();
    }
}
