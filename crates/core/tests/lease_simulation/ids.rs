//! What a holder mints with: the real `LeasedGenerator`, or a copy of what it does around the public, pure `Lease` and `Machine`.
//! The copy without a defect issues the same IDs (by the wall clock; by store time it learns less from an answer that extends
//! nothing); each mutant is the copy with one defect.

use frazil::lease::{
    Asked, Change, Grant, Granted, IdTime, Lease, LeaseRandom, LeasedGenerator, LeasedOptions, Readings, Refusal, Release,
    Request, Taken,
};
use frazil::mint::{Health, Key, Machine, Outcome, Reservation, SequenceStart, Window};
use frazil::{Code, Error, Layout, Node, Registry, Result};

use crate::defect::Defect;

/// A call that changed a generator.
#[derive(Clone, Copy, Debug)]
enum Call {
    Look(Readings),
    Ask(Readings, LeaseRandom),
    /// In time.
    Take(Granted, Asked, Readings),
    TakeLate(Granted, Asked, Readings),
    Refuse(Grant, Refusal, u64, u64),
    Fenced(u64),
    Fail(u64, u64),
    Hurry(u64),
    Reserve(u64, Readings, usize, bool),
    OfferKey(u64, u64),
}

/// The real one. It is no `Clone`, and it is deterministic: a snapshot is a generator to which the same calls were made.
#[derive(Debug)]
pub(crate) struct Real {
    layout: Layout,
    options: LeasedOptions,
    ids: LeasedGenerator,
    calls: Vec<Call>,
}

impl Real {
    fn new(layout: &Layout, options: LeasedOptions) -> Self {
        let ids = LeasedGenerator::new(layout, options).expect("the options are valid");
        Self { layout: layout.clone(), options, ids, calls: Vec::new() }
    }

    fn snapshot(&self, registry: &mut Registry) -> Self {
        let mut copy = Self::new(&self.layout, self.options);
        for call in &self.calls {
            match *call {
                Call::Look(now) => drop(copy.ids.lease_ms(now)),
                Call::Ask(now, random) => {
                    let at_ms = copy.ids.lease_ms(now);
                    copy.ids.ask(at_ms, random);
                }
                Call::Take(answer, asked, now) => drop(copy.ids.answered(&answer, asked, now, registry)),
                Call::TakeLate(answer, asked, now) => drop(copy.ids.take_late(&answer, asked, now, registry)),
                Call::Refuse(grant, refusal, at, jitter) => drop(copy.ids.refuse(grant, refusal, at, jitter)),
                Call::Fenced(at) => copy.ids.fenced(at),
                Call::Fail(at, jitter) => copy.ids.fail(at, jitter),
                Call::Hurry(at) => copy.ids.hurry(at),
                Call::Reserve(now_ms, now, want, confirmed) => drop(copy.ids.reserve(now_ms, now, want, confirmed)),
                Call::OfferKey(high, low) => copy.ids.offer_key(Key::new(high, low)),
            }
        }
        copy.calls.clone_from(&self.calls);
        copy
    }
}

/// The copy, for mutants.
#[derive(Clone, Debug)]
pub(crate) struct Copied {
    layout: Layout,
    options: LeasedOptions,
    defect: Option<Defect>,
    lease: Lease,
    /// Monotonic time at the last look.
    seen_ms: u64,
    machine: Machine,
    window: Window,
    /// The word of a closed state is all ones.
    word: u64,
    cells: Vec<u64>,
    key: Option<Key>,
    used_until_ms: u64,
    next_tick: u64,
    /// The store's clock, and both clocks, at the last answer.
    anchor: Option<(u64, Readings)>,
    last_grant: Option<u128>,
    /// What the clocks showed when the store was asked last.
    asked: Readings,
    /// How many requests were made.
    requests: u64,
    /// Up to which one they belong to attempts that are over.
    settled: u64,
    /// Until when a lease by time to live is held, in monotonic time.
    ttl_until_ms: u64,
    closed: bool,
}

const USED_UP: u64 = u64::MAX;

