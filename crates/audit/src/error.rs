//! Why an audit cannot go on.

use std::fmt;

/// What stopped an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditError<E = std::convert::Infallible> {
    /// The input or an option is not one that can be audited.
    Refused(Refusal),
    /// The disk refused to keep or return a run.
    Disk(E),
}

/// Input or an option that cannot be audited: one short fact with the value, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The option at fault, or `input`.
    pub field: &'static str,
    /// The index of the file, from 0, and the number of the line, from 1; of raw IDs, the number of the ID.
    pub place: Option<(u32, u64)>,
    /// The fact.
    pub message: String,
    /// What to do; empty if there is nothing to add.
    pub hint: String,
}

impl Refusal {
    /// The message, the hint, the index of the file and the line, a line each: empty where there is none. Line ends of cells that the
    /// message shows become blanks.
    #[must_use]
    pub fn lines(&self) -> String {
        let place = |part: fn((u32, u64)) -> u64| self.place.map_or(String::new(), |place| part(place).to_string());
        let line = |text: &str| text.replace(['\n', '\r'], " ");
        format!(
            "{}\n{}\n{}\n{}",
            line(&self.message),
            line(&self.hint),
            place(|place| u64::from(place.0)),
            place(|place| place.1)
        )
    }
}

impl<E> AuditError<E> {
    pub(crate) fn refused(field: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused(Refusal { field, place: None, message: message.into(), hint: hint.into() })
    }

    pub(crate) fn at(self, file: u32, line: u64) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(Refusal { place: Some((file, line)), ..refusal }),
            disk @ Self::Disk(_) => disk,
        }
    }
}

impl<E: fmt::Display> fmt::Display for AuditError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => f.write_str(&refusal.message),
            Self::Disk(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for AuditError<E> {}
