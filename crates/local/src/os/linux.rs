//! Linux.

use std::ffi::{CStr, CString};
use std::fmt::Write as _;
use std::fs::{File, read_link, read_to_string};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::linux::fs::MetadataExt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl, posix_fallocate};
use nix::libc;
use nix::sys::mman::{MRemapFlags, MapFlags, ProtFlags, mmap_anonymous, mprotect, mremap, munmap};
use nix::sys::stat::{FileStat, fstat, lstat};
use nix::sys::statfs::{Statfs, fstatfs};

use super::boot_id::bits_of;
use super::clock::ms_of;
use super::file_system::{CONTAINER_LAYER, LOST_AT_RESTART, SHARED_BY_HOSTS, Support, UNSTABLE_INODES};
use super::found_lock::FoundLock;
use super::identity::Identity;
use crate::environment::{absolute_path_in, path_in};
use crate::{fault, process};

/// The id of this boot: 128 bits that no other boot has.
pub(crate) fn boot_id() -> io::Result<Option<[u64; 2]>> {
    let path = "/proc/sys/kernel/random/boot_id";
    let text = read_to_string(path).map_err(|cause| fault::at(format!("the kernel's boot id, {path}"), cause))?;
    bits_of(&text).map(Some)
}

/// The number of the call that reads a clock with 64-bit numbers.
#[cfg(target_pointer_width = "64")]
const CLOCK_GETTIME: libc::c_long = libc::SYS_clock_gettime;
#[cfg(target_pointer_width = "32")]
const CLOCK_GETTIME: libc::c_long = libc::SYS_clock_gettime64;

/// Milliseconds since the boot, suspension included. This clock cannot be set.
///
/// It is asked of the kernel and not of the C library, whose clocks a library can replace in one process (libfaketime): the reading is
/// compared with those of other processes.
pub(crate) fn since_boot_ms() -> io::Result<u64> {
    let mut time = [0_i64; 2];
    // SAFETY: the kernel writes two 64-bit numbers, for which there is room.
    let status = unsafe { libc::syscall(CLOCK_GETTIME, libc::CLOCK_BOOTTIME, time.as_mut_ptr()) };
    Errno::result(status)?;
    let [seconds, nanos] = time;
    Ok(ms_of(seconds, nanos)?.wrapping_add_signed(-time_namespace_offset_ms()?))
}

/// How far that clock is ahead in the time namespace of this process (a container can have one). It is subtracted from what is
/// shared with processes outside. 0 if the kernel has no time namespaces.
fn time_namespace_offset_ms() -> io::Result<i64> {
    // The offset, and the process that read it: a forked child can be in another namespace.
    static OFFSET_MS: AtomicI64 = AtomicI64::new(0);
    static READ_BY: AtomicU64 = AtomicU64::new(0);
    let process = process::unique_id();
    if READ_BY.load(Ordering::Acquire) == process {
        return Ok(OFFSET_MS.load(Ordering::Relaxed));
    }
    let offset_ms = read_time_namespace_offset_ms()?;
    OFFSET_MS.store(offset_ms, Ordering::Relaxed);
    READ_BY.store(process, Ordering::Release);
    Ok(offset_ms)
}

/// Reads that offset. If it cannot be read, the clock is of no use: an offset that is left out moves the time of all processes that
/// share the file.
fn read_time_namespace_offset_ms() -> io::Result<i64> {
    /// The first time namespace (`PROC_TIME_INIT_INO`), which has no offsets.
    const FIRST: &str = "time:[4026531834]";
    const OFFSETS: &str = "/proc/self/timens_offsets";
    let unknown = |path: &str, cause| fault::at(format!("the offset of this time namespace, {path}"), cause);
    let space = |path: &str| read_link(path).map_err(|cause| (cause.kind(), unknown(path, cause)));
    let own = match space("/proc/self/ns/time") {
        Ok(own) if own == Path::new(FIRST) => return Ok(0),
        Ok(own) => own,
        // The kernel (before 5.6) has other namespaces, and none of time.
        Err((io::ErrorKind::NotFound, _)) if Path::new("/proc/self/ns").is_dir() => return Ok(0),
        Err((_, cause)) => return Err(cause),
    };
    // The kernel shows the offsets of the namespace for children. After `unshare` that is not the namespace of this process.
    if own != space("/proc/self/ns/time_for_children").map_err(|(_, cause)| cause)? {
        return Err(io::Error::other(
            "this process left its time namespace to its children (unshare), so its offset is not shown",
        ));
    }
    let offsets = read_to_string(OFFSETS).map_err(|cause| unknown(OFFSETS, cause))?;
    boot_offset_ms(&offsets)
        .ok_or_else(|| unknown(OFFSETS, io::Error::other(format!("it has no offset of the clock since the boot: {offsets:?}"))))
}

