//! The kind of state that each layout and node id has in this process: static, leased or kept (feature `std`).
//!
//! The states of a [`Registry`](crate::Registry), a lease and a [`Keeper`](crate::mint::Keeper) share no word, so with one layout and node
//! id they would repeat each other's IDs. One table for the whole process records which kind came first. The other kinds are then refused
//! with `STATE_CONFLICT`.
//!
//! * **By key**: the key is that of the registry (`state_key.rs`); names do not count.
//! * **Permanent**: issued IDs stay issued, so a used key never changes to another kind.
//! * **Reserved first**: a [`Registration`] holds the key while a state is being attached. That may take seconds, and no lock is held.
//!   If attaching fails, the registration is dropped and leaves nothing.
//!
//! Not covered: two registries, or two keepers. A process must have one registry, and keepers of one state share it.

use alloc::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::state_key::StateKey;
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::mint::machine::Machine;

/// The default scope of a state file: the ID space that it shares with static generators.
pub const DEFAULT_SCOPE: &str = "default";

#[derive(Debug)]
enum Kind {
    /// A registry has a state of the key.
    Static,
    /// Leases have the key, each with its own state and a window that no other lease has.
    Leased,
    /// A keeper has the state, or will have it if one of its registrations is confirmed.
    Kept { holders: usize, confirmed: bool },
}

static KINDS: Mutex<BTreeMap<StateKey, Kind>> = Mutex::new(BTreeMap::new());

fn kinds() -> MutexGuard<'static, BTreeMap<StateKey, Kind>> {
    // Nothing that runs while the lock is held can panic.
    KINDS.lock().unwrap_or_else(PoisonError::into_inner)
}

const CONFLICT: Error = Error::bad_input(Code::StateConflict, Subject::Node, Rule::OneKind);

/// Records permanently that a registry makes a state of the key.
pub(crate) fn register_static(key: StateKey) -> Result<()> {
    match kinds().entry(key).or_insert(Kind::Static) {
        Kind::Static => Ok(()),
        Kind::Leased | Kind::Kept { .. } => Err(CONFLICT),
    }
}

/// Records permanently that the key was leased. Further leases of it have other windows.
pub(crate) fn register_leased(key: StateKey) -> Result<()> {
    match kinds().entry(key).or_insert(Kind::Leased) {
        Kind::Leased => Ok(()),
        Kind::Static | Kind::Kept { .. } => Err(CONFLICT),
    }
}

/// Reserves a layout and node id for a state that is kept elsewhere than in a [`Registry`](crate::Registry).
///
/// Make a registration before the state is attached, and confirm it afterwards. One that is dropped releases the layout and node id,
/// unless another registration of them was confirmed or is still held.
///
/// ```
/// use frazil::{Code, GeneratorOptions, Layout, Node, Registry};
/// use frazil::mint::{Registration, Machine};
/// let layout = Layout::named("default")?;
/// let (seven, eight) = (Machine::new(&layout, Node::Id(7), 10)?, Machine::new(&layout, Node::Id(8), 10)?);
/// let mut registry = Registry::new();
/// Registration::kept(&seven, None)?.confirm(); // a state of node 7 was attached
/// drop(Registration::kept(&eight, None)?); // one of node 8 could not be
/// let error = registry.open(&layout, GeneratorOptions::new(Node::Id(7))).unwrap_err();
/// assert_eq!(error.code(), Code::StateConflict);
/// registry.open(&layout, GeneratorOptions::new(Node::Id(8)))?;
/// assert_eq!(Registration::kept(&eight, None).unwrap_err().code(), Code::StateConflict);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a registration that is dropped releases the layout and node id"]
pub struct Registration {
    /// `None` if nothing has to be reserved.
    key: Option<StateKey>,
}

impl Registration {
    /// Registers the layout and node id of a machine. IDs of a scope other than [`DEFAULT_SCOPE`] may be equal to those of a
    /// registry, so for such a scope nothing is reserved.
    ///
    /// # Errors
    /// `STATE_CONFLICT` if a registry of this process has a state for the layout's geometry and node id.
    ///
    /// ```
    /// # use frazil::{GeneratorOptions, Layout, Node, Registry};
    /// # use frazil::mint::{Registration, Machine};
    /// let layout = Layout::named("default")?;
    /// Registry::new().open(&layout, GeneratorOptions::new(Node::Id(7)))?;
    /// let machine = Machine::new(&layout, Node::Id(7), 10)?;
    /// assert!(Registration::kept(&machine, Some("default")).is_err());
    /// assert!(Registration::kept(&machine, Some("shop")).is_ok());
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn kept(machine: &Machine, scope: Option<&str>) -> Result<Self> {
        if scope.is_some_and(|scope| scope != DEFAULT_SCOPE) {
            return Ok(Self { key: None });
        }
        let key = machine.key();
        match kinds().entry(key).or_insert(Kind::Kept { holders: 0, confirmed: false }) {
            Kind::Static | Kind::Leased => Err(CONFLICT),
            Kind::Kept { holders, .. } => {
                *holders += 1;
                Ok(Self { key: Some(key) })
            }
        }
    }

    /// Records that the state is attached. From then on no registry of this process makes a state for the layout and node id.
    ///
    /// ```
    /// # use frazil::{Layout, Node};
    /// # use frazil::mint::{Registration, Machine};
    /// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
    /// Registration::kept(&machine, None)?.confirm();
    /// assert!(Registration::kept(&machine, None).is_ok(), "keepers of one state share it");
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn confirm(self) {
        if let Some(key) = self.key
            && let Some(Kind::Kept { confirmed, .. }) = kinds().get_mut(&key)
        {
            *confirmed = true;
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        let mut kinds = kinds();
        if let Some(Kind::Kept { holders, confirmed }) = kinds.get_mut(&key) {
            *holders -= 1;
            if *holders == 0 && !*confirmed {
                kinds.remove(&key);
            }
        }
    }
}
