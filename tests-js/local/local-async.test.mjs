// `Snowflake.localAsync()`: it waits without blocking, for the start of a file and for another process that opens it.
import assert from "node:assert/strict";
import { readdirSync, renameSync } from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { ConfigError, Snowflake } from "frazil";
import { errorOf } from "../base/bad-input.mjs";
import { wholeText } from "../base/rule-texts.mjs";
import { repeats } from "../generator/broken-generators.mjs";
import { rules } from "../vectors/generated-tables.mjs";
import { pause, start, until } from "./child-process.mjs";
import { none, opened, reason, times } from "./opened.mjs";
import { tempDir } from "./temp-dir.mjs";

describe("localAsync()", () => {
  test("gives the same generator as local()", async (t) => {
    const dir = tempDir();
    const ids = await Snowflake.localAsync({ dir, signal: none, node: 7 });
    t.after(ids.close);
    assert.ok(ids instanceof Snowflake);
    const mutant = opened(t, { dir, node: 7 });
    const issued = times(1000, (at) => (at % 2 ? ids : mutant).next());
    assert.equal(repeats(issued), 0);
    assert.equal(ids.health().file.path, mutant.health().file.path);
  });

  test("creates no file if its signal is already aborted", async () => {
    const dir = tempDir();
    await assert.rejects(Snowflake.localAsync({ dir, signal: AbortSignal.abort(reason) }), reason);
    assert.deepEqual(readdirSync(dir), []);
  });

  for (const signal of [null, 5, {}, new AbortController()]) {
    test(`refuses a signal that is ${JSON.stringify(signal)}`, async () => {
      const dir = tempDir();
      const error = await errorOf(() => Snowflake.localAsync({ dir, signal }));
      assert.deepEqual([error.code, error.field, error.rule], ["INVALID_OPTION", "signal", rules.A_SIGNAL]);
      assert.deepEqual(readdirSync(dir), []);
    });
  }

  /** A directory whose state file makes an opening wait: a file with the same name is in use, and was moved elsewhere. */
  function contested(t, options) {
    const dir = tempDir();
    const { path } = opened(t, { dir, ...options }).health().file;
    renameSync(path, `${path}.old`);
    return { dir, ...options };
  }

  describe("waits", { concurrency: true }, () => {
    test("without holding the event loop", async (t) => {
      const options = contested(t);
      let turns = 0;
      const timer = setInterval(() => turns++, 10);
      const ids = await Snowflake.localAsync(options);
      clearInterval(timer);
      t.after(ids.close);
      assert.ok(turns > 0);
      ids.next();
    });

    test("until its signal is aborted, and then closes the file", async (t) => {
      const { dir } = contested(t, { scope: "orders" });
      const aborter = new AbortController();
      const waiting = Snowflake.localAsync({ dir, scope: "orders", signal: aborter.signal });
      setTimeout(() => aborter.abort(reason), 20);
      await assert.rejects(waiting, reason);
      const other = await start(t);
      const { path, attached } = await other.call("open", { dir, scope: "orders" });
      assert.match(path, /orders-/);
      assert.equal(attached, 1, "only the other process is attached");
    });

    test("no longer than startWaitMs", async (t) => {
      const { dir } = contested(t, { scope: "orders" });
      const options = { dir, scope: "orders", startWaitMs: 0 };
      for (const attempt of [() => Snowflake.local(options), () => Snowflake.localAsync(options)]) {
        const error = await errorOf(attempt);
        assert.ok(error instanceof ConfigError);
        assert.deepEqual([error.code, error.field], ["STATE_CONFLICT", "dir"]);
        assert.match(
          wholeText(error),
          /another state file of the name \S*orders-\S* is in use\. End that process, or pass .*was moved, deleted or covered by a mount/,
        );
      }
      const other = await start(t);
      assert.equal((await other.call("open", { dir, scope: "orders" })).attached, 1);
    });
  });
});

describe("while another process holds the lock of the file that is opened", { concurrency: true }, () => {
  /** A directory with a state file whose lock is held by a process that is stopped while it opens the file. */
  async function held(t) {
    const [dir, paused] = [tempDir(), pause()];
    const holder = await start(t, { pause: paused });
    paused.once("read");
    const opening = holder.call("open", { dir });
    await holder.untilStopped();
    const go = () => {
      holder.resume();
      return opening;
    };
    return { dir, go };
  }

  test("localAsync() blocks neither the event loop nor the opening of another generator", async (t) => {
    const { dir, go } = await held(t);
    let settled = false;
    const opening = Snowflake.localAsync({ dir }).finally(() => {
      settled = true;
    });
    // Each iteration opens a generator, as a server might do for each request.
    for (let turn = 0; turn < 20; turn++) {
      new Snowflake({ node: 300 + turn }).next();
      await sleep(5);
    }
    assert.equal(settled, false);
    await go();
    const ids = await opening;
    t.after(ids.close);
    ids.next();
  });

  test("local() in a worker thread does not block the opening of a generator in the main thread", async (t) => {
    const { dir, go } = await held(t);
    const program = `
      const { parentPort, workerData } = require("node:worker_threads");
      const { Snowflake } = require("frazil");
      parentPort.postMessage("opening");
      const ids = Snowflake.local({ dir: workerData });
      parentPort.postMessage("opened");
      ids.close();
    `;
    const worker = new Worker(program, { eval: true, workerData: dir });
    t.after(() => worker.terminate());
    const said = [];
    worker.on("message", (word) => said.push(word));
    await until(() => said.length > 0);
    for (let turn = 0; turn < 20; turn++) {
      new Snowflake({ node: 400 + turn }).next();
      await sleep(5);
    }
    assert.deepEqual(said, ["opening"]);
    await go();
    await until(() => said.length > 1);
  });

  test("an aborted localAsync() rejects at once, and closes the file as soon as it is opened", async (t) => {
    const { dir, go } = await held(t);
    const aborter = new AbortController();
    const opening = Snowflake.localAsync({ dir, signal: aborter.signal });
    setTimeout(() => aborter.abort(reason), 10);
    await assert.rejects(opening, reason);
    await go();
    const ids = opened(t, { dir });
    await until(() => ids.health().file.attached === 2);
  });

  test("two calls of localAsync() for one file share it", async (t) => {
    const { dir, go } = await held(t);
    const opening = [0, 1].map(() => Snowflake.localAsync({ dir }));
    await sleep(20);
    await go();
    const [one, other] = await Promise.all(opening);
    for (const ids of [one, other]) t.after(ids.close);
    assert.equal(one.health().file.attached, 2, "this process and the other one are attached");
    assert.equal(repeats(times(1000, (at) => (at % 2 ? one : other).next())), 0);
  });
});
