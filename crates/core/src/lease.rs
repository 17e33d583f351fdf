//! A lease: the right to mint IDs of one node id within a window of time, as a state machine without I/O.
//!
//! A store (a database) grants node ids. [`Lease`] decides what to ask it next and what an answer means; the caller, which has I/O,
//! carries the request and the answer. `docs/leases.md` is the protocol, and why no ID repeats.
//!
//! # Identity
//! A lease is named by its [`Grant`]: 128 random bits that the holder draws for each lease it asks for. Only answers with the
//! current grant count. The same grant with another node id or another start means that the store went back, and ends the lease.
//! Whenever a held lease ends, the next request has a new grant, so an answer that comes late cannot bring an ended lease back.
//! Each attempt to renew has a [`Nonce`], which its retries keep: of two copies of a holder (a restored snapshot of a virtual
//! machine) the store refuses the one that renews second.
//!
//! * **Pure**: no I/O, no clock, no entropy; equal calls on equal values give equal results.
//! * **Safe whatever arrives**: answers may be lost, late, twice, or out of order. The end of a window only grows; its start
//!   never changes.
//! * **Scheduled on monotonic time**: a clock that is set does not change when a lease is renewed. (Where only calls renew it,
//!   the caller adds suspensions: [`LeasedGenerator::lease_ms`](crate::LeasedGenerator::lease_ms).) Where there is no monotonic
//!   clock and the one that is read jumps ahead and comes back, the schedule comes back with it.
//! * **Bounded**: after a failure the next attempt waits, longer each time, with jitter, at most [`MAX_BACKOFF_MS`].
//! * Not covered: minting within the window, and closing the state before the store hears of the release
//!   ([`LeasedGenerator`](crate::LeasedGenerator)).
//!
//! Sources: Gray and Cheriton, "Leases" (1989); the timestamp oracle of TiKV's PD, and CockroachDB's persisted upper bound, which
//! bound the timestamps themselves as this does.

use crate::backoff::{FIRST_BACKOFF_MS, MAX_BACKOFF_MS, backoff_ms, with_jitter};
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::window::Window;

/// The longest that an attempt may take, in milliseconds: closing waits for one.
const MAX_TIMEOUT_MS: u64 = 10_000;

/// Timers take at most 2^31 - 1 ms.
const MAX_WINDOW_MS: u64 = (1 << 31) - 1;

/// The shortest usual window. What is shorter was meant in seconds: a lease is renewed after a third of its window, and no network is
/// that fast.
///
/// ```
/// assert_eq!(frazil::MIN_WINDOW_MS, 1000);
/// ```
pub const MIN_WINDOW_MS: u64 = 1000;

/// How many ticks a window must have at least. Rounding to whole ticks takes up to one at each end.
///
/// ```
/// assert_eq!(frazil::MIN_WINDOW_TICKS, 3);
/// ```
pub const MIN_WINDOW_TICKS: u64 = 3;

/// The identity of a lease: 128 random bits, drawn by the holder.
///
/// ```
/// assert_ne!(frazil::Grant(1), frazil::Grant(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant(pub u128);

/// The identity of an attempt: 128 random bits, the same for all its retries.
///
/// ```
/// assert_ne!(frazil::Nonce(1), frazil::Nonce(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nonce(pub u128);

/// Random bits for one call, which must come from the kernel: a copy of a process that draws from a generator of its own would
/// draw the same.
///
/// ```
/// let random = frazil::LeaseRandom { grant: 1, nonce: 2 };
/// assert_ne!(random.grant, random.nonce);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseRandom {
    /// For the grant, if one is drawn.
    pub grant: u128,
    /// For the nonce, if one is drawn, and for jitter.
    pub nonce: u128,
}

/// The lengths of a lease, in milliseconds.
///
/// ```
/// let terms = frazil::LeaseTerms::new(30_000, 10_000, 3000, 1)?;
/// assert_eq!(terms.window_ms(), 30_000);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseTerms {
    window_ms: u64,
    renew_after_ms: u64,
    timeout_ms: u64,
    has_copies: bool,
}

