//! A process whose path leads elsewhere, at bad moments: nothing frees the name before all that was issued is over, and afterwards
//! the file does not look as if it were in use.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

mod ahead;
mod file_locks;
mod slept_time;

use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::{scope, sleep};
use std::time::Duration;

use ahead::{TestDirectory, run_ahead};
use file_locks::{ATTACH, FIRST_USER, USERS, lock_on};
use frazil::layout::{Field, FieldKind, LayoutSpec};
use frazil::{Clock, Code, Layout, SystemClock};
use frazil_local::Local;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use slept_time::SleptTime;

fn is_over(end_ms: u64) -> bool {
    SystemClock.now_ms().unwrap() >= end_ms
}

/// Exchanges two paths in one step. By number: musl has no function for it.
fn exchange(one: &Path, other: &Path) {
    let [one, other] = [one, other].map(|path| CString::new(path.as_os_str().as_bytes()).unwrap());
    let (here, exchange) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
    // SAFETY: both paths end with a zero and outlive the call.
    let status = unsafe { libc::syscall(libc::SYS_renameat2, here, one.as_ptr(), here, other.as_ptr(), exchange) };
    assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
}

fn open(path: &Path) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

// docs/internals/claims.md: 18
#[test]
fn closing_waits_if_the_path_is_lost_while_it_waits_for_a_lock() {
    // Where the machine takes so long that all that was issued is over before the path is lost, that shows nothing.
    while !closing_waits() {}
}

/// Loses the path while closing waits for a lock, and checks that closing ends when all that was issued is over. `false` if that was
/// over before.
fn closing_waits() -> bool {
    let directory = TestDirectory::new("closing");
    let (ids, path) = directory.open();
    // Another process attaches.
    let other = open(&path);
    fcntl(&other, FcntlArg::F_OFD_SETLK(&lock_on(ATTACH, 1))).unwrap();
    let (code, end_ms) = run_ahead(&ids);
    assert_eq!(code, Code::SequenceExhausted);
    // It waits for 200 ms, of which half are over.
    let half = SleptTime::new();
    half.hold_at(Duration::from_millis(100));
    let was_over = scope(|threads| {
        threads.spawn(|| half.run(move || drop(ids)));
        half.reached();
        fs::rename(&path, path.with_extension("moved")).unwrap();
        let was_over = is_over(end_ms);
        half.hold_at(Duration::MAX);
        was_over
    });
    assert!(is_over(end_ms));
    !was_over
}

// docs/internals/claims.md: 18
#[test]
fn a_path_that_cannot_be_looked_up_is_reported_when_all_that_was_issued_is_over() {
    let directory = TestDirectory::new("loop");
    let (ids, _) = directory.open();
    run_ahead(&ids);
    // In one step, the directory becomes a link to itself.
    let moved = TestDirectory(directory.0.with_extension("moved"));
    symlink(&directory.0, &moved.0).unwrap();
    exchange(&directory.0, &moved.0);
    let mut last_ms = 0;
    let code = loop {
        let (code, end_ms) = run_ahead(&ids);
        last_ms = last_ms.max(end_ms);
        if !code.retryable() {
            break code;
        }
        sleep(Duration::from_millis(1));
    };
    assert!(is_over(last_ms));
    assert_eq!(code, Code::StateFileFailed);
    fs::remove_file(&directory.0).unwrap();
}

// docs/internals/claims.md: 12, 18
#[test]
fn a_file_that_was_given_up_is_not_attached_any_more() {
    let directory = TestDirectory::new("given-up");
    let (ids, path) = directory.open();
    run_ahead(&ids);
    let moved = path.with_extension("moved");
    fs::rename(&path, &moved).unwrap();
    while run_ahead(&ids).0.retryable() {
        sleep(Duration::from_millis(1));
    }
    let mut lock = lock_on(FIRST_USER, USERS);
    fcntl(open(&moved), FcntlArg::F_OFD_GETLK(&mut lock)).unwrap();
    assert_eq!(i32::from(lock.l_type), libc::F_UNLCK);
    drop(ids);
}

/// Mints until the file is given up, and counts the IDs. Returns how many of them were not larger than the one before.
fn mint_until_lost(ids: &Local, minted: &AtomicU64) -> u64 {
    let (mut count, mut not_larger, mut last) = (0, 0, 0);
    loop {
        match ids.next(&SystemClock) {
            Ok(id) => {
                count += 1;
                minted.store(count, Relaxed);
                not_larger += u64::from(id <= last);
                last = id;
            }
            Err(error) if error.code().retryable() => {}
            Err(error) => {
                assert_eq!(error.code(), Code::StateFileCorrupt);
                return not_larger;
            }
        }
    }
}

// docs/internals/claims.md: 18, 32
#[test]
fn a_process_that_loses_its_file_while_it_mints_repeats_nothing() {
    // So many IDs a millisecond that every call but the first one in it takes the fast path. One file in five caught a process that went
    // on in its copy.
    let fields = [(FieldKind::Time, 40), (FieldKind::Node, 1), (FieldKind::Sequence, 22)];
    let fields = fields.map(|(kind, bits)| Field { kind, bits, name: None }).to_vec();
    let layout = Layout::new(LayoutSpec { epoch_ms: 1_704_067_200_000, tick_ms: 1, unsigned: false, fields }).unwrap();
    let directories: Vec<_> = (0..24).map(|at| TestDirectory::new(&format!("minting-{at}"))).collect();
    let opened: Vec<_> = scope(|threads| {
        let opening: Vec<_> = directories.iter().map(|directory| threads.spawn(|| directory.open_with(&layout))).collect();
        opening.into_iter().map(|opened| opened.join().unwrap()).collect()
    });
    for (ids, path) in opened {
        let minted = AtomicU64::new(0);
        let not_larger = scope(|threads| {
            let minting = threads.spawn(|| mint_until_lost(&ids, &minted));
            while minted.load(Relaxed) <= 1000 {
                sleep(Duration::from_millis(1));
            }
            sleep(Duration::from_millis(100));
            fs::rename(&path, path.with_extension("moved")).unwrap();
            minting.join().unwrap()
        });
        let minted = minted.into_inner();
        assert_eq!(not_larger, 0, "of {minted} IDs, which increase unless one repeats");
    }
}
