// docs/safety.md: 16, 18
// Two files of one name that take each other's place: swapped there and back, behind links that are switched, under mounts that one
// process does not see. At most one is minted from; the users of the other are refused.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Snowflake } from "frazil";
import { errorOf } from "../api/bad-input.mjs";
import { repeats } from "../api/broken-generators.mjs";
import { clocks, pause, start, until, withDisks, withMounts, written } from "./child-process.mjs";
import { mounted } from "./mounted-image.mjs";
import { place } from "./temp-dir.mjs";

const fleet = (t, count, machine) => Promise.all(Array.from({ length: count }, () => start(t, machine)));

/** What minters minted, and how often each was refused: told to the reader of a failure. */
async function sum(t, minters, files, more = []) {
  const codes = await Promise.all(
    minters.map((minter) => minter.call("minted").then(({ codes }) => JSON.stringify(codes))),
  );
  await Promise.all(minters.map(({ end }) => end()));
  const ids = [...written(...files.filter((file) => existsSync(file))), ...more];
  const twice = repeats(ids);
  t.diagnostic(`${ids.length} IDs, ${twice} repeats, refused: ${codes.join(" ")}`);
  return twice;
}

/** Has one mint, and the other too if it can be opened, until one of them is refused. */
async function both(t, one, other, openOther) {
  const files = [join(place(), "one"), join(place(), "other")];
  await one.mint({ file: files[0] });
  const error = await errorOf(openOther);
  if (error === undefined) {
    await other.mint({ file: files[1] });
    await one.refused("STATE_FILE_CORRUPT");
    return sum(t, [one, other], files);
  }
  assert.equal(error.code, "STATE_CONFLICT", `${error}`);
  assert.match(error.message, /another state file of the name/);
  const { issued } = await one.call("minted");
  await until(async () => (await one.call("minted")).issued > issued + 1000);
  return sum(t, [one], files.slice(0, 1));
}

