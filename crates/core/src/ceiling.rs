//! A ceiling: a time that is durable ahead of use, so that no ID has it or a later one.
//!
//! After an end at any moment, a new generator begins at the ceiling and repeats nothing. [`CeilingRule`] says when a ceiling is raised,
//! and to where. [`CeilingGenerator`] mints under a ceiling in storage that its host reads and writes, such as a Durable Object's.
//!
//! * **Pure**: no I/O, no clock, no entropy. The host reads the [`CeilingRow`] of the storage, asks [`CeilingGenerator::look`] whether
//!   it must be written first, and writes it.
//! * **The row decides**: before each reservation the window is set from the row. So a write that failed or was rolled back, and a ceiling
//!   that another generator raised, are noticed.
//! * **No further than needed**: a row is written only if an ID could be issued that it does not cover, and its time is then
//!   [`CEILING_AHEAD_MS`] beyond the tick of that ID. So it is at most the clock, the lead, a tick and [`CEILING_AHEAD_MS`] together,
//!   of the latest reading of the clock at which IDs were reserved. A restart that cannot issue anything moves nothing.
//!
//! # Why `frazil-local` shares the rule and not the generator
//! A state file has the same rule, with three seconds. Beyond the rule the two differ. The processes of a machine share one word in mapped
//! memory, so a start continues there if it can, and minting asks the disk nothing; a generator of a storage is alone with its word. A
//! thread raises the ceiling of a file before a call needs it, further than a lead can reach, so it counts from the clock; where only calls
//! can write, a ceiling is counted from the tick that is due, or IDs that are borrowed from the future would need a write each tick. And a
//! machine has a second clock to check the first; a Worker has none, so a clock that shows a year ahead is followed.
//!
//! Not covered: what makes a write durable before an ID leaves, which is the runtime's task; and IDs that leave a transaction which is
//! rolled back.

use crate::error::{Code, Error, Result};
use crate::layout::{Layout, Node};
use crate::mint::{Generator, Health, Key, Machine, Reservation, SequenceStart, Stats, Window};

/// How far a [`CeilingGenerator`] writes its ceiling beyond the tick that is due, in milliseconds: so it is written at most once in a
/// second of the times that IDs have.
pub const CEILING_AHEAD_MS: u64 = 1000;

/// When a ceiling is raised, and to where.
///
/// ```
/// let rule = frazil::ceiling::CeilingRule::ahead(3000);
/// assert_eq!(rule.raised(50, 50, 10), None); // the ceiling covers what is needed
/// assert_eq!(rule.raised(49, 50, 10), Some(3010));
/// assert_eq!(rule.raised(49, 9000, 10), Some(9000)); // what is needed lies further ahead
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CeilingRule {
    ahead_ms: u64,
}

impl CeilingRule {
    /// The rule of a ceiling that is written so far ahead.
    #[must_use]
    pub const fn ahead(ahead_ms: u64) -> Self {
        Self { ahead_ms }
    }

    /// The ceiling to raise to if it is `ceiling_ms` and IDs before `needed_ms` are to be issued: as far ahead of `from_ms` as the rule
    /// says, and at least `needed_ms`. `None` if no raise is needed.
    #[must_use]
    pub const fn raised(self, ceiling_ms: u64, needed_ms: u64, from_ms: u64) -> Option<u64> {
        if ceiling_ms >= needed_ms {
            return None;
        }
        let ahead_ms = from_ms.saturating_add(self.ahead_ms);
        Some(if needed_ms > ahead_ms { needed_ms } else { ahead_ms })
    }
}

/// A generator's row in storage.
///
/// ```
/// let row = frazil::ceiling::CeilingRow { mark: 5, until_ms: 1_704_067_201_000 };
/// assert_eq!(row.until_ms, 1_704_067_201_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CeilingRow {
    /// The mark of the generator that wrote it.
    pub mark: u64,
    /// The ceiling in Unix milliseconds: no ID has this time or a later one. It only grows.
    pub until_ms: u64,
}

