//! Minting: the rules (`machine/`), the state that threads and processes share, the generators on it, and the registry of a process.

mod generator;
mod keeper;
#[cfg(feature = "abi")]
mod line;
#[cfg(all(feature = "abi", feature = "std", not(frazil_loom)))]
mod line_memory;
mod machine;
mod options;
mod registry;
mod reservation;
mod state;
mod stats;
mod sync;
mod unshared;

pub use generator::Generator;
pub use keeper::{Keeper, StateFile};
#[cfg(feature = "abi")]
pub use line::Line;
#[cfg(all(feature = "abi", feature = "std", not(frazil_loom)))]
pub use line_memory::LineMemory;
pub use machine::{Block, ClockIds, FastPath, Key, MAX_LEAD_MS, Machine, Outcome, SequenceStart, Window};
pub use options::GeneratorOptions;
#[cfg(feature = "abi")]
pub(crate) use options::ResolvedOptions;
pub use registry::Registry;
#[cfg(feature = "abi")]
pub(crate) use registry::Table;
#[cfg(feature = "std")]
pub use registry::{DEFAULT_SCOPE, Registration};
pub use reservation::{MAX_COUNT, Reservation};
pub use state::StateAtomics;
pub use stats::{ENDS_SOON_MS, Health, Stats};
pub use unshared::Unshared;
