//! The copy of what the real one does, for mutants.

use frazil::lease::{Asked, Change, Granted, IdTime, Lease, LeaseRandom, LeasedOptions, Readings, Release, Request, Taken};
use frazil::mint::{Key, Machine, Outcome, SequenceStart, Window};
use frazil::{Code, Error, Layout, Node, Result};

use crate::defect::Defect;

/// The copy, for mutants.
#[derive(Clone, Debug)]
pub(crate) struct Copied {
    layout: Layout,
    options: LeasedOptions,
    defect: Option<Defect>,
    pub(super) lease: Lease,
    /// Monotonic time at the last look.
    seen_ms: u64,
    machine: Machine,
    window: Window,
    /// The word of a closed state is all ones.
    word: u64,
    cells: Vec<u64>,
    pub(super) key: Option<Key>,
    used_until_ms: u64,
    next_tick: u64,
    /// The store's clock, and both clocks, at the last answer.
    anchor: Option<(u64, Readings)>,
    last_grant: Option<u128>,
    /// What the clocks showed when the store was asked last.
    asked: Readings,
    /// How many requests were made.
    pub(super) requests: u64,
    /// Up to which one they belong to attempts that are over.
    pub(super) settled: u64,
    /// Until when a lease by time to live is held, in monotonic time.
    ttl_until_ms: u64,
    closed: bool,
}

const USED_UP: u64 = u64::MAX;

impl Copied {
    pub(super) fn new(layout: &Layout, options: LeasedOptions, defect: Option<Defect>) -> Self {
        let node = if layout.plan().nodes == 1 { Node::None } else { Node::Id(0) };
        Self {
            layout: layout.clone(),
            options,
            defect,
            lease: Lease::new(options.terms),
            seen_ms: 0,
            machine: Machine::with_max_lead(layout, node, options.max_lead_ms).expect("the options are valid"),
            window: Window { from_ms: u64::MAX, until_ms: 0 },
            word: 0,
            cells: Vec::new(),
            key: None,
            used_until_ms: 0,
            next_tick: 0,
            anchor: None,
            last_grant: None,
            asked: Readings { wall_ms: 0, monotonic_ms: 0 },
            requests: 0,
            settled: 0,
            ttl_until_ms: 0,
            closed: false,
        }
    }

    fn low_bits(&self) -> u32 {
        self.layout.plan().ids_per_tick.trailing_zeros()
    }

    pub(super) fn ask(&mut self, now: Readings, random: LeaseRandom) -> Request {
        self.see(now);
        let grant = self.last_grant.filter(|_| self.defect == Some(Defect::EndedGrantTaken)).unwrap_or(random.grant);
        let is_under_way = self.lease.is_under_way();
        let request = self.lease.ask(now.monotonic_ms, LeaseRandom { grant, ..random });
        if let Request::Acquire { grant, .. } = request {
            self.last_grant = Some(grant.0);
        }
        if !matches!(request, Request::Wait { .. } | Request::Nothing) {
            self.asked = now;
            if !is_under_way {
                self.settled = self.requests;
            }
            self.requests += 1;
        }
        request
    }

    pub(super) fn see(&mut self, now: Readings) {
        if self.defect != Some(Defect::UnseenJump) {
            let back_ms = self.seen_ms.saturating_sub(now.monotonic_ms);
            if back_ms > 1000 {
                self.lease.go_back(back_ms);
            }
            self.seen_ms = now.monotonic_ms;
            self.lease.see(now.monotonic_ms);
        }
    }

    fn estimate_ms(&self, monotonic_ms: u64) -> Option<u64> {
        self.anchor.map(|(store_ms, at)| store_ms + monotonic_ms.saturating_sub(at.monotonic_ms))
    }

    /// `late`: what was asked, if that attempt was given up.
    pub(super) fn take(&mut self, answer: &Granted, late: Option<Asked>, now: Readings) -> Taken {
        self.see(now);
        let late = late.filter(|_| self.defect != Some(Defect::LateAsInTime));
        let change = match late {
            None => self.lease.take(answer, now.monotonic_ms),
            Some(asked) => self.lease.take_late(answer, asked.number == self.requests, now.monotonic_ms),
        };
        let window_ms = self.options.terms.window_ms();
        let until_ms = if self.defect == Some(Defect::LocalUntil) { now.wall_ms + window_ms } else { answer.until_ms };
        match change {
            Change::None => {}
            Change::Ended => self.close_state(),
            Change::Extended => self.window.until_ms = self.window.until_ms.max(until_ms),
            Change::Begun => {
                let node = if self.layout.plan().nodes == 1 { Node::None } else { Node::Id(answer.node) };
                self.machine =
                    Machine::with_max_lead(&self.layout, node, self.options.max_lead_ms).expect("the options are valid");
                self.window = Window { from_ms: answer.from_ms, until_ms };
                self.word = self.next_tick << self.low_bits();
                self.cells = vec![0; self.machine.clock_ids()];
                // A lease without an ID is released from the tick that it continued at, as if the tick before were used.
                self.used_until_ms = match self.next_tick {
                    0 => 0,
                    tick => self.layout.spec().epoch_ms + tick * self.machine.tick_ms(),
                };
                self.key = None;
            }
        }
        if matches!(change, Change::Begun | Change::Extended) {
            let known_ms = self.estimate_ms(now.monotonic_ms).unwrap_or(0);
            let late = late.filter(|_| self.defect != Some(Defect::LateTimeOfAnother));
            let asked = late.map_or(self.asked, |asked| asked.at);
            let away_ms = now.monotonic_ms.saturating_sub(asked.monotonic_ms);
            let latest_ms = answer.store_now_ms + away_ms;
            let at = Readings { wall_ms: asked.wall_ms + away_ms, monotonic_ms: now.monotonic_ms };
            self.anchor = Some((answer.store_now_ms.max(known_ms.min(latest_ms)), at));
            self.ttl_until_ms = now.monotonic_ms + window_ms;
        }
        Taken::Changed(change)
    }

