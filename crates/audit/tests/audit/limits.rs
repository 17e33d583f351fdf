use std::collections::BTreeMap;

use frazil_audit::{Audit, AuditError, Disk, Format, Kind, MemoryDisk, Options, Report};

use super::{found, options, raw};

/// Fails at one of its calls.
#[derive(Default)]
struct Faulty {
    disk: MemoryDisk,
    calls: u64,
    fails_at: u64,
}

impl Faulty {
    fn call(&mut self) -> Result<(), &'static str> {
        self.calls += 1;
        if self.calls == self.fails_at { Err("no space left") } else { Ok(()) }
    }
}

impl Disk for Faulty {
    type Error = &'static str;

    fn append(&mut self, run: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        self.call()?;
        self.disk.append(run, bytes).map_err(|never| match never {})
    }

    fn read(&mut self, run: u32, offset: u64, into: &mut [u8]) -> Result<usize, Self::Error> {
        self.call()?;
        self.disk.read(run, offset, into).map_err(|never| match never {})
    }
}

fn small(hosts: bool) -> Options {
    let format = Some(if hosts { Format::Csv } else { Format::Raw });
    Options { memory_bytes: Options::MIN_MEMORY_BYTES, format, ..options("default") }
}

fn run<D: Disk>(options: Options, disk: D, bytes: &[u8]) -> Result<Report, AuditError<D::Error>> {
    let mut audit = Audit::new(options, disk)?;
    for piece in bytes.chunks(1 << 16) {
        audit.push(piece)?;
    }
    audit.end_file()?;
    while !audit.merge(1 << 16)? {}
    Ok(audit.report())
}

/// IDs of few ticks, so that many repeat, in an order that is not theirs.
fn repeating(count: usize, seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| (70_000_000_000 + random.u64(..count as u64 / 64)) << 22 | random.u64(..64)).collect()
}

/// The values that occur more than once, the rows that have one, and the values.
fn counted(ids: &[u64]) -> (u64, u64, u64) {
    let mut counts = BTreeMap::<u64, u64>::new();
    ids.iter().for_each(|&id| *counts.entry(id).or_default() += 1);
    let repeated = counts.values().filter(|&&count| count > 1);
    (repeated.clone().count() as u64, repeated.sum(), counts.len() as u64)
}

fn reported(report: &Report) -> (u64, u64, u64) {
    let repeats = found(report, Kind::Repeats);
    (repeats.iter().map(|one| one.count).sum(), repeats.iter().filter_map(|one| one.count_rows).sum(), report.distinct)
}

#[test]
fn repeats_are_those_of_a_map_across_runs_and_levels_of_merges() {
    // The smallest memory holds 49,152 IDs, and merges 32 runs at once: these are 41.
    let ids = repeating(2_000_000, 1);
    let report = run(small(false), MemoryDisk::default(), &raw(&ids)).unwrap();
    assert_eq!(reported(&report), counted(&ids));
    // In order, in one run, and in order in several.
    let mut ids = repeating(100_000, 2);
    ids.sort_unstable();
    for (memory_bytes, ids) in [(1 << 24, &ids[..]), (1 << 20, &ids[..]), (1 << 20, &ids[..1])] {
        let options = Options { memory_bytes, ..small(false) };
        let report = run(options, MemoryDisk::default(), &raw(ids)).unwrap();
        assert_eq!(reported(&report), counted(ids), "{memory_bytes}");
    }
}

#[test]
fn a_disk_that_fails_at_any_call_is_an_error() {
    let ids = repeating(120_000, 3);
    let mut csv = String::from("id,host\n");
    ids.iter().take(60_000).for_each(|id| csv.push_str(&format!("{id},h{}\n", id % 7)));
    for (hosts, bytes) in [(false, raw(&ids)), (true, csv.into_bytes())] {
        let mut failures = 0;
        for fails_at in 1.. {
            let disk = Faulty { fails_at, ..Faulty::default() };
            match run(small(hosts), disk, &bytes) {
                Err(AuditError::Disk(error)) => assert_eq!(error, "no space left"),
                Err(AuditError::Refused(refusal)) => panic!("{refusal:?}"),
                Ok(_) => break,
            }
            failures += 1;
        }
        assert!(failures >= 6, "{failures}");
    }
}

#[test]
fn more_nodes_and_hosts_than_the_memory_holds_are_said() {
    let ids = (0..20_000_u64).map(|at| (10_000 + at) << 35 | (at % 20_000) << 13);
    let mut csv = String::from("id,host\n");
    for (at, id) in ids.enumerate() {
        csv.push_str(&format!("{id},a-host-with-a-name-of-some-length-{at}\n"));
    }
    csv.push_str(&format!("{},x\n", 10_000_u64 << 35));
    let options = Options { memory_bytes: Options::MIN_MEMORY_BYTES, ..options("baidu") };
    let report = run(options, MemoryDisk::default(), csv.as_bytes()).unwrap();
    let capped = found(&report, Kind::Capped);
    assert_eq!(capped.len(), 2);
    assert!(capped[0].message.starts_with("the memory was too small for nodes after the first "), "{}", capped[0].message);
    assert!(capped[1].message.starts_with("the memory was too small for hosts after the first "), "{}", capped[1].message);
    // What is found by sorting does not depend on it.
    assert_eq!(reported(&report), (1, 2, 20_000));
}

#[test]
fn too_little_memory_is_refused() {
    let options = Options { memory_bytes: Options::MIN_MEMORY_BYTES - 1, ..options("default") };
    let Err(AuditError::Refused(refusal)) = Audit::new(options, MemoryDisk::default()).map(|_| ()) else { panic!("accepted") };
    assert_eq!((refusal.field, refusal.message.as_str()), ("memory", "memory must be at least 1 MiB, got 1048575 bytes"));
}
