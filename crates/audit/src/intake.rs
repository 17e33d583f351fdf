//! What happens to a row when it is read: it is judged in the order of arrival, and its key goes to the sorter.

use frazil::Layout;

use crate::created::Created;
use crate::disk::Disk;
use crate::error::AuditError;
use crate::guess::{Guess, guess};
use crate::hosts::Hosts;
use crate::input::{Reason, Row, Rows};
use crate::key::Keys;
use crate::options::Options;
use crate::order::Orders;
use crate::rounded::Rounded;
use crate::slots::Slots;
use crate::sort::{NO_HOST, Sorter};
use crate::tally::{ByNode, Sample, Tally};

/// Rows by which a layout is guessed.
const GUESS_ROWS: usize = 100_000;
/// A clock of another machine may be so far ahead of ours without being wrong.
const FUTURE_MS: i64 = 60_000;

/// A row that waits for the layout.
#[derive(Clone, Copy)]
struct Waiting {
    id: u64,
    host: u32,
    created_ms: Option<i64>,
    file: u32,
    line: u64,
}

/// A row without an ID.
pub(crate) struct Unreadable {
    pub(crate) file: u32,
    pub(crate) line: u64,
    pub(crate) text: String,
    pub(crate) reason: Reason,
}

/// The layout by which rows are read.
pub(crate) struct Reading {
    pub(crate) layout: Option<Layout>,
    pub(crate) keys: Option<Keys>,
    /// The guesses, the first of them the layout; empty if it was given.
    pub(crate) guesses: Vec<Guess>,
}

impl Reading {
    fn of(layout: Layout) -> Self {
        Self { keys: Some(Keys::new(&layout)), layout: Some(layout), guesses: Vec::new() }
    }

    fn guessed(guesses: Vec<Guess>) -> Self {
        let layout = guesses.first().map(|guess| guess.layout.clone());
        Self { keys: layout.as_ref().map(Keys::new), layout, guesses }
    }
}

pub(crate) struct Intake<D> {
    pub(crate) disk: D,
    pub(crate) sorter: Sorter,
    pub(crate) hosts: Hosts,
    pub(crate) slots: Slots,
    pub(crate) reading: Option<Reading>,
    waiting: Vec<Waiting>,
    most_waiting: usize,
    memory_bytes: usize,
    max_rows: usize,
    now_ms: i64,
    pub(crate) file: u32,
    /// The last key that is neither in the future nor above the layout's width.
    last_fitting_key: u64,
    pub(crate) ids: u64,
    pub(crate) orders: Orders,
    pub(crate) created: Created,
    pub(crate) rounded: Rounded,
    pub(crate) future: ByNode,
    pub(crate) before_epoch: Tally,
    pub(crate) negative: Tally,
    pub(crate) outside: Tally,
    pub(crate) unreadable: u64,
    pub(crate) unreadable_rows: Vec<Unreadable>,
}

impl<D: Disk> Intake<D> {
    /// `memory_bytes` is that of nodes and hosts; the sorter has its own.
    pub(crate) fn new(options: &Options, sort_bytes: usize, memory_bytes: usize, disk: D) -> Self {
        let mut intake = Self {
            disk,
            sorter: Sorter::new(sort_bytes),
            hosts: Hosts::new(memory_bytes / 4),
            slots: Slots::new(0, 0),
            reading: None,
            waiting: Vec::new(),
            most_waiting: GUESS_ROWS.min(sort_bytes / 2 / size_of::<Waiting>()),
            memory_bytes,
            max_rows: options.max_rows,
            now_ms: options.now_ms,
            file: 0,
            last_fitting_key: u64::MAX,
            ids: 0,
            orders: Orders::default(),
            created: Created::new(memory_bytes / 4),
            rounded: Rounded::new(),
            future: ByNode::default(),
            before_epoch: Tally::default(),
            negative: Tally::default(),
            outside: Tally::default(),
            unreadable: 0,
            unreadable_rows: Vec::new(),
        };
        if let Some(layout) = &options.layout {
            intake.begin(Reading::of(layout.clone()));
        }
        intake
    }

    fn begin(&mut self, reading: Reading) {
        /// What a node takes here: its passage in the order of arrival, and its number.
        const NODE_BYTES: usize = 64;
        if let Some(keys) = &reading.keys {
            self.slots = Slots::new(keys.node_bits, self.memory_bytes / 4 / NODE_BYTES);
            let last_tick = keys.tick_at(self.now_ms.saturating_add(FUTURE_MS)).unwrap_or(0);
            let last_tick = last_tick.min(crate::key::ones(keys.time_bits));
            self.last_fitting_key = (last_tick << keys.time_shift) | crate::key::ones(keys.time_shift);
        }
        self.reading = Some(reading);
    }

