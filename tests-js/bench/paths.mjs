// `npm run bench -- paths`: each call of JavaScript beside its floor, which is the least that any code with the same result does. A row's
// floor and call are measured one after the other in each round, and their ratio is that of the round. `FRAZIL_BACKEND` chooses the
// backend.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Layout, Snowflake } from "frazil";
import { measure } from "mitata";
import { wideLayout } from "../generator/wide-layout.mjs";
import { conditions, median, progress, quantile, short, table, writeRecord } from "./record.mjs";

/** The engine compiles the rows that make objects anew for three rounds, and longer on a busy machine: these are not counted. */
const [PROCESSES, WARM_UP, ROUNDS] = [5, 4, 5];
/** The least processor time of each measurement. */
const MIN_CPU_TIME_NS = 30e6;

const ids = new Snowflake({ node: 1, layout: wideLayout });
const turn = new Snowflake({ node: 0, layout: wideLayout, freshness: "turn" });
const twitter = Layout.named("twitter");
const discord = Layout.named("discord");

const page = new BigUint64Array(4096);
const thousand = new BigUint64Array(1000);
/** IDs of both layouts, at times that lie apart: a decoder that has seen one layout only is another program to the engine. */
const dated = Array.from({ length: 4096 }, (_, at) => {
  const timestampMs = 1_704_067_200_000 + 7919 * at;
  return at % 2
    ? twitter.compose({ timestampMs, node: (37 * at) & 1023, sequence: (61 * at) & 4095 })
    : discord.compose({ timestampMs, node: (37 * at) & 1023, sequence: (61 * at) & 4095 });
});
const layouts = [discord, twitter];
const tweets = BigUint64Array.from(dated.filter((_, at) => at % 2));
const columns = twitter.decodeMany(tweets);
/** More than one, since the engine puts the place and the length of arrays into the code if they are always the same. */
const batches = Array.from({ length: 4 }, () => [tweets.slice(), twitter.decodeMany(tweets)]);
let batchAt = 0;
const nextBatch = () => batches[batchAt++ & 3];

/** What is stored here is not removed as unused. A number in an array is no object, and a `bigint` is one in each of these programs. */
const numbers = new Float64Array(4);
const kept = [0n];
const keptDate = [new Date()];
const keptParts = [{}];
const keptDecoded = [{}];
let at = 0;
const nextAt = () => {
  at = (at + 1) & 4095;
  return at;
};

// What is timed is right, and unique.
for (const generator of [ids, turn]) {
  const minted = [...generator.nextMany(10_000), ...generator.fill(page), generator.next()];
  minted.push(BigInt(generator.nextString()), ...generator.nextManyStrings(1000).map(BigInt));
  assert.equal(new Set(minted).size, minted.length);
  assert.ok(minted.every((id, at) => at === 0 || id > minted[at - 1]));
}
ids.fill(thousand);
for (const [at, id] of dated.entries()) {
  const layout = layouts[at % 2];
  const decoded = layout.decode(id);
  assert.equal(layout.compose(decoded), id);
  assert.equal(decoded.timestampMs, layout.timestampOf(id));
  if (at % 2) assert.equal(columns.timestampMs[at >> 1], decoded.timestampMs);
}

const now = [() => Date.now(), 1];
const read = [
  () => {
    kept[0] = page[nextAt()];
  },
  1,
];
const nowAndRead = [
  () => {
    numbers[0] = Date.now();
    kept[0] = page[nextAt()];
  },
  1,
];
/** A list of IDs that exist. */
function listByHand() {
  const list = new Array(1000);
  for (let at = 0; at < 1000; at++) list[at] = thousand[at];
  return list;
}
/** What any call of the core costs: with a handle that nothing has. */
const { calls, frame: frameNumber } = Snowflake.port().binding;
const refusedCall = () => calls.reserve(frameNumber, -1, 0, 1000, true);
/** Reads a character, for which the engine makes the text one piece of memory. */
const flat = (text) => text.charCodeAt(text.length - 1);

