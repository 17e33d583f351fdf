//! Leases: `lease`, one call with a number for what it does.
//!
//! JavaScript carries requests to the store and answers back; what they mean is decided here ([`LeasedGenerator`]). Grants and
//! nonces cross as four numbers of 32 bits. The readings of both clocks are in the frame before each call.

use alloc::boxed::Box;

use super::calls::numbered_calls;
use super::frame::Frame;
use super::handles::{Handles, Minter};
use super::opening::MAX_WAIT_MS;
use super::slots::slot;
use crate::asking::Nonce;
use crate::clock::millisecond_of;
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::layout::MAX_SAFE_INTEGER;
use crate::lease::{
    Asked, Change, Grant, Granted, Held, IdTime, LeaseRandom, LeaseTerms, LeasedGenerator, LeasedOptions, Readings, Reason,
    Refusal, Release, Request, Taken,
};
use crate::mint::{MAX_LEAD_MS, Registry};

numbered_calls! {
    /// The calls of `lease`, by number.
    lease_call;
    /// The calls of `lease`, by name and in the order of the numbers.
    LEASE_CALLS: 9;
    random: ASK, REFUSE, FAIL;
    /// Opens a leased generator.
    OPEN = 0;
    /// Returns the request that is due now.
    ASK = 1;
    /// The store granted a lease.
    TAKE = 2;
    /// The store granted nothing.
    REFUSE = 3;
    /// The store was fenced.
    FENCED = 4;
    /// An attempt failed.
    FAIL = 5;
    /// A call failed with `LEASE_EXPIRED`.
    HURRY = 6;
    /// Ends everything.
    CLOSE = 7;
    /// Only writes the condition of the lease, as every call does.
    STATUS = 8;
}

numbered_calls! {
    /// The requests of the slot `REQUEST`, by number.
    lease_request;
    /// The requests of the slot `REQUEST`, by name and in the order of the numbers.
    LEASE_REQUESTS: 5;
    /// Nothing is due.
    NOTHING = 0;
    /// The store is asked after a pause.
    WAIT = 1;
    /// A node id is to be acquired.
    ACQUIRE = 2;
    /// The lease is to be renewed.
    RENEW = 3;
    /// The store is to be fenced.
    FENCE = 4;
}

numbered_calls! {
    /// The changes of the slot `CHANGE`, by number.
    lease_change;
    /// The changes of the slot `CHANGE`, by name and in the order of the numbers.
    LEASE_CHANGES: 6;
    /// No change.
    NONE = 0;
    /// A window begins.
    BEGUN = 1;
    /// The window is longer.
    EXTENDED = 2;
    /// The lease is lost.
    ENDED = 3;
    /// Of `TAKE`: the lease was given up, and the frame says what to tell the store.
    DECLINED = 4;
    /// Of `REFUSE` and `FAIL`: the outcome of the attempt counts already.
    DROPPED = 5;
}

numbered_calls! {
    /// The reasons of the slot `REASON`, by number.
    lease_reason;
    /// The reasons of the slot `REASON`, by name and in the order of the numbers.
    LEASE_REASONS: 7;
    /// [`crate::lease::Reason::Taken`].
    TAKEN = 0;
    /// [`crate::lease::Reason::Fenced`].
    FENCED = 1;
    /// [`crate::lease::Reason::Incarnation`].
    INCARNATION = 2;
    /// [`crate::lease::Reason::Behind`].
    BEHIND = 3;
    /// [`crate::lease::Reason::Exhausted`].
    EXHAUSTED = 4;
    /// [`crate::lease::Reason::Missing`].
    MISSING = 5;
    /// [`crate::lease::Reason::Other`].
    OTHER = 6;
}

impl Frame {
    /// Reads both clocks.
    pub(super) fn read_clocks(&self) -> Result<Readings> {
        self.read_readings(slot::WALL_MS, slot::MONOTONIC_MS)
    }

    fn read_readings(&self, wall: usize, monotonic: usize) -> Result<Readings> {
        let read = |at: usize| millisecond_of(self.number(at));
        Ok(Readings { wall_ms: read(wall)?, monotonic_ms: read(monotonic)? })
    }

