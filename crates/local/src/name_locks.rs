//! Who uses a state file of a name: shared locks on the directories above it.
//!
//! A file can be moved, deleted, put back, or covered by a mount while a process uses it. Then another file has its name, and the
//! locks of one file say nothing of the other. So each process that uses a file also marks every directory above it: with a
//! shared lock on one byte. The byte depends on two things:
//!
//! * **the name**: the path of the file from that directory on. Files of other names in the directory do not meet it;
//! * **the file**: its identity. So "somebody uses this name" and "somebody uses another file of this name" are told apart.
//!
//! The nearest directory may itself have been moved or made anew; then those above it show the mark. A path that leads through
//! links is marked as it was given and as it leads: a link can be switched to another directory.
//!
//! A file is opened only while no other file of its name is in use, and a process that finds its path leading elsewhere stops
//! minting, and then gives its marks back. So two files of one name are never minted from at once.
//!
//! The locks belong to the open file (`F_OFD_SETLK`). Any user who can read a directory can set one, and the worst that
//! comes of it is a refusal while it is held. They are untouched by `flock`, and nobody can hold one exclusively, because a
//! directory cannot be opened for writing. A child inherits them, so a forked child counts as a user for as long as it lives.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use siphasher::sip::SipHasher24;

use crate::os::{self, Identity, Mode};

/// How many bits tell names apart: where two names meet, a file is refused for nothing. With a thousand names below one directory
/// that is once in half a million.
const NAME_BITS: u32 = 38;
/// How many bits tell the files of one name apart: where two meet, one is not seen, once in 2^24. Together they leave the bytes
/// that a lock can have, below 2^63.
const FILE_BITS: u32 = 24;

/// The marks of one user of a file.
#[derive(Debug)]
pub(crate) struct NameLocks {
    directories: Vec<LockedDirectory>,
    /// Whether a directory could not be marked: others may use another file without being seen.
    incomplete: bool,
}

#[derive(Debug)]
struct LockedDirectory {
    directory: File,
    /// The first byte of the name, and the byte of the file.
    name: u64,
    file: u64,
}

/// So many bits of a hash.
fn bits_of(bytes: &[u8], bits: u32) -> u64 {
    SipHasher24::new().hash(bytes) >> (u64::BITS - bits)
}

impl NameLocks {
    /// Marks every directory above a file that can be marked.
    ///
    /// # Errors
    /// With the directory that cannot be opened for another reason than permissions.
    pub(crate) fn acquire(path: &Path, identity: Identity) -> Result<Self, (PathBuf, io::Error)> {
        let mut locks = Self { directories: Vec::new(), incomplete: !os::CAN_LOCK_DIRECTORIES };
        let Identity { device, inode, created_ns, generation } = identity;
        let numbers = [device, inode, created_ns, u64::from(generation.unwrap_or(0))].map(u64::to_le_bytes);
        let own = bits_of(numbers.as_flattened(), FILE_BITS);
        locks.lock_above(path, own)?;
        let parent = path.parent().unwrap_or(path);
        let leads_to = parent.canonicalize().map_err(|cause| (parent.to_owned(), cause))?;
        if leads_to != parent {
            locks.lock_above(&leads_to.join(path.file_name().unwrap_or_default()), own)?;
        }
        Ok(locks)
    }

    fn lock_above(&mut self, path: &Path, own: u64) -> Result<(), (PathBuf, io::Error)> {
        for directory in path.ancestors().skip(1) {
            let name = path.strip_prefix(directory).map_or(OsStr::new(""), Path::as_os_str);
            let name = bits_of(name.as_encoded_bytes(), NAME_BITS) << FILE_BITS;
            let opened = match os::open_directory(directory) {
                Ok(opened) => opened,
                Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
                    self.incomplete = true;
                    continue;
                }
                Err(cause) => return Err((directory.to_owned(), cause)),
            };
            let locked = LockedDirectory { directory: opened, name, file: name + own };
            // A file system that knows no such locks on directories shows nobody.
            self.incomplete |= os::lock_directory(&locked.directory, locked.file).is_err();
            self.directories.push(locked);
        }
        Ok(())
    }

    /// Whether another file of this name is in use, as far as the directories tell.
    pub(crate) fn other_file_in_use(&self) -> bool {
        self.directories.iter().any(|LockedDirectory { directory, name, file }| {
            let after = file + 1;
            let others = [(*name, file - name), (after, name + (1 << FILE_BITS) - after)];
            others.into_iter().any(|(from, count)| os::is_directory_locked(directory, from, count).unwrap_or(true))
        })
    }

    /// Whether another file of this name can be in use without being seen.
    pub(crate) const fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Gives the marks back, before the file is closed.
    pub(crate) fn release(&self) {
        for LockedDirectory { directory, file, .. } in &self.directories {
            // Freeing cannot fail on a directory that is open, and closing it frees it in any case.
            let _: io::Result<bool> = os::lock(directory, *file, Mode::Free);
        }
    }

    /// Makes the names on the way to the file last, on its own file system: that of a mounted one was there before.
    pub(crate) fn flush_names(&self, identity: Identity) -> io::Result<()> {
        self.directories.iter().try_for_each(|LockedDirectory { directory, .. }| os::flush_if_on(directory, identity.device))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

    use super::*;

    fn identity(inode: u64) -> Identity {
        Identity { device: 1, inode, created_ns: 0, generation: None }
    }

    #[test]
    fn another_file_of_a_name_is_seen_and_the_same_file_and_other_names_are_not() {
        let top = std::env::temp_dir().join(format!("frazil-presence-{}", std::process::id()));
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        let lock = |name: &str, inode| NameLocks::acquire(&top.join(name), identity(inode)).unwrap();
        let first = lock("a/b/ids", 1);
        assert!(!first.other_file_in_use());
        let same = lock("a/b/ids", 1);
        let others = [lock("a/b/other", 2), lock("a/ids", 3)];
        assert!(!same.other_file_in_use() && !first.other_file_in_use());
        drop(others);
        let second = lock("a/b/ids", 2);
        assert!(second.other_file_in_use() && first.other_file_in_use() && same.other_file_in_use());
        drop(second);
        assert!(!first.other_file_in_use());
        // The nearest directories are made anew: those above them show it.
        std::fs::rename(top.join("a"), top.join("old")).unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        let anew = lock("a/b/ids", 4);
        assert!(anew.other_file_in_use());
        first.release();
        assert!(anew.other_file_in_use());
        same.release();
        assert!(!anew.other_file_in_use());
        std::fs::remove_dir_all(top).unwrap();
    }
}
