// The options of `lease()`: each refusal names the field, the value and the rule, and the store is not asked.
import "./faked.mjs";
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError } from "frazil";
import { lease } from "frazil/lease";
import { ruleTextOf } from "../base/rule-texts.mjs";
import { rules } from "../vectors/generated-tables.mjs";
import { time } from "./faked.mjs";
import { FaultyStore } from "./faulty-store.mjs";
import { watched } from "./harness.mjs";

const ruleOf = (name, min, max) => rules[name].replace("{min}", min).replace("{max}", max);
const whole = (min, max) => ruleOf("WHOLE_NUMBER", min, max);
const thrower = () => {
  throw new Error("the value must not be converted");
};
const unconvertible = { valueOf: thrower, toString: thrower, toJSON: thrower, [Symbol.toPrimitive]: thrower };

async function refused(options, expected) {
  const store = FaultyStore.with();
  const error = await lease(store, options).then(
    async (ids) => {
      await ids.close();
      assert.fail(`was accepted: ${Object.keys(options ?? {})}`);
    },
    (error) => error,
  );
  const { code, field, value } = error;
  const rule = ruleTextOf(error);
  if (expected.rule instanceof RegExp) {
    assert.match(`${rule}`, expected.rule, error.stack);
    assert.deepEqual({ code, field }, { code: expected.code, field: expected.field });
  } else assert.deepEqual({ code, field, rule }, { code: expected.code, field: expected.field, rule: expected.rule });
  assert.ok(Object.is(value, expected.value), error.message);
  assert.ok(error instanceof ConfigError);
  assert.equal(store.calls.length, 0, "the store was asked");
}

const option = (field, value, rule, code = "INVALID_OPTION") =>
  refused({ [field]: value }, { code, field, value, rule });

