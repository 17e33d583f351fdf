//! A generator: the machine's rules applied to a state that threads share.
//!
//! [`Generator::reserve`] takes a reading of the clock, reads the word, lets the [`Machine`] decide, and swaps the word. `state.rs`
//! says why one word is enough and which memory orderings the loop needs.
//!
//! * **Lock-free**: a compare-and-swap is lost only to another call that minted.
//! * **Clock first**: the time is read before the word, so a swap can be lost only within two instructions. A time that is old by then
//!   looks like a step back, and the answer is a recheck.
//! * Not covered: two processes, or two WebAssembly instances, with one static node id. They share no memory.

#[cfg(feature = "std")]
use alloc::sync::Arc as KeeperArc;

use super::keeper::{Keeper, StateRef};
use super::machine::{EXHAUSTED, FastPathRange, Key, Machine, Outcome, SequenceStart, Window};
use super::options::{DEFAULT_STATIC_LEAD_MS, GeneratorOptions, ResolvedOptions};
use super::state::State;
#[cfg(feature = "std")]
use super::state::StateAtomics;
use super::stats::{Counters, ENDS_SOON_MS, Health, Stats};
use super::sync::{Arc, AtomicU64, Ordering};
use crate::clock::Clock;
use crate::error::{Code, Error, Result};
use crate::layout::Layout;
#[cfg(feature = "std")]
use crate::layout::Node;

/// Mints IDs from a state that other generators may share.
///
/// This type is:
///
/// * **Lock-free and `Sync`**: one compare-and-swap for each reservation.
/// * **Strictly increasing** for each caller, in an ordered layout ([`crate::layout::Plan::ordered`]).
/// * **Non-blocking**: it never waits and never spins on the clock; a refusal says how long to wait.
///
/// The caller must make sure that no other machine has the same node id, and that without a `start_ms` the process does not restart within
/// a tick. Otherwise IDs can repeat.
///
/// ```
/// use frazil::{Code, GeneratorOptions, Layout, Node, Registry};
/// use frazil::clock::ManualClock;
/// let clock = ManualClock::new(1_704_067_200_001);
/// let ids = Registry::new().open(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
/// assert_eq!(ids.next(&clock)?, 4_222_976);
/// assert_eq!(ids.next(&clock)?, 4_222_977);
/// clock.set_ms(1_704_067_200_000); // one millisecond back, and no lead is allowed: refused, not repeated
/// let error = ids.next(&clock).unwrap_err();
/// assert_eq!((error.code(), error.retry_after_ms()), (Code::ClockBackward, 1));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Debug)]
pub struct Generator {
    pub(super) machine: Machine,
    pub(super) state: StateRef,
    pub(super) counters: Counters,
    fast_path: FastPathRange,
}

impl Clone for Generator {
    fn clone(&self) -> Self {
        Self::with(self.machine, self.state.clone())
    }
}

