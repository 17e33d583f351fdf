//! AES-128 (FIPS 197), and CMAC with it (SP 800-38B, RFC 4493).

use aes::Aes128;
use aes::cipher::{BlockCipherDecrypt as _, BlockCipherEncrypt as _, KeyInit as _};

/// The block cipher with one key, which is overwritten when it is dropped. In WebAssembly no call is inlined, for the size of the module.
pub(super) struct Cipher(Aes128);

impl Cipher {
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(super) fn new(key: &[u8; 16]) -> Self {
        Self(Aes128::new(key.into()))
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(super) fn encrypt(&self, block: &mut [u8; 16]) {
        self.0.encrypt_block(block.into());
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    pub(super) fn decrypt(&self, block: &mut [u8; 16]) {
        self.0.decrypt_block(block.into());
    }
}

/// Overwrites a key or a text of one.
pub(super) fn wipe(bytes: &mut [u8]) {
    #[cfg(not(target_arch = "wasm32"))]
    zeroize::Zeroize::zeroize(bytes);
    #[cfg(target_arch = "wasm32")]
    let _: &mut [u8] = bytes;
}

/// Twice a block as an element of GF(2^128), modulo x^128 + x^7 + x^2 + x + 1. Without a branch on the bits of the block.
fn double(block: &mut [u8; 16]) {
    let mut carry = (block[0] >> 7) * 0x87;
    for byte in block.iter_mut().rev() {
        (*byte, carry) = ((*byte << 1) ^ carry, *byte >> 7);
    }
}

/// Adds bytes to the start of a block, without carries.
#[cfg_attr(target_arch = "wasm32", inline(never))]
fn add(block: &mut [u8; 16], bytes: &[u8]) {
    for (place, byte) in block.iter_mut().zip(bytes) {
        *place ^= byte;
    }
}

/// The code of a message.
pub(super) fn cmac(key: &[u8; 16], message: &[u8]) -> [u8; 16] {
    let cipher = Cipher::new(key);
    let mut last = [0; 16];
    cipher.encrypt(&mut last);
    double(&mut last);
    // The last block may be full. Only an empty message has an empty one.
    let full = message.len().saturating_sub(1) / 16 * 16;
    let (blocks, rest) = message.split_at_checked(full).unwrap_or_default();
    if rest.len() < 16 {
        double(&mut last);
        if let Some(place) = last.get_mut(rest.len()) {
            *place ^= 0x80;
        }
    }
    let mut state = [0; 16];
    for block in blocks.chunks(16) {
        add(&mut state, block);
        cipher.encrypt(&mut state);
    }
    add(&mut state, rest);
    add(&mut state, &last);
    wipe(&mut last);
    cipher.encrypt(&mut state);
    state
}

#[cfg(test)]
mod tests {
    use super::cmac;

    /// NIST, "Block Cipher Modes of Operation: CMAC with AES-128" (the examples of SP 800-38B, also RFC 4493, section 4).
    #[test]
    fn the_known_answers_of_nist_are_met() {
        let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
        let mut message = [0; 64];
        for (block, number) in message.as_chunks_mut::<16>().0.iter_mut().zip([
            0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a_u128,
            0xae2d_8a57_1e03_ac9c_9eb7_6fac_45af_8e51,
            0x30c8_1c46_a35c_e411_e5fb_c119_1a0a_52ef,
            0xf69f_2445_df4f_9b17_ad2b_417b_e66c_3710,
        ]) {
            *block = number.to_be_bytes();
        }
        for (length, expected) in [
            (0, 0xbb1d_6929_e959_3728_7fa3_7d12_9b75_6746_u128),
            (16, 0x070a_16b4_6b4d_4144_f79b_dd9d_d04a_287c),
            (20, 0x7d85_449e_a6ea_19c8_23a7_bf78_837d_fade),
            (40, 0xdfa6_6747_de9a_e630_30ca_3261_1497_c827),
            (64, 0x51f0_bebf_7e3b_9d92_fc49_7417_7936_3cfe),
        ] {
            assert_eq!(u128::from_be_bytes(cmac(&key, &message[..length])), expected, "{length} bytes");
        }
    }
}
