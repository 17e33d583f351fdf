//! The engine of `npx frazil audit`: reads the IDs of any Snowflake generator and says what is wrong with them.
//!
//! * **One pass** over the input, in pieces of any size. Keys are sorted in memory, written as runs, and merged.
//! * **Bounded memory**: [`Options::memory_bytes`], whatever the input. State of nodes and hosts that does not fit is a finding.
//! * **Exact**: a finding that is not marked otherwise is a fact about the rows. A statistical one has its rate of false alarms.
//! * **Without I/O**: no file, no clock, no thread. Runs go through [`Disk`].
//! * Not covered: what the layout does not tell, such as a generator whose epoch is unknown.
//!
//! ```
//! use frazil_audit::{Audit, Kind, MemoryDisk, Options};
//! let mut audit = Audit::new(Options::new(1_780_000_000_000), MemoryDisk::default())?;
//! audit.push(b"284541350019043328\n284541350019043329\n284541350019043328\n")?;
//! audit.end_file()?;
//! while !audit.merge(1_000_000)? {}
//! let report = audit.report();
//! assert_eq!((report.ids, report.distinct), (3, 2));
//! assert_eq!(report.findings[0].kind, Kind::Repeats);
//! # Ok::<(), frazil_audit::AuditError>(())
//! ```

#![forbid(unsafe_code)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "numbers of items fit the memory, fields are as wide as they are masked, and statistics need few digits"
)]

mod audit;
mod calendar;
mod created;
mod disk;
mod error;
mod findings;
mod guess;
mod hosts;
mod input;
mod intake;
mod json;
mod key;
mod ledger;
mod locate;
mod options;
mod order;
mod report;
mod rounded;
mod slots;
mod sort;
mod statistics;
mod tally;

pub use audit::{Audit, Progress};
pub use disk::{Disk, MemoryDisk};
pub use error::{AuditError, Refusal};
pub use options::{Columns, Format, Options};
pub use report::{Certainty, DayReport, Finding, Kind, LayoutReport, NodeReport, NodesReport, Order, Report, RowReport};
