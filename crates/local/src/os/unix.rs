//! What Linux and macOS have in common.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::SystemTime;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::libc;
use nix::time::{ClockId, clock_gettime};

use super::{Identity, Mode};

/// Whether directories can be locked.
pub(crate) const LOCKS_DIRECTORIES: bool = true;
/// A lock on a directory, for as long as it is not dropped.
pub(crate) type DirectoryLock = Flock<File>;

/// Opens a file, but nothing that a link leads to.
pub(crate) fn open(path: &Path, new: bool) -> io::Result<File> {
    // A pipe would have its opener wait, but for the writing.
    OpenOptions::new().read(true).write(true).create_new(new).custom_flags(libc::O_NOFOLLOW).open(path)
}

/// Opens a directory.
pub(crate) fn open_directory(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Makes a directory for its user alone, and those above it.
pub(crate) fn make_directories(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes what was made in a directory last.
pub(crate) fn flush_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes what was made in a directory last, where it is on a device.
pub(crate) fn flush_on(directory: &DirectoryLock, device: u64) -> io::Result<()> {
    if directory.metadata()?.dev() == device { directory.sync_all() } else { Ok(()) }
}

/// Lets those use a file who may make files in its directory.
pub(crate) fn share(file: &File, directory: &Path) -> io::Result<()> {
    let mode = std::fs::metadata(directory)?.permissions().mode() & 0o666;
    file.set_permissions(Permissions::from_mode(mode))
}

pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(bytes, at)
}

pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

pub(crate) fn identity(file: &File) -> io::Result<Identity> {
    file.metadata().map(|metadata| of(&metadata))
}

/// Of the file that a path leads to; `None` where there is none.
pub(crate) fn identity_at(path: &Path) -> io::Result<Option<Identity>> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(of(&metadata))),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

fn of(metadata: &Metadata) -> Identity {
    let since = metadata.created().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let created_ns = since.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0);
    Identity { device: metadata.dev(), inode: metadata.ino(), created_ns }
}

/// A lock on a directory, unless another is in the way.
pub(crate) fn lock_directory(path: &Path, mode: Mode) -> io::Result<Option<DirectoryLock>> {
    let how = match mode {
        Mode::Exclusive => FlockArg::LockExclusiveNonblock,
        _ => FlockArg::LockSharedNonblock,
    };
    match Flock::lock(File::open(path)?, how) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, errno)) => Err(errno.into()),
    }
}

/// Takes, changes or frees the lock on a byte, unless another open file is in the way: then `false`. Changing is one step.
pub(crate) fn lock(file: &File, byte: u64, mode: Mode) -> io::Result<bool> {
    let kind = match mode {
        Mode::Shared => libc::F_RDLCK,
        Mode::Exclusive => libc::F_WRLCK,
        Mode::Free => libc::F_UNLCK,
    };
    #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast, reason = "below 5; the type is another on each system")]
    let record = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: i64::try_from(byte).unwrap_or(i64::MAX),
        l_len: 1,
        l_pid: 0,
    };
    match super::lock_open_file(file, &record) {
        Ok(()) => Ok(true),
        Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Milliseconds on a clock that nobody sets.
pub(super) fn clock_ms(clock: ClockId) -> io::Result<u64> {
    let time = clock_gettime(clock)?;
    match (u64::try_from(time.tv_sec()), u64::try_from(time.tv_nsec())) {
        (Ok(seconds), Ok(nanos)) => Ok(seconds * 1000 + nanos / 1_000_000),
        _ => Err(io::Error::other("the clock since the boot is negative")),
    }
}
