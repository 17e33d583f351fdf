//! The state, also of a state file, with loom's atomics.

use frazil::mint::{ClockIds, Keeper, Machine, SequenceStart, StateAtomics, Window};
use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU64, Ordering};

use crate::defect::Defect;
use crate::model::Model;

/// A state, and the additional parts of a state file.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) word: AtomicU64,
    /// The beginning of the window. It also encodes the sequence start, which is `Zero` in these models and adds 0.
    pub(crate) origin: AtomicU64,
    pub(crate) until_ms: AtomicU64,
    pub(crate) key: [AtomicU64; 2],
    pub(crate) clocks: Vec<AtomicU64>,
    /// The ceiling on disk, at which a start after a power loss begins.
    pub(crate) ceiling_ms: AtomicU64,
    /// Held while a thread extends, closes or begins anew.
    pub(crate) lock: Mutex<()>,
    pub(crate) defect: Option<Defect>,
}

impl State {
    pub(crate) fn new(model: &Model, window: Window, defect: Option<Defect>) -> Self {
        let clocks = if model.clock_bits == 0 { 0 } else { 1 << model.clock_bits };
        Self {
            word: AtomicU64::new(0),
            origin: AtomicU64::new(window.from_ms),
            until_ms: AtomicU64::new(window.until_ms),
            key: [AtomicU64::new(0), AtomicU64::new(0)],
            clocks: (0..clocks).map(|_| AtomicU64::new(0)).collect(),
            ceiling_ms: AtomicU64::new(window.until_ms),
            lock: Mutex::new(()),
            defect,
        }
    }

    pub(crate) fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    pub(crate) fn window(&self) -> Window {
        Window { from_ms: self.origin.load(Ordering::Relaxed), until_ms: self.until_ms.load(Ordering::Acquire) }
    }

    /// The ceiling as a power loss would leave it: the newest value, whereas a load could return an older one.
    pub(crate) fn ceiling(&self) -> u64 {
        self.ceiling_ms.fetch_max(0, Ordering::Relaxed)
    }

    /// Replaces the word by the closed one, and then lowers the ceiling to the end of the last tick used.
    pub(crate) fn close(&self, machine: &Machine) {
        let _guard = self.lock.lock().unwrap();
        // A defect gets the word in another way, and does the rest of closing on a copy of the word.
        let word = if self.has(Defect::LoweredInsteadOfClosed) {
            self.until_ms.store(0, Ordering::SeqCst);
            Some(self.word.load(Ordering::SeqCst))
        } else if self.has(Defect::RelaxedClose) {
            Some(self.word.swap(u64::MAX, Ordering::Relaxed))
        } else {
            None
        };
        let used_ms = match word.map(AtomicU64::new) {
            Some(word) => StateAtomics { word: &word, ..self.atomics() }.close(machine),
            None => self.atomics().close(machine),
        };
        self.ceiling_ms.swap(used_ms.unwrap().max(self.origin.load(Ordering::Relaxed)), Ordering::Relaxed);
    }

    /// Begins anew at the ceiling, after raising the ceiling to the end of the new window.
    pub(crate) fn begin(&self, until_ms: u64) {
        let _guard = self.lock.lock().unwrap();
        let from_ms = self.ceiling();
        let window = Window { from_ms, until_ms: until_ms.max(from_ms) };
        self.ceiling_ms.swap(window.until_ms, Ordering::Relaxed);
        // A defect stores the word itself, and does the rest on atomics with another word.
        let others = StateAtomics { word: &AtomicU64::new(u64::MAX), ..self.atomics() };
        if self.has(Defect::WordBeforeWindow) {
            self.word.store(0, Ordering::Release);
            others.begin_anew(window);
        } else if self.has(Defect::RelaxedWordStore) {
            others.begin_anew(window);
            self.word.store(0, Ordering::Relaxed);
        } else {
            self.atomics().begin_anew(window);
        }
    }
}

impl Keeper for State {
    fn atomics(&self) -> StateAtomics<'_> {
        let Self { word, origin, until_ms, key, clocks, .. } = self;
        StateAtomics { word, origin, until_ms, key, start: SequenceStart::Zero, clocks }
    }

    fn extend(&self, until_ms: u64, now_ms: u64) -> frazil::Result<u64> {
        let _guard = (!self.has(Defect::ExtendedUnlocked)).then(|| self.lock.lock().unwrap());
        let mut raised = [&self.ceiling_ms, &self.until_ms];
        if self.has(Defect::RaisedBeforeTheDisk) {
            raised.reverse();
        }
        for end in raised {
            end.fetch_max(until_ms, Ordering::Relaxed);
        }
        Ok(now_ms)
    }
}

impl ClockIds for State {
    fn free_from(&self, clock: usize) -> u64 {
        self.clocks.get(clock).map_or(0, |cell| cell.load(Ordering::Relaxed))
    }
}
