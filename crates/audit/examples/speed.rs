//! How fast the engine is on one core:
//! `cargo run --release -p frazil-audit --example speed -- [raw|lines|csv] [MILLIONS] [arrival|shuffled]`
//!
//! The IDs are made first and are not counted. Runs are in a file that is deleted as soon as it is open.

#![allow(clippy::print_stdout, clippy::cast_precision_loss, clippy::unwrap_used, reason = "a program for people")]

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};

use frazil_audit::{Audit, Disk, Format, Options};

const NOW_MS: i64 = 1_790_000_000_000;
const EPOCH_MS: i64 = 1_704_067_200_000;
const PIECE_IDS: usize = 8192;

/// A file for each run.
struct Files(Vec<File>);

impl Disk for Files {
    type Error = std::io::Error;

    fn append(&mut self, run: u32, bytes: &[u8]) -> std::io::Result<()> {
        while self.0.len() <= run as usize {
            let path = std::env::temp_dir().join(format!("frazil-audit-speed-{}-{}", std::process::id(), self.0.len()));
            self.0.push(OpenOptions::new().read(true).write(true).create_new(true).open(&path)?);
            std::fs::remove_file(path)?;
        }
        self.0[run as usize].write_all(bytes)
    }

    fn read(&mut self, run: u32, offset: u64, into: &mut [u8]) -> std::io::Result<usize> {
        let file = &mut self.0[run as usize];
        file.seek(SeekFrom::Start(offset))?;
        file.read(into)
    }

    fn discard(&mut self, run: u32) {
        let _ = self.0[run as usize].set_len(0);
    }
}

/// The next ID of a fleet of 64 nodes, about six in a millisecond.
struct Fleet {
    random: fastrand::Rng,
    tick: u64,
    sequences: [(u64, u64); 64],
}

impl Fleet {
    fn next(&mut self) -> u64 {
        self.tick += u64::from(self.random.u8(..) < 40);
        let node = self.random.usize(..64);
        let (tick, sequence) = &mut self.sequences[node];
        *sequence = if *tick == self.tick { *sequence + 1 } else { 0 };
        *tick = self.tick;
        self.tick << 22 | (node as u64) << 12 | *sequence
    }
}

/// The processor time of this program. On Linux, so that others on the machine matter less; elsewhere the time.
fn seconds() -> f64 {
    let spent = std::fs::read_to_string("/proc/self/schedstat").ok();
    let spent_ns = spent.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let since_ms = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    spent_ns.map_or_else(since_ms, |ns| ns / 1e9)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |at: usize, default: &str| arguments.get(at).cloned().unwrap_or(default.to_string());
    let (format, order) = (argument(0, "raw"), argument(2, "arrival"));
    let count = argument(1, "20").parse::<u64>().unwrap() * 1_000_000;
    let mut fleet = Fleet {
        random: fastrand::Rng::with_seed(7),
        tick: (NOW_MS - EPOCH_MS) as u64 - count / 6 - 1_000_000,
        sequences: [(0, 0); 64],
    };
    let layout = frazil::Layout::named("default").unwrap();
    let mut options = Options::new(NOW_MS);
    options.layout = Some(layout);
    options.format = Some(match format.as_str() {
        "raw" => Format::Raw,
        "csv" => Format::Csv,
        _ => Format::Lines,
    });
    let mut audit = Audit::new(options, Files(Vec::new())).unwrap();
    if format == "csv" {
        audit.push(b"id,host,created_at\n").unwrap();
    }
    // Shuffled: each piece is of another place of a table of ticks.
    let mut ids = Vec::new();
    let mut bytes = Vec::new();
    let (mut reading, mut left) = (0.0, count);
    while left > 0 {
        ids.clear();
        bytes.clear();
        let many = left.min(PIECE_IDS as u64);
        left -= many;
        ids.extend((0..many).map(|_| fleet.next()));
        if order == "shuffled" {
            // Across all of the stretch: the low bits of the tick become its high ones.
            for id in &mut ids {
                *id = (fleet.random.u64(..count / 6) + (NOW_MS - EPOCH_MS) as u64 - count / 6 - 1_000_000) << 22
                    | (*id & 0x3f_ffff);
            }
        }
        match format.as_str() {
            "raw" => ids.iter().for_each(|id| bytes.extend_from_slice(&id.to_le_bytes())),
            "csv" => ids.iter().for_each(|id| {
                let ms = (id >> 22).cast_signed() + EPOCH_MS;
                writeln!(bytes, "{id},web-{},{ms}", id >> 12 & 63).unwrap();
            }),
            _ => ids.iter().for_each(|id| writeln!(bytes, "{id}").unwrap()),
        }
        let start = seconds();
        audit.push(&bytes).unwrap();
        reading += seconds() - start;
    }
    let start = seconds();
    audit.end_file().unwrap();
    while !audit.merge(1 << 20).unwrap() {}
    let merging = seconds() - start;
    let report = audit.report();
    let per_id = |seconds: f64| seconds * 1e9 / count as f64;
    println!(
        "{count} IDs, {format}, {order}: {:.1} ns an ID to read and sort, {:.1} to merge and judge; {:.1} million a second; {} MB spilled",
        per_id(reading),
        per_id(merging),
        count as f64 / (reading + merging) / 1e6,
        audit.progress().spilled_bytes / 1_000_000
    );
    println!(
        "{} distinct; findings: {:?}",
        report.distinct,
        report.findings.iter().map(|one| (one.kind.name(), one.count)).collect::<Vec<_>>()
    );
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
    }
}
