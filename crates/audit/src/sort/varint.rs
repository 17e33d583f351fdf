//! Numbers of 7 bits a byte, the least significant first (LEB128).

/// The longest varint of 64 bits.
pub(crate) const MAX_BYTES: usize = 10;

pub(crate) fn write(into: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

/// Reads a number and moves `at` behind it. A varint that the slice cuts off gives `None`, and leaves `at`.
pub(crate) fn read(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let (mut value, mut shift) = (0, 0);
    for (length, &byte) in bytes.get(*at..)?.iter().take(MAX_BYTES).enumerate() {
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            *at += length + 1;
            return Some(value);
        }
        shift += 7;
    }
    None
}
