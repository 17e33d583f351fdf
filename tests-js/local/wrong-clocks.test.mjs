// State files under a wrong clock: which clocks are refused or followed, and that no ID is ever repeated.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Snowflake } from "frazil";
import { errorOf } from "../base/bad-input.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { mappedClocks } from "../processes/movable-clock.mjs";
import { boot, start, until, withMounts, writtenIds } from "./child-process.mjs";
import { assertRefused, concurrency, increasing, timestampOf } from "./new-state-files.mjs";
import { ceilingOf, flip, HEADER, RECORDS } from "./state-file.mjs";
import { tempDir } from "./temp-dir.mjs";

describe("a wrong clock", { concurrency }, () => {
  /** A process with clocks that the test sets, which mints into a file. */
  async function minting(t) {
    const [dir, file, machineClocks] = [tempDir(), join(tempDir(), "ids"), mappedClocks()];
    const child = await start(t, { clocks: machineClocks });
    await child.call("open", { dir });
    await child.mint({ file });
    const trusted = () => until(async () => (await child.call("health")).file.distrustedMs === 0);
    const distrusted = () => until(async () => (await child.call("health")).file.distrustedMs > 0);
    /** The IDs that it mints from now on. */
    const more = async (count = 2000) => {
      const before = writtenIds(file).length;
      await until(() => writtenIds(file).length > before + count);
      return writtenIds(file).slice(before);
    };
    return { child, file, machineClocks, trusted, distrusted, more };
  }
  const hour = 3_600_000;
  /** By how many milliseconds the clocks of one process can differ because they are rounded. */
  const rounding = 5;

  test("two hours ahead is not followed: IDs stay at the trusted time, and health() says so", async (t) => {
    const { child, file, machineClocks, trusted, distrusted, more } = await minting(t);
    machineClocks.set({ wallMs: 2 * hour });
    await distrusted();
    const ids = await more();
    const { ok, warnings, file: kept } = await child.call("health");
    const now = Date.now();
    assert.equal(ok, true);
    assert.match(
      warnings.join(),
      /the clock stepped \d+ ms ahead, which is not followed until it has lasted 10 minutes/,
    );
    assert.ok(Math.abs(kept.distrustedMs - 2 * hour) < 60_000, `${kept.distrustedMs}`);
    assert.ok(kept.ceilingMs <= now + 3000 + rounding, `the ceiling is ${kept.ceilingMs - now} ms ahead`);
    assert.equal(ceilingOf(kept.path), kept.ceilingMs);
    for (const id of ids) assert.ok(timestampOf(id) <= now + rounding);
    // When the clock steps back, no trace of the step is left.
    machineClocks.set({ wallMs: 0 });
    await trusted();
    await more();
    assert.deepEqual((await child.call("health")).warnings, []);
    const all = writtenIds(file);
    assert.equal(repeats(all), 0);
    assert.ok(increasing(all));
    assert.deepEqual((await child.call("minted")).codes, {});
  });

  test("two hours ahead is followed once it has lasted for ten minutes", async (t) => {
    const { child, file, machineClocks, trusted, distrusted, more } = await minting(t);
    machineClocks.set({ wallMs: 2 * hour });
    await distrusted();
    // The ten minutes begin with the first ID after the step.
    await more();
    const late = 10 * 60_000;
    machineClocks.set({ wallMs: 2 * hour + late / 2, bootMs: late / 2 });
    await more();
    await distrusted();
    machineClocks.set({ wallMs: 2 * hour + late, bootMs: late });
    await trusted();
    const before = Date.now();
    const ids = await more();
    assert.ok(timestampOf(ids.at(-1)) >= before + 2 * hour + late);
    const all = writtenIds(file);
    assert.equal(repeats(all), 0);
    assert.ok(increasing(all));
    assert.deepEqual((await child.call("minted")).codes, {});
  });

  /** Opens a file, mints an ID and closes it, `minutes` after the boot, with the wall clock `wallMs` ahead. Returns the ID. */
  async function visit(t, dir, minutes, wallMs) {
    const bootMs = minutes * 60_000;
    const visitor = await start(t, { clocks: mappedClocks({ wallMs: wallMs + bootMs, bootMs }) });
    await visitor.call("open", { dir });
    const [id] = await visitor.call("next", 1);
    await visitor.call("close");
    await visitor.end();
    return id;
  }

  test("a year ahead in one reading each of two short processes, eleven minutes apart, is followed by neither", async (t) => {
    const [dir, year] = [tempDir(), 365 * 24 * hour];
    const ids = [];
    for (const [minutes, wallMs] of [
      [0, 0],
      [1, year],
      [12, year],
      [13, 0],
    ]) {
      ids.push(await visit(t, dir, minutes, wallMs));
    }
    assert.ok(increasing(ids));
    assert.ok(timestampOf(ids.at(-1)) < Date.now() + hour, "no time up to that year may be reserved");
  });

  test("a year ahead in short processes over more than ten minutes is followed", async (t) => {
    const [dir, year] = [tempDir(), 365 * 24 * hour];
    const ids = [];
    for (const minutes of [0, 5, 9, 12]) ids.push(await visit(t, dir, minutes, minutes === 0 ? 0 : year));
    const late = await visit(t, dir, 16, year);
    assert.ok(increasing([...ids, late]));
    assert.ok(ids.every((id) => timestampOf(id) < Date.now() + hour));
    assert.ok(timestampOf(late) > Date.now() + year);
  });

  test("that is ahead of the trusted time for good: the refusals name both", async (t) => {
    const [dir, machineClocks, day] = [tempDir(), mappedClocks(), 24 * hour];
    const child = await start(t, { clocks: machineClocks });
    await child.call("open", { dir });
    await child.call("next", 1);
    // Processes whose boot clock is a day ahead, for more than ten minutes in which no other process reads the clocks.
    for (const minutes of [1, 6, 12]) {
      const later = minutes * 60_000;
      const visitor = await start(t, { clocks: mappedClocks({ wallMs: later, bootMs: day + later }) });
      await visitor.call("open", { dir });
      await visitor.call("next", 1);
      await visitor.end();
    }
    const later = 14 * 60_000;
    machineClocks.set({ wallMs: later, bootMs: later });
    const error = await errorOf(() => child.call("next", 1));
    assert.equal(error?.code, "CLOCK_BACKWARD", `${error}`);
    const times = /: the clock shows (\S+), and the time that is trusted is (\S+)$/;
    const [, shown, trusted] = times.exec(error.message) ?? assert.fail(error.message);
    assert.ok(Math.abs(Date.parse(shown) - Date.parse(trusted) - day) < 60_000, error.message);
    const other = await start(t, { clocks: machineClocks });
    const refused = await errorOf(() => other.call("open", { dir }));
    assert.equal(refused?.code, "STATE_FILE_AHEAD", `${refused}`);
    assert.match(error.hint, /A step of the clock is followed once/);
    assert.match(refused.message, /has reserved time until \S+Z, and the time that is trusted is \S+Z$/);
    assert.match(refused.hint, /^The clock shows \S+Z, which is followed once/);
  });

  const ownTime = spawnSync("unshare", ["--time", "--fork", "--boottime", "86400", "true"]).status === 0;
  const skip = !ownTime && "needs unshare --time";
  test("in a container whose boot clock starts elsewhere is trusted as in the other processes", { skip }, async (t) => {
    const dir = tempDir();
    const ids = Snowflake.local({ dir });
    t.after(ids.close);
    const before = ids.nextMany(1000);
    // Waits until the next ID raises the ceiling, which is when the clock is observed.
    await until(() => ids.health().file.ceilingMs < Date.now());
    const script = `
      const { Snowflake } = require("frazil");
      const ids = Snowflake.local({ dir: ${JSON.stringify(dir)} });
      const issued = ids.nextManyStrings(1000);
      console.log(JSON.stringify({ issued, distrustedMs: ids.health().file.distrustedMs }));
    `;
    const options = { encoding: "utf8", env: process.env, cwd: fileURLToPath(new URL(".", import.meta.url)) };
    const inside = ["--time", "--fork", "--boottime", "86400", process.execPath, "-e", script];
    const { stdout, stderr } = spawnSync("unshare", inside, options);
    assert.equal(stderr, "");
    const { issued, distrustedMs } = JSON.parse(stdout);
    assert.deepEqual([distrustedMs, ids.health().file.distrustedMs], [0, 0]);
    assert.equal(repeats([...before, ...issued.map(BigInt), ...ids.nextMany(1000)]), 0);
  });

  for (const [name, ahead] of [
    ["thirty seconds ahead", { wallMs: 30_000 }],
    ["two hours ahead after a sleep of two hours", { wallMs: 2 * hour, bootMs: 2 * hour }],
  ]) {
    test(`${name} is followed at once`, async (t) => {
      const { child, file, machineClocks, more } = await minting(t);
      machineClocks.set(ahead);
      const before = Date.now();
      await more();
      const ids = writtenIds(file);
      assert.ok(timestampOf(ids.at(-1)) >= before + ahead.wallMs, "IDs are of the time that the clock shows");
      const { file: kept, warnings } = await child.call("health");
      assert.ok(kept.ceilingMs <= Date.now() + ahead.wallMs + 3000 + rounding);
      assert.deepEqual([kept.distrustedMs, warnings], [0, []]);
      assert.equal(repeats(ids), 0);
      assert.ok(increasing(ids));
    });
  }

  test("an hour back is refused until it has caught up, and no ID is repeated", async (t) => {
    const { child, file, machineClocks, more } = await minting(t);
    await more(100);
    machineClocks.set({ wallMs: -hour });
    await child.untilRefused("CLOCK_BACKWARD");
    const { issued } = await child.call("minted");
    await until(async () => (await child.call("minted")).codes.CLOCK_BACKWARD > 100);
    assert.equal((await child.call("minted")).issued, issued);
    machineClocks.set({ wallMs: 0 });
    await more();
    const ids = writtenIds(file);
    assert.equal(repeats(ids), 0);
    assert.ok(increasing(ids));
  });

  test("before the epoch is refused and creates no file; once it is right, minting works", async (t) => {
    const [dir, machineClocks] = [tempDir(), mappedClocks({ wallMs: -Date.now() })];
    const child = await start(t, { clocks: machineClocks });
    const error = await errorOf(() => child.call("open", { dir }));
    assert.deepEqual([error?.code, error?.name], ["CLOCK_BEFORE_EPOCH", "ClockError"]);
    assert.deepEqual(readdirSync(dir), []);
    machineClocks.set({ wallMs: 0 });
    const before = Date.now();
    assert.equal((await child.call("open", { dir })).distrustedMs, 0);
    const [id] = await child.call("next", 1);
    assert.ok(timestampOf(id) >= before);
    const later = await errorOf(() => Snowflake.local({ dir, epochMs: Date.now() + hour }));
    assert.equal(later?.code, "CLOCK_BEFORE_EPOCH", "with an epoch in the future, the file must not matter");
  });

  /** A process mints on a machine whose clock is ahead, and is killed. */
  async function future(t, wallMs) {
    const dir = tempDir();
    const child = await start(t, { clocks: mappedClocks({ wallMs }) });
    const { path } = await child.call("open", { dir });
    const ids = await child.call("next", 1000);
    await child.end();
    return { dir, path, ids };
  }

  for (const [name, machine] of [
    ["on the same boot", () => ({})],
    ["after another boot", () => ({ boot: boot() })],
  ]) {
    const skip = name === "after another boot" ? withMounts : {};
    test(`ten minutes ahead, and right again ${name}: the error says how far the file is ahead`, skip, async (t) => {
      const { dir, path, ids } = await future(t, 600_000);
      const later = await start(t, machine());
      await assertRefused(
        path,
        "STATE_FILE_AHEAD",
        /reserved time until \S+Z, and the clock shows \S+Z. Set .*delete the file/,
        (options) => later.call("open", options),
      );
      const { message } = await errorOf(() => later.call("open", { dir }));
      const [, until, shown] = /until (\S+Z), and the clock shows (\S+Z)$/.exec(message).map(Date.parse);
      const seconds = (until - shown) / 1000;
      assert.ok(seconds > 540 && seconds <= 603, message);
      // When the clock shows that time again, minting goes on.
      const ahead = await start(t, { ...machine(), clocks: mappedClocks({ wallMs: 610_000 }) });
      await ahead.call("open", { dir });
      ids.push(...(await ahead.call("next", 1000)));
      assert.ok(increasing(ids));
    });

    test(
      `half a minute ahead, and right again ${name}: the error of a start says how long to wait`,
      skip,
      async (t) => {
        const { dir, path, ids } = await future(t, 30_000);
        const reserved = ceilingOf(path);
        const later = await start(t, machine());
        const error = await errorOf(() => later.call("open", { dir }));
        assert.equal(error?.code, "CLOCK_BACKWARD", `${error}`);
        assert.ok(error.retryAfterMs > 3500 && error.retryAfterMs <= 33_001, `${error.retryAfterMs}`);
        assert.equal(ceilingOf(path) <= reserved, true);
        const ahead = await start(t, { ...machine(), clocks: mappedClocks({ wallMs: 40_000 }) });
        assert.equal((await ahead.call("open", { dir })).attached, 1, "the refused start must not stay attached");
        ids.push(...(await ahead.call("next", 1000)));
        assert.ok(increasing(ids));
      },
    );
  }

  // docs/internals/claims.md: 11, 12
  test("after a crash and another boot: a start waits for the ceiling, and mints nothing below it", {
    ...withMounts,
  }, async (t) => {
    const [dir, file] = [tempDir(), join(tempDir(), "ids")];
    const child = await start(t);
    const { path } = await child.call("open", { dir });
    await child.mint({ file });
    await child.end();
    // Damages the copies that a crash could tear at worst.
    for (const at of [HEADER, ...RECORDS]) flip(path, at + 100);
    const reserved = ceilingOf(path);
    const machine = { boot: boot(), clocks: mappedClocks() };
    const [impatient, patient] = await Promise.all([start(t, machine), start(t, machine)]);
    /** Sets the clock back, so that a start must wait however slow this machine is. */
    const leave = (ms) => machine.clocks.set({ wallMs: reserved - ms - Date.now() });
    leave(30_000);
    const error = await errorOf(() => impatient.call("open", { dir, startWaitMs: 0 }));
    assert.equal(error?.code, "CLOCK_BACKWARD", `${error}`);
    assert.ok(error.retryable && error.retryAfterMs > 0 && error.retryAfterMs <= 30_000, `${error.retryAfterMs}`);
    leave(1000);
    assert.equal((await patient.call("open", { dir })).attached, 1, "the refused start must not stay attached");
    const ids = await patient.call("next", 1000);
    assert.ok(timestampOf(ids[0]) >= reserved, `${timestampOf(ids[0])} is below the ceiling ${reserved}`);
    assert.equal(repeats([...writtenIds(file), ...ids]), 0);
  });
});
