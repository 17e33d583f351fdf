// `Snowflake.local()`: its IDs, its node id, and its options.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { ClockError, ConfigError, Layout, Snowflake } from "frazil";
import { errorOf } from "../base/bad-input.mjs";
import { ruled, ruleTextOf, wholeText } from "../base/rule-texts.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { rules } from "../vectors/generated-tables.mjs";
import { start } from "./child-process.mjs";
import { increasing, none, opened, times } from "./opened.mjs";
import { ceilingOf } from "./state-file.mjs";
import { tempDir } from "./temp-dir.mjs";

describe("IDs", () => {
  test("of one generator do not repeat, and increase", (t) => {
    const ids = opened(t, { dir: tempDir(), maxWaitMs: 1000 });
    const issued = [...times(20_000, ids.next), ...ids.nextMany(20_000), ...ids.fill(new BigUint64Array(20_000))];
    assert.equal(repeats(issued), 0);
    assert.ok(increasing(issued));
  });

  test("of two generators on one file come from one state", (t) => {
    const dir = tempDir();
    const [one, other] = [opened(t, { dir }), opened(t, { dir, maxLeadMs: 10 })];
    const issued = times(20_000, (at) => (at % 2 ? one : other).next());
    assert.equal(repeats(issued), 0);
    assert.equal(one.health().file.attached, 1, "the two have the file open once");
  });

  test("of worker threads come from one state", async () => {
    // All mint at one millisecond, and only after each has opened the file, because opening reads the real clock.
    const script = `
      const { parentPort, workerData } = require("node:worker_threads");
      const { Snowflake } = require("frazil");
      const ids = Snowflake.local({ dir: workerData.dir });
      const opened = new Int32Array(workerData.opened);
      Atomics.add(opened, 0, 1);
      Atomics.notify(opened, 0);
      for (let count; (count = Atomics.load(opened, 0)) < 4; ) Atomics.wait(opened, 0, count);
      Date.now = () => workerData.now;
      parentPort.postMessage(ids.nextMany(5000));
    `;
    const workerData = { dir: tempDir(), now: Date.now() + 30_000, opened: new SharedArrayBuffer(4) };
    const lists = times(4, () => {
      const worker = new Worker(script, { eval: true, workerData });
      return new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    });
    assert.equal(repeats((await Promise.all(lists)).flat()), 0);
  });

  /** IDs of two processes whose clocks stand still at the same millisecond. */
  async function ofTwoProcesses(t, ...opening) {
    const processes = await Promise.all([start(t), start(t)]);
    const now = Date.now() + 30_000;
    const all = (...command) => Promise.all(processes.map(({ call }) => call(...command)));
    await all("freezeClock", now);
    await all(...opening);
    return (await all("next", 500)).flat();
  }

  // docs/internals/claims.md: 12
  test("of two processes that create the file together come from one state", async (t) => {
    const dir = tempDir();
    assert.equal(repeats(await ofTwoProcesses(t, "open", { dir })), 0);
    assert.equal(readdirSync(dir).length, 1);
    const broken = await ofTwoProcesses(t, "openStatic", { node: 0 });
    assert.equal(repeats(broken), 500, "the checker must catch processes that share no state");
  });

  test("of processes that run one after another increase, however each of them ended", async (t) => {
    const dir = tempDir();
    const issued = [];
    for (const end of [
      ({ end }) => end(),
      ({ end }) => end("SIGTERM"),
      ({ call, exited }) => Promise.race([call("exit", 0), exited]).catch(() => exited),
      ({ call, end }) => call("close").then(() => end()),
    ]) {
      const child = await start(t);
      await child.call("open", { dir });
      issued.push(...(await child.call("next", 2000)));
      await end(child);
    }
    assert.equal(repeats(issued), 0);
    assert.ok(increasing(issued));
  });

  test("do not run ahead of the clock when processes restart quickly, because no time is reserved beyond the window", async (t) => {
    const dir = tempDir();
    const child = await start(t);
    const { issued, aheadMs } = await child.call("restart", { dir }, 1000);
    assert.ok(aheadMs <= 3001, `the ceiling was ${aheadMs} ms ahead`);
    for (let run = 0; run < 20; run++) {
      const child = await start(t);
      const { path } = await child.call("open", { dir });
      issued.push(...(await child.call("next", 1)));
      const ahead = ceilingOf(path) - Date.now();
      assert.ok(ahead <= 3001, `the ceiling is ${ahead} ms ahead after ${run} crashes`);
      await child.end();
    }
    assert.equal(repeats(issued), 0);
    assert.ok(increasing(issued));
  });
});

