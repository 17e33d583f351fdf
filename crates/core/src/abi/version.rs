//! A number that is equal on both sides if they have the same ABI.

use super::slots::SLOTS;
use crate::error::{Code, Rule, Subject};

/// Raise it with every change to the arguments or results of the calls, to the line slots (`line_slots.rs`), and to the first three numbers
/// of a state (`mint/state.rs`).
const CALLS: u32 = 13;

/// A hash of what both sides must agree on: the slots, the rules, the codes and the subjects, by name and number. Bindings and copies of
/// the package work together only if it is equal. Sentences may differ: each side has its own.
#[expect(clippy::cast_possible_truncation, reason = "the slots are few, and this is compiled, not run")]
pub const ABI: u32 = {
    let mut hash = CALLS;
    let mut at = 0;
    while at < SLOTS.len() {
        hash = with(hash, SLOTS[at].0, SLOTS[at].1 as u32);
        at += 1;
    }
    at = 0;
    while at < Rule::ALL.len() {
        hash = with(hash, Rule::NAMES[at], Rule::ALL[at] as u32);
        at += 1;
    }
    at = 0;
    while at < Code::ALL.len() {
        hash = with(hash, Code::ALL[at].name(), Code::ALL[at] as u32);
        at += 1;
    }
    at = 0;
    while at < Subject::ALL.len() {
        hash = with(hash, Subject::ALL[at].name(), Subject::ALL[at] as u32);
        at += 1;
    }
    hash
};

/// The hash with a name and its number.
const fn with(hash: u32, name: &str, number: u32) -> u32 {
    fnv_1a(fnv_1a(hash, name), "=").wrapping_add(number)
}

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

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use super::*;

    fn names_and_numbers() -> Vec<(String, u32)> {
        let slots = SLOTS.iter().map(|(name, slot)| ((*name).to_string(), u32::try_from(*slot).unwrap_or(u32::MAX)));
        let rules = Rule::ALL.iter().map(|rule| (alloc::format!("{rule:?}"), *rule as u32));
        let codes = Code::ALL.iter().map(|code| (code.name().to_string(), *code as u32));
        let subjects = Subject::ALL.iter().map(|subject| (subject.name().to_string(), *subject as u32));
        slots.chain(rules).chain(codes).chain(subjects).collect()
    }

    fn hash_of(list: &[(String, u32)]) -> u32 {
        list.iter().fold(CALLS, |hash, (name, number)| with(hash, name, *number))
    }

    #[test]
    fn it_comes_from_names_and_numbers_alone_so_a_sentence_may_change() {
        let list = names_and_numbers();
        assert_eq!(ABI, hash_of(&list));
        for at in 0..list.len() {
            let mut mutant = list.clone();
            mutant[at].0.push('x');
            assert_ne!(ABI, hash_of(&mutant), "{:?} has another name", list[at]);
            let mut mutant = list.clone();
            mutant[at].1 += 1;
            assert_ne!(ABI, hash_of(&mutant), "{:?} has another number", list[at]);
        }
    }
}