    pub(super) fn close_state(&mut self) {
        self.next_tick = match self.word {
            // Some mutants close it twice.
            USED_UP => return,
            0 => 0,
            word => ((word - 1) >> self.low_bits()) + 1,
        };
        self.word = USED_UP;
    }

    pub(super) fn now_ms(&self, now: Readings) -> u64 {
        match self.options.id_time {
            IdTime::Store => self.estimate_ms(now.monotonic_ms).unwrap_or(now.wall_ms),
            IdTime::Wall => now.wall_ms,
        }
    }

    fn bounds(&self) -> Window {
        let Window { from_ms, until_ms } = self.window;
        let tick_ms = self.machine.tick_ms();
        let starts_ms = self.machine.tick_from(from_ms);
        match self.defect {
            Some(Defect::Ttl) => Window::OPEN,
            Some(Defect::UpperOnly) => Window { from_ms: 0, until_ms },
            Some(Defect::LowerOnly | Defect::CheckThenMint) => Window::since(from_ms),
            Some(Defect::RoundedOutwards) => Window {
                from_ms: if starts_ms == from_ms { from_ms } else { starts_ms.saturating_sub(tick_ms) },
                until_ms: self.machine.tick_from(until_ms),
            },
            _ => self.window,
        }
    }

    /// Whether there is a lease, and for store time also whether wall and monotonic time agree since the last answer.
    fn check_held(&self, now: Readings) -> Result<()> {
        if self.closed {
            return Err(Error::with_subject(Code::Closed, frazil::error::Subject::None));
        }
        if self.lease.held().is_none() {
            return Err(Error::retry_after(Code::LeaseLost, self.lease.retry_after_ms(now.monotonic_ms)));
        }
        let drifted = self.anchor.is_some_and(|(_, at)| {
            let moved = |now: u64, at: u64| i128::from(now) - i128::from(at);
            (moved(now.wall_ms, at.wall_ms) - moved(now.monotonic_ms, at.monotonic_ms)).abs() > 1000
        });
        let over = self.defect == Some(Defect::Ttl) && now.monotonic_ms >= self.ttl_until_ms;
        if (drifted && self.options.id_time == IdTime::Store) || over { Err(self.expired(now)) } else { Ok(()) }
    }

    fn expired(&self, now: Readings) -> Error {
        let mut hurried = self.lease.clone();
        hurried.hurry(now.monotonic_ms);
        Error::retry_after(Code::LeaseExpired, hurried.retry_after_ms(now.monotonic_ms))
    }

    /// `checked_ms` is the reading by which the mutant checks the window.
    pub(super) fn reserve(
        &mut self,
        checked_ms: u64,
        now_ms: u64,
        now: Readings,
        want: usize,
        confirmed: bool,
    ) -> Result<Option<Vec<u64>>> {
        self.check_held(now)?;
        if self.defect == Some(Defect::CheckThenMint) && checked_ms >= self.window.until_ms {
            return Err(self.expired(now));
        }
        let start = self.options.sequence_start;
        let machine = match self.key {
            Some(key) if start != SequenceStart::Zero => self.machine.starting(start, key),
            _ => self.machine,
        };
        match machine.reserve(self.word, self.bounds(), self.cells.as_slice(), now_ms, want, confirmed) {
            Outcome::Issued { word, block, leaves, .. } => {
                if let Some((clock, free_from)) = leaves {
                    self.cells[clock] = self.cells[clock].max(free_from);
                }
                self.word = word;
                let mut ids = vec![0; block.len()];
                block.write(&mut ids);
                let ends_ms = |id: &u64| self.layout.decode(*id).expect("an ID").timestamp_ms + machine.tick_ms();
                self.used_until_ms = self.used_until_ms.max(ids.iter().map(ends_ms).max().unwrap_or(0));
                Ok(Some(ids))
            }
            Outcome::Recheck => Ok(None),
            Outcome::Stalled { retry_at_ms, cause } => Err(Error::retry_after(cause, retry_at_ms.saturating_sub(now_ms))),
            Outcome::Expired { .. } => Err(self.expired(now)),
            Outcome::Refused(error) => Err(error),
        }
    }

    pub(super) fn close(&mut self, now: Readings) -> Option<Release> {
        self.closed = self.defect != Some(Defect::ReleaseBeforeClose);
        if self.closed {
            self.close_state();
        }
        let until_ms = self.lease.held().map_or(0, |held| held.window.until_ms);
        let used_until_ms = if self.defect == Some(Defect::ReleasedFromNow) { self.now_ms(now) } else { self.used_until_ms };
        let mut lease = self.lease.clone();
        let release = lease.close(used_until_ms.min(until_ms));
        if self.closed {
            self.lease = lease;
        }
        release
    }
}
