//! Any text, in decimal and in each text form: it is parsed exactly if it is the text that encodes the ID.
#![no_main]

use frazil::{Layout, TextForm};
use frazil_fuzz::valid_layout;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

fn input(data: &[u8]) -> Result<(Layout, &str)> {
    let mut input = Unstructured::new(data);
    let layout = match input.int_in_range(0..=3_u8)? {
        0 => valid_layout(&mut input)?,
        1 => Layout::named("safe53").expect("a named layout"),
        2 => Layout::named("default").expect("a named layout"),
        _ => Layout::named("discord").expect("a named layout"),
    };
    let text = str::from_utf8(input.take_rest()).map_err(|_| libfuzzer_sys::arbitrary::Error::IncorrectFormat)?;
    Ok((layout, text))
}

fn check_decimal(layout: &Layout, text: &str) {
    let id = text.parse::<u64>().ok().filter(|id| *id <= layout.max_id());
    let expected = id.filter(|id| cfg!(feature = "mutant") || id.to_string() == text);
    assert_eq!(layout.parse(text).ok(), expected, "{text:?}");
}

/// The digit that a form reads a character as: Crockford reads either case, and letters that look like digits as those.
fn digit(form: TextForm, letter: char) -> Option<usize> {
    let letter = match (form, letter.to_ascii_uppercase()) {
        (TextForm::Crockford, 'O') => '0',
        (TextForm::Crockford, 'I' | 'L') => '1',
        (TextForm::Crockford, upper) => upper,
        _ => letter,
    };
    form.alphabet().find(letter)
}

/// The number that the digits of a text represent, by arithmetic in 128 bits; `None` if a character is no digit of the form.
fn number(form: TextForm, text: &str) -> Option<u64> {
    let base = form.alphabet().len() as u128;
    let digits = text.chars().map(|letter| digit(form, letter));
    let number = digits.clone().try_fold(0_u128, |number, digit| number.checked_mul(base)?.checked_add(digit? as u128))?;
    if form != TextForm::Base64Url {
        return u64::try_from(number).ok();
    }
    // RFC 4648: the digits before the last are 60 bits, and the last is four bits and two zeros.
    (number.trailing_zeros() >= 2).then(|| u64::try_from(number >> 2).ok()).flatten()
}

fn check_forms(text: &str) {
    for form in TextForm::ALL {
        let id = number(*form, text);
        assert_eq!(form.decode(text).ok(), id.filter(|_| text.len() == form.width()), "{form:?}: {text:?}");
        let digits: Option<Vec<_>> = text.chars().map(|letter| digit(*form, letter)).collect();
        let short = id.filter(|_| digits.is_some_and(|digits| digits.len() == 1 || !matches!(digits[..], [] | [0, ..])));
        assert_eq!(form.short().decode(text).ok(), short, "{form:?}, short: {text:?}");
        for position in [form.decode(text).err(), form.short().decode(text).err()].into_iter().flatten().map(|e| e.position()) {
            assert!(position.is_none_or(|position| text[..position.min(text.len())].is_ascii()), "{form:?}: {text:?}");
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok((layout, text)) = input(data) else { return };
    check_decimal(&layout, text);
    check_forms(text);
});
