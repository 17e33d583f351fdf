//! What is sorted.

/// What is sorted: the key of an ID, and with a column of hosts the number of its host.
pub(crate) trait Item: Copy + Default {
    /// Whether a host goes with the key. Then a run has a varint for each.
    const HAS_HOST: bool;

    fn new(key: u64, host: u32) -> Self;
    fn key(self) -> u64;
    fn host(self) -> u32;
}

/// No host is known.
pub(crate) const NO_HOST: u32 = u32::MAX;

impl Item for u64 {
    const HAS_HOST: bool = false;

    fn new(key: u64, _: u32) -> Self {
        key
    }

    fn key(self) -> u64 {
        self
    }

    fn host(self) -> u32 {
        NO_HOST
    }
}

/// A key and the number of its host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hosted {
    key: u64,
    host: u32,
}

impl Item for Hosted {
    const HAS_HOST: bool = true;

    fn new(key: u64, host: u32) -> Self {
        Self { key, host }
    }

    fn key(self) -> u64 {
        self.key
    }

    fn host(self) -> u32 {
        self.host
    }
}
