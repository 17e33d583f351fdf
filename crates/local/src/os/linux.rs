//! Linux.

use std::fmt::Write as _;
use std::fs::{File, read_link, read_to_string};
use std::io;
use std::os::fd::AsRawFd;
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl, posix_fallocate};
use nix::libc;
use nix::sys::mman::{MRemapFlags, MapFlags, ProtFlags, mmap_anonymous, mremap, munmap};
use nix::sys::statfs::{Statfs, fstatfs};
use nix::time::ClockId;

use super::boot_id::bits_of;
use super::clock::clock_ms;
use super::file_system::{CONTAINER_LAYER, LOST_AT_RESTART, SHARED_BY_HOSTS, Support, UNSTABLE_INODES};
use super::identity::Identity;
use crate::environment::{absolute_path_in, path_in};

/// The boot of the kernel, as 128 bits that no other boot has.
pub(crate) fn boot_id() -> io::Result<Option<[u64; 2]>> {
    let path = "/proc/sys/kernel/random/boot_id";
    let text = read_to_string(path).map_err(|cause| io::Error::other(format!("the kernel's boot id, {path}: {cause}")))?;
    bits_of(&text).map(Some)
}

/// Milliseconds since the boot, those of suspension included. Nobody sets this clock.
pub(crate) fn since_boot_ms() -> io::Result<u64> {
    Ok(clock_ms(ClockId::CLOCK_BOOTTIME)?.wrapping_add_signed(-time_namespace_offset_ms()?))
}

/// How far that clock is set ahead for this process, by a time namespace (as a container can have): what is shared with
/// processes outside is counted without it. 0 where the kernel has none.
fn time_namespace_offset_ms() -> io::Result<i64> {
    /// The first time namespace (`PROC_TIME_INIT_INO`), which has no offsets.
    const FIRST: &str = "time:[4026531834]";
    static OFFSET_MS: OnceLock<i64> = OnceLock::new();
    if let Some(offset_ms) = OFFSET_MS.get() {
        return Ok(*offset_ms);
    }
    let space = |name: &str| read_link(format!("/proc/self/ns/{name}"));
    // The offsets that the kernel shows are those of the children's namespace, which `unshare` makes another one.
    let offset_ms = match (space("time"), space("time_for_children")) {
        (Ok(own), _) if own == Path::new(FIRST) => 0,
        (Ok(own), Ok(children)) if own != children => {
            return Err(io::Error::other(
                "this process left its time namespace to its children (unshare), so its offset is not shown",
            ));
        }
        _ => {
            let offsets = read_to_string("/proc/self/timens_offsets").unwrap_or_default();
            let mut numbers = offsets.lines().find_map(|line| line.strip_prefix("boottime")).unwrap_or("").split_whitespace();
            let mut number = || numbers.next().and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
            number() * 1000 + number() / 1_000_000
        }
    };
    Ok(*OFFSET_MS.get_or_init(|| offset_ms))
}

/// A lock of the open file description: it needs no process ids, goes with the last descriptor of the open file, and not with
/// any other descriptor of the file.
pub(super) fn lock_open_file(file: &File, record: &libc::flock) -> Result<(), Errno> {
    fcntl(file, FcntlArg::F_OFD_SETLK(record)).map(|_| ())
}

/// Puts memory of this process alone in the place of a mapping, in one step, once `fill` has filled it.
pub(crate) fn replace_memory(start: *mut u8, length: usize, fill: impl FnOnce(*mut u8)) -> bool {
    let (Some(start), Some(size)) = (std::ptr::NonNull::new(start.cast()), std::num::NonZeroUsize::new(length)) else {
        return false;
    };
    // SAFETY: a new mapping, at no given place.
    let copy = unsafe { mmap_anonymous(None, size, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_PRIVATE) };
    let Ok(copy) = copy else { return false };
    fill(copy.as_ptr().cast());
    // SAFETY: the old mapping is of this length and the caller's, who keeps it mapped; the kernel puts the copy there under the
    // lock that page faults take, so that each access meets the one or the other.
    let moved = unsafe { mremap(copy, length, length, MRemapFlags::MREMAP_MAYMOVE | MRemapFlags::MREMAP_FIXED, Some(start)) };
    if moved.is_err() {
        // SAFETY: the copy is where it was made, and nobody has it.
        let _: Result<(), Errno> = unsafe { munmap(copy, length) };
    }
    moved.is_ok()
}

