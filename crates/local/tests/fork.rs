//! A forked child has its parent's generator, in memory that the two share. It may mint within the window that its parent has
//! reserved, repeats nothing, and gets `CLOSED` when the window is over. It counts as attached for as long as it lives.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

mod namespaces;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Error, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use frazil::clock::ManualClock;
use frazil::mint::SequenceStart;
use frazil::{Clock, Code, Generator, GeneratorOptions, Layout, Node, Result, SystemClock};
use frazil_local::{Fault, Local, LocalOptions};
use namespaces::{in_a_child_with_right_to, unshare};
use nix::libc;

const COUNT: usize = 5000;

/// One test at a time: a mutex that another thread holds during a fork stays locked in the child for ever.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn layout() -> Layout {
    Layout::named("default").unwrap()
}

/// A directory that is removed at the end.
struct TestDirectory(PathBuf);

impl TestDirectory {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("frazil-fork-{name}-{}", std::process::id())))
    }

    fn open(&self) -> Local {
        self.try_open(SequenceStart::Zero).unwrap()
    }

    fn try_open(&self, sequence_start: SequenceStart) -> std::result::Result<Local, Fault> {
        let options =
            LocalOptions { dir: Some(self.0.clone()), sequence_start, accept_unproven_platform: true, ..LocalOptions::default() };
        Local::open(&layout(), options)
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        let _: std::io::Result<()> = fs::remove_dir_all(&self.0);
    }
}

fn pipe() -> (File, File) {
    let mut ends = [0; 2];
    // SAFETY: there is room for the two integers that it writes.
    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    // SAFETY: the pipe is new, so no other code owns its ends.
    ends.map(|end| File::from(unsafe { OwnedFd::from_raw_fd(end) })).into()
}

/// The child's side: it waits for its parent, and reports what it got.
struct Parent {
    go: File,
    told: File,
}

impl Parent {
    fn wait(&mut self) {
        self.go.read_exact(&mut [0]).unwrap();
    }

    fn tell(&mut self, result: Result<u64>) {
        // Every ID is larger than the numbers of the codes.
        let number = result.unwrap_or_else(|error| error.code() as u64);
        self.told.write_all(&number.to_le_bytes()).unwrap();
    }

    /// Mints with a clock that stands still, so that without a shared state IDs repeat.
    fn tell_many(&mut self, ids: &Generator, clock: &impl Clock) {
        for _ in 0..COUNT {
            self.tell(ids.next(clock));
        }
    }
}

/// A child process, and what it reports. It is killed when this is dropped.
struct Child {
    process: libc::pid_t,
    go: File,
    told: File,
}

impl Child {
    fn fork(work: impl FnOnce(&mut Parent)) -> Self {
        let ((waits, go), (told, tells)) = (pipe(), pipe());
        // SAFETY: the child has one thread, which mints, writes to a pipe and ends. glibc's `fork` leaves the child a usable
        // heap, also if threads of the parent were using theirs.
        match unsafe { libc::fork() } {
            0 => {
                // If these stay open, the child does not notice the end of its parent.
                drop((go, told));
                // Not closed before the reason is written: its parent kills it then.
                let mut parent = Parent { go: waits, told: tells };
                let result = catch_unwind(AssertUnwindSafe(|| work(&mut parent)));
                let status = result.map_or_else(
                    |panic| {
                        // What the hook has printed is captured, and ends with this process.
                        let text = panic.downcast_ref::<String>().map_or("a panic", String::as_str);
                        let _ = std::io::stderr().write_all(format!("the child of a test: {text}\n").as_bytes());
                        1
                    },
                    |()| 0,
                );
                // SAFETY: it ends the child without running what the parent registered for its own end.
                unsafe { libc::_exit(status) }
            }
            process => {
                assert!(process > 0, "{}", Error::last_os_error());
                Self { process, go, told }
            }
        }
    }

    fn go(&mut self) {
        self.go.write_all(&[1]).unwrap();
    }

    fn next(&mut self) -> Told {
        let mut bytes = [0; 8];
        self.told.read_exact(&mut bytes).unwrap();
        Told::of(bytes)
    }

