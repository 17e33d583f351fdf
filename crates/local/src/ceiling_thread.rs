//! The thread that raises the ceiling ahead of use, so that calls which mint need not wait for the disk.
//!
//! It looks twice a second, and raises from when a call has had to raise the ceiling itself until nothing was minted for three
//! seconds. It also looks whether the path still leads to the file, as long as the file is open: a process that is attached keeps
//! every other file of the name from being opened.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::attached_file::AttachedFile;

/// How often it looks, …
const ACTIVE_INTERVAL: Duration = Duration::from_millis(500);
/// … and where nothing is minted.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);
/// It raises when the window reaches less far than this: with two more looks before it would be over.
const RAISE_BELOW_MS: u64 = 1900;
/// How long nothing must have been minted for it to rest.
const IDLE_AFTER: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(crate) struct CeilingThread {
    /// The thread must not keep the file open, so it has it only while it looks.
    attached: Weak<AttachedFile>,
    control: Arc<Control>,
}

#[derive(Debug, Default)]
struct Control {
    state: Mutex<ThreadState>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ThreadState {
    /// There is no thread yet.
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

    /// Has it raise, because IDs are minted.
    pub(crate) fn wake(&self) {
        self.set(ThreadState::Active);
    }

    fn set(&self, next: ThreadState) {
        let mut state = self.control.state();
        match *state {
            ThreadState::NotStarted => {
                let (attached, control) = (Weak::clone(&self.attached), Arc::clone(&self.control));
                let thread = thread::Builder::new().name("frazil-ceiling".to_owned()).stack_size(256 * 1024);
                // Where no thread can be had, calls go on raising the ceiling themselves, and the next one tries again.
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

    /// Ends it, in its own time: what it may still do, [`AttachedFile`] refuses.
    pub(crate) fn stop(&self) {
        *self.control.state() = ThreadState::Stopped;
        self.control.changed.notify_one();
    }
}

fn run(attached: &Weak<AttachedFile>, control: &Control) {
    let mut word = 0;
    let mut moved = Instant::now();
    let mut state = control.state();
    loop {
        let pause = match *state {
            ThreadState::Stopped => return,
            ThreadState::Idle | ThreadState::NotStarted => {
                moved = Instant::now();
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
            let (left_ms, current) = (attached.window_left_ms(), attached.word());
            if current != word {
                (word, moved) = (current, Instant::now());
            }
            idle = moved.elapsed() >= IDLE_AFTER;
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
