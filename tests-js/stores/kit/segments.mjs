// What the tests of segments of every store share: opening a store for the contract, requests, and mutants that the contract catches.
import assert from "node:assert/strict";
import { Bench, scenarios } from "frazil/testing/segment-contract";
import { told } from "../../base/rule-texts.mjs";
import { hex } from "./attempts.mjs";

/** Makes counters in a store of this package, as the contract asks for it. */
export const initIn = (store) => (tag, first) => store.initSegment({ tag, first });

/** A request for ten numbers of the tag "orders". `more` says what is different. */
export const allocation = (more) => ({
  tag: "orders",
  count: 10,
  maxCount: 1000,
  above: 0n,
  failoverSkip: 1000,
  holder: hex(),
  attempt: hex(),
  ...more,
});

/** Runs a scenario of the contract. */
const runScenario = (name, opened) => scenarios.find((scenario) => scenario.name === name).run(new Bench(opened));

/** The scenario that finds allocations that overlap. */
export const OVERLAPS = "16 processes take 20 ranges each, and none overlaps";

/** Checks that a scenario catches a store that is broken. */
export const caught = (name, opened) => assert.rejects(() => runScenario(name, opened), { name: "AssertionError" });

/** A tag that no test has used. */
export const newTag = () => `orders-${hex().slice(0, 12)}`;

/**
 * Checks records that a person has written: what has the same meaning is used, and a counter below a range that it allocated is refused.
 * `write(tag, columns)` writes `next`, `recent` or `incarnation` as text.
 */
export async function checkWrittenByHand(store, { write, writesTexts = false }) {
  const tag = newTag();
  await store.initSegment({ tag });
  assert.equal((await store.allocate(allocation({ tag, attempt: "a".repeat(32) }))).first, 1n);
  await write(tag, { recent: " [ ] " });
  assert.equal((await store.allocate(allocation({ tag }))).first, 11n);
  if (writesTexts) await write(tag, { next: "00050" });
  else await write(tag, { next: "50" });
  assert.equal((await store.allocate(allocation({ tag }))).first, 50n);
  await write(tag, { incarnation: "" });
  const { first } = await store.allocate(allocation({ tag }));
  assert.ok(first >= 1060n && first < 2060n, `${first}`);
  await write(tag, { next: `${first + 9n}` });
  const refused = told({
    code: "STORE_REFUSED",
    message: / must be \d+ or more, since the numbers up to \d+ were allocated, got /,
  });
  await assert.rejects(store.allocate(allocation({ tag })), refused);
  await write(tag, { next: `${first + 10n}` });
  assert.equal((await store.allocate(allocation({ tag }))).first, first + 10n);
  await write(tag, { recent: "nothing" });
  await assert.rejects(
    store.allocate(allocation({ tag })),
    told({
      code: "STORE_REFUSED",
      message: /recent of the tag .* must be a list of .*, got "nothing"/,
    }),
  );
}

/**
 * Checks a race that is certainly lost: the first statement that replaces the record is held until another process has allocated.
 * `storeWith(hold)` makes a store whose client awaits `hold()` before it sends such a statement; `store` is another one.
 */
export async function checkLostRace(store, storeWith) {
  const tag = newTag();
  await store.initSegment({ tag });
  let held = 0;
  const holding = storeWith(async () => {
    if (++held === 1) assert.equal((await store.allocate(allocation({ tag, count: 5 }))).first, 1n);
  });
  assert.equal((await holding.allocate(allocation({ tag }))).first, 6n);
  assert.equal(held, 2, "no race was lost");
  assert.equal((await store.allocate(allocation({ tag }))).first, 16n);
}

/** The same with a store that replaces the record whatever it is: the ranges overlap. */
export async function checkBlindReplace(store, storeWith) {
  const tag = newTag();
  await store.initSegment({ tag });
  let other;
  const blind = storeWith(async () => {
    other ??= await store.allocate(allocation({ tag }));
  });
  const { first } = await blind.allocate(allocation({ tag }));
  assert.equal(first, other.first, "the ranges do not overlap: the mutant shows nothing");
}
