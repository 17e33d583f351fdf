// `lease()`: when it resolves, and why it rejects. A rejection leaves nothing behind: no timer, no lease, no request.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { beforeEach, test } from "node:test";
import { inspect } from "node:util";
import { ConfigError, FrazilError, Layout, LeaseError } from "frazil";
import { layoutText, lease } from "frazil/lease";
import { wholeText } from "../base/rule-texts.mjs";
import { time } from "./faked.mjs";
import { FaultyStore } from "./faulty-store.mjs";

/** The store's clock: that of this machine, unless a test sets it apart. */
let storeAheadMs = 0;
const now = () => Math.floor(time.wallStartMs + time.ms + storeAheadMs);
const never = () => new Promise(() => {});
/** The layout of a scope as the store keeps it. */
const textOf = (layout = "default") => layoutText(Layout.from(layout));
const withScope = (options) => FaultyStore.with({ now, ...options });

beforeEach(() => {
  storeAheadMs = 0;
});

/** Waits for the rejection, and asserts that nothing is left. Returns the error and how long it took. */
async function rejection(promise, store) {
  const beganMs = time.ms;
  const error = await time.until(promise).then(
    () => assert.fail("lease() resolved"),
    (error) => error,
  );
  const tookMs = time.ms - beganMs;
  // What is under way then may take a time-out, a tenth of the window.
  await time.advance(10_000);
  assert.deepEqual(time.pending, { timers: 0, holding: 0 }, "timers are left");
  if (store) {
    const { length } = store.calls;
    await time.advance(100_000);
    assert.equal(store.calls.length, length, "the store is still asked");
    for (const { rows } of store.save().values())
      for (const { grant } of rows.values()) assert.equal(grant, null, "a node id is still held");
  }
  return { error, tookMs };
}

test("lease() resolves when an ID can be minted", async () => {
  const store = withScope();
  const ids = await time.until(lease(store));
  assert.equal(ids.node, 0);
  assert.equal(ids.decode(ids.next()).node, 0);
  assert.deepEqual(
    store.calls.map(({ verb }) => verb),
    ["acquire"],
  );
  const { request } = store.calls[0];
  assert.match(request.grant, /^[0-9a-f]{32}$/);
  assert.match(request.nonce, /^[0-9a-f]{32}$/);
  assert.deepEqual(
    [request.scope, request.windowMs, request.layout, "node" in request],
    ["default", 30_000, textOf(), false],
  );
  assert.match(request.owner, new RegExp(`:${process.pid}$`));
  assert.ok(request.signal instanceof AbortSignal);
  await time.until(ids.close());
  assert.deepEqual(time.pending, { timers: 0, holding: 0 });
  assert.equal(store.rows().get(0).grant, null);
});

test("it waits until the window begins by the clock of this machine", async () => {
  const store = withScope();
  // The last holder's window ended 800 ms ahead of this machine's clock.
  store.rows().set(0, { node: 0, fromMs: 0, untilMs: now() + 800, nonce: "0".repeat(32), owner: "old" });
  storeAheadMs = 2000;
  const beganMs = time.ms;
  const ids = await time.until(lease(store, { node: 0 }));
  assert.equal(time.ms - beganMs, 800);
  const { node, timestampMs } = ids.decode(ids.next());
  assert.equal(node, 0);
  assert.ok(timestampMs >= store.rows().get(0).fromMs);
  await time.until(ids.close());
});

test("a window that begins later than maxAsyncWaitMs is refused at once, and the node id is released", async () => {
  const store = withScope();
  store.rows().set(0, { node: 0, fromMs: 0, untilMs: now() + 6000, nonce: "0".repeat(32), owner: "old" });
  storeAheadMs = 8000;
  const { error, tookMs } = await rejection(lease(store, { node: 0 }), store);
  assert.deepEqual([error.code, error.retryAfterMs], ["CLOCK_BACKWARD", 6000]);
  assert.ok(tookMs < 10, `${tookMs} ms`);
});

test("without await, every minting call of the promise says what to write, and the lease goes on", async () => {
  const store = withScope();
  const promise = lease(store);
  const ids = await time.until(promise);
  const calls = Object.keys(ids).filter((name) => /^(next|tryNext|fill)/.test(name));
  assert.equal(calls.length, 12, `${calls}`);
  for (const call of calls)
    assert.throws(() => promise[call](1), {
      name: "ConfigError",
      code: "INVALID_ARGUMENT",
      message: `INVALID_ARGUMENT: ${call}() was called on a promise`,
      hint: "Write await lease(store).",
    });
  assert.deepEqual(Object.keys(promise), []);
  await time.until(ids.close());
});

