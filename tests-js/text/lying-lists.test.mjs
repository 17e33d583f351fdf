// Misleading lists for the text forms: with a false length, with holes, or with their own code.
import assert from "node:assert/strict";
import { test } from "node:test";
import { base62, bytes, hex } from "frazil/text";

const MANY = 1e9;
/** A second is a thousand times as long as it takes to refuse a list, and less than it takes to read a long one. */
const LIMIT_MS = 1000;
const forms = Object.entries({ hex, "base62.short": base62.short, bytes });

/** A proxy of an array that says another length. */
const saying = (length, list) => new Proxy(list, { get: (target, key) => (key === "length" ? length : target[key]) });
const sparse = (length, elements) => Object.assign([], elements, { length });
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy;
};
/** An array whose element runs code when it is read. */
const reading = (list, at, get) => Object.defineProperty(list, at, { get });

/** Refuses quickly. */
function refused(call, expected) {
  const began = performance.now();
  assert.throws(call, expected);
  assert.ok(performance.now() - began < LIMIT_MS, "it took long");
}

for (const [name, form] of forms) {
  const texts = form !== bytes;
  const one = texts ? form.encode(7n) : undefined;

  test(`${name}: a list that only looks like an array is refused`, () => {
    for (const value of [{ length: MANY }, { length: MANY, 0: 1n }, saying(MANY, {}), revoked()]) {
      refused(() => form.encodeMany(value), { code: "INVALID_ARGUMENT", field: "ids" });
      if (texts) refused(() => form.decodeMany(value), { code: "INVALID_ARGUMENT", field: "texts" });
    }
  });

  test(`${name}: a length that is none is refused`, () => {
    for (const length of [-1, 1.5, Number.NaN, "1", undefined, Infinity, 2 ** 53, { valueOf: () => 1 }]) {
      refused(() => form.encodeMany(saying(length, [7n])), { code: "INVALID_ARGUMENT", field: "ids" });
      if (texts) refused(() => form.decodeMany(saying(length, [one])), { code: "INVALID_ARGUMENT", field: "texts" });
    }
  });

  test(`${name}: the first missing element is refused, however long the list`, () => {
    for (const length of [3, MANY, 2 ** 32 - 1])
      for (const make of [sparse, saying]) {
        const list = (elements) => make(length, elements);
        refused(() => form.encodeMany(list([7n, 8n])), { code: "INVALID_ID", field: "ids[2]", index: 2 });
        refused(() => form.encodeMany(list(["x"])), { code: "INVALID_ID", field: "ids[0]", index: 0 });
        if (texts)
          refused(() => form.decodeMany(list([one, one])), { code: "INVALID_TEXT", field: "texts[2]", index: 2 });
      }
  });

  test(`${name}: a BigUint64Array is as long as it is, whatever its class says`, () => {
    for (const length of [MANY, 1, 0, -1, undefined]) {
      class Lying extends BigUint64Array {
        get length() {
          return length;
        }
      }
      const ids = new Lying([7n, 8n, 9n].values());
      assert.deepEqual(form.encodeMany(ids), form.encodeMany([7n, 8n, 9n]));
      structuredClone(ids.buffer, { transfer: [ids.buffer] });
      assert.equal(form.encodeMany(ids).length, 0);
    }
  });

  test(`${name}: each element is read once, and a list that changes while it is read is what was read`, () => {
    let reads = 0;
    const growing = reading([0n, 8n], 0, () => {
      growing.push(9n);
      return BigInt(++reads);
    });
    assert.deepEqual(form.encodeMany(growing), form.encodeMany([1n, 8n]));
    assert.equal(reads, 1);
    const shrinking = reading([0n, 8n], 0, () => {
      shrinking.length = 1;
      return 7n;
    });
    refused(() => form.encodeMany(shrinking), { code: "INVALID_ID", field: "ids[1]", index: 1 });
  });

  test(`${name}: what an element throws is the cause of a coded error`, () => {
    const mine = new RangeError("mine");
    const fails = () => {
      throw mine;
    };
    const refusal = ({ code, cause }) => code === "INVALID_ARGUMENT" && cause === mine;
    for (const list of [reading([7n, 8n], 1, fails), new Proxy([7n], { get: fails })]) {
      refused(() => form.encodeMany(list), refusal);
      if (texts) refused(() => form.decodeMany(list), refusal);
    }
  });
}
