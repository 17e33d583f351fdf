//! The core as a Node-API addon: each function translates one call of [`Handles`](frazil::abi::Handles).
//!
//! Names and order are those of `crates/wasm`. That has no files and writes only into its own memory, so it has no
//! `local`, `local_async`, `when_opened`, `opened`, `abandon`, `default_dir`, `file`, `fill` and `line_memory`.
//!
//! The functions are free functions that pass numbers, and a frame of memory holds everything else: class methods and strings
//! cost several times the work that they carry (`docs/internals/design.md`). `fill` takes an array as well: a copy of its IDs costs more.
//!
//! Whatever is more than translation has a file. A process uses one copy of the addon (`copies.rs`) and one backend (`backends.rs`), and
//! has one registry behind a lock, which all worker threads share. A realm has its frames (`frames.rs`); TypeScript swaps words itself
//! (`lines.rs`); and a state file is opened on a thread ([`openings`]). The audit of IDs mints nothing, and is a class (`audit.rs`).

mod audit;
mod backends;
mod copies;
mod frames;
mod lines;

use std::sync::{Mutex, PoisonError};

use backends::as_backend;
use frames::with_frame;
use frazil::abi::{ABI, Frame, Handles, LocalOpening, ceiling_call, lease_call, segment_call, slot};
use frazil::{Code, Registry};
use frazil_local::openings;
use napi::bindgen_prelude::{Env, Error, Object, Result, Uint8Array, Unknown};
use napi_derive::napi;

static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());

/// `frazil::abi::ABI`.
#[napi]
#[must_use]
pub fn abi() -> u32 {
    ABI
}

/// A frame that was made: its number, and its memory.
#[napi(object)]
pub struct NewFrame {
    /// The number that the other calls take.
    pub frame: u32,
    /// A view of a `SharedArrayBuffer`.
    pub memory: Uint8Array,
}

/// Makes a frame, which exists as long as the owner does. With `has_lines`, its generators have lines ([`line_memory`]).
///
/// # Errors
/// `InvalidArg` if the owner is not an object, or if a replaced constructor made the memory. `STATE_CONFLICT` if the process uses another
/// copy of this addon, whose states this one cannot share.
#[napi]
pub fn frame(env: &Env, owner: Object<'_>, has_lines: bool) -> Result<NewFrame, String> {
    copies::mark_in_use().map_err(|conflict| Error::new(Code::StateConflict.name().to_owned(), conflict))?;
    let (frame, memory) =
        frames::make(*env, owner, has_lines).map_err(|error| Error::new(error.status.to_string(), error.reason.clone()))?;
    Ok(NewFrame { frame, memory })
}

/// `Handles::open`.
#[napi]
#[must_use]
pub fn open(frame: u32) -> u32 {
    // Even after a panic while opening, the registry is consistent: a state is added in one step, at the end.
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    with_frame(frame, Code::Closed as u32, |handles, frame| {
        if [slot::PRIVATE, slot::UNSHARED].iter().any(|at| frame.numbers[*at] != 0.0) {
            return handles.open(frame, &mut registry);
        }
        as_backend(frame, |frame| handles.open(frame, &mut registry))
    })
}

/// `Handles::local`, on a state file.
#[napi]
#[must_use]
pub fn local(frame: u32) -> u32 {
    with_frame(frame, Code::Closed as u32, |handles, frame| {
        as_backend(frame, |frame| handles.local(frame, |request| Ok(frazil_local::attach(request)?)))
    })
}

/// The first half of [`local`], which does not block the event loop: a ticket for [`when_opened`], [`opened`] and [`abandon`].
#[napi]
#[must_use]
pub fn local_async(frame: u32) -> u32 {
    let request = with_frame(frame, None, |_, frame| Some(LocalOpening::of(frame)));
    request.map_or(openings::NO_TICKET, openings::begin)
}

/// A promise that is resolved when [`opened`] has something to return. It is always resolved, because it keeps the event loop running.
///
/// # Errors
/// `GenericFailure` if the environment can run no JavaScript.
#[napi(ts_return_type = "Promise<void>")]
pub fn when_opened(env: &Env, ticket: u32) -> Result<Object<'_>> {
    let (deferred, promise) = env.create_deferred::<(), fn(Env) -> Result<()>>()?;
    openings::when_ended(ticket, move || deferred.resolve(|_| Ok(())));
    Ok(promise)
}

/// The second half: `Handles::opened`, for a ticket, once.
#[napi]
#[must_use]
pub fn opened(frame: u32, ticket: u32) -> u32 {
    let opened = openings::take(ticket);
    let closed = Code::Closed as u32;
    with_frame(frame, closed, |handles, frame| {
        opened.map_or(closed, |opened| as_backend(frame, |frame| handles.opened(frame, opened)))
    })
}

