//! A generator for one owner that takes IDs in blocks.
//!
//! A compare-and-swap for each ID costs a fifth of a read of the clock. An owner that calls often can avoid it: the first call in a tick
//! reserves one ID, and each call that finds its block used up reserves a block twice as long. The rest of a block is served as long as the
//! clock stays in the tick in which it was reserved, so an ID is never older than that tick.
//!
//! * **The same state**: blocks are reserved from the state that other generators share, and nothing is issued twice.
//! * Not covered: `fork`. A child has a copy of the block, and would serve it too.

use super::generator::Generator;
use super::stats::Stats;
use crate::clock::Clock;
use crate::error::Result;

/// Mints for one owner from the state of a [`Generator`]: by `&mut`, and without a compare-and-swap for most IDs.
///
/// This type is:
///
/// * **Strictly increasing**, in an ordered layout ([`crate::layout::Plan::ordered`]); its IDs interleave with those of the state's other
///   generators.
/// * **As recent as the tick**: an ID is served only in the tick of the clock in which it was reserved, however long it waited.
/// * **Non-blocking**, as a generator.
///
/// When the tick is over, the rest of its block is never issued: at most as many IDs as were served in the tick. Do not use it
/// across `fork`.
///
/// ```
/// use frazil::{GeneratorOptions, Layout, Node, Registry, SystemClock};
/// let ids = Registry::new().open(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
/// let mut unshared = ids.unshared();
/// let (first, other, second) = (unshared.next(&SystemClock)?, ids.next(&SystemClock)?, unshared.next(&SystemClock)?);
/// assert!(first < second && other != first && other != second);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Debug)]
pub struct Unshared {
    generator: Generator,
    block: [u64; LONGEST],
    /// Which ID of the block is the next one, and where the block ends.
    next: usize,
    end: usize,
    /// The clock's tick in which the block was reserved.
    from_ms: u64,
    length_ms: u64,
    /// The number of IDs of earlier blocks that were never served.
    dropped: u64,
}

/// The longest block. At a fifth of a clock read each, its compare-and-swaps cost a hundredth of its clock reads.
const LONGEST: usize = 64;

impl Generator {
    /// A generator on the same state for one owner, with `&mut` calls and no compare-and-swap for most IDs.
    ///
    /// ```
    /// # use frazil::{Generator, GeneratorOptions, Layout, Node};
    /// # use frazil::clock::ManualClock;
    /// let ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// assert_eq!(ids.unshared().next(&ManualClock::new(1_704_067_200_000))?, 7 << 12);
    /// assert_eq!(ids.next(&ManualClock::new(1_704_067_200_000))?, (7 << 12) + 1);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn unshared(&self) -> Unshared {
        Unshared::new(self.clone())
    }
}

impl Unshared {
    const fn new(generator: Generator) -> Self {
        Self { generator, block: [0; LONGEST], next: 0, end: 0, from_ms: 0, length_ms: 0, dropped: 0 }
    }

    /// The next ID.
    ///
    /// # Errors
    /// As [`Generator::next`].
    ///
    /// ```
    /// use frazil::{Generator, GeneratorOptions, Layout, Node};
    /// use frazil::clock::ManualClock;
    /// let clock = ManualClock::new(1_704_067_200_001);
    /// let mut ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?.unshared();
    /// assert_eq!(ids.next(&clock)?, 4_222_976);
    /// assert_eq!(ids.next(&clock)?, 4_222_977);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[expect(clippy::inline_always, reason = "called, it takes a tenth longer: its result goes through memory")]
    #[inline(always)]
    pub fn next(&mut self, clock: &impl Clock) -> Result<u64> {
        let now_ms = clock.now_ms()?;
        let is_current = now_ms.wrapping_sub(self.from_ms) < self.length_ms;
        match self.block.get(self.next) {
            Some(id) if is_current && self.next < self.end => {
                self.next += 1;
                Ok(*id)
            }
            _ => self.next_of_new_block(is_current, now_ms, clock),
        }
    }

    #[cold]
    #[inline(never)]
    fn next_of_new_block(&mut self, is_current: bool, now_ms: u64, clock: &impl Clock) -> Result<u64> {
        let max = self.generator.machine().max_block().min(LONGEST);
        let want = if is_current { self.end.saturating_mul(2).clamp(1, max) } else { 1 };
        // Nothing is dropped before the reservation: a refused call loses no ID, and the block is right again when the clock is
        // back in its tick.
        let (block, (from_ms, until_ms)) = self.generator.reserve_from(now_ms, clock, want)?;
        self.dropped += self.unserved();
        block.write(&mut self.block);
        (self.next, self.end) = (1, block.len());
        (self.from_ms, self.length_ms) = (from_ms, until_ms.saturating_sub(from_ms));
        Ok(block.first())
    }

    /// The number of IDs left in the block.
    const fn unserved(&self) -> u64 {
        self.end.saturating_sub(self.next) as u64
    }

    /// Fills `out` as [`Generator::fill`]. The rest of the block is dropped, because its IDs are lower.
    ///
    /// # Errors
    /// As [`Generator::fill`].
    ///
    /// ```
    /// # use frazil::{Generator, GeneratorOptions, Layout, Node};
    /// # use frazil::clock::ManualClock;
    /// # let clock = ManualClock::new(1_704_067_200_001);
    /// # let mut ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?.unshared();
    /// let mut out = [0; 100];
    /// let first = ids.next(&clock)?;
    /// assert_eq!(ids.fill(&clock, &mut out)?, 100);
    /// assert!(first < out[0] && out[99] < ids.next(&clock)?);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn fill(&mut self, clock: &impl Clock, out: &mut [u64]) -> Result<usize> {
        let count = self.generator.fill(clock, out)?;
        if count != 0 {
            self.dropped += self.unserved();
            self.next = self.end;
        }
        Ok(count)
    }

    /// The counts so far. `issued` are the IDs that were served.
    ///
    /// ```
    /// # use frazil::{Generator, GeneratorOptions, Layout, Node};
    /// # use frazil::clock::ManualClock;
    /// # let clock = ManualClock::new(1_704_067_200_001);
    /// # let mut ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?.unshared();
    /// for _ in 0..5 {
    ///     ids.next(&clock)?;
    /// }
    /// assert_eq!(ids.stats().issued, 5);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        let stats = self.generator.stats();
        Stats { issued: stats.issued - self.dropped - self.unserved(), ..stats }
    }
}