describe("two state files of one name", { concurrency: 3 }, () => {
  test("that are swapped, and swapped back, repeat no ID", async (t) => {
    const dir = place();
    const [first, second] = await fleet(t, 2);
    const files = [join(place(), "first"), join(place(), "second")];
    const { path } = await first.call("open", { dir });
    const more = await first.call("next", 100);
    // A process that mints looks at its path; one that has rested for three seconds does not.
    await sleep(4500);
    renameSync(path, `${path}.x`);
    await second.call("open", { dir });
    more.push(...(await second.call("next", 100)));
    await sleep(4500);
    // The first file again.
    renameSync(path, `${path}.y`);
    renameSync(`${path}.x`, path);
    await first.call("mint", { file: files[0] });
    await sleep(1500);
    // The second file again.
    renameSync(path, `${path}.x`);
    renameSync(`${path}.y`, path);
    await second.call("mint", { file: files[1] });
    await sleep(3000);
    assert.equal(await sum(t, [first, second], files, more), 0);
  });

  test("that are swapped back while an opening is tried again repeat no ID", async (t) => {
    const dir = place();
    const [first, second] = await fleet(t, 2);
    const files = [join(place(), "first"), join(place(), "second")];
    const { path } = await first.call("open", { dir });
    const more = await first.call("next", 100);
    renameSync(path, `${path}.x`);
    const error = await errorOf(() => second.call("open", { dir, startWaitMs: 0 }));
    assert.equal(error?.code, "STATE_CONFLICT");
    renameSync(path, `${path}.y`);
    renameSync(`${path}.x`, path);
    await sleep(3100);
    await first.call("mint", { file: files[0] });
    await sleep(500);
    renameSync(path, `${path}.x`);
    renameSync(`${path}.y`, path);
    // The user of the first file may not have noticed yet.
    await until(async () => (await errorOf(() => second.call("open", { dir, startWaitMs: 0 }))) === undefined);
    await second.mint({ file: files[1] });
    await sleep(2000);
    assert.equal(await sum(t, [first, second], files, more), 0);
  });

  test("below a link that is switched to another directory repeat no ID", async (t) => {
    const top = place();
    const dir = join(top, "current");
    for (const name of ["v1", "v2"]) mkdirSync(join(top, name));
    symlinkSync("v1", dir);
    const [one, other] = await fleet(t, 2);
    await one.call("open", { dir });
    const twice = await both(t, one, other, async () => {
      symlinkSync("v2", `${dir}.new`);
      renameSync(`${dir}.new`, dir);
      await other.call("open", { dir });
    });
    assert.equal(twice, 0);
  });

  test("of which the second lies behind a link in place of the directory repeat no ID", async (t) => {
    const [top, disk] = [place(), place()];
    const dir = join(top, "ids");
    const [one, other] = await fleet(t, 2);
    await one.call("open", { dir });
    const twice = await both(t, one, other, async () => {
      renameSync(dir, `${dir}.old`);
      symlinkSync(disk, dir);
      await other.call("open", { dir });
    });
    assert.equal(twice, 0);
  });

  test(
    "of which a mount covers one, but not for a service with mounts of its own, repeat no ID",
    withDisks,
    async (t) => {
      const disk = mounted(t, "ext4");
      const dir = place();
      disk.unmount();
      const [one, other] = [await start(t, { mounts: ["true"] }), await start(t)];
      await one.call("open", { dir });
      const twice = await both(t, one, other, async () => {
        disk.mount(dir);
        await other.call("open", { dir });
      });
      disk.unmount(dir);
      assert.equal(twice, 0);
    },
  );

  test("of which one was deleted, and is mounted as a file in a container: its user notices", withMounts, async (t) => {
    const [dir, inside] = [place(), place()];
    const before = await start(t);
    const { path } = await before.call("open", { dir });
    await before.call("close");
    const name = readdirSync(dir)[0];
    writeFileSync(join(inside, name), "");
    const one = await start(t, { mounts: [`mount --bind ${path} ${join(inside, name)}`] });
    await one.call("open", { dir: inside });
    await one.mint({ file: join(place(), "one") });
    unlinkSync(path);
    await one.refused("STATE_FILE_CORRUPT");
  });

  test("of which one was deleted while it was in use and the clock is set back repeat no ID", async (t) => {
    const dir = place();
    const clock = clocks({ wallMs: 10_000 });
    const [one, other] = await fleet(t, 2, { clocks: clock });
    const files = [join(place(), "one"), join(place(), "other")];
    const { path } = await one.call("open", { dir });
    await one.mint({ file: files[0] });
    await sleep(5000);
    await one.call("stop");
    clock.set({});
    unlinkSync(path);
    // Until all is over that was issued, by the clock of now.
    const error = await errorOf(() => other.call("open", { dir, startWaitMs: 1000 }));
    assert.equal(error?.code, "STATE_CONFLICT", `${error}`);
    await until(async () => (await errorOf(() => other.call("open", { dir }))) === undefined);
    await other.mint({ file: files[1] });
    await sleep(2000);
    assert.equal(await sum(t, [one, other], files), 0);
  });
});

for (const [name, mounts] of [
  ["with proof", []],
  ["without /sys", ["mount -t tmpfs none /sys/fs"]],
]) {
  test(`one wrong reading of the clock does not reserve a year, ${name}`, withMounts, async (t) => {
    const dir = place();
    const clock = clocks();
    for (const wallMs of [0, 365 * 86_400_000, 0]) {
      clock.set({ wallMs });
      const minter = await start(t, { mounts, clocks: clock });
      const error = await errorOf(async () => {
        await minter.call("open", { dir });
        await minter.call("next", 1);
        await minter.call("close");
      });
      assert.equal(error?.code, undefined, `${error}`);
      await minter.end();
    }
  });
}

test("close() beside a process that was stopped gives up before an opening does", async (t) => {
  const dir = place();
  const stop = pause();
  const [one, other] = [await start(t), await start(t, { pause: stop })];
  await one.call("open", { dir });
  await one.call("next", 1);
  stop.once("read");
  const opening = other.call("open", { dir });
  await other.stopped();
  // An opening waits for five seconds for a process that does not go on.
  const order = [];
  const refused = errorOf(() => Snowflake.localAsync({ dir })).then((error) => order.push(error.code));
  await one.call("close");
  order.push("closed");
  await refused;
  assert.deepEqual(order, ["closed", "STATE_FILE_FAILED"]);
  other.go();
  await opening;
});
