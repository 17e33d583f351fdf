//! A map by key: a tree with `std`, a list without.
//!
//! A process may have 100,000 states, and opening the last must not cost more than opening the first. So with `std` the map is a
//! tree, and unlike a hash map it never rehashes while a caller waits. Without `std`, as in the WebAssembly module, it is a list,
//! because a tree would make the module half as large again.

#[cfg(feature = "std")]
pub(crate) use alloc::collections::BTreeMap as Table;

#[cfg(not(feature = "std"))]
pub(crate) use list::Table;

#[cfg(not(feature = "std"))]
mod list {
    use alloc::vec::Vec;

    /// The methods of a `BTreeMap` that this crate uses.
    #[derive(Debug)]
    pub(crate) struct Table<K, V>(Vec<(K, V)>);

    impl<K, V> Default for Table<K, V> {
        fn default() -> Self {
            Self::new()
        }
    }

    impl<K, V> Table<K, V> {
        pub(crate) const fn new() -> Self {
            Self(Vec::new())
        }

        pub(crate) const fn len(&self) -> usize {
            self.0.len()
        }

        pub(crate) const fn is_empty(&self) -> bool {
            self.0.is_empty()
        }
    }

    impl<K: PartialEq, V> Table<K, V> {
        pub(crate) fn get(&self, key: &K) -> Option<&V> {
            self.0.iter().find(|entry| entry.0 == *key).map(|entry| &entry.1)
        }

        /// Inserts a key that is not in the table.
        pub(crate) fn insert(&mut self, key: K, value: V) {
            self.0.push((key, value));
        }

        #[cfg(feature = "abi")]
        pub(crate) fn remove(&mut self, key: &K) {
            self.0.retain(|entry| entry.0 != *key);
        }
    }
}
