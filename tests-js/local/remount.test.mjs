// docs/safety.md: 12, 17
// What is mapped of a state file, when its file system is shut down and mounted again in the same boot: an equal boot id does not
// prove that it is current.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Layout } from "frazil";
import { errorOf } from "../api/bad-input.mjs";
import { repeats } from "../api/broken-generators.mjs";
import { disk, start, until, withDisks, withMounts, written } from "./child-process.mjs";
import { mounted, run } from "./mounted-image.mjs";
import { ceilingOf, overwrite, PLACES, records } from "./state-file.mjs";
import { place } from "./temp-dir.mjs";

const layout = "edge";
const timestampOf = (id) => Layout.named(layout).timestampOf(id);
/** So many IDs of `edge` lie over half a second ahead of the clock. */
const BURST = 150_000;

/** Mints far ahead of the clock and dies; another process opens the file after `between`, and mints as much. */
async function burst(t, dir, between) {
  // Started before, so that little time passes between the two.
  const [one, other] = await Promise.all([start(t), start(t)]);
  const { path } = await one.call("open", { dir, layout });
  const issued = await one.call("next", BURST);
  await one.end();
  await between(path);
  await other.call("open", { dir, layout });
  const more = await other.call("next", BURST);
  await other.end();
  return { path, issued, more };
}

for (const kind of ["ext4", "xfs"]) {
  test(`${kind} that is shut down, unmounted and mounted again repeats no ID`, withDisks, async (t) => {
    const { dir, shutDown, mount, unmount } = mounted(t, kind);
    const { issued, more } = await burst(t, dir, () => {
      shutDown();
      unmount();
      mount();
    });
    assert.equal(repeats([...issued, ...more]), 0);
  });
}

test("believing what the disk has of the mapped part after a shutdown is caught", withDisks, async (t) => {
  const { dir, shutDown, mount, unmount, superblock } = mounted(t, "ext4");
  const { issued, more } = await burst(t, dir, (path) => {
    shutDown();
    unmount();
    mount();
    // The proof is forged: this mount, and the newest record.
    overwrite(path, PLACES.superblock, superblock());
    overwrite(path, PLACES.number, records(path)[0].number);
  });
  assert.ok(repeats([...issued, ...more]) > 0);
});

test("after kill -9 alone the state goes on at once, below what was reserved", withDisks, async (t) => {
  const { dir } = mounted(t, "ext4");
  let reserved;
  const { issued, more } = await burst(t, dir, (path) => {
    reserved = ceilingOf(path);
  });
  assert.equal(repeats([...issued, ...more]), 0);
  assert.ok(timestampOf(more[0]) < reserved, "no wait for the ceiling");
});

test("where the kernel does not show mounts, a start after kill -9 waits for the ceiling", withMounts, async (t) => {
  const dir = place();
  // Without /sys/fs there is no proof.
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

test("a clean close costs no more than the last tick used, with proof and without", withMounts, async (t) => {
  for (const mounts of [[], ["mount -t tmpfs none /sys/fs"]]) {
    const dir = place();
    const minter = await start(t, { mounts });
    const { issued } = await minter.call("restart", { dir }, 20);
    for (const [at, id] of issued.entries()) {
      if (at > 0) assert.ok(id > issued[at - 1]);
    }
    const { path } = await minter.call("open", { dir });
    await minter.call("close");
    const [last] = issued.slice(-1);
    assert.equal(ceilingOf(path), Layout.named("default").timestampOf(last) + 1);
  }
});

test(
  "a failed flush ends the file until its file system is mounted anew, and then it repeats nothing",
  withDisks,
  async (t) => {
    const { dir, mount, unmount } = mounted(t, "ext4");
    const failing = disk();
    const file = join(place(), "ids");
    const minter = await start(t, { disk: failing });
    await minter.call("open", { dir, layout });
    await minter.mint({ file });
    failing.failOnce();
    await minter.refused("STATE_FILE_FAILED");
    await minter.end();
    const before = await start(t);
    const error = await errorOf(() => before.call("open", { dir, layout }));
    assert.equal(error?.code, "STATE_FILE_FAILED", `${error}`);
    assert.match(error.message, /unmount its file system and mount it anew, or restart the machine/);
    unmount();
    mount();
    await before.call("open", { dir, layout });
    const more = await before.call("next", 1000);
    await before.end();
    assert.equal(repeats([...written(file), ...more]), 0);
  },
);

test(
  "a disk under another number in the same boot is refused, whether it is a copy or came back",
  withDisks,
  async (t) => {
    const one = mounted(t, "ext4");
    const [minter, later] = await Promise.all([start(t), start(t)]);
    const { path } = await minter.call("open", { dir: one.dir });
    await minter.call("next", 1000);
    await minter.end();
    one.unmount();
    // Something else takes the number that it had.
    mounted(t, "ext4");
    one.mount();
    const error = await errorOf(() => later.call("open", { dir: one.dir }));
    assert.equal(error?.code, "STATE_FILE_CORRUPT", `${error}`);
    assert.ok(error.message.includes(path));
    assert.match(error.message, /snapshot.*came back under another number, restart the machine/);
    await later.end();
  },
);

const btrfs = { skip: withDisks.skip || (!existsSync("/sys/fs/btrfs") && "the kernel has no btrfs") };
test("btrfs goes on under another device number, and refuses a snapshot", btrfs, async (t) => {
  const one = mounted(t, "btrfs");
  run("btrfs", "subvolume", "create", join(one.dir, "own"));
  const dir = join(one.dir, "own");
  const [minter, later, snapshot] = await Promise.all([start(t), start(t), start(t)]);
  await minter.call("open", { dir, layout });
  const issued = await minter.call("next", BURST);
  await minter.end();
  run("btrfs", "subvolume", "snapshot", dir, join(one.dir, "copy"));
  one.unmount();
  // Something else takes the number that it had.
  mounted(t, "btrfs");
  one.mount();
  await later.call("open", { dir, layout });
  issued.push(...(await later.call("next", 1000)));
  assert.equal(repeats(issued), 0);
  const error = await errorOf(() => snapshot.call("open", { dir: join(one.dir, "copy"), layout }));
  assert.equal(error?.code, "STATE_FILE_CORRUPT", `${error}`);
  await Promise.all([later.end(), snapshot.end()]);
});

test("a state is locked in memory, so that a page that could not be written is not read again as it was", async (t) => {
  const dir = place();
  const minter = await start(t);
  await minter.call("open", { dir });
  assert.equal((await minter.call("next", 1)).length, 1);
  const locked = await until(async () => /VmLck:\s+(\d+) kB/.exec(await minter.call("status"))?.[1]);
  assert.ok(Number(locked) >= 4, `${locked} kB`);
});
