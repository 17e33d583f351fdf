// docs/internals/claims.md: 12, 17
// Write errors that the kernel forgets. Pages of a state file cannot be written, a process learns of it and ends, and the kernel drops the
// pages and reads older ones from disk. No remount or clock reveals this to the next start.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { repeats } from "../generator/broken-generators.mjs";
import { mappedClocks } from "../processes/movable-clock.mjs";
import { start, withDisks, writtenIds } from "./child-process.mjs";
import { mountImage, run } from "./mounted-image.mjs";
import { slowLayout } from "./slow-layout.mjs";
import { tempDir } from "./temp-dir.mjs";

const options = { layout: slowLayout, maxWaitMs: 0 };
/** IDs of 0.94 s, which is within the lead. */
const AHEAD = 15_000;

/** A file system whose disk ends, for a while, where the pages of a state file begin. */
function disk(t) {
  const image = mountImage(t, "ext4", { options: ["-E", "packed_meta_blocks=1"] });
  // The lower blocks are those of the file system itself.
  writeFileSync(join(image.dir, "filler"), Buffer.alloc(6 * 2 ** 20));
  return {
    dir: join(image.dir, "ids"),
    /** All that is written to the file from now on fails. */
    break(path) {
      run("sync", path);
      const [, block] = /^ *0: +0\.\. +\d+: +(\d+)\.\./m.exec(run("filefrag", "-v", path));
      const [, size] = /of (\d+) bytes\)/.exec(run("filefrag", "-v", path));
      image.resize(Number(block) * Number(size));
    },
    /** Another program flushes the file, is told of the error, and ends; the kernel drops the pages; the disk works again. */
    forget(path) {
      run("sh", "-c", 'sync "$0" || true', path);
      run("dd", `of=${path}`, "oflag=nocache", "conv=notrunc", "count=0");
      image.resize(0);
    },
  };
}

/** Opens at once, mints, and returns the IDs and how long the opening took. */
async function mintNext(process, dir) {
  const began = performance.now();
  await process.call("open", { dir, ...options });
  const ms = performance.now() - began;
  return { ms, ids: await process.call("next", AHEAD) };
}

/** Holds a read lock on the byte that showed users as attached, as everybody can who may read the file. */
async function reader(t, path) {
  const lock =
    'open F, "<", $ARGV[0] or die $!; my $lock = pack("s s x4 q q i x4", 0, 0, 2 ** 40 + 2, 1, 0); fcntl(F, 37, $lock) or die $!; $| = 1; print "locked"; sleep';
  const holder = spawn("perl", ["-e", lock, path], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => holder.kill("SIGKILL"));
  await once(holder.stdout, "data");
}

/** How many IDs the next process repeats after one that minted ahead of the clock, was killed, and whose last writes were lost. */
async function repeatsAfterKill(t, { beside = async () => {}, ...machine }) {
  const { dir, break: fail, forget } = disk(t);
  const [one, other] = await Promise.all([start(t), start(t, machine)]);
  const { path } = await one.call("open", { dir, ...options });
  await beside(path);
  const first = await one.call("next", 1);
  fail(path);
  const issued = await one.call("next", AHEAD);
  await one.end();
  forget(path);
  const { ms, ids } = await mintNext(other, dir);
  await other.end();
  t.diagnostic(`the opening took ${ms.toFixed(0)} ms`);
  return repeats([...first, ...issued, ...ids]);
}

test("after kill -9 and a write error that the kernel has forgotten, no ID is repeated", withDisks, async (t) => {
  assert.equal(await repeatsAfterKill(t, {}), 0);
});

test("a read lock of another user shows nobody as attached, and no ID is repeated", withDisks, async (t) => {
  assert.equal(await repeatsAfterKill(t, { beside: (path) => reader(t, path) }), 0);
});

// Its start waits as if there were no lead: it is the broken one. docs/guides/local.md says that this is not covered.
test("the checker catches repeats if the clock was set back by the lead as well", withDisks, async (t) => {
  const clocks = mappedClocks({ wallMs: -1000 });
  let found = 0;
  // The second process must begin within the time that the first one has minted.
  while (found === 0) {
    t.signal.throwIfAborted();
    found = await repeatsAfterKill(t, { clocks });
  }
  t.diagnostic(`${found} repeats`);
});

test(
  "after a failed flush that the kernel has forgotten, a process in the same mount repeats no ID",
  withDisks,
  async (t) => {
    const { dir, break: fail, forget } = disk(t);
    const file = join(tempDir(), "ids");
    const [one, other] = await Promise.all([start(t), start(t)]);
    const { path } = await one.call("open", { dir, ...options });
    await one.call("next", 1);
    fail(path);
    await one.mint({ file, burst: 20_000 });
    await one.untilRefused("STATE_FILE_FAILED");
    await one.call("close");
    await one.end();
    forget(path);
    const { ids } = await mintNext(other, dir);
    await other.end();
    assert.equal(repeats([...writtenIds(file), ...ids]), 0);
  },
);
