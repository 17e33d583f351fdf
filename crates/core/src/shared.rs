//! Sharing: one atomic word for all threads, and the registry that makes equal generators meet on it.
//!
//! # Why one word is enough
//! Everything a reservation decides is in the word. A compare-and-swap moves it from the value the decision was based on
//! to one past the IDs it issues, so two reservations can never take the same positions: that needs only the single
//! modification order that every atomic has, at any ordering, and that the word never takes a value twice. Without a clock
//! field the word only grows. Coherence gives the order: if one call happened before another, the second finds a later word.
//!
//! # And with clock ids
//! There the decision also reads one cell for each clock id: the first tick it may be used for. The machine keeps these
//! rules, and this module the orderings:
//!
//! 1. A cell only grows, and only to what is true already: the clock id in the word was used for the tick in the word.
//! 2. A swap that leaves a clock id comes after its cell was raised, and is `Release`.
//! 3. Whoever reads cells read the word before, with `Acquire`.
//!
//! So a reader of a word sees the last tick of every clock id that was left on the way to it, at least; and a cell that is
//! newer than the word belongs to a swap that makes the reader's own fail, or that was lost and whose tick the word still
//! shows. A clock id that looks free is free. A thread that dies between raising and swapping leaves a truth behind.
//!
//! * **Lock-free**: a lost compare-and-swap means that somebody else minted.
//! * **Clock first**: the time is read before the word, so the window in which a swap can be lost is two instructions
//!   long. A time that is stale by then looks like a step back and is answered with a recheck.
//! * **Never forgotten**: a [`Registry`] keeps every state it made, because a state that is dropped and made anew would
//!   start over. It holds one state per layout geometry and node id, some 300 bytes each, and 8 for each clock id.
//!
//! # A state that somebody else keeps
//! With the feature `std` a state can lie in memory that a [`Keeper`] provides, and that may be shared by processes: the
//! same word and cells, with a window whose end the keeper moves. A keeper ends its state with [`StateAtomics::close`], which takes
//! the word away from whoever mints, and only then tells what was used: lowering the end of the window instead would be a
//! race with a call that has read it.
//!
//! A state that begins anew has the word 0 again, so a call that read the word before may swap it after. A reservation from a
//! kept state therefore counts only if the window is still the one it was judged by, which is looked at once more after the
//! swap. Where the window begins at the same time, nothing was issued in between, and the reservation is as good.
//!
//! Not covered: two processes, or two WebAssembly instances, with one static node id. They share no memory.
//!
//! `crates/core/tests/loom.rs` checks all this by exploring the interleavings, with broken twins that it must reject.

use alloc::boxed::Box;
use alloc::string::String;
#[cfg(feature = "std")]
use alloc::sync::Arc as KeeperArc;

use crate::clock::Clock;
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::generator::{Block, ClockIds, EXHAUSTED, Machine, Outcome, Window};
use crate::id::Node;
use crate::layout::{Geometry, Layout};
use crate::start::{Key, SequenceStart};
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::table::Table;

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
/// The most that a generator may run ahead of the clock, in milliseconds.
///
/// ```
/// # use frazil::{Layout, MAX_LEAD_MS, Machine, Node};
/// assert_eq!(Machine::with_max_lead(&Layout::named("default")?, Node::Id(7), None)?.max_lead_ms(), MAX_LEAD_MS);
/// # Ok::<(), frazil::Error>(())
/// ```
pub const MAX_LEAD_MS: u64 = 1000;
/// `maxLeadMs` of a static node id.
const DEFAULT_STATIC_LEAD_MS: u64 = 10;
/// How often one call asks for more of a window that others use up.
const MAX_EXTENSIONS: u32 = 8;

/// What all generators of one geometry and node id share. On its own pair of cache lines, so that minting does not slow
/// down its neighbours (adjacent lines are fetched in pairs on x86-64).
#[derive(Debug)]
#[repr(align(128))]
struct State {
    word: AtomicU64,
    /// As in [`StateAtomics`]; it only grows.
    origin: AtomicU64,
    /// The end of the window; none so far.
    until_ms: AtomicU64,
    /// The halves of the key; 0 until drawn, and then never changed.
    key: [AtomicU64; 2],
    start: SequenceStart,
    /// For each clock id the first tick it may be used for. Empty where the layout has no clock field.
    cells: Box<[AtomicU64]>,
}

