//! Keys: their texts, their fingerprints, and the keys derived from them.

use alloc::borrow::ToOwned;
use alloc::string::String;

use super::cipher::{cmac, wipe};
use super::digits::{bytes_of, limbs_of, read, write};
use super::refusal::{Checked, Refusal};
use crate::error::{Result, Rule};

/// How the text of a key begins.
const TAG: &str = "frazilkey_";
/// The digits of a key: 62^21 < 2^128 < 62^22.
const KEY_DIGITS: usize = 22;
/// The digits of its checksum: 62^5 < 2^32 < 62^6.
const CHECKSUM_DIGITS: usize = 6;
/// The length of the text of a key.
pub(crate) const KEY_WIDTH: usize = TAG.len() + KEY_DIGITS + CHECKSUM_DIGITS;

/// What a key is derived for. Different purposes and kinds have unrelated keys.
///
/// ```
/// use frazil::public::Derivation;
/// assert_eq!(Derivation::Sealed.label(), "frazil sealed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Derivation {
    /// For [`Sealed`](super::Sealed).
    Sealed,
    /// For [`Short`](super::Short).
    Short,
    /// For [`Key::fingerprint`].
    Fingerprint,
}

impl Derivation {
    /// The label in the input of the derivation.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Sealed => "frazil sealed",
            Self::Short => "frazil short",
            Self::Fingerprint => "frazil fingerprint",
        }
    }
}

/// A key: 16 random bytes.
///
/// * **Secret**: it has no `Debug`, and no error contains it. Its memory is overwritten when it is dropped, but not in WebAssembly,
///   where the module of `frazil/public` overwrites its stack.
/// * **No passphrase**: one text of a known ID would be enough to search for it.
///
/// Its text has a tag, by which a scanner finds it in a repository, and a checksum: `frazilkey_`, then 22 digits of base 62 for the key as
/// a big-endian number, then 6 for the first four bytes of its fingerprint.
///
/// ```
/// use frazil::public::Key;
/// let error = Key::parse("frazilkey_0000000000000000000000000000").err().unwrap();
/// assert_eq!(error.to_string(), "INVALID_OPTION: key must have the checksum of its digits");
/// let key = Key::from_bytes(core::array::from_fn(|at| at as u8))?;
/// assert_eq!(Key::parse(&key.to_text())?.fingerprint(), key.fingerprint());
/// assert_eq!(format!("{key:?}"), "Key(..)");
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone)]
pub struct Key([u8; 16]);

