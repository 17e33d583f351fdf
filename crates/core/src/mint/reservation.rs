//! A reservation: the loop that has the machine decide and swaps the word.

use super::generator::Generator;
use super::keeper::Keeper;
use super::machine::{Block, EXHAUSTED, Machine, Outcome, SequenceStart};
use super::state::StateAtomics;
use super::sync::Ordering;
use crate::clock::Clock;
use crate::error::{Code, Error, Result, Rule, Subject};

/// The most IDs that one bulk call may ask for: 2^20 IDs are 8 MiB.
///
/// ```
/// # use frazil::{Generator, GeneratorOptions, Layout, Node};
/// # use frazil::clock::ManualClock;
/// # use frazil::mint::MAX_COUNT;
/// let ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
/// let error = ids.fill(&ManualClock::new(1_704_067_200_001), &mut vec![0; MAX_COUNT + 1]).unwrap_err();
/// assert_eq!((error.field(), error.value()), ("count", Some(1_048_577)));
/// # Ok::<(), frazil::Error>(())
/// ```
pub const MAX_COUNT: usize = 1 << 20;

/// The most extensions of the window for one call, in case other calls use up each of them.
const MAX_EXTENSIONS: u32 = 8;

/// The answer to one reservation.
///
/// ```
/// # use frazil::{GeneratorOptions, Layout, Node, Registry};
/// # use frazil::mint::Reservation;
/// let generator = Registry::new().open(&Layout::named("sonyflake")?, GeneratorOptions::new(Node::Id(7)))?;
/// let Ok(Reservation::Issued { wall_tick_ms, .. }) = generator.reserve(1_409_529_600_015, 1, false) else { unreachable!() };
/// assert_eq!(wall_tick_ms, (1_409_529_600_010, 1_409_529_600_020));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reservation {
    /// IDs that no other call gets.
    Issued {
        /// The IDs.
        block: Block,
        /// The Unix milliseconds `[from, until)` of the clock's tick. As long as the clock stays in it, serving from the block
        /// gives IDs as recent as a new reservation.
        wall_tick_ms: (u64, u64),
    },
    /// Nothing was reserved: read the clock once more and call again with `confirmed`.
    Recheck,
}

