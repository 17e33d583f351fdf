//! The vectors of `crates/core/vectors`: what the reference model says, as JSON that explains itself.

use serde_json::{Map, Value, json};

use crate::VectorFile;
use crate::model::{Decoded, Field, Kind, Layout, clock, named, node, part, sequence, time};

mod errors;
mod generation;
mod ids;
mod layouts;
mod ranges;
mod text;

pub(crate) fn files() -> Vec<VectorFile> {
    let file = |path, value: Value| VectorFile { path, text: render(&with_layouts(value), 0) + "\n" };
    vec![
        file("crates/core/vectors/layouts.json", layouts::vectors()),
        file("crates/core/vectors/ids.json", ids::vectors()),
        file("crates/core/vectors/ranges.json", ranges::vectors()),
        file("crates/core/vectors/generation.json", generation::vectors()),
        file("crates/core/vectors/errors.json", errors::vectors()),
        file("crates/core/vectors/text.json", text::vectors()),
    ]
}

/// Said at the top of every file.
const PREAMBLE: &[&str] = &[
    "Written by `cargo run -p frazil-reference` from a reference model that shares no code with the core. Do not edit.",
    "IDs are decimal strings. Times (fields that end in Ms) are JSON numbers: milliseconds, Unix time unless a duration.",
    "A layout is a name: of a layout in `layouts` of the same file, else of one of the library's named layouts. A spec is { epochMs, tickMs, unsigned, fields: [{ kind, bits, name? }] }, the fields from the most to the least significant bit.",
    "An expected error is `code`, `field` (what it is about, in camelCase) and `rule` (the sentence, numbers filled in); a test compares each of the three that is there. JavaScript may say more: the part of a node (`node.worker` for `node`), and a list of names after the rule and a colon.",
    "`jsOnly: true` marks input that a caller in Rust cannot express: a fraction, a negative number, a wrong type, a missing argument.",
];

fn comment(lines: &[&str]) -> Value {
    json!([PREAMBLE, lines].concat())
}

/// Puts the specs of the custom layouts that a file names behind its comment.
fn with_layouts(file: Value) -> Value {
    fn named_in(value: &Value, names: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| named_in(item, names)),
            Value::Object(members) => {
                names.extend(members.get("layout").and_then(Value::as_str).map(str::to_owned));
                members.values().for_each(|member| named_in(member, names));
            }
            _ => {}
        }
    }
    let mut names = Vec::new();
    named_in(&file, &mut names);
    let used = custom().into_iter().filter(|(name, _)| names.iter().any(|used| used == name));
    let specs: Map<String, Value> = used.map(|(name, layout)| (name.to_owned(), spec(&layout))).collect();
    let head = json!({ "_comment": file["_comment"], "layouts": specs });
    if specs.is_empty() { file } else { join(head, file) }
}

/// One line for whatever fits on it, so that a changed case is a changed line.
fn render(value: &Value, depth: usize) -> String {
    const WIDTH: usize = 240;
    let line = one_line(value);
    if depth != 0 && line.len() + 2 * depth <= WIDTH {
        return line;
    }
    let indent = "  ".repeat(depth + 1);
    let (open, members, close) = match value {
        Value::Array(items) => ('[', items.iter().map(|item| render(item, depth + 1)).collect::<Vec<_>>(), ']'),
        Value::Object(members) => {
            ('{', members.iter().map(|(key, member)| format!("{key:?}: {}", render(member, depth + 1))).collect(), '}')
        }
        _ => return line,
    };
    let members: Vec<String> = members.iter().map(|member| format!("{indent}{member}")).collect();
    format!("{open}\n{}\n{}{close}", members.join(",\n"), "  ".repeat(depth))
}

fn one_line(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(one_line).collect::<Vec<_>>().join(", ")),
        Value::Object(members) if members.is_empty() => String::from("{}"),
        Value::Object(members) => {
            let members: Vec<String> = members.iter().map(|(key, member)| format!("{key:?}: {}", one_line(member))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        leaf => leaf.to_string(),
    }
}

/// A number that JSON and JavaScript hold exactly.
fn number(value: u128) -> Value {
    json!(u64::try_from(value).unwrap_or(u64::MAX))
}

fn text(id: u128) -> Value {
    json!(id.to_string())
}

fn numbers(members: &[(&str, u128)]) -> Value {
    Value::Object(members.iter().map(|(name, value)| ((*name).to_owned(), number(*value))).collect())
}

/// The members of one object and then those of another.
fn join(first: Value, second: Value) -> Value {
    let members = |value| if let Value::Object(members) = value { members } else { Map::new() };
    Value::Object(members(first).into_iter().chain(members(second)).collect())
}

fn fields(fields: &[Field]) -> Value {
    let field = |&(kind, bits, name): &Field| {
        let plain = json!({ "kind": kind.name(), "bits": bits });
        name.map_or(plain.clone(), |name| join(plain, json!({ "name": name })))
    };
    fields.iter().map(field).collect()
}

fn spec(layout: &Layout) -> Value {
    json!({
        "epochMs": number(layout.epoch_ms),
        "tickMs": number(layout.tick_ms),
        "unsigned": layout.unsigned,
        "fields": fields(&layout.fields),
    })
}

fn decoded(values: &Decoded) -> Value {
    json!({
        "timestampMs": number(values.timestamp_ms),
        "node": values.node.map(number),
        "parts": numbers(&values.parts),
        "clock": values.clock.map(number),
        "sequence": number(values.sequence),
    })
}

/// A layout of the tests.
struct Subject {
    name: &'static str,
    layout: Layout,
}

