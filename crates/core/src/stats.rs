//! Counters and health of a generator.

use crate::error::Error;
use crate::sync::{AtomicU64, Ordering};

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
    /// Times a call had its [`Keeper`](crate::Keeper) extend the window first.
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
pub(crate) struct Counters {
    /// The last reading of the clock.
    pub(crate) read_ms: AtomicU64,
    pub(crate) issued: AtomicU64,
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
    pub(crate) fn read(&self, before_ms: u64, now_ms: u64) {
        if now_ms != before_ms {
            self.read_ms.store(now_ms, Ordering::Release);
        }
        if now_ms < before_ms {
            self.steps_back.fetch_add(1, Ordering::Relaxed);
            self.largest_step_back_ms.fetch_max(before_ms - now_ms, Ordering::Relaxed);
        }
    }

    pub(crate) fn issued(&self, count: usize, lead_ms: u64, switched: bool) {
        self.issued.fetch_add(count as u64, Ordering::Relaxed);
        if lead_ms > self.worst_lead_ms.load(Ordering::Relaxed) {
            self.worst_lead_ms.fetch_max(lead_ms, Ordering::Relaxed);
        }
        if switched {
            self.switches.fetch_add(1, Ordering::Relaxed);
        }
    }
}
