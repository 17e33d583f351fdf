//! Short texts: IDs permuted by a Feistel network.

use alloc::borrow::ToOwned;
use alloc::string::String;

use super::cipher::Cipher;
use super::digits::{Limbs, limbs_of};
use super::key::Key;
use super::opened::Opened;
use super::refusal::{Checked, Refusal};
use crate::error::{Result, Rule};
use crate::layout::Layout;

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

    /// A round, of the function `f` of the round and the other half.
    #[expect(clippy::cast_possible_truncation, reason = "a half has at most 32 bits")]
    fn round(self, number: u64, round: u8, f: impl Fn(u8, u32) -> u32) -> u64 {
        let low_mask = u64::MAX >> (64 - self.low_bits);
        if round.is_multiple_of(2) {
            let high_mask = u64::MAX >> (64 - self.high_bits);
            number ^ ((u64::from(f(round, (number & low_mask) as u32)) & high_mask) << self.low_bits)
        } else {
            number ^ (u64::from(f(round, (number >> self.low_bits) as u32)) & low_mask)
        }
    }

    fn permute(self, number: u64, rounds: u8, f: impl Fn(u8, u32) -> u32 + Copy) -> u64 {
        (0..rounds).fold(number, |number, round| self.round(number, round, f))
    }

    fn restore(self, number: u64, rounds: u8, f: impl Fn(u8, u32) -> u32 + Copy) -> u64 {
        (0..rounds).rev().fold(number, |number, round| self.round(number, round, f))
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
    let permuted = network.permute(id, ROUNDS, |round, half| half_of(cipher, network, round, half));
    // 63 bits, with the lowest bit of the slot above them; or 64.
    let (low, above) = match network.bits() {
        64 => (permuted, slot),
        bits => (permuted | (u64::from(slot) << bits), slot >> 1),
    };
    [0, above, (low >> 32) as u32, low as u32]
}

/// The ID of a number, which may be none of the layout.
pub(super) fn id_of(cipher: &Cipher, network: Network, slot: u32, [_, above, high, low]: Limbs) -> Checked<Option<u64>> {
    let low = (u64::from(high) << 32) | u64::from(low);
    // 11 digits have less than 2^66, so two bits above the low 64.
    let found = if network.bits() == 64 { above } else { (above << 1) | (high >> 31) };
    if found != slot {
        return Err(Refusal::new(Rule::ShortSlot));
    }
    Ok(Some(network.restore(low & network.max(), ROUNDS, |round, half| half_of(cipher, network, round, half))))
}

/// Writes IDs of one kind as texts of 11 characters, and reads them.
///
/// This type is:
///
/// * **Hiding**: a text does not show the ID. The bounds known for such networks hold for well under 2^31 texts of known IDs; no attack is
///   known that would be practical.
/// * **Not checked**: any text of a slot that is used opens to some ID. Whoever guesses one gets an ID, though probably none that exists.
///   For texts that cannot be made up, use [`Sealed`](super::Sealed).
/// * **Canonical**: in a slot, an ID has one text.
///
/// A text of a layout of up to 63 bits is slot * 2^63 + P(ID) in base 62, where P permutes the numbers of 63 bits; with 64 bits it is
/// slot * 2^64 + P(ID). A slot is the number of a key that texts show, so that several keys can be in use. Never use one again for another
/// key while its texts exist.
///
/// ```
/// use frazil::Layout;
/// use frazil::public::{Key, Short};
/// let orders = Short::new(&Key::from_bytes([1; 16]), "order", &Layout::named("default")?, 0)?;
/// let text = orders.encode(382_138_004_275_228_672)?;
/// assert_eq!(text.len(), Short::WIDTH);
/// assert_eq!(orders.decode(&text)?, 382_138_004_275_228_672);
/// # Ok::<(), frazil::Error>(())
/// ```
pub struct Short(Opened);

impl Short {
    /// How many characters a text has: 2^65 < 5 * 2^63 < 62^11.
    pub const WIDTH: usize = 11;

    /// The texts of a kind of IDs. `slot`: 0 to 4, in layouts of 64 bits 0 or 1.
    ///
    /// # Errors
    /// `INVALID_OPTION` for a kind that [`Key::derive`] refuses, and for another slot.
    pub fn new(key: &Key, kind: &str, layout: &Layout, slot: u32) -> Result<Self> {
        let opened = Opened::new(key, kind.as_bytes(), layout.max_id(), Some(slot));
        opened.map(Self).map_err(|refusal| refusal.of(slot.into(), 0))
    }

    /// The text of an ID.
    ///
    /// # Errors
    /// `INVALID_ID` if the layout has no such ID.
    pub fn encode(&self, id: u64) -> Result<String> {
        self.encode_into(id, &mut [0; Self::WIDTH]).map(ToOwned::to_owned)
    }

    /// The text of an ID in the caller's memory, without allocating.
    ///
    /// # Errors
    /// `INVALID_ID` if the layout has no such ID.
    pub fn encode_into<'a>(&self, id: u64, room: &'a mut [u8; Self::WIDTH]) -> Result<&'a str> {
        self.0.encode_into(id, room)
    }

    /// The ID of a text.
    ///
    /// # Errors
    /// `INVALID_TEXT` if the text has not exactly 11 digits, with the position of the first wrong byte; if it has another slot; and if its
    /// number is no ID of the layout.
    pub fn decode(&self, text: &str) -> Result<u64> {
        self.0.decode_text(text)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::super::cipher::Cipher;
    use super::*;

    /// The network of other widths, with the same rounds and their function.
    fn network(high_bits: u32, low_bits: u32) -> (Network, impl Fn(u8, u32) -> u32 + Copy) {
        let (network, cipher) = (Network { high_bits, low_bits }, &*alloc::boxed::Box::leak(Cipher::new(&[7; 16]).into()));
        (network, move |round, half| half_of(cipher, network, round, half))
    }

    #[test]
    fn it_is_a_permutation_whatever_the_widths_are() {
        for (high_bits, low_bits) in [(1, 1), (1, 2), (4, 5), (5, 6), (6, 5), (7, 7), (7, 8), (8, 8)] {
            let (network, f) = network(high_bits, low_bits);
            let mut seen = vec![false; 1 << network.bits()];
            for number in 0..=network.max() {
                let permuted = network.permute(number, ROUNDS, f);
                assert_eq!(network.restore(permuted, ROUNDS, f), number);
                let index = usize::try_from(permuted).expect("at most 16 bits");
                assert!(!core::mem::replace(&mut seen[index], true), "{high_bits}|{low_bits}: {permuted} twice");
            }
        }
    }

    /// The most pairs of neighbours (`number`, `number` with one more bit) whose images differ by the same. With two rounds, a bit that is
    /// changed in the half which is replaced first passes through one round at most, so many images differ by one number alone.
    fn most_alike(rounds: u8, bit: u32) -> usize {
        let (network, f) = network(8, 8);
        let mut counts = vec![0; 1 << 16];
        for number in (0..=network.max()).filter(|number| number & (1 << bit) == 0) {
            let difference = network.permute(number, rounds, f) ^ network.permute(number | (1 << bit), rounds, f);
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
