//! Processes that may make namespaces.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use nix::libc;

/// The status of a process that may not make a namespace.
const SKIPPED: libc::c_int = 77;

/// Makes a namespace for this process, or for its children.
pub(crate) fn unshare(namespace: libc::c_int) -> io::Result<()> {
    // SAFETY: the call changes only this process.
    if unsafe { libc::unshare(namespace) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives this process the right to make such a namespace: without root, by a namespace of users. Returns whether it has that right.
fn gain_right(namespace: libc::c_int) -> bool {
    let has_right = || status_of(|| i32::from(unshare(namespace).is_err())) == 0;
    // SAFETY: the calls change nothing.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let map = |file, id| fs::write(format!("/proc/self/{file}"), format!("0 {id} 1"));
    let become_root = || {
        unshare(libc::CLONE_NEWUSER)?;
        fs::write("/proc/self/setgroups", "deny")?;
        map("uid_map", user)?;
        map("gid_map", group)
    };
    has_right() || become_root().is_ok() && has_right()
}

/// Runs something in a process with one thread, and returns its status.
fn status_of(work: impl FnOnce() -> libc::c_int) -> libc::c_int {
    // SAFETY: the child has one thread, which works and ends. glibc leaves it a usable heap.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", io::Error::last_os_error());
    if child == 0 {
        let status = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            // What the hook has printed is captured, and ends with this process.
            let reason = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            let _ = io::stderr().write_all(format!("{}\n", reason.unwrap_or("a panic")).as_bytes());
            1
        });
        // SAFETY: it ends the child without running what the parent registered for its own end.
        unsafe { libc::_exit(status) };
    }
    let mut status = 0;
    // SAFETY: the process is a child of this one, and there is room for the status.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status), "{status}");
    libc::WEXITSTATUS(status)
}

/// Runs something in a process with one thread.
#[allow(dead_code, reason = "not every test that has this module uses it")]
pub(crate) fn in_a_child(work: impl FnOnce()) {
    let status = status_of(|| {
        work();
        0
    });
    assert_eq!(status, 0, "the child failed");
}

/// The same, with the right to make such a namespace. If the system refuses it, the test is skipped, which fails in CI.
pub(crate) fn in_a_child_with_right_to(namespace: libc::c_int, work: impl FnOnce()) {
    let status = status_of(|| {
        if !gain_right(namespace) {
            return SKIPPED;
        }
        work();
        0
    });
    if status == SKIPPED {
        skip("needs root, or unshare --map-root-user");
        return;
    }
    assert_eq!(status, 0, "the child failed");
}

/// Reports that a test was skipped, which fails in CI.
pub(crate) fn skip(reason: &str) {
    // Not captured, as what `eprintln!` prints would be.
    io::stderr().write_all(format!("skipped: {reason}\n").as_bytes()).unwrap();
    // For the runner of suites, as its reporter of tests in JavaScript writes it.
    if let Some(path) = std::env::var_os("FRAZIL_TEST_REPORT") {
        let mut report = OpenOptions::new().create(true).append(true).open(path).unwrap();
        // In one piece: other tests write at the same time.
        report.write_all(format!("{{\"test\":\"a namespace\",\"skipped\":\"{reason}\"}}\n").as_bytes()).unwrap();
    }
}
