//! Openings of state files that run on threads of their own.
//!
//! An opening can wait for seconds, so it does not run on the event loop. It does not run on Node's pool either, because a few
//! openings that wait would hold all file system calls of the process.
//!
//! * **The thread that asked owns the opening**, under a ticket, until the result is taken or the opening is abandoned. The thread
//!   that opens the file has a weak reference only. So if the opening was abandoned, or the thread that asked has ended, the file
//!   that was opened is closed at once.
//! * **The promise is always settled**, because an unsettled one keeps the event loop running: when the opening ends, when no
//!   thread can be started, and when the opening is abandoned.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use frazil::abi::{LocalOpened, LocalOpening};
use frazil_local::Fault;
use napi::JsDeferred;
use napi::bindgen_prelude::{Env, Object, Result};

/// The ticket of no opening.
pub(crate) const NO_TICKET: u32 = 0;
static TICKETS: AtomicU32 = AtomicU32::new(NO_TICKET + 1);

thread_local! {
    /// The openings that this thread asked for, by ticket.
    static OPENINGS: RefCell<BTreeMap<u32, Arc<Opening>>> = const { RefCell::new(BTreeMap::new()) };
}

type Deferred = JsDeferred<(), fn(Env) -> Result<()>>;

struct Opening(Mutex<Progress>);

struct Progress {
    /// `None` once a thread has taken it.
    request: Option<LocalOpening>,
    /// `None` once the opening has ended, and before [`when_opened`].
    deferred: Option<Deferred>,
    /// What the opening ended with.
    result: Option<LocalOpened>,
}

impl Opening {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, result: Option<LocalOpened>) {
        let mut progress = self.progress();
        progress.result = result;
        let deferred = progress.deferred.take();
        drop(progress);
        if let Some(deferred) = deferred {
            settle(deferred);
        }
    }
}

fn settle(deferred: Deferred) {
    deferred.resolve(|_| Ok(()));
}

/// Starts an opening, and returns its ticket. If no thread can be started, the result is a refusal that says so.
pub(crate) fn begin(request: LocalOpening) -> u32 {
    let opening = Arc::new(Opening(Mutex::new(Progress { request: Some(request), deferred: None, result: None })));
    let thread = thread::Builder::new().name("frazil-open".to_owned());
    let work = {
        let opening = Arc::downgrade(&opening);
        move || run(&opening)
    };
    if let Err(cause) = thread.spawn(work) {
        let request = opening.progress().request.take();
        opening.finish(request.map(|request| request.attach(|_| Err(Fault::no_thread(&cause).into()))));
    }
    let ticket = TICKETS.fetch_add(1, Ordering::Relaxed);
    OPENINGS.with_borrow_mut(|openings| openings.insert(ticket, opening));
    ticket
}

fn run(opening: &Weak<Opening>) {
    // Abandoned before this thread began.
    let Some(request) = opening.upgrade().and_then(|opening| opening.progress().request.take()) else { return };
    let owner = Weak::clone(opening);
    let is_wanted = move || owner.strong_count() > 0;
    let result = request.attach(|request| Ok(frazil_local::attach_while_wanted(request, is_wanted)?));
    if let Some(opening) = opening.upgrade() {
        opening.finish(Some(result));
    }
}

/// A promise that is resolved when the opening has ended. For each ticket once.
pub(crate) fn when_opened(env: &Env, ticket: u32) -> Result<Object<'_>> {
    let (deferred, promise) = env.create_deferred()?;
    let opening = OPENINGS.with_borrow(|openings| openings.get(&ticket).map(Arc::clone));
    match opening.as_ref().map(|opening| opening.progress()) {
        Some(mut progress) if progress.result.is_none() => progress.deferred = Some(deferred),
        _ => settle(deferred),
    }
    Ok(promise)
}

/// The result of an opening, once.
pub(crate) fn take(ticket: u32) -> Option<LocalOpened> {
    remove(ticket)?.progress().result.take()
}

/// Ends the wait for an opening: its promise is settled, and what it opened or will have opened is closed.
pub(crate) fn abandon(ticket: u32) {
    if let Some(opening) = remove(ticket) {
        opening.finish(None);
    }
}

fn remove(ticket: u32) -> Option<Arc<Opening>> {
    OPENINGS.with_borrow_mut(|openings| openings.remove(&ticket))
}
