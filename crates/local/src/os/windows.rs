//! Windows.
//!
//! * There is no boot id, so the mapped state is used only while another process is attached. After the last process has crashed,
//!   the next one begins at the ceiling.
//! * A directory cannot be locked, so a start always waits.
//! * After a crash the system releases locks with a delay.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::{ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, ERROR_NOT_LOCKED, HANDLE};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_REMOTE_PROTOCOL_INFO,
    FileRemoteProtocolInfo, GetFileInformationByHandle, GetFileInformationByHandleEx, GetVolumeInformationByHandleW,
    LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, UnlockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::SystemInformation::GetTickCount64;

use super::file_system::{SHARED_BY_HOSTS, Support, UNSTABLE_INODES};
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

/// Opens a file. Links are not followed.
pub(crate) fn open(path: &Path, new: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(new).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)
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

/// Windows does not show the locks of others.
pub(crate) fn is_locked(_file: &File, _from: u64, _count: u64) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Windows does not show it.
pub(crate) const fn superblock_id(_file: &File) -> Option<u64> {
    None
}

/// Not supported, so name locks are held until the process ends.
pub(crate) fn replace_memory(_start: *mut u8, _length: usize, _fill: impl FnOnce(*mut u8)) -> bool {
    false
}

/// The id of the disk that a file is on, within a boot.
pub(crate) fn disk_id(file: &File) -> io::Result<u64> {
    identity(file).map(|identity| identity.device)
}

/// Not done: Windows is only compiled, not run.
pub(crate) const fn lock_in_memory(_start: *mut u8, _length: usize) -> bool {
    true
}

/// Not done: the locks are released when the generator is closed.
pub(crate) const fn detach_file(_file: &File) -> bool {
    false
}

/// Does nothing: a file inherits the permissions of its directory.
#[expect(clippy::unnecessary_wraps, reason = "as elsewhere")]
pub(crate) const fn copy_permissions(_file: &File, _directory: &Path) -> io::Result<()> {
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
    let wide = |high: u32, low: u32| (u64::from(high) << 32) | u64::from(low);
    let created = information.ftCreationTime;
    Ok(Identity {
        device: u64::from(information.dwVolumeSerialNumber),
        inode: wide(information.nFileIndexHigh, information.nFileIndexLow),
        // In steps of 100 ns since 1601. It is only compared.
        created_ns: wide(created.dwHighDateTime, created.dwLowDateTime),
        generation: None,
    })
}

/// An open file keeps its name.
#[expect(clippy::unnecessary_wraps, reason = "as elsewhere")]
pub(crate) const fn has_links(_file: &File) -> io::Result<bool> {
    Ok(true)
}

/// The identity of the file at a path; `None` if there is no file.
pub(crate) fn identity_at(path: &Path) -> io::Result<Option<Identity>> {
    match OpenOptions::new().read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path) {
        Ok(file) => identity(&file).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Takes, changes or releases the lock on a byte. `false` if the lock of another open file conflicts; then no lock is held. A
/// change is two steps, so it is done only while no other process attaches or leaves.
pub(crate) fn lock(file: &File, byte: u64, mode: Mode) -> io::Result<bool> {
    let mut offset = OVERLAPPED::default();
    #[expect(clippy::cast_possible_truncation, reason = "its two halves")]
    {
        offset.Anonymous.Anonymous.Offset = byte as u32;
        offset.Anonymous.Anonymous.OffsetHigh = (byte >> 32) as u32;
    }
    // SAFETY: the handle is open, and the structure outlives the call, which does not wait.
    if unsafe { UnlockFileEx(handle(file), 0, 1, 0, &raw mut offset) } == 0 {
        let error = io::Error::last_os_error();
        if !is(&error, ERROR_NOT_LOCKED) {
            return Err(error);
        }
    }
    let flags = match mode {
        Mode::Unlocked => return Ok(true),
        Mode::Shared => LOCKFILE_FAIL_IMMEDIATELY,
        Mode::Exclusive => LOCKFILE_FAIL_IMMEDIATELY | LOCKFILE_EXCLUSIVE_LOCK,
    };
    // SAFETY: as above.
    if unsafe { LockFileEx(handle(file), flags, 0, 1, 0, &raw mut offset) } != 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    if is(&error, ERROR_LOCK_VIOLATION) || is(&error, ERROR_IO_PENDING) { Ok(false) } else { Err(error) }
}

fn is(error: &io::Error, code: u32) -> bool {
    error.raw_os_error().and_then(|raw| u32::try_from(raw).ok()) == Some(code)
}

/// The name of the file system that holds a file, and whether it can hold a state file.
pub(crate) fn file_system(file: &File) -> io::Result<(String, Support)> {
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
    let name = String::from_utf16_lossy(&name[..length]).to_lowercase();
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

pub(crate) fn state_home() -> Option<PathBuf> {
    absolute_path_in("LOCALAPPDATA")
}

/// Not known: the system does not list its locks.
pub(crate) const fn holders(_identity: Identity, _byte: u64) -> Option<u64> {
    None
}
