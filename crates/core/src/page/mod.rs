//! The page of numbers through which the JavaScript bindings speak to the core (feature `page`).
//!
//! A call across the boundary passes numbers and returns a *status*: 0, [`RECHECK`], or the number of a
//! [`Code`]. Everything else lies in the page, at slots that both sides know by name; the JavaScript constants are
//! generated from [`SLOTS`]. So both bindings are a translation of [`Handles`], method by method, and hold no rule.
//!
//! * **Layout of the page**: [`NUMBERS`] 64-bit floats, then [`IDS`] unsigned 64-bit integers.
//! * **A layout crosses as numbers**: epoch, tick, unsigned, and a pair (kind, bits) for each field. Names stay outside.
//! * **Inputs are any number**: NaN, fractions and infinities are refused here with the rule that an integer would break.
//!
//! Not covered by semantic versioning: this module serves the bindings of the same version.

mod abi;
mod handles;
mod health;
#[cfg(feature = "std")]
mod local;
mod memory;
mod opening;
mod reservation;
mod slots;

pub use abi::ABI;
pub use handles::Handles;
#[cfg(feature = "std")]
pub use local::{LocalOpened, LocalOpening, LocalRequest, LocalState, is_scope};
pub use memory::{IDS, KEYLESS, NO_ID, Page, RECHECK};
pub use opening::{KINDS, STARTS};
pub use slots::{NUMBERS, SLOTS, slot};
