//! The store, and its client: it reads the record, decides, and replaces what it read.

use frazil::asking::Nonce;
use frazil::segment::SegmentRange;

use super::{Entry, Event, FAILOVER_SKIP, Record, Request, World};
use crate::defect::Defect;

impl World {
    pub(super) fn read(&mut self, request: &Request) {
        // The client is told when nobody waits any more, and replaces nothing then.
        if self.has_given_up(request) {
            return;
        }
        let seen = self.store.record.clone();
        let server = self.store.server;
        let has_lost = (seen.server != server || request.above > seen.next) && self.defect != Some(Defect::SkipsNothing);
        if has_lost {
            self.sometimes("numbers were skipped");
        }
        // So that two stores which lack the same record skip to different numbers.
        let high_bits = u64::try_from(request.attempt.0 >> 96).expect("32 bits");
        let skipped = FAILOVER_SKIP + ((FAILOVER_SKIP * high_bits) >> 32);
        let start = seen.next.max(request.above) + if has_lost { skipped } else { 0 };
        let is_same = |(holder, attempt, range): &&(usize, Nonce, SegmentRange)| {
            *holder == request.holder && *attempt == request.attempt && range.first >= request.above
        };
        let known = seen.recent.iter().find(is_same).filter(|_| self.defect != Some(Defect::ForgetsAttempts));
        let range = known.map_or(SegmentRange { first: start, stride: 1, count: request.count }, |(_, _, range)| *range);
        let next = if known.is_some() { start } else { start + request.count };
        if known.is_some() {
            self.sometimes("a retry got the range of its first try");
        }
        let mut recent: Vec<_> = seen.recent.iter().filter(|(holder, ..)| *holder != request.holder).copied().collect();
        recent.insert(0, (request.holder, request.attempt, range));
        let record = Record { next, server, recent };
        // The second round trip of the store's client.
        self.send(Event::Replace(request.clone(), seen, record, range), "a request was lost");
    }

    fn has_given_up(&self, request: &Request) -> bool {
        let process = &self.processes[request.holder];
        let is_awaited =
            process.late == Some(request.number) || process.underway.is_some_and(|(number, _)| number == request.number);
        process.is_gone || !is_awaited
    }

    pub(super) fn replace(&mut self, request: Request, seen: &Record, record: Record, range: SegmentRange) {
        let is_server = self.store.server == record.server;
        if !is_server {
            self.sometimes("a record was read before a failover and replaced after it");
        }
        let is_same = self.store.record == *seen || self.defect == Some(Defect::ReplacesBlindly);
        if !is_same || (!is_server && self.defect != Some(Defect::IgnoresServer)) {
            self.sometimes("another process was faster");
            // The client reads again.
            self.read(&request);
            return;
        }
        let entry = Entry { holder: request.holder, attempt: request.attempt, first: range.first };
        let before = std::mem::replace(&mut self.store.record, record);
        self.store.history.push((before, entry));
        self.highest = self.highest.max(self.store.record.next);
        self.send(Event::Answer(request, range), "an answer was lost");
    }
}
