//! Several users of one machine: who may use a state file, and what a user who may not can do to those who may.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

#[allow(dead_code, reason = "not every test that has this module uses all of it")]
mod namespaces;

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;

use frazil::{Code, Layout, SystemClock};
use frazil_local::{Fault, Local, LocalOptions};
use namespaces::{in_a_child, skip};
use nix::libc;

/// A member of the group whose own group is another.
const ALICE: u32 = 4001;
const BOB: u32 = 4002;
/// A user who is not in the group.
const EVE: u32 = 4003;
const GROUP: u32 = 4100;

fn is_root() -> bool {
    // SAFETY: the call changes nothing.
    let root = unsafe { libc::geteuid() } == 0;
    if !root {
        skip("needs root");
    }
    root
}

/// A directory that is removed at the end.
struct TestDirectory(PathBuf);

impl TestDirectory {
    /// A directory of that user and group.
    fn new(name: &str, owner: u32, mode: u32) -> Self {
        let directory = Self(std::env::temp_dir().join(format!("frazil-users-{name}-{}", std::process::id())));
        fs::create_dir(&directory.0).unwrap();
        chown(&directory.0, Some(owner), Some(GROUP)).unwrap();
        fs::set_permissions(&directory.0, Permissions::from_mode(mode)).unwrap();
        directory
    }

    fn open(&self) -> Result<Local, Fault> {
        let options = LocalOptions {
            dir: Some(self.0.clone()),
            start_wait_ms: Some(1500),
            accept_unproven_platform: true,
            ..LocalOptions::default()
        };
        Local::open(&Layout::named("default").unwrap(), options)
    }

    /// Opens the file as that user, and mints an ID.
    fn opened_by(&self, user: u32, groups: &[u32]) {
        as_user(user, groups, || {
            self.open().unwrap().next(&SystemClock).unwrap();
        });
    }

    fn file(&self) -> PathBuf {
        fs::read_dir(&self.0).unwrap().next().unwrap().unwrap().path()
    }

    /// The owner, the group and the mode of the file.
    fn rights(&self) -> (u32, u32, u32) {
        let found = fs::metadata(self.file()).unwrap();
        (found.uid(), found.gid(), found.mode() & 0o777)
    }
}

impl Drop for TestDirectory {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Runs something as a user whose own group has the same number.
fn as_user(user: u32, groups: &[u32], work: impl FnOnce()) {
    in_a_child(|| {
        // SAFETY: the list has that length, and the calls change only this process, which has one thread.
        unsafe {
            assert_eq!(libc::setgroups(groups.len(), groups.as_ptr()), 0);
            assert_eq!(libc::setgid(user), 0);
            assert_eq!(libc::setuid(user), 0);
        }
        work();
    });
}

/// Takes a read lock on all bytes of a file or directory, as anybody may who can read it.
fn lock_all(file: &File) -> bool {
    // SAFETY: zeros are a valid request: all bytes.
    let mut request: libc::flock = unsafe { std::mem::zeroed() };
    request.l_type = libc::c_short::try_from(libc::F_RDLCK).unwrap();
    // SAFETY: the descriptor is open, and the request outlives the call.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const request) == 0 }
}

// docs/internals/claims.md: 15
#[test]
fn whoever_may_make_files_in_a_directory_may_use_its_file() {
    if !is_root() {
        return;
    }
    for mode in [0o770, 0o2770] {
        let shared = TestDirectory::new(&format!("group-{mode:o}"), 0, mode);
        shared.opened_by(ALICE, &[GROUP]);
        assert_eq!(shared.rights(), (ALICE, GROUP, 0o660));
        shared.opened_by(BOB, &[GROUP]);
        assert!(shared.open().is_ok(), "root");
    }
    let owned = TestDirectory::new("owner", ALICE, 0o700);
    owned.open().unwrap().next(&SystemClock).unwrap();
    assert_eq!(owned.rights(), (ALICE, GROUP, 0o600));
    owned.opened_by(ALICE, &[]);
    let open_to_all = TestDirectory::new("all", 0, 0o1777);
    open_to_all.opened_by(EVE, &[]);
    open_to_all.opened_by(ALICE, &[EVE]);
    open_to_all.opened_by(BOB, &[GROUP]);
}

// docs/internals/claims.md: 15
#[test]
fn a_maker_who_is_not_in_the_group_of_the_directory_keeps_the_file_and_the_refusal_of_others_says_so() {
    if !is_root() {
        return;
    }
    let directory = TestDirectory::new("outside", EVE, 0o770);
    directory.opened_by(EVE, &[]);
    assert_eq!(directory.rights(), (EVE, EVE, 0o600), "its own group may have members who may not make files here");
    as_user(ALICE, &[GROUP], || {
        let fault = directory.open().unwrap_err();
        assert_eq!(fault.code(), Code::StateFileFailed);
        assert!(fault.text().contains("it belongs to user 4003 and group 4003, with mode 600"), "{fault}");
    });
}

// docs/internals/claims.md: 15
#[test]
fn a_user_who_may_not_write_the_file_cannot_lock_it() {
    if !is_root() {
        return;
    }
    let directory = TestDirectory::new("readable", ALICE, 0o755);
    directory.opened_by(ALICE, &[]);
    as_user(EVE, &[GROUP], || {
        let opened = File::open(directory.file()).map(|file| assert!(lock_all(&file)));
        assert_eq!(opened.map_err(|cause| cause.kind()), Err(io::ErrorKind::PermissionDenied));
    });
    // The mutant: a file that others may read. They can lock it, and such a lock keeps its owner out.
    fs::set_permissions(directory.file(), Permissions::from_mode(0o644)).unwrap();
    as_user(EVE, &[GROUP], || assert!(lock_all(&File::open(directory.file()).unwrap())));
    let locked = File::open(directory.file()).unwrap();
    assert!(lock_all(&locked));
    as_user(ALICE, &[], || assert_eq!(directory.open().unwrap_err().code(), Code::StateFileFailed));
}

#[test]
fn a_refusal_because_a_directory_is_locked_as_a_whole_says_who_holds_the_lock() {
    let top = std::env::temp_dir().join(format!("frazil-users-locked-{}", std::process::id()));
    let directory = TestDirectory(top.clone());
    fs::create_dir_all(top.join("ids")).unwrap();
    let inside = TestDirectory(top.join("ids"));
    // In a child, since one that another test forks meanwhile would have the file open, and so the lock, too.
    in_a_child(|| {
        let locked = File::open(&top).unwrap();
        assert!(lock_all(&locked));
        let holder = std::process::id();
        in_a_child(|| {
            drop(locked);
            let fault = inside.open().unwrap_err();
            assert_eq!(fault.code(), Code::StateConflict);
            let expected = format!("{} is locked (fcntl) by process {holder} (", top.display());
            assert!(fault.text().contains(&expected), "{fault}");
            assert!(fault.text().contains("on more bytes than a state file locks"), "{fault}");
        });
    });
    drop(directory);
}