impl Generator {
    /// A generator on its own state, for tests and simulations. It does not guarantee uniqueness: another generator with the
    /// same node id can issue the same IDs.
    ///
    /// # Errors
    /// As [`Registry::open`](crate::Registry::open).
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Generator, Layout, Node};
    /// # use frazil::clock::ManualClock;
    /// let simulated = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// assert_eq!(simulated.next(&ManualClock::new(1_704_067_200_000))?, 7 << 12);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn private(layout: &Layout, options: GeneratorOptions<'_>) -> Result<Self> {
        let generator = Self::private_resolved(&ResolvedOptions::new(layout, options)?)?;
        if generator.lacks_key() {
            generator.offer_key(Key::given_or_drawn(options.key)?);
        }
        Ok(generator)
    }

    pub(crate) fn private_resolved(options: &ResolvedOptions) -> Result<Self> {
        let machine = options.static_machine(options.max_lead_ms.unwrap_or(DEFAULT_STATIC_LEAD_MS))?;
        let state = State::new(&options.geometry, options.sequence_start);
        if let Some(start_ms) = options.start_ms {
            state.delay_until_after_start(&machine, start_ms);
        }
        Ok(Self::on(machine, Arc::new(state)))
    }

    /// A generator on a state of this process.
    pub(crate) fn on(machine: Machine, state: Arc<State>) -> Self {
        Self::with(machine, StateRef::Own(state))
    }

    fn with(machine: Machine, state: StateRef) -> Self {
        Self { machine, state, counters: Counters::new(), fast_path: FastPathRange::new(machine.fast_path()) }
    }

    /// A generator on its own state: [`State::within`].
    #[inline(never)] // one copy in the module instead of one for each caller
    pub(crate) fn within(machine: Machine, start: SequenceStart, window: Window, next_tick: u64) -> Self {
        Self::on(machine, Arc::new(State::within(&machine.geometry, start, window, next_tick)))
    }

    /// Continues on the state of another generator, and keeps the counts.
    pub(crate) fn move_to(&mut self, Self { machine, state, fast_path, .. }: Self) {
        self.machine = machine;
        self.state = state;
        self.fast_path = fast_path;
    }

    /// Moves the end of the window of a state of this process.
    pub(crate) fn extend(&self, until_ms: u64) {
        self.state.atomics().until_ms.fetch_max(until_ms, Ordering::Release);
    }

    /// Sets the end of the window of a state that this generator alone has.
    pub(crate) fn set_until(&self, until_ms: u64) {
        self.state.atomics().until_ms.store(until_ms, Ordering::Relaxed);
        self.fast_path.end();
    }

    /// The end of the tick that an ID would have at this time, regardless of the end of the window; `None` if none could be issued.
    pub(crate) fn due_until_ms(&self, now_ms: u64) -> Option<u64> {
        let atomics = self.state.atomics();
        let window = Window { until_ms: 0, ..atomics.window()? };
        // Once the window is over, its end is the only possible reason to refuse.
        match self.machine.decide(atomics.word.load(Ordering::Acquire), window, atomics.clocks, now_ms, 1) {
            Outcome::Expired { until_ms } => Some(until_ms),
            _ => None,
        }
    }

    /// Closes the state: [`StateAtomics::close`].
    pub(crate) fn close_state(&self) -> Option<u64> {
        self.state.atomics().close(&self.machine)
    }

    /// The tick after the current one: 0 before the first ID.
    pub(crate) fn next_tick(&self) -> u64 {
        match self.state.atomics().word.load(Ordering::Acquire) {
            EXHAUSTED => self.machine.geometry.time.max().saturating_add(1),
            word => self.machine.next_tick(word),
        }
    }

    /// A generator on a state that a [`Keeper`] has. `max_lead_ms` defaults to 1000.
    ///
    /// # Errors
    /// `INVALID_NODE` as [`Layout::join_node`]; `INVALID_OPTION` for a `max_lead_ms` over 1000. [`Keeper`] has an example of a
    /// keeper.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use std::sync::atomic::AtomicU64;
    /// # use frazil::{Code, Generator, Layout, Node, Result};
    /// # use frazil::mint::{StateAtomics, Keeper, SequenceStart};
    /// # #[derive(Debug, Default)]
    /// # struct Frozen { word: AtomicU64, origin: AtomicU64, until_ms: AtomicU64, key: [AtomicU64; 2] }
    /// # impl Keeper for Frozen {
    /// #     fn atomics(&self) -> StateAtomics<'_> {
    /// #         let Self { word, origin, until_ms, key } = self;
    /// #         StateAtomics { word, origin, until_ms, key, start: SequenceStart::Zero, clocks: &[] }
    /// #     }
    /// #     fn extend(&self, until_ms: u64, now_ms: u64) -> Result<u64> { Ok(now_ms) }
    /// # }
    /// let error = Generator::kept(&Layout::named("default")?, Node::Id(7), Some(1001), Arc::new(Frozen::default())).unwrap_err();
    /// assert_eq!((error.code(), error.value()), (Code::InvalidOption, Some(1001)));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn kept(layout: &Layout, node: Node<'_>, max_lead_ms: Option<u64>, keeper: KeeperArc<dyn Keeper>) -> Result<Self> {
        Ok(Self::kept_by(Machine::with_max_lead(layout, node, max_lead_ms)?, keeper))
    }

    /// The same as `kept`, for a machine that exists already.
    #[cfg(feature = "std")]
    pub(crate) fn kept_by(machine: Machine, keeper: KeeperArc<dyn Keeper>) -> Self {
        Self::with(machine, StateRef::Kept(keeper))
    }

    /// The keeper of the state, or `None` for a state of this process.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn keeper(&self) -> Option<&dyn Keeper> {
        self.state.keeper()
    }

    /// Whether the state still needs a key before anything can be issued.
    pub(crate) fn lacks_key(&self) -> bool {
        let atomics = self.state.atomics();
        atomics.start != SequenceStart::Zero && atomics.key().is_none()
    }

    /// Gives the state a key if it needs one and has none.
    pub(crate) fn offer_key(&self, key: Key) {
        // A keeper brings the key of its state.
        if let StateRef::Own(state) = &self.state
            && state.start != SequenceStart::Zero
        {
            state.offer_key(key);
        }
    }

    /// The machine that decides for this generator.
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

    /// The most it may run ahead of the clock, in milliseconds.
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

    /// A key that is equal for two generators with equal machines on one state of this process. `None` for a kept state.
    #[cfg(feature = "abi")]
    #[cfg_attr(not(feature = "std"), expect(clippy::unnecessary_wraps, reason = "with std there are kept states"))]
    pub(crate) fn sharing_key(&self) -> Option<(usize, u64)> {
        match &self.state {
            StateRef::Own(state) => Some((core::ptr::from_ref::<State>(state).addr(), self.max_lead_ms())),
            #[cfg(feature = "std")]
            StateRef::Kept(_) => None,
        }
    }

    /// The counts of this generator so far.
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Generator, Layout, Node};
    /// # use frazil::clock::ManualClock;
    /// let ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// ids.fill(&ManualClock::new(1_720_000_000_000), &mut [0; 5000])?;
    /// let stats = ids.stats();
    /// assert_eq!((stats.issued, stats.worst_lead_ms), (5000, 1)); // 904 of them borrowed from the next millisecond
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        let get = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let Counters { stalls, switches, steps_back, largest_step_back_ms, worst_lead_ms, extensions, .. } = &self.counters;
        Stats {
            issued: self.counters.issued_so_far(),
            stalls: get(stalls),
            switches: get(switches),
            steps_back: get(steps_back),
            largest_step_back_ms: get(largest_step_back_ms),
            worst_lead_ms: get(worst_lead_ms),
            extensions: get(extensions),
        }
    }

    /// The condition of the generator at a time. Issues nothing and changes nothing.
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Generator, Layout, Node};
    /// let ids = Generator::private(&Layout::named("baidu")?, GeneratorOptions::new(Node::Id(7)))?;
    /// let health = ids.health(1_720_000_000_000); // 2024-07-03
    /// assert_eq!(health.end_ms, 1_732_109_055_999); // 2024-11-20T13:24:15.999Z
    /// assert!(health.ends_soon);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn health(&self, now_ms: u64) -> Health {
        let atomics = self.state.atomics();
        let machine = &self.machine;
        let word = atomics.word.load(Ordering::Acquire);
        let outcome = atomics.window().map_or(Outcome::Refused(Error::new(Code::Closed)), |window| {
            machine.reserve(word, window, atomics.clocks, now_ms, 1, true)
        });
        let refusal = match outcome {
            Outcome::Issued { .. } | Outcome::Recheck => None,
            Outcome::Stalled { retry_at_ms, cause } => Some(Error::retry_after(cause, retry_at_ms.saturating_sub(now_ms))),
            // Health never waits for a keeper that is giving the state up.
            Outcome::Refused(error) => Some(self.refusal(word, now_ms, error, |keeper| {
                keeper.fault().or_else(|| keeper.obstacle(now_ms)).or_else(|| keeper.extend(now_ms, now_ms).err())
            })),
            Outcome::Expired { .. } => match self.state.keeper() {
                // A call would have the window extended.
                Some(keeper) => keeper.obstacle(now_ms),
                None => Some(Error::retry_after(Code::LeaseExpired, 1)),
            },
        };
        let refusal = self.state.keeper().and_then(Keeper::fault).or(refusal);
        let end_ms = machine.end_ms();
        let remaining_ms = end_ms.saturating_sub(now_ms);
        let lead_ms = machine.lead_ms(word, now_ms);
        Health { end_ms, remaining_ms, ends_soon: remaining_ms < ENDS_SOON_MS, lead_ms, refusal }
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
    #[expect(clippy::inline_always, reason = "called, it takes a tenth longer: its result goes through memory")]
    #[inline(always)]
    pub fn next(&self, clock: &impl Clock) -> Result<u64> {
        let before_ms = self.counters.read_ms.load(Ordering::Acquire);
        let now_ms = clock.now_ms()?;
        #[cfg(feature = "std")]
        if let Some(id) = self.next_by_fast_path(now_ms) {
            return Ok(id);
        }
        self.next_by_machine(before_ms, now_ms, clock)
    }

    #[cfg(not(feature = "std"))]
    fn next_by_machine(&self, before_ms: u64, now_ms: u64, clock: &impl Clock) -> Result<u64> {
        self.reserve_first_at(before_ms, now_ms, clock, 1).map(|(block, _)| block.first())
    }

    /// [`Generator::next`] by the machine's rules, or by the fast path to a new tick.
    #[cfg(feature = "std")]
    #[cold]
    #[inline(never)]
    fn next_by_machine(&self, before_ms: u64, now_ms: u64, clock: &impl Clock) -> Result<u64> {
        let atomics = self.state.atomics();
        // An origin never recurs, so if it is the same later, it was the same when the ID was decided.
        let origin = atomics.origin.load(Ordering::Acquire);
        if let Some(id) = self.next_of_new_tick(&atomics, origin, before_ms, now_ms) {
            return Ok(id);
        }
        let (block, _) = self.reserve_first_at(before_ms, now_ms, clock, 1)?;
        // How sequences start belongs to the state, and `self.machine` does not know it.
        let from = if atomics.start == SequenceStart::Wrap { None } else { self.machine.fast_path_from(block.end()) };
        match from {
            Some(from) => self.fast_path.open(from, origin),
            None => self.fast_path.end(),
        }
        Ok(block.first())
    }

    /// The first ID of the clock's tick, if the clock moved on and no ID of the tick was issued.
    #[cfg(feature = "std")]
    #[expect(clippy::inline_always, reason = "it has one caller")]
    #[inline(always)]
    fn next_of_new_tick(&self, atomics: &StateAtomics<'_>, origin: u64, before_ms: u64, now_ms: u64) -> Option<u64> {
        if now_ms <= before_ms || atomics.start != SequenceStart::Zero || !atomics.clocks.is_empty() {
            return None;
        }
        let (kept, load, swap) = self.orderings(atomics);
        // Read the word before the window, as in `reserve_after`.
        let word = atomics.word.load(load);
        let window = atomics.window()?;
        let (next, id) = self.fast_path.first_id(word, window, now_ms)?;
        self.counters.read(before_ms, now_ms);
        let count = self.counters.before_one();
        atomics.word.compare_exchange(word, next, swap, Ordering::Relaxed).ok()?;
        // As in `reserve_after`: if the state has begun anew, this ID is never issued.
        if kept && !atomics.is_still(window) {
            return None;
        }
        self.counters.issued_one(count);
        // The range of the fast path begins after the first number of the tick.
        self.fast_path.open(next, origin);
        Some(id)
    }

    /// The ID after the last one, if the clock reading is unchanged since the last call and only the word changes.
    #[cfg(feature = "std")]
    #[expect(clippy::inline_always, reason = "as its caller")]
    #[inline(always)]
    fn next_by_fast_path(&self, now_ms: u64) -> Option<u64> {
        match &self.state {
            StateRef::Own(state) => {
                let (word, origin) = state.word_and_origin();
                self.swap_by_fast_path::<false>(now_ms, word, origin)
            }
            StateRef::Kept(keeper) => self.next_kept_by_fast_path(now_ms, &**keeper),
        }
    }

    #[cfg(feature = "std")]
    #[inline(never)]
    fn next_kept_by_fast_path(&self, now_ms: u64, keeper: &dyn Keeper) -> Option<u64> {
        let (word, origin) = keeper.word_and_origin();
        self.swap_by_fast_path::<true>(now_ms, word, origin)
    }

    /// `IS_KEPT`: another process or thread may begin the state anew.
    #[cfg(feature = "std")]
    #[expect(clippy::inline_always, reason = "as its caller")]
    #[inline(always)]
    fn swap_by_fast_path<const IS_KEPT: bool>(&self, now_ms: u64, word: &AtomicU64, origin: &AtomicU64) -> Option<u64> {
        // With the orderings of states with clock ids. Other states need weaker ones, but weaker ones are no faster on any processor.
        let mut before = word.load(Ordering::Acquire);
        let swap = if IS_KEPT { Ordering::AcqRel } else { Ordering::Release };
        loop {
            let id = self.fast_path.id(before, now_ms)?;
            // A new reading has to be counted.
            let window = origin.load(Ordering::Relaxed);
            if self.counters.read_ms.load(Ordering::Relaxed) != now_ms || !self.fast_path.has_origin(window) {
                return None;
            }
            let count = self.counters.before_one();
            match word.compare_exchange(before, before + 1, swap, Ordering::Acquire) {
                // As in `reserve_after`: if the state has begun anew, this ID is never issued.
                Ok(_) if IS_KEPT && origin.load(Ordering::Relaxed) != window => return None,
                Ok(_) => {
                    self.counters.issued_one(count);
                    return Some(id);
                }
                Err(current) => before = current,
            }
        }
    }
}
