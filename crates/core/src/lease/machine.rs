//! A lease: the right to mint IDs of one node id within a window of time, as a state machine without I/O.
//!
//! A store (a database) grants node ids. [`Lease`] decides what to ask it next and what an answer means; the caller, which has I/O,
//! carries the request and the answer. `docs/concepts/leases.md` is the protocol, and why no ID repeats.
//!
//! # Identity
//! A lease is named by its [`Grant`]: 128 random bits that the holder draws for each lease it asks for. Only answers with the current grant
//! count. The same grant with another node id or another start means that the store went back, and ends the lease. Whenever a held lease
//! ends, the next request has a new grant, so an answer that comes late cannot bring an ended lease back. Each attempt to renew has a
//! [`Nonce`], which its retries keep. If a holder was copied (a restored snapshot of a virtual machine), the store refuses the copy that
//! renews second.
//!
//! * **Pure**: no I/O, no clock, no entropy; equal calls on equal values give equal results.
//! * **Safe whatever arrives**: answers may be lost, late, twice, or out of order. The end of a window only grows; its start
//!   never changes.
//! * **Scheduled on monotonic time**: a clock that is set does not change when a lease is renewed. (Where only calls renew it, the caller
//!   adds suspensions: [`LeasedGenerator::lease_ms`](super::LeasedGenerator::lease_ms).) Without a monotonic clock, if the clock jumps
//!   ahead and comes back, the schedule comes back with it.
//! * **Bounded**: after a failure the next attempt waits, longer each time, with jitter, at most [`MAX_BACKOFF_MS`].
//! * Not covered: minting within the window, and closing the state before the store hears of the release
//!   ([`LeasedGenerator`](super::LeasedGenerator)).
//!
//! Sources: Gray and Cheriton, "Leases" (1989). The timestamp oracle of TiKV's PD and CockroachDB's persisted upper bound also bound the
//! timestamps themselves.

use super::messages::{Change, Grant, Granted, Held, LeaseRandom, Refusal, Release, Request};
use super::terms::LeaseTerms;
use crate::asking::{FIRST_BACKOFF_MS, MAX_BACKOFF_MS, Nonce, with_jitter};
use crate::mint::Window;

/// A holder's side of a lease.
///
/// This type is:
///
/// * **Deterministic**: what it does is a function of its value and of the call.
/// * **Comparable**: `Clone`, `Eq` and `Hash`, so that a model checker explores this type itself (`tests/lease_model`).
///
/// ```
/// use frazil::lease::{Change, Granted, Lease, LeaseRandom, LeaseTerms, Request};
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
    pub(super) terms: LeaseTerms,
    /// The lease that is held or asked for. `None` until it is drawn.
    grant: Option<Grant>,
    /// The attempt whose outcome is not known. `None` until it is drawn.
    nonce: Option<Nonce>,
    pub(super) held: Option<Held>,
    /// Whether the store must be fenced before anything else, and whether it was behind.
    fence: Option<bool>,
    /// Whether a fence was asked for at once since an attempt succeeded.
    has_hurried: bool,
    /// When the last attempt began, in monotonic milliseconds.
    pub(super) began_ms: u64,
    /// Whether its outcome is still to come.
    pub(super) outstanding: bool,
    /// When the next attempt is due.
    pub(super) due_ms: u64,
    /// How many attempts failed in a row.
    pub(super) failures: u32,
    /// How many leases were declined, or ended with an answer, since one was renewed.
    declined: u32,
    closed: bool,
}

impl Lease {
    /// A holder that has nothing yet. Its first attempt is due at once.
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
    /// # use frazil::lease::{Granted, Lease, LeaseRandom, LeaseTerms, Request};
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

    /// What to do now. A request that is not `Wait` or `Nothing` begins an attempt. A second call before its outcome belongs to the same
    /// attempt: the caller may have several requests under way. [`Lease::take_late`] is for all answers but the one to the last request.
    ///
    /// ```
    /// # use frazil::lease::{Lease, LeaseRandom, LeaseTerms};
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
    /// [`Lease::take_late`]. An answer that begins or extends the lease here ends the attempt, so the next attempt has another nonce. If
    /// the store carries out a later request of this attempt after that, it takes the next nonce for another holder's, and refuses it. The
    /// holder loses its own lease; no ID repeats.
    ///
    /// ```
    /// # use frazil::lease::{Change, Grant, Granted, Lease, LeaseRandom, LeaseTerms, Request};
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
    /// # use frazil::lease::{Change, Granted, Lease, LeaseRandom, LeaseTerms, Request};
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
            // A late answer ended the attempt: a copy of this holder must not share its nonce any longer.
            Some(held) if answer.until_ms <= held.window.until_ms && !self.outstanding && self.failures == 0 => {
                self.forget_nonce();
                return Change::None;
            }
            // A later answer came first, so another attempt may be under way. Or the store breaks its contract, and is not asked again at
            // once.
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
        // Counted from the start of the attempt, even if it failed meanwhile: a late answer shows what was left when it was sent.
        self.due_ms = self.began_ms.saturating_add(self.renew_after_ms(answer));
        self.succeed();
        change
    }

    /// Takes the answer to an attempt that was given up, or to a request after which another one was made: [`Lease::take`]. `is_last`:
    /// whether no request was made since. An answer without news does not end the attempt under way; one that begins or extends the lease
    /// does. The store may carry out a request that was made since, so unless this was the last request, the next attempt keeps the nonce.
    ///
    /// ```
    /// # use frazil::lease::{Change, Granted, Lease, LeaseRandom, LeaseTerms, Request};
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

    /// Ends the attempt under way if an answer to any of its requests shows the window unchanged (the store's clock went back) or shorter
    /// (the store breaks its contract). Returns whether it did. Call it after [`Lease::take_late`], for requests of this attempt only.
    /// Otherwise callers that ask in turn would each see a newer request, and ask again at once.
    ///
    /// ```
    /// # use frazil::lease::{Change, Granted, Lease, LeaseRandom, LeaseTerms, Request};
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

    /// How long after an attempt began the next one is due: the same part of what was left of the window. Nearly always the whole window is
    /// left; it is less if this was a retry.
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
    /// # use frazil::lease::{Change, Grant, Granted, Lease, LeaseRandom, LeaseTerms, Refusal, Request};
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
    /// # use frazil::lease::{Granted, Lease, LeaseRandom, LeaseTerms, Refusal, Request};
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

    /// Gives up a lease that has just begun and cannot be used, such as one of a node id that this process uses otherwise, and
    /// asks for another one. The release keeps the node id taken to the end of the window: a store prefers a node id that was used
    /// before to a new one, so it would offer this one again and again while others are new. The pauses between the attempts grow
    /// as after failures, to at most an eighth of the window.
    ///
    /// ```
    /// # use frazil::lease::{Granted, Lease, LeaseRandom, LeaseTerms, Release, Request};
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
    /// # use frazil::lease::{Granted, Lease, LeaseRandom, LeaseTerms, Release, Request};
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

    /// The attempt is over, and its outcome is known.
    #[inline(never)] // for the size of the WebAssembly module
    fn succeed(&mut self) {
        self.forget_nonce();
        self.outstanding = false;
        self.failures = 0;
        self.has_hurried = false;
    }

    /// The next attempt has another nonce, so the store can tell copies of this holder apart.
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
