// A simulated fleet that mints IDs of any generator: processes with clocks, node ids and ways to begin a sequence. It shares no code with
// the package. The rows are what a table has: an ID, the host that made it, and when the row was written.

/** Where the fields are, in bits from the lowest. `timeShift` and widths are those of docs/reference/layouts.md. */
const ms41 = {
  tickMs: 1,
  timeBits: 41,
  timeShift: 22,
  nodeShift: 12,
  nodeBits: 10,
  sequenceShift: 0,
  sequenceBits: 12,
};
export const LAYOUTS = {
  default: { ...ms41, epochMs: Date.UTC(2024, 0) },
  twitter: { ...ms41, epochMs: 1_288_834_974_657 },
  leaf: { ...ms41, epochMs: 1_288_834_974_657 },
  baidu: {
    epochMs: Date.UTC(2016, 4, 19, 16),
    tickMs: 1000,
    timeBits: 28,
    timeShift: 35,
    nodeShift: 13,
    nodeBits: 22,
    sequenceShift: 0,
    sequenceBits: 13,
  },
  sonyflake: {
    epochMs: Date.UTC(2014, 8),
    tickMs: 10,
    timeBits: 39,
    timeShift: 24,
    nodeShift: 0,
    nodeBits: 16,
    sequenceShift: 16,
    sequenceBits: 8,
  },
};

/** Columns of a table. IDs are the 64 bits as a signed column has them. */
export class Rows {
  length = 0;
  constructor(capacity) {
    this.ids = new BigInt64Array(capacity);
    this.halves = new Uint32Array(this.ids.buffer);
    this.hosts = new Uint16Array(capacity);
    this.writtenMs = new Float64Array(capacity);
    this.commitMs = new Float64Array(capacity);
  }

  columns() {
    return [this.ids, this.hosts, this.writtenMs, this.commitMs];
  }

  /** Adds the ID whose time field has `tick`, and the fields below it `low`. A tick that is too large or negative reaches the sign bit. */
  add(layout, tick, low, { host, writtenMs, commitMs }) {
    const at = this.length++;
    // `tick * 2 ** timeShift + low` in two halves, since a double has 53 bits.
    const below = 2 ** Math.max(0, 32 - layout.timeShift);
    const high = Math.floor(tick / below) * 2 ** Math.max(0, layout.timeShift - 32);
    const rest = (tick - Math.floor(tick / below) * below) * 2 ** layout.timeShift + low;
    // These arrays take whole numbers modulo 2^32.
    this.halves[2 * at] = rest;
    this.halves[2 * at + 1] = high + Math.floor(rest / 2 ** 32);
    this.hosts[at] = host;
    this.writtenMs[at] = writtenMs;
    this.commitMs[at] = commitMs;
  }

  swap(a, b) {
    for (const column of this.columns()) [column[a], column[b]] = [column[b], column[a]];
  }

  /** The rows at these places. */
  taken(places) {
    const rows = new Rows(places.length);
    for (const [at, column] of this.columns().entries()) {
      const own = rows.columns()[at];
      for (let to = 0; to < places.length; to++) own[to] = column[places[to]];
    }
    rows.length = places.length;
    return rows;
  }
}

/** Ways to begin the sequence of a tick. */
export const STARTS = {
  zero: () => 0,
  /** Leaf. */
  hundred: (random) => random.below(100),
  /** `sequenceStart: "random"`: the lowest quarter of 12 bits. */
  quarter: (random) => random.below(1024),
  /** CosId: it counts on, and begins again once half of 12 bits are used. */
  counter: (_, last) => (last < 2047 ? last + 1 : 0),
};

/** How many IDs a request takes: mostly one, sometimes a list. */
const MEAN_SIZE = 0.85 + 0.15 * 13.5;
const sizeOf = (random) => (random.chance(0.85) ? 1 : 2 + Math.floor(-12 * Math.log(1 - random.next())));

/** How late a transaction may be, after others that began later. */
const LATE_MS = 300;

/** How far a generator may be ahead of a clock that went back before it follows it. */
const LEAD_MS = 10;

