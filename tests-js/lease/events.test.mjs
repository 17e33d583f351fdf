// Listeners, closing, and user code at unexpected points of the driver.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout } from "frazil";
import { LeasedSnowflake, lease } from "frazil/lease";
import { rules } from "../vectors/generated-tables.mjs";
import { time } from "./faked.mjs";
import { never, open, storeWith, takeAway, thrownBy, verbs, W, watched } from "./harness.mjs";

test("on() and off() can be chained, and a listener that is added twice is called once", async () => {
  const { ids } = await open(storeWith());
  const seen = [];
  const one = () => seen.push("one");
  const two = () => seen.push("two");
  assert.equal(ids.on("renewed", one).on("renewed", two).on("renewed", one), ids);
  await time.advance(W / 3 + 1);
  assert.deepEqual(seen, ["one", "two"]);
  assert.equal(ids.off("renewed", one).off("renewed", one).off("lost", two), ids);
  await time.advance(W / 3 + 1);
  assert.deepEqual(seen, ["one", "two", "two"]);
  const { on } = ids;
  on("renewed", one);
  await time.until(ids.close());
  assert.ok(ids instanceof LeasedSnowflake);
  assert.equal(ids.constructor.name, "LeasedSnowflake");
});

test("an event that does not exist, and a listener that is no function, are refused", async () => {
  const { ids } = await open(storeWith());
  for (const method of ["on", "off"]) {
    for (const [event, hint] of [
      ["renew", 'Did you mean "renewed"?'],
      ["acquire", 'Did you mean "acquired"?'],
      ["constructor", "Use one of acquired, renewed, lost, refused."],
      ["__proto__", "Use one of acquired, renewed, lost, refused."],
      [undefined, "Use one of acquired, renewed, lost, refused."],
      [Symbol("lost"), "Use one of acquired, renewed, lost, refused."],
      [5, "Use one of acquired, renewed, lost, refused."],
    ]) {
      const expected = { code: "INVALID_ARGUMENT", field: "event", value: event, hint };
      assert.throws(() => ids[method](event, () => {}), expected, String(event));
    }
    for (const listener of [undefined, null, 5, {}, "log"]) {
      const expected = { code: "INVALID_ARGUMENT", field: "listener", value: listener, rule: rules.FUNCTION };
      assert.throws(() => ids[method]("lost", listener), expected);
    }
  }
  await time.until(ids.close());
});

test("a listener that throws stops neither the others nor the lease, and its error is not swallowed", async (t) => {
  const store = storeWith();
  const { ids, names } = await open(store);
  const thrown = [];
  const kept = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => thrown.push(error));
  t.after(() => {
    process.removeAllListeners("uncaughtException");
    for (const listener of kept) process.on("uncaughtException", listener);
  });
  const boom = new Error("boom");
  ids.on("renewed", () => {
    throw boom;
  });
  let after = 0;
  ids.on("renewed", () => after++);
  await time.advance(W);
  assert.deepEqual(names(), ["renewed", "renewed", "renewed"]);
  assert.equal(after, 3);
  assert.deepEqual(thrown, [boom, boom, boom]);
  await time.until(ids.close());
});

test("a listener may close the generator, mint, and add listeners", async () => {
  const store = storeWith();
  const { ids } = await open(store);
  let closed;
  let minted;
  ids.on("renewed", () => {
    minted = ids.nextMany(10);
    ids.on("renewed", () => {});
    closed = ids.close();
  });
  await time.advance(W / 3 + 1);
  assert.equal(minted.length, 10);
  await time.until(closed);
  assert.deepEqual(verbs(store), ["acquire", "renew", "release"]);
  assert.throws(ids.next, { code: "CLOSED" });
  assert.deepEqual(time.pending, { timers: 0, holding: 0 });
});