impl State {
    fn new(geometry: &Geometry, start: SequenceStart) -> Self {
        let cells = if geometry.clock.bits == 0 { 0 } else { 1 << geometry.clock.bits };
        Self {
            word: AtomicU64::new(0),
            origin: AtomicU64::new(origin(0, start)),
            until_ms: AtomicU64::new(u64::MAX),
            key: [AtomicU64::new(0), AtomicU64::new(0)],
            start,
            cells: (0..cells).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn atomics(&self) -> StateAtomics<'_> {
        let Self { word, origin, until_ms, key, start, cells } = self;
        StateAtomics { word, origin, until_ms, key, start: *start, clocks: cells }
    }

    /// Nothing is issued before the first tick that a predecessor cannot have reached.
    fn begin_after(&self, machine: &Machine, start_ms: u64) {
        self.origin.fetch_max(origin(machine.first_ms_after(start_ms), self.start), Ordering::Relaxed);
    }

    /// Sets each half that is not set yet. Whoever comes second finds both set: one of the two keys, or a half of each, and
    /// any of them is as random.
    fn offer(&self, key: Key) {
        for (cell, half) in self.key.iter().zip([key.0, key.1]) {
            let _: core::result::Result<u64, u64> = cell.compare_exchange(0, half, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

/// Two bits above every time say where the sequence starts: see [`StateAtomics::origin`].
const START_SHIFT: u32 = 62;
const FROM_MASK: u64 = (1 << START_SHIFT) - 1;

/// The start of a window and the start of the sequence as one number.
fn origin(from_ms: u64, start: SequenceStart) -> u64 {
    // No layout has a tick from 2^53 ms on, so a later time means "never" whatever it is.
    from_ms.min(FROM_MASK) | (start as u64) << START_SHIFT
}

/// The atomics of a state, wherever they lie.
///
/// ```
/// use std::sync::atomic::AtomicU64;
/// use frazil::{StateAtomics, Layout, Machine, Node, SequenceStart};
/// let [word, origin, until_ms] = [0, 1_704_067_200_000, 1_704_067_203_000].map(AtomicU64::new);
/// let key = [AtomicU64::new(0), AtomicU64::new(0)];
/// let cells = StateAtomics { word: &word, origin: &origin, until_ms: &until_ms, key: &key, start: SequenceStart::Zero, clocks: &[] };
/// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
/// assert_eq!(cells.close(&machine), Some(0)); // nothing was issued
/// assert_eq!(cells.close(&machine), None); // it is closed already
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StateAtomics<'a> {
    /// The next ID to issue, as [`Machine`] counts. All ones where it is closed.
    pub word: &'a AtomicU64,
    /// The start of the window in Unix milliseconds, and above it, in the two highest bits, the number of the sequence
    /// start: 0 zero, 1 random, 2 wrap. Both change only where the word starts anew. They are one number so that a caller
    /// whose sequence starts elsewhere (a forked child, after its parent chose another start) is refused without another read.
    pub origin: &'a AtomicU64,
    /// The end of the window, which only grows until the word is closed.
    pub until_ms: &'a AtomicU64,
    /// The halves of the key under which the sequence starts; 0 where there is none.
    pub key: &'a [AtomicU64; 2],
    /// Where the sequence starts.
    pub start: SequenceStart,
    /// For each clock id the first tick it may be used for. Empty where the layout has no clock field.
    pub clocks: &'a [AtomicU64],
}

impl StateAtomics<'_> {
    /// The window; `None` where the state has another start of the sequence than these cells.
    fn window(&self) -> Option<Window> {
        let origin = self.origin.load(Ordering::Relaxed);
        let window = Window { from_ms: origin & FROM_MASK, until_ms: self.until_ms.load(Ordering::Acquire) };
        (origin >> START_SHIFT == self.start as u64).then_some(window)
    }

    /// Whether the window is still the one that was read, which may have been extended since.
    fn is_still(&self, read: Window) -> bool {
        self.window().is_some_and(|now| now.from_ms == read.from_ms && now.until_ms >= read.until_ms)
    }

    /// The start of the window in Unix milliseconds.
    ///
    /// ```
    /// use std::sync::atomic::AtomicU64;
    /// use frazil::{StateAtomics, SequenceStart, Window};
    /// let [word, origin, until_ms] = [u64::MAX, 0, 0].map(AtomicU64::new);
    /// let key = [AtomicU64::new(0), AtomicU64::new(0)];
    /// let wrap = StateAtomics { word: &word, origin: &origin, until_ms: &until_ms, key: &key, start: SequenceStart::Wrap, clocks: &[] };
    /// wrap.begin_anew(Window { from_ms: 5000, until_ms: 8000 });
    /// assert_eq!((wrap.from_ms(), wrap.same_start()), (5000, true));
    /// let zero = StateAtomics { start: SequenceStart::Zero, ..wrap };
    /// assert_eq!((zero.from_ms(), zero.same_start()), (5000, false));
    /// ```
    #[must_use]
    pub fn from_ms(&self) -> u64 {
        self.origin.load(Ordering::Acquire) & FROM_MASK
    }

    /// Whether the sequence of the state starts as that of these cells, which [`StateAtomics::from_ms`] has an example of.
    #[must_use]
    pub fn same_start(&self) -> bool {
        self.window().is_some()
    }

    fn key(&self) -> Option<Key> {
        let [high, low] = [0, 1].map(|half| self.key[half].load(Ordering::Relaxed));
        (high != 0 && low != 0).then_some(Key::new(high, low))
    }

    /// Ends the state: later calls find it closed, and nothing is issued any more. Returns the Unix millisecond at which the
    /// largest tick ends that any clock id was used for, and 0 where none was: from then on the node id is free. `None` where
    /// the state is closed already (or its time field is used up).
    ///
    /// ```
    /// use std::sync::atomic::AtomicU64;
    /// use frazil::{StateAtomics, Layout, Machine, Node, SequenceStart};
    /// let [word, origin, until_ms] = [(5 << 12) | 1, 0, u64::MAX].map(AtomicU64::new); // an ID of tick 5 was issued
    /// let key = [AtomicU64::new(0), AtomicU64::new(0)];
    /// let cells = StateAtomics { word: &word, origin: &origin, until_ms: &until_ms, key: &key, start: SequenceStart::Zero, clocks: &[] };
    /// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
    /// assert_eq!(cells.close(&machine), Some(1_704_067_200_006));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn close(&self, machine: &Machine) -> Option<u64> {
        // A swap, and not a store: the word that it takes away is the last that anybody made. `Acquire`, to see the clock ids
        // that were left on the way to it.
        let word = self.word.swap(EXHAUSTED, Ordering::AcqRel);
        (word != EXHAUSTED).then(|| self.used_up_to_ms(word, machine))
    }

    /// The Unix millisecond at which the largest tick ends that any clock id was used for so far, and 0 where none was. Where the
    /// state is closed, what the clock ids that were left tell.
    ///
    /// ```
    /// use std::sync::atomic::AtomicU64;
    /// use frazil::{StateAtomics, Layout, Machine, Node, SequenceStart};
    /// let [word, origin, until_ms] = [(5 << 12) | 1, 0, u64::MAX].map(AtomicU64::new); // an ID of tick 5 was issued
    /// let key = [AtomicU64::new(0), AtomicU64::new(0)];
    /// let cells = StateAtomics { word: &word, origin: &origin, until_ms: &until_ms, key: &key, start: SequenceStart::Zero, clocks: &[] };
    /// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
    /// assert_eq!(cells.used_until_ms(&machine), 1_704_067_200_006);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn used_until_ms(&self, machine: &Machine) -> u64 {
        let word = self.word.load(Ordering::Acquire);
        self.used_up_to_ms(if word == EXHAUSTED { 0 } else { word }, machine)
    }

    fn used_up_to_ms(&self, word: u64, machine: &Machine) -> u64 {
        let left = self.clocks.iter().map(|cell| cell.load(Ordering::Relaxed)).max().unwrap_or(0);
        let free_from = machine.next_tick(word).max(left);
        if free_from == 0 { 0 } else { machine.tick_start_ms(free_from) }
    }

    /// Begins the state anew, with a window that must begin where all that was ever issued from it has ended. Only while
    /// nobody else does the same.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// use frazil::{StateAtomics, SequenceStart, Window};
    /// let [word, origin, until_ms] = [u64::MAX, 0, 0].map(AtomicU64::new);
    /// let key = [AtomicU64::new(0), AtomicU64::new(0)];
    /// let cells = StateAtomics { word: &word, origin: &origin, until_ms: &until_ms, key: &key, start: SequenceStart::Zero, clocks: &[] };
    /// cells.begin_anew(Window { from_ms: 5000, until_ms: 8000 });
    /// assert_eq!((word.load(Relaxed), cells.from_ms()), (0, 5000));
    /// ```
    pub fn begin_anew(&self, window: Window) {
        self.origin.store(origin(window.from_ms, self.start), Ordering::Relaxed);
        self.until_ms.store(window.until_ms, Ordering::Relaxed);
        for cell in self.clocks {
            cell.store(0, Ordering::Relaxed);
        }
        // Last, and `Release`: who finds the new word finds the new window.
        self.word.store(0, Ordering::Release);
    }
}

/// Who keeps a state: provides its memory, and extends its window.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use frazil::{StateAtomics, Clock, Generator, Keeper, Layout, ManualClock, Node, Result, SequenceStart};
///
/// /// Grants a second at a time, from what would be a durable mark.
/// #[derive(Debug, Default)]
/// struct Seconds { word: AtomicU64, origin: AtomicU64, until_ms: AtomicU64, key: [AtomicU64; 2] }
///
/// impl Keeper for Seconds {
///     fn atomics(&self) -> StateAtomics<'_> {
///         let Self { word, origin, until_ms, key } = self;
///         StateAtomics { word, origin, until_ms, key, start: SequenceStart::Zero, clocks: &[] }
///     }
///     fn extend(&self, until_ms: u64, now_ms: u64) -> Result<u64> {
///         self.until_ms.fetch_max(until_ms.max(now_ms + 1000), Relaxed);
///         Ok(now_ms)
///     }
/// }
///
/// let seconds = Arc::new(Seconds::default());
/// let ids = Generator::kept(&Layout::named("default")?, Node::Id(7), Some(10), seconds.clone())?;
/// assert_eq!(ids.next(&ManualClock::new(1_704_067_200_001))?, 4_222_976);
/// assert_eq!(seconds.until_ms.load(Relaxed), 1_704_067_201_001);
/// # Ok::<(), frazil::Error>(())
/// ```
pub trait Keeper: core::fmt::Debug + Send + Sync {
    /// The state. Always the same.
    fn atomics(&self) -> StateAtomics<'_>;

