//! The table of what the calls for public IDs answer with, and the places of their frame.

use std::fmt::Write as _;

use frazil::abi::PUBLIC_PLACES;
use frazil::error::Rule;

use super::text::{HEADER, constant_name};

/// The rules that their input can break, but for the range of an ID: JavaScript checks that before.
const PUBLIC_RULES: &[Rule] = &[
    Rule::WholeNumber,
    Rule::TextLength,
    Rule::TextBase62,
    Rule::KeyText,
    Rule::KeyChecksum,
    Rule::KindSyntax,
    Rule::SealedText,
    Rule::ShortSlot,
];

pub(super) fn tables() -> String {
    let mut text = format!(
        "{HEADER}import {{ Rule }} from \"./rules.js\";\n\n\
         /** The rules that the calls for public IDs answer with, by status. */\n\
         export const RULES: {{ readonly [status: number]: Rule }} = {{\n"
    );
    for rule in PUBLIC_RULES {
        let _ = writeln!(text, "  {}: Rule.{},", *rule as u8, constant_name(&format!("{rule:?}")));
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
        for key in [0, 1, 38] {
            for kind in TEXTS {
                for (bits, slot) in [(63, -1), (63, 0), (63, 5), (64, 1), (64, 2), (1, -1)] {
                    for text in TEXTS {
                        frame.text[..38].copy_from_slice(b"frazilkey_0000000000000000000000000000");
                        frame.text[KIND_AT..KIND_AT + kind.len()].copy_from_slice(kind.as_bytes());
                        seen.insert(frame.open(key, kind.len(), bits, slot));
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
