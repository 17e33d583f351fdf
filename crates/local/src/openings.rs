//! Openings of state files that run on their own threads.
//!
//! An opening can wait for seconds, so it must not run on an event loop, nor on a pool whose few threads others need.
//!
//! * **The thread that asked owns the opening**, under a ticket, until the result is taken or the opening is abandoned. The thread
//!   that opens the file has a weak reference only. So if the opening was abandoned, or the thread that asked has ended, the file
//!   that was opened is closed at once.
//! * **The end is always reported**, since a caller waits for it: when the opening ends, when no thread can be started, and when the
//!   opening is abandoned.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use frazil::abi::{LocalOpened, LocalOpening};

use crate::cancellation::while_wanted;
use crate::fault::Fault;
use crate::local::attach;

/// The ticket of no opening.
pub const NO_TICKET: u32 = 0;
static TICKETS: AtomicU32 = AtomicU32::new(NO_TICKET + 1);

thread_local! {
    /// The openings that this thread asked for, by ticket.
    static OPENINGS: RefCell<BTreeMap<u32, Arc<Opening>>> = const { RefCell::new(BTreeMap::new()) };
}

struct Opening(Mutex<Progress>);

struct Progress {
    /// `None` once a thread has taken it.
    request: Option<LocalOpening>,
    /// Tells the end. `None` once that was done, and before [`when_ended`].
    tell: Option<Box<dyn FnOnce() + Send>>,
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
        let tell = progress.tell.take();
        drop(progress);
        if let Some(tell) = tell {
            tell();
        }
    }
}

/// Starts an opening, and returns its ticket. If no thread can be started, the result is a refusal that says so.
///
/// ```
/// use frazil::Code;
/// use frazil::abi::{Frame, Handles, LocalOpening};
/// use frazil_local::openings;
/// let (mut handles, mut frame) = (Handles::new(), Frame::new());
/// let ticket = openings::begin(LocalOpening::of(&mut frame));
/// let (tell, told) = std::sync::mpsc::channel();
/// openings::when_ended(ticket, move || drop(tell.send(())));
/// told.recv().unwrap();
/// let opened = openings::take(ticket).unwrap();
/// assert_eq!(handles.opened(&mut frame, opened), Code::InvalidLayout as u32); // a frame of zeros is no layout
/// assert!(openings::take(ticket).is_none()); // once
/// ```
#[must_use]
pub fn begin(request: LocalOpening) -> u32 {
    let opening = Arc::new(Opening(Mutex::new(Progress { request: Some(request), tell: None, result: None })));
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
    let result = request.attach(|request| Ok(while_wanted(Box::new(is_wanted), || attach(request))?));
    if let Some(opening) = opening.upgrade() {
        opening.finish(Some(result));
    }
}

/// Calls `tell` once when the opening has ended, on any thread: at once where it has, or where this thread has no such opening. For
/// each ticket once.
pub fn when_ended(ticket: u32, tell: impl FnOnce() + Send + 'static) {
    let opening = OPENINGS.with_borrow(|openings| openings.get(&ticket).map(Arc::clone));
    if let Some(opening) = opening {
        let mut progress = opening.progress();
        if progress.result.is_none() {
            progress.tell = Some(Box::new(tell));
            return;
        }
    }
    tell();
}

/// The result of an opening that has ended, once.
#[must_use]
pub fn take(ticket: u32) -> Option<LocalOpened> {
    remove(ticket)?.progress().result.take()
}

/// Gives an opening up: reports its end, and closes what it opened or will open.
pub fn abandon(ticket: u32) {
    if let Some(opening) = remove(ticket) {
        opening.finish(None);
    }
}

fn remove(ticket: u32) -> Option<Arc<Opening>> {
    OPENINGS.with_borrow_mut(|openings| openings.remove(&ticket))
}
