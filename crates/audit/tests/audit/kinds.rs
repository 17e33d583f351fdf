use frazil::Layout;
use frazil_audit::{Certainty, Kind, Options, Order, Report};

use super::{Fleet, NOW_MS, audit, found, kinds, lines, options};

const START_MS: i64 = NOW_MS - 3_600_000;

/// In a hint: who changes the layout or epoch within a column, or sets a clock back, repeats IDs.
const NEW_COLUMN: &str = "new column";
const UNUSED_NODE: &str = "a node id that was never used";

/// 20,000 IDs of eight nodes within 40 seconds; `change` gives the process, the node and the clock.
fn incident(fleet: &mut Fleet, change: impl Fn(usize, u32, i64) -> (u32, u32, i64)) -> Vec<u64> {
    (0..20_000)
        .map(|at| {
            let (node, ms) = (fleet.random.u32(..8), START_MS + at as i64 * 2);
            let (process, node, ms) = change(at, node, ms);
            fleet.mint_by(process, node, ms)
        })
        .collect()
}

fn report(ids: &[u64]) -> Report {
    audit(options("default"), &lines(ids.iter().copied()))
}

#[test]
fn a_clean_incident_is_none() {
    let ids = incident(&mut Fleet::new("default", 1), |_, node, ms| (node, node, ms));
    assert_eq!(kinds(&report(&ids)), []);
}

#[test]
fn two_hosts_in_one_tick_share_a_node() {
    let mut fleet = Fleet::new("default", 2);
    let rows = |shared: bool, fleet: &mut Fleet| {
        let mut csv = String::from("id,host\n");
        for at in 0..20_000_u32 {
            let ms = START_MS + i64::from(at / 4);
            let host = fleet.random.u32(..8);
            let node = if shared && host == 7 { 3 } else { host };
            fleet.starts_below = 4096;
            let id = fleet.mint_by(host, node, ms);
            csv.push_str(&format!("{id},web-{host}\n"));
        }
        csv
    };
    let shared = audit(options("default"), &rows(true, &mut fleet));
    let finding = found(&shared, Kind::SharedNode)[0];
    assert_eq!((finding.node, finding.certainty), (Some(3), Certainty::Exact));
    let mut hosts = finding.hosts.clone();
    hosts.sort();
    assert_eq!(hosts, ["web-3", "web-7"]);
    assert!(finding.count > 100, "{}", finding.count);
    assert_eq!(
        found(&audit(options("default"), &rows(false, &mut Fleet::new("default", 2))), Kind::SharedNode),
        Vec::<&_>::new()
    );
}

#[test]
fn hosts_that_take_turns_share_a_node_and_one_that_takes_over_does_not() {
    let file = |hosts: &[&str], pause_ms: i64| {
        let mut fleet = Fleet::new("default", 3);
        let rows: String =
            hosts.iter().zip(0..).map(|(host, at)| format!("{},{host}\n", fleet.mint(5, START_MS + at * pause_ms))).collect();
        format!("id,host\n{rows}")
    };
    let turns = audit(options("default"), &file(&["a", "b", "a", "b"], 300));
    assert_eq!(found(&turns, Kind::SharedNode)[0].count, 2);
    for (hosts, pause_ms) in [(&["a", "a", "b", "b"][..], 1), (&["a", "b", "a"], 900)] {
        assert_eq!(kinds(&audit(options("default"), &file(hosts, pause_ms))), [], "{hosts:?}");
    }
}

#[test]
fn two_processes_with_random_starts_look_shared() {
    for only_one in [true, false] {
        let mut fleet = Fleet::new("default", 4);
        fleet.starts_below = 4096;
        let ids: Vec<u64> = (0..60_000_u32)
            .map(|at| {
                let process = fleet.random.u32(..9);
                let node = if process == 8 && only_one { 2 } else { process % 8 };
                fleet.mint_by(process, node, START_MS + i64::from(at / 12))
            })
            .collect();
        let report = report(&ids);
        let node = if only_one { 2 } else { 0 };
        assert_eq!(found(&report, Kind::LooksShared).iter().map(|one| one.node).collect::<Vec<_>>(), [Some(node)]);
        assert!(found(&report, Kind::LooksShared)[0].false_alarm_rate.is_some());
    }
}

