// Leases in separate processes and threads: what keeps a process alive, what its end loses, and garbage collection.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inNewProcess } from "../core/package-copy.mjs";

const store = new URL("faulty-store.mjs", import.meta.url).href;
const faked = new URL("faked.mjs", import.meta.url).href;
const START = `
  import { lease } from "frazil/lease";
  import { Snowflake } from "frazil";
  import { setTimeout as sleep } from "node:timers/promises";
  import { Worker } from "node:worker_threads";
  import { FaultyStore } from ${JSON.stringify(store)};
  const never = () => new Promise(() => {});
  const print = (value) => process.stdout.write(JSON.stringify(value));
`;
/** What holds the process by its timers. */
const HOLDING = `
  const holding = async () => {
    await new Promise(setImmediate);
    return process.getActiveResourcesInfo().filter((resource) => resource === "Timeout");
  };
  /** Whether a time is over, by a timer that does not hold the process. Timers run in the order of their times, however late. */
  const timer = (ms) => {
    const timer = { isOver: false };
    setTimeout(() => (timer.isOver = true), ms).unref();
    return timer;
  };
`;
const inProcess = (body, options) => inNewProcess(START + HOLDING + body, options);
/** In a process whose time stands still, and moves as `time` is told. */
const inFakedProcess = (body, options) =>
  inNewProcess(
    `import { time } from ${JSON.stringify(faked)};
    ${START}
    const storeWith = (options) => FaultyStore.with({ now: () => Date.now(), ...options });
    ${body}`,
    options,
  );
const folder = fileURLToPath(new URL("./", import.meta.url));

test("a process with an open lease ends by itself", async () => {
  const said = await inProcess(`
    const ids = await lease(FaultyStore.with());
    const held = await holding();
    process.on("exit", () => print({ held, id: String(ids.next()) }));
  `);
  assert.deepEqual(said.held, []);
  assert.match(said.id, /^\d+$/);
});

test("a process whose store hangs ends by itself, and not while a caller waits", async () => {
  const said = await inProcess(`
    let held = false;
    const ids = await lease(FaultyStore.with({ fault: (_, execute) => (held ? never() : execute()) }), {
      windowMs: 1000,
      maxAsyncWaitMs: 1500,
    });
    held = true;
    await sleep(1100);
    const beganMs = performance.now();
    const late = timer(4000);
    let said;
    ids.nextAsync().catch(async ({ code }) => {
      said = { code, waitedMs: performance.now() - beganMs, isLate: late.isOver, heldAfter: await holding() };
    });
    const heldMeanwhile = await holding();
    process.on("exit", () => print({ ...said, heldMeanwhile }));
  `);
  assert.equal(said.code, "LEASE_EXPIRED");
  assert.ok(said.waitedMs >= 1490 && !said.isLate, `${said.waitedMs} ms`);
  assert.ok(said.heldMeanwhile.length > 0);
  assert.deepEqual(said.heldAfter, []);
});

test("process.exit() without close(): the next holder begins after the window, so nothing repeats", async () => {
  const said = await inProcess(`
    const store = FaultyStore.with({ nodes: { from: 3, to: 3 } });
    const ids = await lease(store);
    const last = ids.nextMany(5000).at(-1);
    const { untilMs } = store.rows().get(3);
    process.on("exit", () => print({ last: ids.decode(last).timestampMs, untilMs, verbs: store.calls.map(({ verb }) => verb) }));
    process.exit();
  `);
  assert.ok(said.last < said.untilMs);
  assert.deepEqual(said.verbs, ["acquire"]);
});

test("a generator that was garbage-collected is released, also if a listener uses it", async () => {
  const said = await inFakedProcess(
    `
    const store = storeWith({ scope: "gc" });
    async function forget(listens) {
      const ids = await time.until(lease(store, { scope: "gc", windowMs: 1200 }));
      ids.next();
      if (listens) for (const event of ["acquired", "renewed", "lost", "refused"]) ids.on(event, () => ids.node);
    }
    await forget(false);
    await forget(true);
    const kept = await time.until(lease(store, { scope: "gc", windowMs: 1200 }));
    for (let turn = 0; turn < 40; turn++) {
      await time.advance(50);
      gc();
      if (store.calls.filter(({ verb }) => verb === "release").length === 2) break;
    }
    await time.advance(700);
    const calls = store.calls.length;
    await time.advance(700);
    print({
      released: store.calls.filter(({ verb }) => verb === "release").map(({ request }) => request.node),
      node: kept.node,
      renewals: store.calls.slice(calls).map(({ request }) => request.node),
    });
    await kept.close();
  `,
    { flags: ["--expose-gc"] },
  );
  assert.deepEqual([...said.released].sort(), [0, 1]);
  assert.equal(said.node, 2);
  assert.ok(said.renewals.length > 0 && said.renewals.every((node) => node === 2), JSON.stringify(said));
});

test("a call that waits keeps its generator", async () => {
  const said = await inFakedProcess(
    `
    let held = false;
    const store = storeWith({ fault: (_, execute) => (held ? never() : execute()) });
    async function wait() {
      const ids = await time.until(lease(store, { windowMs: 1000 }));
      held = true;
      await time.advance(1100);
      return ids.nextAsync();
    }
    const waiting = wait();
    for (let turn = 0; turn < 10; turn++) {
      await time.advance(60);
      gc();
    }
    held = false;
    print({ id: String(await time.until(waiting)) });
  `,
    { flags: ["--expose-gc"] },
  );
  assert.match(said.id, /^\d+$/);
});