impl Generator {
    /// Reserves up to `want` IDs (at least one) for the clock reading `now_ms`.
    ///
    /// # Errors
    /// `CLOCK_BACKWARD` and `SEQUENCE_EXHAUSTED` with the milliseconds to wait; `CLOCK_BEFORE_EPOCH`; `TIME_EXHAUSTED`.
    /// Only a call that is `confirmed` is refused; any other is answered with [`Reservation::Recheck`].
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Generator, Layout, Node};
    /// # use frazil::mint::Reservation;
    /// let ids = Generator::private(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// assert_eq!(ids.reserve(0, 1, false)?, Reservation::Recheck);
    /// assert!(ids.reserve(0, 1, true).is_err());
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn reserve(&self, now_ms: u64, want: usize, confirmed: bool) -> Result<Reservation> {
        self.reserve_after(self.counters.read_ms.load(Ordering::Relaxed), now_ms, want, confirmed)
    }

    /// Reserves for a reading of the clock that was taken after `before_ms`.
    fn reserve_after(&self, before_ms: u64, now_ms: u64, want: usize, confirmed: bool) -> Result<Reservation> {
        let atomics = self.state.atomics();
        self.counters.read(before_ms, now_ms);
        let machine = self.keyed_machine(&atomics)?;
        // There is no pause after a lost swap, because a pause tripled the cost under contention. The word is read before the
        // window, because a keeper that begins a state anew writes the word last.
        let (kept, load, swap) = self.orderings(&atomics);
        let mut now_ms = now_ms;
        let mut extensions = 0;
        let mut word = atomics.word.load(load);
        loop {
            // The state began anew with another start of the sequence, so its positions now mean other IDs. Or its memory was overwritten,
            // which the keeper knows.
            let Some(window) = atomics.window() else {
                let why = self.state.keeper().and_then(|keeper| keeper.extend(now_ms, now_ms).err());
                return Err(why.unwrap_or_else(|| Error::new(Code::Closed)));
            };
            match machine.reserve(word, window, atomics.clocks, now_ms, want, confirmed) {
                Outcome::Issued { word: next, block, leaves, lead_ms, switched } => {
                    if let Some((clock, free_from)) = leaves
                        && let Some(cell) = atomics.clocks.get(clock)
                    {
                        cell.fetch_max(free_from, Ordering::Relaxed);
                    }
                    match atomics.word.compare_exchange_weak(word, next, swap, load) {
                        // The state began anew after the word was read: these IDs are never issued.
                        Ok(_) if kept && !atomics.is_still(window) => word = atomics.word.load(load),
                        Ok(_) => {
                            self.counters.issued(block.len(), lead_ms, switched);
                            return Ok(Reservation::Issued { block, wall_tick_ms: machine.wall_tick_ms(now_ms) });
                        }
                        Err(current) => word = current,
                    }
                }
                Outcome::Recheck => return Ok(Reservation::Recheck),
                Outcome::Stalled { retry_at_ms, cause } => {
                    self.counters.stalls.fetch_add(1, Ordering::Relaxed);
                    return Err(Error::retry_after(cause, retry_at_ms.saturating_sub(now_ms)));
                }
                Outcome::Expired { until_ms } => {
                    // Other calls may use up each extension before this call gets a part of it, so the extensions are counted.
                    extensions += 1;
                    let Some(keeper) = self.state.keeper().filter(|_| extensions <= MAX_EXTENSIONS) else {
                        self.counters.stalls.fetch_add(1, Ordering::Relaxed);
                        return Err(Error::retry_after(Code::LeaseExpired, 1));
                    };
                    self.counters.extensions.fetch_add(1, Ordering::Relaxed);
                    now_ms = keeper.extend(until_ms, now_ms)?;
                    word = atomics.word.load(load);
                }
                Outcome::Refused(error) => {
                    return Err(self.refusal(word, now_ms, error, |keeper| keeper.extend(now_ms, now_ms).err()));
                }
            }
        }
    }

    /// Whether the state is kept, and with which orderings its word is read and swapped, as `state.rs` explains.
    #[inline]
    pub(super) fn orderings(&self, atomics: &StateAtomics<'_>) -> (bool, Ordering, Ordering) {
        match (self.state.keeper().is_some(), atomics.clocks.is_empty()) {
            // The swap is `Acquire` too: a call that swaps the word of a state that began anew must see the new window.
            (true, _) => (true, Ordering::Acquire, Ordering::AcqRel),
            (false, false) => (false, Ordering::Acquire, Ordering::Release),
            (false, true) => (false, Ordering::Relaxed, Ordering::Relaxed),
        }
    }

    /// The error of a refusal. If the word of a kept state is all ones before its time is over, the state was closed or given up: `why`
    /// asks its keeper for the reason.
    pub(super) fn refusal(&self, word: u64, now_ms: u64, error: Error, why: impl FnOnce(&dyn Keeper) -> Option<Error>) -> Error {
        let over = now_ms.saturating_add(self.max_lead_ms()) >= self.machine.end_ms();
        match self.state.keeper() {
            Some(keeper) if word == EXHAUSTED && !over => {
                let known = if keeper.is_given_up() { why(keeper) } else { None };
                known.unwrap_or_else(|| Error::new(Code::Closed))
            }
            _ => error,
        }
    }

    /// The machine with the start of the sequence and the key of the state.
    fn keyed_machine(&self, atomics: &StateAtomics<'_>) -> Result<Machine> {
        if atomics.start == SequenceStart::Zero {
            return Ok(self.machine);
        }
        let missing = Error::bad_input(Code::InvalidOption, Subject::SequenceStart, Rule::StartKey);
        atomics.key().map(|key| self.machine.starting(atomics.start, key)).ok_or(missing)
    }

    /// Reserves for a clock reading. No other thread may have this generator.
    pub(crate) fn reserve_from(&mut self, now_ms: u64, clock: &impl Clock, want: usize) -> Result<(Block, (u64, u64))> {
        self.reserve_first_at(self.counters.read_ms.load(Ordering::Relaxed), now_ms, clock, want)
    }

    /// Reserves for a clock reading, and reads the clock a second time before refusing. Also returns the clock's tick.
    #[inline(never)]
    pub(super) fn reserve_first_at(
        &self,
        before_ms: u64,
        now_ms: u64,
        clock: &impl Clock,
        want: usize,
    ) -> Result<(Block, (u64, u64))> {
        let (mut before_ms, mut now_ms) = (before_ms, now_ms);
        for confirmed in [false, true] {
            if let Reservation::Issued { block, wall_tick_ms } = self.reserve_after(before_ms, now_ms, want, confirmed)? {
                return Ok((block, wall_tick_ms));
            }
            before_ms = self.counters.read_ms.load(Ordering::Acquire);
            now_ms = clock.now_ms()?;
        }
        // A confirmed reservation is never answered with a recheck.
        Err(Error::new(Code::ClockBackward))
    }

    /// Fills `out` from the front with as many IDs as the clock and the lead allow at once, and returns how many: at least one,
    /// unless `out` is empty. Call again with the rest of `out` after some time.
    ///
    /// # Errors
    /// As [`Generator::next`]; `INVALID_ARGUMENT` if `out` is longer than [`MAX_COUNT`]. Then nothing is issued.
    ///
    /// ```
    /// use frazil::{GeneratorOptions, Layout, Node, Registry};
    /// use frazil::clock::ManualClock;
    /// let ids = Registry::new().open(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// let mut out = [0; 5000];
    /// assert_eq!(ids.fill(&ManualClock::new(1_704_067_200_001), &mut out)?, 4096);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn fill(&self, clock: &impl Clock, out: &mut [u64]) -> Result<usize> {
        if out.len() > MAX_COUNT {
            let bounds = (0, MAX_COUNT as u64);
            let (subject, rule) = (Subject::Count, Rule::WholeNumber);
            return Err(Error::bad_number(Code::InvalidArgument, subject, rule, out.len() as u64, bounds));
        }
        if out.is_empty() {
            return Ok(0);
        }
        // Loaded before the clock is read. Otherwise a reading that another thread takes in between would count as a step back.
        let before_ms = self.counters.read_ms.load(Ordering::Acquire);
        let (block, _) = self.reserve_first_at(before_ms, clock.now_ms()?, clock, out.len())?;
        block.write(out);
        Ok(block.len())
    }
}