test("the node id to prefer can be text, as in an environment variable", async () => {
  const store = withScope();
  const ids = await time.until(lease(store, { node: "5" }));
  assert.equal(ids.node, 5);
  assert.equal(store.calls[0].request.node, 5);
  await time.until(ids.close());
});

test("a scope without a record is STORE_NOT_INITIALISED, with the call to make", async () => {
  const store = withScope({ scope: "shop" });
  const { error, tookMs } = await rejection(lease(store), store);
  assert.ok(error instanceof LeaseError && FrazilError.is(error));
  assert.deepEqual([error.code, error.retryable], ["STORE_NOT_INITIALISED", false]);
  assert.match(error.hint, /await store\.init\(\{ scope: "default", layout: "default" \}\)/);
  assert.ok(tookMs < 10, `${tookMs} ms`);
  assert.equal(store.calls.length, 1);
});

test("another layout is LAYOUT_MISMATCH, which names both", async () => {
  const store = withScope({ layout: "sonyflake" });
  const { error, tookMs } = await rejection(lease(store), store);
  assert.deepEqual([error.code, error.field, error.value], ["LAYOUT_MISMATCH", "layout", textOf()]);
  assert.match(error.message, /: layout must be "sonyflake" in the .* store, scope ".*", got "default"$/);
  assert.match(error.hint, /^Pass layout: "sonyflake", or/);
  assert.ok(tookMs < 10, `${tookMs} ms`);
});

test("LAYOUT_MISMATCH has the definition of a layout without a name, as it can be passed", async () => {
  const layout = Layout.named("default").with({ epochMs: 1_600_000_000_000, unsigned: true });
  const store = withScope({ layout });
  const { error } = await rejection(lease(store), store);
  assert.ok(error.message.includes(`must be "${layoutText(layout)}" in the `), error.message);
  const given = /^Pass layout: (\{.*\}), or/.exec(error.hint)[1];
  const spec = JSON.parse(given.replace(/(\w+):/g, '"$1":'));
  assert.equal(layoutText(new Layout(spec)), layoutText(layout));
});

test("a window over the maximum of the scope, under a second or under three ticks, is INVALID_OPTION", async () => {
  const store = withScope({ windowMaxMs: 10_000 });
  const { error } = await rejection(lease(store), store);
  assert.ok(error instanceof ConfigError);
  assert.deepEqual([error.code, error.field, error.value], ["INVALID_OPTION", "windowMs", 30_000]);
  assert.match(error.rule, /at most 10000/);
  // What is in seconds: half a minute, five minutes.
  for (const [layout, least] of [
    ["default", 1000],
    ["sonyflake", 1000],
    ["baidu", 3000],
  ])
    for (const windowMs of [least - 1, 30, 300, 2]) {
      const short = await rejection(lease(store, { layout, windowMs }), store);
      assert.deepEqual(
        [short.error.code, short.error.field, short.error.value],
        ["INVALID_OPTION", "windowMs", windowMs],
      );
      assert.match(short.error.rule, new RegExp(`^must be an integer from ${least} to \\d+ \\(ms\\)$`));
      assert.equal(short.error.hint, "A window has at least a second, and at least three ticks.");
    }
});

test("a store that does not answer is STORE_UNAVAILABLE after maxAsyncWaitMs", async () => {
  for (const maxAsyncWaitMs of [0, 1, 1000, 5000, 8000]) {
    const store = withScope({ fault: (verb, execute) => (verb === "acquire" ? never() : execute()) });
    const { error, tookMs } = await rejection(lease(store, { maxAsyncWaitMs }), store);
    assert.deepEqual([error.code, error.retryable], ["STORE_UNAVAILABLE", true], `${maxAsyncWaitMs}: ${error.message}`);
    assert.ok(tookMs <= maxAsyncWaitMs + 5, `after ${tookMs} ms of ${maxAsyncWaitMs}`);
    assert.match(error.message, /memory store/);
  }
});

