// The frame is memory that the addon writes to. Whatever JavaScript does, that memory must stay valid for the addon.
import assert from "node:assert/strict";
import { test } from "node:test";
import { slot } from "../../vectors/generated-tables.mjs";
import { inNewProcess, needsAddon } from "./node-process.mjs";

/** `take` detaches or shrinks a buffer if that is possible; `overwrite` fills freed memory with a pattern. */
const TAKE = `
  const taken = [];
  const take = (buffer) => {
    try {
      structuredClone(buffer, { transfer: [buffer] });
      taken.push("moved");
    } catch {
      taken.push("not movable");
    }
    try {
      buffer.resize?.(0);
    } catch {}
  };
  const isBuffer = (value) => Object.prototype.toString.call(value) === "[object ArrayBuffer]";
  const overwrite = () => {
    const held = [];
    for (let at = 0; at < 2000; at++) held.push(new Uint8Array(${slot.BYTES}).fill(0xee));
    return held;
  };
`;

/** Mints IDs, and checks that they increase. */
const MINT = `
  const minted = [];
  for (let at = 0; at < 2000; at++) {
    try {
      minted.push(ids.next());
    } catch (error) {
      minted.push(String(error));
    }
    if (at % 500 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const good = minted.every((id, at) => typeof id === "bigint" && (at === 0 || minted[at - 1] < id));
`;

/** The status of that name: see `npm/frazil/src/generated/abi.ts`. */
const CLOSED = 14;

test("the object that a realm shares gives no access to the frame", needsAddon, async () => {
  const script = `
    import { Snowflake } from "frazil";
    ${TAKE}
    const ids = new Snowflake({ node: 3, maxWaitMs: 1000 });
    ids.next();
    const seen = new Set();
    const visit = (value) => {
      if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return;
      seen.add(value);
      if (ArrayBuffer.isView(value)) visit(value.buffer);
      if (isBuffer(value)) {
        take(value);
        return;
      }
      for (let from = value; from && from !== Object.prototype && from !== Function.prototype; from = Object.getPrototypeOf(from)) {
        for (const key of Reflect.ownKeys(from)) {
          try {
            visit(value[key]);
          } catch {}
        }
      }
    };
    visit(globalThis[Symbol.for("frazil")]);
    const held = overwrite();
    ${MINT}
    process.stdout.write(JSON.stringify({ taken, good, seen: seen.size, sample: minted.slice(0, 3).map(String) }));
  `;
  const { taken, good, seen, sample } = await inNewProcess(script, { env: { FRAZIL_BACKEND: "native" } });
  assert.ok(seen > 1, "there must be objects to visit");
  assert.deepEqual(taken, []);
  assert.ok(good, `minted ${sample}`);
});

test("a frame whose buffer is caught by a replaced constructor cannot be detached", needsAddon, async () => {
  const script = `
    ${TAKE}
    const caught = [];
    for (const name of ["ArrayBuffer", "SharedArrayBuffer", "Uint8Array", "Float64Array", "BigUint64Array"]) {
      const plain = globalThis[name];
      globalThis[name] = new Proxy(plain, {
        construct(target, given, newTarget) {
          const made = Reflect.construct(target, given, newTarget);
          caught.push(made.buffer ?? made);
          return made;
        },
      });
    }
    const { Snowflake } = await import("frazil");
    const ids = new Snowflake({ node: 3, maxWaitMs: 1000 });
    ids.next();
    for (const buffer of new Set(caught)) if (buffer.byteLength === ${slot.BYTES}) take(buffer);
    const held = overwrite();
    ${MINT}
    process.stdout.write(JSON.stringify({ taken, good, sample: minted.slice(0, 3).map(String) }));
  `;
  const { taken, good, sample } = await inNewProcess(script, { env: { FRAZIL_BACKEND: "native" } });
  assert.ok(taken.length > 0, "the frame must have been caught");
  assert.deepEqual([...new Set(taken)], ["not movable"]);
  assert.ok(good, `minted ${sample}`);
});

