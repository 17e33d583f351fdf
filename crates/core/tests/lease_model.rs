//! docs/safety.md: 22, 23, 24, 25, 26, 27
//! Every history of a small fleet whose holders are the shipped `Lease`: no ID is issued twice (`docs/proofs.md`).
//!
//! Stateright visits each state that the fleet can reach. A state has the leases of all holders (values of the real type, changed
//! only by its own methods), the rows and the record of a store that follows the rules of `npm/frazil/src/stores/lease-store.ts`, the
//! messages under way, and every time that was minted for each node id. In each state any of these happens: the store's clock
//! goes on, a holder asks, the store carries a request out, a holder receives an answer, a message is lost; and, as often as the
//! configuration allows, a fault.
//!
//! * **Time** is that of the store, a small number. A window is two long, so that an order of times that matters is there: within
//!   a window, at its end, before and after a fence.
//! * **Asking needs no timer**: a holder may ask at any moment, also while an attempt is under way. The driver asks less often.
//! * **Late answers**: where the fleet has the shipped driver (`Fleet::driver`), a holder has one attempt at a time. What belongs to an
//!   attempt that was given up is marked: its answer goes to `take_late`, and its refusal is dropped, as in
//!   `npm/frazil/src/lease/timer-driver.ts`. Elsewhere every answer goes to `take`, whenever it comes.
//! * **Clocks of holders are not bounded**: from the moment that a window is granted, all of its times count as minted, since a
//!   clock may show any of them at once. Two configurations mint one by one instead: where the last time used matters (closing),
//!   and where the mutants ignore the window (`Readings`).
//! * **Names**: a grant or nonce is only ever compared, so it is named by its place in the state. Holders are alike, so they are
//!   sorted. What decides only when an attempt is due (`timeless`) is left out.
//! * **No lease is lost to its own holder**: where the driver has one request under way and no holder is copied, the store never
//!   refuses a renewal for another attempt of the same holder.
//!
//! What may repeat is an `Exposure`: after a holder is copied, and after a store went back without a new incarnation, IDs of
//! times before one window later. A mutant is a defect, or a guarantee that is not given, for which the same search must find an ID
//! that repeats. Each configuration names what must happen in some of its histories (`Event`).
//!
//! Not covered: that an ID is minted by one compare-and-swap (loom), the backoff (`lease/schedule.rs`), and that a lease is ever had.
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]
#![allow(clippy::print_stdout, reason = "how much was explored is part of the result")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use frazil::asking::Nonce;
use frazil::lease::{Change, Grant, Granted, Held, Lease, LeaseRandom, LeaseTerms, Refusal, Release, Request};
use frazil::mint::Window;
use stateright::{Checker, Model, Property};

/// The length of a window, and the longest that the scope allows. Time is coarse: only the order of times matters.
const W: u8 = 2;
/// How far the clocks of two store hosts may differ. The fence passes the longest window by that much.
const MARGIN: u8 = 1;
/// Monotonic time: every attempt is due, so the holder may ask at any moment, sooner and later than any timer would.
const DUE: u64 = 1 << 40;
/// Monotonic time of a question that changes nothing: later than any pause that began at `DUE`.
const LATER: u64 = 1 << 60;
/// Longer than any pause, so that it shows whether a lease waits for an attempt.
const TIMEOUT: u64 = 1 << 50;
/// What the kernel draws when the model only looks what a lease has drawn before.
const PROBE: u128 = u128::MAX;
/// What no grant and no nonce is.
const NONE: u8 = 0;
/// The one property.
const GUARANTEE: &str = "no ID repeats, and no lease is lost to its own holder";
/// The slot of a process that is gone.
const GONE: u8 = u8::MAX;
/// The bit in the slot of a message whose attempt was given up.
const LATE: u8 = 64;
/// The same, if another attempt has begun since.
const EARLIER: u8 = 32;

/// The holder in a slot.
const fn holder_of(slot: u8) -> u8 {
    if slot == GONE { GONE } else { slot & !(LATE | EARLIER) }
}

// ----------------------------------------------------------------------------------------------------------------- the store

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
struct Row {
    from: u8,
    until: u8,
    grant: u8,
    nonce: u8,
}

/// What a store has on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
struct Store {
    rows: [Row; 2],
    incarnation: u8,
    fence: u8,
    /// Only for the mutant whose grants are counted.
    counter: u8,
}

