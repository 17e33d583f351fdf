//! The modes of a lock.

/// How to hold a lock, or to release it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Shared,
    Exclusive,
    Unlocked,
}
