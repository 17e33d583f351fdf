//! Rows of CSV (RFC 4180): cells in quotes, the separator and the columns by the header.

use super::find::find;

/// The separators that are looked for in a header.
const SEPARATORS: &[u8] = b",;\t|";

/// Which of the separators a line has most often outside of quotes; `None` if it has none.
pub(crate) fn separator(line: &[u8]) -> Option<u8> {
    let count = |separator: u8| cells(line, separator).count() - 1;
    SEPARATORS.iter().copied().max_by_key(|&separator| (count(separator), separator == b',')).filter(|&best| count(best) > 0)
}

/// Where in a row a byte is. A quote opens only where a cell begins (RFC 4180): that of `5" disk` is text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum At {
    #[default]
    Start,
    Plain,
    Quoted,
    Closed,
}

impl At {
    fn after(self, byte: u8, is_separator: bool) -> Self {
        match (self, byte) {
            (Self::Quoted, b'"') => Self::Closed,
            (Self::Quoted, _) | (Self::Start | Self::Closed, b'"') => Self::Quoted,
            (_, b'\n') => Self::Start,
            _ if is_separator => Self::Start,
            (Self::Start, b' ') => Self::Start,
            _ => Self::Plain,
        }
    }
}

/// The cells of a row, with their quotes.
pub(crate) fn cells(row: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let has_quotes = row.contains(&b'"');
    let mut rest = Some(row);
    std::iter::from_fn(move || {
        let row = rest?;
        let end = if has_quotes {
            let mut at = At::Start;
            row.iter().position(|&byte| {
                at = at.after(byte, false);
                byte == separator && at != At::Quoted
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

/// Where the row ends, before its line feed. `at` says where the bytes begin, and then where they end. Before the separator is known, each
/// that is looked for counts.
pub(crate) fn row_end(bytes: &[u8], separator: Option<u8>, at: &mut At) -> Option<usize> {
    if *at != At::Quoted
        && let Some(end) = find(bytes, b'\n')
        && !bytes[..end].contains(&b'"')
    {
        *at = At::Start;
        return Some(end);
    }
    bytes.iter().position(|&byte| {
        *at = at.after(byte, separator.map_or_else(|| SEPARATORS.contains(&byte), |separator| byte == separator));
        byte == b'\n' && *at != At::Quoted
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_opens_only_where_a_cell_begins() {
        for (text, cells_of_row) in [
            (&b"1,5\" disk\n2,x"[..], vec![&b"1"[..], b"5\" disk"]),
            (b"1,\"a,\n\"\"b\", \"c\nd\"\r\n2", vec![b"1", b"\"a,\n\"\"b\"", b" \"c\nd\"\r"]),
            (b"\"\",\"x\"\"\",y\n", vec![b"\"\"", b"\"x\"\"\"", b"y"]),
        ] {
            let end = row_end(text, Some(b','), &mut At::default());
            let row = &text[..end.unwrap_or(0)];
            assert_eq!(cells(row, b',').collect::<Vec<_>>(), cells_of_row);
            // In pieces of every size.
            for cut in 0..row.len() {
                let mut at = At::default();
                assert_eq!(row_end(&text[..cut], Some(b','), &mut at), None);
                assert_eq!(row_end(&text[cut..], Some(b','), &mut at), end.map(|end| end - cut));
            }
        }
    }
}
