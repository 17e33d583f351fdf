//! Processes that a sandbox or a library shows less than the others, or something else: they use the file as the others do, or are
//! refused, and teach the others nothing wrong.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

mod namespaces;

use std::fs;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::ptr::null;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use frazil::clock::ManualClock;
use frazil::{Code, Layout, SystemClock};
use frazil_local::{Fault, Local, LocalOptions};
use namespaces::{in_a_child, in_a_child_with_right_to, unshare};
use nix::libc;

const CLONE_NEWTIME: libc::c_int = 0x80;
const DAY_S: i64 = 86_400;

/// By how many seconds the clocks of the C library are ahead in this process, as libfaketime shows them.
static AHEAD_S: AtomicI64 = AtomicI64::new(0);

/// Takes the place of the function of the C library in this program.
#[unsafe(no_mangle)]
extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> libc::c_int {
    // SAFETY: the caller has room for the time.
    let status = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) };
    if status == 0 && clock != libc::CLOCK_MONOTONIC {
        // SAFETY: the kernel has written it.
        unsafe { (*time).tv_sec += AHEAD_S.load(SeqCst) };
    }
    libc::c_int::try_from(status).unwrap()
}

/// A directory that is removed at the end.
struct TestDirectory(PathBuf);

impl TestDirectory {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("frazil-sandbox-{name}-{}", std::process::id())))
    }

    fn try_open(&self) -> Result<Local, Fault> {
        let options = LocalOptions { dir: Some(self.0.clone()), accept_unproven_platform: true, ..LocalOptions::default() };
        Local::open(&Layout::named("default").unwrap(), options)
    }

    fn open(&self) -> Local {
        self.try_open().unwrap()
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Has a call of this process refused from now on, as by seccomp profiles that are older than it.
fn forbid(call: libc::c_long) {
    let statement = |code: u32, k: u32, jf: u8| libc::sock_filter { code: u16::try_from(code).unwrap(), jt: 0, jf, k };
    let mut program = [
        // The number of the call.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, u32::try_from(call).unwrap(), 1),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned(), 0),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
    ];
    let filter = libc::sock_fprog { len: 4, filter: program.as_mut_ptr() };
    // SAFETY: the filter and its program outlive the calls.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter), 0);
        let mut stat = MaybeUninit::<libc::statx>::zeroed();
        let status = libc::syscall(libc::SYS_statx, libc::AT_FDCWD, c"/".as_ptr(), 0, libc::STATX_INO, stat.as_mut_ptr());
        assert_eq!(status == -1, call == libc::SYS_statx);
    }
}

/// The directory of a test that runs its own program again, in a sandbox.
const INSIDE: &str = "FRAZIL_SANDBOXED";

/// Runs a test of this program in a process that may not call `statx` from its beginning on.
fn run_without_statx(test: &str, directory: &TestDirectory) {
    let mut inside = Command::new(std::env::current_exe().unwrap());
    inside.args(["--exact", test, "--nocapture"]).env(INSIDE, &directory.0);
    // SAFETY: what it calls between fork and exec takes no memory and no lock.
    unsafe {
        inside.pre_exec(|| {
            forbid(libc::SYS_statx);
            Ok(())
        });
    }
    assert!(inside.status().unwrap().success());
}

// docs/internals/claims.md: 16, 18
#[test]
fn a_process_that_may_not_call_statx_shares_the_file_of_the_others() {
    let test = "a_process_that_may_not_call_statx_shares_the_file_of_the_others";
    if let Some(inside) = std::env::var_os(INSIDE) {
        // Not dropped: the directory is the other process's.
        let directory = ManuallyDrop::new(TestDirectory(inside.into()));
        let ids = directory.open();
        ids.next(&SystemClock).unwrap();
        assert!(!directory.0.join("is-open").exists() || ids.file().attached == Some(2));
        return;
    }
    let directory = TestDirectory::new("statx");
    let ids = directory.open();
    ids.next(&SystemClock).unwrap();
    fs::write(directory.0.join("is-open"), "").unwrap();
    run_without_statx(test, &directory);
    let made_inside = TestDirectory::new("statx-makes");
    run_without_statx(test, &made_inside);
    made_inside.open().next(&SystemClock).unwrap();
}