test("close() closes first, and releases from the end of the largest tick that was used", async () => {
  const store = storeWith();
  const { ids } = await open(store);
  // 100 ticks ahead of the clock.
  const last = ids.nextMany(100 * 4096).at(-1);
  let atRelease;
  store.fault = (verb, execute) => {
    if (verb === "release") atRelease = thrownBy(ids.next).code;
    return execute();
  };
  const closing = ids.close();
  assert.throws(ids.next, { code: "CLOSED" });
  assert.equal(ids.node, undefined);
  await time.until(closing);
  assert.equal(atRelease, "CLOSED");
  const row = store.rows().get(0);
  assert.equal(row.untilMs, ids.decode(last).timestampMs + 1);
  assert.equal(row.grant, null);
  const calls = store.calls.length;
  assert.equal(ids.close(), closing, "the same promise again");
  await time.until(ids.close());
  await time.advance(W);
  assert.equal(store.calls.length, calls);
});

test("nothing was minted: the node id is free from the start of the window", async () => {
  const store = storeWith();
  const { ids } = await open(store);
  await time.until(ids.close());
  const { fromMs, untilMs } = store.rows().get(0);
  assert.equal(untilMs, fromMs);
});

test("close() waits for the attempt that is under way, which is bounded", async () => {
  let slowMs = 0;
  const store = storeWith({
    fault: (verb, execute) =>
      verb === "renew" && slowMs ? new Promise((resolve) => setTimeout(() => resolve(execute()), slowMs)) : execute(),
  });
  const { ids, names } = await open(store);
  slowMs = 500;
  await time.advance(W / 3 + 1);
  const closing = watched(ids.close());
  await time.advance(400);
  assert.deepEqual(verbs(store), ["acquire", "renew"]);
  assert.equal(closing.state, "pending");
  assert.ok(time.pending.holding >= 1, "the caller waits");
  await time.advance(200);
  assert.equal(closing.state, "resolved");
  assert.deepEqual(verbs(store), ["acquire", "renew", "release"]);
  assert.equal(store.rows().get(0).grant, null);
  assert.equal(ids.node, undefined);
  // An answer that never comes.
  const stuck = await open(storeWith({ fault: (verb, execute) => (verb === "renew" ? never() : execute()) }));
  await time.advance(W / 3 + 1);
  const { ms } = time;
  const bounded = watched(stuck.ids.close());
  await time.advance(10_000);
  assert.equal(bounded.state, "resolved");
  assert.ok(bounded.atMs - ms <= 3001, `${bounded.atMs - ms} ms`);
  assert.deepEqual(names(), []);
  assert.deepEqual(time.pending, { timers: 0, holding: 0 });
});

test("a call that waits for a lease hears of close() at once, whatever the attempt under way does", async () => {
  const store = storeWith();
  const { ids } = await open(store);
  store.fault = (verb, execute) => (verb === "acquire" ? never() : execute());
  takeAway(store, ids.node);
  await time.advance(W / 3 + 10);
  assert.equal(ids.node, undefined);
  const waiting = watched(ids.nextAsync());
  await time.advance(1);
  const closing = watched(ids.close());
  await time.advance(1);
  assert.equal(waiting.error?.code, "CLOSED");
  assert.equal(closing.state, "pending", "close() itself waits for the attempt");
  await time.until(ids.close());
});

test("a release that fails or hangs is reported, and close() resolves", async () => {
  const faults = {
    "refused STORE_UNAVAILABLE": (verb, execute) =>
      verb === "release" ? Promise.reject(new Error("read-only")) : execute(),
    hangs: (verb, execute) => (verb === "release" ? never() : execute()),
    throws: (verb, execute) => {
      if (verb === "release") throw new Error("sync");
      return execute();
    },
  };
  for (const [name, fault] of Object.entries(faults)) {
    const { ids, names } = await open(storeWith({ fault }));
    const { ms } = time;
    const closing = watched(ids.close());
    await time.advance(5000);
    assert.equal(closing.state, "resolved", name);
    assert.ok(closing.atMs - ms <= 3001, name);
    assert.deepEqual(names(), ["refused STORE_UNAVAILABLE"], name);
    assert.deepEqual(time.pending, { timers: 0, holding: 0 });
  }
});