/// The offset of the clock since the boot in such a text, which has the line `boottime SECONDS NANOSECONDS`.
fn boot_offset_ms(offsets: &str) -> Option<i64> {
    let mut words = offsets.lines().find_map(|line| line.strip_prefix("boottime"))?.split_whitespace();
    let mut number = || words.next()?.parse::<i64>().ok();
    number()?.checked_mul(1000)?.checked_add(number()? / 1_000_000)
}

/// Takes or releases a lock of the open file description. It needs no process ids, and is released with the last descriptor of
/// the open file, not with another descriptor of the file.
pub(super) fn lock_open_file(file: &File, record: &libc::flock) -> Result<(), Errno> {
    fcntl(file, FcntlArg::F_OFD_SETLK(record)).map(|_| ())
}

/// Whether [`replace_memory`] can succeed.
pub(crate) const REPLACES_MEMORY: bool = true;

/// Replaces a mapping by private memory of this process, in one step, after `fill` has filled that memory.
pub(crate) fn replace_memory(start: *mut u8, length: usize, fill: impl FnOnce(*mut u8)) -> bool {
    let (Some(start), Some(size)) = (std::ptr::NonNull::new(start.cast()), std::num::NonZeroUsize::new(length)) else {
        return false;
    };
    // SAFETY: a new mapping at an address that the kernel chooses.
    let copy = unsafe { mmap_anonymous(None, size, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_PRIVATE) };
    let Ok(copy) = copy else { return false };
    fill(copy.as_ptr().cast());
    // SAFETY: the old mapping has this length and belongs to the caller, who keeps it mapped. The kernel moves the copy there
    // under the lock that page faults take, so each access finds one or the other.
    let moved = unsafe { mremap(copy, length, length, MRemapFlags::MREMAP_MAYMOVE | MRemapFlags::MREMAP_FIXED, Some(start)) };
    if moved.is_err() {
        // SAFETY: the copy is where it was made, and no other code has a pointer to it.
        let _: Result<(), Errno> = unsafe { munmap(copy, length) };
    }
    moved.is_ok()
}

/// Replaces a mapping, in one step, by zeros of this process. It needs no memory: none counts before it is written. `false` if they cannot
/// be written, or if the mapping is as it was.
pub(crate) fn replace_by_zeros(start: *mut u8, length: usize) -> bool {
    let (Some(start), Some(size)) = (std::ptr::NonNull::new(start.cast()), std::num::NonZeroUsize::new(length)) else {
        return false;
    };
    // Not writable at first. Where the kernel counts what can be written (`vm.overcommit_memory=2`), it could remove the mapping, find no
    // memory, and leave a hole.
    // SAFETY: the mapping has this length and belongs to the caller, who keeps what is there mapped and has no reference to it.
    let zeros =
        unsafe { mmap_anonymous(Some(start.addr()), size, ProtFlags::PROT_READ, MapFlags::MAP_PRIVATE | MapFlags::MAP_FIXED) };
    // SAFETY: the zeros are there, and are the caller's.
    zeros.is_ok() && unsafe { mprotect(start, length, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE) }.is_ok()
}

/// Finds a lock of another open file that conflicts with `record`.
pub(super) fn test_open_file(file: &File, record: &mut libc::flock) -> Result<(), Errno> {
    fcntl(file, FcntlArg::F_OFD_GETLK(record)).map(|_| ())
}

/// The identity of an open file, without its generation.
pub(super) fn identity_of_open(file: &File) -> io::Result<Identity> {
    identity_by_statx(file.as_raw_fd(), c"", libc::AT_EMPTY_PATH).unwrap_or_else(|| Ok(identity_of(&fstat(file)?)))
}

/// The identity of the file at a path, without its generation. A link at its end is not followed.
pub(super) fn identity_of_path(path: &Path) -> io::Result<Identity> {
    let text = CString::new(path.as_os_str().as_bytes())?;
    identity_by_statx(libc::AT_FDCWD, &text, libc::AT_SYMLINK_NOFOLLOW).unwrap_or_else(|| Ok(identity_of(&lstat(path)?)))
}

