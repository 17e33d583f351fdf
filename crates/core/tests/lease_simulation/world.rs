//! One simulation: time, hosts and their clocks, the network, the store, the holders with their drivers, and the checker.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::fmt::Write;

use fastrand::Rng;
use frazil::asking::{MAX_BACKOFF_MS, Nonce};
use frazil::lease::{Asked, Change, Grant, Granted, IdTime, LeaseRandom, Readings, Refusal, Release, Request, Taken};
use frazil::mint::{SequenceStart, Window};
use frazil::{Code, Error, GeneratorOptions, Node, Registry};

use crate::defect::{Defect, EXPIRED, LOST_TO_ITSELF, SUSPENDED};
use crate::events::Sometimes;
use crate::ids::Ids;
use crate::plan::{BEGIN_MS, Plan};
use crate::store::{AcquireRequest, Answer, FENCE_MARGIN_MS, Host, Reason, RenewRequest, Store};

/// How far the clocks of two store hosts may differ.
const STORE_SKEW_MS: i64 = FENCE_MARGIN_MS.cast_signed() - 1;

// ------------------------------------------------------------------------------------------------------------- the network

#[derive(Clone, Copy, Debug)]
enum Ask {
    Acquire { grant: Grant, nonce: Nonce, node: Option<u64> },
    Renew { grant: Grant, nonce: Nonce, node: u64, until_ms: u64 },
    Fence { behind: bool },
    Release(Release),
}

impl Ask {
    const fn nonce(&self) -> Option<Nonce> {
        match self {
            Self::Acquire { nonce, .. } | Self::Renew { nonce, .. } => Some(*nonce),
            _ => None,
        }
    }

