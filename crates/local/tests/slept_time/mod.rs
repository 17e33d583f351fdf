//! Time that passes only while a thread sleeps, so that how long a call waits does not depend on the machine.
//!
//! A thread that enters it sees the clock of [`std::time::Instant`] move by exactly what it asked to sleep for: what it computes, and
//! what it waits because the machine is busy, takes no time. It sleeps at least as long on the real clock. All other threads have real
//! time, and so has the wall clock.
//!
//! What blocks a thread otherwise, such as a mutex or a flush, takes no time either. So a test that is to notice it lets it block for
//! good, and fails when the call has not ended within `LIMIT`.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use nix::libc;

/// The time of a thread. Others may see it, and hold it.
#[derive(Debug)]
pub(crate) struct SleptTime {
    /// When it began, on the real clock.
    began_ns: u64,
    slept_ns: AtomicU64,
    /// How far it may go. A sleep that would go further lasts until it may.
    limit: Mutex<Limit>,
    changed: Condvar,
}

#[derive(Debug)]
struct Limit {
    until_ns: u64,
    /// Whether the thread waits for it.
    is_reached: bool,
}

thread_local! {
    static TIME: RefCell<Option<Arc<SleptTime>>> = const { RefCell::new(None) };
}

impl SleptTime {
    pub(crate) fn new() -> Arc<Self> {
        let limit = Mutex::new(Limit { until_ns: u64::MAX, is_reached: false });
        Arc::new(Self { began_ns: real_ns(), slept_ns: AtomicU64::new(0), limit, changed: Condvar::new() })
    }

    /// Runs code of this thread in that time.
    pub(crate) fn run<T>(self: &Arc<Self>, code: impl FnOnce() -> T) -> T {
        TIME.set(Some(Arc::clone(self)));
        let result = code();
        TIME.set(None);
        result
    }

    /// Has it stand still when the thread has slept for so long, until it is held at a later time.
    #[allow(dead_code, reason = "not every test that has this module holds the time")]
    pub(crate) fn hold_at(&self, limit: Duration) {
        *self.limit.lock().unwrap() = Limit { until_ns: nanos(limit), is_reached: false };
        self.changed.notify_all();
    }

    /// Waits until it stands still at its limit.
    #[allow(dead_code, reason = "not every test that has this module holds the time")]
    pub(crate) fn reached(&self) {
        drop(self.changed.wait_while(self.limit.lock().unwrap(), |limit| !limit.is_reached).unwrap());
    }

    fn sleep(&self, time_ns: u64) {
        let after_ns = self.slept_ns.load(SeqCst) + time_ns;
        let mut limit = self.limit.lock().unwrap();
        while after_ns > limit.until_ns {
            limit.is_reached = true;
            self.changed.notify_all();
            limit = self.changed.wait(limit).unwrap();
        }
        drop(limit);
        really_sleep(time_ns);
        self.slept_ns.store(after_ns, SeqCst);
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn time_of_this_thread() -> Option<Arc<SleptTime>> {
    // None while a thread ends.
    TIME.try_with(|time| time.borrow().clone()).ok().flatten()
}

fn timespec(time_ns: u64) -> libc::timespec {
    let [seconds, nanos] = [time_ns / 1_000_000_000, time_ns % 1_000_000_000].map(|number| i64::try_from(number).unwrap());
    libc::timespec { tv_sec: seconds, tv_nsec: nanos }
}

fn time_ns(time: libc::timespec) -> u64 {
    let [seconds, nanos] = [time.tv_sec, time.tv_nsec].map(|number| u64::try_from(number).unwrap());
    seconds * 1_000_000_000 + nanos
}

fn real_ns() -> u64 {
    let mut time = MaybeUninit::uninit();
    // SAFETY: the kernel writes the time if it returns 0.
    let time = unsafe {
        assert_eq!(libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, time.as_mut_ptr()), 0);
        time.assume_init()
    };
    time_ns(time)
}

fn really_sleep(time_ns: u64) {
    let mut rest = timespec(time_ns);
    // SAFETY: both pointers lead to the same time, which outlives the calls. A signal leaves what is left there.
    while unsafe { libc::syscall(libc::SYS_clock_nanosleep, libc::CLOCK_MONOTONIC, 0, &raw const rest, &raw mut rest) } != 0 {}
}

/// Takes the place of the function of the C library in this program.
#[unsafe(no_mangle)]
extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> libc::c_int {
    if clock == libc::CLOCK_MONOTONIC
        && let Some(slept) = time_of_this_thread()
    {
        // SAFETY: the caller passes a place for the time.
        unsafe { time.write(timespec(slept.began_ns + slept.slept_ns.load(SeqCst))) };
        return 0;
    }
    // SAFETY: the arguments are those of the caller.
    let status = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) };
    libc::c_int::try_from(status).unwrap()
}

/// Takes the place of the function of the C library in this program. The standard library sleeps with it.
#[unsafe(no_mangle)]
extern "C" fn clock_nanosleep(
    clock: libc::clockid_t,
    flags: libc::c_int,
    time: *const libc::timespec,
    rest: *mut libc::timespec,
) -> libc::c_int {
    if flags == 0
        && let Some(slept) = time_of_this_thread()
    {
        // SAFETY: the caller passes a time.
        slept.sleep(time_ns(unsafe { time.read() }));
        return 0;
    }
    // SAFETY: the arguments are those of the caller.
    let status = unsafe { libc::syscall(libc::SYS_clock_nanosleep, clock, flags, time, rest) };
    // This function returns the number of the error.
    if status == 0 { 0 } else { std::io::Error::last_os_error().raw_os_error().unwrap() }
}
