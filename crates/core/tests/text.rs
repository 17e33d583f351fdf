//! The text forms compared with a model that divides, and the properties of each form for any ID and any text.
//!
//! `PROPTEST_CASES` sets the number of cases of each property.
#![allow(clippy::unwrap_used, reason = "a property that cannot be set up has failed")]

use frazil::error::Rule;
use frazil::{Code, Error, TextForm};
use proptest::prelude::*;

fn cases() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn form() -> impl Strategy<Value = TextForm> {
    prop::sample::select(TextForm::ALL)
}

/// IDs of every length, and those around the powers of the bases.
fn id() -> impl Strategy<Value = u64> {
    let near = (prop::sample::select(&[2_u64, 16, 32, 36, 58, 62, 64][..]), 0..64_u32, any::<u64>(), 0..3_u64).prop_map(
        |(base, exponent, multiple, above)| {
            let power = base.checked_pow(exponent).unwrap_or(1);
            (multiple / power * power).wrapping_add(above).wrapping_sub(1)
        },
    );
    prop_oneof![any::<u64>(), (any::<u64>(), 0..64_u32).prop_map(|(id, shift)| id >> shift), near]
}

/// A form and a text that encodes an ID, almost encodes one, or does not.
fn form_and_text() -> impl Strategy<Value = (TextForm, String)> {
    form().prop_flat_map(|form| {
        let digit = prop::sample::select(form.alphabet().chars().collect::<Vec<_>>());
        let digits = |lengths| prop::collection::vec(digit.clone(), lengths).prop_map(|digits| digits.into_iter().collect());
        let largest = form.encode(u64::MAX);
        let close = (0..largest.len(), digit.clone(), digits(0..=16))
            .prop_map(move |(at, digit, rest): (_, _, String)| format!("{}{digit}{rest}", &largest[..at]));
        let width = form.width();
        let text = prop_oneof![digits(width..=width), digits(0..=width + 2), close, "[0-9A-Za-z_-]{0,17}", any::<String>()];
        (Just(form), text)
    })
}

/// What the number that a text represents is divided by to get the ID: eleven digits of six bits have two more than an ID.
fn times(form: TextForm) -> u128 {
    if form == TextForm::Base64Url { 4 } else { 1 }
}

/// The digits of a number, by division.
fn model(form: TextForm, id: u64) -> String {
    let digits: Vec<char> = form.alphabet().chars().collect();
    let (base, mut rest, mut text) = (digits.len() as u128, u128::from(id) * times(form), Vec::new());
    for _ in 0..form.width() {
        text.push(digits[usize::try_from(rest % base).unwrap()]);
        rest /= base;
    }
    assert_eq!(rest, 0, "the width is too small");
    text.iter().rev().collect()
}

/// The same without leading zeros.
fn short_model(form: TextForm, id: u64) -> String {
    let text = model(form, id);
    let short = text.trim_start_matches(&form.alphabet()[..1]);
    if short.is_empty() { text[text.len() - 1..].to_owned() } else { short.to_owned() }
}

/// The digit that a form reads a character as.
fn canonical(form: TextForm, digit: char) -> char {
    match (form, digit.to_ascii_uppercase()) {
        (TextForm::Crockford, 'I' | 'L') => '1',
        (TextForm::Crockford, 'O') => '0',
        (TextForm::Crockford, upper) => upper,
        _ => digit,
    }
}

