// Threads that are terminated in the middle of a call, and a frame that another thread writes to while the addon uses it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { slot } from "../../vectors/generated-tables.mjs";
import { entry, inNewProcess, needsAddon } from "./node-process.mjs";

/**
 * A program in which four threads at a time mint in a loop and are terminated, while the main thread mints. Counts IDs and
 * repeats.
 */
const terminated = (own) => `
  import { createRequire } from "node:module";
  import { Worker } from "node:worker_threads";
  const { Snowflake } = createRequire(import.meta.url)(${JSON.stringify(entry)});
  const layout = {
    epochMs: 1704067200000,
    fields: [{ kind: "time", bits: 39 }, { kind: "node", bits: 4 }, { kind: "sequence", bits: 20 }],
  };
  const options = { node: 3, layout, maxWaitMs: 1000 };
  const issued = new BigUint64Array(new SharedArrayBuffer(8 * 2_000_000));
  const count = new Int32Array(new SharedArrayBuffer(4));
  const script = \`
    const { issued, count, options } = require("node:worker_threads").workerData;
    const { Snowflake } = require(${JSON.stringify(entry)});
    for (;;) {
      const ids = new Snowflake({ ...options, \${${JSON.stringify(own)}} });
      const other = new Snowflake({ ...options, now: Date.now });
      for (let round = 0; round < 50; round++) {
        other.next();
        const id = round % 3 ? ids.next() : ids.nextMany(7)[6];
        const at = Atomics.add(count, 0, 1);
        if (at >= issued.length) process.exit();
        issued[at] = id;
      }
    }
  \`;
  const ids = new Snowflake(options);
  let threads = 0;
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  for (let round = 0; round < 20; round++, threads += 4) {
    const workerData = { issued, count, options };
    const workers = Array.from({ length: 4 }, () => new Worker(script, { eval: true, execArgv: [], workerData }));
    // Waits until all of them mint, however long a busy machine takes to start them.
    const enough = count[0] + 1000;
    while (count[0] < enough) await sleep(2);
    await sleep(Math.random() * 20);
    for (let at = 0; at < 100; at++) issued[Atomics.add(count, 0, 1)] = ids.next();
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  // A thread can be terminated between counting an ID and storing it.
  const written = issued.filter((id) => id !== 0n).sort();
  const repeats = written.reduce((sum, id, at) => sum + Number(at > 0 && id === written[at - 1]), 0);
  process.stdout.write(JSON.stringify({ threads, written: written.length, repeats }));
`;

test("threads that are terminated in mid-call cause no repeat", needsAddon, async () => {
  const env = { FRAZIL_BACKEND: "native" };
  const { threads, written, repeats } = await inNewProcess(terminated(""), { env });
  assert.ok(threads === 80 && written > 10_000, `${threads} threads, ${written} IDs`);
  assert.equal(repeats, 0);
  const broken = await inNewProcess(terminated("now: Date.now"), { env });
  assert.ok(broken.repeats > 0, "the checker must catch threads with states of their own");
});

test(
  "a frame that another thread writes to during calls causes wrong numbers at worst, and no crash",
  needsAddon,
  async () => {
    const script = `
    import { createRequire } from "node:module";
    import { Worker } from "node:worker_threads";
    const addon = createRequire(import.meta.url)("frazil-linux-x64-gnu");
    const owner = {};
    const { frame, memory } = addon.frame(owner, true);
    const worker = new Worker(\`
      const { buffer } = require("node:worker_threads").workerData;
      const [numbers, bytes] = [new Float64Array(buffer, 0, ${slot.NUMBERS}), new Uint8Array(buffer)];
      const values = [0, 1, 2, 35, 36, 1e9, NaN, -1, 1e300, 0.5, 64, 41, 12, 4096, 32768, 33000];
      for (;;) {
        numbers[Math.floor(Math.random() * ${slot.NUMBERS})] = values[Math.floor(Math.random() * values.length)];
        bytes[Math.floor(Math.random() * bytes.length)] = Math.random() * 256;
      }
    \`, { eval: true, execArgv: [], workerData: { buffer: memory.buffer } });
    await new Promise((resolve) => worker.once("online", resolve));
    const slot = ${JSON.stringify(slot)};
    const numbers = new Float64Array(memory.buffer, 0, ${slot.NUMBERS});
    const statuses = new Set();
    for (const end = Date.now() + 3000; Date.now() < end; ) {
      // A private generator with time 41, node 10, sequence 12.
      const options = { EPOCH_MS: 1704067200000, TICK_MS: 1, UNSIGNED: 0, HAS_NODE: 1, NODE: 7, START_MS: NaN, PRIVATE: 1 };
      for (const name in options) numbers[slot[name]] = options[name];
      numbers[slot.FIELD_COUNT] = 3;
      numbers.set([0, 41, 1, 10, 3, 12], slot.FIELDS);
      numbers[slot.SEQUENCE_START] = 0;
      statuses.add(addon.open(frame));
      const handle = numbers[slot.HANDLE];
      for (const answer of [
        addon.reserve(frame, handle, 1.8e12, 4096, true), addon.health(frame, handle, 1.8e12), addon.file(frame, handle),
        addon.admit(frame, numbers[slot.HANDLE], 5, 10),
      ]) statuses.add(Number(answer < 256n && answer));
      addon.release(frame, handle);
    }
    await worker.terminate();
    process.stdout.write(JSON.stringify([...statuses]));
  `;
    const statuses = await inNewProcess(script);
    // Some calls must fail, or the other thread did not write.
    assert.ok(statuses.includes(0) && statuses.some((status) => status > 0), `statuses ${statuses}`);
  },
);
