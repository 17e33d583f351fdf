//! `text.json`: IDs as text and as bytes, and texts and bytes that are refused.

use serde_json::{Value, json};

use super::comment::comment;
use super::json::{decimal, merge, number};
use crate::model::errors::{Rule, sentence};
use crate::model::text::{Form, bytes, forms};

const MAX: u128 = (1 << 64) - 1;

pub(super) fn vectors() -> Value {
    let table = forms().into_iter().map(|form| {
        let digits: String = form.digits.iter().collect();
        json!({ "name": form.name, "alphabet": digits, "width": form.width() })
    });
    json!({
        "_comment": comment(&[
            "forms: each form by its name (in Rust TextForm::Hex and so on), with its digits, that of zero first, and its width.",
            "ids: the texts of an ID in every form, of fixed width and short, and its eight bytes, the most significant first. Both ways: encode(id) is the text, decode(text) is the ID. Fixed texts whose alphabet ascends, and bytes, sort as the IDs do.",
            "read: texts that a form reads and does not write, in the fixed form, or with short: true in the short one.",
            "published: texts of others that a form gives too, and where they stand. short: whether in the short form.",
            "refused: texts that the fixed form, or with short: true the short one, does not read. position: the index of the first character that is wrong, the length of a text that is too short; in UTF-16 units in JavaScript and bytes in Rust, which is the same, since all before it is ASCII.",
            "refusedBytes: bytes that are no ID.",
        ]),
        "forms": table.collect::<Vec<_>>(),
        "ids": ids(),
        "read": also_read(),
        "published": published(),
        "refused": refused(),
        "refusedBytes": refused_bytes(),
    })
}

fn ids() -> Vec<Value> {
    let mut ids: Vec<(String, u128)> = vec![("zero".into(), 0), ("one".into(), 1)];
    let mut add_neighbours = |name: &str, id: u128| {
        ids.extend([(format!("{name} - 1"), id - 1), (name.to_owned(), id), (format!("{name} + 1"), id + 1)]);
    };
    for exponent in [8, 16, 31, 32, 33, 48, 52, 53, 62, 63] {
        add_neighbours(&format!("2^{exponent}"), 1 << exponent);
    }
    for form in forms() {
        let (base, width) = (form.base(), u32::try_from(form.width()).unwrap_or_default());
        for exponent in 1..width {
            add_neighbours(&format!("{base}^{exponent}"), base.pow(exponent));
        }
        // Just below a multiple, a double that holds the ID is rounded up to it.
        let unit = base.pow(width - 3);
        for multiple in [MAX / unit / 3, MAX / unit / 2, MAX / unit] {
            add_neighbours(&format!("{multiple} * {base}^{}", width - 3), multiple * unit);
        }
    }
    ids.extend([
        ("2^64 - 2".into(), MAX - 1),
        ("2^64 - 1".into(), MAX),
        ("a tweet".into(), 1_541_815_603_606_036_480),
        ("a Discord ID".into(), 175_928_847_299_117_063),
        ("an ID of the default layout".into(), 382_138_004_275_228_672),
    ]);
    // Knuth's MMIX linear congruential generator. Its low bits have short periods, so an ID is two high halves.
    let mut state = 1_u128;
    let mut next_32_bits = || {
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % (1 << 64);
        state >> 32
    };
    ids.extend((1..=32).map(|index| (format!("random {index}"), (next_32_bits() << 32) | next_32_bits())));
    ids.sort_by_key(|(_, id)| *id);
    ids.dedup_by_key(|(_, id)| *id);
    let case = |(name, id): (String, u128)| {
        let texts = |text: fn(&Form, u128) -> String| -> Value {
            Value::Object(forms().iter().map(|form| (form.name.to_owned(), json!(text(form, id)))).collect())
        };
        let bytes: Vec<Value> = bytes(id).into_iter().map(number).collect();
        json!({ "name": name, "id": decimal(id), "fixed": texts(Form::fixed), "short": texts(Form::short), "bytes": bytes })
    };
    ids.into_iter().map(case).collect()
}

