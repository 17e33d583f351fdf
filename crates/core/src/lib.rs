//! Snowflake IDs: 64-bit, time-ordered, unique across machines as long as their node ids differ, and never repeated.
//!
//! The README at the top of the repository lists the cases in which no ID repeats, and those that are not covered.
//!
//! ```
//! use frazil::{GeneratorOptions, Layout, Node, Registry, SystemClock};
//!
//! let layout = Layout::named("default")?; // time 41, node 10, sequence 12
//! let ids = Registry::new().open(&layout, GeneratorOptions::new(Node::Id(7)))?;
//! let id = ids.next(&SystemClock)?;
//! assert_eq!(layout.decode(id)?.node, Some(7));
//! # Ok::<(), frazil::Error>(())
//! ```
//!
//! A [`Layout`] says what the bits mean, and answers questions about IDs without a generator. A [`Generator`] mints IDs: it takes
//! the time from a [`Clock`] and shares its state through a [`Registry`]. [`Machine`] is the algorithm alone, as a pure function.
//! A [`TextForm`] writes IDs as text and reads them.
//!
//! `no_std` with `alloc`; the feature `std` (on by default) adds `SystemClock`. Nothing is allocated on the minting path.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod backoff;
mod block;
mod ceiling;
#[cfg(feature = "std")]
mod claims;
mod clock;
mod clock_ids;
mod error;
mod generator;
mod id;
mod keeper;
mod layout;
mod lease;
mod leased;
mod machine;
mod options;
mod outcome;
#[cfg(feature = "page")]
pub mod page;
mod registry;
mod segment;
mod short_way;
mod start;
mod state;
mod state_key;
mod stats;
mod sync;
mod table;
mod text;
mod unshared;
mod window;

pub use backoff::MAX_BACKOFF_MS;
pub use block::Block;
pub use ceiling::{CEILING_AHEAD_MS, CeilingGenerator, CeilingRow, CeilingRule};
#[cfg(feature = "std")]
pub use claims::{Claim, DEFAULT_SCOPE};
#[cfg(feature = "std")]
pub use clock::SystemClock;
pub use clock::{Clock, ManualClock, millisecond_of};
pub use clock_ids::ClockIds;
pub use error::{Class, Code, Error, Result, Rule, Subject};
pub use generator::{Generator, MAX_COUNT, Reservation};
pub use id::{Columns, Decoded, Node, Parts};
pub use keeper::{Keeper, StateFile};
pub use layout::{Field, FieldKind, Layout, LayoutSpec, Plan};
pub use lease::{
    Change, Grant, Granted, Held, Lease, LeaseRandom, LeaseTerms, MIN_WINDOW_MS, MIN_WINDOW_TICKS, Nonce, Reason, Refusal,
    Release, Request,
};
pub use leased::{Asked, IdTime, LeaseStatus, LeasedGenerator, LeasedOptions, MAX_DRIFT_MS, Readings, Taken};
pub use machine::{MAX_LEAD_MS, Machine};
pub use options::GeneratorOptions;
pub use outcome::Outcome;
pub use registry::Registry;
pub use segment::{Allocated, MAX_SEGMENT_NUMBER, MAX_STEP, Segment, SegmentRange, SegmentRequest, SegmentStats, SegmentTerms};
pub use short_way::ShortWay;
pub use start::{Key, SequenceStart};
pub use state::StateAtomics;
pub use stats::{ENDS_SOON_MS, Health, Stats};
pub use text::{ShortForm, TextForm};
pub use unshared::Unshared;
pub use window::Window;

/// The program of the README, which runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
