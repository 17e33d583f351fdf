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
//! A [`Layout`] says what the bits mean, and answers questions about IDs without a generator. A [`Generator`] mints IDs: it takes the time
//! from a [`Clock`] and shares its state through a [`Registry`]. [`mint::Machine`] is the algorithm alone, as a pure function. A
//! [`TextForm`] writes IDs as text and reads them. The common types are at the root; everything else is in the module of its subject.
//!
//! `no_std` with `alloc`; the feature `std` (on by default) adds `SystemClock`. Nothing is allocated on the minting path.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "abi")]
pub mod abi;
pub mod asking;
pub mod ceiling;
pub mod clock;
pub mod error;
pub mod layout;
pub mod lease;
pub mod mint;
#[cfg(feature = "public")]
pub mod public;
pub mod segment;
pub mod text;

pub use clock::Clock;
#[cfg(feature = "std")]
pub use clock::SystemClock;
pub use error::{Code, Error, Result};
pub use layout::{Decoded, Layout, Node};
pub use mint::{Generator, GeneratorOptions, Registry};
pub use text::TextForm;

/// The program of the README, which runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
