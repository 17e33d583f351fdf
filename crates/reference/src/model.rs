//! The reference model that the vectors come from: slow, plain, and independent of the core.
//!
//! Fields are a list, an ID is taken apart by division, and the generator keeps the tick and the count within the tick as
//! numbers, issues one ID after another, and looks for a free clock id among everything it issued. Nothing here is shared
//! with `crates/core`: the named layouts, the codes and the sentences of the rules are written out again. So an error would
//! have to be made twice to go unseen.

pub(crate) mod errors;
pub(crate) mod generator;
pub(crate) mod layout;
pub(crate) mod text;
