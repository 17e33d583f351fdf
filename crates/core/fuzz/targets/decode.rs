//! Decodes any number with any layout, and composes any parts: either is refused, or gives the exact value of the model.
#![no_main]

use frazil::Layout;
use frazil::layout::{Columns, FieldKind, Parts};
use frazil_fuzz::{number, valid_layout, value, width};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

fn option(input: &mut Unstructured<'_>) -> Result<Option<u64>> {
    if input.arbitrary()? { number(input).map(Some) } else { Ok(None) }
}

fn input(data: &[u8]) -> Result<(Layout, u64, Parts)> {
    let input = &mut Unstructured::new(data);
    let (layout, id) = (valid_layout(input)?, number(input)?);
    // In half of the cases, a time at the start of one of the first 1000 ticks.
    let spec = layout.spec();
    let timestamp_ms = number(input)?;
    let near = spec.epoch_ms.saturating_add((timestamp_ms % 1000).saturating_mul(spec.tick_ms));
    let timestamp_ms = if input.arbitrary()? { near } else { timestamp_ms };
    Ok((layout, id, Parts { timestamp_ms, node: option(input)?, clock: option(input)?, sequence: number(input)? }))
}

fn check_decode(layout: &Layout, id: u64) {
    let (fields, spec) = (layout.fields(), layout.spec());
    let given = if cfg!(feature = "mutant") { id & layout.max_id() } else { id };
    let Ok(decoded) = layout.decode(given) else {
        assert!(id > layout.max_id());
        return assert!(layout.timestamp_of(id).is_err() && layout.to_signed(id).is_err());
    };
    assert!(id <= layout.max_id());
    let has = |kind| width(fields, kind) > 0;
    let of = |kind| value(fields, id, kind);
    let parts = Parts {
        timestamp_ms: decoded.timestamp_ms,
        node: decoded.node.map(u64::from),
        clock: decoded.clock.map(u64::from),
        sequence: decoded.sequence,
    };
    assert_eq!(u128::from(parts.timestamp_ms), u128::from(spec.epoch_ms) + of(FieldKind::Time) * u128::from(spec.tick_ms));
    assert_eq!(parts.node.map(u128::from), has(FieldKind::Node).then(|| of(FieldKind::Node)));
    assert_eq!(parts.clock.map(u128::from), has(FieldKind::Clock).then(|| of(FieldKind::Clock)));
    assert_eq!(u128::from(parts.sequence), of(FieldKind::Sequence));
    assert_eq!(layout.compose(parts), Ok(id));
    assert_eq!(layout.timestamp_of(id), Ok(parts.timestamp_ms));
    assert_eq!(layout.to_signed(id).and_then(|signed| layout.from_signed(signed)), Ok(id));

    let (mut times, mut nodes, mut clocks, mut sequences) = ([0], [0], [0], [0]);
    let columns = Columns { timestamp_ms: &mut times, node: &mut nodes, clock: &mut clocks, sequence: &mut sequences };
    assert_eq!(layout.decode_many(&[id], columns), Ok(()));
    assert_eq!((times, sequences), ([parts.timestamp_ms], [parts.sequence]));
    assert_eq!((nodes, clocks), ([decoded.node.unwrap_or(0)], [decoded.clock.unwrap_or(0)]));

    // If the node field lies above the time, the range needs a node id.
    for node in [None, parts.node] {
        if let (Ok(least), Ok(most)) = (layout.min_id_at(parts.timestamp_ms, node), layout.max_id_at(parts.timestamp_ms, node)) {
            assert!(least <= id && id <= most);
        }
    }
}

fn check_compose(layout: &Layout, parts: Parts) {
    if let Ok(id) = layout.compose(parts) {
        let decoded = layout.decode(id).expect("the ID was just composed");
        assert_eq!((decoded.timestamp_ms, decoded.sequence), (parts.timestamp_ms, parts.sequence));
        assert_eq!((decoded.node.map(u64::from), decoded.clock.map(u64::from)), (parts.node, parts.clock));
    }
    let (at, node) = (parts.timestamp_ms, parts.node);
    if let Ok(least) = layout.min_id_at(at, node) {
        let most = layout.max_id_at(at, node).expect("the time has a least ID");
        assert!(least <= most);
        for id in [least, most] {
            let tick_at = layout.timestamp_of(id).expect("an ID of the layout");
            assert!(tick_at <= at && at - tick_at < layout.spec().tick_ms);
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok((layout, id, parts)) = input(data) else { return };
    check_decode(&layout, id);
    check_compose(&layout, parts);
});
