//! Public IDs: the vectors of an independent implementation (`crates/reference/public.py`), and the properties of both forms for any ID,
//! key, layout and text.
//!
//! `PROPTEST_CASES` sets the number of cases of each property. That the rounds suffice and permute is tested beside the code
//! (`src/public/network.rs`).
#![allow(clippy::unwrap_used, reason = "a property that cannot be set up has failed")]

use std::slice::from_ref;

use frazil::error::Rule;
use frazil::public::{Derivation, Key, Sealed, Short};
use frazil::{Code, Error, Layout};
use proptest::prelude::*;
use serde_json::Value;

mod vector_files;

use vector_files::{camel, cases, id, in_rust, layout, read, whole};

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn bytes(value: &Value) -> [u8; 16] {
    u128::from_str_radix(text(value), 16).unwrap().to_be_bytes()
}

fn fingerprint(key: &Key) -> String {
    format!("{:016x}", u64::from_be_bytes(key.fingerprint()))
}

fn key(file: &Value, name: &Value) -> Key {
    Key::from_bytes(bytes(&cases(file, "keys").iter().find(|key| key["name"] == *name).unwrap()["key"])).unwrap()
}

/// Either form, with the keys of a case.
enum Ids {
    Sealed(Sealed),
    Short(Short),
}

impl Ids {
    fn new(file: &Value, case: &Value) -> Self {
        let (kind, layout) = (text(&case["kind"]), layout(file, &case["layout"]));
        let keys = case["keys"].as_array().unwrap();
        if keys[0].is_string() {
            let keys: Vec<_> = keys.iter().map(|name| key(file, name)).collect();
            return Self::Sealed(Sealed::new(&keys, kind, &layout).unwrap());
        }
        let slot = |named: &Value| u32::try_from(whole(&named["slot"])).unwrap();
        let keys: Vec<_> = keys.iter().map(|named| (slot(named), key(file, &named["key"]))).collect();
        Self::Short(Short::new(&keys, kind, &layout).unwrap())
    }

    fn decode(&self, text: &str) -> Result<u64, Error> {
        match self {
            Self::Sealed(ids) => ids.decode(text),
            Self::Short(ids) => ids.decode(text),
        }
    }
}

#[test]
fn keys_their_texts_and_fingerprints_are_those_of_the_vectors() {
    let file = read("public");
    for case in cases(&file, "keys") {
        let key = Key::from_bytes(bytes(&case["key"])).unwrap();
        assert_eq!(key.to_text(), text(&case["text"]));
        assert_eq!(fingerprint(&key), text(&case["fingerprint"]));
        let parsed = Key::parse(text(&case["text"])).unwrap();
        assert_eq!(parsed.derive(Derivation::Sealed, "a"), key.derive(Derivation::Sealed, "a"));
    }
    for case in cases(&file, "refusedKeys").iter().filter(|case| in_rust(case)) {
        let error = Key::parse(text(&case["text"])).err().unwrap();
        let expected = match text(&case["why"]) {
            // A checksum of more than 32 bits is no number of the right length.
            "checksum" if !text(&case["name"]).starts_with("2^32") => Rule::KeyChecksum,
            "equal" => Rule::KeyFilled,
            _ => Rule::KeyText,
        };
        assert_eq!((error.code(), error.field(), error.rule()), (Code::InvalidOption, "key", expected), "{case}");
        assert!(!error.to_string().contains("4MHT"), "{error}");
    }
}

#[test]
fn derived_keys_are_those_of_the_vectors() {
    let file = read("public");
    for case in cases(&file, "derived") {
        let key = key(&file, &case["key"]);
        let purposes = [Derivation::Sealed, Derivation::Short, Derivation::Fingerprint];
        let purpose = *purposes.iter().find(|purpose| purpose.label() == text(&case["label"])).unwrap();
        let derived = match purpose {
            Derivation::Fingerprint => fingerprint(&key),
            _ => format!("{:032x}", u128::from_be_bytes(key.derive(purpose, text(&case["kind"])).unwrap())),
        };
        assert!(text(&case["derived"]).starts_with(&derived), "{case}: {derived}");
    }
    let key = key(&file, &"a".into());
    for kind in cases(&file, "kinds") {
        assert!(key.derive(Derivation::Sealed, text(kind)).is_ok(), "{kind}");
    }
    for kind in cases(&file, "refusedKinds") {
        let error = key.derive(Derivation::Short, text(kind)).unwrap_err();
        assert_eq!((error.code(), error.field(), error.rule()), (Code::InvalidOption, "kind", Rule::KindSyntax), "{kind}");
    }
}

