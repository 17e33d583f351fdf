// Openings that wait for each other, for locks, and for scarce system resources.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pause, start } from "./child-process.mjs";
import { tempDir } from "./temp-dir.mjs";

/** A library that refuses the locks of open files on directories: setting them, asking for them, or both. */
function withoutLocks(commands) {
  const [source, library] = ["nolocks.c", "nolocks.so"].map((name) => join(tempDir(), name));
  writeFileSync(
    source,
    `#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static int go(int fd, int command, void *lock) {
  struct stat what;
  if ((${commands.map((name) => `command == ${name}`).join(" || ")}) && fstat(fd, &what) == 0 && S_ISDIR(what.st_mode)) {
    errno = EINVAL;
    return -1;
  }
  return syscall(SYS_fcntl, fd, command, lock);
}
int fcntl(int fd, int command, ...) { va_list l; va_start(l, command); void *x = va_arg(l, void *); va_end(l); return go(fd, command, x); }
int fcntl64(int fd, int command, ...) { va_list l; va_start(l, command); void *x = va_arg(l, void *); va_end(l); return go(fd, command, x); }
`,
  );
  execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source]);
  return library;
}

describe("where a directory", { concurrency: true }, () => {
  for (const [name, commands] of [
    ["cannot be locked", ["F_OFD_SETLK"]],
    ["does not show locks", ["F_OFD_GETLK"]],
    ["knows no locks", ["F_OFD_SETLK", "F_OFD_GETLK"]],
  ]) {
    test(`${name}, an opening waits as below one that may not be read, and succeeds`, async (t) => {
      const minter = await start(t, { env: { LD_PRELOAD: withoutLocks(commands) } });
      const { blind } = await minter.call("open", { dir: tempDir() });
      assert.equal(blind, true);
      await minter.call("next", 10);
    });
  }
});

describe("eight openings of one file in one process", { concurrency: true }, () => {
  /** Has a process open a file eight times, and asserts that all are refused with a code after about the same time. */
  async function refusedTogether(t, minter, code, options) {
    const refusals = await minter.call("openTogether", 8, options);
    t.diagnostic(`${refusals.map(({ ms }) => Math.round(ms))} ms`);
    assert.deepEqual(
      refusals.map((refusal) => refusal.code),
      Array(8).fill(code),
    );
    const times = refusals.map(({ ms }) => ms);
    assert.ok(Math.max(...times) < 2 * Math.min(...times), `${times}`);
  }

  test("wait for the user of another file at the same time", async (t) => {
    const dir = tempDir();
    const [one, other] = [await start(t), await start(t)];
    const { path } = await one.call("open", { dir });
    process.kill(one.pid, "SIGSTOP");
    await one.untilStopped();
    renameSync(path, `${path}.old`);
    await refusedTogether(t, other, "STATE_CONFLICT", { dir, startWaitMs: 1000 });
  });

  test("wait for a process that holds the file at the same time", async (t) => {
    const dir = tempDir();
    const paused = pause();
    const [one, other] = [await start(t, { pause: paused }), await start(t)];
    paused.once("read");
    // Nobody waits for this one: the process is ended.
    one.call("open", { dir }).catch(() => {});
    await one.untilStopped();
    await refusedTogether(t, other, "STATE_FILE_FAILED", { dir });
  });

  test("share the file once the first has it", async (t) => {
    const dir = tempDir();
    const minter = await start(t);
    assert.deepEqual(await minter.call("openTogether", 8, { dir }), []);
    assert.equal((await minter.call("health")).file.attached, 1);
  });
});
