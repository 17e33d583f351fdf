//! What the tables have in common: how a file begins, and how names are spelt.

use frazil::error::Class;

/// What each file begins with.
pub(super) const HEADER: &str = "// Written by `cargo run -p xtask -- tables` from crates/core. Do not edit.\n\n";

/// In the order of their codes' numbers.
pub(super) const CLASSES: [Class; 4] = [Class::Config, Class::Clock, Class::Lease, Class::Decode];

/// `max_lead_ms` becomes `maxLeadMs`.
pub(super) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        name.push_str(&word[..1].to_uppercase());
        name.push_str(&word[1..]);
        name
    })
}

/// `WholeNumber` becomes `WHOLE_NUMBER`.
pub(super) fn constant_name(name: &str) -> String {
    name.char_indices().fold(String::new(), |mut constant, (index, letter)| {
        if index != 0 && letter.is_ascii_uppercase() {
            constant.push('_');
        }
        constant.push(letter.to_ascii_uppercase());
        constant
    })
}
