//! A radix sort from the least significant byte up, which leaves out the bytes that all keys share.

use super::Item;

const DIGITS: usize = 8;
const VALUES: usize = 256;

/// Sorts by key; equal keys keep their order. `scratch` is as long as `items`.
pub(crate) fn sort<T: Item>(items: &mut [T], scratch: &mut [T]) {
    if items.windows(2).all(|pair| pair[0].key() <= pair[1].key()) {
        return;
    }
    let mut counts = [[0_usize; VALUES]; DIGITS];
    let first = items[0].key();
    let mut differ = 0;
    for item in items.iter() {
        let key = item.key();
        differ |= key ^ first;
        for (digit, counts) in counts.iter_mut().enumerate() {
            counts[byte(key, digit)] += 1;
        }
    }
    let scratch = &mut scratch[..items.len()];
    let mut is_in_scratch = false;
    for (digit, counts) in counts.iter_mut().enumerate() {
        if byte(differ, digit) == 0 {
            continue;
        }
        let mut start = 0;
        for count in counts.iter_mut() {
            (*count, start) = (start, start + *count);
        }
        if is_in_scratch {
            scatter(scratch, items, digit, counts);
        } else {
            scatter(items, scratch, digit, counts);
        }
        is_in_scratch = !is_in_scratch;
    }
    if is_in_scratch {
        items.copy_from_slice(scratch);
    }
}

/// Moves each item to the place of its digit.
fn scatter<T: Item>(from: &[T], to: &mut [T], digit: usize, places: &mut [usize; VALUES]) {
    for &item in from {
        let place = &mut places[byte(item.key(), digit)];
        to[*place] = item;
        *place += 1;
    }
}

const fn byte(key: u64, digit: usize) -> usize {
    (key >> (8 * digit)) as usize & (VALUES - 1)
}
