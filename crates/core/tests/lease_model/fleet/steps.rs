//! What may happen in each state, and the state after it.

use stateright::{Model, Property};

use super::minting::bits;
use super::{Action, Fleet, Readings};
use crate::lease::{fresh, held};
use crate::message::{GONE, Message};
use crate::mutant::Mutant;
use crate::state::{Budget, Exposure, State};
use crate::store::Store;
use crate::{GUARANTEE, W};

impl Model for Fleet {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            now: 0,
            server: 0,
            store: Store::default(),
            saved: None,
            network: Vec::new(),
            holders: vec![fresh(); self.holders],
            minted: [0; 2],
            exposure: Exposure::default(),
            budget: self.faults,
            repeated: None,
            lost: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.repeated.is_some() || state.lost {
            return;
        }
        let Budget { crashes, closes, declines, duplicates, clones, saves, disasters, steps_back } = state.budget;
        if state.now < self.horizon {
            actions.push(Action::Tick);
        }
        if steps_back > 0 && state.now > 1 {
            actions.push(Action::StepBack);
        }
        for (at, message) in state.network.iter().enumerate() {
            // Of equal messages one is enough.
            if at > 0 && state.network[at - 1] == *message {
                continue;
            }
            if self.under_way != (1, 1) {
                actions.push(Action::Lose(at));
            }
            actions.push(Action::Deliver { at, duplicate: false, decline: false });
            if duplicates > 0 {
                actions.push(Action::Deliver { at, duplicate: true, decline: false });
            }
            if declines > 0 && matches!(message, Message::Granted { .. }) {
                actions.push(Action::Deliver { at, duplicate: false, decline: true });
            }
        }
        for (at, holder) in state.holders.iter().enumerate() {
            let requests = state.network.iter().filter(|message| message.sender() == u8::try_from(at).ok()).count();
            if holder.asks {
                actions.push(Action::GiveUp(at));
            } else if requests < self.under_way.0 || self.under_way.0 == 1 {
                actions.push(Action::Ask(at));
            }
            actions.extend(self.mintable(state, holder).into_iter().map(|time| Action::Mint(at, time)));
            if let Some((_, time)) = holder.decided {
                match (self.mutant, self.readings) {
                    (Mutant::CheckThenMint, Readings::Near(skew)) => actions.extend(
                        (state.now.saturating_sub(skew)..=state.now + skew)
                            .filter(|time| *time >= holder.word)
                            .map(|time| Action::Finish(at, time)),
                    ),
                    _ => actions.push(Action::Finish(at, time)),
                }
            }
            if crashes > 0 && *holder != fresh() {
                actions.push(Action::Crash(at));
            }
            if closes > 0 && held(&holder.lease).is_some() {
                actions.push(Action::Close(at));
            }
            if clones > 0 && *holder != fresh() {
                actions.push(Action::Clone(at));
            }
        }
        if saves > 0 {
            actions.push(Action::Save);
        }
        if disasters > 0 && state.saved.is_some() {
            if let Some(behind) = self.failover {
                actions.extend((0..=behind.min(state.now)).map(Action::Failover));
            }
            if self.restore {
                actions.push(Action::Restore);
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut next = last.clone();
        let state = &mut next;
        match action {
            Action::Tick => state.now += 1,
            Action::StepBack => {
                state.budget.steps_back -= 1;
                state.now -= 2;
            }
            Action::Ask(at) => self.ask(state, at)?,
            Action::GiveUp(at) => Self::give_up(state, at),
            Action::Lose(at) => drop(state.network.remove(at)),
            Action::Deliver { at, duplicate, decline } => {
                let message = state.network[at];
                state.budget.duplicates -= u8::from(duplicate);
                state.budget.declines -= u8::from(decline);
                if !duplicate {
                    state.network.remove(at);
                }
                if message.addressee().is_some() {
                    self.receive(state, message, decline)?;
                } else {
                    self.carry_out(state, message);
                }
            }
            Action::Mint(at, time) => {
                let holder = &mut state.holders[at];
                let (node, from, _) = held(&holder.lease).unwrap();
                if matches!(self.mutant, Mutant::CheckThenMint | Mutant::ReleaseBesideCalls) && holder.decided.is_none() {
                    holder.decided = Some((node, time));
                } else {
                    let first = if self.readings == Readings::UpTo { from.max(holder.word) } else { time };
                    holder.word = time + 1;
                    self.mint(state, node, bits(first, time + 1));
                }
            }
            Action::Finish(at, time) => {
                let holder = &mut state.holders[at];
                let (node, _) = holder.decided.take().unwrap();
                holder.word = time + 1;
                self.mint(state, node, bits(time, time + 1));
            }
            Action::Crash(at) => {
                state.budget.crashes -= 1;
                state.holders[at] = fresh();
                let slot = u8::try_from(at).unwrap();
                state.network.retain(|message| message.addressee() != Some(slot));
                for message in &mut state.network {
                    message.readdress(|to| if to == slot { GONE } else { to });
                }
            }
            Action::Close(at) => self.close(state, at),
            Action::Clone(at) => self.copy(state, at),
            Action::Save => {
                state.budget.saves -= 1;
                state.saved = Some(state.store);
            }
            Action::Failover(behind) => {
                state.budget.disasters -= 1;
                state.store = state.saved.take()?;
                state.server += 1;
                state.now -= behind;
            }
            Action::Restore => {
                state.budget.disasters -= 1;
                state.store = state.saved.take()?;
                state.exposure.until = state.exposure.until.max(state.now + W);
            }
        }
        self.tidy(state);
        (next != *last).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(GUARANTEE, |_, state: &State| state.repeated.is_none() && !state.lost)]
    }
}