/**
 * The least code that serves IDs from a block, which `fill` fills in each millisecond and when it is used up. It has one constant array,
 * no private field, and no other span of time than the millisecond.
 */
const block = new BigUint64Array(4096);
let [cursor, blockMs] = [0, 0];
function nextOfBlock() {
  const now = Date.now();
  if (now === blockMs && cursor < 4096) return block[cursor++];
  ids.fill(block);
  [cursor, blockMs] = [1, now];
  return block[0];
}

/** The same for the running turn of the event loop, which a microtask ends. */
const turnBlock = new BigUint64Array(4096);
let [turnCursor, isOfThisTurn] = [4096, false];
const endTurn = () => {
  isOfThisTurn = false;
};
function nextOfTurn() {
  if (isOfThisTurn && turnCursor < 4096) return turnBlock[turnCursor++];
  ids.fill(turnBlock);
  if (!isOfThisTurn) queueMicrotask(endTurn);
  [turnCursor, isOfThisTurn] = [1, true];
  return turnBlock[0];
}

/** Decodes an ID of another layout at each call, reads all fields, and keeps the result. */
function readAll(decodeAt) {
  const decoded = decodeAt(nextAt());
  const { id, timestampMs, node, clock, sequence, date, parts } = decoded;
  numbers[0] = timestampMs;
  numbers[1] = node;
  numbers[2] = sequence;
  keptDate[0] = date;
  keptParts[0] = parts;
  keptDecoded[0] = decoded;
  kept[0] = clock ?? id;
}

/** Decoders by hand, with the constants of one layout in their code. */
const word = new BigUint64Array(1);
const [LOW, HIGH] = [0, 1];
const wordHalves = new Uint32Array(word.buffer);
const [DISCORD_MS, TWITTER_MS] = [1_420_070_400_000, 1_288_834_974_657];
const timesByHand = [DISCORD_MS, TWITTER_MS].map((epochMs) => (id) => {
  word[0] = id;
  return wordHalves[HIGH] * 1024 + (wordHalves[LOW] >>> 22) + epochMs;
});
const decodersByHand = [
  (id) => {
    word[0] = id;
    const [low, high] = [wordHalves[LOW], wordHalves[HIGH]];
    const timestampMs = high * 1024 + (low >>> 22) + DISCORD_MS;
    const node = (low >>> 12) & 1023;
    const parts = { worker: node >>> 5, process: node & 31 };
    return { id, timestampMs, date: new Date(timestampMs), node, clock: undefined, sequence: low & 4095, parts };
  },
  (id) => {
    word[0] = id;
    const [low, high] = [wordHalves[LOW], wordHalves[HIGH]];
    const timestampMs = high * 1024 + (low >>> 22) + TWITTER_MS;
    const node = (low >>> 12) & 1023;
    const parts = { datacenter: node >>> 5, worker: node & 31 };
    return { id, timestampMs, date: new Date(timestampMs), node, clock: undefined, sequence: low & 4095, parts };
  },
];
for (const [at, id] of dated.entries()) {
  const { date, parts, ...fields } = layouts[at % 2].decode(id);
  assert.deepEqual(decodersByHand[at % 2](id), { date, parts, ...fields });
  assert.equal(timesByHand[at % 2](id), fields.timestampMs);
}

