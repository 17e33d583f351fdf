//! Which kind of state the numbers of a layout and node id have in this process (feature `std`).
//!
//! A state of a [`Registry`](crate::Registry) and one that a [`Keeper`](crate::Keeper) provides share no word, so with one
//! layout and node id they would repeat each other. One table for the whole process says which kind came first; the other is
//! `STATE_CONFLICT`, whichever it is.
//!
//! * **By key**: what decides which numbers come out, as in the registry; names do not count.
//! * **For good**: what was issued stays issued, so a key that was used is never given to the other kind.
//! * **Reserved first**: a [`Claim`] holds the key while a state is being attached, which may take seconds, and no lock. Where
//!   attaching fails it is dropped and leaves nothing.
//!
//! It does not tell two registries apart, nor two keepers: a process has one registry, and keepers of one state share it.

use alloc::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Code, Error, Result, Rule, Subject};
use crate::machine::Machine;
use crate::state_key::StateKey;

/// The scope of a state file that was given none: the ID space of static generators.
///
/// ```
/// assert_eq!(frazil::DEFAULT_SCOPE, "default");
/// ```
pub const DEFAULT_SCOPE: &str = "default";

#[derive(Debug)]
enum Kind {
    /// A registry has a state of the key.
    Static,
    /// A state is kept elsewhere, or may be as soon as one of the claims on it is confirmed.
    Kept { holders: usize, confirmed: bool },
}

static KINDS: Mutex<BTreeMap<StateKey, Kind>> = Mutex::new(BTreeMap::new());

fn kinds() -> MutexGuard<'static, BTreeMap<StateKey, Kind>> {
    // Nothing that can panic runs while it is held.
    KINDS.lock().unwrap_or_else(PoisonError::into_inner)
}

const CONFLICT: Error = Error::bad_input(Code::StateConflict, Subject::Node, Rule::OneKind);

/// Notes that a registry makes a state of the key, for good.
pub(crate) fn claim_static(key: StateKey) -> Result<()> {
    match kinds().entry(key).or_insert(Kind::Static) {
        Kind::Static => Ok(()),
        Kind::Kept { .. } => Err(CONFLICT),
    }
}

/// Holds the numbers of a layout and node id for a state that is kept elsewhere than in a [`Registry`](crate::Registry).
///
/// Make it before the state is attached, and confirm it once it is. A claim that is dropped gives the numbers back, unless
/// another claim on them was confirmed or is still held.
///
/// ```
/// use frazil::{Claim, Code, GeneratorOptions, Layout, Machine, Node, Registry};
/// let layout = Layout::named("default")?;
/// let (seven, eight) = (Machine::new(&layout, Node::Id(7), 10)?, Machine::new(&layout, Node::Id(8), 10)?);
/// let mut registry = Registry::new();
/// Claim::kept(&seven, None)?.confirm(); // a state of node 7 was attached
/// drop(Claim::kept(&eight, None)?); // one of node 8 could not be
/// let error = registry.open(&layout, GeneratorOptions::new(Node::Id(7))).unwrap_err();
/// assert_eq!(error.code(), Code::StateConflict);
/// registry.open(&layout, GeneratorOptions::new(Node::Id(8)))?;
/// assert_eq!(Claim::kept(&eight, None).unwrap_err().code(), Code::StateConflict);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a claim that is dropped gives the numbers back"]
pub struct Claim {
    /// `None` where nothing has to be held.
    key: Option<StateKey>,
}

impl Claim {
    /// Claims what a machine mints. IDs of a scope other than [`DEFAULT_SCOPE`] are not meant to meet those of a registry, so
    /// there is nothing to hold.
    ///
    /// # Errors
    /// `STATE_CONFLICT` where a registry of this process has a state of the layout's geometry and node id.
    ///
    /// ```
    /// # use frazil::{Claim, GeneratorOptions, Layout, Machine, Node, Registry};
    /// let layout = Layout::named("default")?;
    /// Registry::new().open(&layout, GeneratorOptions::new(Node::Id(7)))?;
    /// let machine = Machine::new(&layout, Node::Id(7), 10)?;
    /// assert!(Claim::kept(&machine, Some("default")).is_err());
    /// assert!(Claim::kept(&machine, Some("shop")).is_ok());
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn kept(machine: &Machine, scope: Option<&str>) -> Result<Self> {
        if scope.is_some_and(|scope| scope != DEFAULT_SCOPE) {
            return Ok(Self { key: None });
        }
        let key = machine.key();
        match kinds().entry(key).or_insert(Kind::Kept { holders: 0, confirmed: false }) {
            Kind::Static => Err(CONFLICT),
            Kind::Kept { holders, .. } => {
                *holders += 1;
                Ok(Self { key: Some(key) })
            }
        }
    }

    /// Notes that the state is attached: from now on, and for good, no registry of this process makes one.
    ///
    /// ```
    /// # use frazil::{Claim, Layout, Machine, Node};
    /// let machine = Machine::new(&Layout::named("default")?, Node::Id(7), 10)?;
    /// Claim::kept(&machine, None)?.confirm();
    /// assert!(Claim::kept(&machine, None).is_ok(), "keepers of one state share it");
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

impl Drop for Claim {
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
