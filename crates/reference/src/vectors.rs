//! The vectors: the answers of the reference model as JSON, a file per subject. `_comment` at the top of each file defines its
//! members, so that a test in any language can be written from the file alone.

use serde_json::{Map, Value, json};

use json::{merge, render, spec};
use test_layouts::custom_layouts;

mod comment;
mod errors;
mod generation;
mod ids;
mod json;
mod layouts;
mod ranges;
mod segments;
mod test_layouts;
mod text;

/// A file of vectors: its path from the root of the repository, and its text.
pub(crate) struct VectorFile {
    pub(crate) path: &'static str,
    pub(crate) text: String,
}

pub(crate) fn files() -> Vec<VectorFile> {
    let file = |path, value: Value| VectorFile { path, text: render(&with_layouts(value), 0) + "\n" };
    vec![
        file("crates/core/vectors/layouts.json", layouts::vectors()),
        file("crates/core/vectors/ids.json", ids::vectors()),
        file("crates/core/vectors/ranges.json", ranges::vectors()),
        file("crates/core/vectors/generation.json", generation::vectors()),
        file("crates/core/vectors/errors.json", errors::vectors()),
        file("crates/core/vectors/text.json", text::vectors()),
        file("crates/core/vectors/segments.json", segments::vectors()),
    ]
}

/// Adds the specs of the custom layouts that a file names, after its comment.
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
    let used = custom_layouts().into_iter().filter(|(name, _)| names.iter().any(|used| used == name));
    let specs: Map<String, Value> = used.map(|(name, layout)| (name.to_owned(), spec(&layout))).collect();
    let head = json!({ "_comment": file["_comment"], "layouts": specs });
    if specs.is_empty() { file } else { merge(head, file) }
}
