//! The memory of JavaScript that the calls reach: pages, and arrays of callers.
//!
//! * **A page is a `SharedArrayBuffer`**, the only memory that JavaScript cannot detach, shrink or move. Each copy of the package
//!   in each realm has a page of its own, since two that share one would read each other's IDs.
//! * **A page exists as long as its owner**, an object of the caller's realm. The buffer belongs to the addon's realm: a
//!   reference to a buffer of the owner's realm would keep that realm alive.
//! * **One handle table a page**, in thread-local memory, so minting takes no lock.

use std::cell::RefCell;
use std::ptr::{NonNull, null_mut};

use frazil::abi::{Handles, Page};
use napi::bindgen_prelude::{
    Env, Error, FromNapiValue, Function, JsObjectValue, JsValue, Object, Result, Status, Uint8Array, Unknown,
};
use napi::sys;

/// A page and the generators that were opened through it.
struct OpenPage {
    page: NonNull<Page>,
    handles: Handles,
    /// Keeps the memory from being collected.
    _memory: Uint8Array,
}

thread_local! {
    /// By number. `None` once the owner was collected; numbers are not reused.
    static PAGES: RefCell<Vec<Option<OpenPage>>> = const { RefCell::new(Vec::new()) };
}

/// Runs a call on a page and its handle table. Returns `closed` where this thread has no such page.
pub(crate) fn with_page<T>(page: u32, closed: T, call: impl FnOnce(&mut Handles, &mut Page) -> T) -> T {
    PAGES.with_borrow_mut(|pages| {
        let Some(Some(OpenPage { page, handles, .. })) = pages.get_mut(page as usize) else { return closed };
        // SAFETY: `open_page` checked the size, the alignment, and that the memory is shared, so the memory exists as long as the
        // reference beside it. JavaScript of this thread is suspended while the call runs, and the borrow of `PAGES` prevents a
        // second reference. Another thread has the memory only if a program took it from our closure and sent it there. Then
        // that thread can only change numbers, and each number is checked where it is read.
        call(handles, unsafe { page.as_mut() })
    })
}

/// Makes a page, which exists as long as the owner does. Returns its number and its memory.
pub(crate) fn make(env: Env, mut owner: Object<'_>) -> Result<(u32, Uint8Array)> {
    let (open, memory) = open_page(&env)?;
    let page = PAGES.with_borrow_mut(|pages| {
        pages.push(Some(open));
        pages.len() - 1
    });
    // Taken out first, so that nothing is dropped while the pages are borrowed.
    let remove = move || PAGES.try_with(|pages| pages.try_borrow_mut().ok()?.get_mut(page)?.take());
    if let Err(error) = owner.add_finalizer((), (), move |_| drop(remove())) {
        drop(remove());
        return Err(error);
    }
    Ok((u32::try_from(page).unwrap_or(u32::MAX), memory))
}

/// A page in memory of the addon's realm, and a second reference to that memory.
fn open_page(env: &Env) -> Result<(OpenPage, Uint8Array)> {
    let size = size_of::<Page>();
    let global = env.get_global()?;
    let shared: Function<'_, f64, Unknown<'_>> = global.get_named_property("SharedArrayBuffer")?;
    let bytes: Function<'_, Unknown<'_>, Unknown<'_>> = global.get_named_property("Uint8Array")?;
    #[expect(clippy::cast_precision_loss, reason = "34,816")]
    let view = bytes.new_instance(shared.new_instance(size as f64)?)?;
    let (memory, again) = (Uint8Array::from_unknown(view)?, Uint8Array::from_unknown(view)?);
    let (mut buffer, mut detachable) = (null_mut(), true);
    // SAFETY: both values belong to this environment and this call, and an output that is not wanted may be null.
    let answers = unsafe {
        let (none, unsigned) = (null_mut(), null_mut());
        let view = sys::napi_get_typedarray_info(env.raw(), view.raw(), none, unsigned, null_mut(), &raw mut buffer, null_mut());
        [view, sys::napi_is_arraybuffer(env.raw(), buffer, &raw mut detachable)]
    };
    let start = NonNull::from(&*memory).cast::<Page>();
    if answers != [sys::Status::napi_ok; 2] || detachable || memory.len() != size || !start.is_aligned() {
        return Err(Error::new(Status::InvalidArg, format!("the page must be {size} bytes of a SharedArrayBuffer, aligned")));
    }
    Ok((OpenPage { page: start, handles: Handles::new(), _memory: memory }, again))
}

/// The elements of a `BigUint64Array`; none of any other value.
///
/// # Safety
/// JavaScript of this thread must not run while the slice exists, and no second slice of the array. The elements must only be written:
/// another thread can write to them at any time, if their memory is shared.
pub(crate) unsafe fn elements_of<'a>(env: &Env, array: Unknown<'a>) -> &'a mut [u64] {
    let (mut kind, mut length, mut start) = (0, 0, null_mut());
    // SAFETY: the value belongs to this environment and this call, and an output that is not wanted may be null.
    let answer = unsafe {
        let (kind, length, start) = (&raw mut kind, &raw mut length, &raw mut start);
        sys::napi_get_typedarray_info(env.raw(), array.raw(), kind, length, start, null_mut(), null_mut())
    };
    let Some(start) = NonNull::new(start.cast::<u64>()) else { return &mut [] };
    if answer != sys::Status::napi_ok || kind != sys::TypedarrayType::biguint64_array || !start.is_aligned() {
        return &mut [];
    }
    // SAFETY: the engine says where the elements are and how many; `'a` ends with the value, which keeps the memory.
    unsafe { core::slice::from_raw_parts_mut(start.as_ptr(), length) }
}