fn also_read() -> Vec<Value> {
    [
        (false, "1asd13xh1f800", 1_541_815_603_606_036_480),
        (false, "1AsDI3xhlf8Oo", 1_541_815_603_606_036_480),
        (true, "LASDi3XHL", 1_470_389_941_793),
        (false, "ooooooooooooo", 0),
        (true, "o", 0),
        (true, "l", 1),
        (false, "fzzzzzzzzzzzz", MAX),
    ]
    .into_iter()
    .map(|(short, text, id): (bool, &str, u128)| json!({ "form": "crockford", "short": short, "text": text, "id": decimal(id) }))
    .collect()
}

fn published() -> Vec<Value> {
    let bitcoin = "Bitcoin Core, src/test/data/base58_encode_decode.json";
    let gmp = "GNU MP 6, mpz_get_str(…, 62, …)";
    let bwmarrin = "github.com/bwmarrin/snowflake, snowflake_test.go";
    let snowfake = "github.com/deryrahman/snowfake, encoding_test.go, whose base 58 is that of bwmarrin";
    let ulid = "the README of ulid for JavaScript: the time of 01ARYZ6S41TSV4RRFFQ69G5FAV";
    [
        ("base32", false, "0DXBQ9H279R05", 501_438_102_971_408_389, "the README of tsid-ts"),
        ("base32", true, "1ARYZ6S41", 1_469_918_176_385, ulid),
        ("base32", true, "7ZZZZZZZZZ", (1 << 48) - 1, "the ULID specification: the largest time"),
        ("base58", true, "2g", 0x61, bitcoin),
        ("base58", true, "a3gV", 0x62_6262, bitcoin),
        ("base58", true, "aPEr", 0x63_6363, bitcoin),
        ("base58", true, "3EFU7m", 0x572e_4794, bitcoin),
        ("base58", true, "Rt5zm", 0x10c8_511e, bitcoin),
        ("base58", true, "ABnLTmg", 0x51_6b6f_cd0f, bitcoin),
        ("base58", true, "233QC4", 0x287f_b4cd, "draft-msporny-base58, section 5, without the zero bytes in front"),
        ("base62", true, "1LY7VK", 1_234_567_890, gmp),
        ("base62", true, "Czks0tP37X", 175_928_847_299_117_063, gmp),
        ("base62", false, "1ptWyK4WgZU", 1_541_815_603_606_036_480, gmp),
        ("base62", false, "LygHa16AHYF", MAX, gmp),
        ("base36", true, "1y2p0ij32e8e7", (1 << 63) - 1, "Java, Long.toString(Long.MAX_VALUE, 36)"),
        ("bwmarrinBase32", true, "b8wjm1zroyyyy", 1_427_970_479_175_499_776, bwmarrin),
        ("bwmarrinBase58", true, "4jgmnx8Js8A", 1_428_076_403_798_048_768, bwmarrin),
        ("bwmarrinBase58", true, "j", 18, snowfake),
        ("bwmarrinBase58", true, "3pqPUL", 1_577_836_800, snowfake),
        ("bwmarrinBase58", true, "JPwcyDCgEup", MAX, snowfake),
    ]
    .into_iter()
    .map(|(form, short, text, id, source): (&str, bool, &str, u128, &str)| {
        json!({ "form": form, "short": short, "text": text, "id": decimal(id), "source": source })
    })
    .collect()
}

/// A text that is refused: the rule that it breaks, and the position of the first wrong character.
fn case(form: &str, short: bool, name: &str, text: &str, (rule, max): (Rule, u128), position: usize) -> Value {
    merge(
        json!({ "name": name, "form": form, "short": short, "text": text }),
        json!({ "code": "INVALID_TEXT", "field": "text", "rule": sentence(rule, 0, max), "position": position }),
    )
}

