//! Sealed texts: an ID and 64 zero bits, enciphered as one block.

use alloc::borrow::ToOwned;
use alloc::string::String;

use super::block;
use super::key::Key;
use super::opened::Opened;
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
/// let key = Key::from_bytes(core::array::from_fn(|at| at as u8));
/// let users = Sealed::new(&key, "user", &layout)?;
/// let text = users.encode(382_138_004_275_228_672)?;
/// assert_eq!(text.len(), Sealed::WIDTH);
/// assert_eq!(users.decode(&text)?, 382_138_004_275_228_672);
/// assert!(Sealed::new(&key, "org", &layout)?.decode(&text).is_err());
/// # Ok::<(), frazil::Error>(())
/// ```
pub struct Sealed(Opened);

impl Sealed {
    /// How many characters a text has.
    pub const WIDTH: usize = block::WIDTH;

    /// The texts of a kind of IDs.
    ///
    /// # Errors
    /// `INVALID_OPTION` for a kind that [`Key::derive`] refuses.
    pub fn new(key: &Key, kind: &str, layout: &Layout) -> Result<Self> {
        Opened::new(key, kind.as_bytes(), layout.max_id(), None).map(Self).map_err(|refusal| refusal.of(0, 0))
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
    /// `INVALID_TEXT` for anything that [`encode`](Self::encode) does not return for an ID of the layout: with the position of the first
    /// wrong byte, if there are not exactly 22 digits.
    ///
    /// If keys are exchanged, encode with the new one, and decode with each:
    ///
    /// ```
    /// use frazil::Layout;
    /// use frazil::public::{Key, Sealed};
    /// let layout = Layout::named("default")?;
    /// let [new, old] = [[2; 16], [1; 16]].map(|bytes| Sealed::new(&Key::from_bytes(bytes), "user", &layout));
    /// let keys = [new?, old?];
    /// let text = keys[1].encode(7)?;
    /// assert!(keys[0].decode(&text).is_err());
    /// assert_eq!(keys.iter().find_map(|key| key.decode(&text).ok()), Some(7));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn decode(&self, text: &str) -> Result<u64> {
        self.0.decode_text(text)
    }
}
