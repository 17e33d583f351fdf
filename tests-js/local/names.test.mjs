// docs/safety.md: 16, 18
// Two state files of one name: covered by a mount, moved away and put back, made anew below directories that were moved. What the
// users of the one have reserved is over before the other is minted from.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { Snowflake } from "frazil";
import { repeats } from "../api/broken.mjs";
import { errorOf } from "../api/refusals.mjs";
import { mounted, run } from "./mounted.mjs";
import { place, shared } from "./place.mjs";
import { boot, clocks, pause, start, until, withDisks, withMounts, written } from "./started.mjs";
import { ceilingOf } from "./state-file.mjs";

/** Starts so many processes. */
const fleet = (t, count, machine) => Promise.all(Array.from({ length: count }, () => start(t, machine)));

/** Has processes mint side by side until the last of them has minted for a while, and collects what all of them did. */
async function collected(minters, files) {
  const last = files.at(-1);
  const before = written(last).length;
  await until(() => written(last).length > before + 3000);
  await Promise.all(minters.map(({ end }) => end()));
  return written(...files);
}

describe("a state file of a name while another one is in use", { concurrency: 4 }, () => {
  test("on a disk that is mounted over its directory", withDisks, async (t) => {
    const disk = mounted(t, "ext4");
    const dir = place();
    const [before, one, other] = await fleet(t, 3);
    // An older file, which its disk brings with it.
    await before.call("open", { dir: disk.dir });
    const issued = await before.call("next", 100);
    await before.end();
    disk.unmount();
    const files = [join(place(), "one"), join(place(), "other")];
    await one.call("open", { dir });
    await one.mint({ file: files[0] });
    disk.mount(dir);
    await other.call("open", { dir });
    await other.mint({ file: files[1] });
    await one.refused("STATE_FILE_CORRUPT");
    const ids = await collected([one, other], files);
    disk.unmount(dir);
    assert.equal(repeats([...issued, ...ids]), 0);
  });

  for (const [name, attached] of [
    ["nobody is attached to", false],
    ["a process is attached to and idle", true],
    ["a process is attached to and mints again", "mints"],
  ]) {
    test(`that was moved away, and is put back, and that ${name}`, async (t) => {
      const dir = place();
      const [first, second, third] = await fleet(t, 3);
      const files = ["second", "third"].map((name) => join(place(), name));
      const { path } = await first.call("open", { dir });
      const issued = await first.call("next", 100);
      if (!attached) await first.end();
      renameSync(path, `${path}.away`);
      await second.call("open", { dir });
      await second.mint({ file: files[0] });
      renameSync(`${path}.away`, path);
      if (attached === "mints") {
        // It minted nothing in between, and has noticed all the same.
        files.unshift(join(place(), "first"));
        await first.call("mint", { file: files[0] });
        await first.refused("STATE_FILE_CORRUPT");
      }
      await third.call("open", { dir });
      await third.mint({ file: files.at(-1) });
      await second.refused("STATE_FILE_CORRUPT");
      const ids = await collected([first, second, third], files);
      assert.equal(repeats([...issued, ...ids]), 0);
    });
  }

  test("that another process makes while one is paused between opening the old one and marking its directories", async (t) => {
    const dir = place();
    const paused = pause();
    const [first, late, second] = [await start(t), await start(t, { pause: paused }), await start(t)];
    const files = ["late", "second"].map((name) => join(place(), name));
    const { path } = await first.call("open", { dir });
    const issued = await first.call("next", 100);
    paused.once("opened");
    const opening = late.call("open", { dir });
    await late.stopped();
    await first.end();
    rmSync(path);
    await second.call("open", { dir });
    await second.mint({ file: files[1] });
    late.go();
    await opening;
    await late.mint({ file: files[0] });
    const ids = await collected([late, second], files);
    assert.equal(repeats([...issued, ...ids]), 0);
  });

  test("the checker catches a process that does not look", async (t) => {
    // Two files of two directories that both say they are alone: what a process that looks at no marks would do.
    const now = Date.now() + 30_000;
    const ids = [];
    for (const minter of await fleet(t, 2)) {
      await minter.call("freeze", now);
      await minter.call("open", { dir: place() });
      ids.push(...(await minter.call("next", 1000)));
    }
    assert.equal(repeats(ids), 1000);
  });
});

