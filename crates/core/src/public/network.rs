//! The permutation of short texts: a Feistel network.

use super::cipher::Cipher;
use super::digits::{Limbs, limbs_of};

/// The digits of a text: 2^65 < 5 * 2^63 < 62^11.
pub(super) const WIDTH: usize = 11;

/// An even number, after which both halves are where they were, so that halves of different widths are no matter.
const ROUNDS: u8 = 12;

/// An alternating Feistel network over two halves of up to 32 bits, the lower one first. Each round replaces one half by its sum without
/// carries with a function of the other one, so it is undone by itself, and the network is a permutation of all numbers of its width.
#[derive(Clone, Copy)]
pub(super) struct Network {
    high_bits: u32,
    low_bits: u32,
}

impl Network {
    /// The width of the numbers.
    const fn bits(self) -> u32 {
        self.high_bits + self.low_bits
    }

    /// The largest number.
    const fn max(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// A round.
    #[expect(clippy::cast_possible_truncation, reason = "a half has at most 32 bits")]
    fn round(self, cipher: &Cipher, number: u64, round: u8) -> u64 {
        let low_mask = u64::MAX >> (64 - self.low_bits);
        if round.is_multiple_of(2) {
            let high_mask = u64::MAX >> (64 - self.high_bits);
            number ^ ((u64::from(half_of(cipher, self, round, (number & low_mask) as u32)) & high_mask) << self.low_bits)
        } else {
            number ^ (u64::from(half_of(cipher, self, round, (number >> self.low_bits) as u32)) & low_mask)
        }
    }

    /// Permutes a number, or restores it. One function of both, which is not inlined, for the size of the WebAssembly module.
    #[inline(never)]
    fn run(self, cipher: &Cipher, mut number: u64, rounds: u8, is_back: bool) -> u64 {
        for step in 0..rounds {
            number = self.round(cipher, number, if is_back { rounds - 1 - step } else { step });
        }
        number
    }
}

/// The last slot: 62^11 / 2^63 is 5.6, and 62^11 / 2^64 is 2.8.
pub(super) const fn last_slot(max_id: u64) -> u8 {
    if max_id >> 63 == 0 { 4 } else { 1 }
}

/// The network for a layout.
pub(super) const fn network_of(max_id: u64) -> Network {
    Network { high_bits: if max_id >> 63 == 0 { 31 } else { 32 }, low_bits: 32 }
}

/// The function of a round: the first four bytes of AES(width ‖ round ‖ ten zero bytes ‖ half).
#[inline(never)]
fn half_of(cipher: &Cipher, network: Network, round: u8, half: u32) -> u32 {
    let [a, b, c, d] = half.to_be_bytes();
    #[expect(clippy::cast_possible_truncation, reason = "63 or 64")]
    let width = network.bits() as u8;
    let mut block = [width, round, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d];
    cipher.encrypt(&mut block);
    let [first, ..] = limbs_of(&block);
    first
}

/// `slot * 2^bits + P(ID)`.
#[expect(clippy::cast_possible_truncation, reason = "the limbs of the number")]
pub(super) fn number_of(cipher: &Cipher, network: Network, slot: u32, id: u64) -> Limbs {
    let permuted = network.run(cipher, id, ROUNDS, false);
    // 63 bits, with the lowest bit of the slot above them; or 64.
    let (low, above) = match network.bits() {
        64 => (permuted, slot),
        bits => (permuted | (u64::from(slot) << bits), slot >> 1),
    };
    [0, above, (low >> 32) as u32, low as u32]
}

/// The ID of a number, which may be none of the layout; `None` if the number has another slot.
pub(super) fn id_of(cipher: &Cipher, network: Network, slot: u32, [_, above, high, low]: Limbs) -> Option<u64> {
    let low = (u64::from(high) << 32) | u64::from(low);
    // 11 digits have less than 2^66, so two bits above the low 64.
    let found = if network.bits() == 64 { above } else { (above << 1) | (high >> 31) };
    (found == slot).then(|| network.run(cipher, low & network.max(), ROUNDS, true))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn it_is_a_permutation_whatever_the_widths_are() {
        for (high_bits, low_bits) in [(1, 1), (1, 2), (4, 5), (5, 6), (6, 5), (7, 7), (7, 8), (8, 8)] {
            let (network, cipher) = (Network { high_bits, low_bits }, Cipher::new(&[7; 16]));
            let mut seen = vec![false; 1 << network.bits()];
            for number in 0..=network.max() {
                let permuted = network.run(&cipher, number, ROUNDS, false);
                assert_eq!(network.run(&cipher, permuted, ROUNDS, true), number);
                let index = usize::try_from(permuted).expect("at most 16 bits");
                assert!(!core::mem::replace(&mut seen[index], true), "{high_bits}|{low_bits}: {permuted} twice");
            }
        }
    }

    /// The most pairs of neighbours (`number`, `number` with one more bit) whose images differ by the same. With two rounds, a bit that is
    /// changed in the half which is replaced first passes through one round at most, so many images differ by one number alone.
    fn most_alike(rounds: u8, bit: u32) -> usize {
        let (network, cipher) = (Network { high_bits: 8, low_bits: 8 }, Cipher::new(&[7; 16]));
        let mut counts = vec![0; 1 << 16];
        for number in (0..=network.max()).filter(|number| number & (1 << bit) == 0) {
            let [one, other] = [number, number | (1 << bit)].map(|number| network.run(&cipher, number, rounds, false));
            let difference = one ^ other;
            counts[usize::try_from(difference).expect("16 bits")] += 1;
        }
        counts.into_iter().max().unwrap_or(0)
    }

    /// Of 32,768 pairs with 65,535 possible differences, a random permutation has each one half a time on average, and none 10 times: the
    /// probability of that is 65,535 * 0.5^10 / 10! * e^-0.5, which is below 2^-16.
    const TOO_MANY: usize = 10;

    #[test]
    fn no_difference_of_ids_shows_in_their_texts() {
        for bit in 0..16 {
            let most = most_alike(ROUNDS, bit);
            assert!(most < TOO_MANY, "bit {bit}: {most} pairs differ alike");
        }
    }

    #[test]
    fn two_rounds_are_told_from_a_random_permutation() {
        assert!((0..16).all(|bit| most_alike(2, bit) >= TOO_MANY));
    }
}