#[test]
fn a_clock_that_steps_is_found_at_its_node() {
    let back = incident(&mut Fleet::new("default", 5), |at, node, ms| {
        (node, node, if node == 4 && at >= 10_000 { ms - 5000 } else { ms })
    });
    let back = report(&back);
    let step = found(&back, Kind::ClockBack)[0];
    assert_eq!((step.node, step.count, back.order), (Some(4), 1, Order::Arrival));
    let by = step.from_ms.unwrap() - step.to_ms.unwrap();
    assert!((4900..5000).contains(&by), "{by}");
    assert!(step.rows[0].place.unwrap().1 >= 10_000);
    let forward = incident(&mut Fleet::new("default", 6), |at, node, ms| {
        (node, node, if node == 4 && at >= 10_000 { ms + 60_000 } else { ms })
    });
    let forward = report(&forward);
    let step = found(&forward, Kind::ClockForward)[0];
    assert_eq!((step.node, step.count), (Some(4), 1));
    assert_eq!(kinds(&forward), [Kind::ClockForward]);
    assert!(step.hint.contains(UNUSED_NODE), "{}", step.hint);
    // All are silent for a while: no step.
    let silence =
        incident(&mut Fleet::new("default", 7), |at, node, ms| (node, node, if at >= 10_000 { ms + 60_000 } else { ms }));
    assert_eq!(kinds(&report(&silence)), []);
    // A file of two pieces: the later one first.
    let mut pieces = incident(&mut Fleet::new("default", 8), |_, node, ms| (node, node, ms));
    pieces.rotate_left(10_000);
    assert_eq!(kinds(&report(&pieces)), []);
}

#[test]
fn times_that_cannot_be_are_found() {
    let mut fleet = Fleet::new("default", 9);
    let usual: Vec<u64> = (0..100).map(|at| fleet.mint(1, START_MS + at)).collect();
    let later = |ms: i64| Fleet::new("default", 1).mint(2, NOW_MS + ms);
    let with = |ids: &[u64]| report(&[&usual[..], ids].concat());
    let future = with(&[later(61_000), later(86_400_000 * 40)]);
    assert_eq!(kinds(&future), [Kind::Future]);
    let finding = found(&future, Kind::Future)[0];
    assert_eq!((finding.count, finding.node, finding.rows[0].place), (2, Some(2), Some((0, 101))));
    assert!(finding.hint.contains(UNUSED_NODE), "{}", finding.hint);
    assert_eq!(kinds(&with(&[later(59_000)])), []);
    // A clock that shows 1970, and a number that is none of any time.
    let before = ((-1_704_067_200_000_i64 + 5000) << 22).cast_unsigned();
    let negative = with(&[before, 1 << 63]);
    assert_eq!(kinds(&negative), [Kind::Negative, Kind::BeforeEpoch]);
    assert_eq!((found(&negative, Kind::Negative)[0].count, found(&negative, Kind::BeforeEpoch)[0].count), (2, 1));
    assert_eq!(found(&negative, Kind::BeforeEpoch)[0].from_ms, Some(5000));
    assert!(found(&negative, Kind::Negative)[0].hint.contains(NEW_COLUMN));
    // An ID with more bits than a layout of 53.
    let mut safe53 = Fleet::new("safe53", 1);
    let mut ids: Vec<u64> = (0..100).map(|at| safe53.mint(1, START_MS + at)).collect();
    ids.push(1 << 60);
    let outside = audit(options("safe53"), &lines(ids));
    assert_eq!(kinds(&outside), [Kind::MixedLayouts]);
    assert_eq!(found(&outside, Kind::MixedLayouts)[0].certainty, Certainty::Exact);
}

#[test]
fn ids_of_another_layout_are_told_from_times_in_the_future() {
    let mut ids = incident(&mut Fleet::new("default", 10), |_, node, ms| (node, node, ms));
    let mut other = Fleet::new("twitter", 10);
    ids.extend((0..500).map(|at| other.mint(3, START_MS + at * 10)));
    let mixed = report(&ids);
    assert_eq!(kinds(&mixed), [Kind::MixedLayouts]);
    let finding = found(&mixed, Kind::MixedLayouts)[0];
    assert_eq!((finding.count, finding.certainty), (500, Certainty::Statistical));
    assert!(finding.hint.ends_with("--layout twitter"), "{}", finding.hint);
}

