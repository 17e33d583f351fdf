//! What the 64 bits of an ID mean.
//!
//! A [`Layout`] is a list of fields from the most to the least significant bit, in any order, plus the epoch and the
//! length of a tick:
//!
//! * **time** (exactly one): ticks since the epoch; at most 52 bits in practice, since the last tick must be a time that
//!   a JavaScript `Date` can hold (8.64e15 ms).
//! * **sequence** (exactly one): 1 to 53 bits, counted within a tick.
//! * **node** (any number of named parts): together, in order, the node id; at most 32 bits.
//! * **clock** (at most one): the clock id of the multi-clock snowflake; 1 to 8 bits.
//!
//! The widths add up to at most 63 bits, so that an ID fits a signed 64-bit column and stays positive, or to 64 when the
//! layout is `unsigned`.
//!
//! * **Checked once**: a `Layout` that exists obeys every rule; nothing is masked or clamped later.
//! * **Independent**: decoding needs no generator and no node id.
//! * Not covered: fields that hold anything else (a version, a random tail). Give such bits to a node part.
//!
//! Sources: Twitter's Snowflake (2010), Discord's and Mastodon's API references, Instagram's "Sharding & IDs" (2012),
//! Sonyflake, Baidu UidGenerator, Meituan Leaf, Seata's improved snowflake, TSID, CosId, the multi-clock snowflake.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use crate::error::{Code, Error, Result, Rule, Subject};

/// Widths of an ID that stays positive in a signed 64-bit column.
const SIGNED_BITS: u32 = 63;
/// Widths of an ID that uses the sign bit too.
const UNSIGNED_BITS: u32 = 64;
/// A node id is a `u32`.
const MAX_NODE_BITS: u32 = 32;
/// 2^53 is where a JavaScript number stops being exact.
const MAX_SEQUENCE_BITS: u32 = 53;
/// Each clock id has a cell that remembers its last tick: 2^8 cells of 8 bytes are 2 KiB a state.
const MAX_CLOCK_BITS: u32 = 8;
/// ECMA-262, section 21.4.1.1: the largest time value of a `Date`.
pub(crate) const MAX_DATE_MS: u64 = 8_640_000_000_000_000;
/// 2^53 - 1, the largest safe integer of JavaScript.
pub(crate) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// What a field of an ID holds.
///
/// ```
/// use frazil::{FieldKind, Layout};
/// let sonyflake = Layout::named("sonyflake")?;
/// let kinds: Vec<FieldKind> = sonyflake.fields().iter().map(|field| field.kind).collect();
/// assert_eq!(kinds, [FieldKind::Time, FieldKind::Sequence, FieldKind::Node]);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// Ticks since the epoch.
    Time,
    /// The node id, or a part of it.
    Node,
    /// The clock id.
    Clock,
    /// The number of the ID within its tick.
    Sequence,
}

impl FieldKind {
    /// The widest field of the kind.
    pub(crate) const fn max_bits(self) -> u32 {
        match self {
            Self::Sequence => MAX_SEQUENCE_BITS,
            Self::Clock => MAX_CLOCK_BITS,
            Self::Time | Self::Node => UNSIGNED_BITS,
        }
    }
}

/// One field of a layout.
///
/// ```
/// use frazil::{Field, FieldKind};
/// let field = Field::part("worker", 5);
/// assert_eq!((field.kind, field.bits, field.name.as_deref()), (FieldKind::Node, 5, Some("worker")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// What the field holds.
    pub kind: FieldKind,
    /// Its width in bits, at least 1.
    pub bits: u32,
    /// The name of a node part; an unnamed one is `"node"`.
    pub name: Option<Cow<'static, str>>,
}

impl Field {
    const fn unnamed(kind: FieldKind, bits: u32) -> Self {
        Self { kind, bits, name: None }
    }

    /// The time field.
    ///
    /// ```
    /// assert_eq!(frazil::Field::time(41).bits, 41);
    /// ```
    #[must_use]
    pub const fn time(bits: u32) -> Self {
        Self::unnamed(FieldKind::Time, bits)
    }

    /// A node field without a name of its own.
    ///
    /// ```
    /// assert_eq!(frazil::Field::node(10).name, None);
    /// ```
    #[must_use]
    pub const fn node(bits: u32) -> Self {
        Self::unnamed(FieldKind::Node, bits)
    }

