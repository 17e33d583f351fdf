//! Why a state file cannot be used: a code, a message that names the file, and a hint that says what to do.

use std::fmt;
use std::io;
use std::path::Path;

use frazil::error::{Rule, Subject};
use frazil::{Code, Error};

/// Why a state file cannot be used.
///
/// ```
/// use frazil::{Code, Layout};
/// use frazil_local::{Local, LocalOptions};
/// let shared_memory = LocalOptions { dir: Some("/dev/shm".into()), ..LocalOptions::default() };
/// let fault = Local::open(&Layout::named("default")?, shared_memory).unwrap_err();
/// assert_eq!(fault.code(), Code::UnsupportedFileSystem);
/// assert!(fault.to_string().contains("/dev/shm is on tmpfs"));
/// assert!(fault.hint().unwrap().starts_with("Pass a dir on a disk"));
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    error: Error,
    text: String,
    hint: String,
}

impl Fault {
    pub(crate) fn new(code: Code, subject: Subject, text: String, hint: impl Into<String>) -> Self {
        Self { error: Error::with_subject(code, subject), text, hint: hint.into() }
    }

    /// A state file that cannot be opened, read or written. Others may go on with it, so only another node id allows another directory.
    pub(crate) fn failed(path: &Path, doing: &str, cause: &io::Error) -> Self {
        let text = format!("{} cannot be {doing}: {cause}", path.display());
        Self::new(Code::StateFileFailed, Subject::Dir, text, remedy(cause))
    }

    /// A state file that cannot be made, so there is none yet.
    pub(crate) fn not_made(path: &Path, cause: &io::Error) -> Self {
        let remedy = match cause.kind() {
            io::ErrorKind::PermissionDenied => "Pass a dir that this user may write, or change its owner.",
            io::ErrorKind::ReadOnlyFilesystem => "Pass a dir on a volume that can be written.",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "Free 128 KiB there, or pass a dir on another volume.",
            _ => remedy(cause),
        };
        let text = format!("{} cannot be made: {cause}", path.display());
        Self::new(Code::StateFileFailed, Subject::Dir, text, remedy)
    }

    /// A state file that this user may not open. `rights`: who may; empty if the file cannot be seen.
    pub(crate) fn forbidden(path: &Path, rights: &str, cause: &io::Error) -> Self {
        let remedy = if rights.is_empty() {
            "Pass a dir that this user may write, or change its owner. If others use this one, pass another node too."
        } else {
            remedy(cause)
        };
        let text = format!("{} cannot be opened{rights}: {cause}", path.display());
        Self::new(Code::StateFileFailed, Subject::Dir, text, remedy)
    }

    /// A state file whose ceiling cannot be made durable.
    pub(crate) fn not_flushed(path: &Path, cause: &io::Error) -> Self {
        let remedy = if is_forbidden(cause) {
            "Allow this process to write and flush the file (fdatasync) in its sandbox (seccomp)."
        } else {
            remedy(cause)
        };
        let text = format!("{} cannot be flushed to disk, so minting from it has stopped: {cause}", path.display());
        Self::new(Code::StateFileFailed, Subject::Dir, text, remedy)
    }

    /// A state file that is not what it should be; `what` completes the sentence that begins with its path.
    pub(crate) fn corrupt(path: &Path, what: &str) -> Self {
        let hint = "What it reserved is unknown, so nothing is minted from it. Put the original file back (with mv: a copy is \
                    refused), or pass another node.";
        Self::new(Code::StateFileCorrupt, Subject::Dir, format!("{} {what}", path.display()), hint)
    }

    /// A file over which something else was written.
    pub(crate) fn overwritten(path: &Path) -> Self {
        Self::corrupt(path, "was overwritten while it was in use")
    }

    /// No thread could be started to open a state file on.
    pub(crate) fn no_thread(cause: &io::Error) -> Self {
        let hint = "Raise the limit of threads (ulimit -u, pids.max of the cgroup, TasksMax= of systemd), end some threads, or use \
                    Snowflake.local(), which opens the file without a thread.";
        let text = format!("no thread could be started to open the state file: {cause}");
        Self::new(Code::StateFileFailed, Subject::Dir, text, hint)
    }

