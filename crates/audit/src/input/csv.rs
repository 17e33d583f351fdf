//! Rows of CSV (RFC 4180): cells in quotes, the separator and the columns by the header.

use super::find::find;

/// The separators that are looked for in a header.
const SEPARATORS: &[u8] = b",;\t|";

/// Which of the separators a line has most often outside of quotes; `None` if it has none.
pub(crate) fn separator(line: &[u8]) -> Option<u8> {
    let count = |separator: u8| cells(line, separator).count() - 1;
    SEPARATORS.iter().copied().max_by_key(|&separator| (count(separator), separator == b',')).filter(|&best| count(best) > 0)
}

/// The cells of a row, with their quotes.
pub(crate) fn cells(row: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let has_quotes = row.contains(&b'"');
    let mut rest = Some(row);
    std::iter::from_fn(move || {
        let row = rest?;
        let end = if has_quotes {
            let mut is_quoted = false;
            row.iter().position(|&byte| {
                is_quoted ^= byte == b'"';
                byte == separator && !is_quoted
            })
        } else {
            find(row, separator)
        };
        let (cell, after) = match end {
            Some(end) => (&row[..end], Some(&row[end + 1..])),
            None => (row, None),
        };
        rest = after;
        Some(cell)
    })
}

/// Where the row ends, before its line feed. `is_quoted` says whether the bytes begin within quotes, and then whether they end so.
pub(crate) fn row_end(bytes: &[u8], is_quoted: &mut bool) -> Option<usize> {
    if !*is_quoted
        && let Some(end) = find(bytes, b'\n')
        && !bytes[..end].contains(&b'"')
    {
        return Some(end);
    }
    bytes.iter().position(|&byte| {
        *is_quoted ^= byte == b'"';
        byte == b'\n' && !*is_quoted
    })
}

/// The text of a cell.
pub(crate) fn text(cell: &[u8]) -> String {
    let cell = String::from_utf8_lossy(cell.trim_ascii());
    match cell.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => cell.into_owned(),
    }
}

/// The names of a header.
pub(crate) fn names(header: &[u8], separator: u8) -> Vec<String> {
    cells(header, separator).map(text).collect()
}
