//! The core as a Node-API addon: every function translates one call of [`Handles`] and nothing else.
//!
//! Names and order are those of `crates/wasm`, which has no files and so neither `local`, `local_async`, `opened` nor `file`.
//!
//! Free functions that pass numbers, and a page of memory for the rest, because class methods and strings cost several times
//! the work they carry (`docs/design.md`).
//!
//! * **States** are the process's: one registry behind a lock, shared by all worker threads.
//! * **Handles** are the page's: a handle table for each, in thread-local memory, so minting takes no lock.
//! * **A page** is a `SharedArrayBuffer`, the one kind of memory that no JavaScript can take away, shrink or move, so what the
//!   addon writes to is its own whatever becomes of the buffer. Each copy of the package in each realm has a page, since two
//!   that read one page would read each other's IDs.
//! * **A page lasts as long as its owner**, an object of the realm. The buffer is of the addon's own realm: a reference to one
//!   of the owner's would keep that realm alive.

mod backends;
mod copies;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use frazil::page::{ABI, Handles, LocalOpened, LocalOpening, NO_ID, Page, slot};
use frazil::{Code, Registry};
use napi::bindgen_prelude::{
    Env, Error, FromNapiValue, Function, JsObjectValue, JsValue, Object, Result, Status, Uint8Array, Unknown,
};
use napi::sys;
use napi_derive::napi;

static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());
static TICKETS: AtomicU32 = AtomicU32::new(0);

/// A page and the generators that were opened through it.
struct Lent {
    page: NonNull<Page>,
    handles: Handles,
    /// The reference that JavaScript's collector counts. Without it the memory is not ours.
    _memory: Uint8Array,
}

thread_local! {
    /// By number. `None` where the owner is gone; numbers are not used again.
    static PAGES: RefCell<Vec<Option<Lent>>> = const { RefCell::new(Vec::new()) };
    /// State files that were opened and not fetched yet, by ticket.
    static OPENED: RefCell<BTreeMap<u32, LocalOpened>> = const { RefCell::new(BTreeMap::new()) };
}

/// Runs a call on a page and its handle table; `unready` where this thread has no such page.
fn with<T>(page: u32, unready: T, call: impl FnOnce(&mut Handles, &mut Page) -> T) -> T {
    PAGES.with_borrow_mut(|pages| {
        let Some(Some(Lent { page, handles, .. })) = pages.get_mut(page as usize) else { return unready };
        // SAFETY: `lend` checked size, alignment and that the memory is shared, so it is there as long as the reference beside
        // it. JavaScript of this thread is suspended while the call runs, and the borrow of `PAGES` keeps this function from
        // making a second reference. Another thread has the memory only where somebody took it from our closure and sent
        // it there, and can then but change numbers, of which each is checked where it is read.
        call(handles, unsafe { page.as_mut() })
    })
}

/// `frazil::page::ABI`.
#[napi]
#[must_use]
pub fn abi() -> u32 {
    ABI
}

/// A page that was made: its number, and its memory.
#[napi(object)]
pub struct NewPage {
    /// What the other calls know it by.
    pub page: u32,
    /// A view of a `SharedArrayBuffer`.
    pub memory: Uint8Array,
}

/// Makes a page, which is there for as long as the owner is.
///
/// # Errors
/// `InvalidArg` for an owner that is no object, and where a replaced constructor made the memory; `STATE_CONFLICT` where the
/// process holds another copy of this addon, whose states this one cannot share.
#[napi]
pub fn page(env: &Env, mut owner: Object<'_>) -> Result<NewPage, String> {
    if let Err(path) = copies::claim() {
        let conflict = format!("another copy of frazil is loaded from {path}, and its states cannot be shared: install one");
        return Err(Error::new(Code::StateConflict.name().to_owned(), conflict));
    }
    let said = |error: Error| Error::new(error.status.to_string(), error.reason.clone());
    let (lent, memory) = lend(env).map_err(said)?;
    let page = PAGES.with_borrow_mut(|pages| {
        pages.push(Some(lent));
        pages.len() - 1
    });
    // Taken out first, so that nothing is dropped while the pages are borrowed.
    let forget = move || PAGES.try_with(|pages| pages.try_borrow_mut().ok()?.get_mut(page)?.take());
    if let Err(error) = owner.add_finalizer((), (), move |_| drop(forget())) {
        drop(forget());
        return Err(said(error));
    }
    Ok(NewPage { page: u32::try_from(page).unwrap_or(u32::MAX), memory })
}

