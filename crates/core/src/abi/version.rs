//! The number that tells whether two sides of the page agree.

use super::slots::SLOTS;
use crate::error::{Code, Rule, Subject};

/// A hash of what both sides must agree on: the slots, the rules, the codes and the subjects, by name and number. Bindings and
/// copies of the package work together if it is equal, and refuse each other if it is not. Raise `CALLS` with every change to
/// what the calls take or return.
///
/// ```
/// assert_ne!(frazil::abi::ABI, 0);
/// ```
#[expect(clippy::cast_possible_truncation, reason = "the slots are few, and this is compiled, not run")]
pub const ABI: u32 = {
    const CALLS: u32 = 9;
    let mut hash = CALLS;
    let mut at = 0;
    while at < SLOTS.len() {
        hash = fnv_1a(fnv_1a(hash, SLOTS[at].0), "=").wrapping_add(SLOTS[at].1 as u32);
        at += 1;
    }
    at = 0;
    while at < Rule::ALL.len() {
        hash = fnv_1a(hash, Rule::ALL[at].template());
        at += 1;
    }
    at = 0;
    while at < Code::ALL.len() {
        hash = fnv_1a(hash, Code::ALL[at].name());
        at += 1;
    }
    at = 0;
    while at < Subject::ALL.len() {
        hash = fnv_1a(hash, Subject::ALL[at].name());
        at += 1;
    }
    hash
};

/// FNV-1a over a text. It runs while compiling.
const fn fnv_1a(mut hash: u32, text: &str) -> u32 {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(16_777_619);
        at += 1;
    }
    hash
}
