// Power loss, for real but for the power: the state file lies on a file system in an image, two processes mint from it, and
// at some moment the image is copied as it is on the disk, without what the kernel holds of it in memory. The processes are
// killed, the image is put back as it was copied, mounted again, and minting goes on "after another boot": in a mount namespace
// where the kernel has another boot id. With the clock as it is, set back by 2 s, by 6 s, and by 10 min.
//
// The broken variant keeps the boot id and forges the rest of the proof that the mapped part is current: then what the disk has of
// it, which is old, is believed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { tools } from "../../scripts/tools.mjs";
import { count } from "./count-repeats.mjs";
import { folder, minter, numbers } from "./minting-process.mjs";
import { overwrite, PLACES, records } from "./state-file.mjs";

const run = (program, ...args) => execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"] });

/** A machine that can lose its power: a file system in an image, and a boot id. */
function machine(t) {
  const all = [];
  const home = folder(t, "power", async () => {
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
  const written = () => readdirSync(out).reduce((sum, name) => sum + statSync(join(out, name)).size, 0);
  return {
    out,
    newBoot,
    /** Two processes that mint, with the clock off by so many seconds. */
    start(offsetS = 0) {
      const fleet = Array.from({ length: 2 }, () =>
        minter(
          t,
          { threads: 1, batch: 4096, pauseMs: 2, out, options: { dir: join(disk, "state") } },
          {
            before: `mount --bind ${boot} /proc/sys/kernel/random/boot_id`,
            env: offsetS === 0 ? {} : { LD_PRELOAD: tools.faketime, FAKETIME: `${offsetS}s`, FAKETIME_NO_CACHE: "1" },
          },
        ),
      );
      all.push(...fleet);
      return fleet;
    },
    /** Whether anything was written down since it was last asked, once it was, or a process gave up. */
    async minted(fleet) {
      const before = written();
      const gaveUp = Promise.race(fleet.map(({ ended }) => ended));
      for (;;) {
        if (written() > before) return "minted";
        const code = await Promise.race([gaveUp, sleep(20)]);
        if (code !== undefined) return code;
      }
    },
    /** Has the state file say that it was written in this mount of the disk, and with the newest record. */
    forge() {
      const state = join(disk, "state");
      const path = join(state, readdirSync(state)[0]);
      const device = execFileSync("losetup", ["--noheadings", "--output", "NAME", "-j", image], { encoding: "utf8" });
      overwrite(path, PLACES.disk, statSync(path).dev);
      overwrite(path, PLACES.superblock, statSync(`/sys/fs/ext4/${basename(device.trim())}`).ino);
      overwrite(path, PLACES.number, records(path)[0].number);
    },
    async losePower(fleet) {
      // Nothing goes on while the disk is copied.
      for (const process of fleet) process.signal("SIGSTOP");
      copyFileSync(image, `${image}.left`);
      for (const process of fleet) await process.kill();
      unmount();
      // A mount that somebody else still has would keep the memory of the kernel alive, and nothing would be lost.
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
  // docs/safety.md: 10, 12
  test(`after power loss, with ${name}, no ID is repeated`, async (t) => {
    const { start, minted, losePower, newBoot, out } = machine(t);
    const random = numbers(20261121 + offsetS);
    for (let round = 0; round < (offsetS === 0 ? 3 : 2); round++) {
      const fleet = start(round * offsetS);
      assert.equal(await minted(fleet), "minted");
      await sleep(500 + 2000 * random());
      await losePower(fleet);
      newBoot();
    }
    const fleet = start();
    assert.equal(await minted(fleet), "minted");
    await sleep(300);
    for (const process of fleet) await process.kill();
    const { issued, repeats } = count(out);
    t.diagnostic(`${issued} IDs`);
    assert.equal(repeats, 0);
    assert.ok(issued > 50_000, `${issued} IDs`);
  });
}

test("after power loss, with the clock set back by 10 minutes, it is refused and goes on when the clock is right", async (t) => {
  const { start, minted, losePower, newBoot, out } = machine(t);
  const first = start();
  assert.equal(await minted(first), "minted");
  await losePower(first);
  newBoot();
  assert.equal(await minted(start(-600)), "STATE_FILE_AHEAD");
  const last = start();
  assert.equal(await minted(last), "minted");
  await sleep(300);
  for (const process of last) await process.kill();
  assert.equal(count(out).repeats, 0);
});

test("believing what the disk has of the mapped part is caught", async (t) => {
  const { start, minted, losePower, forge, out } = machine(t);
  const first = start();
  assert.equal(await minted(first), "minted");
  await sleep(2500);
  await losePower(first);
  // The same boot id, this mount, and the clock where it was a while ago.
  forge();
  const second = start(-6);
  assert.equal(await minted(second), "minted");
  await sleep(3000);
  for (const process of second) await process.kill();
  const { issued, repeats } = count(out);
  t.diagnostic(`${issued} IDs, ${repeats} repeats`);
  assert.ok(repeats > 0);
});
