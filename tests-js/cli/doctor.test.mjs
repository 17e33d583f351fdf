// `npx frazil doctor`: its findings, and that it leaves nothing behind.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Layout, Snowflake } from "frazil";
import { wholeText } from "../base/rule-texts.mjs";
import { CALLS, folder, frazil, hasAddon, program, root } from "./cli.mjs";

const native = { skip: !hasAddon && "needs the native addon" };

async function doctor(args = [], options) {
  const { stdout, stderr, code } = await frazil(["doctor", "--json", ...args], options);
  return { ...JSON.parse(stdout), stderr, code };
}

/** The header and the records of a state file, by which a start in another boot goes. The rest counts in this boot only. */
const onDisk = (path) => readFileSync(path).subarray(0, 65_536);

test("it names the versions, the platform and the backend", native, async () => {
  const { frazil: version, platform, backend, clock, stderr, code } = await doctor(["--node", "7"]);
  assert.equal(version, JSON.parse(readFileSync(join(root, "npm/frazil/package.json"), "utf8")).version);
  const { glibcVersionRuntime } = process.report.getReport().header;
  assert.deepEqual(platform, {
    node: process.version,
    nodeApi: process.versions.napi,
    system: `${process.platform}-${process.arch}`,
    libc: `glibc ${glibcVersionRuntime}`,
  });
  assert.deepEqual(backend, { name: "native", addon: `frazil-linux-x64-gnu ${version}`, causes: [] });
  assert.ok(Math.abs(Date.parse(clock.now) - Date.now()) < 60_000 && Number.isInteger(clock.stepMs));
  assert.deepEqual([stderr, code], ["", 0]);
});

test("where there is no state file, it tries one beside it, and leaves none", native, async () => {
  const dir = join(folder, "new/state");
  const { ok, local, code } = await doctor(["--dir", dir, "--scope", "orders"]);
  assert.deepEqual([ok, local.isThere, local.refusal, code], [true, false, undefined, 0]);
  assert.deepEqual([local.directory, existsSync(join(folder, "new"))], [dir, false]);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith(".frazil")),
    [],
  );
  // The file that it named is the one that a generator makes.
  Snowflake.local({ dir, scope: "orders" }).close();
  assert.ok(existsSync(local.path), local.path);
});

test("it looks for the file of its node id, and makes none beside those of others", native, async () => {
  const dir = join(folder, "others");
  Snowflake.local({ dir, node: 3 }).close();
  const [name] = readdirSync(dir);
  const { local } = await doctor(["--dir", dir]);
  assert.equal(local.isThere, false, "node 0 has no file there");
  assert.deepEqual(readdirSync(dir), [name]);
});

test(
  "of a state file that nobody uses it shows the ceiling, and leaves all that a start reads after a boot",
  native,
  async () => {
    const dir = join(folder, "closed");
    const ids = Snowflake.local({ dir });
    const lastMs = Layout.named("default").timestampOf(ids.next());
    const { path } = ids.health().file;
    ids.close();
    const before = onDisk(path);
    for (let looks = 0; looks < 2; looks++) {
      const { local, code } = await doctor(["--dir", dir]);
      assert.deepEqual([local.path, local.isThere, local.file.attached, code], [path, true, 1, 0]);
      assert.equal(local.file.ceilingMs, lastMs + 1, "the end of the last tick in which an ID was minted");
    }
    assert.deepEqual(onDisk(path), before);
    const text = (await frazil(["doctor", "--dir", dir])).stdout;
    const ceiling = new Date(lastMs + 1).toISOString();
    assert.match(text, new RegExp(`^ +ceiling +${ceiling}: no ID from this time on was issued$`, "m"));
    assert.match(text, /^ +used by +0 other processes$/m);
    assert.deepEqual(readdirSync(dir), [basename(path)]);
  },
);