// docs/internals/claims.md: 16
#[test]
fn a_process_that_gives_up_statx_after_opening_still_finds_its_file() {
    let directory = TestDirectory::new("statx-later");
    in_a_child(|| {
        let ids = directory.open();
        let first = ids.next(&SystemClock).unwrap();
        forbid(libc::SYS_statx);
        // Beyond the window, so that the path is looked up.
        let later = Layout::named("default").unwrap().decode(first).unwrap().timestamp_ms + 20_000;
        ids.next(&ManualClock::new(later)).unwrap();
        // And a file that took the place of it is still found.
        fs::rename(ids.file().path, directory.0.join("moved")).unwrap();
        let code = ids.next(&ManualClock::new(later + 20_000)).map_err(|error| error.code());
        assert_eq!(code, Err(Code::StateFileCorrupt));
    });
}

/// Mounts an empty file system over /proc, for this process and its children.
fn hide_proc() {
    unshare(libc::CLONE_NEWNS).unwrap();
    // SAFETY: the texts end with a zero, and the calls change only the mounts of this process.
    unsafe {
        assert_eq!(libc::mount(null(), c"/".as_ptr(), null(), libc::MS_REC | libc::MS_PRIVATE, null()), 0);
        assert_eq!(libc::mount(c"none".as_ptr(), c"/proc".as_ptr(), c"tmpfs".as_ptr(), 0, null()), 0);
    }
}

#[test]
fn a_process_that_cannot_read_the_offset_of_its_time_namespace_is_refused() {
    in_a_child_with_right_to(CLONE_NEWTIME | libc::CLONE_NEWNS, || {
        let directory = TestDirectory::new("proc");
        in_a_child(|| {
            let ids = directory.open();
            ids.next(&SystemClock).unwrap();
            in_a_child(|| {
                unshare(CLONE_NEWTIME).unwrap();
                fs::write("/proc/self/timens_offsets", format!("boottime {DAY_S} 0")).unwrap();
                in_a_child(|| {
                    hide_proc();
                    let fault = directory.try_open().unwrap_err();
                    assert_eq!(fault.code(), Code::StateFileFailed);
                    assert!(fault.text().contains("/proc/self/ns/time: No such file"), "{fault}");
                    assert!(fault.hint().unwrap().contains("Let this process read /proc"), "{fault}");
                });
            });
            assert_eq!(ids.file().distrusted_ms, 0, "the others have learned nothing wrong");
            ids.next(&SystemClock).unwrap();
        });
    });
}

#[test]
fn a_process_with_faked_clocks_moves_the_time_of_no_other_process() {
    let directory = TestDirectory::new("faked");
    let ids = directory.open();
    ids.next(&SystemClock).unwrap();
    let ceiling_ms = || ids.file().ceiling_ms;
    let before_ms = ceiling_ms();
    in_a_child(|| {
        AHEAD_S.store(DAY_S, SeqCst);
        let faked = directory.open();
        faked.next(&SystemClock).unwrap();
        assert!(faked.file().distrusted_ms > 86_000_000, "{:?}", faked.file());
    });
    assert!(ceiling_ms() - before_ms < 600_000, "no day was reserved");
    in_a_child(|| {
        AHEAD_S.store(-DAY_S, SeqCst);
        drop(directory.try_open());
    });
    // Beyond the window, so that the clocks are observed.
    let now_ms = ceiling_ms() + 61_000;
    assert_eq!(ids.file().distrusted_ms, 0);
    ids.next(&ManualClock::new(now_ms)).map_or_else(|error| assert_eq!(error.code(), Code::ClockBackward), drop);
    in_a_child(|| {
        let healthy = directory.open();
        healthy.next(&SystemClock).unwrap();
        assert_eq!(healthy.file().distrusted_ms, 0);
    });
}
