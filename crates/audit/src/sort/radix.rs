//! Sorts a buffer: in place if each item is near to its place, as in the order of arrival, and else by a radix sort from the least
//! significant byte up, which leaves out the bytes that all keys share.

use super::item::Item;

const DIGITS: usize = 8;
const VALUES: usize = 256;
/// Moves an item by insertion at most, on average. A radix sort moves it five times, and by leaps.
const MOVES: usize = 8;
/// Moves that are allowed before the average counts.
const FIRST_MOVES: usize = 4096;

/// Sorts by key; equal keys keep their order.
pub(crate) fn sort<T: Item>(items: &mut [T], scratch: &mut Vec<T>) {
    if insert_each(items) {
        return;
    }
    let first = items[0].key();
    let differ = items.iter().fold(0, |differ, item| differ | (item.key() ^ first));
    scratch.resize(items.len(), T::default());
    let scratch = &mut scratch[..items.len()];
    let mut is_in_scratch = false;
    for digit in (0..DIGITS).filter(|&digit| byte(differ, digit) != 0) {
        if is_in_scratch {
            scatter(scratch, items, digit);
        } else {
            scatter(items, scratch, digit);
        }
        is_in_scratch = !is_in_scratch;
    }
    if is_in_scratch {
        items.copy_from_slice(scratch);
    }
}

/// Sorts by insertion, and gives up if items are far from their places: no item is lost, and equal ones have kept their order.
fn insert_each<T: Item>(items: &mut [T]) -> bool {
    let mut moves = 0;
    for at in 1..items.len() {
        let item = items[at];
        if items[at - 1].key() <= item.key() {
            continue;
        }
        let mut place = at;
        while place > 0 && items[place - 1].key() > item.key() && at - place <= FIRST_MOVES {
            items[place] = items[place - 1];
            place -= 1;
        }
        items[place] = item;
        moves += at - place;
        if at - place > FIRST_MOVES || moves > FIRST_MOVES + MOVES * at {
            return false;
        }
    }
    true
}

/// Moves each item to the place of its digit.
fn scatter<T: Item>(from: &[T], to: &mut [T], digit: usize) {
    let mut places = [0_usize; VALUES];
    for item in from {
        places[byte(item.key(), digit)] += 1;
    }
    let mut start = 0;
    for place in &mut places {
        (*place, start) = (start, start + *place);
    }
    for &item in from {
        let place = &mut places[byte(item.key(), digit)];
        to[*place] = item;
        *place += 1;
    }
}

const fn byte(key: u64, digit: usize) -> usize {
    (key >> (8 * digit)) as usize & (VALUES - 1)
}

#[cfg(test)]
mod tests {
    use super::super::item::Hosted;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_the_stable_sort_of_std(keys in prop::collection::vec((0_u64..1 << 40, 0_u32..20), 1..3000), near in any::<bool>()) {
            let key = |at: usize, key: u64| if near { at as u64 * 100 + key % 500 } else { key };
            let mut items: Vec<_> = keys.iter().enumerate().map(|(at, &(one, host))| Hosted::new(key(at, one), host)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.key());
            sort(&mut items, &mut Vec::new());
            prop_assert_eq!(items, expected);
        }
    }
}