impl Copied {
    fn new(layout: &Layout, options: LeasedOptions, defect: Option<Defect>) -> Self {
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

    fn ask(&mut self, now: Readings, random: LeaseRandom) -> Request {
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

    fn see(&mut self, now: Readings) {
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
    fn take(&mut self, answer: &Granted, late: Option<Asked>, now: Readings) -> Taken {
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

    fn close_state(&mut self) {
        self.next_tick = match self.word {
            // Some mutants close it twice.
            USED_UP => return,
            0 => 0,
            word => ((word - 1) >> self.low_bits()) + 1,
        };
        self.word = USED_UP;
    }

    fn now_ms(&self, now: Readings) -> u64 {
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
    fn reserve(&mut self, checked_ms: u64, now_ms: u64, now: Readings, want: usize, confirmed: bool) -> Result<Option<Vec<u64>>> {
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

    fn close(&mut self, now: Readings) -> Option<Release> {
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

/// One of the two.
#[derive(Debug)]
pub(crate) enum Ids {
    Real(Box<Real>),
    Copied(Box<Copied>),
}

impl Ids {
    pub(crate) fn real(layout: &Layout, options: LeasedOptions) -> Self {
        Self::Real(Box::new(Real::new(layout, options)))
    }

    pub(crate) fn copied(layout: &Layout, options: LeasedOptions, defect: Option<Defect>) -> Self {
        Self::Copied(Box::new(Copied::new(layout, options, defect)))
    }

    pub(crate) fn snapshot(&self, registry: &mut Registry) -> Self {
        match self {
            Self::Real(real) => Self::Real(Box::new(real.snapshot(registry))),
            Self::Copied(copied) => Self::Copied(copied.clone()),
        }
    }

    pub(crate) fn ask(&mut self, now: Readings, random: LeaseRandom) -> Request {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Ask(now, random));
                let at_ms = real.ids.lease_ms(now);
                real.ids.ask(at_ms, random)
            }
            Self::Copied(copied) => copied.ask(now, random),
        }
    }

    /// The answer to an attempt that was not given up. Another request may have been made since.
    pub(crate) fn take(&mut self, answer: &Granted, asked: Asked, now: Readings, registry: &mut Registry) -> Result<Taken> {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Take(*answer, asked, now));
                real.ids.answered(answer, asked, now, registry)
            }
            Self::Copied(copied) => {
                if asked.number <= copied.settled {
                    return Ok(copied.take(answer, Some(asked), now));
                }
                let is_last = asked.number == copied.requests;
                let taken = copied.take(answer, (!is_last).then_some(asked), now);
                if is_last || copied.lease.end_unextended(answer) {
                    copied.settled = copied.requests;
                }
                Ok(taken)
            }
        }
    }

    /// The number of the last request.
    pub(crate) fn requests(&self) -> u64 {
        match self {
            Self::Real(real) => real.ids.requests(),
            Self::Copied(copied) => copied.requests,
        }
    }

    /// The answer to an attempt that was given up.
    pub(crate) fn take_late(&mut self, answer: &Granted, asked: Asked, now: Readings, registry: &mut Registry) -> Result<Taken> {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::TakeLate(*answer, asked, now));
                real.ids.take_late(answer, asked, now, registry)
            }
            Self::Copied(copied) => Ok(copied.take(answer, Some(asked), now)),
        }
    }

    pub(crate) fn refuse(&mut self, grant: Grant, refusal: Refusal, monotonic_ms: u64, jitter: u64) -> Change {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Refuse(grant, refusal, monotonic_ms, jitter));
                real.ids.refuse(grant, refusal, monotonic_ms, jitter)
            }
            Self::Copied(copied) => {
                let change = copied.lease.refuse(grant, refusal, monotonic_ms, jitter);
                if change == Change::Ended {
                    copied.close_state();
                }
                change
            }
        }
    }

    pub(crate) fn fenced(&mut self, monotonic_ms: u64) {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Fenced(monotonic_ms));
                real.ids.fenced(monotonic_ms);
            }
            Self::Copied(copied) => copied.lease.fenced(monotonic_ms),
        }
    }

    pub(crate) fn fail(&mut self, monotonic_ms: u64, jitter: u64) {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Fail(monotonic_ms, jitter));
                real.ids.fail(monotonic_ms, jitter);
            }
            Self::Copied(copied) => copied.lease.fail(monotonic_ms, jitter),
        }
    }

    pub(crate) fn hurry(&mut self, monotonic_ms: u64) {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Hurry(monotonic_ms));
                real.ids.hurry(monotonic_ms);
            }
            Self::Copied(copied) => copied.lease.hurry(monotonic_ms),
        }
    }

    pub(crate) fn retry_after_ms(&self, monotonic_ms: u64) -> u64 {
        match self {
            Self::Real(real) => real.ids.retry_after_ms(monotonic_ms),
            Self::Copied(copied) => copied.lease.retry_after_ms(monotonic_ms),
        }
    }

    /// How long until something is due, as a holder finds that looks at each call and asks only then.
    pub(crate) fn look(&mut self, now: Readings) -> u64 {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Look(now));
                let at_ms = real.ids.lease_ms(now);
                real.ids.retry_after_ms(at_ms)
            }
            Self::Copied(copied) => {
                copied.see(now);
                copied.lease.retry_after_ms(now.monotonic_ms)
            }
        }
    }

    pub(crate) fn offer_key(&mut self, high: u64, low: u64) {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::OfferKey(high, low));
                real.ids.offer_key(Key::new(high, low));
            }
            Self::Copied(copied) => copied.key = Some(Key::new(high, low)),
        }
    }

    pub(crate) fn now_ms(&self, now: Readings) -> u64 {
        match self {
            Self::Real(real) => real.ids.now_ms(now),
            Self::Copied(copied) => copied.now_ms(now),
        }
    }

    /// `None` is a request to read the clock again. `checked_ms` matters to a mutant only.
    pub(crate) fn reserve(
        &mut self,
        checked_ms: u64,
        now_ms: u64,
        now: Readings,
        want: usize,
        confirmed: bool,
    ) -> Result<Option<Vec<u64>>> {
        match self {
            Self::Real(real) => {
                real.calls.push(Call::Reserve(now_ms, now, want, confirmed));
                let Reservation::Issued { block, .. } = real.ids.reserve(now_ms, now, want, confirmed)? else { return Ok(None) };
                let mut ids = vec![0; block.len()];
                block.write(&mut ids);
                Ok(Some(ids))
            }
            Self::Copied(copied) => copied.reserve(checked_ms, now_ms, now, want, confirmed),
        }
    }

    /// `None` for the copy, which has no health.
    pub(crate) fn health(&self, now_ms: u64, now: Readings) -> Option<Health> {
        match self {
            Self::Real(real) => Some(real.ids.health(now_ms, now)),
            Self::Copied(_) => None,
        }
    }

    /// The window of the held lease.
    pub(crate) fn window(&self) -> Option<Window> {
        match self {
            Self::Real(real) => real.ids.status().held.map(|held| held.window),
            Self::Copied(copied) => copied.lease.held().map(|held| held.window),
        }
    }

    pub(crate) fn close(&mut self, now: Readings) -> Option<Release> {
        match self {
            Self::Real(real) => real.ids.close(),
            Self::Copied(copied) => copied.close(now),
        }
    }
}