/// Why the store granted nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Reason {
    Lost,
    /// An acquire that comes late: the lease was renewed since.
    Taken,
    Exhausted,
    Incarnation,
    Behind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Answer {
    grant: u8,
    node: u8,
    from: u8,
    until: u8,
    now: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Message {
    Acquire { slot: u8, grant: u8, nonce: u8 },
    Renew { slot: u8, grant: u8, nonce: u8, node: u8, until: u8 },
    Ensure { slot: u8, behind: bool },
    Release { grant: u8, node: u8, until: u8, known_until: u8 },
    Granted { slot: u8, answer: Answer },
    Refused { slot: u8, grant: u8, reason: Reason },
    Fenced { slot: u8 },
}

impl Message {
    /// The holder that an answer is for.
    fn addressee(self) -> Option<u8> {
        match self {
            Self::Granted { slot, .. } | Self::Refused { slot, .. } | Self::Fenced { slot } => Some(holder_of(slot)),
            _ => None,
        }
    }

    /// Whether the attempt that it belongs to was given up.
    fn is_late(self) -> bool {
        match self {
            Self::Granted { slot, .. } | Self::Refused { slot, .. } | Self::Fenced { slot } => slot & LATE != 0,
            _ => false,
        }
    }

    /// The holder that waits for an answer to a request.
    fn sender(self) -> Option<u8> {
        match self {
            Self::Acquire { slot, .. } | Self::Renew { slot, .. } | Self::Ensure { slot, .. } => Some(holder_of(slot)),
            _ => None,
        }
    }

    /// Whether no attempt has begun since.
    fn is_of_the_last(self) -> bool {
        match self {
            Self::Granted { slot, .. } | Self::Refused { slot, .. } | Self::Fenced { slot } => slot & EARLIER == 0,
            _ => true,
        }
    }

    /// Changes the holder that it comes from or is for.
    fn readdress(&mut self, change: impl Fn(u8) -> u8) {
        match self {
            Self::Granted { slot, .. }
            | Self::Refused { slot, .. }
            | Self::Fenced { slot }
            | Self::Acquire { slot, .. }
            | Self::Renew { slot, .. }
            | Self::Ensure { slot, .. } => *slot = change(holder_of(*slot)) | *slot & (LATE | EARLIER),
            Self::Release { .. } => {}
        }
    }

    /// Changes the names of its grant and nonce.
    fn rename(&mut self, change: impl Fn(u8) -> u8) {
        match self {
            Self::Acquire { grant, nonce, .. } | Self::Renew { grant, nonce, .. } => {
                (*grant, *nonce) = (change(*grant), change(*nonce));
            }
            Self::Release { grant, .. } | Self::Refused { grant, .. } | Self::Granted { answer: Answer { grant, .. }, .. } => {
                *grant = change(*grant);
            }
            Self::Ensure { .. } | Self::Fenced { .. } => {}
        }
    }

    fn grant(self) -> u8 {
        match self {
            Self::Acquire { grant, .. }
            | Self::Renew { grant, .. }
            | Self::Release { grant, .. }
            | Self::Refused { grant, .. }
            | Self::Granted { answer: Answer { grant, .. }, .. } => grant,
            Self::Ensure { .. } | Self::Fenced { .. } => NONE,
        }
    }

    fn nonce(self) -> u8 {
        match self {
            Self::Acquire { nonce, .. } | Self::Renew { nonce, .. } => nonce,
            _ => NONE,
        }
    }
}

/// The rules of `npm/frazil/src/stores/lease-store.ts`, and what the mutants make of them. `server` is the incarnation of the running
/// store.
impl Store {
    fn acquire(&mut self, fleet: &Fleet, now: u8, server: u8, grant: u8, nonce: u8) -> Result<Answer, Reason> {
        let rows = &mut self.rows[..fleet.nodes];
        if let Some((node, row)) = (0..).zip(rows.iter()).find(|(_, row)| row.grant == grant) {
            if row.nonce != nonce && fleet.mutant != Mutant::AcquireByGrantAlone {
                return Err(Reason::Taken);
            }
            fleet.saw(Event::AnsweredAgain);
            return Ok(Answer { grant, node, from: row.from, until: row.until, now });
        }
        if self.incarnation != server {
            return Err(Reason::Incarnation);
        }
        let free = (0..).zip(rows.iter_mut()).filter(|(_, row)| row.until.max(self.fence) <= now);
        let (node, row) = free.min_by_key(|(_, row)| row.until).ok_or(Reason::Exhausted)?;
        *row = Row { from: row.until.max(self.fence), until: now + W, grant, nonce };
        Ok(Answer { grant, node, from: row.from, until: row.until, now })
    }

    fn renew(&mut self, fleet: &Fleet, now: u8, server: u8, request: (u8, u8, u8, u8)) -> Result<Answer, Reason> {
        let (grant, nonce, node, until) = request;
        let row = &mut self.rows[usize::from(node)];
        let is_covered = self.fence >= now + W;
        if fleet.mutant != Mutant::FenceOnAcquireOnly {
            if self.incarnation != server {
                return Err(Reason::Incarnation);
            }
            // Whatever grant the row has. Only a release lowers `until`, and then nobody renews but a copy of the holder.
            if row.until < until && !is_covered && fleet.mutant != Mutant::HealedWithoutFence {
                return Err(Reason::Behind);
            }
            if until + W <= self.fence && fleet.mutant != Mutant::EndedWindowRenewed {
                return Err(Reason::Lost);
            }
        }
        let is_known = fleet.mutant == Mutant::NoNonce || row.until <= until || row.nonce == nonce;
        if row.grant != grant || !is_known {
            return Err(Reason::Lost);
        }
        if row.until < until {
            fleet.saw(Event::Healed);
        }
        if until <= now {
            fleet.saw(Event::RenewedAfterExpiry);
        }
        row.until = row.until.max(until).max(now + W);
        row.nonce = nonce;
        Ok(Answer { grant, node, from: row.from, until: row.until, now })
    }

    fn release(&mut self, fleet: &Fleet, grant: u8, node: u8, until: u8, known_until: u8) -> bool {
        let row = &mut self.rows[usize::from(node)];
        let is_known = row.until <= known_until || fleet.mutant == Mutant::ReleaseByGrantAlone;
        let is_mine = row.grant == grant && is_known;
        if is_mine {
            *row = Row { until: row.from.max(until), ..Row::default() };
        }
        is_mine
    }

    fn ensure(&mut self, fleet: &Fleet, now: u8, server: u8, behind: bool) -> bool {
        let raise = self.incarnation != server || behind && self.fence < now + W;
        if raise {
            self.incarnation = server;
            self.fence = self.fence.max(match fleet.mutant {
                Mutant::NoFence => 0,
                Mutant::FenceWithoutMargin => now + W,
                _ => now + W + MARGIN,
            });
        }
        raise
    }

    /// Forgets the names that nobody knows any more: they can never be compared with an equal one.
    fn forget(&mut self, is_grant: impl Fn(u8) -> bool, is_attempt: impl Fn(u8) -> bool) {
        for row in &mut self.rows {
            if !is_grant(row.grant) {
                *row = Row { until: row.until, ..Row::default() };
            } else if !is_attempt(row.nonce) {
                row.nonce = NONE;
            }
        }
    }
}

// ----------------------------------------------------------------------------------------------------------------- the fleet

/// A process with a generator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Holder {
    lease: Lease,
    /// The state word: the first time that it has not used.
    word: u8,
    /// For the mutants that mint in two steps: what the first step found.
    decided: Option<(u8, u8)>,
    /// Whether the driver has an attempt under way.
    asks: bool,
}

/// IDs that may repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
struct Exposure {
    /// Those of times before this.
    until: u8,
    /// The attempt that was under way when a holder was copied: an attempt of both copies.
    nonce: u8,
    /// Whether a renewal has shown the store that it went back. No window begins within the exposure from then on.
    is_known: bool,
}

