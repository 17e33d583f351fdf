//! Which state file the options lead to: its path, its file system, what its header must hold, and how it is made if there is
//! none.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use frazil::Code;
use frazil::error::Subject;
use frazil::mint::{Key, MAX_LEAD_MS, Machine, SequenceStart};

use crate::clock::wall_ms;
use crate::disk::{Header, Record};
use crate::fault::Fault;
use crate::mapped::MappedState;
use crate::os::{self, Identity, Support};

/// A file that was not started for so long after it was made is not new any more. So processes that each refuse to wait can start
/// it in the end.
pub(crate) const NEW_FOR: Duration = Duration::from_secs(10);

/// Whether a file is new: made a moment ago, and not started since.
pub(crate) fn is_new(file: &File) -> io::Result<bool> {
    let old = || Ok::<_, io::Error>(file.metadata()?.modified()?.elapsed().is_ok_and(|age| age > NEW_FOR));
    Ok(!MappedState::was_started(file)? && !old()?)
}

/// A scope as it is in the name of a file: a capital letter is the small one with a `+`, which no scope has, before it. So the files of
/// `Orders` and `orders` differ where a file system takes capital and small letters as equal, and have the same names everywhere.
fn unfolded(scope: &str) -> String {
    scope.chars().fold(String::new(), |mut name, letter| {
        if letter.is_ascii_uppercase() {
            name.push('+');
        }
        name.push(letter.to_ascii_lowercase());
        name
    })
}

/// A state file that the options lead to.
#[derive(Debug)]
pub(crate) struct FileSpec {
    path: PathBuf,
    scope: String,
    pub(crate) machine: Machine,
    pub(crate) sequence_start: SequenceStart,
    /// The name of the file system that the caller vouches for.
    vouched_file_system: Option<String>,
}