    /// Guesses the layout if it is not known, and reads the rows that waited for it.
    #[cold]
    pub(crate) fn decide(&mut self) -> Result<(), AuditError<D::Error>> {
        if self.reading.is_some() {
            return Ok(());
        }
        let rows: Vec<_> = self.waiting.iter().map(|row| (row.id, row.created_ms)).collect();
        self.begin(Reading::guessed(guess(&rows, self.now_ms)));
        let file = self.file;
        for row in std::mem::take(&mut self.waiting) {
            if row.file != self.file {
                self.orders.end_file();
            }
            self.file = row.file;
            self.judge(row)?;
        }
        for _ in self.file..file {
            self.orders.end_file();
        }
        self.file = file;
        Ok(())
    }

    pub(crate) fn end_file(&mut self) {
        if self.reading.is_some() {
            self.orders.end_file();
        }
        self.file += 1;
    }

    #[inline]
    fn judge(&mut self, row: Waiting) -> Result<(), AuditError<D::Error>> {
        let Some(keys) = self.reading.as_ref().and_then(|reading| reading.keys.as_ref()) else {
            return self.sorter.push(row.id, row.host, &mut self.disk).map_err(AuditError::Disk);
        };
        let key = keys.key(row.id);
        if !keys.is_outside(key) {
            let ms = keys.ms_of(key);
            let slot = self.slots.of(keys.node(key));
            let sample = || Sample { id: row.id, host: row.host, file: row.file, line: row.line };
            if let Some(slot) = slot {
                self.orders.row(slot, ms, sample);
            }
            if let Some(created_ms) = row.created_ms {
                self.created.row(slot, ms, created_ms, sample(), self.max_rows);
            }
        }
        self.rounded.row(row.id, keys);
        if key > self.last_fitting_key {
            self.misfit(key, row);
        }
        self.sorter.push(key, row.host, &mut self.disk).map_err(AuditError::Disk)
    }

    /// An ID in the future, or one that the layout does not have.
    #[cold]
    fn misfit(&mut self, key: u64, row: Waiting) {
        let Some(Reading { keys: Some(keys), layout: Some(layout), .. }) = &self.reading else { return };
        let sample = Sample { id: row.id, host: row.host, file: row.file, line: row.line };
        let (tally, ms) = if !keys.is_outside(key) {
            let node = (keys.node_bits > 0).then(|| keys.node(key));
            (self.future.of(node), Some(keys.ms_of(key)))
        } else if row.id >> 63 == 0 {
            (&mut self.outside, None)
        } else {
            self.negative.add(1, None);
            self.negative.show(sample, self.max_rows);
            // Generators compute (time - epoch) << shift. Below zero, that is a time before the epoch, or beyond the end of the field.
            let tick = (key.cast_signed() >> keys.time_shift).saturating_mul(keys.tick_ms);
            let ms = keys.epoch_ms.saturating_add(tick);
            let has_ended = i64::try_from(layout.plan().last_ms).is_ok_and(|last_ms| last_ms < self.now_ms);
            let is_time_on_top = layout.fields().first().is_some_and(|field| field.kind == frazil::layout::FieldKind::Time);
            if !is_time_on_top || has_ended || ms < 0 {
                return;
            }
            (&mut self.before_epoch, Some(ms))
        };
        tally.add(1, ms);
        tally.show(sample, self.max_rows);
    }
}

impl<D: Disk> Rows for Intake<D> {
    type Error = AuditError<D::Error>;

    #[inline]
    fn row(&mut self, row: Row<'_>) -> Result<(), Self::Error> {
        self.ids += 1;
        let host = match row.host {
            Some(host) => {
                self.sorter.expect_hosts(&mut self.disk).map_err(AuditError::Disk)?;
                self.hosts.number(host)
            }
            None => NO_HOST,
        };
        let row = Waiting { id: row.id, host, created_ms: row.created_ms, file: self.file, line: row.line };
        if self.reading.is_some() {
            return self.judge(row);
        }
        self.waiting.push(row);
        if self.waiting.len() >= self.most_waiting { self.decide() } else { Ok(()) }
    }

    fn unreadable(&mut self, line: u64, reason: Reason, text: String) {
        self.unreadable += 1;
        if self.unreadable_rows.len() < self.max_rows {
            self.unreadable_rows.push(Unreadable { file: self.file, line, text, reason });
        }
    }
}
