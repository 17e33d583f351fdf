//! The identity of a file, by which a copy or a successor is told from the file.

/// The identity of a file. Inode numbers are reused, so one of the last two fields tells a file from a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// When the file was made, in nanoseconds; 0 if the file system does not say.
    pub(crate) created_ns: u64,
    /// The generation of the inode number; `None` if the file system does not say, and in what is read by a path.
    pub(crate) generation: Option<u32>,
}

impl Identity {
    /// Whether the file that a path leads to is this one, as far as a path shows it.
    pub(crate) fn is_at(self, path: Option<Self>) -> bool {
        path == Some(Self { generation: None, ..self })
    }
}
