//! The order of the rows of a file, and the steps of clocks that it shows.
//!
//! In the order of arrival, the time of a node's IDs only grows, apart from rows that came a little late.
//!
//! * A step **back** is a fall by at least `BACK_MS` after which the node goes on from there until it has caught up, while the others go on
//!   about as far. Rows that are late do not: a transaction commits many at once.
//! * A node is **ahead** if its time leaps beyond that of all others by more than `AHEAD_MS`, and two others go on below.
//! * Falls that most nodes show at the same place are of the file, which is a list of several pieces then.

use crate::report::Order;
use crate::tally::Sample;

/// ntpd slews smaller differences, and steps from this one on; late rows are less late.
const BACK_MS: i64 = 128;
/// Where many rows are a little late, as with transactions that overlap, some may be later.
const BACK_MS_IF_LATE: i64 = 2000;
/// So many rows below the time before confirm a step back.
const BACK_ROWS: u64 = 3;
/// A node that went on for so long below the time it had was set back, even if it has not caught up.
const LONG_MS: i64 = 10_000;
/// Generators may run ahead of their clock by a second.
const AHEAD_MS: i64 = 2000;
/// How many rows of others confirm that a node is ahead.
const CONFIRMING_ROWS: u32 = 8;
/// At most one row in so many may fall, or the file is in no order. A few are allowed in a small file.
const ROWS_PER_FALL: u64 = 1000;
const FEW_FALLS: u64 = 2;
/// Falls this near to each other are at the same place.
const NEAR_ROWS: u64 = 256;
/// Steps that are kept of a file.
const MAX_STEPS: usize = 10_000;

/// A step of a clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) slot: usize,
    pub(crate) is_back: bool,
    /// The time of the node before and after.
    pub(crate) before_ms: i64,
    pub(crate) after_ms: i64,
    pub(crate) by_ms: i64,
    pub(crate) sample: Sample,
    row: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Passage {
    /// The number of the file, from 1, of the last row.
    file: u32,
    last_ms: i64,
    /// It fell, and its next rows tell whether these were late: the index in `falls`.
    fall: Option<u32>,
    is_ahead: bool,
}

/// A fall, until the node has caught up.
#[derive(Clone, Copy, Debug)]
struct Fall {
    step: Step,
    /// Rows below the time before it, and the time of the last of them.
    rows: u64,
    last_ms: i64,
    /// The time of the others when it fell.
    others_ms: i64,
}

/// A node that leapt ahead of all others, until they follow or go on below.
#[derive(Clone, Copy, Debug)]
struct Leap {
    step: Step,
    /// The time of the others.
    others_ms: i64,
    rows: u32,
    first_other: Option<usize>,
    has_two: bool,
}

#[derive(Clone, Copy, Debug)]
struct Front {
    slot: usize,
    ms: i64,
}

impl Default for Front {
    /// That of no node.
    fn default() -> Self {
        Self { slot: usize::MAX, ms: i64::MIN }
    }
}

#[derive(Default)]
pub(crate) struct Orders {
    passages: Vec<Passage>,
    file: u32,
    row: u64,
    pairs: u64,
    small_falls: u64,
    late_rows: u64,
    global_falls: u64,
    last_ms: i64,
    nodes_in_file: u64,
    falls: Vec<Fall>,
    leap: Option<Leap>,
    /// The two nodes of the latest times.
    fronts: [Front; 2],
    steps_of_file: Vec<Step>,
    lost_steps: u64,
    /// The steps of all files that are in order.
    pub(crate) steps: Vec<Step>,
    pub(crate) order: Option<Order>,
}

