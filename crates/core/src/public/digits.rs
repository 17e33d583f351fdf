//! Numbers of up to 128 bits in base 62, 32 bits at a time: 128-bit arithmetic would bring 2 kB into the WebAssembly module.

use super::refusal::{Checked, Refusal};
use crate::error::Rule;

/// As many digits as 32 bits hold: 62^5 < 2^30.
const CHUNK: usize = 5;
const CHUNK_VALUE: u64 = 62_u64.pow(5);

/// The digits as in [`TextForm::Base62`](crate::TextForm::Base62), by arithmetic: the tables of that form would be a tenth of the
/// WebAssembly module.
const fn digit(value: u8) -> u8 {
    match value {
        0..10 => b'0' + value,
        10..36 => b'A' - 10 + value,
        _ => b'a' - 36 + value,
    }
}

const fn value_of(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'Z' => Some(digit - (b'A' - 10)),
        b'a'..=b'z' => Some(digit - (b'a' - 36)),
        _ => None,
    }
}

/// A number, its most significant 32 bits first.
pub(super) type Limbs = [u32; 4];

/// The number in big-endian bytes.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(super) fn limbs_of(bytes: &[u8; 16]) -> Limbs {
    let mut limbs = [0; 4];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *limb = u32::from_be_bytes(*bytes);
    }
    limbs
}

/// The big-endian bytes of a number.
#[cfg_attr(target_arch = "wasm32", inline(never))]
pub(super) fn bytes_of(limbs: &Limbs) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (bytes, limb) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(limbs) {
        *bytes = limb.to_be_bytes();
    }
    bytes
}

/// Writes the digits of a number, as many as there is room for, with leading zeros.
#[expect(clippy::cast_possible_truncation, reason = "a quotient below 2^32, because what is divided is below CHUNK_VALUE * 2^32")]
#[inline(never)] // for the size of the WebAssembly module
pub(super) fn write(mut number: Limbs, text: &mut [u8]) {
    for chunk in text.rchunks_mut(CHUNK) {
        let mut rest = 0;
        for limb in &mut number {
            let dividend = (rest << 32) | u64::from(*limb);
            *limb = (dividend / CHUNK_VALUE) as u32;
            rest = dividend % CHUNK_VALUE;
        }
        let mut rest = rest as u32;
        for place in chunk.iter_mut().rev() {
            *place = digit((rest % 62) as u8);
            rest /= 62;
        }
    }
}

/// The number of a text of exactly `width` digits, or `None` if it has more than 128 bits.
///
/// # Errors
/// As [`TextForm::decode`](crate::TextForm::decode).
#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits are the limb, and the high ones are carried")]
#[inline(never)]
pub(super) fn read(text: &[u8], width: usize) -> Checked<Option<Limbs>> {
    let (mut number, mut is_too_large) = ([0; 4], false);
    for (at, byte) in text.iter().enumerate() {
        if at == width {
            return Err(Refusal::at(Rule::TextLength, at));
        }
        let Some(value) = value_of(*byte) else { return Err(Refusal::at(Rule::TextBase62, at)) };
        let mut carry = u64::from(value);
        for limb in number.iter_mut().rev() {
            carry += u64::from(*limb) * 62;
            *limb = carry as u32;
            carry >>= 32;
        }
        is_too_large |= carry != 0;
    }
    if text.len() < width {
        return Err(Refusal::at(Rule::TextLength, text.len()));
    }
    Ok((!is_too_large).then_some(number))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{bytes_of, limbs_of, read, write};

    /// The digits by 128-bit arithmetic, which this module avoids.
    fn digits(mut number: u128) -> [u8; 22] {
        let mut text = [0; 22];
        for place in text.iter_mut().rev() {
            *place = crate::TextForm::Base62.alphabet().as_bytes()[(number % 62) as usize];
            number /= 62;
        }
        text
    }

    proptest! {
        #[test]
        fn numbers_are_written_and_read_as_by_128_bit_arithmetic(number: u128, shift in 0_u32..128) {
            let number = number >> shift;
            let mut text = [0; 22];
            write(limbs_of(&number.to_be_bytes()), &mut text);
            prop_assert_eq!(text, digits(number));
            prop_assert_eq!(read(&text, 22).expect("digits").map(|limbs| bytes_of(&limbs)), Some(number.to_be_bytes()));
        }
    }

    #[test]
    fn the_digits_are_those_of_the_form() {
        let alphabet = crate::TextForm::Base62.alphabet().as_bytes();
        for byte in 0..=u8::MAX {
            let value = alphabet.iter().position(|digit| *digit == byte);
            assert_eq!(super::value_of(byte).map(usize::from), value);
            assert!(value.is_none_or(|value| u8::try_from(value).is_ok_and(|value| super::digit(value) == byte)));
        }
    }

    #[test]
    fn the_largest_number_is_read_and_the_next_one_is_not() {
        let mut text = digits(u128::MAX);
        assert_eq!(&text, b"7n42DGM5Tflk9n8mt7Fhc7");
        assert_eq!(read(&text, 22).expect("digits"), Some([u32::MAX; 4]));
        text[21] += 1;
        assert_eq!(read(&text, 22).expect("digits"), None);
        assert_eq!(read(&[b'z'; 22], 22).expect("digits"), None);
    }
}
