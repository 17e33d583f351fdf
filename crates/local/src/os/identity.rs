//! The identity of a file, which tells it from a copy or a successor.

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
    /// Whether the file that a path leads to is this one, which is open: no other file has its number meanwhile. The time at which it
    /// was made is compared if it is known of both. A sandbox can forbid the call that shows it, also after the file was opened.
    pub(crate) fn is_at(self, path: Option<Self>) -> bool {
        path.is_some_and(|found| {
            let is_known = self.created_ns != 0 && found.created_ns != 0;
            (self.device, self.inode) == (found.device, found.inode) && (!is_known || self.created_ns == found.created_ns)
        })
    }

    /// The numbers that tell it from other files, as every process with the file sees them. A sandbox can hide from one of them when
    /// the file was made, so that counts only where the file system has no generations.
    pub(crate) fn lasting(self) -> [u64; 4] {
        let Self { device, inode, created_ns, generation } = self;
        generation.map_or([device, inode, created_ns, 0], |generation| [device, inode, 0, u64::from(generation)])
    }
}
