//! The name of an attempt to reach a store.

/// The identity of an attempt: 128 random bits, the same for all its retries.
///
/// ```
/// assert_ne!(frazil::asking::Nonce(1), frazil::asking::Nonce(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nonce(pub u128);