/// How often each fault may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
struct Budget {
    crashes: u8,
    closes: u8,
    declines: u8,
    duplicates: u8,
    clones: u8,
    saves: u8,
    disasters: u8,
    steps_back: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// The store's clock.
    now: u8,
    /// The incarnation of the running store.
    server: u8,
    store: Store,
    /// A backup, or a replica that lags.
    saved: Option<Store>,
    /// The messages under way, in any order.
    network: Vec<Message>,
    holders: Vec<Holder>,
    /// The times minted, a bit each, for each node id.
    minted: [u32; 2],
    exposure: Exposure,
    budget: Budget,
    /// An ID that was issued twice: node id and time.
    repeated: Option<(u8, u8)>,
    /// Whether a holder has lost its lease to another attempt of its own.
    lost: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Action {
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
enum Readings {
    /// Any at all: every holder mints all of its window the moment that it is granted.
    All,
    /// Any at all: a holder mints up to a time of its choice.
    UpTo,
    /// Those that are at most so far from the store's clock.
    Near(u8),
}

/// A defect. The search must find an ID that repeats because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutant {
    None,
    /// A holder mints whatever its clock shows, as long as its lease has not expired.
    Ttl,
    UpperBoundOnly,
    LowerBoundOnly,
    /// The window is compared with one reading of the clock, and another one is minted (Apache Polaris).
    CheckThenMint,
    /// The store hears of a release, and the holder goes on.
    ReleaseBeforeClose,
    /// A holder decides what to mint, closes and releases, and mints it (Apache Polaris).
    ReleaseBesideCalls,
    /// The store compares only the grant of a release. A copy of the holder may have renewed the lease.
    ReleaseByGrantAlone,
    NoFence,
    FenceOnAcquireOnly,
    FenceWithoutMargin,
    /// A lease whose window had ended when the fence was raised is renewed.
    EndedWindowRenewed,
    /// A row that is older than its holder knows is extended, and no fence raised.
    HealedWithoutFence,
    /// The store compares no nonce to renew a lease.
    NoNonce,
    /// Nor to answer an acquire again.
    AcquireByGrantAlone,
    /// Copies of a holder draw the same nonce.
    SharedNonce,
    /// A holder whose lease has ended asks for it again.
    EndedGrantAgain,
    /// The answer to a renewal has neither the node id nor the start.
    PartialAnswers,
    /// The grant is the next number of a counter in the store.
    CountedGrants,
    /// The grant is the name of the holder, which two processes share.
    SameOwner,
    /// An answer that comes after its attempt was given up is taken for that of the attempt under way.
    LateAsInTime,
    /// An answer that comes after its attempt was given up ends the nonce, also that of later attempts.
    LateIsLast,
    /// Guarantees that a copy of a holder repeats nothing, and that a store that went back unseen repeats nothing.
    NoExposure,
}

/// What must happen in some history, or the model would prove nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
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
struct Fleet {
    name: &'static str,
    nodes: usize,
    holders: usize,
    /// The last time of the store's clock.
    horizon: u8,
    /// How many requests, and how many answers, of one holder are under way at most.
    under_way: (usize, usize),
    readings: Readings,
    /// How often each fault may happen.
    faults: Budget,
    /// By how much the clock of the store that takes over may be behind. `None`: no store takes over.
    failover: Option<u8>,
    restore: bool,
    /// Whether holders ask as the shipped driver does. Otherwise they ask at any time.
    driver: bool,
    mutant: Mutant,
    /// What happened in some history.
    seen: Arc<AtomicU64>,
}

fn terms() -> LeaseTerms {
    // They only decide when an attempt is due.
    LeaseTerms::new(3, 1, TIMEOUT, 1).unwrap()
}

fn fresh() -> Holder {
    Holder { lease: Lease::new(terms()), word: 0, decided: None, asks: false }
}

fn small(number: u128) -> u8 {
    if number == PROBE { NONE } else { u8::try_from(number).unwrap() }
}

/// The grant and the nonce that a lease has drawn.
fn drawn(lease: &Lease) -> (u8, u8) {
    let mut lease = lease.clone();
    lease.fenced(LATER);
    match lease.ask(LATER, LeaseRandom { grant: PROBE, nonce: PROBE }) {
        Request::Acquire { grant: Grant(grant), nonce: Nonce(nonce) }
        | Request::Renew { grant: Grant(grant), nonce: Nonce(nonce), .. } => (small(grant), small(nonce)),
        _ => (NONE, NONE),
    }
}

/// Whether a lease waits for an attempt.
fn waits(lease: &Lease) -> bool {
    lease.retry_after_ms(0) >= TIMEOUT
}

/// Whether the store must be fenced, and whether it was behind. `Err` if the lease is closed.
fn fence_of(lease: &Lease) -> Result<Option<bool>, ()> {
    match lease.clone().ask(LATER, LeaseRandom { grant: PROBE, nonce: PROBE }) {
        Request::Nothing => Err(()),
        Request::Fence { behind } => Ok(Some(behind)),
        _ => Ok(None),
    }
}

/// The same lease as if it had just been begun: what it holds, what it has drawn, and whether the store must be fenced, without what
/// only decides when the next attempt is due. With a driver also whether it waits for an attempt, and whether the last one failed:
/// `take_late` depends on that. Without one, a lease that has drawn a nonce waits, so the nonce stays.
fn timeless(lease: &Lease, driver: bool, rename: impl Fn(u8) -> u8) -> Lease {
    let mut same = Lease::new(terms());
    let Ok(fence) = fence_of(lease) else {
        same.close(0);
        return same;
    };
    let (grant, nonce) = drawn(lease);
    let (grant, nonce) = (rename(grant), rename(nonce));
    let random = LeaseRandom { grant: grant.into(), nonce: nonce.into() };
    let refusal = fence.map(|behind| if behind { Refusal::Behind } else { Refusal::Incarnation });
    let mut at = 0;
    let mut ask = |same: &mut Lease| {
        at += 10_000;
        same.ask(at, random);
    };
    let (mut has_failed, waiting) =
        if driver { (lease.failures() > 0, waits(lease)) } else { (fence.is_some(), fence.is_none() && nonce != NONE) };
    if let Some(Held { node, window: Window { from_ms, until_ms } }) = lease.held() {
        let grant = Grant(grant.into());
        let before = Granted { grant, node, from_ms, until_ms: until_ms - 1, store_now_ms: 0 };
        ask(&mut same);
        same.take(&before, 0);
        if nonce != NONE {
            ask(&mut same);
        }
        if let Some(refusal) = refusal {
            same.refuse(grant, refusal, 0, 0);
            ask(&mut same);
        }
        let answer = Granted { until_ms, ..before };
        // A late answer leaves the attempt under way its nonce.
        if nonce == NONE {
            same.take(&answer, 0)
        } else {
            same.take_late(&answer, false, 0)
        };
    } else {
        // Failures count only where a lease is held, and an attempt sets them back before.
        has_failed &= grant != NONE;
        if grant != NONE || refusal.is_some() {
            ask(&mut same);
        }
        if let Some(refusal) = refusal {
            // It draws a grant, which is withdrawn if there was none.
            let drawn = Grant(random.grant);
            same.refuse(drawn, refusal, 0, 0);
            if grant == NONE {
                same.refuse(drawn, Refusal::Lost, 0, 0);
            }
        }
        if grant != NONE && refusal.is_none() && !waiting {
            has_failed = true;
        }
    }
    if has_failed && same.failures() == 0 {
        same.fail(0, 0);
    }
    if waiting && !waits(&same) {
        ask(&mut same);
    }
    assert_eq!((same.held(), drawn(&same), fence_of(&same), waits(&same)), (lease.held(), (grant, nonce), Ok(fence), waiting));
    assert!(!driver || lease.held().is_none() || (same.failures() > 0) == (lease.failures() > 0), "{lease:?}");
    same
}

fn held(lease: &Lease) -> Option<(u8, u8, u8)> {
    lease.held().map(|Held { node, window: Window { from_ms, until_ms } }| {
        (u8::try_from(node).unwrap(), u8::try_from(from_ms).unwrap(), u8::try_from(until_ms).unwrap())
    })
}

fn granted(answer: Answer) -> Granted {
    Granted {
        grant: Grant(answer.grant.into()),
        node: answer.node.into(),
        from_ms: answer.from.into(),
        until_ms: answer.until.into(),
        store_now_ms: answer.now.into(),
    }
}

fn released(release: Release) -> Message {
    Message::Release {
        grant: small(release.grant.0),
        node: u8::try_from(release.node).unwrap(),
        until: u8::try_from(release.until_ms).unwrap(),
        known_until: u8::try_from(release.held_until_ms).unwrap(),
    }
}

/// The bits of the times in `[from, until)`.
fn bits(from: u8, until: u8) -> u32 {
    let below = |time: u8| (1_u32 << time) - 1;
    below(until.max(from)) & !below(from)
}

impl Fleet {
    fn saw(&self, event: Event) {
        self.seen.fetch_or(1 << event as u64, Ordering::Relaxed);
    }

