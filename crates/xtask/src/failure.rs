//! The error of a build step: its text is all that anyone reads.

pub(crate) type Failure = Box<dyn std::error::Error>;
