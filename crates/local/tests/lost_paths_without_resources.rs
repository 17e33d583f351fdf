//! A process whose path leads elsewhere while the system gives it no memory or no descriptor.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

mod ahead;
mod file_locks;

use std::ffi::c_void;
use std::fs::{self, File};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use ahead::{TestDirectory, run_ahead};
use file_locks::{FIRST_USER, USERS, lock_on};
use frazil::{Clock, Code, SystemClock};
use frazil_local::Local;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

/// The faults are those of the whole process.
static ALONE: Mutex<()> = Mutex::new(());
/// Whether files can be mapped.
static NO_MAPPINGS: AtomicBool = AtomicBool::new(false);
/// Whether a mapping can be replaced, …
static NO_REPLACEMENT: AtomicBool = AtomicBool::new(false);
/// … and whether one is being replaced, which takes half a second if files cannot be mapped.
static REPLACING: AtomicBool = AtomicBool::new(false);

/// Takes the place of the function of the C library in this program.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64(at: *mut c_void, length: usize, access: i32, flags: i32, file: i32, offset: i64) -> *mut c_void {
    // Memory without a file is for the stacks of threads, which the test harness may start at any moment.
    if file >= 0 && NO_MAPPINGS.load(Relaxed) {
        // SAFETY: the number of the last error of this thread.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
        return libc::MAP_FAILED;
    }
    // SAFETY: the arguments are those of the caller.
    unsafe { libc::syscall(libc::SYS_mmap, at, length, access, flags, file, offset) as *mut c_void }
}

/// Takes the place of the function of the C library in this program.
#[unsafe(no_mangle)]
unsafe extern "C" fn mremap(old: *mut c_void, old_length: usize, length: usize, flags: i32, at: *mut c_void) -> *mut c_void {
    if NO_REPLACEMENT.load(Relaxed) {
        // SAFETY: the number of the last error of this thread.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
        return libc::MAP_FAILED;
    }
    if NO_MAPPINGS.load(Relaxed) {
        REPLACING.store(true, Relaxed);
        sleep(Duration::from_millis(500));
    }
    // SAFETY: the arguments are those of the caller.
    unsafe { libc::syscall(libc::SYS_mremap, old, old_length, length, flags, at) as *mut c_void }
}

/// The tests run one at a time, and each begins without a fault.
fn alone() -> MutexGuard<'static, ()> {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for fault in [&NO_MAPPINGS, &NO_REPLACEMENT] {
        fault.store(false, Relaxed);
    }
    alone
}

fn now_ms() -> u64 {
    SystemClock.now_ms().unwrap()
}

fn refusal(ids: &Local) -> Option<Code> {
    ids.health(now_ms()).refusal.map(|error| error.code())
}

fn until(condition: impl Fn() -> bool) {
    while !condition() {
        sleep(Duration::from_millis(1));
    }
}

// docs/internals/claims.md: 18
#[test]
fn what_was_issued_while_the_mapping_is_replaced_is_over_when_the_loss_is_reported() {
    let _alone = alone();
    let directory = TestDirectory::new("mapping");
    let (ids, path) = directory.open();
    ids.next(&SystemClock).unwrap();
    NO_MAPPINGS.store(true, Relaxed);
    fs::rename(&path, path.with_extension("moved")).unwrap();
    until(|| REPLACING.load(Relaxed));
    let (_, end_ms) = run_ahead(&ids);
    assert!(end_ms > now_ms() + 500, "it is not ahead of the clock");
    until(|| refusal(&ids) == Some(Code::StateFileCorrupt));
    NO_MAPPINGS.store(false, Relaxed);
    assert!(now_ms() >= end_ms, "{} ms too early", end_ms - now_ms());
}

// docs/internals/claims.md: 18
#[test]
fn health_does_not_report_the_loss_while_ids_can_still_be_issued() {
    let _alone = alone();
    let directory = TestDirectory::new("replacement");
    let (ids, path) = directory.open();
    ids.next(&SystemClock).unwrap();
    NO_REPLACEMENT.store(true, Relaxed);
    fs::rename(&path, path.with_extension("moved")).unwrap();
    let mut last_ms = 0;
    let code = loop {
        let (code, end_ms) = run_ahead(&ids);
        last_ms = last_ms.max(end_ms);
        let reported = refusal(&ids) == Some(Code::StateFileCorrupt);
        assert!(!reported || now_ms() >= last_ms, "{} ms too early", last_ms - now_ms());
        match code {
            // The window is over.
            Code::LeaseExpired => NO_REPLACEMENT.store(false, Relaxed),
            code if code.retryable() => sleep(Duration::from_millis(1)),
            code => break code,
        }
    };
    assert_eq!(code, Code::StateFileCorrupt);
    assert!(now_ms() >= last_ms);
}

// docs/internals/claims.md: 12, 18
#[test]
fn a_file_that_was_given_up_without_a_free_descriptor_is_soon_not_attached_any_more() {
    let _alone = alone();
    let directory = TestDirectory::new("descriptors");
    let (ids, path) = directory.open();
    run_ahead(&ids);
    let moved = path.with_extension("moved");
    fs::rename(&path, &moved).unwrap();
    let file = File::options().read(true).write(true).open(&moved).unwrap();
    // SAFETY: the call reads the two numbers. Descriptors that are open already stay open.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &libc::rlimit { rlim_cur: 256, rlim_max: 256 }) }, 0);
    let mut taken = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        taken.push(file);
    }
    until(|| !run_ahead(&ids).0.retryable());
    let mut lock = lock_on(FIRST_USER, USERS);
    fcntl(&file, FcntlArg::F_OFD_GETLK(&mut lock)).unwrap();
    drop(taken);
    assert_eq!(i32::from(lock.l_type), libc::F_UNLCK);
}
