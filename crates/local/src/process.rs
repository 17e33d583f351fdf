//! A number for this process, which tells a forked child from its parent.
//!
//! The process id is not enough: in its own pid namespace, a child can have its parent's process id. On Linux the number is in a page that
//! the kernel fills with zeros in a child (`MADV_WIPEONFORK`), however it was forked. Reading it takes no system call.

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

    use frazil::mint::Key;
    use nix::libc::c_void;
    use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous};

    const PAGE: std::num::NonZeroUsize = std::num::NonZeroUsize::new(4096).unwrap();

    /// The place of the number, which is 0 until it is drawn at random. `None` if the kernel (before 4.14) does not wipe pages:
    /// then the process id is used.
    fn number() -> Option<&'static AtomicU64> {
        static NUMBER: OnceLock<Option<&'static AtomicU64>> = OnceLock::new();
        *NUMBER.get_or_init(|| {
            // SAFETY: a new mapping at an address that the kernel chooses.
            let page = unsafe { mmap_anonymous(None, PAGE, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_PRIVATE) };
            let page: NonNull<c_void> = page.ok()?;
            // SAFETY: the mapping above, as a whole.
            unsafe { madvise(page, PAGE.get(), MmapAdvise::MADV_WIPEONFORK) }.ok()?;
            // SAFETY: the page is never unmapped, is aligned, and holds zeros, which are a valid `AtomicU64`.
            Some(unsafe { page.cast::<AtomicU64>().as_ref() })
        })
    }

    /// A number that no forked child of this process has, and no parent of it.
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
