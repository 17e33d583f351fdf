//! What a holder mints with: the real `LeasedGenerator`, or a copy of what it does around the public, pure `Lease` and `Machine`.
//! The copy without a defect issues the same IDs (by the wall clock; by store time it learns less from an answer that extends
//! nothing); each mutant is the copy with one defect.

mod copied;
mod real;

use frazil::lease::{Asked, Change, Grant, Granted, LeaseRandom, LeasedOptions, Readings, Refusal, Release, Request, Taken};
use frazil::mint::{Health, Key, Reservation, Window};
use frazil::{Layout, Registry, Result};

use self::copied::Copied;
use self::real::{Call, Real};
use crate::defect::Defect;

/// One of the two.
#[derive(Debug)]
pub(crate) enum Ids {
    Real(Box<Real>),
    Copied(Box<Copied>),
}

impl Ids {
    pub(crate) fn real(layout: &Layout, options: LeasedOptions) -> Self {
        Self::Real(Box::new(Real::new(layout, options)))
    }

    pub(crate) fn copied(layout: &Layout, options: LeasedOptions, defect: Option<Defect>) -> Self {
        Self::Copied(Box::new(Copied::new(layout, options, defect)))
    }

    pub(crate) fn snapshot(&self, registry: &mut Registry) -> Self {
        match self {
            Self::Real(real) => Self::Real(Box::new(real.snapshot(registry))),
            Self::Copied(copied) => Self::Copied(copied.clone()),
        }
    }

    pub(crate) fn ask(&mut self, now: Readings, random: LeaseRandom) -> Request {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Ask(now, random));
                let at_ms = real.ids.lease_ms(now);
                real.ids.ask(at_ms, random)
            }
            Self::Copied(copied) => copied.ask(now, random),
        }
    }

    /// The answer to an attempt that was not given up. Another request may have been made since.
    pub(crate) fn take(&mut self, answer: &Granted, asked: Asked, now: Readings, registry: &mut Registry) -> Result<Taken> {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Take(*answer, asked, now));
                real.ids.answered(answer, asked, now, registry)
            }
            Self::Copied(copied) => {
                if asked.number <= copied.settled {
                    return Ok(copied.take(answer, Some(asked), now));
                }
                let is_last = asked.number == copied.requests;
                let taken = copied.take(answer, (!is_last).then_some(asked), now);
                if is_last || copied.lease.end_unextended(answer) {
                    copied.settled = copied.requests;
                }
                Ok(taken)
            }
        }
    }

    /// The number of the last request.
    pub(crate) fn requests(&self) -> u64 {
        match self {
            Self::Real(real) => real.ids.requests(),
            Self::Copied(copied) => copied.requests,
        }
    }

    /// The answer to an attempt that was given up.
    pub(crate) fn take_late(&mut self, answer: &Granted, asked: Asked, now: Readings, registry: &mut Registry) -> Result<Taken> {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::TakeLate(*answer, asked, now));
                real.ids.take_late(answer, asked, now, registry)
            }
            Self::Copied(copied) => Ok(copied.take(answer, Some(asked), now)),
        }
    }

    pub(crate) fn refuse(&mut self, grant: Grant, refusal: Refusal, monotonic_ms: u64, jitter: u64) -> Change {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Refuse(grant, refusal, monotonic_ms, jitter));
                real.ids.refuse(grant, refusal, monotonic_ms, jitter)
            }
            Self::Copied(copied) => {
                let change = copied.lease.refuse(grant, refusal, monotonic_ms, jitter);
                if change == Change::Ended {
                    copied.close_state();
                }
                change
            }
        }
    }

    pub(crate) fn fenced(&mut self, monotonic_ms: u64) {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Fenced(monotonic_ms));
                real.ids.fenced(monotonic_ms);
            }
            Self::Copied(copied) => copied.lease.fenced(monotonic_ms),
        }
    }

    pub(crate) fn fail(&mut self, monotonic_ms: u64, jitter: u64) {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Fail(monotonic_ms, jitter));
                real.ids.fail(monotonic_ms, jitter);
            }
            Self::Copied(copied) => copied.lease.fail(monotonic_ms, jitter),
        }
    }

    pub(crate) fn hurry(&mut self, monotonic_ms: u64) {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Hurry(monotonic_ms));
                real.ids.hurry(monotonic_ms);
            }
            Self::Copied(copied) => copied.lease.hurry(monotonic_ms),
        }
    }

    pub(crate) fn retry_after_ms(&self, monotonic_ms: u64) -> u64 {
        match self {
            Self::Real(real) => real.ids.retry_after_ms(monotonic_ms),
            Self::Copied(copied) => copied.lease.retry_after_ms(monotonic_ms),
        }
    }

    /// How long until something is due, as a holder finds that looks at each call and asks only then.
    pub(crate) fn look(&mut self, now: Readings) -> u64 {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Look(now));
                let at_ms = real.ids.lease_ms(now);
                real.ids.retry_after_ms(at_ms)
            }
            Self::Copied(copied) => {
                copied.see(now);
                copied.lease.retry_after_ms(now.monotonic_ms)
            }
        }
    }

    pub(crate) fn offer_key(&mut self, high: u64, low: u64) {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::OfferKey(high, low));
                real.ids.offer_key(Key::new(high, low));
            }
            Self::Copied(copied) => copied.key = Some(Key::new(high, low)),
        }
    }

    pub(crate) fn now_ms(&self, now: Readings) -> u64 {
        match self {
            Self::Real(real) => real.ids.now_ms(now),
            Self::Copied(copied) => copied.now_ms(now),
        }
    }

    /// `None` is a request to read the clock again. `checked_ms` matters to a mutant only.
    pub(crate) fn reserve(
        &mut self,
        checked_ms: u64,
        now_ms: u64,
        now: Readings,
        want: usize,
        confirmed: bool,
    ) -> Result<Option<Vec<u64>>> {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Reserve(now_ms, now, want, confirmed));
                let Reservation::Issued { block, .. } = real.ids.reserve(now_ms, now, want, confirmed)? else { return Ok(None) };
                let mut ids = vec![0; block.len()];
                block.write(&mut ids);
                Ok(Some(ids))
            }
            Self::Copied(copied) => copied.reserve(checked_ms, now_ms, now, want, confirmed),
        }
    }

    /// `None` for the copy, which has no health.
    pub(crate) fn health(&self, now_ms: u64, now: Readings) -> Option<Health> {
        match self {
            Self::Real(real) => Some(real.ids.health(now_ms, now)),
            Self::Copied(_) => None,
        }
    }

    /// The window of the held lease.
    pub(crate) fn window(&self) -> Option<Window> {
        match self {
            Self::Real(real) => real.ids.status().held.map(|held| held.window),
            Self::Copied(copied) => copied.lease.held().map(|held| held.window),
        }
    }

    pub(crate) fn close(&mut self, now: Readings) -> Option<Release> {
        match self {
            Self::Real(real) => real.ids.close(),
            Self::Copied(copied) => copied.close(now),
        }
    }
}
