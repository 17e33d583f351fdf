//! One call of the machine, and of the fast path after it.

use frazil::layout::FieldKind;
use frazil::mint::{Key, Machine, Outcome, SequenceStart, Window};
use frazil::{Layout, Node};

use crate::KEY;

/// One call of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) layout: &'a Layout,
    pub(crate) start: SequenceStart,
    pub(crate) lead_ms: u64,
    pub(crate) word: u64,
    pub(crate) window: Window,
    pub(crate) cells: &'a [u64],
    pub(crate) now_ms: u64,
    pub(crate) want: usize,
    pub(crate) confirmed: bool,
}

/// An outcome that the model never has.
const NEVER: Outcome = Outcome::Expired { until_ms: 0 };

impl Call<'_> {
    pub(crate) fn reserve(self) -> Outcome {
        self.checked_by(Self::fast_path)
    }

    /// The ID that the fast path has for this call, after another call changed the word to `after`.
    pub(crate) fn fast_path(self, after: u64) -> Option<u64> {
        self.machine.fast_path().id(self.word, self.machine.fast_path_from(after)?, self.now_ms)
    }

    /// The outcome; or one that the model never has, if the fast path has an ID for a call that follows, and the machine another
    /// answer.
    pub(crate) fn checked_by(self, short: impl Fn(Self, u64) -> Option<u64>) -> Outcome {
        let outcome = self.machine.reserve(self.word, self.window, self.cells, self.now_ms, self.want, self.confirmed);
        let Outcome::Issued { word: after, .. } = outcome else { return outcome };
        let bits: u32 =
            self.layout.fields().iter().filter(|field| field.kind == FieldKind::Sequence).map(|field| field.bits).sum();
        let (last, tick_ms) = (after.wrapping_sub(1), self.machine.tick_ms());
        let (first, full) = (last & (u64::MAX << bits), last | !(u64::MAX << bits));
        let words = [after, after.wrapping_add(1), full.wrapping_sub(1), full, full.wrapping_add(1), first];
        let nows_ms = [self.now_ms, self.now_ms.saturating_add(1), self.now_ms.saturating_add(tick_ms)];
        for (word, now_ms) in words.into_iter().flat_map(|word| nows_ms.map(|now_ms| (word, now_ms))) {
            let call = Self { word, now_ms, want: 1, confirmed: true, ..self };
            let Some(id) = short(call, after) else { continue };
            let by_machine = self.machine.reserve(word, self.window, self.cells, now_ms, 1, true);
            let Outcome::Issued { word: next, block, leaves: None, lead_ms: 0, switched: false } = by_machine else {
                return NEVER;
            };
            if next != word.wrapping_add(1) || block.first() != id {
                return NEVER;
            }
        }
        outcome
    }

    pub(crate) fn leading(self, lead_ms: u64) -> Outcome {
        let machine = machine(self.layout, lead_ms, self.start, KEY);
        Call { machine: &machine, ..self }.reserve()
    }

    pub(crate) fn starting(self, start: SequenceStart, key: [u64; 2]) -> Outcome {
        let machine = machine(self.layout, self.lead_ms, start, key);
        Call { machine: &machine, ..self }.reserve()
    }
}

pub(crate) fn has(layout: &Layout, kind: FieldKind) -> bool {
    layout.fields().iter().any(|field| field.kind == kind)
}

/// A node id of alternating bits.
pub(crate) fn node_id(layout: &Layout) -> u64 {
    let bits: u32 = layout.fields().iter().filter(|field| field.kind == FieldKind::Node).map(|field| field.bits).sum();
    0x5555_5555 & ((1 << bits) - 1)
}

pub(crate) fn machine(layout: &Layout, lead_ms: u64, start: SequenceStart, [high, low]: [u64; 2]) -> Machine {
    let node = if has(layout, FieldKind::Node) { Node::Id(node_id(layout)) } else { Node::None };
    Machine::new(layout, node, lead_ms).unwrap().starting(start, Key::new(high, low))
}