/// Replaces the second half if the result is no longer wanted: resolves the promise, and closes whatever was opened.
#[napi]
pub fn abandon(ticket: u32) {
    openings::abandon(ticket);
}

/// The default directory of state files, if the environment has one.
#[napi]
#[must_use]
pub fn default_dir() -> Option<String> {
    frazil_local::default_dir().map(|dir| dir.to_string_lossy().into_owned())
}

/// `Handles::release`.
#[napi]
pub fn release(frame: u32, handle: f64) {
    with_frame(frame, (), |handles, _| handles.release(handle));
}

/// `Handles::admit`.
#[napi]
#[must_use]
pub fn admit(frame: u32, handle: f64, count: f64, wait_ms: f64) -> u32 {
    with_frame(frame, Code::Closed as u32, |handles, frame| handles.admit(frame, handle, count, wait_ms))
}

/// `Handles::reserve`.
#[napi]
#[must_use]
pub fn reserve(frame: u32, handle: f64, now_ms: f64, want: u32, confirmed: bool) -> u32 {
    with_frame(frame, Code::Closed as u32, |handles, frame| {
        handles.see_line(handle, now_ms);
        handles.reserve(frame, handle, now_ms, want, confirmed)
    })
}

/// `Handles::fill`, on a `BigUint64Array` of the caller.
#[napi]
#[must_use]
pub fn fill(env: &Env, frame: u32, handle: f64, now_ms: f64, confirmed: bool, target: Unknown<'_>) -> u32 {
    with_frame(frame, Code::Closed as u32, |handles, frame| {
        // SAFETY: the slice is dropped before this call returns to JavaScript, and no other is made of the array.
        let elements = unsafe { frames::elements_of(env, target) };
        handles.see_line(handle, now_ms);
        handles.fill(frame, handle, now_ms, elements, confirmed)
    })
}

/// `Handles::health`.
#[napi]
#[must_use]
pub fn health(frame: u32, handle: f64, now_ms: f64) -> u32 {
    with_frame(frame, Code::Closed as u32, |handles, frame| {
        handles.see_line(handle, f64::NAN);
        handles.health(frame, handle, now_ms)
    })
}

/// `Handles::lease`.
#[napi]
#[must_use]
pub fn lease(frame: u32, handle: f64, call: u32) -> u32 {
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    numbered(frame, lease_call::reads_random(call), call == lease_call::OPEN, |handles, frame| {
        handles.lease(frame, &mut registry, handle, call)
    })
}

/// `Handles::ceiling`.
#[napi]
#[must_use]
pub fn ceiling(frame: u32, handle: f64, call: u32) -> u32 {
    numbered(frame, ceiling_call::reads_random(call), call == ceiling_call::OPEN, |handles, frame| {
        handles.ceiling(frame, handle, call)
    })
}

/// `Handles::segment`, which opens no state.
#[napi]
#[must_use]
pub fn segment(frame: u32, handle: f64, call: u32) -> u32 {
    numbered(frame, segment_call::reads_random(call), false, |handles, frame| handles.segment(frame, handle, call))
}

/// A call that is selected by a number. If it reads random numbers, they come from the kernel. If there are none, NaN is written, which the
/// core refuses.
fn numbered(frame: u32, reads_random: bool, opens_state: bool, call: impl FnOnce(&mut Handles, &mut Frame) -> u32) -> u32 {
    with_frame(frame, Code::Closed as u32, |handles, frame| {
        if reads_random {
            let mut random = [0; 32];
            let is_drawn = getrandom::fill(&mut random).is_ok();
            for (number, word) in frame.numbers[slot::RANDOM..].iter_mut().zip(random.as_chunks().0) {
                *number = if is_drawn { f64::from(u32::from_ne_bytes(*word)) } else { f64::NAN };
            }
        }
        if opens_state { as_backend(frame, |frame| call(handles, frame)) } else { call(handles, frame) }
    })
}

/// `Handles::line_memory`, as an `ArrayBuffer` over that memory itself; `null` if there is none, or if the host allows no such buffers.
#[napi]
#[must_use]
pub fn line_memory(env: &Env, frame: u32, handle: f64, part: u32) -> Option<Unknown<'_>> {
    lines::external_buffer(env, with_frame(frame, None, |handles, _| handles.line_memory(handle, part))?)
}

/// `Handles::file`.
#[napi]
#[must_use]
pub fn file(frame: u32, handle: f64) -> u32 {
    with_frame(frame, Code::Closed as u32, |handles, frame| handles.file(frame, handle))
}
