// Properties that another library puts on `Object.prototype` must not count as options.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout, Snowflake } from "frazil";
import { decode } from "frazil/decode";
import { inNewProcess } from "../core/package-copy.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { start } from "../generator/scripted-clock.mjs";

/** Runs `work` with properties on `Object.prototype`, and removes them before anything else runs. */
function polluted(names, work) {
  for (const [name, value] of Object.entries(names)) {
    Object.defineProperty(Object.prototype, name, { value, writable: true, configurable: true, enumerable: true });
  }
  try {
    return work();
  } finally {
    for (const name of Object.keys(names)) delete Object.prototype[name];
  }
}

/** The broken variant: reads own and inherited options alike. */
const readingInherited = (options) => {
  const { now } = options;
  return now === undefined ? undefined : new Snowflake({ node: 9, now: () => now() });
};

test("Object.prototype.now makes no generator private: two with one node id repeat no ID", () => {
  const frozen = () => start;
  const take = (make) => {
    const pair = [make(), make()];
    return Array.from({ length: 200 }, (_, at) => pair[at % 2].next());
  };
  const got = polluted({ now: frozen }, () => take(() => new Snowflake({ node: 9, maxWaitMs: 1000 })));
  assert.equal(repeats(got), 0);
  const mutant = polluted({ now: frozen }, () => take(() => readingInherited({ node: 9 })));
  assert.ok(repeats(mutant) > 0, "the checker must catch the mutant");
});

/** Every property that the package reads from any object, with a value that would change the result. */
const names = {
  node: 77,
  layout: "twitter",
  epochMs: 5,
  maxLeadMs: 999,
  maxWaitMs: -5,
  maxAsyncWaitMs: -5,
  sequenceStart: "wrap",
  unshared: "no",
  now: () => 1_790_000_000_000,
  signal: AbortSignal.abort(new Error("polluted")),
  dir: 5,
  scope: 5,
  startWaitMs: -5,
  fileSystem: 5,
  files: 5,
  again: 5,
  tickMs: 7,
  unsigned: true,
  fields: [],
  kind: "clock",
  bits: 99,
  name: "polluted",
  timestampMs: 5,
  clock: 5,
  sequence: 5,
  worker: 5,
  datacenter: 5,
  issued: 5,
  retryAfterMs: 5,
  cause: "polluted",
  rule: "polluted",
  field: "polluted",
  value: 5,
  date: 5,
  parts: 5,
  once: false,
  id: 5n,
  // Names that are no options, and names that are read from the package's own objects.
  target: 5,
  length: 5,
  done: 5,
  since: 5,
  restMs: 5,
  runs: [],
  shift: 5,
  max: 5,
  memory: 5,
  offset: 5,
  frame: 5,
  buffer: 5,
  code: "polluted",
  retryable: true,
  index: 5,
  position: 5,
  maxCount: 5,
};
const spec = () => ({
  epochMs: 1704067200000,
  fields: [
    { kind: "time", bits: 41 },
    { kind: "node", bits: 10 },
    { kind: "sequence", bits: 12 },
  ],
});

/** The result or the error of each call, as text. */
function answers() {
  const twitter = Layout.named("twitter");
  const plain = Layout.named("default");
  const errorOf = (error) => [
    String(error),
    Object.hasOwn(error, "cause"),
    Object.entries(error).map(([name, value]) => [name, String(value)]),
    Object.keys(error.toJSON()),
  ];
  const said = {};
  const ask = (name, call) => {
    try {
      said[name] = call();
    } catch (error) {
      said[name] = errorOf(error);
    }
  };
  const now = () => start;
  ask("a generator", () => {
    const ids = new Snowflake({ node: 7, now });
    return [ids.next(), ids.node, ids.layout.fields.length, ids.health().leadMs, ids.nextMany(3)];
  });
  ask("no node id", () => new Snowflake({}));
  ask("no options", () => new Snowflake());
  ask("a stall", () => {
    const ids = new Snowflake({ node: 7, now, maxLeadMs: 0, maxWaitMs: 0 });
    ids.nextMany(4096);
    return ids.next();
  });
  ask("a stall midway", () => {
    const ids = new Snowflake({ node: 7, now, maxLeadMs: 0, maxWaitMs: 1 });
    ids.next();
    return ids.nextMany(8192);
  });
  ask("the end of time", () => new Snowflake({ node: 7, now: () => 1e15 }).next());
  ask("node parts", () => new Snowflake({ layout: "twitter", node: { datacenter: 1, worker: 2 }, now }).next());
  ask("half of the node parts", () => new Snowflake({ layout: "twitter", node: { datacenter: 1 }, now }).next());
  ask("a layout of one's own", () => new Layout(spec()).toJSON());
  ask("a layout without an epoch", () => new Layout({ fields: spec().fields }));
  ask("a layout without fields", () => new Layout({ epochMs: 0 }));
  ask("a field without a width", () => new Layout({ epochMs: 0, fields: [{ kind: "time" }] }));
  ask("with", () => plain.with({ epochMs: 7 }).toJSON());
  ask("compose", () => plain.compose({ timestampMs: start, node: 3, sequence: 4 }));
  ask("compose without a node id", () => plain.compose({ timestampMs: start, sequence: 4 }));
  ask("compose without a sequence", () => plain.compose({ timestampMs: start, node: 4 }));
  ask("compose with a field too many", () => plain.compose({ timestampMs: start, node: 3, sequence: 4, worker: 5 }));
  ask("minIdAt", () => [
    plain.minIdAt(start),
    plain.maxIdAt(start),
    plain.minIdAt(start, {}),
    plain.maxIdAt(start, {}),
  ]);
  ask("range", () => [plain.range(start, start + 1), plain.range(start, start + 1, {})]);
  ask("range of a node above the time", () => Layout.named("seata").range(start, start + 1));
  ask("minIdAt of a node above the time", () => Layout.named("seata").minIdAt(start));
  ask("parts", () => [twitter.decode(1n).parts, plain.decode(1n).parts, decode(1n, "mastodon").parts]);
  ask("decoded", () => JSON.stringify(twitter.decode(12345678901234567n)));
  ask("plan", () => twitter.plan());
  ask("an option too many", () => new Snowflake({ node: 7, nod: 7 }));
  ask("a wrong ID", () => plain.parse("x"));
  return said;
}

