//! The state of a fleet.

use frazil::lease::Lease;

use crate::message::Message;
use crate::store::Store;

/// A process with a generator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Holder {
    pub(crate) lease: Lease,
    /// The state word: the first time that it has not used.
    pub(crate) word: u8,
    /// For the mutants that mint in two steps: what the first step found.
    pub(crate) decided: Option<(u8, u8)>,
    /// Whether the driver has an attempt under way.
    pub(crate) asks: bool,
}

/// IDs that may repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Exposure {
    /// Those of times before this.
    pub(crate) until: u8,
    /// The attempt that was under way when a holder was copied: an attempt of both copies.
    pub(crate) nonce: u8,
    /// Whether a renewal has shown the store that it went back. No window begins within the exposure from then on.
    pub(crate) is_known: bool,
}

/// How often each fault may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Budget {
    pub(crate) crashes: u8,
    pub(crate) closes: u8,
    pub(crate) declines: u8,
    pub(crate) duplicates: u8,
    pub(crate) clones: u8,
    pub(crate) saves: u8,
    pub(crate) disasters: u8,
    pub(crate) steps_back: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The store's clock.
    pub(crate) now: u8,
    /// The incarnation of the running store.
    pub(crate) server: u8,
    pub(crate) store: Store,
    /// A backup, or a replica that lags.
    pub(crate) saved: Option<Store>,
    /// The messages under way, in any order.
    pub(crate) network: Vec<Message>,
    pub(crate) holders: Vec<Holder>,
    /// The times minted, a bit each, for each node id.
    pub(crate) minted: [u32; 2],
    pub(crate) exposure: Exposure,
    pub(crate) budget: Budget,
    /// An ID that was issued twice: node id and time.
    pub(crate) repeated: Option<(u8, u8)>,
    /// Whether a holder has lost its lease to another attempt of its own.
    pub(crate) lost: bool,
}