impl Orders {
    /// The next row. Slots come in the order of their numbers.
    #[inline]
    pub(crate) fn row(&mut self, slot: usize, ms: i64, sample: impl Fn() -> Sample) {
        if slot >= self.passages.len() {
            self.passages.resize(slot + 1, Passage::default());
        }
        self.row += 1;
        self.global_falls += u64::from(ms < self.last_ms && self.row > 1);
        self.last_ms = ms;
        let passage = &mut self.passages[slot];
        let is_first = passage.file != self.file + 1;
        let last_ms = passage.last_ms;
        if is_first {
            *passage = Passage { file: self.file + 1, last_ms: ms, fall: None, is_ahead: false };
            self.nodes_in_file += 1;
        } else {
            self.pairs += 1;
            passage.last_ms = ms;
            if passage.fall.is_some() {
                self.follow_fall(slot, ms);
            }
            if ms < last_ms {
                self.fall(slot, last_ms, ms, &sample);
            }
        }
        if self.leap.is_some() {
            self.follow(slot, ms);
        }
        let others_ms = self.others_ms(slot);
        if ms.saturating_sub(others_ms) > AHEAD_MS && others_ms != i64::MIN && self.leap.is_none() {
            let is_new = is_first || ms - last_ms > AHEAD_MS;
            if is_new && !self.passages[slot].is_ahead {
                let before_ms = if is_first { ms } else { last_ms };
                let step = Step {
                    slot,
                    is_back: false,
                    before_ms,
                    after_ms: ms,
                    by_ms: ms - others_ms,
                    sample: sample(),
                    row: self.row,
                };
                self.leap = Some(Leap { step, others_ms, rows: 0, first_other: None, has_two: false });
            }
        }
        self.advance(slot, ms, others_ms);
    }

    /// Keeps the two latest times, without those of a node that is ahead.
    #[inline]
    fn advance(&mut self, slot: usize, ms: i64, others_ms: i64) {
        if self.leap.is_some_and(|leap| leap.step.slot == slot) {
            return;
        }
        if self.passages[slot].is_ahead {
            if ms.saturating_sub(others_ms) > AHEAD_MS {
                return;
            }
            self.passages[slot].is_ahead = false;
        }
        let [first, second] = &mut self.fronts;
        if first.slot == slot {
            first.ms = first.ms.max(ms);
        } else if ms > first.ms {
            *second = *first;
            *first = Front { slot, ms };
        } else if ms > second.ms {
            *second = Front { slot, ms };
        }
    }

    #[cold]
    fn fall(&mut self, slot: usize, before_ms: i64, after_ms: i64, sample: &impl Fn() -> Sample) {
        let by_ms = before_ms - after_ms;
        if by_ms < BACK_MS {
            self.small_falls += 1;
            return;
        }
        if self.falls.len() >= MAX_STEPS || self.passages[slot].fall.is_some() {
            self.lost_steps += 1;
            return;
        }
        let step = Step { slot, is_back: true, before_ms, after_ms, by_ms, sample: sample(), row: self.row };
        self.passages[slot].fall = Some(self.falls.len() as u32);
        self.falls.push(Fall { step, rows: 1, last_ms: after_ms, others_ms: self.others_ms(slot) });
    }

    /// The latest time of the other nodes.
    #[inline]
    fn others_ms(&self, slot: usize) -> i64 {
        let [first, second] = &self.fronts;
        if first.slot == slot { second.ms } else { first.ms }
    }

    /// A further row of a node that fell.
    #[cold]
    fn follow_fall(&mut self, slot: usize, ms: i64) {
        let Some(fall) = self.passages[slot].fall.and_then(|at| self.falls.get_mut(at as usize)) else { return };
        if ms < fall.step.before_ms {
            fall.rows += 1;
            fall.last_ms = ms;
            return;
        }
        let fall = *fall;
        self.passages[slot].fall = None;
        self.end_fall(&fall);
    }

    /// Keeps a fall if it was a step: the node went on from there, and the others went on meanwhile.
    fn end_fall(&mut self, fall: &Fall) {
        let went_ms = fall.last_ms - fall.step.after_ms;
        let others_went_ms = self.others_ms(fall.step.slot).saturating_sub(fall.others_ms);
        let is_alone = fall.others_ms == i64::MIN;
        // A file may end before the node has caught up.
        let is_far = 2 * went_ms >= fall.step.by_ms || went_ms >= LONG_MS;
        if fall.rows < BACK_ROWS || !is_far || (!is_alone && 2 * others_went_ms < went_ms) {
            self.late_rows += 1;
        } else if self.steps_of_file.len() < MAX_STEPS {
            self.steps_of_file.push(fall.step);
        } else {
            self.lost_steps += 1;
        }
    }

