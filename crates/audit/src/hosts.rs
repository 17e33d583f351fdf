//! A number for each name of a host.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::sort::NO_HOST;

/// Names that are longer are cut; two hosts that differ only behind are one.
const MAX_NAME_BYTES: usize = 255;

pub(crate) struct Hosts {
    numbers: HashMap<Vec<u8>, u32, BuildHasherDefault<Words>>,
    names: Vec<String>,
    last: (Vec<u8>, u32),
    free_bytes: usize,
    /// The first host for which there was no room.
    pub(crate) first_refused: Option<String>,
}

impl Hosts {
    pub(crate) fn new(memory_bytes: usize) -> Self {
        Self {
            numbers: HashMap::default(),
            names: Vec::new(),
            last: (Vec::new(), NO_HOST),
            free_bytes: memory_bytes,
            first_refused: None,
        }
    }

    /// The number of a host, `NO_HOST` if there is no room for another one.
    pub(crate) fn number(&mut self, name: &[u8]) -> u32 {
        let name = &name[..name.len().min(MAX_NAME_BYTES)];
        if self.last.0 == name && self.last.1 != NO_HOST {
            return self.last.1;
        }
        let number = self.numbers.get(name).copied().unwrap_or_else(|| self.add(name));
        self.last.0.clear();
        self.last.0.extend_from_slice(name);
        self.last.1 = number;
        number
    }

    fn add(&mut self, name: &[u8]) -> u32 {
        /// What an entry takes besides its two copies of the name.
        const ENTRY_BYTES: usize = 128;
        let bytes = ENTRY_BYTES + 2 * name.len();
        let text = || String::from_utf8_lossy(name).into_owned();
        if bytes > self.free_bytes {
            self.first_refused.get_or_insert_with(text);
            return NO_HOST;
        }
        self.free_bytes -= bytes;
        // Fewer than u32 has values, by the memory.
        let number = self.names.len() as u32;
        self.names.push(text());
        self.numbers.insert(name.to_vec(), number);
        number
    }

    pub(crate) fn name(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(String::as_str)
    }

    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }
}

/// Names are short: eight bytes at a time, multiplied.
#[derive(Default)]
struct Words(u64);

impl Hasher for Words {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        for word in words.iter().chain([&last]) {
            self.write_u64(u64::from_le_bytes(*word));
        }
    }

    fn write_usize(&mut self, length: usize) {
        self.write_u64(length as u64);
    }

    fn write_u64(&mut self, word: u64) {
        // The odd number next to 2^64 divided by the golden ratio, as for nodes.
        self.0 = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}
