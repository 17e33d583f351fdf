//! A generator whose node id and window come from a lease.
//!
//! [`LeasedGenerator`] joins a [`Lease`] (what to ask the store, and what answers mean) with a [`Generator`] (what may be minted).
//! The caller, which has I/O, calls [`LeasedGenerator::ask`], carries the request to the store, and hands the answer to
//! [`LeasedGenerator::take`] or [`LeasedGenerator::refuse`].
//!
//! * **A fresh state for each lease**, never shared, so what was minted under another lease cannot make it repeat an ID.
//! * **In order across leases**: it continues at the tick after the last one of the lease before, so that the IDs of one object
//!   increase although the node id may be smaller, the clock was set back, or time was borrowed from the future. (Not in a layout
//!   with the node id above the time, and not if the clock is followed back to another clock id.)
//! * **The window bounds the times in the IDs at both ends**, so the clock of this machine decides only whether an ID can be
//!   minted, never whether it is unique.
//! * **Closed before released**: the word of the state is swapped for the mark of a closed one, and only then is there a
//!   [`Release`] to send.
//! * **Minting never waits and asks nothing**: without a lease the answer is `LEASE_LOST`, after the window `LEASE_EXPIRED`, each
//!   with the time until the store may have answered.
//! * Not covered: timers, requests and retries on the wire. `npm/frazil/src/lease/index.ts` has those for JavaScript.

use super::machine::Lease;
use super::messages::{Change, Grant, Granted, Held, LeaseRandom, Refusal, Release, Request};
use super::terms::LeaseTerms;
use crate::asking::MAX_BACKOFF_MS;
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::layout::{Geometry, Layout};
use crate::mint::{Generator, Health, Key, Machine, Registry, Reservation, SequenceStart, Stats, Window};

/// How far the wall clock and monotonic time may drift apart before store time asks the store again, and before a lease that only
/// calls renew takes it for a suspension, in milliseconds. A suspended machine shows up like that, since monotonic time stands
/// still meanwhile. The clocks of requests that run at the same time differ by less.
///
/// ```
/// assert_eq!(frazil::MAX_DRIFT_MS, 1000);
/// ```
pub const MAX_DRIFT_MS: u64 = 1000;

/// Where the time in leased IDs comes from.
///
/// ```
/// assert_eq!(frazil::IdTime::default(), frazil::IdTime::Wall);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IdTime {
    /// From the clock of this machine.
    #[default]
    Wall,
    /// From the store's clock at the last answer, and the monotonic time since. A wall clock that is set does not matter.
    Store,
}

/// The readings of two clocks, taken together.
///
/// ```
/// let now = frazil::Readings { wall_ms: 1_704_067_200_000, monotonic_ms: 5 };
/// assert_eq!(now.monotonic_ms, 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Readings {
    /// Unix milliseconds, from a clock that may be set.
    pub wall_ms: u64,
    /// Milliseconds since any fixed moment, from a clock that is never set.
    pub monotonic_ms: u64,
}

/// A request to the store, as its answer refers to it.
///
/// ```
/// let asked = frazil::Asked { number: 1, at: frazil::Readings { wall_ms: 1_704_067_200_000, monotonic_ms: 5 } };
/// assert_eq!(asked.number, 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// What [`LeasedGenerator::requests`] was after the request. Clocks cannot tell two requests apart: they stand still within an
    /// event of Cloudflare Workers.
    pub number: u64,
    /// What the clocks showed.
    pub at: Readings,
}

