//! Times as text.

pub(crate) const DAY_MS: i64 = 86_400_000;

/// A time in UTC: `2026-11-29T13:00:00.000Z`. A time beyond the years that four digits tell is a number of milliseconds.
pub(crate) fn instant(ms: i64) -> String {
    let (day, rest) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
    let Some(date) = date(day) else { return format!("{ms} ms") };
    let (hour, minute, second, milli) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60, rest % 1000);
    if milli == 0 {
        return format!("{date}T{hour:02}:{minute:02}:{second:02}Z");
    }
    format!("{date}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// The date of a day since 1970-01-01 (Hinnant, `civil_from_days`); `None` beyond the years 0 to 9999.
pub(crate) fn date(day: i64) -> Option<String> {
    let shifted = day.checked_add(719_468)?;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (0..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day_of_month:02}"))
}

/// A length of time in the unit that reads best.
pub(crate) fn length(ms: i64) -> String {
    let (number, unit) = match ms.unsigned_abs() {
        0..2_000 => return format!("{ms} ms"),
        2_000..120_000 => (ms as f64 / 1e3, "s"),
        120_000..7_200_000 => (ms as f64 / 6e4, "min"),
        7_200_000..172_800_000 => (ms as f64 / 3.6e6, "h"),
        _ => (ms as f64 / 8.64e7, "days"),
    };
    let rounded = (number * 10.0).round() / 10.0;
    format!("{rounded} {unit}")
}

/// A count with a comma for each thousand.
pub(crate) fn count(number: u64) -> String {
    let digits = format!("{number}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_times() {
        assert_eq!(instant(0), "1970-01-01T00:00:00Z");
        assert_eq!(instant(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(instant(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(instant(1_732_109_055_000), "2024-11-20T13:24:15Z");
        assert_eq!(instant(i64::MAX), "9223372036854775807 ms");
        assert_eq!([length(1500), length(90_000), length(28_800_000)], ["1500 ms", "90 s", "8 h"]);
        assert_eq!([count(0), count(999), count(1000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
    }
}
