//! What the machine answers: IDs, a request to read the clock again, or a refusal that says when the call can succeed.

use super::block::Block;
use crate::error::{Code, Error};

/// The answer of [`Machine::reserve`](crate::mint::Machine::reserve).
///
/// ```
/// use frazil::{Code, Layout, Node};
/// use frazil::mint::{Machine, Outcome, Window};
/// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
/// let refused = machine.reserve(0, Window::OPEN, &[], 0, 1, true);
/// assert!(matches!(refused, Outcome::Refused(error) if error.code() == Code::ClockBeforeEpoch));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// IDs to issue, once `word` is the state.
    Issued {
        /// The state after the reservation.
        word: u64,
        /// The IDs.
        block: Block,
        /// The clock id that the new word leaves, and the first tick for which it may be used again. Store it *before* the word becomes the
        /// state. That is correct even if the word never does, because the clock id was already used up to there.
        leaves: Option<(usize, u64)>,
        /// How far the tick of the last of the IDs lies ahead of the clock, in milliseconds.
        lead_ms: u64,
        /// Whether the clock went back and the state switched to another clock id. The IDs are unique, but their order starts
        /// anew.
        switched: bool,
    },
    /// The given clock reading allows nothing. Read the clock once more and call again with `confirmed`.
    Recheck,
    /// Nothing can be issued before `retry_at_ms`.
    Stalled {
        /// The first Unix millisecond at which the same call would succeed.
        retry_at_ms: u64,
        /// `CLOCK_BACKWARD` or `SEQUENCE_EXHAUSTED`.
        cause: Code,
    },
    /// The window ends before the end of the tick that is due.
    Expired {
        /// The end of that tick: the window must reach this far for the same call to succeed.
        until_ms: u64,
    },
    /// Nothing can be issued, and waiting does not help.
    Refused(Error),
}
