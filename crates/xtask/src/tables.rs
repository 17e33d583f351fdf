//! The TypeScript tables that the core is the source of: layouts, error codes, rules, and the slots of the page.

use std::fmt::Write as _;

use frazil::page::{ABI, IDS, KEYLESS, KINDS, NUMBERS, RECHECK, SLOTS, STARTS};
use frazil::{Class, Code, FieldKind, Layout, Rule, SequenceStart, Subject};

use crate::Generated;

const HEAD: &str = "// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.\n\n";

pub(crate) fn files() -> Vec<Generated> {
    vec![
        Generated { path: "npm/frazil/src/generated/layouts.ts", text: layouts() },
        Generated { path: "npm/frazil/src/generated/errors.ts", text: errors() },
        Generated { path: "npm/frazil/src/generated/rules.ts", text: rules() },
        Generated { path: "npm/frazil/src/generated/page.ts", text: page() },
    ]
}

/// `max_lead_ms` as JavaScript spells it.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        name.push_str(&word[..1].to_uppercase());
        name.push_str(&word[1..]);
        name
    })
}

fn kind(kind: FieldKind) -> &'static str {
    KINDS.iter().find(|row| row.1 == kind).map_or("", |row| row.0)
}

/// A number as `parseInt(text, 36)` reads it: a third shorter than in decimal.
fn base36(number: u64) -> String {
    let digit = char::from_digit(u32::try_from(number % 36).unwrap_or(0), 36).unwrap_or('0');
    if number < 36 { digit.to_string() } else { base36(number / 36) + &digit.to_string() }
}

/// A word a field, in the compact form that `src/layout.ts` reads, and the names of the node parts for the types.
fn layouts() -> String {
    let mut rows = Vec::new();
    let mut types = String::from("/** The names of each layout's node parts. */\nexport interface LayoutParts {\n");
    for name in Layout::names() {
        let Ok(layout) = Layout::named(name) else { continue };
        let spec = layout.spec();
        let mut row = format!("{name} {} {} {}", base36(spec.epoch_ms), base36(spec.tick_ms), u8::from(spec.unsigned));
        for field in &spec.fields {
            let _ = write!(row, " {}{}", &kind(field.kind)[..1], field.bits);
            if let Some(name) = &field.name {
                let _ = write!(row, ":{name}");
            }
        }
        rows.push(row);
        let key = if name.contains('-') { format!("\"{name}\"") } else { name.to_owned() };
        let parts: Vec<String> = spec
            .fields
            .iter()
            .filter(|field| field.kind == FieldKind::Node)
            .map(|field| format!("\"{}\"", field.name.as_deref().unwrap_or("node")))
            .collect();
        let _ = writeln!(types, "  {key}: {};", if parts.is_empty() { "never".to_owned() } else { parts.join(" | ") });
    }
    format!(
        "{HEAD}/** Each named layout on a line: name, epoch (Unix ms) and tick (ms) in base 36, unsigned, and its fields as kind, width and `:name`. */\n\
         export const LAYOUTS = `{}`;\n\n{types}}}\n",
        rows.join("\n")
    )
}

/// Compact, because the decoder carries it: a line a class, and the list of those that pass by themselves.
fn errors() -> String {
    let mut text = format!("{HEAD}/** The codes of each class. */\nexport const CLASSES = {{\n");
    let classes = [Class::Config, Class::Clock, Class::Lease, Class::Decode];
    let place = |code: &Code| classes.iter().position(|class| *class == code.class());
    assert!(Code::ALL.is_sorted_by_key(place), "a status is a place in the list of all classes' codes");
    for class in classes {
        let _ = writeln!(text, "  {}: \"{}\",", class.name(), names(|code| code.class() == class, " "));
    }
    let _ = writeln!(text, "}};\n\n/** The codes of refusals that end although the caller changes nothing. */");
    let _ = writeln!(text, "export const RETRYABLE = \"{}\";\n", names(Code::retryable, " "));
    let _ = writeln!(text, "/** A stable cause: branch on it, never on the message. */\nexport type ErrorCode =");
    let _ = writeln!(text, "  | \"{}\";", names(|_| true, "\"\n  | \""));
    text
}

