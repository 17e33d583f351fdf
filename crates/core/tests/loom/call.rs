//! Calls, their outcomes, and who answers them.

use frazil::Generator;
use frazil::mint::Reservation;

/// The arguments of one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) now_ms: u64,
    pub(crate) want: usize,
    pub(crate) confirmed: bool,
    /// Whether the thread dies between raising the cell and swapping the word. Only the copy of the loop can simulate that.
    pub(crate) dies: bool,
}

/// A call for one ID, at a clock reading that was confirmed by a second one.
pub(crate) const fn at(now_ms: u64) -> Call {
    Call { now_ms, want: 1, confirmed: true, dies: false }
}

pub(crate) const fn block(now_ms: u64, want: usize) -> Call {
    Call { want, ..at(now_ms) }
}

/// A call for one ID, at a clock reading that was not confirmed.
pub(crate) const fn unconfirmed_at(now_ms: u64) -> Call {
    Call { confirmed: false, ..at(now_ms) }
}

pub(crate) const fn dies_at(now_ms: u64) -> Call {
    Call { dies: true, ..at(now_ms) }
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Answer {
    Ids(Vec<u64>),
    Recheck,
    /// The name of the code.
    Refused(&'static str),
    Died,
}

/// The outcome of a model in one execution: how often the clock was followed back, the answers before the threads started, and
/// the answers to each thread.
pub(crate) type Run = (u64, Vec<Answer>, Vec<Vec<Answer>>);

pub(crate) fn ids(answers: &[Answer]) -> impl Iterator<Item = u64> + '_ {
    answers.iter().flat_map(|answer| if let Answer::Ids(ids) = answer { ids.as_slice() } else { &[] }).copied()
}

/// All IDs that were issued, in increasing order.
pub(crate) fn issued((_, before, threads): &Run) -> Vec<u64> {
    let mut all: Vec<u64> = ids(before).chain(threads.iter().flat_map(|answers| ids(answers))).collect();
    all.sort_unstable();
    all
}

/// How many calls were refused with a code.
pub(crate) fn refused((_, _, threads): &Run, code: &str) -> usize {
    threads.iter().flatten().filter(|answer| matches!(answer, Answer::Refused(name) if *name == code)).count()
}

/// A generator that can be shared: a clone uses the same state.
pub(crate) trait Mints: Clone + Send + 'static {
    fn mint(&self, call: Call) -> Answer;
    /// How often this clone followed the clock back.
    fn switches(&self) -> u64;
}

impl Mints for Generator {
    fn mint(&self, Call { now_ms, want, confirmed, dies }: Call) -> Answer {
        assert!(!dies, "the real generator cannot die in mid-call");
        match self.reserve(now_ms, want, confirmed) {
            Ok(Reservation::Issued { block, .. }) => {
                let mut ids = vec![0; block.len()];
                block.write(&mut ids);
                Answer::Ids(ids)
            }
            Ok(Reservation::Recheck) => Answer::Recheck,
            Err(error) => Answer::Refused(error.code().name()),
        }
    }

    fn switches(&self) -> u64 {
        self.stats().switches
    }
}
