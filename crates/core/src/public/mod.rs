//! Texts of IDs for outsiders, which hide the time, the node and the number of IDs (feature `public`).
//!
//! | form | characters | refuses what was made without the key |
//! |---|---|---|
//! | [`Sealed`] | 22 | yes |
//! | [`Short`] | 11 | no |
//!
//! * **Deterministic**: an ID has one text for each key. Equal texts are equal IDs; the order of the IDs does not show.
//! * **A key for each kind**: a [`Key`] is derived for a form and a kind, such as `user`, so a text of one kind is none of another.
//! * **In constant time** as far as the crate `aes` is, on processors with and without instructions for AES. The digits of a text are not
//!   secret, so writing and reading them is not.
//! * **Keys can be exchanged**: a form has 1 to 16 different ones. The first one encodes, and each decodes.
//! * **No allocation** except for the keys of a form and a `String` that is returned.
//!
//! Not covered: access control, which a text that cannot be guessed does not replace; finding the key of a sealed text, since it does
//! not name it.
//!
//! Sources: FIPS 197 (AES); SP 800-38B (CMAC); SP 800-108r1, section 4.1 (derived keys); M. Bellare and P. Rogaway,
//! "Encode-then-encipher encryption", 2000 (`Sealed`); J. Patarin, "Security of random Feistel schemes with 5 or more rounds", 2004
//! (`Short`).

mod block;
mod cipher;
mod digits;
mod key;
mod network;
mod opened;
mod refusal;
mod ring;
mod sealed;
mod short;

#[cfg(feature = "abi")]
pub(crate) use key::KEY_WIDTH;
pub use key::{Derivation, Key};
#[cfg(feature = "abi")]
pub(crate) use opened::Opened;
#[cfg(feature = "abi")]
pub(crate) use refusal::{Checked, Refusal};
#[cfg(feature = "abi")]
pub(crate) use ring::{MAX_KEYS, NO_KEY, decode};
pub use sealed::Sealed;
pub use short::Short;
