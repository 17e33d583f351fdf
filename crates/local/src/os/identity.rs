//! Which file a file is.

/// Which file it is. Inodes are used again, so one of the last two tells a file from its successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// When it was made, in nanoseconds; 0 where the file system does not say.
    pub(crate) created_ns: u64,
    /// Which use of the inode it is; `None` where the file system does not say. A path does not tell.
    pub(crate) generation: Option<u32>,
}

impl Identity {
    /// Whether a path leads to this file, as far as a path can tell.
    pub(crate) fn is_at(self, path: Option<Self>) -> bool {
        path == Some(Self { generation: None, ..self })
    }
}
