//! The block of sealed texts.

use super::cipher::Cipher;
use super::digits::{Limbs, bytes_of, limbs_of};

/// The digits of a text: 62^21 < 2^128 < 62^22.
pub(super) const WIDTH: usize = 22;

/// The block of an ID.
pub(super) fn number_of(cipher: &Cipher, id: u64) -> Limbs {
    let mut block = [0; 16];
    let (bytes, _) = block.split_at_mut(8);
    bytes.copy_from_slice(&id.to_be_bytes());
    cipher.encrypt(&mut block);
    limbs_of(&block)
}

/// The ID of a block, if that has 64 zero bits. All are compared at once, so the time tells nothing about a wrong text.
pub(super) fn id_of(cipher: &Cipher, number: Limbs) -> Option<u64> {
    let mut block = bytes_of(&number);
    cipher.decrypt(&mut block);
    let [high, low, zeros, more_zeros] = limbs_of(&block);
    (zeros | more_zeros == 0).then_some((u64::from(high) << 32) | u64::from(low))
}
