//! What tells states apart.

use crate::machine::Machine;

/// What tells states apart: everything that decides which numbers come out, and no names. A tuple and not an array, because a
/// list compares it word by word, and the first one differs most often.
pub(crate) type StateKey = (u64, u64, u64, u64, u64);

impl Machine {
    /// The node id in its place, the epoch, the tick, the node bits, and the places of the other fields, each below 2^7.
    pub(crate) fn key(&self) -> StateKey {
        let g = &self.geometry;
        let places = [g.time, g.clock, g.sequence]
            .iter()
            .fold(0, |places, span| (places << 14) | u64::from((span.shift << 7) | span.bits));
        (self.node, g.epoch_ms, g.tick_ms.get(), g.node_mask, places)
    }

    /// A number for what decides which IDs come out, the node id aside: the epoch, the tick and the places of the fields, and
    /// no names. Layouts of one fingerprint make the same IDs of the same fields.
    ///
    /// ```
    /// # use frazil::{Layout, Machine, Node};
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
