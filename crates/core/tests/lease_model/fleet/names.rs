//! What makes two states equal that differ only in what can never matter again.

use frazil::lease::{Change, Grant, Refusal};

use super::minting::bits;
use super::{Event, Fleet};
use crate::lease::{drawn, granted, held, timeless};
use crate::message::Message;
use crate::mutant::Mutant;
use crate::state::{Holder, State};
use crate::{DUE, NONE};

impl Fleet {
    /// What makes two states equal that differ only in what can never matter again.
    pub(super) fn tidy(&self, state: &mut State) {
        let known: Vec<_> = state.holders.iter().map(|holder| drawn(&holder.lease)).collect();
        let are_grants_new = !matches!(self.mutant, Mutant::EndedGrantAgain | Mutant::CountedGrants | Mutant::SameOwner);
        state.network.retain(|message| {
            let Some(slot) = message.addressee() else { return true };
            let lease = &state.holders[usize::from(slot)].lease;
            if matches!(message, Message::Fenced { .. }) || known[usize::from(slot)].0 == message.grant() || !are_grants_new {
                return true;
            }
            // An answer with another grant changes nothing, now and for ever, since a grant is never drawn again.
            let mut same = lease.clone();
            match *message {
                Message::Granted { answer, .. } => assert_eq!(same.take(&granted(answer), DUE), Change::None),
                _ => assert_eq!(same.refuse(Grant(message.grant().into()), Refusal::Lost, DUE, 0), Change::None),
            }
            assert_eq!(same, *lease);
            self.saw(Event::AnswerOfAnEndedLease);
            false
        });
        state.network.sort_unstable();
        let messages = &state.network;
        let is_grant = |name: u8| {
            known.iter().any(|(grant, _)| *grant == name)
                || messages.iter().any(|message| message.grant() == name)
                || !are_grants_new
        };
        let is_attempt =
            |name: u8| known.iter().any(|(_, nonce)| *nonce == name) || messages.iter().any(|message| message.nonce() == name);
        if !is_attempt(state.exposure.nonce) {
            state.exposure.nonce = NONE;
        }
        state.store.forget(is_grant, is_attempt);
        if let Some(saved) = &mut state.saved {
            saved.forget(is_grant, is_attempt);
        }
        if self.mutant != Mutant::NoExposure {
            for minted in &mut state.minted {
                *minted &= !bits(0, state.exposure.until);
            }
        }
        Self::rename(state, self.driver);
    }

    /// Sorts the holders, which are alike, and names grants and nonces in the order in which they are found.
    fn rename(state: &mut State, driver: bool) {
        let key = |holder: &Holder| {
            let (grant, nonce) = drawn(&holder.lease);
            (held(&holder.lease), grant != NONE, nonce != NONE, holder.word, holder.decided, holder.asks)
        };
        let mut order: Vec<_> = (0..state.holders.len()).collect();
        order.sort_by_key(|at| key(&state.holders[*at]));
        let place = |slot: u8| order.iter().position(|at| *at == usize::from(slot)).map_or(slot, |at| u8::try_from(at).unwrap());
        for message in &mut state.network {
            message.readdress(place);
        }
        state.network.sort_unstable();
        state.holders = order.iter().map(|at| state.holders[*at].clone()).collect();

        let mut names = vec![NONE];
        let mut meet = |name: u8| {
            if !names.contains(&name) {
                names.push(name);
            }
        };
        for holder in &state.holders {
            let (grant, nonce) = drawn(&holder.lease);
            meet(grant);
            meet(nonce);
        }
        for row in [Some(&state.store), state.saved.as_ref()].into_iter().flatten().flat_map(|store| &store.rows) {
            meet(row.grant);
            meet(row.nonce);
        }
        for message in &state.network {
            meet(message.grant());
            meet(message.nonce());
        }
        meet(state.exposure.nonce);
        let new = |name: u8| {
            // Drawn by a mutant.
            if name >= 100 { name } else { u8::try_from(names.iter().position(|known| *known == name).unwrap()).unwrap() }
        };
        for holder in &mut state.holders {
            holder.lease = timeless(&holder.lease, driver, new);
        }
        for row in [Some(&mut state.store), state.saved.as_mut()].into_iter().flatten().flat_map(|store| &mut store.rows) {
            (row.grant, row.nonce) = (new(row.grant), new(row.nonce));
        }
        for message in &mut state.network {
            message.rename(new);
        }
        state.exposure.nonce = new(state.exposure.nonce);
        state.network.sort_unstable();
    }
}
