//! Sharing: one atomic word for all threads, and the registry that makes equal generators meet on it.
//!
//! # Why one `Relaxed` word is enough
//! Everything a reservation decides is in the word. A compare-and-swap moves it from the value the decision was based on
//! to a larger one, so two reservations can never take the same positions: that needs only the single modification order
//! that every atomic has, at any ordering. The word never takes a value twice, so there is no ABA. Coherence gives the
//! order: if one call happened before another, the second finds a later word.
//!
//! * **Lock-free**: a lost compare-and-swap means that somebody else minted.
//! * **Clock first**: the time is read before the word, so the window in which a swap can be lost is two instructions
//!   long. A time that is stale by then looks like a step back and is answered with a recheck.
//! * **Never forgotten**: a [`Registry`] keeps every state it made, because a state that is dropped and made anew would
//!   start over. It holds one state per layout geometry and node id, some 200 bytes each.
//!
//! Not covered: two processes, or two WebAssembly instances, with one node id. They share no memory.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::clock::Clock;
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::generator::{Block, Machine, Outcome};
use crate::id::Node;
use crate::layout::{Geometry, Layout};

/// The most that one bulk call may ask for: 2^20 IDs are 8 MiB.
///
/// ```
/// # use frazil::{Generator, GeneratorOptions, Layout, MAX_COUNT, ManualClock, Node};
/// let ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
/// let error = ids.fill(&ManualClock::new(1_704_067_200_001), &mut vec![0; MAX_COUNT + 1]).unwrap_err();
/// assert_eq!((error.field(), error.value()), ("count", Some(1_048_577)));
/// # Ok::<(), frazil::Error>(())
/// ```
pub const MAX_COUNT: usize = 1 << 20;
/// The most that a static node id may run ahead of the clock.
const MAX_STATIC_LEAD_MS: u64 = 1000;
/// `maxLeadMs` of a static node id.
const DEFAULT_STATIC_LEAD_MS: u64 = 10;

/// What all generators of one geometry and node id share. On its own pair of cache lines, so that minting does not slow
/// down its neighbours (adjacent lines are fetched in pairs on x86-64).
#[derive(Debug)]
#[repr(align(128))]
struct State {
    word: AtomicU64,
    /// Nothing is issued while the clock is before this; it only grows.
    from_ms: AtomicU64,
}

impl State {
    const fn new() -> Self {
        Self { word: AtomicU64::new(0), from_ms: AtomicU64::new(0) }
    }
}

/// What tells states apart: everything that decides which numbers come out, and no names.
type StateKey = [u64; 5];

impl Machine {
    /// The epoch, the tick, the node bits, the node id in its place, and the places of the other fields, each below 2^7.
    fn key(&self) -> StateKey {
        let g = &self.geometry;
        let places = [g.time, g.clock, g.sequence]
            .iter()
            .fold(0, |places, span| (places << 14) | u64::from((span.shift << 7) | span.bits));
        [g.epoch_ms, g.tick_ms.get(), g.node_mask, self.node, places]
    }
}

/// What a generator is made with.
///
/// ```
/// use frazil::{GeneratorOptions, Layout, Node, Registry};
/// let options = GeneratorOptions { start_ms: Some(1_704_067_200_000), ..GeneratorOptions::new(Node::Id(7)) };
/// let generator = Registry::new().open(&Layout::named("default")?, options)?;
/// assert_eq!(generator.max_lead_ms(), 10);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GeneratorOptions<'a> {
    /// The node id. There is no default.
    pub node: Node<'a>,
    /// How many milliseconds the generator may run ahead of the clock, 0 to 1000. Default: 10, or 0 where `start_ms` is
    /// unknown.
    pub max_lead_ms: Option<u64>,
    /// When the process started, in Unix milliseconds. IDs of a process that had this node id before reach at most
    /// `max_lead_ms` further, so nothing is issued until the first tick beyond that. `None` where it is not known; then
    /// no lead is allowed, and the caller answers for restarts within a tick.
    pub start_ms: Option<u64>,
}

