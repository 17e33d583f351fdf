//! The faults: processes are killed, closed and paused, and another server takes over.

use super::{Event, FAILOVER_SKIP, World, terms};

impl World {
    pub(super) fn fault(&mut self) {
        if !self.has_faults {
            return;
        }
        let ms = self.rng.u64(200..4000);
        self.after(ms, Event::Fault);
        let at = self.rng.usize(0..self.processes.len());
        match self.rng.u32(0..10) {
            0 | 1 => {
                if !self.processes[at].is_gone {
                    if self.processes[at].segment.left() > 0 {
                        self.sometimes("a process was killed with numbers left");
                    }
                    self.processes[at].is_gone = true;
                    self.start();
                }
            }
            2 => {
                if !self.processes[at].is_gone {
                    self.processes[at].segment.close();
                    self.processes[at].is_gone = true;
                    self.sometimes("a process closed");
                    self.start();
                }
            }
            3..6 => {
                let ms = self.rng.u64(100..8000);
                self.processes[at].paused_until = self.now + ms;
                if ms > terms().timeout_ms() {
                    self.sometimes("a process was paused for longer than a try");
                }
            }
            _ => self.fail_over(),
        }
    }

    /// Another server takes over, which may lack the last allocations: as many as the skip covers.
    fn fail_over(&mut self) {
        self.store.server += 1;
        let lose = self.rng.usize(0..4);
        for _ in 0..lose {
            let Some((before, _)) = self.store.history.last() else { break };
            if self.highest - before.next > FAILOVER_SKIP {
                break;
            }
            let (before, entry) = self.store.history.pop().expect("it was there");
            self.store.record = before;
            self.lost.insert((entry.holder, entry.attempt));
            self.sometimes("a failover lost an allocation");
        }
    }
}
