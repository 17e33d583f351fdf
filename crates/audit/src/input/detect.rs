//! The format of a file, by its first bytes.

use super::{cell, csv};
use crate::error::AuditError;
use crate::options::{Columns, Format};

/// The format of a file, and where its columns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Lines,
    Csv { separator: u8, id: usize, host: Option<usize>, created_at: Option<usize> },
    Ndjson,
    Raw,
}

/// How a file begins.
pub(super) struct Start {
    pub(super) kind: Kind,
    /// The bytes and lines before the first row.
    pub(super) bytes: usize,
    pub(super) lines: u64,
}

/// What other files begin with, what they are, and how their IDs get here.
const OTHER_FILES: &[(&[u8], &str, &str)] = &[
    (b"\x1f\x8b", "compressed with gzip", "Decompress it first."),
    (b"\x28\xb5\x2f\xfd", "compressed with Zstandard", "Decompress it first: zstd -dc FILE | npx frazil audit -"),
    (b"\xfd7zXZ", "compressed with xz", "Decompress it first: xz -dc FILE | npx frazil audit -"),
    (b"BZh", "compressed with bzip2", "Decompress it first: bzip2 -dc FILE | npx frazil audit -"),
    (b"PK\x03\x04", "a ZIP archive or a workbook", "Export the sheet as CSV."),
    (b"PAR1", "Parquet", "Read it with DuckDB: COPY (SELECT id FROM 'FILE') TO '/dev/stdout' (FORMAT csv)"),
    (b"SQLite format 3\0", "an SQLite database", "Export the column: sqlite3 FILE 'SELECT id FROM TABLE'"),
    (b"PGDMP", "a PostgreSQL dump", "Export the column: psql -c \"\\copy (SELECT id FROM TABLE) TO STDOUT\""),
    (b"\xff\xfe", "text in UTF-16", "Save it as UTF-8."),
    (b"\xfe\xff", "text in UTF-16", "Save it as UTF-8."),
];

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether the bytes suffice to decide: binary, or with a whole first row.
pub(super) fn is_enough(format: Option<Format>, head: &[u8], max_row_bytes: usize) -> bool {
    format == Some(Format::Raw) || is_binary(head) || head.contains(&b'\n') || head.len() > max_row_bytes
}

/// What is looked at before the format is decided.
pub(super) const HEAD_BYTES: usize = 1 << 12;

/// Text has no such control characters; 64-bit IDs have some within a few kilobytes.
fn is_binary(head: &[u8]) -> bool {
    head.iter().take(HEAD_BYTES).any(|&byte| is_control(byte))
}

const fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=8 | 14..=26 | 28..=31)
}