    /// A named part of the node id.
    ///
    /// ```
    /// assert_eq!(frazil::Field::part("datacenter", 5).name.as_deref(), Some("datacenter"));
    /// ```
    #[must_use]
    pub fn part(name: impl Into<Cow<'static, str>>, bits: u32) -> Self {
        Self { kind: FieldKind::Node, bits, name: Some(name.into()) }
    }

    /// The clock id field.
    ///
    /// ```
    /// assert_eq!(frazil::Field::clock(4).kind, frazil::FieldKind::Clock);
    /// ```
    #[must_use]
    pub const fn clock(bits: u32) -> Self {
        Self::unnamed(FieldKind::Clock, bits)
    }

    /// The sequence field.
    ///
    /// ```
    /// assert_eq!(frazil::Field::sequence(12).kind, frazil::FieldKind::Sequence);
    /// ```
    #[must_use]
    pub const fn sequence(bits: u32) -> Self {
        Self::unnamed(FieldKind::Sequence, bits)
    }

    /// The name of a node part, `"node"` for one without a name of its own.
    pub(crate) fn part_name(&self) -> &str {
        self.name.as_deref().unwrap_or("node")
    }
}

/// What a layout is made of; [`Layout::new`] checks it.
///
/// ```
/// use frazil::{Field, Layout, LayoutSpec};
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

/// Where a field lies: `bits` wide, its lowest bit at `shift`. Absent fields are 0 wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) shift: u32,
    pub(crate) bits: u32,
}

impl Span {
    /// The largest value the field holds.
    pub(crate) const fn max(self) -> u64 {
        if self.bits == 0 { 0 } else { u64::MAX >> (64 - self.bits) }
    }

    pub(crate) const fn get(self, id: u64) -> u64 {
        if self.bits == 0 { 0 } else { (id >> self.shift) & self.max() }
    }

    /// The value in its place. An absent field may lie at any shift, so its 0 must not be shifted by 64.
    pub(crate) const fn put(self, value: u64) -> u64 {
        if self.bits == 0 { 0 } else { value << self.shift }
    }
}

/// The part of a layout that decides which numbers come out: what the generator works with, and what tells states apart.
/// Names are left out, so `leaf` and `twitter` have the same geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) epoch_ms: u64,
    /// Not zero by type, so that no division on the minting path can panic.
    pub(crate) tick_ms: NonZeroU64,
    pub(crate) time: Span,
    pub(crate) clock: Span,
    pub(crate) sequence: Span,
    /// The bits of the node id; its parts need not be neighbours.
    pub(crate) node_mask: u64,
}

impl Geometry {
    /// The rules for everything but names, and the places of the fields, the last one at bit 0.
    pub(crate) fn new(epoch_ms: u64, tick_ms: u64, unsigned: bool, fields: &[(FieldKind, u32)]) -> Result<Self> {
        if epoch_ms > MAX_SAFE_INTEGER {
            return Err(Error::number(Code::InvalidLayout, Subject::EpochMs, Rule::WholeNumber, epoch_ms, (0, MAX_SAFE_INTEGER)));
        }
        let Some(tick_ms) = NonZeroU64::new(tick_ms).filter(|tick_ms| tick_ms.get() <= MAX_SAFE_INTEGER) else {
            return Err(Error::number(Code::InvalidLayout, Subject::TickMs, Rule::WholeNumber, tick_ms, (1, MAX_SAFE_INTEGER)));
        };
        for (wanted, rule, least) in [
            (FieldKind::Time, Rule::OneTime, 1),
            (FieldKind::Sequence, Rule::OneSequence, 1),
            (FieldKind::Clock, Rule::OneClock, 0),
        ] {
            let count = fields.iter().filter(|field| field.0 == wanted).count();
            if count < least || count > 1 {
                return Err(refuse(Subject::Fields, rule));
            }
        }
        let (mut node_bits, mut total) = (0, 0_u64);
        for &(kind, bits) in fields {
            let max = kind.max_bits();
            if bits == 0 || bits > max {
                let bounds = (1, u64::from(max));
                return Err(Error::number(Code::InvalidLayout, Subject::FieldBits, Rule::WholeNumber, u64::from(bits), bounds));
            }
            // A long list of wide fields is possible input, so the sums are taken in 64 bits.
            total += u64::from(bits);
            node_bits += if kind == FieldKind::Node { u64::from(bits) } else { 0 };
        }
        if node_bits > u64::from(MAX_NODE_BITS) {
            return Err(Error::number(
                Code::InvalidLayout,
                Subject::Fields,
                Rule::NodeWidth,
                node_bits,
                (0, u64::from(MAX_NODE_BITS)),
            ));
        }
        let limit = u64::from(if unsigned { UNSIGNED_BITS } else { SIGNED_BITS });
        if total > limit {
            return Err(Error::number(Code::InvalidLayout, Subject::Fields, Rule::Width, total, (0, limit)));
        }
        let empty = Span::default();
        let mut geometry = Self { epoch_ms, tick_ms, time: empty, clock: empty, sequence: empty, node_mask: 0 };
        let mut shift = 0;
        for &(kind, bits) in fields.iter().rev() {
            let span = Span { shift, bits };
            match kind {
                FieldKind::Time => geometry.time = span,
                FieldKind::Clock => geometry.clock = span,
                FieldKind::Sequence => geometry.sequence = span,
                FieldKind::Node => geometry.node_mask |= span.put(span.max()),
            }
            shift += bits;
        }
        // Divided rather than multiplied, so that nothing can overflow.
        let reach_ms = MAX_DATE_MS.checked_sub(epoch_ms);
        if reach_ms.is_none_or(|reach_ms| geometry.time.max() > reach_ms / tick_ms) {
            return Err(refuse(Subject::Fields, Rule::LastTick).within(0, MAX_DATE_MS));
        }
        Ok(geometry)
    }

