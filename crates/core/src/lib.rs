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

#[cfg(feature = "abi")]
pub mod abi;
mod asking;
mod ceiling;
mod clock;
mod error;
mod layout;
mod lease;
mod mint;
mod segment;
mod text;

pub use asking::{MAX_BACKOFF_MS, Nonce};
pub use ceiling::{CEILING_AHEAD_MS, CeilingGenerator, CeilingRow, CeilingRule};
#[cfg(feature = "std")]
pub use clock::SystemClock;
pub use clock::{Clock, ManualClock, millisecond_of};
pub use error::{Class, Code, Error, Result, Rule, Subject};
pub use layout::{Columns, Decoded, Field, FieldKind, Layout, LayoutSpec, Node, Parts, Plan};
pub use lease::{
    Asked, Change, Grant, Granted, Held, IdTime, Lease, LeaseRandom, LeaseStatus, LeaseTerms, LeasedGenerator, LeasedOptions,
    MAX_DRIFT_MS, Readings, Reason, Refusal, Release, Request, Taken,
};
pub use mint::{
    Block, ClockIds, ENDS_SOON_MS, Generator, GeneratorOptions, Health, Keeper, Key, MAX_COUNT, MAX_LEAD_MS, Machine, Outcome,
    Registry, Reservation, SequenceStart, ShortWay, StateAtomics, StateFile, Stats, Unshared, Window,
};
#[cfg(feature = "std")]
pub use mint::{Claim, DEFAULT_SCOPE};
pub use segment::{Allocated, MAX_SEGMENT_NUMBER, MAX_STEP, Segment, SegmentRange, SegmentRequest, SegmentStats, SegmentTerms};
pub use text::{ShortForm, TextForm};

/// The program of the README, which runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
