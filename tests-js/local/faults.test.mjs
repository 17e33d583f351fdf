// State files that are damaged, replaced, on an unsuitable file system or under a wrong clock: an error with a code names the
// file, and no ID is ever repeated.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ConfigError, Layout, Snowflake } from "frazil";
import { errorOf } from "../base/bad-input.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { mappedClocks } from "../processes/movable-clock.mjs";
import {
  boot,
  disk,
  idsOfTwoFiles,
  NOBODY,
  start,
  until,
  withDisks,
  withMounts,
  withUsers,
  writtenIds,
} from "./child-process.mjs";
import {
  COPY_OFFSET,
  ceilingOf,
  copyBlock,
  flip,
  HEADER,
  LENGTH,
  MAPPED_AT,
  MAPPED_OFFSETS,
  RECORDS,
} from "./state-file.mjs";
import { tempDir } from "./temp-dir.mjs";

const timestampOf = (id) => Layout.named("default").timestampOf(id);
const increasing = (ids) => ids.every((id, at) => at === 0 || ids[at - 1] < id);
/** The tests mostly wait, so several can run at once. */
const concurrency = 6;

/** Directories with a state file each. The first opening of a new file waits for a second: here all at the same time. */
const directories = await Promise.all(
  Array.from({ length: 64 }, async () => {
    const dir = tempDir();
    (await Snowflake.localAsync({ dir })).close();
    return dir;
  }),
);

/** A state file that is not in use, and the IDs that were minted from it. */
function newStateFile({ dir = directories.pop() ?? tempDir(), ...options } = {}) {
  const issued = [];
  let path;
  // Opened twice, so that both records have been written since the file was created.
  for (let run = 0; run < 2; run++) {
    const ids = Snowflake.local({ dir, ...options });
    path = ids.health().file.path;
    issued.push(ids.next());
    ids.close();
  }
  return { dir, path, issued };
}

/** Asserts that a file is refused, every time, by an error that names it, and that a refusal does not change the file. */
async function assertRefused(path, code, pattern, open = (options) => Snowflake.local(options), options = {}) {
  const dir = dirname(path);
  const look = () => (existsSync(path) && statSync(path).isFile() ? readFileSync(path) : undefined);
  const [before, names] = [look(), readdirSync(dir)];
  for (let attempt = 0; attempt < 2; attempt++) {
    const error = await errorOf(() => open({ dir, ...options }));
    assert.equal(error?.code, code, `${error}`);
    assert.equal(error.field, "dir");
    assert.ok(error.message.includes(path), error.message);
    assert.match(error.message, pattern);
  }
  assert.deepEqual(look(), before);
  assert.deepEqual(readdirSync(dir), names, "no debris");
}

const assertCorrupt = (path, pattern, ...rest) => assertRefused(path, "STATE_FILE_CORRUPT", pattern, ...rest);

describe("a damaged file", () => {
  const blocks = { "the header": HEADER, "the even record": RECORDS[0], "the odd record": RECORDS[1] };
  // Bytes of the magic number, a record number, the ceiling, the zeros, and the checksum.
  const bytes = [0, 9, 17, 300, 511];

  for (const [name, at] of Object.entries(blocks)) {
    for (const [copy, from] of [
      ["first", at],
      ["second", at + COPY_OFFSET],
    ]) {
      // docs/safety.md: 11
      test(`is used if one byte of the ${copy} copy of ${name} is wrong`, () => {
        for (const byte of bytes) {
          const { dir, path, issued } = newStateFile();
          flip(path, from + byte);
          const ids = Snowflake.local({ dir });
          issued.push(ids.next());
          ids.close();
          assert.ok(increasing(issued));
        }
      });
    }

    // docs/safety.md: 11
    test(`is refused, and not changed, if both copies of ${name} are damaged`, async () => {
      for (const byte of bytes) {
        const { path } = newStateFile();
        flip(path, at + byte);
        flip(path, at + COPY_OFFSET + bytes[0]);
        await assertCorrupt(path, at === HEADER ? /damaged header/ : /damaged record/);
      }
    });
  }

  test("is used if every first copy is damaged", () => {
    const { dir, path, issued } = newStateFile();
    for (const at of Object.values(blocks)) flip(path, at);
    const ids = Snowflake.local({ dir });
    issued.push(ids.next());
    ids.close();
    assert.ok(increasing(issued));
    assert.equal(ceilingOf(path), timestampOf(issued.at(-1)) + 1);
  });

  test("is refused if the two copies of the header differ", async () => {
    const [one, other] = [newStateFile(), newStateFile()];
    copyBlock(other.path, HEADER, one.path, HEADER + COPY_OFFSET);
    await assertCorrupt(one.path, /damaged header/);
  });

  test("is refused if a block lies at the offset of another", async () => {
    const { path } = newStateFile();
    for (const to of [HEADER, HEADER + COPY_OFFSET]) copyBlock(path, RECORDS[0], path, to);
    await assertCorrupt(path, /damaged header/);
  });

  for (const length of [0, 1, 512, MAPPED_AT, LENGTH - 1, LENGTH + 1, 2 * LENGTH]) {
    test(`is refused if it has ${length} bytes`, async () => {
      const { path } = newStateFile();
      truncateSync(path, length);
      await assertCorrupt(path, /another length/);
    });
  }

  test("that is truncated while a process mints ends that process or is refused, and repeats no ID", async (t) => {
    const dir = tempDir();
    const file = join(dir, "ids");
    const child = await start(t);
    const { path } = await child.call("open", { dir });
    await child.mint({ file });
    truncateSync(path, MAPPED_AT);
    const { signal } = await child.exited;
    assert.equal(signal, "SIGBUS");
    const issued = writtenIds(file);
    assert.ok(issued.length > 0);
    assert.equal(repeats(issued), 0);
    await assertCorrupt(path, /another length/);
  });
});

