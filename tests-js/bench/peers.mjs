// `npm run bench -- peers`: one ID a call, of frazil and of the packages that people use in its place, interleaved in one process.
//
// - **Bursts**: 1000 IDs at the start of a millisecond, so that no limit of a layout is reached, as multiples of 1000 times
//   `Date.now()` and a read of a typed array.
// - **Isolated calls**: one call in a process that otherwise waits for the clock, as a server that mints an ID for a request.
// - **Repeats**: of 200,000 IDs in a tight loop. What repeats IDs can be fast.
import { readFileSync } from "node:fs";
import { Snowflake } from "frazil";
import { repeats } from "../generator/broken-generators.mjs";
import { PEERS } from "./peers/generators.mjs";
import { conditions, progress, quantile, writeRecord } from "./record.mjs";

const BURST = 1000;
const ROUNDS = 101;
const CHECKED = 200_000;
/** The first isolated calls, in which the engine learns, are left out. */
const [COLD, ISOLATED] = [100, 700];

const ids = new Snowflake({ node: 7, maxWaitMs: 10_000, maxLeadMs: 1000 });
const turns = new Snowflake({ node: 8, maxWaitMs: 10_000, maxLeadMs: 1000, freshness: "turn" });
const generators = {
  [`frazil (${ids.backend})`]: { bigint: ids.next, text: ids.nextString },
  [`frazil (${ids.backend}), freshness: "turn"`]: { bigint: turns.next, text: turns.nextString },
  ...PEERS,
};
const words = BigUint64Array.from({ length: 4096 }, (_, at) => 383_000_000_000_000_000n + BigInt(at));
let at = 0;
const floors = {
  bigint: () => {
    Date.now();
    return words[at++ & 4095];
  },
  text: () => {
    Date.now();
    return `${words[at++ & 4095]}`;
  },
};

/** Ends at the start of a millisecond. */
function nextMs() {
  const now = Date.now();
  while (Date.now() === now);
}
/** Calls again in the next millisecond where a generator refuses because this one is full. */
function patient(call) {
  for (;;) {
    try {
      return call();
    } catch {
      nextMs();
    }
  }
}
let sink;
/** The nanoseconds of a call in a burst. */
function burst(call) {
  nextMs();
  const began = process.hrtime.bigint();
  for (let left = BURST; left > 0; left--) sink = call();
  return Number(process.hrtime.bigint() - began) / BURST;
}
/** The last character makes a flat string of one that was joined. */
const flat = (call) => () => {
  const text = call();
  return text.charCodeAt(text.length - 1);
};

const rows = Object.entries(generators).map(([name, { bigint, text }]) => {
  const [first] = [bigint ?? text].map((call) => call());
  const isValid = bigint ? first > 0n && first < 2n ** 64n : first.length > 0;
  if (!isValid) throw new Error(`${name} gave ${first}`);
  const call = bigint ?? text;
  return {
    name,
    repeated: repeats(Array.from({ length: CHECKED }, () => patient(call))),
    bigint,
    text: text ?? (() => `${bigint()}`),
    bursts: { bigint: [], text: [] },
    isolated: [],
    shuffled: 0,
  };
});
const floor = { bigint: [], text: [] };
for (let round = 0; round < ROUNDS; round++) {
  for (const kind of ["bigint", "text"]) {
    const base = burst(kind === "text" ? flat(floors.text) : floors.bigint);
    floor[kind].push(base);
    for (const row of rows) {
      const call = row[kind];
      if (call) row.bursts[kind].push(burst(kind === "text" ? flat(call) : call) / base);
    }
    await new Promise(setImmediate);
  }
  process.stderr.write(`\rround ${round + 1} of ${ROUNDS}`);
}
process.stderr.write("\n");
for (let round = 0; round < ISOLATED; round++) {
  // Each in another order: a call that follows one of the same package finds its code in the caches.
  for (const row of rows.toSorted((one, other) => one.shuffled - other.shuffled)) {
    row.shuffled = Math.random();
    const call = row.bigint ?? row.text;
    // A turn of its own, as a request of a server has.
    await new Promise(setImmediate);
    const until = Date.now() + 2;
    while (Date.now() < until);
    const began = process.hrtime.bigint();
    sink = call();
    row.isolated.push(Number(process.hrtime.bigint() - began) / 1000);
  }
  progress("isolated call", round + 1, ISOLATED);
}
if (sink === undefined) throw new Error("nothing was minted");

const times = (values) =>
  values.length === 0
    ? "-"
    : `${quantile(values, 0.5).toFixed(2)} (${quantile(values, 0.25).toFixed(2)} to ${quantile(values, 0.75).toFixed(2)})`;
const warm = ({ isolated }) => isolated.slice(COLD);
const lines = rows.map((row) => {
  const repeated = row.repeated === 0 ? "none" : `**${((100 * row.repeated) / CHECKED).toFixed(1)} %**`;
  const isolated = `${quantile(warm(row), 0.5).toFixed(1)} (${quantile(warm(row), 0.25).toFixed(1)} to ${quantile(warm(row), 0.75).toFixed(1)})`;
  return `| ${row.name} | ${times(row.bursts.bigint)} | ${times(row.bursts.text)} | ${isolated} | ${repeated} |`;
});
const peerFile = (name) => JSON.parse(readFileSync(new URL(`peers/${name}package.json`, import.meta.url), "utf8"));
const peers = Object.keys(peerFile("").dependencies).map(
  (name) => `${name} ${peerFile(`node_modules/${name}/`).version}`,
);
writeRecord(
  `peers-${ids.backend}`,
  `One ID a call: ${ids.backend}`,
  `\`npm run bench -- peers\`: ${conditions()}; ${ROUNDS} interleaved rounds.
Peers: ${peers.join(", ")}.

Bursts of ${BURST}, times \`Date.now()\` and a read of a \`BigUint64Array\` (${quantile(floor.bigint, 0.5).toFixed(1)} ns; as text ${quantile(floor.text, 0.5).toFixed(1)} ns), middle half in brackets. Isolated calls in µs.

| | bigint | text | isolated, µs | repeats in a tight loop |
|---|---|---|---|---|
${lines.join("\n")}`,
);
