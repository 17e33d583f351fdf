//! The tables in TypeScript, written from the constants of the core: named layouts, error codes, rules, and the ABI (`abi.rs`).
//!
//! * **One source**: the npm package has the layouts, codes, slots and rules of the core, and no copy of them. A test fails if a
//!   committed file differs from what would be written.

use std::fmt::Write as _;

use frazil::abi::{IN_SECONDS, KINDS};
use frazil::error::Rule;
use frazil::layout::FieldKind;
use frazil::{Code, Layout};

mod abi;
mod public;
mod text;

use text::{CLASSES, HEADER, constant_name};

/// A file that is generated: its path from the root of the repository, and its text.
pub(crate) struct GeneratedFile {
    pub(crate) path: &'static str,
    pub(crate) text: String,
}

pub(crate) fn files() -> Vec<GeneratedFile> {
    vec![
        GeneratedFile { path: "npm/frazil/src/generated/layouts.ts", text: layouts() },
        GeneratedFile { path: "npm/frazil/src/generated/layout-bits.ts", text: layout_bits() },
        GeneratedFile { path: "npm/frazil/src/generated/errors.ts", text: errors() },
        GeneratedFile { path: "npm/frazil/src/generated/rules.ts", text: rules() },
        GeneratedFile { path: "npm/frazil/src/generated/abi.ts", text: abi::frame() },
        GeneratedFile { path: "npm/frazil/src/generated/native.ts", text: abi::native() },
        GeneratedFile { path: "npm/frazil/src/generated/lease.ts", text: abi::lease() },
        GeneratedFile { path: "npm/frazil/src/generated/segment.ts", text: abi::segment() },
        GeneratedFile { path: "npm/frazil/src/generated/public.ts", text: public::tables() },
    ]
}

fn kind_name(kind: FieldKind) -> &'static str {
    KINDS.iter().find(|row| row.1 == kind).map_or("", |row| row.0)
}

/// A number as `parseInt(text, 36)` reads it. It has two thirds as many digits as in decimal.
fn base36(number: u64) -> String {
    let digit = char::from_digit(u32::try_from(number % 36).unwrap_or(0), 36).unwrap_or('0');
    if number < 36 { digit.to_string() } else { base36(number / 36) + &digit.to_string() }
}

/// The name of a layout as a key of an object.
fn key_of(name: &str) -> String {
    if name.contains('-') { format!("\"{name}\"") } else { name.to_owned() }
}

/// The named layouts in the compact form that `npm/frazil/src/layout/id.ts` parses, the bounds of times in seconds, and the
/// names of node parts as a type.
fn layouts() -> String {
    let mut rows = Vec::new();
    let mut types = String::from("/** The names of each layout's node parts. */\nexport interface LayoutParts {\n");
    for name in Layout::names() {
        let Ok(layout) = Layout::named(name) else { continue };
        let spec = layout.spec();
        let mut row = format!("{name} {} {} {}", base36(spec.epoch_ms), base36(spec.tick_ms), u8::from(spec.unsigned));
        for field in &spec.fields {
            let _ = write!(row, " {}{}", &kind_name(field.kind)[..1], field.bits);
            if let Some(name) = &field.name {
                let _ = write!(row, ":{name}");
            }
        }
        rows.push(row);
        let key = key_of(name);
        let parts: Vec<String> = spec
            .fields
            .iter()
            .filter(|field| field.kind == FieldKind::Node)
            .map(|field| format!("\"{}\"", field.name.as_deref().unwrap_or("node")))
            .collect();
        let _ = writeln!(types, "  {key}: {};", if parts.is_empty() { "never".to_owned() } else { parts.join(" | ") });
    }
    format!(
        "{HEADER}/** Each named layout on a line: name, epoch (Unix ms) and tick (ms) in base 36, unsigned, and its fields as kind, width and `:name`. */\n\
         export const LAYOUTS = `{}`;\n\n\
         /** Times below this are in seconds where milliseconds are meant: seconds until 5138, and milliseconds until 1973. @internal */\n\
         export const SECONDS_END = {};\n\
         /** An epoch from here on is in seconds (2001), and so is a clock: one that shows less is one that starts in 1970. @internal */\n\
         export const SECONDS_START = {};\n\n\
         {types}}}\n",
        rows.join("\n"),
        IN_SECONDS.end,
        IN_SECONDS.start
    )
}

/// The widths of the named layouts, in a file without other constants: esbuild inlines those only from files that have nothing else.
fn layout_bits() -> String {
    let mut text = format!("{HEADER}/** The bits of each named layout. @internal */\nexport const LAYOUT_BITS = {{\n");
    for name in Layout::names() {
        let Ok(layout) = Layout::named(name) else { continue };
        let _ = writeln!(text, "  {}: {},", key_of(name), layout.bits());
    }
    text.push_str("};\n");
    text
}

/// The codes of each class as one string, because it is short and every bundle with the decoder carries it; and the codes that
/// are retryable.
fn errors() -> String {
    let mut text = format!("{HEADER}/** The codes of each class. */\nexport const CLASSES = {{\n");
    let class_index = |code: &Code| CLASSES.iter().position(|class| *class == code.class());
    assert!(Code::ALL.is_sorted_by_key(class_index), "a status is an index into the codes of all classes, in their order");
    for class in CLASSES {
        let _ = writeln!(text, "  {}: \"{}\",", class.name(), code_names(|code| code.class() == class, " "));
    }
    let _ = writeln!(text, "}};\n\n/** The codes of refusals that end although the caller changes nothing. */");
    let _ = writeln!(text, "export const RETRYABLE = \"{}\";\n", code_names(Code::retryable, " "));
    let _ = writeln!(text, "/** A stable cause: branch on it, never on the message. */\nexport type ErrorCode =");
    let _ = writeln!(text, "  | \"{}\";", code_names(|_| true, "\"\n  | \""));
    text
}

/// The names of the codes that are wanted, with a separator between them.
fn code_names(wanted: impl Fn(Code) -> bool, separator: &str) -> String {
    Code::ALL.iter().filter(|code| wanted(**code)).map(|code| code.name()).collect::<Vec<_>>().join(separator)
}

/// The sentences of the rules. They are an enum because esbuild inlines its members, across files too, so a bundle holds only
/// the sentences that it uses, and no names.
fn rules() -> String {
    let doc = "What a rule says, and after a line break what to do. A bundle holds the texts that it uses.";
    let mut text = format!("{HEADER}/** {doc} */\nexport enum Rule {{\n");
    for rule in Rule::ALL {
        let said = format!("{}\n{}", rule.template(), rule.hint());
        let _ = writeln!(text, "  {} = {:?},", constant_name(&format!("{rule:?}")), said.trim_end());
    }
    text.push_str("}\n");
    text
}
