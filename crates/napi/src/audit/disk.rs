//! Temporary files without names.
//!
//! * **Nothing is left**: a file is removed as soon as it is open (on Windows, when it closes), so also by `kill -9` and on a full disk.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use frazil_audit::Disk;

/// A file for each run, in a folder.
pub(super) struct FileDisk {
    folder: PathBuf,
    files: Vec<Option<File>>,
}

impl FileDisk {
    pub(super) const fn new(folder: PathBuf) -> Self {
        Self { folder, files: Vec::new() }
    }

    fn file(&mut self, run: u32) -> io::Result<&mut File> {
        let run = run as usize;
        if self.files.len() <= run {
            self.files.resize_with(run + 1, || None);
        }
        let file = &mut self.files[run];
        if file.is_none() {
            *file = Some(nameless(&self.folder)?);
        }
        file.as_mut().ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl Disk for FileDisk {
    type Error = io::Error;

    fn append(&mut self, run: u32, bytes: &[u8]) -> io::Result<()> {
        let file = self.file(run)?;
        file.seek(SeekFrom::End(0))?;
        file.write_all(bytes)
    }

    fn read(&mut self, run: u32, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let file = self.file(run)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut length = 0;
        while length < into.len() {
            match file.read(&mut into[length..]) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(length)
    }

    fn discard(&mut self, run: u32) {
        if let Some(file) = self.files.get_mut(run as usize) {
            *file = None;
        }
    }
}

/// A new file that only this process reads, and that has no name.
fn nameless(folder: &Path) -> io::Result<File> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let path = folder.join(format!("frazil-audit-{:016x}", u64::from_ne_bytes(random)));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    #[cfg(windows)]
    {
        /// `FILE_FLAG_DELETE_ON_CLOSE`.
        const DELETE_ON_CLOSE: u32 = 0x0400_0000;
        use std::os::windows::fs::OpenOptionsExt as _;
        options.share_mode(0).custom_flags(DELETE_ON_CLOSE);
    }
    let file = options.open(&path)?;
    #[cfg(unix)]
    std::fs::remove_file(&path)?;
    Ok(file)
}