    /// The number of the request with this outcome; 0 if the failure belongs to no request.
    fn read_number(&self) -> Result<u64> {
        self.whole_number(slot::ASKED_NUMBER, Code::InvalidArgument, Subject::Lease, 0, MAX_SAFE_INTEGER)
    }

    fn read_asked(&self) -> Result<Asked> {
        let at = self.read_readings(slot::ASKED_WALL_MS, slot::ASKED_MONOTONIC_MS)?;
        Ok(Asked { number: self.read_number()?, at })
    }

    /// Reads 128 bits.
    #[inline(never)] // for the size of the WebAssembly module
    pub(super) fn read_bits(&self, at: usize) -> Result<u128> {
        let part = |at: usize| self.whole_number(at, Code::InvalidArgument, Subject::Lease, 0, u64::from(u32::MAX));
        let (high, low) = ((part(at)? << 32) | part(at + 1)?, (part(at + 2)? << 32) | part(at + 3)?);
        Ok((u128::from(high) << 64) | u128::from(low))
    }

    #[expect(clippy::cast_possible_truncation, reason = "32 bits at a time")]
    pub(super) fn write_bits(&mut self, at: usize, bits: u128) {
        let (high, low) = ((bits >> 64) as u64, bits as u64);
        for (at, part) in [(at, high >> 32), (at + 1, high), (at + 2, low >> 32), (at + 3, low)] {
            self.set_number(at, f64::from(part as u32));
        }
    }

    fn read_random(&self) -> Result<LeaseRandom> {
        Ok(LeaseRandom { grant: self.read_bits(slot::RANDOM)?, nonce: self.read_bits(slot::RANDOM + 4)? })
    }

    /// 32 random bits: more than the longest pause in milliseconds.
    pub(super) fn read_jitter(&self) -> Result<u64> {
        self.whole_number(slot::RANDOM, Code::InvalidArgument, Subject::Lease, 0, u64::from(u32::MAX))
    }

    /// Reads a time or a pause that came from the store.
    pub(super) fn read_store_time(&self, at: usize) -> Result<u64> {
        let refused = Error::bad_input(Code::StoreRefused, Subject::Lease, Rule::LeaseTimes);
        self.whole_number(at, Code::StoreRefused, Subject::Lease, 0, MAX_SAFE_INTEGER).map_err(|_| refused)
    }

    fn read_answer(&self) -> Result<Granted> {
        // The caller, which knows the layout, checks that the layout has this node id.
        let node = self.whole_number(slot::LEASE_NODE, Code::StoreRefused, Subject::Node, 0, u64::from(u32::MAX))?;
        Ok(Granted {
            grant: Grant(self.read_bits(slot::GRANT)?),
            node,
            from_ms: self.read_store_time(slot::FROM_MS)?,
            until_ms: self.read_store_time(slot::UNTIL_MS)?,
            store_now_ms: self.read_store_time(slot::STORE_NOW_MS)?,
        })
    }

    fn read_refusal(&self) -> Result<Refusal> {
        let last = LEASE_REASONS.len() as u64 - 1;
        let number = self.whole_number(slot::REASON, Code::InvalidArgument, Subject::Lease, 0, last)?;
        #[expect(clippy::cast_possible_truncation, reason = "a place in a short list")]
        let reason = match number as u32 {
            lease_reason::TAKEN => Reason::Taken,
            lease_reason::FENCED => Reason::Fenced,
            lease_reason::INCARNATION => Reason::Incarnation,
            lease_reason::BEHIND => Reason::Behind,
            lease_reason::EXHAUSTED => Reason::Exhausted,
            lease_reason::MISSING => Reason::Missing,
            _ => Reason::Other,
        };
        // Only with these two does a store say when a node id will be free.
        let is_full = matches!(reason, Reason::Fenced | Reason::Exhausted);
        let retry_after_ms = if is_full { self.read_store_time(slot::FREE_IN_MS)? } else { 0 };
        Ok(Refusal::of(reason, self.flag(slot::RENEWING), retry_after_ms))
    }

