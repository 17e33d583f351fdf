//! Copies on macOS: images that have a section of ours.
//!
//! dyld calls `added` for every image that is loaded, now or later, and `removed` before it unloads one. So the list holds only
//! images that are in memory, which a walk over dyld's list could not be sure of.

use std::ffi::{CStr, c_char, c_int, c_ulong, c_void};
use std::ptr;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// The mark of this copy: 1 from its first use on, and while a thread finds out whether it can be used. Its address identifies
/// the copy.
#[used]
#[unsafe(link_section = "__DATA,__frazil")]
pub(super) static MARK: AtomicU8 = AtomicU8::new(0);

unsafe extern "C" {
    fn _dyld_register_func_for_add_image(callback: extern "C" fn(*const c_void, isize));
    fn _dyld_register_func_for_remove_image(callback: extern "C" fn(*const c_void, isize));
    /// Where a section of an image is, and its length.
    fn getsectiondata(image: *const c_void, segment: *const c_char, section: *const c_char, length: *mut c_ulong) -> *mut u8;
}

/// Keeps the file loaded, by a handle that is never closed.
pub(super) fn pin() -> Result<(), String> {
    let path = file_of(&raw const MARK).ok_or("dladdr does not know its file")?;
    // SAFETY: the path ends with a zero. With `RTLD_NOLOAD` nothing is loaded.
    let handle = unsafe { libc::dlopen(path, libc::RTLD_NOLOAD | libc::RTLD_NODELETE | libc::RTLD_LAZY) };
    if handle.is_null() { Err(format!("dlopen does not find {}", text(path))) } else { Ok(()) }
}

/// The path of another copy that is in use, if there is one.
pub(super) fn other() -> Result<Option<String>, String> {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| {
        // SAFETY: the callbacks match the signatures and do not unwind. They exist as long as the process, as the file is pinned.
        // The second one is registered first, so that the removal of every listed image is reported.
        unsafe {
            _dyld_register_func_for_remove_image(removed);
            _dyld_register_func_for_add_image(added);
        }
    });
    let own = &raw const MARK as usize;
    let marks = marks();
    if !marks.contains(&own) {
        return Err("dyld does not list it".to_owned());
    }
    // SAFETY: `added` takes addresses of the section that is an `AtomicU8` in every copy, and `removed` has to wait for the lock
    // before the image is unloaded.
    let used = |mark: &&usize| **mark != own && unsafe { &*(**mark as *const AtomicU8) }.load(SeqCst) == 1;
    let other = marks.iter().find(used).copied();
    // dyld may hold its own lock while it calls `added`, so nothing of dyld may be called with the list locked.
    drop(marks);
    Ok(other.map(|mark| file_of(mark as *const AtomicU8).map_or_else(|| "a file without a name".to_owned(), text)))
}

/// The addresses of the marks of all copies that are loaded.
fn marks() -> MutexGuard<'static, Vec<usize>> {
    static MARKS: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    MARKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The address of the mark in an image, if the image is a copy of the addon.
fn mark_of(image: *const c_void) -> Option<usize> {
    let mut length = 0;
    // SAFETY: dyld passes the header of an image that is loaded, and the names end with a zero.
    let start = unsafe { getsectiondata(image, c"__DATA".as_ptr(), c"__frazil".as_ptr(), &raw mut length) };
    (!start.is_null() && length != 0).then_some(start as usize)
}

extern "C" fn added(image: *const c_void, _slide: isize) {
    if let Some(mark) = mark_of(image) {
        marks().push(mark);
    }
}

extern "C" fn removed(image: *const c_void, _slide: isize) {
    if let Some(mark) = mark_of(image) {
        marks().retain(|listed| *listed != mark);
    }
}

/// The path of the file that an address belongs to, in memory of dyld that exists as long as the file is loaded.
fn file_of(mark: *const AtomicU8) -> Option<*const c_char> {
    let mut info =
        libc::Dl_info { dli_fname: ptr::null(), dli_fbase: ptr::null_mut(), dli_sname: ptr::null(), dli_saddr: ptr::null_mut() };
    // SAFETY: any address may be asked for, and the record is ours.
    let found: c_int = unsafe { libc::dladdr(mark.cast(), &raw mut info) };
    (found != 0 && !info.dli_fname.is_null()).then_some(info.dli_fname)
}

/// A path of dyld.
fn text(path: *const c_char) -> String {
    // SAFETY: the path ends with a zero. It is that of this copy or of one in use; both are pinned, so it stays in memory.
    unsafe { CStr::from_ptr(path) }.to_string_lossy().into_owned()
}
