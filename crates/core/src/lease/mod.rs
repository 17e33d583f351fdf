//! Leases of node ids: what to ask a store and what its answer means, and minting under a lease.

mod generator;
mod machine;
mod messages;
mod options;
mod readings;
mod requests;
mod schedule;
mod terms;

pub use generator::{LeaseStatus, LeasedGenerator};
pub use machine::Lease;
pub use messages::{Change, Grant, Granted, Held, LeaseRandom, Reason, Refusal, Release, Request};
pub use options::{IdTime, LeasedOptions};
pub use readings::{MAX_DRIFT_MS, Readings};
pub use requests::{Asked, Taken};
pub use terms::{LeaseTerms, MIN_WINDOW_MS, MIN_WINDOW_TICKS};