/// Shows no key.
impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl Key {
    /// The key of these bytes, which must come from a generator of random numbers that is made for keys.
    ///
    /// # Errors
    /// `INVALID_OPTION` if all bytes are equal, as in memory that was never filled.
    ///
    /// ```
    /// use frazil::public::Key;
    /// let error = Key::from_bytes([0; 16]).unwrap_err();
    /// assert_eq!(error.to_string(), "INVALID_OPTION: key must be random, and all its bytes are equal");
    /// ```
    pub fn from_bytes(bytes: [u8; 16]) -> Result<Self> {
        Self(bytes).filled().map_err(|refusal| refusal.of(0, 0))
    }

    /// What bytes say that are not yet checked.
    #[cfg(feature = "abi")]
    pub(crate) const fn unchecked(bytes: &[u8; 16]) -> Self {
        Self(*bytes)
    }

    /// The key, unless all its bytes are equal. The time does not depend on them.
    pub(crate) fn filled(self) -> Checked<Self> {
        let bytes = u128::from_ne_bytes(self.0);
        if bytes == bytes.rotate_left(8) { Err(Refusal::new(Rule::KeyFilled)) } else { Ok(self) }
    }

    /// The key of a text.
    ///
    /// # Errors
    /// `INVALID_OPTION` for anything that [`to_text`](Self::to_text) does not return. The error contains nothing of the text.
    pub fn parse(text: &str) -> Result<Self> {
        Self::read(text.as_bytes()).and_then(Self::filled).map_err(|refusal| refusal.of(0, 0))
    }

    /// What a text says, whose bytes are not yet checked.
    pub(crate) fn read(text: &[u8]) -> Checked<Self> {
        let digits = text.strip_prefix(TAG.as_bytes()).and_then(|digits| digits.split_at_checked(KEY_DIGITS));
        let (digits, checksum) = digits.unwrap_or_default();
        let (Ok(Some(number)), Ok(Some([0, 0, 0, checksum]))) = (read(digits, KEY_DIGITS), read(checksum, CHECKSUM_DIGITS))
        else {
            return Err(Refusal::new(Rule::KeyText));
        };
        let key = Self(bytes_of(&number));
        if key.checksum() == checksum { Ok(key) } else { Err(Refusal::new(Rule::KeyChecksum)) }
    }

    /// The text of the key. Whoever has it can read and make all texts of IDs.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut room = [0; KEY_WIDTH];
        self.write_text(&mut room);
        let text = core::str::from_utf8(&room).unwrap_or_default().to_owned();
        wipe(&mut room);
        text
    }

    /// Writes the text of the key to the start of the room.
    pub(crate) fn write_text(&self, room: &mut [u8]) {
        const KEY_AT: usize = TAG.len();
        if let Some((tag, rest)) = room.split_first_chunk_mut::<KEY_AT>() {
            tag.copy_from_slice(TAG.as_bytes());
            if let Some((key, rest)) = rest.split_first_chunk_mut::<KEY_DIGITS>() {
                write(limbs_of(&self.0), key);
                write([0, 0, 0, self.checksum()], rest.get_mut(..CHECKSUM_DIGITS).unwrap_or_default());
            }
        }
    }

    fn checksum(&self) -> u32 {
        let [a, b, c, d, ..] = self.fingerprint();
        u32::from_be_bytes([a, b, c, d])
    }

    /// A name for the key that does not help to find it: 8 bytes, which people write as 16 hexadecimal digits.
    ///
    /// ```
    /// use frazil::public::Key;
    /// let [one, other] = [1, 2].map(|first| Key::from_bytes(core::array::from_fn(|at| first + at as u8)));
    /// assert_ne!(one?.fingerprint(), other?.fingerprint());
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 8] {
        self.derive_unchecked(Derivation::Fingerprint, b"").first_chunk().copied().unwrap_or_default()
    }

    /// The key derived for a purpose and a kind, by SP 800-108r1 in counter mode with CMAC-AES-128. With it, other programs can open the
    /// texts of one kind and form. A fingerprint has no kind.
    ///
    /// # Errors
    /// `INVALID_OPTION` unless the kind has 1 to 63 characters of `a-z` and `_`, and begins and ends with a letter.
    ///
    /// ```
    /// use frazil::public::{Derivation, Key};
    /// let key = Key::from_bytes(core::array::from_fn(|at| at as u8))?;
    /// assert_ne!(key.derive(Derivation::Sealed, "user")?, key.derive(Derivation::Sealed, "org")?);
    /// assert!(key.derive(Derivation::Sealed, "_user").is_err());
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn derive(&self, purpose: Derivation, kind: &str) -> Result<[u8; 16]> {
        self.derive_bytes(purpose, kind.as_bytes()).map_err(|refusal| refusal.of(0, 0))
    }

    #[cfg_attr(target_arch = "wasm32", inline(always))]
    pub(crate) fn derive_bytes(&self, purpose: Derivation, kind: &[u8]) -> Checked<[u8; 16]> {
        let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_lowercase);
        let is_kind = kind.len() <= 63
            && is_edge(kind.first())
            && is_edge(kind.last())
            && kind.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_');
        if is_kind { Ok(self.derive_unchecked(purpose, kind)) } else { Err(Refusal::new(Rule::KindSyntax)) }
    }

    /// `[i = 1]32 ‖ label ‖ 00 ‖ context ‖ [L = 128]32`.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn derive_unchecked(&self, purpose: Derivation, kind: &[u8]) -> [u8; 16] {
        // 4, 18, 1, 63 and 4 bytes at most.
        let mut message = [0; 90];
        let mut length = 0;
        for part in [&[0, 0, 0, 1], purpose.label().as_bytes(), &[0], kind, &[0, 0, 0, 0x80]] {
            for byte in part {
                if let Some(place) = message.get_mut(length) {
                    *place = *byte;
                }
                length += 1;
            }
        }
        cmac(&self.0, message.get(..length).unwrap_or_default())
    }
}
