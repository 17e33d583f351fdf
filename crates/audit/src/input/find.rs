//! The first of a byte, eight at a time.

const WORD_BYTES: usize = size_of::<u64>();
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Where the byte is first.
#[inline]
pub(crate) fn find(bytes: &[u8], byte: u8) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<WORD_BYTES>();
    for (at, word) in words.iter().enumerate() {
        // A byte of zeros is where the two are equal ("Hacker's Delight", 6-1).
        let equal = u64::from_le_bytes(*word) ^ (ONES * u64::from(byte));
        let zeros = equal.wrapping_sub(ONES) & !equal & HIGHS;
        if zeros != 0 {
            return Some(at * WORD_BYTES + zeros.trailing_zeros() as usize / 8);
        }
    }
    let done = words.len() * WORD_BYTES;
    rest.iter().position(|&one| one == byte).map(|at| done + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_a_search_byte_by_byte() {
        let mut random = fastrand::Rng::with_seed(1);
        for length in 0..200 {
            let bytes: Vec<u8> =
                (0..length).map(|_| [b'a', b'b', b'\n', 0x80, 0][random.usize(..5)] ^ u8::from(random.bool())).collect();
            for byte in [b'a', b'b', b'\n', 0x80, 0, b'z'] {
                assert_eq!(find(&bytes, byte), bytes.iter().position(|&one| one == byte), "{bytes:?} {byte}");
            }
        }
    }
}
