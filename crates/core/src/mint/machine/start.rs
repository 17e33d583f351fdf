//! Where the sequence starts in a new tick.
//!
//! If the sequence always starts at 0, almost every ID of a lightly loaded generator ends in 0. That is bad for `id % shards` and for
//! range-partitioned stores, and it reveals how many IDs are minted. A start that cannot be predicted avoids this: SipHash-2-4 of the tick
//! and clock id, under a [`Key`] that is drawn at random once for each state.
//!
//! * **No memory**: the start is a function of the tick, the clock id and the key, so the state stays one word.
//! * **Unpredictable**: SipHash is a keyed pseudorandom function, so known starts say nothing about the next.
//! * Not covered: hiding the number of IDs *within* a tick. The difference between two IDs of one tick shows it.
//!
//! Sources: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012); Leaf and CosId, whose starts come from a small
//! random range and from a counter.

use core::fmt;

use siphasher::sip::SipHasher24;

use crate::error::{Code, Error, Result, Rule, Subject};

/// Where the sequence starts when a generator moves to a new tick.
///
/// ```
/// use frazil::mint::SequenceStart;
/// assert_eq!(SequenceStart::ALL.map(SequenceStart::name), ["zero", "random", "wrap"]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SequenceStart {
    /// At 0. Full capacity, strictly increasing.
    #[default]
    Zero,
    /// At a keyed hash of the tick, within the lowest quarter of the sequence. A tick that is entered because the one before was
    /// full starts at 0. At least three quarters of the capacity, strictly increasing. A sequence of one or two bits is too short
    /// for a quarter and starts at 0.
    Random,
    /// At a keyed hash of the tick, anywhere in the sequence, which then wraps: full capacity, but IDs of one tick are not in
    /// order.
    Wrap,
}

impl SequenceStart {
    /// All of them, in the order of their numbers, as the frame and state files hold them.
    pub const ALL: [Self; 3] = [Self::Zero, Self::Random, Self::Wrap];

    /// The name it has in JavaScript.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::Random => "random",
            Self::Wrap => "wrap",
        }
    }
}

/// The secret that starts are computed with: 128 bits, drawn at random. `Debug` does not print it.
///
/// ```
/// use frazil::mint::Key;
/// assert_eq!(format!("{:?}", Key::new(1, 2)), "Key");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key(pub(crate) u64, pub(crate) u64);

impl Key {
    /// A key of two halves, which must come from a cryptographic source of randomness. A half of 0 counts as missing.
    #[must_use]
    pub const fn new(high: u64, low: u64) -> Self {
        Self(high, low)
    }

    /// The two halves, for storing them with a state. They are secret.
    #[must_use]
    pub const fn halves(self) -> [u64; 2] {
        [self.0, self.1]
    }

    /// A key from the operating system's entropy, by way of the standard library's hash maps.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn random() -> Self {
        use std::hash::{BuildHasher, RandomState};
        // Each `RandomState` is a keyed hash with its own key, and its key cannot be read, so its hash serves as random bits.
        let half = |number: u64| RandomState::new().hash_one(number).max(1);
        Self(half(1), half(2))
    }

    /// The key that was given, or one drawn at random if that is possible here.
    pub(crate) fn given_or_drawn(given: Option<Self>) -> Result<Self> {
        #[cfg(feature = "std")]
        let given = given.or_else(|| Some(Self::random()));
        let whole = given.filter(|key| key.0 != 0 && key.1 != 0);
        whole.ok_or(Error::bad_input(Code::InvalidOption, Subject::SequenceStart, Rule::StartKey))
    }

    /// A number for a tick and clock id that cannot be predicted without the key.
    #[inline(never)] // it is large, and called a few times in a tick
    pub(crate) fn hash(self, pair: u64) -> u64 {
        SipHasher24::new_with_keys(self.0, self.1).hash(&pair.to_le_bytes())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}
