//! The memory of the frame: numbers, then IDs; texts lie where the IDs do.

#[cfg(feature = "std")]
use alloc::string::String;

use super::slots::{NUMBERS, slot};
use crate::error::{Code, Error, Result, Rule, Subject};

/// The most IDs that one reservation can hand over.
pub const IDS: usize = 4096;

/// The status that asks for the clock to be read once more. No code has this number.
pub const RECHECK: u32 = 255;
/// The status that asks for a key: draw one, put it at `KEY`, and call again. No code has this number.
pub const KEYLESS: u32 = 254;

/// The memory that both sides read and write.
#[repr(C)]
#[derive(Debug)]
pub struct Frame {
    /// The slots.
    pub numbers: [f64; NUMBERS],
    /// The IDs of the last reservation.
    pub ids: [u64; IDS],
}

impl Frame {
    /// A frame of zeros.
    ///
    /// ```
    /// # use frazil::abi::{IDS, NUMBERS, Frame};
    /// assert_eq!(size_of::<Frame>(), 8 * (NUMBERS + IDS));
    /// assert_eq!(Frame::new().numbers[0], 0.0);
    /// ```
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a frame is placed, not defaulted")]
    #[expect(clippy::large_stack_arrays, reason = "the bindings place it in static memory or on the heap")]
    pub const fn new() -> Self {
        Self { numbers: [0.0; NUMBERS], ids: [0; IDS] }
    }

    /// Writes an error into the slots and returns its status.
    #[expect(clippy::cast_precision_loss, reason = "times and limits of layouts are below 2^53; larger ones are only shown")]
    pub(super) fn refuse(&mut self, error: Error) -> u32 {
        self.numbers[slot::SUBJECT] = f64::from(error.subject as u8);
        self.numbers[slot::RULE] = f64::from(error.rule as u8);
        self.numbers[slot::MIN] = error.min as f64;
        self.numbers[slot::MAX] = error.max as f64;
        self.numbers[slot::RETRY_AFTER_MS] = error.retry_after_ms() as f64;
        self.numbers[slot::TEXT_BYTES] = 0.0;
        u32::from(error.code() as u8)
    }

    /// Refuses with `STATE_CONFLICT` for a cause that the binding found outside the core, and returns the status.
    ///
    /// ```
    /// # use frazil::abi::{Frame, slot};
    /// let mut frame = Frame::new();
    /// assert_eq!(frame.refuse_conflict("another copy"), frazil::Code::StateConflict as u32);
    /// assert_eq!(frame.numbers[slot::TEXT_BYTES], 12.0);
    /// ```
    #[cfg(feature = "std")]
    pub fn refuse_conflict(&mut self, text: &str) -> u32 {
        self.refuse_with_text(Error::with_subject(Code::StateConflict, Subject::Node), Some(text))
    }

    /// Writes an error and a text with further details, and returns the status.
    #[cfg(feature = "std")]
    pub(super) fn refuse_with_text(&mut self, error: Error, text: Option<&str>) -> u32 {
        let status = self.refuse(error);
        self.write_text(text.unwrap_or(""));
        status
    }

    /// Writes a text where the IDs are. A long text is cut off at a character boundary.
    #[cfg(feature = "std")]
    #[expect(clippy::cast_precision_loss, reason = "at most 32768")]
    pub(super) fn write_text(&mut self, text: &str) {
        let room = text.len().min(8 * IDS);
        let text = &text[..(0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)];
        for (id, bytes) in self.ids.iter_mut().zip(text.as_bytes().chunks(8)) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            *id = u64::from_ne_bytes(word);
        }
        self.numbers[slot::TEXT_BYTES] = text.len() as f64;
    }

    /// The texts where the IDs are, one after another. The slots hold their lengths in bytes, or NaN for `None`.
    #[cfg(feature = "std")]
    pub(super) fn read_texts<const N: usize>(&self, slots: [(usize, Subject); N]) -> Result<[Option<String>; N]> {
        let mut bytes = self.ids.iter().flat_map(|id| id.to_ne_bytes());
        let mut texts = [const { None }; N];
        for (text, (at, subject)) in texts.iter_mut().zip(slots) {
            if self.numbers[at].is_nan() {
                continue;
            }
            let length = self.whole_number(at, Code::InvalidOption, subject, 0, 8 * IDS as u64)?;
            let bytes = bytes.by_ref().take(usize::try_from(length).unwrap_or(0)).collect();
            *text = Some(String::from_utf8(bytes).map_err(|_| Error::bad_input(Code::InvalidOption, subject, Rule::APath))?);
        }
        Ok(texts)
    }

    /// The number in a slot. Through `get`: if the compiler cannot prove an index in bounds, indexing adds some 2 kB of panic code to the
    /// module.
    pub(super) fn number(&self, at: usize) -> f64 {
        self.numbers.get(at).copied().unwrap_or(f64::NAN)
    }

    /// Writes the number in a slot. Through `get_mut` for the same reason.
    pub(super) fn set_number(&mut self, at: usize, value: f64) {
        if let Some(number) = self.numbers.get_mut(at) {
            *number = value;
        }
    }

    pub(super) fn flag(&self, at: usize) -> bool {
        self.number(at) != 0.0
    }

    pub(super) fn whole_number(&self, at: usize, code: Code, subject: Subject, min: u64, max: u64) -> Result<u64> {
        whole_number(self.number(at), code, subject, min, max)
    }

    pub(super) fn optional_number(&self, given: usize, at: usize, subject: Subject, max: u64) -> Result<Option<u64>> {
        if !self.flag(given) {
            return Ok(None);
        }
        self.whole_number(at, Code::InvalidOption, subject, 0, max).map(Some)
    }
}

/// A number from the frame as an integer, which must be whole and within bounds.
pub(super) fn whole_number(value: f64, code: Code, subject: Subject, min: u64, max: u64) -> Result<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the comparison below refuses what the cast changed"
    )]
    let number = value as u64;
    #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "bounds are below 2^53, and only an exact match passes")]
    if number as f64 != value || number < min || number > max {
        return Err(Error::bad_input(code, subject, Rule::WholeNumber).with_bounds(min, max));
    }
    Ok(number)
}