test("a store that fails is STORE_UNAVAILABLE with the cause", async () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const faults = {
    rejects: () => Promise.reject(cause),
    throws: () => {
      throw cause;
    },
  };
  for (const [name, fault] of Object.entries(faults)) {
    const store = withScope({ fault });
    const { error, tookMs } = await rejection(lease(store, { maxAsyncWaitMs: 2000 }), store);
    assert.deepEqual([error.code, error.cause], ["STORE_UNAVAILABLE", cause], name);
    assert.match(error.message, /acquire failed in the memory store, scope "default": connect ECONNREFUSED/);
    assert.ok(tookMs >= 1990 && tookMs <= 2010, `${tookMs} ms`);
    // Backoff: 50 to 100 ms, then twice as long each time.
    assert.ok(store.calls.length <= 8, `${store.calls.length} requests`);
  }
});

test("a store that comes back within maxAsyncWaitMs gives a lease", async () => {
  // The pauses are drawn: the attempt after this one comes within maxAsyncWaitMs in any case.
  const backMs = time.ms + 1500;
  const fault = (_, execute) => (time.ms < backMs ? Promise.reject(new Error("away")) : execute());
  const ids = await time.until(lease(withScope({ fault })));
  assert.equal(typeof ids.next(), "bigint");
  assert.equal(ids.health().lease.problem, undefined);
  await time.until(ids.close());
});

test("an aborted signal ends the wait at once, with its reason", async () => {
  const store = withScope({ fault: (verb, execute) => (verb === "acquire" ? never() : execute()) });
  const controller = new AbortController();
  const reason = new Error("no time");
  setTimeout(() => controller.abort(reason), 500);
  const { error, tookMs } = await rejection(lease(store, { signal: controller.signal }), store);
  assert.equal(error, reason);
  assert.ok(tookMs <= 505, `${tookMs} ms`);
  // A signal that is aborted already: no request at all.
  const idle = withScope();
  assert.equal((await rejection(lease(idle, { signal: AbortSignal.abort(reason) }), idle)).error, reason);
  assert.equal(idle.calls.length, 0);
});

test("a node id that is granted while the signal aborts is released", async () => {
  const store = withScope({
    fault: (verb, execute) =>
      verb === "acquire" ? new Promise((resolve) => setTimeout(() => resolve(execute()), 800)) : execute(),
  });
  const { error } = await rejection(lease(store, { signal: abortedAfter(500) }), store);
  assert.equal(error.message, "stop");
  assert.deepEqual(
    store.calls.map(({ verb }) => verb),
    ["acquire", "release"],
  );
});

function abortedAfter(ms) {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("stop")), ms);
  return controller.signal;
}

test("no free node id is NODE_IDS_EXHAUSTED with the time until the next one is free", async () => {
  const store = withScope({ nodes: { from: 5, to: 6 } });
  const held = { fromMs: 0, grant: "1".repeat(32), nonce: "2".repeat(32), owner: "other" };
  store.rows().set(5, { ...held, node: 5, untilMs: now() + 20_000 });
  store.rows().set(6, { ...held, node: 6, grant: "3".repeat(32), untilMs: now() + 15_000 });
  const promise = lease(store);
  const error = await time.until(promise).catch((error) => error);
  assert.deepEqual([error.code, error.retryable], ["NODE_IDS_EXHAUSTED", true]);
  // The last answer came up to five seconds after the call.
  assert.ok(error.retryAfterMs >= 10_000 && error.retryAfterMs <= 15_000, `${error.retryAfterMs} ms`);
  await time.advance(3000);
  assert.deepEqual(time.pending, { timers: 0, holding: 0 });
});

test("a node id that gets free within maxAsyncWaitMs is taken", async () => {
  const store = withScope({ nodes: { from: 5, to: 5 } });
  store.rows().set(5, {
    node: 5,
    fromMs: 0,
    untilMs: now() + 2000,
    grant: "1".repeat(32),
    nonce: "2".repeat(32),
    owner: "other",
  });
  const ids = await time.until(lease(store));
  assert.equal(ids.node, 5);
  await time.until(ids.close());
});

test("a process that takes a lease in each request hears that they are its own", async () => {
  const store = withScope({ nodes: { from: 0, to: 9 } });
  const held = await time.until(Promise.all(Array.from({ length: 10 }, () => lease(store))));
  await assert.rejects(time.until(lease(store)), {
    code: "NODE_IDS_EXHAUSTED",
    message: /all node ids are in use in the memory store/,
    hint: /^This thread has 10 leases of scopes with that name, and each call of lease\(\) takes a node id\. Call it once, when the program starts/,
  });
  await time.until(Promise.all(held.map((ids) => ids.close())));
  const other = { fromMs: 0, grant: "1".repeat(32), nonce: "2".repeat(32), owner: "other", untilMs: now() + 60_000 };
  for (const [node] of store.rows()) store.rows().set(node, { ...other, node });
  // Those that wait hold none.
  for (const { reason } of await time.until(Promise.allSettled(Array.from({ length: 14 }, () => lease(store)))))
    assert.match(
      reason.hint,
      /^Stop a holder, shorten windowMs, or begin a scope, and a column, with more node ids\. The next one is free in \d+ ms, unless its holder renews it\.$/,
    );
});