describe("the node id", () => {
  test("is the last one of the layout if none is given", () => {
    const dir = tempDir();
    for (const [options, node, parts] of [
      [{}, 1023, { node: 1023 }],
      [{ node: 7 }, 7, { node: 7 }],
      [{ layout: "twitter" }, 1023, { datacenter: 31, worker: 31 }],
      [{ layout: "twitter", node: { datacenter: 3, worker: 17 } }, 113, { datacenter: 3, worker: 17 }],
    ]) {
      const ids = Snowflake.local({ dir, ...options });
      assert.equal(ids.node, node);
      assert.deepEqual({ ...ids.decode(ids.next()).parts }, parts);
      assert.match(ids.health().file.path, new RegExp(`-${node}\\.frazil$`));
      ids.close();
    }
  });

  test("is absent in a layout without a node field", () => {
    const dir = tempDir();
    for (const options of [{}, { node: "none" }]) {
      const ids = Snowflake.local({ dir, layout: "mastodon", ...options });
      assert.equal(ids.node, undefined);
      assert.equal(ids.decode(ids.next()).node, undefined);
      ids.close();
    }
  });

  test('must be "none" if an orchestrator is detected and the layout has no node field', async (t) => {
    const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1" };
    const { call } = await start(t, { env });
    const options = { dir: tempDir(), layout: "mastodon" };
    const error = await errorOf(() => call("open", options));
    assert.deepEqual([error?.code, error?.field], ["NODE_REQUIRED", "node"]);
    await call("open", { ...options, node: "none" });
    assert.equal((await call("next", 3)).length, 3);
  });

  for (const [variable, who] of Object.entries({
    KUBERNETES_SERVICE_HOST: "Kubernetes",
    ECS_CONTAINER_METADATA_URI_V4: "Amazon ECS",
    ECS_CONTAINER_METADATA_URI: "Amazon ECS",
    AWS_LAMBDA_FUNCTION_NAME: "AWS Lambda",
    NOMAD_ALLOC_ID: "Nomad",
    K_SERVICE: "Cloud Run",
    CLOUD_RUN_JOB: "Cloud Run",
    CONTAINER_APP_NAME: "Azure Container Apps",
    WEBSITE_INSTANCE_ID: "Azure App Service",
    RENDER: "Render",
    RAILWAY_REPLICA_ID: "Railway",
    FLY_MACHINE_ID: "Fly.io",
    DYNO: "Heroku",
    SWARM_SERVICE_ID: "Docker Swarm",
    SWARM_NODE_ID: "Docker Swarm",
    SWARM_TASK_ID: "Docker Swarm",
    SWARM_TASK_SLOT: "Docker Swarm",
  })) {
    test(`must be given if ${variable} is set`, async (t) => {
      const dir = tempDir();
      t.after(() => delete process.env[variable]);
      process.env[variable] = "10.0.0.1";
      const error = await errorOf(() => Snowflake.local({ dir }));
      assert.ok(error instanceof ConfigError);
      assert.equal(error.code, "NODE_REQUIRED");
      assert.equal(error.field, "node");
      assert.match(
        wholeText(error),
        new RegExp(`since ${who} runs this process \\(the variable ${variable} is set\\)\\. Every other`),
      );
      assert.deepEqual(readdirSync(dir), []);
      opened(t, { dir, node: 1023 }).next();
      process.env[variable] = "";
      opened(t, { dir }).next();
    });
  }
});

