//! The locks of a state file's name: shared locks on the directories above the file.
//!
//! While a process uses a file, the file can be moved, deleted, put back or covered by a mount. Then another file has its name,
//! and the locks of one file say nothing about the other. So each process that uses a file also takes a shared lock on one byte
//! of every directory above it. The byte depends on two things:
//!
//! * **the name**: the path of the file from that directory on. Other names have other bytes. Names that differ in capital letters
//!   only are one name where the file system takes them as equal;
//! * **the file**: its identity. So a process can tell whether this file or another file of the name is in use.
//!
//! If the nearest directory was itself moved or replaced, the directories above it still show the lock. If the path leads through links, it
//! is followed one link at a time, and the directories above each path on the way are locked, because each link can be switched. So two
//! files conflict if the ways to them have a path in common.
//!
//! A file is opened only while no other file of its name is in use. A process whose path leads to another file stops minting, and
//! then releases its locks. So two files of one name are never minted from at the same time.
//!
//! The locks belong to the open file description (`F_OFD_SETLK`). Any user who can read a directory can take one, on all its
//! bytes too; while it is held, the worst effect is a refusal, which says who holds it ([`NameLocks::user`]). `flock` does not
//! affect them. No process can hold one exclusively, because a directory cannot be opened for writing. A forked child inherits
//! them, so it counts as a user for as long as it lives.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use siphasher::sip::SipHasher24;

use crate::mutex::lock;
use crate::os::{self, FoundLock, Identity, Mode};

/// How many bits of a hash stand for the name. If the hashes of two names are equal, a file is refused without need. With a
/// thousand names below one directory the probability is one in half a million.
const NAME_BITS: u32 = 38;
/// How many bits of a hash stand for the file. If the hashes of two files of one name are equal, which has a probability of
/// 2^-24, one does not see the other. The two hashes have 62 bits together: a lock's byte must be below 2^63.
const FILE_BITS: u32 = 24;

/// The name locks of one user of a file.
#[derive(Debug)]
pub(crate) struct NameLocks {
    /// Empty once the locks are released.
    directories: Mutex<Vec<LockedDirectory>>,
    /// Whether a directory could not be locked, so that another file of the name can be in use without being seen.
    incomplete: bool,
}

#[derive(Debug)]
struct LockedDirectory {
    path: PathBuf,
    directory: File,
    /// The first byte of the name, and the byte of this file.
    name: u64,
    file: u64,
    /// Whether it can be locked, and asked for the locks of others.
    shows_users: bool,
}

