//! Rows of a file, whatever its format and in whatever pieces it comes.

mod cell;
mod csv;
mod detect;
mod find;

pub(crate) use cell::Reason;
use detect::Kind;
use find::find;

use crate::error::AuditError;
use crate::json;
use crate::options::{Columns, Format};

/// The longest row.
const MAX_ROW_BYTES: usize = 1 << 20;
const RAW_BYTES: usize = size_of::<u64>();
/// What databases write for a host that is not known.
const NO_HOSTS: &[&[u8]] = &[b"", b"null", b"NULL", b"\\N"];
/// How much of a text that is no ID is repeated.
const MAX_SHOWN_CHARS: usize = 40;

/// A row that has an ID.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) id: u64,
    pub(crate) host: Option<&'a [u8]>,
    pub(crate) created_ms: Option<i64>,
    /// The number of the line, from 1; of raw IDs that of the ID.
    pub(crate) line: u64,
}

/// What takes the rows.
pub(crate) trait Rows {
    type Error;
    fn row(&mut self, row: Row<'_>) -> Result<(), Self::Error>;
    fn unreadable(&mut self, line: u64, reason: Reason, text: String);
}

/// Reads files, one after the other.
pub(crate) struct Input {
    format: Option<Format>,
    columns: Columns,
    pub(crate) file: u32,
    pub(crate) bytes: u64,
    kind: Option<Kind>,
    /// The bytes before the format is decided, and then the begin of a row.
    carry: Vec<u8>,
    at: csv::At,
    is_too_long: bool,
    line: u64,
    readable: u64,
    unreadable: u64,
    first_unreadable: Option<(u64, Reason, String)>,
}

impl Input {
    pub(crate) fn new(format: Option<Format>, columns: Columns) -> Self {
        Self {
            format,
            columns,
            file: 0,
            bytes: 0,
            kind: None,
            carry: Vec::new(),
            at: csv::At::default(),
            is_too_long: false,
            line: 0,
            readable: 0,
            unreadable: 0,
            first_unreadable: None,
        }
    }

    pub(crate) fn push<E, R: Rows<Error = AuditError<E>>>(&mut self, bytes: &[u8], rows: &mut R) -> Result<(), AuditError<E>> {
        self.bytes += bytes.len() as u64;
        if self.kind.is_some() {
            return self.feed(bytes, rows);
        }
        self.carry.extend_from_slice(bytes);
        if self.carry.len() >= detect::HEAD_BYTES && detect::is_enough(self.format, &self.carry, MAX_ROW_BYTES) {
            self.begin(rows)?;
        }
        Ok(())
    }

    /// The end of a file. The next one may have another format and other columns.
    pub(crate) fn end_file<E, R: Rows<Error = AuditError<E>>>(&mut self, rows: &mut R) -> Result<(), AuditError<E>> {
        if self.kind.is_none() && !self.carry.is_empty() {
            self.begin(rows)?;
        }
        let rest = std::mem::take(&mut self.carry);
        match self.kind {
            Some(Kind::Raw) if !rest.is_empty() => {
                self.line += 1;
                self.refuse_row(Reason::Cut, &rest, rows);
            }
            Some(Kind::Raw) | None => {}
            Some(_) if self.is_too_long => {
                self.line += 1;
                self.refuse_row(Reason::LongRow, b"", rows);
            }
            Some(_) if !rest.is_empty() => self.text_row(&rest, rows)?,
            Some(_) => {}
        }
        let file = self.file;
        let wrong = if self.unreadable > self.readable { self.first_unreadable.take() } else { None };
        *self = Self { file: file + 1, bytes: self.bytes, ..Self::new(self.format, std::mem::take(&mut self.columns)) };
        let Some((line, reason, text)) = wrong else { return Ok(()) };
        let why = match reason {
            Reason::MissingKey => format!("the object has no key \"{}\"", self.columns.id.as_deref().unwrap_or("id")),
            _ => reason.text().to_string(),
        };
        let message = format!("more than half of the rows have no ID; the first of them, \"{text}\": {why}");
        let hint = match reason {
            Reason::Float => "A spreadsheet or a JSON number rounded the IDs. Export them as text.",
            Reason::MissingKey => {
                "Name a key at the top with --id. Take other IDs out: jq -r .order.id FILE | npx frazil audit -, or \
                 grep -oE '[0-9]{15,20}' FILE | npx frazil audit -"
            }
            Reason::NotDecimal => {
                "Name the column with --id. IDs within text: grep -oE '[0-9]{15,20}' FILE | npx frazil audit -. In another form: \
                 npx frazil convert - --from base62 < FILE | npx frazil audit -"
            }
            _ => "Choose the format with --format, and the column with --id.",
        };
        Err(AuditError::refused("input", message, hint).at(file, line))
    }