fn names(wanted: impl Fn(Code) -> bool, between: &str) -> String {
    Code::ALL.iter().filter(|code| wanted(**code)).map(|code| code.name()).collect::<Vec<_>>().join(between)
}

fn rules() -> String {
    let mut text = format!("{HEAD}// One constant a rule, so that a bundle holds those it uses.\n");
    for rule in Rule::ALL {
        let _ = writeln!(text, "export const {} = {:?};", constant(&format!("{rule:?}")), rule.template());
    }
    text
}

/// `WholeNumber` as a constant is spelt.
fn constant(name: &str) -> String {
    name.char_indices().fold(String::new(), |mut constant, (at, letter)| {
        if at != 0 && letter.is_ascii_uppercase() {
            constant.push('_');
        }
        constant.push(letter.to_ascii_uppercase());
        constant
    })
}

fn page() -> String {
    let mut text =
        format!("{HEAD}import * as rules from \"./rules.js\";\nimport {{ CLASSES, type ErrorCode }} from \"./errors.js\";\n\n");
    for (name, at) in SLOTS {
        let _ = writeln!(text, "export const {name} = {at};");
    }
    let _ = write!(
        text,
        "\n/** How many floats the page starts with, and how many IDs follow them. */\nexport const NUMBERS = {NUMBERS};\nexport const IDS = {IDS};\n\
         /** The status that asks for the clock to be read once more. */\nexport const RECHECK = {RECHECK};\n\
         /** The status that asks for a key. */\nexport const KEYLESS = {KEYLESS};\n\
         /** Copies of the package share their states where this is equal. */\nexport const ABI = {ABI};\n\n"
    );
    let _ = writeln!(
        text,
        "/** The kinds of fields by their numbers. */\nexport const KINDS = {:?};\n",
        KINDS.iter().map(|row| row.0).collect::<Vec<_>>()
    );
    let starts = STARTS.map(SequenceStart::name);
    let _ = writeln!(text, "/** The starts of the sequence by their numbers. */\nexport const STARTS = {starts:?} as const;\n");
    let list = |text: &mut String, doc: &str, head: &str, rows: Vec<String>| {
        let _ = write!(text, "/** {doc} */\n{head} = [\n");
        for row in rows {
            let _ = writeln!(text, "  {row},");
        }
        text.push_str("];\n\n");
    };
    // The classes list the codes in the order of their numbers, so the numbers need no list of their own.
    let split = "/* @__PURE__ */ ` ${Object.values(CLASSES).join(\" \")}`.split(\" \") as ErrorCode[]";
    let _ = writeln!(text, "/** The codes by their status numbers. */\nexport const STATUSES = {split};\n");
    text.push_str("/** What the codes mean that the core refuses with and no rule explains. */\n");
    text.push_str("export const MEANINGS: { [code: string]: string } = {\n");
    for code in Code::ALL.iter().filter(|code| code.class() == Class::Clock || **code == Code::Closed) {
        let _ = writeln!(text, "  {}: {:?},", code.name(), code.meaning());
    }
    text.push_str("};\n\n");
    let subjects = Subject::ALL.iter().map(|subject| format!("{:?}", camel(subject.name()))).collect();
    list(&mut text, "What an error can be about, by number.", "export const SUBJECTS", subjects);
    let sentence = |rule: &Rule| match format!("{rule:?}") {
        // Texts never cross the boundary, so a bundle that mints need not carry their sentences.
        name if name.starts_with("Text") => String::from("rules.NONE"),
        name => format!("rules.{}", constant(&name)),
    };
    list(&mut text, "The rules by number.", "export const RULES", Rule::ALL.iter().map(sentence).collect());
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
