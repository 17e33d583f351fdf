//! The states of a process.

use crate::error::{Code, Error, Result, Rule, Subject};
use crate::generator::Generator;
use crate::layout::Layout;
use crate::machine::Machine;
use crate::options::{GeneratorOptions, ResolvedOptions};
use crate::start::{Key, SequenceStart};
use crate::state::State;
use crate::state_key::StateKey;
use crate::sync::Arc;
use crate::table::Table;

/// The states of a process (or of one WebAssembly instance).
///
/// This type is:
///
/// * **Unsynchronised**: put it behind a lock; opening is rare, and minting does not go through it.
/// * **Interning**: equal layouts and node ids meet on one state whatever their names, so equal generators never repeat each other.
///
/// A process needs one: two registries share no state, and repeat each other under one node id. A state that is kept elsewhere,
/// as `frazil_local::Local` keeps one in a file, shares none with a registry either; of the two the second is
/// `STATE_CONFLICT`, in any registry of the process (feature `std`; see `Claim`).
///
/// ```
/// use frazil::{GeneratorOptions, Layout, ManualClock, Node, Registry};
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
    /// The earliest start of the process that was reported: threads that start later report a later one.
    start_ms: Option<u64>,
}

impl Registry {
    /// A registry without states.
    ///
    /// ```
    /// assert!(frazil::Registry::new().is_empty());
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self { states: Table::new(), start_ms: None }
    }

    /// How many states there are.
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
    ///
    /// ```
    /// assert!(frazil::Registry::new().is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// A generator on the one state of its geometry and node id.
    ///
    /// # Errors
    /// `INVALID_NODE` as [`Layout::join_node`]; `INVALID_OPTION` for a `max_lead_ms` over 1000, or over 0 where the start
    /// of the process is unknown, and for a start of the sequence without a key where none can be drawn (without `std`) or
    /// with half a key; `STATE_CONFLICT` where the state has another start, and where this process has a state of the layout and
    /// node id that is kept elsewhere. A refused call makes no state.
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
        // Before there is a state, or one without a key would stay.
        let needs_key =
            resolved.sequence_start != SequenceStart::Zero && known.is_none_or(|state| state.atomics().key().is_none());
        let key = if needs_key { Some(Key::given_or_drawn(options.key)?) } else { None };
        let generator = self.open_on_state(&resolved, machine)?;
        if let Some(key) = key {
            generator.offer_key(key);
        }
        Ok(generator)
    }

    /// The same, with a key that is offered later.
    #[cfg(feature = "page")]
    pub(crate) fn open_resolved(&mut self, resolved: &ResolvedOptions) -> Result<Generator> {
        self.open_on_state(resolved, resolved.machine()?)
    }

    /// Takes the state of the machine, or makes it: the last step, which nothing follows that could be refused.
    fn open_on_state(&mut self, resolved: &ResolvedOptions, machine: Machine) -> Result<Generator> {
        let key = machine.key();
        let state = match self.states.get(&key) {
            Some(state) if state.start != resolved.sequence_start => {
                return Err(Error::bad_input(Code::StateConflict, Subject::SequenceStart, Rule::OneStart));
            }
            Some(state) => Arc::clone(state),
            None => {
                #[cfg(feature = "std")]
                crate::claims::claim_static(key)?;
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
}
