// docs/safety.md: 18
// Users of a state file that end, by kill -9 or close(), while their file has lost its name: the next file of the name is minted
// from only once all that they issued ahead of the clock is over.
import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { errorOf } from "../api/bad-input.mjs";
import { repeats } from "../api/broken-generators.mjs";
import { mappedClocks } from "../movable-clock.mjs";
import { start, until, withMounts, writtenIds } from "./child-process.mjs";
import { tempDir } from "./temp-dir.mjs";

// 256 IDs a millisecond, so that a process soon is ahead of the clock as far as it may.
const options = { layout: "edge", maxWaitMs: 0 };
const burst = 20_000;

const fleet = (t, count, machine) => Promise.all(Array.from({ length: count }, () => start(t, machine)));

/** A process that mints as far ahead of the clock as it may. Returns the path of its file and where its IDs are written. */
async function ahead(minter, dir) {
  const file = join(tempDir(), "ahead");
  const { path } = await minter.call("open", { dir, ...options });
  await minter.mint({ file, burst });
  await until(async () => (await minter.call("minted")).codes.SEQUENCE_EXHAUSTED > 20);
  return { path, file };
}

/** Opens, again and again if that is refused for now, and mints at once all that the next second can hold. */
async function next(minter, more) {
  let refusals = 0;
  const again = async () => {
    const error = await errorOf(() => minter.call("open", { ...options, ...more }));
    if (error === undefined) return true;
    assert.ok(["CLOCK_BACKWARD", "STATE_CONFLICT"].includes(error.code), `${error}`);
    refusals++;
    return false;
  };
  await until(again);
  const file = join(tempDir(), "next");
  await minter.mint({ file, burst });
  await sleep(300);
  return { file, refusals };
}

async function twice(t, minters, files) {
  await Promise.all(minters.map(({ end }) => end()));
  const ids = writtenIds(...files);
  t.diagnostic(`${ids.length} IDs`);
  assert.ok(ids.length > 100_000);
  return repeats(ids);
}

describe("a file of a name whose other file has just lost its user", { concurrency: 3 }, () => {
  test("that an opening saw, and that was killed before its next look, repeats no ID", async (t) => {
    const dir = tempDir();
    const [one, other] = await fleet(t, 2);
    const { path, file } = await ahead(one, dir);
    renameSync(path, `${path}.old`);
    const opening = next(other, { dir });
    await sleep(60);
    // Between two looks. Not for so long that the user finds out.
    process.kill(other.pid, "SIGSTOP");
    await sleep(150);
    await one.end();
    other.resume();
    const { file: after } = await opening;
    assert.equal(await twice(t, [other], [file, after]), 0);
  });

  test("that a refused opening saw, and is opened again by the same process, repeats no ID", async (t) => {
    const dir = tempDir();
    const [one, other] = await fleet(t, 2);
    const { path, file } = await ahead(one, dir);
    renameSync(path, `${path}.old`);
    const opening = next(other, { dir, startWaitMs: 100 });
    await sleep(150);
    await one.end();
    const { file: after, refusals } = await opening;
    assert.ok(refusals > 0);
    assert.equal(await twice(t, [other], [file, after]), 0);
  });

  test("that a process has open that gave it up, repeats no ID", async (t) => {
    const dir = tempDir();
    const [first, second, third] = await fleet(t, 3);
    const { path } = await first.call("open", { dir, ...options });
    await first.call("next", 100);
    renameSync(path, `${path}.old`);
    // The first process has given up its file, and has not closed its generator.
    await until(async () => (await errorOf(() => second.call("open", { dir, ...options }))) === undefined);
    const { file } = await ahead(second, dir);
    renameSync(path, `${path}.new`);
    renameSync(`${path}.old`, path);
    const opening = next(third, { dir });
    await sleep(200);
    await second.end();
    const { file: after } = await opening;
    // The first process does not count as attached: it uses nothing of the file any more.
    assert.equal((await third.call("health")).file.attached, 1);
    assert.equal(await twice(t, [first, third], [file, after]), 0);
  });

  test("that an opening saw which was killed while it waited, repeats no ID", withMounts, async (t) => {
    const dir = tempDir();
    // Without /sys there is no proof of what the mapping says.
    const mounts = ["mount -t tmpfs none /sys/fs"];
    const [one, other, third] = [await start(t), await start(t, { mounts }), await start(t, { mounts })];
    const { path, file } = await ahead(one, dir);
    renameSync(path, `${path}.old`);
    const waiting = errorOf(() => other.call("open", { dir, ...options }));
    await sleep(300);
    await one.end();
    await sleep(100);
    await other.end();
    await waiting;
    const { file: after } = await next(third, { dir });
    assert.equal(await twice(t, [third], [file, after]), 0);
  });

  test("that nobody saw, repeats no ID where the file is new", async (t) => {
    const dir = tempDir();
    const [one, other] = await fleet(t, 2);
    const { path, file } = await ahead(one, dir);
    await one.end();
    renameSync(path, `${path}.old`);
    const { file: after } = await next(other, { dir });
    assert.equal(await twice(t, [other], [file, after]), 0);
  });

  test("the checker catches an opening that does not wait", async (t) => {
    // Two files of two names: what an opening that looks at nothing would do.
    const [one, other] = await fleet(t, 2);
    const { file } = await ahead(one, tempDir());
    // The file is new, so it is ready before the other one is ended.
    const dir = tempDir();
    await other.call("open", { dir, ...options });
    await one.end();
    const { file: after } = await next(other, { dir });
    assert.ok((await twice(t, [other], [file, after])) > 0);
  });
});

describe("a process whose file lost its name, and that ends or closes it at once, repeats no ID", {
  concurrency: 3,
}, () => {
  /** Has a process find out that its file is replaced by another one, which nobody uses, and open that one when it is told. */
  async function replaced(t, found, { time, stepMs = 0 } = {}) {
    const dir = tempDir();
    const [one, other, maker] = await fleet(t, 3, { clocks: time });
    // Two files of one name that are both in nobody's use.
    const { path } = await maker.call("open", { dir, ...options });
    await maker.call("close");
    renameSync(path, `${path}.spare`);
    const file = join(tempDir(), "ahead");
    await one.call("open", { dir, ...options });
    await one.mint({ file, burst });
    await until(async () => (await one.call("minted")).codes.SEQUENCE_EXHAUSTED > 20);
    time?.set({ wallMs: stepMs });
    renameSync(path, `${path}.old`);
    renameSync(`${path}.spare`, path);
    await found(one);
    const { file: after } = await next(other, { dir });
    assert.equal(await twice(t, [one, other], [file, after]), 0);
  }

  test("that is told by a refusal, and ends", (t) =>
    replaced(t, async (one) => {
      await one.untilRefused("STATE_FILE_CORRUPT");
      await one.end();
    }));

  test("that is told by health(), and ends", (t) =>
    replaced(t, async (one) => {
      await one.call("stop");
      await until(async () => (await one.call("health")).refusal?.code === "STATE_FILE_CORRUPT");
      await one.end();
    }));

  const close = async (one) => {
    await one.call("stop");
    await one.call("close");
  };

  test("that closes its generator before it found out", (t) => replaced(t, close));

  test("that closes its generator after its clock stepped an hour ahead, which it does not follow yet", (t) =>
    replaced(t, close, { time: mappedClocks(), stepMs: 3_600_000 }));
});
