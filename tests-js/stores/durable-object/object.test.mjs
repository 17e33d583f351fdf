// The specifics of an object: it begins by itself, loses its storage, is aborted, restored and killed; and wrong namespaces.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { FrazilError, Layout } from "frazil";
import { layoutText } from "frazil/lease";
import { DurableObjectStore, FrazilLeases, LOCATION_HINTS, locationHintOf } from "frazil/workers";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { attempt, checkSecondInit, hex, layout, overlaps, releaseOf, renewalOf } from "../kit/attempts.mjs";
import { newTag } from "../kit/segments.mjs";
import { DATES, WorkerServer } from "../workerd/server.mjs";

const HOUR = 3_600_000;
/** The longest window of an object that has begun by itself, and the margin of a fence. */
const FENCE_MS = 600_000 + 5000;
const edge = layoutText(Layout.named("edge"));
let scopes = 0;
const newScope = () => `s${++scopes}`;

for (const date of DATES) {
  describe(`an object, ${date}`, () => {
    let server;
    let store;
    before(async () => {
      server = await WorkerServer.start({ date });
      store = server.store("OBJECTS");
    });
    after(() => server.stop());
    const object = (scope, verb, request) => server.call("object", { name: `lease/${scope}`, verb, request });

    test("a new object begins by itself, without a fence, and is then of one layout and one range", async () => {
      const scope = newScope();
      const first = await store.acquire(attempt({ scope, windowMs: 300_000 }));
      assert.deepEqual([first.granted, first.node, first.fromMs], [true, 576, 0]);
      assert.equal(first.untilMs, first.storeNowMs + 300_000);
      const other = await store.acquire(attempt({ scope, layout: edge }));
      assert.deepEqual([other.reason, other.layout], ["layout", layout]);
      const long = await store.acquire(attempt({ scope, windowMs: 600_001 }));
      assert.deepEqual([long.reason, long.windowMaxMs], ["window", 600_000]);
      const wide = server.store("OBJECTS", { nodes: { from: 0, to: 1023 } });
      assert.equal((await wide.acquire(attempt({ scope }))).node, 577, "a range that contains that of the object");
      const apart = server.store("OBJECTS", { nodes: { from: 0, to: 1000 } });
      await assert.rejects(
        apart.acquire(attempt({ scope })),
        told({
          name: "LeaseError",
          code: "STORE_REFUSED",
          message: /made for the node ids 576 to 1022, and this program asks for 0 to 1000\. Give every program/,
        }),
      );
    });

    test("an object that has the last node id of the layout, as older ones have, serves programs that do not ask for it", async () => {
      const scope = newScope();
      // What a store of an older version sends.
      const nodes = { from: 576, to: 1023 };
      const made = (await object(scope, "acquire", { ...attempt({ scope }), nodes })).value;
      assert.equal(made.node, 576);
      assert.equal((await store.acquire(attempt({ scope }))).node, 577);
      const explicit = newScope();
      await store.init({ scope: explicit, layout: "default", nodes });
      assert.equal((await store.acquire(attempt({ scope: explicit }))).node, 576);
      const fewer = server.store("OBJECTS", { nodes: { from: 576, to: 1022 } });
      await assert.rejects(fewer.acquire(attempt({ scope })), told({ code: "STORE_REFUSED", message: /576 to 1023/ }));
      const given = { ...attempt({ scope }), nodes, newNodes: { from: 2, to: 1 } };
      assert.equal((await object(scope, "acquire", given)).error.details.field, "newNodes");
    });

    test("init() is for another range or window, and refuses a scope that has begun", async () => {
      const scope = newScope();
      await assert.rejects(
        store.init({ scope, layout: "default", nodes: { from: 0, to: 9 } }),
        told({
          code: "INVALID_OPTION",
          message: /must be within 576 to 1023/,
        }),
      );
      await store.init({ scope, layout: "default", nodes: { from: 600, to: 600 }, windowMaxMs: 60_000 });
      assert.equal((await store.acquire(attempt({ scope }))).node, 600);
      assert.equal((await store.acquire(attempt({ scope }))).reason, "exhausted");
      await checkSecondInit(store, scope, { from: 600, to: 600 });
    });

    test("errors keep their class, code and fields on the way", async () => {
      const { error } = await object("x", "acquire", { ...attempt(), grant: "short", nodes: { from: 0, to: 1 } });
      assert.deepEqual([error.code, error.details.field, error.details.value], ["INVALID_ARGUMENT", "grant", "short"]);
      await assert.rejects(
        store.allocate({ ...numbers("never-made") }),
        told({
          name: "LeaseError",
          code: "STORE_NOT_INITIALISED",
          message: /await store\.initSegment\(\{ tag: "never-made" \}\)/,
        }),
      );
    });

    test("a range beyond the layout is refused before an object is asked", async () => {
      const beyond = server.store("OBJECTS", { nodes: { from: 1000, to: 1024 } });
      await assert.rejects(
        beyond.acquire(attempt({ scope: newScope() })),
        told({
          code: "INVALID_OPTION",
          field: "nodes",
          message: /nodes must be within 0 to 1023, the node ids of the layout, got { from: 1000, to: 1024 }/,
        }),
      );
    });

    test("what no store sends is refused with a code, and writes nothing", async () => {
      const scope = newScope();
      const record = { scope, layout, nodeFrom: 0, nodeTo: 9, windowMaxMs: 60_000 };
      for (const [verb, request] of [
        ["fence", null],
        ["init", null],
        ["init", { ...record, nodeTo: 0.5 }],
        ["init", { ...record, layout: "x".repeat(1_000_000) }],
        ["acquire", { ...attempt({ scope, layout: "x".repeat(1_000_000) }), nodes: { from: 0, to: 9 } }],
      ]) {
        const { error } = await object(scope, verb, request);
        assert.equal(error?.code, "INVALID_ARGUMENT", verb);
        assert.ok(`${error.message}${error.details.hint}`.length < 300);
      }
      await store.init({ scope, layout: "default", nodes: { from: 600, to: 600 } });
    });

    test("a table that somebody has changed is STORE_REFUSED, and not asked again and again", async () => {
      const scope = newScope();
      await store.acquire(attempt({ scope }));
      await object(scope, "sql", "ALTER TABLE frazil_leases RENAME COLUMN owner TO holder");
      await assert.rejects(
        store.acquire(attempt({ scope })),
        told({
          code: "STORE_REFUSED",
          retryable: false,
          message: /no such column: owner.*this class's own/,
        }),
      );
    });

    test("an object has one scope", async () => {
      const scope = newScope();
      await store.acquire(attempt({ scope }));
      const { error } = await object(scope, "acquire", { ...attempt({ scope: "another" }), nodes: { from: 0, to: 1 } });
      assert.equal(error.code, "STORE_REFUSED");
      assert.match(wholeText(error), /has the scope "s\d+", and was asked for "another"/);
    });

    // docs/internals/claims.md: 25
    test("an object that has lost its storage is fenced by the first renewal", async () => {
      const scope = newScope();
      const held = await store.acquire(attempt({ scope }));
      await object(scope, "deleteAll");
      const behind = await store.renew(renewalOf(held, { scope }));
      assert.deepEqual([behind.granted, behind.reason], [false, "behind"]);
      await store.ensure({ scope, behind: true });
      const lost = await store.renew(renewalOf(held, { scope }));
      assert.ok(["taken", "behind"].includes(lost.reason), lost.reason);
      const fenced = await store.acquire(attempt({ scope }));
      assert.equal(fenced.reason, "fenced");
      assert.ok(fenced.freeAtMs >= behind.storeNowMs + FENCE_MS, `${fenced.freeAtMs - behind.storeNowMs}`);
      assert.equal(await store.release(releaseOf(held, { scope })), false);
    });

    test("without a renewal before, an object that has lost its storage grants the node id again: fence() is for that", async () => {
      const scope = newScope();
      const held = await store.acquire(attempt({ scope }));
      await object(scope, "deleteAll");
      const again = await store.acquire(attempt({ scope }));
      assert.equal(overlaps([held, again]), 1, "the loss is noticed: change the page");
      const other = newScope();
      const one = await store.acquire(attempt({ scope: other }));
      await object(other, "deleteAll");
      const fence = await store.fence({ scope: other });
      assert.ok(fence >= one.untilMs);
      const fenced = await store.acquire(attempt({ scope: other }));
      assert.deepEqual([fenced.reason, fenced.freeAtMs], ["fenced", fence]);
      await server.call("jump", { ms: HOUR });
      try {
        const two = await store.acquire(attempt({ scope: other }));
        assert.deepEqual([two.node, two.fromMs], [one.node, fence]);
        assert.equal(overlaps([one, two]), 0);
      } finally {
        await server.call("jump", { ms: -HOUR });
      }
    });

    test("init() after fence() keeps the fence", async () => {
      const scope = newScope();
      const fence = await store.fence({ scope });
      await store.init({ scope, layout: "edge" });
      const { reason, freeAtMs } = await store.acquire(attempt({ scope, layout: edge }));
      assert.deepEqual([reason, freeAtMs], ["fenced", fence]);
      assert.equal(await store.init({ scope, layout: "edge" }), false);
      assert.equal((await store.acquire(attempt({ scope, layout: edge }))).freeAtMs, fence);
    });

    test("an object that is aborted keeps what it has answered, and takes back what it has not", async () => {
      const scope = newScope();
      const held = await store.acquire(attempt({ scope }));
      const aborted = await object(scope, "abortNow").catch((error) => error);
      assert.match(aborted.message, /aborted by a test/);
      const renewed = await store.renew(renewalOf(held, { scope }));
      assert.deepEqual([renewed.granted, renewed.node], [true, held.node]);
      const unanswered = { ...attempt({ scope }), nodes: { from: 576, to: 1023 } };
      await assert.rejects(object(scope, "writeAndAbort", unanswered), /aborted by a test/);
      const [{ grants }] = await object(scope, "sql", "SELECT count(grant_id) AS grants FROM frazil_leases");
      assert.equal(grants, 1);
    });

    test("calls that an abort strikes are STORE_UNAVAILABLE, with the runtime's error, and can be repeated", async () => {
      const scope = newScope();
      await store.acquire(attempt({ scope }));
      const requests = Array.from({ length: 40 }, () => attempt({ scope }));
      const calls = requests.map((request) => store.acquire(request).catch((error) => error));
      calls.splice(
        20,
        0,
        object(scope, "abortNow").catch((error) => error),
      );
      const struck = (await Promise.all(calls)).filter((answer) => FrazilError.is(answer));
      assert.ok(struck.length > 0, "the abort struck nothing");
      for (const { code, retryable, cause } of struck) {
        assert.deepEqual([code, retryable], ["STORE_UNAVAILABLE", true]);
        assert.match(cause.message, /aborted by a test/);
      }
      const leases = await Promise.all(requests.map((request) => store.acquire(request)));
      assert.equal(new Set(leases.map(({ node }) => node)).size, requests.length);
    });

    // docs/internals/claims.md: 22, 28
    test("workerd is killed three times under load: no window overlaps, and no number comes twice", async () => {
      const { leases, ranges } = await killed(server, store);
      assert.ok(leases.length > 50 && ranges.length > 50, `${leases.length} leases, ${ranges.length} ranges`);
      assert.equal(overlaps(leases), 0);
      assert.equal(new Set(ranges.map(({ first }) => first)).size, ranges.length);
    });

    // workerd has no recovery to a point in time: the folder is set back in its place.
    test("storage that goes back is not visible: fence() holds back until every window that was lost is over", async () => {
      const scope = newScope();
      await store.acquire(attempt({ scope }));
      const restore = await server.keepDisk();
      const lost = await store.acquire(attempt({ scope }));
      await restore();
      const again = await store.acquire(attempt({ scope }));
      assert.equal(overlaps([lost, again]), 1, "the restore is noticed: change the page");
      const behind = await store.renew(renewalOf({ ...lost, untilMs: lost.untilMs + HOUR }, { scope }));
      assert.equal(behind.reason, "behind", "a holder that knows more than the object notices");
      const fence = await store.fence({ scope });
      assert.ok(fence >= lost.untilMs);
      assert.equal((await store.acquire(attempt({ scope }))).reason, "fenced");
    });

    test("every hint has an object and node ids of its own, and so has no hint", async () => {
      const scope = newScope();
      const nodes = new Map();
      for (const locationHint of [undefined, ...LOCATION_HINTS]) {
        const hinted = server.store("OBJECTS", { locationHint });
        const { node } = await hinted.acquire(attempt({ scope, layout: edge, node: 16_383 }));
        nodes.set(locationHint, node);
      }
      const firsts = LOCATION_HINTS.map((_, at) => at * 1024);
      assert.deepEqual([...nodes.values()], [9 * 1024, ...firsts]);
      assert.equal((await server.store("OBJECTS", { locationHint: "oc" }).fence({ scope })) > 0, true);
      assert.equal((await store.acquire(attempt({ scope, layout: edge }))).granted, true, "a fence is of one object");
      const narrow = "0 1ms time41 node3 sequence12";
      await assert.rejects(
        server.store("OBJECTS", { locationHint: "oc" }).acquire(attempt({ scope: newScope(), layout: narrow })),
        told({ code: "STORE_REFUSED", field: "locationHint", message: /a layout with 8 node ids/ }),
      );
      assert.equal((await store.acquire(attempt({ scope: newScope(), layout: narrow }))).node, 0);
    });

    test("a store object may be kept between requests, also after an abort, and its namespace stands for it in a cache", async () => {
      const scope = newScope();
      const kept = () => server.call("kept", { verb: "acquire", request: attempt({ scope }) });
      assert.equal((await kept()).node, 576);
      await object(scope, "abortNow").catch(() => {});
      assert.equal((await kept()).node, 577);
      assert.equal(await server.call("identity", { binding: "OBJECTS" }), true);
    });

    test("a class under new_classes, and a class that grants nothing, are refused with what to write", async () => {
      await assert.rejects(
        server.store("OLD").acquire(attempt()),
        told({
          code: "STORE_REFUSED",
          message: /"new_sqlite_classes": \["FrazilLeases"\].*cannot be changed/s,
        }),
      );
      await assert.rejects(
        server.store("OTHER").acquire(attempt()),
        told({
          code: "STORE_REFUSED",
          message: /export \{ FrazilLeases \} from "frazil\/workers"/,
        }),
      );
    });
  });
}

