//! What the fuzz targets share: reading values from the input, and a model of fields.
//!
//! Each target compares the library with a short model that computes the same in another way (by division, in 128 bits). It has
//! a **mutant** (feature `mutant`): the same target with a mistake, which the fuzzer must find.

use frazil::Layout;
use frazil::layout::{Field, FieldKind, LayoutSpec};
use libfuzzer_sys::arbitrary::{Result, Unstructured};

/// A number of any width, each width with about the same probability.
///
/// # Errors
/// If the input ends.
pub fn number(input: &mut Unstructured<'_>) -> Result<u64> {
    let unused = input.int_in_range(0..=63_u32)?;
    Ok(input.arbitrary::<u64>()? >> unused)
}

fn kind(input: &mut Unstructured<'_>) -> Result<FieldKind> {
    input.choose(&[FieldKind::Time, FieldKind::Sequence, FieldKind::Node, FieldKind::Clock]).copied()
}

/// Any layout; most are invalid.
///
/// # Errors
/// If the input ends.
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

/// A valid layout: a time, a sequence, perhaps a clock and up to three node parts, in any order.
///
/// # Errors
/// If the input ends, or if the fields have too many bits together.
pub fn valid_layout(input: &mut Unstructured<'_>) -> Result<Layout> {
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

/// The number of bits that the fields of a kind have together.
#[must_use]
pub fn width(fields: &[Field], kind: FieldKind) -> u64 {
    fields.iter().filter(|field| field.kind == kind).map(|field| u64::from(field.bits)).sum()
}

/// The combined value of the fields of a kind in an ID, by division.
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
