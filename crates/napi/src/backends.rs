//! One backend a process: the native addon or WebAssembly.
//!
//! The package also runs on WebAssembly, which shares no state with this addon. Under one node id the two would issue the same
//! IDs. Within a realm the package has one backend, but threads and realms do not see each other. So each backend leaves a mark
//! on the *process* before it mints for the first time, and looks for the mark of the other:
//!
//! * **This addon** maps a page of memory under a name, which `/proc/self/maps` shows. The name of the addon's file would not
//!   serve: a bundler may have changed it, and an addon that is loaded but not used conflicts with nothing.
//! * **WebAssembly** opens a file in the main thread that no other code opens, which `/proc/self/fd` shows. (In a worker thread
//!   it refuses static node ids.) Where that file does not exist or may not be read, it sets an environment variable, which
//!   contains the process id because a child inherits it.
//!
//! Each backend leaves its mark before it looks, so of two that start at once at least one sees the other. The mark of a
//! backend that was used stays until the process ends, as the states do.
//!
//! Not covered: outside Linux the addon leaves no mark, so only the addon detects WebAssembly. The counterpart is
//! `npm/frazil/src/binding/node.ts`.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The file in `/proc/self` that WebAssembly holds open.
const FILE: &str = "personality";
/// The environment variable. Its value is the process id, a colon, and the start time of the process, since process ids recur.
const VARIABLE: &str = "FRAZIL_WASM_PROCESS";

/// Whether the addon is the backend of this process.
struct Usage {
    /// Calls that are opening a state now.
    openings: usize,
    /// Whether one of them has opened a state.
    confirmed: bool,
    mark: Option<Mark>,
}

static USAGE: Mutex<Usage> = Mutex::new(Usage { openings: 0, confirmed: false, mark: None });

fn usage() -> MutexGuard<'static, Usage> {
    USAGE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An opening of a state. The addon is the backend of this process while one exists, and for good once one is confirmed.
pub(crate) struct Opening {
    confirmed: bool,
}

/// Marks the addon as the backend of this process, or returns why it cannot be.
pub(crate) fn begin_opening() -> Result<Opening, String> {
    let mut addon = usage();
    if !addon.confirmed && addon.openings == 0 {
        addon.mark = Mark::make();
        if wasm_is_used() {
            addon.mark = None;
            return Err(
                "frazil runs on WebAssembly in the main thread of this process, which shares no state with the native addon, so \
                 a node id is refused here: use one backend in all threads. Install frazil and its addon where the main thread \
                 finds them too (a bundler must leave frazil external), or set FRAZIL_BACKEND for the whole process"
                    .to_owned(),
            );
        }
    }
    addon.openings += 1;
    Ok(Opening { confirmed: false })
}

impl Opening {
    /// Notes that a state was opened.
    pub(crate) fn confirm(mut self) {
        self.confirmed = true;
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        let mut addon = usage();
        addon.openings -= 1;
        addon.confirmed |= self.confirmed;
        if addon.openings == 0 && !addon.confirmed {
            addon.mark = None;
        }
    }
}

/// Whether WebAssembly has marked this process.
fn wasm_is_used() -> bool {
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    if open
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .any(|file| file.starts_with("/proc") && file.ends_with(FILE))
    {
        return true;
    }
    let Ok(value) = std::env::var(VARIABLE) else { return false };
    value.starts_with(&format!("{}:", std::process::id())) && !is_inherited(&value)
}

/// Whether the process was started with that value. Then it is its parent's, which had the same id in another pid namespace.
fn is_inherited(value: &str) -> bool {
    let Ok(environment) = std::fs::read("/proc/self/environ") else { return false };
    environment.split(|byte| *byte == 0).any(|line| line == format!("{VARIABLE}={value}").as_bytes())
}

/// A page of memory with a name.
#[cfg(target_os = "linux")]
struct Mark(std::ptr::NonNull<libc::c_void>);

// SAFETY: the memory is never read or written, and any thread may unmap it.
#[cfg(target_os = "linux")]
unsafe impl Send for Mark {}

#[cfg(target_os = "linux")]
impl Mark {
    const BYTES: usize = 4096;

    /// `None` where the kernel refuses, as a sandbox may. Then there is no mark, as on other systems.
    fn make() -> Option<Self> {
        // By number: glibc has the function since 2.27 only, and an addon that names it could not be loaded by an older one.
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
impl Drop for Mark {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `make`, with this length, and nothing refers to its memory.
        unsafe { libc::munmap(self.0.as_ptr(), Self::BYTES) };
    }
}

/// No mark is known that JavaScript could read on this system.
#[cfg(not(target_os = "linux"))]
struct Mark;

#[cfg(not(target_os = "linux"))]
impl Mark {
    const fn make() -> Option<Self> {
        Some(Self)
    }
}
