// State files that are damaged, replaced, on the wrong disk or under a wrong clock: a coded error that names the file, and in
// no case an ID twice.
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
import { repeats } from "../api/broken.mjs";
import { errorOf } from "../api/refusals.mjs";
import { place } from "./place.mjs";
import { boot, clocks, disk, start, until, withDisks, withMounts, written } from "./started.mjs";
import { COPY, ceilingOf, flip, HEADER, LENGTH, LIVE, RECORDS, transplant } from "./state-file.mjs";

const timestampOf = (id) => Layout.named("default").timestampOf(id);
const increasing = (ids) => ids.every((id, at) => at === 0 || ids[at - 1] < id);
/** Tests that mostly wait. */
const concurrency = 6;

/** Directories with a state file each. The first opening of a new file waits for a second: here all at the same time. */
const directories = await Promise.all(
  Array.from({ length: 64 }, async () => {
    const dir = place();
    (await Snowflake.localAsync({ dir })).close();
    return dir;
  }),
);

/** A state file that is not in use, and the IDs that were minted from it. */
function made({ dir = directories.pop() ?? place(), ...options } = {}) {
  const issued = [];
  let path;
  // Twice, so that both records have been written since the file was made.
  for (let run = 0; run < 2; run++) {
    const ids = Snowflake.local({ dir, ...options });
    path = ids.health().file.path;
    issued.push(ids.next());
    ids.close();
  }
  return { dir, path, issued };
}

