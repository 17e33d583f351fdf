//! Windows.
//!
//! * **A file that is open keeps its name**: it is opened without `FILE_SHARE_DELETE`, so no one can delete, rename or replace it, nor
//!   rename a directory above it. A drive letter or a junction can still be switched.
//! * **Locks** belong to the open file, as on Linux. They are mandatory: no one else can read or write a locked byte. The bytes that are
//!   locked lie beyond the end of the file. A lock cannot be asked for without trying to take it, and changing one takes two steps. After a
//!   crash the system releases locks with a delay; until then the file counts as in use, and its mapping is current, because the boot is
//!   the same.
//! * **There is no boot id**, so the mapped state is used only while another process is attached. After the last process has
//!   crashed, the next one begins at the ceiling. `GetTickCount64` is no substitute: fast startup and hibernation continue it.
//! * **A directory cannot be locked**, so a start while no process is attached waits.
//! * **The time at which a file was made does not tell it from another**: NTFS gives a file that takes a name within 15 s after
//!   another file lost it the time of the other one (tunnelling). The number of a file in NTFS has a generation in it instead.
//! * **Flushing** a file (`FlushFileBuffers`) also makes durable what NTFS has logged before, so also the file's name.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
use std::path::{Component, Path, PathBuf, Prefix};
use std::thread::sleep;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, ERROR_NOT_LOCKED, ERROR_SHARING_VIOLATION, HANDLE,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_ATTRIBUTES,
    FILE_REMOTE_PROTOCOL_INFO, FILE_SHARE_READ, FILE_SHARE_WRITE, FileRemoteProtocolInfo, GetFileInformationByHandle,
    GetFileInformationByHandleEx, GetVolumeInformationByHandleW, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
    MOVEFILE_WRITE_THROUGH, MoveFileExW, UnlockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::Memory::VirtualLock;
use windows_sys::Win32::System::SystemInformation::GetTickCount64;

use super::file_system::{SHARED_BY_HOSTS, Support, UNSTABLE_INODES};
use super::found_lock::FoundLock;
use super::identity::Identity;
use super::lock_mode::Mode;
use crate::environment::absolute_path_in;

/// Not known.
#[expect(clippy::unnecessary_wraps, reason = "as elsewhere")]
pub(crate) const fn boot_id() -> io::Result<Option<[u64; 2]>> {
    Ok(None)
}

/// Milliseconds since the boot, sleep included. This clock cannot be set.
#[expect(clippy::unnecessary_wraps, reason = "as elsewhere")]
pub(crate) fn since_boot_ms() -> io::Result<u64> {
    // SAFETY: the call has no parameters and cannot fail.
    Ok(unsafe { GetTickCount64() })
}

fn handle(file: &File) -> HANDLE {
    file.as_raw_handle().cast()
}

/// How long to try again while another program has a file open that does not share it: a virus scanner or an indexer looks at
/// each file that is made.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tries again while an attempt fails with one of these codes, for [`PATIENCE`].
fn retrying<T>(codes: &[u32], mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(error) if codes.iter().any(|code| is(&error, *code)) && started.elapsed() < PATIENCE => {
                sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

/// Opens a file, so that it keeps its name while it is open. Links are not followed.
pub(crate) fn open(path: &Path, new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(new);
    options.share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    retrying(&[ERROR_SHARING_VIOLATION], || options.open(path))
}

/// Gives a file, which is not open, another name in its directory. `AlreadyExists` if the name is taken. A link and the removal of the
/// first name would not do: if another process has opened the file by then, none of its names can be removed.
pub(crate) fn publish(temporary: &Path, path: &Path) -> io::Result<()> {
    let [from, to] = [temporary, path].map(wide);
    retrying(&[ERROR_SHARING_VIOLATION, ERROR_ACCESS_DENIED], || {
        // SAFETY: both texts end with a zero and outlive the call.
        match unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), MOVEFILE_WRITE_THROUGH) } {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    })
}

