//! IDs as text and as bytes. A text is made by division; an alphabet is stated as the characters that it leaves out, so that
//! it differs from the core's table in form.

use super::errors::Rule;

pub(crate) struct Form {
    pub(crate) name: &'static str,
    pub(crate) digits: Vec<char>,
    /// The rule that a character breaks if it is not a digit of the form.
    pub(crate) rule: Rule,
    /// What the number that a text represents is divided by to get the ID.
    times: u128,
}

pub(crate) fn forms() -> Vec<Form> {
    let all = || ('0'..='9').chain('A'..='Z').chain('a'..='z');
    let form =
        |name, rule, is_digit: &dyn Fn(&char) -> bool| Form { name, digits: all().filter(is_digit).collect(), rule, times: 1 };
    let listed = |name, rule, digits: String, times| Form { name, digits: digits.chars().collect(), rule, times };
    // RFC 4648 fills the 64 bits up to eleven digits of six bits.
    let base64: String = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['-', '_']).collect();
    let lower_first: String = ('1'..='9').chain('a'..='z').chain('A'..='Z').filter(|digit| !"IOl".contains(*digit)).collect();
    vec![
        form("hex", Rule::TEXT_HEX, &|digit| digit.is_ascii_digit() || ('a'..='f').contains(digit)),
        form("base32", Rule::TEXT_BASE32, &|digit| !digit.is_ascii_lowercase() && !"ILOU".contains(*digit)),
        form("base58", Rule::TEXT_BASE58, &|digit| !"0IOl".contains(*digit)),
        form("base62", Rule::TEXT_BASE62, &|_| true),
        form("base36", Rule::TEXT_BASE36, &|digit| !digit.is_ascii_uppercase()),
        form("crockford", Rule::TEXT_CROCKFORD, &|digit| !digit.is_ascii_lowercase() && !"ILOU".contains(*digit)),
        listed("base64url", Rule::TEXT_BASE64_URL, base64, 4),
        listed("bwmarrinBase32", Rule::TEXT_ALPHABET, "ybndrfg8ejkmcpqxot1uwisza345h769".to_owned(), 1),
        listed("bwmarrinBase58", Rule::TEXT_ALPHABET, lower_first, 1),
    ]
}

impl Form {
    pub(crate) fn base(&self) -> u128 {
        self.digits.len() as u128
    }

    pub(crate) fn short(&self, id: u128) -> String {
        let mut rest = id * self.times;
        let mut text = String::new();
        loop {
            let digit = usize::try_from(rest % self.base()).unwrap_or_default();
            text.insert(0, self.digits[digit]);
            rest /= self.base();
            if rest == 0 {
                return text;
            }
        }
    }

    /// The length of a fixed text: that of the short text of the largest ID.
    pub(crate) fn width(&self) -> usize {
        self.short((1 << 64) - 1).len()
    }

    pub(crate) fn fixed(&self, id: u128) -> String {
        let short = self.short(id);
        self.zeros(self.width() - short.len()) + &short
    }

    pub(crate) fn zeros(&self, count: usize) -> String {
        self.digits[0].to_string().repeat(count)
    }
}

/// The bytes of an ID, the most significant first.
pub(crate) fn bytes(id: u128) -> Vec<u128> {
    (0..8).rev().map(|place| id / 256_u128.pow(place) % 256).collect()
}