describe("another file in place of the state file", () => {
  const inPlace = {
    "a directory": (path) => mkdirSync(path),
    "a FIFO": (path) => execFileSync("mkfifo", [path]),
    "a link to a state file": (path) => symlinkSync(newStateFile().path, path),
    "a link to nothing": (path) => symlinkSync("nowhere", path),
  };
  for (const [name, make] of Object.entries(inPlace)) {
    test(`is refused: ${name}`, async () => {
      const { path } = newStateFile();
      unlinkSync(path);
      make(path);
      await assertCorrupt(path, /is no plain file/);
    });
  }

  test("is no obstacle if a crash left it half created, not even in a container, where process ids are reused", {
    ...withMounts,
  }, async (t) => {
    const dir = tempDir();
    const name = basename(newStateFile().path);
    for (const id of [1, 2]) writeFileSync(join(dir, `.${name}.${id}`), "");
    const child = await start(t, { asPid1: true });
    const { path } = await child.call("open", { dir });
    assert.equal(basename(path), name);
    await child.call("next", 1);
  });

  for (const [what, one, other] of [
    ["layout", {}, { layout: "twitter" }],
    ["node id", {}, { node: 1 }],
    ["scope", {}, { scope: "orders" }],
  ]) {
    // docs/safety.md: 16
    test(`is refused if it belongs to another ${what}, and so is the state file in place of that one`, async () => {
      const dir = tempDir();
      const [{ path }, { path: otherPath }] = [newStateFile({ dir, ...one }), newStateFile({ dir, ...other })];
      renameSync(path, `${path}.away`);
      renameSync(otherPath, path);
      renameSync(`${path}.away`, otherPath);
      const pattern = new RegExp(`belongs to another ${what}`);
      await assertCorrupt(path, pattern, undefined, one);
      await assertCorrupt(otherPath, pattern, undefined, other);
      // Moved back, both are accepted.
      renameSync(path, `${path}.away`);
      renameSync(otherPath, path);
      renameSync(`${path}.away`, otherPath);
      for (const options of [one, other]) Snowflake.local({ dir, ...options }).close();
    });
  }

  test("is refused if it is a hard link to the file of another node", async () => {
    const dir = tempDir();
    const [{ path }, { path: otherPath }] = [newStateFile({ dir }), newStateFile({ dir, node: 1 })];
    unlinkSync(otherPath);
    linkSync(path, otherPath);
    await assertCorrupt(otherPath, /belongs to another node id/, undefined, { node: 1 });
  });

  // docs/safety.md: 16
  test("is refused if it is a copy, in the same directory or in another", async () => {
    const { path } = newStateFile();
    const copy = join(tempDir(), basename(path));
    copyFileSync(path, copy);
    await assertCorrupt(copy, /is a copy/);
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    await assertCorrupt(path, /is a copy/);
  });

  test("is accepted if it is the state file itself, moved with its directory or alone", () => {
    const { dir, path, issued } = newStateFile();
    const moved = `${dir}.moved`;
    renameSync(dir, moved);
    const ids = Snowflake.local({ dir: moved });
    issued.push(ids.next());
    ids.close();
    const elsewhere = tempDir();
    renameSync(join(moved, basename(path)), join(elsewhere, basename(path)));
    const again = Snowflake.local({ dir: elsewhere });
    issued.push(again.next());
    again.close();
    assert.ok(increasing(issued));
  });
});