/// An absolute path as the system takes it without a limit of its length.
fn wide(path: &Path) -> Vec<u16> {
    let text: Vec<u16> = path.as_os_str().encode_wide().collect();
    let prefix = match path.components().next() {
        Some(Component::Prefix(prefix)) => Some(prefix.kind()),
        _ => None,
    };
    // The rest after the prefix has backslashes and no dots: `std::path::absolute` made it.
    let (verbatim, skipped) = match prefix {
        Some(Prefix::Disk(_)) => (r"\\?\", 0),
        Some(Prefix::UNC(..)) => (r"\\?\UNC\", 2),
        _ => ("", 0),
    };
    verbatim.encode_utf16().chain(text[skipped..].iter().copied()).chain([0]).collect()
}

/// Opens a directory.
pub(crate) fn open_directory(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// Makes a directory and the missing ones above it. They inherit permissions.
pub(crate) fn make_directories(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Does nothing: a directory cannot be flushed, and NTFS keeps a journal.
#[expect(clippy::unnecessary_wraps, reason = "as elsewhere")]
pub(crate) const fn flush_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Does nothing, as above.
#[expect(clippy::unnecessary_wraps, reason = "as elsewhere")]
pub(crate) const fn flush_if_on(_directory: &File, _device: u64) -> io::Result<()> {
    Ok(())
}

/// A directory cannot be locked.
pub(crate) fn lock_directory(_directory: &File, _byte: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether another open file holds an exclusive lock on any of `count` bytes. Windows shows that only by an attempt to take the lock, so
/// the caller ensures that no one else tries meanwhile; `file` itself must hold none of them.
pub(crate) fn is_locked(file: &File, from: u64, count: u64, held: Mode) -> io::Result<bool> {
    if held != Mode::Exclusive {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let free = lock_bytes(file, from, count, Mode::Shared)?;
    lock_bytes(file, from, count, Mode::Unlocked)?;
    Ok(!free)
}

/// A directory cannot be locked, and of a file Windows shows only whether it is.
#[expect(clippy::unnecessary_wraps, reason = "as elsewhere")]
pub(crate) const fn find_lock(_file: &File, _from: u64, _count: u64, _held: Mode) -> io::Result<Option<FoundLock>> {
    Ok(None)
}

/// Not looked for: there is no lock of a directory.
pub(crate) const fn holder(_file: &File, _lock: FoundLock) -> Option<String> {
    None
}

/// Not shown.
pub(crate) const fn rights_text(_path: &Path) -> String {
    String::new()
}

/// Windows does not show it.
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
    identity(file).map(|identity| identity.device)
}

/// Keeps memory from being written back and dropped. `false` if the system does not allow it (the working set of the process).
pub(crate) fn lock_in_memory(start: *mut u8, length: usize) -> bool {
    // SAFETY: the call accesses no memory, and fails if the range is not mapped.
    unsafe { VirtualLock(start.cast_const().cast(), length) != 0 }
}

/// Not done: the locks are released when the generator is closed.
pub(crate) const fn detach_file(_file: &File) -> bool {
    false
}

/// Does nothing: a file inherits the permissions of its directory.
#[expect(clippy::unnecessary_wraps, reason = "as elsewhere")]
pub(crate) const fn share_with_directory(_file: &File, _directory: &Path) -> io::Result<()> {
    Ok(())
}

/// Does nothing: writing the file allocates it.
#[expect(clippy::unnecessary_wraps, reason = "as elsewhere")]
pub(crate) const fn allocate(_file: &File, _length: u64) -> io::Result<()> {
    Ok(())
}

pub(crate) fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = file.seek_read(bytes, at)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[count..];
        at += count as u64;
    }
    Ok(())
}

pub(crate) fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = file.seek_write(bytes, at)?;
        bytes = &bytes[count..];
        at += count as u64;
    }
    Ok(())
}

pub(crate) fn identity(file: &File) -> io::Result<Identity> {
    let mut information = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the structure has the size that the call writes.
    if unsafe { GetFileInformationByHandle(handle(file), &raw mut information) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // On NTFS the upper 16 bits are a sequence number that changes when the number below is used again.
    let inode = (u64::from(information.nFileIndexHigh) << 32) | u64::from(information.nFileIndexLow);
    let generation = (name_of_file_system(file)? == "ntfs").then_some(information.nFileIndexHigh >> 16);
    Ok(Identity { device: u64::from(information.dwVolumeSerialNumber), inode, created_ns: 0, generation })
}

/// An open file keeps its name, because it is not shared for deletion.
#[expect(clippy::unnecessary_wraps, reason = "as elsewhere")]
pub(crate) const fn has_links(_file: &File) -> io::Result<bool> {
    Ok(true)
}

/// The identity of the file at a path, without its generation; `None` if there is no file.
pub(crate) fn identity_at(path: &Path) -> io::Result<Option<Identity>> {
    // To read attributes is allowed however others share the file, and keeps them from nothing. A directory needs the backup flag.
    let flags = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
    match OpenOptions::new().access_mode(FILE_READ_ATTRIBUTES).custom_flags(flags).open(path) {
        Ok(file) => Ok(Some(Identity { generation: None, ..identity(&file)? })),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Takes, changes or releases the lock on a byte. `false` if the lock of another open file conflicts; then no lock is held. A
/// change is two steps, so it is done only while no other process attaches or leaves.
pub(crate) fn lock(file: &File, byte: u64, mode: Mode) -> io::Result<bool> {
    lock_bytes(file, byte, 1, mode)
}

/// The same for several bytes.
fn lock_bytes(file: &File, byte: u64, count: u64, mode: Mode) -> io::Result<bool> {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let mut offset = OVERLAPPED::default();
    #[expect(clippy::cast_possible_truncation, reason = "its two halves")]
    {
        offset.Anonymous.Anonymous.Offset = byte as u32;
        offset.Anonymous.Anonymous.OffsetHigh = (byte >> 32) as u32;
    }
    // SAFETY: the handle is open, and the structure outlives the call, which does not wait.
    if unsafe { UnlockFileEx(handle(file), 0, count, 0, &raw mut offset) } == 0 {
        let error = io::Error::last_os_error();
        // Windows says that it was not locked; wine, that the lock conflicts.
        if !is(&error, ERROR_NOT_LOCKED) && !is(&error, ERROR_LOCK_VIOLATION) {
            return Err(error);
        }
    }
    let flags = match mode {
        Mode::Unlocked => return Ok(true),
        Mode::Shared => LOCKFILE_FAIL_IMMEDIATELY,
        Mode::Exclusive => LOCKFILE_FAIL_IMMEDIATELY | LOCKFILE_EXCLUSIVE_LOCK,
    };
    // SAFETY: as above.
    if unsafe { LockFileEx(handle(file), flags, 0, count, 0, &raw mut offset) } != 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    if is(&error, ERROR_LOCK_VIOLATION) || is(&error, ERROR_IO_PENDING) { Ok(false) } else { Err(error) }
}

fn is(error: &io::Error, code: u32) -> bool {
    error.raw_os_error().and_then(|raw| u32::try_from(raw).ok()) == Some(code)
}

/// The name of the file system that holds a file, in small letters.
fn name_of_file_system(file: &File) -> io::Result<String> {
    let mut name = [0_u16; 64];
    let null = std::ptr::null_mut();
    // SAFETY: the handle is open, the length is that of `name`, and null pointers are not written to.
    let status = unsafe {
        GetVolumeInformationByHandleW(handle(file), null, 0, null.cast(), null.cast(), null.cast(), name.as_mut_ptr(), 64)
    };
    if status == 0 {
        return Err(io::Error::last_os_error());
    }
    let length = name.iter().position(|unit| *unit == 0).unwrap_or(name.len());
    Ok(String::from_utf16_lossy(&name[..length]).to_lowercase())
}

/// The name of the file system that holds a file, and whether it can hold a state file.
pub(crate) fn file_system(file: &File) -> io::Result<(String, Support)> {
    let name = name_of_file_system(file)?;
    let mut remote = FILE_REMOTE_PROTOCOL_INFO::default();
    let size = u32::try_from(size_of::<FILE_REMOTE_PROTOCOL_INFO>()).unwrap_or(0);
    // SAFETY: the handle is open, and the structure has the size that is given.
    let is_remote =
        unsafe { GetFileInformationByHandleEx(handle(file), FileRemoteProtocolInfo, (&raw mut remote).cast(), size) } != 0;
    let support = match name.as_str() {
        _ if is_remote => Support::Unsupported(SHARED_BY_HOSTS),
        "ntfs" | "refs" => Support::Supported,
        "fat" | "fat32" | "exfat" => Support::Unsupported(UNSTABLE_INODES),
        _ => Support::IfVouched,
    };
    Ok((name, support))
}

/// The variables that lead to the default directory, for a refusal.
pub(crate) const STATE_VARIABLES: &str = "LOCALAPPDATA or STATE_DIRECTORY";

pub(crate) fn state_home() -> Option<PathBuf> {
    absolute_path_in("LOCALAPPDATA")
}

/// Not known: the system does not list its locks.
pub(crate) const fn holders(_identity: Identity, _bytes: Range<u64>) -> Option<u64> {
    None
}