/// Layouts that stretch the rules, none of which has a name in the library.
/// A name of 32 characters, among them those that are no letters.
const LONGEST: &str = "abcdefghijklmnopqrstuvwxyz-_0189";

fn custom() -> Vec<(&'static str, Layout)> {
    let row = |name, epoch_ms, tick_ms, unsigned, fields: &[Field]| {
        (name, Layout { epoch_ms, tick_ms, unsigned, fields: fields.to_vec() })
    };
    vec![
        row("node first", 1_704_067_200_000, 1, false, &[node(10), time(41), sequence(12)]),
        row("sequence above time", 1_704_067_200_000, 1, false, &[node(10), sequence(12), time(41)]),
        row("sequence on top, unsigned", 0, 1, true, &[sequence(14), time(50)]),
        row("node split by time", 1_704_067_200_000, 1, false, &[part("a", 3), time(40), part("b", 4), sequence(8)]),
        row("node split in three", 1, 1, false, &[part("hi", 2), time(41), part("mid", 3), sequence(10), part("lo", 4)]),
        row("node parts in a row above time", 5, 1, false, &[part("x", 5), part("y", 6), time(41), sequence(9)]),
        row("node last", 1_704_067_200_000, 1, false, &[time(41), sequence(12), node(10)]),
        row("one bit of sequence", 1_704_067_200_000, 1, false, &[time(41), node(10), sequence(1)]),
        row("one bit of everything", 0, 1, false, &[time(1), node(1), clock(1), sequence(1)]),
        row("clock above time", 1_704_067_200_000, 1, false, &[clock(3), time(41), node(6), sequence(10)]),
        row("clock below sequence", 1_704_067_200_000, 1, false, &[time(41), node(6), sequence(10), clock(3)]),
        row("clock next to sequence", 1_704_067_200_000, 1, false, &[time(41), node(6), clock(8), sequence(8)]),
        row("two clock ids", 1_704_067_200_000, 1, false, &[time(41), clock(1), node(2), sequence(2)]),
        row("clock ids and ticks of 10 ms", 1_704_067_200_000, 10, false, &[time(39), clock(2), node(8), sequence(3)]),
        row("sequence of 1 bit", 1_704_067_200_000, 1, false, &[time(41), node(4), sequence(1)]),
        row("sequence of 2 bits", 1_704_067_200_000, 1, false, &[time(41), node(4), sequence(2)]),
        row("sequence of 3 bits", 1_704_067_200_000, 1, false, &[time(41), node(4), sequence(3)]),
        row("clock without node", 1_704_067_200_000, 1, false, &[time(41), clock(4), sequence(10)]),
        row("ticks of 10 ms", 1_704_067_200_000, 10, false, &[time(39), node(12), sequence(12)]),
        row("ticks of 1 s", 1_704_067_200_000, 1000, false, &[time(32), node(16), sequence(15)]),
        row("ticks of 7 ms", 1_704_067_200_003, 7, false, &[time(38), node(8), sequence(8)]),
        row("unsigned, node on top", 1_704_067_200_000, 1, true, &[node(10), time(42), sequence(12)]),
        row("unsigned, sequence on top", 1_704_067_200_000, 1, true, &[sequence(12), time(42), node(10)]),
        row("unsigned, clock on top", 1_704_067_200_000, 1, true, &[clock(2), time(42), node(8), sequence(12)]),
        row("unsigned, no node", 0, 1, true, &[time(50), clock(2), sequence(12)]),
        row("63 bits, no node", 0, 1, false, &[time(51), sequence(12)]),
        row("tiny", 0, 1, false, &[time(4), sequence(2)]),
        row("tiny with node", 1_000_000, 3, false, &[time(4), node(2), sequence(2)]),
        row("wide sequence", 1_704_067_200_000, 1, false, &[time(40), node(1), sequence(22)]),
        row("widest sequence", 0, 1_000_000, false, &[time(10), sequence(53)]),
        row("widest node", 1_704_067_200_000, 1000, true, &[time(24), node(32), sequence(8)]),
        row("longest name of a node part", 0, 1, false, &[time(41), part(LONGEST, 3), part("Z", 2), sequence(12)]),
        row("32 node parts of one bit", 0, 60_000, false, &[&[time(25)][..], &bits(), &[sequence(6)]].concat()),
        row(
            "last tick ends with the last Date",
            8_640_000_000_000_000 - ((1 << 41) - 1),
            1,
            false,
            &[time(41), node(10), sequence(12)],
        ),
        row("widest time", 0, 1, false, &[time(52), sequence(11)]),
    ]
}

/// Thirty-two node parts, `p0` to `p31`.
fn bits() -> Vec<Field> {
    const NAMES: [&str; 32] = [
        "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15", "p16", "p17",
        "p18", "p19", "p20", "p21", "p22", "p23", "p24", "p25", "p26", "p27", "p28", "p29", "p30", "p31",
    ];
    NAMES.iter().map(|name| part(name, 1)).collect()
}

fn subjects() -> Vec<Subject> {
    named().into_iter().chain(custom()).map(|(name, layout)| Subject { name, layout }).collect()
}

/// A subject by its name; every name used in this crate is one.
fn subject(name: &str) -> Subject {
    subjects().into_iter().find(|subject| subject.name == name).unwrap_or_else(|| unreachable!("no layout is called {name}"))
}

/// Values around the middle of each field: tick, node, clock, sequence.
fn middle(layout: &Layout) -> [u128; 4] {
    let max = |kind| layout.count(kind) - 1;
    [max(Kind::Time) / 3, max(Kind::Node) * 2 / 3, max(Kind::Clock) / 2, max(Kind::Sequence) / 3]
}
