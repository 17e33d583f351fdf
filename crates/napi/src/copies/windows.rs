//! Copies on Windows: the first one makes a named object of the kernel, which the others find.
//!
//! The object is memory with the path of the copy. Its name contains the process id, and it ends with the process, so no other
//! process has it. The list of modules of a process is no alternative: it cannot be read while other threads load and unload.

use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU8;

use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_ALREADY_EXISTS, GetLastError, HANDLE, HMODULE, INVALID_HANDLE_VALUE, SetLastError,
};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleFileNameW, GetModuleHandleExW,
};
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, FILE_MAP_WRITE, MapViewOfFile, PAGE_READWRITE, UnmapViewOfFile,
};

/// The state of this copy. Its address identifies the module.
pub(super) static MARK: AtomicU8 = AtomicU8::new(0);

/// The longest path on Windows, with its zero, in UTF-16 units; and in bytes.
const UNITS: u32 = 32_768;
const BYTES: u32 = 2 * UNITS;

/// The module of this copy, which stays loaded with `GET_MODULE_HANDLE_EX_FLAG_PIN`.
fn module(flags: u32) -> Result<HMODULE, String> {
    let mut module = ptr::null_mut();
    // SAFETY: with `FROM_ADDRESS` the second argument is an address in the module, and not a name.
    let found =
        unsafe { GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | flags, (&raw const MARK).cast(), &raw mut module) };
    if found == 0 { Err(std::io::Error::last_os_error().to_string()) } else { Ok(module) }
}

/// Keeps the file loaded until the process ends.
pub(super) fn pin() -> Result<(), String> {
    module(GET_MODULE_HANDLE_EX_FLAG_PIN).map(drop)
}

/// The path of another copy that is in use, if there is one. If there is none, this copy is the one in use from here on.
pub(super) fn other() -> Result<Option<String>, String> {
    let name: Vec<u16> = format!("Local\\frazil-addon-{}\0", std::process::id()).encode_utf16().collect();
    // SAFETY: the name ends with a zero. `GetLastError` is set to 0 first, because success does not always do that.
    let (object, error) = unsafe {
        SetLastError(0);
        let object = CreateFileMappingW(INVALID_HANDLE_VALUE, ptr::null(), PAGE_READWRITE, 0, BYTES, name.as_ptr());
        (object, GetLastError())
    };
    if object.is_null() {
        return Err(std::io::Error::from_raw_os_error(error.cast_signed()).to_string());
    }
    if error == ERROR_ALREADY_EXISTS {
        let path = read_path(object);
        // SAFETY: the handle is ours, and is not used afterwards.
        unsafe { CloseHandle(object) };
        // It is empty until the other copy has written it.
        return Ok(Some(path.filter(|path| !path.is_empty()).unwrap_or_else(|| "another file".to_owned())));
    }
    // The handle stays open, and is not inherited: the object exists as long as this process.
    write_path(object);
    Ok(None)
}

/// The path in the object.
fn read_path(object: HANDLE) -> Option<String> {
    let view = View::of(object, FILE_MAP_READ)?;
    // SAFETY: the view has this length. The other copy may be writing: then an error names a part of its path, and nothing else
    // depends on it.
    let units: Vec<u16> =
        (0..UNITS as usize).map(|at| unsafe { view.0.add(at).read_volatile() }).take_while(|unit| *unit != 0).collect();
    Some(String::from_utf16_lossy(&units))
}

/// Writes the path of this copy, for the errors of others. Without it their errors name no path.
fn write_path(object: HANDLE) {
    let (Ok(module), Some(view)) = (module(0), View::of(object, FILE_MAP_WRITE)) else { return };
    // SAFETY: the view has this length, and only this copy writes to it.
    unsafe { GetModuleFileNameW(module, view.0.as_ptr(), UNITS) };
}

/// The memory of an object.
struct View(NonNull<u16>);

impl View {
    fn of(object: HANDLE, access: u32) -> Option<Self> {
        // SAFETY: the object is `BYTES` long, and a view at a place of the kernel's choice touches no other memory.
        let view = unsafe { MapViewOfFile(object, access, 0, 0, BYTES as usize) };
        NonNull::new(view.Value.cast()).map(Self)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let view = windows_sys::Win32::System::Memory::MEMORY_MAPPED_VIEW_ADDRESS { Value: self.0.as_ptr().cast() };
        // SAFETY: the address came from `MapViewOfFile` and is not used afterwards.
        unsafe { UnmapViewOfFile(view) };
    }
}