/// Mints IDs under a ceiling in a storage that its host reads and writes.
///
/// Before each reservation the host hands over the row that the storage has, and writes the one that it gets, if it gets one:
///
/// ```
/// use frazil::{Layout, Node};
/// use frazil::ceiling::{CeilingGenerator, CeilingRow};
/// use frazil::mint::Reservation;
/// let mut ids = CeilingGenerator::new(&Layout::named("edge")?, Node::Id(7), None, 42)?;
/// let now_ms = 1_720_000_000_000;
/// let mut stored: Option<CeilingRow> = None;
/// if let Some(row) = ids.look(stored, now_ms) {
///     stored = Some(row); // written, in one step with the reading
///     assert_eq!(row, CeilingRow { mark: 42, until_ms: now_ms + 1001 });
///     assert_eq!(ids.look(stored, now_ms), None);
/// }
/// assert!(matches!(ids.reserve(now_ms, 1, true)?, Reservation::Issued { .. }));
///
/// // A generator that begins anew begins at the ceiling.
/// let mut next = CeilingGenerator::new(&Layout::named("edge")?, Node::Id(7), None, 43)?;
/// assert_eq!(next.look(stored, now_ms + 5), None);
/// assert_eq!(next.reserve(now_ms + 5, 1, true).unwrap_err().retry_after_ms(), 996);
/// # Ok::<(), frazil::Error>(())
/// ```
///
/// # Whose row it is
/// If the row has this generator's mark, this generator wrote it last, and no other has issued anything since. A row with another mark ends
/// the window: it begins anew at that ceiling, unless it began there, and the row is the same because a rollback has taken back what this
/// generator wrote. A mark that two generators share could hide from one that the other has written the same time after a rollback, so it
/// must be drawn at random.
#[derive(Debug)]
pub struct CeilingGenerator {
    start: SequenceStart,
    mark: u64,
    generator: Generator,
    has_begun: bool,
    /// The row at which the window began, if there was one.
    begun_at: Option<CeilingRow>,
}