/// A page in memory of the addon's realm, and a second reference to that memory.
fn lend(env: &Env) -> Result<(Lent, Uint8Array)> {
    let size = size_of::<Page>();
    let global = env.get_global()?;
    let shared: Function<'_, f64, Unknown<'_>> = global.get_named_property("SharedArrayBuffer")?;
    let bytes: Function<'_, Unknown<'_>, Unknown<'_>> = global.get_named_property("Uint8Array")?;
    #[expect(clippy::cast_precision_loss, reason = "34,816")]
    let view = bytes.new_instance(shared.new_instance(size as f64)?)?;
    let (memory, again) = (Uint8Array::from_unknown(view)?, Uint8Array::from_unknown(view)?);
    let (mut buffer, mut detachable) = (null_mut(), true);
    // SAFETY: both values are of this environment and this call, and what is not asked for may be null.
    let answers = unsafe {
        let (none, unsigned) = (null_mut(), null_mut());
        let view = sys::napi_get_typedarray_info(env.raw(), view.raw(), none, unsigned, null_mut(), &raw mut buffer, null_mut());
        [view, sys::napi_is_arraybuffer(env.raw(), buffer, &raw mut detachable)]
    };
    let start = NonNull::from(&*memory).cast::<Page>();
    if answers != [sys::Status::napi_ok; 2] || detachable || memory.len() != size || !start.is_aligned() {
        return Err(Error::new(Status::InvalidArg, format!("the page must be {size} bytes of a SharedArrayBuffer, aligned")));
    }
    Ok((Lent { page: start, handles: Handles::new(), _memory: memory }, again))
}

/// `Handles::open`.
#[napi]
#[must_use]
pub fn open(page: u32) -> u32 {
    // A thread that panicked while opening left the registry whole: a state is added in one step, at the end.
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    with(page, Code::Closed as u32, |handles, page| {
        if [slot::PRIVATE, slot::UNSHARED].iter().any(|at| page.numbers[*at] != 0.0) {
            return handles.open(page, &mut registry);
        }
        as_backend(page, |page| handles.open(page, &mut registry))
    })
}

/// Opens what other threads share, if this addon can be the backend of the process.
fn as_backend(page: &mut Page, open: impl FnOnce(&mut Page) -> u32) -> u32 {
    let claim = match backends::claim() {
        Ok(claim) => claim,
        Err(conflict) => return page.refuse_conflict(&conflict),
    };
    let status = open(page);
    if status == 0 {
        claim.confirm();
    }
    status
}

/// `Handles::local`, on a state file.
#[napi]
#[must_use]
pub fn local(page: u32) -> u32 {
    with(page, Code::Closed as u32, |handles, page| {
        as_backend(page, |page| handles.local(page, |request| Ok(frazil_local::attach(request)?)))
    })
}

/// The first half of [`local`], which does not hold the event loop: a promise of a ticket for [`opened`]. On a thread of its own, and
/// not of Node's pool: it can wait for seconds.
///
/// # Errors
/// `GenericFailure` where no thread can be had.
#[napi(ts_return_type = "Promise<number>")]
pub fn local_async(env: &Env, page: u32) -> Result<Object<'_>> {
    let opening = with(page, None, |_, page| Some(LocalOpening::of(page)));
    let (deferred, promise) = env.create_deferred()?;
    let work = move || {
        let opened = opening.map(|opening| opening.attach(|request| Ok(frazil_local::attach(request)?)));
        // Kept on the thread that asked, until it is fetched.
        deferred.resolve(move |_| {
            let ticket = TICKETS.fetch_add(1, Ordering::Relaxed);
            OPENED.with_borrow_mut(|kept| kept.extend(opened.map(|opened| (ticket, opened))));
            Ok(ticket)
        });
    };
    thread::Builder::new().name("frazil-open".to_owned()).spawn(work)?;
    Ok(promise)
}

/// The second half: `Handles::opened`, for a ticket, once.
#[napi]
#[must_use]
pub fn opened(page: u32, ticket: u32) -> u32 {
    let opened = OPENED.with_borrow_mut(|opened| opened.remove(&ticket));
    let closed = Code::Closed as u32;
    with(page, closed, |handles, page| opened.map_or(closed, |opened| as_backend(page, |page| handles.opened(page, opened))))
}

/// `Handles::release`.
#[napi]
pub fn release(page: u32, handle: f64) {
    with(page, (), |handles, _| handles.release(handle));
}

/// `Handles::admit`.
#[napi]
#[must_use]
pub fn admit(page: u32, handle: f64, count: f64, wait_ms: f64) -> u32 {
    with(page, Code::Closed as u32, |handles, page| handles.admit(page, handle, count, wait_ms))
}

/// `Handles::reserve`.
#[napi]
#[must_use]
pub fn reserve(page: u32, handle: f64, now_ms: f64, want: u32, confirmed: bool) -> u32 {
    with(page, Code::Closed as u32, |handles, page| handles.reserve(page, handle, now_ms, want, confirmed))
}

/// `Handles::next`.
#[napi]
#[must_use]
pub fn next(page: u32, handle: f64, now_ms: f64, confirmed: bool) -> u64 {
    with(page, NO_ID, |handles, page| handles.next(page, handle, now_ms, confirmed))
}

/// `Handles::health`.
#[napi]
#[must_use]
pub fn health(page: u32, handle: f64, now_ms: f64) -> u32 {
    with(page, Code::Closed as u32, |handles, page| handles.health(page, handle, now_ms))
}

/// `Handles::file`.
#[napi]
#[must_use]
pub fn file(page: u32, handle: f64) -> u32 {
    with(page, Code::Closed as u32, |handles, page| handles.file(page, handle))
}
