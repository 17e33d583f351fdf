//! The comparison of the machine with the model.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use frazil::Code;
use frazil::mint::{Outcome, SequenceStart};
use frazil_reference::{Answer, Kind, Position, Rules, State};

use crate::call::{Call, machine, node_id};
use crate::spaces::Space;
use crate::word::{USED_UP, last, state, word_after};
use crate::{KEY, MAX_WALK, model};

/// What the model says of one state, window and clock reading.
#[derive(Debug)]
struct Expected {
    answer: Answer,
    /// When a call would first get IDs, or find the window too short.
    ends_ms: Option<u64>,
    /// The IDs of a call for many: the position of each, the ID, and the word after it.
    block: Vec<(Position, u64, u64)>,
    /// Whether no call for more gets more.
    is_whole: bool,
}

impl Expected {
    fn new(rules: &Rules, state: &State, window: frazil_reference::Window, now_ms: u64) -> Self {
        let answer = rules.answer(state, window, now_ms.into());
        let mut block = rules.block(state, window, now_ms.into(), MAX_WALK + 1);
        let is_whole = block.len() <= MAX_WALK;
        block.truncate(MAX_WALK);
        let row = |position| (position, u64::try_from(rules.id(position)).unwrap(), word_after(rules, position));
        Self { answer, ends_ms: None, block: block.into_iter().map(row).collect(), is_whole }
    }

    fn block(&self, want: usize) -> &[(Position, u64, u64)] {
        &self.block[..self.block.len().min(want.max(1))]
    }
}

/// The comparison of calls that differ in the clock reading, the want, and whether the reading is confirmed.
struct Comparison<'a> {
    rules: &'a Rules,
    has_clocks: bool,
    last: Option<Position>,
    ids: Vec<u64>,
}

impl Comparison<'_> {
    /// Whether the outcome of the machine is that of the model.
    fn agrees(&mut self, call: Call, expected: &Expected, outcome: &Outcome) -> bool {
        match (expected.answer, outcome) {
            (Answer::Issued { follows_back, .. }, Outcome::Recheck) => !call.confirmed && follows_back,
            (Answer::Stalled(_) | Answer::Refused(_), Outcome::Recheck) => !call.confirmed,
            (Answer::Expired { until_ms }, Outcome::Expired { until_ms: found_ms }) => u128::from(*found_ms) == until_ms,
            (Answer::Refused(code), Outcome::Refused(error)) => {
                call.confirmed && error.code().name() == code && error.retry_after_ms() == 0
            }
            (Answer::Stalled(code), Outcome::Stalled { retry_at_ms, cause }) => {
                call.confirmed && Some(*retry_at_ms) == expected.ends_ms && cause.name() == code
            }
            // A wait without an end is a refusal without a wait.
            (Answer::Stalled(_), Outcome::Refused(error)) => {
                call.confirmed && expected.ends_ms.is_none() && error.code() == Code::TimeExhausted
            }
            (Answer::Issued { position: first, follows_back }, Outcome::Issued { word, block, leaves, lead_ms, switched }) => {
                let expected = expected.block(call.want);
                let (end, _, word_expected) = expected[expected.len() - 1];
                let left = self.last.filter(|last| last.clock != end.clock);
                let leaves_expected = left.map(|last| (last.clock, last.tick + 1));
                let leaves = leaves.map(|(clock, free_from)| (clock as u128, u128::from(free_from)));
                let lead_expected = self.rules.layout().start_ms(end.tick).saturating_sub(call.now_ms.into());
                self.ids.resize(expected.len() + 1, 0);
                self.ids[expected.len()] = USED_UP;
                block.write(&mut self.ids);
                let same = expected.iter().zip(&self.ids).all(|((_, id, _), found)| id == found);
                let nothing_beyond = self.ids[expected.len()] == USED_UP;
                let in_place =
                    if self.has_clocks { first.pair() == end.pair() } else { *word > call.word && expected[0].2 > call.word };
                let same_numbers = block.len() == expected.len() && block.first() == self.ids[0] && *word == word_expected;
                let same_words = leaves == leaves_expected && u128::from(*lead_ms) == lead_expected && *switched == follows_back;
                (call.confirmed || !follows_back) && same && nothing_beyond && in_place && same_numbers && same_words
            }
            _ => false,
        }
    }
}

impl Space {
    /// Compares all calls of a piece of work with the model, and counts them.
    fn check(
        &self,
        (start, lead_ms, word): (SequenceStart, u64, u64),
        reserve: &impl Fn(Call) -> Outcome,
    ) -> Result<u64, String> {
        let layout = model::layout(&self.layout);
        let sequence_start = model::sequence_start(start, KEY);
        let rules = Rules::new(&layout, node_id(&self.layout).into(), lead_ms.into(), sequence_start);
        let machine = machine(&self.layout, lead_ms, start, KEY);
        let last = last(&layout, word);
        let mut comparison = Comparison { rules: &rules, has_clocks: layout.has(Kind::Clock), last, ids: Vec::new() };
        let mut count = 0;
        self.each_cells(|cells| {
            let state = state(&rules, last, cells);
            for &window in &self.windows {
                let bounds = frazil_reference::Window { from_ms: window.from_ms.into(), until_ms: window.until_ms.into() };
                // Readings are checked from the last to the first, so that the end of each wait is known.
                let mut ends_ms = None;
                for &now_ms in self.nows_ms.iter().rev() {
                    let mut expected = Expected::new(&rules, &state, bounds, now_ms);
                    if matches!(expected.answer, Answer::Issued { .. } | Answer::Expired { .. }) {
                        ends_ms = Some(now_ms);
                    }
                    expected.ends_ms = ends_ms;
                    for &want in &self.wants {
                        if !expected.is_whole && want > MAX_WALK {
                            continue;
                        }
                        for confirmed in [false, true] {
                            let layout = &self.layout;
                            let call =
                                Call { machine: &machine, layout, start, lead_ms, word, window, cells, now_ms, want, confirmed };
                            let outcome = reserve(call);
                            count += 1;
                            if !comparison.agrees(call, &expected, &outcome) {
                                return Err(format!("{call:?}: {outcome:?}, but the model says {expected:?}"));
                            }
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(count)
    }
}

/// Compares every call of every space, on all cores. Returns the number of calls, or a difference.
pub(crate) fn check(spaces: &[Space], reserve: impl Fn(Call) -> Outcome + Sync) -> Result<u64, String> {
    let pieces: Vec<_> = spaces.iter().flat_map(|space| space.pieces().map(move |piece| (space, piece))).collect();
    let (next, count, difference) = (AtomicUsize::new(0), AtomicU64::new(0), Mutex::new(None));
    let work = || {
        while let Some((space, piece)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            match space.check(*piece, &reserve) {
                Ok(counted) => count.fetch_add(counted, Ordering::Relaxed),
                Err(found) => {
                    difference.lock().unwrap().get_or_insert(found);
                    return;
                }
            };
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(work);
        }
    });
    difference.into_inner().unwrap().map_or(Ok(count.into_inner()), Err)
}
