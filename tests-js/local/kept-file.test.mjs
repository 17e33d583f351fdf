// The state file of `Snowflake.local()`: its place, its content, and what `close()` leaves in it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, statSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Layout, Snowflake } from "frazil";
import { errorOf } from "../base/bad-input.mjs";
import { ruled, wholeText } from "../base/rule-texts.mjs";
import { inNewProcess } from "../core/package-copy.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { rules } from "../vectors/generated-tables.mjs";
import { boot, NOBODY, start, until, withMounts, withUsers } from "./child-process.mjs";
import { increasing, opened, times } from "./opened.mjs";
import { ceilingOf, keyOf, sip } from "./state-file.mjs";
import { sharedTempDir, tempDir } from "./temp-dir.mjs";

const timestampOf = (id) => Layout.named("default").timestampOf(id);

/** The path of the state file that options select. */
function fileOf(options) {
  const ids = Snowflake.local(options);
  const { file } = ids.health();
  ids.close();
  return file;
}

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
      ["state", "depends on the working directory"],
      ["~/state", "Shells write the home directory for ~"],
    ])
      assert.throws(
        () => fileOf({ dir: name }),
        (error) => error.code === "INVALID_OPTION" && error.field === "dir" && error.hint.includes(hint),
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
    assert.match(wholeText(error), /dir must be given.*HOME.*STATE_DIRECTORY.*XDG_STATE_HOME/);
    assert.match(error.hint, /Pass the one that other programs of this machine use/);
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
    assert.match(warnings.join(), /not locked in memory\. Raise the limit \(ulimit -l/);
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
        assert.match(wholeText(error), /is in use with a different sequenceStart/);
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
    const conflict = { code: "STATE_CONFLICT", field: "node", ...ruled(rules.ONE_KIND) };
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
      message: /: this layout and node id already have a generator of another kind in this process$/,
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
    for (const call of [one.next, () => one.nextMany(1)]) assert.throws(call, { code: "CLOSED" });
    assert.equal(one.health().refusal.code, "CLOSED");
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

  // docs/internals/claims.md: 10, 13
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
