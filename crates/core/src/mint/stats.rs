//! The counters of a generator, and its condition at a time.
//!
//! The counters belong to a generator and not to its state, so that counting adds no contention between generators on one state.
//! Each clone of a generator starts at 0.

use super::sync::{AtomicU64, Ordering};
use crate::error::Error;

/// The counts of a generator so far. Each clone counts separately.
///
/// ```
/// # use frazil::{GeneratorOptions, Generator, Layout, Node};
/// # use frazil::clock::ManualClock;
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
    /// The number of reserved IDs.
    pub issued: u64,
    /// The number of calls that were refused with a time to wait: `CLOCK_BACKWARD`, `SEQUENCE_EXHAUSTED` and `LEASE_EXPIRED`.
    pub stalls: u64,
    /// The number of times that the clock went back and the state switched to another clock id.
    pub switches: u64,
    /// The number of clock readings that were earlier than the one before.
    pub steps_back: u64,
    /// The largest of these steps, in milliseconds.
    pub largest_step_back_ms: u64,
    /// The largest lead of an ID over the clock, in milliseconds.
    pub worst_lead_ms: u64,
    /// The number of calls that first had their [`Keeper`](crate::mint::Keeper) extend the window.
    pub extensions: u64,
}

/// The condition of a generator at a time.
///
/// ```
/// # use frazil::{Code, GeneratorOptions, Generator, Layout, Node};
/// # use frazil::clock::ManualClock;
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
    /// The time until then; 0 afterwards.
    pub remaining_ms: u64,
    /// Whether `remaining_ms` is less than [`ENDS_SOON_MS`].
    pub ends_soon: bool,
    /// How far the start of the current tick lies ahead of the clock.
    pub lead_ms: u64,
    /// The error that a call would be refused with now, or `None` if a call would succeed.
    pub refusal: Option<Error>,
}

/// The time before the end of the time field from which [`Health`] warns: 365 days, in milliseconds.
pub const ENDS_SOON_MS: u64 = 365 * 24 * 60 * 60 * 1000;

/// The atomics that [`Stats`] is read from.
#[derive(Debug)]
pub(crate) struct Counters {
    /// The last reading of the clock.
    pub(crate) read_ms: AtomicU64,
    issued: Tally,
    pub(crate) stalls: AtomicU64,
    pub(crate) switches: AtomicU64,
    pub(crate) steps_back: AtomicU64,
    pub(crate) largest_step_back_ms: AtomicU64,
    pub(crate) worst_lead_ms: AtomicU64,
    pub(crate) extensions: AtomicU64,
}

