//! What a seed decides before anything happens: the layout, the lengths, the fleet, and the faults.

use fastrand::Rng;
use frazil::Layout;
use frazil::asking::MAX_BACKOFF_MS;
use frazil::layout::{Field, LayoutSpec};
use frazil::lease::{IdTime, LeaseTerms, LeasedOptions};
use frazil::mint::SequenceStart;

use crate::defect::Defect;

/// When every simulation begins, in Unix milliseconds by a clock that is right.
pub(crate) const BEGIN_MS: u64 = 1_720_000_000_000;

/// Which faults happen.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each fault can happen or not")]
pub(crate) struct Faults {
    pub(crate) skew: bool,
    pub(crate) wall_steps: bool,
    pub(crate) frozen_walls: bool,
    pub(crate) drift: bool,
    pub(crate) suspend: bool,
    pub(crate) pause: bool,
    pub(crate) crash: bool,
    pub(crate) clone: bool,
    pub(crate) close: bool,
    pub(crate) loss: bool,
    pub(crate) slow: bool,
    pub(crate) doubled: bool,
    pub(crate) store_restart: bool,
    pub(crate) store_away: bool,
    pub(crate) fence: bool,
    /// At most one of these three happens in a seed: docs/concepts/leases.md guarantees nothing for two of them at once.
    pub(crate) store_clock: bool,
    pub(crate) restore: bool,
    pub(crate) failover: bool,
    /// Holders have one clock, as on Cloudflare Workers, where monotonic time is the wall clock. It jumps ahead and comes back. No
    /// other fault happens.
    pub(crate) jumps: bool,
}

impl Faults {
    /// Whether no request reaches the store after the next one of its holder, and no copy of a holder asks.
    pub(crate) const fn orders_requests(&self) -> bool {
        !(self.slow || self.doubled || self.clone || self.restore || self.failover || self.suspend)
    }

    /// Whether wall and monotonic time drift apart only while a machine is suspended.
    pub(crate) const fn shows_suspensions(&self) -> bool {
        !(self.wall_steps || self.frozen_walls || self.drift)
    }
}

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn for itself")]
pub(crate) struct Plan {
    pub(crate) layout: Layout,
    pub(crate) time_above_node: bool,
    pub(crate) tick_ms: u64,
    pub(crate) options: LeasedOptions,
    pub(crate) window_ms: u64,
    pub(crate) window_max_ms: u64,
    pub(crate) renew_after_ms: u64,
    pub(crate) timeout_ms: u64,
    pub(crate) nodes: u64,
    pub(crate) holders: usize,
    /// How many attempts may be under way at once: 1 with timers, more where requests ask.
    pub(crate) parallel: usize,
    /// Whether a refusal counts although its attempt was given up.
    pub(crate) late_refusals: bool,
    /// The node id of a static generator in the processes.
    pub(crate) static_node: Option<u64>,
    pub(crate) faults: Faults,
    pub(crate) mint_every_ms: u64,
    pub(crate) steps_ms: u64,
    /// Whether the time field of the layout is used up half-way.
    pub(crate) ends: bool,
    pub(crate) defect: Option<Defect>,
    /// Whether holders mint with the copy of the generator.
    pub(crate) copied: bool,
}

fn fields(time: u32, clock: u32, node: u32, sequence: u32, kind: u8) -> Vec<Field> {
    let node = (node > 0).then(|| Field::node(node));
    let clock = (clock > 0).then(|| Field::clock(clock));
    let (time, sequence) = (Some(Field::time(time)), Some(Field::sequence(sequence)));
    let fields = match kind {
        0 | 1 => [time, clock, node, sequence],
        2 => [time, clock, sequence, node],
        _ => [node, time, clock, sequence],
    };
    fields.into_iter().flatten().collect()
}

impl Plan {
    /// How long after a jump of its clock a holder has renewed its lease: the longest pause, and an attempt, with the calls that find
    /// them over.
    pub(crate) const fn calm_ms(&self) -> u64 {
        MAX_BACKOFF_MS + 2 * (self.timeout_ms + 2 * self.mint_every_ms)
    }

