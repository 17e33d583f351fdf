//! What a process does with its segment, and its driver with the store.

use frazil::asking::Nonce;
use frazil::segment::{Allocated, SegmentRange, SegmentRequest};

use super::{Checked, Event, MAX_STEP, Request, World, terms};
use crate::defect::Defect;

impl World {
    pub(super) fn use_numbers(&mut self, at: usize) -> Checked {
        let want = self.rng.u64(1..8);
        let mut left = want;
        while left > 0 {
            let before = self.processes[at].segment.left();
            let Some(drawn) = self.processes[at].segment.draw(self.now, left) else { break };
            if drawn.count == 0 || drawn.count > left || drawn.count > before {
                return Err(format!("drew {} of {left}, and {before} were there", drawn.count));
            }
            left -= drawn.count;
            for index in 0..drawn.count {
                let number = drawn.first + index * drawn.stride;
                if !self.seen.insert(number) {
                    return Err(format!("{number} was handed out twice"));
                }
                let process = &mut self.processes[at];
                if process.last.is_some_and(|last| last >= number) {
                    return Err(format!("process {at}: {number} after {:?}", process.last));
                }
                process.last = Some(number);
                process.answered_at = self.now;
            }
            let stats = self.processes[at].segment.stats();
            if drawn.count == 1 && stats.buffers == 1 && stats.left > 0 && self.processes[at].segment.is_short(0) {
                self.sometimes("the next range was asked for with the first number");
            }
        }
        if left > 0 {
            self.sometimes("a caller found no number");
        }
        self.ask(at, left);
        let pace_ms = self.processes[at].pace_ms;
        let ms = self.rng.u64(1..=2 * pace_ms);
        self.after(ms, Event::Use(at));
        Ok(())
    }

    /// What a driver does: one try at a time, which it gives up after a while.
    pub(super) fn look(&mut self, at: usize) {
        let process = &mut self.processes[at];
        if let Some((number, until)) = process.underway
            && self.now >= until
        {
            process.underway = None;
            process.late = Some(number);
            let jitter = self.rng.u64(..);
            let process = &mut self.processes[at];
            process.segment.fail(self.now, jitter);
            self.sometimes("a try timed out");
        }
        self.ask(at, 0);
    }

    /// A caller that lacks numbers, and cannot wait for the answer to another one's try, makes one beside it.
    fn ask_beside(&mut self, at: usize, want: u64, until: u64) {
        if self.now >= until || want == 0 || self.rng.bool() {
            return;
        }
        let random = self.rng.u128(..);
        let process = &mut self.processes[at];
        let number = process.tries;
        // A driver that renames its retries is another mutant.
        if self.defect == Some(Defect::RenamesRetries) {
            return;
        }
        if let SegmentRequest::Allocate { count, above, attempt } = process.segment.ask_again(self.now, want, 0, random) {
            let count = count.expect("a step of its own");
            self.sometimes("a caller asked beside a try");
            self.send(Event::Read(Request { holder: at, attempt, count, above, number }), "a request was lost");
        }
    }

    fn ask(&mut self, at: usize, want: u64) {
        if let Some((_, until)) = self.processes[at].underway {
            self.ask_beside(at, want, until);
            return;
        }
        let random = self.rng.u128(..);
        let process = &mut self.processes[at];
        match process.segment.ask(self.now, want, 0, random) {
            SegmentRequest::Nothing => {}
            SegmentRequest::Wait { ms } => self.after(ms, Event::Look(at)),
            SegmentRequest::Allocate { count, above, attempt } => {
                let count = count.expect("a step of its own");
                process.tries += 1;
                let timeout_ms = terms().timeout_ms();
                process.underway = Some((process.tries, self.now + timeout_ms));
                let is_retry = process.asking == Some(attempt);
                process.asking = Some(attempt);
                let attempt = if is_retry && self.defect == Some(Defect::RenamesRetries) { Nonce(random) } else { attempt };
                let request = Request { holder: at, attempt, count, above, number: process.tries };
                let step = process.segment.stats().step;
                let before = std::mem::replace(&mut process.step, step);
                if step < before {
                    self.sometimes("a step became shorter");
                }
                if count == MAX_STEP {
                    self.sometimes("a range had the longest step");
                }
                self.after(timeout_ms, Event::Look(at));
                self.send(Event::Read(request), "a request was lost");
            }
        }
    }

    pub(super) fn answered(&mut self, request: &Request, range: SegmentRange) -> Checked {
        let at = request.holder;
        let process = &mut self.processes[at];
        let is_late = process.underway.is_none_or(|(number, _)| number != request.number);
        if !is_late {
            process.underway = None;
        }
        // A driver that renames its retries gives the core the name that it knows.
        let attempt =
            if self.defect == Some(Defect::RenamesRetries) { process.asking.unwrap_or(request.attempt) } else { request.attempt };
        let answer = Allocated { attempt, range, step: None };
        match process.segment.take(&answer, self.now) {
            Ok(true) => {
                process.taken.insert(range.first);
                process.asking = None;
                // Gives up both tries.
                process.underway = None;
                process.late = None;
                if is_late {
                    self.sometimes("a late answer was taken");
                }
            }
            Ok(false) => self.sometimes("a late answer was dropped"),
            Err(error) => return Err(format!("process {at}: {error} ({range:?})")),
        }
        self.ask(at, 0);
        Ok(())
    }
}
