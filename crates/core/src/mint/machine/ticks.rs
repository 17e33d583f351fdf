//! Ticks and the lead as times.

use super::rules::Machine;

impl Machine {
    /// The first millisecond at which a tick is within the lead.
    pub(super) fn first_ms_within_lead(&self, tick: u64) -> u64 {
        self.geometry.tick_start_ms(tick).saturating_sub(self.max_lead_ms)
    }

    /// The first millisecond after a tick.
    pub(super) const fn tick_end_ms(&self, tick: u64) -> u64 {
        self.geometry.tick_start_ms(tick) + self.geometry.tick_ms.get()
    }

    /// The start of the first tick that begins at a time or after it, in Unix milliseconds. It may lie beyond the last tick; a
    /// clock that shows it is refused.
    ///
    /// ```
    /// # use frazil::{Layout, Node};
    /// # use frazil::mint::Machine;
    /// let machine = Machine::new(&Layout::named("sonyflake")?, Node::Id(7), 0)?; // ticks of 10 ms
    /// assert_eq!(machine.tick_from(1_409_529_600_011), 1_409_529_600_020);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn tick_from(&self, from_ms: u64) -> u64 {
        let g = &self.geometry;
        match from_ms.checked_sub(g.epoch_ms) {
            Some(elapsed_ms) => match elapsed_ms % g.tick_ms {
                0 => from_ms,
                into_ms => from_ms.saturating_add(g.tick_ms.get() - into_ms),
            },
            None => g.epoch_ms,
        }
    }

    /// The Unix milliseconds `[from, until)` of the tick that contains `now_ms`. A block may be served as long as the clock stays
    /// in that tick.
    pub(crate) fn wall_tick_ms(&self, now_ms: u64) -> (u64, u64) {
        let g = &self.geometry;
        let start_ms = g.tick_start_ms((now_ms - g.epoch_ms) / g.tick_ms);
        (start_ms, start_ms + g.tick_ms.get())
    }

    /// The first millisecond that no ID of a predecessor can reach, if the predecessor last read its clock at `start_ms`: the
    /// start of the first tick beyond its lead.
    pub(crate) fn first_ms_after(&self, start_ms: u64) -> u64 {
        self.tick_from(start_ms.saturating_add(self.max_lead_ms).saturating_add(1))
    }

    /// The last millisecond of the last tick that the time field can hold.
    pub(crate) const fn end_ms(&self) -> u64 {
        self.geometry.end_ms()
    }

    /// The tick after the current one of a state: 0 before the first ID.
    pub(crate) const fn next_tick(&self, word: u64) -> u64 {
        self.geometry.next_tick(word)
    }

    /// The first millisecond of a tick.
    pub(crate) const fn tick_start_ms(&self, tick: u64) -> u64 {
        self.geometry.tick_start_ms(tick)
    }

    /// The length of a tick in milliseconds.
    #[must_use]
    pub const fn tick_ms(&self) -> u64 {
        self.geometry.tick_ms.get()
    }

    /// How far the start of the current tick of a state lies ahead of the clock. A word beyond the last tick, which no machine of
    /// this layout makes, counts as used up.
    ///
    /// ```
    /// # use frazil::{Layout, Node};
    /// # use frazil::mint::Machine;
    /// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 0)?;
    /// assert_eq!(machine.lead_ms((5 << 12) | 1, 1_704_067_200_003), 2); // the last ID was one of tick 5
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn lead_ms(&self, word: u64, now_ms: u64) -> u64 {
        let g = &self.geometry;
        let Some(last) = word.checked_sub(1) else { return 0 };
        let tick = last >> g.low_bits();
        // The tick of `EXHAUSTED`, or of another layout's word, may start beyond 64 bits.
        let held = if tick > g.time.max() { g.time.max() } else { tick };
        g.tick_start_ms(held).saturating_sub(now_ms)
    }
}
