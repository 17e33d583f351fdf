//! One simulation: time, hosts and their clocks, the network, the store, the holders with their drivers, and the checker.

mod answers;
mod checker;
mod faults;
mod holders;
mod minting;
mod requests;
mod run;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use fastrand::Rng;
use frazil::asking::Nonce;
use frazil::lease::{Asked, Grant, IdTime, Readings, Release};
use frazil::mint::Window;
use frazil::{GeneratorOptions, Node, Registry};

use crate::defect::Defect;
use crate::events::Sometimes;
use crate::ids::Ids;
use crate::plan::{BEGIN_MS, Plan};
use crate::store::{Answer, FENCE_MARGIN_MS, Host, Store};

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
}
