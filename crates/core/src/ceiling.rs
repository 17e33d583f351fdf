//! A ceiling: a time that is durable ahead of use, so that no ID has it or a later one.
//!
//! Whoever begins anew, after an end at any moment, begins at the ceiling, and repeats nothing. [`CeilingRule`] says when a ceiling is
//! raised, and to where. [`CeilingGenerator`] mints under a ceiling that lies in a storage which its host reads and writes, such as
//! that of a Durable Object.
//!
//! * **Pure**: no I/O, no clock, no entropy. The host reads the [`CeilingRow`] of the storage, asks [`CeilingGenerator::look`] whether
//!   it must be written first, and writes it.
//! * **The row decides**: before each reservation the window is set to what the row says, so a write that a rollback has taken back, a
//!   failed write, and another generator that has raised the ceiling are noticed, whatever the generator remembers.
//! * **No further than needed**: a row is written only if an ID could be issued that it does not cover, and its time is then
//!   [`CEILING_AHEAD_MS`] beyond the tick of that ID. So it is at most the clock, the lead, a tick and [`CEILING_AHEAD_MS`] together,
//!   of the latest reading of the clock at which IDs were reserved. A restart that cannot issue anything moves nothing.
//!
//! # Why `frazil-local` shares the rule and not the generator
//! A state file has the same rule, with three seconds. Beyond the rule the two differ. The processes of a machine share one word in
//! mapped memory, so a start continues there if it can, and minting asks the disk nothing; a generator of a storage is alone with its
//! word. A thread raises the ceiling of a file before a call needs it, further than a lead can reach, so it counts from the clock; where
//! only calls can write, a ceiling is counted from the tick that is due, or IDs that are borrowed from the future would need a write
//! each tick. And a machine has a second clock, by which the first is judged; a Worker has none, so a clock that shows a year ahead is
//! followed.
//!
//! Not covered: what makes a write durable before an ID leaves, which is the runtime's task; and IDs that leave a transaction which is
//! rolled back.

use crate::error::{Code, Error, Result};
use crate::layout::{Layout, Node};
use crate::mint::{Generator, Health, Key, Machine, Reservation, SequenceStart, Stats, Window};

/// How far a [`CeilingGenerator`] writes its ceiling beyond the tick that is due, in milliseconds: so it is written at most once in a
/// second of the times that IDs have.
///
/// ```
/// assert_eq!(frazil::CEILING_AHEAD_MS, 1000);
/// ```
pub const CEILING_AHEAD_MS: u64 = 1000;

/// When a ceiling is raised, and to where.
///
/// ```
/// let rule = frazil::CeilingRule::ahead(3000);
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
    ///
    /// ```
    /// assert_eq!(frazil::CeilingRule::ahead(1000).raised(0, 5, 5), Some(1005));
    /// ```
    #[must_use]
    pub const fn ahead(ahead_ms: u64) -> Self {
        Self { ahead_ms }
    }

    /// The ceiling to raise to if it is `ceiling_ms` and IDs before `needed_ms` are to be issued: as far ahead of `from_ms` as the rule
    /// says, and at least `needed_ms`. `None` if it need not be raised.
    ///
    /// ```
    /// assert_eq!(frazil::CeilingRule::ahead(1000).raised(5, 6, u64::MAX), Some(u64::MAX));
    /// ```
    #[must_use]
    pub const fn raised(self, ceiling_ms: u64, needed_ms: u64, from_ms: u64) -> Option<u64> {
        if ceiling_ms >= needed_ms {
            return None;
        }
        let ahead_ms = from_ms.saturating_add(self.ahead_ms);
        Some(if needed_ms > ahead_ms { needed_ms } else { ahead_ms })
    }
}

