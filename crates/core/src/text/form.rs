//! The forms of fixed width.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

use super::digits::{
    BASE32, BASE32_PAIRS, BASE36, BASE36_PAIRS, BASE58, BASE58_PAIRS, BASE62, BASE62_PAIRS, BASE64_URL, BASE64_URL_PAIRS,
    BWMARRIN_BASE32, BWMARRIN_BASE32_PAIRS, BWMARRIN_BASE58, BWMARRIN_BASE58_PAIRS, CROCKFORD, Digits, HEX, HEX_PAIRS, NO_DIGIT,
    write, write_all,
};
use crate::error::{Code, Error, Result, Rule, Subject};

/// A way to write an ID as text of a fixed width.
///
/// This type is:
///
/// * **Canonical**: every ID has one text, and [`decode`](Self::decode) accepts no other, except that of `Crockford`.
/// * **Ordered**: byte by byte, texts compare as their IDs, if the alphabet [ascends](Self::is_ordered).
/// * **Complete**: from 0 to 2^64 - 1.
///
/// Not for hiding anything: the text tells the ID, and so the time and the node.
///
/// The forms are these. A form with an alphabet of your own is in the npm package alone (`customForm` of `frazil/text`).
///
/// ```
/// use frazil::TextForm;
/// let tweet = 1_541_815_603_606_036_480;
/// assert_eq!(TextForm::Hex.encode(tweet), "1565a11f6217a000");
/// assert_eq!(TextForm::Base32.encode(tweet), "1ASD13XH1F800");
/// assert_eq!(TextForm::Base58.encode(tweet), "4aaW4SzAyQK");
/// assert_eq!(TextForm::Base62.encode(tweet), "1ptWyK4WgZU");
/// assert_eq!(TextForm::Base62.decode("1ptWyK4WgZU")?, tweet);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextForm {
    /// Hexadecimal in lower case, 16 characters.
    Hex,
    /// Crockford's base 32 in upper case, 13 characters, the first one `0` to `F`.
    Base32,
    /// The base 58 of Bitcoin, 11 characters: no two of its digits look alike. Its digit for zero is `1`.
    Base58,
    /// Base 62, digits before upper before lower case, 11 characters: the shortest without punctuation.
    Base62,
    /// Base 36 in lower case, 13 characters.
    Base36,
    /// `Base32` for IDs that people type: it reads lower case too, `I` and `L` as `1`, and `O` as `0`, and writes what `Base32`
    /// writes. An ID has several texts here, so compare the IDs, not the texts.
    Crockford,
    /// The eight bytes of the ID in the base 64 of RFC 4648 for URLs, without padding, 11 characters. Its texts do not sort as the
    /// IDs do. The last digit has the last four bits of the ID and two zeros.
    Base64Url,
    /// The base 32 of the Go package github.com/bwmarrin/snowflake, whose `Base32()` is [`short`](Self::short) here. `Crockford` reads
    /// many of its texts **as other IDs**. Not ordered.
    BwmarrinBase32,
    /// The base 58 of the Go package github.com/bwmarrin/snowflake, whose `Base58()` is [`short`](Self::short) here. It has the digits
    /// of `Base58` in another order, so that reads its texts **as other IDs**. Not ordered.
    BwmarrinBase58,
}

