//! The core as a WebAssembly module: each function translates one call of [`Handles`].
//!
//! Names and order are those of `crates/napi`. Only numbers cross the boundary, no strings, slices or exceptions, so that the
//! glue of wasm-bindgen stays a few lines (`docs/internals/design.md`).
//!
//! * **One registry and one handle table per instance**: WebAssembly instances share no memory.
//! * **Read and written by JavaScript**: the frame, and the words of states where a line is (`frazil::abi`).
//! * **One static frame**, whose number is its address. JavaScript takes a new view of it whenever the memory has grown.
//! * **Built as two modules**: one with all calls, and one with those of segments (`scripts/build/index.mjs`).
//!
//! Not covered: state files, and states that threads share. On WebAssembly the npm package refuses state files and, in worker threads of
//! Node, static node ids.

#![cfg_attr(target_arch = "wasm32", no_std)]
#![cfg(target_arch = "wasm32")]

#[cfg(feature = "std")]
extern crate std;

use core::cell::RefCell;

use frazil::abi::{ABI, Frame, Handles};
use frazil::{Code, Registry};
use lol_alloc::{AssumeSingleThreaded, FreeListAllocator};
use wasm_bindgen::prelude::wasm_bindgen;

// SAFETY: without the target feature `atomics` (checked below) a WebAssembly instance has one thread.
#[global_allocator]
static ALLOCATOR: AssumeSingleThreaded<FreeListAllocator> = unsafe { AssumeSingleThreaded::new(FreeListAllocator::new()) };

#[cfg(not(feature = "std"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// The state of the instance. All zeros, so it takes no room in the module: data that is not zero would be stored in it.
struct Instance {
    registry: Registry,
    handles: Handles,
    frame: Frame,
}

/// A cell for a target with one thread.
struct Single(RefCell<Instance>);

#[cfg(target_feature = "atomics")]
compile_error!("this module is for one thread: `Single` would be unsound with shared memory");

// SAFETY: without the target feature `atomics` a WebAssembly instance has one thread, so nothing is ever shared.
unsafe impl Sync for Single {}

static INSTANCE: Single =
    Single(RefCell::new(Instance { registry: Registry::new(), handles: Handles::with_lines(), frame: Frame::new() }));

/// Runs a call on the frame and its handle table. Returns `closed` where the frame is not the one that `frame` returned.
fn with_frame<T>(frame: u32, closed: T, call: impl FnOnce(&mut Instance) -> T) -> T {
    if frame != self::frame() {
        return closed;
    }
    // Not `borrow_mut`, which adds code to the module for a message that no panic prints.
    let Ok(mut instance) = INSTANCE.0.try_borrow_mut() else { core::arch::wasm32::unreachable() };
    call(&mut instance)
}

/// `frazil::abi::ABI`.
#[wasm_bindgen]
#[must_use]
pub fn abi() -> u32 {
    ABI
}

/// The number of the frame: its address in the memory.
#[wasm_bindgen]
#[must_use]
pub fn frame() -> u32 {
    // SAFETY: only an address is taken; nothing is read through it.
    let frame = unsafe { &raw const (*INSTANCE.0.as_ptr()).frame };
    #[expect(clippy::cast_possible_truncation, reason = "an address has 32 bits on this target")]
    {
        frame.addr() as u32
    }
}

/// `Handles::open`.
#[wasm_bindgen]
#[must_use]
pub fn open(frame: u32) -> u32 {
    with_frame(frame, Code::Closed as u32, |Instance { registry, handles, frame }| handles.open(frame, registry))
}

/// `Handles::release`.
#[wasm_bindgen]
pub fn release(frame: u32, handle: f64) {
    with_frame(frame, (), |Instance { handles, .. }| handles.release(handle));
}

/// `Handles::admit`.
#[wasm_bindgen]
#[must_use]
pub fn admit(frame: u32, handle: f64, count: f64, wait_ms: f64) -> u32 {
    with_frame(frame, Code::Closed as u32, |Instance { handles, frame, .. }| handles.admit(frame, handle, count, wait_ms))
}

/// `Handles::reserve`.
#[wasm_bindgen]
#[must_use]
pub fn reserve(frame: u32, handle: f64, now_ms: f64, want: u32, confirmed: bool) -> u32 {
    with_frame(frame, Code::Closed as u32, |Instance { handles, frame, .. }| {
        handles.see_line(handle, now_ms);
        handles.reserve(frame, handle, now_ms, want, confirmed)
    })
}

/// `Handles::health`.
#[wasm_bindgen]
#[must_use]
pub fn health(frame: u32, handle: f64, now_ms: f64) -> u32 {
    with_frame(frame, Code::Closed as u32, |Instance { handles, frame, .. }| {
        handles.see_line(handle, f64::NAN);
        handles.health(frame, handle, now_ms)
    })
}

/// `Handles::lease`.
#[wasm_bindgen]
#[must_use]
pub fn lease(frame: u32, handle: f64, call: u32) -> u32 {
    with_frame(frame, Code::Closed as u32, |Instance { registry, handles, frame }| handles.lease(frame, registry, handle, call))
}

/// `Handles::ceiling`.
#[wasm_bindgen]
#[must_use]
pub fn ceiling(frame: u32, handle: f64, call: u32) -> u32 {
    with_frame(frame, Code::Closed as u32, |Instance { handles, frame, .. }| handles.ceiling(frame, handle, call))
}

/// `Handles::segment`.
#[wasm_bindgen]
#[must_use]
pub fn segment(frame: u32, handle: f64, call: u32) -> u32 {
    with_frame(frame, Code::Closed as u32, |Instance { handles, frame, .. }| handles.segment(frame, handle, call))
}
