// docs/internals/claims.md: 18
// Users of a state file end, by kill -9 or close(), after their file has lost its name. The next file of that name issues IDs only after
// all time that they used ahead of the clock.
import assert from "node:assert/strict";
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Layout } from "frazil";
import { errorOf } from "../base/bad-input.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { mappedClocks } from "../processes/movable-clock.mjs";
import { pause, start, until, withMounts, writtenIds } from "./child-process.mjs";
import { slowLayout } from "./slow-layout.mjs";
import { tempDir } from "./temp-dir.mjs";

/** As far ahead of the clock as a process may be: all IDs of a second. */
const AHEAD = 16_000;
const options = { layout: slowLayout, maxWaitMs: 0 };
const burst = 20_000;

const fleet = (t, count, machine) => Promise.all(Array.from({ length: count }, () => start(t, machine)));

/** A process that mints as far ahead of the clock as it may. Returns the path of its file and where its IDs are written. */
async function ahead(minter, dir) {
  const file = join(tempDir(), "ahead");
  const { path } = await minter.call("open", { dir, ...options });
  await minter.mint({ file, burst });
  await isAhead(minter);
  return { path, file };
}

const isAhead = (minter) => until(async () => (await minter.call("minted")).codes.SEQUENCE_EXHAUSTED > 0);

/** The last ID that was written to a file. */
function lastId(file) {
  const bytes = readFileSync(file);
  return bytes.readBigUInt64LE((bytes.length & ~7) - 8);
}

/** Whether what was issued into a file of IDs is not over yet. If it is, an opening repeats nothing whether it waits or not. */
const lasts = (file) => new Layout(slowLayout).decode(lastId(file)).timestampMs > Date.now();

/** Makes attempts until one shows something. None does where a busy machine takes longer than what was issued lasts. */
async function untilShown(t, attempt) {
  while (!(await attempt())) {
    t.signal.throwIfAborted();
    t.diagnostic("what was issued was over too early: once more");
  }
}

/**
 * Begins an opening that finds another file of the name in use, and stops its process between its first look and its second one. Returns
 * whether it did not end before that, and how to go on.
 */
async function stoppedBetweenLooks(minter, paused, begin) {
  // It opens the file before each look.
  paused.once("opened");
  const opening = begin();
  await minter.untilStopped();
  paused.once("opened");
  minter.resume();
  const isStopped = await Promise.race([minter.untilStopped().then(() => true), opening.then(() => false)]);
  const goOn = () => {
    minter.resume();
    return opening;
  };
  return { isStopped, goOn };
}

/**
 * Opens, again and again if that is refused for now, and mints at once until it is past all IDs of the file `before`. `refused` is told
 * the code of each refusal.
 */
async function next(minter, before, more, refused = () => {}) {
  const again = async () => {
    const error = await errorOf(() => minter.call("open", { ...options, ...more }));
    if (error === undefined) return true;
    assert.ok(["CLOCK_BACKWARD", "STATE_CONFLICT"].includes(error.code), `${error}`);
    refused(error.code);
    return false;
  };
  await until(again);
  const file = join(tempDir(), "next");
  await minter.mint({ file, burst });
  await until(() => lastId(file) > lastId(before));
  return file;
}

async function twice(t, minters, files) {
  await Promise.all(minters.map(({ end }) => end()));
  const ids = writtenIds(...files);
  t.diagnostic(`${ids.length} IDs`);
  assert.ok(ids.length >= AHEAD);
  return repeats(ids);
}

