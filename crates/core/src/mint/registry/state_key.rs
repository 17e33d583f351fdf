//! The identity of a state: everything that decides which IDs come out, and no names.
//!
//! Two layouts of different names and equal numbers, such as `leaf` and `twitter`, have one key, so their generators share a
//! state.

use crate::mint::machine::Machine;

/// The identity of a state. A tuple instead of an array: a list then compares number by number, and the first one differs most often.
pub(crate) type StateKey = (u64, u64, u64, u64, u64);

impl Machine {
    /// The node id in its bits, the epoch, the tick, the node mask, and the shift and width of each other field, each below 2^7.
    pub(crate) fn key(&self) -> StateKey {
        let g = &self.geometry;
        let places = [g.time, g.clock, g.sequence]
            .iter()
            .fold(0, |places, span| (places << 14) | u64::from((span.shift << 7) | span.bits));
        (self.node, g.epoch_ms, g.tick_ms.get(), g.node_mask, places)
    }

    /// A hash of everything that decides which IDs come out, except the node id: the epoch, the tick and the positions of the
    /// fields. Names do not count. Layouts with equal fingerprints make equal IDs from equal field values.
    ///
    /// ```
    /// # use frazil::{Layout, Node};
    /// # use frazil::mint::Machine;
    /// let fingerprint = |name, node| Ok::<_, frazil::Error>(Machine::new(&Layout::named(name)?, Node::Id(node), 0)?.fingerprint());
    /// assert_eq!(fingerprint("twitter", 7)?, fingerprint("leaf", 8)?);
    /// assert_ne!(fingerprint("default", 7)?, fingerprint("leaf", 7)?);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        use core::hash::Hasher;
        let (_, epoch_ms, tick_ms, node_mask, places) = self.key();
        let mut hash = siphasher::sip::SipHasher24::new();
        for part in [epoch_ms, tick_ms, node_mask, places] {
            hash.write(&part.to_le_bytes());
        }
        hash.finish()
    }
}
