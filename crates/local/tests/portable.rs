//! What every system must pass, with real processes and real files: processes share a state, crashes repeat nothing, and files that
//! are not the ones they should be are refused. `npm run test:local-platform` runs it on a system and records that.
//!
//! A process is this program again, with the task in its environment (see [`child`]).
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

use std::collections::HashSet;
use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use frazil::{Code, Layout, SystemClock};
use frazil_local::{Fault, Local, LocalOptions};

/// What takes longer than this hangs, on any machine.
const LIMIT: Duration = Duration::from_secs(300);

/// One test at a time: they keep the machine busy.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A directory that is removed at the end.
struct TestDirectory(PathBuf);

impl TestDirectory {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("frazil-portable-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn open(&self) -> Local {
        open(&self.0, None).unwrap()
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        // A process that was killed a moment ago may still have a file open, which Windows does not remove.
        for _ in 0..100 {
            if fs::remove_dir_all(&self.0).is_ok() {
                return;
            }
            sleep(Duration::from_millis(20));
        }
    }
}

/// 256 IDs a millisecond.
fn open(dir: &Path, scope: Option<&str>) -> Result<Local, Fault> {
    open_within(None, dir, scope)
}

/// The same, with how long opening may wait for the first ID.
fn open_within(start_wait_ms: Option<u64>, dir: &Path, scope: Option<&str>) -> Result<Local, Fault> {
    let options = LocalOptions {
        dir: Some(dir.to_owned()),
        scope: scope.map(str::to_owned),
        start_wait_ms,
        accept_unproven_platform: true,
        ..LocalOptions::default()
    };
    Local::open(&Layout::named("edge").unwrap(), options)
}

fn refusal(result: Result<Local, Fault>) -> (Code, String) {
    let fault = result.unwrap_err();
    (fault.code(), fault.text().to_owned())
}

fn path_of(ids: &Local) -> PathBuf {
    ids.file().path.into()
}

/// Mints a block as soon as that is possible.
fn mint(ids: &Local, block: &mut [u64]) -> usize {
    loop {
        match ids.fill(&SystemClock, block) {
            Ok(count) => return count,
            Err(error) if error.code().retryable() => sleep(Duration::from_millis(1)),
            Err(error) => panic!("{error}"),
        }
    }
}

/// The task of a process: the directory of its state, and the file that it writes its IDs to.
const TASK: [&str; 2] = ["FRAZIL_TEST_DIR", "FRAZIL_TEST_OUT"];
/// Two threads in each process of the storm.
const THREADS: usize = 2;

/// The program of a process: it opens the file, prints a line, and mints until it is killed or its input ends.
#[test]
#[ignore = "the program of the processes that the other tests start"]
fn child() {
    let [dir, out] = TASK.map(|name| PathBuf::from(env::var_os(name).expect("it is started by the other tests")));
    let ids = loop {
        match open(&dir, None) {
            Ok(ids) => break ids,
            Err(fault) if fault.code().retryable() => sleep(Duration::from_millis(20)),
            Err(fault) => panic!("{fault}"),
        }
    };
    let over = std::sync::atomic::AtomicBool::new(false);
    scope(|threads| {
        for thread in 0..THREADS {
            let (ids, over, out) = (&ids, &over, &out);
            threads.spawn(move || {
                let mut file = File::create_new(out.with_extension(thread.to_string())).unwrap();
                let mut block = [0; 256];
                while !over.load(Relaxed) {
                    let count = mint(ids, &mut block);
                    let bytes: Vec<u8> = block[..count].iter().flat_map(|id| id.to_le_bytes()).collect();
                    file.write_all(&bytes).unwrap();
                    sleep(Duration::from_millis(2));
                }
            });
        }
        std::io::stdout().write_all(b"\nopened\n").unwrap();
        std::io::stdout().flush().unwrap();
        std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        over.store(true, Relaxed);
    });
}