/// Characters that a form does not have: the other case, digits that look alike, prefixes. The form, the name, the text, and the position.
const WRONG_CHARACTERS: [(&str, &str, &str, usize); 28] = [
    ("hex", "upper case", "1565A11F6217A000", 4),
    ("hex", "0x in front", "0x1565a11f6217a0", 1),
    ("hex", "g", "1565a11f6217a00g", 15),
    ("base32", "lower case", "1asd13xh1f800", 1),
    ("base32", "I", "1ASD13XH1F80I", 12),
    ("base32", "L", "LASD13XH1F800", 0),
    ("base32", "O", "1ASDO3XH1F800", 4),
    ("base32", "U", "1ASD13UH1F800", 6),
    ("base32", "a hyphen", "1ASD-13XH1F800", 4),
    ("base58", "0", "4aaW4SzAy0K", 9),
    ("base58", "I", "IaaW4SzAyQK", 0),
    ("base58", "O", "4aaW4SzAyQO", 10),
    ("base58", "l", "4laW4SzAyQK", 1),
    ("base36", "upper case", "1Y2p0ij32e8e7", 1),
    ("crockford", "U", "1ASD13UH1F800", 6),
    ("crockford", "u", "1ASD13uH1F800", 6),
    ("crockford", "a hyphen", "1ASD-13XH1F800", 4),
    ("base64url", "+", "FWWhH2IXo+A", 9),
    ("base64url", "/", "FWWhH2IXo/A", 9),
    ("base64url", "padding", "FWWhH2IXoA=", 10),
    ("bwmarrinBase32", "upper case", "B8WJM1ZROYYYY", 0),
    ("bwmarrinBase32", "l", "b8wjm1zroyyyl", 12),
    ("bwmarrinBase32", "v", "b8wjm1zroyyyv", 12),
    ("bwmarrinBase32", "2", "b8wjm1zroyyy2", 12),
    ("bwmarrinBase58", "0", "0jgmnx8Js8A", 0),
    ("bwmarrinBase58", "I", "Ijgmnx8Js8A", 0),
    ("bwmarrinBase58", "O", "Ojgmnx8Js8A", 0),
    ("bwmarrinBase58", "l", "ljgmnx8Js8A", 0),
];

/// More than 64 bits: the position is that of the first digit larger than the digit of the largest ID, whose text stands beside the
/// first case of each form.
const TOO_LARGE: [(&str, &str, usize); 20] = [
    ("base32", "G000000000000", 0), // FZZZZZZZZZZZZ
    ("base32", "ZZZZZZZZZZZZZ", 0),
    ("base58", "jpXCZedGfVR", 10), // jpXCZedGfVQ
    ("base58", "jpXCZedGfW1", 9),
    ("base58", "jpXCZedH111", 7),
    ("base58", "jq111111111", 1),
    ("base58", "k1111111111", 0),
    ("base58", "zzzzzzzzzzz", 0),
    ("base62", "LygHa16AHYG", 10), // LygHa16AHYF
    ("base62", "LygHa16AHZ0", 9),
    ("base62", "LygHa16B000", 7),
    ("base62", "Lz000000000", 1),
    ("base62", "M0000000000", 0),
    ("base62", "zzzzzzzzzzz", 0),
    ("base36", "3w5e11264sgsg", 12), // 3w5e11264sgsf
    ("base36", "zzzzzzzzzzzzz", 0),
    ("crockford", "G000000000000", 0), // FZZZZZZZZZZZZ
    ("crockford", "g00000000oool", 0),
    ("bwmarrinBase32", "oyyyyyyyyyyyy", 0), // x999999999999
    ("bwmarrinBase58", "JPwcyDCgEuq", 10),  // JPwcyDCgEup
];