test("the same with a disk that is lost at each kill: windows overlap", async () => {
  const server = await WorkerServer.start();
  try {
    const { leases } = await killed(server, server.store("OBJECTS"), () => server.loseDisk());
    assert.ok(overlaps(leases) > 0, "the mutant shows nothing");
  } finally {
    await server.stop();
  }
});

/** What a request has when workerd is gone. */
const AWAY = /fetch failed|terminated/;
const numbers = (tag) => ({
  tag,
  count: 10,
  maxCount: 1000,
  above: 0n,
  failoverSkip: 0,
  holder: hex(),
  attempt: hex(),
});

/**
 * Takes leases of eight node ids, and numbers, while workerd is killed three times. Returns what was granted. `loseDisk`: is called after
 * each kill, and loses the tag too.
 */
async function killed(server, store, loseDisk) {
  const scope = newScope();
  const tag = newTag();
  await store.initSegment({ tag });
  await store.init({ scope, layout: "default", nodes: { from: 600, to: 607 } });
  const leases = [];
  const ranges = [];
  let isOver = false;
  const known = (error) => {
    if (AWAY.test(error.message) || error.code?.startsWith("STORE_")) return undefined;
    throw error;
  };
  const worker = async () => {
    while (!isOver) {
      const lease = await store.acquire(attempt({ scope, windowMs: 20 })).catch(known);
      if (lease?.granted) leases.push(lease);
      const range = await store.allocate(numbers(tag)).catch(known);
      if (range) ranges.push(range);
      if (!lease || !range) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const working = Promise.all(Array.from({ length: 6 }, worker));
  const granted = () => (loseDisk ? leases.length : Math.min(leases.length, ranges.length));
  /** Waits until the workers were granted 20 more of each. */
  const more = async () => {
    const goal = granted() + 20;
    while (granted() < goal) await Promise.race([new Promise((resolve) => setTimeout(resolve, 20)), working]);
  };
  for (let kill = 0; kill < 3; kill++) {
    await more();
    await server.kill();
    await loseDisk?.();
    await server.start();
  }
  await more();
  isOver = true;
  await working;
  return { leases, ranges };
}

test("the hint of a place is the nearest", () => {
  const places = {
    wnam: { continent: "NA", country: "US", longitude: "-122.4" },
    enam: { continent: "NA", country: "US", longitude: "-74.0" },
    sam: { continent: "SA", country: "BR" },
    weur: { continent: "EU", country: "DE", longitude: "8.6" },
    eeur: { continent: "EU", country: "PL", longitude: "21.0" },
    apac: { continent: "AS", country: "JP" },
    oc: { continent: "OC", country: "NZ" },
    afr: { continent: "AF", country: "KE" },
    me: { continent: "AS", country: "AE" },
  };
  assert.deepEqual(Object.keys(places), [...LOCATION_HINTS], "the order decides which node ids a hint has");
  for (const [hint, cf] of Object.entries(places)) assert.equal(locationHintOf(cf), hint);
  for (const cf of [undefined, null, {}, { continent: "AN" }, { continent: "T1" }])
    assert.equal(locationHintOf(cf), undefined);
  assert.equal(locationHintOf({ continent: "NA" }), "enam");
  assert.equal(locationHintOf({ continent: "EU", longitude: "" }), "weur");
});

test("what is no namespace, and options that are none, are refused", () => {
  for (const given of [undefined, null, {}, "FRAZIL", { prepare() {}, batch() {} }])
    assert.throws(
      () => new DurableObjectStore(given),
      told({
        code: "INVALID_ARGUMENT",
        message: /"new_sqlite_classes": \["FrazilLeases"\]/,
      }),
    );
  assert.throws(() => new DurableObjectStore({ prepare() {}, batch() {} }), {
    code: "INVALID_ARGUMENT",
    hint: /D1Store of frazil\/stores\/d1 takes it\.$/,
  });
  const namespace = { idFromName() {}, get() {} };
  assert.equal(new DurableObjectStore(namespace).identity, namespace);
  for (const options of [{ locationHint: "mars" }, { nodes: { from: 2, to: 1 } }, { nodes: "0-9" }, { hint: "oc" }])
    assert.throws(() => new DurableObjectStore(namespace, options), { code: "INVALID_OPTION" });
});

test("outside Cloudflare's runtime frazil/workers has the same exports, and says what they need when they are used, not when they are imported", async () => {
  const workers = await import("frazil/workers");
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL("../../../npm/frazil/dist/workers.mjs", import.meta.url))],
    format: "esm",
    write: false,
    metafile: true,
  });
  assert.deepEqual(Object.keys(workers).sort(), Object.values(metafile.outputs)[0].exports.sort());
  const { durable, leased, segmented } = workers;
  for (const [use, name] of [
    [() => new FrazilLeases({}, {}), "FrazilLeases"],
    [() => durable({}), "durable()"],
    [() => leased({}), "leased()"],
    [() => segmented({}), "segmented()"],
  ])
    assert.throws(use, {
      code: "STORE_REFUSED",
      message: `STORE_REFUSED: ${name} needs Cloudflare's runtime`,
      hint: new RegExp(`Elsewhere, use ${name === "segmented()" ? "new Segment" : "lease"}\\(`),
    });
});
