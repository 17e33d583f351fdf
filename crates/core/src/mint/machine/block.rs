//! A block of reserved IDs, stored as its first position and its length.
//!
//! Positions count `[tick | clock id | sequence]`, as the machine's word does; the IDs are computed from them when they are read.
//! With a rotated sequence (`SequenceStart::Wrap`) the sequence number of an ID is its position plus a number that a key and the
//! tick determine, modulo the length of the sequence.
//!
//! * **No memory**: a block of a million IDs takes as much memory as one of a single ID.
//! * **Nothing is divided**: writing IDs is one prefix for each tick and clock id, then additions.
//! * Not covered: whether the IDs may be issued. [`Machine::reserve`](crate::mint::Machine::reserve) decides that.

use super::start::Key;
use crate::layout::Geometry;

/// The IDs of one reservation: consecutive positions of the count.
///
/// ```
/// use frazil::{Code, Layout, Node};
/// use frazil::mint::{Machine, Outcome, Window};
/// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
/// let Outcome::Issued { block, .. } = machine.reserve(0, Window::OPEN, &[], 1_704_067_200_001, 2, false) else { unreachable!() };
/// assert_eq!((block.first(), block.len()), ((1 << 22) | (7 << 12), 2));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub(crate) geometry: Geometry,
    pub(crate) node: u64,
    pub(crate) first: u64,
    pub(crate) len: usize,
    /// The key that determines the rotation of the sequence for each tick and clock id; `None` if the sequence is not rotated.
    pub(crate) rotation_key: Option<Key>,
}

impl Block {
    /// The first ID.
    ///
    /// ```
    /// # use frazil::{Layout, Node};
    /// # use frazil::mint::{Machine, Outcome, Window};
    /// # let machine = Machine::new(&Layout::named("mastodon")?, Node::None, 10)?;
    /// let Outcome::Issued { block, .. } = machine.reserve(0, Window::OPEN, &[], 5, 1, false) else { unreachable!() };
    /// assert_eq!(block.first(), 5 << 16);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn first(&self) -> u64 {
        self.id(self.first, self.rotation(self.first))
    }

    /// The number of IDs in the block: at least 1.
    ///
    /// ```
    /// # use frazil::{Layout, Node};
    /// # use frazil::mint::{Machine, Outcome, Window};
    /// # let machine = Machine::new(&Layout::named("mastodon")?, Node::None, 0)?;
    /// let Outcome::Issued { block, .. } = machine.reserve(0, Window::OPEN, &[], 5, 100_000, false) else { unreachable!() };
    /// assert_eq!(block.len(), 65_536); // one tick's worth: no lead is allowed here
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a block is never empty")]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// The position after the last ID.
    #[cfg(feature = "std")]
    pub(crate) const fn end(&self) -> u64 {
        self.first.saturating_add(self.len as u64)
    }

    /// The ID at a position of the count, where the sequence of its tick and clock id is rotated by `rotation`.
    const fn id(&self, position: u64, rotation: u64) -> u64 {
        let sequence_mask = self.geometry.sequence.max();
        let rotated = (position & !sequence_mask) | (position.wrapping_add(rotation) & sequence_mask);
        self.node | self.geometry.spread(rotated)
    }

    /// The rotation of the sequence at the tick and clock id of a position.
    fn rotation(&self, position: u64) -> u64 {
        let sequence = self.geometry.sequence;
        self.rotation_key.map_or(0, |key| key.hash(position >> sequence.bits) & sequence.max())
    }

    /// Writes as many IDs of the block as `out` has room for, in increasing order of the count.
    ///
    /// ```
    /// # use frazil::{Layout, Node};
    /// # use frazil::mint::{Machine, Outcome, Window};
    /// # let machine = Machine::new(&Layout::named("mastodon")?, Node::None, 10)?;
    /// let Outcome::Issued { block, .. } = machine.reserve(0, Window::OPEN, &[], 5, 3, false) else { unreachable!() };
    /// let mut ids = [0; 3];
    /// block.write(&mut ids);
    /// assert_eq!(ids, [(5 << 16), (5 << 16) + 1, (5 << 16) + 2]);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn write(&self, out: &mut [u64]) {
        let sequence = self.geometry.sequence;
        let (step, mask) = (1 << sequence.shift, sequence.max());
        let count = self.len.min(out.len());
        let (mut position, mut rest) = (self.first, &mut out[..count]);
        while !rest.is_empty() {
            let rotation = self.rotation(position);
            // The IDs are an arithmetic progression up to the end of the tick and clock id, or up to where a rotated sequence
            // wraps: one prefix, then additions.
            let run = mask - (position & mask).max(position.wrapping_add(rotation) & mask) + 1;
            let (now, later) = rest.split_at_mut(usize::try_from(run).unwrap_or(usize::MAX).min(rest.len()));
            write_progression(now, self.id(position, rotation), step);
            position = position.wrapping_add(now.len() as u64);
            rest = later;
        }
    }
}

/// Writes `first`, and then numbers that are each `step` more than the one before.
fn write_progression(out: &mut [u64], first: u64, step: u64) {
    let mut id = first;
    // A module that is built for size gets no unrolled loop, so writing four numbers per step is twice as fast. Elsewhere the compiler
    // vectorizes only the plain loop, and four per step would be half as fast.
    #[cfg(target_arch = "wasm32")]
    let (groups, out) = out.as_chunks_mut();
    #[cfg(target_arch = "wasm32")]
    for [one, two, three, four] in groups {
        *one = id;
        *two = id.wrapping_add(step);
        *three = id.wrapping_add(2 * step);
        *four = id.wrapping_add(3 * step);
        id = id.wrapping_add(4 * step);
    }
    for slot in out {
        *slot = id;
        id = id.wrapping_add(step);
    }
}
