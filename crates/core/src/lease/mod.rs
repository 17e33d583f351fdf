//! Leases of node ids: what to ask a store and what its answer means, and minting under a lease.

mod generator;
mod machine;
mod messages;
mod schedule;
mod terms;

pub use generator::{Asked, IdTime, LeaseStatus, LeasedGenerator, LeasedOptions, MAX_DRIFT_MS, Readings, Taken};
pub use machine::Lease;
pub use messages::{Change, Grant, Granted, Held, LeaseRandom, Reason, Refusal, Release, Request};
pub use terms::LeaseTerms;