fn refused() -> Vec<Value> {
    let mut cases = Vec::new();
    for form in forms() {
        // A text that does not start with zero, so that it is the short text too.
        let id = if form.name == "base36" { (1 << 63) - 1 } else { 1_541_815_603_606_036_480 };
        let valid = form.fixed(id);
        let tail = &valid[1..];
        let (width, zero) = (form.width(), form.zeros(1));
        let wrong_digit = (form.rule, 0);
        for short in [false, true] {
            let wrong_length = (if short { Rule::TEXT_SHORT } else { Rule::TEXT_LENGTH }, width as u128);
            let mut add = |name: &str, text: &str, rule, position| {
                cases.push(case(form.name, short, name, text, rule, position));
            };
            add("empty", "", wrong_length, 0);
            add("one too many", &format!("{valid}{}", &valid[..1]), wrong_length, width);
            add("far too many", &valid.repeat(20), wrong_length, width);
            add("a line break at the end", &format!("{valid}\n"), wrong_length, width);
            add("one too many, and no digit", &format!("{valid}é"), wrong_length, width);
            add("only a blank", " ", wrong_digit, 0);
            add("a blank in front, one too many", &format!(" {valid}"), wrong_digit, 0);
            add("a blank in front", &format!(" {tail}"), wrong_digit, 0);
            add("a blank at the end", &format!("{} ", &valid[..width - 1]), wrong_digit, width - 1);
            for character in ["-", "+", "_", ".", "/", ":", "@", "[", "`", "{", "~", "\u{0}", "\u{7f}"] {
                if form.digits.iter().any(|digit| character.starts_with(*digit)) {
                    continue;
                }
                add(&format!("{character:?} in front"), &format!("{character}{tail}"), wrong_digit, 0);
            }
            // Of two, three, three and four bytes in UTF-8; of one, one, one and two code units in UTF-16.
            for character in ["\u{e9}", "\u{212a}", "\u{ff11}", "\u{1f642}"] {
                let name = format!("{} after two digits", character.escape_unicode());
                add(&name, &format!("{}{character}{}", &valid[..2], &valid[3..]), wrong_digit, 2);
            }
            add("\\u{e9} in the last place", &format!("{}é", &valid[..width - 1]), wrong_digit, width - 1);
            add("two that are no digits", &format!("{}+*{}", &valid[..3], &valid[5..]), wrong_digit, 3);
            if short {
                add("two zeros", &form.zeros(2), (Rule::TEXT_ZEROS, 0), 0);
                add("a zero in front", &format!("{zero}{}", &valid[..2]), (Rule::TEXT_ZEROS, 0), 0);
                add("the fixed text of 1", &form.fixed(1), (Rule::TEXT_ZEROS, 0), 0);
                add("a zero in front, and no digit", &format!("{zero}-"), (Rule::TEXT_ZEROS, 0), 0);
                add("zeros, too many", &form.zeros(width + 1), (Rule::TEXT_ZEROS, 0), 0);
            } else {
                add("one character", &valid[..1], wrong_length, 1);
                add("one too few", &valid[..width - 1], wrong_length, width - 1);
                add("one too few, and no digit", &format!("+{}", &valid[2..]), wrong_digit, 0);
                add("zeros, too many", &form.zeros(width + 1), wrong_length, width);
                add("the decimal text of 1", "1", wrong_length, 1);
            }
        }
    }
    for (form, name, text, position) in WRONG_CHARACTERS {
        let rule = forms().iter().find(|known| known.name == form).map(|form| form.rule);
        let Some(rule) = rule else { unreachable!("no form is called {form}") };
        cases.push(case(form, false, name, text, (rule, 0), position));
        let (rule, position) = if name == "0x in front" { (Rule::TEXT_ZEROS, 0) } else { (rule, position) };
        cases.push(case(form, true, name, text, (rule, 0), position));
    }
    for (form, text, position) in TOO_LARGE {
        for short in [false, true] {
            cases.push(case(form, short, "more than 64 bits", text, (Rule::ID_RANGE, MAX), position));
        }
    }
    for short in [false, true] {
        for (name, text, position) in
            [("two bits too many", "FWWhH2IXoAB", 10), ("one bit too many", "FWWhH2IXoAC", 10), ("all bits", "___________", 10)]
        {
            cases.push(case("base64url", short, name, text, (Rule::TEXT_BASE64_URL_END, 0), position));
        }
        if short {
            cases.push(case("base64url", short, "one digit", "B", (Rule::TEXT_BASE64_URL_END, 0), 0));
        }
        let wrong_length = (if short { Rule::TEXT_SHORT } else { Rule::TEXT_LENGTH }, 11);
        cases.push(case("base62", short, "more than 64 bits, and no digit", "zzzzzzzzz-z", (Rule::TEXT_BASE62, 0), 9));
        cases.push(case("base62", short, "more than 64 bits, and one too many", "zzzzzzzzzzzz", wrong_length, 11));
        for text in [json!(null), json!(12), json!(true), json!(["1"]), json!(["0", "1"]), json!({ "length": 1 })] {
            cases.push(json!({
                "name": "no string", "form": "base62", "short": short, "text": text, "jsOnly": true,
                "code": "INVALID_TEXT", "field": "text", "rule": sentence(Rule::TEXT_STRING, 0, 0),
            }));
        }
    }
    cases
}

fn refused_bytes() -> Vec<Value> {
    let case = |length: usize| {
        json!({
            "bytes": vec![1; length], "jsOnly": true,
            "code": "INVALID_TEXT", "field": "bytes", "rule": sentence(Rule::TEXT_BYTES, 0, 0), "position": length.min(8),
        })
    };
    [0, 1, 7, 9, 16].map(case).into()
}