    #[expect(clippy::cast_precision_loss, reason = "times and pauses below 2^53")]
    fn write_request(&mut self, request: Request) {
        let number = match request {
            Request::Nothing => lease_request::NOTHING,
            Request::Wait { ms } => {
                self.numbers[slot::WAIT_MS] = ms as f64;
                lease_request::WAIT
            }
            Request::Acquire { grant, nonce } => {
                self.write_attempt(grant, nonce);
                lease_request::ACQUIRE
            }
            Request::Renew { grant, nonce, node, until_ms } => {
                self.write_attempt(grant, nonce);
                self.numbers[slot::LEASE_NODE] = node as f64;
                self.numbers[slot::UNTIL_MS] = until_ms as f64;
                lease_request::RENEW
            }
            Request::Fence { behind } => {
                self.numbers[slot::BEHIND] = f64::from(u8::from(behind));
                lease_request::FENCE
            }
        };
        self.numbers[slot::REQUEST] = f64::from(number);
    }

    fn write_attempt(&mut self, grant: Grant, nonce: Nonce) {
        self.write_bits(slot::GRANT, grant.0);
        self.write_bits(slot::NONCE, nonce.0);
    }

    fn write_change(&mut self, change: Change) {
        self.write_change_number(match change {
            Change::None => lease_change::NONE,
            Change::Begun => lease_change::BEGUN,
            Change::Extended => lease_change::EXTENDED,
            Change::Ended => lease_change::ENDED,
        });
    }

    #[inline(never)] // for the size of the WebAssembly module
    fn write_change_number(&mut self, number: u32) {
        self.numbers[slot::CHANGE] = f64::from(number);
    }

    /// Writes what to tell the store, if anything.
    #[expect(clippy::cast_precision_loss, reason = "times below 2^53")]
    fn write_release(&mut self, release: Option<Release>) {
        self.numbers[slot::HAS_RELEASE] = f64::from(u8::from(release.is_some()));
        if let Some(Release { grant, node, until_ms, held_until_ms }) = release {
            self.write_bits(slot::GRANT, grant.0);
            self.numbers[slot::LEASE_NODE] = node as f64;
            self.numbers[slot::UNTIL_MS] = until_ms as f64;
            self.numbers[slot::RELEASED_UNTIL_MS] = held_until_ms as f64;
        }
    }
}

impl Handles {
    /// Opens a leased generator, or makes the call of that number on one ([`LEASE_CALLS`]).
    ///
    /// ```
    /// # use frazil::Registry;
    /// # use frazil::abi::{Handles, LEASE_CALLS, Frame};
    /// let ask = LEASE_CALLS.iter().position(|name| *name == "ASK").unwrap();
    /// let status = Handles::new().lease(&mut Frame::new(), &mut Registry::new(), 0.0, ask as u32);
    /// assert_eq!(status, frazil::Code::Closed as u32);
    /// ```
    pub fn lease(&mut self, frame: &mut Frame, registry: &mut Registry, handle: f64, call: u32) -> u32 {
        let status = self.try_lease(frame, registry, handle, call).map_or_else(|error| frame.refuse(error), |()| 0);
        // Whatever the result: the call may have changed the lease before it was refused.
        self.draw_line(frame, if call == lease_call::OPEN { frame.number(slot::HANDLE) } else { handle });
        status
    }

    fn try_lease(&mut self, frame: &mut Frame, registry: &mut Registry, handle: f64, call: u32) -> Result<()> {
        match call {
            lease_call::OPEN => return self.open_leased(frame),
            // Needs no clock: a program whose clocks are broken can still close what it opened.
            lease_call::CLOSE => {
                let release = self.leased_mut(handle)?.close();
                frame.write_release(release);
                return Ok(());
            }
            _ => {}
        }
        // First: if a call stops halfway and its state is gone, no line may lead there. Opening has no handle yet, and closing drops no
        // state.
        self.hide_line(handle);
        let now = frame.read_clocks()?;
        let shown_ms = millisecond_of(frame.number(slot::SHOWN_MS))?;
        let ids = self.leased_mut(handle)?;
        ids.has_shown(shown_ms, now);
        let monotonic_ms = ids.lease_ms(now);
        match call {
            lease_call::ASK => {
                let request = ids.ask(monotonic_ms, frame.read_random()?);
                frame.write_request(request);
                #[expect(clippy::cast_precision_loss, reason = "below 2^53: each request takes time")]
                {
                    frame.numbers[slot::ASKED_NUMBER] = ids.requests() as f64;
                }
            }
            lease_call::TAKE => match ids.answered(&frame.read_answer()?, frame.read_asked()?, now, registry)? {
                Taken::Changed(change) => frame.write_change(change),
                Taken::Declined(release) => {
                    frame.write_change_number(lease_change::DECLINED);
                    frame.write_release(Some(release));
                }
            },
            lease_call::REFUSE => {
                let (number, grant) = (frame.read_number()?, Grant(frame.read_bits(slot::GRANT)?));
                match ids.refused(number, grant, frame.read_refusal()?, monotonic_ms, frame.read_jitter()?) {
                    Some(change) => frame.write_change(change),
                    None => frame.write_change_number(lease_change::DROPPED),
                }
            }
            lease_call::FENCED => ids.fence_answered(frame.read_number()?, monotonic_ms),
            lease_call::FAIL => {
                let number = Some(frame.read_number()?).filter(|number| *number > 0);
                let counts = ids.failed(number, monotonic_ms, frame.read_jitter()?);
                frame.write_change_number(if counts { lease_change::NONE } else { lease_change::DROPPED });
            }
            lease_call::HURRY => ids.hurry(monotonic_ms),
            _ => {}
        }
        frame.write_status(ids, now, monotonic_ms);
        Ok(())
    }

