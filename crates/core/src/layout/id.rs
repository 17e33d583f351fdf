//! Decoding and composing IDs: pure functions of a [`Layout`].
//!
//! * **Exact**: an ID that the layout cannot have issued (bits above its width) is refused, never masked.
//! * **Inverse**: [`Layout::compose`] of what [`Layout::decode`] returned is the same ID.
//! * **Without context**: they need no generator, no node id and no clock.
//!
//! The decimal form is the only text here: digits without sign, blanks, leading zeros or n, so that every ID has one text.
//!
//! Not covered: the other text forms, which are in `text`.

use core::ops::Range;

use super::definition::Layout;
use super::field::FieldKind;
use super::geometry::{SECONDS_END, Span, to_u32};
use crate::error::{Code, Error, Result, Rule, Subject};

/// A node id as a caller names it.
///
/// ```
/// use frazil::{Layout, Node};
/// let twitter = Layout::named("twitter")?;
/// assert_eq!(twitter.join_node(Node::Parts(&[("datacenter", 3), ("worker", 17)]))?, 113);
/// assert_eq!(twitter.join_node(Node::Id(113))?, 113);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node<'a> {
    /// The node id as one number.
    Id(u64),
    /// The node id by the names of its parts, all of them, in any order.
    Parts(&'a [(&'a str, u64)]),
    /// No node id, for a layout without a node field. The caller must ensure a single generator.
    None,
}

/// An ID taken apart.
///
/// ```
/// let id = frazil::Layout::named("twitter")?.decode(1_541_815_603_606_036_480)?;
/// assert_eq!(id.timestamp_ms, 1_656_432_460_105); // 2022-06-28T16:07:40.105Z
/// assert_eq!((id.node, id.clock, id.sequence), (Some(378), None, 0));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decoded {
    /// The ID.
    pub id: u64,
    /// Unix milliseconds of the start of its tick.
    pub timestamp_ms: u64,
    /// The node id, its parts joined; `None` if the layout has none.
    pub node: Option<u32>,
    /// The clock id; `None` if the layout has none.
    pub clock: Option<u32>,
    /// The number of the ID within its tick.
    pub sequence: u64,
}

/// What [`Layout::compose`] makes an ID of.
///
/// ```
/// use frazil::Layout;
/// use frazil::layout::Parts;
/// let parts = Parts { timestamp_ms: 1_704_067_200_001, node: Some(7), clock: None, sequence: 2 };
/// assert_eq!(Layout::named("default")?.compose(parts)?, (1 << 22) | (7 << 12) | 2);
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parts {
    /// Unix milliseconds of the start of a tick.
    pub timestamp_ms: u64,
    /// The node id, if the layout has one.
    pub node: Option<u64>,
    /// The clock id, if the layout has one.
    pub clock: Option<u64>,
    /// The number within the tick.
    pub sequence: u64,
}

/// The fields of many IDs at once; each slice is filled as far as the IDs reach.
///
/// ```
/// use frazil::Layout;
/// use frazil::layout::Columns;
/// let (mut timestamp_ms, mut sequence) = ([0; 2], [0; 2]);
/// let layout = Layout::named("twitter")?;
/// layout.decode_many(
///     &[1_541_815_603_606_036_480, 1_541_815_603_606_036_481],
///     Columns { timestamp_ms: &mut timestamp_ms, sequence: &mut sequence, ..Columns::default() },
/// )?;
/// assert_eq!((timestamp_ms, sequence), ([1_656_432_460_105; 2], [0, 1]));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Columns<'a> {
    /// Unix milliseconds of the start of each tick.
    pub timestamp_ms: &'a mut [u64],
    /// Node ids; zeros if the layout has none.
    pub node: &'a mut [u32],
    /// Clock ids; zeros if the layout has none.
    pub clock: &'a mut [u32],
    /// Numbers within the tick.
    pub sequence: &'a mut [u64],
}

fn fill_column<T>(out: &mut [T], ids: &[u64], value: impl Fn(u64) -> T) {
    out.iter_mut().zip(ids).for_each(|(out, &id)| *out = value(id));
}

