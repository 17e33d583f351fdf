//! The core as a Node-API addon: each function translates one call of [`Handles`].
//!
//! Names and order are those of `crates/wasm`, which has no files and writes into no other memory than its own, and therefore has no
//! `local`, `local_async`, `when_opened`, `opened`, `abandon`, `default_dir`, `file` and `fill`.
//!
//! The functions are free functions that pass numbers, and a page of memory holds everything else: class methods and strings
//! cost several times the work that they carry (`docs/design.md`). `fill` takes an array as well: a copy of its IDs costs more.
//!
//! * **One registry a process**, behind a lock, shared by all worker threads.
//! * **One handle table a page**, in thread-local memory, so minting takes no lock.
//! * **A page is a `SharedArrayBuffer`**, the only memory that JavaScript cannot detach, shrink or move. Each copy of the package
//!   in each realm has a page of its own, since two that share one would read each other's IDs.
//! * **A page exists as long as its owner**, an object of the caller's realm. The buffer belongs to the addon's realm: a
//!   reference to a buffer of the owner's realm would keep that realm alive.
//!
//! Not covered: a process where the addon can leave no mark for WebAssembly that starts later (`backends.rs`).

mod backends;
mod copies;
mod openings;

use std::cell::RefCell;
use std::ptr::{NonNull, null_mut};
use std::sync::{Mutex, PoisonError};

use frazil::abi::{ABI, Handles, LocalOpening, NO_ID, Page, ceiling_call, lease_call, segment_call, slot};
use frazil::{Code, Registry};
use napi::bindgen_prelude::{
    Env, Error, FromNapiValue, Function, JsObjectValue, JsValue, Object, Result, Status, Uint8Array, Unknown,
};
use napi::sys;
use napi_derive::napi;

static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());

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
fn with_page<T>(page: u32, closed: T, call: impl FnOnce(&mut Handles, &mut Page) -> T) -> T {
    PAGES.with_borrow_mut(|pages| {
        let Some(Some(OpenPage { page, handles, .. })) = pages.get_mut(page as usize) else { return closed };
        // SAFETY: `make_page` checked the size, the alignment, and that the memory is shared, so the memory exists as long as the
        // reference beside it. JavaScript of this thread is suspended while the call runs, and the borrow of `PAGES` prevents a
        // second reference. Another thread has the memory only if a program took it from our closure and sent it there. Then
        // that thread can only change numbers, and each number is checked where it is read.
        call(handles, unsafe { page.as_mut() })
    })
}

/// `frazil::abi::ABI`.
#[napi]
#[must_use]
pub fn abi() -> u32 {
    ABI
}

/// A page that was made: its number, and its memory.
#[napi(object)]
pub struct NewPage {
    /// The number that the other calls take.
    pub page: u32,
    /// A view of a `SharedArrayBuffer`.
    pub memory: Uint8Array,
}

/// Makes a page, which exists as long as the owner does.
///
/// # Errors
/// `InvalidArg` for an owner that is no object, and where a replaced constructor made the memory. `STATE_CONFLICT` where the
/// process uses another copy of this addon, whose states this one cannot share.
#[napi]
pub fn page(env: &Env, mut owner: Object<'_>) -> Result<NewPage, String> {
    copies::mark_in_use().map_err(|conflict| Error::new(Code::StateConflict.name().to_owned(), conflict))?;
    let coded = |error: Error| Error::new(error.status.to_string(), error.reason.clone());
    let (open, memory) = make_page(env).map_err(coded)?;
    let page = PAGES.with_borrow_mut(|pages| {
        pages.push(Some(open));
        pages.len() - 1
    });
    // Taken out first, so that nothing is dropped while the pages are borrowed.
    let remove = move || PAGES.try_with(|pages| pages.try_borrow_mut().ok()?.get_mut(page)?.take());
    if let Err(error) = owner.add_finalizer((), (), move |_| drop(remove())) {
        drop(remove());
        return Err(coded(error));
    }
    Ok(NewPage { page: u32::try_from(page).unwrap_or(u32::MAX), memory })
}

/// A page in memory of the addon's realm, and a second reference to that memory.
fn make_page(env: &Env) -> Result<(OpenPage, Uint8Array)> {
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

/// `Handles::open`.
#[napi]
#[must_use]
pub fn open(page: u32) -> u32 {
    // A thread that panicked while it opened left the registry consistent: a state is added in one step, at the end.
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    with_page(page, Code::Closed as u32, |handles, page| {
        if [slot::PRIVATE, slot::UNSHARED].iter().any(|at| page.numbers[*at] != 0.0) {
            return handles.open(page, &mut registry);
        }
        as_backend(page, |page| handles.open(page, &mut registry))
    })
}

/// Opens a state that other threads share, if this addon can be the backend of the process.
fn as_backend(page: &mut Page, open: impl FnOnce(&mut Page) -> u32) -> u32 {
    let opening = match backends::begin_opening() {
        Ok(opening) => opening,
        Err(conflict) => return page.refuse_conflict(&conflict),
    };
    let status = open(page);
    if status == 0 {
        opening.confirm();
    }
    status
}

/// `Handles::local`, on a state file.
#[napi]
#[must_use]
pub fn local(page: u32) -> u32 {
    with_page(page, Code::Closed as u32, |handles, page| {
        as_backend(page, |page| handles.local(page, |request| Ok(frazil_local::attach(request)?)))
    })
}

/// The first half of [`local`], which does not block the event loop: a ticket for [`when_opened`], [`opened`] and [`abandon`].
#[napi]
#[must_use]
pub fn local_async(page: u32) -> u32 {
    let request = with_page(page, None, |_, page| Some(LocalOpening::of(page)));
    request.map_or(openings::NO_TICKET, openings::begin)
}

/// A promise that is resolved when [`opened`] has something to return.
///
/// # Errors
/// `GenericFailure` if the environment can run no JavaScript.
#[napi(ts_return_type = "Promise<void>")]
pub fn when_opened(env: &Env, ticket: u32) -> Result<Object<'_>> {
    openings::when_opened(env, ticket)
}