/// Which lock of another open file is in the way of one.
pub(super) fn test_open_file(file: &File, record: &mut libc::flock) -> Result<(), Errno> {
    fcntl(file, FcntlArg::F_OFD_GETLK(record)).map(|_| ())
}

nix::ioctl_read!(
    /// Which use of its inode a file is (`FS_IOC_GETVERSION`).
    inode_generation, b'v', 1, libc::c_long
);

/// What btrfs says of itself: two numbers, its id, and more.
type BtrfsInformation = [u64; 128];

nix::ioctl_read!(
    /// The id of a btrfs (`BTRFS_IOC_FS_INFO`).
    btrfs_information, 0x94, 31, BtrfsInformation
);

/// Which use of its inode a file is; `None` where the file system does not say.
pub(super) fn generation(file: &File) -> Option<u32> {
    let mut generation = 0;
    // SAFETY: the descriptor is open, and the kernel writes an `int`, which has room there.
    unsafe { inode_generation(file.as_raw_fd(), &raw mut generation) }.ok()?;
    // On a machine whose bytes are in the other order the `int` is the upper half.
    Some(u32::try_from(generation & 0xffff_ffff).unwrap_or(0) ^ u32::try_from((generation >> 32) & 0xffff_ffff).unwrap_or(0))
}

/// Which mount of its file system a file is on: a number that stays while the file system is mounted anywhere, and that no
/// later mount of this boot has. It is the inode of the directory in `/sys` that the kernel makes for a mounted file system.
/// `None` where there is none.
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

/// The kernel's name of the block device that holds a file.
fn device_name(file: &File) -> Option<String> {
    let device = file.metadata().ok()?.st_dev();
    let (major, minor) = (nix::sys::stat::major(device), nix::sys::stat::minor(device));
    let device = read_link(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    Some(device.file_name()?.to_str()?.to_owned())
}

/// The id of a btrfs, as `/sys/fs/btrfs` writes it.
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

/// Which disk a file is on, within a boot. btrfs can have another device number each time it is mounted, and has an id for
/// each subvolume, so that a snapshot is another disk.
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

/// Kinds of file systems by the number that Linux gives them (linux/magic.h and the file systems' own headers).
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

/// The name and the verdict of the file system that holds a file or directory.
pub(crate) fn file_system(file: &File) -> io::Result<(String, Support)> {
    let magic = magic(&fstatfs(file)?);
    let known = KINDS.iter().find(|(number, ..)| *number == magic);
    Ok(known.map_or_else(|| (format!("{magic:#x}"), Support::IfVouched), |(_, name, support)| ((*name).to_owned(), *support)))
}

fn magic(stat: &Statfs) -> u64 {
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, reason = "the type differs between architectures")]
    let magic = stat.filesystem_type().0 as u64;
    // 32 bits, which some architectures extend by their sign.
    magic & 0xffff_ffff
}

/// The XDG state directory, or its default in the home directory.
pub(crate) fn state_home() -> Option<PathBuf> {
    // The XDG specification has relative paths ignored.
    path_in("XDG_STATE_HOME").filter(|path| path.is_absolute()).or_else(|| Some(absolute_path_in("HOME")?.join(".local/state")))
}

/// How often to read the kernel's list of locks until two readings say the same.
const READINGS: usize = 8;

/// How many open files hold the lock on a byte of a file, as the kernel lists its locks. `None` where it does not.
pub(crate) fn holders(identity: Identity, byte: u64) -> Option<u64> {
    let Identity { device, inode, .. } = identity;
    let file = format!("{:02x}:{:02x}:{inode}", nix::sys::stat::major(device), nix::sys::stat::minor(device));
    let byte = byte.to_string();
    let lists = |line: &&str| {
        let mut words = line.split_whitespace().skip(1);
        words.next() == Some("OFDLCK") && words.any(|word| word == file) && words.next() == Some(byte.as_str())
    };
    // The kernel gives a page of it at a time, by the numbers of the lines: where locks come or go in between, a line comes
    // twice or not at all.
    let mut before = None;
    for _ in 0..READINGS {
        let count = read_to_string("/proc/locks").ok()?.lines().filter(lists).count() as u64;
        if before.replace(count) == Some(count) {
            break;
        }
    }
    // The caller holds it, so 0 says that the kernel lists the file under another number (as btrfs does).
    before.filter(|count| *count > 0)
}
