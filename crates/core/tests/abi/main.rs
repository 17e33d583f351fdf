//! The handle table that the bindings call: the vectors through the frame, handles, and numbers that are not valid.
#![allow(clippy::unwrap_used, reason = "a test that cannot read its case has failed")]
#![allow(clippy::float_cmp, reason = "whole numbers that one side put there and the other reads")]

mod ceiling;
mod handles;
mod host;
mod numbers;
mod random;
mod reservations;
#[path = "../vector_files/mod.rs"]
mod vector_files;
mod vectors;

/// A time in the layout `default`.
const NOW_MS: f64 = 1_750_000_000_000.0;
