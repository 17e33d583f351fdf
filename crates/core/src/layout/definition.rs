//! A layout from its description, which is checked.

use alloc::vec::Vec;

use super::field::{Field, FieldKind, UNSIGNED_BITS, check_names};
use super::geometry::Geometry;
use super::named::NAMED;
use crate::error::{Code, Error, Result, Rule, Subject};

/// The description of a layout. [`Layout::new`] checks it.
///
/// ```
/// use frazil::Layout;
/// use frazil::layout::{Field, LayoutSpec};
/// let layout = Layout::new(LayoutSpec {
///     epoch_ms: 1_704_067_200_000,
///     tick_ms: 10,
///     unsigned: false,
///     fields: vec![Field::time(40), Field::node(8), Field::sequence(15)],
/// })?;
/// assert_eq!(layout.plan().ids_per_tick, 32_768);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LayoutSpec {
    /// Unix milliseconds of tick 0: a safe integer of JavaScript.
    pub epoch_ms: u64,
    /// The length of a tick in milliseconds, at least 1.
    pub tick_ms: u64,
    /// Whether the fields may use all 64 bits.
    pub unsigned: bool,
    /// The fields, from the most to the least significant.
    pub fields: Vec<Field>,
}

/// The capacity of a layout: for choosing widths, and for telling when the time field runs out.
///
/// ```
/// let plan = frazil::Layout::named("twitter")?.plan();
/// assert_eq!(plan.last_ms, 3_487_858_230_208); // 2080-07-10T17:30:30.208Z
/// assert_eq!((plan.nodes, plan.ids_per_tick), (1024, 4096));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Unix milliseconds of the last tick: the last time an ID can carry.
    pub last_ms: u64,
    /// Unix milliseconds of the last tick whose IDs are positive in a signed 64-bit column. `None` if a node, clock or sequence
    /// field holds the sign bit: then the sign depends on that field and not on the time.
    pub signed_until_ms: Option<u64>,
    /// Whether the IDs of one generator strictly increase: time above clock above sequence.
    pub ordered: bool,
    /// How many node ids there are; 1 without a node field.
    pub nodes: u64,
    /// How many IDs one node can issue in a tick.
    pub ids_per_tick: u64,
}

/// What the 64 bits of an ID mean: fields in order, the epoch, and the length of a tick.
///
/// ```
/// use frazil::Layout;
/// let id = Layout::named("discord")?.decode(175_928_847_299_117_063)?;
/// assert_eq!(id.timestamp_ms, 1_462_015_105_796); // 2016-04-30T11:18:25.796Z
/// assert_eq!((id.node, id.sequence), (Some(32), 7)); // worker 1, process 0
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    spec: LayoutSpec,
    pub(crate) geometry: Geometry,
}

impl Layout {
    /// Makes a layout from its description, which is checked.
    ///
    /// # Errors
    /// `INVALID_LAYOUT` if a rule is broken: one time and one sequence field, at most one clock field, widths within 63 bits (64
    /// if `unsigned`), an epoch that is not in seconds, a node id of at most 32 bits, a last tick that a `Date` can hold, and
    /// distinct names for node parts only. The error names the field and the rule.
    ///
    /// ```
    /// use frazil::Layout;
    /// use frazil::error::Rule;
    /// use frazil::layout::{Field, LayoutSpec};
    /// let fields = vec![Field::time(41), Field::node(11), Field::sequence(12)];
    /// let error = Layout::new(LayoutSpec { epoch_ms: 0, tick_ms: 1, unsigned: false, fields }).unwrap_err();
    /// assert_eq!((error.rule(), error.value()), (Rule::Width, Some(64)));
    /// ```
    pub fn new(spec: LayoutSpec) -> Result<Self> {
        check_names(&spec.fields)?;
        let fields: Vec<_> = spec.fields.iter().map(|field| (field.kind, field.bits)).collect();
        let geometry = Geometry::new(spec.epoch_ms, spec.tick_ms, spec.unsigned, &fields)?;
        Ok(Self { spec, geometry })
    }