test("of a state file that is in use it takes no ID", native, async (t) => {
  const dir = join(folder, "in-use");
  // Ticks of four seconds, so that the IDs before and after it are mostly of one tick, where a missing one shows.
  const { fields, ...rest } = Layout.named("default").toJSON();
  const [time, ...others] = fields;
  const layout = new Layout({ ...rest, tickMs: 4000, fields: [{ ...time, bits: 31 }, ...others] });
  const ids = Snowflake.local({ dir, layout, startWaitMs: 10_000 });
  t.after(() => ids.close());
  let [before, after] = [0n, 0n];
  do {
    before = ids.next();
    const { local, code } = await doctor(["--dir", dir, "--layout", JSON.stringify(layout)]);
    assert.deepEqual([local.path, local.file.attached, code], [ids.health().file.path, 2, 0]);
    after = ids.next();
  } while (layout.timestampOf(before) !== layout.timestampOf(after));
  assert.equal(after, before + 1n);
});

test("the directory is the one that a generator uses without one", native, async () => {
  for (const env of [{}, { STATE_DIRECTORY: join(folder, "service") }]) {
    const { local } = await doctor([], { env });
    await frazil(["next"], { env });
    assert.ok(existsSync(local.path), local.path);
    assert.equal((await doctor([], { env })).local.isThere, true);
  }
});

test("what keeps next from minting is the refusal of doctor, with exit code 1", native, async () => {
  const cases = [
    [["--dir", "/dev/shm"], {}, "UNSUPPORTED_FILE_SYSTEM"],
    [["--dir", "/proc"], {}, "UNSUPPORTED_FILE_SYSTEM"],
    [[], { KUBERNETES_SERVICE_HOST: "10.0.0.1" }, "NODE_REQUIRED"],
    [[], { FRAZIL_BACKEND: "wasm" }, "NATIVE_REQUIRED"],
    [["--scope", "or ders"], {}, "INVALID_OPTION"],
    [["--layout", "baidu", "--node", "7"], {}, "TIME_EXHAUSTED"],
    [["--node", "1024"], {}, "INVALID_NODE"],
  ];
  for (const [args, env, wanted] of cases) {
    const { ok, local, static: fixed, code } = await doctor(args, { env });
    const refusal = (local ?? fixed).refusal;
    const refused = refusal.code;
    assert.deepEqual([ok, refused, code], [false, wanted, 1], args.join(" "));
    assert.doesNotMatch(
      wholeText(refusal),
      /frazil-doctor/,
      "the folder in which it tried is not what the person asked about",
    );
    assert.equal((await frazil(["next", ...args], { env })).code, 1);
  }
  assert.deepEqual(
    readdirSync("/dev/shm").filter((name) => name.startsWith(".frazil")),
    [],
  );
});

test("what is no plain file or directory is found as a generator finds it", native, async () => {
  const dir = join(folder, "odd");
  Snowflake.local({ dir, scope: "there" }).close();
  const { local: there } = await doctor(["--dir", dir, "--scope", "there"]);
  const { local: other } = await doctor(["--dir", dir]);
  symlinkSync("/nonexistent/file", other.path);
  symlinkSync("/nonexistent/folder", join(folder, "dangling"));
  for (const [args, code] of [
    [["--dir", dir], "STATE_FILE_CORRUPT"],
    [["--dir", join(folder, "dangling")], "STATE_FILE_FAILED"],
    [["--dir", "/dev/null/x"], "STATE_FILE_FAILED"],
    [["--dir", "/proc"], "UNSUPPORTED_FILE_SYSTEM"],
  ]) {
    const { ok, local } = await doctor(args);
    const { stderr } = await frazil(["next", ...args]);
    assert.deepEqual([ok, local.refusal?.code], [false, code], args.join(" "));
    assert.ok(stderr.startsWith(`frazil: ${code}: `), stderr);
  }
  assert.ok(there.isThere);
});

test("ended by a signal, it leaves no folder", native, async () => {
  const dir = join(folder, "ended/state");
  mkdirSync(join(folder, "ended"));
  const child = spawn(process.execPath, [program, "doctor", "--dir", dir], { stdio: "ignore" });
  const ended = once(child, "close");
  while (readdirSync(join(folder, "ended")).length === 0 && child.exitCode === null) await setTimeout(1);
  assert.notDeepEqual(readdirSync(join(folder, "ended")), [], "it was ended before it had a folder");
  child.kill("SIGTERM");
  await ended;
  assert.deepEqual(readdirSync(join(folder, "ended")), []);
});

