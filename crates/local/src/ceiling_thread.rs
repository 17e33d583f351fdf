//! The thread that raises the ceiling before a call needs it, so that calls that mint do not wait for a flush.
//!
//! It becomes active when a call has had to raise the ceiling itself. While active it checks twice a second, and raises the
//! ceiling when the window is nearly over. When nothing was minted for three seconds, it becomes idle. For as long as the file is
//! open, it also checks whether the path still leads to the file, because an attached process keeps every other file of the name
//! from being opened.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::attached_file::AttachedFile;

/// How often it checks while it is active.
const ACTIVE_INTERVAL: Duration = Duration::from_millis(500);
/// How often it checks while it is idle.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);
/// It raises the ceiling if the window reaches less far ahead of the clock than this. That leaves two more checks before the
/// window is over.
const RAISE_BELOW_MS: u64 = 1900;
/// It becomes idle when nothing was minted for this long.
const IDLE_AFTER: Duration = Duration::from_secs(3);

/// The handle of the thread.
#[derive(Debug)]
pub(crate) struct CeilingThread {
    /// Weak, because the thread must not keep the file open: it holds the file only during a check.
    attached: Weak<AttachedFile>,
    control: Arc<Control>,
}

/// What the handle and the thread share.
#[derive(Debug, Default)]
struct Control {
    state: Mutex<ThreadState>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ThreadState {
    /// No thread was started yet.
    #[default]
    NotStarted,
    Idle,
    Active,
    Stopped,
}

impl Control {
    fn state(&self) -> MutexGuard<'_, ThreadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CeilingThread {
    pub(crate) fn start(attached: &Arc<AttachedFile>) -> Self {
        let ceiling_thread = Self { attached: Arc::downgrade(attached), control: Arc::default() };
        ceiling_thread.set(ThreadState::Idle);
        ceiling_thread
    }

    /// Makes the thread active, because IDs are minted.
    pub(crate) fn wake(&self) {
        self.set(ThreadState::Active);
    }

    fn set(&self, next: ThreadState) {
        let mut state = self.control.state();
        match *state {
            ThreadState::NotStarted => {
                let (attached, control) = (Weak::clone(&self.attached), Arc::clone(&self.control));
                let thread = thread::Builder::new().name("frazil-ceiling".to_owned()).stack_size(256 * 1024);
                // If no thread can be started, calls go on raising the ceiling themselves, and the next one tries again.
                if thread.spawn(move || run(&attached, &control)).is_ok() {
                    *state = next;
                }
            }
            ThreadState::Idle if next == ThreadState::Active => {
                *state = next;
                self.control.changed.notify_one();
            }
            ThreadState::Idle | ThreadState::Active | ThreadState::Stopped => {}
        }
    }

    /// Ends the thread without waiting for it. If it still tries to raise the ceiling, [`AttachedFile`] refuses.
    pub(crate) fn stop(&self) {
        *self.control.state() = ThreadState::Stopped;
        self.control.changed.notify_one();
    }
}

/// When the word was last seen to change, by which the thread knows whether IDs are minted.
struct Activity {
    word: u64,
    changed: Instant,
}

impl Activity {
    /// Notes the word, and returns whether it has not changed for [`IDLE_AFTER`].
    fn is_over(&mut self, word: u64, now: Instant) -> bool {
        if word != self.word {
            *self = Self { word, changed: now };
        }
        now.saturating_duration_since(self.changed) >= IDLE_AFTER
    }
}

fn run(attached: &Weak<AttachedFile>, control: &Control) {
    let mut activity = Activity { word: 0, changed: Instant::now() };
    let mut state = control.state();
    loop {
        let pause = match *state {
            ThreadState::Stopped => return,
            ThreadState::Idle | ThreadState::NotStarted => {
                activity.changed = Instant::now();
                IDLE_INTERVAL
            }
            ThreadState::Active => ACTIVE_INTERVAL,
        };
        state = control.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        let active = match *state {
            ThreadState::Stopped => return,
            state => state == ThreadState::Active,
        };
        drop(state);
        let Some(attached) = attached.upgrade() else { return };
        attached.check_path();
        let mut idle = false;
        if active {
            let left_ms = attached.window_left_ms();
            idle = activity.is_over(attached.word(), Instant::now());
            if !idle && left_ms < RAISE_BELOW_MS {
                attached.raise_ahead();
            }
        }
        drop(attached);
        state = control.state();
        if idle && *state == ThreadState::Active {
            *state = ThreadState::Idle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minting_is_over_when_the_word_has_not_changed_for_three_seconds() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let mut activity = Activity { word: 0, changed: start };
        assert!(!activity.is_over(7, after(5000)), "it has just changed");
        assert!(!activity.is_over(7, after(7999)));
        assert!(activity.is_over(7, after(8000)));
        assert!(!activity.is_over(8, after(9000)));
    }
}
