//! How the fuzz targets read their input, and what they hold the library to.
//!
//! Each target compares the library with a few lines that say the same in another way (by division, in 128 bits), and has
//! a **twin** (feature `twin`): the same with a mistake, which the fuzzer must find.

use frazil::{Field, FieldKind, Layout, LayoutSpec};
use libfuzzer_sys::arbitrary::{Result, Unstructured};

/// A number of any width: as many short ones as long ones.
///
/// # Errors
/// Where the input ends.
pub fn number(input: &mut Unstructured<'_>) -> Result<u64> {
    let unused = input.int_in_range(0..=63_u32)?;
    Ok(input.arbitrary::<u64>()? >> unused)
}

fn kind(input: &mut Unstructured<'_>) -> Result<FieldKind> {
    input.choose(&[FieldKind::Time, FieldKind::Sequence, FieldKind::Node, FieldKind::Clock]).copied()
}

/// Any layout, most of them wrong.
///
/// # Errors
/// Where the input ends.
pub fn any_spec(input: &mut Unstructured<'_>) -> Result<LayoutSpec> {
    let (epoch_ms, tick_ms, unsigned) = (number(input)?, number(input)?, input.arbitrary()?);
    let mut fields = Vec::new();
    for _ in 0..input.int_in_range(0..=40_u8)? {
        let kind = kind(input)?;
        let bits = if input.ratio(1, 16_u8)? { input.arbitrary()? } else { input.int_in_range(0..=66)? };
        let name = if input.ratio(1, 4_u8)? { Some(input.arbitrary::<String>()?.into()) } else { None };
        fields.push(Field { kind, bits, name });
    }
    Ok(LayoutSpec { epoch_ms, tick_ms, unsigned, fields })
}

/// A layout that is right: a time, a sequence, perhaps a clock and up to three parts of a node, in any order.
///
/// # Errors
/// Where the input ends, or where the widths do not add up.
pub fn right_layout(input: &mut Unstructured<'_>) -> Result<Layout> {
    let tick_ms = if input.arbitrary()? { 1 } else { number(input)? % 100_000 + 1 };
    let (epoch_ms, unsigned) = (number(input)? >> 22, input.arbitrary()?);
    let mut fields = vec![Field::time(input.int_in_range(1..=52)?), Field::sequence(input.int_in_range(1..=53)?)];
    if input.arbitrary()? {
        fields.push(Field::clock(input.int_in_range(1..=8)?));
    }
    for name in ["a", "b", "c"] {
        if input.arbitrary()? {
            fields.push(Field::part(name, input.int_in_range(1..=32)?));
        }
    }
    for at in 1..fields.len() {
        fields.swap(at, input.int_in_range(0..=at)?);
    }
    let spec = LayoutSpec { epoch_ms, tick_ms, unsigned, fields };
    Layout::new(spec).map_err(|_| libfuzzer_sys::arbitrary::Error::IncorrectFormat)
}

/// How many bits the fields of a kind have together.
#[must_use]
pub fn width(fields: &[Field], kind: FieldKind) -> u64 {
    fields.iter().filter(|field| field.kind == kind).map(|field| u64::from(field.bits)).sum()
}

/// The value that the fields of a kind have together in an ID, by division.
#[must_use]
pub fn value(fields: &[Field], id: u64, kind: FieldKind) -> u128 {
    let (mut rest, mut value, mut scale) = (u128::from(id), 0, 1);
    for field in fields.iter().rev() {
        let size = 1_u128 << field.bits;
        if field.kind == kind {
            value += rest % size * scale;
            scale *= size;
        }
        rest /= size;
    }
    value
}
