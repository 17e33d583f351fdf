//! The reference model that the vectors come from. It is written to be obviously right, and is slow.
//!
//! A layout is a list of fields, and an ID is taken apart by division. The generator issues one ID after another, keeps the
//! tick, the clock id and the index within them as numbers, and keeps a set of every ID that it issued. It has no bit
//! operations on IDs, no packed state and no blocks.
//!
//! * **Shares no code with `crates/core`**: the named layouts, the error codes and the sentences of the rules are written out
//!   again. An error in them goes unnoticed only if it is made in both places.
//! * **Checks itself**: the generator panics if it repeats an ID, if a clock id goes back to an earlier tick, or if a refusal
//!   that waiting ends has no end.
//!
//! Not covered: input validation. The writers of the vectors state which input is refused and why.
//!
//! Sources: `docs/layouts.md`, `docs/text.md`, `docs/recipes.md` (clock and sequence), `docs/api.md` (errors),
//! `docs/segments.md` (steps).

pub(crate) mod errors;
pub(crate) mod generator;
pub(crate) mod layout;
pub(crate) mod segment;
pub(crate) mod text;
