//! `ids.json`: which texts, numbers and bigints are IDs of a layout.

use serde_json::{Value, json};

use super::comment::comment;
use super::json::{decimal, merge, number};
use super::test_layouts::test_layout;
use crate::model::errors::{Rule, sentence};

const MAX_SAFE: u128 = (1 << 53) - 1;

pub(super) fn vectors() -> Value {
    json!({
        "_comment": comment(&[
            "An ID is given to a call as text (decimal digits), as a number (JavaScript, where exact) or as a bigint. `kind` says which: \"text\": input is the string itself; \"number\": input is a JSON number, for JavaScript only; \"bigint\": input is the decimal form of the integer. Rust reads text with Layout::parse and, where it is not negative and below 2^64, a bigint with Layout::check.",
            "valid: parse(input) is id, and the text of id is canonical. invalid: parse(input) is refused, tryParse(input) gives undefined, and decode(input) is refused alike.",
            "signed: toSigned(id) is signed and fromSigned(signed) is id; signed is the decimal form of the bigint that a signed 64-bit column holds. invalidSigned: fromSigned(signed) is refused.",
        ]),
        "valid": valid(),
        "invalid": invalid(),
        "signed": signed(),
        "invalidSigned": invalid_signed(),
    })
}

const TWO: u128 = 2;

fn valid() -> Vec<Value> {
    let mut cases = Vec::new();
    for name in ["default", "twitter", "discord", "mastodon", "safe53", "seata", "tiny"] {
        let test = test_layout(name);
        let max = test.layout.max_id();
        for id in [0, 1, 7, 10, max / 3, MAX_SAFE, MAX_SAFE + 1, TWO.pow(63) - 1, TWO.pow(63), max - 1, max] {
            if id > max {
                continue;
            }
            let case = |kind, input: Value| json!({ "layout": test.name, "kind": kind, "input": input, "id": decimal(id) });
            cases.extend([case("text", decimal(id)), case("bigint", decimal(id))]);
            if id <= MAX_SAFE {
                cases.push(case("number", number(id)));
            }
        }
    }
    cases
}

fn invalid() -> Vec<Value> {
    let case = |name: &str, kind, input: Value, rule: String| {
        let test = test_layout(name);
        json!({ "layout": test.name, "kind": kind, "input": input, "code": "INVALID_ID", "field": "id", "rule": rule })
    };
    let mut cases = Vec::new();
    for input in [
        "",
        " ",
        "a",
        "12a",
        "a12",
        "1 2",
        " 1",
        "1 ",
        "\t1",
        "1\n",
        "00",
        "007",
        "-0",
        "-1",
        "+1",
        "1.0",
        "1.",
        "1e3",
        "0x10",
        "0b1",
        "0o7",
        "1_000",
        "1,000",
        "1n",
        "१२",
        "１２",
        "²",
        "NaN",
        "Infinity",
        "null",
        "1\u{0}",
        "\u{feff}1",
        "-9223372036854775808",
        "1e999",
        "0000000000000000000000",
        "18446744073709551616a",
    ] {
        cases.push(case("default", "text", json!(input), sentence(Rule::ID_TEXT, 0, 0)));
    }
    for (name, inputs) in [
        ("default", &[TWO.pow(63), TWO.pow(64) - 1, TWO.pow(64), TWO.pow(64) + 5, TWO.pow(100)][..]),
        ("discord", &[TWO.pow(64), TWO.pow(64) + 1, TWO.pow(65), TWO.pow(127)]),
        ("safe53", &[TWO.pow(53), TWO.pow(53) + 1, TWO.pow(63), TWO.pow(64)]),
        ("tiny", &[64, 65, TWO.pow(53), TWO.pow(64)]),
    ] {
        for &input in inputs {
            let rule = || sentence(Rule::ID_RANGE, 0, test_layout(name).layout.max_id());
            cases.extend([case(name, "text", decimal(input), rule()), case(name, "bigint", decimal(input), rule())]);
        }
    }
    for (name, input) in [("default", "-1"), ("discord", "-1"), ("safe53", "-9223372036854775808"), ("tiny", "-64")] {
        let rule = sentence(Rule::ID_RANGE, 0, test_layout(name).layout.max_id());
        cases.push(case(name, "bigint", json!(input), rule));
    }
    // A number that is not a safe integer can be an ID that was rounded.
    let beyond = u64::try_from(MAX_SAFE).unwrap_or(u64::MAX);
    for name in ["default", "safe53", "discord"] {
        for input in [json!(1.5), json!(-1.5), json!(beyond + 1), json!(beyond + 3), json!(1e19), json!(1e300), json!(5e-324)] {
            cases.push(case(name, "number", input, sentence(Rule::ID_INPUT, 0, 0)));
        }
        cases.push(case(name, "number", json!(-1), sentence(Rule::ID_RANGE, 0, test_layout(name).layout.max_id())));
    }
    cases.push(case("tiny", "number", json!(64), sentence(Rule::ID_RANGE, 0, 63)));
    cases.push(case("tiny", "number", json!(beyond), sentence(Rule::ID_RANGE, 0, 63)));
    cases
}

fn signed() -> Vec<Value> {
    let mut cases = Vec::new();
    for name in ["discord", "mastodon", "unsigned, node on top", "default", "tiny"] {
        let test = test_layout(name);
        let max = test.layout.max_id();
        for id in [0, 1, max / 2, max / 2 + 1, max - 1, max] {
            let signed = if id < TWO.pow(63) { id.to_string() } else { format!("-{}", TWO.pow(64) - id) };
            cases.push(json!({ "layout": test.name, "id": decimal(id), "signed": signed }));
        }
    }
    cases
}

fn invalid_signed() -> Vec<Value> {
    let case = |name: &str, signed: &str| {
        let test = test_layout(name);
        let rule = sentence(Rule::ID_RANGE, 0, test.layout.max_id());
        json!({ "layout": test.name, "signed": signed, "code": "INVALID_ID", "field": "id", "rule": rule })
    };
    let js = |name, signed| merge(case(name, signed), json!({ "jsOnly": true }));
    vec![
        case("default", "-1"),
        case("default", "-9223372036854775808"),
        case("safe53", "-1"),
        case("safe53", "9007199254740992"),
        case("tiny", "64"),
        case("tiny", "-64"),
        js("default", "-18446744073709551615"),
        js("default", "18446744073709551617"),
        js("discord", "-9223372036854775809"),
        js("discord", "18446744073709551616"),
    ]
}