#[test]
fn both_forms_write_and_read_what_the_vectors_say() {
    let file = read("public");
    for case in cases(&file, "sealed") {
        let layout = layout(&file, &case["layout"]);
        let ids = Sealed::new(&[key(&file, &case["key"])], text(&case["kind"]), &layout).unwrap();
        assert_eq!(ids.encode(id(&case["id"])).unwrap(), text(&case["text"]), "{case}");
        assert_eq!(ids.decode(text(&case["text"])), Ok(id(&case["id"])), "{case}");
    }
    for case in cases(&file, "short") {
        let (layout, slot) = (layout(&file, &case["layout"]), u32::try_from(whole(&case["slot"])).unwrap());
        let ids = Short::new(&[(slot, key(&file, &case["key"]))], text(&case["kind"]), &layout).unwrap();
        assert_eq!(ids.encode(id(&case["id"])).unwrap(), text(&case["text"]), "{case}");
        assert_eq!(ids.decode(text(&case["text"])), Ok(id(&case["id"])), "{case}");
    }
    for case in cases(&file, "rotated") {
        assert_eq!(Ids::new(&file, case).decode(text(&case["text"])), Ok(id(&case["id"])), "{case}");
    }
}

#[test]
fn what_the_vectors_refuse_is_refused_for_their_reason() {
    let file = read("public");
    for case in cases(&file, "refusedSealed").iter().chain(cases(&file, "refusedShort")).filter(|case| in_rust(case)) {
        let error = Ids::new(&file, case).decode(text(&case["text"])).expect_err(&case.to_string());
        assert_eq!((error.code(), camel(error.field()).as_str()), (Code::InvalidText, "text"), "{case}");
        let (why, rule) = (text(&case["why"]), error.rule());
        let is_reason = match why {
            // A letter outside ASCII has several bytes, so the text is too long or has a wrong byte before that.
            "length" | "digit" => matches!(rule, Rule::TextLength | Rule::TextBase62),
            "slot" => rule == Rule::ShortSlot,
            _ => rule == Rule::SealedText,
        };
        assert!(is_reason && error.position().is_some() == matches!(why, "length" | "digit"), "{case}: {error}");
    }
}

#[test]
fn keys_of_one_list_differ_and_so_do_their_slots() {
    let (file, layout) = (read("public"), Layout::named("default").unwrap());
    let [a, b, c] = ["a", "b", "c"].map(|name| key(&file, &name.into()));
    let sealed = |keys: &[Key]| Sealed::new(keys, "user", &layout).err().map(|error| error.to_string());
    let short = |keys: &[(u32, &Key)]| {
        let keys: Vec<_> = keys.iter().map(|(slot, key)| (*slot, (*key).clone())).collect();
        Short::new(&keys, "user", &layout).err().map(|error| error.to_string())
    };
    let said = |text: &str| Some(format!("INVALID_OPTION: {text}"));
    assert_eq!(sealed(&[a.clone(), b.clone(), c.clone()]), None);
    assert_eq!(sealed(&[a.clone(), b.clone(), a.clone()]), said("key must differ from the other keys"));
    assert_eq!(short(&[(0, &a), (4, &b), (1, &c)]), None);
    assert_eq!(short(&[(0, &a), (1, &b), (2, &a)]), said("key must differ from the other keys"));
    assert_eq!(short(&[(0, &a), (1, &b), (1, &c)]), said("slot must differ from the other slots, got 1"));
    assert_eq!(short(&[(5, &a)]), said("slot must be an integer from 0 to 4, got 5"));
    let many: Vec<_> =
        (0..17).map(|first| Key::from_bytes(core::array::from_fn(|at| first + u8::from(at == 9))).unwrap()).collect();
    assert_eq!(sealed(&many[1..]), None);
    for keys in [&many[..0], &many[..]] {
        assert_eq!(sealed(keys), said("keys must be a list of 1 to 16 keys"));
    }
    assert_eq!(short(&[]), said("keys must be a list of 1 to 16 keys"));
}

fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(500);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn any_layout() -> impl Strategy<Value = Layout> {
    let names: Vec<_> = Layout::names().collect();
    prop::sample::select(names).prop_map(|name| Layout::named(name).unwrap())
}

/// IDs of every length of a layout, and its first and last ones.
fn layout_and_id() -> impl Strategy<Value = (Layout, u64)> {
    let number = prop_oneof![any::<u64>(), (any::<u64>(), 0..64_u32).prop_map(|(id, shift)| id >> shift)];
    let place = prop_oneof![number, 0..3_u64, (0..3_u64).prop_map(|below| u64::MAX - below)];
    (any_layout(), place).prop_map(|(layout, id)| {
        let id = id & layout.max_id();
        (layout, id)
    })
}

fn forms(key: Key, layout: &Layout) -> (Sealed, Short) {
    let sealed = Sealed::new(from_ref(&key), "user", layout);
    (sealed.unwrap(), Short::new(&[(0, key)], "user", layout).unwrap())
}

fn any_key() -> impl Strategy<Value = Key> {
    any::<[u8; 16]>().prop_filter_map("equal bytes", |bytes| Key::from_bytes(bytes).ok())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_id_has_one_text_of_each_form_which_opens_to_it_alone(
        key in any_key(), other in any_key(), (layout, id) in layout_and_id(), slot in 0..5_u32
    ) {
        let sealed = Sealed::new(from_ref(&key), "user", &layout).unwrap();
        let text = sealed.encode(id).unwrap();
        prop_assert_eq!(text.len(), Sealed::WIDTH);
        prop_assert_eq!(sealed.decode(&text), Ok(id));
        let is_other = other.fingerprint() != key.fingerprint();
        let others = [(other, "user"), (key.clone(), "org")];
        for (key, kind) in others.iter().filter(|(_, kind)| *kind == "org" || is_other) {
            prop_assert!(Sealed::new(from_ref(key), kind, &layout).unwrap().decode(&text).is_err());
        }
        let has_slot = layout.max_id() >> 63 == 0 || slot < 2;
        let short = Short::new(&[(slot, key.clone())], "user", &layout);
        prop_assert_eq!(short.is_ok(), has_slot);
        if let Ok(short) = short {
            let text = short.encode(id).unwrap();
            prop_assert_eq!(text.len(), Short::WIDTH);
            prop_assert_eq!(short.decode(&text), Ok(id));
            let other = Short::new(&[(1 - slot.min(1), key)], "user", &layout).unwrap().decode(&text);
            prop_assert_eq!(other.map_err(|error| error.rule()), Err(Rule::ShortSlot));
        }
    }

    #[test]
    fn an_id_outside_the_layout_is_refused(key in any_key(), layout in any_layout(), above: u64) {
        prop_assume!(layout.max_id() < u64::MAX);
        let id = layout.max_id().saturating_add(1).saturating_add(above);
        let (sealed, short) = forms(key, &layout);
        for error in [sealed.encode(id), short.encode(id)] {
            let error = error.unwrap_err();
            prop_assert_eq!((error.code(), error.value()), (Code::InvalidId, Some(id.into())));
        }
    }

    #[test]
    fn a_text_that_was_changed_anywhere_is_refused(key in any_key(), id: u64, at in 0..22_usize, digit in "[0-9A-Za-z]") {
        let ids = Sealed::new(&[key], "user", &Layout::named("discord").unwrap()).unwrap();
        let mut text = ids.encode(id).unwrap();
        prop_assume!(text[at..=at] != digit);
        text.replace_range(at..=at, &digit);
        prop_assert_eq!(ids.decode(&text).map_err(|error| error.rule()), Err(Rule::SealedText));
    }

    #[test]
    fn any_text_is_refused_or_is_what_is_written(key in any_key(), text in prop_oneof!["[0-9A-Za-z]{11}", "[0-9A-Za-z]{22}", any::<String>()]) {
        let (sealed, short) = forms(key, &Layout::named("default").unwrap());
        prop_assert!(sealed.decode(&text).is_ok_and(|id| sealed.encode(id).unwrap() == text) || sealed.decode(&text).is_err());
        prop_assert!(short.decode(&text).is_err() || short.encode(short.decode(&text).unwrap()).unwrap() == text);
        if let Some(position) = sealed.decode(&text).err().and_then(|error| error.position()) {
            prop_assert!(text.as_bytes()[..position.min(text.len())].is_ascii());
        }
    }
}