    fn has_seen(&self, event: Event) -> bool {
        self.seen.load(Ordering::Relaxed) & 1 << event as u64 != 0
    }

    fn mint(&self, state: &mut State, node: u8, times: u32) {
        let minted = &mut state.minted[usize::from(node)];
        let again = *minted & times;
        *minted |= times;
        if again & bits(0, state.exposure.until) != 0 {
            self.saw(Event::Exposed);
        }
        let exposed_until = if self.mutant == Mutant::NoExposure { 0 } else { state.exposure.until };
        let beyond = again & !bits(0, exposed_until);
        if beyond != 0 {
            state.repeated = Some((node, u8::try_from(beyond.trailing_zeros()).unwrap()));
        }
    }

    /// The times that a holder can mint now.
    fn mintable(&self, state: &State, holder: &Holder) -> Vec<u8> {
        let Some((_, from, until)) = held(&holder.lease) else { return Vec::new() };
        let times = match self.readings {
            Readings::All => return Vec::new(),
            Readings::UpTo => from..until,
            Readings::Near(skew) => state.now.saturating_sub(skew)..state.now + skew + 1,
        };
        let is_allowed = |time: &u8| match self.mutant {
            Mutant::Ttl => state.now < until,
            Mutant::UpperBoundOnly => *time < until,
            Mutant::LowerBoundOnly => from <= *time,
            _ => from <= *time && *time < until,
        };
        times.filter(|time| *time >= holder.word).filter(is_allowed).collect()
    }

    fn ask(&self, state: &mut State, at: usize) -> Option<()> {
        let slot = u8::try_from(at).unwrap();
        let names = |name: fn(Message) -> u8| state.network.iter().map(move |message| name(*message));
        let used = |name: u8| {
            let stores = [Some(&state.store), state.saved.as_ref()].into_iter().flatten();
            let rows = stores.flat_map(|store| store.rows);
            let leases = state.holders.iter().map(|holder| drawn(&holder.lease));
            name == state.exposure.nonce
                || rows.clone().any(|row| row.grant == name || row.nonce == name)
                || leases.clone().any(|(grant, nonce)| grant == name || nonce == name)
                || names(Message::grant).chain(names(Message::nonce)).any(|known| known == name)
        };
        let mut unused = (1..).filter(|name| !used(*name));
        let (mut grant, mut nonce) = (unused.next().unwrap(), unused.next().unwrap());
        match self.mutant {
            Mutant::SharedNonce => nonce = 100,
            Mutant::SameOwner => grant = 101,
            Mutant::CountedGrants => grant = 102 + state.store.counter,
            _ => {}
        }
        let holder = &mut state.holders[at];
        if self.mutant == Mutant::CountedGrants && drawn(&holder.lease).0 == NONE {
            // Two are enough, and more would be states without end.
            state.store.counter = (state.store.counter < 2).then_some(state.store.counter + 1)?;
        }
        let request = match holder.lease.ask(DUE, LeaseRandom { grant: grant.into(), nonce: nonce.into() }) {
            Request::Acquire { grant, nonce } => Message::Acquire { slot, grant: small(grant.0), nonce: small(nonce.0) },
            Request::Renew { grant, nonce, node, until_ms } => Message::Renew {
                slot,
                grant: small(grant.0),
                nonce: small(nonce.0),
                node: u8::try_from(node).unwrap(),
                until: u8::try_from(until_ms).unwrap(),
            },
            Request::Fence { behind } => Message::Ensure { slot, behind },
            Request::Nothing | Request::Wait { .. } => return None,
        };
        if self.under_way.0 == 1 {
            // The one before is lost.
            state.network.retain(|message| message.sender() != Some(slot));
        }
        if self.driver {
            for message in &mut state.network {
                message.readdress(|to| if to == slot { to | EARLIER } else { to });
            }
            state.holders[at].asks = true;
        }
        state.network.push(request);
        Some(())
    }

    fn give_up(state: &mut State, at: usize) {
        let holder = &mut state.holders[at];
        holder.asks = false;
        holder.lease.fail(DUE, 0);
        let slot = u8::try_from(at).unwrap();
        for message in &mut state.network {
            message.readdress(|to| if to == slot { to | LATE } else { to });
        }
    }

    /// Whether the store can refuse a renewal for another attempt of the same holder only if the lease forgot that attempt.
    fn keeps_its_leases(&self) -> bool {
        self.driver && self.under_way.0 == 1 && self.faults.clones + self.faults.disasters == 0
    }

