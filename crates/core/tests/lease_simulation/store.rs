//! A lease store in memory, by the rules of `npm/frazil/src/stores/lease-store.ts`, to be read beside it. It has the names of that file,
//! and the order of the refusals that `npm/frazil/src/stores/postgres` has. `owner`, `layout` and `"missing"` are left out: a holder
//! that is refused for them can do nothing but ask again.
//!
//! The clock and the incarnation belong to the host, which restarts and fails over; everything else is what the store has on disk,
//! and can be restored.

use frazil::asking::Nonce;
use frazil::lease::{Grant, Granted, Release};

use crate::defect::Defect;

/// The margin of a fence beyond the longest window, in milliseconds.
pub(crate) const FENCE_MARGIN_MS: u64 = 5000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Taken,
    Fenced,
    Incarnation,
    Behind,
    Window,
    Exhausted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Granted(Granted),
    Refused { reason: Reason, store_now_ms: u64, free_at_ms: u64 },
}

/// The row of a node id.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Row {
    pub(crate) from_ms: u64,
    pub(crate) until_ms: u64,
    pub(crate) grant: Option<Grant>,
    nonce: Option<Nonce>,
}

/// The host that the store runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    pub(crate) now_ms: u64,
    pub(crate) incarnation: u32,
}

pub(crate) struct AcquireRequest {
    pub(crate) grant: Grant,
    pub(crate) nonce: Nonce,
    pub(crate) window_ms: u64,
    pub(crate) node: Option<u64>,
}

pub(crate) struct RenewRequest {
    pub(crate) grant: Grant,
    pub(crate) nonce: Nonce,
    pub(crate) window_ms: u64,
    pub(crate) node: u64,
    pub(crate) until_ms: u64,
}

/// What is on disk: the record of the scope, and the rows.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    incarnation: u32,
    pub(crate) fence_ms: u64,
    pub(crate) window_max_ms: u64,
    /// Rows are made on demand.
    pub(crate) rows: Vec<Option<Row>>,
    pub(crate) defect: Option<Defect>,
}

impl Store {
    /// `init`, which alone writes fence 0.
    pub(crate) fn new(nodes: usize, window_max_ms: u64, defect: Option<Defect>) -> Self {
        Self { incarnation: 0, fence_ms: 0, window_max_ms, rows: vec![None; nodes], defect }
    }

    pub(crate) fn acquire(&mut self, host: Host, request: &AcquireRequest) -> Answer {
        let Host { now_ms, incarnation } = host;
        let AcquireRequest { grant, nonce, window_ms, node } = *request;
        // 1. The row with this grant and this nonce is answered as it is. With another nonce it was renewed since.
        let is_mine = |row: &Option<Row>| row.is_some_and(|row| row.grant == Some(grant));
        if let Some(mine) = self.rows.iter().position(is_mine) {
            let same = self.rows[mine].is_some_and(|row| row.nonce == Some(nonce));
            let answered = same || self.defect == Some(Defect::AcquiredByGrantAlone);
            return if answered { self.granted(mine, grant, now_ms) } else { refused(Reason::Taken, now_ms, 0) };
        }
        if window_ms > self.window_max_ms {
            return refused(Reason::Window, now_ms, 0);
        }
        if incarnation != self.incarnation {
            return refused(Reason::Incarnation, now_ms, 0);
        }
        // 2. The preferred node id, if it is free; else the free one with the oldest `until`; else a new one of the range.
        let fence_ms = self.fence_ms;
        let free_from = |row: &Row| row.until_ms.max(fence_ms);
        let is_free = |row: &Row| free_from(row) <= now_ms;
        let preferred = node.and_then(|node| usize::try_from(node).ok()).filter(|node| match self.rows.get(*node) {
            Some(Some(row)) => is_free(row),
            Some(None) => fence_ms <= now_ms,
            None => false,
        });
        let oldest = || {
            let free = self.rows.iter().enumerate().filter_map(|(node, row)| row.as_ref().map(|row| (node, row)));
            free.filter(|(_, row)| is_free(row)).min_by_key(|(node, row)| (row.until_ms, *node)).map(|(node, _)| node)
        };
        let made = || self.rows.iter().position(Option::is_none).filter(|_| fence_ms <= now_ms);
        if let Some(node) = preferred.or_else(oldest).or_else(made) {
            let row = self.rows[node].get_or_insert_default();
            let from_ms = match self.defect {
                Some(Defect::FromBeforeTheFence) => row.until_ms,
                Some(Defect::TtlRow) => 0,
                _ => row.until_ms.max(fence_ms),
            };
            *row = Row { from_ms, until_ms: now_ms + window_ms, grant: Some(grant), nonce: Some(nonce) };
            return self.granted(node, grant, now_ms);
        }
        // 3. Refused.
        let until_ms = self.rows.iter().map(|row| row.map_or(0, |row| row.until_ms)).min().unwrap_or(0);
        let reason = if until_ms <= now_ms { Reason::Fenced } else { Reason::Exhausted };
        refused(reason, now_ms, until_ms.max(fence_ms))
    }

