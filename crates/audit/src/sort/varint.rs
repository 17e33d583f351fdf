//! Numbers of 7 bits a byte, the least significant first (LEB128), without loops up to 56 bits: their lengths cannot be predicted.

/// The longest varint of 64 bits.
pub(crate) const MAX_BYTES: usize = 10;

const WORD_BYTES: usize = size_of::<u64>();
/// The bit of each byte of a word that says that another byte follows.
const MORE: u64 = 0x8080_8080_8080_8080;

/// Writes a number, for which there is room, and moves `at` behind it.
#[inline]
pub(crate) fn write(into: &mut [u8], at: &mut usize, value: u64) {
    if value >> 56 != 0 {
        write_long(into, at, value);
        return;
    }
    // From 7 bits a byte to 8: the halves move apart, then their halves.
    let mut word = value;
    word = (word & 0x0fff_ffff) | ((word & 0x00ff_ffff_f000_0000) << 4);
    word = (word & 0x0000_3fff_0000_3fff) | ((word & 0x0fff_c000_0fff_c000) << 2);
    word = (word & 0x007f_007f_007f_007f) | ((word & 0x3f80_3f80_3f80_3f80) << 1);
    // At least one byte.
    let bytes = (u64::BITS - (word | 1).leading_zeros()).div_ceil(8);
    word |= MORE & !(u64::MAX << (8 * bytes - 8));
    into[*at..*at + WORD_BYTES].copy_from_slice(&word.to_le_bytes());
    *at += bytes as usize;
}

#[cold]
fn write_long(into: &mut [u8], at: &mut usize, mut value: u64) {
    while value >= 0x80 {
        into[*at] = value as u8 | 0x80;
        *at += 1;
        value >>= 7;
    }
    into[*at] = value as u8;
    *at += 1;
}

/// Reads a number and moves `at` behind it. A varint that the slice cuts off gives `None`, and leaves `at`.
#[inline]
pub(crate) fn read(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let rest = bytes.get(*at..)?;
    let Some(word) = rest.first_chunk::<WORD_BYTES>() else { return read_short(rest, at) };
    let word = u64::from_le_bytes(*word);
    let ends = !word & MORE;
    if ends == 0 {
        return read_short(rest, at);
    }
    // The lowest end and all bits below it.
    let mut word = word & (ends ^ (ends - 1)) & !MORE;
    word = (word & 0x007f_007f_007f_007f) | ((word & 0x7f00_7f00_7f00_7f00) >> 1);
    word = (word & 0x0000_3fff_0000_3fff) | ((word & 0x3fff_0000_3fff_0000) >> 2);
    word = (word & 0x0fff_ffff) | ((word & 0x0fff_ffff_0000_0000) >> 4);
    *at += ends.trailing_zeros() as usize / 8 + 1;
    Some(word)
}

#[cold]
fn read_short(rest: &[u8], at: &mut usize) -> Option<u64> {
    let (mut value, mut shift) = (0, 0);
    for (length, &byte) in rest.iter().take(MAX_BYTES).enumerate() {
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            *at += length + 1;
            return Some(value);
        }
        shift += 7;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_at_every_length() {
        let mut values = vec![0, 1, u64::MAX];
        for bits in 1..64 {
            let power = 1_u64 << bits;
            values.extend([power - 1, power, power + 1, power | 0x55]);
        }
        let mut bytes = [0; 4096];
        let mut end = 0;
        let mut ends = Vec::new();
        for &value in &values {
            write(&mut bytes, &mut end, value);
            ends.push(end);
        }
        // As LEB128 without tricks.
        let mut plain = Vec::new();
        for &value in &values {
            let mut rest = value;
            while rest >= 0x80 {
                plain.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            plain.push(rest as u8);
        }
        assert_eq!(bytes[..end], plain);
        let mut at = 0;
        for (&value, &end) in values.iter().zip(&ends) {
            for cut in at..end {
                let mut here = at;
                assert_eq!((read(&bytes[..cut], &mut here), here), (None, at), "{value} cut");
            }
            assert_eq!((read(&bytes, &mut at), at), (Some(value), end));
        }
    }
}