test("the stack of what it rejects with ends with the functions that await it", async () => {
  const startServer = async () => await lease(new FaultyStore({ now }));
  const { stack } = await time.until(startServer().catch((error) => error));
  assert.match(stack, /^LeaseError: STORE_NOT_INITIALISED: .*\n {4}at async startServer \(/s);
});

test("a fenced scope is NODE_IDS_EXHAUSTED, and the message names the fence", async () => {
  const store = withScope();
  await store.fence();
  const { error } = await rejection(lease(store), store);
  assert.equal(error.code, "NODE_IDS_EXHAUSTED");
  assert.match(error.message, /fence/);
  assert.ok(error.retryAfterMs >= 60_000 && error.retryAfterMs <= 65_000, `${error.retryAfterMs} ms`);
});

test("a store of another incarnation is fenced first", async () => {
  const store = withScope();
  store.failOver();
  const { error } = await rejection(lease(store), store);
  assert.deepEqual(
    store.calls.slice(0, 3).map(({ verb }) => verb),
    ["acquire", "ensure", "acquire"],
  );
  assert.equal(error.code, "NODE_IDS_EXHAUSTED");
  assert.ok(store.fenceMs() > now() - 200_000);
});

test("a clock beyond the window is LEASE_EXPIRED, and the message says how far the clocks are apart", async () => {
  storeAheadMs = -45_000;
  const store = withScope();
  const { error, tookMs } = await rejection(lease(store), store);
  assert.equal(error.code, "LEASE_EXPIRED");
  assert.match(error.message, /45000 ms ahead of the store's/);
  assert.ok(tookMs <= 5010, `${tookMs} ms`);
  assert.ok(store.calls.filter(({ verb }) => verb !== "release").length <= 4, `${store.calls.length} requests`);
});

test("with store time it does not matter how wrong the clock of this machine is", async () => {
  for (storeAheadMs of [-45_000, 45_000, -31_536_000_000, 31_536_000_000]) {
    const store = withScope();
    const ids = await time.until(lease(store, { time: "store" }));
    const { timestampMs } = ids.decode(ids.next());
    assert.ok(Math.abs(timestampMs - now()) <= 1001, `${timestampMs - now()} ms from the store's clock`);
    await time.until(ids.close());
  }
});

test("what is no store is refused, and the message names what was given and what is accepted", async () => {
  class Pool {
    query() {}
    connect() {}
  }
  class PostgresStore {
    acquire() {}
    renew() {}
    release() {}
    ensure() {}
  }
  const half = { acquire() {}, renew() {}, release() {} };
  for (const [given, named] of [
    [undefined, /undefined/],
    [null, /null/],
    ["postgres://app:secret@localhost/prod", /a string/],
    [new URL("postgres://app:secret@localhost/prod"), /a URL/],
    [{ connectionString: "postgres://app:secret@localhost/prod" }, /object/],
    [5, /5/],
    [new Pool(), /a Pool/],
    [PostgresStore, /class PostgresStore/],
    [half, /object/],
    [() => {}, /function/],
  ]) {
    const { error } = await rejection(lease(given));
    assert.deepEqual([error.code, error.field], ["INVALID_ARGUMENT", "store"]);
    assert.match(error.message, named);
    assert.doesNotMatch(inspect(error), /secret/, "a connection string was passed on");
    assert.match(error.message, /store must be a lease store, got /);
    assert.equal(error.hint, "For example new PostgresStore(pool).");
  }
});

test("without WebAssembly and without the addon lease() is WASM_UNAVAILABLE, and the store is not asked", () => {
  const program = `
    delete globalThis.WebAssembly;
    const { lease } = await import("frazil/lease");
    let calls = 0;
    const call = () => { calls++; return new Promise(() => {}); };
    const store = { name: "none", acquire: call, renew: call, release: call, ensure: call };
    const error = await lease(store).then(() => ({}), (error) => error);
    console.log(error.code, calls);`;
  const env = { ...process.env, FRAZIL_BACKEND: "wasm" };
  const options = { cwd: import.meta.dirname, env, encoding: "utf8" };
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], options);
  assert.equal(stdout, "WASM_UNAVAILABLE 0\n", stderr);
});