    /// Extends the window to `until_ms` at least, or to where it can be, and returns the time to go on with: `now_ms`, which
    /// the clock shows, or another that the keeper believes instead. Called by any thread, and only when the window is over.
    ///
    /// # Errors
    /// Where the window cannot be extended.
    fn extend(&self, until_ms: u64, now_ms: u64) -> Result<u64>;

    /// Why nothing will be issued any more, where that is certain.
    fn fault(&self) -> Option<Error> {
        None
    }

    /// What [`Keeper::fault`] does not say: where, and what to do.
    fn explain(&self) -> Option<String> {
        None
    }

    /// The file in which the state is kept, where there is one.
    fn file(&self) -> Option<StateFile> {
        None
    }
}

/// The file in which a state is kept.
///
/// ```
/// let file = frazil::StateFile::new("/var/lib/shop/default.frazil", "ext4");
/// assert_eq!((file.path.as_str(), file.attached), ("/var/lib/shop/default.frazil", None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateFile {
    /// Where it is.
    pub path: String,
    /// The kind of file system that holds it.
    pub file_system: String,
    /// What has been reserved on disk, in Unix milliseconds: nothing from there on has been issued.
    pub ceiling_ms: u64,
    /// How many are attached to it, this one included; `None` where that cannot be told.
    pub attached: Option<u64>,
    /// How often this process raised the ceiling.
    pub raises: u64,
    /// How far the clock is ahead of the time that is believed instead, in milliseconds; 0 where it is believed itself.
    pub distrusted_ms: u64,
    /// Whether the mapped state is locked in memory, so that a page that could not be written back is not read again as it was.
    pub locked: bool,
    /// Whether a directory above it may not be read, so that another file of its name could be in use unseen.
    pub blind: bool,
}