test("no random numbers from the kernel for a while: pauses as after other failures", async () => {
  const said = await inFakedProcess(
    `
    import fs from "node:fs";
    let events = 0;
    const ids = await time.until(
      lease(storeWith(), { windowMs: 1000, renew: "calls", maxAsyncWaitMs: 1500 }),
    );
    ids.on("refused", () => events++);
    await time.advance(1100);
    const { openSync } = fs;
    fs.openSync = () => {
      throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
    };
    const { code } = await time.until(ids.ready()).catch((error) => error);
    fs.openSync = openSync;
    await time.until(ids.ready());
    print({ events, code, id: String(ids.next()) });
    await ids.close();
  `,
    { env: { FRAZIL_BACKEND: "wasm" } },
  );
  assert.equal(said.code, "STORE_UNAVAILABLE");
  assert.ok(said.events > 0 && said.events <= 8, `${said.events} events in 1.5 s`);
});

test("worker threads: each lease has a node id of its own", async () => {
  // The threads share no store, so the main thread answers for all.
  const thread = `
    import { parentPort } from "node:worker_threads";
    import { lease } from "frazil/lease";
    let serial = 0;
    const open = new Map();
    let goOn;
    const everybodyHasOne = new Promise((resolve) => (goOn = resolve));
    parentPort.on("message", ({ number, answer }) => (number === undefined ? goOn() : open.get(number)?.(answer)));
    const ask = (verb) => ({ signal, ...request }) =>
      new Promise((resolve) => {
        open.set(++serial, resolve);
        parentPort.postMessage({ number: serial, verb, request });
      });
    const verbs = ["acquire", "renew", "release", "ensure"];
    const store = { name: "main thread", ...Object.fromEntries(verbs.map((verb) => [verb, ask(verb)])) };
    const ids = await lease(store, { windowMs: 60_000 });
    const all = Array.from(ids.nextMany(2000), String);
    parentPort.postMessage({ node: ids.node, backend: ids.backend, all });
    // A node id that is released may be granted again.
    await everybodyHasOne;
    await ids.close();
    parentPort.close();
  `;
  const said = await inProcess(
    `
    const store = FaultyStore.with();
    // A static generator of the first thread. On the native addon the other threads know of it.
    const isNative = new Snowflake({ node: 0, unshared: true }).backend === "native";
    const nodes = [];
    const all = [];
    const workers = Array.from({ length: 4 }, () => {
      const url = new URL("data:text/javascript," + encodeURIComponent(${JSON.stringify(thread)}));
      return new Worker(${JSON.stringify(thread)}, { eval: true, execArgv: ["--input-type=module"] });
    });
    await Promise.all(
      workers.map(
        (worker) =>
          new Promise((resolve, reject) => {
            worker.on("error", reject);
            worker.on("exit", resolve);
            worker.on("message", async ({ number, verb, request, node, all: minted }) => {
              if (minted) {
                nodes.push(node);
                all.push(...minted);
                if (nodes.length === workers.length) for (const each of workers) each.postMessage({});
              } else worker.postMessage({ number, answer: await store[verb](request) });
            });
          }),
      ),
    );
    print({ isNative, nodes, repeats: all.length - new Set(all).size, held: [...store.rows().values()].filter(({ grant }) => grant).length });
  `,
    { cwd: folder },
  );
  assert.equal(new Set(said.nodes).size, 4, JSON.stringify(said));
  assert.equal(said.repeats, 0);
  assert.equal(said.held, 0);
  if (said.isNative) assert.ok(!said.nodes.includes(0), "a static generator of another thread has node id 0");
});

test("lease() that is rejected leaves a process that ends", async () => {
  const said = await inProcess(`
    const late = timer(1500);
    const error = await lease(FaultyStore.with({ fault: never }), { maxAsyncWaitMs: 200, windowMs: 1000 }).catch((error) => error);
    const { isOver: isLate } = late;
    process.on("exit", () => print({ code: error.code, isLate }));
  `);
  assert.deepEqual(said, { code: "STORE_UNAVAILABLE", isLate: false });
});

test("lease() that is rejected holds its process until its attempt has ended", async () => {
  const said = await inFakedProcess(`
    const options = { maxAsyncWaitMs: 200, windowMs: 1000 };
    const { code } = await time.until(lease(storeWith({ fault: never }), options).catch((error) => error));
    const rejectedMs = time.ms;
    while (time.pending.holding > 0) await time.advance(1);
    print({ code, rejectedMs, restMs: time.ms - rejectedMs });
  `);
  const { code, rejectedMs, restMs } = said;
  assert.deepEqual([code, rejectedMs], ["STORE_UNAVAILABLE", 200]);
  assert.ok(restMs <= 1000, `${restMs} ms`);
});

test("the lease works under fake timers that begin after it was opened, and under node:test's", async () => {
  const said = await inProcess(`
    import { mock } from "node:test";
    const store = FaultyStore.with({ now: () => Date.now() });
    const ids = await lease(store);
    mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: Date.now() });
    const first = ids.next();
    mock.timers.tick(5);
    const second = ids.next();
    const closing = ids.close();
    await closing;
    // The window may begin after the time that stands still, so that lease() waits until it is moved on.
    let again;
    lease(store).then((opened) => (again = opened));
    for (let turn = 0; turn < 1000 && !again; turn++) {
      await new Promise(setImmediate);
      mock.timers.tick(1);
    }
    const third = again.next();
    await again.close();
    mock.timers.reset();
    print({ ordered: first < second, third: typeof third, verbs: store.calls.map(({ verb }) => verb) });
  `);
  assert.deepEqual(said, { ordered: true, third: "bigint", verbs: ["acquire", "release", "acquire", "release"] });
});
