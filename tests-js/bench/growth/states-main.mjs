// What generators cost in time and memory where there are many in one process: prints JSON. Needs --expose-gc. `argv[2]`: the most
// states that are made.
import { Layout, Snowflake } from "frazil";

const most = Number(process.argv[2]);
const LOOKUPS = 20_000;
const layout = new Layout({
  epochMs: 1704067200000,
  fields: [
    { kind: "time", bits: 40 },
    { kind: "node", bits: 20 },
    { kind: "sequence", bits: 3 },
  ],
});
const microsecondsOf = (count, call) => {
  const began = performance.now();
  for (let at = 0; at < count; at++) call(at);
  return ((performance.now() - began) * 1000) / count;
};
/** The bytes of JavaScript's heap, and those of everything else. */
const bytes = () => {
  gc();
  gc();
  const { heapUsed, heapTotal, rss } = process.memoryUsage();
  return { heap: heapUsed, native: rss - heapTotal };
};

// The engine learns the constructor first.
microsecondsOf(LOOKUPS, () => new Snowflake({ layout, node: 0 }).next());
const before = bytes();
const rows = [];
for (let states = 1; states <= most; states *= 10) {
  const from = rows.at(-1)?.states ?? 0;
  const newUs = microsecondsOf(states - from, (at) => new Snowflake({ layout, node: from + at }));
  let chosen = 1;
  const openUs = microsecondsOf(LOOKUPS, () => {
    // Anywhere among them: a multiplicative congruence.
    chosen = (chosen * 48_271) % 2_147_483_647;
    return new Snowflake({ layout, node: chosen % states });
  });
  rows.push({ states, newUs, openUs, native: bytes().native - before.native });
}
const kept = [];
const empty = bytes();
for (let at = 0; at < LOOKUPS; at++) kept.push(new Snowflake({ layout, node: 0 }));
const opened = bytes();
for (const ids of kept) ids.next();
const minted = bytes();
const [{ backend }] = kept;
process.stdout.write(
  JSON.stringify({
    backend,
    rows,
    heap: (opened.heap - empty.heap) / kept.length,
    heapMinted: (minted.heap - empty.heap) / kept.length,
    outside: (minted.native - empty.native) / kept.length,
  }),
);
