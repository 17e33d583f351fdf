//! Leases of node ids: what to ask a store and what its answer means, and minting under a lease.

mod generator;
mod machine;

pub use generator::{Asked, IdTime, LeaseStatus, LeasedGenerator, LeasedOptions, MAX_DRIFT_MS, Readings, Taken};
pub use machine::{Change, Grant, Granted, Held, Lease, LeaseRandom, LeaseTerms, Nonce, Reason, Refusal, Release, Request};
