//! What holders mint.

use super::{Event, Fleet, Readings};
use crate::lease::held;
use crate::mutant::Mutant;
use crate::state::{Holder, State};

/// The bits of the times in `[from, until)`.
pub(super) fn bits(from: u8, until: u8) -> u32 {
    let below = |time: u8| (1_u32 << time) - 1;
    below(until.max(from)) & !below(from)
}

impl Fleet {
    pub(super) fn mint(&self, state: &mut State, node: u8, times: u32) {
        let minted = &mut state.minted[usize::from(node)];
        let again = *minted & times;
        *minted |= times;
        if again & bits(0, state.exposure.until) != 0 {
            self.saw(Event::Exposed);
        }
        let exposed_until = if self.mutant == Mutant::NoExposure { 0 } else { state.exposure.until };
        let beyond = again & !bits(0, exposed_until);
        if beyond != 0 {
            state.repeated = Some((node, u8::try_from(beyond.trailing_zeros()).unwrap()));
        }
    }

    /// The times that a holder can mint now.
    pub(super) fn mintable(&self, state: &State, holder: &Holder) -> Vec<u8> {
        let Some((_, from, until)) = held(&holder.lease) else { return Vec::new() };
        let times = match self.readings {
            Readings::All => return Vec::new(),
            Readings::UpTo => from..until,
            Readings::Near(skew) => state.now.saturating_sub(skew)..state.now + skew + 1,
        };
        let is_allowed = |time: &u8| match self.mutant {
            Mutant::Ttl => state.now < until,
            Mutant::UpperBoundOnly => *time < until,
            Mutant::LowerBoundOnly => from <= *time,
            _ => from <= *time && *time < until,
        };
        times.filter(|time| *time >= holder.word).filter(is_allowed).collect()
    }
}
