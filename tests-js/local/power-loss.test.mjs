// Simulated power loss. The state file lies on a file system in an image, and two processes mint from it. At some moment the
// image is copied as it is on disk, without the dirty pages in the kernel's memory. Then the processes are killed, the copy
// replaces the image and is mounted, and minting continues "after another boot": in a mount namespace that shows another boot id.
// The clock is right, or set back by 2 s, 6 s or 10 min.
//
// The broken variant keeps the boot id and forges the rest of the proof that the mapped part is current. Then the old content of
// the mapped part on disk is trusted, and IDs repeat.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { tools } from "../../scripts/tools.mjs";
import { withDisks } from "./child-process.mjs";
import { countIds, idsWritten } from "./count-repeats.mjs";
import { randomNumbers, startMinting, testFolder } from "./minting-process.mjs";
import { MAPPED_OFFSETS, overwrite, records } from "./state-file.mjs";

const run = (program, ...args) => execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"] });

const needed = { skip: withDisks.skip || (!existsSync(tools.faketime) && "needs libfaketime") };

/** How many IDs are minted at least between two losses of power, and after the last. */
const MINTED = 20_000;

/** A simulated machine that can lose power: a file system in an image, and a boot id. */
function machine(t) {
  const all = [];
  const home = testFolder(t, "power", async () => {
    for (const process of all) await process.kill();
    unmount();
  });
  const [image, disk, out, boot] = ["image", "disk", "out", "boot"].map((name) => join(home, name));
  writeFileSync(image, Buffer.alloc(16 * 1024 * 1024));
  mkdirSync(disk);
  mkdirSync(out);
  run("mkfs.ext4", "-q", image);
  const mount = () => run("mount", "-o", "loop", image, disk);
  const unmount = () => run("umount", disk);
  const newBoot = () => writeFileSync(boot, `${randomUUID()}\n`);
  newBoot();
  mount();
  return {
    out,
    newBoot,
    /** Starts two processes that mint, with their clock changed by `offsetS` seconds. */
    start(offsetS = 0) {
      const children = Array.from({ length: 2 }, () =>
        startMinting(
          t,
          { threads: 1, batch: 4096, pauseMs: 2, out, options: { dir: join(disk, "state") } },
          {
            before: `mount --bind ${boot} /proc/sys/kernel/random/boot_id`,
            env: offsetS === 0 ? {} : { LD_PRELOAD: tools.faketime, FAKETIME: `${offsetS}s`, FAKETIME_NO_CACHE: "1" },
          },
        ),
      );
      all.push(...children);
      return children;
    },
    /** Waits until so many more IDs are written, or a process gives up: `"minted"`, or the code of that process. */
    async minted(children, count = MINTED) {
      const before = idsWritten(out);
      const gaveUp = Promise.race(children.map(({ ended }) => ended));
      for (;;) {
        if (idsWritten(out) >= before + count) return "minted";
        const code = await Promise.race([gaveUp, sleep(20)]);
        if (code !== undefined) return code;
      }
    },
    /** Forges the state file's proof that it was written in this mount of the file system, with the newest record. */
    forge() {
      const state = join(disk, "state");
      const path = join(state, readdirSync(state)[0]);
      const device = execFileSync("losetup", ["--noheadings", "--output", "NAME", "-j", image], { encoding: "utf8" });
      overwrite(path, MAPPED_OFFSETS.disk, statSync(path).dev);
      overwrite(path, MAPPED_OFFSETS.superblock, statSync(`/sys/fs/ext4/${basename(device.trim())}`).ino);
      overwrite(path, MAPPED_OFFSETS.number, records(path)[0].number);
    },
    async losePower(children) {
      // No process may write while the disk is copied.
      for (const process of children) process.signal("SIGSTOP");
      copyFileSync(image, `${image}.left`);
      for (const process of children) await process.kill();
      unmount();
      // If another mount of the image were left, the kernel would keep its dirty pages, and nothing would be lost.
      assert.equal(execFileSync("losetup", ["-j", image], { encoding: "utf8" }), "");
      copyFileSync(`${image}.left`, image);
      mount();
    },
  };
}

for (const [name, offsetS] of [
  ["the clock as it is", 0],
  ["the clock set back by 2 s", -2],
  ["the clock set back by 6 s", -6],
]) {
  // docs/internals/claims.md: 10, 12
  test(`after power loss, with ${name}, no ID is repeated`, needed, async (t) => {
    const { start, minted, losePower, newBoot, out } = machine(t);
    const random = randomNumbers(20261121 + offsetS);
    for (let round = 0; round < (offsetS === 0 ? 3 : 2); round++) {
      const children = start(round * offsetS);
      assert.equal(await minted(children), "minted");
      await sleep(500 + 2000 * random());
      await losePower(children);
      newBoot();
    }
    const children = start();
    assert.equal(await minted(children), "minted");
    for (const process of children) await process.kill();
    const { issued, repeats } = countIds(out);
    t.diagnostic(`${issued} IDs`);
    assert.equal(repeats, 0);
    assert.ok(issued > 50_000, `${issued} IDs`);
  });
}

test(
  "after power loss, with the clock set back by 10 minutes, minting is refused until the clock is right",
  needed,
  async (t) => {
    const { start, minted, losePower, newBoot, out } = machine(t);
    const first = start();
    assert.equal(await minted(first), "minted");
    await losePower(first);
    newBoot();
    assert.equal(await minted(start(-600)), "STATE_FILE_AHEAD");
    const last = start();
    assert.equal(await minted(last), "minted");
    for (const process of last) await process.kill();
    assert.equal(countIds(out).repeats, 0);
  },
);

test("the checker catches repeats when the mapped part on disk is trusted after power loss", needed, async (t) => {
  const { start, minted, losePower, forge, out } = machine(t);
  const began = performance.now();
  const first = start();
  assert.equal(await minted(first), "minted");
  await sleep(2500);
  await losePower(first);
  // Forged: the same boot id, this mount, and the clock as it was three seconds before the first processes.
  forge();
  const second = start(-Math.ceil((performance.now() - began) / 1000) - 3);
  // Until it mints the time that they have minted.
  for (;;) {
    assert.equal(await minted(second), "minted");
    const { issued, repeats } = countIds(out);
    if (repeats > 0) {
      t.diagnostic(`${issued} IDs, ${repeats} repeats`);
      return;
    }
    t.signal.throwIfAborted();
  }
});