    /// Decides the format, and reads what has been collected.
    fn begin<E, R: Rows<Error = AuditError<E>>>(&mut self, rows: &mut R) -> Result<(), AuditError<E>> {
        let head = std::mem::take(&mut self.carry);
        let start = detect::detect(self.format, &self.columns, &head).map_err(|error| error.at(self.file, 1))?;
        self.kind = Some(start.kind);
        self.line = start.lines;
        self.feed(&head[start.bytes..], rows)
    }

    fn feed<E, R: Rows<Error = AuditError<E>>>(&mut self, bytes: &[u8], rows: &mut R) -> Result<(), AuditError<E>> {
        if matches!(self.kind, Some(Kind::Raw)) { self.feed_raw(bytes, rows) } else { self.feed_text(bytes, rows) }
    }

    fn feed_raw<E, R: Rows<Error = AuditError<E>>>(&mut self, mut bytes: &[u8], rows: &mut R) -> Result<(), AuditError<E>> {
        if !self.carry.is_empty() {
            let missing = (RAW_BYTES - self.carry.len()).min(bytes.len());
            self.carry.extend_from_slice(&bytes[..missing]);
            bytes = &bytes[missing..];
            if self.carry.len() < RAW_BYTES {
                return Ok(());
            }
            let whole = std::mem::take(&mut self.carry);
            self.raw_rows(&whole, rows)?;
        }
        self.raw_rows(bytes, rows)
    }

    fn raw_rows<E, R: Rows<Error = AuditError<E>>>(&mut self, bytes: &[u8], rows: &mut R) -> Result<(), AuditError<E>> {
        let (ids, rest) = bytes.as_chunks::<RAW_BYTES>();
        for &id in ids {
            self.line += 1;
            rows.row(Row { id: u64::from_le_bytes(id), host: None, created_ms: None, line: self.line })?;
        }
        self.readable += ids.len() as u64;
        self.carry.extend_from_slice(rest);
        Ok(())
    }

    fn feed_text<E, R: Rows<Error = AuditError<E>>>(&mut self, mut bytes: &[u8], rows: &mut R) -> Result<(), AuditError<E>> {
        if !self.carry.is_empty() || self.is_too_long {
            let end = self.row_end(bytes);
            self.extend_carry(&bytes[..end.unwrap_or(bytes.len())]);
            let Some(end) = end else { return Ok(()) };
            bytes = &bytes[end + 1..];
            if std::mem::take(&mut self.is_too_long) {
                self.line += 1;
                self.refuse_row(Reason::LongRow, b"", rows);
            } else {
                let mut row = std::mem::take(&mut self.carry);
                self.text_row(&row, rows)?;
                row.clear();
                self.carry = row;
            }
        }
        let is_lines = matches!(self.kind, Some(Kind::Lines));
        loop {
            if is_lines {
                bytes = self.plain_lines(bytes, rows)?;
            }
            let Some(end) = self.row_end(bytes) else { break };
            self.text_row(&bytes[..end], rows)?;
            bytes = &bytes[end + 1..];
        }
        self.extend_carry(bytes);
        Ok(())
    }

    fn extend_carry(&mut self, bytes: &[u8]) {
        if self.is_too_long || self.carry.len() + bytes.len() > MAX_ROW_BYTES {
            self.is_too_long = true;
            self.carry.clear();
        } else {
            self.carry.extend_from_slice(bytes);
        }
    }

