//! An audit from the first byte to the report.

use crate::disk::Disk;
use crate::error::AuditError;
use crate::findings;
use crate::input::Input;
use crate::intake::Intake;
use crate::ledger::Ledger;
use crate::locate::Locator;
use crate::options::Options;
use crate::report::Report;
use crate::sort::{Sorted, Sorter};

/// How much of the memory sorts; the rest is for nodes and hosts. A quarter of 256 MiB holds 200,000 nodes.
const SORT_SHARE: usize = 4;
/// Keys of a step are collected, so that the merge and what they say do not take turns.
const STEP_KEYS: usize = 4096;

/// How far an audit is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that were pushed.
    pub bytes: u64,
    /// Rows with an ID.
    pub rows: u64,
    /// Bytes that were written to disk.
    pub spilled_bytes: u64,
    /// IDs that the merge has put in their final order.
    pub merged: u64,
}

/// Reads IDs, sorts them, and says what is wrong with them.
///
/// The calls come in this order: for each file [`push`](Self::push) its bytes in pieces of any size and [`end_file`](Self::end_file); then
/// [`merge`](Self::merge) until it returns `true`; then [`report`](Self::report).
pub struct Audit<D: Disk> {
    options: Options,
    input: Input,
    intake: Intake<D>,
    sorted: Option<Sorted>,
    ledger: Option<Ledger>,
    state_bytes: usize,
    is_done: bool,
    files: u32,
    locator: Option<Locator<D::Error>>,
}

impl<D: Disk> Audit<D> {
    /// Begins an audit that keeps its sorted runs on the disk.
    ///
    /// # Errors
    /// If the memory is less than [`Options::MIN_MEMORY_BYTES`].
    pub fn new(options: Options, disk: D) -> Result<Self, AuditError<D::Error>> {
        if options.memory_bytes < Options::MIN_MEMORY_BYTES {
            let message = format!("memory must be at least 1 MiB, got {} bytes", options.memory_bytes);
            return Err(AuditError::refused("memory", message, ""));
        }
        let state_bytes = options.memory_bytes / SORT_SHARE;
        let intake = Intake::new(&options, options.memory_bytes - state_bytes, state_bytes, disk);
        let input = Input::new(options.format, options.columns.clone());
        Ok(Self { options, input, intake, sorted: None, ledger: None, state_bytes, is_done: false, files: 0, locator: None })
    }

    /// Reads bytes of a file.
    ///
    /// # Errors
    /// If the file is not one of the formats, or the disk refuses.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), AuditError<D::Error>> {
        match &mut self.locator {
            Some(locator) => self.input.push(bytes, locator),
            None => self.input.push(bytes, &mut self.intake),
        }
    }

    /// Ends a file. The next one may have another format and header.
    ///
    /// # Errors
    /// If more than half of the file's rows have no ID, or the disk refuses.
    pub fn end_file(&mut self) -> Result<(), AuditError<D::Error>> {
        if let Some(locator) = &mut self.locator {
            self.input.end_file(locator)?;
            locator.file += 1;
            return Ok(());
        }
        self.input.end_file(&mut self.intake)?;
        self.intake.end_file();
        self.files += 1;
        Ok(())
    }

    /// How far the audit is.
    pub fn progress(&self) -> Progress {
        let spilled_bytes = self.sorted.as_ref().map_or(self.intake.sorter.spilled_bytes, Sorted::spilled_bytes);
        let merged = self.ledger.as_ref().map_or(0, |ledger| ledger.ids);
        Progress { bytes: self.input.bytes, rows: self.intake.ids, spilled_bytes, merged }
    }

    /// Goes on with the merge for about that many IDs. Returns whether it is done.
    ///
    /// # Errors
    /// If no file has an ID, or the disk refuses.
    pub fn merge(&mut self, at_most_ids: u64) -> Result<bool, AuditError<D::Error>> {
        if self.is_done {
            return Ok(true);
        }
        self.intake.decide()?;
        if self.intake.ids == 0 {
            return Err(AuditError::refused("input", "the input has no IDs", ""));
        }
        let disk = &mut self.intake.disk;
        if self.sorted.is_none() {
            let sorter = std::mem::replace(&mut self.intake.sorter, Sorter::new(0));
            self.sorted = Some(sorter.sorted(disk).map_err(AuditError::Disk)?);
        }
        let Some(sorted) = &mut self.sorted else { return Ok(true) };
        let ledger = self.ledger.get_or_insert_with(|| {
            let keys = self.intake.reading.as_ref().and_then(|reading| reading.keys.clone());
            Ledger::new(keys, self.state_bytes / 2, self.options.max_rows)
        });
        let mut rest = at_most_ids.max(1);
        while rest > 0 {
            let count = STEP_KEYS.min(usize::try_from(rest).unwrap_or(STEP_KEYS));
            rest -= count as u64;
            if sorted.step(count, disk, &mut |key, host| ledger.take(key, host)).map_err(AuditError::Disk)? {
                ledger.end();
                self.is_done = true;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// After the merge: reads the same files once more, by `push` and `end_file`, for the lines of the IDs that the report lists.
    pub fn locate(&mut self) {
        let report = self.report();
        let rows = report.findings.iter().flat_map(|finding| &finding.rows);
        self.locator = Some(Locator::new(rows.filter_map(|row| row.id.parse().ok())));
        self.input = Input::new(self.options.format, self.options.columns.clone());
    }

    /// What was found. Before the merge is done, it is about the IDs that are merged so far.
    pub fn report(&self) -> Report {
        let places = self.locator.as_ref().map(|locator| &locator.places);
        findings::report(&self.options, self.files, &self.intake, self.ledger.as_ref(), places)
    }
}