/** Asserts that a file is refused, as often as one likes, by an error that names it; and that refusing does not change it. */
async function refused(path, code, pattern, open = (options) => Snowflake.local(options), options = {}) {
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

const corrupt = (path, pattern, ...rest) => refused(path, "STATE_FILE_CORRUPT", pattern, ...rest);

describe("a damaged file", () => {
  const blocks = { "the header": HEADER, "the even record": RECORDS[0], "the odd record": RECORDS[1] };
  // The magic, a number, the ceiling, what is always 0, and the checksum.
  const bytes = [0, 9, 17, 300, 511];

  for (const [name, at] of Object.entries(blocks)) {
    for (const [copy, from] of [
      ["first", at],
      ["second", at + COPY],
    ]) {
      // docs/safety.md: 11
      test(`goes on where one byte of the ${copy} copy of ${name} is wrong`, () => {
        for (const byte of bytes) {
          const { dir, path, issued } = made();
          flip(path, from + byte);
          const ids = Snowflake.local({ dir });
          issued.push(ids.next());
          ids.close();
          assert.ok(increasing(issued));
        }
      });
    }

    // docs/safety.md: 11
    test(`is refused where both copies of ${name} are damaged, and left as it is`, async () => {
      for (const byte of bytes) {
        const { path } = made();
        flip(path, at + byte);
        flip(path, at + COPY + bytes[0]);
        await corrupt(path, at === HEADER ? /damaged header/ : /damaged record/);
      }
    });
  }

  test("goes on where every first copy is damaged", () => {
    const { dir, path, issued } = made();
    for (const at of Object.values(blocks)) flip(path, at);
    const ids = Snowflake.local({ dir });
    issued.push(ids.next());
    ids.close();
    assert.ok(increasing(issued));
    assert.equal(ceilingOf(path), timestampOf(issued.at(-1)) + 1);
  });

  test("is refused where the two copies of the header are not the same", async () => {
    const [one, other] = [made(), made()];
    transplant(other.path, HEADER, one.path, HEADER + COPY);
    await corrupt(one.path, /damaged header/);
  });

  test("is refused where a block lies in the place of another", async () => {
    const { path } = made();
    for (const to of [HEADER, HEADER + COPY]) transplant(path, RECORDS[0], path, to);
    await corrupt(path, /damaged header/);
  });

  for (const length of [0, 1, 512, LIVE, LENGTH - 1, LENGTH + 1, 2 * LENGTH]) {
    test(`is refused where it has ${length} bytes`, async () => {
      const { path } = made();
      truncateSync(path, length);
      await corrupt(path, /another length/);
    });
  }

  test("that is cut off under a process ends that process, if it does not refuse, and repeats nothing", async (t) => {
    const dir = place();
    const file = join(dir, "ids");
    const minter = await start(t);
    const { path } = await minter.call("open", { dir });
    await minter.mint({ file });
    truncateSync(path, LIVE);
    const { signal } = await minter.exited;
    assert.equal(signal, "SIGBUS");
    const issued = written(file);
    assert.ok(issued.length > 0);
    assert.equal(repeats(issued), 0);
    await corrupt(path, /another length/);
  });
});

describe("a file that is another one", () => {
  const inPlace = {
    "a directory": (path) => mkdirSync(path),
    "a FIFO": (path) => execFileSync("mkfifo", [path]),
    "a link to a state file": (path) => symlinkSync(made().path, path),
    "a link to nothing": (path) => symlinkSync("nowhere", path),
  };
  for (const [name, make] of Object.entries(inPlace)) {
    test(`${name} in its place is refused`, async () => {
      const { path } = made();
      unlinkSync(path);
      make(path);
      await corrupt(path, /is no plain file/);
    });
  }

  test("one that a crash left half made is in nobody's way, not even in a container, where process ids come again", {
    ...withMounts,
  }, async (t) => {
    const dir = place();
    const name = basename(made().path);
    for (const id of [1, 2]) writeFileSync(join(dir, `.${name}.${id}`), "");
    const minter = await start(t, { first: true });
    const { path } = await minter.call("open", { dir });
    assert.equal(basename(path), name);
    await minter.call("next", 1);
  });

  for (const [what, one, other] of [
    ["layout", {}, { layout: "twitter" }],
    ["node id", {}, { node: 1 }],
    ["scope", {}, { scope: "orders" }],
  ]) {
    // docs/safety.md: 16
    test(`that of another ${what} in its place is refused, and so is the one in that one's place`, async () => {
      const dir = place();
      const [{ path }, { path: otherPath }] = [made({ dir, ...one }), made({ dir, ...other })];
      renameSync(path, `${path}.away`);
      renameSync(otherPath, path);
      renameSync(`${path}.away`, otherPath);
      const pattern = new RegExp(`belongs to another ${what}`);
      await corrupt(path, pattern, undefined, one);
      await corrupt(otherPath, pattern, undefined, other);
      // Back where they were, both are good.
      renameSync(path, `${path}.away`);
      renameSync(otherPath, path);
      renameSync(`${path}.away`, otherPath);
      for (const options of [one, other]) Snowflake.local({ dir, ...options }).close();
    });
  }

  test("a second name of another node's file is refused", async () => {
    const dir = place();
    const [{ path }, { path: otherPath }] = [made({ dir }), made({ dir, node: 1 })];
    unlinkSync(otherPath);
    linkSync(path, otherPath);
    await corrupt(otherPath, /belongs to another node id/, undefined, { node: 1 });
  });

  // docs/safety.md: 16
  test("a copy is refused, in its place and in another directory", async () => {
    const { path } = made();
    const copy = join(place(), basename(path));
    copyFileSync(path, copy);
    await corrupt(copy, /is a copy/);
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    await corrupt(path, /is a copy/);
  });

  test("one that is moved, with its directory or alone, goes on", () => {
    const { dir, path, issued } = made();
    const moved = `${dir}.moved`;
    renameSync(dir, moved);
    const ids = Snowflake.local({ dir: moved });
    issued.push(ids.next());
    ids.close();
    const elsewhere = place();
    renameSync(join(moved, basename(path)), join(elsewhere, basename(path)));
    const again = Snowflake.local({ dir: elsewhere });
    issued.push(again.next());
    again.close();
    assert.ok(increasing(issued));
  });
});

describe("a file that is taken away from a process that mints", { concurrency }, () => {
  const away = {
    "is deleted": (path) => unlinkSync(path),
    "is renamed": (path) => renameSync(path, `${path}.old`),
    "is replaced by a copy of itself": (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
    "is deleted with its directory": (path) => rmSync(dirname(path), { recursive: true }),
    "is deleted with three directories": (path) => rmSync(join(path, "../../.."), { recursive: true }),
    "is deleted with its directory, which is made anew": (path) => {
      rmSync(dirname(path), { recursive: true });
      mkdirSync(dirname(path));
    },
    "is moved away with its directory, which is made anew": (path) => {
      renameSync(dirname(path), `${dirname(path)}.old`);
      mkdirSync(dirname(path));
    },
    "is deleted with three directories, which are made anew": (path) => {
      rmSync(join(path, "../../.."), { recursive: true });
      mkdirSync(dirname(path), { recursive: true });
    },
    "is moved away with five directories, which are made anew": (path) => {
      renameSync(join(path, "../../../../.."), `${join(path, "../../../../..")}.old`);
      mkdirSync(dirname(path), { recursive: true });
    },
  };
  for (const [name, take] of Object.entries(away)) {
    // docs/safety.md: 16, 18
    test(`that ${name} ends its minting for good, and repeats nothing`, async (t) => {
      const [dir, out] = [join(place(), "d/e/f"), place()];
      const [before, after] = [join(out, "before"), join(out, "after")];
      const [old, young] = await Promise.all([start(t), start(t)]);
      const { path } = await old.call("open", { dir });
      await old.mint({ file: before });
      take(path);
      if (existsSync(path)) await corrupt(path, /is a copy/);
      else {
        await young.call("open", { dir });
        await young.mint({ file: after });
      }
      await old.refused("STATE_FILE_CORRUPT");
      const { issued, message } = await old.call("minted");
      assert.ok(message.includes(`${path} was deleted or replaced while it was in use`), message);
      const { refusal } = await old.call("health");
      assert.equal(refusal.code, "STATE_FILE_CORRUPT");
      // The one that came after it mints for a while, so that the old one would have to as well.
      if (existsSync(after)) {
        const some = written(after).length;
        await until(() => written(after).length > some + 1000);
      }
      const now = await old.call("minted");
      assert.deepEqual([now.issued, Object.keys(now.codes)], [issued, ["STATE_FILE_CORRUPT"]]);
      const ids = [...written(before), ...(existsSync(after) ? written(after) : [])];
      assert.equal(repeats(ids), 0);
      if (existsSync(path) && existsSync(after)) {
        // Where the process that was refused opens it anew, it joins the one that is there now.
        await old.call("stop");
        assert.equal((await old.call("open", { dir })).attached, 2);
        assert.equal(repeats([...ids, ...(await old.call("next", 100))]), 0);
      }
    });
  }

  test("the checker catches two files where there should be one", async (t) => {
    const now = Date.now() + 30_000;
    const ids = [];
    for (const dir of [place(), place()]) {
      const minter = await start(t);
      await minter.call("freeze", now);
      await minter.call("open", { dir });
      ids.push(...(await minter.call("next", 1000)));
    }
    assert.equal(repeats(ids), 1000);
  });
});

describe("a disk that fails", { concurrency }, () => {
  // docs/safety.md: 17
  test("once in a flush ends the file for all until the file system is mounted anew, or the machine starts, and then it repeats nothing", {
    ...withMounts,
  }, async (t) => {
    const [dir, out, failing] = [place(), place(), disk()];
    const files = [join(out, "one"), join(out, "other")];
    const [one, other] = await Promise.all([start(t, { disk: failing }), start(t, { disk: failing })]);
    const { path } = await one.call("open", { dir });
    await other.call("open", { dir });
    await one.mint({ file: files[0] });
    await other.mint({ file: files[1] });
    failing.failOnce();
    const issued = [];
    for (const minter of [one, other]) {
      await minter.refused("STATE_FILE_FAILED");
      const { message, issued: count } = await minter.call("minted");
      assert.ok(message.includes(path), message);
      issued.push(count);
    }
    const said = await Promise.all([one, other].map(async ({ call }) => (await call("minted")).message));
    assert.ok(
      said.some((message) => /flushed to disk.*Input\/output error.*pass a dir on another/.test(message)),
      `${said}`,
    );
    // Flushes work again, and that changes nothing.
    await refused(path, "STATE_FILE_FAILED", /could not be flushed/);
    const later = await start(t);
    await refused(path, "STATE_FILE_FAILED", /could not be flushed/, (options) => later.call("open", options));
    for (const [at, { call }] of [one, other].entries()) {
      const { codes, issued: count } = await call("minted");
      assert.deepEqual(Object.keys(codes), ["STATE_FILE_FAILED"]);
      assert.equal(count, issued[at]);
      await call("stop");
      await refused(path, "STATE_FILE_FAILED", /could not be flushed/, (options) => call("open", options));
    }
    // A container that shows another boot id is on the same kernel as these, because their locks are in its way.
    const machine = { boot: boot() };
    const early = await start(t, machine);
    await refused(path, "STATE_FILE_FAILED", /could not be flushed/, (options) => early.call("open", options));
    await early.end();
    await Promise.all([one, other].map(({ end }) => end()));

    const next = await start(t, machine);
    await next.call("open", { dir });
    const ids = [...written(...files), ...(await next.call("next", 1000))];
    assert.equal(repeats(ids), 0);
  });

  test("while a file is made leaves nothing behind, and the next attempt succeeds", async (t) => {
    const [dir, failing] = [place(), disk()];
    const minter = await start(t, { disk: failing });
    failing.failOnce();
    const error = await errorOf(() => minter.call("open", { dir }));
    assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
    assert.match(error.message, /cannot be made: Input\/output error.*Check the disk/);
    assert.ok(error.message.includes(dir));
    assert.deepEqual(readdirSync(dir), []);
    await minter.call("open", { dir });
    await minter.call("next", 1);
  });

  test("when the name of a new file is flushed ends that start and each one after it, until the name is flushed", async (t) => {
    const [dir, failing] = [place(), disk()];
    const minter = await start(t, { disk: failing });
    for (const doing of ["made", "found again after a crash", "found again after a crash"]) {
      failing.failOnce(".directory");
      const error = await errorOf(() => minter.call("open", { dir }));
      assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
      assert.ok(error.message.includes(`cannot be ${doing}: Input/output error`), error.message);
    }
    await minter.call("open", { dir });
    failing.failOnce(".directory");
    await minter.call("close");
    // Once in a boot is enough.
    await minter.call("open", { dir });
  });

  // docs/safety.md: 17
  test("in the last close ends the file until the machine starts again", withMounts, async (t) => {
    const [dir, failing] = [place(), disk()];
    const minter = await start(t, { disk: failing });
    const { path } = await minter.call("open", { dir });
    const ids = await minter.call("next", 100);
    failing.failOnce();
    await minter.call("close");
    await refused(path, "STATE_FILE_FAILED", /could not be flushed/);
    await minter.end();
    const next = await start(t, { boot: boot() });
    await next.call("open", { dir });
    assert.equal(repeats([...ids, ...(await next.call("next", 1000))]), 0);
  });

  /** A file system of its own in an image, for a process to mount. */
  function image() {
    const at = place();
    const [file, dir] = [join(at, "image"), join(at, "mounted")];
    mkdirSync(dir);
    execFileSync("truncate", ["--size=2M", file]);
    execFileSync("mkfs.ext4", ["-q", "-b", "1024", file]);
    return { dir, mounts: [`mount -o loop ${file} ${dir}`] };
  }

  test("to have room makes no file, and goes on with one that is there", withDisks, async (t) => {
    const { dir, mounts } = image();
    const [used, unused] = [join(dir, "used"), join(dir, "unused")];
    const minter = await start(t, { mounts });
    await minter.call("shell", `mkdir ${used} ${unused}`);
    const { path } = await minter.call("open", { dir: used });
    const ids = await minter.call("next", 100);
    await minter.call("close");
    await minter.call("fill", join(dir, "filler"));
    const error = await errorOf(() => minter.call("open", { dir: unused }));
    assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
    assert.ok(error.message.includes(unused));
    assert.match(error.message, /cannot be made: No space left.*Free 128 KiB there, or pass a dir on another volume/);
    assert.equal(await minter.call("shell", `ls -A ${unused}`), "");
    // Each of these raises the ceiling and lowers it.
    const { issued } = await minter.call("restart", { dir: used }, 100);
    ids.push(...issued);
    await minter.call("open", { dir: used });
    ids.push(...(await minter.call("next", 1000)));
    assert.equal((await minter.call("health")).file.path, path);
    assert.ok(increasing(ids));
    assert.equal(repeats(ids), 0);
  });

  test("to be written is refused, with the file and without, and goes on once it can be", withDisks, async (t) => {
    const { dir, mounts } = image();
    const minter = await start(t, { mounts });
    const { path } = await minter.call("open", { dir });
    const ids = await minter.call("next", 100);
    await minter.call("close");
    // The thread that raises the ceiling may have the file open for a moment longer.
    await minter.call("shell", `until mount -o remount,ro ${dir} 2> /dev/null; do sleep 0.05; done`);
    for (const options of [{ dir }, { dir, scope: "orders" }, { dir: join(dir, "deeper") }]) {
      const error = await errorOf(() => minter.call("open", options));
      assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
      assert.ok(error.message.includes(options.dir));
      assert.match(error.message, /Read-only file system.*Pass a dir on a volume that can be written/);
    }
    await minter.call("shell", `mount -o remount,rw ${dir}`);
    assert.equal((await minter.call("open", { dir })).path, path);
    ids.push(...(await minter.call("next", 1000)));
    assert.ok(increasing(ids));
  });

  test("under a process that mints ends its minting, and repeats nothing", withDisks, async (t) => {
    const { dir, mounts } = image();
    const file = join(place(), "ids");
    const minter = await start(t, { mounts });
    const { path } = await minter.call("open", { dir });
    await minter.mint({ file });
    await minter.call(
      "shell",
      `mount -o remount,errors=remount-ro ${dir}
      echo 1 > /sys/fs/ext4/$(basename $(findmnt -no SOURCE ${dir}))/trigger_fs_error`,
    );
    await minter.refused("STATE_FILE_FAILED");
    const { issued, message } = await minter.call("minted");
    assert.ok(message.includes(path), message);
    await until(async () => (await minter.call("minted")).codes.STATE_FILE_FAILED > 100);
    assert.equal((await minter.call("minted")).issued, issued);
    assert.equal(repeats(written(file)), 0);
  });

  test("to let the user in is refused", {
    skip: process.getuid() !== 0 && "takes root, to be another user",
  }, async (t) => {
    const { dir, path } = made();
    const minter = await start(t, { uid: 65534, gid: 65534 });
    for (const options of [{ dir }, { dir: join(dirname(dir), "other") }]) {
      const error = await errorOf(() => minter.call("open", options));
      assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
      assert.match(error.message, /Permission denied.*Pass a dir that this user may write/);
    }
    assert.ok(existsSync(path));
  });
});

describe("a file system that cannot keep the promise", () => {
  const pattern = (name) => new RegExp(`is on ${name}, which .*: pass a dir on a disk of this machine`);

  test("is tmpfs, whatever the caller says of it", async () => {
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

  test("is overlay: two containers over one lower directory that has a state file", withMounts, async (t) => {
    const lower = made();
    const at = place();
    const dir = join(at, "merged");
    for (const container of ["one", "other"]) {
      const [upper, work] = [join(at, container, "upper"), join(at, container, "work")];
      for (const made of [dir, upper, work]) mkdirSync(made, { recursive: true });
      const layers = `lowerdir=${lower.dir},upperdir=${upper},workdir=${work}`;
      const minter = await start(t, { mounts: [`mount -t overlay overlay -o ${layers} ${dir}`] });
      assert.match(await minter.call("shell", `ls ${dir}`), /default-.*frazil/);
      for (const options of [{}, { scope: "orders" }]) {
        for (const fileSystem of [undefined, "overlay", "ext4"]) {
          const error = await errorOf(() => minter.call("open", { dir, fileSystem, ...options }));
          assert.equal(error?.code, "UNSUPPORTED_FILE_SYSTEM", `${error}`);
          assert.ok(error.message.includes(dir));
          assert.match(error.message, pattern("overlay"));
        }
      }
      // A file that is only opened for writing is copied into the layer of the container, where it would stay.
      assert.deepEqual(readdirSync(upper), []);
    }
  });

  test("is ramfs", withDisks, async (t) => {
    const dir = place();
    const minter = await start(t, { mounts: [`mount -t ramfs ramfs ${dir}`] });
    for (const fileSystem of [undefined, "ramfs"]) {
      const error = await errorOf(() => minter.call("open", { dir, fileSystem }));
      assert.equal(error?.code, "UNSUPPORTED_FILE_SYSTEM", `${error}`);
      assert.match(error.message, pattern("ramfs"));
    }
  });

  test("may be one that frazil does not know: then only with the caller's word, which must be exact", async () => {
    const dir = "/proc";
    const number = `0x${(0x9fa0).toString(16)}`;
    for (const fileSystem of [undefined, "proc", number.toUpperCase()]) {
      const error = await errorOf(() => Snowflake.local({ dir, fileSystem }));
      assert.equal(error?.code, "UNSUPPORTED_FILE_SYSTEM", `${error}`);
      assert.ok(error.message.includes(`say so with fileSystem: "${number}"`), error.message);
    }
    const error = await errorOf(() => Snowflake.local({ dir, fileSystem: number }));
    assert.equal(error?.code, "STATE_FILE_FAILED", "it is believed, and cannot hold a file");
  });
});

describe("a clock that is wrong", { concurrency }, () => {
  /** A process on clocks that the test sets, minting into a file. */
  async function minting(t) {
    const [dir, file, hands] = [place(), join(place(), "ids"), clocks()];
    const minter = await start(t, { clocks: hands });
    await minter.call("open", { dir });
    await minter.mint({ file });
    const believed = () => until(async () => (await minter.call("health")).file.distrustedMs === 0);
    const disbelieved = () => until(async () => (await minter.call("health")).file.distrustedMs > 0);
    /** What it mints from now on. */
    const more = async (count = 2000) => {
      const before = written(file).length;
      await until(() => written(file).length > before + count);
      return written(file).slice(before);
    };
    return { minter, file, hands, believed, disbelieved, more };
  }
  const hour = 3_600_000;
  /** What the clocks of one process may differ by, from the milliseconds that they are rounded to. */
  const rounding = 5;

  test("two hours ahead is not followed: IDs stay on the time that was believed, and health() says so", async (t) => {
    const { minter, file, hands, believed, disbelieved, more } = await minting(t);
    hands.set({ wallMs: 2 * hour });
    await disbelieved();
    const ids = await more();
    const { ok, warnings, file: kept } = await minter.call("health");
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
    // And back: as if nothing had been.
    hands.set({ wallMs: 0 });
    await believed();
    await more();
    assert.deepEqual((await minter.call("health")).warnings, []);
    const all = written(file);
    assert.equal(repeats(all), 0);
    assert.ok(increasing(all));
    assert.deepEqual((await minter.call("minted")).codes, {});
  });

  test("two hours ahead is followed once it has lasted for ten minutes", async (t) => {
    const { minter, file, hands, believed, disbelieved, more } = await minting(t);
    hands.set({ wallMs: 2 * hour });
    await disbelieved();
    // The ten minutes begin when the first ID meets the step.
    await more();
    const late = 10 * 60_000;
    hands.set({ wallMs: 2 * hour + late / 2, bootMs: late / 2 });
    await more();
    await disbelieved();
    hands.set({ wallMs: 2 * hour + late, bootMs: late });
    await believed();
    const before = Date.now();
    const ids = await more();
    assert.ok(timestampOf(ids.at(-1)) >= before + 2 * hour + late);
    const all = written(file);
    assert.equal(repeats(all), 0);
    assert.ok(increasing(all));
    assert.deepEqual((await minter.call("minted")).codes, {});
  });

  /** Opens a file, mints an ID and closes it, so many minutes after the boot, with a clock that far ahead. Returns the ID. */
  async function visit(t, dir, minutes, wallMs) {
    const bootMs = minutes * 60_000;
    const visitor = await start(t, { clocks: clocks({ wallMs: wallMs + bootMs, bootMs }) });
    await visitor.call("open", { dir });
    const [id] = await visitor.call("next", 1);
    await visitor.call("close");
    await visitor.end();
    return id;
  }

  test("a year ahead in one reading of two short processes each, eleven minutes apart, is followed by neither", async (t) => {
    const [dir, year] = [place(), 365 * 24 * hour];
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
    assert.ok(timestampOf(ids.at(-1)) < Date.now() + hour, "and nothing is reserved up to that year");
  });

  test("a year ahead in short processes for over ten minutes is followed by them together", async (t) => {
    const [dir, year] = [place(), 365 * 24 * hour];
    const ids = [];
    for (const minutes of [0, 5, 9, 12]) ids.push(await visit(t, dir, minutes, minutes === 0 ? 0 : year));
    const late = await visit(t, dir, 16, year);
    assert.ok(increasing([...ids, late]));
    assert.ok(ids.every((id) => timestampOf(id) < Date.now() + hour));
    assert.ok(timestampOf(late) > Date.now() + year);
  });

  const ownTime = spawnSync("unshare", ["--time", "--fork", "--boottime", "86400", "true"]).status === 0;
  const skip = !ownTime && "needs unshare --time";
  test("a container that counts from another boot believes the same clock as the others", { skip }, async (t) => {
    const dir = place();
    const ids = Snowflake.local({ dir });
    t.after(ids.close);
    const before = ids.nextMany(1000);
    // Until the next ID raises the ceiling, by which the clock is learned.
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
      const { minter, file, hands, more } = await minting(t);
      hands.set(ahead);
      const before = Date.now();
      await more();
      const ids = written(file);
      assert.ok(timestampOf(ids.at(-1)) >= before + ahead.wallMs, "IDs are of the time that the clock shows");
      const { file: kept, warnings } = await minter.call("health");
      assert.ok(kept.ceilingMs <= Date.now() + ahead.wallMs + 3000 + rounding);
      assert.deepEqual([kept.distrustedMs, warnings], [0, []]);
      assert.equal(repeats(ids), 0);
      assert.ok(increasing(ids));
    });
  }

  test("an hour back is refused until it has caught up, and repeats nothing", async (t) => {
    const { minter, file, hands, more } = await minting(t);
    await more(100);
    hands.set({ wallMs: -hour });
    await minter.refused("CLOCK_BACKWARD");
    const { issued } = await minter.call("minted");
    await until(async () => (await minter.call("minted")).codes.CLOCK_BACKWARD > 100);
    assert.equal((await minter.call("minted")).issued, issued);
    hands.set({ wallMs: 0 });
    await more();
    const ids = written(file);
    assert.equal(repeats(ids), 0);
    assert.ok(increasing(ids));
  });

  test("before the epoch is refused, makes no file, and is forgotten once it is right", async (t) => {
    const [dir, hands] = [place(), clocks({ wallMs: -Date.now() })];
    const minter = await start(t, { clocks: hands });
    const error = await errorOf(() => minter.call("open", { dir }));
    assert.deepEqual([error?.code, error?.name], ["CLOCK_BEFORE_EPOCH", "ClockError"]);
    assert.deepEqual(readdirSync(dir), []);
    hands.set({ wallMs: 0 });
    const before = Date.now();
    assert.equal((await minter.call("open", { dir })).distrustedMs, 0);
    const [id] = await minter.call("next", 1);
    assert.ok(timestampOf(id) >= before);
    const later = await errorOf(() => Snowflake.local({ dir, epochMs: Date.now() + hour }));
    assert.equal(later?.code, "CLOCK_BEFORE_EPOCH", "an epoch that is still to come is no matter of the file");
  });

  /** Mints on a machine whose clock is ahead, and dies. */
  async function future(t, wallMs) {
    const dir = place();
    const minter = await start(t, { clocks: clocks({ wallMs }) });
    const { path } = await minter.call("open", { dir });
    const ids = await minter.call("next", 1000);
    await minter.end();
    return { dir, path, ids };
  }

  for (const [name, machine] of [
    ["on the same boot", () => ({})],
    ["after another boot", () => ({ boot: boot() })],
  ]) {
    const skip = name === "after another boot" ? withMounts : {};
    test(`ten minutes ahead, and right again ${name}: the file says how far ahead it is`, skip, async (t) => {
      const { dir, path, ids } = await future(t, 600_000);
      const later = await start(t, machine());
      await refused(path, "STATE_FILE_AHEAD", /reserved time up to \d+ .*, \d+ s ahead.*delete the file/, (options) =>
        later.call("open", options),
      );
      const { message } = await errorOf(() => later.call("open", { dir }));
      const seconds = Number(/(\d+) s ahead/.exec(message)[1]);
      assert.ok(seconds > 540 && seconds <= 603, message);
      // Where the clock shows that time again, it goes on.
      const ahead = await start(t, { ...machine(), clocks: clocks({ wallMs: 610_000 }) });
      await ahead.call("open", { dir });
      ids.push(...(await ahead.call("next", 1000)));
      assert.ok(increasing(ids));
    });

    test(`half a minute ahead, and right again ${name}: a start says how long to wait`, skip, async (t) => {
      const { dir, path, ids } = await future(t, 30_000);
      const reserved = ceilingOf(path);
      const later = await start(t, machine());
      const error = await errorOf(() => later.call("open", { dir }));
      assert.equal(error?.code, "CLOCK_BACKWARD", `${error}`);
      assert.ok(error.retryAfterMs > 3500 && error.retryAfterMs <= 33_001, `${error.retryAfterMs}`);
      assert.equal(ceilingOf(path) <= reserved, true);
      const ahead = await start(t, { ...machine(), clocks: clocks({ wallMs: 40_000 }) });
      assert.equal((await ahead.call("open", { dir })).attached, 1, "nothing was left attached");
      ids.push(...(await ahead.call("next", 1000)));
      assert.ok(increasing(ids));
    });
  }

  // docs/safety.md: 11, 12
  test("after a crash and another boot: a start waits for what was reserved, and nothing of it is minted", {
    ...withMounts,
  }, async (t) => {
    const [dir, file] = [place(), join(place(), "ids")];
    const minter = await start(t);
    const { path } = await minter.call("open", { dir });
    await minter.mint({ file });
    await minter.end();
    // The copies that the crash has torn, at worst.
    for (const at of [HEADER, ...RECORDS]) flip(path, at + 100);
    const reserved = ceilingOf(path);
    const machine = { boot: boot(), clocks: clocks() };
    const [impatient, patient] = await Promise.all([start(t, machine), start(t, machine)]);
    /** Sets the clock back, so that there is something to wait for, however slow this machine is. */
    const leave = (ms) => machine.clocks.set({ wallMs: reserved - ms - Date.now() });
    leave(30_000);
    const error = await errorOf(() => impatient.call("open", { dir, startWaitMs: 0 }));
    assert.equal(error?.code, "CLOCK_BACKWARD", `${error}`);
    assert.ok(error.retryable && error.retryAfterMs > 0 && error.retryAfterMs <= 30_000, `${error.retryAfterMs}`);
    leave(1000);
    assert.equal((await patient.call("open", { dir })).attached, 1, "nothing was left attached");
    const ids = await patient.call("next", 1000);
    assert.ok(timestampOf(ids[0]) >= reserved, `${timestampOf(ids[0])} is below the ceiling ${reserved}`);
    assert.equal(repeats([...written(file), ...ids]), 0);
  });
});
