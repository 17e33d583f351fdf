//! The fleet, and every step that it can take.

mod answers;
mod minting;
mod names;
mod requests;
mod steps;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use self::minting::bits;
use crate::W;
use crate::lease::{drawn, held};
use crate::message::released;
use crate::mutant::Mutant;
use crate::state::{Budget, Exposure, State};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    Tick,
    StepBack,
    Ask(usize),
    /// The driver waits for its attempt no longer.
    GiveUp(usize),
    Lose(usize),
    Deliver {
        at: usize,
        duplicate: bool,
        decline: bool,
    },
    Mint(usize, u8),
    /// The second half of a mint of the mutants.
    Finish(usize, u8),
    Crash(usize),
    Close(usize),
    Clone(usize),
    Save,
    /// The saved store goes on as another one, and its clock may be behind by so much.
    Failover(u8),
    /// The saved store is put in the place of the running one, and nothing shows it.
    Restore,
}

/// Which readings of its own clock a holder can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readings {
    /// Any at all: every holder mints all of its window the moment that it is granted.
    All,
    /// Any at all: a holder mints up to a time of its choice.
    UpTo,
    /// Those that are at most so far from the store's clock.
    Near(u8),
}

/// What must happen in some history, or the model would prove nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Begun,
    Extended,
    Ended,
    /// A lease begins for a node id for which IDs were minted.
    NodeIdReused,
    BegunAfterFence,
    /// The store answers a retry with what it granted before.
    AnsweredAgain,
    /// The store refuses a retry, since the lease was renewed meanwhile.
    AnsweredLate,
    /// An answer arrives when its lease has ended.
    AnswerOfAnEndedLease,
    /// An answer counts after its attempt was given up.
    LateTaken,
    /// The same, while another attempt is under way.
    LateDuringAnother,
    /// A retry was granted another lease than the first try.
    AnotherRow,
    RenewedAfterExpiry,
    Exhausted,
    Lost,
    Incarnation,
    Behind,
    Fenced,
    /// A row is older than its holder knows, and is renewed.
    Healed,
    Closed,
    Released,
    /// A release arrives when another holder has the node id.
    ReleasedLate,
    Declined,
    /// An ID repeats that may repeat.
    Exposed,
}

/// A fleet, and what may happen to it.
#[derive(Clone, Debug)]
pub(crate) struct Fleet {
    pub(crate) name: &'static str,
    pub(crate) nodes: usize,
    pub(crate) holders: usize,
    /// The last time of the store's clock.
    pub(crate) horizon: u8,
    /// How many requests, and how many answers, of one holder are under way at most.
    pub(crate) under_way: (usize, usize),
    pub(crate) readings: Readings,
    /// How often each fault may happen.
    pub(crate) faults: Budget,
    /// By how much the clock of the store that takes over may be behind. `None`: no store takes over.
    pub(crate) failover: Option<u8>,
    pub(crate) restore: bool,
    /// Whether holders ask as the shipped driver does. Otherwise they ask at any time.
    pub(crate) driver: bool,
    pub(crate) mutant: Mutant,
    /// What happened in some history.
    pub(crate) seen: Arc<AtomicU64>,
}

impl Fleet {
    pub(crate) fn saw(&self, event: Event) {
        self.seen.fetch_or(1 << event as u64, Ordering::Relaxed);
    }

    pub(crate) fn has_seen(&self, event: Event) -> bool {
        self.seen.load(Ordering::Relaxed) & 1 << event as u64 != 0
    }

    pub(crate) fn close(&self, state: &mut State, at: usize) {
        self.saw(Event::Closed);
        state.budget.closes -= 1;
        let holder = &mut state.holders[at];
        let release = if self.mutant == Mutant::ReleaseBeforeClose {
            holder.lease.clone().close(holder.word.into())
        } else {
            holder.lease.close(holder.word.into())
        };
        state.network.push(released(release.unwrap()));
    }

    pub(crate) fn copy(&self, state: &mut State, at: usize) {
        state.budget.clones -= 1;
        let copy = state.holders[at].clone();
        let nonce = drawn(&copy.lease).1;
        state.exposure = Exposure { until: state.exposure.until.max(state.now + W), nonce, is_known: false };
        // The answers under way reach both.
        let slot = u8::try_from(state.holders.len()).unwrap();
        for message in state.network.clone() {
            if message.addressee().map(usize::from) == Some(at) {
                let mut copied = message;
                copied.readdress(|_| slot);
                state.network.push(copied);
            }
        }
        if let (Some((node, from, until)), Readings::All) = (held(&copy.lease), self.readings) {
            self.mint(state, node, bits(from, until));
        }
        state.holders.push(copy);
    }
}
