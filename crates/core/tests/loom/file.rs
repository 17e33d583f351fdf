//! A state file: calls, closing, and beginning anew.

use std::collections::BTreeSet;
use std::sync::{Arc as StdArc, Mutex as StdMutex};

use frazil::mint::Window;
use frazil::{Generator, Node};
use loom::thread;

use crate::call::{Answer, Call, Mints, at, block, ids};
use crate::copied::Copied;
use crate::defect::Defect;
use crate::model::{CLOCKS, Model, PLAIN};
use crate::state::State;
use crate::{REPEATED, explore, panic_of};

/// An action on a state file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Mint(Call),
    Close,
    /// Begins the state anew, with a window from the ceiling to this time.
    Begin(u64),
}
use Action::{Begin, Close, Mint};

/// A state file, as `Snowflake.local()` has it, and the actions on it: before the threads start, by each thread, and after they
/// have ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileModel {
    pub(crate) rules: Model,
    /// The end of the first window, which begins at 0.
    pub(crate) until_ms: u64,
    pub(crate) before: &'static [Action],
    pub(crate) threads: &'static [&'static [Action]],
    pub(crate) after: &'static [Action],
}

/// The outcome of a file model in one execution: the answers before the threads started, to each thread, and after they ended.
type FileRun = Vec<Vec<Answer>>;

/// The beginning of the panic message if an ID could be repeated after a power loss.
pub(crate) const ABOVE_CEILING: &str = "an ID lies above the ceiling:";

impl FileModel {
    /// Explores the model with the generators that `make` creates on its state, checks the guarantees in every execution, and
    /// returns all outcomes.
    pub(crate) fn explore<M: Mints>(
        self,
        defect: Option<Defect>,
        make: impl Fn(&Model, StdArc<State>) -> M + Send + Sync + 'static,
    ) -> BTreeSet<FileRun> {
        let outcomes = StdArc::new(StdMutex::new(BTreeSet::new()));
        let collected = StdArc::clone(&outcomes);
        explore(move || {
            let window = Window { from_ms: 0, until_ms: self.until_ms };
            let state = StdArc::new(State::new(&self.rules, window, defect));
            let (run, above) = self.play(&make(&self.rules, StdArc::clone(&state)), &state);
            let mut all: Vec<u64> = run.iter().flat_map(|answers| ids(answers)).collect();
            all.sort_unstable();
            let twice = all.windows(2).find(|pair| pair[0] == pair[1]);
            assert!(twice.is_none(), "{REPEATED} {twice:?} in {run:?}");
            assert!(above.is_empty(), "{ABOVE_CEILING} {above:?} in {run:?}");
            collected.lock().unwrap().insert(run);
        });
        StdArc::into_inner(outcomes).unwrap().into_inner().unwrap()
    }

    /// One execution: its outcome, and each ID that lay above the ceiling after an action of a thread that knew the ID, with that
    /// ceiling.
    pub(crate) fn play(&self, first: &impl Mints, state: &StdArc<State>) -> (FileRun, Vec<(u64, u64)>) {
        fn play(
            model: &FileModel,
            own: &impl Mints,
            state: &State,
            actions: &[Action],
            known: &[u64],
        ) -> (Vec<Answer>, Vec<(u64, u64)>) {
            let Model { clock_bits, sequence_bits, .. } = model.rules;
            let (mut answers, mut above) = (Vec::new(), Vec::new());
            for action in actions {
                match *action {
                    Mint(call) => answers.push(own.mint(call)),
                    Close => state.close(&model.rules.machine()),
                    Begin(until_ms) => state.begin(until_ms),
                }
                let ceiling_ms = state.ceiling();
                let known = known.iter().copied().chain(ids(&answers));
                above.extend(known.filter(|id| id >> (clock_bits + 1 + sequence_bits) >= ceiling_ms).map(|id| (id, ceiling_ms)));
            }
            (answers, above)
        }
        let mut stages = vec![play(self, first, state, self.before, &[])];
        let known: Vec<u64> = ids(&stages[0].0).collect();
        let (own, others) = self.threads.split_first().unwrap();
        let others: Vec<_> = others
            .iter()
            .map(|actions| {
                let (model, clone, state, known) = (*self, first.clone(), StdArc::clone(state), known.clone());
                thread::spawn(move || play(&model, &clone, &state, actions, &known))
            })
            .collect();
        stages.push(play(self, first, state, own, &known));
        stages.extend(others.into_iter().map(|other| other.join().unwrap()));
        let known: Vec<u64> = stages.iter().flat_map(|(answers, _)| ids(answers)).collect();
        stages.push(play(self, first, state, self.after, &known));
        let (run, above): (_, Vec<_>) = stages.into_iter().unzip();
        (run, above.concat())
    }

