//! The texts of errors, row by row: a message is one short fact, and a hint says what to do.

#![allow(clippy::unwrap_used, reason = "a test whose rows cannot be read has failed")]

use frazil::error::Rule;
use frazil::{Code, Error};

/// What is wrong with a message, if anything.
fn fault_of_message(message: &str) -> Option<&'static str> {
    [
        (message.contains('\n'), "more than one line"),
        (message.chars().count() > 120, "more than 120 characters"),
        (message.contains("Did you") || message.contains('?'), "a question, which belongs into the hint"),
        (
            message.ends_with('.')
                || message.chars().next().is_some_and(|first| {
                    first.is_uppercase() && !message.starts_with("IDs ") && !message.starts_with("WebAssembly ")
                }),
            "a sentence, and not a fact after a code",
        ),
    ]
    .into_iter()
    .find_map(|(is_wrong, why)| is_wrong.then_some(why))
}

/// What is wrong with a hint, if anything.
fn fault_of_hint(hint: &str) -> Option<&'static str> {
    match () {
        () if hint.contains('\n') => Some("more than one line"),
        () if !hint.is_empty() && !hint.ends_with(['.', '?']) => Some("no end of a sentence"),
        () => None,
    }
}

#[test]
fn each_message_is_one_short_fact_and_each_hint_is_sentences() {
    for code in Code::ALL {
        assert_eq!(fault_of_message(code.meaning()), None, "{code:?}");
    }
    for rule in Rule::ALL {
        assert_eq!(fault_of_message(rule.template()), None, "{rule:?}");
        assert_eq!(fault_of_hint(rule.hint()), None, "{rule:?}");
    }
}

#[test]
fn texts_of_other_kinds_are_found() {
    for wrong in ["must be\ngiven", &"x".repeat(121), "is not known. Did you mean node?", "The clock went back", "it went back."]
    {
        assert!(fault_of_message(wrong).is_some(), "{wrong}");
    }
    assert!(fault_of_hint("Wait\nfor it.").is_some() && fault_of_hint("Wait for it").is_some());
}

/// TypeScript reads the same rows (`tests-js/base/errors.test.mjs`).
#[test]
fn a_hint_says_waits_in_the_units_of_typescript() {
    for row in include_str!("waits.txt").lines() {
        let (ms, wait) = row.split_once(' ').unwrap();
        let error = Error::retry_after(Code::ClockBackward, ms.parse().unwrap());
        assert_eq!(error.hint().unwrap().to_string(), format!("Retry after {wait}."));
    }
}