/// What `statx` says, which also knows when a file was made. `None` if the kernel (before 4.11) or a container forbids the call.
/// It is called by its number: the standard library asks for that time with glibc only, and then processes with glibc and with
/// musl would not agree on the identity of the file that they share.
fn identity_by_statx(descriptor: libc::c_int, path: &CStr, flags: libc::c_int) -> Option<io::Result<Identity>> {
    let mut stat = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let mask = libc::STATX_INO | libc::STATX_BTIME;
    // SAFETY: the path ends with a zero, and there is room for what the kernel writes.
    let status = unsafe { libc::syscall(libc::SYS_statx, descriptor, path.as_ptr(), flags, mask, stat.as_mut_ptr()) };
    if let Err(errno) = Errno::result(status) {
        return if matches!(errno, Errno::ENOSYS | Errno::EPERM) { None } else { Some(Err(errno.into())) };
    }
    // SAFETY: the kernel has filled it, and zeros are valid too.
    let stat = unsafe { stat.assume_init() };
    let nanos = |time: &libc::statx_timestamp| {
        Some(u64::try_from(time.tv_sec).ok()?.checked_mul(1_000_000_000)? + u64::from(time.tv_nsec))
    };
    let is_known = stat.stx_mask & libc::STATX_BTIME != 0;
    Some(Ok(Identity {
        device: libc::makedev(stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
        created_ns: nanos(&stat.stx_btime).filter(|_| is_known).unwrap_or(0),
        generation: None,
    }))
}

/// What `stat` says. It is not asked for by the standard library, which keeps to `statx` once that worked: a sandbox can forbid it later.
#[allow(clippy::useless_conversion, reason = "the types are others on each architecture")]
fn identity_of(stat: &FileStat) -> Identity {
    Identity { device: stat.st_dev.into(), inode: stat.st_ino.into(), created_ns: 0, generation: None }
}

/// Whether an open file still has a directory entry.
pub(crate) fn has_links(file: &File) -> io::Result<bool> {
    Ok(fstat(file)?.st_nlink > 0)
}

nix::ioctl_read!(
    /// The generation of a file's inode number (`FS_IOC_GETVERSION`).
    inode_generation, b'v', 1, libc::c_long
);

/// What btrfs reports about itself: two numbers, its id, and more.
type BtrfsInformation = [u64; 128];

nix::ioctl_read!(
    /// The id of a btrfs (`BTRFS_IOC_FS_INFO`).
    btrfs_information, 0x94, 31, BtrfsInformation
);

/// The generation of a file's inode number; `None` if the file system does not say.
pub(super) fn generation(file: &File) -> Option<u32> {
    let mut generation = 0;
    // SAFETY: the descriptor is open, and the kernel writes an `int`, for which there is room.
    unsafe { inode_generation(file.as_raw_fd(), &raw mut generation) }.ok()?;
    // On a big-endian machine the `int` is the upper half.
    Some(u32::try_from(generation & 0xffff_ffff).unwrap_or(0) ^ u32::try_from((generation >> 32) & 0xffff_ffff).unwrap_or(0))
}

/// The id of the mounted file system (its superblock) that a file is on. It stays the same while the file system is mounted
/// anywhere, and no later mount in this boot has it. It is the inode number of the directory that the kernel makes in `/sys/fs`
/// for a mounted file system. `None` if there is no such directory.
pub(crate) fn superblock_id(file: &File) -> Option<u64> {
    let directory = match magic(&fstatfs(file).ok()?) {
        EXT4 => format!("ext4/{}", device_name(file)?),
        XFS => format!("xfs/{}", device_name(file)?),
        F2FS => format!("f2fs/{}", device_name(file)?),
        BTRFS => format!("btrfs/{}", btrfs_id(file)?),
        _ => return None,
    };
    let metadata = std::fs::metadata(Path::new("/sys/fs").join(directory)).ok()?;
    Some(metadata.st_ino())
}

/// The kernel's name for the block device that holds a file.
fn device_name(file: &File) -> Option<String> {
    let device = file.metadata().ok()?.st_dev();
    let (major, minor) = (nix::sys::stat::major(device), nix::sys::stat::minor(device));
    let device = read_link(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    Some(device.file_name()?.to_str()?.to_owned())
}

/// The id of a btrfs, in the form that `/sys/fs/btrfs` uses.
fn btrfs_id(file: &File) -> Option<String> {
    let mut information: BtrfsInformation = [0; 128];
    // SAFETY: the descriptor is open, and there is room for the 1024 bytes that the kernel writes.
    unsafe { btrfs_information(file.as_raw_fd(), &raw mut information) }.ok()?;
    let bytes = [information[2], information[3]].map(u64::to_ne_bytes);
    let mut text = String::new();
    for (at, byte) in bytes.as_flattened().iter().enumerate() {
        let dash = if [4, 6, 8, 10].contains(&at) { "-" } else { "" };
        write!(text, "{dash}{byte:02x}").ok()?;
    }
    Some(text)
}

/// The id of the disk that a file is on, within a boot. On btrfs it is the id of the subvolume, because the device number of a
/// btrfs can change with each mount. So a snapshot counts as another disk.
pub(crate) fn disk_id(file: &File) -> io::Result<u64> {
    let stat = fstatfs(file)?;
    if magic(&stat) != BTRFS {
        return Ok(file.metadata()?.st_dev());
    }
    let id = stat.filesystem_id();
    const { assert!(size_of::<libc::fsid_t>() == size_of::<u64>()) };
    // SAFETY: both are 8 bytes, without padding.
    Ok(unsafe { std::mem::transmute::<libc::fsid_t, u64>(id) })
}

pub(crate) fn allocate(file: &File, length: u64) -> io::Result<()> {
    Ok(posix_fallocate(file, 0, i64::try_from(length).unwrap_or(i64::MAX))?)
}

const EXT4: u64 = 0xef53;
const XFS: u64 = 0x5846_5342;
const BTRFS: u64 = 0x9123_683e;
const F2FS: u64 = 0xf2f5_2010;

/// File systems by their magic numbers (linux/magic.h and the headers of the file systems).
const KINDS: &[(u64, &str, Support)] = &[
    (EXT4, "ext4", Support::Supported),
    (XFS, "xfs", Support::Supported),
    (BTRFS, "btrfs", Support::Supported),
    (F2FS, "f2fs", Support::Supported),
    (0x2fc1_2fc1, "zfs", Support::Supported),
    (0xca45_1a4e, "bcachefs", Support::Supported),
    (0x3153_464a, "jfs", Support::Supported),
    (0x6573_5546, "fuse", Support::IfVouched),
    (0x0102_1994, "tmpfs", Support::Unsupported(LOST_AT_RESTART)),
    (0x8584_58f6, "ramfs", Support::Unsupported(LOST_AT_RESTART)),
    (0x794c_7630, "overlay", Support::Unsupported(CONTAINER_LAYER)),
    (0x6175_6673, "aufs", Support::Unsupported(CONTAINER_LAYER)),
    (0x6969, "nfs", Support::Unsupported(SHARED_BY_HOSTS)),
    (0xff53_4d42, "cifs", Support::Unsupported(SHARED_BY_HOSTS)),
    (0xfe53_4d42, "smb2", Support::Unsupported(SHARED_BY_HOSTS)),
    (0x517b, "smb", Support::Unsupported(SHARED_BY_HOSTS)),
    (0x0102_1997, "9p", Support::Unsupported(SHARED_BY_HOSTS)),
    (0x00c3_6400, "ceph", Support::Unsupported(SHARED_BY_HOSTS)),
    (0x0116_1970, "gfs2", Support::Unsupported(SHARED_BY_HOSTS)),
    (0x7461_636f, "ocfs2", Support::Unsupported(SHARED_BY_HOSTS)),
    (0x0bd0_0bd0, "lustre", Support::Unsupported(SHARED_BY_HOSTS)),
    (0x5346_414f, "afs", Support::Unsupported(SHARED_BY_HOSTS)),
    (0x786f_4256, "vboxsf", Support::Unsupported(SHARED_BY_HOSTS)),
    (0x4d44, "vfat", Support::Unsupported(UNSTABLE_INODES)),
    (0x2011_bab0, "exfat", Support::Unsupported(UNSTABLE_INODES)),
];

/// The name of the file system that holds a file or directory, and whether it can hold a state file.
pub(crate) fn file_system(file: &File) -> io::Result<(String, Support)> {
    let magic = magic(&fstatfs(file)?);
    let known = KINDS.iter().find(|(number, ..)| *number == magic);
    Ok(known.map_or_else(|| (format!("{magic:#x}"), Support::IfVouched), |(_, name, support)| ((*name).to_owned(), *support)))
}

fn magic(stat: &Statfs) -> u64 {
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, reason = "the type differs between architectures")]
    let magic = stat.filesystem_type().0 as u64;
    // The number has 32 bits. Some architectures extend its sign.
    magic & 0xffff_ffff
}

