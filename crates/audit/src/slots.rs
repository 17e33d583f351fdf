//! A dense number for each node id, for as many nodes as the memory has room.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Node ids up to this width have their slots in a table: 2^16 numbers of 4 bytes are 256 KiB.
const TABLE_BITS: u32 = 16;
const NONE: u32 = u32::MAX;

/// The slots of nodes, in the order in which they were first seen.
pub(crate) struct Slots {
    table: Vec<u32>,
    map: HashMap<u32, u32, BuildHasherDefault<Multiply>>,
    nodes: Vec<u32>,
    most: usize,
    /// The first node for which there was no room.
    pub(crate) first_refused: Option<u32>,
}

impl Slots {
    pub(crate) fn new(node_bits: u32, most: usize) -> Self {
        let table = if node_bits <= TABLE_BITS { vec![NONE; 1 << node_bits] } else { Vec::new() };
        Self { table, map: HashMap::default(), nodes: Vec::new(), most, first_refused: None }
    }

    #[inline]
    pub(crate) fn find(&self, node: u32) -> Option<usize> {
        let slot = match self.table.get(node as usize) {
            Some(&slot) => slot,
            None => self.map.get(&node).copied().unwrap_or(NONE),
        };
        (slot != NONE).then_some(slot as usize)
    }

    /// The slot of a node, a new one if it has none yet: that is the number of slots before. `None` if there is no room.
    #[inline]
    pub(crate) fn of(&mut self, node: u32) -> Option<usize> {
        self.find(node).or_else(|| self.add(node))
    }

    #[cold]
    fn add(&mut self, node: u32) -> Option<usize> {
        let slot = self.nodes.len();
        if slot >= self.most {
            self.first_refused.get_or_insert(node);
            return None;
        }
        self.nodes.push(node);
        // Fewer nodes than u32 has values, by the memory.
        match self.table.get_mut(node as usize) {
            Some(entry) => *entry = slot as u32,
            None => {
                self.map.insert(node, slot as u32);
            }
        }
        Some(slot)
    }

    pub(crate) fn nodes(&self) -> &[u32] {
        &self.nodes
    }
}

/// Node ids are small numbers or spread already: a multiplication suffices.
#[derive(Default)]
struct Multiply(u64);

impl Hasher for Multiply {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        // The odd number next to 2^64 divided by the golden ratio (Knuth, volume 3, section 6.4).
        self.0 = (self.0 ^ u64::from(value)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
}