    const fn grant(&self) -> Option<Grant> {
        match self {
            Self::Acquire { grant, .. } | Self::Renew { grant, .. } => Some(*grant),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Message {
    holder: usize,
    attempt: u64,
    ask: Ask,
    asked: Asked,
}

#[derive(Clone, Copy, Debug)]
enum Reply {
    Answer(Answer),
    Done,
    Unavailable,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The timer of a driver, unless another one was set since.
    Wake(usize, u64),
    /// The program calls.
    Mint(usize),
    /// A call that read the clocks before a pause goes on.
    InHand(usize, Readings),
    AtStore(Message),
    /// With the length of `restores` when the store answered, and when that was.
    AtHolder(Message, Reply, usize, u64),
    Start,
    Fault,
    StoreBack,
    /// The clock of a holder, which jumped ahead, comes back.
    ClockBack(usize),
}

// ------------------------------------------------------------------------------------------------------------- the holders

#[derive(Clone, Copy, Debug)]
struct Clocks {
    wall_offset_ms: i64,
    frozen_wall_ms: Option<u64>,
    drift_ppm: i64,
    /// How long the machine was suspended, which monotonic time does not count.
    slept_ms: u64,
    /// Whether there is no other clock than the wall clock.
    alone: bool,
}

fn moved(ms: u64, by_ms: i64) -> u64 {
    ms.saturating_add_signed(by_ms)
}

impl Clocks {
    fn wall_ms(&self, now: u64) -> u64 {
        self.frozen_wall_ms.unwrap_or_else(|| moved(BEGIN_MS + now, self.wall_offset_ms))
    }

    fn read(&self, now: u64) -> Readings {
        if self.alone {
            return Readings { wall_ms: self.wall_ms(now), monotonic_ms: self.wall_ms(now) };
        }
        let awake = (now - self.slept_ms).cast_signed();
        let monotonic_ms = (awake + awake * self.drift_ppm / 1_000_000).cast_unsigned();
        Readings { wall_ms: self.wall_ms(now), monotonic_ms }
    }
}

#[derive(Clone, Copy, Debug)]
struct Attempt {
    number: u64,
    deadline_ms: u64,
    ask: Ask,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Running,
    /// Waits for the attempt under way until then, in monotonic time.
    Closing(u64),
    Closed,
    Crashed,
}

/// What a driver has to do, and nothing else: ask when it is due; send; hand every answer over, and a refusal if its attempt was
/// not given up; give an attempt up after the timeout; bring the next one forward when the window is over; and to close, wait for
/// the attempt under way, close, and only then release.
#[derive(Debug)]
struct Holder {
    ids: Ids,
    life: Life,
    clocks: Clocks,
    /// Nothing runs before that time.
    stopped_until: u64,
    attempts: Vec<Attempt>,
    /// The number of the timer that counts.
    wake: u64,
    /// Where the random bits come from if they are not the kernel's.
    own_random: Option<Rng>,
    /// The lease that IDs are minted under, in `World::leases`.
    lease: Option<usize>,
    last_node: Option<u64>,
    /// The grant and the nonce of the last request that had them.
    last_grant: Option<Grant>,
    last_nonce: Option<Nonce>,
    // What the checker remembers.
    last_id: Option<u64>,
    /// When the attempts of the last second began, in monotonic time.
    begun: VecDeque<u64>,
    /// How many attempts have begun or ended, and answers have come.
    progress: u64,
    /// By when there must be progress beyond that, since a call was told so.
    told: Option<(u64, u64)>,
    /// How long the machine was suspended when the store answered what its time comes from.
    slept_at_answer_ms: u64,
    /// The number of the request that was answered then.
    time_from: u64,
    /// When the machine was suspended, and for how long.
    sleeps: Vec<(u64, u64)>,
    /// The nonce that an attempt under way had when a late answer made it superfluous.
    superfluous: Option<Nonce>,
    /// Until when an attempt is under way that the lease does not know of any more, since a late answer changed it.
    busy_until: u64,
    minted_at: Option<u64>,
    exhausted: bool,
    saw_incarnation: bool,
    closes_waited: bool,
    /// When its clock jumped or came back last.
    jumped_at: u64,
}

/// A lease as a holder knows it.
#[derive(Clone, Copy, Debug)]
struct LeaseInfo {
    grant: Grant,
    node: u64,
    window: Window,
    /// The length of `restores` when the store last answered.
    confirmed: usize,
    minted: bool,
}

#[derive(Clone, Copy, Debug)]
struct Mint {
    lease: usize,
    confirmed: usize,
}

/// A window as the store granted it.
#[derive(Clone, Copy, Debug)]
struct Interval {
    grant: Grant,
    from_ms: u64,
    until_ms: u64,
    released: bool,
}

/// What a simulation came to.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// Whether the copy of the generator has all that the seed needs: it has no registry, less of store time,
    /// and no mark of a word that is used up.
    pub(crate) plain: bool,
    pub(crate) steps: u64,
    pub(crate) ids: u64,
    /// Of the IDs in the order in which they were issued.
    pub(crate) hash: u64,
    pub(crate) counts: Vec<u64>,
}

pub(crate) struct World {
    plan: Plan,
    rng: Rng,
    trace: bool,
    /// Whether only a repeated ID counts, as for a mutant.
    lenient: bool,
    now: u64,
    queue: BinaryHeap<Reverse<(u64, u64, usize)>>,
    events: Vec<Event>,
    holders: Vec<Holder>,
    registry: Registry,
    numbers: u64,
    quiet: bool,
    // The store.
    store: Store,
    snapshots: Vec<(Store, u64)>,
    store_offset_ms: i64,
    incarnation: u32,
    incarnations: u32,
    store_back_at: u64,
    /// For each restore that shows no new incarnation, and each failover that loses writes meanwhile: until which time IDs may repeat.
    restores: Vec<u64>,
    intervals: Vec<Vec<Interval>>,
    // The checker.
    leases: Vec<LeaseInfo>,
    ids: HashMap<u64, Mint, std::hash::BuildHasherDefault<IdHasher>>,
    /// For each grant that two copies had: until which time IDs may repeat.
    exposed: HashMap<Grant, u64>,
    /// The nonces of attempts that were under way when a copy was made, and until when each holder was granted a window for them.
    shared_nonces: HashMap<Nonce, HashMap<usize, u64>>,
    delivered: HashMap<u64, u32>,
    summary: Summary,
}

/// IDs are numbers already; one multiplication spreads them.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl std::hash::Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("IDs are u64");
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = (id ^ (id >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[expect(clippy::print_stdout, reason = "a seed is replayed to be read")]
fn say(text: &str) {
    println!("{text}");
}

type Checked<T = ()> = Result<T, String>;

impl Holder {
    /// What a call is told may come true at the end of the attempts under way, and not before.
    fn wait_out_attempts(&mut self) {
        self.busy_until = self.attempts.iter().map(|attempt| attempt.deadline_ms).max().unwrap_or(0);
    }

    /// How long the machine was suspended before that time.
    fn slept_before_ms(&self, at: u64) -> u64 {
        self.sleeps.iter().map(|(began, ms)| at.saturating_sub(*began).min(*ms)).sum()
    }
}

impl World {
    /// `None` if nothing in the seed can make a difference to the defect.
    pub(crate) fn new(seed: u64, defect: Option<Defect>, copied: bool, trace: bool) -> Option<Self> {
        let mut rng = Rng::with_seed(seed);
        let plan = Plan::new(seed, &mut rng, defect, copied);
        if defect.is_some_and(|defect| !defect.shows(&plan.faults)) {
            return None;
        }
        let nodes = usize::try_from(plan.nodes).expect("few nodes");
        let mut registry = Registry::new();
        if let Some(node) = plan.static_node {
            registry.open(&plan.layout, GeneratorOptions::new(Node::Id(node))).expect("the static node id is free");
        }
        let store = Store::new(nodes, plan.window_max_ms, defect);
        Some(Self {
            rng,
            trace,
            lenient: defect.is_some(),
            now: 0,
            queue: BinaryHeap::new(),
            events: Vec::new(),
            holders: Vec::new(),
            registry,
            numbers: 0,
            quiet: false,
            store,
            snapshots: Vec::new(),
            store_offset_ms: 0,
            incarnation: 0,
            incarnations: 0,
            store_back_at: 0,
            restores: Vec::new(),
            intervals: vec![Vec::new(); nodes],
            leases: Vec::new(),
            ids: HashMap::default(),
            exposed: HashMap::new(),
            shared_nonces: HashMap::new(),
            delivered: HashMap::new(),
            summary: Summary {
                counts: vec![0; Sometimes::NAMES.len()],
                plain: plan.options.id_time == IdTime::Wall && plan.static_node.is_none() && !plan.ends,
                ..Summary::default()
            },
            plan,
        })
    }

    fn sometimes(&mut self, event: Sometimes) {
        self.summary.counts[event as usize] += 1;
        if self.trace {
            say(&format!("  * {}", Sometimes::NAMES[event as usize]));
        }
    }

    /// Something is wrong that is no repeated ID. It does not count for a mutant, which has to repeat one.
    fn broken(&self, why: String) -> Checked {
        if self.lenient { Ok(()) } else { Err(why) }
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn after(&mut self, ms: u64, event: Event) {
        let order = self.number();
        self.events.push(event);
        self.queue.push(Reverse((self.now + ms, order, self.events.len() - 1)));
    }

    /// A time around `ms`.
    fn around(&mut self, ms: u64) -> u64 {
        1 + self.rng.u64(..=2 * ms)
    }

    fn store_now_ms(&self) -> u64 {
        moved(BEGIN_MS + self.now, self.store_offset_ms)
    }

    fn host(&self) -> Host {
        Host { now_ms: self.store_now_ms(), incarnation: self.incarnation }
    }

    // ------------------------------------------------------------------------------------------------------- the whole run

    pub(crate) fn run(mut self) -> Checked<Summary> {
        if self.trace {
            say(&format!("{:#?}", self.plan));
        }
        for _ in 0..self.plan.holders {
            let ms = self.rng.u64(..=self.plan.window_ms);
            self.after(ms, Event::Start);
        }
        let ms = self.around(self.plan.window_ms / 2);
        self.after(ms, Event::Fault);
        let end = self.plan.steps_ms;
        while self.queue.peek().is_some_and(|Reverse((at, ..))| *at <= end) {
            self.step()?;
        }
        if self.plan.ends {
            self.summary.ids = self.ids.len() as u64;
            return Ok(self.summary);
        }
        self.become_quiet();
        let since = self.now;
        let limit = since + self.liveness_ms();
        let least = since + 2 * self.plan.window_ms;
        while !(self.everybody_mints(since) && self.now >= least) {
            if self.now > limit {
                let took = limit - since;
                self.broken(format!("not everybody mints again {took} ms after the last fault\n{}", self.states()))?;
                break;
            }
            self.step()?;
        }
        self.summary.ids = self.ids.len() as u64;
        Ok(self.summary)
    }

    /// By when everybody that can have a node id mints again, when faults have stopped and the clocks agree: what the store has
    /// granted or fenced is over, what was minted or is taken for the time too, a fence that is raised now has passed, and the
    /// longest pause between two attempts.
    fn liveness_ms(&self) -> u64 {
        let Plan { window_ms, window_max_ms, timeout_ms, mint_every_ms, .. } = self.plan;
        let estimates = self.holders.iter().filter(|holder| holder.life == Life::Running);
        let last_of = |holder: &Holder| {
            let minted = holder.last_id.and_then(|id| self.plan.layout.decode(id).ok());
            let minted_ms = minted.map_or(0, |last| last.timestamp_ms + 2 * self.plan.tick_ms);
            holder.ids.now_ms(holder.clocks.read(self.now)).max(minted_ms)
        };
        let last_ms = estimates.map(last_of).max().unwrap_or(0).max(self.store.last_ms()).saturating_sub(self.store_now_ms());
        last_ms + 2 * window_ms + window_max_ms + FENCE_MARGIN_MS + 3 * MAX_BACKOFF_MS + 10 * (timeout_ms + 2 * mint_every_ms)
    }

    fn become_quiet(&mut self) {
        self.quiet = true;
        self.store_offset_ms = 0;
        self.store_back_at = self.now;
        for holder in &mut self.holders {
            if holder.clocks.wall_offset_ms != 0 {
                holder.jumped_at = self.now;
            }
            holder.clocks.wall_offset_ms = 0;
            holder.clocks.frozen_wall_ms = None;
        }
        if self.trace {
            say("-- the faults stop");
        }
    }

    fn everybody_mints(&self, since: u64) -> bool {
        let live = self.holders.iter().filter(|holder| holder.life == Life::Running);
        let (mut count, mut minting) = (0, 0);
        for holder in live {
            count += 1;
            minting += u64::from(holder.minted_at.is_some_and(|at| at > since));
        }
        let usable = self.plan.nodes - u64::from(self.plan.static_node.is_some());
        count > 0 && minting >= usable.min(count)
    }

    fn step(&mut self) -> Checked {
        let Some(Reverse((at, _, event))) = self.queue.pop() else { return Err("nothing happens any more".to_owned()) };
        self.now = at;
        let event = self.events[event];
        let holder = match event {
            Event::Wake(holder, _) | Event::Mint(holder) | Event::InHand(holder, _) => Some(holder),
            Event::AtHolder(message, ..) => Some(message.holder),
            _ => None,
        };
        if let Some(holder) = holder {
            let until = self.holders[holder].stopped_until;
            if until > self.now {
                // What happened meanwhile is there when the holder goes on, and in any order.
                let ms = until - self.now + self.rng.u64(..2);
                if let Event::AtHolder(_, Reply::Answer(Answer::Granted(_)), ..) = event {
                    self.sometimes(Sometimes::AnswerInHand);
                }
                self.after(ms, event);
                return Ok(());
            }
        }
        self.summary.steps += 1;
        if self.trace {
            say(&format!("{:>8} {event:?}", self.now));
        }
        match event {
            Event::Wake(holder, wake) => {
                if self.holders[holder].wake == wake {
                    self.drive(holder, true)?;
                }
            }
            Event::Mint(holder) => self.mint(holder)?,
            Event::InHand(holder, readings) => self.mint_in_hand(holder, readings)?,
            Event::AtStore(message) => self.at_store(message)?,
            Event::AtHolder(message, reply, restores, answered_at) => {
                self.at_holder(message, reply, (restores, answered_at))?;
            }
            Event::Start => self.start(),
            Event::Fault => {
                if !self.quiet {
                    self.fault()?;
                    let ms = self.around(self.plan.window_ms / 2);
                    self.after(ms, Event::Fault);
                }
            }
            Event::StoreBack => {}
            Event::ClockBack(holder) => self.set_clock(holder, 0),
        }
        if self.trace {
            say(&self.states());
        }
        Ok(())
    }

    /// The state as one line.
    fn states(&self) -> String {
        let relative = |ms: u64| i128::from(ms) - i128::from(BEGIN_MS);
        let mut line = format!("         store {:+}", relative(self.store_now_ms()));
        if self.store.fence_ms > 0 {
            let _ = write!(line, " fence {:+}", relative(self.store.fence_ms));
        }
        for (index, holder) in self.holders.iter().enumerate().filter(|(_, holder)| holder.life != Life::Crashed) {
            let _ = write!(line, " | {index} {:?}", holder.life);
            if let (Some(window), Some(lease)) = (holder.ids.window(), holder.lease) {
                let node = self.leases[lease].node;
                let _ = write!(line, " n{node} [{}, {})", relative(window.from_ms), relative(window.until_ms));
            }
            let _ = write!(line, " wall {:+}", relative(holder.clocks.wall_ms(self.now)));
            if !holder.attempts.is_empty() {
                let _ = write!(line, " asks");
            }
        }
        line
    }

    // --------------------------------------------------------------------------------------------------------- the holders

    fn start(&mut self) {
        let mut clocks =
            Clocks { wall_offset_ms: 0, frozen_wall_ms: None, drift_ppm: 0, slept_ms: 0, alone: self.plan.faults.jumps };
        if !self.quiet && self.plan.faults.skew {
            clocks.wall_offset_ms = self.skew_ms();
        }
        if self.plan.faults.drift {
            clocks.drift_ppm = self.rng.i64(-2000..=2000);
        }
        let Plan { layout, options, defect, copied, .. } = &self.plan;
        let ids = if *copied { Ids::copied(layout, *options, *defect) } else { Ids::real(layout, *options) };
        self.holders.push(Holder {
            ids,
            slept_at_answer_ms: 0,
            time_from: 0,
            sleeps: Vec::new(),
            superfluous: None,
            life: Life::Running,
            clocks,
            stopped_until: 0,
            attempts: Vec::new(),
            wake: 0,
            own_random: (self.plan.defect == Some(Defect::CopiedRandom)).then(|| self.rng.fork()),
            lease: None,
            last_node: None,
            last_grant: None,
            last_nonce: None,
            last_id: None,
            begun: VecDeque::new(),
            progress: 0,
            told: None,
            busy_until: 0,
            minted_at: None,
            exhausted: false,
            saw_incarnation: false,
            closes_waited: false,
            jumped_at: 0,
        });
        self.set_going(self.holders.len() - 1);
    }

    fn set_going(&mut self, holder: usize) {
        self.arm(holder, 0);
        let ms = self.around(self.plan.mint_every_ms);
        self.after(ms, Event::Mint(holder));
    }

    fn arm(&mut self, holder: usize, ms: u64) {
        let wake = self.number();
        self.holders[holder].wake = wake;
        self.after(ms, Event::Wake(holder, wake));
    }

    /// Skew of up to some windows, and sometimes of 20 s.
    fn skew_ms(&mut self) -> i64 {
        let w = self.plan.window_ms.cast_signed();
        match self.rng.u8(..4) {
            0 => self.rng.i64(-20_000..=20_000),
            1 => self.rng.i64(-3 * w..=3 * w),
            _ => self.rng.i64(-w / 2..=w / 2),
        }
    }

    fn random(&mut self, holder: usize) -> LeaseRandom {
        let rng = self.holders[holder].own_random.as_mut().unwrap_or(&mut self.rng);
        LeaseRandom { grant: rng.u128(..), nonce: rng.u128(..) }
    }

    /// Does what is due: gives attempts up, closes, asks.
    fn drive(&mut self, index: usize, by_timer: bool) -> Checked {
        let now = self.holders[index].clocks.read(self.now);
        // What the timers of the driver go by.
        let monotonic_ms = if self.plan.faults.jumps { self.now } else { now.monotonic_ms };
        loop {
            let holder = &mut self.holders[index];
            let Some(late) = holder.attempts.iter().position(|attempt| attempt.deadline_ms <= monotonic_ms) else { break };
            holder.attempts.remove(late);
            holder.progress += 1;
            let jitter = self.rng.u64(..);
            self.holders[index].ids.fail(now.monotonic_ms, jitter);
        }
        match self.holders[index].life {
            Life::Closed | Life::Crashed => return Ok(()),
            Life::Closing(deadline_ms) => {
                let waits = !self.holders[index].attempts.is_empty();
                if waits && monotonic_ms < deadline_ms {
                    self.holders[index].closes_waited = true;
                } else {
                    self.close(index, waits);
                    return Ok(());
                }
            }
            Life::Running => {}
        }
        let mut due_ms = u64::MAX;
        let Plan { parallel, timeout_ms, .. } = self.plan;
        // With timers a driver has one attempt under way; where requests ask, some may have one each.
        let room = self.holders[index].attempts.len() < if by_timer { 1 } else { parallel };
        // One that has only the clock that jumps looks first, as the driver for Cloudflare Workers does.
        let is_due = !self.plan.faults.jumps || self.holders[index].ids.look(now) <= 1;
        if self.holders[index].life == Life::Running && room && is_due {
            let random = self.random(index);
            let ask = match self.holders[index].ids.ask(now, random) {
                Request::Nothing => None,
                Request::Wait { ms } => {
                    due_ms = monotonic_ms + ms;
                    None
                }
                Request::Acquire { grant, nonce } => {
                    let holder = &self.holders[index];
                    if holder.last_grant.is_some_and(|last| last != grant) {
                        self.sometimes(Sometimes::GrantRedrawn);
                    }
                    Some(Ask::Acquire { grant, nonce, node: self.holders[index].last_node })
                }
                Request::Renew { grant, nonce, node, until_ms } => Some(Ask::Renew { grant, nonce, node, until_ms }),
                Request::Fence { behind } => Some(Ask::Fence { behind }),
            };
            if let Some(ask) = ask {
                let number = self.number();
                let holder = &mut self.holders[index];
                holder.attempts.push(Attempt { number, deadline_ms: monotonic_ms + timeout_ms, ask });
                holder.last_grant = ask.grant().or(holder.last_grant);
                holder.last_nonce = ask.nonce().or(holder.last_nonce);
                holder.progress += 1;
                if let Some(nonce) = ask.nonce()
                    && holder.superfluous.take() == Some(nonce)
                {
                    self.sometimes(Sometimes::LateNonceKept);
                }
                if self.holders[index].clocks.wall_offset_ms > self.plan.window_ms.cast_signed() && self.plan.faults.jumps {
                    self.sometimes(Sometimes::AskedAhead);
                }
                self.check_rate(index, monotonic_ms).or_else(|why| self.broken(why))?;
                let asked = Asked { number: self.holders[index].ids.requests(), at: now };
                self.send(Message { holder: index, attempt: number, ask, asked });
            }
        }
        self.check_told(index, monotonic_ms).or_else(|why| self.broken(why))?;
        let holder = &self.holders[index];
        if let Life::Closing(deadline_ms) = holder.life {
            due_ms = due_ms.min(deadline_ms);
        }
        // Where requests ask there is no timer for what is due next, only for requests under way.
        if parallel > 1 && holder.life == Life::Running {
            due_ms = u64::MAX;
        }
        let next_ms = holder.attempts.iter().map(|attempt| attempt.deadline_ms).min().unwrap_or(u64::MAX).min(due_ms);
        if next_ms < u64::MAX {
            // The clock may be slow, then the timer fires too early and is set again.
            self.arm(index, next_ms.saturating_sub(monotonic_ms).max(1));
        }
        Ok(())
    }

    fn close(&mut self, index: usize, gave_up: bool) {
        let now = self.holders[index].clocks.read(self.now);
        if gave_up {
            self.sometimes(Sometimes::CloseGaveUp);
        } else if self.holders[index].closes_waited {
            self.sometimes(Sometimes::CloseWaited);
        }
        let holder = &mut self.holders[index];
        let release = holder.ids.close(now);
        holder.life = Life::Closed;
        if let Some(release) = release {
            let attempt = self.number();
            self.send(Message { holder: index, attempt, ask: Ask::Release(release), asked: Asked { number: 0, at: now } });
        }
        // Another process takes its place.
        let ms = self.around(self.plan.window_ms / 2);
        self.after(ms, Event::Start);
    }

    fn send(&mut self, message: Message) {
        if let Some(ms) = self.latency_ms() {
            self.after(ms, Event::AtStore(message));
        }
        if !self.quiet && self.plan.faults.doubled && self.rng.u8(..40) == 0 {
            let ms = self.rng.u64(..=2 * self.plan.window_ms);
            self.after(ms, Event::AtStore(message));
        }
    }

    /// How long a message takes. `None` if it is lost.
    fn latency_ms(&mut self) -> Option<u64> {
        let Plan { faults, timeout_ms, window_ms, .. } = self.plan;
        let quick_ms = self.rng.u64(..=timeout_ms / 3);
        if self.quiet {
            return Some(quick_ms);
        }
        if faults.loss && self.rng.u8(..8) == 0 {
            return None;
        }
        let slow = faults.slow && self.rng.u8(..8) == 0;
        Some(if slow { self.rng.u64(..=3 * window_ms / 2) } else { quick_ms })
    }

    // ------------------------------------------------------------------------------------------------------------- minting

    fn mint(&mut self, index: usize) -> Checked {
        let holder = &self.holders[index];
        if holder.life == Life::Crashed {
            return Ok(());
        }
        let closed = holder.life == Life::Closed;
        let now = holder.clocks.read(self.now);
        if !closed || self.rng.bool() {
            let ms = self.around(self.plan.mint_every_ms);
            self.after(ms, Event::Mint(index));
        }
        if self.plan.faults.pause && !self.quiet && !closed && self.rng.u8(..40) == 0 {
            let ms = self.rng.u64(..=3 * self.plan.window_ms);
            self.holders[index].stopped_until = self.now + ms;
            self.after(ms, Event::InHand(index, now));
            return Ok(());
        }
        let calls = if self.rng.u8(..4) == 0 { 12 } else { 1 };
        for _ in 0..calls {
            let now_ms = self.holders[index].ids.now_ms(now);
            if !self.call(index, now_ms, now_ms, now)? {
                break;
            }
        }
        if self.plan.parallel > 1 { self.drive(index, false) } else { Ok(()) }
    }

    /// Whether store time must be refused: the machine was suspended for more than a second since the store answered.
    /// Of several attempts at once, `take` knows only when the last one was sent, so drivers with more than one are left out too.
    /// A call that read the clocks before a pause is left out, and so are wall clocks that are set.
    fn was_suspended(&self, index: usize, now: Readings) -> bool {
        let Plan { faults, options, parallel, .. } = &self.plan;
        let holder = &self.holders[index];
        let is_current = now == holder.clocks.read(self.now);
        let slept_ms = holder.clocks.slept_ms - holder.slept_at_answer_ms.min(holder.clocks.slept_ms);
        options.id_time == IdTime::Store
            && faults.shows_suspensions()
            && !self.quiet
            && is_current
            && slept_ms > 1000
            && *parallel == 1
    }

    /// A call that read the clocks, and was paused before it reserved.
    fn mint_in_hand(&mut self, index: usize, read: Readings) -> Checked {
        if self.holders[index].life == Life::Crashed {
            return Ok(());
        }
        let ids = &self.holders[index].ids;
        let checked_ms = ids.now_ms(read);
        let fresh = self.holders[index].clocks.read(self.now);
        let now_ms = if self.plan.defect == Some(Defect::CheckThenMint) { ids.now_ms(fresh) } else { checked_ms };
        // A reading from before the pause is as one of a clock that went back: by it an attempt that was begun since is over earlier.
        let holder = &mut self.holders[index];
        holder.wait_out_attempts();
        let issued = self.call(index, checked_ms, now_ms, read)?;
        self.sometimes(if issued { Sometimes::CallInHandIssued } else { Sometimes::CallInHandRefused });
        Ok(())
    }

    /// One call of the program: whether it got IDs.
    fn call(&mut self, index: usize, checked_ms: u64, now_ms: u64, now: Readings) -> Checked<bool> {
        let want = 1 + if self.rng.u8(..4) == 0 { self.rng.usize(..64) } else { 0 };
        let ids = &mut self.holders[index].ids;
        let reserved = match ids.reserve(checked_ms, now_ms, now, want, false) {
            Ok(None) => ids.reserve(checked_ms, now_ms, now, want, true),
            reserved => reserved,
        };
        match reserved {
            Ok(Some(ids)) => {
                if self.was_suspended(index, now) {
                    return Err(format!("{index} {SUSPENDED}"));
                }
                self.holders[index].told = None;
                self.check_ids(index, &ids)?;
                Ok(true)
            }
            Ok(None) => Err("a confirmed call was asked to read the clock again".to_owned()),
            Err(error) => {
                if error.code() == Code::LeaseExpired && self.was_suspended(index, now) {
                    self.sometimes(Sometimes::SuspendedSinceAnswer);
                }
                self.check_refusal(index, error, now_ms, now)?;
                Ok(false)
            }
        }
    }

    // --------------------------------------------------------------------------------------------------------- the checker

    fn check_ids(&mut self, index: usize, ids: &[u64]) -> Checked {
        let Plan { tick_ms, options, .. } = self.plan;
        let ordered = self.plan.layout.plan().ordered && options.sequence_start != SequenceStart::Wrap;
        let Some(lease) = self.holders[index].lease else { return Err(format!("{index} mints without a lease")) };
        let LeaseInfo { node, window, confirmed, minted, .. } = self.leases[lease];
        self.leases[lease].minted = true;
        if !minted && self.trace {
            say("         the first ID of the lease");
        }
        let mut followed_back = false;
        for id in ids.iter().copied() {
            let decoded = self.plan.layout.decode(id).map_err(|error| error.to_string())?;
            let (at_ms, ends_ms) = (decoded.timestamp_ms, decoded.timestamp_ms + tick_ms);
            if u64::from(decoded.node.unwrap_or(0)) != node {
                return Err(format!("{index} mints for another node id than {node}: {decoded:?}"));
            }
            if (at_ms < window.from_ms || ends_ms > window.until_ms) && !self.lenient {
                return Err(format!("{index} mints outside {window:?}: {decoded:?}"));
            }
            let clocks = decoded.clock.is_some();
            let comparable = |last: &u64| {
                self.plan.time_above_node || self.plan.layout.decode(*last).is_ok_and(|last| last.node == decoded.node)
            };
            if ordered && self.holders[index].last_id.filter(comparable).is_some_and(|last| last >= id) {
                if !clocks && !self.lenient {
                    return Err(format!("the IDs of {index} do not increase: {decoded:?}"));
                }
                followed_back = true;
            }
            self.holders[index].last_id = Some(id);
            self.summary.hash = (self.summary.hash ^ id).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
            let mint = Mint { lease, confirmed };
            if let Some(other) = self.ids.insert(id, mint)
                && let Err(why) = self.check_repeat(other, mint, at_ms)
            {
                return Err(format!("{index} repeats an ID ({why}): {decoded:?}"));
            }
            if ends_ms + tick_ms > window.until_ms {
                self.sometimes(Sometimes::LastTick);
            }
            if at_ms < window.from_ms + tick_ms {
                self.sometimes(Sometimes::FirstTick);
            }
        }
        if followed_back {
            self.sometimes(Sometimes::ClockFollowedBack);
        }
        self.holders[index].minted_at = Some(self.now);
        Ok(())
    }

    /// Whether an ID may repeat: one of two copies of a holder, or a store that was restored and does not show it.
    fn check_repeat(&mut self, first: Mint, second: Mint, at_ms: u64) -> Checked {
        let [one, other] = [first, second].map(|mint| self.leases[mint.lease]);
        if [one, other].iter().any(|lease| self.exposed.get(&lease.grant).is_some_and(|until_ms| at_ms < *until_ms)) {
            self.sometimes(Sometimes::CloneRepeated);
            return Ok(());
        }
        let unseen = first.confirmed.min(second.confirmed);
        if self.restores[unseen..].iter().any(|until_ms| at_ms < *until_ms) {
            self.sometimes(Sometimes::RestoreRepeated);
            return Ok(());
        }
        Err(format!("{one:?} and {other:?}"))
    }

    /// A refusal has a code that a lease can have, and says when the call can succeed or something will have happened.
    fn check_refusal(&mut self, index: usize, error: Error, now_ms: u64, now: Readings) -> Checked {
        let (code, retry_ms) = (error.code(), error.retry_after_ms());
        let holder = &mut self.holders[index];
        match code {
            Code::Closed if holder.life == Life::Closed => {
                self.sometimes(Sometimes::Closed);
                return Ok(());
            }
            Code::TimeExhausted if self.plan.ends => {
                self.sometimes(Sometimes::TimeExhausted);
                return Ok(());
            }
            _ if retry_ms == 0 => return self.broken(format!("{index} is refused with {code:?} and may retry at once")),
            Code::LeaseLost => self.sometimes(Sometimes::LeaseLost),
            Code::LeaseExpired => {
                let monotonic_ms = now.monotonic_ms;
                if self.now >= holder.jumped_at + self.plan.calm_ms()
                    && holder.clocks.wall_offset_ms == 0
                    && self.plan.faults.jumps
                    && matches!(self.plan.defect, None | Some(Defect::UnseenJump))
                {
                    return Err(format!("{index} {EXPIRED}"));
                }
                holder.ids.hurry(monotonic_ms);
                if holder.ids.retry_after_ms(monotonic_ms) != retry_ms {
                    return self.broken(format!("{index} is told to retry after {retry_ms} ms, and that is not when it asks"));
                }
                let window = holder.ids.window();
                let asks = !holder.attempts.is_empty();
                if asks {
                    self.sometimes(Sometimes::InFlightAtExpiry);
                }
                if let Some(lease) = self.holders[index].lease.map(|lease| self.leases[lease])
                    && !lease.minted
                {
                    self.sometimes(Sometimes::OverBeforeTheFirst);
                }
                if window.is_some_and(|window| now_ms + self.plan.tick_ms < window.until_ms)
                    && self.plan.options.id_time == IdTime::Store
                {
                    self.sometimes(Sometimes::Drifted);
                }
                self.sometimes(Sometimes::LeaseExpired);
            }
            Code::ClockBackward | Code::SequenceExhausted => {
                self.check_stall(index, code, retry_ms, now_ms, now)?;
                let event = if code == Code::ClockBackward { Sometimes::ClockBackward } else { Sometimes::SequenceExhausted };
                self.sometimes(event);
                return Ok(());
            }
            code => return self.broken(format!("{index} is refused with {code:?}")),
        }
        if self.plan.parallel == 1 && self.holders[index].life == Life::Running && self.plan.defect.is_none() {
            // A refusal that comes late may put the next attempt off, so what was told is checked without.
            let current = self.holders[index].clocks.read(self.now).monotonic_ms;
            if now.monotonic_ms == current && !self.plan.late_refusals {
                let holder = &mut self.holders[index];
                let by_ms = (current + retry_ms).max(holder.busy_until);
                if holder.told.is_none_or(|(told_ms, _)| by_ms < told_ms) {
                    holder.told = Some((by_ms, holder.progress));
                }
            }
            self.drive(index, true)?;
        }
        Ok(())
    }

    /// The call succeeds at the time that the refusal named, or finds the window over, and not before.
    fn check_stall(&self, index: usize, code: Code, retry_ms: u64, now_ms: u64, now: Readings) -> Checked {
        let later = |ms: u64| Readings { wall_ms: now.wall_ms + ms, monotonic_ms: now.monotonic_ms + ms };
        let refused_with = |ms: u64| {
            let health = self.holders[index].ids.health(now_ms + ms, later(ms))?;
            Some(health.refusal.map(|error| error.code()))
        };
        let wrong = |ms: u64| format!("{index}: {code:?} names {retry_ms} ms, and that is wrong after {ms} ms");
        match refused_with(retry_ms) {
            None | Some(None | Some(Code::LeaseExpired)) => {}
            Some(Some(_)) => return Err(wrong(retry_ms)),
        }
        match refused_with(retry_ms - 1) {
            Some(None) => Err(wrong(retry_ms - 1)),
            _ => Ok(()),
        }
    }

    /// Whether what a call was told has come true: an attempt has begun or ended by then.
    fn check_told(&mut self, index: usize, monotonic_ms: u64) -> Checked {
        let holder = &mut self.holders[index];
        let Some((by_ms, progress)) = holder.told else { return Ok(()) };
        if holder.progress > progress {
            holder.told = None;
        } else if monotonic_ms >= by_ms {
            return Err(format!("{index} told a call to retry at {by_ms}, and nothing has happened by {monotonic_ms}"));
        }
        Ok(())
    }

    /// No hot loop: in a second as many attempts as renewals are due, or as the shortest pauses after failures allow, and some
    /// more for what happens at once (a fence, a lease that ended, a suspended machine).
    fn check_rate(&mut self, index: usize, monotonic_ms: u64) -> Checked {
        let pause_ms = self.plan.renew_after_ms.clamp(1, 50);
        let limit = (1000 / pause_ms + 20) * self.plan.parallel as u64;
        let begun = &mut self.holders[index].begun;
        begun.push_back(monotonic_ms);
        while begun.front().is_some_and(|at| at + 1000 <= monotonic_ms) {
            begun.pop_front();
        }
        let count = begun.len() as u64;
        if count > limit { Err(format!("{index} asks {count} times in a second")) } else { Ok(()) }
    }

    // ----------------------------------------------------------------------------------------------------------- the store

    fn at_store(&mut self, message: Message) -> Checked {
        if self.store_back_at > self.now {
            // A refused connection is noticed at once, a dropped packet is not.
            if self.rng.bool()
                && let Some(ms) = self.latency_ms()
            {
                self.after(ms, Event::AtHolder(message, Reply::Unavailable, self.restores.len(), self.now));
            }
            return Ok(());
        }
        let reply = self.carry_out(message)?;
        let (restores, at) = (self.restores.len(), self.now);
        if let Some(ms) = self.latency_ms() {
            self.after(ms, Event::AtHolder(message, reply, restores, at));
        }
        if !self.quiet && self.plan.faults.doubled && self.rng.u8(..10) == 0 {
            let ms = self.rng.u64(..=2 * self.plan.window_ms);
            self.after(ms, Event::AtHolder(message, reply, restores, at));
        }
        Ok(())
    }

    fn carry_out(&mut self, message: Message) -> Checked<Reply> {
        let host = self.host();
        let window_ms = self.plan.window_ms;
        let before = self.store.rows.clone();
        Ok(match message.ask {
            Ask::Acquire { grant, nonce, node } => {
                let known = before.iter().flatten().any(|row| row.grant == Some(grant));
                let answer = self.store.acquire(host, &AcquireRequest { grant, nonce, window_ms, node });
                if let Answer::Granted(granted) = answer {
                    if known {
                        self.sometimes(Sometimes::AcquiredAgain);
                    } else {
                        self.check_interval(&granted, true)?;
                    }
                }
                Reply::Answer(answer)
            }
            Ask::Renew { grant, nonce, node, until_ms } => {
                let answer = self.store.renew(host, &RenewRequest { grant, nonce, window_ms, node, until_ms });
                if let Answer::Granted(granted) = answer {
                    self.check_interval(&granted, false)?;
                    let was_ms = before[usize::try_from(node).expect("few nodes")].map_or(0, |row| row.until_ms);
                    if self.knows_its_attempts() {
                        self.sometimes(Sometimes::OwnAttempt);
                    }
                    if until_ms <= host.now_ms {
                        self.sometimes(Sometimes::RenewedAfterExpiry);
                    }
                    if was_ms > until_ms {
                        self.sometimes(Sometimes::RetriedRenewal);
                    }
                    if was_ms < until_ms {
                        self.sometimes(Sometimes::BehindHealed);
                    }
                    if granted.until_ms == until_ms {
                        self.sometimes(Sometimes::StoreClockBack);
                    }
                }
                Reply::Answer(answer)
            }
            Ask::Fence { behind } => {
                self.fence_during_renewal();
                self.store.ensure(host, behind);
                Reply::Done
            }
            Ask::Release(release) => {
                let Release { grant, node, .. } = release;
                if self.store.release(&release) {
                    let node = usize::try_from(node).expect("few nodes");
                    let row = self.store.rows[node].expect("a row that was released");
                    for interval in self.intervals[node].iter_mut().filter(|interval| interval.grant == grant) {
                        interval.until_ms = row.until_ms;
                        interval.released = true;
                    }
                }
                Reply::Done
            }
        })
    }

    fn fence_during_renewal(&mut self) {
        let renews = |holder: &Holder| holder.attempts.iter().any(|attempt| matches!(attempt.ask, Ask::Renew { .. }));
        if self.holders.iter().any(renews) {
            self.sometimes(Sometimes::FenceDuringRenewal);
        }
    }

    /// The windows of one node id never overlap.
    fn check_interval(&mut self, granted: &Granted, acquired: bool) -> Checked {
        let Granted { grant, node, from_ms, until_ms, .. } = *granted;
        let intervals = &mut self.intervals[usize::try_from(node).expect("few nodes")];
        let excused_ms = self.restores.iter().copied().max().unwrap_or(0);
        let mut taken_at_once = false;
        for other in intervals.iter().filter(|other| other.grant != grant) {
            let (from_ms, until_ms) = (from_ms.max(other.from_ms), until_ms.min(other.until_ms));
            if from_ms < until_ms && until_ms > excused_ms && !self.lenient {
                return Err(format!("the store grants {granted:?} over {other:?}"));
            }
            taken_at_once |= acquired && other.released && other.until_ms == granted.from_ms;
        }
        match intervals.iter_mut().find(|interval| interval.grant == grant && interval.from_ms == from_ms) {
            Some(interval) => interval.until_ms = interval.until_ms.max(until_ms),
            None => intervals.push(Interval { grant, from_ms, until_ms, released: false }),
        }
        if taken_at_once && from_ms + self.plan.window_ms > granted.store_now_ms {
            self.sometimes(Sometimes::ReleasedAndTaken);
        }
        Ok(())
    }

    // --------------------------------------------------------------------------------------------------------- the answers

    fn at_holder(&mut self, message: Message, reply: Reply, answered: (usize, u64)) -> Checked {
        let index = message.holder;
        let now = self.holders[index].clocks.read(self.now);
        let monotonic_ms = now.monotonic_ms;
        match self.holders[index].life {
            Life::Crashed => return Ok(()),
            Life::Closed => {
                if self.plan.defect == Some(Defect::ReleaseBeforeClose) && matches!(message.ask, Ask::Release(_)) {
                    self.holders[index].life = Life::Crashed;
                }
                self.sometimes(Sometimes::AnsweredAfterClose);
            }
            _ => {}
        }
        let times = self.delivered.entry(message.attempt).or_default();
        *times += 1;
        if *times == 2 {
            self.sometimes(Sometimes::AnswerDoubled);
        }
        let holder = &mut self.holders[index];
        let position = holder.attempts.iter().position(|attempt| attempt.number == message.attempt);
        if let Some(position) = position {
            holder.attempts.remove(position);
        }
        holder.progress += 1;
        let in_time = position.is_some();
        let jitter = self.rng.u64(..);
        match reply {
            Reply::Unavailable if in_time => self.holders[index].ids.fail(monotonic_ms, jitter),
            Reply::Done if in_time && matches!(message.ask, Ask::Fence { .. }) => self.holders[index].ids.fenced(monotonic_ms),
            Reply::Unavailable | Reply::Done => {}
            Reply::Answer(Answer::Granted(granted)) => self.granted(index, message, &granted, now, answered, in_time)?,
            Reply::Answer(Answer::Refused { reason, store_now_ms, free_at_ms }) => {
                if !in_time {
                    self.sometimes(Sometimes::LateRefusal);
                }
                if in_time || self.plan.late_refusals {
                    let free_in_ms = free_at_ms.saturating_sub(store_now_ms);
                    self.refused(index, message, (reason, in_time), free_in_ms, monotonic_ms)?;
                }
            }
        }
        if self.plan.parallel == 1 || self.holders[index].life != Life::Running { self.drive(index, true) } else { Ok(()) }
    }

    fn granted(
        &mut self,
        index: usize,
        message: Message,
        granted: &Granted,
        now: Readings,
        (restores, answered_at): (usize, u64),
        in_time: bool,
    ) -> Checked {
        let held = self.holders[index].lease;
        if !in_time {
            let holder = &mut self.holders[index];
            holder.wait_out_attempts();
        }
        // Whichever attempt is under way besides.
        let under_way = self.holders[index].attempts.first().map(|attempt| attempt.ask);
        let ids = &mut self.holders[index].ids;
        let taken = if in_time {
            ids.take(granted, message.asked, now, &mut self.registry)
        } else {
            ids.take_late(granted, message.asked, now, &mut self.registry)
        };
        let taken = taken.map_err(|error| format!("{index} does not take {granted:?}: {error}"))?;
        let change = match taken {
            Taken::Changed(change) => change,
            Taken::Declined(release) => {
                self.sometimes(Sometimes::Declined);
                let attempt = self.number();
                self.send(Message { holder: index, attempt, ask: Ask::Release(release), asked: Asked { number: 0, at: now } });
                return Ok(());
            }
        };
        let Granted { grant, node, from_ms, until_ms, .. } = *granted;
        let window = Window { from_ms, until_ms };
        match change {
            Change::Begun => {
                self.leases.push(LeaseInfo { grant, node, window, confirmed: restores, minted: false });
                let (high, low) = (self.rng.u64(1..), self.rng.u64(1..));
                let lease = self.leases.len() - 1;
                let holder = &mut self.holders[index];
                holder.lease = Some(lease);
                holder.last_node = Some(node);
                if self.plan.options.sequence_start != SequenceStart::Zero {
                    holder.ids.offer_key(high, low);
                }
                if self.holders[index].exhausted {
                    self.holders[index].exhausted = false;
                    self.sometimes(Sometimes::ExhaustedThenFreed);
                }
            }
            Change::Extended => {
                let lease = &mut self.leases[held.ok_or("a lease is extended that has not begun")?];
                lease.window.until_ms = until_ms;
                lease.confirmed = lease.confirmed.max(restores);
                if self.holders[index].saw_incarnation {
                    self.holders[index].saw_incarnation = false;
                    self.sometimes(Sometimes::IncarnationThenRenewed);
                }
            }
            Change::Ended => {
                self.sometimes(Sometimes::EndedByTheStore);
                self.lost(index);
            }
            Change::None => {
                let holder = &mut self.holders[index];
                if message.asked.number > holder.time_from && holder.ids.window() == Some(window) {
                    holder.time_from = message.asked.number;
                    holder.slept_at_answer_ms = holder.slept_before_ms(answered_at);
                }
                if let Some(lease) = held.map(|lease| &mut self.leases[lease]) {
                    if lease.grant == grant {
                        lease.confirmed = lease.confirmed.max(restores);
                        if until_ms < lease.window.until_ms {
                            self.sometimes(Sometimes::AnswersReordered);
                        }
                    } else {
                        self.sometimes(Sometimes::LateAnswer);
                    }
                }
            }
        }
        if matches!(change, Change::Begun | Change::Extended) {
            let holder = &mut self.holders[index];
            holder.time_from = message.asked.number;
            holder.slept_at_answer_ms = holder.slept_before_ms(answered_at);
            if !in_time {
                self.granted_late(index, under_way, change);
            }
            if let Some(granted_ms) = message.ask.nonce().and_then(|nonce| self.shared_nonces.get_mut(&nonce)) {
                granted_ms.insert(index, until_ms);
                // The times that two of them were granted.
                let mut ends_ms: Vec<u64> = granted_ms.values().copied().collect();
                ends_ms.sort_unstable();
                if let [.., both_ms, _] = ends_ms[..] {
                    let exposed_ms = self.exposed.entry(grant).or_default();
                    *exposed_ms = (*exposed_ms).max(both_ms);
                }
            }
        }
        let ours = self.holders[index].lease.map(|lease| self.leases[lease].window);
        let known = self.holders[index].ids.window();
        if known.is_some() && known != ours && !self.lenient {
            return Err(format!("{index} holds {known:?}, and was granted {ours:?}"));
        }
        Ok(())
    }

    /// An answer was read after its attempt was given up, and has begun or extended a lease.
    fn granted_late(&mut self, index: usize, under_way: Option<Ask>, change: Change) {
        self.holders[index].superfluous = under_way.and_then(|ask| ask.nonce());
        self.sometimes(Sometimes::LateGrantTaken);
        if under_way.is_some() {
            self.sometimes(Sometimes::LateDuringAnother);
        }
        if change == Change::Begun {
            self.sometimes(Sometimes::LateBegan);
        }
        if self.plan.options.id_time == IdTime::Store {
            self.sometimes(Sometimes::LateTime);
        }
    }

    fn lost(&mut self, index: usize) {
        let holder = &mut self.holders[index];
        if let Some(lease) = holder.lease.take()
            && self.exposed.contains_key(&self.leases[lease].grant)
        {
            self.sometimes(Sometimes::CloneLost);
        }
    }

    fn refused(
        &mut self,
        index: usize,
        message: Message,
        refused: (Reason, bool),
        free_in_ms: u64,
        monotonic_ms: u64,
    ) -> Checked {
        let (reason, in_time) = refused;
        let Some(grant) = message.ask.grant() else { return Ok(()) };
        let acquires = matches!(message.ask, Ask::Acquire { .. });
        let refusal = match reason {
            Reason::Taken => Refusal::Lost,
            Reason::Fenced if !acquires => {
                self.sometimes(Sometimes::Fenced);
                Refusal::Lost
            }
            Reason::Fenced | Reason::Exhausted => {
                if reason == Reason::Fenced {
                    self.sometimes(Sometimes::FencedAcquire);
                } else {
                    self.holders[index].exhausted = true;
                }
                Refusal::Exhausted { retry_after_ms: free_in_ms }
            }
            Reason::Incarnation => {
                self.holders[index].saw_incarnation = !acquires;
                Refusal::Incarnation
            }
            Reason::Behind => {
                self.sometimes(Sometimes::BehindSeen);
                Refusal::Behind
            }
            Reason::Window => Refusal::Rejected,
        };
        let holds = |row: &crate::store::Row| row.grant == Some(grant);
        if reason == Reason::Taken && !acquires && self.knows_its_attempts() && self.store.rows.iter().flatten().any(holds) {
            return Err(format!("{index} {LOST_TO_ITSELF}"));
        }
        let jitter = self.rng.u64(..);
        if self.holders[index].ids.refuse(grant, refusal, monotonic_ms, jitter) == Change::Ended {
            if reason == Reason::Taken && !self.exposed.contains_key(&grant) && self.store.rows.iter().flatten().any(holds) {
                self.sometimes(if in_time { Sometimes::LostToALateRequest } else { Sometimes::LostToALateRefusal });
            }
            self.lost(index);
        }
        Ok(())
    }

    /// Whether no request reaches the store after the next one of its holder, and no copy of a holder asks: then a renewal is refused
    /// for an attempt of the same holder only if the lease forgot that attempt.
    const fn knows_its_attempts(&self) -> bool {
        let Plan { faults, parallel, late_refusals, .. } = &self.plan;
        *parallel == 1 && !*late_refusals && faults.orders_requests()
    }

    // ---------------------------------------------------------------------------------------------------------- the faults

    /// A live holder.
    fn some_holder(&mut self) -> Option<usize> {
        let live: Vec<usize> = (0..self.holders.len()).filter(|index| self.holders[*index].life == Life::Running).collect();
        self.rng.choice(live)
    }

    fn set_clock(&mut self, index: usize, ahead_ms: u64) {
        let holder = &mut self.holders[index];
        holder.clocks.wall_offset_ms = ahead_ms.cast_signed();
        holder.jumped_at = self.now;
    }

    fn jump(&mut self, index: usize) {
        let w = self.plan.window_ms;
        let ahead_ms = if self.rng.bool() { 86_400_000 } else { self.rng.u64(..=3 * w) };
        if ahead_ms > w {
            self.sometimes(Sometimes::JumpedAhead);
        }
        self.set_clock(index, ahead_ms);
        let ms = self.around(self.plan.mint_every_ms);
        self.after(ms, Event::ClockBack(index));
    }

    fn fault(&mut self) -> Checked {
        let faults = self.plan.faults;
        let w = self.plan.window_ms;
        let holder = self.some_holder();
        if let Some(index) = holder.filter(|_| faults.jumps) {
            self.jump(index);
            return Ok(());
        }
        let kind = self.rng.u8(..16);
        match (kind, holder) {
            (0, Some(index)) if faults.wall_steps => {
                let step_ms = self.skew_ms();
                self.holders[index].clocks.wall_offset_ms += step_ms;
            }
            (1, Some(index)) if faults.frozen_walls => {
                let clocks = &mut self.holders[index].clocks;
                clocks.frozen_wall_ms = match clocks.frozen_wall_ms {
                    None => Some(clocks.wall_ms(self.now)),
                    Some(_) => None,
                };
            }
            (2, Some(index)) if faults.suspend => {
                let ms = self.rng.u64(..=3 * w);
                let holder = &mut self.holders[index];
                if holder.stopped_until <= self.now {
                    holder.stopped_until = self.now + ms;
                    // Nothing is read before it goes on.
                    holder.clocks.slept_ms += ms;
                    holder.sleeps.push((self.now, ms));
                }
            }
            (3, Some(index)) if faults.pause => {
                let ms = self.rng.u64(..=3 * w);
                let holder = &mut self.holders[index];
                if holder.stopped_until <= self.now {
                    holder.stopped_until = self.now + ms;
                }
            }
            (4 | 5, Some(index)) if faults.crash => {
                if self.holders[index].attempts.iter().any(|attempt| matches!(attempt.ask, Ask::Acquire { .. })) {
                    self.sometimes(Sometimes::CrashedInFlight);
                }
                self.holders[index].life = Life::Crashed;
                let ms = self.around(w / 2);
                self.after(ms, Event::Start);
            }
            (6, Some(index)) if faults.clone && self.holders.len() < 40 => self.copy(index),
            (7 | 8, Some(index)) if faults.close => {
                let holder = &mut self.holders[index];
                let monotonic_ms = holder.clocks.read(self.now.max(holder.stopped_until)).monotonic_ms;
                holder.life = Life::Closing(monotonic_ms + self.plan.timeout_ms / 2);
                if holder.stopped_until <= self.now {
                    return self.drive(index, true);
                }
                self.arm(index, 0);
            }
            (9, _) if faults.store_restart => {
                let ms = self.around(w / 10);
                self.store_away(ms);
            }
            (10, _) if faults.store_away => {
                let ms = self.around(w);
                self.store_away(ms);
            }
            (11, _) if faults.fence => {
                self.fence_during_renewal();
                let host = self.host();
                self.store.fence(host);
            }
            (12, _) if faults.store_clock => {
                let back_ms = self.skew_ms();
                self.store_offset_ms = if self.rng.bool() { back_ms } else { 0 };
            }
            (13, _) if faults.restore || faults.failover => {
                let snapshot = (self.store.clone(), self.now);
                self.snapshots.push(snapshot);
            }
            (14, _) if faults.restore && !self.snapshots.is_empty() => {
                let which = self.rng.usize(..self.snapshots.len());
                let (store, _) = self.snapshots[which].clone();
                if self.rng.u8(..3) == 0 {
                    // A restore that shows: the same as a failover to an old replica.
                    self.fail_over(store, true);
                    self.sometimes(Sometimes::RestoredAsOther);
                } else {
                    self.expose_copies();
                    self.store = store;
                    self.restores.push(self.store_now_ms() + self.plan.window_max_ms);
                }
            }
            (15, _) if faults.failover => {
                // The replica lacks what was written since the last snapshot, or nothing.
                let lost = self.rng.bool().then(|| self.snapshots.last().cloned()).flatten();
                let lacks_writes = lost.is_some();
                let store = lost.map_or_else(|| self.store.clone(), |(store, _)| store);
                self.fail_over(store, lacks_writes);
                self.store_offset_ms = self.rng.i64(-STORE_SKEW_MS / 2..=STORE_SKEW_MS / 2);
                let ms = self.around(w / 4);
                self.store_away(ms);
            }
            _ => {}
        }
        Ok(())
    }

    /// The store loses writes, and with them perhaps the renewal by which it tells two copies apart. That is as if the copy were
    /// made now: what was granted so far may repeat.
    fn expose_copies(&mut self) {
        let granted_ms = |grant: Grant| {
            let intervals = self.intervals.iter().flatten().filter(|interval| interval.grant == grant);
            intervals.map(|interval| interval.until_ms).max().unwrap_or(0)
        };
        for (grant, until_ms) in &mut self.exposed {
            *until_ms = (*until_ms).max(granted_ms(*grant));
        }
        let copies =
            self.holders.iter().filter(|holder| holder.last_grant.is_some_and(|grant| self.exposed.contains_key(&grant)));
        for nonce in copies.filter_map(|holder| holder.last_nonce) {
            self.shared_nonces.entry(nonce).or_default();
        }
    }

    fn store_away(&mut self, ms: u64) {
        self.store_back_at = self.store_back_at.max(self.now + ms);
        self.after(ms, Event::StoreBack);
    }

    fn fail_over(&mut self, store: Store, lacks_writes: bool) {
        self.expose_copies();
        // Its answers are none from a store that was restored before: it need not know what that one has granted.
        if lacks_writes {
            let exposed_ms = self.restores.iter().copied().max().filter(|until_ms| *until_ms > self.store_now_ms());
            self.restores.extend(exposed_ms);
        }
        self.store = store;
        self.incarnations += 1;
        self.incarnation = self.incarnations;
    }

    /// A snapshot of the holder goes on beside it. Requests under way are answered to the one that sent them.
    fn copy(&mut self, index: usize) {
        let ids = self.holders[index].ids.snapshot(&mut self.registry);
        let holder = &self.holders[index];
        if let Some(grant) = holder.last_grant {
            let until_ms = holder.ids.window().map_or(0, |window| window.until_ms);
            let exposed_ms = self.exposed.entry(grant).or_default();
            *exposed_ms = (*exposed_ms).max(until_ms);
        }
        if let Some(nonce) = holder.last_nonce {
            self.shared_nonces.entry(nonce).or_default();
        }
        let lease = holder.lease.map(|lease| {
            self.leases.push(self.leases[lease]);
            self.leases.len() - 1
        });
        let holder = &self.holders[index];
        let copy = Holder {
            ids,
            slept_at_answer_ms: holder.slept_at_answer_ms,
            time_from: holder.time_from,
            sleeps: holder.sleeps.clone(),
            superfluous: holder.superfluous,
            life: holder.life,
            clocks: holder.clocks,
            stopped_until: holder.stopped_until,
            attempts: holder.attempts.clone(),
            wake: 0,
            own_random: holder.own_random.clone(),
            lease,
            last_node: holder.last_node,
            last_grant: holder.last_grant,
            last_nonce: holder.last_nonce,
            last_id: holder.last_id,
            begun: holder.begun.clone(),
            progress: holder.progress,
            told: holder.told,
            busy_until: holder.busy_until,
            minted_at: holder.minted_at,
            exhausted: holder.exhausted,
            saw_incarnation: holder.saw_incarnation,
            closes_waited: false,
            jumped_at: holder.jumped_at,
        };
        self.holders.push(copy);
        // It goes on a little later.
        let ms = self.rng.u64(..=self.plan.window_ms);
        let copy = self.holders.last_mut().expect("the copy");
        copy.stopped_until = copy.stopped_until.max(self.now + ms);
        self.set_going(self.holders.len() - 1);
    }
}
