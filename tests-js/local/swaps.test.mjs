// docs/internals/claims.md: 16, 18
// Two state files with the same name that replace each other: swapped there and back, behind links that are switched, under mounts
// that one process does not see. IDs are minted from at most one; the users of the other are refused.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Snowflake } from "frazil";
import { errorOf } from "../base/bad-input.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { mappedClocks } from "../processes/movable-clock.mjs";
import { pause, start, until, withDisks, withMounts, writtenIds } from "./child-process.mjs";
import { mountImage } from "./mounted-image.mjs";
import { tempDir } from "./temp-dir.mjs";

const startAll = (t, count, machine) => Promise.all(Array.from({ length: count }, () => start(t, machine)));

/** How many of the IDs that processes wrote are repeats. Reports how often each process was refused, to explain a failure. */
async function countRepeats(t, children, files, more = []) {
  const codes = await Promise.all(
    children.map((child) => child.call("minted").then(({ codes }) => JSON.stringify(codes))),
  );
  await Promise.all(children.map(({ end }) => end()));
  const ids = [...writtenIds(...files.filter((file) => existsSync(file))), ...more];
  const twice = repeats(ids);
  t.diagnostic(`${ids.length} IDs, ${twice} repeats, refused: ${codes.join(" ")}`);
  return twice;
}

/** Lets one process mint, and the other too if it can open its file, until one of them is refused. Returns the repeats. */
async function mintOnBoth(t, one, other, openOther) {
  const files = [join(tempDir(), "one"), join(tempDir(), "other")];
  await one.mint({ file: files[0] });
  const error = await errorOf(openOther);
  if (error === undefined) {
    await other.mint({ file: files[1] });
    await one.untilRefused("STATE_FILE_CORRUPT");
    return countRepeats(t, [one, other], files);
  }
  assert.equal(error.code, "STATE_CONFLICT", `${error}`);
  assert.match(error.message, /another state file of the name/);
  const { issued } = await one.call("minted");
  await until(async () => (await one.call("minted")).issued > issued + 1000);
  return countRepeats(t, [one], files.slice(0, 1));
}

