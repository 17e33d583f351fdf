//! Public IDs as a WebAssembly module of their own, so that no other program has it: each function translates one call of
//! [`PublicFrame`].
//!
//! * **Only numbers cross the boundary**, as in `crates/wasm`; a text is in the frame.
//! * **Nothing is allocated**: JavaScript keeps what keys became (`frazil::abi::PublicFrame`), so the memory never grows.

#![no_std]
#![cfg(target_arch = "wasm32")]

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;

use frazil::abi::PublicFrame;
use wasm_bindgen::prelude::wasm_bindgen;

/// The core names an allocator, and nothing that is called here uses it.
struct NoMemory;

// SAFETY: a null pointer is a failed allocation, and nothing that was allocated can be released.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: NoMemory = NoMemory;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// A cell for a target with one thread.
struct Single(UnsafeCell<PublicFrame>);

#[cfg(target_feature = "atomics")]
compile_error!("this module is for one thread: `Single` would be unsound with shared memory");

// SAFETY: without the target feature `atomics` a WebAssembly instance has one thread, so nothing is ever shared.
unsafe impl Sync for Single {}

static FRAME: Single = Single(UnsafeCell::new(PublicFrame::new()));

/// Runs a call on the frame.
fn with_frame(call: impl FnOnce(&mut PublicFrame) -> u32) -> u32 {
    // SAFETY: JavaScript alone calls the exports, and none of them calls JavaScript, so no other reference exists. A `RefCell` takes 61
    // bytes of the compressed module.
    call(unsafe { &mut *FRAME.0.get() })
}

/// The address of the frame.
#[wasm_bindgen]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "an address has 32 bits on this target")]
pub fn frame() -> u32 {
    FRAME.0.get().addr() as u32
}

/// `PublicFrame::open`. Nothing of the key stays in the memory but what it became for its kind.
#[wasm_bindgen]
#[must_use]
pub fn open(key: usize, kind: usize, bits: u32, slot: i32, at: usize) -> u32 {
    let status = open_key(key, kind, bits, slot, at);
    clean_stack();
    status
}

/// `PublicFrame::facts`, for the command line alone: its module has nothing else.
#[wasm_bindgen]
#[must_use]
pub fn facts(key: usize, kind: usize, is_short: u32) -> u32 {
    with_frame(|frame| frame.facts(key, kind, is_short != 0))
}

/// Not inlined, so that the key lies where `clean_stack` writes.
#[inline(never)]
fn open_key(key: usize, kind: usize, bits: u32, slot: i32, at: usize) -> u32 {
    with_frame(|frame| frame.open(key, kind, bits, slot, at))
}

/// Overwrites the stack that the call before had: less than 1 KiB.
#[inline(never)]
fn clean_stack() {
    core::hint::black_box(&mut [0_u8; 4096]);
}

/// `PublicFrame::encode`.
#[wasm_bindgen]
#[must_use]
pub fn encode() -> u32 {
    with_frame(PublicFrame::encode)
}

/// `PublicFrame::decode`.
#[wasm_bindgen]
#[must_use]
pub fn decode(length: usize) -> u32 {
    with_frame(|frame| frame.decode(length))
}
