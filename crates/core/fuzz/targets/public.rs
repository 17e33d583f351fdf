//! Any key, kind, layout and text: a public text is read exactly if it is the text that encodes the ID, and any other is refused.
#![no_main]

use frazil::Layout;
use frazil::public::{Key, Sealed, Short};
use libfuzzer_sys::arbitrary::{Error, Result, Unstructured};
use libfuzzer_sys::fuzz_target;

struct Input<'a> {
    key: Key,
    layout: Layout,
    slot: u32,
    id: u64,
    /// What is changed in texts that encode an ID: the position and the new character.
    change: (u8, u8),
    text: &'a str,
}

fn input(data: &[u8]) -> Result<Input<'_>> {
    let mut input = Unstructured::new(data);
    let layout = *input.choose(&["default", "discord", "safe53"])?;
    Ok(Input {
        key: Key::from_bytes(input.arbitrary()?).map_err(|_| Error::IncorrectFormat)?,
        layout: Layout::named(layout).expect("a named layout"),
        slot: input.int_in_range(0..=6)?,
        id: input.arbitrary()?,
        change: input.arbitrary()?,
        text: str::from_utf8(input.take_rest()).map_err(|_| Error::IncorrectFormat)?,
    })
}

/// A text that was read is the only one of its ID. `mutant`: this holds for texts with lower case in place of upper case too.
fn check(text: &str, decode: impl Fn(&str) -> Option<u64>, encode: impl Fn(u64) -> Option<String>) {
    if let Some(id) = decode(text) {
        let own = encode(id).expect("an ID of the layout");
        assert_eq!(own, if cfg!(feature = "mutant") { text.to_ascii_lowercase() } else { text.to_owned() });
    }
}

/// A text that differs from another one in at most one character.
fn near(own: &str, (at, letter): (u8, u8)) -> String {
    let changed = usize::from(at) % own.len();
    own.char_indices().map(|(at, own)| if at == changed { char::from(letter) } else { own }).collect()
}

fuzz_target!(|data: &[u8]| {
    let Ok(Input { key, layout, slot, id, change, text }) = input(data) else { return };
    // A text whose checksum is right is hardly found by chance.
    assert!(Key::parse(text).is_err() || Key::parse(text).is_ok_and(|key| key.to_text() == text), "{text:?}");
    assert_eq!(Key::parse(&key.to_text()).map(|key| key.fingerprint()).ok(), Some(key.fingerprint()));
    let kind = if text.len() % 2 == 0 { "user" } else { text };
    let Ok(sealed) = Sealed::new(core::slice::from_ref(&key), kind, &layout) else {
        assert!(Short::new(&[(0, key)], kind, &layout).is_err(), "both forms have one rule of kinds: {kind:?}");
        return;
    };
    check(text, |text| sealed.decode(text).ok(), |id| sealed.encode(id).ok());
    assert_eq!(sealed.encode(id).is_ok(), id <= layout.max_id());
    if let Ok(own) = sealed.encode(id) {
        assert_eq!(sealed.decode(&own), Ok(id));
        check(&near(&own, change), |text| sealed.decode(text).ok(), |id| sealed.encode(id).ok());
    }
    let short = Short::new(&[(slot, key)], kind, &layout);
    assert_eq!(short.is_ok(), slot <= if layout.max_id() >> 63 == 0 { 4 } else { 1 });
    let Ok(short) = short else { return };
    check(text, |text| short.decode(text).ok(), |id| short.encode(id).ok());
    if let Ok(own) = short.encode(id) {
        assert_eq!(short.decode(&own), Ok(id));
        check(&near(&own, change), |text| short.decode(text).ok(), |id| short.encode(id).ok());
    }
});