    fn row_end(&mut self, bytes: &[u8]) -> Option<usize> {
        match self.kind {
            Some(Kind::Csv { separator, .. }) => csv::row_end(bytes, Some(separator), &mut self.at),
            _ => find(bytes, b'\n'),
        }
    }

    /// Reads lines of nothing but digits, and returns what begins with another line.
    fn plain_lines<'a, E, R: Rows<Error = AuditError<E>>>(
        &mut self,
        mut bytes: &'a [u8],
        rows: &mut R,
    ) -> Result<&'a [u8], AuditError<E>> {
        /// So many digits always fit in 64 bits.
        const SAFE_DIGITS: usize = 19;
        loop {
            let mut id: u64 = 0;
            let mut digits = 0;
            let end = loop {
                let Some(&byte) = bytes.get(digits) else { return Ok(bytes) };
                let digit = byte.wrapping_sub(b'0');
                if digit > 9 {
                    break byte;
                }
                id = id.wrapping_mul(10).wrapping_add(u64::from(digit));
                digits += 1;
            };
            if end != b'\n' || digits == 0 || digits > SAFE_DIGITS || (bytes[0] == b'0' && digits > 1) {
                return Ok(bytes);
            }
            bytes = &bytes[digits + 1..];
            self.line += 1;
            self.readable += 1;
            rows.row(Row { id, host: None, created_ms: None, line: self.line })?;
        }
    }

    fn text_row<E, R: Rows<Error = AuditError<E>>>(&mut self, row: &[u8], rows: &mut R) -> Result<(), AuditError<E>> {
        self.line += 1;
        let line = self.line;
        if row.trim_ascii().is_empty() {
            return Ok(());
        }
        let (id, host, created_at) = match &self.kind {
            Some(Kind::Csv { separator, id, host, created_at }) => {
                let mut found = (None, None, None);
                for (at, cell) in csv::cells(row, *separator).enumerate() {
                    if at == *id {
                        found.0 = Some(cell);
                    }
                    if Some(at) == *host {
                        found.1 = Some(cell);
                    }
                    if Some(at) == *created_at {
                        found.2 = Some(cell);
                    }
                }
                self.line += row.split(|&byte| byte == b'\n').count() as u64 - 1;
                (found.0.ok_or(Reason::MissingCell), found.1, found.2)
            }
            Some(Kind::Ndjson) => {
                let keys = [
                    self.columns.id.as_deref().unwrap_or("id").as_bytes(),
                    self.columns.host.as_deref().unwrap_or("host").as_bytes(),
                    self.columns.created_at.as_deref().unwrap_or("created_at").as_bytes(),
                ];
                match json::values(row, keys) {
                    Some([id, host, created_at]) => (id.ok_or(Reason::MissingKey), host, created_at),
                    None => (Err(Reason::NotJson), None, None),
                }
            }
            _ => (Ok(row), None, None),
        };
        match id.and_then(cell::id) {
            Ok(id) => {
                self.readable += 1;
                let host = host.map(cell::trimmed).filter(|host| !NO_HOSTS.contains(host));
                rows.row(Row { id, host, created_ms: created_at.and_then(cell::time_ms), line })
            }
            Err(reason) => {
                let shown =
                    if matches!(reason, Reason::MissingCell | Reason::MissingKey | Reason::NotJson) { Ok(row) } else { id };
                let shown = shown.unwrap_or(row);
                self.refuse_row_at(line, reason, shown, rows);
                Ok(())
            }
        }
    }

    fn refuse_row<R: Rows>(&mut self, reason: Reason, text: &[u8], rows: &mut R) {
        self.refuse_row_at(self.line, reason, text, rows);
    }

    fn refuse_row_at<R: Rows>(&mut self, line: u64, reason: Reason, text: &[u8], rows: &mut R) {
        self.unreadable += 1;
        let text = String::from_utf8_lossy(cell::trimmed(text));
        let mut shown: String = text.chars().take(MAX_SHOWN_CHARS).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        if self.first_unreadable.is_none() {
            self.first_unreadable = Some((line, reason, shown.clone()));
        }
        rows.unreadable(line, reason, shown);
    }
}