describe("a file of a name whose other file has just lost its user", { concurrency: 3 }, () => {
  test("that an opening saw, and that was killed before its next look, repeats no ID", (t) =>
    untilShown(t, async () => {
      const [dir, paused] = [tempDir(), pause()];
      const [one, other] = [await start(t), await start(t, { pause: paused })];
      const { path, file } = await ahead(one, dir);
      renameSync(path, `${path}.old`);
      const { isStopped, goOn } = await stoppedBetweenLooks(other, paused, () => next(other, file, { dir }));
      await one.end();
      const shown = isStopped && lasts(file);
      assert.equal(await twice(t, [other], [file, await goOn()]), 0);
      return shown;
    }));

  test("that a refused opening saw, and is opened again by the same process, repeats no ID", (t) =>
    untilShown(t, async () => {
      const dir = tempDir();
      const [one, other] = await fleet(t, 2);
      const { path, file } = await ahead(one, dir);
      renameSync(path, `${path}.old`);
      const codes = [];
      const opening = next(other, file, { dir, startWaitMs: 100 }, (code) => codes.push(code));
      await Promise.race([until(() => codes.length > 0), opening]);
      await one.end();
      assert.ok(codes.length > 0);
      const shown = codes[0] === "STATE_CONFLICT" && lasts(file);
      assert.equal(await twice(t, [other], [file, await opening]), 0);
      return shown;
    }));

  test("that a process has open that gave it up, repeats no ID", (t) =>
    untilShown(t, async () => {
      const [dir, paused] = [tempDir(), pause()];
      const [first, second] = await fleet(t, 2);
      const third = await start(t, { pause: paused });
      const { path } = await first.call("open", { dir, ...options });
      await first.call("next", 100);
      renameSync(path, `${path}.old`);
      // The first process has given up its file, and has not closed its generator.
      await until(async () => (await errorOf(() => second.call("open", { dir, ...options }))) === undefined);
      const { file } = await ahead(second, dir);
      renameSync(path, `${path}.new`);
      renameSync(`${path}.old`, path);
      const { isStopped, goOn } = await stoppedBetweenLooks(third, paused, () => next(third, file, { dir }));
      await second.end();
      const shown = isStopped && lasts(file);
      const after = await goOn();
      // The first process does not count as attached: it uses nothing of the file any more.
      assert.equal((await third.call("health")).file.attached, 1);
      assert.equal(await twice(t, [first, third], [file, after]), 0);
      return shown;
    }));

  test("that an opening saw which was killed while it waited, repeats no ID", withMounts, (t) =>
    untilShown(t, async () => {
      const [dir, paused] = [tempDir(), pause()];
      // Without /sys there is no proof of what the mapping says.
      const mounts = ["mount -t tmpfs none /sys/fs"];
      const [one, third] = [await start(t), await start(t, { mounts })];
      const other = await start(t, { mounts, pause: paused });
      const { path, file } = await ahead(one, dir);
      renameSync(path, `${path}.old`);
      const begin = () => errorOf(() => other.call("open", { dir, ...options }));
      const { isStopped, goOn } = await stoppedBetweenLooks(other, paused, begin);
      await one.end();
      const opened = goOn();
      // At some moment of the second that it waits then.
      await sleep(100);
      await other.end();
      const wasKilled = (await opened) !== undefined;
      const shown = isStopped && wasKilled && lasts(file);
      assert.equal(await twice(t, [third], [file, await next(third, file, { dir })]), 0);
      return shown;
    }),
  );

  test("that nobody saw, repeats no ID where the file is new", (t) =>
    untilShown(t, async () => {
      const dir = tempDir();
      const [one, other] = await fleet(t, 2);
      const { path, file } = await ahead(one, dir);
      await one.end();
      renameSync(path, `${path}.old`);
      const shown = lasts(file);
      assert.equal(await twice(t, [other], [file, await next(other, file, { dir })]), 0);
      return shown;
    }));

  test("the checker catches an opening that does not wait", (t) =>
    untilShown(t, async () => {
      // Two files of two names: what an opening that looks at nothing would do.
      const [one, other] = await fleet(t, 2);
      const { file } = await ahead(one, tempDir());
      // The file is new, so it is ready before the other one is ended.
      const dir = tempDir();
      await other.call("open", { dir, ...options });
      await one.end();
      return (await twice(t, [other], [file, await next(other, file, { dir })])) > 0;
    }));
});

describe("a process whose file lost its name, and that ends or closes it at once, repeats no ID", {
  concurrency: 3,
}, () => {
  /** Has a process find out that its file is replaced by another one, which nobody uses, and open that one when it is told. */
  const replaced = (t, found, { time, stepMs = 0 } = {}) =>
    untilShown(t, async () => {
      const dir = tempDir();
      time?.set({});
      const [one, other, maker] = await fleet(t, 3, { clocks: time });
      // Two files of one name that are both in nobody's use.
      const { path } = await maker.call("open", { dir, ...options });
      await maker.call("close");
      await maker.end();
      renameSync(path, `${path}.spare`);
      const file = join(tempDir(), "ahead");
      await one.call("open", { dir, ...options });
      await one.mint({ file, burst });
      await isAhead(one);
      time?.set({ wallMs: stepMs });
      renameSync(path, `${path}.old`);
      renameSync(`${path}.spare`, path);
      const shown = lasts(file);
      await found(one);
      const after = await next(other, file, { dir });
      assert.equal(await twice(t, [one, other], [file, after]), 0);
      return shown;
    });

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
