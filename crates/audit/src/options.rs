//! What an audit is told.

use frazil::Layout;
use frazil::layout::{Field, LayoutSpec};

use crate::error::AuditError;
use crate::json;

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

impl Options {
    /// Reads options from JSON, as the bindings send them: `nowMs`, and of `layout` (`epochMs`, `tickMs`, `unsigned`, `fields` of
    /// `kind`, `name` and `bits`), `layoutName`, `format`, `id`, `host`, `createdAt`, `memoryBytes` and `maxRows` those that are given.
    ///
    /// # Errors
    /// If the text is not such an object, or the layout breaks a rule.
    ///
    /// ```
    /// let options = frazil_audit::Options::from_json::<()>(r#"{"nowMs":1780000000000,"format":"csv","id":"order_id"}"#).unwrap();
    /// assert_eq!(options.columns.id.as_deref(), Some("order_id"));
    /// ```
    pub fn from_json<E>(text: &str) -> Result<Self, AuditError<E>> {
        let keys =
            ["nowMs", "layout", "layoutName", "format", "id", "host", "createdAt", "memoryBytes", "maxRows"].map(str::as_bytes);
        let values = json::values(text.as_bytes(), keys).ok_or_else(|| wrong("options"))?;
        let [now_ms, layout, layout_name, format, id, host, created_at, memory_bytes, max_rows] =
            values.map(|value| value.filter(|&value| value != b"null"));
        let text = |value: Option<&[u8]>, field| match value {
            Some(value) => json::unescaped(value).map(Some).ok_or_else(|| wrong(field)),
            None => Ok(None),
        };
        let mut options = Self::new(number(now_ms.unwrap_or_default(), "nowMs")?);
        if let Some(layout) = layout {
            options.layout = Some(read_layout(layout)?);
        }
        options.layout_name = text(layout_name, "layoutName")?;
        options.format = match format {
            None => None,
            Some(b"lines") => Some(Format::Lines),
            Some(b"csv") => Some(Format::Csv),
            Some(b"ndjson") => Some(Format::Ndjson),
            Some(b"raw") => Some(Format::Raw),
            Some(_) => return Err(AuditError::refused("format", "format must be lines, csv, ndjson or raw", "")),
        };
        options.columns = Columns { id: text(id, "id")?, host: text(host, "host")?, created_at: text(created_at, "createdAt")? };
        if let Some(memory_bytes) = memory_bytes {
            options.memory_bytes = number(memory_bytes, "memoryBytes")?;
        }
        if let Some(max_rows) = max_rows {
            options.max_rows = number(max_rows, "maxRows")?;
        }
        Ok(options)
    }
}

fn wrong<E>(field: &'static str) -> AuditError<E> {
    AuditError::refused(field, format!("{field} cannot be read"), "")
}

fn number<T: std::str::FromStr, E>(text: &[u8], field: &'static str) -> Result<T, AuditError<E>> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or_else(|| wrong(field))
}

fn read_layout<E>(text: &[u8]) -> Result<Layout, AuditError<E>> {
    let keys = ["epochMs", "tickMs", "unsigned", "fields"].map(str::as_bytes);
    let [epoch_ms, tick_ms, unsigned, fields] = json::values(text, keys).ok_or_else(|| wrong("layout"))?;
    let texts = fields.and_then(json::elements).ok_or_else(|| wrong("fields"))?;
    let mut fields = Vec::new();
    for text in texts {
        let [kind, name, bits] =
            json::values(text, ["kind", "name", "bits"].map(str::as_bytes)).ok_or_else(|| wrong("fields"))?;
        let bits = number(bits.unwrap_or_default(), "bits")?;
        let name = name.filter(|&name| name != b"null").and_then(json::unescaped);
        fields.push(match (kind, name) {
            (Some(b"time"), _) => Field::time(bits),
            (Some(b"clock"), _) => Field::clock(bits),
            (Some(b"sequence"), _) => Field::sequence(bits),
            (Some(b"node"), Some(name)) => Field::part(name, bits),
            (Some(b"node"), None) => Field::node(bits),
            _ => return Err(wrong("kind")),
        });
    }
    let epoch_ms = number(epoch_ms.unwrap_or_default(), "epochMs")?;
    let tick_ms = tick_ms.map_or(Ok(1), |tick_ms| number(tick_ms, "tickMs"))?;
    let bits = fields.iter().try_fold(0_u32, |sum, field| sum.checked_add(field.bits));
    // A layout that is not told to be unsigned is so if only then it has room.
    let unsigned = unsigned.map_or(bits == Some(u64::BITS), |unsigned| unsigned == b"true");
    Layout::new(LayoutSpec { epoch_ms, tick_ms, unsigned, fields }).map_err(|error| {
        AuditError::refused("layout", error.to_string(), error.hint().map_or(String::new(), |hint| hint.to_string()))
    })
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
