//! The thread that raises the ceiling ahead of use, so that calls which mint need not wait for the disk.
//!
//! It looks twice a second, and raises from when a call has had to raise the ceiling itself until nothing was minted for three
//! seconds. It also looks whether the path still leads to the file, as long as the file is open: a process that is attached keeps
//! every other file of the name from being opened.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::attached_file::Shared;

/// How often it looks, …
const LOOK: Duration = Duration::from_millis(500);
/// … and where nothing is minted.
const RESTING_LOOK: Duration = Duration::from_secs(1);
/// It raises when the window reaches less far than this: with two more looks before it would be over.
const LEFT_MS: u64 = 1900;
/// How long nothing must have been minted for it to rest.
const IDLE: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(crate) struct Raiser {
    /// The thread must not keep the file open, so it has it only while it looks.
    shared: Weak<Shared>,
    bell: Arc<Bell>,
}

#[derive(Debug, Default)]
struct Bell {
    duty: Mutex<Duty>,
    rings: Condvar,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Duty {
    /// There is no thread yet.
    #[default]
    None,
    Resting,
    Looking,
    Over,
}

impl Bell {
    fn duty(&self) -> MutexGuard<'_, Duty> {
        self.duty.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Raiser {
    pub(crate) fn start(shared: &Arc<Shared>) -> Self {
        let raiser = Self { shared: Arc::downgrade(shared), bell: Arc::default() };
        raiser.set(Duty::Resting);
        raiser
    }

    /// Has it raise, because IDs are minted.
    pub(crate) fn wake(&self) {
        self.set(Duty::Looking);
    }

    fn set(&self, next: Duty) {
        let mut duty = self.bell.duty();
        match *duty {
            Duty::None => {
                let (shared, bell) = (Weak::clone(&self.shared), Arc::clone(&self.bell));
                let thread = thread::Builder::new().name("frazil-ceiling".to_owned()).stack_size(256 * 1024);
                // Where no thread can be had, calls go on raising the ceiling themselves, and the next one tries again.
                if thread.spawn(move || look(&shared, &bell)).is_ok() {
                    *duty = next;
                }
            }
            Duty::Resting if next == Duty::Looking => {
                *duty = next;
                self.bell.rings.notify_one();
            }
            Duty::Resting | Duty::Looking | Duty::Over => {}
        }
    }

    /// Ends it, in its own time: what it may still do, [`Shared`] refuses.
    pub(crate) fn stop(&self) {
        *self.bell.duty() = Duty::Over;
        self.bell.rings.notify_one();
    }
}

fn look(shared: &Weak<Shared>, bell: &Bell) {
    let mut word = 0;
    let mut moved = Instant::now();
    let mut duty = bell.duty();
    loop {
        let pause = match *duty {
            Duty::Over => return,
            Duty::Resting | Duty::None => {
                moved = Instant::now();
                RESTING_LOOK
            }
            Duty::Looking => LOOK,
        };
        duty = bell.rings.wait_timeout(duty, pause).unwrap_or_else(PoisonError::into_inner).0;
        let looking = match *duty {
            Duty::Over => return,
            duty => duty == Duty::Looking,
        };
        drop(duty);
        let Some(shared) = shared.upgrade() else { return };
        shared.watch();
        let mut idle = false;
        if looking {
            let (left_ms, current) = shared.progress();
            if current != word {
                (word, moved) = (current, Instant::now());
            }
            idle = moved.elapsed() >= IDLE;
            if !idle && left_ms < LEFT_MS {
                shared.raise_ahead();
            }
        }
        drop(shared);
        duty = bell.duty();
        if idle && *duty == Duty::Looking {
            *duty = Duty::Resting;
        }
    }
}
