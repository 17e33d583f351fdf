// docs/internals/claims.md: 19
// `fill` writes only the elements that the array had when the call began, whatever the kind of array: the addon writes into its memory
// directly.
import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { slot } from "../vectors/generated-tables.mjs";
import { increasing, native, port, scripted, start } from "./scripted-clock.mjs";

const MARK = 0xabcd_abcd_abcd_abcdn;

/** Memory of 9000 elements that all have a mark. */
const marked = (Buffer = ArrayBuffer, options) => new BigUint64Array(new Buffer(8 * 9000, options)).fill(MARK).buffer;

const BUFFERS = {
  "a plain buffer": () => marked(),
  "a resizable buffer": () => marked(ArrayBuffer, { maxByteLength: 8 * 20_000 }),
  "a shared buffer": () => marked(SharedArrayBuffer),
  "a buffer of another realm": () => vm.runInNewContext(`new BigUint64Array(9000).fill(${MARK}n).buffer`),
};

for (const [name, make] of Object.entries(BUFFERS)) {
  for (const [from, length] of [
    [0, 1],
    [1, 1],
    [17, 4096],
    [4000, 4097],
    [3, 8192],
    [8999, 1],
    [5, 0],
  ]) {
    test(`${name}: ${length} elements from ${from}`, () => {
      const { ids } = scripted({ maxLeadMs: 1000 });
      const buffer = make();
      const target = new BigUint64Array(buffer, 8 * from, length);
      assert.equal(ids.fill(target), target);
      const all = [...new BigUint64Array(buffer)];
      const filled = all.slice(from, from + length);
      assert.ok(increasing(filled) && filled.every((id) => id !== MARK));
      assert.ok([...all.slice(0, from), ...all.slice(from + length)].every((id) => id === MARK));
      assert.equal(ids.stats().issued, length);
      assert.ok(length === 0 || ids.next() > filled.at(-1));
      ids.close();
    });
  }
}

test("elements that are added while a fill waits for the clock are left alone", () => {
  const buffer = marked(ArrayBuffer, { maxByteLength: 8 * 20_000 });
  const target = new BigUint64Array(buffer); // as long as the buffer is
  const { ids } = scripted({
    maxLeadMs: 1000,
    now: () => {
      buffer.resize(8 * 20_000);
      return start;
    },
  });
  ids.fill(target);
  assert.equal(target.length, 20_000);
  assert.ok(increasing([...target.subarray(0, 9000)]));
  assert.ok(target.subarray(9000).every((id) => id === 0n));
});

test("the addon refuses what is no array with these elements, and issues nothing", {
  skip: !native && "does not apply: the backend is WebAssembly",
}, () => {
  const { ids } = scripted({ maxLeadMs: 1000 });
  const first = ids.next();
  const { binding, numbers } = port();
  const { calls, frame } = binding;
  // Whatever generator has handle 0 on this frame: none is reached.
  const refused = (target, from, until) => {
    [numbers[slot.FILL_FROM], numbers[slot.FILL_UNTIL]] = [from, until];
    const status = calls.fill(frame, 0, start, true, target);
    assert.equal(slot.CODES[status], "INVALID_ARGUMENT", `${target?.constructor?.name} from ${from} until ${until}`);
  };
  const room = new BigUint64Array(8).fill(MARK);
  const places = [
    [0, 9],
    [8, 9],
    [3, 3],
    [5, 4],
    [-1, 1],
    [0.5, 2],
    [NaN, 2],
    [0, NaN],
    [0, Infinity],
    [1e300, 1e301],
  ];
  for (const [from, until] of places) refused(room, from, until);
  // All of them have 64 bytes, and the places are those of eight elements.
  const others = [BigInt64Array, Float64Array, Uint8Array, Uint32Array].map((Other) => new Other(room.buffer));
  for (const target of [
    ...others,
    new DataView(room.buffer),
    room.buffer,
    [...room],
    { length: 8 },
    7,
    "x",
    null,
    undefined,
  ])
    for (const [from, until] of [
      [0, 1],
      [0, 8],
      [2, 3],
    ])
      refused(target, from, until);
  assert.ok(room.every((id) => id === MARK));
  assert.equal(ids.stats().issued, 1);
  assert.equal(ids.next(), first + 1n);
});