impl<'a> GeneratorOptions<'a> {
    /// The defaults, for a node id.
    ///
    /// ```
    /// let options = frazil::GeneratorOptions::new(frazil::Node::Id(7));
    /// assert_eq!((options.max_lead_ms, options.start_ms), (None, None));
    /// ```
    #[must_use]
    pub const fn new(node: Node<'a>) -> Self {
        Self { node, max_lead_ms: None, start_ms: None }
    }
}

/// The states of a process (or of one WebAssembly instance).
///
/// This type is:
///
/// * **Unsynchronised**: put it behind a lock; opening is rare, and minting does not go through it.
/// * **Interning**: equal layouts and node ids meet on one state whatever their names, so twins never repeat each other.
///
/// ```
/// use frazil::{GeneratorOptions, Layout, ManualClock, Node, Registry};
/// let clock = ManualClock::new(1_704_067_200_001);
/// let mut registry = Registry::new();
/// let leaf = registry.open(&Layout::named("leaf")?, GeneratorOptions::new(Node::Id(113)))?;
/// let parts = Node::Parts(&[("datacenter", 3), ("worker", 17)]);
/// let twitter = registry.open(&Layout::named("twitter")?, GeneratorOptions::new(parts))?;
/// assert_eq!(leaf.next(&clock)? + 1, twitter.next(&clock)?);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Registry {
    /// Sorted by key.
    states: Vec<(StateKey, Arc<State>)>,
    /// The earliest start of the process that was reported: threads that start later report a later one.
    start_ms: Option<u64>,
}

impl Registry {
    /// A registry without states.
    ///
    /// ```
    /// assert!(frazil::Registry::new().is_empty());
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self { states: Vec::new(), start_ms: None }
    }

    /// How many states there are.
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Layout, Node, Registry};
    /// let mut registry = Registry::new();
    /// for _ in 0..1000 {
    ///     registry.open(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// }
    /// assert_eq!(registry.len(), 1);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is no state yet.
    ///
    /// ```
    /// assert!(frazil::Registry::new().is_empty());
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// A generator on the one state of its geometry and node id.
    ///
    /// # Errors
    /// `INVALID_NODE` as [`Layout::join_node`]; `INVALID_OPTION` for a `max_lead_ms` over 1000, or over 0 where the start
    /// of the process is unknown.
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Layout, Node, Registry};
    /// let options = GeneratorOptions { max_lead_ms: Some(1001), ..GeneratorOptions::new(Node::Id(7)) };
    /// let error = Registry::new().open(&Layout::named("default")?, options).unwrap_err();
    /// assert_eq!((error.field(), error.value()), ("max_lead_ms", Some(1001)));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn open(&mut self, layout: &Layout, options: GeneratorOptions<'_>) -> Result<Generator> {
        self.open_placed(layout.geometry, layout.join_node(options.node)?, options.max_lead_ms, options.start_ms)
    }

    pub(crate) fn open_placed(
        &mut self,
        geometry: Geometry,
        node: u32,
        max_lead_ms: Option<u64>,
        start_ms: Option<u64>,
    ) -> Result<Generator> {
        let max_lead_ms = max_lead_ms.unwrap_or(if start_ms.is_some() { DEFAULT_STATIC_LEAD_MS } else { 0 });
        if start_ms.is_none() && max_lead_ms != 0 {
            let rule = Rule::NoStartLead;
            return Err(Error::number(Code::InvalidOption, Subject::MaxLeadMs, rule, max_lead_ms, (0, 0)));
        }
        let machine = static_machine(geometry, node, max_lead_ms)?;
        let key = machine.key();
        let state = match self.states.binary_search_by(|entry| entry.0.cmp(&key)) {
            Ok(at) => Arc::clone(&self.states[at].1),
            Err(at) => {
                let state = Arc::new(State::new());
                self.states.insert(at, (key, Arc::clone(&state)));
                state
            }
        };
        if let Some(start_ms) = start_ms {
            let start_ms = self.start_ms.map_or(start_ms, |known| known.min(start_ms));
            self.start_ms = Some(start_ms);
            state.from_ms.fetch_max(machine.first_ms_after(start_ms), Ordering::Relaxed);
        }
        Ok(Generator { machine, state })
    }
}

