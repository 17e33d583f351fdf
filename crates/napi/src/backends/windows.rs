//! The mark of the addon on Windows: a named pipe that is never read.

use std::ptr;

use windows_sys::Win32::Foundation::{CloseHandle, HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{FILE_FLAG_FIRST_PIPE_INSTANCE, PIPE_ACCESS_OUTBOUND};
use windows_sys::Win32::System::Pipes::{CreateNamedPipeW, PIPE_REJECT_REMOTE_CLIENTS};

/// The pipe. Its handle is not inherited.
pub(super) struct Mark(HANDLE);

// SAFETY: a handle belongs to the process, and any thread may close it.
unsafe impl Send for Mark {}

impl Mark {
    /// `None` where the system refuses, as a sandbox may. Then there is no mark.
    pub(super) fn make() -> Option<Self> {
        let name = format!("\\\\.\\pipe\\frazil-native-{}\0", std::process::id());
        let name: Vec<u16> = name.encode_utf16().collect();
        let access = PIPE_ACCESS_OUTBOUND | FILE_FLAG_FIRST_PIPE_INSTANCE;
        // SAFETY: the name ends with a zero.
        let pipe = unsafe { CreateNamedPipeW(name.as_ptr(), access, PIPE_REJECT_REMOTE_CLIENTS, 1, 0, 0, 0, ptr::null()) };
        (pipe != INVALID_HANDLE_VALUE).then_some(Self(pipe))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // SAFETY: the handle came from `CreateNamedPipeW` and is not used afterwards.
        unsafe { CloseHandle(self.0) };
    }
}
