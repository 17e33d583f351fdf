//! The texts of IDs and times.

/// Why a text is not an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Empty,
    NotDecimal,
    Float,
    LeadingZero,
    TooLarge,
    MissingCell,
    NotJson,
    MissingKey,
    LongRow,
    Cut,
}

impl Reason {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Empty => "the ID is empty",
            Self::NotDecimal => "not a decimal number",
            Self::Float => "a floating-point number, whose last digits are lost",
            Self::LeadingZero => "a number with leading zeros",
            Self::TooLarge => "above 18446744073709551615, the largest number of 64 bits",
            Self::MissingCell => "the row has no such column",
            Self::NotJson => "not a JSON object",
            Self::MissingKey => "the object has no such key",
            Self::LongRow => "the row is longer than 1 MiB",
            Self::Cut => "the file ends within an ID",
        }
    }
}

/// Reads an ID: decimal digits, with a minus for a negative one of a signed column. Blanks and quotes around it do not count.
pub(crate) fn id(text: &[u8]) -> Result<u64, Reason> {
    let text = trimmed(text);
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        _ => (false, text),
    };
    if digits.is_empty() {
        return Err(if text.is_empty() { Reason::Empty } else { Reason::NotDecimal });
    }
    if digits.len() > 1 && digits[0] == b'0' && digits.iter().all(u8::is_ascii_digit) {
        return Err(Reason::LeadingZero);
    }
    let mut value: u64 = 0;
    for &byte in digits {
        if !byte.is_ascii_digit() {
            return Err(if is_float(digits) { Reason::Float } else { Reason::NotDecimal });
        }
        let next = value.checked_mul(10).and_then(|value| value.checked_add(u64::from(byte - b'0')));
        let Some(next) = next else {
            return Err(if digits.iter().all(u8::is_ascii_digit) { Reason::TooLarge } else { Reason::NotDecimal });
        };
        value = next;
    }
    match is_negative {
        false => Ok(value),
        true if value <= 1 << 63 => Ok(value.wrapping_neg()),
        true => Err(Reason::TooLarge),
    }
}

/// Whether it is a number with a point, a comma or an exponent. Several commas are between thousands, of a number that has all its digits.
fn is_float(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b".,eE+-".contains(byte);
    text[0].is_ascii_digit() && text.iter().all(is_part) && text.split(|&byte| byte == b',').count() <= 2
}

/// The text without the blanks around it, and without one pair of quotes.
pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    match text {
        [b'"', inner @ .., b'"'] | [b'\'', inner @ .., b'\''] => inner.trim_ascii(),
        _ => text,
    }
}

/// Seconds before this number, milliseconds from it on, as Unix time: the year 5138 in seconds and 1973 in milliseconds.
const SECONDS_END: i64 = 100_000_000_000;

/// Reads a time: RFC 3339 or as databases write it, or a Unix time. Without a time zone it is UTC. `None` for anything else.
pub(crate) fn time_ms(text: &[u8]) -> Option<i64> {
    let text = trimmed(text);
    if text.len() < 10 || text[4] != b'-' {
        return unix_ms(text);
    }
    let mut rest = text;
    let year = number(&mut rest, 4)?;
    let month = separated(&mut rest, b"-")?;
    let day = separated(&mut rest, b"-")?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut ms = days_from_civil(year, month, day) * 86_400_000;
    if rest.is_empty() {
        return Some(ms);
    }
    let (hour, minute) = (separated(&mut rest, b"T t")?, separated(&mut rest, b":")?);
    let second = if rest.first() == Some(&b':') { separated(&mut rest, b":")? } else { 0 };
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    ms += ((hour * 60 + minute) * 60 + second) * 1000;
    if let [b'.' | b',', digits @ ..] = rest {
        let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        for (place, &digit) in [100, 10, 1].iter().zip(&digits[..length]) {
            ms += place * i64::from(digit - b'0');
        }
        rest = &digits[length..];
    }
    Some(ms - zone_ms(rest.trim_ascii())?)
}

