//! The rules of minting: a pure function that answers which IDs may be issued now.
//!
//! # State
//! The state is one 64-bit word: the position of the *next* ID to issue, as a count `[tick | clock id | sequence]` without the
//! node id. Adding one carries from the sequence into the clock id, and from there into the tick. So a full sequence continues in the next
//! clock id (*clock id reuse*) or in the next tick (*borrowing from the future*). The word moves past an ID before that ID is handed out,
//! so a word can only recur if an ID is issued twice. All ones means that the time field is used up.
//!
//! A layout with a `clock` field has one more number for each clock id: the first tick for which it may be used, which is one
//! past the last tick it was used for ([`ClockIds`]). The number of the clock id in use is stale: its last tick is in the word, and its
//! number is stored when the state leaves it ([`Outcome::Issued`], `leaves`).
//!
//! # The rules, in order
//! The *current* tick and clock id are those of the last ID issued. The **lead** is how far the start of the current tick lies ahead of the
//! clock. The clock may have gone back, or a full sequence may have moved on to a later tick; the machine treats both alike. A clock id is
//! *free* at a tick that is later than every tick it was used for.
//!
//! 1. If the clock is past the current tick, move to the clock's tick and to the lowest clock id that is free there. The sequence
//!    starts as [`SequenceStart`] says.
//! 2. If the lead exceeds `max_lead_ms`, move to the clock's tick and to the lowest clock id that is free there (*switching
//!    clocks*: IDs stay unique, and their order starts anew). If none is free, the call is stalled: `CLOCK_BACKWARD`.
//! 3. If sequence numbers are left, issue them. (A small step back is only lead: *historical time*, *catching up*.)
//! 4. If the sequence is full, take the next higher clock id that is free at the current tick. If there is none, take the next
//!    tick, if its lead stays within `max_lead_ms`. Otherwise the call is stalled: `SEQUENCE_EXHAUSTED`.
//!
//! # The window
//! A [`Window`] bounds the times that may be issued at both ends. A tick may be used only if all of it lies inside the window.
//! Before the window the call is stalled, `CLOCK_BACKWARD`; after it the answer is [`Outcome::Expired`], and the keeper that
//! granted the window may extend it.
//!
//! * **Pure**: no I/O, no allocation, no clock, no entropy, no waiting; [`Machine::reserve`] is a function of its arguments.
//! * **Bounded**: no loop over time, at most one over the clock ids; a refusal says when the call can first succeed.
//! * **No change on refusal**: the word and the clock ids stay as they are.
//! * **Rechecked**: a refusal or a switch is first answered with [`Outcome::Recheck`]. Otherwise a thread that was paused between
//!   reading the clock and minting would look like a clock that went back.
//!
//! Not covered: sharing a state between threads ([`crate::Generator`]), and waiting, which is the host's task.
//!
//! Sources: Twitter's Snowflake (refuse), Meituan Leaf (wait a little), Baidu UidGenerator and Seata (borrow), Sonyflake
//! (historical time), the multi-clock snowflake (clock ids). `docs/guides/recipes.md` maps each of them to settings, and
//! `docs/internals/design.md` says why one mechanism covers them all.

mod block;
mod clock_ids;
mod fast_path;
mod outcome;
mod rules;
mod start;
mod ticks;
mod window;

pub use block::Block;
pub use clock_ids::ClockIds;
pub use fast_path::FastPath;
pub(super) use fast_path::FastPathRange;
pub use outcome::Outcome;
pub(crate) use rules::EXHAUSTED;
pub use rules::{MAX_LEAD_MS, Machine};
pub use start::{Key, SequenceStart};
pub use window::Window;