    /// The ID of a tick, clock id and number, as an answer.
    pub(crate) fn id(&self, tick: u64, clock: u64, sequence: u64) -> Answer {
        Answer::Ids(vec![self.rules.id(tick, clock, sequence)])
    }
}

pub(crate) const FILE: FileModel = FileModel { rules: PLAIN, until_ms: 8, before: &[], threads: &[], after: &[] };
const FILE_WITH_CLOCKS: FileModel = FileModel { rules: CLOCKS, before: &[Mint(at(5))], ..FILE };

const EXTENDED: FileModel = FileModel { until_ms: 0, threads: &[&[Mint(at(1)), Mint(at(2))], &[Mint(at(1))]], ..FILE };
const EXTENDED_BLOCKS: FileModel = FileModel {
    rules: Model { max_lead_ms: 2, ..PLAIN },
    until_ms: 0,
    threads: &[&[Mint(block(1, 3))], &[Mint(at(2)), Mint(at(2))]],
    ..FILE
};
const CLOSED: FileModel = FileModel {
    threads: &[&[Mint(at(1)), Mint(at(2))], &[Close]],
    after: &[Begin(8), Mint(at(2)), Mint(at(2)), Mint(at(3))],
    ..FILE
};
const CLOSED_FOR_TWO_THREADS: FileModel =
    FileModel { threads: &[&[Mint(at(1))], &[Mint(at(1))], &[Close]], after: &[Begin(8), Mint(at(1)), Mint(at(2))], ..FILE };
const CLOSED_CLOCKS: FileModel = FileModel {
    threads: &[&[Mint(at(2)), Mint(at(6))], &[Close]],
    after: &[Begin(8), Mint(at(5)), Mint(at(6)), Mint(at(7))],
    ..FILE_WITH_CLOCKS
};
const STRAGGLER: FileModel =
    FileModel { threads: &[&[Mint(at(1)), Mint(at(2))], &[Mint(at(1)), Close, Begin(8), Mint(at(2))]], ..FILE };
const STRAGGLER_BACK: FileModel = FileModel { threads: &[&[Mint(at(2))], &[Close, Begin(8), Mint(at(6))]], ..FILE_WITH_CLOCKS };
const STRAGGLER_AHEAD: FileModel = FileModel { threads: &[&[Mint(at(6))], &[Close, Begin(4), Mint(at(1))]], ..FILE };
const STRAGGLER_EXTENDS: FileModel = FileModel { until_ms: 0, ..STRAGGLER_AHEAD };

/// All outcomes of a file model. They must be the same on the generator and on the copy of its loop.
fn file_runs_of(model: FileModel) -> BTreeSet<FileRun> {
    let runs = model
        .explore(None, |rules, state| Generator::kept(&rules.layout(), Node::Id(1), Some(rules.max_lead_ms), state).unwrap());
    assert!(
        runs == model.explore(None, |rules, state| Copied::on(rules, state, true)),
        "the copy differs from the generator: {model:?}"
    );
    runs
}

/// All answers to a call of a stage: the calls before the threads started, those of each thread, and those after they ended.
pub(crate) fn answers(runs: &BTreeSet<FileRun>, stage: usize, call: usize) -> BTreeSet<Answer> {
    runs.iter().map(|run| run[stage][call].clone()).collect()
}

const BACKWARD_ANSWER: Answer = Answer::Refused("CLOCK_BACKWARD");
const CLOSED_ANSWER: Answer = Answer::Refused("CLOSED");

// docs/safety.md: 10
#[test]
fn ids_issued_while_the_window_is_extended_lie_below_the_ceiling() {
    let runs = file_runs_of(EXTENDED);
    assert_eq!(answers(&runs, 1, 1), BTreeSet::from([EXTENDED.id(2, 0, 0)]));
    assert_eq!(answers(&runs, 2, 0), BTreeSet::from([EXTENDED.id(1, 0, 0), EXTENDED.id(1, 0, 1), BACKWARD_ANSWER]));

    let lengths: BTreeSet<usize> = file_runs_of(EXTENDED_BLOCKS).iter().map(|run| ids(&run[1]).count()).collect();
    assert_eq!(lengths, BTreeSet::from([1, 2, 3]), "a block must end with the window, however far other threads extended it");
}