/// The ID of the digits, or `None` if it is too large or a fraction, or a character is no digit.
fn value(form: TextForm, text: &str) -> Option<u64> {
    let base = form.alphabet().len() as u128;
    let number = text.chars().try_fold(0_u128, |number, digit| {
        let value = form.alphabet().find(canonical(form, digit))? as u128;
        Some((number * base + value).min(1 << 67))
    })?;
    (number % times(form) == 0).then(|| u64::try_from(number / times(form)).ok()).flatten()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_text_has_the_digits_of_its_id(form in form(), id in id()) {
        prop_assert_eq!(form.encode(id), model(form, id));
        prop_assert_eq!(form.short().encode(id), short_model(form, id));
    }

    #[test]
    fn decoding_a_text_gives_the_id_it_encodes(form in form(), id in id()) {
        prop_assert_eq!(form.decode(&form.encode(id)), Ok(id));
        prop_assert_eq!(form.short().decode(&form.short().encode(id)), Ok(id));
    }

    #[test]
    fn fixed_texts_of_ascending_alphabets_sort_as_their_ids(form in form(), a in id(), b in id()) {
        if form.is_ordered() {
            prop_assert_eq!(form.encode(a).as_bytes().cmp(form.encode(b).as_bytes()), a.cmp(&b));
        }
    }

    #[test]
    fn a_text_that_can_be_decoded_is_the_one_that_encoding_gives_but_for_what_crockford_reads((form, text) in form_and_text()) {
        let fixed = (text.len() == form.width()).then(|| value(form, &text)).flatten();
        prop_assert_eq!(form.decode(&text).ok(), fixed);
        let read_as: String = text.chars().map(|digit| canonical(form, digit)).collect();
        let zeros = text.len() > 1 && read_as.starts_with(&form.alphabet()[..1]);
        let short = (!text.is_empty() && !zeros).then(|| value(form, &text)).flatten();
        prop_assert_eq!(form.short().decode(&text).ok(), short);
        for (read, written) in [(form.decode(&text), model as fn(_, _) -> _), (form.short().decode(&text), short_model)] {
            match read {
                Ok(id) => prop_assert_eq!(written(form, id), &read_as[..]),
                Err(error) => {
                    prop_assert_eq!(error.code(), Code::InvalidText);
                    // Everything before the position is right, so it is the position of a character.
                    let position = error.position().unwrap();
                    let before = text.get(..position).filter(|_| position <= form.width());
                    let is_right = before.is_some_and(|before| before.chars().all(|digit| form.alphabet().contains(canonical(form, digit))));
                    prop_assert!(is_right, "position {}", position);
                }
            }
        }
    }

    #[test]
    fn the_error_names_the_position_of_one_wrong_character(
        form in form(), id in id(), at in any::<prop::sample::Index>(), any in any::<char>(),
    ) {
        let at = at.index(form.width());
        let wrong = if form.alphabet().contains(canonical(form, any)) { '+' } else { any };
        let digits = form.encode(id);
        let text = format!("{}{wrong}{}", &digits[..at], &digits[at + 1..]);
        let error = form.decode(&text).unwrap_err();
        prop_assert_eq!(error.position(), Some(at));
        prop_assert_eq!(error.rule(), digit_rule(form));
    }

    #[test]
    fn many_ids_are_encoded_and_decoded_as_single_ones(form in form(), ids in prop::collection::vec(id(), 0..20)) {
        let texts: Vec<String> = ids.iter().map(|id| form.encode(*id)).collect();
        let mut written = vec![0; ids.len() * form.width()];
        form.encode_many(&ids, &mut written).unwrap();
        prop_assert_eq!(written, texts.concat().into_bytes());
        let mut read = vec![0; ids.len()];
        form.decode_many(&texts, &mut read).unwrap();
        prop_assert_eq!(&read, &ids);
        let short: Vec<String> = ids.iter().map(|id| form.short().encode(*id)).collect();
        form.short().decode_many(&short, &mut read).unwrap();
        prop_assert_eq!(&read, &ids);
    }

    #[test]
    fn the_error_names_one_wrong_text_among_many_and_no_id_is_written(
        form in form(), ids in prop::collection::vec(id(), 1..20), at in any::<prop::sample::Index>(), short in any::<bool>(),
    ) {
        let at = at.index(ids.len());
        let encode = |id: &u64| if short { form.short().encode(*id) } else { form.encode(*id) };
        let mut texts: Vec<String> = ids.iter().map(encode).collect();
        texts[at].insert(0, '*');
        let mut read = vec![7; ids.len()];
        let refused = if short { form.short().decode_many(&texts, &mut read) } else { form.decode_many(&texts, &mut read) };
        let error = refused.unwrap_err();
        prop_assert_eq!((error.index(), error.position(), error.value()), (Some(at), Some(0), None));
        prop_assert!(read.iter().all(|id| *id == 7));
    }
}

fn digit_rule(form: TextForm) -> Rule {
    match form {
        TextForm::Hex => Rule::TextHex,
        TextForm::Base32 => Rule::TextBase32,
        TextForm::Base58 => Rule::TextBase58,
        TextForm::Base62 => Rule::TextBase62,
        TextForm::Base36 => Rule::TextBase36,
        TextForm::Crockford => Rule::TextCrockford,
        TextForm::Base64Url => Rule::TextBase64Url,
        _ => Rule::TextAlphabet,
    }
}

#[test]
fn output_of_the_wrong_length_is_refused_and_not_written() {
    let refused = |error: Result<(), Error>, needed: &str| {
        let error = error.unwrap_err();
        assert_eq!((error.code(), error.position(), error.index()), (Code::InvalidArgument, None, None));
        assert!(error.to_string().contains(&format!("must be an integer {needed}, got ")), "{error}");
    };
    let form = TextForm::Base62;
    for room in [0, 1, 21, 23, 33] {
        let mut texts = vec![b'?'; room];
        refused(form.encode_many(&[1, 2], &mut texts), "from 22 to 22");
        assert_eq!(texts, vec![b'?'; room]);
    }
    for room in [0, 1, 3] {
        let mut ids = vec![7; room];
        refused(form.decode_many(&["00000000001", "00000000002"], &mut ids), "from 2 to 2");
        refused(form.short().decode_many(&["1", "2"], &mut ids), "from 2 to 2");
        assert_eq!(ids, vec![7; room]);
    }
}

#[test]
fn an_error_names_the_text_the_position_and_the_rule() {
    let form = TextForm::Base58;
    assert_eq!(
        form.decode("4aaW4SzAy0K").unwrap_err().to_string(),
        format!("INVALID_TEXT: text {}, wrong at byte 9", Rule::TextBase58.template())
    );
    let many = form.short().decode_many(&["2", "3", ""], &mut [0; 3]).unwrap_err();
    assert_eq!(many.to_string(), "INVALID_TEXT: text 2 must have 1 to 11 characters, wrong at byte 0");
    assert_eq!(
        form.decode("zzzzzzzzzzz").unwrap_err().to_string(),
        "INVALID_TEXT: text must be an ID from 0 to 18446744073709551615, wrong at byte 0"
    );
    assert_eq!((many.field(), many.value(), many.retry_after_ms()), ("text", None, 0));
}

#[test]
fn a_text_in_a_format_string_is_padded_like_a_str() {
    assert_eq!(format!("[{:>8}]", TextForm::Base62.short().display(62)), "[      10]");
    assert_eq!(format!("[{:<18}]", TextForm::Hex.display(255)), "[00000000000000ff  ]");
}
