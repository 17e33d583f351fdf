//! The mark of the addon on Linux and macOS.

use std::fs::{File, OpenOptions, remove_file};
use std::io::Write;

/// The text in the file of [`Mark::File`].
const TEXT: &[u8] = b"frazil-native";

/// A page of memory with a name, or an open file that was removed.
#[expect(dead_code, reason = "held until it is dropped")]
pub(super) enum Mark {
    #[cfg(target_os = "linux")]
    Memory(Memory),
    File(File),
}

impl Mark {
    /// `None` where the system refuses both, as a sandbox may. Then there is no mark.
    pub(super) fn make() -> Option<Self> {
        #[cfg(target_os = "linux")]
        if let Some(memory) = Memory::map() {
            return Some(Self::Memory(memory));
        }
        removed_file().map(Self::File)
    }
}

/// A file without a name, visible only to a process that has it open. A child does not inherit it.
fn removed_file() -> Option<File> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).ok()?;
    let path = std::env::temp_dir().join(format!("frazil-{:016x}", u64::from_ne_bytes(random)));
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).ok()?;
    remove_file(path).ok()?;
    file.write_all(TEXT).ok()?;
    Some(file)
}

/// A page of memory with a name.
#[cfg(target_os = "linux")]
pub(super) struct Memory(std::ptr::NonNull<libc::c_void>);

// SAFETY: the memory is never read or written, and any thread may unmap it.
#[cfg(target_os = "linux")]
unsafe impl Send for Memory {}

#[cfg(target_os = "linux")]
impl Memory {
    const BYTES: usize = 4096;

    /// `None` where the kernel refuses.
    fn map() -> Option<Self> {
        // By number: the function is new in glibc 2.27, and an addon that names it could not be loaded by an older one.
        // SAFETY: the name ends with a zero, and the descriptor is closed below.
        let file = unsafe { libc::syscall(libc::SYS_memfd_create, c"frazil-native".as_ptr(), libc::MFD_CLOEXEC) };
        let file = libc::c_int::try_from(file).ok().filter(|file| *file >= 0)?;
        let (protection, shared) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: a new mapping at a place of the kernel's choice touches no other memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), Self::BYTES, protection, shared, file, 0) };
        // SAFETY: `file` came from `memfd_create` and is not used afterwards; the mapping keeps its memory.
        unsafe { libc::close(file) };
        if start == libc::MAP_FAILED { None } else { std::ptr::NonNull::new(start).map(Self) }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map`, with this length, and nothing refers to its memory.
        unsafe { libc::munmap(self.0.as_ptr(), Self::BYTES) };
    }
}
