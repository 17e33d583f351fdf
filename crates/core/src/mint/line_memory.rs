//! The memory of a state, for a line that TypeScript swaps on (`swap-line.ts`).

use alloc::sync::Arc;
use core::any::Any;
use core::sync::atomic::AtomicU64;

use super::generator::Generator;
use super::keeper::StateRef;
use super::state::State;

/// Memory that TypeScript reads and writes for a line, for as long as the owner exists.
#[derive(Debug)]
pub struct LineMemory {
    /// The start. Its provenance is exposed.
    pub address: usize,
    /// The length.
    pub bytes: usize,
    /// The owner that keeps it alive.
    pub owner: Arc<dyn Any + Send + Sync>,
}

impl Generator {
    /// The word of the state, and its window: the start with 0 for the start of the sequence, and the end. `None` if a keeper does not
    /// share its memory.
    pub(crate) fn line_memory(&self) -> Option<[LineMemory; 2]> {
        let owner: Arc<dyn Any + Send + Sync> = match &self.state {
            StateRef::Own(state) => Arc::<State>::clone(state),
            StateRef::Kept(keeper) => keeper.memory()?,
        };
        let atomics = self.state.atomics();
        // Exposed, because TypeScript reads and writes them.
        let [word, from, until] = [atomics.word, atomics.origin, atomics.until_ms]
            .map(|number| core::ptr::from_ref::<AtomicU64>(number).expose_provenance());
        (until == from + 8).then(|| {
            [LineMemory { address: word, bytes: 8, owner: Arc::clone(&owner) }, LineMemory { address: from, bytes: 16, owner }]
        })
    }
}