impl StateFile {
    /// A file that nothing is known of but where it is.
    ///
    /// ```
    /// assert_eq!(frazil::StateFile::new("a", "ext4").raises, 0);
    /// ```
    #[must_use]
    pub fn new(path: impl Into<String>, file_system: impl Into<String>) -> Self {
        let (path, file_system) = (path.into(), file_system.into());
        Self { path, file_system, ceiling_ms: 0, attached: None, raises: 0, distrusted_ms: 0, locked: false, blind: false }
    }
}

/// Where the state of a generator lies.
#[derive(Clone, Debug)]
enum Home {
    Own(Arc<State>),
    #[cfg(feature = "std")]
    Kept(KeeperArc<dyn Keeper>),
}

impl Home {
    fn atomics(&self) -> StateAtomics<'_> {
        match self {
            Self::Own(state) => state.atomics(),
            #[cfg(feature = "std")]
            Self::Kept(keeper) => keeper.atomics(),
        }
    }

    fn keeper(&self) -> Option<&dyn Keeper> {
        match self {
            Self::Own(_) => None,
            #[cfg(feature = "std")]
            Self::Kept(keeper) => Some(&**keeper),
        }
    }
}

impl ClockIds for [AtomicU64] {
    fn free_from(&self, clock: usize) -> u64 {
        self.get(clock).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
}

/// What tells states apart: everything that decides which numbers come out, and no names. A tuple and not an array, because a
/// list compares it word by word, and the first one differs most often.
pub(crate) type StateKey = (u64, u64, u64, u64, u64);

impl Machine {
    /// The node id in its place, the epoch, the tick, the node bits, and the places of the other fields, each below 2^7.
    pub(crate) fn key(&self) -> StateKey {
        let g = &self.geometry;
        let places = [g.time, g.clock, g.sequence]
            .iter()
            .fold(0, |places, span| (places << 14) | u64::from((span.shift << 7) | span.bits));
        (self.node, g.epoch_ms, g.tick_ms.get(), g.node_mask, places)
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
    /// Where the sequence starts in a new tick. It belongs to the state, so all its generators must ask for the same.
    pub sequence_start: SequenceStart,
    /// The key of a start other than zero, where the state has none yet. `None`: drawn at random (feature `std`).
    pub key: Option<Key>,
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
        Self { node, max_lead_ms: None, start_ms: None, sequence_start: SequenceStart::Zero, key: None }
    }
}

/// The states of a process (or of one WebAssembly instance).
///
/// This type is:
///
/// * **Unsynchronised**: put it behind a lock; opening is rare, and minting does not go through it.
/// * **Interning**: equal layouts and node ids meet on one state whatever their names, so twins never repeat each other.
///
/// A process needs one: two registries share no state, and repeat each other under one node id. A state that is kept elsewhere,
/// as `frazil_local::Local` keeps one in a file, shares none with a registry either; of the two the second is
/// `STATE_CONFLICT`, in any registry of the process (feature `std`; see `Claim`).
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
    states: Table<StateKey, Arc<State>>,
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
        Self { states: Table::new(), start_ms: None }
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
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is no state yet.
    ///
    /// ```
    /// assert!(frazil::Registry::new().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// A generator on the one state of its geometry and node id.
    ///
    /// # Errors
    /// `INVALID_NODE` as [`Layout::join_node`]; `INVALID_OPTION` for a `max_lead_ms` over 1000, or over 0 where the start
    /// of the process is unknown, and for a start of the sequence without a key where none can be drawn (without `std`) or
    /// with half a key; `STATE_CONFLICT` where the state has another start, and where this process has a state of the layout and
    /// node id that is kept elsewhere. A refused call makes no state.
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Layout, Node, Registry};
    /// let options = GeneratorOptions { max_lead_ms: Some(1001), ..GeneratorOptions::new(Node::Id(7)) };
    /// let error = Registry::new().open(&Layout::named("default")?, options).unwrap_err();
    /// assert_eq!((error.field(), error.value()), ("max_lead_ms", Some(1001)));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn open(&mut self, layout: &Layout, options: GeneratorOptions<'_>) -> Result<Generator> {
        let placed = Placed::new(layout, options)?;
        let machine = placed.machine()?;
        let known = self.states.get(&machine.key());
        // Before there is a state, or one without a key would stay.
        let needs_key = placed.sequence_start != SequenceStart::Zero && known.is_none_or(|state| state.atomics().key().is_none());
        let key = if needs_key { Some(Key::given_or_drawn(options.key)?) } else { None };
        let generator = self.enter(&placed, machine)?;
        if let Some(key) = key {
            generator.offer(key);
        }
        Ok(generator)
    }

    /// The same, with a key that is offered later.
    #[cfg(feature = "page")]
    pub(crate) fn open_placed(&mut self, placed: &Placed) -> Result<Generator> {
        self.enter(placed, placed.machine()?)
    }

    /// Takes the state of the machine, or makes it: the last step, which nothing follows that could be refused.
    fn enter(&mut self, placed: &Placed, machine: Machine) -> Result<Generator> {
        let key = machine.key();
        let state = match self.states.get(&key) {
            Some(state) if state.start != placed.sequence_start => {
                return Err(Error::about(Code::StateConflict, Subject::SequenceStart, Rule::OneStart));
            }
            Some(state) => Arc::clone(state),
            None => {
                #[cfg(feature = "std")]
                crate::claims::claim_static(key)?;
                let state = Arc::new(State::new(&placed.geometry, placed.sequence_start));
                self.states.insert(key, Arc::clone(&state));
                state
            }
        };
        if let Some(start_ms) = placed.start_ms {
            let start_ms = self.start_ms.map_or(start_ms, |known| known.min(start_ms));
            self.start_ms = Some(start_ms);
            state.begin_after(&machine, start_ms);
        }
        Ok(Generator { machine, home: Home::Own(state), tally: Tally::new() })
    }
}

