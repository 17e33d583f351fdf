//! The frame of public IDs: a text, an ID, and what keys became. It needs no handles: JavaScript keeps what keys became.

use crate::error::Rule;
use crate::public::{Checked, Derivation, KEY_WIDTH, Key, MAX_KEYS, NO_KEY, Opened, Refusal, Sealed, Short, decode};

/// Where the kind is in the texts of a call that opens a key.
pub const KIND_AT: usize = 64;

const TEXT_BYTES: usize = 2 * KIND_AT;

/// What a key became, in bytes, in WebAssembly. The first one lies after the eight bytes of `count`, which lie after `text`.
const OPENED_BYTES: usize = 384;
#[cfg(target_arch = "wasm32")]
const _: () = assert!(size_of::<Option<Opened>>() == OPENED_BYTES);

/// The places and widths of the frame by name, for JavaScript: of `text`, and in it of a kind, and of what [`PublicFrame::facts`] leaves.
pub const PUBLIC_PLACES: &[(&str, usize)] = &[
    ("ID_BYTES", core::mem::offset_of!(PublicFrame, text)),
    ("TEXT_BYTES", TEXT_BYTES),
    ("KEY_WIDTH", KEY_WIDTH),
    ("DERIVED_END", KEY_WIDTH + 16),
    ("KIND_AT", KIND_AT),
    ("MAX_KEYS", MAX_KEYS),
    ("OPENED_BYTES", OPENED_BYTES),
    ("SEALED_WIDTH", Sealed::WIDTH),
    ("SHORT_WIDTH", Short::WIDTH),
];

/// The memory that both sides read and write.
///
/// `id` and `text` are numbers and bytes. `opened` is for Rust alone, but JavaScript may copy the bytes of its first keys with `count`, and
/// put them back before another call: so a program can have any number of lists, which the garbage collector frees.
///
/// Each call returns a status: 0, or the number of the [`Rule`] that its input broke. Then `id` is the position in a text, or the last
/// slot, and 2^64 - 1 without one.
#[repr(C)]
pub struct PublicFrame {
    /// An ID.
    pub id: u64,
    /// A text; or a key, and a kind at [`KIND_AT`].
    pub text: [u8; TEXT_BYTES],
    /// The keys in use.
    count: usize,
    opened: [Option<Opened>; MAX_KEYS],
}

impl PublicFrame {
    /// A frame of zeros.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a frame is placed, not defaulted")]
    pub const fn new() -> Self {
        Self { id: 0, text: [0; TEXT_BYTES], count: 0, opened: [const { None }; MAX_KEYS] }
    }

    /// Opens a key for a kind, of so many bytes, and a slot; a slot below 0 is for sealed texts. `key` is how many bytes the text of the
    /// key has, and 0 for the 16 bytes of a key itself. `at` is how many keys of the list were opened before it.
    ///
    /// Nothing of the key stays in `text`. If it was opened, `id` is its fingerprint.
    ///
    /// ```
    /// use frazil::abi::{KIND_AT, PublicFrame};
    /// let mut frame = PublicFrame::new();
    /// frame.text[0] = 1;
    /// frame.text[KIND_AT..KIND_AT + 4].copy_from_slice(b"user");
    /// assert_eq!(frame.open(0, 4, 63, -1, 0), 0);
    /// frame.id = 7;
    /// assert_eq!(frame.encode(), 0);
    /// frame.id = 0;
    /// assert_eq!((frame.decode(22), frame.id), (0, 7));
    /// ```
    pub fn open(&mut self, key: usize, kind: usize, bits: u32, slot: i32, at: usize) -> u32 {
        let opened = self.try_open(key, kind, bits, slot, at);
        match opened {
            Ok(fingerprint) => self.id = fingerprint,
            Err(_) => self.count = 0,
        }
        self.status(opened.err().as_ref())
    }

    fn try_open(&mut self, key: usize, kind: usize, bits: u32, slot: i32, at: usize) -> Checked<u64> {
        let key = self.take_key(key)?;
        let max_id = u64::MAX.checked_shr(64_u32.wrapping_sub(bits)).unwrap_or(0);
        let opened = Opened::new(&key, self.kind(kind), max_id, u32::try_from(slot).ok())?;
        self.opened.iter().take(at).filter_map(Option::as_ref).try_for_each(|earlier| opened.check_beside(earlier))?;
        let place = self.opened.get_mut(at).ok_or(Refusal::new(Rule::KeyCount))?;
        self.count = at + 1;
        Ok(place.insert(opened).fingerprint())
    }

    /// Replaces a key in `text`, given as to [`open`](Self::open), by its text (38 bytes) and the key derived for a kind and a form (16).
    /// `id` becomes its fingerprint.
    ///
    /// ```
    /// use frazil::abi::{KIND_AT, PublicFrame};
    /// let mut frame = PublicFrame::new();
    /// frame.text[0] = 1;
    /// frame.text[KIND_AT] = b'a';
    /// assert_eq!(frame.facts(0, 1, false), 0);
    /// assert!(frame.text.starts_with(b"frazilkey_"));
    /// ```
    pub fn facts(&mut self, key: usize, kind: usize, is_short: bool) -> u32 {
        let facts = self.try_facts(key, kind, if is_short { Derivation::Short } else { Derivation::Sealed });
        self.status(facts.err().as_ref())
    }

    fn try_facts(&mut self, key: usize, kind: usize, form: Derivation) -> Checked<()> {
        let key = self.take_key(key)?;
        let derived = key.derive_bytes(form, self.kind(kind))?;
        key.write_text(&mut self.text);
        if let Some(place) = self.text.get_mut(KEY_WIDTH..).and_then(|rest| rest.first_chunk_mut()) {
            *place = derived;
        }
        self.id = u64::from_be_bytes(key.fingerprint());
        Ok(())
    }

    /// The key in `text`, which is overwritten. Inlined, since each module has one caller.
    #[cfg_attr(target_arch = "wasm32", inline(always))]
    fn take_key(&mut self, length: usize) -> Checked<Key> {
        let (text, _) = self.text.split_at_mut(KIND_AT);
        let key = match (length, text.first_chunk()) {
            (0, Some(bytes)) => Ok(Key::unchecked(bytes)),
            _ => Key::read(text.get(..length).unwrap_or_default()),
        };
        text.fill(0);
        key?.filled()
    }

    fn kind(&self, length: usize) -> &[u8] {
        self.text.split_at(KIND_AT).1.get(..length).unwrap_or_default()
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
        let first = self.opened.first().and_then(Option::as_ref).filter(|_| self.count > 0);
        let written = first.ok_or(NO_KEY).and_then(|first| first.encode(self.id, &mut self.text));
        self.status(written.as_ref().err())
    }

    /// Reads the ID of a text of so many bytes.
    pub fn decode(&mut self, length: usize) -> u32 {
        let text = self.text.get(..length).unwrap_or(&self.text);
        let id = decode(self.opened.iter().take(self.count).filter_map(Option::as_ref), text);
        let status = self.status(id.as_ref().err());
        if let Ok(id) = id {
            self.id = id;
        }
        status
    }

    /// The status of a call, with the number of its refusal in `id`.
    fn status(&mut self, refusal: Option<&Refusal>) -> u32 {
        let Some(Refusal { rule, number }) = refusal else { return Rule::None as u32 };
        self.id = number.map_or(u64::MAX, u64::from);
        *rule as u32
    }
}