impl CeilingGenerator {
    /// A generator that has not seen the storage. `mark`: a random number, which no other generator of the storage has.
    /// `max_lead_ms`: how far it may run ahead of the clock. Default: 1000.
    ///
    /// # Errors
    /// `INVALID_NODE` as [`Layout::join_node`]; `INVALID_OPTION` for a `max_lead_ms` over 1000.
    ///
    /// ```
    /// use frazil::{Code, Layout, Node};
    /// use frazil::ceiling::CeilingGenerator;
    /// let error = CeilingGenerator::new(&Layout::named("edge")?, Node::Id(7), Some(1001), 42).unwrap_err();
    /// assert_eq!((error.code(), error.field(), error.value()), (Code::InvalidOption, "max_lead_ms", Some(1001)));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn new(layout: &Layout, node: Node<'_>, max_lead_ms: Option<u64>, mark: u64) -> Result<Self> {
        Ok(Self::from_machine(Machine::with_max_lead(layout, node, max_lead_ms)?, SequenceStart::Zero, mark))
    }

    /// The same generator with another start of the sequence. It needs a key for it: [`CeilingGenerator::offer_key`].
    ///
    /// ```
    /// use frazil::{Layout, Node};
    /// use frazil::ceiling::CeilingGenerator;
    /// use frazil::mint::SequenceStart;
    /// CeilingGenerator::new(&Layout::named("edge")?, Node::Id(7), None, 42)?.starting(SequenceStart::Random);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn starting(self, start: SequenceStart) -> Self {
        Self::from_machine(*self.generator.machine(), start, self.mark)
    }

    pub(crate) fn from_machine(machine: Machine, start: SequenceStart, mark: u64) -> Self {
        let generator = Generator::within(machine, start, Window { from_ms: 0, until_ms: 0 }, 0);
        Self { start, mark, generator, has_begun: false, begun_at: None }
    }

    /// What to write before IDs are reserved at `now_ms`, in one step with reading `row`; `None` if nothing is to be written. Once it is
    /// written, hand it over as the row: the window reaches as far as the row does. If it is not written, nothing is issued that would
    /// need it.
    ///
    /// ```
    /// use frazil::{Layout, Node};
    /// use frazil::ceiling::{CeilingGenerator, CeilingRow};
    /// let mut ids = CeilingGenerator::new(&Layout::named("edge")?, Node::Id(7), None, 42)?;
    /// let now_ms = 1_720_000_000_000;
    /// let first = ids.look(None, now_ms);
    /// assert_eq!(first, Some(CeilingRow { mark: 42, until_ms: now_ms + 1001 }));
    /// assert_eq!(ids.look(first, now_ms + 1000), None);
    /// assert_eq!(ids.look(first, now_ms + 1001), Some(CeilingRow { mark: 42, until_ms: now_ms + 2002 }));
    /// assert_eq!(ids.look(None, now_ms + 500), Some(CeilingRow { mark: 42, until_ms: now_ms + 1501 })); // it was rolled back
    /// assert_eq!(ids.look(first, 0), None); // a clock at which nothing can be issued
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn look(&mut self, row: Option<CeilingRow>, now_ms: u64) -> Option<CeilingRow> {
        let (has_begun, mark) = (self.has_begun, self.mark);
        let own = row.filter(|row| has_begun && row.mark == mark);
        // Without a row, no other generator has issued anything, so this generator's window stays.
        let is_known = own.is_some() || row.is_none() || row == self.begun_at;
        if !(has_begun && is_known) {
            self.begin_at(row);
        }
        let ceiling_ms = own.map_or(0, |row| row.until_ms);
        self.generator.set_until(ceiling_ms);
        let needed_ms = self.generator.due_until_ms(now_ms)?;
        let rule = CeilingRule::ahead(CEILING_AHEAD_MS);
        // From the end of the tick that is due: so the next one that needs a write begins more than that later.
        rule.raised(ceiling_ms, needed_ms, needed_ms).map(|until_ms| CeilingRow { mark, until_ms })
    }

    fn begin_at(&mut self, row: Option<CeilingRow>) {
        let window = Window { from_ms: row.map_or(0, |row| row.until_ms), until_ms: 0 };
        let (machine, next_tick) = (*self.generator.machine(), self.generator.next_tick());
        self.generator.move_to(Generator::within(machine, self.start, window, next_tick));
        self.has_begun = true;
        self.begun_at = row;
    }

    /// Reserves IDs as [`Generator::reserve`], in the window that the last look has set. Each reservation needs its own look.
    ///
    /// # Errors
    /// Those of [`Generator::reserve`]; `CLOCK_BACKWARD` before the ceiling at which the window begins; `LEASE_EXPIRED` without a look,
    /// or if what it said was not written.
    ///
    /// ```
    /// # use frazil::{Code, Layout, Node};
    /// # use frazil::ceiling::CeilingGenerator;
    /// let mut ids = CeilingGenerator::new(&Layout::named("edge")?, Node::Id(7), None, 42)?;
    /// let now_ms = 1_720_000_000_000;
    /// let row = ids.look(None, now_ms);
    /// assert_eq!(ids.reserve(now_ms, 1, true).unwrap_err().code(), Code::LeaseExpired);
    /// ids.look(row, now_ms);
    /// assert!(ids.reserve(now_ms, 1, true).is_ok());
    /// assert_eq!(ids.reserve(now_ms, 1, true).unwrap_err().code(), Code::LeaseExpired);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn reserve(&self, now_ms: u64, want: usize, confirmed: bool) -> Result<Reservation> {
        let reservation = self.generator.reserve(now_ms, want, confirmed);
        self.end_look();
        reservation
    }

    /// The last look no longer counts.
    pub(crate) fn end_look(&self) {
        self.generator.set_until(0);
    }

    /// The condition at a time: [`Generator::health`], after a look. If only a write of the ceiling is missing, that is no refusal.
    ///
    /// ```
    /// # use frazil::{Code, Layout, Node};
    /// # use frazil::ceiling::{CeilingGenerator, CeilingRow};
    /// let mut ids = CeilingGenerator::new(&Layout::named("edge")?, Node::Id(7), None, 42)?;
    /// let now_ms = 1_720_000_000_000;
    /// ids.look(None, now_ms);
    /// assert_eq!(ids.health(now_ms).refusal, None);
    /// ids.look(Some(CeilingRow { mark: 41, until_ms: now_ms + 5 }), now_ms);
    /// assert_eq!(ids.health(now_ms).refusal.map(|error| error.code()), Some(Code::ClockBackward));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn health(&self, now_ms: u64) -> Health {
        Self::without_expiry(self.generator.health(now_ms))
    }

    pub(crate) fn without_expiry(health: Health) -> Health {
        Health { refusal: health.refusal.filter(|error: &Error| error.code() != Code::LeaseExpired), ..health }
    }

    /// What was counted.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.generator.stats()
    }

    /// Gives the state a key, if it needs one and has none. Each window has its own state, and each state a key.
    pub fn offer_key(&self, key: Key) {
        self.generator.offer_key(key);
    }

    #[cfg(feature = "abi")]
    pub(crate) const fn generator(&self) -> &Generator {
        &self.generator
    }
}