impl LeaseTerms {
    /// The terms of leases whose window is `window_ms` long. They are renewed `renew_after_ms` after they were asked for (a third
    /// of the window where timers run, half of it where only calls do). An attempt is given up after `timeout_ms`, by the
    /// caller ([`Lease::fail`]).
    ///
    /// # Errors
    /// `INVALID_OPTION` if the window is shorter than three ticks or longer than 2^31 - 1 ms.
    ///
    /// ```
    /// use frazil::{Code, LeaseTerms};
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

    /// The usual terms: an attempt may take a tenth of the window, at most ten seconds, and a lease is renewed after a third of it, or
    /// after half of it if only calls can renew it, since no timer runs between them.
    ///
    /// # Errors
    /// `INVALID_OPTION` if the window is shorter than a second or three ticks, or longer than 2^31 - 1 ms. A window of 30 is one in
    /// seconds: it would be renewed every 10 ms, and be over after each pause of the process.
    ///
    /// ```
    /// # use frazil::{LeaseTerms, Rule};
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

    /// The same for holders of which no copies are made, such as isolates of Cloudflare Workers: a lease keeps its nonce, so that the
    /// store takes no request of it for that of a copy, however many are under way.
    ///
    /// ```
    /// # use frazil::{Granted, Lease, LeaseRandom, LeaseTerms, Request};
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
    ///
    /// ```
    /// # use frazil::LeaseTerms;
    /// assert_eq!(LeaseTerms::usual(30_000, false, 1)?.timeout_ms(), 3000);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn timeout_ms(&self) -> u64 {
        self.timeout_ms
    }

    /// The length of the window.
    ///
    /// ```
    /// # use frazil::LeaseTerms;
    /// assert_eq!(LeaseTerms::new(30_000, 10_000, 3000, 1)?.window_ms(), 30_000);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn window_ms(&self) -> u64 {
        self.window_ms
    }
}

/// A store's answer: always the whole lease, since an earlier answer may have been lost. Times are those of the store's clock, in
/// Unix milliseconds.
///
/// ```
/// let granted = frazil::Granted { grant: frazil::Grant(1), node: 7, from_ms: 0, until_ms: 30_000, store_now_ms: 0 };
/// assert_eq!(granted.until_ms - granted.store_now_ms, 30_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Granted {
    /// The grant that the store has in the row.
    pub grant: Grant,
    /// The node id; 0 for a layout without a node field.
    pub node: u64,
    /// The start of the window.
    pub from_ms: u64,
    /// The end of the window.
    pub until_ms: u64,
    /// When the store answered.
    pub store_now_ms: u64,
}

/// Why a store granted nothing.
///
/// ```
/// assert_ne!(frazil::Refusal::Lost, frazil::Refusal::Behind);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The lease cannot be renewed: another holder has the node id, or a copy of this one renewed first, or a fence passed.
    Lost,
    /// No node id is free, and the next one is after `retry_after_ms`. Or the lease that was asked for was renewed since
    /// (`retry_after_ms` is 0), so the request came late or from a copy of the holder. Another lease is asked for.
    Exhausted {
        /// How long until a node id is free, by the store's clock.
        retry_after_ms: u64,
    },
    /// The store is another one than the scope's record says (a failover, a restore): it must be fenced first.
    Incarnation,
    /// The store has lost a write that this holder knows of: it must be fenced first.
    Behind,
    /// Nothing that asking again soon would change: another layout, a missing table.
    Rejected,
}

/// Why a store granted nothing, in its own words: `RefusalReason` of `npm/frazil/src/stores/store.ts` has their meaning.
///
/// ```
/// assert_ne!(frazil::Reason::Taken, frazil::Reason::Fenced);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The row has another grant, or was renewed by another attempt since.
    Taken,
    /// The fence has not passed, or has passed this window.
    Fenced,
    /// The store is another one than its record says.
    Incarnation,
    /// The row is older than this holder knows.
    Behind,
    /// Every node id is held.
    Exhausted,
    /// The store has no record of the scope.
    Missing,
    /// Anything else: another layout, a window that is too long.
    Other,
}

/// How long it is at most until a store without a record is asked again, in milliseconds: somebody makes the record soon after the
/// error has said how.
const RECORD_MADE_MS: u64 = 1000;

