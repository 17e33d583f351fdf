//! What the 64 bits of an ID mean.
//!
//! A [`Layout`] is a list of fields from the most to the least significant bit, in any order, plus the epoch and the
//! length of a tick:
//!
//! * **time** (exactly one): ticks since the epoch; at most 52 bits in practice, since the last tick must be a time that
//!   a JavaScript `Date` can hold (8.64e15 ms).
//! * **sequence** (exactly one): 1 to 53 bits, counted within a tick.
//! * **node** (any number of named parts): together, in order, the node id; at most 32 bits.
//! * **clock** (at most one): the clock id of the multi-clock snowflake; 1 to 8 bits.
//!
//! The widths add up to at most 63 bits, so that an ID fits a signed 64-bit column and stays positive, or to 64 when the
//! layout is `unsigned`.
//!
//! * **Checked once**: a `Layout` that exists obeys every rule. Nothing is masked or clamped later.
//! * **Independent**: decoding needs neither a generator nor a node id.
//! * Not covered: fields that hold anything else (a version, a random tail). Give such bits to a node part.
//!
//! Sources: Twitter's Snowflake (2010), Discord's and Mastodon's API references, Instagram's "Sharding & IDs" (2012),
//! Sonyflake, Baidu UidGenerator, Meituan Leaf, Seata's improved snowflake, TSID, CosId, the multi-clock snowflake.

mod definition;
mod field;
mod geometry;
mod id;
mod named;

pub use definition::{Layout, LayoutSpec, Plan};
#[cfg(all(feature = "abi", feature = "std"))]
pub(crate) use field::is_name;
pub use field::{Field, FieldKind};
pub(crate) use geometry::{Geometry, MAX_SAFE_INTEGER};
#[cfg(feature = "abi")]
pub(crate) use geometry::{SECONDS_END, SECONDS_START};
pub use id::{Columns, Decoded, Node, Parts};
