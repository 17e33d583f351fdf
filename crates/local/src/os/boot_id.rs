//! The id of a boot, as Linux and macOS write it.

use std::io;

/// 128 bits out of a text with 32 hexadecimal digits.
pub(super) fn bits_of(text: &str) -> io::Result<[u64; 2]> {
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let half = |at: usize| u64::from_str_radix(digits.get(at..at + 16)?, 16).ok();
    match (half(0), half(16)) {
        (Some(high), Some(low)) => Ok([high, low]),
        _ => Err(io::Error::other(format!("the kernel's boot id is {text:?}"))),
    }
}