// docs/safety.md: 13
#[test]
fn closing_refuses_calls_that_are_in_progress() {
    let runs = file_runs_of(CLOSED);
    assert_eq!(answers(&runs, 1, 0), BTreeSet::from([CLOSED.id(1, 0, 0), CLOSED_ANSWER]));
    assert_eq!(answers(&runs, 1, 1), BTreeSet::from([CLOSED.id(2, 0, 0), CLOSED_ANSWER]));
    assert_eq!(
        answers(&runs, 3, 0),
        BTreeSet::from([CLOSED.id(2, 0, 0), BACKWARD_ANSWER]),
        "the ceiling must be as low as possible"
    );
    assert_eq!(answers(&runs, 3, 2), BTreeSet::from([CLOSED.id(3, 0, 0)]));

    let runs = file_runs_of(CLOSED_FOR_TWO_THREADS);
    assert!([1, 2].iter().all(|thread| answers(&runs, *thread, 0).contains(&CLOSED_ANSWER)));
    assert_eq!(answers(&runs, 4, 0), BTreeSet::from([CLOSED.id(1, 0, 0), BACKWARD_ANSWER]));

    // The ceiling must not be below the tick that was used before the clock went back.
    let runs = file_runs_of(CLOSED_CLOCKS);
    assert_eq!(answers(&runs, 3, 0), BTreeSet::from([BACKWARD_ANSWER]));
    assert_eq!(answers(&runs, 3, 2), BTreeSet::from([CLOSED_CLOCKS.id(7, 0, 0)]));
}

// docs/safety.md: 14, 15
#[test]
fn a_straggler_may_mint_while_the_state_begins_anew() {
    let runs = file_runs_of(STRAGGLER);
    let both = [STRAGGLER.id(1, 0, 0), STRAGGLER.id(1, 0, 1)];
    assert_eq!(
        answers(&runs, 1, 0),
        BTreeSet::from(both).union(&BTreeSet::from([BACKWARD_ANSWER, CLOSED_ANSWER])).cloned().collect()
    );

    let runs = file_runs_of(STRAGGLER_BACK);
    assert_eq!(answers(&runs, 1, 0), BTreeSet::from([STRAGGLER_BACK.id(2, 1, 0), BACKWARD_ANSWER, CLOSED_ANSWER]));

    // The first ID is skipped if it was reserved under the old window and the straggler extends the new one.
    for model in [STRAGGLER_AHEAD, STRAGGLER_EXTENDS] {
        let expected = BTreeSet::from([model.id(6, 0, 0), model.id(6, 0, 1), BACKWARD_ANSWER, CLOSED_ANSWER]);
        assert_eq!(answers(&file_runs_of(model), 1, 0), expected, "{model:?}");
    }
}

#[test]
fn every_defect_of_a_state_file_repeats_an_id_at_once_or_after_a_power_loss() {
    for (defect, model, found) in [
        (Defect::RaisedBeforeTheDisk, EXTENDED, ABOVE_CEILING),
        (Defect::RaisedBeforeTheDisk, EXTENDED_BLOCKS, ABOVE_CEILING),
        (Defect::ExtendedUnlocked, STRAGGLER_EXTENDS, ABOVE_CEILING),
        (Defect::LoweredInsteadOfClosed, CLOSED, REPEATED),
        (Defect::RelaxedClose, CLOSED_CLOCKS, REPEATED),
        (Defect::RelaxedSwap, CLOSED_CLOCKS, REPEATED),
        (Defect::RaisedAfterTheSwap, CLOSED_CLOCKS, REPEATED),
        (Defect::WordBeforeWindow, STRAGGLER, REPEATED),
        (Defect::RelaxedWordStore, STRAGGLER, REPEATED),
        (Defect::WindowNotRechecked, STRAGGLER, REPEATED),
        (Defect::WindowNotRechecked, STRAGGLER_AHEAD, ABOVE_CEILING),
        (Defect::SwapWithoutAcquire, STRAGGLER, REPEATED),
        (Defect::SwapWithoutAcquire, STRAGGLER_AHEAD, ABOVE_CEILING),
    ] {
        let panic = panic_of(|| drop(model.explore(Some(defect), |rules, state| Copied::on(rules, state, true))));
        assert!(panic.starts_with(found), "{defect:?}: {panic}");
    }
}
