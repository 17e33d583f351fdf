//! The store answers, and holders receive the answers.

use frazil::lease::{Change, Grant, Lease, LeaseRandom, Refusal};

use super::minting::bits;
use super::{Event, Fleet, Readings};
use crate::DUE;
use crate::lease::{drawn, granted, held, terms};
use crate::message::{GONE, Message, released};
use crate::mutant::Mutant;
use crate::state::State;
use crate::store::Reason;

impl Fleet {
    pub(super) fn answer(&self, state: &mut State, message: Message) {
        if message.addressee() == Some(GONE) {
            return;
        }
        if self.under_way.1 == 1 {
            // The one before is lost.
            state.network.retain(|other| other.addressee() != message.addressee());
        }
        let others = state.network.iter().filter(|other| other.addressee() == message.addressee()).count();
        // The one too many is lost.
        if others < self.under_way.1 {
            state.network.push(message);
        }
    }

    /// A holder receives an answer.
    pub(super) fn receive(&self, state: &mut State, message: Message, decline: bool) -> Option<()> {
        let at = usize::from(message.addressee().unwrap());
        let holder = &mut state.holders[at];
        let before = held(&holder.lease);
        let old = drawn(&holder.lease).0;
        let (is_late, is_last) = (message.is_late(), message.is_of_the_last() || self.mutant == Mutant::LateIsLast);
        let was_asking = holder.asks;
        if !is_late {
            holder.asks = false;
        } else if !matches!(message, Message::Granted { .. }) {
            return Some(());
        }
        let change = match message {
            Message::Granted { mut answer, .. } => {
                if let (Mutant::PartialAnswers, Some((node, from, _))) = (self.mutant, before) {
                    (answer.node, answer.from) = (node, from);
                }
                let change = if is_late && self.mutant != Mutant::LateAsInTime {
                    holder.lease.take_late(&granted(answer), is_last, DUE)
                } else {
                    holder.lease.take(&granted(answer), DUE)
                };
                if is_late && matches!(change, Change::Begun | Change::Extended) {
                    self.saw(if was_asking { Event::LateDuringAnother } else { Event::LateTaken });
                }
                if decline {
                    if change != Change::Begun {
                        return None;
                    }
                    self.saw(Event::Declined);
                    let release = holder.lease.decline(&granted(answer), DUE);
                    state.network.push(released(release));
                    return Some(());
                }
                if change == Change::Ended {
                    self.saw(Event::AnotherRow);
                }
                change
            }
            Message::Refused { grant, reason, .. } => {
                let refusal = match reason {
                    Reason::Lost => Refusal::Lost,
                    Reason::Taken | Reason::Exhausted => Refusal::Exhausted { retry_after_ms: 1 },
                    Reason::Incarnation => Refusal::Incarnation,
                    Reason::Behind => Refusal::Behind,
                };
                holder.lease.refuse(Grant(grant.into()), refusal, DUE, 0)
            }
            Message::Fenced { .. } => {
                holder.lease.fenced(DUE);
                Change::None
            }
            _ => unreachable!("not an answer"),
        };
        let now = held(&holder.lease);
        match change {
            Change::None => assert_eq!(before, now),
            Change::Begun => {
                self.saw(Event::Begun);
                holder.word = 0;
            }
            Change::Extended => self.saw(Event::Extended),
            Change::Ended => {
                self.saw(Event::Ended);
                assert_eq!(now, None);
                holder.word = 0;
                holder.decided = None;
                if self.mutant == Mutant::EndedGrantAgain {
                    // Not held, with the grant of before.
                    holder.lease = Lease::new(terms());
                    holder.lease.ask(DUE, LeaseRandom { grant: old.into(), nonce: 103 });
                }
            }
        }
        if let Some((node, from, until)) = now {
            if change == Change::Begun && state.minted[usize::from(node)] != 0 {
                self.saw(Event::NodeIdReused);
            }
            if change == Change::Begun && from > 0 && from == state.store.fence {
                self.saw(Event::BegunAfterFence);
            }
            if self.readings == Readings::All {
                let minted_from = before.map_or(from, |(_, _, until)| until);
                self.mint(state, node, bits(minted_from, until));
            }
        }
        Some(())
    }
}
