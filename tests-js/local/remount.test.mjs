// docs/internals/claims.md: 12, 17
// The mapped part of a state file after its file system is shut down and mounted again in the same boot. An equal boot id does not prove
// that the part on disk is current.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Layout } from "frazil";
import { errorOf } from "../base/bad-input.mjs";
import { wholeText } from "../base/rule-texts.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { mappedClocks } from "../processes/movable-clock.mjs";
import { disk, mintAt, start, until, withDisks, withMounts, writtenIds } from "./child-process.mjs";
import { mountImage, run } from "./mounted-image.mjs";
import { ceilingOf, MAPPED_OFFSETS, overwrite, records } from "./state-file.mjs";
import { tempDir } from "./temp-dir.mjs";

/** The options of a test that mounts a file system of a kind. */
const withDisk = (kind) => ({
  skip: withDisks.skip || (!existsSync(`/usr/sbin/mkfs.${kind}`) && `needs mkfs.${kind}`),
});

const layout = "edge";
const timestampOf = (id) => Layout.named(layout).timestampOf(id);
/** This many IDs of the layout `edge` reach more than half a second ahead of the clock. */
const BURST = 150_000;

/**
 * A process mints far ahead of the clock and is killed; after `between`, another opens the file and mints as many IDs. By their clocks
 * minting and `between` took no time, so that the other one is still behind the IDs of the first one.
 */
async function burst(t, dir, between) {
  const clock = mappedClocks();
  const [one, other] = await Promise.all([start(t), start(t, { clocks: clock })]);
  const { path } = await one.call("open", { dir, layout });
  const nowMs = Date.now();
  await one.call("freezeClock", nowMs);
  const issued = await one.call("next", BURST);
  await one.end();
  await between(path);
  const backMs = nowMs - Date.now();
  clock.set({ wallMs: backMs, bootMs: backMs });
  // It waits for the ceiling, which a process that took long to mint has raised far above this time.
  await other.call("open", { dir, layout, startWaitMs: 60_000 });
  const more = await other.call("next", BURST);
  await other.end();
  return { path, issued, more };
}

for (const kind of ["ext4", "xfs"]) {
  test(`after ${kind} is shut down, unmounted and mounted again, no ID is repeated`, withDisk(kind), async (t) => {
    const { dir, shutDown, mount, unmount } = mountImage(t, kind);
    const { issued, more } = await burst(t, dir, () => {
      shutDown();
      unmount();
      mount();
    });
    assert.equal(repeats([...issued, ...more]), 0);
  });
}

test("the checker catches repeats when the mapped part on disk is trusted after a shutdown", withDisks, async (t) => {
  const { dir, shutDown, mount, unmount, superblock } = mountImage(t, "ext4");
  const [one, other] = await Promise.all([start(t), start(t)]);
  // Later than the second that the opening of a new file waits.
  const nowMs = Date.now() + 30_000;
  const { path, ids } = await mintAt(nowMs, one, { dir, layout });
  await one.end();
  shutDown();
  unmount();
  mount();
  // The forged proof: this mount, and the newest record.
  overwrite(path, MAPPED_OFFSETS.superblock, superblock());
  overwrite(path, MAPPED_OFFSETS.number, records(path)[0].number);
  const again = await mintAt(nowMs, other, { dir, layout });
  await other.end();
  assert.equal(repeats([...ids, ...again.ids]), 1000);
});

test("after kill -9 without a remount, minting goes on at once, below the ceiling", withDisks, async (t) => {
  const { dir } = mountImage(t, "ext4");
  let reserved;
  const { issued, more } = await burst(t, dir, (path) => {
    reserved = ceilingOf(path);
  });
  assert.equal(repeats([...issued, ...more]), 0);
  assert.ok(timestampOf(more[0]) < reserved, "the start did not wait for the ceiling");
});

test("if /sys does not show mounts, a start after kill -9 waits for the ceiling", withMounts, async (t) => {
  const dir = tempDir();
  // Without /sys/fs there is no proof that the mapped part is current.
  const mounts = ["mount -t tmpfs none /sys/fs"];
  const [one, other] = await Promise.all([start(t, { mounts }), start(t, { mounts })]);
  const { path } = await one.call("open", { dir, layout });
  const issued = await one.call("next", BURST);
  await one.end();
  const reserved = ceilingOf(path);
  await other.call("open", { dir, layout });
  const more = await other.call("next", 1000);
  assert.ok(timestampOf(more[0]) >= reserved);
  assert.equal(repeats([...issued, ...more]), 0);
});

