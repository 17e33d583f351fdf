// `Layout.decodeMany`: many IDs, one array for each field, new or given.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Layout } from "frazil";
import { Layout as BundledLayout } from "../../npm/frazil/dist/inline.mjs";
import { errorOf } from "../base/bad-input.mjs";
import { rules } from "../vectors/generated-tables.mjs";

/** A layout from fields such as "time 30, node 2", the most significant first. */
const layoutOf = (text) =>
  new Layout({
    epochMs: 0,
    tickMs: 3,
    unsigned: true,
    fields: text.split(", ").map((field, at) => {
      const [kind, bits] = field.split(" ");
      return { kind, bits: Number(bits), ...(kind === "node" && { name: `n${at}` }) };
    }),
  });

/** Layouts with fields in one half, over both, in several runs, below bit 32 altogether, and up to the highest bit. */
const LAYOUTS = [
  ...Layout.names.map((name) => Layout.named(name)),
  ...[
    "time 30, node 2, sequence 20, node 8",
    "node 5, time 20, clock 3, node 4, sequence 11, node 20",
    "sequence 53, time 11",
    "time 33, sequence 31",
    "time 32, sequence 32",
    "time 11, node 32, sequence 21",
    "time 5, node 6, clock 7, sequence 8",
    "time 1, sequence 1",
    "node 1, time 1, node 15, sequence 1, node 16, clock 1",
  ].map(layoutOf),
];
const idsOf = (layout) => {
  const bits = layout.fields.reduce((sum, field) => sum + field.bits, 0);
  const max = 2n ** BigInt(bits) - 1n;
  let seed = 7n;
  const random = () => {
    seed = (seed * 6364136223846793005n + 1442695040888963407n) & (2n ** 64n - 1n);
    return (seed ^ (seed >> 29n)) & max;
  };
  return BigUint64Array.from([
    0n,
    max,
    ...Array.from({ length: bits }, (_, bit) => 1n << BigInt(bit)),
    ...Array.from({ length: 50 }, random),
  ]);
};
const columnsOf = (layout, length) => layout.decodeMany(new BigUint64Array(length));

test("every field of every layout is what decode() reads, in new arrays and in given ones, in every bundle", () => {
  for (const layout of LAYOUTS) {
    const ids = idsOf(layout);
    const into = columnsOf(layout, ids.length);
    for (const column of Object.values(into)) column?.fill(77);
    assert.equal(layout.decodeMany(ids, into), into, "the given columns are the answer");
    assert.deepEqual(layout.decodeMany(ids), into);
    assert.deepEqual(
      new BundledLayout(layout.toJSON()).decodeMany(ids),
      into,
      "the loop of the bundles that are downloaded",
    );
    for (const [at, id] of ids.entries()) {
      const { timestampMs, node, clock, sequence } = layout.decode(id);
      const read = Object.values(into).map((column) => column?.[at]);
      assert.deepEqual(read, [timestampMs, node, clock, sequence], `${JSON.stringify(layout)}: ${id}`);
    }
  }
});

test("an ID with a bit above the layout is refused, wherever it stands, and nothing is written", () => {
  for (const layout of LAYOUTS) {
    const bits = layout.fields.reduce((sum, field) => sum + field.bits, 0);
    for (let bit = bits; bit < 64; bit++) {
      const ids = idsOf(layout);
      ids[20 % ids.length] |= 1n << BigInt(bit);
      const into = columnsOf(layout, ids.length);
      assert.throws(() => layout.decodeMany(ids, into), {
        code: "INVALID_ID",
        value: ids[20 % ids.length],
        index: 20 % ids.length,
      });
      assert.deepEqual(into, columnsOf(layout, ids.length));
    }
  }
});

test("a bit above the layout is found at every place of arrays of any length", () => {
  const narrow = {
    epochMs: 0,
    fields: [
      { kind: "time", bits: 20 },
      { kind: "sequence", bits: 4 },
    ],
  };
  for (const [layout, bit] of [
    [Layout.named("default"), 63n],
    [new Layout(narrow), 24n],
    [new Layout(narrow), 32n],
  ]) {
    for (let length = 1; length < 14; length++) {
      for (let at = 0; at < length; at++) {
        const ids = new BigUint64Array(length);
        ids[at] = 1n << bit;
        assert.throws(() => layout.decodeMany(ids), { code: "INVALID_ID", value: 1n << bit }, `${at} of ${length}`);
      }
    }
  }
});