impl TextForm {
    /// Every form.
    ///
    /// ```
    /// use frazil::TextForm;
    /// for form in TextForm::ALL {
    ///     assert_eq!(form.decode(&form.encode(7))?, 7);
    /// }
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub const ALL: &'static [Self] = &[
        Self::Hex,
        Self::Base32,
        Self::Base58,
        Self::Base62,
        Self::Base36,
        Self::Crockford,
        Self::Base64Url,
        Self::BwmarrinBase32,
        Self::BwmarrinBase58,
    ];

    /// The width of the widest form: a buffer of this length holds every text.
    ///
    /// ```
    /// use frazil::TextForm;
    /// assert!(TextForm::ALL.iter().all(|form| form.width() <= TextForm::MAX_WIDTH));
    /// ```
    pub const MAX_WIDTH: usize = 16;

    pub(super) const fn digits(self) -> &'static Digits {
        match self {
            Self::Hex => &HEX,
            Self::Base32 => &BASE32,
            Self::Base58 => &BASE58,
            Self::Base62 => &BASE62,
            Self::Base36 => &BASE36,
            Self::Crockford => &CROCKFORD,
            Self::Base64Url => &BASE64_URL,
            Self::BwmarrinBase32 => &BWMARRIN_BASE32,
            Self::BwmarrinBase58 => &BWMARRIN_BASE58,
        }
    }

    /// Whether texts, compared byte by byte, sort as their IDs do: whether the alphabet ascends in ASCII.
    ///
    /// ```
    /// use frazil::TextForm;
    /// assert!(TextForm::Base62.is_ordered());
    /// assert!(!TextForm::Base64Url.is_ordered());
    /// ```
    #[must_use]
    pub const fn is_ordered(self) -> bool {
        self.digits().is_ordered()
    }

    /// The digits, that of zero first.
    #[must_use]
    pub const fn alphabet(self) -> &'static str {
        self.digits().alphabet
    }

    /// How many characters a text has.
    #[must_use]
    pub const fn width(self) -> usize {
        self.digits().width
    }

    /// The text of an ID.
    #[must_use]
    pub fn encode(self, id: u64) -> String {
        self.encode_into(id, &mut [0; Self::MAX_WIDTH]).to_owned()
    }

    /// The text of an ID in the caller's memory, without allocating. All of `room` is overwritten.
    ///
    /// ```
    /// use frazil::TextForm;
    /// let mut room = [0; TextForm::MAX_WIDTH];
    /// assert_eq!(TextForm::Base62.encode_into(u64::MAX, &mut room), "LygHa16AHYF");
    /// ```
    #[must_use]
    pub fn encode_into(self, id: u64, room: &mut [u8; Self::MAX_WIDTH]) -> &str {
        // The whole room is checked, because `from_utf8` reads sixteen bytes in one step and eleven one by one.
        *room = [b'0'; Self::MAX_WIDTH];
        let width = self.width();
        self.write(&[id], room.get_mut(..width).unwrap_or_default());
        core::str::from_utf8(room).ok().and_then(|text| text.get(..width)).unwrap_or_default()
    }

    /// Writes the texts of IDs one after another. The width of each form stands here once more, as a type, so that the loop over the
    /// digits of a text needs no counter.
    fn write(self, ids: &[u64], texts: &mut [u8]) {
        match self {
            Self::Hex => write_all::<_, 16>(&HEX_PAIRS, ids, texts),
            Self::Base32 | Self::Crockford => write_all::<_, 13>(&BASE32_PAIRS, ids, texts),
            Self::Base58 => write_all::<_, 11>(&BASE58_PAIRS, ids, texts),
            Self::Base62 => write_all::<_, 11>(&BASE62_PAIRS, ids, texts),
            Self::Base36 => write_all::<_, 13>(&BASE36_PAIRS, ids, texts),
            Self::Base64Url => {
                for (id, [others @ .., last]) in ids.iter().zip(texts.as_chunks_mut::<11>().0) {
                    write(&BASE64_URL_PAIRS, id >> 4, others);
                    write(&BASE64_URL_PAIRS, (id & 0xF) << 2, core::slice::from_mut(last));
                }
            }
            Self::BwmarrinBase32 => write_all::<_, 13>(&BWMARRIN_BASE32_PAIRS, ids, texts),
            Self::BwmarrinBase58 => write_all::<_, 11>(&BWMARRIN_BASE58_PAIRS, ids, texts),
        }
    }

    /// The text of an ID for `write!` and `format!`, without allocating.
    ///
    /// ```
    /// use frazil::TextForm;
    /// assert_eq!(format!("https://example.org/{}", TextForm::Hex.display(255)), "https://example.org/00000000000000ff");
    /// ```
    #[must_use]
    pub fn display(self, id: u64) -> impl fmt::Display + Copy {
        Displayed { id, form: self, is_short: false }
    }

    /// The ID of a text.
    ///
    /// # Errors
    /// `INVALID_TEXT` for anything that [`encode`](Self::encode) does not write, with the position of the first byte that
    /// is wrong: one that is no digit; the first one too many; the end of the text, if it is too short; in a number of
    /// more than 64 bits, the first digit larger than that of 2^64 - 1 in its place; and in `Base64Url` the last digit, unless its
    /// two lowest bits are 0. `Crockford` reads more than is written.
    ///
    /// ```
    /// use frazil::{Code, TextForm};
    /// let error = TextForm::Base62.decode("1ptWyK4W-ZU").unwrap_err();
    /// assert_eq!((error.code(), error.position()), (Code::InvalidText, Some(8)));
    /// assert_eq!(TextForm::Base62.decode("1ptWyK4W").unwrap_err().position(), Some(8));
    /// assert_eq!(TextForm::Base32.decode("FZZZZZZZZZZZZ")?, u64::MAX);
    /// assert_eq!(TextForm::Base32.decode("G000000000000").unwrap_err().position(), Some(0));
    /// assert_eq!(TextForm::Crockford.decode("1asdi3xhlf8oo")?, TextForm::Base32.decode("1ASD13XH1F800")?);
    /// assert_eq!(TextForm::Base64Url.decode("FWWhH2IXoAA")?, 1_541_815_603_606_036_480);
    /// assert_eq!(TextForm::BwmarrinBase58.short().decode("4jgmnx8Js8A")?, 1_428_076_403_798_048_768);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn decode(self, text: &str) -> Result<u64> {
        let width = self.width();
        read(self, text, width, Rule::TextLength)
    }

    /// The texts of many IDs, one after another without anything between them.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` unless `texts` has the width of the form for each ID. Nothing has been written then.
    ///
    /// ```
    /// let mut texts = [0; 2 * 11];
    /// frazil::TextForm::Base62.encode_many(&[61, 62], &mut texts)?;
    /// assert_eq!(&texts, b"0000000000z00000000010");
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn encode_many(self, ids: &[u64], texts: &mut [u8]) -> Result<()> {
        check_room(texts.len(), ids.len().saturating_mul(self.width()))?;
        self.write(ids, texts);
        Ok(())
    }

    /// The IDs of many texts.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), with the [index](Error::index) of the first text at fault; `INVALID_ARGUMENT` unless
    /// `ids` is as long as `texts`. Nothing has been written then.
    ///
    /// ```
    /// use frazil::TextForm;
    /// let mut ids = [0; 2];
    /// TextForm::Base62.decode_many(&["0000000000z", "00000000010"], &mut ids)?;
    /// assert_eq!(ids, [61, 62]);
    /// let error = TextForm::Base62.decode_many(&["0000000000z", "0000000001?"], &mut ids).unwrap_err();
    /// assert_eq!((error.index(), error.position()), (Some(1), Some(10)));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn decode_many<T: AsRef<str>>(self, texts: &[T], ids: &mut [u64]) -> Result<()> {
        read_many(texts, ids, |text| self.decode(text))
    }
}

