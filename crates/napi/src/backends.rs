//! One backend a process: the native addon or WebAssembly.
//!
//! The package also runs on WebAssembly, which shares no state with this addon. Under one node id the two would issue the same
//! IDs. Within a realm the package has one backend, but threads and realms do not see each other. So each backend leaves a mark
//! on the *process* before it mints for the first time, and looks for the mark of the other:
//!
//! * **This addon** leaves a mark that JavaScript can see. The name of the addon's file is no such mark: a bundler may have changed it, and
//!   an addon that is loaded but not used conflicts with nothing.
//!   * Linux: a page of memory under a name, which `/proc/self/maps` shows.
//!   * macOS, and Linux where the kernel refuses that: an open file that was removed, with a text that says what it is.
//!   * Windows: a named pipe. Its name contains the process id, and it ends with the process.
//! * **WebAssembly**, in the main thread, opens a file that no other code opens and that `/proc/self/fd` shows. It also sets an environment
//!   variable, which contains the process id because a child inherits it. (In a worker thread it refuses static node ids.) If one of the
//!   two is impossible, the other is enough.
//!
//! Each backend leaves its mark before it looks, so of two that start at once at least one sees the other. The mark of a
//! backend that was used stays until the process ends, as the states do.
//!
//! Not covered: a process where the addon can leave no mark, as in a sandbox. Then only the addon detects WebAssembly. The
//! counterpart is `npm/frazil/src/core/binding/node.ts`.

#[cfg(any(target_os = "linux", target_os = "macos"))]
#[path = "backends/unix.rs"]
mod system;
#[cfg(windows)]
#[path = "backends/windows.rs"]
mod system;

use std::sync::{Mutex, MutexGuard, PoisonError};

use frazil::abi::Frame;
use system::Mark;

/// The file in `/proc/self` that WebAssembly holds open.
const FILE: &str = "personality";
/// The environment variable. Its value is the process id, a colon, and the start time of the process, because process ids recur.
const VARIABLE: &str = "FRAZIL_WASM_PROCESS";

/// Whether the addon is the backend of this process.
struct Usage {
    /// The number of calls that are opening a state now.
    openings: usize,
    /// Whether one of them has opened a state.
    confirmed: bool,
    mark: Option<Mark>,
}

static USAGE: Mutex<Usage> = Mutex::new(Usage { openings: 0, confirmed: false, mark: None });

fn usage() -> MutexGuard<'static, Usage> {
    USAGE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a state that other threads share, if this addon can be the backend of the process.
pub(crate) fn as_backend(frame: &mut Frame, open: impl FnOnce(&mut Frame) -> u32) -> u32 {
    let opening = match begin_opening() {
        Ok(opening) => opening,
        Err(conflict) => return frame.refuse_conflict(&conflict),
    };
    let status = open(frame);
    if status == 0 {
        opening.confirm();
    }
    status
}

/// An opening of a state. The addon is the backend of this process while one exists, and for good once one is confirmed.
struct Opening {
    confirmed: bool,
}

/// Marks the addon as the backend of this process, or returns why it cannot be.
fn begin_opening() -> Result<Opening, String> {
    let mut addon = usage();
    if !addon.confirmed && addon.openings == 0 {
        addon.mark = Mark::make();
        if wasm_is_used() {
            addon.mark = None;
            return Err(
                "the main thread of this process runs on WebAssembly, which shares no state with the native addon\n\
                 Use one backend in all threads: install frazil and its addon where the main thread finds them too (a bundler must \
                 leave frazil external), or set FRAZIL_BACKEND for the whole process."
                    .to_owned(),
            );
        }
    }
    addon.openings += 1;
    Ok(Opening { confirmed: false })
}

impl Opening {
    /// Notes that a state was opened.
    fn confirm(mut self) {
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
    if has_mark_file() {
        return true;
    }
    let Ok(value) = std::env::var(VARIABLE) else { return false };
    value.starts_with(&format!("{}:", std::process::id())) && !is_inherited(&value)
}

/// Whether the process holds the file open that only WebAssembly opens, which only Linux has.
fn has_mark_file() -> bool {
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    cfg!(target_os = "linux")
        && open
            .filter_map(|entry| std::fs::read_link(entry.path()).ok())
            .any(|file| file.starts_with("/proc") && file.ends_with(FILE))
}

/// Whether the process was started with that value. Then it comes from the parent, which had the same id in another pid namespace.
fn is_inherited(value: &str) -> bool {
    let Ok(environment) = std::fs::read("/proc/self/environ") else { return false };
    environment.split(|byte| *byte == 0).any(|line| line == format!("{VARIABLE}={value}").as_bytes())
}
