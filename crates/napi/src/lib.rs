//! The core as a Node-API addon: every function translates one call of [`Desk`] and nothing else.
//!
//! Names and order are those of `crates/wasm`, which has no files and so neither `local` nor `file`.
//!
//! Free functions that pass numbers, and a page of memory for the rest,
//! because class methods and strings cost several times the work they carry (`docs/design.md`).
//!
//! * **States** are the process's: one registry behind a lock, shared by all worker threads.
//! * **Handles** are the page's: a desk for each, in thread-local memory, so minting takes no lock.
//! * **A page** is an `ArrayBuffer` that JavaScript made and keeps. A thread has one for each realm that loaded the
//!   package (one, but under Jest), since two realms that read one page would read each other's IDs.

mod copies;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use frazil::page::{ABI, Desk, LocalOpened, LocalOpening, NO_ID, Page};
use frazil::{Code, Registry};
use napi::bindgen_prelude::{AsyncTask, Env, Error, Result, Status, Task, Uint8Array};
use napi_derive::napi;

static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());
static TICKETS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static DESKS: RefCell<Vec<(NonNull<Page>, Desk)>> = const { RefCell::new(Vec::new()) };
    /// State files that were opened and not fetched yet, by ticket.
    static OPENED: RefCell<BTreeMap<u32, LocalOpened>> = const { RefCell::new(BTreeMap::new()) };
}

/// Runs a call on a page and its desk; `unready` where this thread has no such page.
fn with<T>(page: u32, unready: T, call: impl FnOnce(&mut Desk, &mut Page) -> T) -> T {
    DESKS.with_borrow_mut(|desks| {
        let Some((page, desk)) = desks.get_mut(page as usize) else { return unready };
        // SAFETY: `page` checked size and alignment and keeps the buffer alive for ever. JavaScript, the only other party
        // that reads or writes the buffer, is suspended while this call of its own thread runs, and the borrow of `DESKS`
        // keeps this function from making a second reference.
        call(desk, unsafe { page.as_mut() })
    })
}

/// `frazil::page::ABI`.
#[napi]
#[must_use]
pub fn abi() -> u32 {
    ABI
}

/// Takes over a page and returns its number. The buffer must be as long as a page and is never given back.
///
/// # Errors
/// `InvalidArg` for a buffer of another size or alignment; `STATE_CONFLICT` where the process holds another copy of this
/// addon, whose states this one cannot share.
#[napi]
pub fn page(buffer: Uint8Array) -> Result<u32, String> {
    if let Err(path) = copies::claim() {
        let conflict = format!("another copy of frazil is loaded from {path}, and its states cannot be shared: install one");
        return Err(Error::new(Code::StateConflict.name().to_owned(), conflict));
    }
    let start = NonNull::from(&*buffer).cast::<Page>();
    if buffer.len() != size_of::<Page>() || !start.is_aligned() {
        return Err(Error::new(Status::InvalidArg.to_string(), format!("the page must be {} bytes, aligned", size_of::<Page>())));
    }
    // Keeps the reference that JavaScript's collector counts, and so the memory, for the life of the environment.
    std::mem::forget(buffer);
    DESKS.with_borrow_mut(|desks| {
        desks.push((start, Desk::new()));
        Ok(u32::try_from(desks.len() - 1).unwrap_or(u32::MAX))
    })
}

/// `Desk::open`.
#[napi]
#[must_use]
pub fn open(page: u32) -> u32 {
    // A thread that panicked while opening left the registry whole: a state is added in one step, at the end.
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    with(page, Code::Closed as u32, |desk, page| desk.open(page, &mut registry))
}

/// `Desk::local`, on a state file.
#[napi]
#[must_use]
pub fn local(page: u32) -> u32 {
    with(page, Code::Closed as u32, |desk, page| desk.local(page, |request| Ok(frazil_local::attach(request)?)))
}

/// The first half of [`local`], which does not hold the event loop: a ticket for [`opened`].
#[napi]
#[must_use]
pub fn local_async(page: u32) -> AsyncTask<Opening> {
    AsyncTask::new(Opening(with(page, None, |_, page| Some(LocalOpening::of(page)))))
}

/// The second half: `Desk::opened`, for a ticket, once.
#[napi]
#[must_use]
pub fn opened(page: u32, ticket: u32) -> u32 {
    let opened = OPENED.with_borrow_mut(|opened| opened.remove(&ticket));
    let closed = Code::Closed as u32;
    with(page, closed, |desk, page| opened.map_or(closed, |opened| desk.opened(page, opened)))
}

/// The opening of a state file on a thread of Node's pool.
#[derive(Debug)]
pub struct Opening(Option<LocalOpening>);

impl Task for Opening {
    type Output = Option<LocalOpened>;
    type JsValue = u32;

    fn compute(&mut self) -> Result<Self::Output> {
        Ok(self.0.take().map(|opening| opening.attach(|request| Ok(frazil_local::attach(request)?))))
    }

    /// Keeps what came of it on the thread that asked, until it is fetched.
    fn resolve(&mut self, _env: Env, output: Self::Output) -> Result<u32> {
        let ticket = TICKETS.fetch_add(1, Ordering::Relaxed);
        OPENED.with_borrow_mut(|opened| opened.extend(output.map(|output| (ticket, output))));
        Ok(ticket)
    }
}

/// `Desk::release`.
#[napi]
pub fn release(page: u32, handle: f64) {
    with(page, (), |desk, _| desk.release(handle));
}

/// `Desk::admit`.
#[napi]
#[must_use]
pub fn admit(page: u32, handle: f64, count: f64, wait_ms: f64) -> u32 {
    with(page, Code::Closed as u32, |desk, page| desk.admit(page, handle, count, wait_ms))
}

/// `Desk::reserve`.
#[napi]
#[must_use]
pub fn reserve(page: u32, handle: f64, now_ms: f64, want: u32, confirmed: bool) -> u32 {
    with(page, Code::Closed as u32, |desk, page| desk.reserve(page, handle, now_ms, want, confirmed))
}

/// `Desk::next`.
#[napi]
#[must_use]
pub fn next(page: u32, handle: f64, now_ms: f64, confirmed: bool) -> u64 {
    with(page, NO_ID, |desk, page| desk.next(page, handle, now_ms, confirmed))
}

/// `Desk::health`.
#[napi]
#[must_use]
pub fn health(page: u32, handle: f64, now_ms: f64) -> u32 {
    with(page, Code::Closed as u32, |desk, page| desk.health(page, handle, now_ms))
}

/// `Desk::file`.
#[napi]
#[must_use]
pub fn file(page: u32, handle: f64) -> u32 {
    with(page, Code::Closed as u32, |desk, page| desk.file(page, handle))
}