/** Looks whether all are tweets, and writes their fields, with the constants in the code. Their number is divisible by four. */
function columnsByHand(ids, { timestampMs, node, sequence }) {
  const halves = new Uint32Array(ids.buffer);
  let highs = 0;
  for (let at = HIGH; at < halves.length; at += 8)
    highs |= halves[at] | halves[at + 2] | halves[at + 4] | halves[at + 6];
  if (highs < 0) throw new RangeError("not a tweet");
  for (let at = 0, half = 0; at < timestampMs.length; at++, half += 2) {
    const low = halves[half];
    timestampMs[at] = halves[half + 1] * 1024 + ((low >>> 22) + TWITTER_MS);
    node[at] = (low >>> 12) & 1023;
    sequence[at] = low & 4095;
  }
}
const columnsOf = (length) => ({
  timestampMs: new Float64Array(length),
  node: new Uint32Array(length),
  clock: undefined,
  sequence: new Float64Array(length),
});
{
  const byHand = columnsOf(tweets.length);
  columnsByHand(tweets, byHand);
  assert.deepEqual(byHand, columns);
}

/** Rows: name; call, with how many IDs it has; name of the floor; floor; goals with the addon and with WebAssembly. */
const ROWS = [
  [
    "next()",
    [
      () => {
        kept[0] = ids.next();
      },
      1,
    ],
    "Date.now() and a read",
    nowAndRead,
    1.03,
    1.08,
  ],
  [
    'next(), freshness: "turn"',
    [
      () => {
        kept[0] = turn.next();
      },
      1,
    ],
    "a read",
    read,
    1.5,
    1.5,
  ],
  [
    "nextString()",
    [() => flat(ids.nextString()), 1],
    "Date.now(), a read and toString()",
    [
      () => {
        numbers[0] = Date.now();
        return flat(page[nextAt()].toString());
      },
      1,
    ],
    1.05,
    1.05,
  ],
  [
    "the least code with a block",
    [
      () => {
        kept[0] = nextOfBlock();
      },
      1,
    ],
    "Date.now() and a read",
    nowAndRead,
  ],
  [
    "the least code with a block of a turn",
    [
      () => {
        kept[0] = nextOfTurn();
      },
      1,
    ],
    "a read",
    read,
  ],
  [
    "the text of the least code with a block",
    [() => flat(`${nextOfBlock()}`), 1],
    "Date.now(), a read and toString()",
    [
      () => {
        numbers[0] = Date.now();
        return flat(page[nextAt()].toString());
      },
      1,
    ],
  ],
  ["fill(4096)", [() => ids.fill(page), 4096], "Date.now()", now, 0.0075, 0.017],
  ["fill(1000)", [() => ids.fill(thousand), 1000], "Date.now()", now, 0.012, 0.02],
  [
    "stores into 4096 elements",
    [
      () => {
        for (let at = 0; at < 4096; at++) page[at] = 5n;
      },
      4096,
    ],
    "Date.now()",
    now,
  ],
  ...(Snowflake.port().binding.arrays
    ? [["a call of the addon that is refused, for 1000 IDs", [refusedCall, 1000], "Date.now()", now]]
    : []),
  ["nextMany(1000)", [() => ids.nextMany(1000), 1000], "Date.now()", now, 0.2, 0.2],
  ["a list of 1000 IDs", [listByHand, 1000], "Date.now()", now],
  [
    "fill(1000) and a list of them by hand",
    [
      () => {
        ids.fill(thousand);
        return listByHand();
      },
      1000,
    ],
    "Date.now()",
    now,
  ],
  ["nextManyStrings(1000)", [() => ids.nextManyStrings(1000), 1000], "Date.now()", now, 1.15, 1.15],
  [
    "a list of 1000 texts",
    [
      () => {
        const list = new Array(1000);
        for (let at = 0; at < 1000; at++) list[at] = `${thousand[at]}`;
        return list;
      },
      1000,
    ],
    "Date.now()",
    now,
  ],
  [
    "timestampOf(id)",
    [
      () => {
        const at = nextAt();
        numbers[0] = layouts[at & 1].timestampOf(dated[at]);
      },
      1,
    ],
    "Date.now()",
    now,
    0.4,
    0.4,
  ],
  [
    "the time by hand, of both layouts",
    [
      () => {
        const at = nextAt();
        numbers[0] = timesByHand[at & 1](dated[at]);
      },
      1,
    ],
    "Date.now()",
    now,
  ],
  [
    "decode(id), all but date and parts",
    [
      () => {
        const at = nextAt();
        const { id, timestampMs, node, clock, sequence } = layouts[at & 1].decode(dated[at]);
        numbers[0] = timestampMs;
        numbers[1] = node;
        numbers[2] = sequence;
        kept[0] = clock ?? id;
      },
      1,
    ],
    "Date.now()",
    now,
    1.5,
    1.5,
  ],
  ["decode(id), all", [() => readAll((at) => layouts[at & 1].decode(dated[at])), 1], "Date.now()", now, 3.6, 3.6],
  [
    "decoders of both layouts by hand, all",
    [() => readAll((at) => decodersByHand[at & 1](dated[at])), 1],
    "Date.now()",
    now,
  ],
  ["decodeMany(2048)", [() => twitter.decodeMany(nextBatch()[0]), 2048], "Date.now()", now, 0.2, 0.2],
  ["decodeMany(2048) into arrays", [() => twitter.decodeMany(...nextBatch()), 2048], "Date.now()", now, 0.075, 0.075],
  [
    "columns of 2048 tweets by hand",
    [
      () => {
        const made = columnsOf(2048);
        columnsByHand(nextBatch()[0], made);
        return made;
      },
      2048,
    ],
    "Date.now()",
    now,
  ],
  ["columns of 2048 tweets by hand, into arrays", [() => columnsByHand(...nextBatch()), 2048], "Date.now()", now],
].map(([name, call, beside, floor, native, wasm]) => ({
  name,
  call,
  beside,
  floor,
  goal: { native, wasm }[ids.backend],
}));

