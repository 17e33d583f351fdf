//! A key that was opened for a kind, a form and a layout: what both forms and the bindings share.

use super::cipher::{Cipher, wipe};
use super::digits::{read, write};
use super::key::{Derivation, Key};
use super::refusal::{Checked, Refusal};
use super::{block, network};
use crate::error::Rule;

/// What a text needs. An `Option` of it without a key is zeros, which the WebAssembly module need not contain.
pub(crate) struct Opened {
    cipher: Cipher,
    max_id: u64,
    fingerprint: u64,
    /// [`SEALED`] for sealed texts.
    slot: u8,
}

/// In place of a slot.
const SEALED: u8 = u8::MAX;

impl Opened {
    pub(crate) fn new(key: &Key, kind: &[u8], max_id: u64, slot: Option<u32>) -> Checked<Self> {
        let last_slot = network::last_slot(max_id);
        if slot > Some(last_slot.into()) {
            return Err(Refusal::at(Rule::WholeNumber, last_slot.into()));
        }
        let mut derived = key.derive_bytes(if slot.is_some() { Derivation::Short } else { Derivation::Sealed }, kind)?;
        let cipher = Cipher::new(&derived);
        wipe(&mut derived);
        let slot = slot.and_then(|slot| u8::try_from(slot).ok()).unwrap_or(SEALED);
        Ok(Self { cipher, max_id, fingerprint: u64::from_be_bytes(key.fingerprint()), slot })
    }

    /// That of the key, as a big-endian number.
    pub(crate) const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Refuses a key beside an earlier one of its list.
    pub(crate) fn check_beside(&self, earlier: &Self) -> Checked<()> {
        if self.is_short() && self.slot == earlier.slot {
            Err(Refusal::new(Rule::OtherSlot))
        } else if self.fingerprint == earlier.fingerprint {
            Err(Refusal::new(Rule::OtherKey))
        } else {
            Ok(())
        }
    }

    const fn is_short(&self) -> bool {
        self.slot != SEALED
    }

    const fn width(&self) -> usize {
        if self.is_short() { network::WIDTH } else { block::WIDTH }
    }

    /// Writes the text of an ID to the start of the room.
    pub(crate) fn encode(&self, id: u64, room: &mut [u8]) -> Checked<()> {
        if id > self.max_id {
            return Err(Refusal::new(Rule::IdRange));
        }
        let number = if self.is_short() {
            network::number_of(&self.cipher, network::network_of(self.max_id), self.slot.into(), id)
        } else {
            block::number_of(&self.cipher, id)
        };
        write(number, room.get_mut(..self.width()).unwrap_or_default());
        Ok(())
    }

    /// The ID of a text; `None` if another key may open it, for which `elsewhere` is the rule.
    pub(super) fn decode(&self, text: &[u8]) -> Checked<Option<u64>> {
        let Some(number) = read(text, self.width())? else { return Ok(None) };
        if !self.is_short() {
            return Ok(block::id_of(&self.cipher, number).filter(|id| *id <= self.max_id));
        }
        match network::id_of(&self.cipher, network::network_of(self.max_id), self.slot.into(), number) {
            Some(id) if id > self.max_id => Err(Refusal::new(Rule::SealedText)),
            id => Ok(id),
        }
    }

    pub(super) const fn elsewhere(&self) -> Rule {
        if self.is_short() { Rule::ShortSlot } else { Rule::SealedText }
    }
}
