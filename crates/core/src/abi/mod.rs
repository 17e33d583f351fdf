//! The frame: memory that the core and JavaScript share, and the calls on it (feature `abi`).
//!
//! A call across the boundary passes numbers and returns a *status*: 0, [`RECHECK`], [`KEYLESS`], or the number of a [`Code`](crate::Code).
//! Everything else is in the frame, in named slots; the JavaScript constants are generated from [`SLOTS`]. So both bindings translate
//! [`Handles`] method by method and contain no rule.
//!
//! * **Layout of the frame**: [`NUMBERS`] 64-bit floats, then [`IDS`] unsigned 64-bit integers. The floats have a range of slots
//!   for each feature (`slots.rs`).
//! * **A layout crosses as numbers**: epoch, tick, unsigned, and a pair (kind, bits) for each field. Names do not cross.
//! * **Inputs are any number**: NaN, fractions and infinities are refused here by the same rule as an integer out of
//!   range.
//! * **A file for each feature** (`opening.rs`, `reservation.rs`, `lease.rs` and so on) reads and writes its slots; `line.rs` covers what
//!   TypeScript does without a call. A new feature gets a range of slots and a file like these.
//!
//! Not covered by semantic versioning: this module serves the bindings of the same version.

mod calls;
mod ceiling;
mod frame;
mod handles;
mod health;
mod lease;
mod line;
mod line_slots;
#[cfg(feature = "std")]
mod local;
mod opening;
#[cfg(feature = "public")]
mod public;
mod reservation;
mod segment;
mod slots;
mod version;

pub use ceiling::{CEILING_CALLS, ceiling_call};
pub use frame::{Frame, IDS, KEYLESS, RECHECK};
pub use handles::Handles;
pub use lease::{
    LEASE_CALLS, LEASE_CHANGES, LEASE_REASONS, LEASE_REQUESTS, lease_call, lease_change, lease_reason, lease_request,
};
#[cfg(feature = "std")]
pub use local::{LocalOpened, LocalOpening, LocalRequest, LocalState, is_scope};
pub use opening::{IN_SECONDS, KINDS, MAX_WAIT_MS};
#[cfg(feature = "public")]
pub use public::{KIND_AT, PUBLIC_PLACES, PublicFrame};
pub use segment::{SEGMENT_CALLS, SEGMENT_REQUESTS, segment_call, segment_request};
pub use slots::{NUMBERS, SLOTS, slot};
pub use version::ABI;

pub use crate::mint::Line;
#[cfg(all(feature = "std", not(frazil_loom)))]
pub use crate::mint::LineMemory;
