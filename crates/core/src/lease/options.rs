//! The options of a leased generator.

use super::terms::LeaseTerms;
use crate::mint::SequenceStart;

/// Where the time in leased IDs comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IdTime {
    /// From the clock of this machine.
    #[default]
    Wall,
    /// From the store's clock at the last answer, and the monotonic time since. A wall clock that is set does not matter.
    Store,
}

/// The options of a leased generator.
///
/// ```
/// use frazil::lease::{LeasedOptions, LeaseTerms};
/// let options = LeasedOptions::new(LeaseTerms::new(30_000, 10_000, 3000, 1)?);
/// assert!(options.max_lead_ms.is_none() && options.default_scope);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LeasedOptions {
    /// The lengths of the lease.
    pub terms: LeaseTerms,
    /// How many milliseconds the generator may run ahead of the clock, 0 to 1000. Default: 1000. It never leaves the window.
    pub max_lead_ms: Option<u64>,
    /// Where the sequence starts in a new tick.
    pub sequence_start: SequenceStart,
    /// Where the time comes from.
    pub id_time: IdTime,
    /// Whether only calls renew the lease, so that the process may be suspended between any two calls
    /// ([`LeasedGenerator::lease_ms`](super::LeasedGenerator::lease_ms)).
    pub by_calls: bool,
    /// Whether the scope is the default one, which shares its ID space with static and local generators of the process. A node id that such
    /// a generator has is then declined.
    pub default_scope: bool,
}

impl LeasedOptions {
    /// The default options.
    #[must_use]
    pub const fn new(terms: LeaseTerms) -> Self {
        Self {
            terms,
            max_lead_ms: None,
            sequence_start: SequenceStart::Zero,
            id_time: IdTime::Wall,
            by_calls: false,
            default_scope: true,
        }
    }
}
