// `encodeInto`: the bytes are the texts one after another, whatever the distances of the IDs; hostile and wrong targets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { ConfigError } from "frazil";
import * as text from "frazil/text";
import { rules } from "../vectors/generated-tables.mjs";

const { base62, customForm, encodeInto: _, ...others } = text;
const forms = Object.entries({ base62, ...others, binary: customForm("01") }).filter(([, form]) => form.alphabet);

/** IDs with a step of `step`, the same each time. A random step is below it. */
function idsFrom(first, count, step, isRandom = false) {
  let state = 88172645463325252n;
  let id = first;
  return BigUint64Array.from({ length: count }, () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    id += isRandom ? (state >> 33n) % step : step;
    return id;
  });
}

/** Throws if the bytes are not the texts of each ID. */
function check(name, form, ids, encodeInto = form.encodeInto) {
  const expected = Array.from(ids, (id) => form.encode(id)).join("");
  const bytes = new Uint8Array(expected.length + 4).fill(63);
  assert.equal(encodeInto(ids, bytes.subarray(2)), expected.length, name);
  assert.equal(Buffer.from(bytes).toString("latin1"), `??${expected}??`, name);
}

const tweet = 1541815603606036480n;
const shapes = {
  none: new BigUint64Array(),
  one: BigUint64Array.of(tweet),
  "a block": idsFrom(tweet, 5000, 1n),
  "steps of 3": idsFrom(tweet, 3000, 3n),
  descending: idsFrom(tweet, 3000, -1n),
  "small random steps": idsFrom(tweet, 3000, 40n, true),
  "random steps": idsFrom(tweet, 3000, 2n ** 29n, true),
  "equal IDs": new BigUint64Array(600).fill(tweet),
  "across 2^32": idsFrom(2n ** 32n * 77n - 1000n, 2000, 1n),
  "from 0": idsFrom(-1n, 2000, 1n),
  "to 2^64 - 1": idsFrom(2n ** 64n - 2001n, 2000, 1n),
  // The same lower half in another upper half, and neighbours of which the lower half begins anew.
  "equal lower halves": BigUint64Array.from({ length: 100 }, (_, at) => BigInt(at % 3) * 2n ** 32n + BigInt(at)),
  "lower halves at both ends": BigUint64Array.from(
    { length: 100 },
    (_, at) => 5n * 2n ** 32n + BigInt(at % 2 ? at : 2 ** 32 - 1 - at),
  ),
};

for (const [name, form] of forms) {
  test(`${name}: the bytes are the texts of each ID`, () => {
    for (const [shape, ids] of Object.entries(shapes)) check(`${name}: ${shape}`, form, ids);
    for (let count = 1; count < 30; count++) check(`${name}: ${count}`, form, idsFrom(tweet, count, 1n));
    for (const count of [511, 512, 513, 1024, 1025]) check(`${name}: ${count}`, form, idsFrom(tweet, count, 1n));
  });
}

test("the checker catches a copy of digits that differ, and a byte beyond the texts", () => {
  const ids = shapes["small random steps"];
  const copied = (given, bytes) =>
    base62.encodeInto(
      given.map((id, at) => (at === 77 ? id + 3844n : id)),
      bytes,
    );
  assert.throws(() => check("base62", base62, ids, copied));
  const beyond = (given, bytes) => {
    const written = base62.encodeInto(given, bytes);
    bytes[written] = 48;
    return written;
  };
  assert.throws(() => check("base62", base62, ids, beyond));
  check("base62", base62, ids);
});

test("arrays of other realms, subclasses, shared and resizable memory and offsets are accepted", () => {
  const ids = idsFrom(tweet, 40, 1n);
  const expected = base62.encodeMany(ids).join("");
  const inner = new BigUint64Array([0n, ...ids, 0n]).subarray(1, 41);
  const shared = new BigUint64Array(new SharedArrayBuffer(320));
  shared.set(ids);
  const targets = [
    () => new Uint8Array(440),
    () => Buffer.alloc(440),
    () => new Uint8Array(new SharedArrayBuffer(440)),
    () => new Uint8Array(new ArrayBuffer(440, { maxByteLength: 1000 })),
    () => new Uint8Array(new ArrayBuffer(443), 3),
    () => runInNewContext("new Uint8Array(440)"),
  ];
  for (const given of [ids, inner, shared, runInNewContext("BigUint64Array").from(ids)]) {
    for (const target of targets) {
      const bytes = target();
      assert.equal(base62.encodeInto(given, bytes), 440);
      assert.equal(Buffer.from(bytes).toString(), expected);
    }
  }
});

test("a target that is too small, detached, of another type or of the memory of the IDs is refused, and nothing is written", () => {
  const ids = idsFrom(tweet, 2, 1n);
  const refused = (given, bytes, field, rule) =>
    assert.throws(
      () => base62.encodeInto(given, bytes),
      (error) =>
        error instanceof ConfigError &&
        error.code === "INVALID_ARGUMENT" &&
        error.field === field &&
        error.value === (field === "ids" ? given : bytes) &&
        error.rule === rule,
    );
  const room = rules.TEXT_ROOM.replace("{min}", "22");
  const short = new Uint8Array(21).fill(63);
  const detached = new Uint8Array(22);
  structuredClone(detached, { transfer: [detached.buffer] });
  const memory = new ArrayBuffer(64);
  const shrunk = new ArrayBuffer(22, { maxByteLength: 22 });
  const outside = new Uint8Array(shrunk);
  shrunk.resize(21);
  const same = new BigUint64Array(memory, 0, 2);
  for (const bytes of [
    short,
    detached,
    outside,
    undefined,
    null,
    "",
    [],
    new ArrayBuffer(22),
    new Uint8ClampedArray(22),
    new Proxy(new Uint8Array(22), {}),
    new DataView(new ArrayBuffer(22)),
    { length: 22 },
  ]) {
    refused(ids, bytes, "bytes", room);
  }
  refused(same, new Uint8Array(memory, 32), "bytes", room);
  for (const given of [undefined, null, [1n], tweet, new BigInt64Array(2), new Uint8Array(16), new Proxy(ids, {})]) {
    refused(given, new Uint8Array(22), "ids", rules.ID_ARRAY);
  }
  assert.ok(short.every((byte) => byte === 63) && new Uint8Array(memory).every((byte) => byte === 0));
  const transferred = idsFrom(tweet, 2, 1n);
  structuredClone(transferred, { transfer: [transferred.buffer] });
  assert.equal(base62.encodeInto(transferred, new Uint8Array()), 0, "IDs that were transferred are none");
});

test("no code of a subclass runs, and its getters do not count", () => {
  const forbidden = () => assert.fail("code of the user was called");
  const overrides = Object.fromEntries(
    [
      "length",
      "buffer",
      "byteOffset",
      "byteLength",
      "copyWithin",
      "set",
      "subarray",
      "constructor",
      Symbol.iterator,
    ].map((name) => [name, { get: forbidden }]),
  );
  Object.assign(overrides, { [Symbol.iterator]: { get: forbidden } });
  const ids = Object.defineProperties(idsFrom(tweet, 40, 1n), overrides);
  const bytes = Object.defineProperties(new Uint8Array(440), overrides);
  assert.equal(base62.encodeInto(ids, bytes), 440);
  assert.equal(
    Buffer.from(new Uint8Array(Reflect.get(Object.getPrototypeOf(Uint8Array.prototype), "buffer", bytes)))
      .toString()
      .slice(0, 11),
    base62.encode(tweet + 1n),
  );
});