test("await using: Symbol.asyncDispose closes", async () => {
  const store = storeWith();
  const { ids } = await open(store);
  await time.until(ids[Symbol.asyncDispose]());
  assert.equal(store.rows().get(0).grant, null);
  const other = await open(store);
  other.ids[Symbol.dispose]();
  await time.advance(1);
  assert.equal(store.rows().get(0).grant, null);
});

test("after close() there are no events of leases, and no node id, whatever still arrives", async () => {
  const waiting = [];
  let held = false;
  const store = storeWith({
    fault: (_, execute) => (held ? new Promise((resolve) => waiting.push(() => resolve(execute()))) : execute()),
  });
  const { ids, names } = await open(store);
  held = true;
  await time.advance(W / 3 + 4000);
  assert.equal(waiting.length >= 2, true);
  const before = names().length;
  const closing = watched(ids.close());
  await time.advance(10_000);
  assert.equal(closing.state, "resolved");
  for (const answer of waiting) answer();
  await time.advance(10_000);
  assert.deepEqual(
    names()
      .slice(before)
      .filter((name) => !name.startsWith("refused")),
    [],
  );
  assert.equal(ids.node, undefined);
  assert.deepEqual(time.pending, { timers: 0, holding: 0 });
});

test("a store that calls back into the generator", async () => {
  const store = storeWith();
  const { ids } = await open(store);
  const seen = [];
  store.fault = async (verb, execute) => {
    ids.nextMany(3);
    ids.health();
    ids.stats();
    if (verb === "renew" && seen.length === 2) void ids.close();
    seen.push(verb);
    return execute();
  };
  await time.advance(2 * W);
  assert.ok(seen.includes("renew"));
  await time.until(ids.close());
  assert.deepEqual(time.pending, { timers: 0, holding: 0 });
});

test("a store whose close is awaited inside it: bounded", async () => {
  const store = storeWith();
  const { ids } = await open(store);
  store.fault = async (verb, execute) => {
    if (verb === "renew") await ids.close();
    return execute();
  };
  await time.advance(W / 3 + 1);
  const closing = watched(ids.close());
  await time.advance(4000);
  assert.equal(closing.state, "resolved");
  assert.equal(store.rows().get(0).grant, null);
});

test("an answer that comes twice, and one of an earlier attempt", async () => {
  const store = storeWith();
  const { ids, names } = await open(store);
  // Each renewal is sent twice, as by a client that retries by itself.
  store.fault = (verb, execute) => {
    if (verb !== "renew") return execute();
    execute();
    return execute();
  };
  await time.advance(W);
  assert.deepEqual(names(), ["renewed", "renewed", "renewed"]);
  assert.ok(ids.health().ok);
  await time.until(ids.close());
});

test("a store that throws, returns nothing or never settles loses nothing but time", async () => {
  const faults = [
    () => {
      throw new TypeError("sync");
    },
    () => undefined,
    never,
    () => Promise.reject(undefined),
    () => Promise.reject("a text"),
    () => Promise.reject(Object.create(null)),
    // biome-ignore lint/suspicious/noThenProperty: a promise of another kind, as some clients return
    () => ({ then: (resolve) => resolve({ granted: false, reason: "missing" }) }),
  ];
  for (const fault of faults) {
    const store = storeWith();
    const { ids } = await open(store);
    const first = ids.next();
    const { length } = store.calls;
    store.fault = fault;
    await time.advance(W / 2);
    assert.equal(typeof ids.next(), "bigint");
    await time.advance(W);
    assert.equal(thrownBy(ids.next).code, "LEASE_EXPIRED");
    assert.ok(store.calls.length - length < 40, `${store.calls.length - length} requests`);
    assert.equal(ids.health().lease.problem.name, "LeaseError");
    store.fault = (_, execute) => execute();
    await time.advance(8001);
    assert.ok(ids.next() > first);
    await time.until(ids.close());
  }
});