test("with a node id it looks for no state file", native, async () => {
  const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", FRAZIL_BACKEND: "wasm" };
  const { ok, local, static: fixed, backend, code } = await doctor(["--node", "7", "--layout", "edge"], { env });
  assert.deepEqual([ok, local, fixed, code], [true, undefined, { node: 7 }, 0]);
  assert.deepEqual(backend, { name: "wasm", why: "FRAZIL_BACKEND is wasm", causes: [] });
});

/** The package without an addon beside it. Returns the path of its command line. */
function withoutAddon() {
  const alone = join(folder, "alone/node_modules/frazil");
  mkdirSync(alone, { recursive: true });
  for (const name of ["dist", "package.json"])
    cpSync(join(root, "npm/frazil", name), join(alone, name), { recursive: true });
  return join(alone, "dist/cli.mjs");
}

test("refusals name what a person at the command line can do", async () => {
  const path = withoutAddon();
  for (const [args, env, told] of [
    [["next"], {}, /native addon.*\nhint: Install .*--node N\n$/],
    [["next"], { FRAZIL_BACKEND: "wasm" }, /FRAZIL_BACKEND=wasm forbids it\nhint: Unset it\..*--node N\n$/],
    [["next", "-n", "7"], { FRAZIL_BACKEND: "native" }, /FRAZIL_BACKEND=native.*\nhint: Install/],
  ]) {
    const { stdout, stderr, code } = await frazil(args, { env, path });
    assert.deepEqual([stdout, code], ["", 1]);
    assert.match(stderr, told);
    assert.match(stderr, /^frazil: NATIVE_REQUIRED: [^\n]+\nhint: [^\n]+\n$/);
    assert.doesNotMatch(stderr, CALLS);
    assert.ok(stderr.split(path).length <= 2, `a path twice: ${stderr}`);
  }
  const { stdout, stderr, code } = await frazil(["next", "-n", "7"], { path });
  assert.match(stdout, /^\d+\n$/);
  assert.deepEqual([stderr, code], ["", 0], "WebAssembly mints as well");
});

test("refusals of a state file name the option to give", native, async () => {
  for (const [args, env, told] of [
    [[], { KUBERNETES_SERVICE_HOST: "10.0.0.1" }, /NODE_REQUIRED: .*\nhint: .*--node N$/m],
    [["--dir", "/dev/shm"], {}, /UNSUPPORTED_FILE_SYSTEM: .*\nhint: Give a --dir on/],
    [["--dir", "/proc"], {}, /UNSUPPORTED_FILE_SYSTEM: .*\nhint: Give a --dir on/],
    [["--dir", process.execPath], {}, /STATE_FILE_FAILED: .*\nhint: Give a --dir that/],
    [["--epoch", "2200-01-01"], {}, /CLOCK_BEFORE_EPOCH: .*\nhint: .*, give an earlier --epoch\.$/m],
  ]) {
    const { stderr, code } = await frazil(["next", ...args], { env });
    assert.equal(code, 1);
    assert.match(stderr, told);
    assert.doesNotMatch(stderr, CALLS);
  }
});

test("of equal or known reasons doctor shows each once", async () => {
  const path = withoutAddon();
  for (const env of [{}, { FRAZIL_BACKEND: "native" }]) {
    const { stdout, stderr, code } = await frazil(["doctor"], { env, path });
    assert.deepEqual([stdout.split(path).length, stderr, code], [2, "", 1], stdout);
    assert.match(stdout, /^Snowflake\.local\(\) +NATIVE_REQUIRED/m);
  }
});

test("without an addon it says why, what to do, and what still works", async () => {
  const path = withoutAddon();
  const { ok, backend, static: fixed, local, code } = await doctor([], { path });
  assert.deepEqual([ok, backend.name, backend.why, code], [false, "wasm", "no addon loads", 1]);
  assert.ok(
    backend.causes.length > 0 && backend.causes.every((cause) => /frazil-|addon/.test(cause)),
    `${backend.causes}`,
  );
  assert.match(backend.remedy, /^Install .*\.$/);
  assert.deepEqual([fixed, local.refusal.code], [{ node: 0 }, "NATIVE_REQUIRED"]);
  const required = await doctor([], { path, env: { FRAZIL_BACKEND: "native" } });
  assert.deepEqual([required.ok, required.backend.refusal.code, required.code], [false, "NATIVE_REQUIRED", 1]);
});