    pub(crate) fn new(seed: u64, rng: &mut Rng, defect: Option<Defect>, copied: bool) -> Self {
        let jumps = seed % 16 == 15;
        let tick_ms = [1, 10, 10, 1000, 1000, 1000][rng.usize(..6)];
        let ticks = if rng.u8(..4) == 0 { 3 + rng.u64(..3) } else { 3 + rng.u64(..40) };
        // So long that a lease is renewed in time although only calls do that.
        let (tick_ms, ticks) = if jumps { (1000, 20 + ticks) } else { (tick_ms, ticks) };
        // Not a multiple of the tick, so that the ends are rounded.
        let window_ms = ticks * tick_ms + rng.u64(..tick_ms);
        let parallel = if rng.u8(..4) == 0 || jumps { 3 } else { 1 };
        let renew_after_ms = window_ms / if parallel == 1 { 3 } else { 2 };
        let timeout_ms = (window_ms / 10).max(2);
        let nodes = if rng.u8(..8) == 0 { 1 } else { 2 + rng.u64(..6) };
        let holders = 3 + rng.usize(..4);
        let chance = |rng: &mut Rng| rng.u8(..5) < 2;
        let mut faults = Faults {
            skew: chance(rng),
            wall_steps: chance(rng),
            frozen_walls: chance(rng),
            drift: chance(rng),
            suspend: chance(rng),
            pause: chance(rng),
            crash: chance(rng),
            clone: chance(rng),
            close: chance(rng),
            loss: chance(rng),
            slow: chance(rng),
            doubled: chance(rng),
            store_restart: chance(rng),
            store_away: chance(rng),
            fence: rng.u8(..8) == 0,
            ..Faults::default()
        };
        match rng.u8(..5) {
            0 => faults.store_clock = true,
            1 => faults.restore = true,
            2 => faults.failover = true,
            _ => {}
        }
        if jumps {
            faults = Faults { jumps, ..Faults::default() };
        }
        let clock = if rng.u8(..3) == 0 { 1 + rng.u32(..2) } else { 0 };
        let node_bits = if nodes == 1 && rng.bool() { 0 } else { 3 };
        let kind = rng.u8(..4);
        let time_bits = match tick_ms {
            1 => 40,
            10 => 36,
            _ => 29,
        };
        let fields = fields(time_bits, clock, node_bits, 1 + rng.u32(..5), kind);
        // The table of kinds is one for the process, so the layout is one for the seed.
        let steps_ms = window_ms * (8 + rng.u64(..24));
        let ends = rng.u8(..40) == 0 && !jumps;
        let epoch_ms = if ends {
            BEGIN_MS + steps_ms / 2 - (tick_ms << time_bits) - seed % 1000
        } else {
            BEGIN_MS - 86_400_000 - seed % 80_000_000
        };
        let layout = Layout::new(LayoutSpec { epoch_ms, tick_ms, unsigned: false, fields }).expect("the layout is valid");
        let static_node = (node_bits > 0 && nodes > 1 && rng.u8(..5) == 0 && !copied).then(|| rng.u64(..nodes));
        let terms = LeaseTerms::new(window_ms, renew_after_ms, timeout_ms, tick_ms).expect("the terms are valid");
        let options = LeasedOptions {
            max_lead_ms: [None, Some(0), Some(tick_ms.min(1000))][rng.usize(..3)],
            sequence_start: SequenceStart::ALL[rng.usize(..3)],
            id_time: if rng.u8(..3) == 0 { IdTime::Store } else { IdTime::Wall },
            default_scope: static_node.is_some(),
            ..LeasedOptions::new(terms)
        };
        let mint_every_ms = (window_ms / if jumps { 24 } else { [6, 12, 24][rng.usize(..3)] }).max(1);
        Self {
            layout,
            time_above_node: kind < 3,
            tick_ms,
            options,
            window_ms,
            window_max_ms: window_ms + rng.u64(..=window_ms),
            renew_after_ms,
            timeout_ms,
            nodes,
            holders,
            parallel,
            late_refusals: rng.bool(),
            static_node,
            faults,
            mint_every_ms,
            steps_ms,
            ends,
            defect,
            copied,
        }
    }
}
