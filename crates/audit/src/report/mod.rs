//! What an audit found.

mod json;

use frazil::layout::Field;

/// What an audit found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The layout by which the IDs were read.
    pub layout: LayoutReport,
    /// How many files were read.
    pub files: u32,
    /// How many rows there are, those without an ID too.
    pub rows: u64,
    /// How many rows have an ID.
    pub ids: u64,
    /// How many different IDs there are.
    pub distinct: u64,
    /// Unix milliseconds of the earliest and latest ID of the layout.
    pub from_ms: Option<i64>,
    /// See `from_ms`.
    pub to_ms: Option<i64>,
    /// The order of the rows, which decides whether steps of a clock can be seen.
    pub order: Order,
    /// The nodes.
    pub nodes: NodesReport,
    /// How many IDs each day has, in UTC; days without IDs are left out.
    pub days: Vec<DayReport>,
    /// What is wrong, the worst first.
    pub findings: Vec<Finding>,
}

/// The order of the rows of the files. Of several files, the one that tells least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// In that of arrival, as far as can be told: steps of a clock show.
    Arrival,
    /// By time without exception: a step of a clock would not show.
    Time,
    /// Neither: a step of a clock cannot be told.
    None,
}

impl Order {
    /// `arrival`, `time` or `none`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrival => "arrival",
            Self::Time => "time",
            Self::None => "none",
        }
    }
}

/// The layout by which the IDs were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayoutReport {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its fields, from the most to the least significant; none if no layout is known.
    pub fields: Vec<Field>,
    /// Unix milliseconds of tick 0.
    pub epoch_ms: u64,
    /// The length of a tick in milliseconds.
    pub tick_ms: u64,
    /// Whether it was guessed.
    pub guessed: bool,
    /// The evidence for a guessed layout, in bits. Not a probability.
    pub score: Option<f64>,
    /// What speaks for it.
    pub reason: Option<String>,
    /// The next best one, with its score.
    pub runner_up: Option<(String, f64)>,
}

/// The nodes of the IDs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodesReport {
    /// How many nodes have IDs.
    pub in_use: u64,
    /// How many node ids the layout has.
    pub of: u64,
    /// Those with most IDs.
    pub top: Vec<NodeReport>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeReport {
    /// The node id.
    pub node: u32,
    /// How many rows have an ID of the node.
    pub ids: u64,
    /// Unix milliseconds of its first ID.
    pub from_ms: i64,
    /// Unix milliseconds of its last ID.
    pub to_ms: i64,
    /// The hosts that minted for it, at most eight.
    pub hosts: Vec<String>,
}

/// A day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayReport {
    /// The date in UTC: `2026-11-29`.
    pub day: String,
    /// How many rows have an ID of the day.
    pub ids: u64,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// A fact about the rows: never a false alarm.
    Exact,
    /// An inference, whose rate of false alarms is stated.
    Statistical,
    /// Not wrong by itself.
    Informational,
}

impl Certainty {
    /// `exact`, `statistical` or `informational`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Statistical => "statistical",
            Self::Informational => "informational",
        }
    }
}

macro_rules! kinds {
    ($($variant:ident = $name:literal, $meaning:literal;)+) => {
        /// What is wrong, the worst first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Kind { $(#[doc = concat!("`", $name, "`: ", $meaning, ".")] $variant,)+ }

        impl Kind {
            /// Every kind, the worst first.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in a report.
            #[must_use]
            pub const fn name(self) -> &'static str { match self { $(Self::$variant => $name,)+ } }
        }
    };
}

// Rounding is first: in IDs that lost digits, repeats and shared nodes are of the digits that are left.
kinds! {
    Rounded = "rounded", "IDs that went through a floating-point number";
    Repeats = "repeats", "IDs that occur more than once";
    SharedNode = "shared_node", "two hosts that mint with one node id";
    LooksShared = "looks_shared", "a node id with which two processes probably mint";
    ClockBack = "clock_back", "a clock that was set back";
    Negative = "negative", "numbers below zero in a layout whose IDs are positive";
    BeforeEpoch = "before_epoch", "times before the epoch";
    Future = "future", "times that have not come yet";
    ClockForward = "clock_forward", "a clock that was ahead of the others";
    MixedLayouts = "mixed_layouts", "IDs of another layout";
    TimeEnds = "time_ends", "the time field ends soon, or has ended";
    CreatedAt = "created_at", "times of rows that contradict their IDs";
    Peak = "peak", "ticks in which a node used every sequence number";
    Unreadable = "unreadable", "rows without an ID";
    Capped = "capped", "state for which the memory was too small";
    RandomNodes = "random_nodes", "node ids that look chosen at random";
    Silent = "silent", "a node without IDs while others minted";
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// How sure it is.
    pub certainty: Certainty,
    /// Of a statistical finding, how often a clean set of IDs has it, at most.
    pub false_alarm_rate: Option<f64>,
    /// How often: of repeats the IDs that occur more than once, of `shared_node` and `peak` the ticks, of `clock_back` and `clock_forward`
    /// the steps, of other kinds the rows.
    pub count: u64,
    /// Of repeats, the rows that have such an ID.
    pub count_rows: Option<u64>,
    /// The node, if it is about one.
    pub node: Option<u32>,
    /// The hosts, if they are known.
    pub hosts: Vec<String>,
    /// Unix milliseconds of the first occurrence.
    pub at_ms: Option<i64>,
    /// Unix milliseconds of the earliest ID it is about.
    pub from_ms: Option<i64>,
    /// Unix milliseconds of the latest ID it is about.
    pub to_ms: Option<i64>,
    /// The fact.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// Some of the rows it is about.
    pub rows: Vec<RowReport>,
}

/// A row that a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowReport {
    /// The index of the file, from 0, and the line, from 1, if they are known.
    pub place: Option<(u32, u64)>,
    /// The ID in decimal; of an unreadable row its text.
    pub id: String,
    /// The host, if it is known.
    pub host: Option<String>,
}

impl Finding {
    pub(crate) fn new(kind: Kind, certainty: Certainty, count: u64, message: String, hint: impl Into<String>) -> Self {
        Self {
            kind,
            certainty,
            false_alarm_rate: None,
            count,
            count_rows: None,
            node: None,
            hosts: Vec::new(),
            at_ms: None,
            from_ms: None,
            to_ms: None,
            message,
            hint: hint.into(),
            rows: Vec::new(),
        }
    }
}
