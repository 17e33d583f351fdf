//! IDs as text: hexadecimal, Crockford's base 32, base 58 and base 62.
//!
//! | form | digits | width | alphabet |
//! |---|---|---|---|
//! | [`TextForm::Hex`] | 16 | 16 | `0-9a-f` |
//! | [`TextForm::Base32`] | 32 | 13 | `0-9A-Z` without `I`, `L`, `O`, `U` (Crockford) |
//! | [`TextForm::Base58`] | 58 | 11 | `1-9A-Za-z` without `I`, `O`, `l` (Bitcoin); its zero is `1` |
//! | [`TextForm::Base62`] | 62 | 11 | `0-9A-Za-z` |
//!
//! A form has a **fixed** width and is padded with its digit for zero. [`TextForm::short`] is the same without that padding, for
//! links.
//!
//! * **Any ID**: the forms hold every number of 64 bits, whatever its layout.
//! * **In order**: every alphabet here ascends in ASCII, so fixed texts sort byte by byte as their numbers do. Short texts
//!   do not, since a longer one can sort before a shorter one; nor do texts under a collation that folds case.
//! * **One text for each ID**: only the text that is written is read. Other case, other width, blanks, signs and numbers of more
//!   than 64 bits are refused with the [position](Error::position); nothing is trimmed, folded or wrapped.
//! * **No allocation** except for a `String` that is returned, and nothing here can panic.
//!
//! Not covered: the decimal form, which is [`Layout::parse`](crate::Layout::parse) and `to_string`; eight bytes, most
//! significant first, which sort like the numbers and are [`u64::to_be_bytes`] and [`u64::from_be_bytes`]; Crockford's
//! aliases, hyphens and check digit.
//!
//! Sources: Crockford's "Base 32", <https://www.crockford.com/base32.html>; the base 58 of Bitcoin,
//! draft-msporny-base58; the base 62 of GNU MP's `mpz_get_str`.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

use crate::error::{Code, Error, Result, Rule, Subject};

/// A way to write an ID as text of a fixed width that sorts as the IDs do.
///
/// This type is:
///
/// * **Canonical**: every ID has one text, and [`decode`](Self::decode) accepts no other.
/// * **Ordered**: byte by byte, texts compare as their IDs.
/// * **Complete**: from 0 to 2^64 - 1.
///
/// Not for hiding anything: the text tells the ID, and so the time and the node.
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
    /// Crockford's base 32 in upper case, 13 characters, of which the first is `0` to `F`.
    Base32,
    /// The base 58 of Bitcoin, 11 characters: no two of its digits look alike. Its digit for zero is `1`.
    Base58,
    /// Base 62, digits before upper before lower case, 11 characters: the shortest without punctuation.
    Base62,
}

/// The digits of a form and their tables.
struct Digits {
    alphabet: &'static str,
    base: u64,
    width: usize,
    /// The rule that a character breaks if it is no digit.
    rule: Rule,
    /// The value of each byte as a digit, or `NO_DIGIT`.
    values: [u8; 256],
}

const NO_DIGIT: u8 = u8::MAX;

impl Digits {
    const fn new(alphabet: &'static str, width: usize, rule: Rule) -> Self {
        let bytes = alphabet.as_bytes();
        let mut values = [NO_DIGIT; 256];
        let mut at = 0;
        while at < bytes.len() {
            assert!(at == 0 || bytes[at - 1] < bytes[at], "texts sort as their numbers because alphabets ascend");
            #[expect(clippy::cast_possible_truncation, reason = "no alphabet has 256 digits, and this is compiled, not run")]
            let value = at as u8;
            values[bytes[at] as usize] = value;
            at += 1;
        }
        Self { alphabet, base: bytes.len() as u64, width, rule, values }
    }
}

/// Every pair of digits, so that one division yields two digits. `PAIRS` is the square of the base.
const fn pairs<const PAIRS: usize>(digits: &Digits) -> [[u8; 2]; PAIRS] {
    let bytes = digits.alphabet.as_bytes();
    assert!(bytes.len() * bytes.len() == PAIRS, "every pair has a place");
    let mut pairs = [[0; 2]; PAIRS];
    let mut at = 0;
    while at < PAIRS {
        pairs[at] = [bytes[at / bytes.len()], bytes[at % bytes.len()]];
        at += 1;
    }
    pairs
}