/** The own properties of values, because their prototypes are changed. */
const own = (value) =>
  JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}n` : inner)) ?? String(value);

test("no property on Object.prototype changes any result", () => {
  const clean = Object.fromEntries(Object.entries(answers()).map(([name, value]) => [name, own(value)]));
  for (const [name, value] of Object.entries(names)) {
    const said = polluted({ [name]: value }, answers);
    for (const [call, answer] of Object.entries(said)) {
      assert.equal(own(answer), clean[call], `Object.prototype.${name} changes: ${call}`);
    }
  }
});

test("no accessor on Object.prototype changes any result", () => {
  const script = `
    import { Layout, Snowflake } from "frazil";
    const now = () => ${start};
    const outcome = [];
    for (const name of ["get", "set", "value", "writable", "then", "index", "signal", "once", "capture", "passive"]) {
      Object.prototype[name] = name === "signal" ? AbortSignal.abort() : name.length > 4 ? true : name === "then" ? undefined : () => {};
      let said;
      try {
        const layout = new Layout(Layout.named("default").toJSON()).with({ epochMs: 7 });
        const ids = new Snowflake({ node: 7, layout, now, maxLeadMs: 0, maxWaitMs: 0 });
        ids.nextMany(4096);
        let code;
        try { ids.next(); } catch (error) { code = error.code; }
        const controller = new AbortController();
        const waiting = ids.nextAsync({ signal: controller.signal });
        controller.abort("enough");
        said = [code, await waiting.catch((reason) => reason)].join();
      } catch (error) { said = String(error); }
      delete Object.prototype[name];
      if (said !== "SEQUENCE_EXHAUSTED,enough") outcome.push(name + ": " + said);
    }
    process.stdout.write(JSON.stringify(outcome));
  `;
  return inNewProcess(script).then((outcome) => assert.deepEqual(outcome, []));
});

// Such code would use the frame of a call whose answers are not read yet.
for (const backend of ["native", "wasm"])
  test(`${backend}: no accessor on Object.prototype runs in a call`, async () => {
    const script = `
      import { Snowflake } from "frazil";
      new Snowflake({ node: 7 }).next();
      const outcome = [];
      const names = ${JSON.stringify([...Object.keys(Snowflake.port().binding), "return"])};
      const note = (name) => ({ configurable: true, get: () => void outcome.push(name) });
      for (const name of names) Object.defineProperty(Object.prototype, name, note(name));
      const ids = new Snowflake({ node: 8, now: () => ${start} });
      ids.next();
      ids.fill(new BigUint64Array(3));
      for (const name of names) delete Object.prototype[name];
      process.stdout.write(JSON.stringify(outcome));
    `;
    assert.deepEqual(await inNewProcess(script, { env: { FRAZIL_BACKEND: backend } }), []);
  });

test("asynchronous calls ignore options on Object.prototype", async () => {
  const script = `
    import { Snowflake } from "frazil";
    const ids = new Snowflake({ node: 7, now: () => ${start} });
    const outcome = [];
    Object.prototype.signal = AbortSignal.abort();
    for (const call of [() => ids.nextAsync(), () => ids.nextAsync({}), () => ids.nextManyAsync(3, {}), () => ids.fillAsync(new BigUint64Array(3), {})]) {
      await call().catch((error) => outcome.push(String(error)));
    }
    delete Object.prototype.signal;
    process.stdout.write(JSON.stringify(outcome));
  `;
  assert.deepEqual(await inNewProcess(script), []);
});

/** An object that counts how often each of its values is read. */
function counted(values, reads = {}) {
  const object = {};
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(object, name, {
      enumerable: true,
      get() {
        reads[name] = (reads[name] ?? 0) + 1;
        return value;
      },
    });
  }
  return { object, reads };
}

test("every value is read only once, so that it cannot differ at a second reading", async () => {
  const seen = [];
  const once = (values) => {
    const { object, reads } = counted(values);
    seen.push([Object.keys(values), reads]);
    return object;
  };
  const now = () => start;
  const layout = Layout.named("twitter");
  const { signal } = new AbortController();
  const field = (kind, bits) => once({ kind, bits });
  const fields = [field("time", 41), once({ kind: "node", bits: 10, name: "machine" }), field("sequence", 12)];
  const given = once({ epochMs: 1704067200000, tickMs: 1, unsigned: false, fields });
  const node = once({ machine: 7 });
  const waits = { maxLeadMs: 10, maxWaitMs: 10, maxAsyncWaitMs: 10, sequenceStart: "zero", unshared: true };
  const ids = new Snowflake(once({ layout: given, node, now, epochMs: 1704067200000, ...waits }));
  await ids.nextAsync(once({ signal }));
  await ids.fillAsync(new BigUint64Array(1), once({ signal }));
  layout.with(once({ epochMs: 5 }));
  layout.compose(once({ timestampMs: start, node: once({ datacenter: 1, worker: 2 }), sequence: 3, clock: undefined }));
  Layout.named("seata").range(start, start + 1, once({ node: 5 }));
  Layout.named("seata").minIdAt(start, once({ node: 5 }));
  Layout.named("seata").maxIdAt(start, once({ node: 5 }));
  for (const [keys, reads] of seen) assert.deepEqual(reads, Object.fromEntries(keys.map((key) => [key, 1])));
});

test("an option that is inherited from a class or another object is refused, not ignored", () => {
  const inherited = Object.create({ now: () => start, node: 3 });
  assert.throws(() => new Snowflake(inherited), { code: "INVALID_OPTION", field: "options" });
  const composed = Object.create({ timestampMs: start, node: 1, sequence: 1 });
  assert.throws(() => Layout.named("default").compose(composed), { name: "ConfigError" });
});

test("a Proxy is read through its traps", () => {
  const traps = { get: 0, ownKeys: 0 };
  const options = new Proxy(
    { node: 7, now: () => start },
    {
      get(target, key) {
        traps.get++;
        return target[key];
      },
      ownKeys(target) {
        traps.ownKeys++;
        return Reflect.ownKeys(target);
      },
    },
  );
  assert.equal(new Snowflake(options).node, 7);
  assert.deepEqual(traps, { get: 2, ownKeys: 1 });
});

/** What `lease()` and a segment ask their stores for, and what they hand out, with properties on `Object.prototype` or without. */
const askedOfStores = (properties) =>
  inNewProcess(`
  import { lease } from "frazil/lease";
  import { Segment } from "frazil/segment";
  const asked = [];
  const note = (verb, request) => {
    const { grant, nonce, holder, attempt, signal, ...rest } = request;
    asked.push([verb, Object.entries(rest).map(([name, value]) => [name, String(value)])]);
  };
  const store = {
    name: "a store",
    async acquire(request) {
      note("acquire", request);
      const { grant, windowMs } = request;
      const nowMs = Date.now();
      return { granted: true, grant, node: 5, fromMs: nowMs - 1000, untilMs: nowMs + windowMs, storeNowMs: nowMs };
    },
    renew() {},
    ensure() {},
    async release() {},
    async allocate(request) {
      note("allocate", request);
      return { attempt: request.attempt, first: 1n, count: 10, step: 10 };
    },
  };
  for (const [name, value] of Object.entries(${JSON.stringify(properties)}))
    Object.defineProperty(Object.prototype, name, { value, writable: true, configurable: true });
  const outcome = async (call) => String(await call().catch((error) => error));
  const ids = await outcome(async () => {
    const ids = await lease(store, { owner: "me" });
    const { node } = ids;
    ids.next();
    await ids.close();
    return node;
  });
  const numbers = await outcome(async () => new Segment(store, { tag: "orders", step: 10 }).next());
  process.stdout.write(JSON.stringify({ asked, ids, numbers }));
  process.exit();
`);

test("Object.prototype has no option of lease() and of a segment", async () => {
  const options = {
    scope: "other",
    windowMs: 900,
    node: 3,
    now: 5,
    unshared: 5,
    time: "store",
    renew: "calls",
    maxLeadMs: 3,
    maxStep: 12,
    growBelowMs: 5,
    shrinkAboveMs: 5,
    failoverSkip: 77,
    maxAsyncWaitMs: 1000,
  };
  const [plain, polluted] = await Promise.all([askedOfStores({}), askedOfStores(options)]);
  assert.deepEqual([plain.ids, plain.numbers, plain.asked.length], ["5", "1", 2]);
  assert.deepEqual(polluted, plain);
});