impl Refusal {
    /// What a reason means to a holder that renews its lease, or to one that asks for a node id. `retry_after_ms` is how long it is
    /// until a node id is free.
    ///
    /// ```
    /// use frazil::{Reason, Refusal};
    /// assert_eq!(Refusal::of(Reason::Fenced, true, 900), Refusal::Lost);
    /// assert_eq!(Refusal::of(Reason::Fenced, false, 900), Refusal::Exhausted { retry_after_ms: 900 });
    /// // The lease that was asked for was renewed since: the request came late, or from a copy of the holder.
    /// assert_eq!(Refusal::of(Reason::Taken, false, 900), Refusal::Exhausted { retry_after_ms: 0 });
    /// // None is free until somebody has made the record, which is a matter of seconds.
    /// assert_eq!(Refusal::of(Reason::Missing, false, 0), Refusal::Exhausted { retry_after_ms: 1000 });
    /// ```
    #[must_use]
    pub const fn of(reason: Reason, renewing: bool, retry_after_ms: u64) -> Self {
        match (reason, renewing) {
            (Reason::Taken | Reason::Fenced, true) => Self::Lost,
            (Reason::Taken, false) => Self::Exhausted { retry_after_ms: 0 },
            (Reason::Fenced | Reason::Exhausted, false) => Self::Exhausted { retry_after_ms },
            (Reason::Missing, false) => Self::Exhausted { retry_after_ms: RECORD_MADE_MS },
            (Reason::Incarnation, _) => Self::Incarnation,
            (Reason::Behind, true) => Self::Behind,
            (Reason::Behind, false) | (Reason::Exhausted | Reason::Missing, true) | (Reason::Other, _) => Self::Rejected,
        }
    }
}

/// What to do next.
///
/// ```
/// assert_eq!(frazil::Request::Wait { ms: 5 }, frazil::Request::Wait { ms: 5 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Nothing for so long.
    Wait {
        /// Milliseconds of monotonic time.
        ms: u64,
    },
    /// Ask the store for a node id.
    Acquire {
        /// The lease to ask for.
        grant: Grant,
        /// The attempt.
        nonce: Nonce,
    },
    /// Ask the store to extend the window.
    Renew {
        /// The lease.
        grant: Grant,
        /// The attempt.
        nonce: Nonce,
        /// The node id.
        node: u64,
        /// The end of the window as far as this holder knows.
        until_ms: u64,
    },
    /// Have the store compare its incarnation and raise its fence, then call [`Lease::fenced`].
    Fence {
        /// Whether the store was found to have lost a write.
        behind: bool,
    },
    /// Nothing any more: the lease is closed.
    Nothing,
}

/// What an answer changed.
///
/// ```
/// assert_ne!(frazil::Change::Begun, frazil::Change::Ended);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Nothing that minting depends on.
    None,
    /// A lease is held now: mint from a fresh state within [`Lease::held`].
    Begun,
    /// The window of the held lease ends later now.
    Extended,
    /// No lease is held any more: close the state.
    Ended,
}

/// What a holder tells the store when it stops. The state must be closed before.
///
/// ```
/// let release = frazil::Release { grant: frazil::Grant(1), node: 7, until_ms: 5, held_until_ms: 9 };
/// assert_eq!(release.node, 7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Release {
    /// The lease.
    pub grant: Grant,
    /// The node id.
    pub node: u64,
    /// From when the node id is free.
    pub until_ms: u64,
    /// The end of the window that is given up. A store that has a later one granted it to a copy of this holder, which uses it.
    pub held_until_ms: u64,
}

/// A lease that is held.
///
/// ```
/// let held = frazil::Held { node: 7, window: frazil::Window { from_ms: 0, until_ms: 5 } };
/// assert_eq!(held.node, 7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Held {
    /// The node id.
    pub node: u64,
    /// The times that may be minted.
    pub window: Window,
}