// The widths: 16^16 is 2^64; 32^12 < 2^64 < 32^13; 58^10 < 2^64 < 58^11; 62^10 < 2^64 < 62^11.
static HEX: Digits = Digits::new("0123456789abcdef", 16, Rule::TextHex);
static BASE32: Digits = Digits::new("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 13, Rule::TextBase32);
static BASE58: Digits = Digits::new("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 11, Rule::TextBase58);
static BASE62: Digits = Digits::new("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 11, Rule::TextBase62);

static HEX_PAIRS: [[u8; 2]; 16 * 16] = pairs(&HEX);
static BASE32_PAIRS: [[u8; 2]; 32 * 32] = pairs(&BASE32);
static BASE58_PAIRS: [[u8; 2]; 58 * 58] = pairs(&BASE58);
static BASE62_PAIRS: [[u8; 2]; 62 * 62] = pairs(&BASE62);

/// Writes the low digits of a number, as many as there is room for. The number of pairs is part of the type, so that the divisor
/// is a constant for the compiler.
fn write<const PAIRS: usize>(pairs: &[[u8; 2]; PAIRS], mut number: u64, text: &mut [u8]) {
    for place in text.rchunks_mut(2) {
        // A remainder of a division by PAIRS is always the index of a pair.
        let pair = usize::try_from(number % PAIRS as u64).ok().and_then(|at| pairs.get(at)).copied().unwrap_or_default();
        number /= PAIRS as u64;
        match place {
            [high, low] => [*high, *low] = pair,
            // The first character of an odd width: the pair is a zero and a digit.
            first => first.fill(pair[1]),
        }
    }
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
    pub const ALL: &'static [Self] = &[Self::Hex, Self::Base32, Self::Base58, Self::Base62];

    /// The width of the widest form: a buffer of this length holds every text.
    ///
    /// ```
    /// use frazil::TextForm;
    /// assert!(TextForm::ALL.iter().all(|form| form.width() <= TextForm::MAX_WIDTH));
    /// ```
    pub const MAX_WIDTH: usize = 16;

    const fn digits(self) -> &'static Digits {
        match self {
            Self::Hex => &HEX,
            Self::Base32 => &BASE32,
            Self::Base58 => &BASE58,
            Self::Base62 => &BASE62,
        }
    }

    /// The digits, that of zero first. They ascend in ASCII.
    ///
    /// ```
    /// assert_eq!(frazil::TextForm::Base58.alphabet().find('2'), Some(1));
    /// ```
    #[must_use]
    pub const fn alphabet(self) -> &'static str {
        self.digits().alphabet
    }

    /// How many characters a text has.
    ///
    /// ```
    /// assert_eq!(frazil::TextForm::Base32.width(), 13);
    /// ```
    #[must_use]
    pub const fn width(self) -> usize {
        self.digits().width
    }

    /// The same form without leading digits for zero.
    ///
    /// ```
    /// use frazil::TextForm;
    /// assert_eq!(TextForm::Base62.encode(63), "00000000011");
    /// assert_eq!(TextForm::Base62.short().encode(63), "11");
    /// ```
    #[must_use]
    pub const fn short(self) -> ShortForm {
        ShortForm(self)
    }

    /// The text of an ID.
    ///
    /// ```
    /// assert_eq!(frazil::TextForm::Base32.encode(u64::MAX), "FZZZZZZZZZZZZ");
    /// ```
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
        self.write(id, room.get_mut(..width).unwrap_or_default());
        core::str::from_utf8(room).ok().and_then(|text| text.get(..width)).unwrap_or_default()
    }

    fn write(self, id: u64, text: &mut [u8]) {
        match self {
            Self::Hex => write(&HEX_PAIRS, id, text),
            Self::Base32 => write(&BASE32_PAIRS, id, text),
            Self::Base58 => write(&BASE58_PAIRS, id, text),
            Self::Base62 => write(&BASE62_PAIRS, id, text),
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
    /// is wrong: one that is no digit; the first one too many; the end of the text, if it is too short; and, in a number of
    /// more than 64 bits, the first digit larger than that of 2^64 - 1 in its place.
    ///
    /// ```
    /// use frazil::{Code, TextForm};
    /// let error = TextForm::Base62.decode("1ptWyK4W-ZU").unwrap_err();
    /// assert_eq!((error.code(), error.position()), (Code::InvalidText, Some(8)));
    /// assert_eq!(TextForm::Base62.decode("1ptWyK4W").unwrap_err().position(), Some(8));
    /// assert_eq!(TextForm::Base32.decode("FZZZZZZZZZZZZ")?, u64::MAX);
    /// assert_eq!(TextForm::Base32.decode("G000000000000").unwrap_err().position(), Some(0));
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
        let mut rest = texts;
        for &id in ids {
            let Some((text, after)) = rest.split_at_mut_checked(self.width()) else { break };
            self.write(id, text);
            rest = after;
        }
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

/// A [`TextForm`] without leading digits for zero: 1 character up to the width of the form. The ID 0 is one digit.
///
/// For links that people see. Texts of different lengths do not sort as their IDs: `"z"` is 61 and `"10"` is 62.
///
/// ```
/// use frazil::TextForm;
/// let link = TextForm::Base58.short();
/// assert_eq!(link.encode(175_928_847_299_117_063), "QgmVVkniES");
/// assert_eq!(link.decode("QgmVVkniES")?, 175_928_847_299_117_063);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShortForm(TextForm);

impl ShortForm {
    /// The text of an ID.
    ///
    /// ```
    /// assert_eq!(frazil::TextForm::Hex.short().encode(0), "0");
    /// ```
    #[must_use]
    pub fn encode(self, id: u64) -> String {
        self.encode_into(id, &mut [0; TextForm::MAX_WIDTH]).to_owned()
    }

    /// The text of an ID in the caller's memory, without allocating. All of `room` is overwritten.
    ///
    /// ```
    /// use frazil::TextForm;
    /// let mut room = [0; TextForm::MAX_WIDTH];
    /// assert_eq!(TextForm::Base58.short().encode_into(58, &mut room), "21");
    /// ```
    #[must_use]
    pub fn encode_into(self, id: u64, room: &mut [u8; TextForm::MAX_WIDTH]) -> &str {
        let text = self.0.encode_into(id, room);
        let zero = self.0.alphabet().as_bytes().first();
        // The last digit stays even if it is the digit for zero.
        let zeros = text.bytes().take(self.0.width().saturating_sub(1)).take_while(|byte| Some(byte) == zero).count();
        text.get(zeros..).unwrap_or(text)
    }

    /// The text of an ID for `write!` and `format!`, without allocating.
    ///
    /// ```
    /// use frazil::TextForm;
    /// assert_eq!(format!("https://example.org/{}", TextForm::Hex.short().display(255)), "https://example.org/ff");
    /// ```
    #[must_use]
    pub fn display(self, id: u64) -> impl fmt::Display + Copy {
        Displayed { id, form: self.0, is_short: true }
    }

    /// The ID of a text.
    ///
    /// # Errors
    /// `INVALID_TEXT` for anything that [`encode`](Self::encode) does not write, with the position of the first byte that
    /// is wrong: a digit for zero in front of others, and what [`TextForm::decode`] names.
    ///
    /// ```
    /// use frazil::{Rule, TextForm};
    /// let link = TextForm::Base62.short();
    /// assert_eq!(link.decode("z")?, 61);
    /// let error = link.decode("0z").unwrap_err();
    /// assert_eq!((error.rule(), error.position()), (Rule::TextZeros, Some(0)));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn decode(self, text: &str) -> Result<u64> {
        if text.len() > 1 && text.as_bytes().first() == self.0.alphabet().as_bytes().first() {
            return Err(Error::bad_text(Rule::TextZeros, 0, 0));
        }
        read(self.0, text, 1, Rule::TextShort)
    }

    /// The IDs of many texts.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), with the [index](Error::index) of the first text at fault; `INVALID_ARGUMENT` unless
    /// `ids` is as long as `texts`. Nothing has been written then.
    ///
    /// ```
    /// let mut ids = [0; 2];
    /// frazil::TextForm::Base62.short().decode_many(&["z", "10"], &mut ids)?;
    /// assert_eq!(ids, [61, 62]);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn decode_many<T: AsRef<str>>(self, texts: &[T], ids: &mut [u64]) -> Result<()> {
        read_many(texts, ids, |text| self.decode(text))
    }
}

/// An ID with the form that a formatter writes it in.
#[derive(Clone, Copy)]
struct Displayed {
    id: u64,
    form: TextForm,
    is_short: bool,
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
fn read(form: TextForm, text: &str, least: usize, length: Rule) -> Result<u64> {
    let Digits { base, width, rule, ref values, .. } = *form.digits();
    let mut id = Some(0_u64);
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        if at == width {
            return Err(Error::bad_text(length, at, width as u64));
        }
        let value = values[usize::from(byte)];
        if value == NO_DIGIT {
            return Err(Error::bad_text(rule, at, 0));
        }
        id = id.and_then(|id| id.checked_mul(base)?.checked_add(u64::from(value)));
    }
    if text.len() < least {
        return Err(Error::bad_text(length, text.len(), width as u64));
    }
    id.ok_or_else(|| too_large(form, text))
}

/// The refusal of a number of more than 64 bits. It is as wide as the largest number, so it differs from that in some digit,
/// whose position this finds.
#[cold]
fn too_large(form: TextForm, text: &str) -> Error {
    let room = &mut [0; TextForm::MAX_WIDTH];
    let largest = form.encode_into(u64::MAX, room).bytes();
    Error::bad_text(Rule::IdRange, text.bytes().zip(largest).take_while(|(ours, max)| ours == max).count(), u64::MAX)
}

/// Reads all texts once to check them, and a second time to write the IDs, so that a refusal changes nothing.
fn read_many<T: AsRef<str>>(texts: &[T], ids: &mut [u64], read: impl Fn(&str) -> Result<u64>) -> Result<()> {
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
