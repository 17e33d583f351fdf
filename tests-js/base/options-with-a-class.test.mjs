// Options that are not a plain object are refused: the properties of their class would silently be ignored.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { Layout, Snowflake } from "frazil";
import { decode } from "frazil/decode";

class Config {
  get node() {
    return 7;
  }
}
const given = {
  "a class": [() => new Config(), "a Config"],
  "an object that inherits": [() => Object.create({ node: 7, dir: "/nowhere" }), "an object with no properties"],
  "a Map": [() => new Map([["node", 7]]), "a Map"],
  "an array": [() => [], "an array of 0"],
  "a promise": [() => Promise.resolve({ node: 7 }), "a Promise"],
};
const layout = Layout.named("default");
const ids = new Snowflake({ node: 7 });
const calls = {
  "new Snowflake": ["INVALID_OPTION", async (options) => new Snowflake(options)],
  "Snowflake.local": ["INVALID_OPTION", async (options) => Snowflake.local(options)],
  "Snowflake.localAsync": ["INVALID_OPTION", async (options) => Snowflake.localAsync(options)],
  "new Layout": ["INVALID_LAYOUT", async (options) => new Layout(options)],
  "layout.with": ["INVALID_LAYOUT", async (options) => layout.with(options)],
  "layout.range": ["INVALID_ARGUMENT", async (options) => layout.range(0, Date.now(), options)],
  "layout.minIdAt": ["INVALID_ARGUMENT", async (options) => layout.minIdAt(Date.now(), options)],
  "layout.compose": ["INVALID_ARGUMENT", async (options) => layout.compose(options)],
};
for (const [call, [code, work]] of Object.entries(calls)) {
  for (const [name, [make, shown]] of Object.entries(given)) {
    test(`${call}: ${name} is refused`, async () => {
      await assert.rejects(work(make()), (error) => {
        assert.equal(error.code, code);
        assert.ok(error.message.endsWith(` must be a plain object, got ${shown}`), error.message);
        if (name === "an array") assert.match(error.hint, /^Write \{ \w+(, \w+)* \}\.$/);
        else assert.equal(error.hint, "Spread it, { ...options }, or name its fields.");
        return true;
      });
    });
  }
}

test("a signal instead of { signal } is refused by every call that waits", async () => {
  const { signal } = new AbortController();
  const works = [
    () => ids.nextAsync(signal),
    () => ids.nextStringAsync(signal),
    () => ids.fillAsync(new BigUint64Array(2), signal),
    () => ids.nextManyAsync(2, signal),
    () => ids.nextManyStringsAsync(2, signal),
  ];
  const message = "INVALID_OPTION: options must be a plain object, got an AbortSignal";
  for (const work of works)
    await assert.rejects(work(), { code: "INVALID_OPTION", message, hint: "Write { signal }." });
});

test("plain objects of any realm, without a prototype or behind a Proxy are accepted, and so are layouts and decoded values", () => {
  const plain = [
    runInNewContext("({ node: 7 })"),
    Object.assign(Object.create(null), { node: 7 }),
    new Proxy({ node: 7 }, {}),
  ];
  for (const options of plain) assert.equal(new Snowflake(options).node, 7);
  const id = ids.next();
  assert.equal(layout.compose(layout.decode(id)), id);
  assert.equal(layout.compose(decode(id, "default")), id);
  assert.deepEqual(new Layout(layout).toJSON(), layout.toJSON());
});

test("Snowflake.local refuses a node or dir that is present but undefined", async () => {
  const rule = "must be a node id, or left out";
  const hint = "Left out, it is the last one of the layout, for IDs that stay on this machine.";
  for (const open of [async (given) => Snowflake.local(given), Snowflake.localAsync]) {
    await assert.rejects(open({ node: undefined }), { code: "NODE_REQUIRED", field: "node", rule, hint });
    if (ids.backend === "native") {
      await assert.rejects(open({ dir: undefined }), { code: "INVALID_OPTION", field: "dir" });
    }
  }
});

test("Snowflake.local refuses an option of another call, and names that call", () => {
  for (const [name, owner] of [
    ["now", "new Snowflake()"],
    ["unshared", "new Snowflake()"],
    ["signal", "Snowflake.localAsync()"],
  ]) {
    assert.throws(() => Snowflake.local({ [name]: undefined }), {
      code: "INVALID_OPTION",
      field: name,
      message: `INVALID_OPTION: unknown option "${name}"`,
      hint: `It belongs to ${owner}.`,
    });
  }
});

test("for a misspelt part of a node id, the error suggests the nearest name", () => {
  const rule = "must name all parts of the node id";
  const hint = 'Did you mean "datacenter"? Pass { datacenter, worker }, or a number.';
  const make = () => new Snowflake({ layout: "twitter", node: { dataCenter: 1, worker: 2 } });
  assert.throws(make, { code: "INVALID_NODE", field: "node", rule, hint });
});

test("without the addon, the error of Snowflake.local says why and what helps", {
  skip: ids.backend !== "wasm" && "does not apply: the backend is the addon",
}, () => {
  const local = () => Snowflake.local({});
  // No addon was tried.
  assert.throws(local, (error) => error.cause === undefined);
  assert.throws(local, {
    code: "NATIVE_REQUIRED",
    message: /^NATIVE_REQUIRED: Snowflake\.local\(\) keeps its state in a file, which needs Node and the native addon$/,
    hint: /^FRAZIL_BACKEND=wasm forbids the addon\. Unset it\. Elsewhere: await lease\(store\), or new Snowflake\(\{ node \}\) with a different node id in each process\. Workers: /,
  });
});

test("the exported classes have their own names", () => {
  assert.deepEqual([Snowflake.name, Layout.name], ["Snowflake", "Layout"]);
});
