// Thousands of generators and waits under leases leak no memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inNewProcess } from "../core/package-copy.mjs";

const store = new URL("faulty-store.mjs", import.meta.url).href;
const inProcess = (body, options) =>
  inNewProcess(
    `import { lease } from "frazil/lease";
    import { FaultyStore } from ${JSON.stringify(store)};
    const print = (value) => process.stdout.write(JSON.stringify(value));
    ${body}`,
    options,
  );

test('with renew: "calls" a generator that was garbage-collected leaves nothing in the core', async () => {
  const said = await inProcess(
    `
    let made = 0;
    let collected = 0;
    const registry = new FinalizationRegistry(() => collected++);
    const makeOne = async () => {
      const store = FaultyStore.with({ scope: "gc" });
      const ids = await lease(store, { scope: "gc", renew: "calls" });
      ids.next();
      registry.register(ids);
      made++;
    };
    const make = async (count) => {
      while (count-- > 0) await makeOne();
      for (let turn = 0; turn < 5 || (turn < 100 && collected < made); turn++) {
        gc();
        await new Promise(setImmediate);
      }
    };
    await make(1000);
    const before = process.memoryUsage().external;
    for (let round = 0; round < 10; round++) await make(1000);
    print({ grown: process.memoryUsage().external - before });
  `,
    { flags: ["--expose-gc"], env: { FRAZIL_BACKEND: "wasm" } },
  );
  assert.ok(said.grown < 2e6, `${said.grown} bytes for 10,000 generators`);
});

test("calls that wait leave nothing behind until the lease changes", async () => {
  const said = await inProcess(
    `
    // In a window of days no attempt ends for as long.
    const long = await lease(FaultyStore.with({ windowMaxMs: 2 ** 31 - 1 }), { windowMs: 2 ** 31 - 1, maxLeadMs: 0 });
    const stall = async (count) => {
      while (long.stats().stalls < count) await Promise.all(Array.from({ length: 40 }, () => long.nextManyAsync(9000)));
      gc();
      return process.memoryUsage().heapUsed;
    };
    const before = await stall(1000);
    const after = await stall(9000);
    print({ grown: after - before });
    await long.close();
  `,
    { flags: ["--expose-gc"] },
  );
  assert.ok(said.grown < 1e6, `${said.grown} bytes for 8000 waits`);
});
