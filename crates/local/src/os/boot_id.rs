//! The text form of a boot id on Linux and macOS.

use std::io;

/// The 128 bits in a text with 32 hexadecimal digits.
pub(super) fn bits_of(text: &str) -> io::Result<[u64; 2]> {
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let half = |at: usize| u64::from_str_radix(digits.get(at..at + 16)?, 16).ok();
    match (half(0), half(16)) {
        (Some(high), Some(low)) => Ok([high, low]),
        _ => Err(io::Error::other(format!("the kernel's boot id is {text:?}"))),
    }
}
