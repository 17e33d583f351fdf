//! Which file systems can hold a state file.

/// Whether a kind of file system can hold a state file. It can if mappings of a file share memory, locks conflict across
/// processes, inode numbers stay the same, and flushed data lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    Supported,
    /// It can if only one host uses it and its server flushes. The caller can vouch for that.
    IfVouched,
    /// It cannot; the text says why.
    Unsupported(&'static str),
}

#[cfg(unix)]
pub(crate) const LOST_AT_RESTART: &str = "is gone after a restart";
#[cfg(target_os = "linux")]
pub(crate) const CONTAINER_LAYER: &str = "is a layer of one container: each container would have a file of its own";
pub(crate) const SHARED_BY_HOSTS: &str = "is shared by hosts, and they share no memory";
pub(crate) const UNSTABLE_INODES: &str = "numbers its files anew each time it is mounted";