/// A holder's side of a lease.
///
/// This type is:
///
/// * **Deterministic**: what it does is a function of its value and of the call.
/// * **Comparable**: `Clone`, `Eq` and `Hash`, so that a model checker explores this type itself (`tests/lease_model.rs`).
///
/// ```
/// use frazil::{Change, Granted, Lease, LeaseRandom, LeaseTerms, Request};
/// let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
/// let Request::Acquire { grant, .. } = lease.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
/// let answer = Granted { grant, node: 7, from_ms: 1_000, until_ms: 36_000, store_now_ms: 6_000 };
/// assert_eq!(lease.take(&answer, 5), Change::Begun);
/// assert_eq!(lease.ask(5, LeaseRandom { grant: 3, nonce: 4 }), Request::Wait { ms: 9995 }); // a third of the window
/// assert!(matches!(lease.ask(10_000, LeaseRandom { grant: 5, nonce: 6 }), Request::Renew { node: 7, until_ms: 36_000, .. }));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    terms: LeaseTerms,
    /// The lease that is held or asked for. `None` until it is drawn.
    grant: Option<Grant>,
    /// The attempt whose outcome is not known. `None` until it is drawn.
    nonce: Option<Nonce>,
    held: Option<Held>,
    /// Whether the store must be fenced before anything else, and whether it was behind.
    fence: Option<bool>,
    /// Whether a fence was asked for at once since an attempt succeeded.
    has_hurried: bool,
    /// When the last attempt began, in monotonic milliseconds.
    began_ms: u64,
    /// Whether its outcome is still to come.
    outstanding: bool,
    /// When the next attempt is due.
    due_ms: u64,
    /// How many attempts failed in a row.
    failures: u32,
    /// How many leases were declined, or ended with an answer, since one was renewed.
    declined: u32,
    closed: bool,
}

