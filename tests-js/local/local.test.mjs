// `Snowflake.local()`: its options, its IDs, and its state file.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { ClockError, ConfigError, Layout, Snowflake } from "frazil";
import { errorOf } from "../base/bad-input.mjs";
import { inNewProcess } from "../core/package-copy.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { rules } from "../vectors/generated-tables.mjs";
import { boot, NOBODY, pause, start, until, withMounts, withUsers } from "./child-process.mjs";
import { ceilingOf, keyOf, sip } from "./state-file.mjs";
import { sharedTempDir, tempDir } from "./temp-dir.mjs";

const times = (count, call) => Array.from({ length: count }, (_, at) => call(at));
const increasing = (ids) => ids.every((id, at) => at === 0 || ids[at - 1] < id);
const timestampOf = (id) => Layout.named("default").timestampOf(id);
const [none, reason] = [new AbortController().signal, new Error("enough")];

/** A generator that is closed when the test ends. */
function opened(t, options) {
  const ids = Snowflake.local(options);
  t.after(ids.close);
  return ids;
}

/** The path of the state file that options select. */
function fileOf(options) {
  const ids = Snowflake.local(options);
  const { file } = ids.health();
  ids.close();
  return file;
}

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

  // docs/safety.md: 12
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
      assert.match(error.message, new RegExp(`${variable} shows that ${who}`));
      assert.deepEqual(readdirSync(dir), []);
      opened(t, { dir, node: 1023 }).next();
      process.env[variable] = "";
      opened(t, { dir }).next();
    });
  }
});

