// `nextManyStrings`: the texts of many IDs equal those of single ones, wherever their last digits or halves carry.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Snowflake } from "frazil";

/** A generator whose first ID at each tick is eight times the tick, and whose IDs have no gaps. `node`: above the time. */
const generatorAt = (tick, { node, time = 40 } = {}) =>
  new Snowflake({
    layout: {
      epochMs: 0,
      unsigned: true,
      fields: [
        ...(node ? [{ kind: "node", bits: 10 }] : []),
        { kind: "time", bits: time },
        { kind: "sequence", bits: 3 },
      ],
    },
    node: node ?? "none",
    maxLeadMs: 1000,
    now: () => tick,
  });

const CASES = [
  ["the first IDs of all, from one digit up", generatorAt(0)],
  ["two digits become three, and three become four", generatorAt(5)],
  ["a carry into the high half", generatorAt(2 ** 29 - 40)],
  ["the high half ends below a thousand", generatorAt(2 ** 29)],
  ["16 digits become 17", generatorAt(1e16 / 8 - 30, { time: 51 })],
  ["20 digits", generatorAt(1000, { node: 1023, time: 51 })],
];

for (const [name, ids] of CASES) {
  test(name, () => {
    const texts = ids.nextManyStrings(2500);
    const first = BigInt(texts[0]);
    assert.deepEqual(
      texts,
      Array.from({ length: 2500 }, (_, at) => `${first + BigInt(at)}`),
    );
    ids.close();
  });
}

test("IDs that are not neighbours: other ticks, clock ids and starts of the sequence, and steps back", () => {
  for (const sequenceStart of ["zero", "random", "wrap"]) {
    let now = 1_800_000_000_000;
    const [ids, mutant] = [0, 1].map(
      () => new Snowflake({ layout: "multi-clock", node: 7, sequenceStart, maxLeadMs: 1000, now: () => now }),
    );
    for (let round = 0; round < 20; round++) {
      const texts = ids.nextManyStrings(1500);
      assert.equal(new Set(texts).size, 1500);
      if (sequenceStart === "zero") assert.deepEqual(texts, mutant.nextMany(1500).map(String));
      // Their keys differ, but not how the IDs of a tick follow one another.
      const steps = texts.slice(1).map((text, at) => BigInt(text) - BigInt(texts[at]));
      const common = steps.filter((step) => step === 1n).length;
      assert.ok(common > 1400, `${common} of 1499 are neighbours`);
      assert.ok(texts.every((text) => ids.decode(text).node === 7));
      now += round % 3 === 2 ? -5 : 1 + round;
    }
    ids.close();
    mutant.close();
  }
});

test("IDs below 1000 that decrease: no text has a zero in front", () => {
  const fields = [
    { kind: "time", bits: 40 },
    { kind: "sequence", bits: 9 },
  ];
  for (let round = 0; round < 20; round++) {
    const options = { node: "none", sequenceStart: "wrap", now: () => 0 };
    const ids = new Snowflake({ ...options, layout: { epochMs: 0, fields } });
    const texts = ids.nextManyStrings(512);
    assert.deepEqual(texts.toSorted(), Array.from({ length: 512 }, (_, at) => `${at}`).sort());
    ids.close();
  }
});

test("IDs with equal low halves", () => {
  // With 22 bits below it, a tick 1024 later changes the high half alone.
  const [ids, mutant] = [0, 1].map(() => {
    let now = 1_800_000_000_000;
    return new Snowflake({ node: 7, maxLeadMs: 0, now: () => (now += 1024) });
  });
  const texts = ids.nextManyStrings(3 * 4096);
  assert.deepEqual(texts, mutant.nextMany(3 * 4096).map(String));
  assert.equal(BigInt.asUintN(32, BigInt(texts[0])), BigInt.asUintN(32, BigInt(texts[4096])));
});

test("a list is of no element that a program put on Array.prototype: no two texts are equal", () => {
  const ids = new Snowflake({ node: 7 });
  for (const at of [3, 16, 17]) {
    Object.defineProperty(Array.prototype, at, { configurable: true, get: () => "", set() {} });
    let texts;
    try {
      texts = ids.nextManyStrings(1000);
    } finally {
      delete Array.prototype[at];
    }
    // The list itself asks the prototype, and leaves out the one.
    const present = texts.filter((_, index) => index !== at);
    assert.equal(new Set(present).size, 999);
    for (const text of present) assert.equal(`${BigInt(text)}`, text);
  }
});

test("a clock that asks for lists itself, in the middle of a call and before it, leaves the IDs of that call alone", () => {
  const fields = [
    { kind: "time", bits: 42 },
    { kind: "node", bits: 10 },
    { kind: "sequence", bits: 3 },
  ];
  const options = { layout: { epochMs: 0, fields }, maxLeadMs: 1000 };
  const lists = [];
  const inner = new Snowflake({ ...options, node: 4, now: () => 1_800_000_000_000 });
  let ms = 1_800_000_000_000;
  // Eight IDs a millisecond, so that the clock is read between them.
  const ids = new Snowflake({
    ...options,
    node: 3,
    maxLeadMs: 0,
    maxWaitMs: 1000,
    now() {
      lists.push(inner.nextMany(32));
      return ++ms;
    },
  });
  for (let round = 0; round < 3; round++) lists.push(ids.nextMany(32));
  const full = new Snowflake({ ...options, node: 5, maxLeadMs: 0, maxWaitMs: 0, now: () => ms });
  lists.push(full.nextMany(5));
  assert.throws(() => full.nextMany(8), { code: "SEQUENCE_EXHAUSTED", issued: 3 });
  lists.push(inner.nextMany(4096), inner.nextMany(0), inner.nextMany(32));
  const all = lists.flat();
  assert.equal(new Set(all).size, all.length);
  assert.ok(lists.length > 12, "the clock was read between");
});
