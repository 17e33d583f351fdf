//! The real one, and the calls that were made to it.

use frazil::lease::{Asked, Grant, Granted, LeaseRandom, LeasedGenerator, LeasedOptions, Readings, Refusal};
use frazil::mint::Key;
use frazil::{Layout, Registry};

/// A call that changed a generator.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    Look(Readings),
    Ask(Readings, LeaseRandom),
    /// In time.
    Take(Granted, Asked, Readings),
    TakeLate(Granted, Asked, Readings),
    Refuse(Grant, Refusal, u64, u64),
    Fenced(u64),
    Fail(u64, u64),
    Hurry(u64),
    Reserve(u64, Readings, usize, bool),
    OfferKey(u64, u64),
}

/// The real one. It is no `Clone`, and it is deterministic: a snapshot is a generator to which the same calls were made.
#[derive(Debug)]
pub(crate) struct Real {
    layout: Layout,
    options: LeasedOptions,
    pub(super) ids: LeasedGenerator,
    pub(super) calls: Vec<Call>,
}

impl Real {
    pub(super) fn new(layout: &Layout, options: LeasedOptions) -> Self {
        let ids = LeasedGenerator::new(layout, options).expect("the options are valid");
        Self { layout: layout.clone(), options, ids, calls: Vec::new() }
    }

    pub(super) fn snapshot(&self, registry: &mut Registry) -> Self {
        let mut copy = Self::new(&self.layout, self.options);
        for call in &self.calls {
            match *call {
                Call::Look(now) => drop(copy.ids.lease_ms(now)),
                Call::Ask(now, random) => {
                    let at_ms = copy.ids.lease_ms(now);
                    copy.ids.ask(at_ms, random);
                }
                Call::Take(answer, asked, now) => drop(copy.ids.answered(&answer, asked, now, registry)),
                Call::TakeLate(answer, asked, now) => drop(copy.ids.take_late(&answer, asked, now, registry)),
                Call::Refuse(grant, refusal, at, jitter) => drop(copy.ids.refuse(grant, refusal, at, jitter)),
                Call::Fenced(at) => copy.ids.fenced(at),
                Call::Fail(at, jitter) => copy.ids.fail(at, jitter),
                Call::Hurry(at) => copy.ids.hurry(at),
                Call::Reserve(now_ms, now, want, confirmed) => drop(copy.ids.reserve(now_ms, now, want, confirmed)),
                Call::OfferKey(high, low) => copy.ids.offer_key(Key::new(high, low)),
            }
        }
        copy.calls.clone_from(&self.calls);
        copy
    }
}
