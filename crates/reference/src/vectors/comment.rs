//! The `_comment` at the top of each file.

use serde_json::{Value, json};

/// The lines that every file has.
const PREAMBLE: &[&str] = &[
    "Written by `cargo run -p frazil-reference` from a reference model that shares no code with the core. Do not edit.",
    "IDs are decimal strings. Times (fields that end in Ms) are JSON numbers: milliseconds, Unix time unless a duration.",
    "A layout is a name: of a layout in `layouts` of the same file, else of one of the library's named layouts. A spec is { epochMs, tickMs, unsigned, fields: [{ kind, bits, name? }] }, the fields from the most to the least significant bit.",
    "An expected error is `code`, `field` (what it is about, in camelCase) and `rule` (numbers filled in); a test compares each of the three that is there. In JavaScript the field may be a part of a node (`node.worker` for `node`).",
    "`jsOnly: true` marks input that a caller in Rust cannot express: a fraction, a negative number, a wrong type, a missing argument.",
];

pub(super) fn comment(lines: &[&str]) -> Value {
    json!([PREAMBLE, lines].concat())
}
