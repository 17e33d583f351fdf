// docs/internals/claims.md: 16, 18
// Two state files with the same name: one covered by a mount, moved away and put back, or created anew below directories that were
// moved. One issues IDs only after all time that users of the other reserved.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { Snowflake } from "frazil";
import { errorOf } from "../base/bad-input.mjs";
import { wholeText } from "../base/rule-texts.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { mappedClocks } from "../processes/movable-clock.mjs";
import {
  boot,
  idsOfTwoFiles,
  NOBODY,
  pause,
  start,
  until,
  withDisks,
  withMounts,
  withUsers,
  writtenIds,
} from "./child-process.mjs";
import { mountImage, run } from "./mounted-image.mjs";
import { ceilingOf } from "./state-file.mjs";
import { sharedTempDir, tempDir } from "./temp-dir.mjs";

/** Starts `count` processes. */
const startAll = (t, count, machine) => Promise.all(Array.from({ length: count }, () => start(t, machine)));

/** Lets processes mint side by side until the last has minted for a while, and returns the IDs of all. */
async function collectIds(children, files) {
  const last = files.at(-1);
  const before = writtenIds(last).length;
  await until(() => writtenIds(last).length > before + 3000);
  await Promise.all(children.map(({ end }) => end()));
  return writtenIds(...files);
}

describe("a second state file with the same name repeats no ID", { concurrency: 4 }, () => {
  test("on a disk that is mounted over the directory of the first", withDisks, async (t) => {
    const disk = mountImage(t, "ext4");
    const dir = tempDir();
    const [before, one, other] = await startAll(t, 3);
    // An older file, which is already on the mounted disk.
    await before.call("open", { dir: disk.dir });
    const issued = await before.call("next", 100);
    await before.end();
    disk.unmount();
    const files = [join(tempDir(), "one"), join(tempDir(), "other")];
    await one.call("open", { dir });
    await one.mint({ file: files[0] });
    disk.mount(dir);
    await other.call("open", { dir });
    await other.mint({ file: files[1] });
    await one.untilRefused("STATE_FILE_CORRUPT");
    const ids = await collectIds([one, other], files);
    disk.unmount();
    assert.equal(repeats([...issued, ...ids]), 0);
  });

  for (const [name, attached] of [
    ["no process is attached to it", false],
    ["a process is attached to it and idle", true],
    ["a process is attached to it and mints again", "mints"],
  ]) {
    test(`when the first was moved away and put back, and ${name}`, async (t) => {
      const dir = tempDir();
      const [first, second, third] = await startAll(t, 3);
      const files = ["second", "third"].map((name) => join(tempDir(), name));
      const { path } = await first.call("open", { dir });
      const issued = await first.call("next", 100);
      if (!attached) await first.end();
      renameSync(path, `${path}.away`);
      await second.call("open", { dir });
      await second.mint({ file: files[0] });
      renameSync(`${path}.away`, path);
      if (attached === "mints") {
        // It minted nothing in between, and is refused all the same.
        files.unshift(join(tempDir(), "first"));
        await first.call("mint", { file: files[0] });
        await first.untilRefused("STATE_FILE_CORRUPT");
      }
      await third.call("open", { dir });
      await third.mint({ file: files.at(-1) });
      await second.untilRefused("STATE_FILE_CORRUPT");
      const ids = await collectIds([first, second, third], files);
      assert.equal(repeats([...issued, ...ids]), 0);
    });
  }

  test("when a process creates it while another is paused between opening the old one and marking its directories", async (t) => {
    const dir = tempDir();
    const paused = pause();
    const [first, late, second] = [await start(t), await start(t, { pause: paused }), await start(t)];
    const files = ["late", "second"].map((name) => join(tempDir(), name));
    const { path } = await first.call("open", { dir });
    const issued = await first.call("next", 100);
    paused.once("opened");
    const opening = late.call("open", { dir });
    await late.untilStopped();
    await first.end();
    rmSync(path);
    await second.call("open", { dir });
    await second.mint({ file: files[1] });
    late.resume();
    await opening;
    await late.mint({ file: files[0] });
    const ids = await collectIds([late, second], files);
    assert.equal(repeats([...issued, ...ids]), 0);
  });

  test("and the checker catches processes that do not look for other files with the name", async (t) => {
    // Two files that both seem to be the only one, as for a process that ignores the marks.
    assert.equal(repeats(await idsOfTwoFiles(...(await startAll(t, 2)))), 1000);
  });
});