    /// A row while a node is ahead.
    #[cold]
    fn follow(&mut self, slot: usize, ms: i64) {
        let Some(leap) = &mut self.leap else { return };
        let is_below = ms < leap.step.after_ms - AHEAD_MS;
        if leap.step.slot == slot {
            // It came back itself: a late row of another time, or a clock that was set back at once.
            if is_below {
                self.leap = None;
            }
            return;
        }
        if !is_below {
            // All were silent, and go on.
            let step = leap.step;
            self.leap = None;
            self.advance(step.slot, step.after_ms, i64::MIN);
            return;
        }
        // A row from before the leap is a late one, and says nothing.
        if ms < leap.others_ms {
            return;
        }
        leap.rows += 1;
        leap.has_two |= leap.first_other.is_some_and(|other| other != slot);
        leap.first_other.get_or_insert(slot);
        if leap.rows >= CONFIRMING_ROWS && leap.has_two {
            let step = leap.step;
            self.passages[step.slot].is_ahead = true;
            self.leap = None;
            if self.steps_of_file.len() < MAX_STEPS {
                self.steps_of_file.push(step);
            } else {
                self.lost_steps += 1;
            }
        }
    }

    /// The end of a file: which order it has, and which of its steps are those of clocks.
    pub(crate) fn end_file(&mut self) {
        if self.row > 0 {
            for slot in 0..self.passages.len() {
                let passage = &mut self.passages[slot];
                let fall = passage.fall.take().filter(|_| passage.file == self.file + 1);
                if let Some(fall) = fall.and_then(|at| self.falls.get(at as usize)).copied() {
                    self.end_fall(&fall);
                }
            }
            let mut steps = self.without_pieces();
            if self.small_falls > FEW_FALLS.max(self.pairs / ROWS_PER_FALL) {
                let is_late = |step: &Step| step.is_back && step.by_ms < BACK_MS_IF_LATE;
                self.late_rows += steps.iter().filter(|step| is_late(step)).count() as u64;
                steps.retain(|step| !is_late(step));
            }
            let backs = steps.iter().filter(|step| step.is_back).count() as u64;
            let falls = backs + self.late_rows + self.lost_steps;
            let order = if falls > FEW_FALLS.max(self.pairs / ROWS_PER_FALL) {
                Order::None
            } else if self.global_falls == 0 {
                Order::Time
            } else {
                Order::Arrival
            };
            if order != Order::None {
                self.steps.extend(steps);
            }
            self.order = self.order.max(Some(order));
        }
        *self = Self {
            file: self.file + 1,
            passages: std::mem::take(&mut self.passages),
            steps: std::mem::take(&mut self.steps),
            order: self.order,
            ..Self::default()
        };
    }

    /// The steps of the file, without the falls at a place where at least two nodes, and half of all, fall.
    fn without_pieces(&mut self) -> Vec<Step> {
        let mut steps = std::mem::take(&mut self.steps_of_file);
        steps.sort_by_key(|step| step.row);
        let nodes = self.nodes_in_file;
        let near = NEAR_ROWS.max(32 * nodes);
        let (mut kept, mut start) = (Vec::new(), 0);
        while start < steps.len() {
            let mut end = start + 1;
            while end < steps.len() && steps[end].row - steps[end - 1].row <= near {
                end += 1;
            }
            let place = &steps[start..end];
            let mut slots: Vec<_> = place.iter().filter(|step| step.is_back).map(|step| step.slot).collect();
            slots.sort_unstable();
            slots.dedup();
            let is_piece = slots.len() >= 2 && 2 * slots.len() as u64 >= nodes;
            if is_piece {
                self.late_rows += slots.len() as u64;
            } else {
                kept.extend_from_slice(place);
            }
            start = end;
        }
        kept
    }
}