impl FileSpec {
    pub(crate) fn new(
        dir: &Path,
        scope: String,
        machine: Machine,
        sequence_start: SequenceStart,
        vouched_file_system: Option<String>,
    ) -> Self {
        let path = dir.join(format!("{}-{:016x}-{}.frazil", unfolded(&scope), machine.fingerprint(), machine.node()));
        Self { path, scope, machine, sequence_start, vouched_file_system }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn failed(&self, doing: &str) -> impl FnOnce(io::Error) -> Fault {
        move |cause| Fault::failed(&self.path, doing, &cause)
    }

    /// Opens the file, and makes it if there is none. Returns it with the name of its file system.
    pub(crate) fn open(&self) -> Result<(File, String), Fault> {
        // Checked before the file is opened: on a layer of a container, opening a file for writing copies it.
        if let Ok(directory) = os::open_directory(self.path.parent().unwrap_or(Path::new("/"))) {
            self.check_file_system(&directory)?;
        }
        // Gives up on a file that is deleted each time it is made.
        for _ in 0..8 {
            match os::open(&self.path, false) {
                Ok(file) => {
                    if !file.metadata().map_err(self.failed("read"))?.is_file() {
                        return Err(Fault::corrupt(&self.path, "is no plain file"));
                    }
                    let file_system = self.check_file_system(&file)?;
                    return Ok((file, file_system));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.make()?,
                // A directory, or a link: links are not followed.
                Err(_) if self.path.symlink_metadata().is_ok_and(|found| !found.is_file()) => {
                    return Err(Fault::corrupt(&self.path, "is no plain file"));
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(Fault::forbidden(&self.path, &os::rights_text(&self.path), &error));
                }
                Err(error) => return Err(Fault::failed(&self.path, "opened", &error)),
            }
        }
        Err(Fault::corrupt(&self.path, "is deleted as soon as it is made"))
    }

    /// Returns the name of the file system, unless it cannot hold a state file.
    fn check_file_system(&self, file: &File) -> Result<String, Fault> {
        let (name, support) = os::file_system(file).map_err(self.failed("asked for its file system"))?;
        let dir = self.path.parent().unwrap_or(&self.path).display();
        let (why, hint) = match support {
            Support::Supported => return Ok(name),
            Support::IfVouched if self.vouched_file_system.as_deref() == Some(name.as_str()) => return Ok(name),
            Support::IfVouched => (
                "several hosts may share, or which may lose flushed data",
                format!(
                    "Pass a dir on a disk of this machine. If only this machine uses it, if it can be mapped, and if a flush there lasts, \
                     say so with fileSystem: \"{name}\"."
                ),
            ),
            Support::Unsupported(why) => (why, "Pass a dir on a disk of this machine (in a container, on a volume).".to_owned()),
        };
        Err(Fault::new(Code::UnsupportedFileSystem, Subject::Dir, format!("{dir} is on {name}, which {why}"), hint))
    }

    /// Checks that a file is the one that this specification means, and not a copy of it.
    pub(crate) fn check(&self, header: &Header, identity: Identity, file_system: &str) -> Result<(), Fault> {
        let Header { fingerprint, node, scope, inode, created_ns, generation, .. } = header;
        // `None` where only one of the two sides is known.
        let same_time =
            [*created_ns, identity.created_ns].iter().all(|ns| *ns != 0).then_some(*created_ns == identity.created_ns);
        let same_use = generation.zip(identity.generation).map(|(written, found)| written == found);
        let same = [same_time, same_use];
        let what = if *fingerprint != self.machine.fingerprint() {
            "belongs to another layout"
        } else if *node != self.machine.node() {
            "belongs to another node id"
        } else if *scope != self.scope {
            "belongs to another scope"
        } else if *inode != identity.inode || same.contains(&Some(false)) {
            "is a copy, and the file that it was copied from may have gone on"
        } else if same == [None, None] && self.vouched_file_system.as_deref() != Some(file_system) {
            let text = format!("{} is on {file_system}, where a copy cannot be told from the file", self.path.display());
            let hint = format!(
                "It records neither when a file was made nor the generation of its inode. Pass a dir on another file system. If no one \
                 copies or restores the file, say so with fileSystem: \"{file_system}\"."
            );
            return Err(Fault::new(Code::UnsupportedFileSystem, Subject::Dir, text, hint));
        } else {
            return Ok(());
        };
        Err(Fault::corrupt(&self.path, what))
    }

    /// Makes the file, unless another process was faster. Whether an older file of its name is in use is checked when this one is
    /// opened.
    fn make(&self) -> Result<(), Fault> {
        let not_made = |cause: io::Error| Fault::not_made(&self.path, &cause);
        let dir = self.path.parent().unwrap_or(Path::new("/"));
        let base = dir.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
        self.check_file_system(&os::open_directory(base).map_err(not_made)?)?;
        let missing = dir.ancestors().take_while(|path| *path != base).count();
        os::make_directories(dir).map_err(not_made)?;
        // The name may have had another file until now, whose user ended before it could be seen. So the window begins with the
        // first tick that this user cannot have issued.
        let ceiling_ms = self.machine.tick_from(wall_ms() + MAX_LEAD_MS + 1);
        self.write_new(dir, ceiling_ms).map_err(not_made)?;
        // Each directory that got a new entry is flushed, so that the file is there after a crash.
        for made in dir.ancestors().take(missing + 1) {
            os::flush_directory(made).map_err(not_made)?;
        }
        Ok(())
    }

    /// Writes a new file under a temporary name and then gives it its own name, so that the file appears as a whole or not at all.
    fn write_new(&self, dir: &Path, ceiling_ms: u64) -> io::Result<()> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        // A random number, because process ids recur after a crash and in each container that shares the directory; and the
        // process id, because forked children can draw the same random number.
        let temporary = dir.join(format!(".{name}.{:x}-{:016x}", std::process::id(), Key::random().halves()[0]));
        let result = self.fill_new(&temporary, dir, ceiling_ms).and_then(|()| match os::publish(&temporary, &self.path) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            result => result,
        });
        let removed = match fs::remove_file(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        };
        result.and(removed)
    }