describe("the file", () => {
  test("differs for another scope, node, epoch or layout, but not for another name of the same layout", () => {
    const dir = tempDir();
    const path = (options) => fileOf({ dir, ...options }).path;
    const others = [{ scope: "orders" }, { node: 1 }, { epochMs: 0 }, { layout: "twitter" }, { layout: "edge" }];
    assert.equal(new Set([{}, ...others].map(path)).size, 1 + others.length);
    const same = { scope: "default", node: 1023, layout: "default", maxLeadMs: 0, sequenceStart: "wrap" };
    assert.equal(path(same), path({}));
    const twitter = { layout: "twitter", node: { datacenter: 3, worker: 17 } };
    assert.equal(path({ layout: "leaf", node: 113 }), path(twitter));
  });

  test("is the same for all paths of its directory", () => {
    const dir = tempDir();
    const link = join(dirname(dir), "link");
    symlinkSync(dir, link);
    const { path } = fileOf({ dir });
    for (const name of [link, `${dir}/`, `${dir}/../c`, `${link}/../c`]) {
      assert.equal(realpathSync(fileOf({ dir: name }).path), realpathSync(path), name);
    }
  });

  test("is in no directory that depends on the working directory", () => {
    const dir = tempDir();
    for (const [name, hint] of [
      [relative(process.cwd(), dir), `From here it is ${process.cwd()}`],
      ["./state", `From here it is ${join(process.cwd(), "state")}`],
      ["state", "is another directory in each working directory"],
      ["~/state", "Shells write the home directory for ~"],
    ])
      assert.throws(
        () => fileOf({ dir: name }),
        ({ code, field, message }) => code === "INVALID_OPTION" && field === "dir" && message.includes(hint),
        name,
      );
    for (const name of ["state", "~"]) assert.ok(!existsSync(join(process.cwd(), name)), name);
  });

  test("is the same for containers that mount its directory as a volume at different paths", withMounts, async (t) => {
    const dir = tempDir();
    const ids = opened(t, { dir });
    const issued = ids.nextMany(1000);
    for (const attached of [2, 3]) {
      const volume = tempDir();
      const container = await start(t, { asPid1: true, mounts: [`mount --bind ${dir} ${volume}`] });
      assert.equal((await container.call("open", { dir: volume })).attached, attached);
      issued.push(...(await container.call("next", 1000)), ...ids.nextMany(1000));
    }
    assert.equal(repeats(issued), 0);
    assert.ok(increasing(issued));
  });

  test("is created with its directories, which only its user may access", () => {
    const dir = join(tempDir(), "some", "where");
    fileOf({ dir });
    for (const made of [dir, dirname(dir)]) assert.equal(statSync(made).mode & 0o777, 0o700);
  });

  for (const [ofDir, ofFile] of [
    [0o700, 0o600],
    [0o755, 0o600],
    [0o770, 0o660],
    [0o775, 0o660],
    [0o1777, 0o666],
  ]) {
    test(`is open to the users who may create files beside it: mode ${ofFile.toString(8)} in ${ofDir.toString(8)}`, () => {
      const dir = tempDir();
      chmodSync(dir, ofDir);
      assert.equal(statSync(fileOf({ dir }).path).mode & 0o7777, ofFile);
    });
  }

  const unset = { STATE_DIRECTORY: undefined, XDG_STATE_HOME: undefined, HOME: undefined };
  // A path that begins with a slash lies in the directory of the test.
  for (const [given, expected] of [
    [{ STATE_DIRECTORY: "/service", XDG_STATE_HOME: "/state", HOME: "/home" }, "/service/frazil"],
    [{ STATE_DIRECTORY: "/first:/second", XDG_STATE_HOME: "/state", HOME: "/home" }, "/first/frazil"],
    [{ STATE_DIRECTORY: "", XDG_STATE_HOME: "/state", HOME: "/home" }, "/state/frazil"],
    [{ XDG_STATE_HOME: "relative", HOME: "/home" }, "/home/.local/state/frazil"],
  ]) {
    test(`lies in ${expected} with the environment ${JSON.stringify(given)}`, async (t) => {
      const at = tempDir();
      mkdirSync(join(at, "home"));
      const env = Object.entries(given).map(([name, paths]) => [name, paths.replaceAll("/", `${at}/`)]);
      const child = await start(t, { env: { ...unset, ...Object.fromEntries(env) } });
      const { path } = await child.call("open", {});
      assert.equal(dirname(path), at + expected);
    });
  }

  test("cannot be placed if the environment names no directory, and the opening is refused", async (t) => {
    const child = await start(t, { env: unset });
    const error = await errorOf(() => child.call("open", {}));
    assert.equal(error.code, "INVALID_OPTION");
    assert.equal(error.field, "dir");
    assert.match(error.message, /dir must be given.*HOME.*STATE_DIRECTORY.*XDG_STATE_HOME/);
  });

  test("is described by health()", async (t) => {
    const dir = tempDir();
    const ids = opened(t, { dir });
    assert.equal(ids.health().ok, true);
    const before = Date.now();
    ids.next();
    const { path, fileSystem, ceilingMs, attached, raises, distrustedMs, ...rest } = ids.health().file;
    assert.deepEqual(rest, { blind: false, locked: true });
    assert.equal(join(dir, readdirSync(dir)[0]), path);
    assert.match(fileSystem, /^(ext4|xfs|btrfs|zfs|f2fs)$/);
    assert.equal(ceilingMs, ceilingOf(path));
    assert.ok(ceilingMs >= before + 3000, `${ceilingMs} is less than 3 s after ${before}`);
    assert.ok(raises >= 1);
    assert.deepEqual({ attached, distrustedMs }, { attached: 1, distrustedMs: 0 });
    const other = await start(t);
    assert.equal((await other.call("open", { dir })).attached, 2);
    assert.equal(ids.health().file.attached, 2);
    await other.end();
    assert.equal(ids.health().file.attached, 1);
    assert.deepEqual(ids.health().warnings, []);
    assert.equal(new Snowflake({ node: 3 }).health().file, undefined);
  });

  test("is used even if the user may not lock it in memory, and health() warns", withUsers, () => {
    const dir = sharedTempDir();
    const script = `
      const ids = require("frazil").Snowflake.local({ dir: ${JSON.stringify(dir)} });
      ids.next();
      const { warnings, file } = ids.health();
      console.log(JSON.stringify({ warnings, locked: file.locked }));
    `;
    const options = { ...NOBODY, cwd: import.meta.dirname ?? dirname(fileURLToPath(import.meta.url)) };
    const shell = ["-ec", 'ulimit -l 0; exec "$0" -e "$1"', process.execPath, script];
    const { warnings, locked } = JSON.parse(execFileSync("sh", shell, { encoding: "utf8", ...options }));
    assert.equal(locked, false);
    assert.match(warnings.join(), /not locked in memory: raise the limit \(ulimit -l/);
  });

  test("makes calls wait when its window is over, and stats() counts these waits", (t) => {
    const dir = tempDir();
    const ids = opened(t, { dir });
    assert.deepEqual([ids.stats().extensions, ids.health().file.raises], [0, 0]);
    ids.next();
    const { extensions } = ids.stats();
    assert.ok(extensions >= 1, "a new file has reserved nothing yet");
    assert.ok(ids.health().file.raises >= extensions);
    ids.close();
    assert.equal(ids.stats().extensions, extensions);
  });
});

test("a realm without TextEncoder, TextDecoder and crypto opens the same file, also by a name beyond ASCII", async () => {
  const dir = join(tempDir(), "ordner-ä-\u{1f41f}-%41");
  const path = fileOf({ dir }).path;
  const script = `
    for (const name of ["TextEncoder", "TextDecoder", "crypto"]) delete globalThis[name];
    const { Snowflake } = await import("frazil");
    const ids = Snowflake.local({ dir: ${JSON.stringify(dir)} });
    process.stdout.write(JSON.stringify([ids.nextMany(2).length, ids.health().file.path]));
    ids.close();
  `;
  assert.deepEqual(await inNewProcess(script), [2, path]);
  assert.ok(path.startsWith(`${dir}/`) && existsSync(path), path);
});

describe("bad options", () => {
  const whole = (min, max) => rules.WHOLE_NUMBER.replace("{min}", min).replace("{max}", max);
  const known =
    "dir, node, scope, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart, freshness, startWaitMs, fileSystem, acceptUnprovenPlatform";
  const hint = (text) => `${rules.KNOWN_KEY} (${text})`;
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
    ["node", 1024, "INVALID_NODE", whole(0, 1023)],
    ["node", -1, "INVALID_NODE", whole(0, 1023)],
    ["node", "none", "INVALID_NODE", rules.NODE_NOT_NONE],
    ["layout", "nope", "INVALID_LAYOUT", `${rules.KNOWN_LAYOUT}: ${Layout.names.join(", ")}`],
    ["now", Date.now, "INVALID_OPTION", `${rules.KNOWN_KEY}: it belongs to new Snowflake()`],
    ["unshared", true, "INVALID_OPTION", `${rules.KNOWN_KEY}: it belongs to new Snowflake()`],
    ["directory", "x", "INVALID_OPTION", hint(`one of ${known}`)],
    ["startWait", 5, "INVALID_OPTION", hint("did you mean startWaitMs?")],
    ["filesystem", "x", "INVALID_OPTION", hint("did you mean fileSystem?")],
  ];
  for (const [field, value, code, rule] of rows) {
    // The text of an option that does not exist may be a secret, of another library's `password` for instance.
    const shown = typeof value === "string" && rule.startsWith(rules.KNOWN_KEY) ? undefined : value;
    test(`${field}: ${typeof value} ${JSON.stringify(value)} is ${code}`, async () => {
      const dir = tempDir();
      const error = await errorOf(() => Snowflake.local({ dir, [field]: value }));
      assert.ok(error instanceof ConfigError, `${error}`);
      assert.deepEqual([error.code, error.field, error.value], [code, field, shown]);
      assert.equal(error.rule, rule);
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
        assert.match(error.rule, /^must be a plain object: \{ dir, node, /);
      }
      assert.deepEqual(readdirSync(dir), []);
    });
  }

  test("a misspelt signal is INVALID_OPTION, and the error suggests the right name", async () => {
    const error = await errorOf(() => Snowflake.localAsync({ dir: tempDir(), singal: none }));
    assert.deepEqual(
      [error?.code, error?.field, error?.rule],
      ["INVALID_OPTION", "singal", hint("did you mean signal?")],
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
      error.message,
      `CLOCK_BACKWARD: Opening the state file waits until all that earlier users of it can have issued is over. Retry after ${error.retryAfterMs} ms, or raise startWaitMs: await Snowflake.localAsync() waits without blocking the event loop.`,
    );
  }
  opened(t, { dir }).next();
});

test("where the clock is hours behind, nothing is said of a restart, which repeats no IDs here", (t) => {
  const ids = opened(t, { dir: tempDir() });
  const real = Date.now;
  ids.next();
  t.mock.method(Date, "now", () => real() - 7_200_000);
  assert.throws(ids.next, ({ code, message }) => {
    assert.equal(code, "CLOCK_BACKWARD");
    assert.match(message, /due at 20.*In tests, use the option now or frazil\/testing \(docs\/testing\.md\)\.$/);
    return true;
  });
});

test("an epoch from the clock of the process is refused, and leaves no file", async () => {
  const dir = tempDir();
  const expected = { code: "INVALID_LAYOUT", field: "epochMs", rule: rules.EPOCH_MOVES };
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

describe("a state has one kind of generator in a process, and one sequenceStart", () => {
  test("another sequenceStart is refused while any process uses the file, and accepted afterwards", async (t) => {
    const dir = tempDir();
    const ids = Snowflake.local({ dir, sequenceStart: "random" });
    ids.next();
    const other = await start(t);
    const attempts = [
      (sequenceStart) => Snowflake.local({ dir, sequenceStart }),
      (sequenceStart) => other.call("open", { dir, sequenceStart }),
    ];
    for (const attempt of attempts) {
      for (const sequenceStart of [undefined, "zero", "wrap"]) {
        const error = await errorOf(() => attempt(sequenceStart));
        assert.equal(error.code, "STATE_CONFLICT");
        assert.equal(error.field, "sequenceStart");
        assert.match(error.message, /is in use with another sequenceStart/);
      }
    }
    const last = ids.next();
    assert.equal(ids.health().file.attached, 1);
    ids.close();
    await other.call("open", { dir, sequenceStart: "wrap" });
    const [next] = await other.call("next", 1);
    assert.ok(
      timestampOf(next) > timestampOf(last),
      "with another start, a position in a tick is another ID, so a new tick must begin",
    );
  });

  test("a static generator is refused if local() has one with its node id in the process, and the other way round", async (t) => {
    const dir = tempDir();
    const conflict = { code: "STATE_CONFLICT", field: "node", rule: rules.ONE_KIND };
    opened(t, { dir, node: 20 });
    const fixed = new Snowflake({ node: 21 });
    assert.throws(() => new Snowflake({ node: 20 }), conflict);
    assert.throws(() => new Snowflake({ node: 20, layout: { ...Layout.named("default").toJSON() } }), conflict);
    assert.throws(() => Snowflake.local({ dir, node: 21 }), conflict);
    assert.throws(() => Snowflake.local({ dir, node: 21, scope: "default" }), conflict);
    await assert.rejects(Snowflake.localAsync({ dir, node: 21 }), conflict);
    // The value is the node id that `local()` takes if none is given.
    new Snowflake({ node: 1023, layout: "cosid" });
    assert.throws(() => Snowflake.local({ dir, layout: "cosid" }), {
      ...conflict,
      value: 1023,
      message: /: node is 1023: /,
    });
    const nodeless = Layout.named("mastodon").with({ epochMs: 5 });
    new Snowflake({ node: "none", layout: nodeless });
    assert.throws(() => Snowflake.local({ dir, layout: nodeless }), { ...conflict, value: "none" });
    fixed.next();
    assert.equal(readdirSync(dir).length, 1);
    // IDs of another scope, another layout or a simulated clock need not differ from these.
    opened(t, { dir: tempDir(), node: 21, scope: "orders" }).next();
    opened(t, { dir: tempDir(), node: 21, layout: "edge" }).next();
    new Snowflake({ node: 20, layout: "edge" }).next();
    new Snowflake({ node: 20, now: Date.now }).next();
  });

  test("after local() was refused, a static generator with the node id is accepted", () => {
    for (const [code, options] of [
      ["UNSUPPORTED_FILE_SYSTEM", { node: 23, dir: "/dev/shm" }],
      ["INVALID_OPTION", { node: 24, dir: "" }],
      ["INVALID_OPTION", { node: 25, dir: tempDir(), startWaitMs: -1 }],
    ]) {
      assert.throws(() => Snowflake.local(options), { code });
      new Snowflake({ node: options.node }).next();
    }
  });

  test("a static generator is still refused after the one of local() is closed, because it cannot know the IDs that were issued", () => {
    Snowflake.local({ dir: tempDir(), node: 22 }).close();
    assert.throws(() => new Snowflake({ node: 22 }), { code: "STATE_CONFLICT" });
  });
});

describe("sequenceStart", () => {
  /** The first sequence numbers of ticks, minted by a process of its own, for each `sequenceStart`. */
  const STARTS = {
    random: (hash) => Number(hash & 1023n),
    // The hash is added to the position in the tick, and the first position is 0.
    wrap: (hash) => Number(hash & 4095n),
  };
  for (const [sequenceStart, expected] of Object.entries(STARTS)) {
    const startsAtItsHash = (later) => async (t) => {
      const dir = tempDir();
      let key;
      const issued = [];
      for (const machine of [{}, later]) {
        const child = await start(t, machine);
        const { path } = await child.call("open", { dir, sequenceStart });
        key ??= keyOf(path);
        assert.deepEqual(keyOf(path), key);
        for (let tick = 0; tick < 5; tick++) {
          const [id] = await child.call("next", 1);
          await until(() => Date.now() > timestampOf(id));
          issued.push(id);
        }
        await child.call("close");
        await child.end();
      }
      const bytes = Buffer.alloc(8);
      for (const id of issued) {
        const { sequence } = Layout.named("default").decode(id);
        bytes.writeBigUInt64LE(id >> 22n);
        assert.equal(sequence, expected(sip(bytes, ...key)));
      }
      assert.ok(new Set(issued.map((id) => id & 4095n)).size > 1);
    };
    const name = `${sequenceStart}: a tick starts at its hash under the key in the file`;
    test(`${name}, also after a restart`, startsAtItsHash({}));
    test(`${name}, also after another boot`, withMounts, startsAtItsHash({ boot: boot() }));
  }
});

describe("close()", () => {
  test("closes one generator, and not the others on its file", async (t) => {
    const dir = tempDir();
    const [one, other] = [Snowflake.local({ dir }), opened(t, { dir })];
    const issued = [one.next(), other.next()];
    one.close();
    one.close();
    for (const call of [one.next, () => one.nextMany(1), one.health]) assert.throws(call, { code: "CLOSED" });
    await assert.rejects(one.nextAsync(), { code: "CLOSED" });
    assert.equal(one.stats().issued, 1);
    issued.push(...times(100, other.next));
    assert.equal(repeats(issued), 0);
    assert.equal(other.health().file.attached, 1);
  });

  test("is what `using` calls", () => {
    const ids = Snowflake.local({ dir: tempDir() });
    ids[Symbol.dispose]();
    assert.throws(ids.next, { code: "CLOSED" });
  });

  // docs/safety.md: 10, 13
  test("of the last generator lowers the ceiling on disk to the end of the last tick used", async (t) => {
    const dir = tempDir();
    const child = await start(t);
    const { path } = await child.call("open", { dir });
    const ids = Snowflake.local({ dir });
    const last = ids.next();
    const reserved = ceilingOf(path);
    assert.ok(reserved >= timestampOf(last) + 3000);
    ids.close();
    assert.ok(ceilingOf(path) >= reserved, "the ceiling must stay while another process is attached");
    const [after] = await child.call("next", 1);
    await child.call("close");
    assert.ok(after > last);
    assert.equal(ceilingOf(path), timestampOf(after) + 1);
  });

  test("of a generator that never minted changes nothing", () => {
    const dir = tempDir();
    const { path } = fileOf({ dir });
    const reserved = ceilingOf(path);
    assert.equal(fileOf({ dir }).ceilingMs, reserved);
    assert.equal(ceilingOf(path), reserved);
  });
});

describe("localAsync()", () => {
  test("gives the same generator as local()", async (t) => {
    const dir = tempDir();
    const ids = await Snowflake.localAsync({ dir, signal: none, node: 7 });
    t.after(ids.close);
    assert.ok(ids instanceof Snowflake);
    const mutant = opened(t, { dir, node: 7 });
    const issued = times(1000, (at) => (at % 2 ? ids : mutant).next());
    assert.equal(repeats(issued), 0);
    assert.equal(ids.health().file.path, mutant.health().file.path);
  });

  test("creates no file if its signal is already aborted", async () => {
    const dir = tempDir();
    await assert.rejects(Snowflake.localAsync({ dir, signal: AbortSignal.abort(reason) }), reason);
    assert.deepEqual(readdirSync(dir), []);
  });

  for (const signal of [null, 5, {}, new AbortController()]) {
    test(`refuses a signal that is ${JSON.stringify(signal)}`, async () => {
      const dir = tempDir();
      const error = await errorOf(() => Snowflake.localAsync({ dir, signal }));
      assert.deepEqual([error.code, error.field, error.rule], ["INVALID_OPTION", "signal", rules.A_SIGNAL]);
      assert.deepEqual(readdirSync(dir), []);
    });
  }

  /** A directory whose state file makes an opening wait: a file with the same name is in use, and was moved elsewhere. */
  function contested(t, options) {
    const dir = tempDir();
    const { path } = opened(t, { dir, ...options }).health().file;
    renameSync(path, `${path}.old`);
    return { dir, ...options };
  }

  describe("waits", { concurrency: true }, () => {
    test("without holding the event loop", async (t) => {
      const options = contested(t);
      let turns = 0;
      const timer = setInterval(() => turns++, 10);
      const ids = await Snowflake.localAsync(options);
      clearInterval(timer);
      t.after(ids.close);
      assert.ok(turns > 0);
      ids.next();
    });

    test("until its signal is aborted, and then closes the file", async (t) => {
      const { dir } = contested(t, { scope: "orders" });
      const aborter = new AbortController();
      const waiting = Snowflake.localAsync({ dir, scope: "orders", signal: aborter.signal });
      setTimeout(() => aborter.abort(reason), 20);
      await assert.rejects(waiting, reason);
      const other = await start(t);
      const { path, attached } = await other.call("open", { dir, scope: "orders" });
      assert.match(path, /orders-/);
      assert.equal(attached, 1, "only the other process is attached");
    });

    test("no longer than startWaitMs", async (t) => {
      const { dir } = contested(t, { scope: "orders" });
      const options = { dir, scope: "orders", startWaitMs: 0 };
      for (const attempt of [() => Snowflake.local(options), () => Snowflake.localAsync(options)]) {
        const error = await errorOf(attempt);
        assert.ok(error instanceof ConfigError);
        assert.deepEqual([error.code, error.field], ["STATE_CONFLICT", "dir"]);
        assert.match(
          error.message,
          /another state file of the name \S*orders-\S* is in use.*was moved, deleted or covered by a mount.*End it, or pass/,
        );
      }
      const other = await start(t);
      assert.equal((await other.call("open", { dir, scope: "orders" })).attached, 1);
    });
  });
});

describe("while another process holds the lock of the file that is opened", { concurrency: true }, () => {
  /** A directory with a state file whose lock is held by a process that is stopped while it opens the file. */
  async function held(t) {
    const [dir, paused] = [tempDir(), pause()];
    const holder = await start(t, { pause: paused });
    paused.once("read");
    const opening = holder.call("open", { dir });
    await holder.untilStopped();
    const go = () => {
      holder.resume();
      return opening;
    };
    return { dir, go };
  }

  test("localAsync() blocks neither the event loop nor the opening of another generator", async (t) => {
    const { dir, go } = await held(t);
    let settled = false;
    const opening = Snowflake.localAsync({ dir }).finally(() => {
      settled = true;
    });
    // Each iteration opens a generator, as a server might do for each request.
    for (let turn = 0; turn < 20; turn++) {
      new Snowflake({ node: 300 + turn }).next();
      await sleep(5);
    }
    assert.equal(settled, false);
    await go();
    const ids = await opening;
    t.after(ids.close);
    ids.next();
  });

  test("local() in a worker thread does not block the opening of a generator in the main thread", async (t) => {
    const { dir, go } = await held(t);
    const program = `
      const { parentPort, workerData } = require("node:worker_threads");
      const { Snowflake } = require("frazil");
      parentPort.postMessage("opening");
      const ids = Snowflake.local({ dir: workerData });
      parentPort.postMessage("opened");
      ids.close();
    `;
    const worker = new Worker(program, { eval: true, workerData: dir });
    t.after(() => worker.terminate());
    const said = [];
    worker.on("message", (word) => said.push(word));
    await until(() => said.length > 0);
    for (let turn = 0; turn < 20; turn++) {
      new Snowflake({ node: 400 + turn }).next();
      await sleep(5);
    }
    assert.deepEqual(said, ["opening"]);
    await go();
    await until(() => said.length > 1);
  });

  test("an aborted localAsync() rejects at once, and closes the file as soon as it is opened", async (t) => {
    const { dir, go } = await held(t);
    const aborter = new AbortController();
    const opening = Snowflake.localAsync({ dir, signal: aborter.signal });
    setTimeout(() => aborter.abort(reason), 10);
    await assert.rejects(opening, reason);
    await go();
    const ids = opened(t, { dir });
    await until(() => ids.health().file.attached === 2);
  });

  test("two calls of localAsync() for one file share it", async (t) => {
    const { dir, go } = await held(t);
    const opening = [0, 1].map(() => Snowflake.localAsync({ dir }));
    await sleep(20);
    await go();
    const [one, other] = await Promise.all(opening);
    for (const ids of [one, other]) t.after(ids.close);
    assert.equal(one.health().file.attached, 2, "this process and the other one are attached");
    assert.equal(repeats(times(1000, (at) => (at % 2 ? one : other).next())), 0);
  });
});

test("without the addon local() is refused", async (t) => {
  const dir = tempDir();
  const child = await start(t, { env: { FRAZIL_BACKEND: "wasm" } });
  const error = await errorOf(() => child.call("open", { dir }));
  assert.equal(error.code, "NATIVE_REQUIRED");
  assert.match(error.message, /new Snowflake\(\{ node \}\)/);
  assert.deepEqual(readdirSync(dir), []);
});