/// The options of a generator, its layout and node id in numbers.
pub(crate) struct Placed {
    pub(crate) geometry: Geometry,
    pub(crate) node: u32,
    pub(crate) max_lead_ms: Option<u64>,
    pub(crate) start_ms: Option<u64>,
    pub(crate) sequence_start: SequenceStart,
}

impl Placed {
    fn new(layout: &Layout, options: GeneratorOptions<'_>) -> Result<Self> {
        let GeneratorOptions { node, max_lead_ms, start_ms, sequence_start, key: _ } = options;
        Ok(Self { geometry: layout.geometry, node: layout.join_node(node)?, max_lead_ms, start_ms, sequence_start })
    }

    /// The rules of a generator on a state of a registry.
    fn machine(&self) -> Result<Machine> {
        let known = self.start_ms.is_some();
        let max_lead_ms = self.max_lead_ms.unwrap_or(if known { DEFAULT_STATIC_LEAD_MS } else { 0 });
        if !known && max_lead_ms != 0 {
            let rule = Rule::NoStartLead;
            return Err(Error::number(Code::InvalidOption, Subject::MaxLeadMs, rule, max_lead_ms, (0, 0)));
        }
        self.static_machine(max_lead_ms)
    }

    fn static_machine(&self, max_lead_ms: u64) -> Result<Machine> {
        if max_lead_ms > MAX_LEAD_MS {
            let bounds = (0, MAX_LEAD_MS);
            return Err(Error::number(Code::InvalidOption, Subject::MaxLeadMs, Rule::StaticLead, max_lead_ms, bounds));
        }
        Ok(Machine::placed(self.geometry, self.node, max_lead_ms))
    }
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

/// What a generator has met so far. Each clone of a generator counts for itself.
///
/// ```
/// # use frazil::{GeneratorOptions, Generator, Layout, ManualClock, Node};
/// let clock = ManualClock::new(1_720_000_000_000);
/// let ids = Generator::private(&Layout::named("multi-clock")?, GeneratorOptions::new(Node::Id(7)))?;
/// ids.next(&clock)?;
/// clock.set_ms(1_720_000_000_000 - 3_600_000);
/// ids.next(&clock)?;
/// let stats = ids.stats();
/// assert_eq!((stats.issued, stats.switches), (2, 1));
/// assert_eq!((stats.steps_back, stats.largest_step_back_ms), (1, 3_600_000));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// IDs reserved.
    pub issued: u64,
    /// Calls that were refused for a time: `CLOCK_BACKWARD` and `SEQUENCE_EXHAUSTED`.
    pub stalls: u64,
    /// Times the clock was followed back, to another clock id.
    pub switches: u64,
    /// Times a reading of the clock was before the reading before it.
    pub steps_back: u64,
    /// The largest of these steps, in milliseconds.
    pub largest_step_back_ms: u64,
    /// The furthest that an ID lay ahead of the clock, in milliseconds.
    pub worst_lead_ms: u64,
    /// Times a call had its [`Keeper`] extend the window first.
    pub extensions: u64,
}