/// The second half: `Handles::opened`, for a ticket, once.
#[napi]
#[must_use]
pub fn opened(page: u32, ticket: u32) -> u32 {
    let opened = openings::take(ticket);
    let closed = Code::Closed as u32;
    with_page(page, closed, |handles, page| opened.map_or(closed, |opened| as_backend(page, |page| handles.opened(page, opened))))
}

/// Instead of the second half, if the result is not wanted any more: the promise is resolved, and what is opened is closed.
#[napi]
pub fn abandon(ticket: u32) {
    openings::abandon(ticket);
}

/// The directory of the state files for which none is given, if the environment has one.
#[napi]
#[must_use]
pub fn default_dir() -> Option<String> {
    frazil_local::default_dir().map(|dir| dir.to_string_lossy().into_owned())
}

/// `Handles::release`.
#[napi]
pub fn release(page: u32, handle: f64) {
    with_page(page, (), |handles, _| handles.release(handle));
}

/// `Handles::admit`.
#[napi]
#[must_use]
pub fn admit(page: u32, handle: f64, count: f64, wait_ms: f64) -> u32 {
    with_page(page, Code::Closed as u32, |handles, page| handles.admit(page, handle, count, wait_ms))
}

/// `Handles::reserve`.
#[napi]
#[must_use]
pub fn reserve(page: u32, handle: f64, now_ms: f64, want: u32, confirmed: bool) -> u32 {
    with_page(page, Code::Closed as u32, |handles, page| handles.reserve(page, handle, now_ms, want, confirmed))
}

/// `Handles::fill`, on a `BigUint64Array` of the caller.
#[napi]
#[must_use]
pub fn fill(env: &Env, page: u32, handle: f64, now_ms: f64, confirmed: bool, target: Unknown<'_>) -> u32 {
    with_page(page, Code::Closed as u32, |handles, page| {
        // SAFETY: the slice is dropped before this call returns to JavaScript, and no other is made of the array.
        let elements = unsafe { elements_of(env, target) };
        handles.fill(page, handle, now_ms, elements, confirmed)
    })
}

/// The elements of a `BigUint64Array`; none of any other value.
///
/// # Safety
/// JavaScript of this thread must not run while the slice exists, and no second slice of the array. The elements must only be written:
/// another thread can write to them at any time, if their memory is shared.
unsafe fn elements_of<'a>(env: &Env, array: Unknown<'a>) -> &'a mut [u64] {
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

/// `Handles::next`.
#[napi]
#[must_use]
pub fn next(page: u32, handle: f64, now_ms: f64, confirmed: bool) -> u64 {
    with_page(page, NO_ID, |handles, page| handles.next(page, handle, now_ms, confirmed))
}

/// `Handles::health`.
#[napi]
#[must_use]
pub fn health(page: u32, handle: f64, now_ms: f64) -> u32 {
    with_page(page, Code::Closed as u32, |handles, page| handles.health(page, handle, now_ms))
}

/// `Handles::lease`. The random numbers come from the kernel: two copies of a restored virtual machine must not draw the same.
#[napi]
#[must_use]
pub fn lease(page: u32, handle: f64, call: u32) -> u32 {
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    with_page(page, Code::Closed as u32, |handles, page| {
        draw_random(page);
        if call == lease_call::OPEN {
            return as_backend(page, |page| handles.lease(page, &mut registry, handle, call));
        }
        handles.lease(page, &mut registry, handle, call)
    })
}

/// `Handles::ceiling`, with random numbers as for leases.
#[napi]
#[must_use]
pub fn ceiling(page: u32, handle: f64, call: u32) -> u32 {
    with_page(page, Code::Closed as u32, |handles, page| {
        if call == ceiling_call::OPEN {
            draw_random(page);
            return as_backend(page, |page| handles.ceiling(page, handle, call));
        }
        handles.ceiling(page, handle, call)
    })
}

/// `Handles::segment`, with random numbers as for leases.
#[napi]
#[must_use]
pub fn segment(page: u32, handle: f64, call: u32) -> u32 {
    with_page(page, Code::Closed as u32, |handles, page| {
        // These need none, and are frequent.
        if !matches!(call, segment_call::DRAW | segment_call::STATUS | segment_call::WRITE) {
            draw_random(page);
        }
        handles.segment(page, handle, call)
    })
}

/// Writes random numbers of the kernel into the page. Not numbers if there are none, which the core refuses.
fn draw_random(page: &mut Page) {
    let mut random = [0; 32];
    let is_drawn = getrandom::fill(&mut random).is_ok();
    for (number, word) in page.numbers[slot::RANDOM..].iter_mut().zip(random.as_chunks().0) {
        *number = if is_drawn { f64::from(u32::from_ne_bytes(*word)) } else { f64::NAN };
    }
}

/// `Handles::file`.
#[napi]
#[must_use]
pub fn file(page: u32, handle: f64) -> u32 {
    with_page(page, Code::Closed as u32, |handles, page| handles.file(page, handle))
}
