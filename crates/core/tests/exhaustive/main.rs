//! Exhaustive instead of random: compares `Machine::reserve` with the model for each word, cell, window, clock reading, lead and
//! want of small layouts; and explores every history of small systems, in which no ID may be issued twice.
//!
//! The model (`crates/reference/src/model/minting.rs`) finds a block by asking for single IDs. The end of a wait is found here, by
//! asking it at each millisecond.
//!
//! The model determines every outcome. Two more properties of the machine's answer are checked: without a clock field a
//! reservation lies at or above the word, and with one it does not reach beyond its tick and clock id.
//!
//! A build without optimisation checks only the smallest layouts; `npm test -- exhaustive` checks all.
//!
//! docs/internals/claims.md: 1, 2, 6, 7, 8, 9
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

mod call;
mod comparison;
mod histories;
#[path = "../model/mod.rs"]
mod model;
mod mutants;
mod spaces;
mod word;

use crate::call::Call;
use crate::comparison::check;
use crate::spaces::{complete_spaces, edges, smallest, ten_bits};

/// The least number of calls that CI compares.
const MIN_CALLS: u64 = 100_000_000;
/// The longest block that the model walks.
const MAX_WALK: usize = 300;
/// The halves of the key from which keyed starts are computed.
const KEY: [u64; 2] = [1, 2];

#[test]
fn every_call_of_the_smallest_layouts_has_the_outcome_of_the_model() {
    let count = check(&smallest(), |call: Call<'_>| call.reserve()).unwrap();
    assert!(count > 1_000_000, "{count}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "needs a build with optimisation: npm test -- exhaustive")]
#[expect(clippy::print_stdout, reason = "CI shows how much was compared")]
fn every_call_of_every_state_has_the_outcome_of_the_model() {
    let mut all = 0;
    for (name, spaces) in [complete_spaces(), ten_bits(), edges()].concat() {
        let count = check(&spaces, |call: Call<'_>| call.reserve()).unwrap();
        println!("{count:>13} calls: {name}");
        all += count;
    }
    println!("{all:>13} calls in all");
    assert!(all >= MIN_CALLS, "{all} calls are fewer than {MIN_CALLS}");
}