/// How a generator stands at a time.
///
/// ```
/// # use frazil::{Code, GeneratorOptions, Generator, Layout, ManualClock, Node};
/// let clock = ManualClock::new(1_720_000_000_000);
/// let ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
/// ids.next(&clock)?;
/// let health = ids.health(1_720_000_000_000 - 60_000);
/// assert_eq!(health.lead_ms, 60_000);
/// assert_eq!(health.refusal.map(|error| (error.code(), error.retry_after_ms())), Some((Code::ClockBackward, 59_990)));
/// assert!(!health.ends_soon); // the time field lasts until 2093
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// The last millisecond that the time field can hold.
    pub end_ms: u64,
    /// How long until then; 0 once it is over.
    pub remaining_ms: u64,
    /// Whether that is less than [`ENDS_SOON_MS`].
    pub ends_soon: bool,
    /// How far the start of the current tick lies ahead of the clock.
    pub lead_ms: u64,
    /// What a call would be refused with now, if it would be.
    pub refusal: Option<Error>,
}

/// [`Health`] warns this long before the time field runs out: a year of 365 days.
///
/// ```
/// assert_eq!(frazil::ENDS_SOON_MS, 31_536_000_000);
/// ```
pub const ENDS_SOON_MS: u64 = 365 * 24 * 60 * 60 * 1000;

/// What [`Stats`] is read from. In the generator and not in the state, so that counting costs no contention.
#[derive(Debug)]
struct Tally {
    /// The last reading of the clock.
    read_ms: AtomicU64,
    issued: AtomicU64,
    stalls: AtomicU64,
    switches: AtomicU64,
    steps_back: AtomicU64,
    largest_step_back_ms: AtomicU64,
    worst_lead_ms: AtomicU64,
    extensions: AtomicU64,
}

