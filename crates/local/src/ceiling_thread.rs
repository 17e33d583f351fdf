//! The thread that raises the ceiling before a call needs it, so that calls that mint do not wait for a flush.
//!
//! It becomes active when a call has had to raise the ceiling itself. While active it checks twice a second, and raises the ceiling when
//! the window is nearly over. When nothing was minted for three seconds, it becomes idle. It takes fifteen if a call had to raise the
//! ceiling soon after the thread became idle, so a process that mints every few seconds does not wait for a flush with each ID. While the
//! file is open, it also checks whether the path still leads to the file, because an attached process blocks all other files of the name.

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
/// The same, if it was woken before it had been idle for this long. While active it flushes at most once a second, so it stays no
/// longer than a pause that the program is known to make.
const IDLE_AFTER_RARE_CALLS: Duration = Duration::from_secs(15);

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

/// When the word was last seen to change: shows whether IDs are minted.
struct Activity {
    word: u64,
    changed: Instant,
    /// When the thread became idle. `None` before its first activity.
    idle_from: Option<Instant>,
    idle_after: Duration,
}

impl Activity {
    const fn new(now: Instant) -> Self {
        Self { word: 0, changed: now, idle_from: None, idle_after: IDLE_AFTER }
    }

    /// Notes that a call has woken the thread.
    fn begin(&mut self, now: Instant) {
        let is_rarely_called = self.idle_from.is_some_and(|from| now.saturating_duration_since(from) < IDLE_AFTER_RARE_CALLS);
        self.idle_after = if is_rarely_called { IDLE_AFTER_RARE_CALLS } else { IDLE_AFTER };
        self.changed = now;
    }

    /// Notes the word, and returns whether it has not changed for as long as it takes to become idle.
    fn is_over(&mut self, word: u64, now: Instant) -> bool {
        if word != self.word {
            (self.word, self.changed) = (word, now);
        }
        let is_over = now.saturating_duration_since(self.changed) >= self.idle_after;
        if is_over {
            self.idle_from = Some(now);
        }
        is_over
    }
}

fn run(attached: &Weak<AttachedFile>, control: &Control) {
    let mut activity = Activity::new(Instant::now());
    let mut state = control.state();
    loop {
        let was_active = *state == ThreadState::Active;
        let pause = match *state {
            ThreadState::Stopped => return,
            ThreadState::Idle | ThreadState::NotStarted => IDLE_INTERVAL,
            ThreadState::Active => ACTIVE_INTERVAL,
        };
        state = control.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        let active = match *state {
            ThreadState::Stopped => return,
            state => state == ThreadState::Active,
        };
        drop(state);
        let Some(attached) = attached.upgrade() else { return };
        attached.check_use();
        let mut idle = false;
        if active && !was_active {
            activity.begin(Instant::now());
        }
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

    fn seconds(start: Instant) -> impl Fn(f64) -> Instant {
        move |s| start + Duration::from_secs_f64(s)
    }

    #[test]
    fn minting_is_over_when_the_word_has_not_changed_for_three_seconds() {
        let at = seconds(Instant::now());
        let mut activity = Activity::new(at(0.0));
        activity.begin(at(4.0));
        assert!(!activity.is_over(7, at(5.0)), "it has just changed");
        assert!(!activity.is_over(7, at(7.999)));
        assert!(activity.is_over(7, at(8.0)));
        assert!(!activity.is_over(8, at(9.0)));
    }

    #[test]
    fn after_a_short_rest_minting_is_over_after_fifteen_seconds() {
        let at = seconds(Instant::now());
        let mut activity = Activity::new(at(0.0));
        activity.begin(at(0.0));
        assert!(activity.is_over(0, at(3.0)));
        activity.begin(at(17.5));
        assert!(!activity.is_over(1, at(18.0)));
        assert!(!activity.is_over(1, at(32.5)));
        assert!(activity.is_over(1, at(33.0)));
        activity.begin(at(48.0));
        assert!(activity.is_over(1, at(51.0)), "it had been idle for fifteen seconds");
    }
}