/// The variables that lead to the default directory, for a refusal.
pub(crate) const STATE_VARIABLES: &str = "HOME, STATE_DIRECTORY or XDG_STATE_HOME";

/// The XDG state directory, or its default in the home directory.
pub(crate) fn state_home() -> Option<PathBuf> {
    // The XDG specification says that relative paths are ignored.
    path_in("XDG_STATE_HOME").filter(|path| path.is_absolute()).or_else(|| Some(absolute_path_in("HOME")?.join(".local/state")))
}

/// How often at most to read the kernel's list of locks until two successive readings agree.
const READINGS: usize = 8;

/// A file as the kernel names it beside its locks.
fn name_beside_locks(device: u64, inode: u64) -> String {
    format!("{:02x}:{:02x}:{inode}", nix::sys::stat::major(device), nix::sys::stat::minor(device))
}

/// How many open files hold an exclusive lock that begins at one of those bytes of a file, by the kernel's list of locks. `None` if the
/// list does not show it.
pub(crate) fn holders(identity: Identity, bytes: Range<u64>) -> Option<u64> {
    let file = name_beside_locks(identity.device, identity.inode);
    let lists = |line: &&str| {
        let mut words = line.split_whitespace().skip(1);
        words.next() == Some("OFDLCK")
            && words.any(|word| word == "WRITE")
            && words.any(|word| word == file)
            && words.next().and_then(|from| from.parse().ok()).is_some_and(|from| bytes.contains(&from))
    };
    // The kernel returns the list page by page, by line number. If locks are taken or released between two pages, a line can
    // appear twice or not at all.
    let mut before = None;
    for _ in 0..READINGS {
        let count = read_to_string("/proc/locks").ok()?.lines().filter(lists).count() as u64;
        if before.replace(count) == Some(count) {
            break;
        }
    }
    // The caller holds the lock, so 0 means that the kernel lists the file under another device number (as for btrfs).
    before.filter(|count| *count > 0)
}

