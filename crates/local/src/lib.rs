#![doc = include_str!("../README.md")]
//!
//! # How it keeps the promise
//! A file for each directory, scope, layout and node id holds the state: the word that the crate [`frazil`] mints from, in
//! memory that all processes of the machine map, and on disk a *ceiling*. No time at or above the ceiling is issued, and it is
//! raised three seconds ahead, on disk first.
//!
//! * **Processes and threads** share the word. A crash, `kill -9` included, leaves it in the kernel's memory, and a start believes
//!   it where it has proof that the memory is the one that was left: the same boot and mount, the newest record, and a flush that
//!   succeeds.
//! * **Power loss**, another boot, and a file system that was mounted anew lose the word. What was issued lies below the ceiling,
//!   so minting starts there.
//! * **A clock that was set back** meanwhile shows a time before the ceiling: minting waits, or is refused, and never repeats.
//! * **A clock that steps ahead** by over a minute is not followed until it was seen there three times in ten minutes, so that
//!   one wrong reading does not reserve a year.
//! * **Refused**: file systems that forget, or whose memory is not shared; files that are damaged, copied, replaced or of
//!   another layout; and a file whose flush has failed, until its file system is mounted anew.
//!
//! Run and tested on Linux. For macOS and Windows the code is there, and has only been compiled.
//!
//! Not covered: several machines. IDs of two machines repeat each other unless their node ids differ. Nor a machine that is
//! cloned, or a disk that is set back to an earlier state: the copy has the same node id and the same ceiling.

mod attached_file;
mod attachment;
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
mod os;
mod process;
mod start_rule;
mod state_start;
mod trusted_clock;

pub use fault::Fault;
pub use local::{Local, LocalOptions, attach};