    /// The store carries a request out, and sends its answer.
    fn carry_out(&self, state: &mut State, message: Message) {
        let (now, server, before) = (state.now, state.server, state.store);
        let (slot, result) = match message {
            Message::Acquire { slot, grant, nonce } => (slot, state.store.acquire(self, now, server, grant, nonce)),
            Message::Renew { slot, grant, nonce, node, until } => {
                (slot, state.store.renew(self, now, server, (grant, nonce, node, until)))
            }
            Message::Ensure { slot, behind } => {
                if state.store.ensure(self, now, server, behind) {
                    self.saw(Event::Fenced);
                }
                return self.answer(state, Message::Fenced { slot });
            }
            Message::Release { grant, node, until, known_until } => {
                self.saw(if state.store.release(self, grant, node, until, known_until) {
                    Event::Released
                } else {
                    Event::ReleasedLate
                });
                return;
            }
            _ => unreachable!("not a request"),
        };
        if let (Ok(answer), Message::Renew { until, .. }) = (result, message) {
            // The row was older than the holder knew.
            state.exposure.is_known |= before.rows[usize::from(answer.node)].until < until;
        }
        if let (Ok(answer), Message::Acquire { .. }) = (result, message) {
            let is_new = before.rows[usize::from(answer.node)].grant != answer.grant;
            if is_new && state.exposure.is_known && answer.from < state.exposure.until {
                state.repeated = Some((answer.node, answer.from));
            }
        }
        if result.is_ok() && message.nonce() == state.exposure.nonce && state.exposure.nonce != NONE {
            state.exposure.until = state.exposure.until.max(now + W);
        }
        let grant = message.grant();
        if let (Message::Renew { node, .. }, Err(Reason::Lost)) = (message, result) {
            state.lost |= self.keeps_its_leases() && before.rows[usize::from(node)].grant == grant;
        }
        match result {
            Ok(answer) => self.answer(state, Message::Granted { slot, answer }),
            Err(reason) => {
                self.saw(match reason {
                    Reason::Lost => Event::Lost,
                    Reason::Taken => Event::AnsweredLate,
                    Reason::Exhausted => Event::Exhausted,
                    Reason::Incarnation => Event::Incarnation,
                    Reason::Behind => Event::Behind,
                });
                self.answer(state, Message::Refused { slot, grant, reason });
            }
        }
    }

    fn answer(&self, state: &mut State, message: Message) {
        if message.addressee() == Some(GONE) {
            return;
        }
        if self.under_way.1 == 1 {
            // The one before is lost.
            state.network.retain(|other| other.addressee() != message.addressee());
        }
        let others = state.network.iter().filter(|other| other.addressee() == message.addressee()).count();
        // The one too many is lost.
        if others < self.under_way.1 {
            state.network.push(message);
        }
    }

    /// A holder receives an answer.
    fn receive(&self, state: &mut State, message: Message, decline: bool) -> Option<()> {
        let at = usize::from(message.addressee().unwrap());
        let holder = &mut state.holders[at];
        let before = held(&holder.lease);
        let old = drawn(&holder.lease).0;
        let (is_late, is_last) = (message.is_late(), message.is_of_the_last() || self.mutant == Mutant::LateIsLast);
        let was_asking = holder.asks;
        if !is_late {
            holder.asks = false;
        } else if !matches!(message, Message::Granted { .. }) {
            return Some(());
        }
        let change = match message {
            Message::Granted { mut answer, .. } => {
                if let (Mutant::PartialAnswers, Some((node, from, _))) = (self.mutant, before) {
                    (answer.node, answer.from) = (node, from);
                }
                let change = if is_late && self.mutant != Mutant::LateAsInTime {
                    holder.lease.take_late(&granted(answer), is_last, DUE)
                } else {
                    holder.lease.take(&granted(answer), DUE)
                };
                if is_late && matches!(change, Change::Begun | Change::Extended) {
                    self.saw(if was_asking { Event::LateDuringAnother } else { Event::LateTaken });
                }
                if decline {
                    if change != Change::Begun {
                        return None;
                    }
                    self.saw(Event::Declined);
                    let release = holder.lease.decline(&granted(answer), DUE);
                    state.network.push(released(release));
                    return Some(());
                }
                if change == Change::Ended {
                    self.saw(Event::AnotherRow);
                }
                change
            }
            Message::Refused { grant, reason, .. } => {
                let refusal = match reason {
                    Reason::Lost => Refusal::Lost,
                    Reason::Taken | Reason::Exhausted => Refusal::Exhausted { retry_after_ms: 1 },
                    Reason::Incarnation => Refusal::Incarnation,
                    Reason::Behind => Refusal::Behind,
                };
                holder.lease.refuse(Grant(grant.into()), refusal, DUE, 0)
            }
            Message::Fenced { .. } => {
                holder.lease.fenced(DUE);
                Change::None
            }
            _ => unreachable!("not an answer"),
        };
        let now = held(&holder.lease);
        match change {
            Change::None => assert_eq!(before, now),
            Change::Begun => {
                self.saw(Event::Begun);
                holder.word = 0;
            }
            Change::Extended => self.saw(Event::Extended),
            Change::Ended => {
                self.saw(Event::Ended);
                assert_eq!(now, None);
                holder.word = 0;
                holder.decided = None;
                if self.mutant == Mutant::EndedGrantAgain {
                    // Not held, with the grant of before.
                    holder.lease = Lease::new(terms());
                    holder.lease.ask(DUE, LeaseRandom { grant: old.into(), nonce: 103 });
                }
            }
        }
        if let Some((node, from, until)) = now {
            if change == Change::Begun && state.minted[usize::from(node)] != 0 {
                self.saw(Event::NodeIdReused);
            }
            if change == Change::Begun && from > 0 && from == state.store.fence {
                self.saw(Event::BegunAfterFence);
            }
            if self.readings == Readings::All {
                let minted_from = before.map_or(from, |(_, _, until)| until);
                self.mint(state, node, bits(minted_from, until));
            }
        }
        Some(())
    }

