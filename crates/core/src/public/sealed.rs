//! Sealed texts: an ID and 64 zero bits, enciphered as one block.

use alloc::borrow::ToOwned;
use alloc::string::String;

use super::block;
use super::key::Key;
use super::ring::Ring;
use crate::error::Result;
use crate::layout::Layout;

/// Writes IDs of one kind as texts of 22 characters that only the holder of the key can make or read.
///
/// This type is:
///
/// * **Hiding**: without the key a text tells neither the ID nor which of two IDs is larger.
/// * **Checked**: who does not have the key finds a text that opens with a probability of at most 2^-64 per try, if AES is a strong
///   pseudorandom permutation. With K keys tried in turn, it is K times that.
/// * **Canonical**: an ID has one text for each key and kind, and no other text opens to it.
///
/// The text is AES-128(derived key, ID as 8 bytes big-endian ‖ 8 zero bytes) as a big-endian number in base 62. It has no nonce, so equal
/// texts are equal IDs.
///
/// ```
/// use frazil::Layout;
/// use frazil::public::{Key, Sealed};
/// let layout = Layout::named("default")?;
/// let keys = [Key::from_bytes(core::array::from_fn(|at| at as u8))?];
/// let users = Sealed::new(&keys, "user", &layout)?;
/// let text = users.encode(382_138_004_275_228_672)?;
/// assert_eq!(text.len(), Sealed::WIDTH);
/// assert_eq!(users.decode(&text)?, 382_138_004_275_228_672);
/// assert!(Sealed::new(&keys, "org", &layout)?.decode(&text).is_err());
/// # Ok::<(), frazil::Error>(())
/// ```
pub struct Sealed(Ring);

impl Sealed {
    /// How many characters a text has.
    pub const WIDTH: usize = block::WIDTH;

    /// The texts of a kind of IDs. The first key encodes, and each decodes.
    ///
    /// # Errors
    /// `INVALID_OPTION` for a kind that [`Key::derive`] refuses, and unless there are 1 to 16 keys, all different.
    ///
    /// If keys are exchanged, the old ones come after the new one:
    ///
    /// ```
    /// use frazil::Layout;
    /// use frazil::public::{Key, Sealed};
    /// let layout = Layout::named("default")?;
    /// let [old, new] = [1, 2].map(|first| Key::from_bytes(core::array::from_fn(|at| first + at as u8)));
    /// let [old, new] = [[old?], [new?]];
    /// let text = Sealed::new(&old, "user", &layout)?.encode(7)?;
    /// assert!(Sealed::new(&new, "user", &layout)?.decode(&text).is_err());
    /// let both = [new, old].concat();
    /// assert_eq!(Sealed::new(&both, "user", &layout)?.decode(&text)?, 7);
    /// let twice = Sealed::new(&[&both[..], &both[..1]].concat(), "user", &layout).err().unwrap();
    /// assert_eq!(twice.to_string(), "INVALID_OPTION: key must differ from the other keys");
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn new(keys: &[Key], kind: &str, layout: &Layout) -> Result<Self> {
        Ring::new(keys, |key| (None, key), kind, layout).map(Self)
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
    /// `INVALID_TEXT` for anything that [`encode`](Self::encode) does not return with one of the keys for an ID of the layout: with the
    /// position of the first wrong byte, if there are not exactly 22 digits.
    pub fn decode(&self, text: &str) -> Result<u64> {
        self.0.decode(text, Self::WIDTH)
    }
}
