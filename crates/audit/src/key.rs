//! The order in which IDs are sorted: the bits of an ID, moved so that the time is above the node, and the node above the rest.
//!
//! So the IDs of one node in one tick follow each other, whatever the order of the fields in the layout. Bits above the layout's width
//! stay above all. What the fields are is the core's: this only moves them.

use frazil::Layout;
use frazil::layout::FieldKind;

/// A field or a part of one: where it is in the ID and in the key.
#[derive(Clone, Copy, Debug)]
struct Move {
    mask: u64,
    id_shift: u32,
    key_shift: u32,
}

/// How IDs become keys, and what the bits of a key mean.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    moves: Vec<Move>,
    is_same: bool,
    outside_mask: u64,
    low_mask: u64,
    node_mask: u64,
    pub(crate) epoch_ms: i64,
    pub(crate) tick_ms: i64,
    pub(crate) time_shift: u32,
    pub(crate) time_bits: u32,
    pub(crate) node_shift: u32,
    pub(crate) node_bits: u32,
    /// The width of clock and sequence together: the bits below the node.
    pub(crate) low_bits: u32,
    pub(crate) sequence_bits: u32,
    /// Whether the sequence is at the low end of the ID.
    pub(crate) ends_in_sequence: bool,
}

impl Keys {
    pub(crate) fn new(layout: &Layout) -> Self {
        let rank = |kind| match kind {
            FieldKind::Time => 3,
            FieldKind::Node => 2,
            FieldKind::Clock => 1,
            FieldKind::Sequence => 0,
        };
        let mut id_shift = 0;
        // From the least significant field up, with the place in the ID.
        let mut fields: Vec<(FieldKind, u32, u32)> = Vec::new();
        for field in layout.fields().iter().rev() {
            fields.push((field.kind, field.bits, id_shift));
            id_shift += field.bits;
        }
        let ends_in_sequence = fields.first().is_some_and(|field| field.0 == FieldKind::Sequence);
        // Stable, so the parts of a node keep their order.
        fields.sort_by_key(|field| rank(field.0));
        let width = |kind| fields.iter().filter(|field| field.0 == kind).map(|field| field.1).sum::<u32>();
        let sequence_bits = width(FieldKind::Sequence);
        let low_bits = sequence_bits + width(FieldKind::Clock);
        let node_bits = width(FieldKind::Node);
        let mut key_shift = 0;
        let mut moves = Vec::new();
        for &(_, bits, id_shift) in &fields {
            moves.push(Move { mask: ones(bits), id_shift, key_shift });
            key_shift += bits;
        }
        let spec = layout.spec();
        Self {
            is_same: moves.iter().all(|one| one.id_shift == one.key_shift),
            moves,
            outside_mask: !ones(layout.bits()),
            low_mask: ones(low_bits),
            node_mask: ones(node_bits),
            // Both are safe integers of JavaScript.
            epoch_ms: spec.epoch_ms.cast_signed(),
            tick_ms: spec.tick_ms.cast_signed(),
            time_shift: low_bits + node_bits,
            time_bits: width(FieldKind::Time),
            node_shift: low_bits,
            node_bits,
            low_bits,
            sequence_bits,
            ends_in_sequence,
        }
    }

    #[inline]
    pub(crate) fn key(&self, id: u64) -> u64 {
        if self.is_same {
            return id;
        }
        let kept = id & self.outside_mask;
        self.moves.iter().fold(kept, |key, one| key | (((id >> one.id_shift) & one.mask) << one.key_shift))
    }

    pub(crate) fn id(&self, key: u64) -> u64 {
        if self.is_same {
            return key;
        }
        let kept = key & self.outside_mask;
        self.moves.iter().fold(kept, |id, one| id | (((key >> one.key_shift) & one.mask) << one.id_shift))
    }

    #[inline]
    pub(crate) fn tick(&self, key: u64) -> u64 {
        key >> self.time_shift
    }

    /// The node id; 0 without a node field.
    #[inline]
    pub(crate) fn node(&self, key: u64) -> u32 {
        // At most 32 bits wide.
        ((key >> self.node_shift) & self.node_mask) as u32
    }

    #[inline]
    pub(crate) fn low(&self, key: u64) -> u64 {
        key & self.low_mask
    }

    /// Whether the layout cannot have issued the ID: it has bits above the width.
    #[inline]
    pub(crate) fn is_outside(&self, key: u64) -> bool {
        key & self.outside_mask != 0
    }

    /// Unix milliseconds of a tick that the layout holds, so this does not overflow.
    #[inline]
    pub(crate) fn ms(&self, tick: u64) -> i64 {
        self.epoch_ms.wrapping_add(tick.cast_signed().wrapping_mul(self.tick_ms))
    }

    pub(crate) fn ms_of(&self, key: u64) -> i64 {
        self.ms(self.tick(key))
    }

    /// The last tick that begins at or before a time; `None` before the epoch.
    pub(crate) fn tick_at(&self, ms: i64) -> Option<u64> {
        u64::try_from(ms.checked_sub(self.epoch_ms)?).ok().map(|since_ms| since_ms / self.tick_ms.cast_unsigned())
    }
}

pub(crate) const fn ones(bits: u32) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
}
