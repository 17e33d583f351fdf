//! The memory of a line as an `ArrayBuffer`, so that TypeScript swaps the word of a state that threads share.
//!
//! * **The memory itself, or nothing**: a host may refuse such buffers, as Electron does, or copy the memory. With copies, each realm would
//!   issue the same IDs, so the address of the buffer is compared. A host that did either is not asked again.
//! * **Kept by the buffer**: until it is collected, or its thread ends, so that no access meets memory that was freed.

use std::any::Any;
use std::ffi::c_void;
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use frazil::abi::LineMemory;
use napi::bindgen_prelude::{Env, Unknown};
use napi::sys;

/// Not `Arc` alone, which is two pointers.
type Owner = Arc<dyn Any + Send + Sync>;

/// Whether the host has refused such a buffer, or copied the memory: it does so each time.
static HOST_REFUSES: AtomicBool = AtomicBool::new(false);

/// The memory as an `ArrayBuffer`, if the host makes one over it. The functions of `napi` are no alternative: they copy if the host
/// refuses.
pub(crate) fn external_buffer(env: &Env, memory: LineMemory) -> Option<Unknown<'_>> {
    if HOST_REFUSES.load(Ordering::Relaxed) {
        return None;
    }
    let LineMemory { address, bytes, owner } = memory;
    let start = with_exposed_provenance_mut::<c_void>(address);
    let owner = Box::into_raw(Box::new(owner)).cast();
    let (mut buffer, mut found, mut length) = (null_mut(), null_mut(), 0);
    // SAFETY: the memory has this length and exists until the finalizer has run, and all numbers in it are atomics.
    let made = unsafe { sys::napi_create_external_arraybuffer(env.raw(), start, bytes, Some(release), owner, &raw mut buffer) };
    if made == sys::Status::napi_no_external_buffers_allowed {
        HOST_REFUSES.store(true, Ordering::Relaxed);
        // SAFETY: such a host takes nothing, and calls no finalizer.
        unsafe { release(null_mut(), start, owner) };
    }
    // A host that failed may have called the finalizer, or may still call it, so it keeps the owner.
    if made != sys::Status::napi_ok {
        return None;
    }
    // SAFETY: the value was made by this call.
    let asked = unsafe { sys::napi_get_arraybuffer_info(env.raw(), buffer, &raw mut found, &raw mut length) };
    if asked != sys::Status::napi_ok || found != start || length != bytes {
        HOST_REFUSES.store(true, Ordering::Relaxed);
        return None;
    }
    // SAFETY: the value belongs to this environment and this call.
    Some(unsafe { Unknown::from_raw_unchecked(env.raw(), buffer) })
}

/// Drops the owner of the memory.
unsafe extern "C" fn release(_: sys::napi_env, _: *mut c_void, owner: *mut c_void) {
    // SAFETY: `external_buffer` made it, and a host calls a finalizer once.
    drop(unsafe { Box::from_raw(owner.cast::<Owner>()) });
}
