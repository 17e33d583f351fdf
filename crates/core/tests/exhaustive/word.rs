//! The words and cells of the machine, as the model has them.

use frazil_reference::{Kind, Layout, Position, Rules, State};

/// The word of a state whose time field is used up, as documented for `Machine`.
pub(crate) const USED_UP: u64 = u64::MAX;

/// The last position that was issued: `None` if none was.
pub(crate) fn last(layout: &Layout, word: u64) -> Option<Position> {
    let [ticks, clocks, sequences] = [Kind::Time, Kind::Clock, Kind::Sequence].map(|kind| layout.count(kind));
    if word == USED_UP {
        return Some(Position { tick: ticks - 1, clock: clocks - 1, index: sequences - 1 });
    }
    let last = u128::from(word.checked_sub(1)?);
    Some(Position { tick: last / sequences / clocks, clock: last / sequences % clocks, index: last % sequences })
}

/// The word after this position was issued.
pub(crate) fn word_after(rules: &Rules, position: Position) -> u64 {
    if rules.is_last(position) { USED_UP } else { u64::try_from(rules.positions_to(position)).unwrap() }
}

/// What was issued in a state. The cell of the clock id in use is not up to date, so its number comes from the word.
pub(crate) fn state(rules: &Rules, last: Option<Position>, cells: &[u64]) -> State {
    let mut state = rules.unused();
    for (free_from, cell) in state.free_from.iter_mut().zip(cells) {
        *free_from = (*cell).into();
    }
    if let Some(last) = last {
        state.issue(last);
    }
    state
}
