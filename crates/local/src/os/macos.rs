//! macOS.

use std::ffi::c_void;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nix::errno::Errno;
use nix::libc;
use nix::sys::statfs::fstatfs;
use nix::time::{ClockId, clock_gettime};

use super::boot_id::bits_of;
use super::clock::ms_of;
use super::file_system::{LOST_AT_RESTART, SHARED_BY_HOSTS, Support, UNSTABLE_INODES};
use super::found_lock::FoundLock;
use super::identity::Identity;
use crate::environment::absolute_path_in;

/// The id of this boot: 128 bits that no other boot has.
pub(crate) fn boot_id() -> io::Result<Option<[u64; 2]>> {
    let mut text = [0_u8; 64];
    let mut length = text.len();
    // SAFETY: the name ends with a zero, `length` is the length of `text`, and no new value is given.
    let status = unsafe {
        libc::sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            text.as_mut_ptr().cast::<c_void>(),
            &raw mut length,
            std::ptr::null_mut(),
            0,
        )
    };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    bits_of(&String::from_utf8_lossy(&text)).map(Some)
}

/// Milliseconds since the boot, sleep included: on macOS `CLOCK_MONOTONIC` counts both. This clock cannot be set.
pub(crate) fn since_boot_ms() -> io::Result<u64> {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    ms_of(time.tv_sec(), time.tv_nsec())
}

/// Takes or releases a lock of the open file description, as on Linux.
pub(super) fn lock_open_file(file: &File, record: &libc::flock) -> Result<(), Errno> {
    // SAFETY: the descriptor is open, and the record outlives the call.
    Errno::result(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, record) }).map(|_| ())
}

/// Finds a lock of another open file that conflicts with `record`.
pub(super) fn test_open_file(file: &File, record: &mut libc::flock) -> Result<(), Errno> {
    // SAFETY: as above.
    Errno::result(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut *record) }).map(|_| ())
}

pub(super) fn identity_of_open(file: &File) -> io::Result<Identity> {
    Ok(identity_of(&file.metadata()?))
}

pub(super) fn identity_of_path(path: &Path) -> io::Result<Identity> {
    Ok(identity_of(&std::fs::symlink_metadata(path)?))
}

/// Whether an open file still has a directory entry.
pub(crate) fn has_links(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 0)
}

fn identity_of(metadata: &Metadata) -> Identity {
    let since = metadata.created().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let created_ns = since.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0);
    Identity { device: metadata.dev(), inode: metadata.ino(), created_ns, generation: None }
}

/// Not read: every file system of macOS says when a file was made.
pub(super) const fn generation(_file: &File) -> Option<u32> {
    None
}

/// macOS does not show it.
pub(crate) const fn superblock_id(_file: &File) -> Option<u64> {
    None
}

/// Whether [`replace_memory`] can succeed.
pub(crate) const REPLACES_MEMORY: bool = false;

/// Not supported, so name locks are held until the process ends.
pub(crate) fn replace_memory(_start: *mut u8, _length: usize, _fill: impl FnOnce(*mut u8)) -> bool {
    false
}

/// As on Linux. Nothing needs it where memory cannot be replaced.
pub(crate) fn replace_by_zeros(_start: *mut u8, _length: usize) -> bool {
    false
}

/// The id of the disk that a file is on, within a boot.
pub(crate) fn disk_id(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.dev())
}

/// Does nothing: writing the file allocates it.
#[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
pub(crate) fn allocate(_file: &File, _length: u64) -> io::Result<()> {
    Ok(())
}

/// File systems by their names.
const KINDS: &[(&str, Support)] = &[
    ("apfs", Support::Supported),
    ("hfs", Support::Supported),
    ("tmpfs", Support::Unsupported(LOST_AT_RESTART)),
    ("nfs", Support::Unsupported(SHARED_BY_HOSTS)),
    ("smbfs", Support::Unsupported(SHARED_BY_HOSTS)),
    ("afpfs", Support::Unsupported(SHARED_BY_HOSTS)),
    ("webdav", Support::Unsupported(SHARED_BY_HOSTS)),
    ("msdos", Support::Unsupported(UNSTABLE_INODES)),
    ("exfat", Support::Unsupported(UNSTABLE_INODES)),
];

/// The name of the file system that holds a file or directory, and whether it can hold a state file.
pub(crate) fn file_system(file: &File) -> io::Result<(String, Support)> {
    let stat = fstatfs(file)?;
    let name = stat.filesystem_type_name();
    let known = KINDS.iter().find(|(known, _)| *known == name);
    Ok((name.to_owned(), known.map_or(Support::IfVouched, |(_, support)| *support)))
}

/// The variables that lead to the default directory, for a refusal.
pub(crate) const STATE_VARIABLES: &str = "HOME or STATE_DIRECTORY";

pub(crate) fn state_home() -> Option<PathBuf> {
    Some(absolute_path_in("HOME")?.join("Library/Application Support"))
}

/// Not known: the kernel does not list its locks.
pub(crate) const fn holders(_identity: Identity, _bytes: Range<u64>) -> Option<u64> {
    None
}

/// The process that holds a lock, for a message.
pub(crate) fn holder(_file: &File, lock: FoundLock) -> Option<String> {
    lock.process.map(|process| format!("process {process}"))
}

/// Stops using an open file, so that its locks are released unless a forked child has them. The descriptor stays valid, and refers
/// to nothing. `false` if the system has no descriptor left for that.
pub(crate) fn detach_file(file: &File) -> bool {
    let Ok(null) = File::options().read(true).write(true).open("/dev/null") else { return false };
    // SAFETY: both descriptors are open, and the second one is replaced in one step. It is inherited by a program that another
    // thread starts before the flag is set, and refers to nothing.
    unsafe {
        libc::dup2(null.as_raw_fd(), file.as_raw_fd()) >= 0 && libc::fcntl(file.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) >= 0
    }
}
