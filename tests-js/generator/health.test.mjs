// Static node ids where one program runs as several processes: `health()` warns of them.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Snowflake } from "frazil";
import { isLinuxX64Gnu } from "../../scripts/shell.mjs";

const onLinux = { skip: !isLinuxX64Gnu && "needs Linux x64 with glibc" };

test("a process alone has no warning", () => {
  assert.deepEqual(new Snowflake({ node: 7 }).health().warnings, []);
});

/** Starts a program in a file beside this one, with a channel. Resolves to what it prints: on standard error too, if `channel` is. */
async function run(t, name, program, env = {}, channel = "stdout") {
  const file = fileURLToPath(new URL(`${name}-${process.pid}.mjs`, import.meta.url));
  writeFileSync(file, program);
  t.after(() => rmSync(file));
  const child = fork(file, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const [printed] = await Promise.all([text(child[channel]), once(child, "close")]);
  return printed.trimEnd();
}

test("a worker of node:cluster is warned: it has the variables of the others", onLinux, async (t) => {
  const program = `
    import cluster from "node:cluster";
    import { Snowflake } from "frazil";
    if (cluster.isPrimary) cluster.fork();
    else {
      for (const options of [{}, { unshared: true }, { now: Date.now }])
        console.log(new Snowflake({ node: 7, ...options }).health().warnings.join());
      process.exit();
    }
  `;
  const [given, ...others] = (await run(t, "of-the-cluster", program)).split("\n");
  assert.match(given, /^node is 7 in one of the workers of node:cluster, which repeat each other's IDs/);
  assert.equal(others.join(""), "");
});

test("one of several instances of pm2 is warned, also in fork mode, which has no cluster", onLinux, async (t) => {
  const program =
    'import { Snowflake } from "frazil"; console.log(new Snowflake({ node: 7 }).health().warnings.join()); process.exit();';
  // What pm2 7 gives to a program in fork mode.
  const of = (instances) => run(t, `of-${instances}`, program, { pm_id: "3", NODE_APP_INSTANCE: "0", instances });
  assert.match(await of("2"), /^node is 7 in one of the instances of pm2, which repeat each other's IDs/);
  assert.match(await of("max"), /^node is 7 in one of the instances of pm2/);
  assert.equal(await of("1"), "");
});

test("it is told once on standard error as well, when the first such generator is made", onLinux, async (t) => {
  const program = `
    import cluster from "node:cluster";
    import { Snowflake } from "frazil";
    if (cluster.isPrimary) cluster.fork();
    else {
      new Snowflake({ node: 7, unshared: true });
      new Snowflake({ node: 7, now: Date.now });
      for (const node of [7, 7, 8]) new Snowflake({ node });
      process.disconnect();
    }
  `;
  const printed = await run(t, "warned", program, { NODE_OPTIONS: "" }, "stderr");
  const warned = printed.split("\n").filter((line) => line.includes("frazil"));
  assert.equal(warned.length, 1, printed);
  assert.match(warned[0], /\[FRAZIL_STATIC_NODE\] Warning: frazil: node is 7 in one of the workers of node:cluster/);
});

test("a node id from an environment variable: decimal digits are a node id", () => {
  for (const [digits, node] of [
    ["0", 0],
    ["7", 7],
    ["1023", 1023],
    ["007", 7],
  ]) {
    const ids = new Snowflake({ node: digits, unshared: true, maxWaitMs: 1000 });
    assert.equal(ids.node, node);
    assert.equal(ids.decode(ids.next()).node, node);
  }
  assert.equal(new Snowflake({ layout: "twitter", node: "113" }).node, 113);
  // The same state as the number.
  const [one, other] = [new Snowflake({ node: "9", maxWaitMs: 1000 }), new Snowflake({ node: 9, maxWaitMs: 1000 })];
  const ids = Array.from({ length: 5000 }, (_, at) => (at % 2 ? one : other).next());
  assert.equal(new Set(ids).size, ids.length);
});
