//! What the operating system is asked: its boot, its clocks, its file systems, its conventions.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use frazil::{Clock, SystemClock};
use nix::sys::statfs::{Statfs, fstatfs};
use nix::time::{ClockId, clock_gettime};

use crate::locks::{FIRST_BYTE, Range};

/// The boot of the kernel, as 128 bits that no other boot has.
pub(crate) fn boot() -> io::Result<[u64; 2]> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    let half = |at: usize| u64::from_str_radix(digits.get(at..at + 16)?, 16).ok();
    match (half(0), half(16)) {
        (Some(high), Some(low)) => Ok([high, low]),
        _ => Err(io::Error::other(format!("the kernel's boot id is {text:?}"))),
    }
}

/// Milliseconds since the boot, those of suspension included. Nobody sets this clock.
pub(crate) fn since_boot_ms() -> io::Result<u64> {
    let time = clock_gettime(ClockId::CLOCK_BOOTTIME)?;
    let (seconds, nanos) = (u64::try_from(time.tv_sec()), u64::try_from(time.tv_nsec()));
    match (seconds, nanos) {
        (Ok(seconds), Ok(nanos)) => Ok(seconds * 1000 + nanos / 1_000_000),
        _ => Err(io::Error::other("the clock since the boot is negative")),
    }
}

/// The wall clock. Where it shows a time before 1970 it is at 0, before every epoch.
pub(crate) fn wall_ms() -> u64 {
    SystemClock.now_ms().unwrap_or(0)
}

/// Whether a kind of file system keeps what a state file needs: memory that all who map it share, locks that meet, inodes
/// that stay, and flushes that last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Sound,
    /// It does where one host uses it and its server flushes; the caller can vouch for that.
    Vouched,
    /// It does not.
    Never(&'static str),
}

const GONE: &str = "is gone after a restart";
const LAYER: &str = "is a layer of one container: each container would have a file of its own";
const HOSTS: &str = "is shared by hosts, and they share no memory";
const INODES: &str = "numbers its files anew each time it is mounted";

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
    let magic = statfs_magic(&fstatfs(file)?) & 0xffff_ffff;
    let known = KINDS.iter().find(|(number, ..)| *number == magic);
    Ok(known.map_or_else(|| (format!("{magic:#x}"), Verdict::Vouched), |(_, name, verdict)| ((*name).to_owned(), *verdict)))
}

#[expect(clippy::allow_attributes, reason = "which of the casts is needed depends on the architecture")]
fn statfs_magic(stat: &Statfs) -> u64 {
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast, reason = "the type differs between architectures")]
    let magic = stat.filesystem_type().0 as u64;
    magic
}

/// Where state files go by the platform's convention: what systemd gave the service (`StateDirectory=`), the XDG state
/// directory, or its default in the home directory. `None` where there is none of these.
pub(crate) fn default_dir() -> Option<PathBuf> {
    let given = |name| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    // systemd joins several with colons.
    let service = given("STATE_DIRECTORY").and_then(|paths| env::split_paths(&paths).next());
    // The XDG specification has relative paths ignored.
    let state = given("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let home = || given("HOME").filter(|path| path.is_absolute()).map(|home| home.join(".local/state"));
    service.or(state).or_else(home).map(|dir| dir.join("frazil"))
}

/// Variables by which an orchestrator shows: something that runs many machines, or many containers, of one kind.
const ORCHESTRATORS: &[(&str, &str)] = &[
    ("KUBERNETES_SERVICE_HOST", "Kubernetes"),
    ("ECS_CONTAINER_METADATA_URI_V4", "Amazon ECS"),
    ("ECS_CONTAINER_METADATA_URI", "Amazon ECS"),
    ("AWS_LAMBDA_FUNCTION_NAME", "AWS Lambda"),
    ("NOMAD_ALLOC_ID", "Nomad"),
    ("K_SERVICE", "Cloud Run"),
    ("CONTAINER_APP_NAME", "Azure Container Apps"),
    ("FLY_MACHINE_ID", "Fly.io"),
    ("DYNO", "Heroku"),
];

/// The variable by which an orchestrator shows, and its name. Docker Swarm shows only by what its users set.
pub(crate) fn orchestrator() -> Option<(String, &'static str)> {
    let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let known = ORCHESTRATORS.iter().find(|(name, _)| set(name)).map(|(name, who)| ((*name).to_owned(), *who));
    // The templates of `docker service create --env` have the names .Service, .Node and .Task.
    known.or_else(|| {
        ["SWARM_SERVICE_ID", "SWARM_NODE_ID", "SWARM_TASK_ID", "SWARM_TASK_SLOT"]
            .into_iter()
            .find(|name| set(name))
            .map(|name| (name.to_owned(), "Docker Swarm"))
    })
}

/// How many open files are attached to an inode, as the kernel lists their locks. `None` where it does not.
pub(crate) fn attached(device: u64, inode: u64) -> Option<u64> {
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let file = format!("{:02x}:{:02x}:{inode}", nix::sys::stat::major(device), nix::sys::stat::minor(device));
    let byte = (FIRST_BYTE + Range::Attached as i64).to_string();
    let lists = |line: &&str| {
        let mut words = line.split_whitespace().skip(1);
        words.next() == Some("OFDLCK") && words.any(|word| word == file) && words.next() == Some(byte.as_str())
    };
    Some(locks.lines().filter(lists).count() as u64)
}