/// A process that mints. It is killed when this is dropped.
struct Minter {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Minter {
    fn start(dir: &Path, out: &Path) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let out = out.join(format!("{}.ids", NUMBER.fetch_add(1, Relaxed)));
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"])
            .envs(TASK.into_iter().zip([dir, &out]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// Waits until it has opened the file.
    fn opened(mut self) -> Self {
        let opened = self.output.by_ref().lines().any(|line| line.unwrap().trim() == "opened");
        assert!(opened, "the process ended: {:?}", self.child.wait());
        self
    }

    /// Ends it as the system ends a process that takes too much memory.
    fn kill(&mut self) {
        // It may have ended already.
        let _: std::io::Result<()> = self.child.kill();
        self.child.wait().unwrap();
    }

    /// Has it close the file and end.
    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Minter {
    fn drop(&mut self) {
        self.kill();
    }
}

/// All IDs that processes wrote to files of a directory. A last one may be cut off by a kill.
fn written(out: &Path) -> Vec<u64> {
    let mut ids = Vec::new();
    for entry in fs::read_dir(out).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        ids.extend(bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())));
    }
    ids
}

fn repeats(ids: &[u64]) -> usize {
    ids.len() - ids.iter().collect::<HashSet<_>>().len()
}

/// Numbers that look random, and are the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

const PROCESSES: usize = 6;

/// Kills processes that mint, one at a time or all at once, for a while, and until that shows something. Returns their IDs and the
/// number of kills.
fn storm(time: Duration, out: &Path, dir_of: impl Fn(usize) -> PathBuf) -> (Vec<u64>, u32) {
    let start = |at| Minter::start(&dir_of(at), out);
    let mut minters: Vec<Minter> = (0..PROCESSES).map(start).collect();
    let (mut numbers, mut kills) = (Numbers(0x5eed), 0);
    let started = Instant::now();
    while started.elapsed() < time || u64::from(kills) <= time.as_secs() / 2 || written(out).len() <= 1000 {
        sleep(Duration::from_millis(200 + numbers.below(600)));
        let only = (numbers.below(8) != 0).then(|| usize::try_from(numbers.below(PROCESSES as u64)).unwrap());
        let killed: Vec<usize> = (0..PROCESSES).filter(|at| only.is_none_or(|only| only == *at)).collect();
        for at in &killed {
            minters[*at].kill();
            kills += 1;
        }
        for at in killed {
            minters[at] = start(at);
        }
    }
    drop(minters);
    (written(out), kills)
}

fn seconds() -> u64 {
    env::var("FRAZIL_STORM_S").map_or(10, |text| text.parse().unwrap())
}

// docs/internals/claims.md: 12
#[test]
fn processes_that_are_killed_repeat_no_id() {
    let _alone = alone();
    let (state, out) = (TestDirectory::new("storm"), TestDirectory::new("storm-out"));
    let time = Duration::from_secs(seconds());
    let (ids, kills) = storm(time, &out.0, |_| state.0.clone());
    let mut report = std::io::stderr();
    writeln!(report, "storm: {} IDs, {kills} kills, {} s", ids.len(), time.as_secs()).unwrap();
    assert_eq!(repeats(&ids), 0);
    assert!(ids.len() > 1000 && u64::from(kills) > seconds() / 2, "{} IDs, {kills} kills", ids.len());
}

#[test]
fn the_checker_finds_the_repeats_of_processes_with_a_file_each() {
    let _alone = alone();
    let (state, out) = (TestDirectory::new("broken"), TestDirectory::new("broken-out"));
    let minters: Vec<Minter> = (0..PROCESSES).map(|at| Minter::start(&state.0.join(at.to_string()), &out.0).opened()).collect();
    let started = Instant::now();
    while repeats(&written(&out.0)) == 0 {
        assert!(started.elapsed() < LIMIT, "no repeats found");
        sleep(Duration::from_millis(200));
    }
    drop(minters);
}

#[test]
fn ids_increase_from_one_process_to_the_next_after_a_close_and_after_a_kill() {
    let _alone = alone();
    let state = TestDirectory::new("next");
    let mut last = 0;
    for ends in [Minter::end as fn(Minter), |mut minter| minter.kill(), Minter::end] {
        let out = TestDirectory::new("next-out");
        let minter = Minter::start(&state.0, &out.0).opened();
        while written(&out.0).is_empty() {
            sleep(Duration::from_millis(10));
        }
        ends(minter);
        let ids = written(&out.0);
        assert!(ids.iter().all(|id| *id > last), "below {last}");
        last = ids.into_iter().max().unwrap();
    }
    let mut block = [0; 64];
    let ids = state.open();
    mint(&ids, &mut block);
    assert!(block[0] > last);
}

#[test]
fn a_start_beside_another_process_does_not_wait_and_shares_its_state() {
    let _alone = alone();
    let (state, out) = (TestDirectory::new("beside"), TestDirectory::new("beside-out"));
    let minter = Minter::start(&state.0, &out.0).opened();
    // If it had to wait for the first ID, it would be refused; and also at a moment in which the other one raises the ceiling.
    let ids = loop {
        match open_within(Some(0), &state.0, None) {
            Err(fault) if fault.error().retry_after_ms() == 10 => sleep(Duration::from_millis(10)),
            opened => break opened.unwrap(),
        }
    };
    let started = Instant::now();
    assert!(matches!(ids.file().attached, None | Some(2)), "{:?}", ids.file());
    let (mut all, mut block) = (Vec::new(), [0; 256]);
    while started.elapsed() < Duration::from_secs(8) || written(&out.0).is_empty() {
        let count = mint(&ids, &mut block);
        all.extend_from_slice(&block[..count]);
        sleep(Duration::from_millis(2));
    }
    minter.end();
    let others = written(&out.0);
    assert!(!others.is_empty());
    all.extend(others);
    assert_eq!(repeats(&all), 0);
}

#[test]
fn scopes_that_differ_in_capital_letters_have_a_file_each() {
    let _alone = alone();
    let state = TestDirectory::new("scopes");
    let scopes = ["orders", "Orders", "ORDERS"].map(|scope| open(&state.0, Some(scope)).unwrap());
    let paths: HashSet<PathBuf> = scopes.iter().map(|ids| fs::canonicalize(path_of(ids)).unwrap()).collect();
    assert_eq!(paths.len(), 3, "{paths:?}");
    drop(scopes);
    open(&state.0, Some("Orders")).unwrap().next(&SystemClock).unwrap();
}

// docs/internals/claims.md: 16
#[test]
fn a_copy_in_the_place_of_the_file_is_refused_and_the_file_itself_is_not() {
    let _alone = alone();
    let state = TestDirectory::new("copy");
    let ids = state.open();
    let path = path_of(&ids);
    drop(ids);
    let original = path.with_extension("original");
    fs::rename(&path, &original).unwrap();
    fs::copy(&original, &path).unwrap();
    let (code, text) = refusal(open(&state.0, None));
    assert_eq!(code, Code::StateFileCorrupt);
    assert!(text.contains("is a copy"), "{text}");
    fs::remove_file(&path).unwrap();
    fs::rename(&original, &path).unwrap();
    mint(&state.open(), &mut [0; 8]);
}

#[test]
fn a_file_that_is_made_where_another_was_deleted_is_used() {
    let _alone = alone();
    let state = TestDirectory::new("made-again");
    for _ in 0..2 {
        let ids = state.open();
        mint(&ids, &mut [0; 8]);
        let path = path_of(&ids);
        drop(ids);
        // Windows gives a file that takes a name again the birth time of the one before it.
        mint(&state.open(), &mut [0; 8]);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_file_that_is_cut_off_or_damaged_is_refused() {
    let _alone = alone();
    let state = TestDirectory::new("damaged");
    let path = path_of(&state.open());
    let whole = fs::read(&path).unwrap();
    let write = |bytes: &[u8], length| {
        let mut file = File::options().write(true).open(&path).unwrap();
        file.set_len(length).unwrap();
        file.write_all(bytes).unwrap();
    };
    let length = whole.len() as u64;
    write(&whole[..100], length - 1);
    assert_eq!(refusal(open(&state.0, None)).0, Code::StateFileCorrupt);
    write(&[], length);
    write(&vec![0xa5; whole.len()], length);
    assert_eq!(refusal(open(&state.0, None)).0, Code::StateFileCorrupt);
    write(&whole, length);
    mint(&state.open(), &mut [0; 8]);
}

// docs/internals/claims.md: 18
#[test]
fn a_file_in_use_keeps_its_name_or_its_user_stops() {
    let _alone = alone();
    let state = TestDirectory::new("in-use");
    let ids = state.open();
    mint(&ids, &mut [0; 8]);
    let path = path_of(&ids);
    let moved = path.with_extension("moved");
    if cfg!(windows) {
        assert!(fs::rename(&path, &moved).is_err(), "it was moved");
        assert!(fs::remove_file(&path).is_err(), "it was deleted");
        fs::write(&moved, "another file").unwrap();
        assert!(fs::rename(&moved, &path).is_err(), "it was replaced");
        // Wine moves it. `npm run test:local-platform` names an emulator in this variable.
        if env::var_os("FRAZIL_EMULATOR").is_none() {
            let elsewhere = TestDirectory(state.0.with_extension("elsewhere"));
            assert!(fs::rename(&state.0, &elsewhere.0).is_err(), "its directory was moved");
        }
        mint(&ids, &mut [0; 8]);
        return;
    }
    fs::rename(&path, &moved).unwrap();
    let (started, mut block) = (Instant::now(), [0; 64]);
    let error = loop {
        match ids.fill(&SystemClock, &mut block) {
            Err(error) if !error.code().retryable() => break error,
            _ => sleep(Duration::from_millis(1)),
        }
        assert!(started.elapsed() < LIMIT, "it mints on");
    };
    assert_eq!(error.code(), Code::StateFileCorrupt);
}

#[test]
fn a_long_directory_with_blanks_and_letters_of_other_scripts_is_used() {
    let _alone = alone();
    let state = TestDirectory::new("long");
    let dir = (0..8).fold(state.0.clone(), |dir, at| dir.join(format!("{at} {} ÄöЖ水", "n".repeat(30))));
    assert!(dir.as_os_str().len() > 300);
    let ids = open(&dir, None).unwrap();
    mint(&ids, &mut [0; 8]);
    let path = path_of(&ids);
    assert!(path.is_file(), "{}", path.display());
}

#[test]
fn the_records_of_the_file_say_no_less_than_what_was_issued() {
    let _alone = alone();
    let state = TestDirectory::new("ceiling");
    let ids = state.open();
    let layout = Layout::named("edge").unwrap();
    let mut block = [0; 256];
    for _ in 0..200 {
        let count = mint(&ids, &mut block);
        let issued_ms = layout.decode(block[count - 1]).unwrap().timestamp_ms;
        // As the next start after a power loss reads it, by reading the file: record number, ceiling.
        let bytes = fs::read(path_of(&ids)).unwrap();
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let newest = [4096, 8192].into_iter().max_by_key(|at| number(at + 8)).unwrap();
        assert!(number(newest + 16) > issued_ms, "{} is not above {issued_ms}", number(newest + 16));
        sleep(Duration::from_millis(5));
    }
}
