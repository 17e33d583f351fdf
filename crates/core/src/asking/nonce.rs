//! The name of an attempt to reach a store.

/// The identity of an attempt: 128 random bits, the same for all its retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nonce(pub u128);
