//! The requests of a leased generator, and their answers.

use super::generator::LeasedGenerator;
use super::messages::{Change, Grant, Granted, Held, LeaseRandom, Refusal, Release, Request};
use super::readings::{Anchor, Readings, difference_ms};
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::layout::Geometry;
use crate::mint::{Generator, Machine, Registry, Window};

/// A request to the store, as its answer refers to it.
///
/// ```
/// let asked = frazil::lease::Asked { number: 1, at: frazil::lease::Readings { wall_ms: 1_704_067_200_000, monotonic_ms: 5 } };
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

/// What an answer of the store led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Taken {
    /// The lease changed like that.
    Changed(Change),
    /// Another generator of this process has the node id, so the lease was given up ([`Lease::decline`](super::Lease::decline)): send this
    /// to the store.
    Declined(Release),
}

impl LeasedGenerator {
    /// What to request of the store now: [`Lease::ask`](super::Lease::ask).
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil::lease::{LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Request};
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
    /// # use frazil::Layout;
    /// # use frazil::lease::{LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms};
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
    /// [`LeasedGenerator::take_late`]. If an answer to any request of the attempt under way does not extend the window, the attempt is
    /// over, and the next one waits.
    ///
    /// # Errors
    /// Those of [`LeasedGenerator::take`].
    ///
    /// ```
    /// use frazil::{Layout, Registry};
    /// use frazil::lease::{Asked, Change, Granted, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Readings, Request, Taken};
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

    /// Takes the refusal of a request as [`LeasedGenerator::refuse`]. `None`: the outcome of its attempt is already known, so this changes
    /// nothing. The next attempt gets the same refusal if it still holds.
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil::lease::{Change, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Refusal, Request};
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

    /// The store was fenced at a request: [`LeasedGenerator::fenced`], unless the outcome of its attempt is already known.
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil::lease::{LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Refusal, Request};
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

    /// A request failed, or its outcome is unknown: [`LeasedGenerator::fail`]. Returns whether that counts. It counts once for all requests
    /// that were under way together. If one of them was answered, only the failure of the last one counts, because its nonce may still be
    /// in use. `None`: the failure was outside a request, such as in drawing random numbers for one.
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil::lease::{LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms};
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

    /// Takes the answer of the store to the last request: [`Lease::take`](super::Lease::take). A lease that begins gets a fresh
    /// state; one that ended has its state closed.
    ///
    /// If an earlier request may still be answered (it was given up, or several are under way at once), pass its answer to
    /// [`LeasedGenerator::take_late`]. Here it could cost the lease, as [`Lease::take`](super::Lease::take) says; and store time would
    /// count from the last request, and miss a suspension before it.
    ///
    /// # Errors
    /// `STORE_REFUSED` if the answer cannot be true: a node id that the layout does not have, or a window that ends before it
    /// begins. The lease does not change.
    ///
    /// ```
    /// use frazil::{Code, Layout, Registry};
    /// use frazil::lease::{Change, Granted, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Readings, Request, Taken};
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

    /// Takes the answer to an attempt that was given up, or to a request after which another one was made:
    /// [`Lease::take_late`](super::Lease::take_late).
    ///
    /// # Errors
    /// Those of [`LeasedGenerator::take`].
    ///
    /// ```
    /// use frazil::{Layout, Registry};
    /// use frazil::lease::{Asked, Change, Granted, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Readings, Request, Taken};
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
                if self.options.default_scope && registry.register_leased(&machine).is_err() {
                    return Ok(Taken::Declined(self.lease.decline(answer, lease_ms)));
                }
                self.generator.move_to(Generator::within(machine, self.options.sequence_start, window, self.next_tick));
            }
        }
        let number = late.map_or(self.requests, |asked| asked.number);
        let late = late.map(|asked| asked.at);
        // An answer that extends nothing, because the store's clock went back, shows the time too, unless it came twice, or after that of a
        // later request.
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

    /// Takes a refusal of the store: [`Lease::refuse`](super::Lease::refuse).
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil::lease::{Change, LeaseRandom, LeasedGenerator, LeasedOptions, LeaseTerms, Refusal, Request};
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

    /// The store was fenced: [`Lease::fenced`](super::Lease::fenced).
    pub fn fenced(&mut self, monotonic_ms: u64) {
        self.lease.fenced(monotonic_ms);
    }

    /// The attempt failed, or its outcome is unknown: [`Lease::fail`](super::Lease::fail).
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil::lease::{LeasedGenerator, LeasedOptions, LeaseTerms};
    /// # let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
    /// # let mut ids = LeasedGenerator::new(&Layout::named("default")?, options)?;
    /// ids.fail(0, 0);
    /// assert_eq!(ids.status().failures, 1);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn fail(&mut self, monotonic_ms: u64, jitter: u64) {
        self.lease.fail(monotonic_ms, jitter);
    }

    /// A call was refused with `LEASE_EXPIRED`: the next attempt may be brought forward ([`Lease::hurry`](super::Lease::hurry)).
    pub fn hurry(&mut self, monotonic_ms: u64) {
        self.lease.hurry(monotonic_ms);
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
