//! IDs as text: hexadecimal, Crockford's base 32, and bases 36, 58, 62 and 64.
//!
//! | form | digits | width | alphabet |
//! |---|---|---|---|
//! | [`TextForm::Hex`] | 16 | 16 | `0-9a-f` |
//! | [`TextForm::Base32`] | 32 | 13 | `0-9A-Z` without `I`, `L`, `O`, `U` (Crockford) |
//! | [`TextForm::Crockford`] | 32 | 13 | the same; reads lower case too, `I` and `L` as `1`, and `O` as `0` |
//! | [`TextForm::Base36`] | 36 | 13 | `0-9a-z` |
//! | [`TextForm::Base58`] | 58 | 11 | `1-9A-Za-z` without `I`, `O`, `l` (Bitcoin); its zero is `1` |
//! | [`TextForm::Base62`] | 62 | 11 | `0-9A-Za-z` |
//! | [`TextForm::Base64Url`] | 64 | 11 | `A-Za-z0-9-_` (RFC 4648); its zero is `A` |
//! | [`TextForm::BwmarrinBase32`], [`TextForm::BwmarrinBase58`] | 32, 58 | 13, 11 | those of the Go package bwmarrin/snowflake |
//!
//! A form has a **fixed** width and is padded with its digit for zero. [`TextForm::short`] is the same without that padding, for
//! links.
//!
//! * **Any ID**: the forms hold every number of 64 bits, whatever its layout.
//! * **In order**: the alphabets ascend in ASCII, so fixed texts sort byte by byte as their numbers do, except with `Base64Url` and
//!   bwmarrin's two forms. Short texts do not, since a longer one can sort before a shorter one; nor do texts under a collation that folds
//!   case.
//! * **One text for each ID**: only the text that is written is read, except by `Crockford`. Other case, other width, blanks,
//!   signs and numbers of more than 64 bits are refused with the [position](crate::Error::position); nothing is trimmed, folded or wrapped.
//! * **No allocation** except for a `String` that is returned, and nothing here can panic.
//!
//! Not covered: an alphabet of your own (`customForm(alphabet)` is in the npm package alone); the decimal form, which is
//! [`Layout::parse`](crate::Layout::parse) and `to_string`; eight bytes, most significant first, which sort like the numbers and are
//! [`u64::to_be_bytes`] and [`u64::from_be_bytes`]; Crockford's hyphens and check digit.
//!
//! Sources: Crockford's "Base 32", <https://www.crockford.com/base32.html>; the base 58 of Bitcoin,
//! draft-msporny-base58; the base 62 of GNU MP's `mpz_get_str`; RFC 4648, section 5; `Base32` and `Base58` of
//! github.com/bwmarrin/snowflake.

mod digits;
mod form;
mod short;

pub use form::TextForm;
pub use short::ShortForm;