    #[inline(never)] // for the size of the WebAssembly module
    fn open_leased(&mut self, frame: &mut Frame) -> Result<()> {
        let geometry = frame.read_geometry()?;
        // The node id to ask for first. Which one is granted is the store's choice.
        if frame.flag(slot::HAS_NODE) {
            let _: u64 = frame.whole_number(slot::NODE, Code::InvalidNode, Subject::Node, 0, geometry.max_node())?;
        }
        let max_lead_ms = frame.optional_number(slot::HAS_MAX_LEAD_MS, slot::MAX_LEAD_MS, Subject::MaxLeadMs, MAX_LEAD_MS)?;
        frame.read_wait_limits()?;
        // Any other number becomes 0, which the rule for windows refuses.
        let window_ms = frame.whole_number(slot::WINDOW_MS, Code::InvalidOption, Subject::WindowMs, 0, MAX_WAIT_MS).unwrap_or(0);
        let by_calls = frame.flag(slot::BY_CALLS);
        let usual = LeaseTerms::usual(window_ms, by_calls, geometry.tick_ms.get())?;
        let terms = if frame.flag(slot::UNCOPIED) { usual.uncopied() } else { usual };
        let options = LeasedOptions {
            terms,
            max_lead_ms,
            sequence_start: frame.read_sequence_start()?,
            id_time: if frame.flag(slot::STORE_TIME) { IdTime::Store } else { IdTime::Wall },
            by_calls,
            default_scope: frame.flag(slot::DEFAULT_SCOPE),
        };
        let ids = LeasedGenerator::from_geometry(geometry, options)?;
        frame.write_opened(ids.generator().machine(), 0);
        #[expect(clippy::cast_precision_loss, reason = "below 2^31")]
        {
            frame.numbers[slot::TIMEOUT_MS] = terms.timeout_ms() as f64;
        }
        frame.numbers[slot::HANDLE] = self.insert(Minter::Leased(Box::new(ids)));
        Ok(())
    }
}

impl Frame {
    /// Writes the condition of the lease, after every call.
    #[expect(clippy::cast_precision_loss, reason = "times and differences of times below 2^53")]
    fn write_status(&mut self, ids: &LeasedGenerator, now: Readings, monotonic_ms: u64) {
        let status = ids.status();
        self.numbers[slot::HELD_UNTIL_MS] = 0.0;
        if let Some(Held { node, window }) = status.held {
            self.numbers[slot::HELD_NODE] = node as f64;
            self.numbers[slot::HELD_FROM_MS] = window.from_ms as f64;
            self.numbers[slot::HELD_UNTIL_MS] = window.until_ms as f64;
        }
        self.numbers[slot::USABLE_MS] = ids.usable_ms(now, monotonic_ms) as f64;
        self.numbers[slot::FAILURES] = f64::from(status.failures);
        self.numbers[slot::SKEW_MS] = status.skew_ms as f64;
        self.numbers[slot::STORE_OFFSET_MS] = ids.store_offset_ms() as f64;
        self.numbers[slot::NEXT_MS] = ids.retry_after_ms(monotonic_ms) as f64;
    }
}
