//! Which process this is, so that a forked child does not take itself for its parent.
//!
//! A process id does not tell: in a pid namespace of its own a child can have the number of its parent. On Linux the number
//! lies in a page that the kernel empties in a child (`MADV_WIPEONFORK`), however it was forked; reading it takes no system
//! call.

#[cfg(target_os = "linux")]
pub(crate) use wiped::unique_id;

/// The process id. No other system has pid namespaces.
#[cfg(not(target_os = "linux"))]
pub(crate) fn unique_id() -> u64 {
    u64::from(std::process::id())
}

#[cfg(target_os = "linux")]
mod wiped {
    use std::ptr::NonNull;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use frazil::Key;
    use nix::libc::c_void;
    use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous};

    const PAGE: std::num::NonZeroUsize = std::num::NonZeroUsize::new(4096).unwrap();

    /// The number of this process: drawn at random when it is first asked for, and again in a child. `None` where the kernel
    /// (before 4.14) does not empty pages: then the process id serves.
    fn number() -> Option<&'static AtomicU64> {
        static NUMBER: OnceLock<Option<&'static AtomicU64>> = OnceLock::new();
        *NUMBER.get_or_init(|| {
            // SAFETY: a new mapping, at no given place.
            let page = unsafe { mmap_anonymous(None, PAGE, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_PRIVATE) };
            let page: NonNull<c_void> = page.ok()?;
            // SAFETY: the mapping above, as a whole.
            unsafe { madvise(page, PAGE.get(), MmapAdvise::MADV_WIPEONFORK) }.ok()?;
            // SAFETY: the page is never unmapped, is aligned, and holds zeros, which an `AtomicU64` may.
            Some(unsafe { page.cast::<AtomicU64>().as_ref() })
        })
    }

    /// A number that no forked child of this process has, nor this process if it is one.
    pub(crate) fn unique_id() -> u64 {
        let Some(number) = number() else { return u64::from(std::process::id()) };
        let drawn = number.load(Ordering::Relaxed);
        if drawn != 0 {
            return drawn;
        }
        let [new, _] = Key::random().halves();
        number.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed).map_or_else(|drawn| drawn, |_| new)
    }
}