test("another service below the same directory makes no start wait", async (t) => {
  const parent = place();
  const dirs = ["one", "other"].map((name) => join(parent, name));
  const neighbour = Snowflake.local({ dir: dirs[0] });
  t.after(neighbour.close);
  // A new file waits for what a user of an earlier one can have issued.
  Snowflake.local({ dir: dirs[1] }).close();
  // startWaitMs: only what the last tick of a clean close costs.
  for (let round = 0; round < 5; round++) {
    const ids = Snowflake.local({ dir: dirs[1], startWaitMs: 100 });
    ids.next();
    ids.close();
  }
});

test("a lock of another program on a directory above never refuses an opening", async (t) => {
  const dir = join(place(), "x/y");
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

test("a directory above that may not be read costs each start the wait, and refuses none", {
  skip: process.getuid?.() !== 0 && "takes root, to be another user",
}, async (t) => {
  const dir = shared();
  const other = await start(t, { uid: 65534, gid: 65534 });
  const waiting = await errorOf(() => other.call("open", { dir: dir, startWaitMs: 0 }));
  assert.equal(waiting?.code, "CLOCK_BACKWARD", `${waiting}`);
  assert.ok(waiting.retryAfterMs > 0 && waiting.retryAfterMs <= 3001);
  await other.call("open", { dir: dir });
  await other.call("next", 100);
});

test(
  "a backup in the place of a file on a file system without birth times is refused, at the same inode too",
  withDisks,
  async (t) => {
    const { dir } = mounted(t, "ext4", { options: ["-I", "128"] });
    const hands = clocks();
    const [one, other] = [await start(t), await start(t, { clocks: hands })];
    const { path } = await one.call("open", { dir });
    await one.call("next", 100);
    await one.call("close");
    const backup = join(place(), "backup");
    copyFileSync(path, backup);
    await one.call("open", { dir });
    await one.call("next", 10_000);
    await one.end();
    const { ino } = statSync(path);
    rmSync(path);
    copyFileSync(backup, path);
    assert.equal(statSync(path).ino, ino, "the inode is used again");
    assert.equal(run("stat", "--format=%W", path).trim(), "0", "and says nothing of when it was made");
    hands.set({ wallMs: -3200 });
    const error = await errorOf(() => other.call("open", { dir }));
    assert.equal(error?.code, "STATE_FILE_CORRUPT", `${error}`);
    assert.match(error.message, /is a copy/);
    await other.end();
  },
);

describe("two boot ids on one kernel", () => {
  test("as systemd-nspawn shows them: processes share the file, and repeat no ID", withMounts, async (t) => {
    const dir = place();
    const files = ["one", "other"].map((name) => join(place(), name));
    const minters = [await start(t, { boot: boot() }), await start(t, { boot: boot() })];
    for (const [at, minter] of minters.entries()) {
      await minter.call("open", { dir });
      await minter.mint({ file: files[at] });
    }
    assert.equal((await minters[0].call("health")).file.attached, 2);
    assert.equal(repeats(await collected(minters, files)), 0);
  });

  test("and a process that is paused after it read the record", withMounts, async (t) => {
    const dir = place();
    const layout = "edge";
    const paused = pause();
    const file = join(place(), "one");
    const [one, late] = [await start(t, { boot: boot() }), await start(t, { boot: boot(), pause: paused })];
    const { path } = await one.call("open", { dir, layout });
    // As far ahead of the clock as it may.
    await one.mint({ file, burst: 50_000 });
    const reserved = ceilingOf(path);
    paused.once("read");
    const opening = late.call("open", { dir, layout });
    await late.stopped();
    // The other goes on for as long as it may: until what was read is over, or until it is refused.
    await until(async () => ceilingOf(path) > reserved + 2500 || (await one.call("minted")).codes.LEASE_EXPIRED > 0);
    await one.end();
    late.go();
    await opening;
    assert.equal(repeats([...written(file), ...(await late.call("next", 150_000))]), 0);
  });
});
