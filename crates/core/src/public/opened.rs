//! A key that was opened for a kind, a form and a layout: what both forms and the bindings share.

use super::cipher::{Cipher, wipe};
use super::digits::{read, write};
use super::key::{Derivation, Key};
use super::refusal::{Checked, Refusal};
use super::{block, network};
use crate::error::{Error, Result, Rule};

/// What a text needs.
pub(crate) struct Opened {
    cipher: Cipher,
    max_id: u64,
    /// `None` for sealed texts.
    slot: Option<u32>,
}

impl Opened {
    /// What a key becomes, and the derived key.
    pub(crate) fn with_derived(key: &Key, kind: &[u8], max_id: u64, slot: Option<u32>) -> Checked<(Self, [u8; 16])> {
        let last_slot = network::last_slot(max_id);
        if slot > Some(last_slot.into()) {
            return Err(Refusal::at(Rule::WholeNumber, last_slot.into()));
        }
        let derived = key.derive_bytes(if slot.is_some() { Derivation::Short } else { Derivation::Sealed }, kind)?;
        Ok((Self { cipher: Cipher::new(&derived), max_id, slot }, derived))
    }

    pub(crate) fn new(key: &Key, kind: &[u8], max_id: u64, slot: Option<u32>) -> Checked<Self> {
        let (opened, mut derived) = Self::with_derived(key, kind, max_id, slot)?;
        wipe(&mut derived);
        Ok(opened)
    }

    const fn width(&self) -> usize {
        if self.slot.is_some() { network::WIDTH } else { block::WIDTH }
    }

    /// Writes the text of an ID to the start of the room.
    pub(crate) fn encode(&self, id: u64, room: &mut [u8]) -> Checked<()> {
        if id > self.max_id {
            return Err(Refusal::new(Rule::IdRange));
        }
        let number = match self.slot {
            Some(slot) => network::number_of(&self.cipher, network::network_of(self.max_id), slot, id),
            None => block::number_of(&self.cipher, id),
        };
        write(number, room.get_mut(..self.width()).unwrap_or_default());
        Ok(())
    }

    pub(crate) fn decode(&self, text: &[u8]) -> Checked<u64> {
        let number = read(text, self.width())?;
        let id = match (self.slot, number) {
            (Some(slot), Some(number)) => Some(network::id_of(&self.cipher, network::network_of(self.max_id), slot, number)?),
            (None, Some(number)) => block::id_of(&self.cipher, number),
            (_, None) => None,
        };
        id.filter(|id| *id <= self.max_id).ok_or(Refusal::new(Rule::SealedText))
    }

    /// `encode` with an error, and the text as one.
    pub(super) fn encode_into<'a>(&self, id: u64, room: &'a mut [u8]) -> Result<&'a str> {
        self.encode(id, room).map_err(|refusal| refusal.of(id, self.max_id))?;
        Ok(core::str::from_utf8(room).unwrap_or_default())
    }

    /// `decode` with an error.
    pub(super) fn decode_text(&self, text: &str) -> Result<u64> {
        self.decode(text.as_bytes()).map_err(|refusal| self.text_error(refusal))
    }

    /// The rule of a slot names the slot, and that of a length the width.
    fn text_error(&self, refusal: Refusal) -> Error {
        let slot = self.slot.filter(|_| refusal.number.is_none());
        refusal.of_text(slot.map_or(self.width() as u64, u64::from))
    }
}