test(
  "after a clean close, a start waits at most for the end of the last tick used, with or without /sys",
  withMounts,
  async (t) => {
    for (const mounts of [[], ["mount -t tmpfs none /sys/fs"]]) {
      const dir = tempDir();
      const child = await start(t, { mounts });
      const { issued } = await child.call("restart", { dir }, 20);
      for (const [at, id] of issued.entries()) {
        if (at > 0) assert.ok(id > issued[at - 1]);
      }
      const { path } = await child.call("open", { dir });
      await child.call("close");
      const [last] = issued.slice(-1);
      assert.equal(ceilingOf(path), Layout.named("default").timestampOf(last) + 1);
    }
  },
);

test(
  "after a failed flush the file is refused until its file system is mounted again, and then repeats no ID",
  withDisks,
  async (t) => {
    const { dir, mount, unmount } = mountImage(t, "ext4");
    const failing = disk();
    const file = join(tempDir(), "ids");
    const child = await start(t, { disk: failing });
    await child.call("open", { dir, layout });
    await child.mint({ file });
    failing.failOnce();
    await child.untilRefused("STATE_FILE_FAILED");
    await child.end();
    const before = await start(t);
    const error = await errorOf(() => before.call("open", { dir, layout }));
    assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
    assert.match(wholeText(error), /unmount its file system and mount it anew, or restart the machine/);
    unmount();
    mount();
    await before.call("open", { dir, layout });
    const more = await before.call("next", 1000);
    await before.end();
    assert.equal(repeats([...writtenIds(file), ...more]), 0);
  },
);

test(
  "a disk with another device number in the same boot is refused, whether it is a copy or the same disk again",
  withDisks,
  async (t) => {
    const one = mountImage(t, "ext4");
    const [child, later] = await Promise.all([start(t), start(t)]);
    const { path } = await child.call("open", { dir: one.dir });
    await child.call("next", 1000);
    await child.end();
    one.unmount();
    one.renumber();
    one.mount();
    const error = await errorOf(() => later.call("open", { dir: one.dir }));
    assert.equal(error?.code, "STATE_FILE_CORRUPT", `${error}`);
    assert.ok(error.message.includes(path));
    assert.match(wholeText(error), /came back under another number, restart the machine.*snapshot/);
    await later.end();
  },
);

const btrfs = { skip: withDisk("btrfs").skip || (!existsSync("/sys/fs/btrfs") && "needs a kernel with btrfs") };
test("on btrfs, minting goes on under another device number, and a snapshot is refused", btrfs, async (t) => {
  const one = mountImage(t, "btrfs");
  run("btrfs", "subvolume", "create", join(one.dir, "own"));
  const dir = join(one.dir, "own");
  const [child, later, snapshot] = await Promise.all([start(t), start(t), start(t)]);
  await child.call("open", { dir, layout });
  const issued = await child.call("next", BURST);
  await child.end();
  run("btrfs", "subvolume", "snapshot", dir, join(one.dir, "copy"));
  one.unmount();
  one.renumber();
  one.mount();
  await later.call("open", { dir, layout });
  issued.push(...(await later.call("next", 1000)));
  assert.equal(repeats(issued), 0);
  const error = await errorOf(() => snapshot.call("open", { dir: join(one.dir, "copy"), layout }));
  assert.equal(error?.code, "STATE_FILE_CORRUPT", `${error}`);
  await Promise.all([later.end(), snapshot.end()]);
});

test("the mapped part is locked in memory, so that a page that could not be written is not read back from disk", async (t) => {
  const dir = tempDir();
  const child = await start(t);
  await child.call("open", { dir });
  assert.equal((await child.call("next", 1)).length, 1);
  const locked = await until(async () => /VmLck:\s+(\d+) kB/.exec(await child.call("status"))?.[1]);
  assert.ok(Number(locked) >= 4, `${locked} kB`);
});
