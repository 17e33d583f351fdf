//! The frame of public IDs: a text, an ID, and what a key became. It needs no handles: JavaScript keeps what a key became.

use crate::error::Rule;
use crate::public::{Checked, KEY_WIDTH, Key, Opened, Refusal, Sealed, Short};

/// Where the kind is in the texts of a call that opens a key.
pub const KIND_AT: usize = 64;

const TEXT_BYTES: usize = 2 * KIND_AT;
const FINGERPRINT_AT: usize = KEY_WIDTH;
const DERIVED_AT: usize = FINGERPRINT_AT + 8;

/// The places and widths of the frame by name, for JavaScript: of `text`, and in it of a kind, and of what [`PublicFrame::open`] leaves.
pub const PUBLIC_PLACES: &[(&str, usize)] = &[
    ("ID_BYTES", core::mem::offset_of!(PublicFrame, text)),
    ("TEXT_BYTES", TEXT_BYTES),
    ("FINGERPRINT_AT", FINGERPRINT_AT),
    ("DERIVED_AT", DERIVED_AT),
    ("DERIVED_END", DERIVED_AT + 16),
    ("KIND_AT", KIND_AT),
    ("SEALED_WIDTH", Sealed::WIDTH),
    ("SHORT_WIDTH", Short::WIDTH),
];

/// Why a frame without a key refuses.
const NO_KEY: Refusal = Refusal { rule: Rule::KeyText, number: None };

/// The memory that both sides read and write.
///
/// `id` and `text` are numbers and bytes. `opened` is for Rust alone, but JavaScript may copy its bytes, and put them back before another
/// call: so a program can have any number of keys, which the garbage collector frees.
///
/// Each call returns a status: 0, or the number of the [`Rule`] that its input broke. Then `id` is the position in a text, or the last
/// slot.
#[repr(C)]
pub struct PublicFrame {
    /// An ID.
    pub id: u64,
    /// A text; or a key, and a kind at [`KIND_AT`].
    pub text: [u8; TEXT_BYTES],
    opened: Option<Opened>,
}

impl PublicFrame {
    /// A frame of zeros.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a frame is placed, not defaulted")]
    pub const fn new() -> Self {
        Self { id: 0, text: [0; TEXT_BYTES], opened: None }
    }

    /// The size of what a key became, in bytes. It lies after `text`.
    pub const OPENED_BYTES: usize = size_of::<Self>() - core::mem::offset_of!(Self, opened);

    /// Opens a key for a kind, of so many bytes, and a slot; a slot below 0 is for sealed texts. `key` is how many bytes the text of the
    /// key has, and 0 for the 16 bytes of a key itself.
    ///
    /// Nothing of what was given stays in `text`. If the key was opened, `text` begins with its text (38 bytes), its fingerprint (8) and
    /// the derived key (16), to be overwritten by the caller.
    ///
    /// ```
    /// use frazil::abi::{KIND_AT, PublicFrame};
    /// let mut frame = PublicFrame::new();
    /// frame.text[KIND_AT..KIND_AT + 4].copy_from_slice(b"user");
    /// assert_eq!(frame.open(0, 4, 63, -1), 0);
    /// frame.id = 7;
    /// assert_eq!(frame.encode(), 0);
    /// frame.id = 0;
    /// assert_eq!((frame.decode(22), frame.id), (0, 7));
    /// ```
    pub fn open(&mut self, key: usize, kind: usize, bits: u32, slot: i32) -> u32 {
        self.opened = None;
        let opened = self.try_open(key, kind, bits, slot);
        self.status(opened.err().as_ref())
    }

    fn try_open(&mut self, key: usize, kind: usize, bits: u32, slot: i32) -> Checked<()> {
        let (text, kinds) = self.text.split_at_mut(KIND_AT);
        let key = match (key, text.first_chunk()) {
            (0, Some(bytes)) => Ok(Key::from_bytes(*bytes)),
            _ => Key::parse_bytes(text.get(..key).unwrap_or_default()),
        };
        text.fill(0);
        let key = key?;
        let kind = kinds.get(..kind).unwrap_or_default();
        let max_id = u64::MAX.checked_shr(64_u32.wrapping_sub(bits)).unwrap_or(0);
        let (opened, derived) = Opened::with_derived(&key, kind, max_id, u32::try_from(slot).ok())?;
        key.write_text(text);
        if let Some((fingerprint, rest)) = text.get_mut(KEY_WIDTH..).and_then(|rest| rest.split_first_chunk_mut()) {
            *fingerprint = key.fingerprint();
            if let Some(place) = rest.first_chunk_mut() {
                *place = derived;
            }
        }
        self.opened = Some(opened);
        Ok(())
    }

    /// Writes the text of `id`. Without a key it refuses, as `decode` does.
    ///
    /// ```
    /// use frazil::{abi::PublicFrame, error::Rule};
    /// let mut frame = PublicFrame::new();
    /// assert_eq!(frame.encode(), Rule::KeyText as u32);
    /// assert_eq!(frame.decode(22), Rule::KeyText as u32);
    /// ```
    pub fn encode(&mut self) -> u32 {
        let written = self.opened.as_ref().ok_or(NO_KEY).and_then(|opened| opened.encode(self.id, &mut self.text));
        self.status(written.as_ref().err())
    }

    /// Reads the ID of a text of so many bytes.
    pub fn decode(&mut self, length: usize) -> u32 {
        let text = self.text.get(..length).unwrap_or(&self.text);
        let id = self.opened.as_ref().ok_or(NO_KEY).and_then(|opened| opened.decode(text));
        let status = self.status(id.as_ref().err());
        if let Ok(id) = id {
            self.id = id;
        }
        status
    }

    /// The status of a call, with the number of its refusal in `id`.
    fn status(&mut self, refusal: Option<&Refusal>) -> u32 {
        let Some(Refusal { rule, number }) = refusal else { return Rule::None as u32 };
        self.id = number.unwrap_or(0).into();
        *rule as u32
    }
}