test("options that are no object", async () => {
  for (const options of [null, 5, true, () => 1])
    await refused(options, {
      code: "INVALID_OPTION",
      field: "options",
      value: options,
      rule: /^must be a plain object\nWrite \{ scope, /,
    });
  // A text or an object may be a connection string, and is not kept.
  await refused("default", {
    code: "INVALID_OPTION",
    field: "options",
    rule: /^must be a plain object\nWrite \{ scope, /,
  });
  class Options {
    windowMs = 5000;
  }
  const options = new Options();
  await refused(options, { code: "INVALID_OPTION", field: "options", rule: /^must be a plain object/ });
});

test("the name of a store: a string, which errors read once, since a getter would throw in a timer", async () => {
  for (const name of [undefined, null, 5, Symbol("name"), unconvertible]) {
    const store = Object.defineProperty(FaultyStore.with(), "name", { value: name });
    const error = await lease(store).catch((error) => error);
    assert.deepEqual([error.code, error.field], ["INVALID_ARGUMENT", "store.name"], error.stack);
    assert.equal(store.calls.length, 0, "the store was asked");
  }
  let reads = 0;
  const get = () => {
    if (++reads > 1) throw new Error("read twice");
    return "own";
  };
  const store = Object.defineProperty(FaultyStore.with(), "name", { get });
  store.fault = () => ({ granted: false, reason: "exhausted", freeAtMs: 2, storeNowMs: 1 });
  const watch = watched(lease(store, { maxAsyncWaitMs: 0 }));
  await time.advance(1);
  assert.match(watch.error.message, / in the own store, scope "default"/);
});

test("scope", async () => {
  for (const scope of ["", "1st", "a b", "n".repeat(33), 5, null, ["shop"], unconvertible])
    await option("scope", scope, rules.NAME_SYNTAX);
});

test("windowMs", async () => {
  for (const windowMs of [
    0,
    2,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 31,
    "30000",
    30_000n,
    null,
    [],
    unconvertible,
  ])
    await option("windowMs", windowMs, ruleOf("WINDOW_LENGTH", 1000, 2 ** 31 - 1));
});

const DIGITS = "A string must have decimal digits only. Of a pod: lease(store, { node: preferredNode() }).";

test("node", async () => {
  for (const node of [null, { node: 7 }, "none", unconvertible])
    await option("node", node, whole(0, 1023), "INVALID_NODE");
  for (const node of [-1, 1024, 1.5, "1024"])
    await option(
      "node",
      node,
      `${whole(0, 1023)}\nCount from 0. A layout with more node bits needs another column.`,
      "INVALID_NODE",
    );
  await option("node", 7n, `${whole(0, 1023)}\nPass a number, not a bigint.`, "INVALID_NODE");
  for (const node of ["web-3", "-1", "7.0", " 7", "0x7"])
    await option("node", node, `${whole(0, 1023)}\n${DIGITS}`, "INVALID_NODE");
  await option("node", "", `${whole(0, 1023)}\nIs the environment variable empty?`, "INVALID_NODE");
  await option("node", Number.NaN, /\nIs the environment variable set\? Number\(undefined\) is NaN\.$/, "INVALID_NODE");
});

test("owner", async () => {
  for (const owner of ["", "n".repeat(201), 5, null, unconvertible])
    await option("owner", owner, ruleOf("SHORT_TEXT", 1, 200));
});

test("time", async () => {
  for (const time of ["Wall", "", null, 5, unconvertible]) await option("time", time, rules.ID_TIME);
});

test("renew", async () => {
  for (const renew of ["Timer", "requests", "", null, true, 5, unconvertible])
    await option("renew", renew, rules.RENEWAL);
});

test("signal", async () => {
  const half = { aborted: false, throwIfAborted() {}, removeEventListener() {} };
  for (const signal of [null, 5, "x", {}, half, new AbortController(), new EventTarget()])
    await option("signal", signal, rules.A_SIGNAL);
});

test("the generator's own options", async () => {
  const greatest = { maxLeadMs: 1000, maxWaitMs: 2 ** 31 - 1, maxAsyncWaitMs: 2 ** 31 - 1 };
  for (const [field, max] of Object.entries(greatest)) {
    for (const value of [-1, 1.5, Number.NaN, "5", null, max + 1]) await option(field, value, whole(0, max));
  }
  for (const value of ["Zero", null, 0]) await option("sequenceStart", value, rules.KNOWN_START);
  await option("layout", "nope", /must be the name of a layout/, "INVALID_LAYOUT");
  await option(
    "epochMs",
    -1,
    `${whole(0, Number.MAX_SAFE_INTEGER)}\nPass Unix milliseconds or a valid Date.`,
    "INVALID_LAYOUT",
  );
  await option("epochMs", Date.now(), rules.EPOCH_MOVES, "INVALID_LAYOUT");
});

test("a name that is not known, with the nearest one", async () => {
  for (const [misspelt, hint] of Object.entries({
    window: /\nDid you mean "windowMs"\?$/,
    renewal: /\nDid you mean "renew"\?$/,
    windowMS: /\nDid you mean "windowMs"\?$/,
    scop: /\nDid you mean "scope"\?$/,
    ownr: /\nDid you mean "owner"\?$/,
    nodeId: /\nDid you mean "node"\?$/,
    workerId: /\nDid you mean "node"\?$/,
    twepoch: /\nDid you mean "epochMs"\?$/,
    leaseDuration: /\nUse one of scope, windowMs, node/,
    schema: /\nIt is an option of the store\.$/,
  }))
    await option(misspelt, 5, hint);
});

test("now and unshared belong to other calls", async () => {
  await option("now", Date.now, 'unknown option "now"\nIt belongs to new Snowflake().');
  await option("unshared", true, 'unknown option "unshared"\nIt belongs to new Snowflake().');
});

test("each option is read once", async () => {
  const reads = {};
  const options = new Proxy(
    { scope: "default", windowMs: 5000, node: 3, owner: "me", time: "wall", maxLeadMs: 5 },
    {
      get(target, key) {
        reads[key] = (reads[key] ?? 0) + 1;
        return target[key];
      },
    },
  );
  const ids = await lease(FaultyStore.with(), options);
  assert.deepEqual(
    Object.values(reads).filter((count) => count > 1),
    [],
    JSON.stringify(reads),
  );
  await ids.close();
});
