#![doc = include_str!("../README.md")]
//!
//! # How it keeps the guarantee
//! A state file for each directory, scope, layout and node id holds the state. The *word*, which the crate [`frazil`] mints from,
//! is in memory that all processes with the file map. The *ceiling* is on disk. No ID has a time at or above the ceiling. The
//! ceiling is raised three seconds ahead of the clock, on disk first.
//!
//! * **Processes and threads** share the word. After a crash, `kill -9` included, the word is still in the kernel's memory. The
//!   next start uses it if it has proof that the memory is the one that was left: the same boot, the same mount of the file
//!   system, the newest record, and a flush that succeeds. It waits until all that was issued ahead of the clock is over, a second at
//!   most, since a write error that the kernel has forgotten does not show.
//! * **Power loss**, another boot, and a file system that is mounted again lose the word. All that was issued is below the
//!   ceiling, so minting continues at the ceiling.
//! * **A clock that was set back** meanwhile shows a time before the ceiling. Then minting waits or is refused, and nothing is
//!   repeated.
//! * **A clock that steps forward** by more than a minute is not followed until the step was seen three times over ten minutes.
//!   So one wrong reading does not reserve a year.
//! * **Refused** are file systems that lose their files or whose memory is not shared; files that are damaged, copied, replaced or of
//!   another layout; and a file after a flush that its disk failed, until its file system is mounted again.
//!
//! Proven is what ran on record on a real system: Linux on x64, with glibc and with musl (`platforms`). Elsewhere the opening is
//! refused unless the caller accepts that ([`LocalOptions::accept_unproven_platform`]).
//!
//! # Not covered
//! * Two users of one machine, unless both give one [`LocalOptions::dir`]: each has another default directory, and so another file.
//! * Several machines: IDs of two machines can be equal unless the node ids differ.
//! * A machine that is cloned, and a disk that is set back to an earlier state: the copy has the same node id and the same
//!   ceiling.
//!
//! # Where the code is
//! * **The public API**: `local` (options, [`Local`], [`attach`]), `open_request` (checks the options), `open_files` (the files
//!   that this process has open), `fault` ([`Fault`]), `environment` (environment variables), `platforms` (which are proven).
//! * **Opening**: `opening` (the steps), `file_spec` (which file, its header check, its creation), `opening_wait` (how long to wait for
//!   users of other files, as a pure rule), `start_rule` (how a state starts, as a pure rule), `state_start` (the facts and the effects of
//!   that rule), `first_id` (when the first ID can be issued), [`openings`] (on their own threads), `cancellation` (whether the opening is
//!   still wanted).
//! * **In use**: `attachment` (the keeper of the state), `attached_file` (extends the window and leaves), `ceiling_thread`
//!   (raises the ceiling before a call needs it).
//! * **Parts**: `disk` (header and records), `mapped` (the mapped state), `ceiling` (record, flush, end of the window),
//!   `trusted_clock` (pure), `locks` (of a file), `name_locks` (of a file's name), `clock`, `mutex`, `process`, `os` (a file for
//!   each system).

mod attached_file;
mod attachment;
mod cancellation;
mod ceiling;
mod ceiling_thread;
mod clock;
mod disk;
mod environment;
mod fault;
mod file_spec;
mod first_id;
mod local;
mod locks;
mod mapped;
mod mutex;
mod name_locks;
mod open_files;
mod open_request;
mod opening;
mod opening_wait;
pub mod openings;
mod os;
mod platforms;
mod process;
mod start_rule;
mod state_start;
mod trusted_clock;

pub use fault::Fault;
pub use local::{Local, LocalOptions, attach};
pub use open_request::default_dir;