describe("two state files with the same name", { concurrency: 3 }, () => {
  test("that are swapped, and swapped back, repeat no ID", async (t) => {
    const dir = tempDir();
    const [first, second] = await startAll(t, 2);
    const files = [join(tempDir(), "first"), join(tempDir(), "second")];
    const { path } = await first.call("open", { dir });
    const more = await first.call("next", 100);
    // A process that mints checks its path; one that has not minted for three seconds does not.
    await sleep(4500);
    renameSync(path, `${path}.x`);
    await second.call("open", { dir });
    more.push(...(await second.call("next", 100)));
    await sleep(4500);
    // Now the first file is back.
    renameSync(path, `${path}.y`);
    renameSync(`${path}.x`, path);
    await first.call("mint", { file: files[0] });
    await sleep(1500);
    // Now the second file is back.
    renameSync(path, `${path}.x`);
    renameSync(`${path}.y`, path);
    await second.call("mint", { file: files[1] });
    await sleep(3000);
    assert.equal(await countRepeats(t, [first, second], files, more), 0);
  });

  test("that are swapped back while an opening is being retried repeat no ID", async (t) => {
    let [dir, first, second, path, more, error] = [];
    // On a busy machine the user of the first file may have detected it, and stopped, before the second is opened.
    for (let tries = 0; error?.code !== "STATE_CONFLICT" && tries < 5; tries++) {
      dir = tempDir();
      [first, second] = await startAll(t, 2);
      ({ path } = await first.call("open", { dir }));
      more = await first.call("next", 100);
      renameSync(path, `${path}.x`);
      error = await errorOf(() => second.call("open", { dir, startWaitMs: 0 }));
    }
    assert.equal(error?.code, "STATE_CONFLICT");
    const files = [join(tempDir(), "first"), join(tempDir(), "second")];
    renameSync(path, `${path}.y`);
    renameSync(`${path}.x`, path);
    await sleep(3100);
    await first.call("mint", { file: files[0] });
    await sleep(500);
    renameSync(path, `${path}.x`);
    renameSync(`${path}.y`, path);
    // The user of the first file may not have detected it yet.
    await until(async () => (await errorOf(() => second.call("open", { dir, startWaitMs: 0 }))) === undefined);
    await second.mint({ file: files[1] });
    await sleep(2000);
    assert.equal(await countRepeats(t, [first, second], files, more), 0);
  });

  test("below a symbolic link that is switched to another directory repeat no ID", async (t) => {
    const top = tempDir();
    const dir = join(top, "current");
    for (const name of ["v1", "v2"]) mkdirSync(join(top, name));
    symlinkSync("v1", dir);
    const [one, other] = await startAll(t, 2);
    await one.call("open", { dir });
    const twice = await mintOnBoth(t, one, other, async () => {
      symlinkSync("v2", `${dir}.new`);
      renameSync(`${dir}.new`, dir);
      await other.call("open", { dir });
    });
    assert.equal(twice, 0);
  });

  test("of which the second lies behind a symbolic link that replaced the directory repeat no ID", async (t) => {
    const [top, disk] = [tempDir(), tempDir()];
    const dir = join(top, "ids");
    const [one, other] = await startAll(t, 2);
    await one.call("open", { dir });
    const twice = await mintOnBoth(t, one, other, async () => {
      renameSync(dir, `${dir}.old`);
      symlinkSync(disk, dir);
      await other.call("open", { dir });
    });
    assert.equal(twice, 0);
  });

  test(
    "of which a mount covers one, but not for a service in another mount namespace, repeat no ID",
    withDisks,
    async (t) => {
      const disk = mountImage(t, "ext4");
      const dir = tempDir();
      disk.unmount();
      const [one, other] = [await start(t, { mounts: ["true"] }), await start(t)];
      await one.call("open", { dir });
      const twice = await mintOnBoth(t, one, other, async () => {
        disk.mount(dir);
        await other.call("open", { dir });
      });
      disk.unmount();
      assert.equal(twice, 0);
    },
  );

  test(
    "of which one was deleted but is bind-mounted in a container: the process in the container is refused",
    withMounts,
    async (t) => {
      const [dir, inside] = [tempDir(), tempDir()];
      const before = await start(t);
      const { path } = await before.call("open", { dir });
      await before.call("close");
      const name = readdirSync(dir)[0];
      writeFileSync(join(inside, name), "");
      const one = await start(t, { mounts: [`mount --bind ${path} ${join(inside, name)}`] });
      await one.call("open", { dir: inside });
      await one.mint({ file: join(tempDir(), "one") });
      unlinkSync(path);
      await one.untilRefused("STATE_FILE_CORRUPT");
    },
  );

  test("of which one was deleted while it was in use and the clock is set back repeat no ID", async (t) => {
    const dir = tempDir();
    const clock = mappedClocks({ wallMs: 10_000 });
    const [one, other] = await startAll(t, 2, { clocks: clock });
    const files = [join(tempDir(), "one"), join(tempDir(), "other")];
    const { path } = await one.call("open", { dir });
    await one.mint({ file: files[0] });
    await sleep(5000);
    await one.call("stop");
    clock.set({});
    unlinkSync(path);
    // Waits until the time of everything issued is over by the current clock.
    const error = await errorOf(() => other.call("open", { dir, startWaitMs: 1000 }));
    assert.equal(error?.code, "STATE_CONFLICT", `${error}`);
    await until(async () => (await errorOf(() => other.call("open", { dir }))) === undefined);
    await other.mint({ file: files[1] });
    await sleep(2000);
    assert.equal(await countRepeats(t, [one, other], files), 0);
  });
});

for (const [name, mounts] of [
  ["with proof", []],
  ["without /sys", ["mount -t tmpfs none /sys/fs"]],
]) {
  test(
    `a single wrong reading of the clock does not reserve time up to a year ahead, ${name}`,
    withMounts,
    async (t) => {
      const dir = tempDir();
      const clock = mappedClocks();
      for (const wallMs of [0, 365 * 86_400_000, 0]) {
        clock.set({ wallMs });
        const child = await start(t, { mounts, clocks: clock });
        const error = await errorOf(async () => {
          await child.call("open", { dir });
          await child.call("next", 1);
          await child.call("close");
        });
        assert.equal(error?.code, undefined, `${error}`);
        await child.end();
      }
    },
  );
}

test("while another process is stopped in an opening, close() gives up sooner than an opening does", async (t) => {
  const dir = tempDir();
  const stop = pause();
  const [one, other] = [await start(t), await start(t, { pause: stop })];
  await one.call("open", { dir });
  await one.call("next", 1);
  stop.once("read");
  const opening = other.call("open", { dir });
  await other.untilStopped();
  // An opening waits five seconds for a process that does not release its lock.
  const order = [];
  const refused = errorOf(() => Snowflake.localAsync({ dir })).then((error) => order.push(error.code));
  await one.call("close");
  order.push("closed");
  await refused;
  assert.deepEqual(order, ["closed", "STATE_FILE_FAILED"]);
  other.resume();
  await opening;
});