impl Lease {
    /// A holder that has nothing yet. Its first attempt is due at once.
    ///
    /// ```
    /// # use frazil::{Lease, LeaseTerms};
    /// assert_eq!(Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?).held(), None);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn new(terms: LeaseTerms) -> Self {
        Self {
            terms,
            grant: None,
            nonce: None,
            held: None,
            fence: None,
            has_hurried: false,
            began_ms: 0,
            outstanding: false,
            due_ms: 0,
            failures: 0,
            declined: 0,
            closed: false,
        }
    }

    /// The lease that is held. Its window may be over.
    ///
    /// ```
    /// # use frazil::{Granted, Lease, LeaseRandom, LeaseTerms, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let Request::Acquire { grant, .. } = lease.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// lease.take(&Granted { grant, node: 7, from_ms: 0, until_ms: 30_000, store_now_ms: 0 }, 0);
    /// assert_eq!(lease.held().map(|held| held.node), Some(7));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn held(&self) -> Option<Held> {
        self.held
    }

    /// How many attempts failed in a row.
    ///
    /// ```
    /// # use frazil::{Lease, LeaseTerms};
    /// let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// lease.fail(0, 12345);
    /// assert_eq!(lease.failures(), 1);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// What to do now. A request that is not `Wait` or `Nothing` begins an attempt. A second call before its outcome is the same
    /// attempt again: whether to have more than one under way is the caller's choice. [`Lease::take_late`] is for all answers but
    /// the one to the last request.
    ///
    /// ```
    /// # use frazil::{Lease, LeaseRandom, LeaseTerms};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// let first = lease.ask(0, LeaseRandom { grant: 1, nonce: 2 });
    /// assert_eq!(lease.ask(3000, LeaseRandom { grant: 3, nonce: 4 }), first);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn ask(&mut self, monotonic_ms: u64, random: LeaseRandom) -> Request {
        if self.closed {
            return Request::Nothing;
        }
        self.see(monotonic_ms);
        if monotonic_ms < self.due_ms {
            return Request::Wait { ms: self.due_ms - monotonic_ms };
        }
        self.began_ms = monotonic_ms;
        self.outstanding = true;
        if let Some(behind) = self.fence {
            return Request::Fence { behind };
        }
        let grant = *self.grant.get_or_insert(Grant(random.grant));
        let nonce = *self.nonce.get_or_insert(Nonce(random.nonce));
        match self.held {
            None => Request::Acquire { grant, nonce },
            Some(Held { node, window }) => Request::Renew { grant, nonce, node, until_ms: window.until_ms },
        }
    }

    /// Takes the answer of the store to the last request. It may be late, or the same one twice.
    ///
    /// If an earlier request may still be answered (it was given up, or several are under way at once), pass its answer to
    /// [`Lease::take_late`]. An answer that begins or extends the lease here ends the attempt, so the next attempt has another
    /// nonce. If the store carries out a later request of this attempt after that, it finds the nonce of the next one to be that
    /// of another holder, and refuses it: the lease is lost to its own holder. No ID repeats.
    ///
    /// ```
    /// # use frazil::{Change, Grant, Granted, Lease, LeaseRandom, LeaseTerms, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let Request::Acquire { grant, .. } = lease.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// let answer = Granted { grant, node: 7, from_ms: 0, until_ms: 30_000, store_now_ms: 0 };
    /// assert_eq!(lease.take(&Granted { grant: Grant(9), ..answer }, 0), Change::None); // not ours
    /// assert_eq!(lease.take(&answer, 0), Change::Begun);
    /// assert_eq!(lease.take(&Granted { until_ms: 40_000, ..answer }, 0), Change::Extended);
    /// assert_eq!(lease.take(&Granted { from_ms: 1, ..answer }, 0), Change::Ended); // the store went back
    /// assert_eq!(lease.take(&answer, 0), Change::None); // and that lease never comes back
    /// # Ok::<(), frazil::Error>(())
    /// ```
    ///
    /// Two requests of one attempt are under way, and the first one is answered:
    ///
    /// ```
    /// # use frazil::{Change, Granted, Lease, LeaseRandom, LeaseTerms, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let Request::Acquire { grant, .. } = lease.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// # let answer = Granted { grant, node: 7, from_ms: 0, until_ms: 30_000, store_now_ms: 0 };
    /// # lease.take(&answer, 0);
    /// let first = lease.ask(10_000, LeaseRandom { grant: 3, nonce: 4 });
    /// assert_eq!(lease.ask(11_000, LeaseRandom { grant: 5, nonce: 6 }), first);
    /// let Request::Renew { nonce, .. } = first else { unreachable!() };
    ///
    /// let answer_to_first = Granted { until_ms: 40_000, store_now_ms: 10_000, ..answer };
    /// let mut wrong = lease.clone();
    /// assert_eq!(wrong.take(&answer_to_first, 12_000), Change::Extended);
    /// assert_eq!(lease.take_late(&answer_to_first, false, 12_000), Change::Extended);
    ///
    /// // The store may have carried out the second request meanwhile. Then it knows this attempt, and refuses any other.
    /// let random = LeaseRandom { grant: 7, nonce: 8 };
    /// assert!(matches!(wrong.ask(21_000, random), Request::Renew { nonce: other, .. } if other != nonce));
    /// assert!(matches!(lease.ask(21_000, random), Request::Renew { nonce: same, .. } if same == nonce));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn take(&mut self, answer: &Granted, monotonic_ms: u64) -> Change {
        if self.closed || self.grant != Some(answer.grant) {
            return Change::None;
        }
        let window = Window { from_ms: answer.from_ms, until_ms: answer.until_ms };
        let change = match &mut self.held {
            None => {
                self.held = Some(Held { node: answer.node, window });
                Change::Begun
            }
            Some(held) if (held.node, held.window.from_ms) != (answer.node, answer.from_ms) => {
                self.end(monotonic_ms);
                // A store that answers each request like that must not be asked without a pause.
                if self.declined > 0 {
                    self.pause_after_end(answer.grant, monotonic_ms);
                }
                self.declined = self.declined.saturating_add(1);
                return Change::Ended;
            }
            // The attempt that a late answer made superfluous has ended: a copy of this holder must not share its nonce for longer.
            Some(held) if answer.until_ms <= held.window.until_ms && !self.outstanding && self.failures == 0 => {
                self.forget_nonce();
                return Change::None;
            }
            // Late, and a later answer was there before it: another attempt may be under way. Or a store that breaks its contract,
            // which is not asked again at once.
            Some(held) if answer.until_ms < held.window.until_ms => {
                if self.outstanding {
                    self.fail(monotonic_ms, 0);
                    self.outstanding = true;
                }
                return Change::None;
            }
            // The store's clock went back, so it could not extend the window; or an answer came twice. The nonce stays, since in
            // the second case the store may still carry out the attempt under way.
            Some(held) if answer.until_ms == held.window.until_ms => {
                self.end_unextended(answer);
                return Change::None;
            }
            Some(held) => {
                held.window.until_ms = answer.until_ms;
                self.declined = 0;
                Change::Extended
            }
        };
        // Since the attempt began, also if it failed meanwhile: an answer that comes late says what was left when it was sent.
        self.due_ms = self.began_ms.saturating_add(self.renew_after_ms(answer));
        self.succeed();
        change
    }

    /// Takes the answer to an attempt that was given up, or to a request after which another one was made: [`Lease::take`].
    /// `is_last`: whether no request was made since. An answer that says nothing new does not count as that of the attempt under way.
    /// One that begins or extends the lease ends that attempt. The store may still carry out a request that was made since, or has done so:
    /// unless this was the last request, the next attempt keeps the nonce.
    ///
    /// ```
    /// # use frazil::{Change, Granted, Lease, LeaseRandom, LeaseTerms, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let Request::Acquire { grant, .. } = lease.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// let answer = Granted { grant, node: 7, from_ms: 0, until_ms: 30_000, store_now_ms: 0 };
    /// lease.take(&answer, 0);
    /// let Request::Renew { nonce, .. } = lease.ask(10_000, LeaseRandom { grant: 3, nonce: 4 }) else { unreachable!() };
    /// lease.fail(13_000, 0);
    /// lease.ask(14_000, LeaseRandom { grant: 5, nonce: 6 });
    /// assert_eq!(lease.take_late(&answer, false, 14_000), Change::None);
    /// assert_eq!(lease.take_late(&Granted { until_ms: 40_000, ..answer }, false, 14_000), Change::Extended);
    /// lease.fail(17_000, 0);
    /// assert!(matches!(lease.ask(27_000, LeaseRandom { grant: 7, nonce: 8 }), Request::Renew { nonce: same, .. } if same == nonce));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn take_late(&mut self, answer: &Granted, is_last: bool, monotonic_ms: u64) -> Change {
        if self.window_of(answer).is_some_and(|window| answer.until_ms <= window.until_ms) {
            return Change::None;
        }
        let of_later_ones = self.nonce.filter(|_| !is_last);
        let change = self.take(answer, monotonic_ms);
        if self.terms.has_copies && matches!(change, Change::Begun | Change::Extended) {
            self.nonce = of_later_ones;
        }
        change
    }

    /// Ends the attempt under way, if an answer to one of its requests, which need not be the last one, says that the window stands as it
    /// was: the store's clock went back. Or that it is shorter, which no store that keeps its contract says. Returns whether that is so.
    /// Call it after [`Lease::take_late`], for requests of this attempt only. Without it, callers that ask in turn would each find that
    /// another one has asked since, and ask again at once.
    ///
    /// ```
    /// # use frazil::{Change, Granted, Lease, LeaseRandom, LeaseTerms, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let Request::Acquire { grant, .. } = lease.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// let answer = Granted { grant, node: 7, from_ms: 0, until_ms: 30_000, store_now_ms: 0 };
    /// lease.take(&answer, 0);
    /// lease.ask(10_000, LeaseRandom { grant: 3, nonce: 4 });
    /// lease.ask(10_000, LeaseRandom { grant: 5, nonce: 6 }); // for another caller
    /// // The first one is answered.
    /// assert_eq!(lease.take_late(&answer, false, 10_010), Change::None);
    /// assert!(lease.is_under_way() && lease.end_unextended(&answer) && !lease.is_under_way());
    /// assert_eq!(lease.ask(10_010, LeaseRandom { grant: 7, nonce: 8 }), Request::Wait { ms: 9990 });
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn end_unextended(&mut self, answer: &Granted) -> bool {
        let stands = self.window_of(answer).is_some_and(|window| answer.until_ms <= window.until_ms);
        let is_over = self.outstanding && stands && self.grant == Some(answer.grant);
        if is_over {
            self.outstanding = false;
            self.failures = 0;
            self.due_ms = self.began_ms.saturating_add(self.renew_after_ms(answer));
        }
        is_over
    }

    /// The window that is held, if an answer is of it: of the same node id from the same time on, until whenever.
    fn window_of(&self, answer: &Granted) -> Option<Window> {
        let held = self.held.filter(|held| (held.node, held.window.from_ms) == (answer.node, answer.from_ms))?;
        Some(held.window)
    }

    /// How long after an attempt began the next one is due: the same part of what was left of the window. What is left is nearly
    /// always the whole window; it is less if this was a retry.
    fn renew_after_ms(&self, answer: &Granted) -> u64 {
        let LeaseTerms { window_ms, renew_after_ms, .. } = self.terms;
        let left_ms = answer.until_ms.saturating_sub(answer.store_now_ms).min(window_ms);
        // Both are below 2^31. No window is 0, which the compiler cannot know.
        (left_ms * renew_after_ms).checked_div(window_ms).unwrap_or(0).max(FIRST_BACKOFF_MS.min(renew_after_ms))
    }

    /// Takes a refusal of the store, which answers a request with that grant. A refusal that comes after its attempt was given up
    /// is better dropped: a later attempt may have been granted, and this ends the lease nevertheless.
    ///
    /// ```
    /// # use frazil::{Change, Grant, Granted, Lease, LeaseRandom, LeaseTerms, Refusal, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let Request::Acquire { grant, .. } = lease.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// lease.take(&Granted { grant, node: 7, from_ms: 0, until_ms: 30_000, store_now_ms: 0 }, 0);
    /// assert_eq!(lease.refuse(Grant(9), Refusal::Lost, 10_000, 0), Change::None); // not ours
    /// assert_eq!(lease.refuse(grant, Refusal::Lost, 10_000, 0), Change::Ended);
    /// assert!(matches!(lease.ask(10_000, LeaseRandom { grant: 3, nonce: 4 }), Request::Acquire { grant: Grant(3), .. }));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn refuse(&mut self, grant: Grant, refusal: Refusal, monotonic_ms: u64, jitter: u64) -> Change {
        if self.closed || self.grant != Some(grant) {
            return Change::None;
        }
        match refusal {
            Refusal::Lost if self.held.is_some() => {
                self.end(monotonic_ms);
                return Change::Ended;
            }
            Refusal::Incarnation | Refusal::Behind => {
                self.fence = Some(refusal == Refusal::Behind);
                // The nonce stays: an earlier try of the attempt may have been carried out.
                self.fail(monotonic_ms, jitter);
                // The first time at once, also after attempts that the store did not answer: it may just have come back, and the window
                // ends soon. A store that goes on like that is asked less and less often.
                if !self.has_hurried {
                    self.has_hurried = true;
                    self.due_ms = monotonic_ms;
                }
            }
            // The answer to an earlier try, of which a later one was granted.
            Refusal::Exhausted { .. } if self.held.is_some() => {}
            Refusal::Exhausted { retry_after_ms } => {
                // Sooner than the store says, since node ids may be released before, and never at once.
                self.withdraw(retry_after_ms.clamp(FIRST_BACKOFF_MS, MAX_BACKOFF_MS), monotonic_ms, jitter);
            }
            Refusal::Lost | Refusal::Rejected => self.withdraw(MAX_BACKOFF_MS, monotonic_ms, jitter),
        }
        Change::None
    }

    /// The attempt was refused, and the next one waits for about `pause_ms`. If no lease is held, it asks for another one: nothing
    /// was granted, and a copy of this holder, which knows the grant, would begin the same lease however much later.
    fn withdraw(&mut self, pause_ms: u64, monotonic_ms: u64, jitter: u64) {
        self.fail(monotonic_ms, jitter);
        self.due_ms = monotonic_ms.saturating_add(with_jitter(pause_ms, jitter));
        if self.held.is_none() {
            self.grant = None;
            self.nonce = None;
        }
    }

    /// The store was fenced: go on with the attempt that asked for it.
    ///
    /// ```
    /// # use frazil::{Granted, Lease, LeaseRandom, LeaseTerms, Refusal, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let Request::Acquire { grant, .. } = lease.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// lease.refuse(grant, Refusal::Incarnation, 0, 0);
    /// assert_eq!(lease.ask(0, LeaseRandom { grant: 3, nonce: 4 }), Request::Fence { behind: false });
    /// lease.fenced(1);
    /// assert!(matches!(lease.ask(1, LeaseRandom { grant: 5, nonce: 6 }), Request::Acquire { .. }));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn fenced(&mut self, monotonic_ms: u64) {
        self.fence = None;
        self.outstanding = false;
        self.due_ms = monotonic_ms;
    }

    /// The attempt failed, or nothing was heard of it in time. What it did is unknown, so the next attempt has the same nonce.
    ///
    /// ```
    /// # use frazil::{Lease, LeaseRandom, LeaseTerms, Request};
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
    /// # use frazil::{Granted, Lease, LeaseRandom, LeaseTerms, Request};
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
    /// # use frazil::{Granted, Lease, LeaseRandom, LeaseTerms, Request};
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
    /// # use frazil::{Granted, Lease, LeaseRandom, LeaseTerms, Request};
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

    /// How long until the store has answered the attempt under way or the next attempt begins, at least 1: when a call that was
    /// refused for want of a lease can first succeed.
    ///
    /// ```
    /// # use frazil::{Lease, LeaseRandom, LeaseTerms};
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

    /// Gives up a lease that has just begun and cannot be used, such as one of a node id that this process uses otherwise, and
    /// asks for another one. The release keeps the node id taken to the end of the window: a store prefers a node id that was used
    /// before to a new one, so it would offer this one again and again while others are new. The pauses between the attempts grow
    /// as after failures, to at most an eighth of the window.
    ///
    /// ```
    /// # use frazil::{Granted, Lease, LeaseRandom, LeaseTerms, Release, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let Request::Acquire { grant, .. } = lease.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// let answer = Granted { grant, node: 7, from_ms: 500, until_ms: 31_000, store_now_ms: 1000 };
    /// lease.take(&answer, 0);
    /// assert_eq!(lease.decline(&answer, 0), Release { grant, node: 7, until_ms: 31_000, held_until_ms: 31_000 });
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn decline(&mut self, answer: &Granted, monotonic_ms: u64) -> Release {
        let Granted { grant, node, until_ms, .. } = *answer;
        self.end(monotonic_ms);
        // The store may have no other node id, and must not be asked for this one again and again.
        self.pause_after_end(grant, monotonic_ms);
        self.declined = self.declined.saturating_add(1);
        // So soon that the node id is still taken.
        self.due_ms = self.due_ms.min(monotonic_ms.saturating_add(self.terms.window_ms / 8));
        Release { grant, node, until_ms, held_until_ms: until_ms }
    }

    /// Ends the lease for good. The state must be closed before; `used_until_ms` is what closing it returned, or 0.
    ///
    /// ```
    /// # use frazil::{Granted, Lease, LeaseRandom, LeaseTerms, Release, Request};
    /// # let mut lease = Lease::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let Request::Acquire { grant, .. } = lease.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { unreachable!() };
    /// lease.take(&Granted { grant, node: 7, from_ms: 500, until_ms: 31_000, store_now_ms: 1000 }, 0);
    /// assert_eq!(lease.close(2001), Some(Release { grant, node: 7, until_ms: 2001, held_until_ms: 31_000 }));
    /// assert_eq!(lease.close(2001), None);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn close(&mut self, used_until_ms: u64) -> Option<Release> {
        self.closed = true;
        let Held { node, window } = self.held.take()?;
        let Window { from_ms, until_ms: held_until_ms } = window;
        self.grant.take().map(|grant| Release { grant, node, until_ms: from_ms.max(used_until_ms), held_until_ms })
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
    /// # use frazil::{Lease, LeaseRandom, LeaseTerms};
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

    /// The attempt is over, and its outcome is known.
    #[inline(never)] // for the size of the WebAssembly module
    fn succeed(&mut self) {
        self.forget_nonce();
        self.outstanding = false;
        self.failures = 0;
        self.has_hurried = false;
    }

    /// The next attempt has another nonce, by which the store tells copies of this holder apart.
    const fn forget_nonce(&mut self) {
        if self.terms.has_copies {
            self.nonce = None;
        }
    }

    /// The lease that has just ended was of no use: the pauses grow with the number of such leases.
    fn pause_after_end(&mut self, grant: Grant, monotonic_ms: u64) {
        self.failures = self.declined;
        #[expect(clippy::cast_possible_truncation, reason = "any of its random bits will do")]
        self.fail(monotonic_ms, grant.0 as u64);
    }

    /// Ends the held lease. The next request has a new grant, and begins at once.
    fn end(&mut self, monotonic_ms: u64) {
        self.grant = None;
        self.nonce = None;
        self.held = None;
        self.fence = None;
        self.due_ms = monotonic_ms;
        self.succeed();
    }
}
