//! Any text as an ID: read exactly where it is the one text that the ID has.
#![no_main]

use frazil::Layout;
use frazil_fuzz::right_layout;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

fn input(data: &[u8]) -> Result<(Layout, &str)> {
    let mut input = Unstructured::new(data);
    let layout = match input.int_in_range(0..=3_u8)? {
        0 => right_layout(&mut input)?,
        1 => Layout::named("safe53").expect("a named layout"),
        2 => Layout::named("default").expect("a named layout"),
        _ => Layout::named("discord").expect("a named layout"),
    };
    let text = str::from_utf8(input.take_rest()).map_err(|_| libfuzzer_sys::arbitrary::Error::IncorrectFormat)?;
    Ok((layout, text))
}

fn decimal(layout: &Layout, text: &str) {
    let id = text.parse::<u64>().ok().filter(|id| *id <= layout.max_id());
    let expected = id.filter(|id| cfg!(feature = "twin") || id.to_string() == text);
    assert_eq!(layout.parse(text).ok(), expected, "{text:?}");
}

fuzz_target!(|data: &[u8]| {
    let Ok((layout, text)) = input(data) else { return };
    decimal(&layout, text);
});
