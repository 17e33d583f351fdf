// Segments on two instances of the core in one isolate.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { DATES, startTwoCores } from "./server.mjs";

const COUNT = 50;

/** The numbers that are in both lists, or twice in one. */
const repeatedIn = (numbers) => numbers.length - new Set(numbers).size;

for (const date of DATES) {
  describe(`two instances of the core at ${date}`, () => {
    let worker;
    before(async () => {
      worker = await startTwoCores(date);
    });
    after(() => worker?.stop());

    // docs/internals/claims.md: 28
    test("hand out no number twice, since ranges come from the store", async () => {
      const [own, shared] = await worker.call("numbers", { tag: "orders", count: COUNT });
      assert.deepEqual([own.length, shared.length], [COUNT, COUNT]);
      assert.equal(repeatedIn([...own, ...shared]), 0);
    });

    test("mutant: a store that gives both the same ranges is noticed", async () => {
      const [own, shared] = await worker.call("numbers", { tag: "broken", count: COUNT, isBroken: true });
      assert.equal(repeatedIn([...own, ...shared]), COUNT);
    });

    test("an isolate has one segment for a tag, whichever entry it is called by", async () => {
      assert.equal(await worker.call("same"), true);
    });
  });
}
