//! Short texts: IDs permuted by a Feistel network.

use alloc::borrow::ToOwned;
use alloc::string::String;

use super::key::Key;
use super::network;
use super::ring::Ring;
use crate::error::Result;
use crate::layout::Layout;

/// Writes IDs of one kind as texts of 11 characters, and reads them.
///
/// This type is:
///
/// * **Hiding**: a text does not show the ID. The bounds known for such networks hold for well under 2^31 texts of known IDs; no attack is
///   known that would be practical.
/// * **Not checked**: any text of a slot that is used opens to some ID. Whoever guesses one gets an ID, though probably none that exists.
///   For texts that cannot be made up, use [`Sealed`](super::Sealed).
/// * **Canonical**: in a slot, an ID has one text.
///
/// A text of a layout of up to 63 bits is slot * 2^63 + P(ID) in base 62, where P permutes the numbers of 63 bits; with 64 bits it is
/// slot * 2^64 + P(ID). A slot is the number of a key that texts show, so that several keys can be in use. Never use one again for another
/// key while its texts exist.
///
/// ```
/// use frazil::Layout;
/// use frazil::public::{Key, Short};
/// let key = Key::from_bytes(core::array::from_fn(|at| at as u8))?;
/// let orders = Short::new(&[(0, key)], "order", &Layout::named("default")?)?;
/// let text = orders.encode(382_138_004_275_228_672)?;
/// assert_eq!(text.len(), Short::WIDTH);
/// assert_eq!(orders.decode(&text)?, 382_138_004_275_228_672);
/// # Ok::<(), frazil::Error>(())
/// ```
pub struct Short(Ring);

impl Short {
    /// How many characters a text has.
    pub const WIDTH: usize = network::WIDTH;

    /// The texts of a kind of IDs. The first key encodes, and each decodes the texts of its slot: 0 to 4, in layouts of 64 bits 0 or 1.
    ///
    /// # Errors
    /// `INVALID_OPTION` for a kind that [`Key::derive`] refuses, for another slot, without a key, and unless all slots and keys differ.
    pub fn new(keys: &[(u32, Key)], kind: &str, layout: &Layout) -> Result<Self> {
        Ring::new(keys, |(slot, key)| (Some(*slot), key), kind, layout).map(Self)
    }

    /// The text of an ID.
    ///
    /// # Errors
    /// `INVALID_ID` if the layout has no such ID.
    pub fn encode(&self, id: u64) -> Result<String> {
        self.encode_into(id, &mut [0; Self::WIDTH]).map(ToOwned::to_owned)
    }

    /// The text of an ID in the caller's memory, without allocating.
    ///
    /// # Errors
    /// `INVALID_ID` if the layout has no such ID.
    pub fn encode_into<'a>(&self, id: u64, room: &'a mut [u8; Self::WIDTH]) -> Result<&'a str> {
        self.0.encode_into(id, room)
    }

    /// The ID of a text.
    ///
    /// # Errors
    /// `INVALID_TEXT` if the text has not exactly 11 digits, with the position of the first wrong byte; if no key has its slot; and if its
    /// number is no ID of the layout.
    pub fn decode(&self, text: &str) -> Result<u64> {
        self.0.decode(text, Self::WIDTH)
    }
}
