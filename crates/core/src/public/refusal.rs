//! Refusals in four bytes: errors of 48 bytes would be a tenth of the WebAssembly module.

use crate::error::{Code, Error, Rule, Subject};

/// Why input is refused: the rule, and the position in a text or the last slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    pub(crate) rule: Rule,
    pub(crate) number: Option<u8>,
}

impl Refusal {
    pub(crate) const fn new(rule: Rule) -> Self {
        Self { rule, number: None }
    }

    /// Of a text or a slot. No position is above the width of a form.
    pub(super) fn at(rule: Rule, number: usize) -> Self {
        Self { rule, number: u8::try_from(number).ok() }
    }

    /// The error about a text, whose length may be a part of the rule.
    pub(super) fn of_text(self, width: usize) -> Error {
        match self.number {
            Some(position) => Error::bad_text(self.rule, usize::from(position), width as u64),
            None => Error::bad_input(Code::InvalidText, Subject::Text, self.rule),
        }
    }

    /// The error about a key, a list of keys, a kind, a slot or an ID.
    pub(super) fn of(self, given: u64, max: u64) -> Error {
        match self.rule {
            Rule::KindSyntax => Error::bad_input(Code::InvalidOption, Subject::Kind, self.rule),
            Rule::KeyCount => Error::bad_input(Code::InvalidOption, Subject::Keys, self.rule),
            Rule::WholeNumber | Rule::OtherSlot => {
                Error::bad_number(Code::InvalidOption, Subject::Slot, self.rule, given, (0, self.number.unwrap_or(0).into()))
            }
            Rule::IdRange => Error::bad_number(Code::InvalidId, Subject::Id, self.rule, given, (0, max)),
            rule => Error::bad_input(Code::InvalidOption, Subject::Key, rule),
        }
    }
}

/// The result of what the bindings call.
pub(crate) type Checked<T> = Result<T, Refusal>;