/**
 * Lets processes mint `count` rows from `fromMs` on, `perSecond` on average. A process: `{ node, host, start, clock, fromMs, untilMs }`,
 * where `clock(ms)` is what its clock shows at a true time, and the last two bound its life.
 *
 * - `onlySingles`: each request takes one ID; `isRegular`: they come at equal distances, as of a timer.
 * - `unique`: a second row with an ID is refused, as by a primary key.
 * - `surges`: at these times these processes mint that many at once.
 * - `minted` is told of each row: process, tick, sequence.
 *
 * Returns the rows in the order of their arrival, the time of the last, and the steps of clocks that a generator followed.
 */
export function simulate({
  layout,
  processes,
  fromMs,
  perSecond,
  count,
  random,
  onlySingles = false,
  isRegular = false,
  unique = false,
  surges = [],
  minted = () => {},
}) {
  const rows = new Rows(count);
  const steps = [];
  const states = processes.map(() => ({ tick: Number.NEGATIVE_INFINITY, sequence: 0 }));
  const maxSequence = 2 ** layout.sequenceBits - 1;
  const gapMs = (1000 * (onlySingles ? 1 : MEAN_SIZE)) / perSecond;
  /** The IDs of the node ids that several processes have. */
  const seen = new Map();
  if (unique)
    for (const [at, { node }] of processes.entries())
      if (processes.findIndex((one) => one.node === node) !== at) seen.set(node, new Set());
  let ms = fromMs;

  const mint = (index, commitMs) => {
    if (rows.length === count) return;
    const { node, host, start = STARTS.zero, clock = (time) => time } = processes[index];
    const state = states[index];
    const tick = Math.floor((clock(ms) - layout.epochMs) / layout.tickMs);
    const enter = (next) => {
      state.tick = next;
      state.sequence = start(random, state.sequence);
    };
    if (tick > state.tick) enter(tick);
    else if ((state.tick - tick) * layout.tickMs > LEAD_MS + layout.tickMs) {
      steps.push({ index, fromTick: state.tick, toTick: tick });
      enter(tick);
    } else if (state.sequence < maxSequence) state.sequence++;
    else enter(state.tick + 1);
    const others = seen.get(node);
    if (others !== undefined) {
      const key = state.tick * 2 ** layout.sequenceBits + state.sequence;
      if (others.has(key)) return;
      others.add(key);
    }
    minted(index, state.tick, state.sequence);
    const low = node * 2 ** layout.nodeShift + state.sequence * 2 ** layout.sequenceShift;
    rows.add(layout, state.tick, low, { host, writtenMs: Math.floor(ms + random.below(50)), commitMs });
  };
  /** A request of that many IDs, which are committed together. */
  const take = (index, size) => {
    const commitMs = ms + random.below(random.chance(0.3) ? LATE_MS : 3);
    for (let taken = 0; taken < size; taken++) mint(index, commitMs);
  };

  const due = [...surges];
  while (rows.length < count) {
    ms += isRegular ? gapMs : -Math.log(1 - random.next()) * gapMs;
    while (due.length > 0 && due[0].atMs <= ms) {
      const { index, size } = due.shift();
      take(index, size);
    }
    const index = random.below(processes.length);
    const { fromMs: first = 0, untilMs = Number.POSITIVE_INFINITY } = processes[index];
    if (ms < first || ms >= untilMs) continue;
    take(index, onlySingles ? 1 : sizeOf(random));
  }
  return { rows, untilMs: ms, steps };
}

/** The rows by a column, those with equal values as they were. */
function sortedBy(rows, column) {
  const places = Uint32Array.from({ length: rows.length }, (_, at) => at);
  places.sort((a, b) => (column[a] < column[b] ? -1 : column[a] > column[b] ? 1 : a - b));
  return rows.taken(places);
}

/** The orders in which a file can have the rows. */
export const ORDERS = {
  arrival: (rows) => rows,
  /** Of an export by the primary key. */
  sorted: (rows) => sortedBy(rows, rows.ids),
  /** Of a table without order. */
  shuffled: (rows, random) => {
    for (let at = rows.length - 1; at > 0; at--) rows.swap(at, random.below(at + 1));
    return rows;
  },
  /** Of transactions, of which some are late. */
  late: (rows) => sortedBy(rows, rows.commitMs),
};