impl Tally {
    fn new() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            read_ms: zero(),
            issued: zero(),
            stalls: zero(),
            switches: zero(),
            steps_back: zero(),
            largest_step_back_ms: zero(),
            worst_lead_ms: zero(),
            extensions: zero(),
        }
    }

    /// Notes a reading of the clock, and the one that was there before it was taken.
    fn read(&self, before_ms: u64, now_ms: u64) {
        if now_ms != before_ms {
            self.read_ms.store(now_ms, Ordering::Release);
        }
        if now_ms < before_ms {
            self.steps_back.fetch_add(1, Ordering::Relaxed);
            self.largest_step_back_ms.fetch_max(before_ms - now_ms, Ordering::Relaxed);
        }
    }

    fn issued(&self, count: usize, lead_ms: u64, switched: bool) {
        self.issued.fetch_add(count as u64, Ordering::Relaxed);
        if lead_ms > self.worst_lead_ms.load(Ordering::Relaxed) {
            self.worst_lead_ms.fetch_max(lead_ms, Ordering::Relaxed);
        }
        if switched {
            self.switches.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Mints IDs from a state that it may share with others.
///
/// This type is:
///
/// * **Lock-free and `Sync`**: one compare-and-swap a reservation.
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
#[derive(Debug)]
pub struct Generator {
    machine: Machine,
    home: Home,
    tally: Tally,
}

impl Clone for Generator {
    fn clone(&self) -> Self {
        Self { machine: self.machine, home: self.home.clone(), tally: Tally::new() }
    }
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
        let generator = Self::private_placed(&Placed::new(layout, options)?)?;
        if generator.lacks_key() {
            generator.offer(Key::given_or_drawn(options.key)?);
        }
        Ok(generator)
    }

    pub(crate) fn private_placed(placed: &Placed) -> Result<Self> {
        let machine = placed.static_machine(placed.max_lead_ms.unwrap_or(DEFAULT_STATIC_LEAD_MS))?;
        let state = State::new(&placed.geometry, placed.sequence_start);
        if let Some(start_ms) = placed.start_ms {
            state.begin_after(&machine, start_ms);
        }
        Ok(Self { machine, home: Home::Own(Arc::new(state)), tally: Tally::new() })
    }

    /// A generator on a state that somebody else keeps. `max_lead_ms` is 1000 where it is not given.
    ///
    /// # Errors
    /// `INVALID_NODE` as [`Layout::join_node`]; `INVALID_OPTION` for a `max_lead_ms` over 1000, which [`Keeper`] has an example
    /// of.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use std::sync::atomic::AtomicU64;
    /// # use frazil::{StateAtomics, Code, Generator, Keeper, Layout, Node, Result, SequenceStart};
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

    /// The same by rules that are made already.
    #[cfg(feature = "std")]
    pub(crate) fn kept_by(machine: Machine, keeper: KeeperArc<dyn Keeper>) -> Self {
        Self { machine, home: Home::Kept(keeper), tally: Tally::new() }
    }

    /// Who keeps the state, where somebody does.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn keeper(&self) -> Option<&dyn Keeper> {
        self.home.keeper()
    }

    /// Whether the state still needs a key before anything can be issued.
    pub(crate) fn lacks_key(&self) -> bool {
        let cells = self.home.atomics();
        cells.start != SequenceStart::Zero && cells.key().is_none()
    }

    /// Gives the state a key where it needs one and has none.
    pub(crate) fn offer(&self, key: Key) {
        // A keeper has the key of its state.
        if let Home::Own(state) = &self.home
            && state.start != SequenceStart::Zero
        {
            state.offer(key);
        }
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

    /// What is equal for generators that mint by the same rules from the same state of a registry; a kept state has none.
    #[cfg(feature = "page")]
    #[cfg_attr(not(feature = "std"), expect(clippy::unnecessary_wraps, reason = "with std there are kept states"))]
    pub(crate) fn twin(&self) -> Option<(usize, u64)> {
        match &self.home {
            Home::Own(state) => Some((core::ptr::from_ref::<State>(state).addr(), self.max_lead_ms())),
            #[cfg(feature = "std")]
            Home::Kept(_) => None,
        }
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
        self.reserve_after(self.tally.read_ms.load(Ordering::Relaxed), now_ms, want, confirmed)
    }

    /// Reserves for a reading of the clock that was taken after `before_ms`.
    fn reserve_after(&self, before_ms: u64, now_ms: u64, want: usize, confirmed: bool) -> Result<Reservation> {
        let cells = self.home.atomics();
        self.tally.read(before_ms, now_ms);
        let machine = self.ready(&cells)?;
        // See the module's introduction. No pause after a lost swap: it tripled the contended cost. The word is read before the
        // window, because a keeper that begins a state anew writes it last.
        let kept = self.home.keeper().is_some();
        let (load, swap) = match (kept, cells.clocks.is_empty()) {
            // `Acquire` too: whoever swaps the word of a state that was begun anew finds its window.
            (true, _) => (Ordering::Acquire, Ordering::AcqRel),
            (false, false) => (Ordering::Acquire, Ordering::Release),
            (false, true) => (Ordering::Relaxed, Ordering::Relaxed),
        };
        let mut now_ms = now_ms;
        let mut extensions = 0;
        let mut word = cells.word.load(load);
        loop {
            // The state was begun anew with another start of the sequence: its positions mean other IDs.
            let Some(window) = cells.window() else { return Err(Error::new(Code::Closed)) };
            match machine.reserve(word, window, cells.clocks, now_ms, want, confirmed) {
                Outcome::Issued { word: next, block, leaves, lead_ms, switched } => {
                    if let Some((clock, free_from)) = leaves
                        && let Some(cell) = cells.clocks.get(clock)
                    {
                        cell.fetch_max(free_from, Ordering::Relaxed);
                    }
                    match cells.word.compare_exchange_weak(word, next, swap, load) {
                        // Begun anew since the word was read: these IDs are left out.
                        Ok(_) if kept && !cells.is_still(window) => word = cells.word.load(load),
                        Ok(_) => {
                            self.tally.issued(block.len(), lead_ms, switched);
                            return Ok(Reservation::Issued { block, wall_tick_ms: machine.wall_tick_ms(now_ms) });
                        }
                        Err(current) => word = current,
                    }
                }
                Outcome::Recheck => return Ok(Reservation::Recheck),
                Outcome::Stalled { retry_at_ms, cause } => {
                    self.tally.stalls.fetch_add(1, Ordering::Relaxed);
                    return Err(Error::retry_after(cause, retry_at_ms.saturating_sub(now_ms)));
                }
                Outcome::Expired { until_ms } => {
                    // Others use up what one extension gave before this call gets any of it, at worst; but not without end.
                    extensions += 1;
                    let Some(keeper) = self.home.keeper().filter(|_| extensions <= MAX_EXTENSIONS) else {
                        self.tally.stalls.fetch_add(1, Ordering::Relaxed);
                        return Err(Error::retry_after(Code::LeaseExpired, 1));
                    };
                    self.tally.extensions.fetch_add(1, Ordering::Relaxed);
                    now_ms = keeper.extend(until_ms, now_ms)?;
                    word = cells.word.load(load);
                }
                Outcome::Refused(error) => return Err(self.refusal(word, now_ms, error)),
            }
        }
    }

    /// A state that somebody else closed looks used up long before its time is over.
    fn refusal(&self, word: u64, now_ms: u64, error: Error) -> Error {
        let over = now_ms.saturating_add(self.max_lead_ms()) >= self.machine.end_ms();
        if self.home.keeper().is_some() && word == EXHAUSTED && !over { Error::new(Code::Closed) } else { error }
    }

    /// The machine with the key of the state.
    fn ready(&self, cells: &StateAtomics<'_>) -> Result<Machine> {
        if cells.start == SequenceStart::Zero {
            return Ok(self.machine);
        }
        let missing = Error::about(Code::InvalidOption, Subject::SequenceStart, Rule::StartKey);
        cells.key().map(|key| self.machine.starting(cells.start, key)).ok_or(missing)
    }

    fn reserve_by(&self, clock: &impl Clock, want: usize) -> Result<Block> {
        for confirmed in [false, true] {
            // Before the clock is read: a reading of another thread that is taken in between is no step back.
            let before_ms = self.tally.read_ms.load(Ordering::Acquire);
            if let Reservation::Issued { block, .. } = self.reserve_after(before_ms, clock.now_ms()?, want, confirmed)? {
                return Ok(block);
            }
        }
        // A confirmed reservation is never answered with a recheck.
        Err(Error::new(Code::ClockBackward))
    }

    /// What this generator has met so far.
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Generator, Layout, ManualClock, Node};
    /// let ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// ids.fill(&ManualClock::new(1_720_000_000_000), &mut [0; 5000])?;
    /// let stats = ids.stats();
    /// assert_eq!((stats.issued, stats.worst_lead_ms), (5000, 1)); // 904 of them borrowed from the next millisecond
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        let get = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let Tally { read_ms: _, issued, stalls, switches, steps_back, largest_step_back_ms, worst_lead_ms, extensions } =
            &self.tally;
        Stats {
            issued: get(issued),
            stalls: get(stalls),
            switches: get(switches),
            steps_back: get(steps_back),
            largest_step_back_ms: get(largest_step_back_ms),
            worst_lead_ms: get(worst_lead_ms),
            extensions: get(extensions),
        }
    }

    /// How the generator stands at a time. Issues nothing and changes nothing.
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
        let cells = self.home.atomics();
        let machine = &self.machine;
        let word = cells.word.load(Ordering::Acquire);
        let outcome = cells.window().map_or(Outcome::Refused(Error::new(Code::Closed)), |window| {
            machine.reserve(word, window, cells.clocks, now_ms, 1, true)
        });
        let refusal = match outcome {
            Outcome::Issued { .. } | Outcome::Recheck => None,
            Outcome::Stalled { retry_at_ms, cause } => Some(Error::retry_after(cause, retry_at_ms.saturating_sub(now_ms))),
            Outcome::Refused(error) => Some(self.refusal(word, now_ms, error)),
            // A call would extend it.
            Outcome::Expired { .. } if self.home.keeper().is_some() => None,
            Outcome::Expired { .. } => Some(Error::retry_after(Code::LeaseExpired, 1)),
        };
        let refusal = self.home.keeper().and_then(Keeper::fault).or(refusal);
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