#[test]
fn the_end_of_the_time_field_is_told() {
    let layout = Layout::named("baidu").unwrap();
    let ended_ms = 1_732_109_055_000;
    assert_eq!(layout.plan().last_ms, ended_ms);
    let ids = lines([10_000_u64 << 35]);
    for (now_ms, told) in [(ended_ms as i64 - 6 * 365 * 86_400_000, false), (ended_ms as i64 - 1, true), (NOW_MS, true)] {
        let report = audit(Options { now_ms, ..options("baidu") }, &ids);
        assert_eq!(
            found(&report, Kind::TimeEnds).first().map(|one| one.at_ms),
            told.then_some(Some(ended_ms as i64)),
            "{now_ms}"
        );
        assert!(found(&report, Kind::TimeEnds).iter().all(|one| one.hint.contains(NEW_COLUMN)));
    }
}

#[test]
fn times_of_rows_that_contradict_their_ids_are_found() {
    let file = |off: &dyn Fn(u32, u32) -> i64| {
        let mut fleet = Fleet::new("default", 11);
        let mut csv = String::from("id,host,created_at\n");
        for at in 0..4000_u32 {
            let (host, ms) = (fleet.random.u32(..8), START_MS + i64::from(at) * 3);
            let id = fleet.mint(host, ms);
            csv.push_str(&format!("{id},web-{host},{}\n", ms + fleet.random.i64(0..50) + off(at, host)));
        }
        audit(options("default"), &csv)
    };
    assert_eq!(kinds(&file(&|_, _| 0)), []);
    let zone = file(&|_, _| 28_800_000);
    assert_eq!(kinds(&zone), [Kind::CreatedAt], "{zone:?}");
    assert!(zone.findings[0].message.contains("8 h later"), "{}", zone.findings[0].message);
    assert!(zone.findings[0].hint.contains("time zone"));
    let host = file(&|_, host| if host == 3 { -90_000 } else { 0 });
    assert_eq!(found(&host, Kind::CreatedAt).len(), 1);
    assert_eq!((host.findings[0].node, host.findings[0].hosts.clone()), (Some(3), vec!["web-3".to_string()]));
    assert!(host.findings[0].message.contains("ahead"), "{}", host.findings[0].message);
    assert!(host.findings[0].hint.contains(UNUSED_NODE), "{}", host.findings[0].hint);
    let behind = file(&|_, host| if host == 3 { 90_000 } else { 0 });
    assert!(!behind.findings[0].hint.contains(UNUSED_NODE), "{}", behind.findings[0].hint);
    let outliers = file(&|at, _| if at >= 3990 { 864_000_000 } else { 0 });
    assert_eq!(found(&outliers, Kind::CreatedAt)[0].count, 10);
}

#[test]
fn rounded_ids_are_found() {
    for (starts_below, gap_ms) in [(4096, 1), (1, 1)] {
        let mut fleet = Fleet::new("default", 12);
        fleet.starts_below = starts_below;
        let ids: Vec<u64> = (0..60_000_u32)
            .map(|at| {
                let node = fleet.random.u32(..8);
                fleet.mint(node, START_MS + i64::from(at / 12) * gap_ms)
            })
            .collect();
        assert_eq!(kinds(&report(&ids)), []);
        let text = |id: u64| format!("{}", id as f64).parse::<u64>().unwrap();
        for share in [1, 33] {
            let rounded = |form: &dyn Fn(u64) -> u64| {
                let ids = ids.iter().zip(0..).map(|(&id, at)| if at % share == 0 { form(id) } else { id });
                kinds(&report(&ids.collect::<Vec<_>>()))
            };
            // First, as it explains repeats of what is left.
            assert_eq!(rounded(&|id| id as f64 as u64)[0], Kind::Rounded, "{starts_below} {share}");
            assert_eq!(rounded(&text)[0], Kind::Rounded, "{starts_below} {share} as text");
        }
    }
    // In a steady rhythm, one residue returns.
    let steady = |at: u64| ((69_379_200_000 + at * 333) << 22) + (7 << 12) + at % 50;
    assert_eq!(kinds(&report(&(0..3000).map(steady).collect::<Vec<_>>())), []);
    // Without bursts, every sequence is 0, and every ID a multiple.
    let slow = (0..20_000).map(|at| Fleet::new("default", 1).mint(at % 8, START_MS + i64::from(at))).collect::<Vec<_>>();
    assert_eq!(kinds(&report(&slow)), []);
}

