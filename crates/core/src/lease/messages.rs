//! What a holder asks a store, and what a store answers.

use crate::asking::Nonce;
use crate::mint::Window;

/// The identity of a lease: 128 random bits, drawn by the holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant(pub u128);

/// Random bits for one call, which must come from the kernel: a copy of a process with its own generator would draw the same.
///
/// ```
/// let random = frazil::lease::LeaseRandom { grant: 1, nonce: 2 };
/// assert_ne!(random.grant, random.nonce);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseRandom {
    /// For the grant, if one is drawn.
    pub grant: u128,
    /// For the nonce, if one is drawn, and for jitter.
    pub nonce: u128,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Nothing for that long.
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
    /// Ask the store to compare its incarnation and raise its fence, then call [`Lease::fenced`](super::Lease::fenced).
    Fence {
        /// Whether the store was found to have lost a write.
        behind: bool,
    },
    /// Nothing more: the lease is closed.
    Nothing,
}

/// What a holder tells the store when it stops. The state must be closed before.
///
/// ```
/// let release = frazil::lease::Release { grant: frazil::lease::Grant(1), node: 7, until_ms: 5, held_until_ms: 9 };
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
    /// The end of the window that is given up. If the store has a later one, it granted that to a copy of this holder.
    pub held_until_ms: u64,
}

/// A store's answer: always the whole lease, since an earlier answer may have been lost. Times are those of the store's clock, in
/// Unix milliseconds.
///
/// ```
/// let granted = frazil::lease::Granted { grant: frazil::lease::Grant(1), node: 7, from_ms: 0, until_ms: 30_000, store_now_ms: 0 };
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The lease cannot be renewed: another holder has the node id, or a copy of this one renewed first, or a fence passed.
    Lost,
    /// No node id is free, and the next one is after `retry_after_ms`. Or the requested lease was renewed since (`retry_after_ms` is 0), so
    /// the request came late or from a copy of the holder. The next request has another grant.
    Exhausted {
        /// How long until a node id is free, by the store's clock.
        retry_after_ms: u64,
    },
    /// The incarnation differs from the scope's record (a failover, a restore): the store must be fenced first.
    Incarnation,
    /// The store has lost a write that this holder knows of: it must be fenced first.
    Behind,
    /// Asking again soon would not help: another layout, a missing table.
    Rejected,
}

/// Why a store granted nothing, in its own words: `RefusalReason` of `npm/frazil/src/stores/lease-store.ts` has their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The row has another grant, or was renewed by another attempt since.
    Taken,
    /// The fence has not passed, or has passed this window.
    Fenced,
    /// The incarnation differs from the record.
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

/// The longest time until a store without a record is asked again, in milliseconds. The error says how to make the record, which takes
/// seconds.
const RECORD_MADE_MS: u64 = 1000;

impl Refusal {
    /// What a reason means to a holder that renews its lease, or to one that asks for a node id. `retry_after_ms`: until a node id is free.
    ///
    /// ```
    /// use frazil::lease::{Reason, Refusal};
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

/// What an answer changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Nothing that minting depends on.
    None,
    /// A lease is held now: mint from a fresh state within [`Lease::held`](super::Lease::held).
    Begun,
    /// The window of the held lease ends later now.
    Extended,
    /// No lease is held any more: close the state.
    Ended,
}

/// A lease that is held.
///
/// ```
/// let held = frazil::lease::Held { node: 7, window: frazil::mint::Window { from_ms: 0, until_ms: 5 } };
/// assert_eq!(held.node, 7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Held {
    /// The node id.
    pub node: u64,
    /// The times that may be minted.
    pub window: Window,
}