/// The distance of a time zone from UTC: nothing, `Z`, `UTC`, `+08`, `+0530`, `-03:00`.
fn zone_ms(text: &[u8]) -> Option<i64> {
    let (sign, mut rest) = match text {
        [] | b"Z" | b"z" | b"UTC" | b"GMT" => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let hours = number(&mut rest, 2)?;
    if rest.first() == Some(&b':') {
        rest = &rest[1..];
    }
    let minutes = if rest.is_empty() { 0 } else { number(&mut rest, 2)? };
    rest.is_empty().then_some(sign * (hours * 60 + minutes) * 60_000)
}

fn unix_ms(text: &[u8]) -> Option<i64> {
    let (whole, fraction) = match text.iter().position(|&byte| byte == b'.') {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &[][..]),
    };
    if whole.is_empty() || whole.len() > 19 || !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
        return None;
    }
    let value = std::str::from_utf8(whole).ok()?.parse::<i64>().ok()?;
    Some(match value {
        ..SECONDS_END => {
            let places = [100, 10, 1].iter().zip(fraction);
            value * 1000 + places.map(|(place, byte)| place * i64::from(byte - b'0')).sum::<i64>()
        }
        // Microseconds and nanoseconds, of the same years.
        100_000_000_000_000..100_000_000_000_000_000 => value / 1000,
        100_000_000_000_000_000.. => value / 1_000_000,
        _ => value,
    })
}

fn separated(rest: &mut &[u8], separators: &[u8]) -> Option<i64> {
    let (first, after) = rest.split_first()?;
    *rest = after;
    if separators.contains(first) { number(rest, 2) } else { None }
}

fn number(rest: &mut &[u8], digits: usize) -> Option<i64> {
    let (text, after) = rest.split_at_checked(digits)?;
    *rest = after;
    text.iter().try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
}

/// Days since 1970-01-01 of a date in the Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_decimal_and_fit_64_bits() {
        assert_eq!(id(b" \"18446744073709551615\" "), Ok(u64::MAX));
        assert_eq!(id(b"-9223372036854775808"), Ok(1 << 63));
        assert_eq!(id(b"-1"), Ok(u64::MAX));
        assert_eq!(id(b"18446744073709551616"), Err(Reason::TooLarge));
        assert_eq!(id(b"-9223372036854775809"), Err(Reason::TooLarge));
        assert_eq!(id(b"1.23E+18"), Err(Reason::Float));
        assert_eq!(id(b"1,23E+18"), Err(Reason::Float));
        assert_eq!(id(b"1,541,815,603,606,036,480"), Err(Reason::NotDecimal));
        assert_eq!(id(b"007"), Err(Reason::LeadingZero));
        assert_eq!(id(b"0"), Ok(0));
        assert_eq!(id(b""), Err(Reason::Empty));
        for text in [&b"-"[..], b"12a", b"12345678901234567890123x", b"e5", b"550e8400-e29b"] {
            assert_eq!(id(text), Err(Reason::NotDecimal), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn times_are_read_as_databases_write_them() {
        let ms = 1_798_761_599_123;
        for text in [
            "2026-12-31T23:59:59.123Z",
            "2026-12-31 23:59:59.123456",
            "2026-12-31 23:59:59.123+00",
            "2027-01-01 07:59:59.123456789+08:00",
            "2026-12-31 20:29:59.123-0330",
            "1798761599.123",
            "1798761599123",
            "1798761599123456",
            "1798761599123456789",
        ] {
            assert_eq!(time_ms(text.as_bytes()), Some(ms), "{text}");
        }
        assert_eq!(time_ms(b"1970-01-01"), Some(0));
        assert_eq!(time_ms(b"2000-02-29 00:00"), Some(951_782_400_000));
        for text in ["", "soon", "2026-13-01", "2026-12-31T", "2026-12-31 23:59:59 CET", "1e9"] {
            assert_eq!(time_ms(text.as_bytes()), None, "{text}");
        }
    }
}
