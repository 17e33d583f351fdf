//! The keys of one kind, form and layout. The first one encodes, and each decodes.

use alloc::vec::Vec;
use core::borrow::Borrow;

use super::key::Key;
use super::opened::Opened;
use super::refusal::{Checked, Refusal};
use crate::error::{Result, Rule};
use crate::layout::Layout;

/// The most keys of a list, as in [`Rule::KeyCount`]. Each takes a block to refuse a text.
pub(crate) const MAX_KEYS: usize = 16;

/// Why a list without keys refuses.
pub(crate) const NO_KEY: Refusal = Refusal::new(Rule::KeyText);

/// The ID that the first key which opens a text finds.
pub(crate) fn decode(keys: impl Iterator<Item: Borrow<Opened>>, text: &[u8]) -> Checked<u64> {
    let mut refusal = NO_KEY;
    for key in keys {
        let key = key.borrow();
        if let Some(id) = key.decode(text)? {
            return Ok(id);
        }
        refusal = Refusal::new(key.elsewhere());
    }
    Err(refusal)
}

/// What both forms are: different keys, for sealed texts without a slot.
pub(super) struct Ring {
    keys: Vec<Opened>,
    max_id: u64,
}

impl Ring {
    /// `parts`: the slot and the key of an element.
    pub(super) fn new<T>(keys: &[T], parts: fn(&T) -> (Option<u32>, &Key), kind: &str, layout: &Layout) -> Result<Self> {
        if !(1..=MAX_KEYS).contains(&keys.len()) {
            return Err(Refusal::new(Rule::KeyCount).of(0, 0));
        }
        let mut ring = Self { keys: Vec::with_capacity(keys.len()), max_id: layout.max_id() };
        for (slot, key) in keys.iter().map(parts) {
            ring.add(key, kind, slot).map_err(|refusal| refusal.of(slot.unwrap_or(0).into(), 0))?;
        }
        Ok(ring)
    }

    fn add(&mut self, key: &Key, kind: &str, slot: Option<u32>) -> Checked<()> {
        let opened = Opened::new(key, kind.as_bytes(), self.max_id, slot)?;
        self.keys.iter().try_for_each(|earlier| opened.check_beside(earlier))?;
        self.keys.push(opened);
        Ok(())
    }

    pub(super) fn encode_into<'a>(&self, id: u64, room: &'a mut [u8]) -> Result<&'a str> {
        let written = self.keys.first().ok_or(NO_KEY).and_then(|first| first.encode(id, room));
        written.map_err(|refusal| refusal.of(id, self.max_id))?;
        Ok(core::str::from_utf8(room).unwrap_or_default())
    }

    pub(super) fn decode(&self, text: &str, width: usize) -> Result<u64> {
        decode(self.keys.iter(), text.as_bytes()).map_err(|refusal| refusal.of_text(width))
    }
}