    /// How many IDs a tick holds is 2 to the power of this: the clock id is the high part of one count.
    pub(crate) const fn low_bits(&self) -> u32 {
        self.clock.bits + self.sequence.bits
    }

    /// The first Unix millisecond of a tick. Cannot overflow for a tick the layout holds: the last one ends within
    /// `MAX_DATE_MS`.
    pub(crate) const fn tick_start_ms(&self, tick: u64) -> u64 {
        self.epoch_ms + tick * self.tick_ms.get()
    }

    /// Moves the low bits of `value` to the set bits of the node mask, in order.
    pub(crate) const fn scatter_node(&self, value: u64) -> u64 {
        let (mut id, mut mask, mut rest) = (0, self.node_mask, value);
        while mask != 0 {
            let run = Run::lowest(mask);
            id |= (rest & run.span.max()) << run.span.shift;
            rest = if run.span.bits == 64 { 0 } else { rest >> run.span.bits };
            mask = run.above;
        }
        id
    }

    /// The reverse of `scatter_node`.
    pub(crate) const fn gather_node(&self, id: u64) -> u64 {
        let (mut value, mut mask, mut at) = (0, self.node_mask, 0);
        while mask != 0 {
            let run = Run::lowest(mask);
            value |= run.span.get(id) << at;
            at += run.span.bits;
            mask = run.above;
        }
        value
    }
}

/// The lowest run of set bits of a mask, and the mask without it.
struct Run {
    span: Span,
    above: u64,
}

impl Run {
    const fn lowest(mask: u64) -> Self {
        let shift = mask.trailing_zeros();
        let bits = (mask >> shift).trailing_ones();
        let run = if bits == 64 { u64::MAX } else { ((1 << bits) - 1) << shift };
        Self { span: Span { shift, bits }, above: mask & !run }
    }
}