    /// What it reports until it and all other processes with its end of the pipe have ended.
    fn rest(mut self) -> Vec<Told> {
        let mut bytes = Vec::new();
        self.told.read_to_end(&mut bytes).unwrap();
        bytes.chunks_exact(8).map(|number| Told::of(number.try_into().unwrap())).collect()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: the process is a child of this one, and only this code waits for it, so no other process can have its number.
        unsafe {
            libc::kill(self.process, libc::SIGKILL);
            libc::waitpid(self.process, ptr::null_mut(), 0);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Id(u64),
    Code(Code),
}

impl Told {
    fn number(self) -> u64 {
        match self {
            Self::Id(id) => id,
            Self::Code(code) => code as u64,
        }
    }

    fn of(bytes: [u8; 8]) -> Self {
        let number = u64::from_le_bytes(bytes);
        Code::ALL.iter().find(|code| **code as u64 == number).map_or(Self::Id(number), |code| Self::Code(*code))
    }
}

fn ids_of(told: &[Told]) -> Vec<u64> {
    told.iter().filter_map(|told| if let Told::Id(id) = told { Some(*id) } else { None }).collect()
}

fn codes_of(told: &[Told]) -> HashSet<Code> {
    told.iter().filter_map(|told| if let Told::Code(code) = told { Some(*code) } else { None }).collect()
}

fn repeats(ids: &[u64]) -> usize {
    ids.len() - ids.iter().collect::<HashSet<_>>().len()
}

/// IDs of a parent and a child that mint from one generator in one millisecond.
fn of_both(ids: &Generator, clock: &ManualClock) -> Vec<u64> {
    let mut all = vec![ids.next(clock).unwrap()];
    let mut child = Child::fork(|parent| {
        parent.wait();
        parent.tell_many(ids, clock);
    });
    child.go();
    all.extend((0..COUNT).map(|_| ids.next(clock).unwrap()));
    all.extend(ids_of(&child.rest()));
    all
}

#[test]
fn parent_and_child_repeat_nothing() {
    let _alone = alone();
    let directory = TestDirectory::new("both");
    let ids = directory.open();
    let all = of_both(&ids, &ManualClock::new(SystemClock.now_ms().unwrap() + 500));
    assert!(all.len() > 1 + COUNT, "the child mints too, while the window lasts");
    assert_eq!(repeats(&all), 0);
}

#[test]
fn the_checker_catches_a_state_that_is_not_shared() {
    let _alone = alone();
    let ids = Generator::private(&layout(), GeneratorOptions::new(Node::Id(0))).unwrap();
    assert_eq!(repeats(&of_both(&ids, &ManualClock::new(1_720_000_000_000))), COUNT);
}

#[test]
fn a_child_whose_parent_has_reserved_nothing_is_closed() {
    let _alone = alone();
    let directory = TestDirectory::new("nothing");
    let ids = directory.open();
    let told = Child::fork(|parent| parent.tell(ids.next(&SystemClock))).rest();
    assert_eq!(told, [Told::Code(Code::Closed)]);
    ids.next(&SystemClock).unwrap();
}

// docs/internals/claims.md: 15
#[test]
fn a_child_is_closed_for_good_when_the_window_is_over_and_its_parent_is_not() {
    let _alone = alone();
    let directory = TestDirectory::new("window");
    let ids = directory.open();
    // Later than the start of the file, which is in the current millisecond.
    let now_ms = SystemClock.now_ms().unwrap() + 500;
    let (now, later) = (ManualClock::new(now_ms), ManualClock::new(now_ms + 20_000));
    let mut all = vec![ids.next(&now).unwrap()];
    let mut child = Child::fork(|parent| {
        parent.tell(ids.next(&now));
        for _ in 0..3 {
            parent.tell(ids.next(&later));
        }
        parent.wait();
        parent.tell(ids.next(&later));
    });
    let told: Vec<Told> = (0..4).map(|_| child.next()).collect();
    assert_eq!(codes_of(&told[..1]), HashSet::new(), "within the window it mints");
    assert_eq!(told[1..], [Told::Code(Code::Closed); 3]);
    all.extend(ids_of(&told));
    all.push(ids.next(&later).unwrap());
    // What its parent has reserved since then is in the memory that the two share.
    child.go();
    all.extend(ids_of(&child.rest()));
    assert_eq!(all.len(), 4);
    assert_eq!(repeats(&all), 0);
}

#[test]
fn a_parent_that_closes_closes_its_child_too() {
    let _alone = alone();
    let directory = TestDirectory::new("close");
    let ids = directory.open();
    let mut all = vec![ids.next(&SystemClock).unwrap()];
    let mut child = Child::fork(|parent| {
        for _ in 0..3 {
            parent.wait();
            parent.tell(ids.next(&SystemClock));
        }
        parent.wait();
        // The child does not leave the file for its parent.
        drop(ids.clone());
        parent.tell_many(&ids, &SystemClock);
    });
    child.go();
    all.extend(ids_of(&[child.next()]));
    drop(ids);
    child.go();
    assert_eq!(child.next(), Told::Code(Code::Closed));
    // When the file is opened again, the word in the memory that the child shares is in use again.
    let ids = directory.open();
    all.push(ids.next(&SystemClock).unwrap());
    child.go();
    all.extend(ids_of(&[child.next()]));
    child.go();
    all.extend((0..COUNT).map(|_| ids.next(&SystemClock).unwrap()));
    all.extend(ids_of(&child.rest()));
    assert_eq!(repeats(&all), 0);
    assert_eq!(ids.file().attached, Some(1), "a child that is gone has taken nothing with it");
}

/// The positions of the state mean other IDs from then on, while a child still mints with the previous start.
// docs/internals/claims.md: 14
#[test]
fn a_child_repeats_nothing_when_its_parent_chooses_another_start() {
    let _alone = alone();
    for keeps_its_files in [true, false] {
        let directory = TestDirectory::new("start");
        let ids = directory.open();
        let first = ids.next(&ManualClock::new(SystemClock.now_ms().unwrap() + 500)).unwrap();
        let mut all = vec![first];
        // A state that was closed begins after the last tick used: that of the clock, or a later one if the first call had to wait.
        let clock = ManualClock::new(layout().decode(first).unwrap().timestamp_ms + 1);
        let mut child = Child::fork(|parent| {
            if !keeps_its_files {
                // As a daemon does. Then the child has none of its parent's open files.
                let keep = [&parent.go, &parent.told].map(AsRawFd::as_raw_fd);
                // SAFETY: this child does not use the owners of these descriptors.
                (3..256).filter(|fd| !keep.contains(fd)).for_each(|fd| unsafe {
                    libc::close(fd);
                });
            }
            parent.tell(Ok(0));
            parent.wait();
            parent.tell_many(&ids, &clock);
            // The descriptors are closed, so they must not be closed again.
            std::mem::forget(ids.clone());
        });
        child.next();
        drop(ids);
        let other = directory.try_open(SequenceStart::Wrap).unwrap();
        let attached = other.file().attached;
        child.go();
        all.extend((0..COUNT).filter_map(|_| other.next(&clock).ok()));
        assert!(all.len() > 1);
        let told = child.rest();
        all.extend(ids_of(&told));
        assert_eq!(repeats(&all), 0);
        assert_eq!(codes_of(&told), HashSet::from([Code::Closed]));
        assert_eq!(attached, Some(2), "what the child has mapped keeps the file open");
    }
}

#[test]
fn a_child_with_the_process_id_of_its_parent_is_closed_when_the_window_is_over() {
    let _alone = alone();
    in_a_child_with_right_to(libc::CLONE_NEWPID, || {
        let directory = TestDirectory::new("pid");
        unshare(libc::CLONE_NEWPID).unwrap();
        let told = Child::fork(|parent| {
            assert_eq!(std::process::id(), 1);
            let ids = directory.open();
            let now_ms = SystemClock.now_ms().unwrap() + 500;
            let (now, later) = (ManualClock::new(now_ms), ManualClock::new(now_ms + 20_000));
            parent.tell(ids.next(&now));
            unshare(libc::CLONE_NEWPID).unwrap();
            let told = Child::fork(|own| {
                assert_eq!(std::process::id(), 1);
                own.tell(ids.next(&now));
                own.tell(ids.next(&later));
            })
            .rest();
            parent.told.write_all(&told.iter().flat_map(|told| told.number().to_le_bytes()).collect::<Vec<_>>()).unwrap();
            parent.tell(ids.next(&later));
        })
        .rest();
        assert_eq!(told.len(), 4, "the child says above why it told less: {told:?}");
        assert_eq!(told[2], Told::Code(Code::Closed), "{told:?}");
        assert_eq!(repeats(&ids_of(&told)), 0);
    });
}
