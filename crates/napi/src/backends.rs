//! One backend a process for static node ids.
//!
//! The package also runs on WebAssembly, which shares no state with this addon, so under one node id the two repeat each
//! other. Within a realm the package has one backend; threads and realms know nothing of each other, so each backend leaves
//! a mark on the *process* that the other one reads, before it mints for the first time:
//!
//! * **This addon** maps a page of memory under a name, which `/proc/self/maps` shows to everybody. A file name would not do:
//!   a bundler may have renamed the addon, and an addon that is loaded but not used is in nobody's way.
//! * **WebAssembly** holds a file open in the main thread that nobody else opens, which `/proc/self/fd` shows; in a worker thread
//!   static node ids are refused anyway. Where there is no such file, or files may not be read, it sets a variable of the
//!   environment. A child inherits that, so it names the process.
//!
//! Each marks before it looks, so of two that start at once at least one sees the other. States last as long as the
//! process, and so does the mark of a backend that was used. On Linux; elsewhere the addon leaves no mark, and so only the
//! addon sees WebAssembly. The counterpart is `npm/frazil/src/binding/node.ts`.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What WebAssembly holds open of the process's folder in `/proc`.
const FILE: &str = "personality";
/// The variable: the process id, a colon, and what tells the process from an earlier one with that id.
const VARIABLE: &str = "FRAZIL_WASM_PROCESS";

/// The use of this addon by the process.
struct Use {
    /// Calls that are about to open a state.
    claims: usize,
    /// Whether one of them did.
    confirmed: bool,
    mark: Option<Mark>,
}

static USE: Mutex<Use> = Mutex::new(Use { claims: 0, confirmed: false, mark: None });

fn in_use() -> MutexGuard<'static, Use> {
    USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The addon is the backend of this process as long as this is held, and for good once it is confirmed.
pub(crate) struct Claim {
    confirmed: bool,
}

/// Takes the addon into use, or says why it cannot be.
pub(crate) fn claim() -> Result<Claim, String> {
    let mut addon = in_use();
    if !addon.confirmed && addon.claims == 0 {
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
    addon.claims += 1;
    Ok(Claim { confirmed: false })
}

impl Claim {
    /// A state was opened.
    pub(crate) fn confirm(mut self) {
        self.confirmed = true;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut addon = in_use();
        addon.claims -= 1;
        addon.confirmed |= self.confirmed;
        if addon.claims == 0 && !addon.confirmed {
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

/// Whether the process was started with that value: its parent's, which had the same id in another namespace.
fn is_inherited(value: &str) -> bool {
    let Ok(environment) = std::fs::read("/proc/self/environ") else { return false };
    environment.split(|byte| *byte == 0).any(|line| line == format!("{VARIABLE}={value}").as_bytes())
}

/// A page of memory with a name.
#[cfg(target_os = "linux")]
struct Mark(std::ptr::NonNull<libc::c_void>);

// SAFETY: the memory is never read or written; it is there to be seen, and any thread may unmap it.
#[cfg(target_os = "linux")]
unsafe impl Send for Mark {}

#[cfg(target_os = "linux")]
impl Mark {
    const BYTES: usize = 4096;

    /// `None` where the kernel refuses (a sandbox may): then nothing shows, as on other systems.
    fn make() -> Option<Self> {
        // SAFETY: the name ends with a zero, and the descriptor is closed below.
        let file = unsafe { libc::memfd_create(c"frazil-native".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return None;
        }
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

/// No mark is known that JavaScript could see.
#[cfg(not(target_os = "linux"))]
struct Mark;

#[cfg(not(target_os = "linux"))]
impl Mark {
    const fn make() -> Option<Self> {
        Some(Self)
    }
}
