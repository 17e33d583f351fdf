//! The states of a process, of which equal generators share one.
//!
//! * **Never dropped**: a [`Registry`] keeps every state it made, because a state that is dropped and made anew would start over
//!   and repeat IDs. It holds one state for each layout geometry and node id: some 300 bytes, and 8 more for each clock id.
//! * **One kind of state for each key**: a static state and a kept one share no word, so `kinds.rs` refuses whichever comes second.
//! * Not covered: two processes, or two WebAssembly instances, with one static node id. They share no memory.

#[cfg(feature = "std")]
mod kinds;
mod state_key;
mod table;

#[cfg(feature = "std")]
pub use kinds::{DEFAULT_SCOPE, Registration};
pub(crate) use table::Table;

use super::generator::Generator;
use super::machine::{Key, Machine, SequenceStart};
use super::options::{GeneratorOptions, ResolvedOptions};
use super::state::State;
use super::sync::Arc;
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::layout::Layout;
use state_key::StateKey;

/// The states of a process (or of one WebAssembly instance).
///
/// This type is:
///
/// * **Unsynchronised**: put it behind a lock. Opening is rare, and minting does not need the registry.
/// * **Interning**: generators with equal layouts and node ids share one state, whatever the layouts are called, so they never
///   repeat each other's IDs.
///
/// Make one for the whole process: two registries share no state, so generators of one node id in both repeat each other's IDs. A
/// state that is kept elsewhere, such as the file of `frazil_local::Local`, shares nothing with a registry either. If a process opens both
/// for one layout and node id, the second call fails with `STATE_CONFLICT` (feature `std`; see `Registration`).
///
/// ```
/// use frazil::{GeneratorOptions, Layout, Node, Registry};
/// use frazil::clock::ManualClock;
/// let clock = ManualClock::new(1_704_067_200_001);
/// let mut registry = Registry::new();
/// let leaf = registry.open(&Layout::named("leaf")?, GeneratorOptions::new(Node::Id(113)))?;
/// let parts = Node::Parts(&[("datacenter", 3), ("worker", 17)]);
/// let twitter = registry.open(&Layout::named("twitter")?, GeneratorOptions::new(parts))?;
/// assert_eq!(leaf.next(&clock)? + 1, twitter.next(&clock)?);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Registry {
    states: Table<StateKey, Arc<State>>,
    /// The keys that were leased. With `std` they are in the table of `kinds.rs`.
    #[cfg(not(feature = "std"))]
    leased: alloc::vec::Vec<StateKey>,
    /// The earliest start of the process that was reported. Threads that start later may report a later one.
    start_ms: Option<u64>,
}

impl Registry {
    /// A registry without states.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            states: Table::new(),
            #[cfg(not(feature = "std"))]
            leased: alloc::vec::Vec::new(),
            start_ms: None,
        }
    }

    /// The number of states.
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Layout, Node, Registry};
    /// let mut registry = Registry::new();
    /// for _ in 0..1000 {
    ///     registry.open(&Layout::named("default")?, GeneratorOptions::new(Node::Id(7)))?;
    /// }
    /// assert_eq!(registry.len(), 1);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is no state yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// A generator on the state of its geometry and node id.
    ///
    /// # Errors
    /// `INVALID_NODE` as [`Layout::join_node`]. `INVALID_OPTION` for a `max_lead_ms` over 1000, or over 0 if the start of the
    /// process is unknown; for half a key; and for a start of the sequence without a key if none can be drawn (without `std`).
    /// `STATE_CONFLICT` if the state has another start of the sequence, or if this process has a state for the layout and node id
    /// that is kept elsewhere. A refused call makes no state.
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Layout, Node, Registry};
    /// let options = GeneratorOptions { max_lead_ms: Some(1001), ..GeneratorOptions::new(Node::Id(7)) };
    /// let error = Registry::new().open(&Layout::named("default")?, options).unwrap_err();
    /// assert_eq!((error.field(), error.value()), ("max_lead_ms", Some(1001)));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn open(&mut self, layout: &Layout, options: GeneratorOptions<'_>) -> Result<Generator> {
        let resolved = ResolvedOptions::new(layout, options)?;
        let machine = resolved.machine()?;
        let known = self.states.get(&machine.key());
        // The key is drawn before the state is made. Otherwise a refusal would leave a state without a key.
        let needs_key =
            resolved.sequence_start != SequenceStart::Zero && known.is_none_or(|state| state.atomics().key().is_none());
        let key = if needs_key { Some(Key::given_or_drawn(options.key)?) } else { None };
        let generator = self.open_on_state(&resolved, machine)?;
        if let Some(key) = key {
            generator.offer_key(key);
        }
        Ok(generator)
    }

    /// The same as `open`, with a key that is offered later.
    #[cfg(feature = "abi")]
    pub(crate) fn open_resolved(&mut self, resolved: &ResolvedOptions) -> Result<Generator> {
        self.open_on_state(resolved, resolved.machine()?)
    }

    /// Finds the state for the machine, or makes it. This is the last step, so no refusal comes after it.
    fn open_on_state(&mut self, resolved: &ResolvedOptions, machine: Machine) -> Result<Generator> {
        let key = machine.key();
        let state = match self.states.get(&key) {
            Some(state) if state.start != resolved.sequence_start => {
                return Err(Error::bad_input(Code::StateConflict, Subject::SequenceStart, Rule::OneStart));
            }
            Some(state) => Arc::clone(state),
            None => {
                #[cfg(feature = "std")]
                kinds::register_static(key)?;
                #[cfg(not(feature = "std"))]
                if self.leased.contains(&key) {
                    return Err(Error::bad_input(Code::StateConflict, Subject::Node, Rule::OneKind));
                }
                let state = Arc::new(State::new(&resolved.geometry, resolved.sequence_start));
                self.states.insert(key, Arc::clone(&state));
                state
            }
        };
        if let Some(start_ms) = resolved.start_ms {
            let start_ms = self.start_ms.map_or(start_ms, |known| known.min(start_ms));
            self.start_ms = Some(start_ms);
            state.delay_until_after_start(&machine, start_ms);
        }
        Ok(Generator::on(machine, state))
    }

    /// Records permanently that the layout and node id of a machine were leased, or refuses if this process has a state of
    /// another kind for them.
    pub(crate) fn register_leased(&mut self, machine: &Machine) -> Result<()> {
        let key = machine.key();
        #[cfg(feature = "std")]
        {
            let _: &mut Self = self;
            kinds::register_leased(key)
        }
        #[cfg(not(feature = "std"))]
        {
            if self.states.get(&key).is_some() {
                return Err(Error::bad_input(Code::StateConflict, Subject::Node, Rule::OneKind));
            }
            if !self.leased.contains(&key) {
                self.leased.push(key);
            }
            Ok(())
        }
    }
}
