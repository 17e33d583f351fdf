//! The table of what the calls for public IDs answer with, and the places of their frame.

use std::fmt::Write as _;

use frazil::abi::PUBLIC_PLACES;
use frazil::error::Rule;

use super::text::{HEADER, constant_name};

/// The rules that their input can break, but for the range of an ID and the count of keys: JavaScript checks those before.
const PUBLIC_RULES: &[Rule] = &[
    Rule::WholeNumber,
    Rule::TextLength,
    Rule::TextBase62,
    Rule::KeyText,
    Rule::KeyChecksum,
    Rule::KindSyntax,
    Rule::SealedText,
    Rule::ShortSlot,
    Rule::KeyFilled,
    Rule::OtherKey,
    Rule::OtherSlot,
];

pub(super) fn tables() -> String {
    let mut text = format!(
        "{HEADER}import {{ Rule }} from \"./rules.js\";\n\n\
         /** What the calls for public IDs answer with. */\n\
         export enum Status {{\n"
    );
    let names = PUBLIC_RULES.iter().map(|rule| (constant_name(&format!("{rule:?}")), *rule as u8)).collect::<Vec<_>>();
    for (name, status) in &names {
        let _ = writeln!(text, "  {name} = {status},");
    }
    text.push_str("}\n\n/** The rules of those. */\nexport const RULES: { readonly [status: number]: Rule } = {\n");
    for (name, _) in &names {
        let _ = writeln!(text, "  [Status.{name}]: Rule.{name},");
    }
    text.push_str("};\n\n/** The places and widths of the frame of public IDs, in bytes. */\nexport enum Place {\n");
    for (name, place) in PUBLIC_PLACES {
        let _ = writeln!(text, "  {name} = {place},");
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use frazil::abi::{KIND_AT, PublicFrame};

    use super::{PUBLIC_RULES, Rule};

    const TEXTS: [&str; 7] = ["", "user", "User", "frazilkey_", "0000000000000000000000", "zzzzzzzzzzz", "0000000000"];

    #[test]
    fn the_table_is_what_the_calls_answer_with() {
        let mut seen = BTreeSet::new();
        let mut frame = PublicFrame::new();
        let mut opens = |key: &[u8], slot, at| {
            frame.text[..key.len()].copy_from_slice(key);
            frame.text[KIND_AT..KIND_AT + 4].copy_from_slice(b"user");
            seen.insert(frame.open(0, 4, 63, slot, at));
        };
        for (key, slot, at) in [(0, 0, 0), (1, 0, 0), (2, 0, 1), (1, 1, 1)] {
            opens(&[0, key], slot, at);
        }
        for key in [0, 1, 38] {
            for kind in TEXTS {
                for (bits, slot) in [(63, -1), (63, 0), (63, 5), (64, 1), (64, 2), (1, -1)] {
                    for text in TEXTS {
                        frame.text[..38].copy_from_slice(b"frazilkey_0000000000000000000000000000");
                        frame.text[KIND_AT..KIND_AT + kind.len()].copy_from_slice(kind.as_bytes());
                        seen.insert(frame.open(key, kind.len(), bits, slot, 0));
                        frame.text[..text.len()].copy_from_slice(text.as_bytes());
                        seen.insert(frame.decode(text.len()));
                        frame.text[0] = b'-';
                        seen.insert(frame.decode(text.len()));
                    }
                }
            }
        }
        let expected = PUBLIC_RULES.iter().chain([&Rule::None]).map(|rule| *rule as u32).collect();
        assert_eq!(seen, expected);
    }
}
