//! The options of a generator, and their rules for a static node id.

use super::machine::{Key, MAX_LEAD_MS, Machine, SequenceStart};
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::layout::{Geometry, Layout, Node};

/// `maxLeadMs` of a static node id.
pub(crate) const DEFAULT_STATIC_LEAD_MS: u64 = 10;

/// The options of a generator.
///
/// ```
/// use frazil::{GeneratorOptions, Layout, Node, Registry};
/// let options = GeneratorOptions { start_ms: Some(1_704_067_200_000), ..GeneratorOptions::new(Node::Id(7)) };
/// let generator = Registry::new().open(&Layout::named("default")?, options)?;
/// assert_eq!(generator.max_lead_ms(), 10);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GeneratorOptions<'a> {
    /// The node id. There is no default.
    pub node: Node<'a>,
    /// The most the generator may run ahead of the clock, in milliseconds, 0 to 1000. Default: 10, or 0 if `start_ms` is unknown.
    pub max_lead_ms: Option<u64>,
    /// When the process started, in Unix milliseconds. An earlier process with this node id may have issued IDs up to `max_lead_ms` later,
    /// so nothing is issued before the first tick beyond that. If it is `None`, no lead is allowed, and the caller must make sure that the
    /// process does not restart within a tick. [`Layout::check_epoch`] refuses an epoch that moves with it.
    pub start_ms: Option<u64>,
    /// Where the sequence starts in a new tick. It belongs to the state, so all generators of a state must have the same.
    pub sequence_start: SequenceStart,
    /// The key for a start other than zero, if the state has none yet. `None`: drawn at random (feature `std`).
    pub key: Option<Key>,
}

impl<'a> GeneratorOptions<'a> {
    /// The default options for a node id.
    ///
    /// ```
    /// let options = frazil::GeneratorOptions::new(frazil::Node::Id(7));
    /// assert_eq!((options.max_lead_ms, options.start_ms), (None, None));
    /// ```
    #[must_use]
    pub const fn new(node: Node<'a>) -> Self {
        Self { node, max_lead_ms: None, start_ms: None, sequence_start: SequenceStart::Zero, key: None }
    }
}

/// The options of a generator with its layout and node id resolved to numbers, as the frame has them too.
pub(crate) struct ResolvedOptions {
    pub(crate) geometry: Geometry,
    pub(crate) node: u32,
    pub(crate) max_lead_ms: Option<u64>,
    pub(crate) start_ms: Option<u64>,
    pub(crate) sequence_start: SequenceStart,
}

impl ResolvedOptions {
    /// Resolves the layout and the node id.
    pub(crate) fn new(layout: &Layout, options: GeneratorOptions<'_>) -> Result<Self> {
        let GeneratorOptions { node, max_lead_ms, start_ms, sequence_start, key: _ } = options;
        Ok(Self { geometry: layout.geometry, node: layout.join_node(node)?, max_lead_ms, start_ms, sequence_start })
    }

    /// The machine of a generator on a state of a registry.
    pub(crate) fn machine(&self) -> Result<Machine> {
        let known = self.start_ms.is_some();
        let max_lead_ms = self.max_lead_ms.unwrap_or(if known { DEFAULT_STATIC_LEAD_MS } else { 0 });
        if !known && max_lead_ms != 0 {
            let rule = Rule::NoStartLead;
            return Err(Error::bad_number(Code::InvalidOption, Subject::MaxLeadMs, rule, max_lead_ms, (0, 0)));
        }
        self.static_machine(max_lead_ms)
    }

    /// The machine of a static node id with that lead.
    pub(crate) fn static_machine(&self, max_lead_ms: u64) -> Result<Machine> {
        if max_lead_ms > MAX_LEAD_MS {
            let bounds = (0, MAX_LEAD_MS);
            return Err(Error::bad_number(Code::InvalidOption, Subject::MaxLeadMs, Rule::StaticLead, max_lead_ms, bounds));
        }
        Ok(Machine::from_geometry(self.geometry, self.node, max_lead_ms))
    }
}