fn static_machine(geometry: Geometry, node: u32, max_lead_ms: u64) -> Result<Machine> {
    if max_lead_ms > MAX_STATIC_LEAD_MS {
        let bounds = (0, MAX_STATIC_LEAD_MS);
        return Err(Error::number(Code::InvalidOption, Subject::MaxLeadMs, Rule::StaticLead, max_lead_ms, bounds));
    }
    Ok(Machine::placed(geometry, node, max_lead_ms))
}

/// What one call reserved.
///
/// ```
/// # use frazil::{GeneratorOptions, Layout, Node, Registry, Reservation};
/// let generator = Registry::new().open(&Layout::named("sonyflake")?, GeneratorOptions::new(Node::Id(7)))?;
/// let Ok(Reservation::Issued { wall_tick_ms, .. }) = generator.reserve(1_409_529_600_015, 1, false) else { unreachable!() };
/// assert_eq!(wall_tick_ms, (1_409_529_600_010, 1_409_529_600_020));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reservation {
    /// These IDs are the caller's, and nobody else's.
    Issued {
        /// The IDs.
        block: Block,
        /// The Unix milliseconds `[from, until)` of the clock's tick: as long as the clock stays in it, the block is as
        /// fresh as a new one.
        wall_tick_ms: (u64, u64),
    },
    /// Read the clock once more and ask again, `confirmed`.
    Recheck,
}

/// Mints IDs from a state that it may share with others.
///
/// This type is:
///
/// * **Lock-free and `Sync`**: one compare-and-swap a reservation, `Relaxed`.
/// * **Strictly increasing** for each caller in an ordered layout ([`crate::Plan::ordered`]).
/// * **Non-blocking**: it never waits and never spins on the clock; a refusal says how long to wait.
///
/// Do not use it where a process can start again within a tick without a `start_ms`, or where another machine may hold the
/// same node id: then the promise is the caller's alone.
///
/// ```
/// use frazil::{Code, GeneratorOptions, Layout, ManualClock, Node, Registry};
/// let clock = ManualClock::new(1_704_067_200_001);
/// let ids = Registry::new().open(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
/// assert_eq!(ids.next(&clock)?, 4_222_976);
/// assert_eq!(ids.next(&clock)?, 4_222_977);
/// clock.set_ms(1_704_067_200_000); // one millisecond back, and no lead is allowed: refused, not repeated
/// let error = ids.next(&clock).unwrap_err();
/// assert_eq!((error.code(), error.retry_after_ms()), (Code::ClockBackward, 1));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Generator {
    machine: Machine,
    state: Arc<State>,
}

