//! What an audit is told.

use frazil::Layout;

/// The options of an audit.
#[derive(Clone, Debug)]
pub struct Options {
    /// The layout of the IDs. `None`: it is guessed among the named ones.
    pub layout: Option<Layout>,
    /// The name of the layout, which the report repeats.
    pub layout_name: Option<String>,
    /// The format of every file. `None`: each file's own, by its first bytes.
    pub format: Option<Format>,
    /// The columns of CSV and the keys of NDJSON.
    pub columns: Columns,
    /// What the buffers and the state of nodes and hosts may take, at least [`Options::MIN_MEMORY_BYTES`].
    pub memory_bytes: usize,
    /// Unix milliseconds of now: what is later is in the future.
    pub now_ms: i64,
    /// How many rows a finding lists, and how many findings of a kind name their node.
    pub max_rows: usize,
}

impl Options {
    /// The least memory an audit works with.
    pub const MIN_MEMORY_BYTES: usize = 1 << 20;

    /// Options for IDs of an unknown layout in a file of any format.
    #[must_use]
    pub fn new(now_ms: i64) -> Self {
        Self {
            layout: None,
            layout_name: None,
            format: None,
            columns: Columns::default(),
            memory_bytes: 256 << 20,
            now_ms,
            max_rows: 10,
        }
    }
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A decimal ID in each line.
    Lines,
    /// Rows with separators: comma, semicolon, tab or bar. The first row has the names of the columns.
    Csv,
    /// A JSON object in each line.
    Ndjson,
    /// 64-bit numbers, the least significant byte first.
    Raw,
}

/// The names of columns or keys. A name that is not given is `id`, `host` or `created_at`, and of the last two the column may be missing.
/// In CSV, a number is the place of a column, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The column of the ID.
    pub id: Option<String>,
    /// The column of the host, process or instance that made the ID.
    pub host: Option<String>,
    /// The column of the time at which the row was made.
    pub created_at: Option<String>,
}