describe("a file of a process that mints", { concurrency }, () => {
  const away = {
    "is deleted": (path) => unlinkSync(path),
    "is renamed": (path) => renameSync(path, `${path}.old`),
    "is replaced by a copy of itself": (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
    "is deleted with its directory": (path) => rmSync(dirname(path), { recursive: true }),
    "is deleted with three directories": (path) => rmSync(join(path, "../../.."), { recursive: true }),
    "is deleted with its directory, which is created again": (path) => {
      rmSync(dirname(path), { recursive: true });
      mkdirSync(dirname(path));
    },
    "is moved away with its directory, which is created again": (path) => {
      renameSync(dirname(path), `${dirname(path)}.old`);
      mkdirSync(dirname(path));
    },
    "is deleted with three directories, which are created again": (path) => {
      rmSync(join(path, "../../.."), { recursive: true });
      mkdirSync(dirname(path), { recursive: true });
    },
    "is moved away with five directories, which are created again": (path) => {
      renameSync(join(path, "../../../../.."), `${join(path, "../../../../..")}.old`);
      mkdirSync(dirname(path), { recursive: true });
    },
  };
  for (const [name, take] of Object.entries(away)) {
    // docs/safety.md: 16, 18
    test(`that ${name} ends the minting of that process for good, and no ID is repeated`, async (t) => {
      const [dir, out] = [join(tempDir(), "d/e/f"), tempDir()];
      const [before, after] = [join(out, "before"), join(out, "after")];
      const [old, young] = await Promise.all([start(t), start(t)]);
      const { path } = await old.call("open", { dir });
      await old.mint({ file: before });
      take(path);
      if (existsSync(path)) await assertCorrupt(path, /is a copy/);
      else {
        await young.call("open", { dir });
        await young.mint({ file: after });
      }
      await old.untilRefused("STATE_FILE_CORRUPT");
      const { issued, message } = await old.call("minted");
      assert.ok(message.includes(`${path} was deleted or replaced while it was in use`), message);
      const { refusal } = await old.call("health");
      assert.equal(refusal.code, "STATE_FILE_CORRUPT");
      // The process on the new file mints for a while; so would the old process if it were not refused.
      if (existsSync(after)) {
        const some = writtenIds(after).length;
        await until(() => writtenIds(after).length > some + 1000);
      }
      const now = await old.call("minted");
      assert.deepEqual([now.issued, Object.keys(now.codes)], [issued, ["STATE_FILE_CORRUPT"]]);
      const ids = [...writtenIds(before), ...(existsSync(after) ? writtenIds(after) : [])];
      assert.equal(repeats(ids), 0);
      if (existsSync(path) && existsSync(after)) {
        // If the refused process opens the file again, it attaches to the file that is there now.
        await old.call("stop");
        assert.equal((await old.call("open", { dir })).attached, 2);
        assert.equal(repeats([...ids, ...(await old.call("next", 100))]), 0);
      }
    });
  }

  const fileOf = async (t, options) => {
    const child = await start(t);
    const { path } = await child.call("open", { ...options, startWaitMs: 60_000 });
    await child.call("close");
    return readFileSync(path);
  };
  for (const [name, contents, opening] of [
    ["letters", (path) => "x".repeat(statSync(path).size), /has a damaged header/],
    ["zeros", (path) => "\0".repeat(statSync(path).size), /has a damaged header/],
    ["an older copy of itself", (path) => readFileSync(path)],
    ["the file of another node id", (_, t) => fileOf(t, { dir: tempDir(), node: 5 }), /belongs to another node id/],
  ]) {
    test(`that is overwritten with ${name} ends the minting of that process for good`, async (t) => {
      const dir = tempDir();
      const [child, second] = await Promise.all([start(t), start(t)]);
      const { path } = await child.call("open", { dir, startWaitMs: 60_000 });
      await second.call("open", { dir });
      await child.call("next", 100);
      const other = await contents(path, t);
      // Until what an older copy still allows is over.
      const { ceilingMs } = (await child.call("health")).file;
      await until(async () => {
        await child.call("next", 1);
        return Date.now() > ceilingMs;
      });
      // In place, as `cp` and `rsync --inplace` do.
      writeFileSync(path, other, { flag: "r+" });
      // Also the one that has never raised the ceiling.
      for (const each of [child, second]) {
        await each.call("mint", { file: join(tempDir(), "ids") });
        await each.untilRefused("STATE_FILE_CORRUPT");
        const { message, issued } = await each.call("minted");
        assert.ok(message.includes(`${path} was overwritten while it was in use`), message);
        assert.equal(issued, 0);
        assert.equal((await each.call("health")).refusal.code, "STATE_FILE_CORRUPT");
      }
      if (opening) await assertCorrupt(path, opening);
    });
  }

  test("that is overwritten with contents whose window ends late mints nothing more once that is noticed", async (t) => {
    const dir = tempDir();
    const child = await start(t);
    const { path } = await child.call("open", { dir });
    await child.call("next", 100);
    const other = readFileSync(path);
    other.writeBigUInt64LE(BigInt(Date.now() + 600_000), MAPPED_OFFSETS.windowEnd);
    // Until there is a newer record.
    const { ceilingMs } = (await child.call("health")).file;
    await until(async () => {
      await child.call("next", 1);
      return (await child.call("health")).file.ceilingMs > ceilingMs;
    });
    writeFileSync(path, other, { flag: "r+" });
    const refusal = () => errorOf(() => child.call("next", 1));
    await until(refusal);
    assert.equal((await refusal())?.code, "STATE_FILE_CORRUPT");
    assert.equal((await child.call("health")).refusal.code, "STATE_FILE_CORRUPT");
  });

  test("that is overwritten with what it was while it was closed is told as that, and not as a generator that was closed", async (t) => {
    const dir = tempDir();
    const child = await start(t);
    const { path } = await child.call("open", { dir });
    await child.call("next", 100);
    await child.call("close");
    const backup = readFileSync(path);
    await child.call("open", { dir });
    await child.call("next", 100);
    writeFileSync(path, backup, { flag: "r+" });
    const refusal = () => errorOf(() => child.call("next", 1));
    // The first refusal, whether a thread has looked at the file by then or not.
    assert.equal((await until(refusal)).code, "STATE_FILE_CORRUPT");
  });

  test("that is overwritten with the file of another node id and another start of the sequence is told as that too", async (t) => {
    const other = await fileOf(t, { dir: tempDir(), node: 5, sequenceStart: "random" });
    const child = await start(t);
    const { path } = await child.call("open", { dir: tempDir() });
    await child.call("next", 100);
    writeFileSync(path, other, { flag: "r+" });
    assert.equal((await until(() => errorOf(() => child.call("next", 1)))).code, "STATE_FILE_CORRUPT");
  });

  test("that is one of two: the checker catches the repeats", async (t) => {
    assert.equal(repeats(await idsOfTwoFiles(await start(t), await start(t))), 1000);
  });
});

describe("a disk fails", { concurrency }, () => {
  // docs/safety.md: 17
  test("in one flush: the file is refused to all until the file system is mounted again or the machine restarts, and then repeats no ID", {
    ...withMounts,
  }, async (t) => {
    const [dir, out, failing] = [tempDir(), tempDir(), disk()];
    const files = [join(out, "one"), join(out, "other")];
    const [one, other] = await Promise.all([start(t, { disk: failing }), start(t, { disk: failing })]);
    const { path } = await one.call("open", { dir });
    await other.call("open", { dir });
    await one.mint({ file: files[0] });
    await other.mint({ file: files[1] });
    failing.failOnce();
    const issued = [];
    for (const child of [one, other]) {
      await child.untilRefused("STATE_FILE_FAILED");
      const { message, issued: count } = await child.call("minted");
      assert.ok(message.includes(path), message);
      issued.push(count);
    }
    const said = await Promise.all([one, other].map(async ({ call }) => (await call("minted")).message));
    assert.ok(
      said.some((message) => /flushed to disk.*Input\/output error.*pass a dir on another/.test(message)),
      `${said}`,
    );
    // Flushes work again, but the file is still refused.
    await assertRefused(path, "STATE_FILE_FAILED", /could not be flushed/);
    const later = await start(t);
    await assertRefused(path, "STATE_FILE_FAILED", /could not be flushed/, (options) => later.call("open", options));
    for (const [at, { call }] of [one, other].entries()) {
      const { codes, issued: count } = await call("minted");
      assert.deepEqual(Object.keys(codes), ["STATE_FILE_FAILED"]);
      assert.equal(count, issued[at]);
      await call("stop");
      await assertRefused(path, "STATE_FILE_FAILED", /could not be flushed/, (options) => call("open", options));
    }
    // A container that shows another boot id is still on the same kernel: the locks of these processes are in its way.
    const machine = { boot: boot() };
    const early = await start(t, machine);
    await assertRefused(path, "STATE_FILE_FAILED", /could not be flushed/, (options) => early.call("open", options));
    await early.end();
    await Promise.all([one, other].map(({ end }) => end()));

    const next = await start(t, machine);
    await next.call("open", { dir });
    const ids = [...writtenIds(...files), ...(await next.call("next", 1000))];
    assert.equal(repeats(ids), 0);
  });

  test("while a file is created: nothing is left behind, and the next attempt succeeds", async (t) => {
    const [dir, failing] = [tempDir(), disk()];
    const child = await start(t, { disk: failing });
    failing.failOnce();
    const error = await errorOf(() => child.call("open", { dir }));
    assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
    assert.match(error.message, /cannot be made: Input\/output error.*Check the disk/);
    assert.ok(error.message.includes(dir));
    assert.deepEqual(readdirSync(dir), []);
    await child.call("open", { dir });
    await child.call("next", 1);
  });

  test("in the flush of a new file's directory: this start and all later ones are refused until that flush succeeds", async (t) => {
    const [dir, failing] = [tempDir(), disk()];
    const child = await start(t, { disk: failing });
    for (const doing of ["made", "found again after a crash", "found again after a crash"]) {
      failing.failOnce(".directory");
      const error = await errorOf(() => child.call("open", { dir }));
      assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
      assert.ok(error.message.includes(`cannot be ${doing}: Input/output error`), error.message);
    }
    await child.call("open", { dir });
    failing.failOnce(".directory");
    await child.call("close");
    // One successful flush in a boot is enough.
    await child.call("open", { dir });
  });

  // docs/safety.md: 17
  test("in the last close: the file is refused until the machine restarts", withMounts, async (t) => {
    const [dir, failing] = [tempDir(), disk()];
    const child = await start(t, { disk: failing });
    const { path } = await child.call("open", { dir });
    const ids = await child.call("next", 100);
    failing.failOnce();
    await child.call("close");
    await assertRefused(path, "STATE_FILE_FAILED", /could not be flushed/);
    await child.end();
    const next = await start(t, { boot: boot() });
    await next.call("open", { dir });
    assert.equal(repeats([...ids, ...(await next.call("next", 1000))]), 0);
  });

  /** The image of a file system, for a process to mount. */
  function image() {
    const at = tempDir();
    const [file, dir] = [join(at, "image"), join(at, "mounted")];
    mkdirSync(dir);
    execFileSync("truncate", ["--size=2M", file]);
    execFileSync("mkfs.ext4", ["-q", "-b", "1024", file]);
    return { dir, mounts: [`mount -o loop ${file} ${dir}`] };
  }

  test("because it is full: no file can be created, but an existing one is used", withDisks, async (t) => {
    const { dir, mounts } = image();
    const [used, unused] = [join(dir, "used"), join(dir, "unused")];
    const child = await start(t, { mounts });
    await child.call("shell", `mkdir ${used} ${unused}`);
    const { path } = await child.call("open", { dir: used });
    const ids = await child.call("next", 100);
    await child.call("close");
    await child.call("fillDisk", join(dir, "filler"));
    const error = await errorOf(() => child.call("open", { dir: unused }));
    assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
    assert.ok(error.message.includes(unused));
    assert.match(error.message, /cannot be made: No space left.*Free 128 KiB there, or pass a dir on another volume/);
    assert.equal(await child.call("shell", `ls -A ${unused}`), "");
    // Each restart raises the ceiling and lowers it again.
    const { issued } = await child.call("restart", { dir: used }, 100);
    ids.push(...issued);
    await child.call("open", { dir: used });
    ids.push(...(await child.call("next", 1000)));
    assert.equal((await child.call("health")).file.path, path);
    assert.ok(increasing(ids));
    assert.equal(repeats(ids), 0);
  });

  test(
    "because it is read-only: a start is refused, with a file and without, until it is writable",
    withDisks,
    async (t) => {
      const { dir, mounts } = image();
      const child = await start(t, { mounts });
      const { path } = await child.call("open", { dir });
      const ids = await child.call("next", 100);
      await child.call("close");
      // The thread that raises the ceiling can keep the file open for a moment after the close.
      await child.call("shell", `until mount -o remount,ro ${dir} 2> /dev/null; do sleep 0.05; done`);
      for (const options of [{ dir }, { dir, scope: "orders" }, { dir: join(dir, "deeper") }]) {
        const error = await errorOf(() => child.call("open", options));
        assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
        assert.ok(error.message.includes(options.dir));
        assert.match(error.message, /Read-only file system.*Pass a dir on a volume that can be written/);
      }
      await child.call("shell", `mount -o remount,rw ${dir}`);
      assert.equal((await child.call("open", { dir })).path, path);
      ids.push(...(await child.call("next", 1000)));
      assert.ok(increasing(ids));
    },
  );

  test("while a process mints: its minting is refused, and no ID is repeated", withDisks, async (t) => {
    const { dir, mounts } = image();
    const file = join(tempDir(), "ids");
    const child = await start(t, { mounts });
    const { path } = await child.call("open", { dir });
    await child.mint({ file });
    await child.call(
      "shell",
      `mount -o remount,errors=remount-ro ${dir}
      echo 1 > /sys/fs/ext4/$(basename $(findmnt -no SOURCE ${dir}))/trigger_fs_error`,
    );
    await child.untilRefused("STATE_FILE_FAILED");
    const { issued, message } = await child.call("minted");
    assert.ok(message.includes(path), message);
    await until(async () => (await child.call("minted")).codes.STATE_FILE_FAILED > 100);
    assert.equal((await child.call("minted")).issued, issued);
    assert.equal(repeats(writtenIds(file)), 0);
  });

  test("because the user has no permission: a start is refused", withUsers, async (t) => {
    const { dir, path } = newStateFile();
    const child = await start(t, NOBODY);
    for (const options of [{ dir }, { dir: join(dirname(dir), "other") }]) {
      const error = await errorOf(() => child.call("open", options));
      assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
      assert.match(error.message, /Permission denied.*Pass a dir that this user may write/);
    }
    assert.ok(existsSync(path));
  });
});

describe("a file system is refused because it may lose the state", () => {
  const pattern = (name) => new RegExp(`is on ${name}, which .*: pass a dir on a disk of this machine`);

  test("if it is tmpfs, even if the caller names it in fileSystem", async () => {
    const dir = "/dev/shm";
    const names = readdirSync(dir);
    for (const options of [{ dir }, { dir: `${dir}/frazil-missing` }]) {
      for (const fileSystem of [undefined, "tmpfs", "ext4"]) {
        const error = await errorOf(() => Snowflake.local({ ...options, fileSystem }));
        assert.ok(error instanceof ConfigError);
        assert.equal(error.code, "UNSUPPORTED_FILE_SYSTEM");
        assert.deepEqual([error.field, error.value], ["dir", options.dir]);
        assert.ok(error.message.includes(dir));
        assert.match(error.message, pattern("tmpfs"));
      }
    }
    assert.deepEqual(readdirSync(dir), names);
  });

  test(
    "if it is overlay, as for two containers over one lower directory that has a state file",
    withMounts,
    async (t) => {
      const lower = newStateFile();
      const at = tempDir();
      const dir = join(at, "merged");
      for (const container of ["one", "other"]) {
        const [upper, work] = [join(at, container, "upper"), join(at, container, "work")];
        for (const made of [dir, upper, work]) mkdirSync(made, { recursive: true });
        const layers = `lowerdir=${lower.dir},upperdir=${upper},workdir=${work}`;
        const child = await start(t, { mounts: [`mount -t overlay overlay -o ${layers} ${dir}`] });
        assert.match(await child.call("shell", `ls ${dir}`), /default-.*frazil/);
        for (const options of [{}, { scope: "orders" }]) {
          for (const fileSystem of [undefined, "overlay", "ext4"]) {
            const error = await errorOf(() => child.call("open", { dir, fileSystem, ...options }));
            assert.equal(error?.code, "UNSUPPORTED_FILE_SYSTEM", `${error}`);
            assert.ok(error.message.includes(dir));
            assert.match(error.message, pattern("overlay"));
          }
        }
        // Opening a file for writing would copy it into the container's layer, and the state would stay there.
        assert.deepEqual(readdirSync(upper), []);
      }
    },
  );

  test("if it is ramfs", withDisks, async (t) => {
    const dir = tempDir();
    const child = await start(t, { mounts: [`mount -t ramfs ramfs ${dir}`] });
    for (const fileSystem of [undefined, "ramfs"]) {
      const error = await errorOf(() => child.call("open", { dir, fileSystem }));
      assert.equal(error?.code, "UNSUPPORTED_FILE_SYSTEM", `${error}`);
      assert.match(error.message, pattern("ramfs"));
    }
  });

  test("if frazil does not know it, unless fileSystem gives its exact number", async () => {
    const dir = "/proc";
    const number = `0x${(0x9fa0).toString(16)}`;
    for (const fileSystem of [undefined, "proc", number.toUpperCase()]) {
      const error = await errorOf(() => Snowflake.local({ dir, fileSystem }));
      assert.equal(error?.code, "UNSUPPORTED_FILE_SYSTEM", `${error}`);
      assert.ok(error.message.includes(`say so with fileSystem: "${number}"`), error.message);
    }
    const error = await errorOf(() => Snowflake.local({ dir, fileSystem: number }));
    assert.equal(error?.code, "STATE_FILE_FAILED", "the number is accepted, but /proc cannot hold a file");
  });
});

describe("a wrong clock", { concurrency }, () => {
  /** A process with clocks that the test sets, which mints into a file. */
  async function minting(t) {
    const [dir, file, machineClocks] = [tempDir(), join(tempDir(), "ids"), mappedClocks()];
    const child = await start(t, { clocks: machineClocks });
    await child.call("open", { dir });
    await child.mint({ file });
    const trusted = () => until(async () => (await child.call("health")).file.distrustedMs === 0);
    const distrusted = () => until(async () => (await child.call("health")).file.distrustedMs > 0);
    /** The IDs that it mints from now on. */
    const more = async (count = 2000) => {
      const before = writtenIds(file).length;
      await until(() => writtenIds(file).length > before + count);
      return writtenIds(file).slice(before);
    };
    return { child, file, machineClocks, trusted, distrusted, more };
  }
  const hour = 3_600_000;
  /** By how many milliseconds the clocks of one process can differ because they are rounded. */
  const rounding = 5;

  test("two hours ahead is not followed: IDs stay at the trusted time, and health() says so", async (t) => {
    const { child, file, machineClocks, trusted, distrusted, more } = await minting(t);
    machineClocks.set({ wallMs: 2 * hour });
    await distrusted();
    const ids = await more();
    const { ok, warnings, file: kept } = await child.call("health");
    const now = Date.now();
    assert.equal(ok, true);
    assert.match(
      warnings.join(),
      /the clock stepped \d+ ms ahead, which is not followed until it has lasted 10 minutes/,
    );
    assert.ok(Math.abs(kept.distrustedMs - 2 * hour) < 60_000, `${kept.distrustedMs}`);
    assert.ok(kept.ceilingMs <= now + 3000 + rounding, `the ceiling is ${kept.ceilingMs - now} ms ahead`);
    assert.equal(ceilingOf(kept.path), kept.ceilingMs);
    for (const id of ids) assert.ok(timestampOf(id) <= now + rounding);
    // When the clock steps back, no trace of the step is left.
    machineClocks.set({ wallMs: 0 });
    await trusted();
    await more();
    assert.deepEqual((await child.call("health")).warnings, []);
    const all = writtenIds(file);
    assert.equal(repeats(all), 0);
    assert.ok(increasing(all));
    assert.deepEqual((await child.call("minted")).codes, {});
  });

  test("two hours ahead is followed once it has lasted for ten minutes", async (t) => {
    const { child, file, machineClocks, trusted, distrusted, more } = await minting(t);
    machineClocks.set({ wallMs: 2 * hour });
    await distrusted();
    // The ten minutes begin with the first ID after the step.
    await more();
    const late = 10 * 60_000;
    machineClocks.set({ wallMs: 2 * hour + late / 2, bootMs: late / 2 });
    await more();
    await distrusted();
    machineClocks.set({ wallMs: 2 * hour + late, bootMs: late });
    await trusted();
    const before = Date.now();
    const ids = await more();
    assert.ok(timestampOf(ids.at(-1)) >= before + 2 * hour + late);
    const all = writtenIds(file);
    assert.equal(repeats(all), 0);
    assert.ok(increasing(all));
    assert.deepEqual((await child.call("minted")).codes, {});
  });

  /** Opens a file, mints an ID and closes it, `minutes` after the boot, with the wall clock `wallMs` ahead. Returns the ID. */
  async function visit(t, dir, minutes, wallMs) {
    const bootMs = minutes * 60_000;
    const visitor = await start(t, { clocks: mappedClocks({ wallMs: wallMs + bootMs, bootMs }) });
    await visitor.call("open", { dir });
    const [id] = await visitor.call("next", 1);
    await visitor.call("close");
    await visitor.end();
    return id;
  }

  test("a year ahead in one reading each of two short processes, eleven minutes apart, is followed by neither", async (t) => {
    const [dir, year] = [tempDir(), 365 * 24 * hour];
    const ids = [];
    for (const [minutes, wallMs] of [
      [0, 0],
      [1, year],
      [12, year],
      [13, 0],
    ]) {
      ids.push(await visit(t, dir, minutes, wallMs));
    }
    assert.ok(increasing(ids));
    assert.ok(timestampOf(ids.at(-1)) < Date.now() + hour, "no time up to that year may be reserved");
  });

  test("a year ahead in short processes over more than ten minutes is followed", async (t) => {
    const [dir, year] = [tempDir(), 365 * 24 * hour];
    const ids = [];
    for (const minutes of [0, 5, 9, 12]) ids.push(await visit(t, dir, minutes, minutes === 0 ? 0 : year));
    const late = await visit(t, dir, 16, year);
    assert.ok(increasing([...ids, late]));
    assert.ok(ids.every((id) => timestampOf(id) < Date.now() + hour));
    assert.ok(timestampOf(late) > Date.now() + year);
  });

  test("that is ahead of the trusted time for good: the refusals name both", async (t) => {
    const [dir, machineClocks, day] = [tempDir(), mappedClocks(), 24 * hour];
    const child = await start(t, { clocks: machineClocks });
    await child.call("open", { dir });
    await child.call("next", 1);
    // Processes whose boot clock is a day ahead, for more than ten minutes in which no other process reads the clocks.
    for (const minutes of [1, 6, 12]) {
      const later = minutes * 60_000;
      const visitor = await start(t, { clocks: mappedClocks({ wallMs: later, bootMs: day + later }) });
      await visitor.call("open", { dir });
      await visitor.call("next", 1);
      await visitor.end();
    }
    const later = 14 * 60_000;
    machineClocks.set({ wallMs: later, bootMs: later });
    const error = await errorOf(() => child.call("next", 1));
    assert.equal(error?.code, "CLOCK_BACKWARD", `${error}`);
    const times =
      /: the clock shows (\S+), and the time that is trusted is (\S+)\. A step of the clock is followed once/;
    const [, shown, trusted] = times.exec(error.message) ?? assert.fail(error.message);
    assert.ok(Math.abs(Date.parse(shown) - Date.parse(trusted) - day) < 60_000, error.message);
    const other = await start(t, { clocks: machineClocks });
    const refused = await errorOf(() => other.call("open", { dir }));
    assert.equal(refused?.code, "STATE_FILE_AHEAD", `${refused}`);
    assert.match(
      refused.message,
      /ahead of the time that is trusted, \d+\. The clock shows \d+, which is followed once/,
    );
  });

  const ownTime = spawnSync("unshare", ["--time", "--fork", "--boottime", "86400", "true"]).status === 0;
  const skip = !ownTime && "needs unshare --time";
  test("in a container whose boot clock starts elsewhere is trusted as in the other processes", { skip }, async (t) => {
    const dir = tempDir();
    const ids = Snowflake.local({ dir });
    t.after(ids.close);
    const before = ids.nextMany(1000);
    // Waits until the next ID raises the ceiling, which is when the clock is observed.
    await until(() => ids.health().file.ceilingMs < Date.now());
    const script = `
      const { Snowflake } = require("frazil");
      const ids = Snowflake.local({ dir: ${JSON.stringify(dir)} });
      const issued = ids.nextManyStrings(1000);
      console.log(JSON.stringify({ issued, distrustedMs: ids.health().file.distrustedMs }));
    `;
    const options = { encoding: "utf8", env: process.env, cwd: fileURLToPath(new URL(".", import.meta.url)) };
    const inside = ["--time", "--fork", "--boottime", "86400", process.execPath, "-e", script];
    const { stdout, stderr } = spawnSync("unshare", inside, options);
    assert.equal(stderr, "");
    const { issued, distrustedMs } = JSON.parse(stdout);
    assert.deepEqual([distrustedMs, ids.health().file.distrustedMs], [0, 0]);
    assert.equal(repeats([...before, ...issued.map(BigInt), ...ids.nextMany(1000)]), 0);
  });

  for (const [name, ahead] of [
    ["thirty seconds ahead", { wallMs: 30_000 }],
    ["two hours ahead after a sleep of two hours", { wallMs: 2 * hour, bootMs: 2 * hour }],
  ]) {
    test(`${name} is followed at once`, async (t) => {
      const { child, file, machineClocks, more } = await minting(t);
      machineClocks.set(ahead);
      const before = Date.now();
      await more();
      const ids = writtenIds(file);
      assert.ok(timestampOf(ids.at(-1)) >= before + ahead.wallMs, "IDs are of the time that the clock shows");
      const { file: kept, warnings } = await child.call("health");
      assert.ok(kept.ceilingMs <= Date.now() + ahead.wallMs + 3000 + rounding);
      assert.deepEqual([kept.distrustedMs, warnings], [0, []]);
      assert.equal(repeats(ids), 0);
      assert.ok(increasing(ids));
    });
  }

  test("an hour back is refused until it has caught up, and no ID is repeated", async (t) => {
    const { child, file, machineClocks, more } = await minting(t);
    await more(100);
    machineClocks.set({ wallMs: -hour });
    await child.untilRefused("CLOCK_BACKWARD");
    const { issued } = await child.call("minted");
    await until(async () => (await child.call("minted")).codes.CLOCK_BACKWARD > 100);
    assert.equal((await child.call("minted")).issued, issued);
    machineClocks.set({ wallMs: 0 });
    await more();
    const ids = writtenIds(file);
    assert.equal(repeats(ids), 0);
    assert.ok(increasing(ids));
  });

  test("before the epoch is refused and creates no file; once it is right, minting works", async (t) => {
    const [dir, machineClocks] = [tempDir(), mappedClocks({ wallMs: -Date.now() })];
    const child = await start(t, { clocks: machineClocks });
    const error = await errorOf(() => child.call("open", { dir }));
    assert.deepEqual([error?.code, error?.name], ["CLOCK_BEFORE_EPOCH", "ClockError"]);
    assert.deepEqual(readdirSync(dir), []);
    machineClocks.set({ wallMs: 0 });
    const before = Date.now();
    assert.equal((await child.call("open", { dir })).distrustedMs, 0);
    const [id] = await child.call("next", 1);
    assert.ok(timestampOf(id) >= before);
    const later = await errorOf(() => Snowflake.local({ dir, epochMs: Date.now() + hour }));
    assert.equal(later?.code, "CLOCK_BEFORE_EPOCH", "with an epoch in the future, the file must not matter");
  });

  /** A process mints on a machine whose clock is ahead, and is killed. */
  async function future(t, wallMs) {
    const dir = tempDir();
    const child = await start(t, { clocks: mappedClocks({ wallMs }) });
    const { path } = await child.call("open", { dir });
    const ids = await child.call("next", 1000);
    await child.end();
    return { dir, path, ids };
  }

  for (const [name, machine] of [
    ["on the same boot", () => ({})],
    ["after another boot", () => ({ boot: boot() })],
  ]) {
    const skip = name === "after another boot" ? withMounts : {};
    test(`ten minutes ahead, and right again ${name}: the error says how far the file is ahead`, skip, async (t) => {
      const { dir, path, ids } = await future(t, 600_000);
      const later = await start(t, machine());
      await assertRefused(
        path,
        "STATE_FILE_AHEAD",
        /reserved time up to \d+ .*, \d+ s ahead.*delete the file/,
        (options) => later.call("open", options),
      );
      const { message } = await errorOf(() => later.call("open", { dir }));
      const seconds = Number(/(\d+) s ahead/.exec(message)[1]);
      assert.ok(seconds > 540 && seconds <= 603, message);
      // When the clock shows that time again, minting goes on.
      const ahead = await start(t, { ...machine(), clocks: mappedClocks({ wallMs: 610_000 }) });
      await ahead.call("open", { dir });
      ids.push(...(await ahead.call("next", 1000)));
      assert.ok(increasing(ids));
    });

    test(
      `half a minute ahead, and right again ${name}: the error of a start says how long to wait`,
      skip,
      async (t) => {
        const { dir, path, ids } = await future(t, 30_000);
        const reserved = ceilingOf(path);
        const later = await start(t, machine());
        const error = await errorOf(() => later.call("open", { dir }));
        assert.equal(error?.code, "CLOCK_BACKWARD", `${error}`);
        assert.ok(error.retryAfterMs > 3500 && error.retryAfterMs <= 33_001, `${error.retryAfterMs}`);
        assert.equal(ceilingOf(path) <= reserved, true);
        const ahead = await start(t, { ...machine(), clocks: mappedClocks({ wallMs: 40_000 }) });
        assert.equal((await ahead.call("open", { dir })).attached, 1, "the refused start must not stay attached");
        ids.push(...(await ahead.call("next", 1000)));
        assert.ok(increasing(ids));
      },
    );
  }

  // docs/safety.md: 11, 12
  test("after a crash and another boot: a start waits for the ceiling, and mints nothing below it", {
    ...withMounts,
  }, async (t) => {
    const [dir, file] = [tempDir(), join(tempDir(), "ids")];
    const child = await start(t);
    const { path } = await child.call("open", { dir });
    await child.mint({ file });
    await child.end();
    // Damages the copies that a crash could tear at worst.
    for (const at of [HEADER, ...RECORDS]) flip(path, at + 100);
    const reserved = ceilingOf(path);
    const machine = { boot: boot(), clocks: mappedClocks() };
    const [impatient, patient] = await Promise.all([start(t, machine), start(t, machine)]);
    /** Sets the clock back, so that a start must wait however slow this machine is. */
    const leave = (ms) => machine.clocks.set({ wallMs: reserved - ms - Date.now() });
    leave(30_000);
    const error = await errorOf(() => impatient.call("open", { dir, startWaitMs: 0 }));
    assert.equal(error?.code, "CLOCK_BACKWARD", `${error}`);
    assert.ok(error.retryable && error.retryAfterMs > 0 && error.retryAfterMs <= 30_000, `${error.retryAfterMs}`);
    leave(1000);
    assert.equal((await patient.call("open", { dir })).attached, 1, "the refused start must not stay attached");
    const ids = await patient.call("next", 1000);
    assert.ok(timestampOf(ids[0]) >= reserved, `${timestampOf(ids[0])} is below the ceiling ${reserved}`);
    assert.equal(repeats([...writtenIds(file), ...ids]), 0);
  });
});