    /// The code of the cause.
    ///
    /// ```
    /// use frazil::{Code, Layout, Node};
    /// use frazil_local::{Local, LocalOptions};
    /// let options = LocalOptions { node: Some(Node::Id(1024)), ..LocalOptions::default() };
    /// assert_eq!(Local::open(&Layout::named("default")?, options).unwrap_err().code(), Code::InvalidNode);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn code(&self) -> Code {
        self.error.code()
    }

    /// The error without its sentence.
    ///
    /// ```
    /// use frazil::Layout;
    /// use frazil_local::{Local, LocalOptions};
    /// let options = LocalOptions { scope: Some("not a name".into()), ..LocalOptions::default() };
    /// assert_eq!(Local::open(&Layout::named("default")?, options).unwrap_err().error().field(), "scope");
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn error(&self) -> Error {
        self.error
    }

    /// The message that names the file or option, without the code; empty if the error itself says all.
    ///
    /// ```
    /// use frazil::Layout;
    /// use frazil_local::{Local, LocalOptions};
    /// let options = LocalOptions { dir: Some("/dev/shm".into()), ..LocalOptions::default() };
    /// assert!(Local::open(&Layout::named("default")?, options).unwrap_err().text().starts_with("/dev/shm is on tmpfs, which "));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What to do, if there is something to say.
    ///
    /// ```
    /// use frazil::Layout;
    /// use frazil_local::{Local, LocalOptions};
    /// let options = LocalOptions { dir: Some("state".into()), ..LocalOptions::default() };
    /// assert!(Local::open(&Layout::named("default")?, options).unwrap_err().hint().unwrap().contains("From here it is /"));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        if self.hint.is_empty() { self.error.hint().map(|hint| hint.to_string()) } else { Some(self.hint.clone()) }
    }

    /// The message, and the hint in a last line: what the error itself does not say.
    pub(crate) fn explained(&self) -> String {
        if self.text.is_empty() { String::new() } else { format!("{}\n{}", self.text.replace('\n', " "), self.hint) }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self { error, text: String::new(), hint: String::new() }
    }
}

impl From<Fault> for (Error, String) {
    fn from(fault: Fault) -> Self {
        (fault.error, fault.explained())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() || self.error.rule() != Rule::None {
            return self.error.fmt(f);
        }
        write!(f, "{}: {}", self.code().name(), self.text)
    }
}

impl std::error::Error for Fault {}

/// The Unix error numbers for too many open files, in the process and in the system.
#[cfg(unix)]
const TOO_MANY_FILES: [i32; 2] = [24, 23];
#[cfg(not(unix))]
const TOO_MANY_FILES: [i32; 0] = [];

/// The Windows error numbers for a file that another program has open and does not share, or of which it has locked a part.
#[cfg(windows)]
const NOT_SHARED: [i32; 2] = [32, 33];
#[cfg(not(windows))]
const NOT_SHARED: [i32; 0] = [];

/// An error of the operating system about something else than the state file: what the kernel shows in /proc.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "errors of other systems keep their number"))]
#[derive(Debug)]
struct Elsewhere {
    what: String,
    cause: io::Error,
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.cause)
    }
}

impl std::error::Error for Elsewhere {}

/// Says what an error is about, and keeps its number, by which the remedy is chosen.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "errors of other systems keep their number"))]
pub(crate) fn at(what: String, cause: io::Error) -> io::Error {
    io::Error::other(Elsewhere { what, cause })
}

fn elsewhere(cause: &io::Error) -> Option<&Elsewhere> {
    cause.get_ref()?.downcast_ref()
}

/// The number of an error of the operating system.
fn number_of(cause: &io::Error) -> Option<i32> {
    cause.raw_os_error().or_else(|| elsewhere(cause)?.cause.raw_os_error())
}

/// Whether a call is forbidden to this process (a sandbox), which is told without an attempt. A disk that does not know a command
/// answers `EOPNOTSUPP`, which the standard library takes for the same as `ENOSYS`.
#[cfg(unix)]
pub(crate) fn is_forbidden(cause: &io::Error) -> bool {
    use nix::libc::{EACCES, ENOSYS, EPERM};
    matches!(cause.raw_os_error(), Some(EPERM | EACCES | ENOSYS))
}

/// Whether a call is forbidden to this process.
#[cfg(not(unix))]
pub(crate) fn is_forbidden(cause: &io::Error) -> bool {
    cause.kind() == io::ErrorKind::PermissionDenied
}

