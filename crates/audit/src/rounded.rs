//! IDs that were a double for a while: JavaScript and spreadsheets keep 53 bits of a number.
//!
//! An ID with `k` bits more than a double holds comes back as a multiple of 2^k, or as the shortest decimal text of that double. Natural
//! IDs are multiples too if their sequence is 0, so only those with another sequence count: of these, one in 2^k is a multiple. And of the
//! multiples of 4 one in 25 is a multiple of 100, as most of the shortest texts are.

use crate::key::Keys;

const DOUBLE_BITS: u32 = 53;
/// With fewer bits too many natural IDs are multiples.
const LEAST_LOST_BITS: u32 = 4;
const LOST_BITS: usize = 11;
/// Hits below this, or below so many times what is expected, are none.
const LEAST_HITS: u64 = 20;
const LEAST_RATIO: f64 = 1.5;
/// Of the texts, as times that are not spread evenly over 25 ticks are not that rare.
const LEAST_TEXT_RATIO: f64 = 2.0;
/// How many bits of an ID a double does not keep.
pub(crate) const fn lost_bits(id: u64) -> u32 {
    (u64::BITS - DOUBLE_BITS).saturating_sub(id.leading_zeros())
}

/// How often a clean set has the finding, at most.
pub(crate) const FALSE_ALARM_RATE: f64 = 1e-6;

/// How many IDs could have been hit, by the bits they lose, and how many were.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hits {
    of: [u64; LOST_BITS],
    pub(crate) count: u64,
    /// The chance that a natural ID is hit, by the bits it loses.
    chance: fn(i32) -> f64,
    least_ratio: f64,
}

impl Hits {
    const fn new(chance: fn(i32) -> f64, least_ratio: f64) -> Self {
        Self { of: [0; LOST_BITS], count: 0, chance, least_ratio }
    }

    #[inline]
    fn add(&mut self, lost: u32, is_hit: bool) {
        self.of[lost as usize] += 1;
        self.count += u64::from(is_hit);
    }

    pub(crate) fn of(&self) -> u64 {
        self.of.iter().sum()
    }

    /// Whether a clean set has so many hits less often than the stated rate.
    pub(crate) fn is_unusual(&self) -> bool {
        let expected: f64 = self.of.iter().zip(0..).map(|(&of, lost)| of as f64 * (self.chance)(lost)).sum();
        let (of, count) = (self.of() as f64, self.count as f64);
        self.count >= LEAST_HITS && count >= self.least_ratio * expected && tail(of, count, expected / of) < FALSE_ALARM_RATE
    }
}

/// The chance of at least `hits` of `of`, if each is one with this chance: Chernoff's bound.
pub(crate) fn tail(of: f64, hits: f64, chance: f64) -> f64 {
    let share = hits / of;
    if share <= chance {
        return 1.0;
    }
    let part = |share: f64, chance: f64| if share <= 0.0 { 0.0 } else { share * (share / chance).ln() };
    (-of * (part(share, chance) + part(1.0 - share, 1.0 - chance))).exp()
}

#[derive(Clone, Debug)]
pub(crate) struct Rounded {
    /// IDs large enough to lose bits.
    pub(crate) large: u64,
    /// Those of them that a double is.
    pub(crate) doubles: u64,
    /// How many IDs lose so many bits.
    lost: [u64; LOST_BITS],
    pub(crate) multiples: Hits,
    /// IDs whose sequence is one or two below a multiple: of a sequence that counts there are no fewer than multiples.
    before: [u64; 2],
    pub(crate) texts: Hits,
    /// The last bits, but for the lowest two, of those that are texts.
    text_endings: u64,
}

impl Rounded {
    pub(crate) fn new() -> Self {
        Self {
            large: 0,
            doubles: 0,
            lost: [0; LOST_BITS],
            multiples: Hits::new(|lost| 0.5_f64.powi(lost), LEAST_RATIO),
            before: [0; 2],
            texts: Hits::new(|_| 0.04, LEAST_TEXT_RATIO),
            text_endings: 0,
        }
    }

    #[inline]
    pub(crate) fn row(&mut self, id: u64, keys: &Keys) {
        let lost = lost_bits(id);
        if lost < LEAST_LOST_BITS || lost as usize >= LOST_BITS {
            return;
        }
        self.large += 1;
        self.lost[lost as usize] += 1;
        let is_double = id & crate::key::ones(lost) == 0;
        self.doubles += u64::from(is_double);
        if keys.ends_in_sequence && id & crate::key::ones(keys.sequence_bits) != 0 && keys.sequence_bits > lost {
            self.multiples.add(lost, is_double);
            let to_next = crate::key::ones(lost) - (id & crate::key::ones(lost));
            if let Some(before) = self.before.get_mut(to_next as usize) {
                *before += 1;
            }
        }
        if !is_double && id.is_multiple_of(4) {
            let is_text = is_shortest(id);
            self.texts.add(lost, is_text);
            self.text_endings |= u64::from(is_text) << ((id >> 2) & 63);
        }
    }

    /// Whether there are more multiples than numbers next to them, which a sequence that counts must have passed, or drew as often.
    pub(crate) fn is_uneven(&self) -> bool {
        let (multiples, before) = (self.multiples.count as f64, self.before[0].max(self.before[1]) as f64);
        let all = multiples + before;
        self.multiples.count >= LEAST_HITS && multiples >= LEAST_RATIO * before && tail(all, multiples, 0.5) < FALSE_ALARM_RATE
    }

    /// Whether more IDs are texts than chance gives, and their last bits differ as those of rounded numbers do: IDs that are made in a
    /// steady rhythm may meet the same residue again and again, with the same sequence number.
    pub(crate) fn are_texts(&self) -> bool {
        let endings = (1_u64 << self.usual_lost().saturating_sub(2)).min(64);
        self.texts.is_unusual() && 2 * u64::from(self.text_endings.count_ones()) >= endings
    }

    /// How many bits most of the large IDs lose.
    pub(crate) fn usual_lost(&self) -> u32 {
        let most = self.lost.iter().enumerate().max_by_key(|(_, count)| **count);
        // At most LOST_BITS.
        most.map_or(0, |(lost, _)| lost as u32)
    }
}

/// Whether the decimal text of a number ends in two zeros and is the shortest one of the double next to it.
fn is_shortest(id: u64) -> bool {
    id.is_multiple_of(100) && format!("{}", id as f64) == format!("{id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_that_javascript_prints_is_recognised() {
        assert!(is_shortest(1_541_815_603_606_036_500));
        assert!(!is_shortest(1_541_815_603_606_036_480));
        assert!(!is_shortest(1_541_815_603_606_036_400));
    }

    #[test]
    fn a_bound_of_a_tail_is_above_the_tail() {
        // P(10 of 10 at 1/2) is 2^-10.
        assert!((tail(10.0, 10.0, 0.5) - 0.000_976_562_5).abs() < 1e-9);
        assert!(tail(10.0, 5.0, 0.5) >= 1.0);
    }
}
