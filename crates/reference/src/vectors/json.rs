//! Values as JSON, and the layout of the JSON in the files.

use serde_json::{Map, Value, json};

use crate::model::layout::{Decoded, Field, Layout};

/// The text of a value. A value that fits on a line has one line, so that a changed case is a changed line in git.
pub(super) fn render(value: &Value, depth: usize) -> String {
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

/// A JSON number. It is for values that JavaScript holds exactly; IDs are written by `decimal`.
pub(super) fn number(value: u128) -> Value {
    json!(u64::try_from(value).unwrap_or(u64::MAX))
}

pub(super) fn decimal(id: u128) -> Value {
    json!(id.to_string())
}

pub(super) fn numbers(members: &[(&str, u128)]) -> Value {
    Value::Object(members.iter().map(|(name, value)| ((*name).to_owned(), number(*value))).collect())
}

/// An object with the members of one object, followed by those of another.
pub(super) fn merge(first: Value, second: Value) -> Value {
    let members = |value| if let Value::Object(members) = value { members } else { Map::new() };
    Value::Object(members(first).into_iter().chain(members(second)).collect())
}

pub(super) fn fields(fields: &[Field]) -> Value {
    let field = |&Field { kind, bits, name }: &Field| {
        let plain = json!({ "kind": kind.name(), "bits": bits });
        name.map_or(plain.clone(), |name| merge(plain, json!({ "name": name })))
    };
    fields.iter().map(field).collect()
}

pub(super) fn spec(layout: &Layout) -> Value {
    json!({
        "epochMs": number(layout.epoch_ms),
        "tickMs": number(layout.tick_ms),
        "unsigned": layout.unsigned,
        "fields": fields(&layout.fields),
    })
}

pub(super) fn decoded(values: &Decoded) -> Value {
    json!({
        "timestampMs": number(values.timestamp_ms),
        "node": values.node.map(number),
        "parts": numbers(&values.parts),
        "clock": values.clock.map(number),
        "sequence": number(values.sequence),
    })
}