// Numbers from the memory of the process are those of its clone too.
// docs/internals/claims.md: 26
test("on WebAssembly nothing is asked while the kernel's random numbers cannot be read for want of descriptors", () => {
  const program = `
    import { openSync, closeSync } from "node:fs";
    import { lease } from "frazil/lease";
    import { FaultyStore } from "./faulty-store.mjs";
    const store = FaultyStore.with({});
    const ids = await lease(store, { windowMs: 1000 });
    ids.on("refused", () => {});
    const open = [];
    try { for (;;) open.push(openSync("/dev/null")); } catch {}
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { length } = store.calls;
    for (const descriptor of open) closeSync(descriptor);
    while (ids.stats().lease.renewed === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    console.log(length, ids.stats().lease.refused > 0);
    await ids.close();`;
  const env = { ...process.env, FRAZIL_BACKEND: "wasm", PROGRAM: program };
  const command = 'ulimit -n 128; exec "$0" --input-type=module -e "$PROGRAM"';
  const options = { cwd: import.meta.dirname, env, encoding: "utf8" };
  const { stdout, stderr } = spawnSync("sh", ["-c", command, process.execPath], options);
  assert.equal(stdout, "1 true\n", stderr);
});

/** The answers that cannot be true, to a first request. */
const untrue = {
  undefined: () => undefined,
  null: () => null,
  "an empty object": () => ({}),
  "a row instead of an answer": () => [{ node: 1 }],
  "a text": () => "OK",
  "true for a grant, and nothing else": () => ({ granted: true }),
  "an unknown reason": () => ({ granted: false, reason: "busy" }),
  "the lease of somebody else": (answer) => ({ ...answer, grant: "f".repeat(32) }),
  "a grant that is no text": (answer) => ({ ...answer, grant: 5 }),
  "a grant that is no hexadecimal text": (answer) => ({ ...answer, grant: "?".repeat(32) }),
  "digits instead of numbers": (answer) => ({ ...answer, node: `${answer.node}` }),
  "digits instead of a time": (answer) => ({ ...answer, untilMs: `${answer.untilMs}` }),
  "bigints instead of numbers": (answer) => ({ ...answer, fromMs: BigInt(answer.fromMs) }),
  "a Date": (answer) => ({ ...answer, storeNowMs: new Date(answer.storeNowMs) }),
  "a fraction": (answer) => ({ ...answer, untilMs: answer.untilMs + 0.5 }),
  NaN: (answer) => ({ ...answer, storeNowMs: Number.NaN }),
  "a negative time": (answer) => ({ ...answer, fromMs: -1 }),
  "a node id that the layout does not have": (answer) => ({ ...answer, node: 1024 }),
  "a node id that is no whole number": (answer) => ({ ...answer, node: 1.5 }),
  "a window that ends before it begins": (answer) => ({ ...answer, fromMs: answer.untilMs, untilMs: answer.fromMs }),
  "a time to wait that is no number": () => ({ granted: false, reason: "exhausted", freeAtMs: "5", storeNowMs: 3 }),
  "a time to wait that is a fraction": () => ({ granted: false, reason: "fenced", freeAtMs: 5.5, storeNowMs: 3 }),
};

for (const [name, change] of Object.entries(untrue)) {
  test(`an answer that cannot be true (${name}) is STORE_REFUSED, and is not asked for again at once`, async () => {
    const store = withScope({
      fault: async (verb, execute) => (verb === "acquire" ? change(await execute()) : execute()),
    });
    const beganMs = time.ms;
    const error = await time.until(lease(store)).then(
      () => assert.fail("lease() resolved"),
      (error) => error,
    );
    assert.deepEqual([error.code, error.retryable], ["STORE_REFUSED", false], error.stack);
    assert.ok(error instanceof LeaseError);
    assert.match(error.message, /memory/);
    assert.doesNotMatch(wholeText(error), /must begin and end .*, got undefined/);
    assert.ok(time.ms - beganMs < 10);
    assert.equal(store.calls.filter(({ verb }) => verb === "acquire").length, 1);
    await time.advance(10_000);
    assert.deepEqual(time.pending, { timers: 0, holding: 0 });
  });
}