    /// Writes and flushes a whole new file.
    fn fill_new(&self, temporary: &Path, dir: &Path, ceiling_ms: u64) -> io::Result<()> {
        let file = os::open(temporary, true)?;
        os::share_with_directory(&file, dir)?;
        let length = MappedState::file_len(self.machine.clock_ids());
        os::allocate(&file, length)?;
        // Written in full: the first write to a block that is only allocated can still need space for metadata.
        io::copy(&mut io::Read::take(io::repeat(0), length), &mut &file)?;
        let Identity { inode, created_ns, generation, .. } = os::identity(&file)?;
        let Self { machine, scope, .. } = self;
        let header = Header {
            fingerprint: machine.fingerprint(),
            node: machine.node(),
            scope: scope.clone(),
            inode,
            created_ns,
            generation,
            key: Key::random().halves(),
        };
        header.write(&file)?;
        for number in [0, 1] {
            Record { number, ceiling_ms }.write(&file)?;
        }
        file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

    use frazil::{Layout, Node};

    use super::*;

    fn spec(vouched_file_system: Option<&str>) -> FileSpec {
        let machine = Machine::new(&Layout::named("default").unwrap(), Node::Id(7), 1000).unwrap();
        let vouched_file_system = vouched_file_system.map(str::to_owned);
        FileSpec::new(Path::new("/ids"), "shop".to_owned(), machine, SequenceStart::Zero, vouched_file_system)
    }

    fn header() -> Header {
        let fingerprint = spec(None).machine.fingerprint();
        let scope = "shop".to_owned();
        Header { fingerprint, node: 7, scope, inode: 5, created_ns: 9, generation: Some(3), key: [1, 2] }
    }

    #[test]
    fn two_scopes_have_two_file_names_also_where_capital_letters_do_not_count() {
        let name = |scope: &str| {
            let spec = FileSpec { scope: scope.to_owned(), ..spec(None) };
            let FileSpec { scope, machine, sequence_start, .. } = spec;
            let path = FileSpec::new(Path::new("/ids"), scope, machine, sequence_start, None).path;
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        let names = ["orders", "Orders", "ORDERS", "oRders", "o-rders", "o_rders"].map(name);
        for (at, name) in names.iter().enumerate() {
            assert_eq!(*name, name.to_lowercase());
            assert!(!names[..at].contains(name), "{name}");
        }
        assert!(names[0].starts_with("orders-") && names[1].starts_with("+orders-"), "{names:?}");
    }

    const FILE: Identity = Identity { device: 1, inode: 5, created_ns: 9, generation: Some(3) };

    // docs/internals/claims.md: 16
    #[test]
    fn a_file_is_used_only_where_its_header_names_it() {
        let check = |header: Header, identity| spec(None).check(&header, identity, "ext4").map_err(|fault| fault.to_string());
        let refused = |header, identity, text: &str| {
            let fault = check(header, identity).unwrap_err();
            assert!(fault.contains(text), "{fault}");
        };
        check(header(), FILE).unwrap();
        refused(Header { fingerprint: 1, ..header() }, FILE, "belongs to another layout");
        refused(Header { node: 8, ..header() }, FILE, "belongs to another node id");
        refused(Header { scope: "default".to_owned(), ..header() }, FILE, "belongs to another scope");
        refused(header(), Identity { inode: 6, ..FILE }, "is a copy");
        refused(header(), Identity { created_ns: 10, ..FILE }, "is a copy");
        refused(header(), Identity { generation: Some(4), ..FILE }, "is a copy");
        // A disk that comes back under another number is no copy: see the mapped state.
        check(header(), Identity { device: 2, ..FILE }).unwrap();
    }

    // docs/internals/claims.md: 16
    #[test]
    fn one_of_the_two_marks_of_an_inode_number_is_enough_and_none_needs_a_caller_who_vouches() {
        let check = |vouched, identity| spec(vouched).check(&header(), identity, "fuse").map_err(|fault| fault.code());
        let without_time = Identity { created_ns: 0, ..FILE };
        let without_generation = Identity { generation: None, ..FILE };
        let without_both = Identity { created_ns: 0, generation: None, ..FILE };
        assert_eq!([check(None, without_time), check(None, without_generation)], [Ok(()); 2]);
        assert_eq!(check(None, Identity { generation: Some(4), ..without_time }), Err(Code::StateFileCorrupt));
        assert_eq!(check(None, Identity { created_ns: 10, ..without_generation }), Err(Code::StateFileCorrupt));
        assert_eq!(check(None, without_both), Err(Code::UnsupportedFileSystem));
        assert_eq!(check(Some("nfs"), without_both), Err(Code::UnsupportedFileSystem));
        assert_eq!(check(Some("fuse"), without_both), Ok(()));
    }
}