impl Generator {
    /// A generator on a state of its own, for tests and simulations: outside the promise, since nothing keeps another one
    /// with the same node id from issuing the same IDs.
    ///
    /// # Errors
    /// As [`Registry::open`].
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Generator, Layout, ManualClock, Node};
    /// let simulated = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// assert_eq!(simulated.next(&ManualClock::new(1_704_067_200_000))?, 7 << 12);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn private(layout: &Layout, options: GeneratorOptions<'_>) -> Result<Self> {
        Self::private_placed(layout.geometry, layout.join_node(options.node)?, options.max_lead_ms, options.start_ms)
    }

    pub(crate) fn private_placed(geometry: Geometry, node: u32, max_lead_ms: Option<u64>, start_ms: Option<u64>) -> Result<Self> {
        let machine = static_machine(geometry, node, max_lead_ms.unwrap_or(DEFAULT_STATIC_LEAD_MS))?;
        let state = State::new();
        if let Some(start_ms) = start_ms {
            state.from_ms.fetch_max(machine.first_ms_after(start_ms), Ordering::Relaxed);
        }
        Ok(Self { machine, state: Arc::new(state) })
    }

    /// The rules it mints by.
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Generator, Layout, Node};
    /// let ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// assert_eq!(ids.machine().max_block(), 1024);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn machine(&self) -> &Machine {
        &self.machine
    }

    /// How far it may run ahead of the clock.
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Generator, Layout, Node};
    /// let ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// assert_eq!(ids.max_lead_ms(), 10);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn max_lead_ms(&self) -> u64 {
        self.machine.max_lead_ms
    }

    /// Whether both mint by the same rules from the same state, which has one geometry and node id.
    #[cfg(feature = "page")]
    pub(crate) fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.state, &other.state) && self.max_lead_ms() == other.max_lead_ms()
    }

    /// Reserves up to `want` IDs (at least one) for the clock reading `now_ms`.
    ///
    /// # Errors
    /// `CLOCK_BACKWARD` and `SEQUENCE_EXHAUSTED` with the milliseconds to wait; `CLOCK_BEFORE_EPOCH`; `TIME_EXHAUSTED`.
    /// Only a call that is `confirmed` is refused; any other is answered with [`Reservation::Recheck`].
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Generator, Layout, Node, Reservation};
    /// let ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// assert_eq!(ids.reserve(0, 1, false)?, Reservation::Recheck);
    /// assert!(ids.reserve(0, 1, true).is_err());
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn reserve(&self, now_ms: u64, want: usize, confirmed: bool) -> Result<Reservation> {
        let from_ms = self.state.from_ms.load(Ordering::Relaxed);
        let mut word = self.state.word.load(Ordering::Relaxed);
        loop {
            match self.machine.reserve(word, from_ms, now_ms, want, confirmed) {
                // Relaxed: see the module's introduction. No pause after a lost swap: it tripled the contended cost.
                Outcome::Issued { word: next, block } => {
                    match self.state.word.compare_exchange_weak(word, next, Ordering::Relaxed, Ordering::Relaxed) {
                        Ok(_) => return Ok(Reservation::Issued { block, wall_tick_ms: self.machine.wall_tick_ms(now_ms) }),
                        Err(current) => word = current,
                    }
                }
                Outcome::Recheck => return Ok(Reservation::Recheck),
                Outcome::Stalled { retry_at_ms, cause } => {
                    return Err(Error::retry_after(cause, retry_at_ms.saturating_sub(now_ms)));
                }
                Outcome::Refused(error) => return Err(error),
            }
        }
    }

    fn reserve_by(&self, clock: &impl Clock, want: usize) -> Result<Block> {
        for confirmed in [false, true] {
            if let Reservation::Issued { block, .. } = self.reserve(clock.now_ms()?, want, confirmed)? {
                return Ok(block);
            }
        }
        // A confirmed reservation is never answered with a recheck.
        Err(Error::new(Code::ClockBackward))
    }

    /// The next ID.
    ///
    /// # Errors
    /// As [`Generator::reserve`]; the clock is read a second time before the call is refused.
    ///
    /// ```
    /// use frazil::{GeneratorOptions, Layout, Node, Registry, SystemClock};
    /// let ids = Registry::new().open(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// let (first, second) = (ids.next(&SystemClock)?, ids.next(&SystemClock)?);
    /// assert!(first < second);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn next(&self, clock: &impl Clock) -> Result<u64> {
        self.reserve_by(clock, 1).map(|block| block.first())
    }

    /// Fills `out` from the front with as many IDs as the clock and the lead allow at once, and returns how many: at least
    /// one, unless `out` is empty. Call again with the rest once time has passed.
    ///
    /// # Errors
    /// As [`Generator::next`], and `INVALID_ARGUMENT` for more than [`MAX_COUNT`] places; nothing is issued then.
    ///
    /// ```
    /// use frazil::{GeneratorOptions, Layout, ManualClock, Node, Registry};
    /// let ids = Registry::new().open(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// let mut out = [0; 5000];
    /// assert_eq!(ids.fill(&ManualClock::new(1_704_067_200_001), &mut out)?, 4096);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn fill(&self, clock: &impl Clock, out: &mut [u64]) -> Result<usize> {
        if out.len() > MAX_COUNT {
            let bounds = (0, MAX_COUNT as u64);
            let (subject, rule) = (Subject::Count, Rule::WholeNumber);
            return Err(Error::number(Code::InvalidArgument, subject, rule, out.len() as u64, bounds));
        }
        if out.is_empty() {
            return Ok(0);
        }
        let block = self.reserve_by(clock, out.len())?;
        block.write(out);
        Ok(block.len())
    }
}
