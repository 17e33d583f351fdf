//! What the machine answers.

use crate::block::Block;
use crate::error::{Code, Error};

/// What [`Machine::reserve`] answers.
///
/// ```
/// use frazil::{Code, Layout, Machine, Node, Outcome, Window};
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
        /// The clock id that the state is no longer in, and the first tick it may be used for again. Where there is one, it
        /// has to be remembered *before* the word becomes the state, and may be remembered in any case: it is the truth
        /// already.
        leaves: Option<(usize, u64)>,
        /// How far the tick of the last of the IDs lies ahead of the clock, in milliseconds.
        lead_ms: u64,
        /// Whether the clock was followed back, to another clock id: the order starts anew.
        switched: bool,
    },
    /// The clock as given allows nothing. Read it once more and ask again, `confirmed`.
    Recheck,
    /// Nothing can be issued before `retry_at_ms`.
    Stalled {
        /// The first Unix millisecond at which the same call would succeed.
        retry_at_ms: u64,
        /// `CLOCK_BACKWARD` or `SEQUENCE_EXHAUSTED`.
        cause: Code,
    },
    /// The window ends before the tick that is due does.
    Expired {
        /// How far the window has to reach for the same call to succeed: the end of that tick.
        until_ms: u64,
    },
    /// Nothing can be issued, and waiting alone does not help.
    Refused(Error),
}