impl LockedDirectory {
    /// The lock of another file of this name, as far as this directory shows one.
    fn other_file(&self) -> io::Result<Option<FoundLock>> {
        let Self { directory, name, file, .. } = self;
        let after = file + 1;
        for (from, count) in [(*name, file - name), (after, name + (1 << FILE_BITS) - after)] {
            let found = os::find_lock(directory, from, count, Mode::Shared)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// Evidence that another file of a name is in use.
#[derive(Debug)]
pub(crate) struct OtherUser {
    pub(crate) directory: PathBuf,
    /// The lock on that directory.
    pub(crate) lock: FoundLock,
    /// The process that holds it, for a message, if it is shown.
    pub(crate) holder: Option<String>,
}

/// How many steps a path may take. Linux follows 40 links; `..` takes a step too.
const MAX_STEPS: usize = 100;

/// The path after the first link or `..` in it is resolved; `None` if there is neither.
fn one_step(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut resolved = PathBuf::new();
    let mut rest = path.components();
    while let Some(component) = rest.next() {
        if component == Component::ParentDir {
            // Nothing before it is a link.
            resolved.pop();
            return Ok(Some(resolved.join(rest)));
        }
        resolved.push(component);
        // A drive or root is no link, and a drive alone is another directory: the current one there.
        if !matches!(component, Component::Normal(_)) {
            continue;
        }
        if resolved.symlink_metadata()?.is_symlink() {
            let leads_to = resolved.read_link()?;
            resolved.pop();
            return Ok(Some(resolved.join(leads_to).join(rest)));
        }
    }
    Ok(None)
}

/// A text with capital letters in place of small ones, and small ones in place of capital ones.
fn inverted(text: &str) -> String {
    let invert = |letter: char| {
        let other: String = if letter.is_lowercase() { letter.to_uppercase().collect() } else { letter.to_lowercase().collect() };
        other
    };
    text.chars().map(invert).collect()
}

/// The name of a directory as it counts for the name of a file below it: in small letters if the file system takes capital and small
/// letters as equal there. `is_same` tells whether two paths lead to one directory. Other letters that a file system takes as equal
/// (in the forms of Unicode) are not looked for.
fn counted_name(directory: &Path, is_same: impl Fn(&Path, &Path) -> bool) -> OsString {
    let name = directory.components().next_back().map_or(OsStr::new(""), Component::as_os_str);
    match name.to_str().map(|text| (text, inverted(text))) {
        Some((text, other)) if other != text && is_same(directory, &directory.with_file_name(&other)) => {
            text.to_lowercase().into()
        }
        _ => name.to_owned(),
    }
}

/// Whether two paths lead to one directory. Links are not followed, and a directory has no second name, unless its file system
/// takes the two names as equal, or it is mounted twice.
fn is_same_directory(one: &Path, other: &Path) -> bool {
    let identity = |path| os::identity_at(path).ok().flatten();
    identity(one).is_some_and(|found| identity(other) == Some(found))
}

/// The upper bits of a hash.
fn bits_of(bytes: &[u8], bits: u32) -> u64 {
    SipHasher24::new().hash(bytes) >> (u64::BITS - bits)
}

impl NameLocks {
    /// Locks every directory above a file, as far as permissions and the file systems allow it.
    ///
    /// # Errors
    /// The directory that cannot be opened for another reason than permissions.
    pub(crate) fn acquire(path: &Path, identity: Identity) -> Result<Self, (PathBuf, io::Error)> {
        let mut locks = Self { directories: Mutex::default(), incomplete: false };
        let numbers = identity.lasting().map(u64::to_le_bytes);
        let own = bits_of(numbers.as_flattened(), FILE_BITS);
        let (directory, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
        let failed = |cause| (directory.to_owned(), cause);
        let mut next = Some(directory.to_owned());
        let mut steps = 0;
        while let Some(directory) = next {
            locks.lock_above(&directory.join(name), own)?;
            next = one_step(&directory).map_err(failed)?;
            steps += 1;
            if steps > MAX_STEPS {
                return Err(failed(io::Error::other("its path has too many links")));
            }
        }
        Ok(locks)
    }

    fn lock_above(&mut self, path: &Path, own: u64) -> Result<(), (PathBuf, io::Error)> {
        // The path of the file from the directory on. The file's own name has no capital letters.
        let mut below = PathBuf::from(path.file_name().unwrap_or_default());
        for directory in path.ancestors().skip(1) {
            let name = bits_of(below.as_os_str().as_encoded_bytes(), NAME_BITS) << FILE_BITS;
            below = Path::new(&counted_name(directory, is_same_directory)).join(&below);
            let opened = match os::open_directory(directory) {
                Ok(opened) => opened,
                Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
                    self.incomplete = true;
                    continue;
                }
                Err(cause) => return Err((directory.to_owned(), cause)),
            };
            let mut locked =
                LockedDirectory { path: directory.to_owned(), directory: opened, name, file: name + own, shows_users: true };
            // A file system without such locks on directories shows no users.
            let answer = os::lock_directory(&locked.directory, locked.file).and_then(|()| locked.other_file().map(drop));
            locked.shows_users = answer.is_ok();
            self.incomplete |= !locked.shows_users;
            self.directories.get_mut().unwrap_or_else(PoisonError::into_inner).push(locked);
        }
        Ok(())
    }

    /// Whether another file of this name is in use, as far as the directories tell.
    pub(crate) fn other_file_in_use(&self) -> bool {
        let directories = lock(&self.directories);
        // One that has answered before and does not now may hide a user.
        directories.iter().any(|directory| directory.shows_users && directory.other_file().map_or(true, |found| found.is_some()))
    }

    /// Evidence of another file of this name; `None` if nothing does any more.
    pub(crate) fn user(&self) -> Option<OtherUser> {
        lock(&self.directories).iter().filter(|directory| directory.shows_users).find_map(|found| {
            let lock = found.other_file().ok().flatten()?;
            Some(OtherUser { directory: found.path.clone(), lock, holder: os::holder(&found.directory, lock) })
        })
    }

    /// Whether another file of this name can be in use without being seen.
    pub(crate) const fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Releases the locks before the file is closed. The directories are closed and not unlocked: a forked child has the same
    /// locks, and may still mint from the file.
    pub(crate) fn release(&self) {
        lock(&self.directories).clear();
    }

    /// Flushes the directories above the file that are on its own file system, so that its path is there after a crash. The
    /// entries of other file systems existed before it was mounted.
    pub(crate) fn flush_names(&self, identity: Identity) -> io::Result<()> {
        lock(&self.directories)
            .iter()
            .try_for_each(|LockedDirectory { directory, .. }| os::flush_if_on(directory, identity.device))
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

    use super::*;

    fn identity(inode: u64) -> Identity {
        Identity { device: 1, inode, created_ns: 0, generation: None }
    }

    #[test]
    fn another_file_of_a_name_is_seen_and_the_same_file_and_other_names_are_not() {
        let top = std::env::temp_dir().join(format!("frazil-name-locks-{}", std::process::id()));
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
        // The nearest directories are replaced: those above them show the locks.
        std::fs::rename(top.join("a"), top.join("old")).unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        let replaced = lock("a/b/ids", 4);
        assert!(replaced.other_file_in_use());
        first.release();
        assert!(replaced.other_file_in_use());
        same.release();
        assert!(!replaced.other_file_in_use());
        std::fs::remove_dir_all(top).unwrap();
    }

    #[test]
    fn capital_letters_do_not_count_where_they_lead_to_the_same_directory() {
        let folds = |_: &Path, _: &Path| true;
        assert_eq!(counted_name(Path::new("/srv/Shop Ж"), folds), "shop ж");
        assert_eq!(counted_name(Path::new("/srv/Shop"), |_, _| false), "Shop");
        assert_eq!(counted_name(Path::new("/srv/2026"), |_, _| panic!("there is no other name")), "2026");
        let asked = std::cell::RefCell::new(PathBuf::new());
        counted_name(Path::new("/srv/Shop"), |_, other| {
            other.clone_into(&mut asked.borrow_mut());
            false
        });
        assert_eq!(*asked.borrow(), Path::new("/srv/sHOP"));
    }

    // On macOS the two names are one directory, on Linux two.
    #[test]
    fn files_of_a_name_that_differs_in_capital_letters_conflict_where_the_name_leads_to_the_same_directory() {
        let top = std::env::temp_dir().join(format!("frazil-name-locks-case-{}", std::process::id()));
        let lock = |path: &str, inode| NameLocks::acquire(&top.join(path), identity(inode)).unwrap();
        std::fs::create_dir_all(top.join("Shop/ids")).unwrap();
        let is_one_directory = top.join("sHOP").exists();
        let first = lock("Shop/ids/file", 1);
        std::fs::rename(top.join("Shop"), top.join("old")).unwrap();
        std::fs::create_dir_all(top.join("sHOP/ids")).unwrap();
        assert_eq!(lock("sHOP/ids/file", 2).other_file_in_use(), is_one_directory);
        drop(first);
        std::fs::remove_dir_all(top).unwrap();
    }

    // docs/internals/claims.md: 18
    #[test]
    fn a_path_through_a_link_of_a_link_conflicts_with_the_path_of_each_link_on_the_way() {
        let top = std::env::temp_dir().join(format!("frazil-name-locks-links-{}", std::process::id()));
        for version in ["v1", "v2"] {
            std::fs::create_dir_all(top.join(version).join("ids")).unwrap();
        }
        std::os::unix::fs::symlink("v1", top.join("latest")).unwrap();
        std::os::unix::fs::symlink("../latest", top.join("v2/current")).unwrap();
        let lock = |path: &str, inode| NameLocks::acquire(&top.join(path), identity(inode)).unwrap();
        let first = lock("v2/current/ids/file", 1);
        for path in ["v2/current/ids/file", "latest/ids/file", "v1/ids/file", "v2/../latest/ids/file"] {
            assert!(lock(path, 2).other_file_in_use(), "{path}");
            assert!(!lock(path, 1).other_file_in_use(), "{path}: the same file");
        }
        assert!(!lock("v2/ids/file", 2).other_file_in_use());
        drop(first);
        std::os::unix::fs::symlink("loop", top.join("loop")).unwrap();
        assert!(NameLocks::acquire(&top.join("loop/file"), identity(1)).is_err());
        std::fs::remove_dir_all(top).unwrap();
    }
}