test(
  "calls with a frame of another thread, an unknown frame or a value that is no frame number are refused",
  needsAddon,
  async () => {
    const script = `
    import { createRequire } from "node:module";
    import { Worker } from "node:worker_threads";
    const require = createRequire(import.meta.url);
    const path = require.resolve("frazil-linux-x64-gnu");
    const { Snowflake } = require("frazil");
    new Snowflake({ node: 3 }).next();
    const tries = \`
      const said = [];
      for (const frame of [0, 1, 2, 7, 2 ** 31, 2 ** 32 - 1, -1, 0.5, NaN, Infinity]) {
        for (const call of [
          () => addon.open(frame), () => addon.local(frame), () => addon.health(frame, 0, 1.8e12), () => addon.file(frame, 0),
          () => addon.admit(frame, 0, 1, 0), () => addon.reserve(frame, 0, 1.8e12, 1, true), () => addon.release(frame, 0),
        ]) {
          try { said.push(String(call())); } catch (error) { said.push(error.name); }
        }
      }
    \`;
    const worker = new Worker(\`const addon = require(\${JSON.stringify(path)}); \${tries} require("node:worker_threads").parentPort.postMessage(said);\`, { eval: true, execArgv: [] });
    const said = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    process.stdout.write(JSON.stringify([...new Set(said)].sort()));
  `;
    const said = await inNewProcess(script, { env: { FRAZIL_BACKEND: "native" } });
    // The status CLOSED, and no value.
    assert.deepEqual(said, [String(CLOSED), "undefined"]);
  },
);

test("a frame whose owner was collected is closed, and its number is not reused", needsAddon, async () => {
  const script = `
    import { createRequire } from "node:module";
    const require = createRequire(import.meta.url);
    const addon = require("frazil-linux-x64-gnu");
    const kept = {};
    const first = addon.frame(kept, true);
    const gone = [];
    for (let at = 0; at < 300; at++) gone.push(addon.frame({}, at % 2 === 0).frame);
    for (let round = 0; round < 20; round++) {
      gc();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const closed = gone.filter((frame) => addon.reserve(frame, 0, 1.8e12, 1, true) === ${CLOSED} && addon.open(frame) === ${CLOSED}).length;
    const fresh = addon.frame({}, true).frame;
    // A frame of zeros describes no layout: status 1 is INVALID_LAYOUT.
    process.stdout.write(JSON.stringify({ closed, used: gone.includes(fresh), first: addon.open(first.frame) }));
  `;
  const { closed, used, first } = await inNewProcess(script, {
    flags: ["--expose-gc"],
    env: { FRAZIL_BACKEND: "native" },
  });
  assert.ok(closed >= 290, `${closed} of 300 are closed`);
  assert.deepEqual({ used, first }, { used: false, first: 1 });
});

test("a value that is no object cannot own a frame", needsAddon, async () => {
  const script = `
    import { createRequire } from "node:module";
    const addon = createRequire(import.meta.url)("frazil-linux-x64-gnu");
    const said = [undefined, null, 1, "a", true, Symbol(), 1n].map((owner) => {
      try {
        return addon.frame(owner, true).frame;
      } catch ({ code }) {
        return code;
      }
    });
    process.stdout.write(JSON.stringify([...new Set(said)]));
  `;
  assert.deepEqual(await inNewProcess(script), ["InvalidArg"]);
});

for (const [name, replaced] of [
  ["an ArrayBuffer", "ArrayBuffer"],
  ["memory that is too short", "class { constructor() { return new plain(8); } }"],
  [
    "memory that can shrink",
    "class { constructor(size) { return new ArrayBuffer(size, { maxByteLength: 2 * size }); } }",
  ],
  ["an object without memory", "class {}"],
]) {
  test(`if SharedArrayBuffer is replaced and gives ${name}, no frame is created`, needsAddon, async () => {
    const script = `
      import { createRequire } from "node:module";
      const addon = createRequire(import.meta.url)("frazil-linux-x64-gnu");
      const plain = SharedArrayBuffer;
      globalThis.SharedArrayBuffer = ${replaced};
      let said;
      try {
        said = addon.frame({}, true).frame;
      } catch ({ code }) {
        said = code;
      }
      process.stdout.write(JSON.stringify(said));
    `;
    assert.equal(await inNewProcess(script), "InvalidArg");
  });
}
