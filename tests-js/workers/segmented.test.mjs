// `segmented()` in Cloudflare's runtime, at the oldest supported compatibility date and the newest that this workerd accepts.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { addressOf, cancellable, DATES, startSegments } from "./server.mjs";

const together = (count, call) => Promise.all(Array.from({ length: count }, call));
const sorted = (numbers) => numbers.map(Number).sort((a, b) => a - b);
const upTo = (last) => Array.from({ length: last }, (_, at) => at + 1);

for (const date of DATES) {
  describe(`segmented() at ${date}`, () => {
    let worker;
    before(async () => {
      worker = await startSegments(date);
    });
    after(() => worker?.stop());

    /** Until what a call returns is as `isSo` says. */
    async function until(isSo, call, given) {
      while (!isSo(await worker.call(call, given))) await sleep(5);
    }
    const untilAsked = (count) => until(({ length }) => length >= count, "attempts");
    const untilWaits = (count, given) => until(({ waits }) => waits >= count, "stats", given);

    /** Runs a test while the clock of the isolate stands, so that no try is too slow and no pause is over. */
    async function stopped(test) {
      await worker.call("stop");
      try {
        await test();
      } finally {
        await worker.call("go-on");
      }
    }

    /** Runs a test while the clock of the isolate stands whenever the store is asked: what a try takes is what the test says. */
    async function standingWhileAsked(test) {
      await worker.call("stand-while-asked", { isOn: true });
      try {
        return await test();
      } finally {
        await worker.call("stand-while-asked", { isOn: false });
      }
    }

    /** Makes a tag. Returns what calls of it are given: unless a test says otherwise, they wait for longer than a slow machine takes. */
    async function begun(tag, given = {}, options = {}) {
      await worker.call("init", { source: given.source, options: { tag } });
      return { ...given, options: { tag, ...options, maxAsyncWaitMs: options.maxAsyncWaitMs ?? 60_000 } };
    }

    test("at module scope it says where to call it", async () => {
      const { ours, code, message, hint } = await worker.call("module-scope");
      assert.deepEqual([ours, code], [true, "STATE_CONFLICT"]);
      assert.match(message, /segmented\(\) was called at module scope/);
      assert.match(hint, /^Call it in each request/);
    });

    for (const source of ["durable-object", "d1"]) {
      for (const ctx of [true, false]) {
        test(`${source}, ${ctx ? "with" : "without"} ctx: numbers from memory, and the next range beside a request`, async () => {
          const given = await begun(`memory-${ctx}`, { source, ctx });
          await stopped(async () => {
            for (let number = 1; number <= 30; number++) {
              const answer = await worker.call("next", given);
              assert.equal(answer.number, `${number}`);
              // What was asked beside the request is answered.
              await until(({ tries, ranges }) => tries === ranges, "stats", given);
            }
          });
          const { waits, tries, failures, ranges } = await worker.call("stats", given);
          // Of all requests, the first one waited.
          assert.deepEqual([waits, failures], [1, 0]);
          assert.equal(tries, ranges);
        });
      }

      // docs/internals/claims.md: 28
      test(`${source}: requests that come together have one attempt under way, and take each number once`, async () => {
        const given = await begun("together", { source });
        await stopped(async () => {
          const answers = await together(40, () => worker.call("next", given));
          const numbers = sorted(answers.map(({ number }) => number));
          assert.equal(new Set(numbers).size, 40);
          const { allocated, left } = await worker.call("stats", given);
          // No range was allocated that nobody hands out.
          assert.equal(allocated, numbers.at(-1) + left);
          assert.deepEqual(numbers, upTo(40));
        });
      });
    }

    // docs/internals/claims.md: 28
    test("an attempt that others join is one range, however late its answers come", async () => {
      const given = await begun("late", { source: "delayed" });
      // Of three tries of an attempt the last one is answered first. The second one is carried out long after that.
      await worker.call("delays", { delays: [{ after: "first" }, { before: "second" }] });
      await stopped(async () => {
        const answers = Array.from({ length: 3 }, () => worker.call("next", given));
        await untilWaits(3, given);
        for (const [at, ms] of [60, 110].entries()) {
          await until((carriedOut) => carriedOut >= 1, "carried-out");
          await worker.call("move", { ms });
          await untilAsked(at + 2);
        }
        await until(({ ranges }) => ranges >= 1, "stats", given);
        // More than there is: another attempt, which begins when the tries of the first one have ended.
        const more = worker.call("many", { ...given, count: 30 });
        await untilWaits(4, given);
        const [first, ...others] = await worker.call("attempts");
        assert.deepEqual(others, [first, first]);
        await worker.call("release", { name: "second" });
        await until((carriedOut) => carriedOut >= 3, "carried-out");
        await worker.call("release", { name: "first" });
        const numbers = (await Promise.all(answers)).map(({ number }) => number);
        // Of the next ranges too, since a range that a try took for nobody is a hole before them.
        const rest = await worker.call("many", { ...given, count: 100 });
        assert.deepEqual(sorted([...numbers, ...(await more), ...rest]), upTo(133));
      });
      const { allocated, left, failures } = await worker.call("stats", given);
      assert.deepEqual([allocated - left, failures], [133, 0]);
    });

    test("a request that is cancelled while it waits harms nobody", async () => {
      const given = await begun("cancelled", { source: "delayed" });
      // The request that begins the attempt is cancelled. What it has asked for comes late, at each try that it made.
      await worker.call("delays", { delays: [{ after: "late" }, { after: "late" }] });
      await stopped(async () => {
        const cancel = cancellable(addressOf(worker, "next", given));
        await until((carriedOut) => carriedOut >= 1, "carried-out");
        const answer = worker.call("next", given);
        await untilWaits(2, given);
        cancel();
        await worker.call("move", { ms: 60 });
        await until((carriedOut) => carriedOut >= 2, "carried-out");
        await worker.call("move", { ms: 110 });
        const { number } = await answer;
        assert.match(number, /^[12]$/);
        await worker.call("release", { name: "late" });
      });
      // The number that the cancelled request took, if it went on, is in its answer, which nobody read.
      const rest = sorted(await worker.call("many", { ...given, count: 30 }));
      assert.deepEqual(
        rest,
        Array.from({ length: 30 }, (_, at) => rest[0] + at),
      );
      assert.ok(rest[0] === 2 || rest[0] === 3);
    });

    test("a promise that requests share, as a naive cache has it, is never settled for the others or throws", async () => {
      await worker.call("init", { options: { tag: "naive" } });
      const cancel = cancellable(addressOf(worker, "naive"));
      await until(({ joined }) => joined >= 1, "joined");
      const end = new AbortController();
      const call = fetch(addressOf(worker, "naive"), { signal: end.signal })
        .then((response) => response.json())
        .then(
          (answer) => (answer.error ? answer : { number: answer }),
          (error) => ({ error }),
        );
      await until(({ joined }) => joined >= 2, "joined");
      cancel();
      // Its timers run in the loop that answers this call: those of a request that was not cancelled are over by then.
      for (let [before, looks] = [-1, 0]; before !== looks; await sleep(100)) {
        before = looks;
        ({ looks } = await worker.call("joined"));
      }
      await worker.call("release", { name: "naive" });
      // So long it would have its answer at once.
      setTimeout(() => end.abort(), 2000);
      const outcome = await call;
      assert.ok(outcome.error, `the mutant was not found: ${JSON.stringify(outcome)}`);
    });

    test("a store that fails is asked again after pauses, and requests that wait together count as one failure", async () => {
      const given = await begun("failing", { source: "delayed" });
      await worker.call("delays", { delays: Array.from({ length: 3 }, () => ({ beforeMs: 50, error: "lost after" })) });
      const answers = await together(10, () => worker.call("next", given));
      assert.deepEqual(sorted(answers.map(({ number }) => number)), upTo(10));
      const attempts = await worker.call("attempts");
      // Each lost answer was that of the same attempt, of which a request made a try for all.
      assert.equal(new Set(attempts.slice(0, 4)).size, 1);
      assert.ok(attempts.length <= 8, `${attempts.length} tries`);
    });

    // docs/internals/claims.md: 28
    test("300 requests that come together at a new isolate cost few requests to the store", async () => {
      const given = await begun("herd", { source: "delayed" });
      // Longer than the first try of an attempt has, and shorter than the first two.
      await worker.call("delays", { delays: Array.from({ length: 100 }, () => ({ moveMs: 60, afterMs: 100 })) });
      const answers = await standingWhileAsked(() => together(300, () => worker.call("next", given)));
      assert.deepEqual(sorted(answers.map(({ number }) => number)), upTo(300));
      const { length } = await worker.call("attempts");
      const { ranges } = await worker.call("stats", given);
      // Steps that double alone make six ranges for so many. With the second try of a slow one each is asked for twice.
      assert.ok(ranges <= 8, `${ranges} ranges`);
      assert.ok(length <= 24, `${length} requests to the store`);
      await worker.call("delays", { delays: [] });
    });

    test("a try that hangs stops nobody, neither the request that made it nor the others", async () => {
      const given = await begun("hangs", { source: "delayed" });
      // The second one is that of a request which waits for the first range too. The fourth is for the next range.
      await worker.call("delays", { delays: [{ before: "never" }, {}, {}, { before: "never" }] });
      const first = worker.call("next", given);
      await untilAsked(1);
      const others = await together(10, () => worker.call("next", given));
      const numbers = [await first, ...others].map(({ number }) => number);
      for (let more = 0; more < 20; more++) numbers.push((await worker.call("next", given)).number);
      assert.equal(new Set(numbers).size, 31);
      await worker.call("delays", { delays: [] });
    });

    test("an object that is aborted while it asks stops nobody", async () => {
      const given = await begun("dies", { source: "delayed" }, { step: 1, maxStep: 1 });
      await worker.call("delays", { delays: Array.from({ length: 10 }, () => ({ afterMs: 100 })) });
      assert.match(await worker.call("object-dies", given), /aborted by a test/);
      const numbers = [];
      for (let more = 0; more < 5; more++) {
        numbers.push((await worker.call("next", given)).number);
        numbers.push((await worker.call("object-next", given)).number);
      }
      assert.equal(new Set(numbers).size, 10);
      await worker.call("delays", { delays: [] });
    });

    test("maxAsyncWaitMs holds while the isolate is busy", async () => {
      const given = await begun("busy", { source: "delayed" }, { maxAsyncWaitMs: 500, step: 1, maxStep: 1 });
      // Two tries of an attempt, of which one is answered. No other one is.
      const hanging = Array.from({ length: 50 }, () => ({ before: "never" }));
      await worker.call("delays", { delays: [hanging[0], {}, ...hanging] });
      const calls = [worker.call("timed", given)];
      await untilAsked(1);
      calls.push(...Array.from({ length: 20 }, () => worker.call("timed", given)));
      const [ended, rounds] = await Promise.all([Promise.all(calls), worker.call("spin", { rounds: 20, ms: 200 })]);
      const failed = ended.filter(({ number }) => number === undefined);
      assert.ok(failed.length >= 15);
      for (const { code, beganMs, endedMs } of failed) {
        assert.equal(code, "SEGMENT_EXHAUSTED");
        const ms = endedMs - beganMs;
        assert.ok(ms >= 450, `${ms} ms`);
        // In rounds of the busy isolate, as they last longer on a busy machine: in the one in which its time was over, or soon after it.
        const late = rounds.filter((atMs) => atMs > beganMs + 500 && atMs < endedMs);
        assert.ok(late.length <= 4, `${ms} ms, ${late.length} rounds too late`);
      }
      await worker.call("delays", { delays: [] });
    });

    test("a missing tag is told to all that wait, by few requests to the store", async () => {
      const given = { source: "delayed", options: { tag: "missing-for-all" } };
      await worker.call("delays", { delays: Array.from({ length: 50 }, () => ({ moveMs: 60, afterMs: 200 })) });
      const call = () => worker.call("timed", given).then(({ code }) => code);
      const codes = await standingWhileAsked(() => together(20, call));
      assert.deepEqual(new Set(codes), new Set(["STORE_NOT_INITIALISED"]));
      const { length } = await worker.call("attempts");
      assert.ok(length <= 8, `${length} requests to the store`);
      await worker.call("delays", { delays: [] });
    });

    test("a missing tag is told at once while the store is not asked again, and one that was made is found soon", async () => {
      const given = { source: "delayed", options: { tag: "made-later" } };
      await worker.call("delays", { delays: [] });
      let [told, tries] = [0, 0];
      while (tries < 8) {
        const answered = await worker.call("told", { ...given, calls: 10, tries: 8 });
        told += answered.told;
        tries = answered.tries;
      }
      // A call that waits until the store is asked again makes the try itself.
      assert.ok(told > 4 * tries, `${told} calls, ${tries} requests to the store`);
      await worker.call("init", given);
      // By the clock of the isolate, and without the time that the store takes.
      let number;
      let passedMs = 0;
      await standingWhileAsked(async () => {
        while (number === undefined) {
          await worker.call("move", { ms: 50 });
          const ended = await worker.call("timed", given);
          passedMs += 50 + ended.endedMs - ended.beganMs;
          ({ number } = ended);
        }
      });
      assert.equal(number, "1");
      // The pause after eight failures of another kind is 2.5 to 5 seconds.
      assert.ok(passedMs < 2000, `${passedMs} ms`);
    });

    test("a stub in the place of the namespace is refused at once, with what to pass", async () => {
      for (const { code, field, message, hint } of await worker.call("stub")) {
        assert.deepEqual([code, field], ["INVALID_ARGUMENT", "namespace"]);
        assert.match(message, /must be the namespace itself, env\.FRAZIL/);
        assert.match(hint, /^This is a stub of one object/);
      }
    });

    test("a tag that is closed leaves little behind", async () => {
      await worker.call("tags", { name: "warm", count: 20_000 });
      const before = worker.megabytes;
      for (let round = 0; round < 4; round++) await worker.call("tags", { name: `round-${round}`, count: 20_000 });
      // 4 kB a tag, which its segment takes, would be 312 MB. What was collected late, as beside other work, is gone after some more calls;
      // what is kept stays.
      let grown = worker.megabytes - before;
      for (let more = 0; more < 10 && grown >= 200; more++) {
        await worker.call("tags", { name: `more-${more}`, count: 1000 });
        await sleep(500);
        grown = Math.min(grown, worker.megabytes - before);
      }
      assert.ok(grown < 200, `${grown} MB for 80,000 tags`);
    });

    test("a missing tag is said at once, and a store that is away at the end of the time", async () => {
      const missing = { options: { tag: "missing" } };
      await assert.rejects(worker.call("next", missing), { code: "STORE_NOT_INITIALISED" });
      const given = await begun("away", { source: "delayed" }, { maxAsyncWaitMs: 400 });
      await worker.call("delays", { delays: Array.from({ length: 50 }, () => ({ error: "lost before" })) });
      const beganMs = Date.now();
      await assert.rejects(worker.call("next", given), (error) => {
        const { code, cause, retryAfterMs, message } = error;
        assert.deepEqual([code, cause], ["SEGMENT_EXHAUSTED", "STORE_UNAVAILABLE"]);
        assert.ok(retryAfterMs >= 1);
        assert.match(message, /no number was allocated yet.*lost before/);
        return true;
      });
      assert.ok(Date.now() - beganMs >= 390);
      await worker.call("delays", { delays: [] });
      assert.equal((await worker.call("next", given)).number, "1");
    });

    test("a signal ends the wait of its request alone", async () => {
      const given = await begun("signal", { source: "delayed" });
      await worker.call("delays", { delays: Array.from({ length: 2 }, () => ({ after: "aborted" })) });
      await stopped(async () => {
        await assert.rejects(worker.call("signal", { ...given, ms: 50 }), /abort|timeout/i);
        await worker.call("release", { name: "aborted" });
        await until(({ ranges }) => ranges >= 1, "stats", given);
      });
      // Its answer counts for the others.
      const { number, stats } = await worker.call("next", given);
      assert.deepEqual([number, stats.waits], ["1", 1]);
    });

    test("tryNext() never waits: it has the store asked beside the request", async () => {
      const given = await begun("try");
      assert.equal((await worker.call("try", given)).number, null);
      await until(({ ranges }) => ranges >= 1, "stats", given);
      assert.equal((await worker.call("try", given)).number, "1");
      assert.equal((await worker.call("stats", given)).waits, 0);
    });

    test("an isolate has one segment for a source and tag, with one set of options, until it is closed", async () => {
      const given = await begun("options", {}, { step: 20 });
      assert.equal(await worker.call("same", given), true);
      const other = { options: { tag: "options", step: 21 } };
      await assert.rejects(worker.call("next", other), { code: "STATE_CONFLICT", field: "step" });
      assert.deepEqual(
        (await worker.call("later-options", given)).map(({ code, field }) => [code, field]),
        ["step", "step", "maxStep"].map((field) => ["STATE_CONFLICT", field]),
      );
      await assert.rejects(worker.call("next", { options: {} }), { code: "INVALID_OPTION", field: "tag" });
      await assert.rejects(worker.call("next", { options: { tag: "t", step: 0 } }), {
        code: "INVALID_OPTION",
        field: "step",
      });
      await worker.call("next", given);
      const { again, closed, after: refused } = await worker.call("close", given);
      assert.deepEqual([again, closed, refused.code], [true, true, "CLOSED"]);
      // The next one begins above all that the one before had.
      assert.ok(Number((await worker.call("next", given)).number) >= 21);
    });

    // docs/internals/claims.md: 28
    test("an object that is aborted under load, and workerd killed: no number twice", async () => {
      const given = await begun("aborted", { source: "delayed" });
      await worker.call("stand-while-asked", { isOn: true });
      const seen = [];
      const load = (count) => {
        const until = seen.length + count;
        return together(8, async () => {
          while (seen.length < until) seen.push(...(await worker.call("many", { ...given, count: 7, rounds: 3 })));
        });
      };
      const running = load(2000);
      for (let at = 1; at <= 5; at++) {
        while (seen.length < 300 * at) await sleep(1);
        assert.match(await worker.call("abort", { tag: "aborted" }), /aborted by a test/);
      }
      await running;
      const last = Math.max(...seen.map(Number));
      const { allocated, left } = await worker.call("stats", given);
      assert.equal(seen.length, new Set(seen).size);
      // The isolate lives, and has no holes: a retry is answered with the range of its first try.
      assert.deepEqual([allocated - left, last], [seen.length, seen.length]);
      await worker.restart();
      await load(500);
      assert.equal(seen.length, new Set(seen).size);
      // What the isolate before had is never handed out.
      assert.ok(Math.max(...seen.map(Number)) - seen.length <= left + 2000);
    });
  });
}
