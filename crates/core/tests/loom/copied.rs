//! The copy of the loop, for defects.

use std::cell::Cell;
use std::sync::Arc as StdArc;

use frazil::mint::{Keeper, Machine, Outcome, Window};
use loom::sync::atomic::Ordering;

use crate::call::{Answer, Call, Mints};
use crate::defect::Defect;
use crate::model::Model;
use crate::state::State;

/// A copy of the loop of `Generator::reserve`, with loom's atomics and the public, pure `Machine`.
pub(crate) struct Copied {
    pub(crate) machine: Machine,
    pub(crate) state: StdArc<State>,
    /// Whether the state is a state file.
    pub(crate) kept: bool,
    pub(crate) switches: Cell<u64>,
    pub(crate) defect: Option<Defect>,
}

impl Clone for Copied {
    fn clone(&self) -> Self {
        let Self { machine, ref state, kept, switches: _, defect } = *self;
        Self { machine, state: StdArc::clone(state), kept, switches: Cell::new(0), defect }
    }
}

impl Copied {
    pub(crate) fn new(model: &Model, defect: Option<Defect>) -> Self {
        Self::on(model, StdArc::new(State::new(model, Window::OPEN, defect)), false)
    }

    pub(crate) fn on(model: &Model, state: StdArc<State>, kept: bool) -> Self {
        let defect = state.defect;
        Self { machine: model.machine(), state, kept, switches: Cell::new(0), defect }
    }

    pub(crate) fn has(&self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }

    fn raise(&self, leaves: Option<(usize, u64)>) {
        if let Some((clock, free_from)) = leaves {
            let free_from = free_from - u64::from(self.has(Defect::RaisedTooLittle));
            self.state.clocks[clock].fetch_max(free_from, Ordering::Relaxed);
        }
    }

    pub(crate) fn swap(&self, word: u64, next: u64) -> Result<u64, u64> {
        let reload = if self.has(Defect::RelaxedReload) { Ordering::Relaxed } else { Ordering::Acquire };
        let swap = match self.defect {
            Some(Defect::RelaxedSwap) => Ordering::Relaxed,
            _ if self.kept && !self.has(Defect::SwapWithoutAcquire) => Ordering::AcqRel,
            _ => Ordering::Release,
        };
        if self.has(Defect::StoredInsteadOfSwapped) {
            self.state.word.store(next, swap);
            return Ok(word);
        }
        self.state.word.compare_exchange_weak(word, next, swap, reload)
    }
}

impl Mints for Copied {
    fn mint(&self, Call { mut now_ms, want, confirmed, dies }: Call) -> Answer {
        let load = if self.has(Defect::RelaxedLoad) { Ordering::Relaxed } else { Ordering::Acquire };
        let mut word = self.state.word.load(load);
        loop {
            let window = self.state.window();
            match self.machine.reserve(word, window, &*self.state, now_ms, want, confirmed) {
                Outcome::Issued { word: next, block, leaves, switched, .. } => {
                    if !self.has(Defect::RaisedAfterTheSwap) && !self.has(Defect::NotRaised) {
                        self.raise(leaves);
                    }
                    if dies {
                        return Answer::Died;
                    }
                    if let Err(current) = self.swap(word, next) {
                        word = current;
                        continue;
                    }
                    if self.has(Defect::RaisedAfterTheSwap) {
                        self.raise(leaves);
                    }
                    if self.kept && !self.has(Defect::WindowNotRechecked) {
                        let now = self.state.window();
                        if now.from_ms != window.from_ms || now.until_ms < window.until_ms {
                            word = self.state.word.load(load);
                            continue;
                        }
                    }
                    self.switches.set(self.switches.get() + u64::from(switched));
                    let mut ids = vec![0; block.len()];
                    block.write(&mut ids);
                    return Answer::Ids(ids);
                }
                Outcome::Recheck => return Answer::Recheck,
                Outcome::Stalled { cause, .. } => return Answer::Refused(cause.name()),
                Outcome::Expired { until_ms } => {
                    now_ms = self.state.extend(until_ms, now_ms).unwrap();
                    word = self.state.word.load(load);
                }
                // No model of a state file reaches the end of the time field, so this word means closed.
                Outcome::Refused(_) if self.kept && word == u64::MAX => return Answer::Refused("CLOSED"),
                Outcome::Refused(error) => return Answer::Refused(error.code().name()),
            }
        }
    }

    fn switches(&self) -> u64 {
        self.switches.get()
    }
}