describe("bad options", () => {
  const whole = (min, max) => rules.WHOLE_NUMBER.replace("{min}", min).replace("{max}", max);
  const known =
    "dir, node, scope, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart, freshness, startWaitMs, fileSystem, acceptUnprovenPlatform";
  const rows = [
    ["dir", "", "INVALID_OPTION", rules.A_PATH],
    ["dir", "a\0b", "INVALID_OPTION", rules.A_PATH],
    // Half of a surrogate pair has no UTF-8: replaced by U+FFFD it would open another directory.
    ...["/tmp/\ud800", "/tmp/\udc00x", "\ude00\ud83d"].map((dir) => ["dir", dir, "INVALID_OPTION", rules.A_PATH]),
    ["scope", "a\ud800", "INVALID_OPTION", rules.A_PATH],
    ["fileSystem", "a\ud800", "INVALID_OPTION", rules.A_PATH],
    ...[3, null, ["a"], Buffer.from("a")].map((dir) => ["dir", dir, "INVALID_OPTION", rules.TEXT_STRING]),
    ...["", "a b", "1st", "a/b", "..", "é", "s".repeat(33)].map((scope) => [
      "scope",
      scope,
      "INVALID_OPTION",
      rules.NAME_SYNTAX,
    ]),
    ["scope", 3, "INVALID_OPTION", rules.TEXT_STRING],
    ["fileSystem", 3, "INVALID_OPTION", rules.TEXT_STRING],
    ...["yes", 1, 0, null].map((accept) => ["acceptUnprovenPlatform", accept, "INVALID_OPTION", rules.TRUE_OR_FALSE]),
    ...[1001, -1, 1.5, "5", null].map((lead) => ["maxLeadMs", lead, "INVALID_OPTION", whole(0, 1000)]),
    ...[-1, 1.5, "5", null, Number.NaN].map((wait) => ["startWaitMs", wait, "INVALID_OPTION", whole(0, 2 ** 31 - 1)]),
    ["maxWaitMs", -1, "INVALID_OPTION", whole(0, 2 ** 31 - 1)],
    ["sequenceStart", "one", "INVALID_OPTION", rules.KNOWN_START],
    [
      "node",
      1024,
      "INVALID_NODE",
      `${whole(0, 1023)}\nCount from 0. A layout with more node bits needs another column.`,
    ],
    ["node", -1, "INVALID_NODE", `${whole(0, 1023)}\nCount from 0. A layout with more node bits needs another column.`],
    ["node", "none", "INVALID_NODE", rules.NODE_NOT_NONE],
    ["layout", "nope", "INVALID_LAYOUT", `${rules.KNOWN_LAYOUT}\nUse one of ${Layout.names.join(", ")}.`],
    ["now", Date.now, "INVALID_OPTION", 'unknown option "now"\nIt belongs to new Snowflake().'],
    ["unshared", true, "INVALID_OPTION", 'unknown option "unshared"\nIt belongs to new Snowflake().'],
    ["directory", "x", "INVALID_OPTION", `unknown option "directory"\nUse one of ${known}.`],
    ["startWait", 5, "INVALID_OPTION", 'unknown option "startWait"\nDid you mean "startWaitMs"?'],
    ["filesystem", "x", "INVALID_OPTION", 'unknown option "filesystem"\nDid you mean "fileSystem"?'],
  ];
  for (const [field, value, code, rule] of rows) {
    // The text of an option that does not exist may be a secret, of another library's `password` for instance.
    const shown = typeof value === "string" && rule.startsWith("unknown option") ? undefined : value;
    test(`${field}: ${typeof value} ${JSON.stringify(value)} is ${code}`, async () => {
      const dir = tempDir();
      const error = await errorOf(() => Snowflake.local({ dir, [field]: value }));
      assert.ok(error instanceof ConfigError, `${error}`);
      assert.deepEqual([error.code, error.field, error.value], [code, field, shown]);
      assert.equal(ruleTextOf(error), rule);
      assert.deepEqual(readdirSync(dir), []);
      const rejected = await errorOf(() => Snowflake.localAsync({ dir, [field]: value }));
      assert.deepEqual([rejected.code, rejected.field, rejected.value], [code, field, shown]);
    });
  }

  for (const options of [null, 5, "dir", true, 7n, () => 1]) {
    test(`${typeof options} ${options} instead of options is INVALID_OPTION`, async (t) => {
      const dir = tempDir();
      t.after(() => delete process.env.XDG_STATE_HOME);
      process.env.XDG_STATE_HOME = dir;
      for (const call of [Snowflake.local, Snowflake.localAsync]) {
        const error = await errorOf(() => call(options));
        // A text in place of options may be a URL with a password.
        const shown = typeof options === "string" ? undefined : options;
        assert.deepEqual([error?.code, error?.field, error?.value], ["INVALID_OPTION", "options", shown]);
        assert.match(ruleTextOf(error), /^must be a plain object\nWrite \{ dir, node, /);
      }
      assert.deepEqual(readdirSync(dir), []);
    });
  }

  test("a misspelt signal is INVALID_OPTION, and the error suggests the right name", async () => {
    const error = await errorOf(() => Snowflake.localAsync({ dir: tempDir(), singal: none }));
    assert.deepEqual(
      [error?.code, error?.field, error && ruleTextOf(error)],
      ["INVALID_OPTION", "singal", 'unknown option "singal"\nDid you mean "signal"?'],
    );
  });

  test("a scope of 32 characters, startWaitMs 0 and maxLeadMs 0 are accepted", (t) => {
    const options = { dir: tempDir(), scope: `S-_${"9".repeat(29)}` };
    // A new file waits for what a user of an earlier one can have issued.
    Snowflake.local(options).close();
    opened(t, { ...options, startWaitMs: 0, maxLeadMs: 0 }).next();
  });
});

test("opening that would wait longer than startWaitMs is refused, and the message offers localAsync()", async (t) => {
  const dir = tempDir();
  for (const open of [
    () => Snowflake.local({ dir, startWaitMs: 5 }),
    () => Snowflake.localAsync({ dir, startWaitMs: 5 }),
  ]) {
    const error = await errorOf(open);
    assert.ok(error instanceof ClockError, `${error}`);
    assert.deepEqual([error.code, error.retryable], ["CLOCK_BACKWARD", true]);
    assert.ok(error.retryAfterMs > 5 && error.retryAfterMs <= 1001, `${error.retryAfterMs}`);
    assert.equal(
      wholeText(error),
      `CLOCK_BACKWARD: opening the state file must wait until all that its earlier users can have issued is over. Retry after ${error.retryAfterMs} ms. Or raise startWaitMs: await Snowflake.localAsync() waits without blocking the event loop.`,
    );
  }
  opened(t, { dir }).next();
});

test("where the clock is hours behind, nothing is said of a restart, which repeats no IDs here", (t) => {
  const ids = opened(t, { dir: tempDir() });
  const real = Date.now;
  ids.next();
  t.mock.method(Date, "now", () => real() - 7_200_000);
  assert.throws(ids.next, (error) => {
    assert.equal(error.code, "CLOCK_BACKWARD");
    assert.match(wholeText(error), /due at 20.*In tests, use the option now or frazil\/testing\.$/);
    return true;
  });
});

test("an epoch from the clock of the process is refused, and leaves no file", async () => {
  const dir = tempDir();
  const expected = { code: "INVALID_LAYOUT", field: "epochMs", ...ruled(rules.EPOCH_MOVES) };
  const epochMs = new Date();
  assert.throws(() => Snowflake.local({ dir, epochMs }), expected);
  await assert.rejects(Snowflake.localAsync({ dir, epochMs }), expected);
  assert.deepEqual(readdirSync(dir), []);
});

test("tryNext() mints from a state file as next() does, and raises the ceiling where it has to", (t) => {
  const ids = opened(t, { dir: tempDir(), maxWaitMs: 1000 });
  const issued = Array.from({ length: 1000 }, (_, at) => (at % 2 === 0 ? ids.next() : ids.tryNext()));
  assert.ok(issued.every((id, at) => typeof id === "bigint" && (at === 0 || issued[at - 1] < id)));
});

test("without the addon local() is refused", async (t) => {
  const dir = tempDir();
  const child = await start(t, { env: { FRAZIL_BACKEND: "wasm" } });
  const error = await errorOf(() => child.call("open", { dir }));
  assert.equal(error.code, "NATIVE_REQUIRED");
  assert.match(wholeText(error), /new Snowflake\(\{ node \}\)/);
  assert.deepEqual(readdirSync(dir), []);
});