    /// A layout by its name.
    ///
    /// # Errors
    /// `INVALID_LAYOUT` for a name that is none of [`Layout::names`].
    ///
    /// ```
    /// let baidu = frazil::Layout::named("baidu")?;
    /// assert_eq!(baidu.plan().last_ms, 1_732_109_055_000); // 2024-11-20T13:24:15Z
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Self> {
        let refuse = Error::bad_input(Code::InvalidLayout, Subject::Layout, Rule::KnownLayout);
        let (_, epoch_ms, tick_ms, unsigned, fields) = NAMED.iter().find(|row| row.0 == name).ok_or(refuse)?;
        Self::new(LayoutSpec { epoch_ms: *epoch_ms, tick_ms: *tick_ms, unsigned: *unsigned, fields: fields.to_vec() })
    }

    /// Checks that the epoch was not taken from the clock of a process that started at `start_ms` and makes a generator at `now_ms`.
    /// Such an epoch moves with each start, so that the IDs repeat. An epoch after `now_ms` is accepted: until then the clock is
    /// before it, and nothing is issued; a program that remembers which epochs it accepted need not refuse them once they have come. So
    /// is an epoch of 0, which is the same at each start, whatever a clock shows that was not set.
    ///
    /// # Errors
    /// `INVALID_LAYOUT` for an epoch from `start_ms` to `now_ms`, except 0.
    ///
    /// ```
    /// use frazil::Layout;
    /// use frazil::error::Rule;
    /// use frazil::layout::LayoutSpec;
    /// let (start_ms, now_ms) = (1_780_000_000_000, 1_780_000_000_250);
    /// let layout = Layout::new(LayoutSpec { epoch_ms: now_ms - 50, ..Layout::named("default")?.spec() })?;
    /// assert_eq!(layout.check_epoch(start_ms, now_ms).unwrap_err().rule(), Rule::EpochMoves);
    /// assert_eq!(Layout::named("default")?.check_epoch(start_ms, now_ms), Ok(()));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn check_epoch(&self, start_ms: u64, now_ms: u64) -> Result<()> {
        self.geometry.check_epoch(start_ms..now_ms.saturating_add(1))
    }

    /// The names that [`Layout::named`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|row| row.0)
    }

    /// The description that the layout was made from.
    ///
    /// ```
    /// use frazil::Layout;
    /// use frazil::layout::LayoutSpec;
    /// let twitter = Layout::named("twitter")?;
    /// let ours = Layout::new(LayoutSpec { epoch_ms: 1_609_459_200_000, ..twitter.spec() })?;
    /// assert_eq!(ours.plan().last_ms, 3_808_482_455_551);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn spec(&self) -> LayoutSpec {
        self.spec.clone()
    }

    /// The fields, from the most to the least significant.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.spec.fields
    }

    /// How many bits the layout uses.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.spec.fields.iter().map(|field| field.bits).sum()
    }

    /// The capacity of the layout.
    ///
    /// ```
    /// let plan = frazil::Layout::named("sonyflake")?.plan();
    /// assert_eq!(plan.nodes, 65_536);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn plan(&self) -> Plan {
        let g = &self.geometry;
        let last_ms = g.tick_start_ms(g.time.max());
        let signed_until_ms = if self.bits() < UNSIGNED_BITS {
            Some(last_ms)
        } else if self.spec.fields[0].kind == FieldKind::Time {
            Some(g.tick_start_ms(g.time.max() >> 1))
        } else {
            None
        };
        Plan {
            last_ms,
            signed_until_ms,
            ordered: self.ordered(),
            nodes: 1 << g.node_mask.count_ones(),
            ids_per_tick: 1 << g.low_bits(),
        }
    }

    fn ordered(&self) -> bool {
        let g = &self.geometry;
        [g.sequence, g.clock, g.time].iter().filter(|span| span.bits != 0).map(|span| span.shift).is_sorted()
    }
}
