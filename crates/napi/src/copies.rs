//! One copy of this addon a process.
//!
//! One file that many threads load is one copy with one registry. Two files, such as two versions in one dependency tree, are
//! two copies with a registry each, and under one node id they would issue the same IDs. Within a realm the package's JavaScript
//! detects a second copy; across threads only the dynamic linker knows both.
//!
//! * **Detected by a symbol**, not by a file name, because a bundler may rename the file.
//! * **Never unloaded**: `napi-build` links with `-z nodelete`, so states outlive the last worker thread that used them.
//!
//! Not covered: outside Linux a second copy is not detected (`docs/api.md`).

use std::sync::atomic::AtomicU8;
#[cfg(target_os = "linux")]
use std::sync::atomic::Ordering::SeqCst;
#[cfg(target_os = "linux")]
use std::sync::{Mutex, PoisonError};

/// The mark that every copy exports. Its address identifies the copy. It is 1 from the first use of the copy on, and while a
/// thread finds out whether the copy can be used.
#[expect(unreachable_pub, reason = "exported by name, for the linker")]
#[unsafe(no_mangle)]
pub static FRAZIL_ADDON: AtomicU8 = AtomicU8::new(0);

/// Marks this copy as in use, or returns the path of another copy that is.
///
/// The mark is set before the others are read, so of two copies that start at once at least one sees the other.
#[cfg(target_os = "linux")]
pub(crate) fn mark_in_use() -> Result<(), String> {
    static IN_USE: Mutex<bool> = Mutex::new(false);
    claim(&FRAZIL_ADDON, &IN_USE, other)
}

/// The rule of [`mark_in_use`]. A copy in use stays in use and does not look again: a copy that it could see is about to be
/// refused because of this one.
#[cfg(target_os = "linux")]
pub(crate) fn claim(mark: &AtomicU8, in_use: &Mutex<bool>, other: impl FnOnce() -> Option<String>) -> Result<(), String> {
    // Held until the mark is final: a thread that is refused clears the mark, and no other thread may rely on it meanwhile.
    let mut in_use = in_use.lock().unwrap_or_else(PoisonError::into_inner);
    if *in_use {
        return Ok(());
    }
    mark.store(1, SeqCst);
    if let Some(path) = other() {
        mark.store(0, SeqCst);
        return Err(path);
    }
    *in_use = true;
    Ok(())
}

/// Other copies are not detected on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn mark_in_use() -> Result<(), String> {
    Ok(())
}

/// The path of another copy that is in use, if there is one.
#[cfg(target_os = "linux")]
fn other() -> Option<String> {
    use std::ffi::{CStr, CString, c_int, c_void};

    unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _size: usize, paths: *mut c_void) -> c_int {
        // SAFETY: the linker passes a valid record, whose name is null or ends with a zero, and `paths` as it was given.
        let (name, paths) = unsafe { ((*info).dlpi_name, &mut *paths.cast::<Vec<CString>>()) };
        if !name.is_null() {
            // SAFETY: as above; the text is copied before the callback returns.
            paths.push(unsafe { CStr::from_ptr(name) }.to_owned());
        }
        0
    }

    let mut paths: Vec<CString> = Vec::new();
    // SAFETY: the callback matches the signature and does not unwind; `paths` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut paths).cast()) };
    // The program itself has no name and no mark.
    let others = paths.iter().filter(|path| !path.is_empty()).find(|path| {
        // SAFETY: the path ends with a zero. With `RTLD_NOLOAD` nothing is loaded; the handle is given back below.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        if library.is_null() {
            return false;
        }
        // SAFETY: the handle is valid and the name ends with a zero; only the address is used.
        let mark = unsafe { libc::dlsym(library, c"FRAZIL_ADDON".as_ptr()) };
        let mark = mark.cast_const().cast::<AtomicU8>();
        let foreign = !mark.is_null() && mark != &raw const FRAZIL_ADDON;
        // SAFETY: every copy exports the mark as an `AtomicU8`, and the handle keeps that copy loaded.
        let used = foreign && unsafe { &*mark }.load(SeqCst) == 1;
        // SAFETY: the handle came from `dlopen` and is not used afterwards.
        unsafe { libc::dlclose(library) };
        used
    });
    others.map(|path| path.to_string_lossy().into_owned())
}