impl Layout {
    /// The largest ID the layout can express.
    #[must_use]
    pub fn max_id(&self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// Returns the ID if the layout can express it.
    ///
    /// # Errors
    /// `INVALID_ID` for one with bits above the layout's width.
    ///
    /// ```
    /// let safe53 = frazil::Layout::named("safe53")?;
    /// assert_eq!(safe53.check(1 << 53).unwrap_err().code(), frazil::Code::InvalidId);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn check(&self, id: u64) -> Result<u64> {
        let max = self.max_id();
        if id > max {
            return Err(Error::bad_number(Code::InvalidId, Subject::Id, Rule::IdRange, id, (0, max)));
        }
        Ok(id)
    }

    /// Reads the decimal form of an ID.
    ///
    /// # Errors
    /// `INVALID_ID` for anything but digits without sign, blanks and leading zeros, and for an ID with bits above the
    /// layout's width.
    ///
    /// ```
    /// let layout = frazil::Layout::named("default")?;
    /// assert_eq!(layout.parse("9223372036854775807")?, u64::MAX >> 1);
    /// assert!(["", "007", "12a", "-1", " 1", "9223372036854775808"].iter().all(|text| layout.parse(text).is_err()));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn parse(&self, text: &str) -> Result<u64> {
        let bytes = text.as_bytes();
        let canonical = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit) && (bytes[0] != b'0' || bytes.len() == 1);
        if !canonical {
            return Err(Error::bad_input(Code::InvalidId, Subject::Id, Rule::IdText));
        }
        let overflow = Error::bad_input(Code::InvalidId, Subject::Id, Rule::IdRange).with_bounds(0, self.max_id());
        self.check(text.parse().map_err(|_| overflow)?)
    }

    /// Takes an ID apart.
    ///
    /// # Errors
    /// `INVALID_ID` for an ID with bits above the layout's width.
    ///
    /// ```
    /// let id = frazil::Layout::named("mastodon")?.decode(109_876_543_210_987_654)?;
    /// assert_eq!((id.timestamp_ms, id.node), (1_676_582_995_773, None));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn decode(&self, id: u64) -> Result<Decoded> {
        self.check(id)?;
        let g = &self.geometry;
        Ok(Decoded {
            id,
            timestamp_ms: g.tick_start_ms(g.time.get(id)),
            node: (g.node_mask != 0).then(|| to_u32(g.gather_node(id))),
            clock: (g.clock.bits != 0).then(|| to_u32(g.clock.get(id))),
            sequence: g.sequence.get(id),
        })
    }

    /// The time an ID carries: Unix milliseconds of the start of its tick.
    ///
    /// # Errors
    /// `INVALID_ID` for an ID with bits above the layout's width.
    pub fn timestamp_of(&self, id: u64) -> Result<u64> {
        let g = &self.geometry;
        Ok(g.tick_start_ms(g.time.get(self.check(id)?)))
    }

    /// Takes many IDs apart, into columns. An empty column is left out; any other must be as long as `ids`.
    ///
    /// # Errors
    /// `INVALID_ID` at the first ID with bits above the layout's width; `INVALID_ARGUMENT` for a column of another
    /// length. Nothing has been written then.
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil::layout::Columns;
    /// let mut node = [0; 1];
    /// Layout::named("leaf")?.decode_many(&[113 << 12], Columns { node: &mut node, ..Columns::default() })?;
    /// assert_eq!(node, [113]);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn decode_many(&self, ids: &[u64], columns: Columns<'_>) -> Result<()> {
        let Columns { timestamp_ms, node, clock, sequence } = columns;
        for len in [timestamp_ms.len(), node.len(), clock.len(), sequence.len()] {
            if len != 0 && len != ids.len() {
                let length = ids.len() as u64;
                let bounds = (length, length);
                return Err(Error::bad_number(Code::InvalidArgument, Subject::Count, Rule::WholeNumber, len as u64, bounds));
            }
        }
        for &id in ids {
            self.check(id)?;
        }
        let g = &self.geometry;
        fill_column(timestamp_ms, ids, |id| g.tick_start_ms(g.time.get(id)));
        fill_column(node, ids, |id| to_u32(g.gather_node(id)));
        fill_column(clock, ids, |id| to_u32(g.clock.get(id)));
        fill_column(sequence, ids, |id| g.sequence.get(id));
        Ok(())
    }

    /// The node id as one number.
    ///
    /// # Errors
    /// `INVALID_NODE` if the layout cannot hold it: a number out of range, a part missing, unknown or out of range,
    /// an id for a layout without a node field, or `Node::None` for one that has it.
    ///
    /// ```
    /// use frazil::{Layout, Node};
    /// use frazil::error::Rule;
    /// let error = Layout::named("mastodon")?.join_node(Node::Id(1)).unwrap_err();
    /// assert_eq!(error.rule(), Rule::NodeNone);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn join_node(&self, node: Node<'_>) -> Result<u32> {
        let g = &self.geometry;
        match node {
            Node::None => g.check_no_node(),
            Node::Id(id) => g.check_node(id),
            Node::Parts(_) if g.node_mask == 0 => g.check_node(0),
            Node::Parts(given) => {
                let refuse = |rule| Error::bad_input(Code::InvalidNode, Subject::Node, rule);
                let fields = || self.fields().iter().filter(|field| field.kind == FieldKind::Node);
                let mut joined = 0;
                for field in fields() {
                    let &(_, value) = given.iter().find(|part| part.0 == field.part_name()).ok_or(refuse(Rule::PartNames))?;
                    let max = Span { shift: 0, bits: field.bits }.max();
                    if value > max {
                        return Err(Error::bad_number(Code::InvalidNode, Subject::Node, Rule::WholeNumber, value, (0, max)));
                    }
                    joined = (joined << field.bits) | value;
                }
                if given.len() == fields().count() { Ok(to_u32(joined)) } else { Err(refuse(Rule::PartNames)) }
            }
        }
    }

    /// The node id of a state file unless one is given: the last one. By default a scope of leases has all others, so that the two do
    /// not meet in one column by accident. A layout with one node id has it for a state file or for leases.
    ///
    /// ```
    /// use frazil::{Layout, Node};
    /// assert!(matches!(Layout::named("default")?.local_node(), Node::Id(1023)));
    /// assert!(matches!(Layout::named("mastodon")?.local_node(), Node::None));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn local_node(&self) -> Node<'static> {
        let g = &self.geometry;
        if g.node_mask == 0 { Node::None } else { Node::Id(u64::from(g.local_node())) }
    }

    /// Puts an ID together.
    ///
    /// # Errors
    /// `TIME_OUT_OF_RANGE` for a time the time field cannot hold; `INVALID_NODE` for a node id it cannot hold; `INVALID_ARGUMENT` for a
    /// time that is not the start of a tick, a clock or sequence that is too large, and a missing or unknown field.
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil::error::Rule;
    /// # use frazil::layout::Parts;
    /// let parts = Parts { timestamp_ms: 1_409_529_600_005, node: Some(1), clock: None, sequence: 0 };
    /// assert_eq!(Layout::named("sonyflake")?.compose(parts).unwrap_err().rule(), Rule::TickStart);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn compose(&self, parts: Parts) -> Result<u64> {
        let g = &self.geometry;
        let tick = self.tick_at(parts.timestamp_ms)?;
        if g.tick_start_ms(tick) != parts.timestamp_ms {
            let (subject, rule) = (Subject::TimestampMs, Rule::TickStart);
            return Err(Error::bad_number(Code::InvalidArgument, subject, rule, parts.timestamp_ms, (g.tick_ms.get(), 0)));
        }
        let node = match parts.node {
            Some(id) if g.node_mask != 0 => self.join_node(Node::Id(id))?,
            node => {
                check_presence(Subject::Node, g.node_mask != 0, node)?;
                0
            }
        };
        check_presence(Subject::Clock, g.clock.bits != 0, parts.clock)?;
        let clock = parts.clock.unwrap_or(0);
        for (subject, span, value) in [(Subject::Clock, g.clock, clock), (Subject::Sequence, g.sequence, parts.sequence)] {
            if value > span.max() {
                return Err(Error::bad_number(Code::InvalidArgument, subject, Rule::WholeNumber, value, (0, span.max())));
            }
        }
        Ok(g.time.put(tick) | g.scatter_node(u64::from(node)) | g.clock.put(clock) | g.sequence.put(parts.sequence))
    }

    /// The smallest ID whose tick contains the time: with [`Layout::max_id_at`] an inclusive range for a query.
    ///
    /// `node` must be given if the layout has node bits above its time, and only then.
    ///
    /// # Errors
    /// `TIME_OUT_OF_RANGE` for a time the time field cannot hold; `NOT_TIME_ORDERED` if a clock or sequence field lies
    /// above the time; `INVALID_NODE` and `INVALID_ARGUMENT` for a node id that is wrong, missing or not wanted.
    ///
    /// ```
    /// let layout = frazil::Layout::named("default")?;
    /// let (from, to) = (layout.min_id_at(1_704_067_201_000, None)?, layout.max_id_at(1_704_067_201_000, None)?);
    /// assert_eq!((from, to), (1000 << 22, (1001 << 22) - 1));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn min_id_at(&self, timestamp_ms: u64, node: Option<u64>) -> Result<u64> {
        self.range_at(timestamp_ms, node).map(|range| range.0)
    }

    /// The largest ID whose tick contains the time. See [`Layout::min_id_at`].
    ///
    /// It is not above all IDs that exist at that time: a generator may be ahead of the clock by its lead.
    ///
    /// # Errors
    /// As [`Layout::min_id_at`].
    ///
    /// ```
    /// let seata = frazil::Layout::named("seata")?; // node above time
    /// assert_eq!(seata.max_id_at(1_588_435_200_000, Some(1))?, (1 << 53) | 0xfff);
    /// assert_eq!(seata.max_id_at(1_588_435_200_000, None).unwrap_err().rule(), frazil::error::Rule::FieldAbove);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn max_id_at(&self, timestamp_ms: u64, node: Option<u64>) -> Result<u64> {
        self.range_at(timestamp_ms, node).map(|range| range.1)
    }

    /// The IDs of a stretch of time, half open: those from `start` up to, but not including, `end`.
    ///
    /// They are the IDs of the ticks from the one that contains `from_ms` up to, but not including, the one that contains
    /// `to_ms`. So the ranges of stretches that meet have no ID in common, and leave none out between them.
    ///
    /// A time before the epoch counts as the epoch, unless it is one in seconds: before 100,000,000,000 (in 1973), where the epoch is
    /// later and the layout holds its thousandfold. After a time beyond the last tick there are no more IDs: as `to_ms` it
    /// gives one more than the largest ID (of that node id), so that none is left out. Both bounds are at most 2^63 - 1, or 2^64 - 1 in a
    /// layout of 64 bits, since a database takes no larger number for such a column: the ID that is all ones is in no range. `node` is that
    /// of [`Layout::min_id_at`].
    ///
    /// # Errors
    /// `TIME_OUT_OF_RANGE` for a time in seconds; `INVALID_ARGUMENT` if `from_ms` is after `to_ms`, and for a node id that is missing
    /// or not wanted; `NOT_TIME_ORDERED`
    /// if a clock or sequence field lies above the time; `INVALID_NODE` for a node id that is wrong.
    ///
    /// ```
    /// let layout = frazil::Layout::named("default")?;
    /// assert_eq!(layout.range(1_704_067_201_000, 1_704_067_202_000, None)?, 1000 << 22..2000 << 22);
    /// assert_eq!(layout.range(0, u64::MAX, None)?, 0..(1 << 63) - 1); // every ID but the last
    /// assert_eq!(layout.range(1_704_067_201, 1_704_067_202, None).unwrap_err().rule(), frazil::error::Rule::NotSeconds);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn range(&self, from_ms: u64, to_ms: u64, node: Option<u64>) -> Result<Range<u64>> {
        self.check_time_order()?;
        for (subject, time) in [(Subject::From, from_ms), (Subject::To, to_ms)] {
            if self.is_in_seconds(time) {
                return Err(Error::bad_number(Code::TimeOutOfRange, subject, Rule::NotSeconds, time, (0, 0)));
            }
        }
        if from_ms > to_ms {
            let (subject, rule) = (Subject::From, Rule::FromAfterTo);
            return Err(Error::bad_number(Code::InvalidArgument, subject, rule, from_ms, (0, to_ms)));
        }
        let above_time = self.above_time(node)?;
        let g = &self.geometry;
        let bound = self.max_id() | (u64::MAX >> 1);
        let first_id_at = |timestamp_ms: u64| {
            let tick = (timestamp_ms.saturating_sub(g.epoch_ms) / g.tick_ms).min(g.time.max() + 1);
            let id = u128::from(above_time) + (u128::from(tick) << g.time.shift);
            u64::try_from(id).map_or(bound, |id| id.min(bound))
        };
        Ok(first_id_at(from_ms)..first_id_at(to_ms))
    }

    fn range_at(&self, timestamp_ms: u64, node: Option<u64>) -> Result<(u64, u64)> {
        self.check_time_order()?;
        let tick = self.tick_at(timestamp_ms)?;
        let time = self.geometry.time;
        let first = self.above_time(node)? | time.put(tick);
        Ok((first, first | ((1 << time.shift) - 1)))
    }

    /// Whether a time is Unix seconds, and not milliseconds. An epoch before 1973 does not tell.
    const fn is_in_seconds(&self, time: u64) -> bool {
        let g = &self.geometry;
        time < SECONDS_END && SECONDS_END <= g.epoch_ms && 1000 * time >= g.epoch_ms && 1000 * time <= g.end_ms()
    }

    /// Checks that nothing lies above the time but node fields.
    fn check_time_order(&self) -> Result<()> {
        let g = &self.geometry;
        let above = |span: Span| span.bits != 0 && span.shift > g.time.shift;
        if !above(g.clock) && !above(g.sequence) {
            return Ok(());
        }
        let subject = if above(g.clock) { Subject::Clock } else { Subject::Sequence };
        Err(Error::bad_input(Code::NotTimeOrdered, subject, Rule::NothingUnordered))
    }

    /// The bits of a node id that lie above the time.
    fn above_time(&self, node: Option<u64>) -> Result<u64> {
        let g = &self.geometry;
        let node_above = g.node_mask & !((1 << g.time.shift) - 1);
        match node {
            Some(id) if node_above != 0 => Ok(g.scatter_node(u64::from(self.join_node(Node::Id(id))?)) & node_above),
            None if node_above == 0 => Ok(0),
            _ => {
                let rule = if node.is_some() { Rule::FieldBelow } else { Rule::FieldAbove };
                Err(Error::bad_input(Code::InvalidArgument, Subject::Node, rule))
            }
        }
    }

    /// The tick that contains a time.
    fn tick_at(&self, timestamp_ms: u64) -> Result<u64> {
        let g = &self.geometry;
        let end_ms = g.end_ms();
        if timestamp_ms < g.epoch_ms || timestamp_ms > end_ms {
            let (code, subject) = (Code::TimeOutOfRange, Subject::TimestampMs);
            return Err(Error::bad_number(code, subject, Rule::TimeRange, timestamp_ms, (g.epoch_ms, end_ms)));
        }
        Ok((timestamp_ms - g.epoch_ms) / g.tick_ms)
    }

    /// The ID as a signed 64-bit column holds it: the same bits.
    ///
    /// # Errors
    /// `INVALID_ID` for an ID with bits above the layout's width.
    pub fn to_signed(&self, id: u64) -> Result<i64> {
        self.check(id).map(u64::cast_signed)
    }

    /// The ID that a signed 64-bit column holds.
    ///
    /// # Errors
    /// `INVALID_ID` if the layout has no such ID, such as a negative number in a layout that is not `unsigned`.
    ///
    /// ```
    /// assert_eq!(frazil::Layout::named("discord")?.from_signed(-1)?, u64::MAX);
    /// assert!(frazil::Layout::named("default")?.from_signed(-1).is_err());
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn from_signed(&self, signed: i64) -> Result<u64> {
        self.check(signed.cast_unsigned()).map_err(|_| {
            Error::bad_input(Code::InvalidId, Subject::Id, Rule::IdRange).with_signed_value(signed).with_bounds(0, self.max_id())
        })
    }
}

/// Checks that a field is given if the layout has it, and only then.
fn check_presence(subject: Subject, has: bool, value: Option<u64>) -> Result<()> {
    let rule = match (has, value) {
        (true, None) => Rule::FieldMissing,
        (false, Some(_)) => Rule::FieldAbsent,
        _ => return Ok(()),
    };
    Err(Error::bad_input(Code::InvalidArgument, subject, rule))
}