test("a service with a state file below the same parent directory delays no start", async (t) => {
  const parent = tempDir();
  const dirs = ["one", "other"].map((name) => join(parent, name));
  const neighbour = Snowflake.local({ dir: dirs[0] });
  t.after(neighbour.close);
  // A new file waits for what a user of an earlier one can have issued.
  Snowflake.local({ dir: dirs[1] }).close();
  // startWaitMs suffices only for the end of the last tick after a clean close.
  for (let round = 0; round < 5; round++) {
    const ids = Snowflake.local({ dir: dirs[1], startWaitMs: 100 });
    ids.next();
    ids.close();
  }
});

test("a lock of another program on a parent directory never causes a refusal", async (t) => {
  const dir = join(tempDir(), "x/y");
  mkdirSync(dir, { recursive: true });
  chmodSync(dirname(dir), 0o755);
  const holder = spawn("flock", ["-x", dirname(dir), "sh", "-c", "echo held; read line"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(() => holder.stdin.end());
  await once(holder.stdout, "data");
  const ids = Snowflake.local({ dir });
  ids.next();
  ids.close();
});

test(
  "if a parent directory may not be read, each start waits for the ceiling, and none is refused",
  withUsers,
  async (t) => {
    const dir = sharedTempDir();
    const other = await start(t, NOBODY);
    const waiting = await errorOf(() => other.call("open", { dir: dir, startWaitMs: 0 }));
    assert.equal(waiting?.code, "CLOCK_BACKWARD", `${waiting}`);
    assert.ok(waiting.retryAfterMs > 0 && waiting.retryAfterMs <= 3001);
    await other.call("open", { dir: dir });
    await other.call("next", 100);
  },
);

test(
  "a backup that replaces a state file on a file system without birth times is refused, even with the same inode",
  withDisks,
  async (t) => {
    const { dir } = mountImage(t, "ext4", { options: ["-I", "128"] });
    const machineClocks = mappedClocks();
    const [one, other] = [await start(t), await start(t, { clocks: machineClocks })];
    const { path } = await one.call("open", { dir });
    await one.call("next", 100);
    await one.call("close");
    const backup = join(tempDir(), "backup");
    copyFileSync(path, backup);
    await one.call("open", { dir });
    await one.call("next", 10_000);
    await one.end();
    const { ino } = statSync(path);
    rmSync(path);
    copyFileSync(backup, path);
    assert.equal(statSync(path).ino, ino, "the inode must be used again");
    assert.equal(run("stat", "--format=%W", path).trim(), "0", "the file system must have no birth times");
    machineClocks.set({ wallMs: -3200 });
    const error = await errorOf(() => other.call("open", { dir }));
    assert.equal(error?.code, "STATE_FILE_CORRUPT", `${error}`);
    assert.match(wholeText(error), /is a copy/);
    await other.end();
  },
);

describe("two boot ids on one kernel", () => {
  test("as under systemd-nspawn: processes share the file and repeat no ID", withMounts, async (t) => {
    const dir = tempDir();
    const files = ["one", "other"].map((name) => join(tempDir(), name));
    const children = [await start(t, { boot: boot() }), await start(t, { boot: boot() })];
    for (const [at, child] of children.entries()) {
      await child.call("open", { dir });
      await child.mint({ file: files[at] });
    }
    assert.equal((await children[0].call("health")).file.attached, 2);
    assert.equal(repeats(await collectIds(children, files)), 0);
  });

  test("and a process that is paused after it read the record: no ID is repeated", withMounts, async (t) => {
    const dir = tempDir();
    const layout = "edge";
    const paused = pause();
    const file = join(tempDir(), "one");
    const [one, late] = [await start(t, { boot: boot() }), await start(t, { boot: boot(), pause: paused })];
    const { path } = await one.call("open", { dir, layout });
    // As far ahead of the clock as the ceiling allows.
    await one.mint({ file, burst: 50_000 });
    const reserved = ceilingOf(path);
    paused.once("read");
    const opening = late.call("open", { dir, layout });
    await late.untilStopped();
    // The other process mints until the ceiling that was read is over, or until it is refused.
    await until(async () => ceilingOf(path) > reserved + 2500 || (await one.call("minted")).codes.LEASE_EXPIRED > 0);
    await one.end();
    late.resume();
    await opening;
    assert.equal(repeats([...writtenIds(file), ...(await late.call("next", 150_000))]), 0);
  });
});