    fn close(&self, state: &mut State, at: usize) {
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

    fn copy(&self, state: &mut State, at: usize) {
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

    /// What makes two states equal that differ only in what can never matter again.
    fn tidy(&self, state: &mut State) {
        let known: Vec<_> = state.holders.iter().map(|holder| drawn(&holder.lease)).collect();
        let are_grants_new = !matches!(self.mutant, Mutant::EndedGrantAgain | Mutant::CountedGrants | Mutant::SameOwner);
        state.network.retain(|message| {
            let Some(slot) = message.addressee() else { return true };
            let lease = &state.holders[usize::from(slot)].lease;
            if matches!(message, Message::Fenced { .. }) || known[usize::from(slot)].0 == message.grant() || !are_grants_new {
                return true;
            }
            // An answer with another grant changes nothing, now and for ever, since a grant is never drawn again.
            let mut same = lease.clone();
            match *message {
                Message::Granted { answer, .. } => assert_eq!(same.take(&granted(answer), DUE), Change::None),
                _ => assert_eq!(same.refuse(Grant(message.grant().into()), Refusal::Lost, DUE, 0), Change::None),
            }
            assert_eq!(same, *lease);
            self.saw(Event::AnswerOfAnEndedLease);
            false
        });
        state.network.sort_unstable();
        let messages = &state.network;
        let is_grant = |name: u8| {
            known.iter().any(|(grant, _)| *grant == name)
                || messages.iter().any(|message| message.grant() == name)
                || !are_grants_new
        };
        let is_attempt =
            |name: u8| known.iter().any(|(_, nonce)| *nonce == name) || messages.iter().any(|message| message.nonce() == name);
        if !is_attempt(state.exposure.nonce) {
            state.exposure.nonce = NONE;
        }
        state.store.forget(is_grant, is_attempt);
        if let Some(saved) = &mut state.saved {
            saved.forget(is_grant, is_attempt);
        }
        if self.mutant != Mutant::NoExposure {
            for minted in &mut state.minted {
                *minted &= !bits(0, state.exposure.until);
            }
        }
        Self::rename(state, self.driver);
    }

    /// Sorts the holders, which are alike, and names grants and nonces in the order in which they are found.
    fn rename(state: &mut State, driver: bool) {
        let key = |holder: &Holder| {
            let (grant, nonce) = drawn(&holder.lease);
            (held(&holder.lease), grant != NONE, nonce != NONE, holder.word, holder.decided, holder.asks)
        };
        let mut order: Vec<_> = (0..state.holders.len()).collect();
        order.sort_by_key(|at| key(&state.holders[*at]));
        let place = |slot: u8| order.iter().position(|at| *at == usize::from(slot)).map_or(slot, |at| u8::try_from(at).unwrap());
        for message in &mut state.network {
            message.readdress(place);
        }
        state.network.sort_unstable();
        state.holders = order.iter().map(|at| state.holders[*at].clone()).collect();

        let mut names = vec![NONE];
        let mut meet = |name: u8| {
            if !names.contains(&name) {
                names.push(name);
            }
        };
        for holder in &state.holders {
            let (grant, nonce) = drawn(&holder.lease);
            meet(grant);
            meet(nonce);
        }
        for row in [Some(&state.store), state.saved.as_ref()].into_iter().flatten().flat_map(|store| &store.rows) {
            meet(row.grant);
            meet(row.nonce);
        }
        for message in &state.network {
            meet(message.grant());
            meet(message.nonce());
        }
        meet(state.exposure.nonce);
        let new = |name: u8| {
            // Drawn by a mutant.
            if name >= 100 { name } else { u8::try_from(names.iter().position(|known| *known == name).unwrap()).unwrap() }
        };
        for holder in &mut state.holders {
            holder.lease = timeless(&holder.lease, driver, new);
        }
        for row in [Some(&mut state.store), state.saved.as_mut()].into_iter().flatten().flat_map(|store| &mut store.rows) {
            (row.grant, row.nonce) = (new(row.grant), new(row.nonce));
        }
        for message in &mut state.network {
            message.rename(new);
        }
        state.exposure.nonce = new(state.exposure.nonce);
        state.network.sort_unstable();
    }
}

impl Model for Fleet {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            now: 0,
            server: 0,
            store: Store::default(),
            saved: None,
            network: Vec::new(),
            holders: vec![fresh(); self.holders],
            minted: [0; 2],
            exposure: Exposure::default(),
            budget: self.faults,
            repeated: None,
            lost: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.repeated.is_some() || state.lost {
            return;
        }
        let Budget { crashes, closes, declines, duplicates, clones, saves, disasters, steps_back } = state.budget;
        if state.now < self.horizon {
            actions.push(Action::Tick);
        }
        if steps_back > 0 && state.now > 1 {
            actions.push(Action::StepBack);
        }
        for (at, message) in state.network.iter().enumerate() {
            // Of equal messages one is enough.
            if at > 0 && state.network[at - 1] == *message {
                continue;
            }
            if self.under_way != (1, 1) {
                actions.push(Action::Lose(at));
            }
            actions.push(Action::Deliver { at, duplicate: false, decline: false });
            if duplicates > 0 {
                actions.push(Action::Deliver { at, duplicate: true, decline: false });
            }
            if declines > 0 && matches!(message, Message::Granted { .. }) {
                actions.push(Action::Deliver { at, duplicate: false, decline: true });
            }
        }
        for (at, holder) in state.holders.iter().enumerate() {
            let requests = state.network.iter().filter(|message| message.sender() == u8::try_from(at).ok()).count();
            if holder.asks {
                actions.push(Action::GiveUp(at));
            } else if requests < self.under_way.0 || self.under_way.0 == 1 {
                actions.push(Action::Ask(at));
            }
            actions.extend(self.mintable(state, holder).into_iter().map(|time| Action::Mint(at, time)));
            if let Some((_, time)) = holder.decided {
                match (self.mutant, self.readings) {
                    (Mutant::CheckThenMint, Readings::Near(skew)) => actions.extend(
                        (state.now.saturating_sub(skew)..=state.now + skew)
                            .filter(|time| *time >= holder.word)
                            .map(|time| Action::Finish(at, time)),
                    ),
                    _ => actions.push(Action::Finish(at, time)),
                }
            }
            if crashes > 0 && *holder != fresh() {
                actions.push(Action::Crash(at));
            }
            if closes > 0 && held(&holder.lease).is_some() {
                actions.push(Action::Close(at));
            }
            if clones > 0 && *holder != fresh() {
                actions.push(Action::Clone(at));
            }
        }
        if saves > 0 {
            actions.push(Action::Save);
        }
        if disasters > 0 && state.saved.is_some() {
            if let Some(behind) = self.failover {
                actions.extend((0..=behind.min(state.now)).map(Action::Failover));
            }
            if self.restore {
                actions.push(Action::Restore);
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut next = last.clone();
        let state = &mut next;
        match action {
            Action::Tick => state.now += 1,
            Action::StepBack => {
                state.budget.steps_back -= 1;
                state.now -= 2;
            }
            Action::Ask(at) => self.ask(state, at)?,
            Action::GiveUp(at) => Self::give_up(state, at),
            Action::Lose(at) => drop(state.network.remove(at)),
            Action::Deliver { at, duplicate, decline } => {
                let message = state.network[at];
                state.budget.duplicates -= u8::from(duplicate);
                state.budget.declines -= u8::from(decline);
                if !duplicate {
                    state.network.remove(at);
                }
                if message.addressee().is_some() {
                    self.receive(state, message, decline)?;
                } else {
                    self.carry_out(state, message);
                }
            }
            Action::Mint(at, time) => {
                let holder = &mut state.holders[at];
                let (node, from, _) = held(&holder.lease).unwrap();
                if matches!(self.mutant, Mutant::CheckThenMint | Mutant::ReleaseBesideCalls) && holder.decided.is_none() {
                    holder.decided = Some((node, time));
                } else {
                    let first = if self.readings == Readings::UpTo { from.max(holder.word) } else { time };
                    holder.word = time + 1;
                    self.mint(state, node, bits(first, time + 1));
                }
            }
            Action::Finish(at, time) => {
                let holder = &mut state.holders[at];
                let (node, _) = holder.decided.take().unwrap();
                holder.word = time + 1;
                self.mint(state, node, bits(time, time + 1));
            }
            Action::Crash(at) => {
                state.budget.crashes -= 1;
                state.holders[at] = fresh();
                let slot = u8::try_from(at).unwrap();
                state.network.retain(|message| message.addressee() != Some(slot));
                for message in &mut state.network {
                    message.readdress(|to| if to == slot { GONE } else { to });
                }
            }
            Action::Close(at) => self.close(state, at),
            Action::Clone(at) => self.copy(state, at),
            Action::Save => {
                state.budget.saves -= 1;
                state.saved = Some(state.store);
            }
            Action::Failover(behind) => {
                state.budget.disasters -= 1;
                state.store = state.saved.take()?;
                state.server += 1;
                state.now -= behind;
            }
            Action::Restore => {
                state.budget.disasters -= 1;
                state.store = state.saved.take()?;
                state.exposure.until = state.exposure.until.max(state.now + W);
            }
        }
        self.tidy(state);
        (next != *last).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(GUARANTEE, |_, state: &State| state.repeated.is_none() && !state.lost)]
    }
}

// ------------------------------------------------------------------------------------------------------------ configurations

fn fleet(name: &'static str) -> Fleet {
    Fleet {
        name,
        nodes: 1,
        holders: 2,
        horizon: 6,
        under_way: (1, 1),
        readings: Readings::All,
        faults: Budget::default(),
        failover: None,
        restore: false,
        driver: false,
        mutant: Mutant::None,
        seen: Arc::default(),
    }
}

fn crash() -> Fleet {
    Fleet { faults: Budget { crashes: 1, ..Budget::default() }, ..fleet("a holder crashes") }
}

fn close() -> Fleet {
    let faults = Budget { closes: 1, ..Budget::default() };
    Fleet { faults, readings: Readings::UpTo, horizon: 5, ..fleet("a holder closes") }
}

fn decline() -> Fleet {
    Fleet { faults: Budget { declines: 1, ..Budget::default() }, horizon: 5, ..fleet("a holder declines") }
}

fn clocks() -> Fleet {
    Fleet { readings: Readings::Near(2), horizon: 5, ..fleet("clocks of holders step") }
}

fn step_back() -> Fleet {
    let faults = Budget { steps_back: 1, crashes: 1, ..Budget::default() };
    Fleet { faults, horizon: 5, ..fleet("the store's clock steps back") }
}

fn reorder() -> Fleet {
    Fleet { under_way: (2, 2), horizon: 3, ..fleet("messages overtake") }
}

fn duplicate() -> Fleet {
    Fleet { faults: Budget { duplicates: 1, ..Budget::default() }, nodes: 2, horizon: 4, ..fleet("a message comes twice") }
}

fn copy() -> Fleet {
    Fleet { faults: Budget { clones: 1, ..Budget::default() }, holders: 1, ..fleet("a holder is copied") }
}

fn failover() -> Fleet {
    let faults = Budget { saves: 1, disasters: 1, ..Budget::default() };
    Fleet { faults, failover: Some(MARGIN), horizon: 5, ..fleet("a replica takes over") }
}

fn restore() -> Fleet {
    let faults = Budget { saves: 1, disasters: 1, ..Budget::default() };
    Fleet { faults, restore: true, horizon: 5, ..fleet("the store is put back") }
}

fn copy_and_close() -> Fleet {
    // The third holder is the process that starts after the one that closed.
    let faults = Budget { clones: 1, closes: 1, crashes: 1, ..Budget::default() };
    Fleet { faults, holders: 1, readings: Readings::UpTo, horizon: 1, ..fleet("a holder is copied, one copy closes") }
}

fn close_and_crash() -> Fleet {
    let faults = Budget { closes: 1, crashes: 1, ..Budget::default() };
    Fleet { faults, readings: Readings::UpTo, horizon: 3, ..fleet("a holder closes, one crashes") }
}

/// The shipped driver: an attempt that it gives up is answered later.
fn late() -> Fleet {
    Fleet { driver: true, under_way: (1, 2), horizon: 4, ..fleet("answers come after their attempt") }
}

fn late_and_overtaken() -> Fleet {
    Fleet { driver: true, under_way: (2, 2), holders: 1, horizon: 4, ..fleet("late answers and requests overtake") }
}

fn late_and_copied() -> Fleet {
    let faults = Budget { clones: 1, ..Budget::default() };
    Fleet { driver: true, faults, holders: 1, under_way: (1, 2), horizon: 1, ..fleet("a holder with late answers is copied") }
}

fn late_and_failover() -> Fleet {
    let faults = Budget { saves: 1, disasters: 1, ..Budget::default() };
    let name = "a replica takes over, and answers come late";
    Fleet { driver: true, faults, failover: Some(MARGIN), under_way: (1, 2), holders: 1, horizon: 4, ..fleet(name) }
}

/// Explores all of it. Returns the shortest path to an ID that repeats or a lease that is lost to its own holder, if there is one.
fn explore(fleet: &Fleet) -> Option<Vec<Action>> {
    let began = Instant::now();
    let checker = fleet.clone().checker().spawn_bfs().join();
    let path = checker.discovery(GUARANTEE);
    let took_s = began.elapsed().as_secs_f64();
    let Fleet { name, mutant, nodes, holders, horizon, .. } = fleet;
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    let transitions = checker.state_count() - 1; // the first state comes from none
    // Other tests run at the same time.
    let _whole_lines = std::io::stdout().lock();
    print!("{name} ({holders} holders, {nodes} node ids, time {horizon}");
    print!(
        "{}): {states} states, {transitions} transitions, {depth} steps, {took_s:.1} s",
        if *mutant == Mutant::None { String::new() } else { format!(", {mutant:?}") }
    );
    if std::env::var_os("LEASE_MODEL_PATH").is_some() {
        for (state, action) in path.iter().flat_map(|path| path.clone().into_vec()) {
            print!("\n{state:?}\n  {action:?}");
        }
    }
    let path = path.map(stateright::Path::into_actions);
    println!("{}", path.as_ref().map_or(String::new(), |path| format!(", the guarantee is broken after {}", path.len())));
    path
}

/// Nothing repeats, and each of these things happened in some history.
fn prove(fleet: &Fleet, events: &[Event]) {
    assert_eq!(explore(fleet), None);
    for event in USUAL.iter().chain(events) {
        assert!(fleet.has_seen(*event), "never happened: {event:?}");
    }
}

/// What happens in every configuration.
const USUAL: [Event; 6] =
    [Event::Begun, Event::Extended, Event::Ended, Event::NodeIdReused, Event::AnsweredAgain, Event::AnswerOfAnEndedLease];

macro_rules! proofs {
    ($($name:ident: [$($fleet:expr),*], [$($event:ident),*];)*) => {$(
        #[test]
        #[cfg_attr(debug_assertions, ignore = "needs a build with optimisation: npm test -- lease-model")]
        fn $name() {
            for fleet in [$($fleet),*] {
                prove(&fleet, &[$(Event::$event),*]);
            }
        }
    )*};
}

proofs! {
    a_copy_that_closes_frees_nothing_that_the_other_renewed: [copy_and_close()], [Closed, Released, ReleasedLate];
    nothing_repeats_when_a_holder_crashes: [crash(), Fleet { holders: 3, horizon: 4, ..crash() }], [RenewedAfterExpiry, Exhausted, Lost];
    nothing_repeats_when_a_holder_closes: [close(), close_and_crash()], [RenewedAfterExpiry, Closed, Released, ReleasedLate];
    nothing_repeats_when_a_holder_declines: [decline()], [RenewedAfterExpiry, Declined, Released];
    nothing_repeats_when_the_clocks_of_holders_step: [clocks()], [RenewedAfterExpiry, Exhausted, Lost];
    nothing_repeats_when_the_clock_of_the_store_steps_back: [step_back()], [RenewedAfterExpiry, Exhausted, Lost];
    nothing_repeats_when_messages_overtake_each_other: [reorder()], [RenewedAfterExpiry, AnsweredLate, Lost];
    nothing_repeats_when_answers_come_after_their_attempt: [late(), late_and_overtaken()], [LateTaken, LateDuringAnother, Lost];
    a_copy_of_a_holder_with_late_answers_repeats_nothing_beyond_one_window: [late_and_copied()], [LateTaken, LateDuringAnother, Exposed, Lost];
    nothing_repeats_when_a_replica_takes_over_and_answers_come_late: [late_and_failover()],
        [LateTaken, LateDuringAnother, Incarnation, Fenced, Behind, Healed];
    nothing_repeats_when_a_message_comes_twice: [duplicate()], [RenewedAfterExpiry, AnotherRow, Lost];
    a_copy_repeats_nothing_beyond_one_window: [copy(), Fleet { holders: 2, horizon: 3, ..copy() }], [RenewedAfterExpiry, Exposed, AnsweredLate, Lost];
    nothing_repeats_when_a_replica_takes_over: [failover()], [RenewedAfterExpiry, Incarnation, Fenced, BegunAfterFence, Behind, Healed];
    a_store_that_went_back_repeats_nothing_beyond_one_window: [restore(), Fleet { nodes: 2, horizon: 2, ..restore() }],
        [RenewedAfterExpiry, Behind, Fenced, Healed];
}

macro_rules! mutants {
    ($($name:ident: $mutant:ident, $fleet:expr;)*) => {$(
        #[test]
        #[cfg_attr(debug_assertions, ignore = "needs a build with optimisation: npm test -- lease-model")]
        fn $name() {
            assert_ne!(explore(&Fleet { mutant: Mutant::$mutant, ..$fleet }), None, "the model does not see the defect");
        }
    )*};
}

mutants! {
    found_a_lease_that_bounds_no_times: Ttl, clocks();
    found_a_window_without_a_start: UpperBoundOnly, clocks();
    found_a_window_without_an_end: LowerBoundOnly, clocks();
    found_a_clock_that_is_read_again_after_the_check: CheckThenMint, clocks();
    found_a_release_before_the_close: ReleaseBeforeClose, close();
    found_a_release_beside_calls_in_flight: ReleaseBesideCalls, close();
    found_a_release_by_its_grant_alone: ReleaseByGrantAlone, copy_and_close();
    found_a_failover_without_a_fence: NoFence, failover();
    found_a_fence_on_acquire_only: FenceOnAcquireOnly, failover();
    found_a_fence_without_a_margin: FenceWithoutMargin, failover();
    found_a_window_that_ended_before_the_fence_and_is_renewed: EndedWindowRenewed, failover();
    found_a_row_that_is_healed_without_a_fence: HealedWithoutFence, Fleet { nodes: 2, horizon: 2, ..restore() };
    found_a_renewal_without_a_nonce: NoNonce, copy();
    found_a_nonce_that_copies_share: SharedNonce, copy();
    found_an_acquire_that_is_answered_again_by_its_grant_alone: AcquireByGrantAlone, copy();
    found_an_ended_grant_that_is_taken_again: EndedGrantAgain, duplicate();
    found_answers_that_are_not_the_whole_lease: PartialAnswers, duplicate();
    found_a_counter_in_the_place_of_the_grant: CountedGrants, Fleet { holders: 1, horizon: 1, under_way: (1, 2), ..failover() };
    found_an_owner_in_the_place_of_the_grant: SameOwner, crash();
    found_a_late_answer_that_is_taken_for_that_of_the_attempt_under_way: LateAsInTime, late();
    found_a_late_answer_that_ends_the_nonce_of_later_attempts: LateIsLast, late();
    limit_a_copy_repeats_within_one_window: NoExposure, copy();
    limit_a_store_that_went_back_unseen_repeats_within_one_window: NoExposure, restore();
    limit_a_store_whose_clock_is_behind_by_more_than_the_margin: None, Fleet { failover: Some(MARGIN + 1), ..failover() };
}

/// `timeless` makes a lease anew from what these fields say. If there is another field, it must be considered there.
#[test]
fn a_lease_has_the_fields_that_the_model_knows() {
    let text = format!("{:?}", Lease::new(terms()));
    let fields = [
        "terms",
        "grant",
        "nonce",
        "held",
        "fence",
        "has_hurried",
        "began_ms",
        "outstanding",
        "due_ms",
        "failures",
        "declined",
        "closed",
    ];
    let of_terms = ["window_ms", "renew_after_ms", "timeout_ms", "has_copies"];
    assert_eq!(text.matches(": ").count(), fields.len() + of_terms.len(), "{text}");
    for field in fields.iter().chain(&of_terms) {
        assert!(text.contains(&format!(" {field}: ")), "{field} of {text}");
    }
}
