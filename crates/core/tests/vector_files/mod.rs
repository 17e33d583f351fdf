//! Reads the files of `crates/core/vectors`, for several tests.

use frazil::Layout;
use frazil::layout::{Field, FieldKind, LayoutSpec};
use serde_json::Value;

/// A file by its name.
pub(crate) fn read(name: &str) -> Value {
    let path = format!("{}/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The cases of one list; a list without cases would test nothing.
pub(crate) fn cases<'a>(file: &'a Value, list: &str) -> &'a [Value] {
    let cases = file[list].as_array().unwrap();
    assert!(!cases.is_empty(), "{list} is empty");
    cases
}

/// Whether Rust can express the input of a case.
pub(crate) fn in_rust(case: &Value) -> bool {
    case["jsOnly"] != true
}

pub(crate) fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no whole number"))
}

pub(crate) fn id(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

/// The layout that a case names: one of the file, or else one of the library.
pub(crate) fn layout(file: &Value, name: &Value) -> Layout {
    let name = name.as_str().unwrap();
    match file["layouts"].get(name) {
        Some(own) => Layout::new(spec(own)).unwrap(),
        None => Layout::named(name).unwrap(),
    }
}

pub(crate) fn spec(value: &Value) -> LayoutSpec {
    let field = |field: &Value| Field {
        kind: match field["kind"].as_str().unwrap() {
            "time" => FieldKind::Time,
            "node" => FieldKind::Node,
            "clock" => FieldKind::Clock,
            "sequence" => FieldKind::Sequence,
            kind => panic!("{kind} is no kind of field"),
        },
        bits: u32::try_from(whole(&field["bits"])).unwrap(),
        name: field.get("name").map(|name| name.as_str().unwrap().to_owned().into()),
    };
    LayoutSpec {
        epoch_ms: whole(&value["epochMs"]),
        tick_ms: whole(&value["tickMs"]),
        unsigned: value["unsigned"].as_bool().unwrap(),
        fields: value["fields"].as_array().unwrap().iter().map(field).collect(),
    }
}

/// `max_lead_ms` as the vectors spell it.
pub(crate) fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}
