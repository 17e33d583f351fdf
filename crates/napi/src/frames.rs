//! The memory of JavaScript that the calls reach: frames, and arrays of callers.
//!
//! * **A frame is a `SharedArrayBuffer`**, the only memory that JavaScript cannot detach, shrink or move. Each copy of the package in each
//!   realm has its own frame, because two that share one would read each other's IDs.
//! * **A frame exists as long as its owner**, an object of the caller's realm. The buffer belongs to the addon's realm: a
//!   reference to a buffer of the owner's realm would keep that realm alive.
//! * **One handle table per frame**, in thread-local memory, so minting takes no lock.

use std::cell::RefCell;
use std::ptr::{NonNull, null_mut};

use frazil::abi::{Frame, Handles};
use napi::bindgen_prelude::{
    Env, Error, FromNapiValue, Function, JsObjectValue, JsValue, Object, Result, Status, Uint8Array, Unknown,
};
use napi::sys;

/// A frame and the generators that were opened through it.
struct OpenFrame {
    frame: NonNull<Frame>,
    handles: Handles,
    /// Keeps the memory from being collected.
    _memory: Uint8Array,
}

thread_local! {
    /// By number. `None` once the owner was collected; numbers are not reused.
    static FRAMES: RefCell<Vec<Option<OpenFrame>>> = const { RefCell::new(Vec::new()) };
}

/// Runs a call on a frame and its handle table. Returns `closed` where this thread has no such frame.
pub(crate) fn with_frame<T>(frame: u32, closed: T, call: impl FnOnce(&mut Handles, &mut Frame) -> T) -> T {
    FRAMES.with_borrow_mut(|frames| {
        let Some(Some(OpenFrame { frame, handles, .. })) = frames.get_mut(frame as usize) else { return closed };
        // SAFETY: `open_frame` checked the size, the alignment, and that the memory is shared, so the memory exists as long as the
        // reference beside it. JavaScript of this thread is suspended while the call runs, and the borrow of `FRAMES` prevents a
        // second reference. Another thread has the memory only if a program took it from our closure and sent it there. That thread can
        // only change numbers, and each number is checked where it is read.
        call(handles, unsafe { frame.as_mut() })
    })
}

/// Makes a frame, which exists as long as the owner does. Returns its number and its memory.
pub(crate) fn make(env: Env, mut owner: Object<'_>, has_lines: bool) -> Result<(u32, Uint8Array)> {
    let handles = if has_lines { Handles::with_lines() } else { Handles::new() };
    let (open, memory) = open_frame(&env, handles)?;
    let frame = FRAMES.with_borrow_mut(|frames| {
        frames.push(Some(open));
        frames.len() - 1
    });
    // Taken out first, so that nothing is dropped while the frames are borrowed.
    let remove = move || FRAMES.try_with(|frames| frames.try_borrow_mut().ok()?.get_mut(frame)?.take());
    if let Err(error) = owner.add_finalizer((), (), move |_| drop(remove())) {
        drop(remove());
        return Err(error);
    }
    Ok((u32::try_from(frame).unwrap_or(u32::MAX), memory))
}

/// A frame in memory of the addon's realm, and a second reference to that memory.
fn open_frame(env: &Env, handles: Handles) -> Result<(OpenFrame, Uint8Array)> {
    let size = size_of::<Frame>();
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
    let start = NonNull::from(&*memory).cast::<Frame>();
    if answers != [sys::Status::napi_ok; 2] || detachable || memory.len() != size || !start.is_aligned() {
        return Err(Error::new(Status::InvalidArg, format!("the frame must be {size} bytes of a SharedArrayBuffer, aligned")));
    }
    Ok((OpenFrame { frame: start, handles, _memory: memory }, again))
}

/// The elements of a `BigUint64Array`; none of any other value.
///
/// # Safety
/// While the slice exists, no JavaScript of this thread may run, and no second slice of the array may exist. The elements must only be
/// written: another thread can write to them at any time, if their memory is shared.
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
