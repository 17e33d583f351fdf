//! Layouts and starts of the sequence, as the model of `crates/reference` has them.

use frazil::layout::{FieldKind, LayoutSpec};
use frazil::mint::SequenceStart;
use frazil_reference::{Field, Kind, Layout};

/// The same layout. The model needs no names of parts.
pub(crate) fn layout(layout: &frazil::Layout) -> Layout {
    let LayoutSpec { epoch_ms, tick_ms, unsigned, fields } = layout.spec();
    let field = |field: &frazil::layout::Field| {
        let kind = match field.kind {
            FieldKind::Time => Kind::Time,
            FieldKind::Node => Kind::Node,
            FieldKind::Clock => Kind::Clock,
            FieldKind::Sequence => Kind::Sequence,
        };
        Field { kind, bits: field.bits, name: None }
    };
    let fields = fields.iter().map(field).collect();
    Layout { epoch_ms: epoch_ms.into(), tick_ms: tick_ms.into(), unsigned, fields }
}

/// The same start, with these halves of a key.
pub(crate) const fn sequence_start(start: SequenceStart, key: [u64; 2]) -> frazil_reference::SequenceStart {
    match start {
        SequenceStart::Zero => frazil_reference::SequenceStart::Zero,
        SequenceStart::Random => frazil_reference::SequenceStart::Random(key),
        SequenceStart::Wrap => frazil_reference::SequenceStart::Wrap(key),
    }
}