/// An ID with the form that a formatter writes it in.
#[derive(Clone, Copy)]
pub(super) struct Displayed {
    pub(super) id: u64,
    pub(super) form: TextForm,
    pub(super) is_short: bool,
}

impl fmt::Display for Displayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let room = &mut [0; TextForm::MAX_WIDTH];
        let Self { id, form, is_short } = *self;
        f.pad(if is_short { form.short().encode_into(id, room) } else { form.encode_into(id, room) })
    }
}

/// Reads a text of at least `least` digits from the left, so that everything before the position of an error is right. The first
/// byte outside ASCII is no digit, so a position counts both bytes and characters.
pub(super) fn read(form: TextForm, text: &str, least: usize, length: Rule) -> Result<u64> {
    let Digits { base, width, rule, ref values, .. } = *form.digits();
    let mut id = Some(0_u64);
    // Of base 64, the number without its last digit, and that digit.
    let (mut head, mut digit) = (0_u64, 0_u64);
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        if at == width {
            return Err(Error::bad_text(length, at, width as u64));
        }
        let value = values[usize::from(byte)];
        if value == NO_DIGIT {
            return Err(Error::bad_text(rule, at, 0));
        }
        if form == TextForm::Base64Url {
            (head, digit) = ((head << 6) | digit, u64::from(value));
        } else {
            id = id.and_then(|id| id.checked_mul(base)?.checked_add(u64::from(value)));
        }
    }
    if text.len() < least {
        return Err(Error::bad_text(length, text.len(), width as u64));
    }
    if form == TextForm::Base64Url {
        // Ten digits have 60 bits, and the last one the other four.
        if digit & 3 != 0 {
            return Err(Error::bad_text(Rule::TextBase64UrlEnd, text.len().saturating_sub(1), 0));
        }
        return Ok((head << 4) | (digit >> 2));
    }
    id.ok_or_else(|| too_large(form, text))
}

/// The refusal of a number of more than 64 bits. It is as wide as the largest number, so it differs from that in some digit,
/// whose position this finds.
#[cold]
fn too_large(form: TextForm, text: &str) -> Error {
    let room = &mut [0; TextForm::MAX_WIDTH];
    let largest = form.encode_into(u64::MAX, room).bytes();
    let value = |byte: u8| form.digits().values[usize::from(byte)];
    let is_equal = |(ours, max): &(u8, u8)| value(*ours) == value(*max);
    Error::bad_text(Rule::IdRange, text.bytes().zip(largest).take_while(is_equal).count(), u64::MAX)
}

/// Reads all texts once to check them, and a second time to write the IDs, so that a refusal changes nothing.
pub(super) fn read_many<T: AsRef<str>>(texts: &[T], ids: &mut [u64], read: impl Fn(&str) -> Result<u64>) -> Result<()> {
    check_room(ids.len(), texts.len())?;
    for (index, text) in texts.iter().enumerate() {
        read(text.as_ref()).map_err(|error| error.with_index(index))?;
    }
    for (id, text) in ids.iter_mut().zip(texts) {
        *id = read(text.as_ref())?;
    }
    Ok(())
}

fn check_room(given: usize, needed: usize) -> Result<()> {
    if given == needed {
        return Ok(());
    }
    let bounds = (needed as u64, needed as u64);
    Err(Error::bad_number(Code::InvalidArgument, Subject::Count, Rule::WholeNumber, given as u64, bounds))
}
