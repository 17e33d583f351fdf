//! The mutants: one rule each that is not kept.

/// What is broken in a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// The store does not know attempts again.
    ForgetsAttempts,
    /// The store skips nothing after a failover.
    SkipsNothing,
    /// The store replaces a record that somebody else has written meanwhile.
    ReplacesBlindly,
    /// The store compares the record when it replaces it, and not which server it is.
    IgnoresServer,
    /// A driver counts a try that timed out as an attempt that did not happen.
    RenamesRetries,
}

impl Defect {
    /// Whether a text is that of its finding.
    pub(crate) fn is_found(self, why: &str) -> bool {
        match self {
            Self::ForgetsAttempts => why.ends_with("lives and did not take what was allocated to it"),
            Self::SkipsNothing | Self::ReplacesBlindly | Self::IgnoresServer => why.ends_with("was handed out twice"),
            // The range follows.
            Self::RenamesRetries => why.contains(": segment must have a range above the numbers that were granted before ("),
        }
    }
}

pub(crate) const DEFECTS: [Defect; 5] =
    [Defect::ForgetsAttempts, Defect::SkipsNothing, Defect::ReplacesBlindly, Defect::IgnoresServer, Defect::RenamesRetries];