#[test]
fn a_tick_that_uses_every_sequence_is_a_peak() {
    let mut fleet = Fleet::new("sonyflake", 13);
    let mut mint = |count: i64| lines((0..count).map(|_| fleet.mint(9, START_MS)).collect::<Vec<_>>());
    assert_eq!(kinds(&audit(options("sonyflake"), &mint(255))), []);
    let mut fleet = Fleet::new("sonyflake", 13);
    let full = lines((0..256).map(|_| fleet.mint(9, START_MS)).collect::<Vec<_>>());
    let report = audit(options("sonyflake"), &full);
    let peak = found(&report, Kind::Peak)[0];
    assert_eq!((peak.count, peak.node, peak.at_ms), (1, Some(9), Some(START_MS)));
    assert!(peak.hint.contains(NEW_COLUMN), "{}", peak.hint);
}

#[test]
fn nodes_drawn_at_random_and_silent_ones_are_told() {
    let mut fleet = Fleet::new("default", 14);
    let nodes: Vec<u32> = (0..37).map(|_| fleet.random.u32(..1024)).collect();
    let draw = |fleet: &mut Fleet, nodes: &[u32]| {
        let ids: Vec<u64> = (0..5000)
            .map(|at| {
                let node = nodes[fleet.random.usize(..nodes.len())];
                fleet.mint(node, START_MS + at)
            })
            .collect();
        found(&report(&ids), Kind::RandomNodes).len()
    };
    assert_eq!(draw(&mut fleet, &nodes), 1);
    assert_eq!(draw(&mut fleet, &(3..40).collect::<Vec<_>>()), 0);
    let silent = |pause: bool| {
        let mut fleet = Fleet::new("default", 15);
        let ids = (0..50_000).filter_map(|at| {
            let node = fleet.random.u32(..8);
            let is_paused = pause && node == 6 && (10_000..30_000).contains(&at);
            (!is_paused).then(|| fleet.mint(node, START_MS + at * 10))
        });
        let report = report(&ids.collect::<Vec<_>>());
        assert_eq!(kinds(&report), []);
        found(&report, Kind::Silent).iter().map(|one| one.node).collect::<Vec<_>>()
    };
    assert_eq!((silent(true), silent(false)), (vec![Some(6)], vec![]));
}

#[test]
fn a_report_is_json() {
    let json = report(&[1 << 40, 1 << 40, 5]).to_json();
    assert!(json.starts_with(r#"{"layout":{"name":"default","fields":[{"kind":"time","bits":41}"#), "{json}");
    assert!(json.contains(r#""kind":"repeats","certainty":"exact","count":1,"countRows":2,"node":0"#), "{json}");
    assert!(json.contains(r#""rows":[{"id":"1099511627776"}"#), "{json}");
}

#[test]
fn two_processes_that_rarely_mint_twice_in_a_tick_look_shared() {
    // As `mint_by`, but each process mints once in a tick: then only two processes meet in one.
    let fleet = |shared: bool| {
        let mut fleet = Fleet::new("default", 16);
        fleet.starts_below = 1024;
        let mut last = [0; 13];
        let ids = (0..120_000_i64).filter_map(|at| {
            let (process, ms) = (fleet.random.usize(..13), START_MS + at / 5);
            let node = if shared && process == 12 { 4 } else { process as u32 };
            (std::mem::replace(&mut last[process], ms) != ms).then(|| fleet.mint_by(process as u32, node, ms))
        });
        let report = report(&ids.collect::<Vec<_>>());
        found(&report, Kind::LooksShared).iter().map(|one| one.node).collect::<Vec<_>>()
    };
    assert_eq!((fleet(true), fleet(false)), (vec![Some(4)], vec![]));
}

#[test]
fn a_transaction_that_commits_late_is_no_step() {
    let mut fleet = Fleet::new("default", 17);
    // Few IDs of two nodes, and a list of IDs of one tick, or of a while, that come 300 ms or 5 s late.
    for (late_ms, rows, every_ms) in [(300, 4, 0), (5000, 50, 0), (5000, 50, 10)] {
        let mut ids: Vec<(i64, u64)> = (0..400_i64)
            .map(|at| {
                let node = fleet.random.u32(..2);
                (at * 200, fleet.mint(node, START_MS + at * 200))
            })
            .collect();
        ids.extend((0..rows).map(|at| {
            let ms = 40_101 + at * every_ms;
            (40_100 + late_ms, fleet.mint(0, START_MS + ms))
        }));
        ids.sort_by_key(|row| row.0);
        let ids: Vec<u64> = ids.into_iter().map(|row| row.1).collect();
        assert_eq!(kinds(&report(&ids)), [], "{late_ms} {rows} {every_ms}");
    }
}