test("broken clocks: nothing is minted, nothing is asked in a loop, and close() works", async () => {
  const [wall, monotonic] = [Date.now, performance.now];
  const breakers = [
    () => Number.NaN,
    () => undefined,
    () => {
      throw new Error("clock");
    },
  ];
  for (const broken of breakers) {
    for (const which of [[Date], [performance], [Date, performance]]) {
      const store = storeWith();
      const { ids } = await open(store);
      const { length } = store.calls;
      for (const clock of which) clock.now = broken;
      try {
        if (which.includes(Date)) thrownBy(ids.next);
        await time.advance(W);
        assert.ok(store.calls.length - length <= 3, `${store.calls.length - length} requests`);
        assert.ok(time.pending.timers <= 2);
        const closing = watched(ids.close());
        await time.advance(4000);
        assert.equal(closing.state, "resolved", closing.error?.stack);
        assert.equal(store.rows().get(0).grant, null, "the node id was not released");
      } finally {
        Date.now = wall;
        performance.now = monotonic;
      }
      assert.deepEqual(time.pending, { timers: 0, holding: 0 });
    }
  }
});

test("a monotonic clock that stands still does not make a call wait for ever", async () => {
  let held = false;
  const store = storeWith({ fault: (_, execute) => (held ? never() : execute()) });
  const { ids } = await open(store, { maxAsyncWaitMs: 500 });
  held = true;
  await time.advance(W + 1);
  const monotonic = performance.now;
  const frozenMs = monotonic();
  performance.now = () => frozenMs;
  try {
    const call = watched(ids.nextAsync());
    await time.advance(2000);
    assert.equal(call.state, "rejected");
  } finally {
    performance.now = monotonic;
  }
  held = false;
  await time.until(ids.close());
});

test("a name of the store that is a getter may run code of the user, and does so once", async () => {
  const one = await open(storeWith({ nodes: { from: 50, to: 50 } }));
  const store = storeWith({ nodes: { from: 60, to: 60 } });
  let reads = 0;
  Object.defineProperty(store, "name", { get: () => `${one.ids.health() && "mine"}${reads++ || ""}` });
  const { ids } = await open(store);
  store.now = () => one.ids && time.wallMs() - 5000;
  await time.advance(W / 3 + 1);
  assert.deepEqual([ids.health().lease.skewMs, ids.health().lease.store], [5000, "mine"]);
  await time.until(ids.close());
  await time.until(one.ids.close());
});

test("1,000 leased generators in one process have 1,000 node ids", async () => {
  const store = storeWith({ scope: "many" });
  const all = await Promise.all(Array.from({ length: 1000 }, () => lease(store, { scope: "many" })));
  assert.equal(new Set(all.map(({ node }) => node)).size, 1000);
  const ids = all.flatMap((one) => one.nextMany(5));
  assert.equal(new Set(ids).size, 5000);
  await time.advance(W);
  assert.equal(store.calls.length, 4000);
  assert.equal(new Set([...ids, ...all.map((one) => one.next())]).size, 6000);
  await Promise.all(all.map((one) => one.close()));
  assert.deepEqual(time.pending, { timers: 0, holding: 0 });
  assert.ok([...store.rows("many").values()].every(({ grant }) => grant === null));
});

test("IDs of one object increase from one lease to the next", async () => {
  const store = storeWith({ scope: "order", nodes: { from: 5, to: 9 } });
  const { ids } = await open(store, { scope: "order" });
  const layout = Layout.named("default");
  let last = ids.next();
  const nodes = new Set();
  for (let turn = 0; turn < 4; turn++) {
    const row = store.rows("order").get(ids.node);
    store.rows("order").set(ids.node, { ...row, grant: "d".repeat(32), untilMs: row.untilMs + 60_000 });
    await time.advance(W / 3 + 200);
    const id = ids.next();
    assert.ok(id > last);
    nodes.add(layout.decode(id).node);
    last = id;
  }
  assert.ok(nodes.size > 1);
  await time.until(ids.close());
});
