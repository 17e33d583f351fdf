//! Holders ask, and the store carries requests out.

use frazil::lease::{LeaseRandom, Request};

use super::{Event, Fleet};
use crate::lease::{drawn, small};
use crate::message::{EARLIER, LATE, Message};
use crate::mutant::Mutant;
use crate::state::State;
use crate::store::Reason;
use crate::{DUE, NONE, W};

impl Fleet {
    pub(super) fn ask(&self, state: &mut State, at: usize) -> Option<()> {
        let slot = u8::try_from(at).unwrap();
        let names = |name: fn(Message) -> u8| state.network.iter().map(move |message| name(*message));
        let used = |name: u8| {
            let stores = [Some(&state.store), state.saved.as_ref()].into_iter().flatten();
            let rows = stores.flat_map(|store| store.rows);
            let leases = state.holders.iter().map(|holder| drawn(&holder.lease));
            name == state.exposure.nonce
                || rows.clone().any(|row| row.grant == name || row.nonce == name)
                || leases.clone().any(|(grant, nonce)| grant == name || nonce == name)
                || names(Message::grant).chain(names(Message::nonce)).any(|known| known == name)
        };
        let mut unused = (1..).filter(|name| !used(*name));
        let (mut grant, mut nonce) = (unused.next().unwrap(), unused.next().unwrap());
        match self.mutant {
            Mutant::SharedNonce => nonce = 100,
            Mutant::SameOwner => grant = 101,
            Mutant::CountedGrants => grant = 102 + state.store.counter,
            _ => {}
        }
        let holder = &mut state.holders[at];
        if self.mutant == Mutant::CountedGrants && drawn(&holder.lease).0 == NONE {
            // Two are enough, and more would be states without end.
            state.store.counter = (state.store.counter < 2).then_some(state.store.counter + 1)?;
        }
        let request = match holder.lease.ask(DUE, LeaseRandom { grant: grant.into(), nonce: nonce.into() }) {
            Request::Acquire { grant, nonce } => Message::Acquire { slot, grant: small(grant.0), nonce: small(nonce.0) },
            Request::Renew { grant, nonce, node, until_ms } => Message::Renew {
                slot,
                grant: small(grant.0),
                nonce: small(nonce.0),
                node: u8::try_from(node).unwrap(),
                until: u8::try_from(until_ms).unwrap(),
            },
            Request::Fence { behind } => Message::Ensure { slot, behind },
            Request::Nothing | Request::Wait { .. } => return None,
        };
        if self.under_way.0 == 1 {
            // The one before is lost.
            state.network.retain(|message| message.sender() != Some(slot));
        }
        if self.driver {
            for message in &mut state.network {
                message.readdress(|to| if to == slot { to | EARLIER } else { to });
            }
            state.holders[at].asks = true;
        }
        state.network.push(request);
        Some(())
    }

    pub(super) fn give_up(state: &mut State, at: usize) {
        let holder = &mut state.holders[at];
        holder.asks = false;
        holder.lease.fail(DUE, 0);
        let slot = u8::try_from(at).unwrap();
        for message in &mut state.network {
            message.readdress(|to| if to == slot { to | LATE } else { to });
        }
    }

    /// Whether the store can refuse a renewal for another attempt of the same holder only if the lease forgot that attempt.
    fn keeps_its_leases(&self) -> bool {
        self.driver && self.under_way.0 == 1 && self.faults.clones + self.faults.disasters == 0
    }

    /// The store carries a request out, and sends its answer.
    pub(super) fn carry_out(&self, state: &mut State, message: Message) {
        let (now, server, before) = (state.now, state.server, state.store);
        let (slot, result) = match message {
            Message::Acquire { slot, grant, nonce } => (slot, state.store.acquire(self, now, server, grant, nonce)),
            Message::Renew { slot, grant, nonce, node, until } => {
                (slot, state.store.renew(self, now, server, (grant, nonce, node, until)))
            }
            Message::Ensure { slot, behind } => {
                if state.store.ensure(self, now, server, behind) {
                    self.saw(Event::Fenced);
                }
                return self.answer(state, Message::Fenced { slot });
            }
            Message::Release { grant, node, until, known_until } => {
                self.saw(if state.store.release(self, grant, node, until, known_until) {
                    Event::Released
                } else {
                    Event::ReleasedLate
                });
                return;
            }
            _ => unreachable!("not a request"),
        };
        if let (Ok(answer), Message::Renew { until, .. }) = (result, message) {
            // The row was older than the holder knew.
            state.exposure.is_known |= before.rows[usize::from(answer.node)].until < until;
        }
        if let (Ok(answer), Message::Acquire { .. }) = (result, message) {
            let is_new = before.rows[usize::from(answer.node)].grant != answer.grant;
            if is_new && state.exposure.is_known && answer.from < state.exposure.until {
                state.repeated = Some((answer.node, answer.from));
            }
        }
        if result.is_ok() && message.nonce() == state.exposure.nonce && state.exposure.nonce != NONE {
            state.exposure.until = state.exposure.until.max(now + W);
        }
        let grant = message.grant();
        if let (Message::Renew { node, .. }, Err(Reason::Lost)) = (message, result) {
            state.lost |= self.keeps_its_leases() && before.rows[usize::from(node)].grant == grant;
        }
        match result {
            Ok(answer) => self.answer(state, Message::Granted { slot, answer }),
            Err(reason) => {
                self.saw(match reason {
                    Reason::Lost => Event::Lost,
                    Reason::Taken => Event::AnsweredLate,
                    Reason::Exhausted => Event::Exhausted,
                    Reason::Incarnation => Event::Incarnation,
                    Reason::Behind => Event::Behind,
                });
                self.answer(state, Message::Refused { slot, grant, reason });
            }
        }
    }
}
