//! Forms without leading digits for zero.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

use super::form::{Displayed, TextForm, read, read_many};
use crate::error::{Error, Result, Rule};

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

impl TextForm {
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
}

impl ShortForm {
    /// The text of an ID.
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
    /// use frazil::TextForm;
    /// use frazil::error::Rule;
    /// let link = TextForm::Base62.short();
    /// assert_eq!(link.decode("z")?, 61);
    /// let error = link.decode("0z").unwrap_err();
    /// assert_eq!((error.rule(), error.position()), (Rule::TextZeros, Some(0)));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn decode(self, text: &str) -> Result<u64> {
        let first = text.as_bytes().first().map(|&byte| self.0.digits().values[usize::from(byte)]);
        if text.len() > 1 && first == Some(0) {
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
