//! The audit of IDs, for the command line: each method translates one call of [`frazil_audit::Audit`].
//!
//! A class, unlike the rest of the addon, as its calls take milliseconds. It mints nothing, and knows no generator.

mod disk;

use std::io;
use std::path::PathBuf;

use disk::FileDisk;
use frazil_audit::{AuditError, Options, Progress};
use napi::bindgen_prelude::{Error, Result};
use napi_derive::napi;

/// An audit, whose temporary files go into a folder.
#[napi]
pub struct Audit(frazil_audit::Audit<FileDisk>);

/// The code of an error says whether it is about the input, whose lines are those of [`Refusal::lines`], or about the temporary files.
fn coded(error: AuditError<io::Error>) -> Error<String> {
    match error {
        AuditError::Disk(error) => Error::new("AUDIT_DISK".to_owned(), error),
        AuditError::Refused(refusal) => Error::new("AUDIT".to_owned(), refusal.lines()),
    }
}

#[napi]
impl Audit {
    /// Starts an audit, by the text of [`Options::from_json`].
    ///
    /// # Errors
    /// `AUDIT` for options that cannot be.
    #[napi(constructor)]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "JavaScript gives no reference to a text; an expectation would be checked twice"
    )]
    pub fn new(options: String, folder: String) -> Result<Self, String> {
        let options = Options::from_json(&options).map_err(coded)?;
        Ok(Self(frazil_audit::Audit::new(options, FileDisk::new(PathBuf::from(folder))).map_err(coded)?))
    }

    /// Takes the next bytes of a file.
    ///
    /// # Errors
    /// `AUDIT` for what is no such input, `AUDIT_DISK` for a full disk; also of the other methods.
    #[napi]
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.0.push(bytes).map_err(coded)
    }

    /// Ends a file.
    ///
    /// # Errors
    /// See [`Audit::push`].
    #[napi]
    pub fn end_file(&mut self) -> Result<(), String> {
        self.0.end_file().map_err(coded)
    }

    /// Merges some IDs; true if those were the last ones.
    ///
    /// # Errors
    /// See [`Audit::push`].
    #[napi]
    pub fn merge(&mut self, at_most_ids: u32) -> Result<bool, String> {
        self.0.merge(u64::from(at_most_ids)).map_err(coded)
    }

    /// Begins the second look, for lines.
    #[napi]
    pub fn locate(&mut self) {
        self.0.locate();
    }

    /// The rows that were read.
    #[napi]
    #[must_use]
    pub fn rows(&self) -> f64 {
        let Progress { rows, .. } = self.0.progress();
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        {
            rows as f64
        }
    }

    /// The report, as JSON.
    #[napi]
    #[must_use]
    pub fn report(&self) -> String {
        self.0.report().to_json()
    }
}