    pub(crate) fn renew(&mut self, host: Host, request: &RenewRequest) -> Answer {
        let Host { now_ms, incarnation } = host;
        let RenewRequest { grant, nonce, window_ms, node, until_ms } = *request;
        let Self { fence_ms, window_max_ms, defect, .. } = *self;
        if window_ms > window_max_ms {
            return refused(Reason::Window, now_ms, 0);
        }
        if incarnation != self.incarnation && defect != Some(Defect::FenceOnAcquireOnly) {
            return refused(Reason::Incarnation, now_ms, 0);
        }
        let node = usize::try_from(node).expect("node ids fit");
        let row_until_ms = self.rows[node].map_or(0, |row| row.until_ms);
        let is_behind = self.rows[node].is_none() || row_until_ms < until_ms;
        let behind = is_behind && fence_ms < now_ms + window_max_ms;
        let fenced = until_ms + window_max_ms <= fence_ms && defect != Some(Defect::FenceOnAcquireOnly);
        let known = |row: &Row| row.until_ms <= until_ms || row.nonce == Some(nonce) || defect == Some(Defect::NoNonce);
        let row = self.rows[node].as_mut().filter(|row| row.grant == Some(grant) && known(row));
        match row {
            _ if behind => refused(Reason::Behind, now_ms, 0),
            _ if fenced => refused(Reason::Fenced, now_ms, 0),
            None => refused(Reason::Taken, now_ms, 0),
            Some(row) => {
                row.until_ms = match defect {
                    Some(Defect::UntilLowered) => now_ms + window_ms,
                    _ => row.until_ms.max(until_ms).max(now_ms + window_ms),
                };
                row.nonce = Some(nonce);
                self.granted(node, grant, now_ms)
            }
        }
    }

    pub(crate) fn release(&mut self, request: &Release) -> bool {
        let Release { grant, node, until_ms, held_until_ms } = *request;
        let known = |row: &Row| row.until_ms <= held_until_ms || self.defect == Some(Defect::ReleasedByAnyCopy);
        let node = usize::try_from(node).expect("node ids fit");
        let Some(row) = self.rows[node].as_mut().filter(|row| row.grant == Some(grant) && known(row)) else { return false };
        row.until_ms = row.from_ms.max(until_ms);
        row.grant = None;
        true
    }

    pub(crate) fn ensure(&mut self, host: Host, behind: bool) {
        let Host { now_ms, incarnation } = host;
        if self.incarnation != incarnation || (behind && self.fence_ms < now_ms + self.window_max_ms) {
            self.incarnation = incarnation;
            self.fence(host);
        }
    }

    /// The verb and the command for restored disks.
    pub(crate) fn fence(&mut self, host: Host) {
        if self.defect != Some(Defect::NoFence) {
            self.fence_ms = self.fence_ms.max(host.now_ms + self.window_max_ms + FENCE_MARGIN_MS);
        }
    }

    fn granted(&self, node: usize, grant: Grant, store_now_ms: u64) -> Answer {
        let Row { from_ms, until_ms, .. } = self.rows[node].expect("a row that was granted");
        Answer::Granted(Granted { grant, node: node as u64, from_ms, until_ms, store_now_ms })
    }

    /// The largest `until`, and the fence.
    pub(crate) fn last_ms(&self) -> u64 {
        self.rows.iter().flatten().map(|row| row.until_ms).max().unwrap_or(0).max(self.fence_ms)
    }
}

const fn refused(reason: Reason, store_now_ms: u64, free_at_ms: u64) -> Answer {
    Answer::Refused { reason, store_now_ms, free_at_ms }
}
