//! The reference model that the vectors come from. It is written to be obviously right, and is slow.
//!
//! A layout is a list of fields, and an ID is taken apart by division. IDs are issued one after another; what was issued is a
//! tick, a clock id and the index within them, as numbers, and the generator keeps a set of every ID. There are no bit
//! operations on IDs, no packed state, and a block is what calls for one ID get.
//!
//! * **Shares no code with `crates/core`**: the named layouts, the error codes and the sentences of the rules are written out
//!   again. An error in them goes unnoticed only if it is made in both places.
//! * **Checks itself**: the generator panics if it repeats an ID, if a clock id goes back to an earlier tick, or if a refusal
//!   that waiting ends has no end.
//!
//! Not covered: input validation. The writers of the vectors state which input is refused and why.
//!
//! Sources: `docs/reference/layouts.md`, `docs/reference/text.md`, `docs/guides/recipes.md` (clock and sequence),
//! `docs/reference/errors.md`, `docs/guides/segments.md` (steps).

pub(crate) mod errors;
pub(crate) mod generator;
pub(crate) mod layout;
pub(crate) mod minting;
pub(crate) mod segment;
pub(crate) mod text;