/// The remedy for an error of the operating system with a file that may exist.
fn remedy(cause: &io::Error) -> &'static str {
    if number_of(cause).is_some_and(|number| TOO_MANY_FILES.contains(&number)) {
        return "Raise the limit of open files (ulimit -n), or close some. A state file takes one, and one for each directory above it.";
    }
    if number_of(cause).is_some_and(|number| NOT_SHARED.contains(&number)) {
        return "Another program has it open and does not share it. Exclude dir from backups and virus scanners, and try again.";
    }
    if elsewhere(cause).is_some() {
        return "Let this process read /proc: mount it, or allow it in its sandbox.";
    }
    match cause.kind() {
        io::ErrorKind::PermissionDenied => "Let this user read and write it, or pass another node.",
        io::ErrorKind::ReadOnlyFilesystem => "Mount it writable, or pass another node, and a dir on another volume.",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "Free space there, or pass another node, and a dir on another volume."
        }
        io::ErrorKind::FileTooLarge => "Raise the limit of the size of files of this process (ulimit -f) to 128 KiB or more.",
        io::ErrorKind::InvalidFilename => "Pass a shorter dir.",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => "Pass a dir that is a directory.",
        _ => "Check the disk, or pass another node.",
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_for_too_many_open_files_is_a_higher_limit_and_not_another_disk() {
        let fault = Fault::failed(Path::new("/a"), "opened", &io::Error::from_raw_os_error(24));
        let hint = |fault: &Fault| fault.hint().unwrap_or_default();
        assert!(
            hint(&fault).contains("ulimit -n") && !hint(&fault).contains("disk") && !fault.text().contains("disk"),
            "{fault}"
        );
        assert!(hint(&Fault::failed(Path::new("/a"), "opened", &io::Error::from_raw_os_error(5))).contains("Check the disk"));
        let elsewhere = at("the boot id".to_owned(), io::Error::from_raw_os_error(24));
        let fault = Fault::failed(Path::new("/a"), "read", &elsewhere);
        // Each C library words it in its own way.
        let too_many = io::Error::from_raw_os_error(24);
        assert!(fault.text().ends_with(&format!("the boot id: {too_many}")) && hint(&fault).contains("ulimit -n"), "{fault}");
        let missing = at("the boot id".to_owned(), io::Error::from_raw_os_error(2));
        let fault = Fault::failed(Path::new("/a"), "read", &missing);
        assert!(fault.text().contains("the boot id: No such file") && hint(&fault).contains("read /proc"), "{fault}");
    }

    #[test]
    fn another_dir_is_offered_only_with_another_node_or_if_there_is_no_file() {
        use nix::libc::{EACCES, EDQUOT, EIO, ENOSPC, EPERM, EROFS};
        let path = Path::new("/a");
        for number in [EACCES, EDQUOT, EIO, ENOSPC, EPERM, EROFS] {
            let cause = io::Error::from_raw_os_error(number);
            let flush = Fault::not_flushed(path, &cause);
            let [opened, seen, unseen] = [
                Fault::failed(path, "opened", &cause),
                Fault::forbidden(path, " by you", &cause),
                Fault::forbidden(path, "", &cause),
            ];
            for fault in [flush, opened, seen, unseen] {
                let hint = fault.hint().unwrap_or_default();
                assert!(hint.contains("pass another node") || !hint.contains("dir"), "{fault}: {hint}");
            }
        }
        let full = Fault::not_made(path, &io::Error::from_raw_os_error(ENOSPC)).hint().unwrap_or_default();
        assert!(full.contains("pass a dir on another volume"), "{full}");
    }

    // docs/internals/claims.md: 17
    #[test]
    fn a_flush_failed_by_the_disk_unless_it_is_forbidden_to_the_process() {
        use nix::libc::{EACCES, EIO, ENOSPC, ENOSYS, EOPNOTSUPP, EPERM, EROFS};
        let is_forbidden = |number| is_forbidden(&io::Error::from_raw_os_error(number));
        // A block device that does not know a command says EOPNOTSUPP, which has the kind of ENOSYS.
        assert_eq!([EIO, ENOSPC, EROFS, EOPNOTSUPP].map(is_forbidden), [false; 4]);
        assert_eq!([EPERM, EACCES, ENOSYS].map(is_forbidden), [true; 3]);
    }
}