/// A process that holds a lock on a file or directory, for a message. `None` if this process may not see it: it is another user's.
pub(crate) fn holder(file: &File, lock: FoundLock) -> Option<String> {
    let process = lock.process.filter(|process| *process != 0).or_else(|| open_file_holder(file, lock.from))?;
    let name = read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some(format!("process {process} ({})", name.trim_end()))
}

/// A process with an open file that holds a lock from that byte on: the kernel shows the locks of a descriptor beside it.
fn open_file_holder(file: &File, from: u64) -> Option<u32> {
    let file = file.metadata().map(|found| name_beside_locks(found.st_dev(), found.st_ino())).ok()?;
    let from = from.to_string();
    let shows = |line: &str| {
        let mut words = line.strip_prefix("lock:").unwrap_or("").split_whitespace();
        words.any(|word| word == file) && words.next() == Some(from.as_str())
    };
    let own = std::process::id();
    let processes = std::fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.filter(|process| *process != own).find(|process| {
        let descriptors = std::fs::read_dir(format!("/proc/{process}/fdinfo"));
        descriptors.is_ok_and(|found| {
            found.flatten().any(|entry| read_to_string(entry.path()).is_ok_and(|text| text.lines().any(shows)))
        })
    })
}

/// Stops using an open file, so that its locks are released unless a forked child has them. The descriptor stays valid, and refers
/// to nothing. `false` if the system has no descriptor left for that.
pub(crate) fn detach_file(file: &File) -> bool {
    let Ok(null) = File::options().read(true).write(true).open("/dev/null") else { return false };
    // SAFETY: both descriptors are open, and the second one is replaced in one step.
    unsafe { libc::dup3(null.as_raw_fd(), file.as_raw_fd(), libc::O_CLOEXEC) >= 0 }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

    use super::boot_offset_ms;
    use crate::os;

    #[test]
    fn the_offset_of_a_time_namespace_is_read_as_a_whole_or_not_at_all() {
        assert_eq!(boot_offset_ms("monotonic           1         0\nboottime        86400 500000000\n"), Some(86_400_500));
        assert_eq!(boot_offset_ms("monotonic 0 0\nboottime -5 0\n"), Some(-5000));
        for broken in ["", "monotonic 1 0\n", "boottime\n", "boottime 1\n", "boottime x 0\n", "boottime 9223372036854775807 0\n"]
        {
            assert_eq!(boot_offset_ms(broken), None, "{broken:?}");
        }
    }

    // With every C library: processes with glibc and with musl that share a file must agree on its identity.
    // docs/internals/claims.md: 16
    #[test]
    fn the_identity_of_a_file_has_its_birth_time_by_its_descriptor_and_by_its_path() {
        let path = std::env::temp_dir().join(format!("frazil-identity-{}", std::process::id()));
        let file = std::fs::File::create(&path).unwrap();
        let identity = os::identity(&file).unwrap();
        let at_path = os::identity_at(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap();
        let age_ns = u64::try_from(now.as_nanos()).unwrap().abs_diff(identity.created_ns);
        assert!(age_ns < 60_000_000_000, "{identity:?}");
        assert!(identity.is_at(at_path), "{at_path:?}");
        assert_eq!(os::identity_at(&path).unwrap(), None);
    }
}