/// The options of a leased generator.
///
/// ```
/// use frazil::{LeasedOptions, LeaseTerms};
/// let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
/// assert!(options.max_lead_ms.is_none() && options.default_scope);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LeasedOptions {
    /// The lengths of the lease.
    pub terms: LeaseTerms,
    /// How many milliseconds the generator may run ahead of the clock, 0 to 1000. Default: 1000. It never leaves the window.
    pub max_lead_ms: Option<u64>,
    /// Where the sequence starts in a new tick.
    pub sequence_start: SequenceStart,
    /// Where the time comes from.
    pub id_time: IdTime,
    /// Whether only calls renew the lease, so that the process may be suspended between any two calls
    /// ([`LeasedGenerator::lease_ms`]).
    pub by_calls: bool,
    /// Whether the scope is the default one, whose IDs share a space with those of static and local generators of the process. A
    /// node id that such a generator has is then declined.
    pub default_scope: bool,
}

impl LeasedOptions {
    /// The default options.
    ///
    /// ```
    /// # use frazil::{IdTime, LeasedOptions, LeaseTerms};
    /// assert_eq!(LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?).id_time, IdTime::Wall);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn new(terms: LeaseTerms) -> Self {
        Self {
            terms,
            max_lead_ms: None,
            sequence_start: SequenceStart::Zero,
            id_time: IdTime::Wall,
            by_calls: false,
            default_scope: true,
        }
    }
}

/// What an answer of the store led to.
///
/// ```
/// assert_eq!(frazil::Taken::Changed(frazil::Change::None), frazil::Taken::Changed(frazil::Change::None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Taken {
    /// The lease changed like that.
    Changed(Change),
    /// The node id is in use in this process otherwise, so the lease was given up ([`Lease::decline`]): send this to the store.
    Declined(Release),
}

/// The condition of a lease at a time.
///
/// ```
/// # use frazil::{Layout, LeasedGenerator, LeasedOptions, LeaseTerms};
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

impl Readings {
    /// What the clocks show at a monotonic time if nobody sets the wall clock or suspends the machine until then.
    const fn moved_to(self, monotonic_ms: u64) -> Self {
        let passed_ms = monotonic_ms.saturating_sub(self.monotonic_ms);
        Self { wall_ms: self.wall_ms.saturating_add(passed_ms), monotonic_ms }
    }
}

/// A difference of two times.
#[inline(never)] // for the size of the WebAssembly module
fn difference_ms(minuend_ms: u64, subtrahend_ms: u64) -> i64 {
    let size_ms = i64::try_from(minuend_ms.abs_diff(subtrahend_ms)).unwrap_or(i64::MAX);
    if minuend_ms < subtrahend_ms { -size_ms } else { size_ms }
}

/// How much further the wall clock moved on than monotonic time did.
#[inline(never)] // for the size of the WebAssembly module
fn drift_ms(from: Readings, to: Readings) -> i64 {
    difference_ms(to.wall_ms, from.wall_ms).saturating_sub(difference_ms(to.monotonic_ms, from.monotonic_ms))
}

/// The last answer of the store, and when it came.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    /// The number of the request that was answered.
    number: u64,
    /// The store's clock in the answer; or the estimate from earlier answers if that is larger, but no more than the store's clock
    /// can show by now.
    store_ms: u64,
    /// What the clocks show then, from what they showed when the store was asked: so a suspension since counts as drift.
    at: Readings,
    /// Whether a look since then found clocks by which the time of the store is not known. The next answer tells it again.
    is_lost: bool,
}

impl Anchor {
    const fn estimate_ms(&self, monotonic_ms: u64) -> u64 {
        self.store_ms.saturating_add(monotonic_ms.saturating_sub(self.at.monotonic_ms))
    }
}

