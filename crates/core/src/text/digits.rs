//! The digits of the forms, and writing them.

use crate::error::Rule;

/// The digits of a form and their tables.
pub(super) struct Digits {
    pub(super) alphabet: &'static str,
    pub(super) base: u64,
    pub(super) width: usize,
    /// The rule that a character breaks if it is no digit.
    pub(super) rule: Rule,
    /// The value of each byte as a digit, or `NO_DIGIT`.
    pub(super) values: [u8; 256],
}

pub(super) const NO_DIGIT: u8 = u8::MAX;

impl Digits {
    const fn new(alphabet: &'static str, width: usize, rule: Rule) -> Self {
        let bytes = alphabet.as_bytes();
        let mut values = [NO_DIGIT; 256];
        let mut at = 0;
        while at < bytes.len() {
            #[expect(clippy::cast_possible_truncation, reason = "no alphabet has 256 digits, and this is compiled, not run")]
            let value = at as u8;
            values[bytes[at] as usize] = value;
            at += 1;
        }
        Self { alphabet, base: bytes.len() as u64, width, rule, values }
    }

    /// The same, and it reads each byte of `others` as the digit in the same place.
    const fn reading(mut self, others: &[u8]) -> Self {
        let mut at = 0;
        while at < others.len() {
            #[expect(clippy::cast_possible_truncation, reason = "no alphabet has 256 digits, and this is compiled, not run")]
            let value = at as u8;
            self.values[others[at] as usize] = value;
            at += 1;
        }
        self
    }

    /// Whether texts sort as their numbers, because the alphabet ascends.
    pub(super) const fn is_ordered(&self) -> bool {
        let bytes = self.alphabet.as_bytes();
        let mut at = 1;
        while at < bytes.len() {
            if bytes[at - 1] >= bytes[at] {
                return false;
            }
            at += 1;
        }
        true
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

// The widths: 16^16 is 2^64; 32^12 < 36^12 < 2^64 < 32^13; 58^10 < 62^10 < 2^64 < 58^11; 64^10 < 2^64 < 64^11.
pub(super) static HEX: Digits = Digits::new("0123456789abcdef", 16, Rule::TextHex);
pub(super) static BASE32: Digits = Digits::new("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 13, Rule::TextBase32);
pub(super) static BASE58: Digits =
    Digits::new("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 11, Rule::TextBase58);
pub(super) static BASE62: Digits =
    Digits::new("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 11, Rule::TextBase62);
pub(super) static BASE36: Digits = Digits::new("0123456789abcdefghijklmnopqrstuvwxyz", 13, Rule::TextBase36);
pub(super) static CROCKFORD: Digits = Digits::new(BASE32.alphabet, 13, Rule::TextCrockford)
    .reading(b"0123456789abcdefghjkmnpqrstvwxyz")
    .reading(b"OI")
    .reading(b"oi")
    .reading(b"OL")
    .reading(b"ol");
pub(super) static BASE64_URL: Digits =
    Digits::new("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 11, Rule::TextBase64Url);
pub(super) static BWMARRIN_BASE32: Digits = Digits::new("ybndrfg8ejkmcpqxot1uwisza345h769", 13, Rule::TextAlphabet);
pub(super) static BWMARRIN_BASE58: Digits =
    Digits::new("123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ", 11, Rule::TextAlphabet);

pub(super) static HEX_PAIRS: [[u8; 2]; 16 * 16] = pairs(&HEX);
pub(super) static BASE32_PAIRS: [[u8; 2]; 32 * 32] = pairs(&BASE32);
pub(super) static BASE58_PAIRS: [[u8; 2]; 58 * 58] = pairs(&BASE58);
pub(super) static BASE62_PAIRS: [[u8; 2]; 62 * 62] = pairs(&BASE62);
pub(super) static BASE36_PAIRS: [[u8; 2]; 36 * 36] = pairs(&BASE36);
pub(super) static BASE64_URL_PAIRS: [[u8; 2]; 64 * 64] = pairs(&BASE64_URL);
pub(super) static BWMARRIN_BASE32_PAIRS: [[u8; 2]; 32 * 32] = pairs(&BWMARRIN_BASE32);
pub(super) static BWMARRIN_BASE58_PAIRS: [[u8; 2]; 58 * 58] = pairs(&BWMARRIN_BASE58);

/// Writes the low digits of a number that fit. The number of pairs is part of the type, so that the divisor is a constant for the compiler.
pub(super) fn write<const PAIRS: usize>(pairs: &[[u8; 2]; PAIRS], mut number: u64, text: &mut [u8]) {
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

/// Writes the texts of IDs, of WIDTH characters each.
pub(super) fn write_all<const PAIRS: usize, const WIDTH: usize>(pairs: &[[u8; 2]; PAIRS], ids: &[u64], texts: &mut [u8]) {
    for (id, text) in ids.iter().zip(texts.as_chunks_mut::<WIDTH>().0) {
        write(pairs, *id, text);
    }
}
