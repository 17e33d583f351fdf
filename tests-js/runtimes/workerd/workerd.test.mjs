// Cloudflare's runtime in miniflare, with a bundle as wrangler makes it: the wasm file is an import. Runs under Node 24, because
// miniflare needs 22.12 or newer.
//
// The beta version of miniflare 5 concerns its interface, not the runtime: the current wrangler is built on it. The newest
// miniflare 4 contains a workerd of 2026-07-30, whose clock at module scope is not that of production.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import { Log, LogLevel, Miniflare } from "miniflare";
import { bundle, expectedCounts } from "../bundle-and-run.mjs";
import { unwrap } from "../json-result.mjs";

/** The first workerd whose `Date.now()` is 0 at module scope, as it is in production (EDGE, result 6). */
const OLDEST_WORKERD = "1.20260807.2";
/** Compatibility dates, and `typeof FinalizationRegistry` under each. */
const DATES = { "2024-09-01": "undefined", "2026-11-01": "function" };

/** Starts a Worker with that compatibility date and no flags: `nodejs_compat` would hide that the package needs it. */
async function start(compatibilityDate, conditions = ["workerd", "worker", "browser"]) {
  const folder = await bundle(["workerd/worker.mjs"], {
    conditions,
    loader: { ".wasm": "copy" },
  });
  const contents = readdirSync(folder);
  const module = (type, name) => [
    name,
    { type, contents: readFileSync(`${folder}/${name}`, type === "esm" ? "utf8" : undefined) },
  ];
  const modules = Object.fromEntries([
    module("esm", "worker.mjs"),
    ...contents.filter((name) => name.endsWith(".wasm")).map((name) => module("wasm", name)),
  ]);
  const files = conditions.includes("workerd") ? 3 : 1;
  assert.equal(Object.keys(modules).length, files, `${contents}`);
  return new Miniflare({
    cf: false, // otherwise miniflare downloads a sample
    log: new Log(LogLevel.ERROR),
    logRequests: false,
    workers: [
      {
        config: {
          name: "frazil",
          compatibilityDate,
          manifest: { mainModule: "worker.mjs", modulesRoot: folder, modules },
          env: {},
          exports: {},
        },
        dev: { rootPath: folder },
      },
    ],
  });
}

/** The limit of the suite ends a request that hangs. */
async function request(miniflare, what) {
  const response = await miniflare.dispatchFetch(`http://frazil.test/${what}`);
  return unwrap(await response.json());
}

test(`workerd is ${OLDEST_WORKERD} or newer`, () => {
  const require = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const numbers = (version) => version.split(".").map(Number);
  const { version } = require("workerd/package.json");
  const [ours, oldest] = [version, OLDEST_WORKERD].map(numbers);
  const at = ours.findIndex((number, at) => number !== oldest[at]);
  assert.ok(at === -1 || ours[at] > oldest[at], `workerd ${version}`);
});

for (const [date, registry] of Object.entries(DATES)) {
  describe(`workerd, compatibility date ${date}`, () => {
    let miniflare;
    const ask = (what) => request(miniflare, what);

    before(async () => {
      miniflare = await start(date);
    });
    after(() => miniflare.dispose());

    const refused = { ours: true, code: "CLOCK_BEFORE_EPOCH" };

    test("at module scope, import and new Snowflake succeed, and minting is CLOCK_BEFORE_EPOCH", async () => {
      assert.deepEqual(await ask("module-scope"), {
        now: 0,
        registry,
        backend: "wasm",
        next: refused,
        nextMany: refused,
        spread: refused,
        decoded: "2016-04-30T11:18:25.796Z",
        layout: "2022-06-28T16:07:40.105Z",
      });
      const { id, lateMs } = await ask("after-module-scope");
      assert.match(id, /^\d{18,19}$/);
      assert.ok(lateMs >= 0 && lateMs < 1000, `${lateMs}`);
    });

    test("a random start draws its key in a request, not at module scope, where random numbers are forbidden", async () => {
      assert.deepEqual(await ask("random-start"), { issued: 200, repeats: 0, increasing: true });
    });

    test("the vectors hold", async () => assert.deepEqual(await ask("vectors"), await expectedCounts()));

    test("minting in a request works", async () => {
      const { backend, refusals, waitedMs } = await ask("minting");
      assert.equal(backend, "wasm");
      assert.deepEqual(
        refusals.filter((kind) => kind !== "SEQUENCE_EXHAUSTED 1"),
        [],
        "a Worker cannot block",
      );
      assert.ok(waitedMs > 0, "nextManyAsync waits");
    });

    test("100,000 IDs in one request, Date.now held: a tick of IDs, coded errors with retryAfterMs, no repeat", async () => {
      const { ours, broken } = await ask("100000-frozen");
      const rest = { "SEQUENCE_EXHAUSTED 1": 100_000 - 4096 };
      assert.deepEqual(ours, { issued: 4096, repeats: 0, increasing: true, refusals: rest });
      assert.equal(broken.issued, 100_000);
      assert.equal(broken.repeats, 100_000 - 4096, "the checker must catch the mutant");
      assert.deepEqual(await ask("frozen-again"), { issued: 2 * 4096, repeats: 0, increasing: true });
    });

    test("100,000 IDs in one request by nextAsync, on a clock that only timers move: all issued, no repeat", async () => {
      const { waitedMs, ...report } = await ask("100000-waiting");
      assert.deepEqual(report, { issued: 100_000, repeats: 0, increasing: true });
      assert.ok(waitedMs >= 24, `${waitedMs} ms for 25 ticks of IDs`);
    });

    test("nextAsync on a clock that never moves gives up after maxAsyncWaitMs", async () => {
      const { tookMs, ...error } = await ask("never-thawing");
      assert.deepEqual(error, { ours: true, code: "SEQUENCE_EXHAUSTED", retryAfterMs: 1 });
      assert.ok(tookMs >= 49 && tookMs < 5000, `${tookMs}`);
    });

    test("maxLeadMs must be 0, because the start time of an isolate is unknown", async () => {
      const { lead0, lead5, tooMany } = await ask("options");
      assert.deepEqual(lead0, { returned: "true" });
      assert.deepEqual(lead5, { ours: true, code: "INVALID_OPTION", field: "maxLeadMs" });
      assert.deepEqual(tooMany, { ours: true, code: "SEQUENCE_EXHAUSTED", field: "count", maxCount: 4096 });
    });

    test("concurrent requests, each with a generator of its own, share one state", async () => {
      const issued = (await Promise.all(Array.from({ length: 8 }, () => ask("together")))).flat();
      assert.equal(issued.length, 8 * 2000);
      assert.equal(new Set(issued).size, issued.length);
    });
  });
}

// Compiling WebAssembly at module scope is refused with dates before 2025-06-01 and allowed since; in a request it is always
// refused.
for (const [date, code] of Object.entries({ "2024-09-01": "WASM_UNAVAILABLE", "2026-11-01": "CLOCK_BEFORE_EPOCH" })) {
  test(`a bundle without the condition workerd, ${date}: minting at module scope is ${code}, decoding works`, async () => {
    const miniflare = await start(date, ["browser"]);
    try {
      const { next, decoded } = await request(miniflare, "module-scope");
      assert.deepEqual(next, { ours: true, code });
      assert.equal(decoded, "2016-04-30T11:18:25.796Z");
    } finally {
      await miniflare.dispose();
    }
  });
}