test("columns that do not fit are refused, and nothing is written", async () => {
  const layout = Layout.named("default");
  const ids = BigUint64Array.of(1n << 22n, 2n << 22n);
  const rule = rules.COLUMNS;
  const fitting = () => columnsOf(layout, 2);
  const shared = new ArrayBuffer(64);
  const over = new BigUint64Array(shared, 8, 2);
  const twice = fitting();
  for (const [given, column, into] of [
    [ids, "timestampMs", { ...fitting(), timestampMs: new Float32Array(2) }],
    [ids, "timestampMs", { ...fitting(), timestampMs: new Float64Array(3) }],
    [ids, "sequence", { ...fitting(), sequence: [0, 0] }],
    [ids, "sequence", { ...twice, sequence: twice.timestampMs }],
    [ids, "node", { ...fitting(), node: undefined }],
    [ids, "clock", { ...fitting(), clock: new Uint32Array(2) }],
    [ids, "node", { ...fitting(), node: new Int32Array(2) }],
    [ids, "timestampMs", {}],
    // In the memory of the IDs.
    [over, "timestampMs", { ...fitting(), timestampMs: new Float64Array(shared, 16, 2) }],
    [over, "node", { ...fitting(), node: new Uint32Array(shared, 4, 2) }],
    // Two in one another's: over one buffer, at the same place or at one that both reach.
    [
      ids,
      "sequence",
      { ...fitting(), timestampMs: new Float64Array(shared, 0, 2), sequence: new Float64Array(shared, 0, 2) },
    ],
    [
      ids,
      "sequence",
      { ...fitting(), timestampMs: new Float64Array(shared, 0, 2), sequence: new Float64Array(shared, 8, 2) },
    ],
    [ids, "node", { ...fitting(), timestampMs: new Float64Array(shared, 8, 2), node: new Uint32Array(shared, 20, 2) }],
    [ids, "node", { ...fitting(), sequence: new Float64Array(shared, 8, 2), node: new Uint32Array(shared, 4, 2) }],
  ]) {
    const before = structuredClone(into);
    const error = await errorOf(() => layout.decodeMany(given, into));
    const found = [error.code, error.field, error.value, error.rule];
    assert.deepEqual(found, ["INVALID_ARGUMENT", `into.${column}`, into[column], rule.replace("{min}", 2)]);
    assert.deepEqual(into, before);
  }
  for (const into of [null, 5, [], new Uint32Array(2)])
    assert.equal((await errorOf(() => layout.decodeMany(ids, into))).code, "INVALID_ARGUMENT");
  const misspelt = await errorOf(() => layout.decodeMany(ids, { ...fitting(), timestamp: 1 }));
  assert.deepEqual([misspelt.code, misspelt.field], ["INVALID_ARGUMENT", "timestamp"]);
});

test("the IDs and all columns may lie in one buffer, beside each other", () => {
  const layout = layoutOf("time 20, node 4, clock 3, sequence 10");
  const expected = layout.decodeMany(BigUint64Array.of(5n, 2n ** 37n - 1n));
  for (const Buffer of [ArrayBuffer, SharedArrayBuffer]) {
    const memory = new Buffer(64);
    const ids = new BigUint64Array(memory, 16, 2);
    ids.set([5n, 2n ** 37n - 1n]);
    const into = {
      timestampMs: new Float64Array(memory, 32, 2),
      node: new Uint32Array(memory, 8, 2),
      clock: new Uint32Array(memory, 0, 2),
      sequence: new Float64Array(memory, 48, 2),
    };
    assert.deepEqual(layout.decodeMany(ids, into), expected);
    assert.deepEqual([...ids], [5n, 2n ** 37n - 1n]);
    const clash = { ...into, clock: new Uint32Array(memory, 4, 2) };
    assert.throws(() => layout.decodeMany(ids, clash), { code: "INVALID_ARGUMENT", field: "into.clock" });
  }
});

test("a getter that transfers the IDs, or shows another array at the second reading, is no way in", () => {
  const layout = Layout.named("default");
  const ids = BigUint64Array.of(1n << 22n, 2n << 22n);
  const into = columnsOf(layout, 2);
  const transferring = {
    ...into,
    get sequence() {
      structuredClone(ids.buffer, { transfer: [ids.buffer] });
      return into.sequence;
    },
  };
  assert.throws(() => layout.decodeMany(ids, transferring), { code: "INVALID_ARGUMENT", field: "into.timestampMs" });
  let reads = 0;
  const changing = {
    ...into,
    get sequence() {
      return reads++ === 0 ? into.sequence : new Float64Array(0);
    },
  };
  layout.decodeMany(BigUint64Array.of(5n, 6n), changing);
  assert.deepEqual([reads, ...into.sequence], [1, 5, 6]);
});

test("no method of the given arrays is called, and no array has two fields", () => {
  class Own extends Float64Array {
    fill() {
      throw new Error("fill was called");
    }
    get length() {
      throw new Error("length was read");
    }
  }
  // A sequence of 40 bits is read like the rare fields.
  const layout = layoutOf("time 20, node 4, sequence 38, clock 1");
  const ids = BigUint64Array.from([1n, 2n ** 37n, 2n ** 62n - 1n]);
  const plain = layout.decodeMany(ids);
  const into = { ...plain, timestampMs: new Own(3), sequence: new Own(3) };
  for (let again = 0; again < 2; again++) {
    layout.decodeMany(ids, into);
    for (let at = 0; at < 3; at++) {
      assert.equal(into.sequence[at], plain.sequence[at]);
      assert.equal(into.timestampMs[at], plain.timestampMs[at]);
    }
  }
  for (const [field, other] of [
    ["sequence", "timestampMs"],
    ["clock", "node"],
  ])
    assert.throws(() => layout.decodeMany(ids, { ...plain, [field]: plain[other] }), {
      code: "INVALID_ARGUMENT",
      field: `into.${field}`,
    });
});

test("IDs whose memory was transferred are none", () => {
  const ids = BigUint64Array.of(5n, 6n);
  structuredClone(ids.buffer, { transfer: [ids.buffer] });
  const layout = Layout.named("default");
  assert.equal(layout.decodeMany(ids).timestampMs.length, 0);
  assert.equal(layout.decodeMany(ids, columnsOf(layout, 0)).sequence.length, 0);
});
