use frazil_audit::{Options, Order};

use super::{Fleet, NOW_MS, kinds, lines, options, raw, try_audit};

const COUNT: usize = 1_000_000;

/// A clean fleet: each process has its own node, in the order of arrival, where some rows are up to `late` behind.
fn clean(layout: &str, now_ms: i64, starts_below: u64, ids_per_ms: f64, late: usize) -> Vec<u64> {
    let mut fleet = Fleet::new(layout, 11);
    fleet.starts_below = starts_below;
    let mut ms = now_ms as f64 - COUNT as f64 / ids_per_ms - 1000.0;
    let mut ids: Vec<u64> = (0..COUNT)
        .map(|_| {
            ms += -fleet.random.f64().max(1e-12).ln() / ids_per_ms;
            let node = fleet.random.u32(..12);
            fleet.mint(node, ms as i64)
        })
        .collect();
    if late > 0 {
        for at in 0..ids.len() - late {
            if fleet.random.u8(..) < 20 {
                let other = at + fleet.random.usize(..late);
                ids.swap(at, other);
            }
        }
    }
    ids
}

#[test]
fn a_clean_set_has_no_finding() {
    // The time field of baidu ended in 2024.
    let baidu_ms = 1_550_000_000_000;
    for (layout, now_ms, starts_below, ids_per_ms, late) in [
        ("default", NOW_MS, 1, 3.0, 0),
        ("default", NOW_MS, 4096, 20.0, 50),
        ("twitter", NOW_MS, 100, 5.0, 3),
        ("sonyflake", NOW_MS, 1, 2.0, 0),
        ("baidu", baidu_ms, 1, 0.2, 0),
    ] {
        let mut ids = clean(layout, now_ms, starts_below, ids_per_ms, late);
        let options = || Options { now_ms, ..options(layout) };
        let report = try_audit(options(), &[&raw(&ids)]).unwrap();
        assert_eq!(kinds(&report), [], "{layout} {starts_below}: {:#?}", report.findings);
        assert_eq!((report.ids, report.distinct, report.nodes.in_use), (COUNT as u64, COUNT as u64, 12));
        assert_eq!(report.days.iter().map(|day| day.ids).sum::<u64>(), COUNT as u64);
        // Guessed, as lines.
        let guessed = try_audit(Options::new(now_ms), &[lines(ids.iter().copied()).as_bytes()]).unwrap();
        assert_eq!(guessed.layout.name.as_deref(), Some(layout), "{:#?}", guessed.layout);
        assert!(guessed.layout.guessed);
        assert_eq!(kinds(&guessed), []);
        // Half of the rows, in another order: no step can be told.
        ids.truncate(COUNT / 2);
        fastrand::Rng::with_seed(5).shuffle(&mut ids);
        let shuffled = try_audit(options(), &[&raw(&ids)]).unwrap();
        assert_eq!((kinds(&shuffled), shuffled.order), (vec![], Order::None), "{layout}");
        ids.sort_unstable();
        let sorted = try_audit(options(), &[&raw(&ids)]).unwrap();
        assert_eq!((kinds(&sorted), sorted.order), (vec![], Order::Time), "{layout}");
        // Every third row is of another table.
        let kept: Vec<_> = ids.iter().copied().enumerate().filter(|(at, _)| at % 3 != 0).map(|(_, id)| id).collect();
        assert_eq!(kinds(&try_audit(options(), &[&raw(&kept)]).unwrap()), [], "{layout}");
    }
}