/// Mints IDs under a lease.
///
/// This type is:
///
/// * **Non-blocking**: it never waits, and never calls the store; a refusal says how long to wait.
/// * **One object for many leases**: when a lease is lost, the next one that begins may have another node id.
///
/// ```
/// use frazil::{Granted, Layout, LeaseRandom, LeaseTerms, LeasedGenerator, LeasedOptions, Readings, Registry, Request, Reservation};
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
    geometry: Geometry,
    options: LeasedOptions,
    lease: Lease,
    /// On the state of the held lease; on one that allows nothing if none is held.
    generator: Generator,
    /// The tick after the last one that was used under the lease before.
    next_tick: u64,
    anchor: Option<Anchor>,
    skew_ms: i64,
    /// What the clocks showed when a suspension was last counted.
    counted_at: Option<Readings>,
    /// All suspensions that were counted.
    suspended_ms: u64,
    /// What the clocks showed at the last call that read them, and the time that the schedule went by then.
    seen: Option<(u64, Readings)>,
    /// What they showed when the store was asked last.
    asked: Option<Readings>,
    /// How many requests were made.
    requests: u64,
    /// Up to which one they belong to attempts whose outcome counts already, or that were over when another one began.
    settled: u64,
    closed: bool,
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
    /// use frazil::{Code, Layout, LeasedGenerator, LeasedOptions, LeaseTerms};
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
    /// # use frazil::{Layout, LeasedGenerator, LeasedOptions, LeaseTerms, Readings};
    /// let options = LeasedOptions { by_calls: true, ..LeasedOptions::new(LeaseTerms::usual(30_000, true, 1)?) };
    /// let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// assert_eq!(ids.lease_ms(Readings { wall_ms: 1_720_000_000_000, monotonic_ms: 5 }), 5);
    /// // The machine was suspended for a minute.
    /// assert_eq!(ids.lease_ms(Readings { wall_ms: 1_720_000_060_000, monotonic_ms: 5 }), 60_005);
    /// # Ok::<(), frazil::Error>(())
    /// ```
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

    /// The same, where nothing can be changed.
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

    /// What to request of the store now: [`Lease::ask`].
    ///
    /// ```
    /// # use frazil::{Layout, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Request};
    /// let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// assert!(matches!(ids.ask(0, LeaseRandom { grant: 1, nonce: 2 }), Request::Acquire { .. }));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn ask(&mut self, monotonic_ms: u64, random: LeaseRandom) -> Request {
        let is_under_way = self.lease.is_under_way();
        let request = self.lease.ask(monotonic_ms, random);
        if !matches!(request, Request::Wait { .. } | Request::Nothing) {
            if !is_under_way {
                self.settled = self.requests;
            }
            self.requests += 1;
            self.asked = self.seen.filter(|(seen_ms, _)| *seen_ms == monotonic_ms).map(|(_, readings)| readings);
        }
        request
    }

    /// How many requests were made, which is the number of the last one. A caller that has several under way at once, or uses
    /// answers to those that it gave up, hands each outcome over with the number of its request:
    /// [`LeasedGenerator::answered`], [`LeasedGenerator::refused`], [`LeasedGenerator::fence_answered`], [`LeasedGenerator::failed`].
    ///
    /// ```
    /// # use frazil::{Layout, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// ids.ask(0, LeaseRandom { grant: 1, nonce: 2 });
    /// ids.ask(0, LeaseRandom { grant: 3, nonce: 4 }); // the same attempt, for another caller
    /// assert_eq!(ids.requests(), 2);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    /// Takes the answer to a request: as [`LeasedGenerator::take`] if it is the last one and its attempt is not over, else as
    /// [`LeasedGenerator::take_late`]. If an answer to any request of the attempt under way says that the window stands as it was, or
    /// is shorter, the attempt is over, and the next one waits.
    ///
    /// # Errors
    /// Those of [`LeasedGenerator::take`].
    ///
    /// ```
    /// use frazil::{Asked, Change, Granted, Layout, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Readings, Registry,
    /// Request, Taken};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// let now = Readings { wall_ms: 1_720_000_000_000, monotonic_ms: 0 };
    /// # let Request::Acquire { grant, .. } = ids.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// let asked = Asked { number: ids.requests(), at: now };
    /// let answer = Granted { grant, node: 7, from_ms: 0, until_ms: 1_720_000_030_000, store_now_ms: 1_720_000_000_000 };
    /// assert_eq!(ids.answered(&answer, asked, now, &mut Registry::new())?, Taken::Changed(Change::Begun));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn answered(&mut self, answer: &Granted, asked: Asked, now: Readings, registry: &mut Registry) -> Result<Taken> {
        if asked.number <= self.settled {
            return self.take_late(answer, asked, now, registry);
        }
        let is_last = asked.number == self.requests;
        let taken = self.take_from(answer, (!is_last).then_some(asked), now, registry)?;
        // Settled also if this is not the last request: otherwise `Lease::take` would take the answer to the last one for a repetition, and
        // forget the nonce with which the store may still carry out an earlier request.
        if is_last || self.lease.end_unextended(answer) {
            self.settled = self.requests;
        }
        Ok(taken)
    }

    /// Takes the refusal of a request as [`LeasedGenerator::refuse`]. `None`: the outcome of its attempt counts already, so this
    /// changes nothing. The next attempt gets the same refusal if it still holds.
    ///
    /// ```
    /// # use frazil::{Change, Layout, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Refusal, Request};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// # let Request::Acquire { grant, .. } = ids.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// let first = ids.requests();
    /// ids.ask(0, LeaseRandom { grant: 3, nonce: 4 });
    /// let refusal = Refusal::Exhausted { retry_after_ms: 900 };
    /// assert_eq!(ids.refused(first, grant, refusal, 5, 0), Some(Change::None));
    /// assert_eq!(ids.refused(first + 1, grant, refusal, 6, 0), None);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn refused(&mut self, number: u64, grant: Grant, refusal: Refusal, monotonic_ms: u64, jitter: u64) -> Option<Change> {
        if number <= self.settled {
            return None;
        }
        self.settled = self.requests;
        Some(self.refuse(grant, refusal, monotonic_ms, jitter))
    }

    /// The store was fenced at a request: [`LeasedGenerator::fenced`], unless the outcome of its attempt counts already.
    ///
    /// ```
    /// # use frazil::{Layout, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Refusal, Request};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// let Request::Acquire { grant, .. } = ids.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// ids.refused(ids.requests(), grant, Refusal::Incarnation, 5, 0);
    /// assert_eq!(ids.ask(5, LeaseRandom { grant: 3, nonce: 4 }), Request::Fence { behind: false });
    /// ids.fence_answered(ids.requests(), 9);
    /// assert!(matches!(ids.ask(9, LeaseRandom { grant: 5, nonce: 6 }), Request::Acquire { .. }));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn fence_answered(&mut self, number: u64, monotonic_ms: u64) {
        if number > self.settled {
            self.settled = self.requests;
            self.fenced(monotonic_ms);
        }
    }

    /// A request failed, or its outcome is unknown: [`LeasedGenerator::fail`]. Returns whether that counts: it does once for all
    /// requests that were under way together. If one of them was answered, only the failure of the last one does, whose nonce may
    /// still be in use. `None` is the failure of what is no request, such as drawing random numbers for one.
    ///
    /// ```
    /// # use frazil::{Layout, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// ids.ask(0, LeaseRandom { grant: 1, nonce: 2 });
    /// ids.ask(0, LeaseRandom { grant: 3, nonce: 4 });
    /// assert!(ids.failed(Some(1), 3000, 0));
    /// assert!(!ids.failed(Some(2), 3000, 0));
    /// assert_eq!(ids.status().failures, 1);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn failed(&mut self, number: Option<u64>, monotonic_ms: u64, jitter: u64) -> bool {
        let may_count = self.lease.is_under_way() || number == Some(self.requests);
        if number.is_some_and(|number| number <= self.settled || !may_count) {
            return false;
        }
        self.settled = self.requests;
        self.fail(monotonic_ms, jitter);
        true
    }

    /// Takes the answer of the store to the last request: [`Lease::take`]. A lease that begins gets a fresh state; one that ended
    /// has its state closed.
    ///
    /// If an earlier request may still be answered (it was given up, or several are under way at once), pass its answer to
    /// [`LeasedGenerator::take_late`]. Here it could cost the lease, as [`Lease::take`] says; and the time of the store would
    /// count from the last request, so a suspension before that would stay hidden from store time.
    ///
    /// # Errors
    /// `STORE_REFUSED` if the answer cannot be true: a node id that the layout does not have, or a window that ends before it
    /// begins. The lease does not change.
    ///
    /// ```
    /// use frazil::{Change, Code, Granted, Layout, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Readings, Registry,
    /// Request, Taken};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// let mut ids = LeasedGenerator::new(&Layout::named("safe53")?, options)?; // node ids 0 to 7
    /// # let now = Readings { wall_ms: 1_720_000_000_000, monotonic_ms: 0 };
    /// # let Request::Acquire { grant, .. } = ids.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// let answer = Granted { grant, node: 8, from_ms: 0, until_ms: 1_720_000_030_000, store_now_ms: 1_720_000_000_000 };
    /// let mut registry = Registry::new();
    /// assert_eq!(ids.take(&answer, now, &mut registry).unwrap_err().code(), Code::StoreRefused);
    /// assert_eq!(ids.take(&Granted { node: 7, ..answer }, now, &mut registry)?, Taken::Changed(Change::Begun));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn take(&mut self, answer: &Granted, now: Readings, registry: &mut Registry) -> Result<Taken> {
        self.take_from(answer, None, now, registry)
    }

    /// Takes the answer to an attempt that was given up, or to a request after which another one was made: [`Lease::take_late`].
    ///
    /// # Errors
    /// Those of [`LeasedGenerator::take`].
    ///
    /// ```
    /// use frazil::{Asked, Change, Granted, Layout, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Readings, Registry,
    /// Request, Taken};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// # let Request::Acquire { grant, .. } = ids.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// let asked = Asked { number: ids.requests(), at: Readings { wall_ms: 1_720_000_000_000, monotonic_ms: 0 } };
    /// ids.fail(3000, 0);
    /// let answer = Granted { grant, node: 7, from_ms: 0, until_ms: 1_720_000_030_000, store_now_ms: 1_720_000_000_000 };
    /// let now = Readings { wall_ms: 1_720_000_004_000, monotonic_ms: 4000 };
    /// assert_eq!(ids.take_late(&answer, asked, now, &mut Registry::new())?, Taken::Changed(Change::Begun));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn take_late(&mut self, answer: &Granted, asked: Asked, now: Readings, registry: &mut Registry) -> Result<Taken> {
        self.take_from(answer, Some(asked), now, registry)
    }

    /// `late`: what was asked, if that attempt was given up or another request was made since.
    fn take_from(&mut self, answer: &Granted, late: Option<Asked>, now: Readings, registry: &mut Registry) -> Result<Taken> {
        let node = self.geometry.check_leased_node(answer.node)?;
        if answer.from_ms >= answer.until_ms {
            return Err(Error::bad_input(Code::StoreRefused, Subject::Lease, Rule::LeaseTimes));
        }
        let window = Window { from_ms: answer.from_ms, until_ms: answer.until_ms };
        let asked_at_ms = self.lease.began_ms();
        let lease_ms = self.lease_ms(now);
        let change = match late {
            None => self.lease.take(answer, lease_ms),
            Some(asked) => self.lease.take_late(answer, self.requests == asked.number, lease_ms),
        };
        match change {
            Change::None => {}
            Change::Ended => self.close_state(),
            Change::Extended => self.generator.extend(answer.until_ms),
            Change::Begun => {
                let machine = Machine::from_geometry(self.geometry, node, self.generator.max_lead_ms());
                if self.options.default_scope && registry.claim_leased(&machine).is_err() {
                    return Ok(Taken::Declined(self.lease.decline(answer, lease_ms)));
                }
                self.generator.move_to(Generator::within(machine, self.options.sequence_start, window, self.next_tick));
            }
        }
        let number = late.map_or(self.requests, |asked| asked.number);
        let late = late.map(|asked| asked.at);
        // An answer that extends nothing tells the time too, unless it came twice, or after that to a later request: the store's clock
        // went back.
        let is_same = change == Change::None && self.lease.held() == Some(Held { node: answer.node, window });
        let tells = is_same && self.anchor.is_some_and(|anchor| number > anchor.number);
        if tells || matches!(change, Change::Begun | Change::Extended) {
            let at = late.or(self.asked).map_or(now, |asked| asked.moved_to(now.monotonic_ms));
            let known_ms = self.anchor.map_or(0, |anchor| anchor.estimate_ms(now.monotonic_ms));
            // The store read its clock after it was asked, and maybe long before the answer was read. If the estimate is beyond
            // that, the store's clock went back.
            let away_ms = match late {
                None => lease_ms.saturating_sub(asked_at_ms),
                Some(asked) => now.monotonic_ms.saturating_sub(asked.monotonic_ms),
            };
            let latest_ms = answer.store_now_ms.saturating_add(away_ms);
            let store_ms = answer.store_now_ms.max(known_ms.min(latest_ms));
            self.anchor = Some(Anchor { number, store_ms, at, is_lost: false });
            self.skew_ms = difference_ms(at.wall_ms, store_ms);
        }
        Ok(Taken::Changed(change))
    }

    /// Takes a refusal of the store: [`Lease::refuse`].
    ///
    /// ```
    /// # use frazil::{Change, Layout, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Refusal, Request};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// # let Request::Acquire { grant, .. } = ids.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// assert_eq!(ids.refuse(grant, Refusal::Exhausted { retry_after_ms: 900 }, 0, 0), Change::None);
    /// assert_eq!(ids.retry_after_ms(0), 450);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn refuse(&mut self, grant: Grant, refusal: Refusal, monotonic_ms: u64, jitter: u64) -> Change {
        let change = self.lease.refuse(grant, refusal, monotonic_ms, jitter);
        if change == Change::Ended {
            self.close_state();
        }
        change
    }

    /// The store was fenced: [`Lease::fenced`].
    ///
    /// ```
    /// # use frazil::{Layout, LeasedGenerator, LeasedOptions, LeaseTerms};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// ids.fenced(0);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn fenced(&mut self, monotonic_ms: u64) {
        self.lease.fenced(monotonic_ms);
    }

    /// The attempt failed, or its outcome is unknown: [`Lease::fail`].
    ///
    /// ```
    /// # use frazil::{Layout, LeasedGenerator, LeasedOptions, LeaseTerms};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// ids.fail(0, 0);
    /// assert_eq!(ids.status().failures, 1);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn fail(&mut self, monotonic_ms: u64, jitter: u64) {
        self.lease.fail(monotonic_ms, jitter);
    }

    /// A call was refused with `LEASE_EXPIRED`: the next attempt may be brought forward ([`Lease::hurry`]).
    ///
    /// ```
    /// # use frazil::{Layout, LeasedGenerator, LeasedOptions, LeaseTerms};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// ids.hurry(0);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn hurry(&mut self, monotonic_ms: u64) {
        self.lease.hurry(monotonic_ms);
    }

    /// How long until the store may have answered: [`Lease::retry_after_ms`].
    ///
    /// ```
    /// # use frazil::{Layout, LeasedGenerator, LeasedOptions, LeaseTerms};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// assert_eq!(LeasedGenerator::new(&Layout::named("default")?, options)?.retry_after_ms(0), 1);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn retry_after_ms(&self, monotonic_ms: u64) -> u64 {
        self.lease.retry_after_ms(monotonic_ms)
    }

    /// Ends everything: closes the state first, and then returns what to tell the store, if a lease was held.
    ///
    /// ```
    /// # use frazil::{Layout, LeasedGenerator, LeasedOptions, LeaseTerms};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// assert_eq!(LeasedGenerator::new(&Layout::named("default")?, options)?.close(), None);
    /// # Ok::<(), frazil::Error>(())
    /// ```
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
    /// # use frazil::{Layout, LeasedGenerator, LeasedOptions, LeaseTerms, Readings};
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
    /// # use frazil::{Code, Layout, LeasedGenerator, LeasedOptions, LeaseTerms, Readings};
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

    /// By how much monotonic time went back since the last look, which it does on Cloudflare Workers, where it is the wall clock. 0 up to
    /// a second: requests that run at the same time have clocks of their own.
    #[inline(never)] // for the size of the WebAssembly module
    fn stepped_back_ms(&self, now: Readings) -> u64 {
        let back_ms = self.seen.map_or(0, |(_, seen)| seen.monotonic_ms.saturating_sub(now.monotonic_ms));
        if back_ms > MAX_DRIFT_MS { back_ms } else { 0 }
    }

    /// The refusal of the generator, with the time at which the store may have extended the window.
    pub(crate) fn refusal(&self, error: Error, now: Readings) -> Error {
        if error.code() == Code::LeaseExpired { self.expired(now) } else { error }
    }

    /// A caller that is told this calls [`LeasedGenerator::hurry`], so the time is that after it.
    fn expired(&self, now: Readings) -> Error {
        Error::retry_after(Code::LeaseExpired, self.lease.retry_after_hurry_ms(self.peek_lease_ms(now)))
    }

    /// The condition at a time: [`Generator::health`], and whether a lease is missing.
    ///
    /// ```
    /// # use frazil::{Code, Layout, LeasedGenerator, LeasedOptions, LeaseTerms, Readings};
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
    ///
    /// ```
    /// # use frazil::{Layout, LeasedGenerator, LeasedOptions, LeaseTerms};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// assert_eq!(LeasedGenerator::new(&Layout::named("default")?, options)?.stats().issued, 0);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.generator.stats()
    }

    /// The condition of the lease.
    ///
    /// ```
    /// # use frazil::{Layout, LeasedGenerator, LeasedOptions, LeaseTerms};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// assert_eq!(LeasedGenerator::new(&Layout::named("default")?, options)?.status().failures, 0);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn status(&self) -> LeaseStatus {
        let Self { lease, skew_ms, .. } = self;
        LeaseStatus { held: lease.held(), failures: lease.failures(), skew_ms: *skew_ms }
    }

    /// Gives the state of the held lease a key, if it needs one and has none. Each state has a key of its own.
    ///
    /// ```
    /// # use frazil::{Key, Layout, LeasedGenerator, LeasedOptions, LeaseTerms};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// LeasedGenerator::new(&Layout::named("default")?, options)?.offer_key(Key::new(1, 2));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn offer_key(&self, key: Key) {
        self.generator.offer_key(key);
    }

    /// The generator of the held lease.
    #[cfg(feature = "abi")]
    pub(crate) const fn generator(&self) -> &Generator {
        &self.generator
    }

    /// The estimate of the store's clock at monotonic time 0, which may be before 1970.
    #[cfg(feature = "abi")]
    pub(crate) fn store_offset_ms(&self) -> i64 {
        self.anchor.map_or(0, |anchor| difference_ms(anchor.store_ms, anchor.at.monotonic_ms))
    }

    fn close_state(&mut self) {
        self.next_tick = self.generator.next_tick();
        // From when the node id is free does not matter: another holder has it, or will get it after the window.
        let _: Option<u64> = self.generator.close_state();
    }
}

impl Geometry {
    /// Checks a node id that a store granted.
    fn check_leased_node(&self, node: u64) -> Result<u32> {
        let max = self.max_node();
        let refused = Error::bad_number(Code::StoreRefused, Subject::Node, Rule::WholeNumber, node, (0, max));
        u32::try_from(node).ok().filter(|_| node <= max).ok_or(refused)
    }
}