/// What a storage has for a generator.
///
/// ```
/// let row = frazil::CeilingRow { mark: 5, until_ms: 1_704_067_201_000 };
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
/// use frazil::{CeilingGenerator, CeilingRow, Layout, Node, Reservation};
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
/// A row with the mark of this generator was written by it last, so nobody else has issued anything since. A row with another mark ends
/// the window: it begins anew at that ceiling, unless it began there, and the row is the same because a rollback has taken back what
/// this generator wrote. A mark that two generators share could hide from one that the other has written the same time after a
/// rollback, so it must be drawn at random.
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
    /// use frazil::{CeilingGenerator, Code, Layout, Node};
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
    /// use frazil::{CeilingGenerator, Layout, Node, SequenceStart};
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
    /// use frazil::{CeilingGenerator, CeilingRow, Layout, Node};
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
        // No row says that nobody has issued anything, so the window of this generator stays what it is.
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

    /// Reserves IDs as [`Generator::reserve`], in the window that the last look has set. Each reservation needs a look of its own.
    ///
    /// # Errors
    /// Those of [`Generator::reserve`]; `CLOCK_BACKWARD` before the ceiling at which the window begins; `LEASE_EXPIRED` without a look,
    /// or if what it said was not written.
    ///
    /// ```
    /// # use frazil::{CeilingGenerator, Code, Layout, Node};
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

    /// What the last look has said counts no more.
    pub(crate) fn end_look(&self) {
        self.generator.set_until(0);
    }

    /// The condition at a time: [`Generator::health`], after a look. What only a write of the ceiling is missing for is no refusal.
    ///
    /// ```
    /// # use frazil::{CeilingGenerator, CeilingRow, Code, Layout, Node};
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
    ///
    /// ```
    /// # use frazil::{CeilingGenerator, Layout, Node};
    /// assert_eq!(CeilingGenerator::new(&Layout::named("edge")?, Node::Id(7), None, 42)?.stats().issued, 0);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.generator.stats()
    }

    /// Gives the state a key, if it needs one and has none. Each window has a state of its own, and each state a key.
    ///
    /// ```
    /// # use frazil::{CeilingGenerator, Key, Layout, Node};
    /// CeilingGenerator::new(&Layout::named("edge")?, Node::Id(7), None, 42)?.offer_key(Key::new(1, 2));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn offer_key(&self, key: Key) {
        self.generator.offer_key(key);
    }

    #[cfg(feature = "abi")]
    pub(crate) const fn generator(&self) -> &Generator {
        &self.generator
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::layout::{Field, LayoutSpec};

    const EPOCH_MS: u64 = 1_704_067_200_000;
    const NOW_MS: u64 = EPOCH_MS + 50_000;
    const MARK: u64 = 42;

    fn of(tick_ms: u64, fields: &[Field]) -> Layout {
        Layout::new(LayoutSpec { epoch_ms: EPOCH_MS, tick_ms, unsigned: false, fields: fields.to_vec() }).unwrap()
    }

    fn generator(layout: &Layout, max_lead_ms: u64) -> CeilingGenerator {
        CeilingGenerator::new(layout, Node::Id(1), Some(max_lead_ms), MARK).unwrap()
    }

    fn edge() -> CeilingGenerator {
        generator(&Layout::named("edge").unwrap(), 1000)
    }

    const fn own(until_ms: u64) -> CeilingRow {
        CeilingRow { mark: MARK, until_ms }
    }

    const fn other(until_ms: u64) -> CeilingRow {
        CeilingRow { mark: 7, until_ms }
    }

    /// The time of the next ID, or the code of the refusal, without a write.
    fn minted(
        ids: &mut CeilingGenerator,
        row: Option<CeilingRow>,
        now_ms: u64,
        layout: &Layout,
    ) -> core::result::Result<u64, Code> {
        ids.look(row, now_ms);
        match ids.reserve(now_ms, 1, true).map_err(|error| error.code())? {
            Reservation::Issued { block, .. } => Ok(layout.decode(block.first()).unwrap().timestamp_ms),
            Reservation::Recheck => unreachable!("a confirmed call"),
        }
    }

    // docs/safety.md: 30
    #[test]
    fn a_row_is_written_where_the_tick_that_is_due_ends_after_its_ceiling() {
        for (tick_ms, ends_ms) in [(1, NOW_MS + 1), (20, NOW_MS + 20), (1500, EPOCH_MS + 34 * 1500)] {
            let layout = of(tick_ms, &[Field::time(35), Field::node(4), Field::sequence(8)]);
            let mut ids = generator(&layout, 0);
            let first = ids.look(None, NOW_MS).unwrap();
            assert_eq!(first, own(ends_ms + CEILING_AHEAD_MS), "a tick of {tick_ms} ms");
            assert_eq!(ids.look(Some(own(ends_ms)), NOW_MS), None);
            assert_eq!(ids.look(Some(own(ends_ms - 1)), NOW_MS), Some(first));
        }
    }

    // docs/safety.md: 30
    #[test]
    fn nothing_is_written_where_nothing_can_be_issued() {
        let fields = [Field::time(16), Field::node(4), Field::sequence(1)];
        let (layout, end_ms) = (of(1, &fields), EPOCH_MS + (1 << 16));
        for now_ms in [0, EPOCH_MS - 1, end_ms, u64::MAX] {
            assert_eq!(generator(&layout, 1000).look(None, now_ms), None, "{now_ms}");
        }
        // Behind the ceiling at which the window begins, however often it is asked for.
        let mut ids = generator(&layout, 1000);
        for now_ms in [EPOCH_MS, NOW_MS - 1, NOW_MS + 3999, NOW_MS] {
            assert_eq!(ids.look(Some(other(NOW_MS + 4000)), now_ms), None);
            assert_eq!(ids.reserve(now_ms, 1, true).unwrap_err().code(), Code::ClockBackward);
        }
        assert_eq!(ids.look(Some(other(NOW_MS + 4000)), NOW_MS + 4000), Some(own(NOW_MS + 5001)));
        // With the lead used up.
        let mut ids = generator(&layout, 2);
        let row = ids.look(None, NOW_MS);
        ids.look(row, NOW_MS);
        ids.reserve(NOW_MS, 6, true).unwrap();
        assert_eq!(ids.look(None, NOW_MS), None, "not even if it was rolled back");
        assert_eq!(minted(&mut ids, row, NOW_MS, &layout), Err(Code::SequenceExhausted));
    }

    // docs/safety.md: 30
    #[test]
    fn a_ceiling_that_was_taken_back_is_raised_again_and_the_ids_go_on() {
        let layout = Layout::named("edge").unwrap();
        for before in [None, Some(other(NOW_MS - 10))] {
            let mut ids = edge();
            let row = ids.look(before, NOW_MS);
            ids.look(row, NOW_MS);
            let Ok(Reservation::Issued { block, .. }) = ids.reserve(NOW_MS, 5, true) else { unreachable!() };
            let last = block.first() + 4;
            // Without a write there is no ID.
            assert_eq!(minted(&mut ids, before, NOW_MS, &layout), Err(Code::LeaseExpired));
            assert_eq!(ids.look(before, NOW_MS), row);
            ids.look(row, NOW_MS);
            let Ok(Reservation::Issued { block, .. }) = ids.reserve(NOW_MS, 1, true) else { unreachable!() };
            assert_eq!(block.first(), last + 1, "nobody else has issued anything, so no tick is left out");
        }
    }

    // docs/safety.md: 30
    #[test]
    fn an_extension_that_was_taken_back_leaves_the_window_that_was_there_before() {
        let layout = Layout::named("edge").unwrap();
        let mut ids = edge();
        let first = ids.look(None, NOW_MS);
        let second = ids.look(first, NOW_MS + 1001);
        assert_eq!(second, Some(own(NOW_MS + 2002)));
        assert_eq!(minted(&mut ids, second, NOW_MS + 1001, &layout), Ok(NOW_MS + 1001));
        // The clock is back below the first ceiling, and the word is not.
        assert_eq!(ids.look(first, NOW_MS + 1000), Some(own(NOW_MS + 2002)));
        assert_eq!(minted(&mut ids, first, NOW_MS + 1000, &layout), Err(Code::LeaseExpired));
    }

    // docs/safety.md: 30
    #[test]
    fn another_mark_ends_the_window_and_the_next_one_begins_at_its_ceiling() {
        let layout = Layout::named("edge").unwrap();
        let mut ids = edge();
        let first = ids.look(None, NOW_MS);
        assert_eq!(minted(&mut ids, first, NOW_MS, &layout), Ok(NOW_MS));
        // Also if it is the same time, which another generator has written after a rollback.
        let theirs = Some(CeilingRow { mark: 7, ..first.unwrap() });
        for now_ms in [NOW_MS, NOW_MS + 1000] {
            assert_eq!(ids.look(theirs, now_ms), None);
            assert_eq!(ids.reserve(now_ms, 1, true).unwrap_err().code(), Code::ClockBackward);
        }
        let row = ids.look(theirs, NOW_MS + 1001);
        assert_eq!(row, Some(own(NOW_MS + 2002)));
        assert_eq!(minted(&mut ids, row, NOW_MS + 1001, &layout), Ok(NOW_MS + 1001));
        // A row of its own, from before the window began, gives no time that lies before the window.
        assert_eq!(ids.look(first, NOW_MS + 500), None);
        assert_eq!(ids.reserve(NOW_MS + 500, 1, true).unwrap_err().code(), Code::ClockBackward);
    }

    #[test]
    fn a_new_generator_begins_at_the_ceiling_even_if_the_row_has_its_mark() {
        let layout = Layout::named("edge").unwrap();
        for row in [own(NOW_MS + 700), other(NOW_MS + 700)] {
            let mut ids = edge();
            for _ in 0..2 {
                assert_eq!(ids.look(Some(row), NOW_MS + 699), None);
                assert_eq!(ids.reserve(NOW_MS + 699, 1, true).unwrap_err().retry_after_ms(), 1);
            }
            let written = ids.look(Some(row), NOW_MS + 700);
            assert_eq!(written, Some(own(NOW_MS + 1701)));
            assert_eq!(minted(&mut ids, written, NOW_MS + 700, &layout), Ok(NOW_MS + 700));
        }
    }

    #[test]
    fn ids_that_are_borrowed_need_a_write_a_second_of_their_times() {
        let layout = of(1, &[Field::time(41), Field::node(4), Field::sequence(1)]);
        let mut ids = generator(&layout, 1000);
        let (mut row, mut writes, mut issued) = (None, Vec::new(), 0);
        loop {
            if let Some(due) = ids.look(row, NOW_MS) {
                writes.push(due.until_ms - NOW_MS);
                row = Some(due);
                ids.look(row, NOW_MS);
            }
            match ids.reserve(NOW_MS, 4096, true) {
                Ok(Reservation::Issued { block, .. }) => issued += block.len(),
                error => break assert_eq!(error.unwrap_err().code(), Code::SequenceExhausted),
            }
        }
        assert_eq!((issued, writes), (2 * 1001, vec![1001]));
    }

    #[test]
    fn a_layout_with_clock_ids_follows_its_clock_back_within_the_window() {
        let layout = of(1, &[Field::time(38), Field::clock(1), Field::node(4), Field::sequence(8)]);
        let mut ids = generator(&layout, 0);
        let begun_at = Some(other(NOW_MS - 500));
        let row = ids.look(begun_at, NOW_MS);
        assert_eq!(minted(&mut ids, row, NOW_MS, &layout), Ok(NOW_MS));
        assert_eq!(ids.look(row, NOW_MS - 500), None, "the row covers the earlier tick");
        assert_eq!(minted(&mut ids, row, NOW_MS - 500, &layout), Ok(NOW_MS - 500));
        assert_eq!(minted(&mut ids, row, NOW_MS - 501, &layout), Err(Code::ClockBackward));
        // After a deletion of all rows the window begins where it did.
        assert_eq!(minted(&mut ids, None, NOW_MS - 501, &layout), Err(Code::ClockBackward));
    }

    #[test]
    fn the_last_tick_of_the_time_field_is_issued_and_no_later_one() {
        let layout = of(1, &[Field::time(16), Field::node(4), Field::sequence(1)]);
        let last_ms = EPOCH_MS + (1 << 16) - 1;
        let mut ids = generator(&layout, 1000);
        let row = ids.look(None, last_ms);
        assert_eq!(row, Some(own(last_ms + 1 + CEILING_AHEAD_MS)));
        for _ in 0..2 {
            assert_eq!(minted(&mut ids, row, last_ms, &layout), Ok(last_ms));
        }
        assert_eq!(minted(&mut ids, row, last_ms, &layout), Err(Code::TimeExhausted));
        // And by nobody after it.
        let mut next = CeilingGenerator::new(&layout, Node::Id(1), None, 7).unwrap();
        for now_ms in [last_ms, last_ms + 2000] {
            assert_eq!(minted(&mut next, row, now_ms, &layout), Err(Code::TimeExhausted));
        }
    }

    #[test]
    fn the_start_of_the_sequence_is_kept_from_window_to_window() {
        let layout = Layout::named("edge").unwrap();
        let mut ids = edge().starting(SequenceStart::Random);
        for (row, now_ms) in [(None, NOW_MS), (Some(other(NOW_MS + 5000)), NOW_MS + 5000)] {
            let due = ids.look(row, now_ms);
            ids.look(due, now_ms);
            assert_eq!(ids.reserve(now_ms, 1, true).unwrap_err().code(), Code::InvalidOption, "each window has a key of its own");
            ids.offer_key(Key::new(1, 2));
            ids.look(due, now_ms);
            let Ok(Reservation::Issued { block, .. }) = ids.reserve(now_ms, 1, true) else { unreachable!() };
            assert_ne!(layout.decode(block.first()).unwrap().sequence, 0);
        }
        assert_eq!(ids.stats().issued, 2);
    }
}
