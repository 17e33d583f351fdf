//! What leases and segments share when they ask a store.

mod backoff;
mod nonce;

pub use backoff::MAX_BACKOFF_MS;
pub(crate) use backoff::{FIRST_BACKOFF_MS, backoff_ms, with_jitter};
pub use nonce::Nonce;
