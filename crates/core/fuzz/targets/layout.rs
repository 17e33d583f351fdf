//! Any layout spec: it is accepted exactly if it obeys the rules, and then the layout returns the same spec.
#![no_main]

use std::collections::HashSet;
use std::ops::Range;

use frazil::layout::{Field, FieldKind, LayoutSpec};
use frazil::{Code, Layout};
use frazil_fuzz::{any_spec, width};
use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

const LAST_DATE_MS: u128 = 8_640_000_000_000_000;
const SAFE: u64 = (1 << 53) - 1;
const IN_SECONDS: Range<u64> = 1_000_000_000..100_000_000_000;

fn last_ms(spec: &LayoutSpec) -> u128 {
    let ticks = 1_u128 << width(&spec.fields, FieldKind::Time);
    u128::from(spec.epoch_ms) + (ticks - 1) * u128::from(spec.tick_ms)
}

fn well_named(fields: &[Field]) -> bool {
    let mut seen = HashSet::new();
    fields.iter().all(|field| {
        let name = field.name.as_deref();
        if field.kind != FieldKind::Node {
            return name.is_none();
        }
        let name = name.unwrap_or("node");
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        letters && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.len() <= 32 && seen.insert(name)
    })
}

/// The rules of `docs/reference/layouts.md`.
fn is_valid(spec: &LayoutSpec) -> bool {
    let LayoutSpec { epoch_ms, tick_ms, unsigned, ref fields } = *spec;
    let count = |kind| fields.iter().filter(|field| field.kind == kind).count();
    let total: u64 = fields.iter().map(|field| u64::from(field.bits)).sum();
    epoch_ms <= SAFE
        && !IN_SECONDS.contains(&epoch_ms)
        && (1..=SAFE).contains(&tick_ms)
        && (count(FieldKind::Time), count(FieldKind::Sequence)) == (1, 1)
        && count(FieldKind::Clock) <= 1
        && fields.iter().all(|field| field.bits > 0)
        && width(fields, FieldKind::Sequence) <= 53
        && width(fields, FieldKind::Clock) <= 8
        && width(fields, FieldKind::Node) <= 32
        && total <= if unsigned { 64 } else { 63 }
        && well_named(fields)
        && (cfg!(feature = "mutant") || last_ms(spec) <= LAST_DATE_MS)
}

fuzz_target!(|data: &[u8]| {
    let Ok(spec) = any_spec(&mut Unstructured::new(data)) else { return };
    let layout = match Layout::new(spec.clone()) {
        Ok(layout) => layout,
        Err(error) => {
            assert!(!is_valid(&spec), "{error}: {spec:?}");
            assert_eq!(error.code(), Code::InvalidLayout);
            assert!(error.to_string().starts_with("INVALID_LAYOUT: "));
            return;
        }
    };
    assert!(is_valid(&spec), "accepted: {spec:?}");
    assert_eq!(layout.spec(), spec);
    assert_eq!(Layout::new(layout.spec()).as_ref(), Ok(&layout));

    let fields = layout.fields();
    let bits: u32 = fields.iter().map(|field| field.bits).sum();
    assert_eq!(layout.bits(), bits);
    assert_eq!(u128::from(layout.max_id()) + 1, 1 << bits);
    let plan = layout.plan();
    assert_eq!(u128::from(plan.last_ms), last_ms(&spec));
    assert_eq!(u128::from(plan.nodes), 1 << width(fields, FieldKind::Node));
    let count_bits = width(fields, FieldKind::Clock) + width(fields, FieldKind::Sequence);
    assert_eq!(u128::from(plan.ids_per_tick), 1 << count_bits);
    let order: Vec<FieldKind> = fields.iter().map(|field| field.kind).filter(|kind| *kind != FieldKind::Node).collect();
    let ordered = [FieldKind::Time, FieldKind::Clock, FieldKind::Sequence].into_iter().filter(|kind| order.contains(kind));
    assert_eq!(plan.ordered, ordered.eq(order.iter().copied()));
    let signed_until_ms = match fields[0].kind {
        _ if bits < 64 => Some(plan.last_ms),
        FieldKind::Time => Some(spec.epoch_ms + ((1 << (fields[0].bits - 1)) - 1) * spec.tick_ms),
        _ => None,
    };
    assert_eq!(plan.signed_until_ms, signed_until_ms);
});