/// Whether the bytes are text with a few control characters, or in UTF-16: more than 19 of 20 others are printable ASCII.
fn is_damaged_text(head: &[u8]) -> bool {
    let head = &head[..head.len().min(HEAD_BYTES)];
    let zeros = head.split(|&byte| byte == 0).count() - 1;
    let printable = head.iter().filter(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')).count();
    head.len() >= 64 && 20 * printable > 19 * (head.len() - zeros.min(head.len() / 2))
}

pub(super) fn detect<E>(format: Option<Format>, columns: &Columns, head: &[u8]) -> Result<Start, AuditError<E>> {
    if format == Some(Format::Raw) {
        return Ok(Start { kind: Kind::Raw, bytes: 0, lines: 0 });
    }
    if let Some((_, what, hint)) = OTHER_FILES.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Err(AuditError::refused("input", format!("the file is {what}"), *hint));
    }
    if format.is_none() && is_binary(head) {
        if is_damaged_text(head) {
            let hint = "Save it as UTF-8, or give --format: control characters would make it 64-bit numbers.";
            return Err(AuditError::refused("format", "the file is text with control characters, or in UTF-16", hint));
        }
        return Ok(Start { kind: Kind::Raw, bytes: 0, lines: 0 });
    }
    let mark = if head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let text = &head[mark..];
    let plain = |kind| {
        let named = [("id", &columns.id), ("host", &columns.host), ("createdAt", &columns.created_at)];
        match named.into_iter().find_map(|(field, name)| Some((field, name.as_ref()?))) {
            Some((field, name)) if kind == Kind::Lines => Err(AuditError::refused(
                field,
                format!("no column \"{name}\": the file has an ID in each line and no columns"),
                "",
            )),
            _ => Ok(Start { kind, bytes: mark, lines: 0 }),
        }
    };
    match (format, text.trim_ascii_start().first()) {
        (Some(Format::Lines), _) => return plain(Kind::Lines),
        (Some(Format::Ndjson), _) | (None, Some(b'{')) => return plain(Kind::Ndjson),
        (None, Some(b'[')) => {
            let hint = "Give one object a line: jq -c '.[]' FILE | npx frazil audit -";
            return Err(AuditError::refused("input", "the file is a JSON array", hint));
        }
        _ => {}
    }
    let end = csv::row_end(text, None, &mut csv::At::default());
    let header = &text[..end.unwrap_or(text.len())];
    let separator = csv::separator(header);
    if format.is_none() && separator.is_none() && (cell::id(header).is_ok() || header.trim_ascii().is_empty()) {
        return plain(Kind::Lines);
    }
    let found = find_columns(columns, header, separator.unwrap_or(b','))?;
    // A number as the name of a column may mean that there is no header.
    let is_row = csv::cells(header, separator.unwrap_or(b',')).nth(found.id).is_some_and(|id| cell::id(id).is_ok());
    let (bytes, lines) = if is_row { (mark, 0) } else { (mark + end.map_or(header.len(), |end| end + 1), 1) };
    let kind = Kind::Csv { separator: separator.unwrap_or(b','), id: found.id, host: found.host, created_at: found.created_at };
    Ok(Start { kind, bytes, lines })
}

struct Found {
    id: usize,
    host: Option<usize>,
    created_at: Option<usize>,
}

fn find_columns<E>(columns: &Columns, header: &[u8], separator: u8) -> Result<Found, AuditError<E>> {
    let names = csv::names(header, separator);
    let find = |wanted: &str| {
        let exact = names.iter().position(|name| name == wanted);
        let similar = || names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let place = || wanted.parse::<usize>().ok().filter(|place| (1..=names.len()).contains(place)).map(|place| place - 1);
        exact.or_else(similar).or_else(place)
    };
    let missing = |field, wanted: &str| {
        let message = if names.iter().any(|name| cell::id(name.as_bytes()).is_ok()) {
            format!("no column \"{wanted}\": the first row has values, not names")
        } else {
            format!("no column \"{wanted}\"; there are {}", listed(&names))
        };
        AuditError::refused(field, message, format!("Name the column with --{}, or give its place, from 1.", option(field)))
    };
    let optional = |field, wanted: Option<&str>, default: &str| match wanted {
        Some(wanted) => find(wanted).map(Some).ok_or_else(|| missing(field, wanted)),
        None => Ok(names.iter().position(|name| name.eq_ignore_ascii_case(default))),
    };
    let id = match &columns.id {
        Some(wanted) => find(wanted).ok_or_else(|| missing("id", wanted))?,
        // A lone column is that of the ID, whatever its name.
        None if names.len() == 1 => 0,
        None => find("id").ok_or_else(|| missing("id", "id"))?,
    };
    Ok(Found {
        id,
        host: optional("host", columns.host.as_deref(), "host")?,
        created_at: optional("createdAt", columns.created_at.as_deref(), "created_at")?,
    })
}

/// The flag of a field.
fn option(field: &str) -> &str {
    if field == "createdAt" { "created-at" } else { field }
}

fn listed(names: &[String]) -> String {
    const MOST: usize = 20;
    let mut shown: Vec<_> =
        names.iter().take(MOST).map(|name| format!("\"{}\"", name.chars().take(40).collect::<String>())).collect();
    if names.len() > MOST {
        shown.push(format!("{} more", names.len() - MOST));
    }
    shown.join(", ")
}
