//! The line, as TypeScript goes along it on a state that threads and processes share (`swapOne` of `swap-line.ts`).

use std::cell::Cell;
use std::sync::Arc as StdArc;

use frazil::abi::Line;
use frazil::mint::Window;
use loom::sync::atomic::Ordering;

use crate::call::{Answer, Call, Mints, at, ids, issued};
use crate::copied::Copied;
use crate::defect::Defect;
use crate::file::Action::{Begin, Close, Mint};
use crate::file::{ABOVE_CEILING, FILE, FileModel, answers};
use crate::model::{Model, PLAIN};
use crate::state::State;
use crate::{REPEATED, panic_of};

/// A copy of `#nextByClock`: the line, and where it has no ID, the copy of the loop, after which the window is read again.
#[derive(Clone)]
struct ByLine {
    core: Copied,
    line: Line,
    /// As it was read last.
    window: Cell<Window>,
}

impl ByLine {
    fn on(model: &Model, state: StdArc<State>, kept: bool) -> Self {
        let window = Cell::new(state.window());
        let core = Copied::on(model, state, kept);
        Self { line: Line::of(&core.machine).unwrap(), core, window }
    }

    #[expect(clippy::cast_precision_loss, reason = "a few milliseconds")]
    fn by_line(&self, now_ms: u64) -> Option<u64> {
        let (state, window) = (&*self.core.state, self.window.get());
        let before = state.word.load(Ordering::Relaxed);
        let (next, id) = self.line.next(before, window, now_ms as f64)?;
        if self.core.has(Defect::LineStored) {
            state.word.store(next, Ordering::SeqCst);
        } else {
            state.word.compare_exchange(before, next, Ordering::SeqCst, Ordering::SeqCst).ok()?;
        }
        let starts = state.origin.load(Ordering::SeqCst) == window.from_ms || self.core.has(Defect::LineStartUnchecked);
        let ends = state.until_ms.load(Ordering::SeqCst) >= window.until_ms || self.core.has(Defect::LineEndUnchecked);
        (starts && ends).then_some(id)
    }
}

impl Mints for ByLine {
    fn mint(&self, call: Call) -> Answer {
        if let Some(id) = self.by_line(call.now_ms) {
            return Answer::Ids(vec![id]);
        }
        let answer = self.core.mint(call);
        self.window.set(self.core.state.window());
        answer
    }

    fn switches(&self) -> u64 {
        0
    }
}

const BESIDE_RESERVE: Model = Model { sequence_bits: 2, threads: &[&[at(1), at(2)], &[at(1), at(1)], &[at(2)]], ..PLAIN };
const FILE_OF_FOUR: FileModel = FileModel { rules: BESIDE_RESERVE, ..FILE };
const CLOSED: FileModel =
    FileModel { threads: &[&[Close], &[Mint(at(1)), Mint(at(2))]], after: &[Begin(8), Mint(at(2)), Mint(at(3))], ..FILE_OF_FOUR };
// The thread that starts first closes: its own loads are the newest.
const BEGUN_ANEW: FileModel =
    FileModel { threads: &[&[Mint(at(1)), Close, Begin(8), Mint(at(2))], &[Mint(at(1))]], ..FILE_OF_FOUR };
const ENDS_EARLIER: FileModel = FileModel { threads: &[&[Close, Begin(4), Mint(at(1))], &[Mint(at(6))]], ..FILE_OF_FOUR };
const EXTENDED: FileModel = FileModel { until_ms: 2, threads: &[&[Mint(at(1)), Mint(at(3))], &[Mint(at(3))]], ..FILE_OF_FOUR };

// docs/internals/claims.md: 2, 10, 13, 14, 34
#[test]
fn a_line_repeats_no_id() {
    let runs = BESIDE_RESERVE.explore(|model| ByLine::on(model, StdArc::new(State::new(model, Window::OPEN, None)), false));
    assert!(runs.iter().any(|run| issued(run).len() == 5));
    for model in [CLOSED, BEGUN_ANEW, ENDS_EARLIER, EXTENDED] {
        let runs = model.explore(None, |rules, state| ByLine::on(rules, state, true));
        assert!(runs.iter().any(|run| run.iter().map(|stage| ids(stage).count()).sum::<usize>() >= 2), "{model:?}");
    }
    // A call on the line is refused as any other once the state is closed.
    let runs = CLOSED.explore(None, |rules, state| ByLine::on(rules, state, true));
    assert!(answers(&runs, 2, 1).contains(&Answer::Refused("CLOSED")));
}

#[test]
fn every_defect_of_a_line_repeats_an_id_at_once_or_after_a_power_loss() {
    let stored = |model: &Model| ByLine::on(model, StdArc::new(State::new(model, Window::OPEN, Some(Defect::LineStored))), false);
    let panic = panic_of(|| drop(BESIDE_RESERVE.explore(stored)));
    assert!(panic.starts_with(REPEATED), "{panic}");
    for (defect, model, found) in [
        (Defect::LineStored, CLOSED, ABOVE_CEILING),
        (Defect::LineStartUnchecked, BEGUN_ANEW, REPEATED),
        (Defect::LineEndUnchecked, ENDS_EARLIER, ABOVE_CEILING),
    ] {
        let panic = panic_of(|| drop(model.explore(Some(defect), |rules, state| ByLine::on(rules, state, true))));
        assert!(panic.starts_with(found), "{defect:?}: {panic}");
    }
}