/// What a layout can hold: for choosing widths, and for telling when they run out.
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
    /// Unix milliseconds of the last tick whose IDs are positive in a signed 64-bit column. `None` where a node, clock or
    /// sequence field holds the sign bit, so that it depends on that field and not on time.
    pub signed_until_ms: Option<u64>,
    /// Whether the IDs of one generator strictly increase: time above clock above sequence.
    pub ordered: bool,
    /// How many node ids there are; 1 without a node field.
    pub nodes: u64,
    /// How many IDs one node can issue a tick.
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
    /// Checks a layout and makes it.
    ///
    /// # Errors
    /// `INVALID_LAYOUT` where a rule of the module's introduction is broken; the error names the field and the rule.
    ///
    /// ```
    /// use frazil::{Field, Layout, LayoutSpec, Rule};
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
        let refuse = Error::about(Code::InvalidLayout, Subject::Layout, Rule::KnownLayout);
        let (_, epoch_ms, tick_ms, unsigned, fields) = NAMED.iter().find(|row| row.0 == name).ok_or(refuse)?;
        Self::new(LayoutSpec { epoch_ms: *epoch_ms, tick_ms: *tick_ms, unsigned: *unsigned, fields: fields.to_vec() })
    }

    /// The names that [`Layout::named`] knows.
    ///
    /// ```
    /// assert_eq!(frazil::Layout::names().next(), Some("default"));
    /// ```
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|row| row.0)
    }

    /// What the layout was made of.
    ///
    /// ```
    /// use frazil::{Layout, LayoutSpec};
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
    ///
    /// ```
    /// assert_eq!(frazil::Layout::named("default")?.fields().len(), 3);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.spec.fields
    }

    /// How many bits the layout uses.
    ///
    /// ```
    /// assert_eq!(frazil::Layout::named("safe53")?.bits(), 53);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.spec.fields.iter().map(|field| field.bits).sum()
    }

    /// What the layout can hold.
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

const fn refuse(subject: Subject, rule: Rule) -> Error {
    Error::about(Code::InvalidLayout, subject, rule)
}

/// The rules for the names of fields.
/// Whether a text is a name as [`Rule::NameSyntax`] wants it.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let starts = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic());
    starts && text.len() <= 32 && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn check_names(fields: &[Field]) -> Result<()> {
    for (index, field) in fields.iter().enumerate() {
        if field.kind != FieldKind::Node {
            if field.name.is_some() {
                return Err(refuse(Subject::FieldName, Rule::NameOnlyNode));
            }
            continue;
        }
        let name = field.part_name();
        if !is_name(name) {
            return Err(refuse(Subject::FieldName, Rule::NameSyntax));
        }
        if fields[..index].iter().any(|other| other.kind == FieldKind::Node && other.part_name() == name) {
            return Err(refuse(Subject::FieldName, Rule::DistinctNames));
        }
    }
    Ok(())
}

type NamedRow = (&'static str, u64, u64, bool, &'static [Field]);

const fn part(name: &'static str, bits: u32) -> Field {
    Field { kind: FieldKind::Node, bits, name: Some(Cow::Borrowed(name)) }
}

/// Every named layout: name, epoch, tick, unsigned, fields. The table of the JavaScript decoder is generated from it.
const NAMED: &[NamedRow] = &[
    ("default", 1_704_067_200_000, 1, false, &[Field::time(41), Field::node(10), Field::sequence(12)]),
    ("twitter", 1_288_834_974_657, 1, false, &[Field::time(41), part("datacenter", 5), part("worker", 5), Field::sequence(12)]),
    ("discord", 1_420_070_400_000, 1, true, &[Field::time(42), part("worker", 5), part("process", 5), Field::sequence(12)]),
    ("instagram", 1_314_220_021_721, 1, true, &[Field::time(41), part("shard", 13), Field::sequence(10)]),
    ("sonyflake", 1_409_529_600_000, 10, false, &[Field::time(39), Field::sequence(8), part("machine", 16)]),
    ("sonyflake2", 1_735_689_600_000, 10, false, &[Field::time(39), Field::sequence(8), part("machine", 16)]),
    ("mastodon", 0, 1, true, &[Field::time(48), Field::sequence(16)]),
    ("baidu", 1_463_673_600_000, 1000, false, &[Field::time(28), part("worker", 22), Field::sequence(13)]),
    ("leaf", 1_288_834_974_657, 1, false, &[Field::time(41), Field::node(10), Field::sequence(12)]),
    ("seata", 1_588_435_200_000, 1, false, &[Field::node(10), Field::time(41), Field::sequence(12)]),
    ("tsid", 1_577_836_800_000, 1, true, &[Field::time(42), Field::node(10), Field::sequence(12)]),
    ("cosid", 1_577_203_200_000, 1, false, &[Field::time(41), Field::node(10), Field::sequence(12)]),
    ("multi-clock", 1_704_067_200_000, 1, false, &[Field::time(41), Field::clock(4), Field::node(8), Field::sequence(10)]),
    ("edge", 1_704_067_200_000, 1, false, &[Field::time(41), Field::node(14), Field::sequence(8)]),
    ("safe53", 1_704_067_200_000, 1, false, &[Field::time(41), Field::node(3), Field::sequence(9)]),
];
