//! The store.

use crate::fleet::{Event, Fleet};
use crate::mutant::Mutant;
use crate::{MARGIN, NONE, W};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Row {
    pub(crate) from: u8,
    pub(crate) until: u8,
    pub(crate) grant: u8,
    pub(crate) nonce: u8,
}

/// What a store has on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Store {
    pub(crate) rows: [Row; 2],
    pub(crate) incarnation: u8,
    pub(crate) fence: u8,
    /// Only for the mutant whose grants are counted.
    pub(crate) counter: u8,
}

/// Why the store granted nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Reason {
    Lost,
    /// An acquire that comes late: the lease was renewed since.
    Taken,
    Exhausted,
    Incarnation,
    Behind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Answer {
    pub(crate) grant: u8,
    pub(crate) node: u8,
    pub(crate) from: u8,
    pub(crate) until: u8,
    pub(crate) now: u8,
}

/// The rules of `npm/frazil/src/stores/lease-store.ts`, and what the mutants make of them. `server` is the incarnation of the running
/// store.
impl Store {
    pub(crate) fn acquire(&mut self, fleet: &Fleet, now: u8, server: u8, grant: u8, nonce: u8) -> Result<Answer, Reason> {
        let rows = &mut self.rows[..fleet.nodes];
        if let Some((node, row)) = (0..).zip(rows.iter()).find(|(_, row)| row.grant == grant) {
            if row.nonce != nonce && fleet.mutant != Mutant::AcquireByGrantAlone {
                return Err(Reason::Taken);
            }
            fleet.saw(Event::AnsweredAgain);
            return Ok(Answer { grant, node, from: row.from, until: row.until, now });
        }
        if self.incarnation != server {
            return Err(Reason::Incarnation);
        }
        let free = (0..).zip(rows.iter_mut()).filter(|(_, row)| row.until.max(self.fence) <= now);
        let (node, row) = free.min_by_key(|(_, row)| row.until).ok_or(Reason::Exhausted)?;
        *row = Row { from: row.until.max(self.fence), until: now + W, grant, nonce };
        Ok(Answer { grant, node, from: row.from, until: row.until, now })
    }

    pub(crate) fn renew(&mut self, fleet: &Fleet, now: u8, server: u8, request: (u8, u8, u8, u8)) -> Result<Answer, Reason> {
        let (grant, nonce, node, until) = request;
        let row = &mut self.rows[usize::from(node)];
        let is_covered = self.fence >= now + W;
        if fleet.mutant != Mutant::FenceOnAcquireOnly {
            if self.incarnation != server {
                return Err(Reason::Incarnation);
            }
            // Whatever grant the row has. Only a release lowers `until`, and then nobody renews but a copy of the holder.
            if row.until < until && !is_covered && fleet.mutant != Mutant::HealedWithoutFence {
                return Err(Reason::Behind);
            }
            if until + W <= self.fence && fleet.mutant != Mutant::EndedWindowRenewed {
                return Err(Reason::Lost);
            }
        }
        let is_known = fleet.mutant == Mutant::NoNonce || row.until <= until || row.nonce == nonce;
        if row.grant != grant || !is_known {
            return Err(Reason::Lost);
        }
        if row.until < until {
            fleet.saw(Event::Healed);
        }
        if until <= now {
            fleet.saw(Event::RenewedAfterExpiry);
        }
        row.until = row.until.max(until).max(now + W);
        row.nonce = nonce;
        Ok(Answer { grant, node, from: row.from, until: row.until, now })
    }

    pub(crate) fn release(&mut self, fleet: &Fleet, grant: u8, node: u8, until: u8, known_until: u8) -> bool {
        let row = &mut self.rows[usize::from(node)];
        let is_known = row.until <= known_until || fleet.mutant == Mutant::ReleaseByGrantAlone;
        let is_mine = row.grant == grant && is_known;
        if is_mine {
            *row = Row { until: row.from.max(until), ..Row::default() };
        }
        is_mine
    }

    pub(crate) fn ensure(&mut self, fleet: &Fleet, now: u8, server: u8, behind: bool) -> bool {
        let raise = self.incarnation != server || behind && self.fence < now + W;
        if raise {
            self.incarnation = server;
            self.fence = self.fence.max(match fleet.mutant {
                Mutant::NoFence => 0,
                Mutant::FenceWithoutMargin => now + W,
                _ => now + W + MARGIN,
            });
        }
        raise
    }

    /// Forgets the names that nobody knows any more: they can never be compared with an equal one.
    pub(crate) fn forget(&mut self, is_grant: impl Fn(u8) -> bool, is_attempt: impl Fn(u8) -> bool) {
        for row in &mut self.rows {
            if !is_grant(row.grant) {
                *row = Row { until: row.until, ..Row::default() };
            } else if !is_attempt(row.nonce) {
                row.nonce = NONE;
            }
        }
    }
}
