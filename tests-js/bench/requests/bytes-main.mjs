// The bytes that a call allocates, in JavaScript's heap and outside of it: prints JSON. Needs --expose-gc and a young generation
// that holds all that is measured (`--min-semi-space-size`), so that nothing is collected in between.
import { PerformanceObserver } from "node:perf_hooks";
import { Layout, Snowflake } from "frazil";
import { wideLayout } from "../../generator/wide-layout.mjs";

const CALLS = 50_000;
const ids = new Snowflake({ layout: wideLayout, node: 1 });
const array = new BigUint64Array(1000);
const one = new BigUint64Array(1);
const discord = Layout.named("discord");
let sink;
/** Each call, and how many IDs it mints or reads. */
const subjects = {
  "an empty function": [() => undefined, 1],
  "`Date.now()`": [() => Date.now(), 1],
  "`next()`": [() => ids.next(), 1],
  "`nextString()`": [() => ids.nextString(), 1],
  "`fill` of 1,000, an ID": [() => ids.fill(array), 1000],
  "`fill` of 1": [() => ids.fill(one), 1],
  "`nextMany(1000)`, an ID": [() => ids.nextMany(1000), 1000],
  "`layout.decode(id)`": [() => discord.decode(175928847299117063n), 1],
  "`layout.timestampOf(id)`": [() => discord.timestampOf(175928847299117063n), 1],
  "`new Snowflake({ node })`": [() => new Snowflake({ node: 1 }), 1],
};

let collections = 0;
new PerformanceObserver((list) => {
  collections += list.getEntries().length;
}).observe({ entryTypes: ["gc"] });

const rows = [];
for (const [name, [call, per]] of Object.entries(subjects)) {
  const times = per > 1 ? CALLS / per : CALLS;
  const run = () => {
    for (let left = times; left > 0; left--) sink = call();
  };
  // The engine compiles the call first.
  for (let round = 0; round < 5; round++) run();
  gc();
  await new Promise((resolve) => setTimeout(resolve, 20));
  collections = 0;
  const before = process.memoryUsage();
  run();
  const after = process.memoryUsage();
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (collections > 0) throw new Error(`${name}: something was collected during the measurement`);
  const native = after.rss - after.heapTotal - (before.rss - before.heapTotal);
  rows.push({ name, heap: (after.heapUsed - before.heapUsed) / times / per, native: native / times / per });
}
if (sink === undefined) throw new Error("nothing was made");
process.stdout.write(JSON.stringify(rows));