const timeOf = async ([call, count]) => {
  const { avg } = await measure(call, { min_cpu_time: MIN_CPU_TIME_NS, min_samples: 2, inner_gc: false });
  return avg / count;
};

/** A process of one row: prints its rounds as JSON. */
async function measureRow({ call, floor }) {
  const rounds = [];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const floorNs = await timeOf(floor);
    const ns = await timeOf(call);
    if (round >= 0) rounds.push({ floorNs, ns });
  }
  process.stdout.write(JSON.stringify(rounds));
}

/** Measures each row in processes of its own: what the engine compiled and collected for other rows changes a row by a third. */
async function measureAll() {
  for (const row of ROWS) row.rounds = [];
  for (let at = 0; at < PROCESSES * ROWS.length; at++) {
    const row = ROWS[at % ROWS.length];
    const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url), row.name]);
    row.rounds.push(...JSON.parse(stdout));
    progress("process", at + 1, PROCESSES * ROWS.length);
  }
  const digits = (value) => (value < 0.1 ? value.toFixed(4) : short(value));
  const lines = ROWS.map(({ name, beside, goal, rounds }) => {
    const ratios = rounds.map(({ ns, floorNs }) => ns / floorNs);
    const [low, middle, high] = [0.25, 0.5, 0.75].map((q) => digits(quantile(ratios, q)));
    return [name, beside, middle, `${low} to ${high}`, goal ?? "-", digits(median(rounds.map(({ ns }) => ns)))];
  });
  writeRecord(
    `paths-${ids.backend}`,
    `Call floors, ${ids.backend}`,
    `\`npm run bench -- paths\`: ${conditions()}; ${PROCESSES} processes of each row, ${ROUNDS} rounds in each after ${WARM_UP} that are not counted. Per ID, where a call has several.
Layout of the generators: time 40, node 1, sequence 22, so that no maximum rate is in the way. IDs of two layouts are decoded in turn.

${table(["call", "beside", "times that", "middle half", "goal", "ns"], lines)}`,
  );
}

const [row] = process.argv.slice(2);
if (row === undefined) await measureAll();
else await measureRow(ROWS.find(({ name }) => name === row));
