//! Linux.

use std::fs::{File, read_to_string};
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl, posix_fallocate};
use nix::libc;
use nix::sys::statfs::{Statfs, fstatfs};
use nix::time::ClockId;

use super::unix::clock_ms;
use super::{GONE, HOSTS, INODES, Identity, LAYER, Verdict, bits_of};
use crate::host::{given, home};

/// The boot of the kernel, as 128 bits that no other boot has.
pub(crate) fn boot() -> io::Result<Option<[u64; 2]>> {
    let path = "/proc/sys/kernel/random/boot_id";
    let text = read_to_string(path).map_err(|cause| io::Error::other(format!("the kernel's boot id, {path}: {cause}")))?;
    bits_of(&text).map(Some)
}

/// Milliseconds since the boot, those of suspension included. Nobody sets this clock.
pub(crate) fn since_boot_ms() -> io::Result<u64> {
    Ok(clock_ms(ClockId::CLOCK_BOOTTIME)?.wrapping_add_signed(-namespace_ms()))
}

/// How far that clock is set ahead for this process, by a time namespace (as a container can have): what is shared with
/// processes outside is counted without it. 0 where the kernel has none.
fn namespace_ms() -> i64 {
    static OFFSET_MS: OnceLock<i64> = OnceLock::new();
    *OFFSET_MS.get_or_init(|| {
        let offsets = read_to_string("/proc/self/timens_offsets").unwrap_or_default();
        let mut numbers = offsets.lines().find_map(|line| line.strip_prefix("boottime")).unwrap_or("").split_whitespace();
        let mut number = || numbers.next().and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
        number() * 1000 + number() / 1_000_000
    })
}

/// A lock of the open file description: it needs no process ids, goes with the last descriptor of the open file, and not with
/// any other descriptor of the file.
pub(super) fn lock_open_file(file: &File, record: &libc::flock) -> Result<(), Errno> {
    fcntl(file, FcntlArg::F_OFD_SETLK(record)).map(|_| ())
}

pub(crate) fn allocate(file: &File, length: u64) -> io::Result<()> {
    Ok(posix_fallocate(file, 0, i64::try_from(length).unwrap_or(i64::MAX))?)
}

/// Kinds of file systems by the number that Linux gives them (linux/magic.h and the file systems' own headers).
const KINDS: &[(u64, &str, Verdict)] = &[
    (0xef53, "ext4", Verdict::Sound),
    (0x5846_5342, "xfs", Verdict::Sound),
    (0x9123_683e, "btrfs", Verdict::Sound),
    (0xf2f5_2010, "f2fs", Verdict::Sound),
    (0x2fc1_2fc1, "zfs", Verdict::Sound),
    (0xca45_1a4e, "bcachefs", Verdict::Sound),
    (0x3153_464a, "jfs", Verdict::Sound),
    (0x6573_5546, "fuse", Verdict::Vouched),
    (0x0102_1994, "tmpfs", Verdict::Never(GONE)),
    (0x8584_58f6, "ramfs", Verdict::Never(GONE)),
    (0x794c_7630, "overlay", Verdict::Never(LAYER)),
    (0x6175_6673, "aufs", Verdict::Never(LAYER)),
    (0x6969, "nfs", Verdict::Never(HOSTS)),
    (0xff53_4d42, "cifs", Verdict::Never(HOSTS)),
    (0xfe53_4d42, "smb2", Verdict::Never(HOSTS)),
    (0x517b, "smb", Verdict::Never(HOSTS)),
    (0x0102_1997, "9p", Verdict::Never(HOSTS)),
    (0x00c3_6400, "ceph", Verdict::Never(HOSTS)),
    (0x0116_1970, "gfs2", Verdict::Never(HOSTS)),
    (0x7461_636f, "ocfs2", Verdict::Never(HOSTS)),
    (0x0bd0_0bd0, "lustre", Verdict::Never(HOSTS)),
    (0x5346_414f, "afs", Verdict::Never(HOSTS)),
    (0x786f_4256, "vboxsf", Verdict::Never(HOSTS)),
    (0x4d44, "vfat", Verdict::Never(INODES)),
    (0x2011_bab0, "exfat", Verdict::Never(INODES)),
];

/// The name and the verdict of the file system that holds a file or directory.
pub(crate) fn file_system(file: &File) -> io::Result<(String, Verdict)> {
    // 32 bits, which some architectures extend by their sign.
    let magic = magic(&fstatfs(file)?) & 0xffff_ffff;
    let known = KINDS.iter().find(|(number, ..)| *number == magic);
    Ok(known.map_or_else(|| (format!("{magic:#x}"), Verdict::Vouched), |(_, name, verdict)| ((*name).to_owned(), *verdict)))
}

fn magic(stat: &Statfs) -> u64 {
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, reason = "the type differs between architectures")]
    let magic = stat.filesystem_type().0 as u64;
    magic
}

/// The XDG state directory, or its default in the home directory.
pub(crate) fn state_home() -> Option<PathBuf> {
    // The XDG specification has relative paths ignored.
    given("XDG_STATE_HOME").filter(|path| path.is_absolute()).or_else(|| Some(home("HOME")?.join(".local/state")))
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
    before
}
