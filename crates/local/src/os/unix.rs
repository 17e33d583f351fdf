//! What Linux and macOS have in common.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

use nix::errno::Errno;
use nix::libc;

use super::found_lock::FoundLock;
use super::identity::Identity;
#[cfg(target_os = "linux")]
use super::linux::{generation, identity_of_open, identity_of_path, lock_open_file, test_open_file};
use super::lock_mode::Mode;
#[cfg(target_os = "macos")]
use super::macos::{generation, identity_of_open, identity_of_path, lock_open_file, test_open_file};

/// Opens a file. Links are not followed. A new one is open to its user alone: a user who may read it for a moment can open it, and then
/// lock its bytes.
pub(crate) fn open(path: &Path, new: bool) -> io::Result<File> {
    // Opened for reading and writing, a pipe does not block.
    OpenOptions::new().read(true).write(true).create_new(new).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(path)
}

/// Gives a file another name in its directory, beside its own. `AlreadyExists` if the name is taken. The caller removes the first
/// name.
pub(crate) fn publish(temporary: &Path, path: &Path) -> io::Result<()> {
    std::fs::hard_link(temporary, path)
}

/// Opens a directory.
pub(crate) fn open_directory(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Makes a directory that only its user may access, and the missing ones above it.
pub(crate) fn make_directories(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Flushes a directory, so that its entries are there after a crash.
pub(crate) fn flush_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Flushes a directory if it is on that device.
pub(crate) fn flush_if_on(directory: &File, device: u64) -> io::Result<()> {
    if directory.metadata()?.dev() == device { directory.sync_all() } else { Ok(()) }
}

/// Opens a new file to those who may make files in its directory, as far as this user may, and to no one else. It gets the owner and the
/// group of the directory, and each class of users may read and write it, or neither: a user who may only read a file can lock its bytes
/// (`fcntl`), and so block the others.
pub(crate) fn share_with_directory(file: &File, directory: &Path) -> io::Result<()> {
    let (made, above) = (file.metadata()?, std::fs::metadata(directory)?);
    let give = |user, group| match fchown(file, user, group) {
        Ok(()) => Ok(true),
        // Only root may give a file to another user, and only a member may give it to a group. In a container the user or group may
        // have no number.
        Err(cause) if matches!(cause.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput) => Ok(false),
        Err(cause) => Err(cause),
    };
    let is_in_group = made.gid() == above.gid() || give(None, Some(above.gid()))?;
    if made.uid() != above.uid() {
        give(Some(above.uid()), None)?;
    }
    file.set_permissions(Permissions::from_mode(mode_in(above.mode(), is_in_group)))
}

/// The mode of a file in a directory with that mode. If the file is not in the group of the directory, its group counts as others.
fn mode_in(directory: u32, is_in_group: bool) -> u32 {
    /// Writing and searching a directory allow making files in it.
    const MAKE: u32 = 0o3;
    let bits = |class: u32| if directory >> class & MAKE == MAKE { 0o6 } else { 0 };
    let others = bits(0);
    let group = if is_in_group { bits(3) } else { others };
    0o600 | group << 3 | others
}

/// Who may use a file, for a refusal; empty if that is not shown.
pub(crate) fn rights_text(path: &Path) -> String {
    std::fs::symlink_metadata(path).map_or_else(
        |_| String::new(),
        |found| {
            format!(
                " by this user (it belongs to user {} and group {}, with mode {:o})",
                found.uid(),
                found.gid(),
                found.mode() & 0o777
            )
        },
    )
}

pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(bytes, at)
}

pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

pub(crate) fn identity(file: &File) -> io::Result<Identity> {
    Ok(Identity { generation: generation(file), ..identity_of_open(file)? })
}

/// The identity of the file at a path, without its generation; `None` if there is no file.
pub(crate) fn identity_at(path: &Path) -> io::Result<Option<Identity>> {
    match identity_of_path(path) {
        Ok(identity) => Ok(Some(identity)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A request to take a lock, or to look for a conflicting one.
fn flock_request(kind: Mode, from: u64, count: u64) -> libc::flock {
    let kind = match kind {
        Mode::Shared => libc::F_RDLCK,
        Mode::Exclusive => libc::F_WRLCK,
        Mode::Unlocked => libc::F_UNLCK,
    };
    #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, reason = "below 5; the type is another on each system")]
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: i64::try_from(from).unwrap_or(i64::MAX),
        l_len: i64::try_from(count).unwrap_or(i64::MAX),
        l_pid: 0,
    }
}

/// Takes, changes or releases the lock on a byte. `false` if the lock of another open file conflicts. A change is one step.
pub(crate) fn lock(file: &File, byte: u64, mode: Mode) -> io::Result<bool> {
    match lock_open_file(file, &flock_request(mode, byte, 1)) {
        Ok(()) => Ok(true),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Takes a shared lock on a byte of a directory.
pub(crate) fn lock_directory(directory: &File, byte: u64) -> io::Result<()> {
    Ok(lock_open_file(directory, &flock_request(Mode::Shared, byte, 1))?)
}

/// Whether another open file holds a lock on any of `count` bytes of a file or directory: an exclusive one, or one of either mode.
pub(crate) fn is_locked(file: &File, from: u64, count: u64, held: Mode) -> io::Result<bool> {
    Ok(find_lock(file, from, count, held)?.is_some())
}

/// Finds such a lock.
pub(crate) fn find_lock(file: &File, from: u64, count: u64, held: Mode) -> io::Result<Option<FoundLock>> {
    // For the system a count of 0 means all bytes from there on.
    if count == 0 {
        return Ok(None);
    }
    // A shared lock conflicts with exclusive ones only.
    let conflicting = if held == Mode::Exclusive { Mode::Shared } else { Mode::Exclusive };
    let mut record = flock_request(conflicting, from, count);
    test_open_file(file, &mut record)?;
    #[allow(clippy::useless_conversion, reason = "the types are others on each system")]
    let is_free = libc::c_int::from(record.l_type) == libc::c_int::from(libc::F_UNLCK);
    let found = || {
        let [from, count] = [record.l_start, record.l_len].map(|number| u64::try_from(number).unwrap_or(0));
        // -1 for the lock of an open file; 0 for a process that this one does not see.
        FoundLock { from, count, process: u32::try_from(record.l_pid).ok() }
    };
    Ok((!is_free).then(found))
}

/// Keeps memory from being written back and dropped. `false` if the system does not allow it (`ulimit -l`).
pub(crate) fn lock_in_memory(start: *mut u8, length: usize) -> bool {
    let Some(start) = std::ptr::NonNull::new(start.cast()) else { return false };
    // SAFETY: the call accesses no memory, and fails if the range is not mapped.
    unsafe { nix::sys::mman::mlock(start, length) }.is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

    use std::os::unix::fs::PermissionsExt;

    use super::{mode_in, open};

    // docs/internals/claims.md: 15
    #[test]
    fn a_new_file_is_open_to_its_user_alone_until_it_is_shared() {
        let path = std::env::temp_dir().join(format!("frazil-new-{}", std::process::id()));
        let mode = open(&path, true).unwrap().metadata().unwrap().permissions().mode();
        std::fs::remove_file(path).unwrap();
        assert_eq!(mode & 0o777, 0o600);
    }

    // docs/internals/claims.md: 15
    #[test]
    fn a_file_is_open_to_those_who_may_make_files_beside_it_and_nobody_may_only_read_it() {
        let modes = [0o700, 0o755, 0o711, 0o775, 0o770, 0o2770, 0o1777, 0o733, 0o726, 0o500];
        assert_eq!(modes.map(|mode| mode_in(mode, true)), [0o600, 0o600, 0o600, 0o660, 0o660, 0o660, 0o666, 0o666, 0o600, 0o600]);
        // The group of the file differs from the directory's.
        assert_eq!(
            modes.map(|mode| mode_in(mode, false)),
            [0o600, 0o600, 0o600, 0o600, 0o600, 0o600, 0o666, 0o666, 0o600, 0o600]
        );
    }
}
