//! A lock of another open file, as the system shows it.

/// A lock that conflicts with one that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundLock {
    /// The first byte that it locks.
    pub(crate) from: u64,
    /// How many bytes it locks; 0 for all from there on.
    pub(crate) count: u64,
    /// The process that holds it. `None` for a lock of an open file, which several processes can have open.
    pub(crate) process: Option<u32>,
}

impl FoundLock {
    /// Whether it can be the lock of a state file: those belong to the open file, and lock one byte each.
    pub(crate) const fn is_of_state_file(self) -> bool {
        self.count == 1 && self.process.is_none()
    }
}