impl Counters {
    pub(crate) fn new() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            read_ms: zero(),
            issued: Tally::new(),
            stalls: zero(),
            switches: zero(),
            steps_back: zero(),
            largest_step_back_ms: zero(),
            worst_lead_ms: zero(),
            extensions: zero(),
        }
    }

    /// Records a reading of the clock. `before_ms` is the reading that was recorded before this one was taken.
    #[cfg_attr(not(feature = "std"), inline(never))] // one copy in the module instead of one for each caller
    pub(crate) fn read(&self, before_ms: u64, now_ms: u64) {
        if now_ms != before_ms {
            self.read_ms.store(now_ms, Ordering::Release);
        }
        if now_ms < before_ms {
            self.steps_back.fetch_add(1, Ordering::Relaxed);
            self.largest_step_back_ms.fetch_max(before_ms - now_ms, Ordering::Relaxed);
        }
    }

    /// The number of IDs issued so far.
    pub(crate) fn issued_so_far(&self) -> u64 {
        self.issued.total()
    }

    /// The input of [`Counters::issued_one`]. It is read before the swap of the word, because later reads wait for the swap.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn before_one(&self) -> BeforeOne {
        self.issued.before_one()
    }

    /// Counts one ID of the fast path: without a lead and without a switch.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) fn issued_one(&self, before: BeforeOne) {
        self.issued.add_one(before);
    }

    pub(crate) fn issued(&self, count: usize, lead_ms: u64, switched: bool) {
        self.issued.add(count as u64);
        if lead_ms > self.worst_lead_ms.load(Ordering::Relaxed) {
            self.worst_lead_ms.fetch_max(lead_ms, Ordering::Relaxed);
        }
        if switched {
            self.switches.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The sum so far of the thread that added first, if this is that thread: no other thread writes it.
#[cfg(feature = "std")]
pub(crate) type BeforeOne = Option<u64>;

/// A sum that threads add to. The first thread to add needs no locked instruction, which would cost a fifth of a call for one ID.
#[derive(Debug)]
struct Tally {
    /// The number of the thread that added first; [`NOBODY`] before that.
    #[cfg(all(feature = "std", not(frazil_loom)))]
    owner: AtomicU64,
    /// The sum of that thread. No other thread writes it.
    #[cfg(all(feature = "std", not(frazil_loom)))]
    by_owner: Line,
    /// The sum of all others.
    #[cfg(all(feature = "std", not(frazil_loom)))]
    shared: Line,
    #[cfg(any(not(feature = "std"), frazil_loom))]
    shared: AtomicU64,
}

/// A number on its own cache line: threads that share a generator write these for each ID, and read the fields beside them.
#[cfg(all(feature = "std", not(frazil_loom)))]
#[derive(Debug)]
#[repr(align(64))]
struct Line(AtomicU64);

/// No thread has this number.
#[cfg(all(feature = "std", not(frazil_loom)))]
const NOBODY: u64 = u64::MAX;

#[cfg(all(feature = "std", not(frazil_loom)))]
mod thread {
    use core::cell::Cell;

    use crate::mint::sync::{AtomicU64, Ordering};

    std::thread_local! {
        /// 0 until the thread has one.
        pub(super) static NUMBER: Cell<u64> = const { Cell::new(0) };
    }

    /// The number of this thread: never 0, and unique in the process even after the thread ends.
    #[inline]
    pub(super) fn number() -> u64 {
        match NUMBER.get() {
            0 => draw(),
            number => number,
        }
    }

    #[cold]
    fn draw() -> u64 {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        NUMBER.set(number);
        number
    }
}

impl Tally {
    #[cfg(any(not(feature = "std"), frazil_loom))]
    fn new() -> Self {
        Self { shared: AtomicU64::new(0) }
    }

    #[cfg(all(feature = "std", not(frazil_loom)))]
    fn new() -> Self {
        let [by_owner, shared] = [0; 2].map(|zero| Line(AtomicU64::new(zero)));
        Self { owner: AtomicU64::new(NOBODY), by_owner, shared }
    }

    #[cfg(any(not(feature = "std"), frazil_loom))]
    fn add(&self, count: u64) {
        self.shared.fetch_add(count, Ordering::Relaxed);
    }

    #[cfg(all(feature = "std", not(frazil_loom)))]
    #[inline]
    fn add(&self, count: u64) {
        let thread = thread::number();
        let owner = self.owner.load(Ordering::Relaxed);
        if owner == thread || (owner == NOBODY && self.is_taken_by(thread)) {
            self.by_owner.0.store(self.by_owner.0.load(Ordering::Relaxed) + count, Ordering::Relaxed);
        } else {
            self.shared.0.fetch_add(count, Ordering::Relaxed);
        }
    }

    #[cfg(all(feature = "std", frazil_loom))]
    #[expect(clippy::unused_self, reason = "without loom it is read")]
    fn before_one(&self) -> BeforeOne {
        None
    }

    #[cfg(all(feature = "std", not(frazil_loom)))]
    #[inline]
    fn before_one(&self) -> BeforeOne {
        (self.owner.load(Ordering::Relaxed) == thread::NUMBER.get()).then(|| self.by_owner.0.load(Ordering::Relaxed))
    }

    #[cfg(all(feature = "std", frazil_loom))]
    fn add_one(&self, _: BeforeOne) {
        self.add(1);
    }

    #[cfg(all(feature = "std", not(frazil_loom)))]
    #[inline]
    fn add_one(&self, before: BeforeOne) {
        match before {
            Some(sum) => self.by_owner.0.store(sum + 1, Ordering::Relaxed),
            None => self.add(1),
        }
    }

    /// Makes a thread the owner, if there is none.
    #[cfg(all(feature = "std", not(frazil_loom)))]
    #[cold]
    fn is_taken_by(&self, thread: u64) -> bool {
        self.owner.compare_exchange(NOBODY, thread, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    #[cfg(any(not(feature = "std"), frazil_loom))]
    fn total(&self) -> u64 {
        self.shared.load(Ordering::Relaxed)
    }

    #[cfg(all(feature = "std", not(frazil_loom)))]
    fn total(&self) -> u64 {
        self.by_owner.0.load(Ordering::Relaxed) + self.shared.0.load(Ordering::Relaxed)
    }
}
