// State files on disks that fail, are full or forbid writing, and on file systems that may lose them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ConfigError, Snowflake } from "frazil";
import { errorOf } from "../base/bad-input.mjs";
import { wholeText } from "../base/rule-texts.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { boot, disk, NOBODY, start, until, withDisks, withMounts, withUsers, writtenIds } from "./child-process.mjs";
import { assertRefused, concurrency, increasing, newStateFile } from "./new-state-files.mjs";
import { sharedTempDir, tempDir } from "./temp-dir.mjs";

describe("a disk fails", { concurrency }, () => {
  // docs/internals/claims.md: 17
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
      said.some((message) =>
        /flushed to disk.*Input\/output error.*Check the disk, or pass another node/.test(message),
      ),
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
    assert.match(wholeText(error), /cannot be made: Input\/output error.*Check the disk/);
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

  // docs/internals/claims.md: 17
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
    assert.match(
      wholeText(error),
      /cannot be made: No space left.*Free 128 KiB there, or pass a dir on another volume/,
    );
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
      for (const [options, remedy] of [
        [
          { dir },
          /opened: Read-only file system.*Mount it writable, or pass another node, and a dir on another volume/,
        ],
        [{ dir, scope: "orders" }, /made: Read-only file system.*Pass a dir on a volume that can be written/],
        [{ dir: join(dir, "deeper") }, /made: Read-only file system.*Pass a dir on a volume that can be written/],
      ]) {
        const error = await errorOf(() => child.call("open", options));
        assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
        assert.ok(error.message.includes(options.dir));
        assert.match(wholeText(error), remedy);
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
    const dir = sharedTempDir();
    chmodSync(dir, 0o755);
    const { path } = newStateFile({ dir });
    const unseen = join(dir, "private");
    mkdirSync(unseen, { mode: 0o700 });
    const child = await start(t, NOBODY);
    for (const [options, remedy] of [
      [{ dir }, /opened by this user \(it belongs to .*Let this user read and write it, or pass another node\.$/],
      [{ dir: unseen }, /opened: .*Pass a dir that this user may write, .*pass another node too\.$/],
      [{ dir: join(dir, "other") }, /made: .*Pass a dir that this user may write, or change its owner\.$/],
    ]) {
      const error = await errorOf(() => child.call("open", options));
      assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
      assert.match(wholeText(error), /Permission denied/);
      assert.match(wholeText(error), remedy);
    }
    assert.ok(existsSync(path));
  });
});

describe("a file system is refused because it may lose the state", () => {
  const pattern = (name) => new RegExp(`is on ${name}, which .*\\. Pass a dir on a disk of this machine`);

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
        assert.match(wholeText(error), pattern("tmpfs"));
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
            assert.match(wholeText(error), pattern("overlay"));
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
      assert.match(wholeText(error), pattern("ramfs"));
    }
  });

  test("if frazil does not know it, unless fileSystem gives its exact number", async () => {
    const dir = "/proc";
    const number = `0x${(0x9fa0).toString(16)}`;
    for (const fileSystem of [undefined, "proc", number.toUpperCase()]) {
      const error = await errorOf(() => Snowflake.local({ dir, fileSystem }));
      assert.equal(error?.code, "UNSUPPORTED_FILE_SYSTEM", `${error}`);
      assert.ok(error.hint.includes(`say so with fileSystem: "${number}"`), error.message);
    }
    const error = await errorOf(() => Snowflake.local({ dir, fileSystem: number }));
    assert.equal(error?.code, "STATE_FILE_FAILED", "the number is accepted, but /proc cannot hold a file");
  });
});
