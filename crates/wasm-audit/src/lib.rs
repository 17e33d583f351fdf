//! The audit of IDs as a WebAssembly module, which only the command line and the page load: each function translates one call of
//! [`frazil_audit::Audit`].
//!
//! * **Only numbers cross the boundary**, as in `crates/wasm`. What JavaScript gives lies in [`room`], and texts lie at [`text`].
//! * **The disk is the host's**: the imports of `host`, which throw if they fail. After that the instance is not used again.
//! * **A status** is 0, or 1 for a refusal, whose lines are the [`text`] (`frazil_audit::Refusal::lines`).

#![cfg(target_arch = "wasm32")]

use std::cell::RefCell;
use std::convert::Infallible;

use frazil_audit::{Audit, AuditError, Disk, Options};
use wasm_bindgen::prelude::wasm_bindgen;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Appends bytes to a run.
    safe fn append(run: u32, address: *const u8, length: usize);
    /// Reads bytes of a run from an offset. Returns how many there were.
    safe fn read(run: u32, offset: f64, address: *mut u8, length: usize) -> usize;
    /// Forgets a run.
    safe fn discard(run: u32);
}

/// The disk of the host.
struct HostDisk;

impl Disk for HostDisk {
    type Error = Infallible;

    fn append(&mut self, run: u32, bytes: &[u8]) -> Result<(), Infallible> {
        append(run, bytes.as_ptr(), bytes.len());
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    fn read(&mut self, run: u32, offset: u64, into: &mut [u8]) -> Result<usize, Infallible> {
        Ok(read(run, offset as f64, into.as_mut_ptr(), into.len()).min(into.len()))
    }

    fn discard(&mut self, run: u32) {
        discard(run);
    }
}

/// The one audit of an instance.
struct State {
    audit: Option<Audit<HostDisk>>,
    room: Vec<u8>,
    text: String,
}

thread_local! {
    static STATE: RefCell<State> = const { RefCell::new(State { audit: None, room: Vec::new(), text: String::new() }) };
}

/// Runs a call. A refusal becomes the text.
fn call(call: impl FnOnce(&mut State) -> Result<u32, AuditError<Infallible>>) -> u32 {
    STATE.with_borrow_mut(|state| match call(state) {
        Ok(status) => status,
        Err(AuditError::Refused(refusal)) => {
            state.text = refusal.lines();
            1
        }
        Err(AuditError::Disk(never)) => match never {},
    })
}

/// Runs a call of the audit, which must have been opened.
fn on_audit(run: impl FnOnce(&mut Audit<HostDisk>, &[u8]) -> Result<u32, AuditError<Infallible>>) -> u32 {
    call(|State { audit, room, .. }| audit.as_mut().map_or(Ok(0), |audit| run(audit, room)))
}

/// The address of room for so many bytes.
#[wasm_bindgen]
#[must_use]
pub fn room(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|State { room, .. }| {
        room.resize(length, 0);
        room.as_mut_ptr()
    })
}

/// Opens the audit, by the text of [`Options::from_json`], which is in the room.
#[wasm_bindgen]
#[must_use]
pub fn open() -> u32 {
    call(|state| {
        let options = Options::from_json(&String::from_utf8_lossy(&state.room))?;
        state.audit = Some(Audit::new(options, HostDisk)?);
        Ok(0)
    })
}

/// `Audit::push`, of the room.
#[wasm_bindgen]
#[must_use]
pub fn push() -> u32 {
    on_audit(|audit, room| audit.push(room).map(|()| 0))
}

/// `Audit::end_file`.
#[wasm_bindgen]
#[must_use]
pub fn end_file() -> u32 {
    on_audit(|audit, _| audit.end_file().map(|()| 0))
}

/// `Audit::merge`: 2 at the end.
#[wasm_bindgen]
#[must_use]
pub fn merge(at_most_ids: u32) -> u32 {
    on_audit(|audit, _| audit.merge(u64::from(at_most_ids)).map(|is_done| if is_done { 2 } else { 0 }))
}

/// `Audit::locate`.
#[wasm_bindgen]
pub fn locate() {
    STATE.with_borrow_mut(|State { audit, .. }| audit.iter_mut().for_each(Audit::locate));
}

/// The rows that were read.
#[wasm_bindgen]
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
pub fn rows() -> f64 {
    STATE.with_borrow(|state| state.audit.as_ref().map_or(0, |audit| audit.progress().rows) as f64)
}

/// The report as JSON becomes the text.
#[wasm_bindgen]
pub fn report() {
    STATE.with_borrow_mut(|State { audit, text, .. }| {
        *text = audit.as_ref().map_or_else(String::new, |audit| audit.report().to_json());
    });
}

/// The address of the text.
#[wasm_bindgen]
#[must_use]
pub fn text() -> *const u8 {
    STATE.with_borrow(|state| state.text.as_ptr())
}

/// The length of the text, in bytes.
#[wasm_bindgen]
#[must_use]
pub fn text_length() -> usize {
    STATE.with_borrow(|state| state.text.len())
}
