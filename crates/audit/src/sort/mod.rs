//! Sorting more IDs than fit in memory: a radix sort of a buffer, runs of delta varints, and a k-way merge.

mod item;
mod merge;
mod radix;
mod run;
mod sorter;
mod varint;

pub(crate) use item::NO_HOST;
pub(crate) use sorter::{Sorted, Sorter};

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::disk::MemoryDisk;

    type Rows = Vec<(u64, u32)>;

    /// All rows in order, from a sorter with little memory, in steps of some size. From `hosts_from` on, rows have a host.
    fn sorted(rows: &Rows, memory_bytes: usize, hosts_from: usize, at_most: usize) -> Rows {
        let (mut disk, mut out) = (MemoryDisk::default(), Vec::new());
        let mut sorter = Sorter::new(memory_bytes);
        let Ok(()) = rows.iter().enumerate().try_for_each(|(at, &(key, host))| {
            if at == hosts_from {
                sorter.expect_hosts(&mut disk)?;
            }
            sorter.push(key, if at >= hosts_from { host } else { NO_HOST }, &mut disk)
        });
        let Ok(mut all) = sorter.sorted(&mut disk);
        while !matches!(all.step(at_most, &mut disk, &mut |key, host| out.push((key, host))), Ok(true)) {}
        out
    }

    /// Whether the rows are those of the model: a map from keys to the hosts of their rows.
    fn check(rows: &Rows, hosts_from: usize, out: &Rows) -> Result<(), &'static str> {
        let mut model = BTreeMap::<u64, Vec<u32>>::new();
        for (at, &(key, host)) in rows.iter().enumerate() {
            model.entry(key).or_default().push(if at >= hosts_from { host } else { NO_HOST });
        }
        if !out.is_sorted_by_key(|row| row.0) {
            return Err("not in order");
        }
        let mut found = BTreeMap::<u64, Vec<u32>>::new();
        for &(key, host) in out {
            found.entry(key).or_default().push(host);
        }
        model.values_mut().chain(found.values_mut()).for_each(|hosts| hosts.sort_unstable());
        if model == found { Ok(()) } else { Err("other rows") }
    }

    /// Keys of all sizes, close ones, and equal ones.
    fn keys() -> impl Strategy<Value = Rows> {
        let key = prop_oneof![any::<u64>(), 0_u64..40, (1_u64 << 60)..(1 << 60) + 1000, Just(u64::MAX), Just(0)];
        prop::collection::vec((key, 0_u32..1000), 0..400)
    }

    proptest! {
        #[test]
        fn every_row_comes_out_in_order(
            rows in keys(), memory_bytes in prop_oneof![Just(16_usize), Just(100), Just(1000), Just(100_000)],
            hosts_from in prop_oneof![Just(0_usize), Just(usize::MAX), 0_usize..400], at_most in 1_usize..50,
        ) {
            let out = sorted(&rows, memory_bytes, hosts_from, at_most);
            prop_assert_eq!(check(&rows, hosts_from, &out), Ok(()));
        }
    }

    #[test]
    fn a_merge_that_drops_equal_neighbours_is_caught() {
        let rows: Rows = (0..100).map(|at| (at % 50, 0)).collect();
        let mut out = sorted(&rows, 64, 0, 10);
        assert_eq!(check(&rows, 0, &out), Ok(()));
        out.dedup();
        assert_eq!(check(&rows, 0, &out), Err("other rows"));
        out.reverse();
        assert_eq!(check(&rows, 0, &out), Err("not in order"));
    }
}
