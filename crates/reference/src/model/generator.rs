//! A generator with a state of its own, which issues one ID after another by the rules of minting.

use std::collections::HashSet;

use super::errors::TIME_EXHAUSTED;
use super::layout::Layout;
use super::minting::{Answer, Position, Rules, SequenceStart, State, Window};

/// A generator with a state of its own.
#[derive(Clone, Debug)]
pub struct Generator {
    rules: Rules,
    window: Window,
    state: State,
    issued: HashSet<u128>,
}

/// Why nothing is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The clock has to be read once more.
    Recheck,
    /// The code of an error, and how long until the same call can first succeed; `None` if waiting does not end the refusal.
    Code(&'static str, Option<u128>),
}

impl Generator {
    /// A generator of a process that started at `start_ms`, if that is known.
    #[must_use]
    pub fn new(layout: &Layout, node: u128, max_lead_ms: u128, start_ms: Option<u128>, sequence_start: SequenceStart) -> Self {
        // A previous process with this node id can have issued up to its lead beyond the start of this one, and the tick
        // that contains that time is not known to be unused.
        let from_ms = start_ms.map_or(0, |start_ms| {
            let reached_ms = start_ms + max_lead_ms;
            if reached_ms < layout.epoch_ms { 0 } else { layout.start_ms((reached_ms - layout.epoch_ms) / layout.tick_ms + 1) }
        });
        let rules = Rules::new(layout, node, max_lead_ms, sequence_start);
        let window = Window { from_ms, until_ms: u128::MAX };
        Self { state: rules.unused(), rules, window, issued: HashSet::new() }
    }

    /// The next position, and whether the clock is followed back to it.
    ///
    /// # Errors
    /// The refusal of a confirmed call.
    pub fn next(&self, now_ms: u128) -> Result<(Position, bool), Refusal> {
        match self.rules.answer(&self.state, self.window, now_ms) {
            Answer::Issued { position, follows_back } => Ok((position, follows_back)),
            Answer::Refused(code) => Err(Refusal::Code(code, None)),
            Answer::Stalled(code) => Err(match self.rules.retry_at_ms(&self.state, self.window, now_ms) {
                Some(retry_at_ms) => Refusal::Code(code, Some(retry_at_ms - now_ms)),
                None => Refusal::Code(TIME_EXHAUSTED, None),
            }),
            Answer::Expired { .. } => unreachable!("the window has no end"),
        }
    }

    /// Issues up to `count` IDs. If there is a clock field, they all have one tick and one clock id. Refuses if there is not
    /// one ID. `confirmed` says that this is the second reading of the clock for one call: only then is a refusal final, and
    /// only then does the generator follow the clock back.
    ///
    /// # Errors
    /// The refusal.
    ///
    /// # Panics
    /// If it would repeat an ID, or take a clock id back to an earlier tick.
    pub fn reserve(&mut self, now_ms: u128, count: usize, confirmed: bool) -> Result<Vec<u128>, Refusal> {
        match self.next(now_ms) {
            Ok((_, true)) | Err(_) if !confirmed => return Err(Refusal::Recheck),
            Err(refusal) => return Err(refusal),
            Ok(_) => {}
        }
        let block = self.rules.block(&self.state, self.window, now_ms, count);
        Ok(block.into_iter().map(|position| self.issue(position)).collect())
    }

    fn issue(&mut self, position: Position) -> u128 {
        let before = self.state.free_from.clone();
        self.state.issue(position);
        let rises = before.iter().zip(&self.state.free_from).all(|(before, after)| before <= after);
        assert!(rises, "the model takes clock id {} back to tick {}", position.clock, position.tick);
        let id = self.rules.id(position);
        assert!(self.issued.insert(id), "the model repeats {id}");
        id
    }

    /// By how much the tick of the last ID is ahead of the clock.
    #[must_use]
    pub fn lead_ms(&self, now_ms: u128) -> u128 {
        self.state.last.map_or(0, |last| self.rules.layout().start_ms(last.tick).saturating_sub(now_ms))
    }
}
