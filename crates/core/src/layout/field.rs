//! The fields of a layout, and the rules for their names.

use alloc::borrow::Cow;

use crate::error::{Code, Error, Result, Rule, Subject};

/// The width of an ID that uses the sign bit too.
pub(super) const UNSIGNED_BITS: u32 = 64;
/// A JavaScript number is exact up to 2^53.
const MAX_SEQUENCE_BITS: u32 = 53;
/// Each clock id has a cell that remembers its last tick: 2^8 cells of 8 bytes are 2 KiB a state.
const MAX_CLOCK_BITS: u32 = 8;

/// What a field of an ID holds.
///
/// ```
/// use frazil::Layout;
/// use frazil::layout::FieldKind;
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
    /// The largest width of a field of the kind.
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
/// use frazil::layout::{Field, FieldKind};
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
    #[must_use]
    pub const fn time(bits: u32) -> Self {
        Self::unnamed(FieldKind::Time, bits)
    }

    /// A node field without its own name.
    #[must_use]
    pub const fn node(bits: u32) -> Self {
        Self::unnamed(FieldKind::Node, bits)
    }

    /// A named part of the node id.
    #[must_use]
    pub fn part(name: impl Into<Cow<'static, str>>, bits: u32) -> Self {
        Self { kind: FieldKind::Node, bits, name: Some(name.into()) }
    }

    /// The clock id field.
    #[must_use]
    pub const fn clock(bits: u32) -> Self {
        Self::unnamed(FieldKind::Clock, bits)
    }

    /// The sequence field.
    #[must_use]
    pub const fn sequence(bits: u32) -> Self {
        Self::unnamed(FieldKind::Sequence, bits)
    }

    /// The name of a node part; `"node"` if it has none.
    pub(crate) fn part_name(&self) -> &str {
        self.name.as_deref().unwrap_or("node")
    }
}

pub(super) const fn invalid(subject: Subject, rule: Rule) -> Error {
    Error::bad_input(Code::InvalidLayout, subject, rule)
}

/// Whether a text is a name as [`Rule::NameSyntax`] requires.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let starts = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic());
    starts && text.len() <= 32 && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// Checks the names of fields.
pub(super) fn check_names(fields: &[Field]) -> Result<()> {
    for (index, field) in fields.iter().enumerate() {
        if field.kind != FieldKind::Node {
            if field.name.is_some() {
                return Err(invalid(Subject::FieldName, Rule::NameOnlyNode));
            }
            continue;
        }
        let name = field.part_name();
        if !is_name(name) {
            return Err(invalid(Subject::FieldName, Rule::NameSyntax));
        }
        if fields[..index].iter().any(|other| other.kind == FieldKind::Node && other.part_name() == name) {
            return Err(invalid(Subject::FieldName, Rule::DistinctNames));
        }
    }
    Ok(())
}
